// SPDX-License-Identifier: BSD-2-Clause
/* test_way.c - by ring or by system call: lib/soft/verbs/way.c */
#include <CUnit/CUnit.h>

#include "soft/verbs/way.c"
#include "suites.h"

static const uint64_t ticks_of[][WAYS] = { { 5000, 9000 }, { 9000, 5000 } };

/*
 * A round of operations of this length, of which each takes what it takes its way; how often the call
 * was taken.
 */
static int round_of(enum soft_way_kind kind, uint64_t length, const uint64_t *ticks)
{
	uint64_t smallest;
	bool first = load(&class_of(kind, length, &smallest)->rounds) == 0;
	int calls = 0, tried_ones = WAYS * TRIALS + (first ? (int)untouched(length) : 0);

	for (int i = 0; i < ROUND; i++) {
		bool tried;
		enum soft_way way = soft_way_next(kind, length, &tried);

		CU_ASSERT_EQUAL(tried, i < tried_ones);
		soft_way_took(kind, way, length, ticks[way] + (uint64_t)(i * 7919 % 4000), 1);
		calls += way == SOFT_BY_CALL;
	}
	return calls;
}

static void way__takes_the_faster_one(void)
{
	CU_ASSERT_EQUAL(round_of(SOFT_WAY_POSTED, 4096, ticks_of[0]), TRIALS);
	CU_ASSERT_EQUAL(soft_way_better(SOFT_WAY_POSTED, 4096), SOFT_BY_RING);
	CU_ASSERT_EQUAL(round_of(SOFT_WAY_POSTED, 65536, ticks_of[1]), ROUND - TRIALS - SHM_RING / 4);
	CU_ASSERT_EQUAL(soft_way_better(SOFT_WAY_POSTED, 65536), SOFT_BY_CALL);
	CU_ASSERT_EQUAL(soft_way_better(SOFT_WAY_POSTED, 4096), SOFT_BY_RING); /* each size class by itself */
}

static void way__forgets_after_a_round(void)
{
	round_of(SOFT_WAY_POSTED, 4096, ticks_of[0]);
	round_of(SOFT_WAY_POSTED, 4096, ticks_of[1]);
	CU_ASSERT_EQUAL(soft_way_better(SOFT_WAY_POSTED, 4096), SOFT_BY_CALL);
}

static void way__small_ones_go_by_ring(void)
{
	bool tried;

	CU_ASSERT_EQUAL(soft_way_next(SOFT_WAY_POSTED, SOFT_WAY_MIN - 1, &tried), SOFT_BY_RING);
	CU_ASSERT_EQUAL(soft_way_better(SOFT_WAY_POSTED, 1), SOFT_BY_RING);
}

static void way__by_call_where_the_ring_was_never_timed(void)
{
	soft_way_took(SOFT_WAY_POSTED, SOFT_BY_CALL, UINT64_C(1) << 30, 1000, IN_A_ROW); /* together */
	CU_ASSERT_EQUAL(soft_way_better(SOFT_WAY_POSTED, UINT64_C(1) << 30), SOFT_BY_CALL);
}

/* What is waited for is judged by itself, small ones too; reads apart from writes. */
static void way__waited_for(void)
{
	CU_ASSERT_EQUAL(round_of(SOFT_WAY_WRITE, 8, ticks_of[1]), ROUND - TRIALS - SHM_RING);
	CU_ASSERT_EQUAL(round_of(SOFT_WAY_READ, 8, ticks_of[0]), TRIALS);
	CU_ASSERT_EQUAL(soft_way_better(SOFT_WAY_WRITE, 63), SOFT_BY_CALL);
	CU_ASSERT_EQUAL(soft_way_better(SOFT_WAY_READ, 63), SOFT_BY_RING);
}

/* Calls before the ring is thought of again. */
static int pause_of(uint64_t length)
{
	bool tried;
	int calls = 0;

	while (soft_way_next(SOFT_WAY_READ, length, &tried) == SOFT_BY_CALL && calls < 2 * ROUND)
		calls++;
	return calls;
}

/* Twice as long each time, up to a round, and from the start again once the ring was taken with success. */
static void way__pauses_after_a_loss(void)
{
	int pause = PAUSE;

	round_of(SOFT_WAY_READ, 4096, ticks_of[0]);
	for (int i = 0; i < 10; i++) {
		soft_way_lost(SOFT_WAY_READ, 4096);
		/* Where a new round begins in between, the calls that it tries come too: not before the ring's. */
		CU_ASSERT_EQUAL(pause_of(4096), pause);
		pause = 2 * pause < ROUND ? 2 * pause : ROUND;
	}
	soft_way_took(SOFT_WAY_READ, SOFT_BY_RING, 4096, 5000, 1);
	soft_way_lost(SOFT_WAY_READ, 4096);
	CU_ASSERT_EQUAL(pause_of(4096), PAUSE);
}

void suite_way(void)
{
	CU_pSuite suite = CU_add_suite("softverbs: ring or system call", NULL, NULL);

	CU_ADD_TEST(suite, way__takes_the_faster_one);
	CU_ADD_TEST(suite, way__forgets_after_a_round);
	CU_ADD_TEST(suite, way__small_ones_go_by_ring);
	CU_ADD_TEST(suite, way__waited_for);
	CU_ADD_TEST(suite, way__pauses_after_a_loss);
	CU_ADD_TEST(suite, way__by_call_where_the_ring_was_never_timed);
}
