// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_signal.c - signals by a device: which requests they are, that they leave with the puts
 * they follow, and wait at the device for what they may not overtake
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "fake_job.h"
#include "fake_scenario.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "suites_fake.h"

#define BYTES 4096
#define TRIES 20 /* a ping of a service thread may lie between any two requests; not in each try */

struct table {
	oriel_group *world;
	oriel_win *win;
	_Alignas(8) uint8_t memory[BYTES];
};

static void open_table(struct rank *rank, struct table *table)
{
	static const struct oriel_hint hints[] = { { "signals", "4" }, { NULL, NULL } };
	uint64_t value = 0;

	rank_note(rank, "group", oriel_group_world(rank->job, &table->world));
	CU_ASSERT_EQUAL_FATAL(rank_note(rank, "create",
	                                oriel_win_create(table->memory, BYTES, 1, hints, table->world, &table->win)),
	                      0);
	rank_note(rank, "fence", oriel_win_fence(table->win, 0));
	/* Requests of first contact do not count. */
	rank_note(rank, "put", oriel_put(table->win, &value, sizeof(value), 1 - rank->rank, 0));
	rank_note(rank, "signal", oriel_signal(table->win, 1 - rank->rank, 3, 1, ORIEL_SIGNAL_ADD));
	rank_note(rank, "until", oriel_signal_until(table->win, 3, 1));
	rank_note(rank, "fence", oriel_win_fence(table->win, 0));
	rank_note(rank, "barrier", oriel_barrier(rank->job));
}

