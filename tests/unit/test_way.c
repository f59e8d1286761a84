// SPDX-License-Identifier: BSD-2-Clause
/* test_way.c - by ring or by system call: lib/soft/verbs/way.c */
#include <CUnit/CUnit.h>
#include <string.h>

#include "soft/verbs/way.c"
#include "suites.h"

static const uint64_t ticks_of[][SOFT_WAYS] = { { 5000, 9000 }, { 9000, 5000 } };

struct round {
	int operations, tried, calls;
	uint64_t ticks; /* in all */
};

/* A round of operations of this length, of which each takes what it takes its way, disturbed by up to so much. */
static struct round disturbed_round(enum soft_way_kind kind, uint64_t length, const uint64_t *ticks, int disturbance)
{
	uint64_t smallest;
	struct class *class = class_of(kind, length, &smallest);
	bool first = load(&class->rounds) == 0;
	struct round round = { .tried = SOFT_WAYS * TRIALS + (first ? (int)untouched(kind, length) : 0) };

	do {
		bool tried;
		enum soft_way way = soft_way_next(kind, length, &tried);

		CU_ASSERT_EQUAL(tried, round.operations < round.tried);
		soft_way_took(kind, way, length, ticks[way] + (uint64_t)(round.operations * 7919 % disturbance), 1);
		round.ticks += ticks[way];
		round.calls += way == SOFT_BY_CALL;
		round.operations++;
	} while (load(&class->operations) != 0);
	return round;
}

static struct round round_of(enum soft_way_kind kind, uint64_t length, const uint64_t *ticks)
{
	return disturbed_round(kind, length, ticks, 4000);
}

static void forget_all(void)
{
	memset(classes, 0, sizeof(classes));
}

static void way__takes_the_faster_one(void)
{
	struct round round;

	CU_ASSERT_EQUAL(round_of(SOFT_WAY_POSTED, 4096, ticks_of[0]).calls, TRIALS);
	CU_ASSERT_EQUAL(soft_way_best(SOFT_WAY_POSTED, 4096), SOFT_BY_RING);
	round = round_of(SOFT_WAY_POSTED, 65536, ticks_of[1]);
	CU_ASSERT_EQUAL(round.operations - round.calls, TRIALS + SHM_RING / 4);
	CU_ASSERT_EQUAL(soft_way_best(SOFT_WAY_POSTED, 65536), SOFT_BY_CALL);
	CU_ASSERT_EQUAL(soft_way_best(SOFT_WAY_POSTED, 4096), SOFT_BY_RING); /* each size class by itself */
}

static void way__forgets_after_a_round(void)
{
	round_of(SOFT_WAY_POSTED, 4096, ticks_of[0]);
	round_of(SOFT_WAY_POSTED, 4096, ticks_of[1]);
	CU_ASSERT_EQUAL(soft_way_best(SOFT_WAY_POSTED, 4096), SOFT_BY_CALL);
}

static void way__small_ones_go_by_ring(void)
{
	bool tried;

	CU_ASSERT_EQUAL(soft_way_next(SOFT_WAY_POSTED, SOFT_WAY_MIN - 1, &tried), SOFT_BY_RING);
	CU_ASSERT_EQUAL(soft_way_best(SOFT_WAY_POSTED, 1), SOFT_BY_RING);
}

static void way__by_call_where_the_ring_was_never_timed(void)
{
	soft_way_took(SOFT_WAY_POSTED, SOFT_BY_CALL, UINT64_C(1) << 30, 1000, IN_A_ROW); /* together */
	CU_ASSERT_EQUAL(soft_way_best(SOFT_WAY_POSTED, UINT64_C(1) << 30), SOFT_BY_CALL);
}

/* What is waited for is judged by itself, small ones too; reads apart from writes. */
static void way__waited_for(void)
{
	struct round round = round_of(SOFT_WAY_WRITE, 8, ticks_of[1]);

	CU_ASSERT_EQUAL(round.operations - round.calls, TRIALS + SHM_FEW);
	CU_ASSERT_EQUAL(round_of(SOFT_WAY_READ, 8, ticks_of[0]).calls, TRIALS);
	CU_ASSERT_EQUAL(soft_way_best(SOFT_WAY_WRITE, 63), SOFT_BY_CALL);
	CU_ASSERT_EQUAL(soft_way_best(SOFT_WAY_READ, 63), SOFT_BY_RING);
}

/* What the worse way loses is a small part of a round, and a round is no longer than that takes. */
static void way__trials_lose_little(void)
{
	static const uint64_t alike[] = { 50000, 52000 }, apart[] = { 50000, 100000 }, far_apart[] = { 1000, 1000000 };
	struct round round;

	forget_all();
	round = disturbed_round(SOFT_WAY_READ, 4096, alike, 1);
	CU_ASSERT_EQUAL(round.operations, round.tried + REST_MIN);
	round = disturbed_round(SOFT_WAY_READ, 8192, apart, 1);
	CU_ASSERT(round.operations > round.tried + REST_MIN && round.operations < round.tried + REST_MAX);
	CU_ASSERT(round.ticks - (uint64_t)round.operations * apart[0] <= round.ticks / LOST_PART);
	round = disturbed_round(SOFT_WAY_READ, 16384, far_apart, 1);
	CU_ASSERT_EQUAL(round.operations, round.tried + REST_MAX);
}

