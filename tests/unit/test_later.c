// SPDX-License-Identifier: BSD-2-Clause
/* test_later.c - bootstrap/client/later.c */
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

void suite_later(void)
{
	CU_pSuite suite = CU_add_suite("later", NULL, NULL);

	CU_ADD_TEST(suite, take__oldest_first);
	CU_ADD_TEST(suite, add__works_again_after_the_list_was_empty);
}
