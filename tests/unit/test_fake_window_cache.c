// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_window_cache.c - what has been kept of windows that were freed is not what another
 * window lacks
 */
#include <CUnit/CUnit.h>

#include "fake_job.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "suites_fake.h"

static uint8_t memory[4096];

/* A window that leaves a piece behind, and one for whose memory no region more is to be had. */
static void make_two(struct rank *rank)
{
	oriel_group *world;
	oriel_win *win;
	void *base;

	rank_note(rank, "job_open", rank_join(rank, NULL));
	rank_note(rank, "group", oriel_group_world(rank->job, &world));
	rank_note(rank, "allocate", oriel_win_allocate(64, 1, NULL, world, &base, &win));
	rank_note(rank, "free", oriel_win_free(&win));
	CU_ASSERT_EQUAL(rank->job->window_cache.count, 1);
	fake_config.regions_max = fake_regions();
	rank_note(rank, "create", oriel_win_create(memory, sizeof(memory), 1, NULL, world, &win));
	CU_ASSERT_EQUAL(rank->job->window_cache.count, 0);
	rank_note(rank, "free", oriel_win_free(&win));
	rank_note(rank, "group_free", oriel_group_free(&world));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

static void window_cache__is_given_up_where_nothing_more_can_be_registered(void)
{
	struct rank rank;

	fake_reset();
	ranks_limit(60, "no region more");
	ranks_run(1, make_two, NULL, &rank);
	ranks_check(&rank, 1);
	fake_reset();
}

void suite_window_cache(void)
{
	CU_pSuite suite = CU_add_suite("window_cache", NULL, NULL);

	CU_ADD_TEST(suite, window_cache__is_given_up_where_nothing_more_can_be_registered);
}
