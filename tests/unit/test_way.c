// SPDX-License-Identifier: BSD-2-Clause
/* test_way.c - by ring or by system call: lib/soft/verbs/way.c */
#include <CUnit/CUnit.h>

#include "soft/verbs/way.c"
#include "suites.h"

static const uint64_t took[][WAYS] = { { 5000, 9000 }, { 9000, 5000 } };

/*
 * A round of writes of this length, of which each takes what it takes its way; how often the call
 * was taken.
 */
static int round_of(uint64_t length, const uint64_t *ticks)
{
	int calls = 0;

	for (int i = 0; i < ROUND; i++) {
		enum soft_way way = soft_way_next(length);

		soft_way_took(way, length, ticks[way] + (uint64_t)(i * 7919 % 4000));
		calls += way == SOFT_BY_CALL;
	}
	return calls;
}

static void way__takes_the_faster_one(void)
{
	CU_ASSERT_EQUAL(round_of(4096, took[0]), TRIALS);
	CU_ASSERT_EQUAL(soft_way_better(4096), SOFT_BY_RING);
	CU_ASSERT_EQUAL(round_of(65536, took[1]), ROUND - TRIALS);
	CU_ASSERT_EQUAL(soft_way_better(65536), SOFT_BY_CALL);
	CU_ASSERT_EQUAL(soft_way_better(4096), SOFT_BY_RING); /* each size class by itself */
}

static void way__forgets_after_a_round(void)
{
	round_of(4096, took[0]);
	round_of(4096, took[1]);
	CU_ASSERT_EQUAL(soft_way_better(4096), SOFT_BY_CALL);
}

static void way__small_ones_go_by_ring(void)
{
	CU_ASSERT_EQUAL(soft_way_next(SOFT_WAY_MIN - 1), SOFT_BY_RING);
	CU_ASSERT_EQUAL(soft_way_better(1), SOFT_BY_RING);
}

static void way__by_call_where_the_ring_was_never_timed(void)
{
	soft_way_took(SOFT_BY_CALL, UINT64_C(1) << 30, 1000);
	CU_ASSERT_EQUAL(soft_way_better(UINT64_C(1) << 30), SOFT_BY_CALL);
}

void suite_way(void)
{
	CU_pSuite suite = CU_add_suite("softverbs: ring or system call", NULL, NULL);

	CU_ADD_TEST(suite, way__takes_the_faster_one);
	CU_ADD_TEST(suite, way__forgets_after_a_round);
	CU_ADD_TEST(suite, way__small_ones_go_by_ring);
	CU_ADD_TEST(suite, way__by_call_where_the_ring_was_never_timed);
}
