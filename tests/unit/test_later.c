// SPDX-License-Identifier: BSD-2-Clause
/* test_later.c - bootstrap/client/later.c */
#include "base/util.h"
#include "client/later.h"

#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

static void take_is(struct later *later, int rank, const char *key)
{
	struct later_get *get = later_take(later);

	CU_ASSERT_PTR_NOT_NULL_FATAL(get);
	CU_ASSERT_EQUAL(get->rank, rank);
	CU_ASSERT_STRING_EQUAL(get->key, key);
	free(get);
}

static void take__oldest_first(void)
{
	struct later later = { 0 };

	CU_ASSERT_PTR_NULL(later_take(&later));
	CU_ASSERT_EQUAL(later_add(&later, 3, "a"), 0);
	CU_ASSERT_EQUAL(later_add(&later, 1, "b"), 0);
	take_is(&later, 3, "a");
	CU_ASSERT_EQUAL(later_add(&later, 2, "c"), 0);
	take_is(&later, 1, "b");
	take_is(&later, 2, "c");
	CU_ASSERT_PTR_NULL(later_take(&later));
	CU_ASSERT_EQUAL(later.count, 0);
}

static void add__works_again_after_the_list_was_empty(void)
{
	struct later later = { 0 };

	for (int round = 0; round < 3; round++) {
		CU_ASSERT_EQUAL(later_add(&later, round, "k"), 0);
		take_is(&later, round, "k");
	}
	later_clear(&later);
	CU_ASSERT_EQUAL(later_add(&later, 7, "k"), 0);
	later_clear(&later);
	CU_ASSERT_PTR_NULL(later_take(&later));
}

static void again__after_pauses_that_grow(void)
{
	static const uint32_t pauses_ms[] = { 20, 40, 80, 160, 320, 640, 1000, 1000 };
	struct later later = { 0 };
	struct later_get *get;
	uint64_t now = 5;

	CU_ASSERT_EQUAL(later_add(&later, 1, "k"), 0);
	CU_ASSERT_EQUAL(later_due_ns(&later), 0);
	for (size_t i = 0; i < sizeof(pauses_ms) / sizeof(pauses_ms[0]); i++) {
		get = later_take_due(&later, now);
		CU_ASSERT_PTR_NOT_NULL_FATAL(get);
		later_again(&later, get, now);
		now += pauses_ms[i] * NS_PER_MS;
		CU_ASSERT_EQUAL(later_due_ns(&later), now);
		CU_ASSERT_PTR_NULL(later_take_due(&later, now - 1));
	}
	later_clear(&later);
	CU_ASSERT_EQUAL(later_due_ns(&later), UINT64_MAX);
}

static void take_due__passes_over_what_is_not(void)
{
	struct later later = { 0 };
	struct later_get *get;

	CU_ASSERT_EQUAL(later_add(&later, 1, "a"), 0);
	CU_ASSERT_EQUAL(later_add(&later, 2, "b"), 0);
	later_again(&later, later_take(&later), 100);
	get = later_take_due(&later, 100);
	CU_ASSERT_PTR_NOT_NULL_FATAL(get);
	CU_ASSERT_EQUAL(get->rank, 2);
	later_again(&later, get, 0);
	CU_ASSERT_EQUAL(later_add(&later, 3, "c"), 0);
	get = later_take_due(&later, 50);
	CU_ASSERT_PTR_NOT_NULL_FATAL(get);
	CU_ASSERT_EQUAL(get->rank, 3); /* it was the last one: others are added behind those before it */
	free(get);
	CU_ASSERT_EQUAL(later_add(&later, 4, "d"), 0);
	take_is(&later, 1, "a");
	take_is(&later, 2, "b");
	take_is(&later, 4, "d");
}

void suite_later(void)
{
	CU_pSuite suite = CU_add_suite("later", NULL, NULL);

	CU_ADD_TEST(suite, take__oldest_first);
	CU_ADD_TEST(suite, add__works_again_after_the_list_was_empty);
	CU_ADD_TEST(suite, again__after_pauses_that_grow);
	CU_ADD_TEST(suite, take_due__passes_over_what_is_not);
}
