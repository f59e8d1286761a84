// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_mixed.c - two devices in one job: the fake as the card, and beside it the softverbs that is
 * built in, which is the real one
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_job.h"
#include "fake_scenario.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "job/peer.h"
#include "suites_fake.h"
#include "base/order.h"
#include "win/win.h"

#define RANKS 4
#define BYTES 256 /* more than goes into a request */
#define ROUNDS 50

static int checked; /* atomic */

static void begin_run(const char *what)
{
	fake_reset();
	checked = 0;
	ranks_limit(60, "%s", what);
}

static void run(rank_function *function, void *arg)
{
	struct rank ranks[RANKS];

	ranks_run(RANKS, function, arg, ranks);
	ranks_check(ranks, RANKS);
}

/* A window of all ranks, freed with everything else at the end. */
struct shared {
	oriel_group *world;
	oriel_win *win;
	uint8_t *memory;
};

static void open_window(struct rank *rank, struct shared *shared)
{
	void *base;

	rank_note(rank, "group", oriel_group_world(rank->job, &shared->world));
	CU_ASSERT_EQUAL_FATAL(rank_note(rank, "allocate",
	                                oriel_win_allocate(RANKS * BYTES, 1, NULL, shared->world, &base, &shared->win)),
	                      0);
	shared->memory = base;
	rank_note(rank, "fence", oriel_win_fence(shared->win, 0));
}

static void leave(struct rank *rank, struct shared *shared)
{
	rank_note(rank, "free", oriel_win_free(&shared->win));
	rank_note(rank, "group_free", oriel_group_free(&shared->world));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

/*
 * Every rank puts to every other in every round; ranks 0 and 1 are one node, and 2 and 3, or all
 * one of their own.
 */
static void all_to_all(struct rank *rank)
{
	const char *const *nodes = rank->arg;
	uint8_t data[BYTES];
	struct shared shared;

	if (rank_join_on(rank, nodes[rank->rank]))
		return;
	open_window(rank, &shared);
	for (int round = 1; round <= ROUNDS; round++) {
		memset(data, round * RANKS + rank->rank, sizeof(data));
		for (int to = 0; to < RANKS; to++)
			rank_note(rank, "put", oriel_put(shared.win, data, BYTES, to, (size_t)rank->rank * BYTES));
		rank_note(rank, "fence", oriel_win_fence(shared.win, 0));
		for (int from = 0; from < RANKS; from++)
			rank->wrong += shared.memory[from * BYTES + BYTES - 1] != (uint8_t)(round * RANKS + from);
		rank_note(rank, "fence", oriel_win_fence(shared.win, 0));
	}
	leave(rank, &shared);
}

struct cost {
	uint64_t requests, posts, completions;
};

/* Returns what the card does if no read behind writes is needed. */
static struct cost count_cost(const char *const nodes[RANKS])
{
	begin_run("all to all");
	fake_config.name = "softcard0";
	run(all_to_all, (void *)(uintptr_t)nodes);
	return (struct cost){ fake_requests(), fake_posts(), fake_completions() };
}

/* Neighbours that share memory cost the card nothing, and the others no more than without them. */
static void mixture__costs_no_request_or_completion_more(void)
{
	static const char *const alone[RANKS] = { "a", "b", "c", "d" }, *const pairs[RANKS] = { "a", "a", "b", "b" };
	static const char *const one[RANKS] = { "a", "a", "a", "a" };
	struct cost card = count_cost(alone), both = count_cost(pairs), soft = count_cost(one);

	CU_ASSERT_TRUE(both.requests <= card.requests);
	CU_ASSERT_TRUE(both.posts <= card.posts);
	CU_ASSERT_TRUE(both.completions <= card.completions);
	CU_ASSERT(both.completions > 0);
	CU_ASSERT_EQUAL(soft.requests, 0);
	CU_ASSERT_EQUAL(soft.posts, 0);
	CU_ASSERT_EQUAL(soft.completions, 0);
}

/*
 * Rank 0 is alone and writes to rank 3, to which the word of the fence comes by way of rank 1, the last
 * step by a processor's store; and the card acknowledges before it places.
 */
static void put_and_fence(struct rank *rank)
{
	static const uint8_t data[BYTES] = { 1, 2, 3, [BYTES - 1] = 9 };
	uint8_t back[BYTES];
	struct shared shared;

	if (rank_join_on(rank, rank->rank == 0 ? "a" : "b"))
		return;
	open_window(rank, &shared);
	if (rank->rank == 0) {
		memcpy(shared.memory, data, BYTES); /* registered: flush_local waits for it */
		rank_note(rank, "put", oriel_put(shared.win, shared.memory, BYTES, 3, 0)); /* the first knows where it goes */
		rank_note(rank, "flush", oriel_win_flush(shared.win, 3));
		fake_config.early_acks = true;
		rank_note(rank, "put", oriel_put(shared.win, shared.memory, BYTES, 3, BYTES));
		if (rank->arg)
			rank_note(rank, "flush_local", oriel_win_flush_local(shared.win, 3));
	}
	rank_note(rank, "fence", oriel_win_fence(shared.win, 0));
	if (rank->rank == 3) {
		scenario_compare(rank, shared.memory + BYTES, data, BYTES);
		__atomic_store_n(&checked, 1, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&checked, __ATOMIC_ACQUIRE))
		usleep(100); /* what is sent now would place the data */
	if (rank->rank == 0) {
		fake_config.early_acks = false;
		rank_note(rank, "get", oriel_get(shared.win, back, BYTES, 3, BYTES)); /* placed at the latest now */
	}
	rank_note(rank, "fence", oriel_win_fence(shared.win, ORIEL_MODE_NOSUCCEED));
	leave(rank, &shared);
}

static void fence__data_that_is_acknowledged_and_not_placed(void)
{
	begin_run("fence, early acknowledgements");
	run(put_and_fence, NULL);
	begin_run("fence after flush_local, early acknowledgements");
	run(put_and_fence, &checked);
}

/* Puts, and completes by a request; then another route than the card's makes rank 3 check. */
static void put_and_request(struct rank *rank)
{
	static const uint8_t data[BYTES] = { 4, 5, 6, [BYTES - 1] = 7 };
	oriel_request request;
	struct shared shared;

	if (rank_join_on(rank, rank->rank == 0 ? "a" : "b"))
		return;
	open_window(rank, &shared);
	if (rank->rank == 0) {
		memcpy(shared.memory, data, BYTES);
		rank_note(rank, "lock_all", oriel_win_lock_all(shared.win, 0));
		rank_note(rank, "put", oriel_put(shared.win, shared.memory, BYTES, 3, 0));
		rank_note(rank, "flush", oriel_win_flush(shared.win, 3));
		fake_config.early_acks = true;
		rank_note(rank, "put", oriel_put(shared.win, shared.memory, BYTES, 3, BYTES));
		rank_note(rank, "iflush_local", oriel_win_iflush_local(shared.win, 3, &request));
		rank_note(rank, "wait", oriel_request_wait(&request));
		rank_note(rank, "iflush", oriel_win_iflush(shared.win, rank->arg ? ORIEL_RANK_ALL : 3, &request));
		rank_note(rank, "wait", oriel_request_wait(&request));
		__atomic_store_n(&checked, 1, __ATOMIC_RELEASE);
	}
	while (rank->rank == 3 && !__atomic_load_n(&checked, __ATOMIC_ACQUIRE))
		usleep(100);
	if (rank->rank == 3) {
		scenario_compare(rank, shared.memory + BYTES, data, BYTES);
		__atomic_store_n(&checked, 2, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&checked, __ATOMIC_ACQUIRE) < 2)
		usleep(100); /* what is sent now would place the data */
	if (rank->rank == 0) {
		fake_config.early_acks = false;
		rank_note(rank, "unlock_all", oriel_win_unlock_all(shared.win));
	}
	rank_note(rank, "fence", oriel_win_fence(shared.win, ORIEL_MODE_NOSUCCEED));
	leave(rank, &shared);
}

static void iflush__data_that_is_acknowledged_and_not_placed(void)
{
	begin_run("iflush, early acknowledgements");
	run(put_and_request, NULL);
	begin_run("iflush to all, early acknowledgements");
	run(put_and_request, &checked);
}

static bool died(const struct rank *rank, int other)
{
	return rank_is_dead(rank->job, other, NULL);
}

/* The card of all ranks fails while all are connected: ranks that share memory go on. */
static void lose_the_card(struct rank *rank)
{
	int mate = rank->rank ^ 1;
	struct shared shared;

	if (rank_join_on(rank, rank->rank < 2 ? "a" : "b"))
		return;
	open_window(rank, &shared);
	if (__atomic_add_fetch(&checked, 1, __ATOMIC_ACQ_REL) == RANKS)
		fake_async(IBV_EVENT_DEVICE_FATAL);
	for (int other = 0; other < RANKS; other++) {
		while (other != rank->rank && other != mate && !died(rank, other) &&
		       peer_find(rank->job, other)) /* of whom it has heard */
			usleep(100);
	}
	rank->wrong += died(rank, mate);
	CU_ASSERT_EQUAL(oriel_win_free(&shared.win), ORIEL_ERR_PEER);
	oriel_group_free(&shared.world);
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), ORIEL_ERR_PEER);
}

