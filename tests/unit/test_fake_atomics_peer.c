// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_atomics_peer.c - second connections (atomics_peer.h): the fake as a card that is atomic
 * among its own requests only, and softverbs beside it, by which all ranks talk to each other
 */
#include <CUnit/CUnit.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "fake_job.h"
#include "fake_scenario.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "job/peer.h"
#include "conn/atomics_peer.h"
#include "suites_fake.h"

#define RANKS 3
#define ADDS 100
#define LIMIT_NS (20 * NS_PER_SECOND)

/* A word of rank 0's, as peers of the card reach it; rank 0 publishes it before a barrier. */
static struct remote word;
static uint8_t seen[RANKS * ADDS]; /* how often which value was found; atomic */

static int join_with(struct rank *rank, const char *device)
{
	const struct oriel_options options = { .struct_bytes = sizeof(options), .device = device };

	return rank_note(rank, "job_open", rank_join(rank, &options));
}

static void make_word(struct rank *rank)
{
	const struct device *card = devices_find(&rank->job->devices, false);
	struct piece piece;

	if (rank->rank == 0 && rank_note(rank, "slab_alloc", slab_alloc(&rank->job->slabs, 64, &piece)) == 0)
		word = (struct remote){ (uint64_t)(uintptr_t)piece.addr, piece.keys[card->index].rkey };
	rank_note(rank, "barrier", oriel_barrier(rank->job));
}

static struct wire *wait_wire(struct rank *rank, int to)
{
	uint64_t begin = now_ns();
	struct peer *peer;
	struct wire *wire;
	int rc = peer_get(rank->job, to, &peer);

	while (rc == 0 && now_ns() - begin < LIMIT_NS) {
		rc = peer_atomic_wire(peer, &wire);
		sched_yield();
	}
	rank_note(rank, "peer_atomic_wire", rc > 0 ? 0 : rc);
	return rc > 0 ? wire : NULL;
}

static void add_up(struct rank *rank, struct wire *wire)
{
	const struct atomic one = atomic_add(1, word);
	uint64_t old[ADDS], number = 0;

	for (int i = 0; i < ADDS; i++)
		rank_note(rank, "add", wire_atomic(wire, &one, &old[i], &number));
	rank->wrong += !wire_wait(wire, number);
	for (int i = 0; i < ADDS; i++)
		__atomic_add_fetch(&seen[old[i] % sizeof(seen)], 1, __ATOMIC_RELAXED);
}

