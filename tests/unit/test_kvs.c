// SPDX-License-Identifier: BSD-2-Clause
/* test_kvs.c - bootstrap/launcher/kvs.c */
#include "launcher/kvs.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#define SIZE 4

/* The answers so far, one after the other: "asker<rank.key=value;", with "-" for never. */
static char answers[4096];

static void on_answer(void *arg, int asker, int rank, const char *key, const void *value, size_t size_bytes)
{
	size_t used = strlen(answers);

	CU_ASSERT_PTR_EQUAL(arg, answers);
	snprintf(answers + used, sizeof(answers) - used, "%d<%d.%s=%.*s;", asker, rank, key, value ? (int)size_bytes : 1,
	         value ? (const char *)value : "-");
}

static struct kvs *create(void)
{
	answers[0] = '\0';
	return kvs_create(SIZE, on_answer, answers);
}

static void put__replaces(void)
{
	struct kvs *kvs = create();

	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k", "old", 3), 0);
	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k", "new!", 4), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 0, 1, "k"), 0);
	CU_ASSERT_STRING_EQUAL(answers, "0<1.k=new!;");
	kvs_destroy(kvs);
}

static void put__answers_those_who_wait(void)
{
	struct kvs *kvs = create();

	CU_ASSERT_EQUAL(kvs_get(kvs, 0, 1, "k"), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 2, 1, "other"), 0);
	CU_ASSERT_STRING_EQUAL(answers, "");
	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k", "v", 1), 0);
	CU_ASSERT_STRING_EQUAL(answers, "0<1.k=v;");
	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k", "w", 1), 0);
	CU_ASSERT_STRING_EQUAL(answers, "0<1.k=v;");
	kvs_destroy(kvs);
}

static void put__of_nothing_is_a_value(void)
{
	struct kvs *kvs = create();

	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k", NULL, 0), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 0, 1, "k"), 0);
	CU_ASSERT_STRING_EQUAL(answers, "0<1.k=;");
	kvs_destroy(kvs);
}

static void put__keeps_to_its_bound(void)
{
	struct kvs *kvs = create();
	char key[16];
	int i;

	for (i = 0; i < KVS_KEYS_PER_RANK_MAX; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		CU_ASSERT_EQUAL_FATAL(kvs_put(kvs, 1, key, "v", 1), 0);
	}
	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "more", "v", 1), -1);
	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k0", "w", 1), 0);
	CU_ASSERT_EQUAL(kvs_put(kvs, 2, "more", "v", 1), 0);
	for (i = 0; i < KVS_KEYS_PER_RANK_MAX; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		answers[0] = '\0';
		CU_ASSERT_EQUAL_FATAL(kvs_get(kvs, 0, 1, key), 0);
		CU_ASSERT_EQUAL_FATAL(strlen(answers) > 0, 1);
	}
	kvs_destroy(kvs);
}

static void get__tells_ranks_apart(void)
{
	struct kvs *kvs = create();

	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k", "one", 3), 0);
	CU_ASSERT_EQUAL(kvs_put(kvs, 2, "k", "two", 3), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 0, 2, "k"), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 2, 1, "k"), 0);
	CU_ASSERT_STRING_EQUAL(answers, "0<2.k=two;2<1.k=one;");
	kvs_destroy(kvs);
}

static void get__keeps_to_its_bound(void)
{
	struct kvs *kvs = create();
	int i;

	for (i = 0; i < KVS_WAITS_PER_RANK_MAX; i++)
		CU_ASSERT_EQUAL_FATAL(kvs_get(kvs, 0, 1, "k"), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 0, 1, "k"), -1);
	CU_ASSERT_EQUAL(kvs_get(kvs, 2, 1, "k"), 0);
	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k", "v", 1), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 0, 3, "k"), 0);
	kvs_destroy(kvs);
}

static void close__answers_never_and_keeps_values(void)
{
	struct kvs *kvs = create();

	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k", "v", 1), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 0, 1, "late"), 0);
	kvs_close(kvs, 1);
	CU_ASSERT_STRING_EQUAL(answers, "0<1.late=-;");
	CU_ASSERT_EQUAL(kvs_get(kvs, 2, 1, "k"), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 2, 1, "late"), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 2, 1, "later"), 0);
	CU_ASSERT_STRING_EQUAL(answers, "0<1.late=-;2<1.k=v;2<1.late=-;2<1.later=-;");
	kvs_destroy(kvs);
}

static void reset__forgets_everything(void)
{
	struct kvs *kvs = create();

	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k", "v", 1), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 0, 2, "k"), 0);
	kvs_close(kvs, 1);
	kvs_reset(kvs);
	CU_ASSERT_EQUAL(kvs_put(kvs, 2, "k", "v", 1), 0);
	CU_ASSERT_EQUAL(kvs_get(kvs, 0, 1, "k"), 0);
	CU_ASSERT_STRING_EQUAL(answers, "");
	CU_ASSERT_EQUAL(kvs_put(kvs, 1, "k", "new", 3), 0);
	CU_ASSERT_STRING_EQUAL(answers, "0<1.k=new;");
	kvs_destroy(kvs);
}

void suite_kvs(void)
{
	CU_pSuite suite = CU_add_suite("kvs", NULL, NULL);

	CU_ADD_TEST(suite, put__replaces);
	CU_ADD_TEST(suite, put__answers_those_who_wait);
	CU_ADD_TEST(suite, put__of_nothing_is_a_value);
	CU_ADD_TEST(suite, put__keeps_to_its_bound);
	CU_ADD_TEST(suite, get__tells_ranks_apart);
	CU_ADD_TEST(suite, get__keeps_to_its_bound);
	CU_ADD_TEST(suite, close__answers_never_and_keeps_values);
	CU_ADD_TEST(suite, reset__forgets_everything);
}
