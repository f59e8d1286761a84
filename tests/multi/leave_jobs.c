// SPDX-License-Identifier: BSD-2-Clause
/*
 * leave_jobs.c - rules W7 and E1 at the end of a job: whatever a job has done last and however late
 * each rank is, every call gives 0, oriel_finalize too
 *
 *   oriel-run -n 4 leave_jobs SEED [JOBS]     JOBS (1) jobs one after the other, the first with this seed
 *
 * The seed says for all ranks what the job does, and for each how long it dawdles before each call.
 * Nothing is printed but failures. It needs nothing but the library, so it runs under any launcher.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "oriel.h"

#define LIMIT_S 60

struct leaving {
	oriel_job *job;
	oriel_group *world;
	oriel_group *some; /* every other rank, or nearly all */
	oriel_group *left;
	oriel_group *right;
	oriel_win *win;
	uint64_t memory[2];
	uint64_t own; /* this rank's random numbers */
	int rank;
	int size;
	int errors;
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Mostly not at all, often for some microseconds, now and then for long. */
static void dawdle(struct leaving *l)
{
	uint64_t kind = next_random(&l->own) % 16;
	long limit_us = kind < 8 ? 0 : kind < 15 ? 300 : 20000;
	struct timespec pause = { 0, limit_us ? (long)(next_random(&l->own) % (uint64_t)limit_us) * 1000 : 0 };

	if (limit_us)
		nanosleep(&pause, NULL);
}

static int check(struct leaving *l, const char *call, int rc)
{
	if (rc && l->errors++ == 0)
		fprintf(stderr, "not ok leave_jobs: rank %d: %d from %s: %s\n", l->rank, rc, call, oriel_last_error());
	return rc;
}

#define CALL(l, call) (dawdle(l), check(l, #call, call))

static void make_groups(struct leaving *l, uint64_t step)
{
	int ranks[64], count = 0;

	CALL(l, oriel_group_world(l->job, &l->world));
	CALL(l, oriel_group_incl(l->world, 1, (int[]){ (l->rank + 1) % l->size }, &l->right));
	CALL(l, oriel_group_incl(l->world, 1, (int[]){ (l->rank + l->size - 1) % l->size }, &l->left));
	for (int rank = 0; rank < l->size && count < 64; rank += 1 + (int)step)
		ranks[count++] = rank;
	CALL(l, oriel_group_incl(l->world, count, ranks, &l->some));
}

static void drop_groups(struct leaving *l)
{
	oriel_group_free(&l->some);
	oriel_group_free(&l->left);
	oriel_group_free(&l->right);
	oriel_group_free(&l->world);
}

static void use_fences(struct leaving *l, oriel_group *group)
{
	int members = oriel_group_size(group), me = oriel_group_rank(group);
	uint64_t value = (uint64_t)l->rank;

	if (me == ORIEL_RANK_NONE)
		return;
	CALL(l, oriel_win_create(l->memory, sizeof(l->memory), sizeof(uint64_t), NULL, group, &l->win));
	CALL(l, oriel_win_fence(l->win, 0));
	CALL(l, oriel_put(l->win, &value, sizeof(value), (me + 1) % members, 0));
	CALL(l, oriel_win_fence(l->win, 0));
	CALL(l, oriel_win_free(&l->win));
}

/* Only neighbours in the ring talk on the window. */
static void use_ring(struct leaving *l)
{
	uint64_t value = (uint64_t)l->rank;

	CALL(l, oriel_win_create(l->memory, sizeof(l->memory), sizeof(uint64_t), NULL, l->world, &l->win));
	CALL(l, oriel_win_post(l->win, l->left, 0));
	CALL(l, oriel_win_start(l->win, l->right, 0));
	CALL(l, oriel_put(l->win, &value, sizeof(value), (l->rank + 1) % l->size, 1));
	CALL(l, oriel_win_complete(l->win));
	CALL(l, oriel_win_wait(l->win));
	CALL(l, oriel_win_free(&l->win));
}

static void work(struct leaving *l, uint64_t *shared)
{
	int steps = (int)(next_random(shared) % 4);

	for (int i = 0; i < steps && l->errors == 0; i++) {
		switch (next_random(shared) % 4) {
		case 0:
			CALL(l, oriel_barrier(l->job));
			break;
		case 1:
			use_fences(l, l->world);
			break;
		case 2:
			use_fences(l, l->some);
			break;
		case 3:
			use_ring(l);
			break;
		}
	}
}

static int run_job(uint64_t seed)
{
	struct leaving l = { .own = seed ^ (uint64_t)getpid() << 20 };
	uint64_t shared = seed;

	if (CALL(&l, oriel_init(NULL, &l.job)))
		return 1;
	l.rank = oriel_rank(l.job);
	l.size = oriel_size(l.job);
	l.own = seed * 1000 + (uint64_t)l.rank;
	next_random(&shared);
	make_groups(&l, next_random(&shared) % 2);
	work(&l, &shared);
	drop_groups(&l);
	CALL(&l, oriel_finalize(&l.job));
	return l.errors > 0;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1, jobs = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	int failed = 0;

	for (uint64_t i = 0; i < jobs && !failed; i++) {
		alarm(LIMIT_S);
		failed = run_job(seed + i);
	}
	return failed;
}
