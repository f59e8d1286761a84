// SPDX-License-Identifier: BSD-2-Clause
/* test_rank_list.c - rank_list.h: ranks in messages. */
#include "base/rank_list.h"

#include <CUnit/CUnit.h>
#include <limits.h>
#include <string.h>

#include "suites.h"

static void rank_list_text__each_rank_once(void)
{
	struct rank_list list;
	char text[RANK_LIST_TEXT_BYTES];

	rank_list_clear(&list);
	CU_ASSERT_STRING_EQUAL(rank_list_text(&list, text), "no rank");
	rank_list_add(&list, 3);
	rank_list_add(&list, 3);
	CU_ASSERT_STRING_EQUAL(rank_list_text(&list, text), "rank 3");
	rank_list_add(&list, 1);
	rank_list_add(&list, 3);
	CU_ASSERT_STRING_EQUAL(rank_list_text(&list, text), "ranks 3, 1");
}

static void rank_list_text__many(void)
{
	struct rank_list list;
	char text[RANK_LIST_TEXT_BYTES];

	rank_list_clear(&list);
	for (int i = 0; i < 100; i++)
		rank_list_add(&list, INT_MAX - i);
	CU_ASSERT_STRING_EQUAL(strrchr(rank_list_text(&list, text), ','), ", 2147483632 and others");
}

void suite_rank_list(void)
{
	CU_pSuite suite = CU_add_suite("rank_list", NULL, NULL);

	CU_ADD_TEST(suite, rank_list_text__each_rank_once);
	CU_ADD_TEST(suite, rank_list_text__many);
}
