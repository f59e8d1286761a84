// SPDX-License-Identifier: BSD-2-Clause
/*
 * turns.c - one long wait for two ranks, for counting the instructions of its turns
 *
 * Rank 0 posts and waits; ranks 1 and 2 access and complete only once it has waited for WAIT_MS.
 *
 * usage: oriel-run -n 3 budget-turns
 */
#include <oriel.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define WAIT_MS 300

static int fail(const char *call)
{
	fprintf(stderr, "%s: %s\n", call, oriel_last_error());
	return 1;
}

static int expose(oriel_win *win, oriel_group *world)
{
	int others[] = { 1, 2 };
	oriel_group *origins;

	if (oriel_group_incl(world, 2, others, &origins) || oriel_win_post(win, origins, 0) || oriel_win_wait(win))
		return fail("exposure epoch");
	return oriel_group_free(&origins);
}

static int access_late(oriel_win *win, oriel_group *world)
{
	struct timespec late = { .tv_nsec = WAIT_MS * 1000000L };
	uint64_t value = 1;
	oriel_group *target;
	int first = 0;

	nanosleep(&late, NULL);
	if (oriel_group_incl(world, 1, &first, &target) || oriel_win_start(win, target, 0) ||
	    oriel_put(win, &value, sizeof(value), 0, 0) || oriel_win_complete(win))
		return fail("access epoch");
	return oriel_group_free(&target);
}

int main(void)
{
	oriel_group *world;
	oriel_job *job;
	oriel_win *win;
	void *base;
	int rc;

	if (oriel_init(NULL, &job) || oriel_size(job) != 3 || oriel_group_world(job, &world) ||
	    oriel_win_allocate(64, 1, NULL, world, &base, &win) || oriel_win_fence(win, 0) ||
	    oriel_win_fence(win, ORIEL_MODE_NOSUCCEED))
		return fail("window");
	rc = oriel_rank(job) == 0 ? expose(win, world) : access_late(win, world);
	return rc || oriel_win_free(&win) || oriel_group_free(&world) || oriel_finalize(&job);
}