/* All ranks change a word of rank 0, itself among them. */
static void all_add(struct rank *rank)
{
	struct wire *wire;

	if (join_with(rank, rank->arg))
		return;
	make_word(rank);
	wire = wait_wire(rank, 0);
	if (wire)
		add_up(rank, wire);
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

static void run_adds(const char *device, int ranks_count)
{
	struct rank ranks[RANKS];

	memset(seen, 0, sizeof(seen));
	ranks_limit(60, "all add, by %s", device);
	fake_config.atomics = IBV_ATOMIC_HCA;
	ranks_run(ranks_count, all_add, (void *)(uintptr_t)device, ranks);
	for (int i = 0; i < ranks_count; i++) {
		CU_ASSERT_EQUAL(ranks[i].errors, 0);
		CU_ASSERT_EQUAL(ranks[i].wrong, 0);
	}
	for (int i = 0; i < ranks_count * ADDS; i++)
		CU_ASSERT_EQUAL(seen[i], 1); /* each old value was found once */
	CU_ASSERT_EQUAL(fake_requests_of(IBV_WR_ATOMIC_FETCH_AND_ADD), (uint64_t)ranks_count * ADDS);
	CU_ASSERT_TRUE(ranks_clean());
	fake_reset();
}

/* Ranks that share memory with rank 0, and rank 0 itself, use its card. */
static void atomics_peer__of_ranks_that_share_memory_and_of_oneself(void)
{
	run_adds("card+soft", RANKS);
}

/* If all ranks communicate by the card, only the rank itself needs one. */
static void atomics_peer__of_oneself_alone(void)
{
	run_adds("card", RANKS);
	run_adds("card", 1);
}

/* Both sides ask at once, many times. */
static void both_ask(struct rank *rank)
{
	if (join_with(rank, "card+soft"))
		return;
	make_word(rank);
	wait_wire(rank, 1 - rank->rank);
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	if (rank->job->peers.atomics_peer_count != 1)
		rank->wrong++;
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

static void atomics_peer__both_sides_ask(void)
{
	struct rank ranks[2];

	for (int round = 0; round < 20; round++) {
		ranks_limit(60, "both ask, round %d", round);
		fake_config.atomics = IBV_ATOMIC_HCA;
		ranks_run(2, both_ask, NULL, ranks);
		ranks_check(ranks, 2);
		fake_reset();
	}
}

static bool survivor_ready;

/* One connection is up and then the rank ends without a word: it is dead for both, and for finalize. */
static void lose_atomics_peer(struct rank *rank)
{
	uint64_t begin = now_ns();
	struct peer *peer;
	struct wire *wire;
	int rc = 0;

	if (join_with(rank, "card+soft"))
		return;
	make_word(rank);
	wait_wire(rank, 1 - rank->rank);
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	if (rank->rank == 1) {
		while (!__atomic_load_n(&survivor_ready, __ATOMIC_ACQUIRE))
			sched_yield();
		return;
	}
	__atomic_store_n(&survivor_ready, true, __ATOMIC_RELEASE);
	peer_get(rank->job, 1, &peer);
	while (rc >= 0 && now_ns() - begin < LIMIT_NS) {
		rc = peer_atomic_wire(peer, &wire);
		sched_yield();
	}
	rank->wrong += rc != ORIEL_ERR_PEER || state_load(&peer->state) != PEER_DEAD;
	rank->wrong += oriel_finalize(&rank->job) != ORIEL_ERR_PEER;
}

static void atomics_peer__of_a_rank_that_dies(void)
{
	struct rank ranks[2];

	survivor_ready = false;
	ranks_limit(60, "a rank with an atomics peer dies");
	fake_config.atomics = IBV_ATOMIC_HCA;
	ranks_run(2, lose_atomics_peer, NULL, ranks);
	CU_ASSERT_EQUAL(ranks[0].errors, 0);
	CU_ASSERT_EQUAL(ranks[0].wrong, 0);
	fake_reset();
}

/* Whether both connections to the rank have its goodbye. */
static bool has_said_goodbye(struct rank *rank, int to)
{
	struct peer *peer;

	return peer_get(rank->job, to, &peer) == 0 && peer->atomics_peer && peer_said_goodbye(peer) &&
	       peer_said_goodbye(peer->atomics_peer);
}

/* The end of the first connection to a rank that has said goodbye on both tells of the second one too. */
static void see_it_leave(struct rank *rank)
{
	uint64_t begin = now_ns();
	struct peer *peer;

	if (join_with(rank, "card+soft"))
		return;
	make_word(rank);
	wait_wire(rank, 1 - rank->rank);
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	if (rank->rank == 0) {
		oriel_finalize(&rank->job); /* the other ends without a goodbye */
		return;
	}
	while (!has_said_goodbye(rank, 0) && now_ns() - begin < LIMIT_NS)
		sched_yield();
	peer_get(rank->job, 0, &peer);
	peer_left(peer);
	rank->wrong += state_load(&peer->atomics_peer->state) != PEER_DEAD; /* no event of its own need come */
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

static void atomics_peer__of_a_rank_that_has_left(void)
{
	struct rank ranks[2];

	ranks_limit(60, "a rank with an atomics peer leaves");
	fake_config.atomics = IBV_ATOMIC_HCA;
	ranks_run(2, see_it_leave, NULL, ranks);
	CU_ASSERT_EQUAL(ranks[0].errors, 0);
	CU_ASSERT_EQUAL(ranks[1].errors, 0);
	CU_ASSERT_EQUAL(ranks[1].wrong, 0);
	fake_reset();
}

/* Whatever fails first, nothing hangs, nothing is left, and no value is found twice. */
static void sweep(void (*fault)(uint64_t n), const char *what)
{
	struct rank ranks[2];
	bool hit = true;

	for (uint64_t n = 1; hit; n += 1 + n / 16) {
		ranks_limit(60, "adding while %s %llu fails", what, (unsigned long long)n);
		memset(seen, 0, sizeof(seen));
		fake_config.atomics = IBV_ATOMIC_HCA;
		fault(n);
		ranks_run(2, all_add, "card+soft", ranks);
		hit = fake_hit();
		for (int i = 0; i < 2 * ADDS && !hit; i++)
			CU_ASSERT_EQUAL(seen[i], 1);
		CU_ASSERT_EQUAL(fake_misuses(), 0);
		fake_reset();
	}
}

/* A wait for a lost message lasts until the limit. */
static void atomics_peer__whatever_fails(void)
{
	setenv("ORIEL_CONNECT_TIMEOUT", "2", 1);
	sweep(fake_fail_call, "call");
	sweep(fake_fail_request, "request");
	sweep(fake_drop_event, "event");
}

/* Whose processor may change the words needs no second connection, and is not asked for one. */
static void no_domain(struct rank *rank)
{
	struct peer *peer;
	struct wire *wire;

	if (join_with(rank, "card+soft"))
		return;
	rank->wrong += job_atomic_device(rank->job) != NULL;
	if (rank_note(rank, "peer", peer_get(rank->job, rank->rank, &peer)) == 0)
		rank->wrong += peer_atomic_wire(peer, &wire) != ORIEL_ERR_PEER;
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

static void job_atomic_device__only_of_one_hca(void)
{
	static const enum ibv_atomic_cap levels[] = { IBV_ATOMIC_NONE, IBV_ATOMIC_GLOB };
	struct rank rank;

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		fake_config.atomics = levels[i];
		ranks_run(1, no_domain, NULL, &rank);
		ranks_check(&rank, 1);
		fake_reset();
	}
}

#define EPOCHS 200

/*
 * Puts by softverbs and fetches by the card, with a fence between them. The adversary makes the put
 * late.
 */
static void put_fence_fetch(struct rank *rank)
{
	static uint64_t memory[2][512] __attribute__((aligned(4096)));
	oriel_group *world;
	oriel_win *win;

	if (join_with(rank, "card+soft"))
		return;
	rank_note(rank, "group", oriel_group_world(rank->job, &world));
	rank_note(rank, "create", oriel_win_create(memory[rank->rank], sizeof(memory[0]), 8, NULL, world, &win));
	rank_note(rank, "fence", oriel_win_fence(win, 0));
	for (uint64_t i = 1; i <= EPOCHS; i++) {
		uint64_t value = 1000 * i, found = value;
		int64_t one = 1;

		if (rank->rank == 0)
			rank_note(rank, "put", oriel_put(win, &value, sizeof(value), 1, 0));
		rank_note(rank, "fence", oriel_win_fence(win, 0));
		if (rank->rank == 0)
			rank_note(rank, "fetch", oriel_fetch_and_op(win, &one, &found, ORIEL_INT64, ORIEL_SUM, 1, 0));
		rank_note(rank, "fence", oriel_win_fence(win, 0));
		rank->wrong += found != value;
	}
	oriel_win_free(&win);
	oriel_group_free(&world);
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

static void atomics_peer__finds_what_was_put_before_the_fence(void)
{
	struct rank ranks[2];

	ranks_limit(60, "a put, a fence, and a fetch by the card");
	fake_config.atomics = IBV_ATOMIC_HCA;
	ranks_run(2, put_fence_fetch, NULL, ranks);
	ranks_check(ranks, 2);
	fake_reset();
}

static int init(void)
{
	fake_reset();
	return 0;
}

void suite_atomics_peer(void)
{
	CU_pSuite suite = CU_add_suite("atomics_peer", init, NULL);

	CU_ADD_TEST(suite, atomics_peer__of_ranks_that_share_memory_and_of_oneself);
	CU_ADD_TEST(suite, atomics_peer__of_oneself_alone);
	CU_ADD_TEST(suite, atomics_peer__both_sides_ask);
	CU_ADD_TEST(suite, atomics_peer__of_a_rank_that_dies);
	CU_ADD_TEST(suite, atomics_peer__of_a_rank_that_has_left);
	CU_ADD_TEST(suite, atomics_peer__finds_what_was_put_before_the_fence);
	CU_ADD_TEST(suite, atomics_peer__whatever_fails);
	CU_ADD_TEST(suite, job_atomic_device__only_of_one_hca);
}