/* A peer that does not look yet costs no trial, but perhaps the first; and most operations are not asked for it. */
static void way__trials_are_put_off(void)
{
	bool tried = true;
	int rings = 0;

	forget_all();
	for (int i = 0; i < 1000; i++) {
		tried = soft_way_next(SOFT_WAY_WRITE, 64, &tried) == SOFT_BY_RING && tried;
		CU_ASSERT_EQUAL(tried, i % (PAUSE_AWAY + 1) == 0);
		if (tried)
			soft_way_put_off(SOFT_WAY_WRITE, 64);
	}
	while (load(&class_of(SOFT_WAY_WRITE, 64, &(uint64_t){ 0 })->pause))
		soft_way_next(SOFT_WAY_WRITE, 64, &tried);
	while (soft_way_next(SOFT_WAY_WRITE, 64, &tried) == SOFT_BY_RING && tried)
		rings++;
	CU_ASSERT_EQUAL(rings, TRIALS + SHM_FEW - 1);
}

/* Of some peers, in turn, one looks: its trials come to an end. */
static void way__trials_of_one_peer_of_some(void)
{
	for (int peers = 2; peers <= PAUSE_AWAY; peers++) {
		struct class *class = class_of(SOFT_WAY_WRITE, 64, &(uint64_t){ 0 });
		int most = peers * (PAUSE_AWAY + 1) * (TRIALS + SHM_FEW) + SOFT_WAYS * TRIALS, turns = 0;

		forget_all();
		for (; !load(&class->round) && turns < most; turns++) {
			bool tried, looks = turns % peers == 0;
			enum soft_way way = soft_way_next(SOFT_WAY_WRITE, 64, &tried);

			if (tried && way == SOFT_BY_RING && !looks)
				soft_way_put_off(SOFT_WAY_WRITE, 64);
			else if (tried)
				soft_way_took(SOFT_WAY_WRITE, way, 64, ticks_of[0][way], 1);
		}
		CU_ASSERT(turns < most);
		CU_ASSERT_EQUAL(soft_way_best(SOFT_WAY_WRITE, 64), SOFT_BY_RING);
	}
}

/* Calls before the ring is thought of again. */
static int pause_of(uint64_t length)
{
	bool tried;
	int calls = 0;

	while (soft_way_next(SOFT_WAY_READ, length, &tried) == SOFT_BY_CALL && calls < 2 * REST_MAX)
		calls++;
	return calls;
}

/* Twice as long each time, up to a round, and from the start again once the ring was taken with success. */
static void way__pauses_after_a_loss(void)
{
	int first = PAUSE_MAX, pause = first;

	forget_all();
	soft_way_took(SOFT_WAY_READ, SOFT_BY_RING, 4096, 1000, IN_A_ROW);
	soft_way_took(SOFT_WAY_READ, SOFT_BY_CALL, 4096, PAUSE_TICKS / PAUSE_MAX / 2, IN_A_ROW);
	for (int i = 0; i < 10; i++) {
		soft_way_lost(SOFT_WAY_READ, 4096);
		/* Where a new round begins in between, the calls that it tries come too: not before the ring's. */
		CU_ASSERT_EQUAL(pause_of(4096), pause);
		pause = 2 * pause < REST_MAX ? 2 * pause : REST_MAX;
	}
	soft_way_took(SOFT_WAY_READ, SOFT_BY_RING, 4096, 5000, 1);
	soft_way_lost(SOFT_WAY_READ, 4096);
	CU_ASSERT_EQUAL(pause_of(4096), first);
}

/* Fewer where each takes long, and a part of these may take as long as one of them. */
static void way__waits_as_long_as_a_call_takes(void)
{
	const uint64_t length = 1 << 20, call = PATIENCE_TICKS * 4;

	forget_all();
	CU_ASSERT_EQUAL(soft_way_patience_ticks(SOFT_WAY_LARGE_READ, length), PATIENCE_TICKS);
	soft_way_took(SOFT_WAY_LARGE_READ, SOFT_BY_CALL, length, call * IN_A_ROW, IN_A_ROW);
	CU_ASSERT(soft_way_patience_ticks(SOFT_WAY_LARGE_READ, length) >= call);
	CU_ASSERT(soft_way_patience_ticks(SOFT_WAY_LARGE_READ, length) < 2 * call);
	CU_ASSERT_EQUAL(first_pause(call), PAUSE_TICKS / call < PAUSE_MIN ? PAUSE_MIN : (uint32_t)(PAUSE_TICKS / call));
	CU_ASSERT_EQUAL(first_pause(0), PAUSE_MAX);
	CU_ASSERT_EQUAL(first_pause(UINT64_C(1) << 40), PAUSE_MIN);
}

void suite_way(void)
{
	CU_pSuite suite = CU_add_suite("softverbs: ring or system call", NULL, NULL);

	CU_ADD_TEST(suite, way__takes_the_faster_one);
	CU_ADD_TEST(suite, way__forgets_after_a_round);
	CU_ADD_TEST(suite, way__small_ones_go_by_ring);
	CU_ADD_TEST(suite, way__waited_for);
	CU_ADD_TEST(suite, way__trials_lose_little);
	CU_ADD_TEST(suite, way__trials_are_put_off);
	CU_ADD_TEST(suite, way__trials_of_one_peer_of_some);
	CU_ADD_TEST(suite, way__pauses_after_a_loss);
	CU_ADD_TEST(suite, way__waits_as_long_as_a_call_takes);
	CU_ADD_TEST(suite, way__by_call_where_the_ring_was_never_timed);
}