static void leave(struct rank *rank, struct table *table)
{
	rank_note(rank, "fence", oriel_win_fence(table->win, 0));
	rank_note(rank, "free", oriel_win_free(&table->win));
	rank_note(rank, "group_free", oriel_group_free(&table->world));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

/* The requests carried out, and doorbells. A write may also wake the peer. */
struct cost {
	uint64_t writes, reads, adds, swaps, fences, posts;
};

static struct cost so_far(void)
{
	return (struct cost){ fake_requests_of(IBV_WR_RDMA_WRITE) + fake_requests_of(IBV_WR_RDMA_WRITE_WITH_IMM),
		                  fake_requests_of(IBV_WR_RDMA_READ),
		                  fake_requests_of(IBV_WR_ATOMIC_FETCH_AND_ADD),
		                  fake_requests_of(IBV_WR_ATOMIC_CMP_AND_SWP),
		                  fake_fences(),
		                  fake_posts() };
}

static struct cost since(const struct cost *from)
{
	struct cost now = so_far();

	return (struct cost){ now.writes - from->writes, now.reads - from->reads,   now.adds - from->adds,
		                  now.swaps - from->swaps,   now.fences - from->fences, now.posts - from->posts };
}

static void costs(struct rank *rank, const char *what, const struct cost *from, struct cost want)
{
	struct cost is = since(from);

	if (memcmp(&is, &want, sizeof(is)) == 0)
		return;
	rank->wrong++;
	printf("%s: %lu writes, %lu reads, %lu adds, %lu swaps, %lu fences, %lu doorbells\n", what,
	       (unsigned long)is.writes, (unsigned long)is.reads, (unsigned long)is.adds, (unsigned long)is.swaps,
	       (unsigned long)is.fences, (unsigned long)is.posts);
}

/* Three puts, which do not continue each other, and the signal behind them. */
static void put_and_signal(struct rank *rank, struct table *table, enum oriel_signal_op op)
{
	uint64_t data = 7;

	for (size_t i = 0; i < 3; i++)
		rank_note(rank, "put", oriel_put(table->win, &data, sizeof(data), 1, 16 * i));
	rank_note(rank, "signal", oriel_signal(table->win, 1, 0, 1, op));
}

/* At the device the signal waits for the get, which reads what is there now. */
static void get_and_signal(struct rank *rank, struct table *table, enum oriel_signal_op op, struct cost want)
{
	uint8_t data[64];
	struct cost at = so_far();

	rank_note(rank, "get", oriel_get(table->win, data, sizeof(data), 1, 0));
	rank_note(rank, "signal", oriel_signal(table->win, 1, 0, 1, op));
	costs(rank, "get and signal", &at, want);
	rank_note(rank, "flush", oriel_win_flush(table->win, 1));
}

/* Writes may overtake atomics: the signal waits for those too. */
static void accumulate_and_signal(struct rank *rank, struct table *table)
{
	int64_t one = 1;
	struct cost at = so_far();

	rank_note(rank, "accumulate", oriel_accumulate(table->win, &one, 1, ORIEL_INT64, ORIEL_SUM, 1, 64));
	rank_note(rank, "signal", oriel_signal(table->win, 1, 0, 1, ORIEL_SIGNAL_SET));
	costs(rank, "accumulate and SET", &at, (struct cost){ .writes = 1, .adds = 1, .fences = 1, .posts = 1 });
	rank_note(rank, "flush", oriel_win_flush(table->win, 1));
}

static void refused(struct rank *rank, struct table *table)
{
	struct cost at = so_far();

	rank->wrong += oriel_signal(table->win, 1, 4, 1, ORIEL_SIGNAL_SET) != ORIEL_ERR_RANGE;
	rank->wrong += oriel_signal(table->win, 1, UINT32_MAX, 1, ORIEL_SIGNAL_ADD) != ORIEL_ERR_RANGE;
	costs(rank, "a signal that there is not", &at, (struct cost){ 0 });
}

static void operate(struct rank *rank, struct table *table)
{
	struct cost at = so_far();

	rank_note(rank, "signal", oriel_signal(table->win, 1, 0, 1, ORIEL_SIGNAL_SET));
	costs(rank, "SET", &at, (struct cost){ .writes = 1, .posts = 1 });
	at = so_far();
	rank_note(rank, "signal", oriel_signal(table->win, 1, 0, 1, ORIEL_SIGNAL_ADD));
	costs(rank, "ADD", &at, (struct cost){ .adds = 1, .posts = 1 });
	at = so_far();
	put_and_signal(rank, table, ORIEL_SIGNAL_SET);
	costs(rank, "puts and SET", &at, (struct cost){ .writes = 4, .posts = 1 });
	at = so_far();
	put_and_signal(rank, table, ORIEL_SIGNAL_ADD);
	costs(rank, "puts and ADD", &at, (struct cost){ .writes = 3, .adds = 1, .posts = 1 });
	get_and_signal(rank, table, ORIEL_SIGNAL_SET, (struct cost){ .writes = 1, .reads = 1, .fences = 1, .posts = 1 });
	get_and_signal(rank, table, ORIEL_SIGNAL_ADD, (struct cost){ .adds = 1, .reads = 1, .fences = 1, .posts = 1 });
	accumulate_and_signal(rank, table);
	refused(rank, table);
}

/*
 * A get, or three puts that do not continue each other, and an ADD. The target may answer, or tell
 * that it rests, between any two requests; not in each try.
 */
static void add_by_target(struct rank *rank, struct table *table, bool get, struct cost want)
{
	uint8_t data[64];
	bool as_wanted = false;

	for (int i = 0; i < TRIES && !as_wanted; i++) {
		struct cost at = so_far(), is;

		if (get)
			rank_note(rank, "get", oriel_get(table->win, data, sizeof(data), 1, 0));
		for (size_t k = 0; k < 3 && !get; k++)
			rank_note(rank, "put", oriel_put(table->win, data, 8, 1, 16 * k));
		rank_note(rank, "signal", oriel_signal(table->win, 1, 0, 1, ORIEL_SIGNAL_ADD));
		is = since(&at);
		as_wanted = memcmp(&is, &want, sizeof(is)) == 0;
		rank_note(rank, "flush", oriel_win_flush(table->win, 1));
	}
	rank->wrong += !as_wanted;
}

/*
 * The ADD is an active message: two writes behind what it follows, with the same doorbell, and
 * behind a get with a fence.
 */
static void operate_by_target(struct rank *rank, struct table *table)
{
	add_by_target(rank, table, false, (struct cost){ .writes = 5, .posts = 1 });
	add_by_target(rank, table, true, (struct cost){ .writes = 2, .reads = 1, .fences = 1, .posts = 1 });
	rank->wrong += oriel_signal(table->win, 1, 4, 1, ORIEL_SIGNAL_ADD) != ORIEL_ERR_RANGE;
}

/* rxe may forget a request that waits at it: gets are complete before the doorbell of what is behind them. */
static void operate_without_fences(struct rank *rank, struct table *table)
{
	get_and_signal(rank, table, ORIEL_SIGNAL_SET, (struct cost){ .writes = 1, .reads = 1, .posts = 2 });
	get_and_signal(rank, table, ORIEL_SIGNAL_ADD, (struct cost){ .adds = 1, .reads = 1, .posts = 2 });
}

static void operate_and_count(struct rank *rank, struct table *table)
{
	const struct device *device = &rank->job->devices.list[0];
	int before = rank->wrong, tries = 0;

	rank_begin_counting(rank);
	do {
		rank->wrong = before;
		if (device->fence_stalls)
			operate_without_fences(rank, table);
		else if (device->atomics == ATOMICS_NONE)
			operate_by_target(rank, table);
		else
			operate(rank, table);
	} while (rank->wrong != before && ++tries < TRIES);
	rank_end_counting();
}

static void count_requests(struct rank *rank)
{
	struct table table = { 0 };

	if (rank_join(rank, NULL))
		return;
	open_table(rank, &table);
	if (rank->rank == 0)
		operate_and_count(rank, &table);
	else
		rank_rest();
	leave(rank, &table);
}

static void run_two(rank_function *function)
{
	struct rank ranks[2];

	ranks_run(2, function, NULL, ranks);
	ranks_check(ranks, 2);
	fake_reset();
}

static void signal__leaves_with_what_it_follows(void)
{
	static const enum ibv_atomic_cap levels[] = { IBV_ATOMIC_HCA, IBV_ATOMIC_GLOB };

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		ranks_limit(60, "requests of signals, case %zu", i);
		fake_config.name = "softcard0"; /* keeps the order of writes */
		fake_config.atomics = levels[i];
		run_two(count_requests);
	}
}

/* A device that has none, and one whose are not to be used. */
static void signal__is_added_by_the_target_without_atomics(void)
{
	for (int i = 0; i < 2; i++) {
		ranks_limit(60, "requests of signals without atomics, case %d", i);
		fake_config.name = "softcard0"; /* keeps the order of writes */
		fake_config.atomics = i ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE;
		if (i)
			setenv("ORIEL_ATOMICS", "cpu", 1);
		run_two(count_requests);
		unsetenv("ORIEL_ATOMICS");
	}
}

static void signal__waits_here_where_fences_stall(void)
{
	ranks_limit(60, "signals behind gets on a device whose fences stall");
	fake_config.name = "rxe0";
	fake_config.atomics = IBV_ATOMIC_HCA;
	run_two(count_requests);
}

static int init(void)
{
	fake_reset();
	return 0;
}

void suite_signal(void)
{
	CU_pSuite suite = CU_add_suite("signal", init, NULL);

	CU_ADD_TEST(suite, signal__leaves_with_what_it_follows);
	CU_ADD_TEST(suite, signal__is_added_by_the_target_without_atomics);
	CU_ADD_TEST(suite, signal__waits_here_where_fences_stall);
}