static void device_failed__takes_its_own_peers(void)
{
	begin_run("the card fails");
	run(lose_the_card, NULL);
}

/*
 * Until the words of all whom this rank will hear from in the next fence are there: it need not
 * wait in it.
 */
static void await_words(const struct oriel_win *win)
{
	const struct fence *fence = &win->fence;
	uint64_t next = fence->number + 1;

	for (int round = 0; round < fence->barrier.rounds; round++) {
		uint64_t at = control_fence_word(fence->barrier.rounds, next % CONTROL_FENCE_SETS, round);

		while (flag_load(&fence->words[at]) != next)
			usleep(100);
	}
}

/* Rank 0 has lost rank 3, and comes to the fence last; to the others it would seem that all is well. */
static void fence_after_a_loss(struct rank *rank)
{
	struct shared shared;

	if (rank_join_on(rank, rank->rank < 2 ? "a" : "b"))
		return;
	open_window(rank, &shared);
	if (rank->rank == 0) {
		await_words(shared.win);
		rank_died(rank->job, 3, "lost");
	}
	CU_ASSERT_EQUAL(oriel_win_fence(shared.win, 0), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(oriel_win_free(&shared.win), ORIEL_ERR_PEER);
	oriel_group_free(&shared.world);
	oriel_finalize(&rank->job);
}

static void fence__who_knows_of_a_death_lets_nobody_pass(void)
{
	begin_run("a fence after a loss");
	run(fence_after_a_loss, NULL);
}

void suite_mixed(void)
{
	CU_pSuite suite = CU_add_suite("mixed", NULL, NULL);

	CU_ADD_TEST(suite, mixture__costs_no_request_or_completion_more);
	CU_ADD_TEST(suite, iflush__data_that_is_acknowledged_and_not_placed);
	CU_ADD_TEST(suite, fence__data_that_is_acknowledged_and_not_placed);
	CU_ADD_TEST(suite, fence__who_knows_of_a_death_lets_nobody_pass);
	CU_ADD_TEST(suite, device_failed__takes_its_own_peers);
}
