// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_lock.c - exclusive locks by the three kinds of ranks at once (the target itself, one that maps
 * its memory, one behind the card), whatever the card's atomics are atomic with, and without any
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>

#include "fake_job.h"
#include "fake_scenario.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "suites_fake.h"

#define RANKS 3
#define ROUNDS 200

struct counting {
	oriel_group *world;
	oriel_win *win;
	uint64_t *memory;
};

static bool enter(struct rank *rank, struct counting *counting)
{
	void *base;

	if (rank_note(rank, "job_open", rank_join_on(rank, rank->rank == rank->size - 1 ? "b" : "a")))
		return false;
	rank_note(rank, "group", oriel_group_world(rank->job, &counting->world));
	if (rank_note(rank, "allocate", oriel_win_allocate(64, 8, NULL, counting->world, &base, &counting->win)))
		return false;
	counting->memory = base;
	return true;
}

static void leave(struct rank *rank, struct counting *counting)
{
	rank_note(rank, "free", oriel_win_free(&counting->win));
	rank_note(rank, "group_free", oriel_group_free(&counting->world));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

/* One more, by a get and a put that only the lock keeps together. */
static void count_up(struct rank *rank, oriel_win *win)
{
	uint64_t value = 0;

	rank_note(rank, "lock", oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	rank_note(rank, "get", oriel_get(win, &value, sizeof(value), 0, 0));
	rank_note(rank, "flush", oriel_win_flush(win, 0));
	value++;
	rank_note(rank, "put", oriel_put(win, &value, sizeof(value), 0, 0));
	rank_note(rank, "unlock", oriel_win_unlock(win, 0));
}

static void all_count(struct rank *rank)
{
	struct counting counting;

	if (!enter(rank, &counting))
		return;
	for (int i = 0; i < ROUNDS; i++)
		count_up(rank, counting.win);
	rank_note(rank, "fence", oriel_win_fence(counting.win, 0));
	rank->wrong += rank->rank == 0 && counting.memory[0] != RANKS * ROUNDS;
	leave(rank, &counting);
}

static void lock__three_kinds_of_ranks(void)
{
	static const struct {
		enum ibv_atomic_cap atomics;
		const char *by;
	} cases[] = { { IBV_ATOMIC_HCA, NULL }, { IBV_ATOMIC_HCA, "cpu" }, { IBV_ATOMIC_GLOB, NULL } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rank ranks[RANKS];

		ranks_limit(60, "locks of three kinds of ranks, case %zu", i);
		fake_config.engine = true;
		fake_config.atomics = cases[i].atomics;
		if (cases[i].by)
			setenv("ORIEL_ATOMICS", cases[i].by, 1);
		ranks_run(RANKS, all_count, NULL, ranks);
		unsetenv("ORIEL_ATOMICS");
		ranks_check(ranks, RANKS);
		fake_reset();
	}
}

static void lock_without_atomics(struct rank *rank)
{
	struct counting counting;

	if (!enter(rank, &counting))
		return;
	if (rank->rank == 0) {
		rank->wrong += oriel_win_lock(counting.win, ORIEL_LOCK_EXCLUSIVE, 1, 0) != ORIEL_ERR_DEVICE;
		rank_note(rank, "shared", oriel_win_lock(counting.win, ORIEL_LOCK_SHARED, 1, 0));
		rank_note(rank, "unlock", oriel_win_unlock(counting.win, 1));
		rank_note(rank, "own", oriel_win_lock(counting.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
		rank_note(rank, "unlock", oriel_win_unlock(counting.win, 0));
	}
	leave(rank, &counting);
}

/* Tickets cannot be drawn from afar: that is an error, and no rank loses its connection. */
static void lock__without_atomics(void)
{
	struct rank ranks[2];

	ranks_limit(60, "locks without atomics");
	fake_config.atomics = IBV_ATOMIC_NONE;
	ranks_run(2, lock_without_atomics, NULL, ranks);
	ranks_check(ranks, 2);
	fake_reset();
}

/* A second connection to a rank has no flag words: what looks at those of all peers leaves it out. */
static void detach_beside_an_atomics_peer(struct rank *rank)
{
	struct counting counting;
	oriel_win *regions = NULL;
	uint64_t memory[8] = { 0 };

	if (!enter(rank, &counting))
		return;
	count_up(rank, counting.win);
	rank_note(rank, "create", oriel_win_create_dynamic(NULL, counting.world, &regions));
	rank_note(rank, "attach", oriel_win_attach(regions, memory, sizeof(memory)));
	rank->wrong += rank->rank == 0 && rank->job->peers.atomics_peer_count == 0;
	rank_note(rank, "detach", oriel_win_detach(regions, memory));
	rank_note(rank, "free", oriel_win_free(&regions));
	leave(rank, &counting);
}

static void lock__atomics_peers_and_detached_regions(void)
{
	struct rank ranks[RANKS];

	ranks_limit(60, "regions detached beside atomics peers");
	fake_config.engine = true;
	fake_config.atomics = IBV_ATOMIC_HCA;
	ranks_run(RANKS, detach_beside_an_atomics_peer, NULL, ranks);
	ranks_check(ranks, RANKS);
	fake_reset();
}

static int init(void)
{
	fake_reset();
	return 0;
}

void suite_lock(void)
{
	CU_pSuite suite = CU_add_suite("lock", init, NULL);

	CU_ADD_TEST(suite, lock__three_kinds_of_ranks);
	CU_ADD_TEST(suite, lock__without_atomics);
	CU_ADD_TEST(suite, lock__atomics_peers_and_detached_regions);
}
