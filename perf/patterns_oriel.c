/* patterns_oriel.c - the patterns of patterns.h on Oriel's public calls */
#include <oriel.h>
#include <stdio.h>

#include "patterns.h"

static oriel_job *job;
static oriel_group *world, *other;
static oriel_win *win;
static void *base;

const char implementation[] = "oriel";

static int fail(const char *call)
{
	fprintf(stderr, "%s: %s\n", call, oriel_last_error());
	return 1;
}

static int epoch_origin(int target, size_t size_bytes)
{
	if (oriel_win_start(win, other, 0) || oriel_put(win, base, size_bytes, target, 0) || oriel_win_complete(win))
		return fail("access epoch");
	return 0;
}

static int epoch_target(void)
{
	if (oriel_win_post(win, other, 0) || oriel_win_wait(win))
		return fail("exposure epoch");
	return 0;
}

/* OSU's put latency with post, start, complete, wait: an epoch there, an epoch back. */
static int pscw(int rank, size_t size_bytes)
{
	if (rank == 0)
		return epoch_origin(1, size_bytes) || epoch_target();
	return epoch_target() || epoch_origin(0, size_bytes);
}

static int get(int rank, size_t size_bytes)
{
	if (rank == 1)
		return 0;
	if (oriel_get(win, base, size_bytes, 1, 0) || oriel_win_flush(win, 1))
		return fail("oriel_get");
	return 0;
}

static int put(int rank, size_t size_bytes)
{
	if (rank == 1)
		return 0;
	if (oriel_put(win, base, size_bytes, 1, 0) || oriel_win_flush(win, 1))
		return fail("oriel_put");
	return 0;
}

static int fence(int rank, size_t size_bytes)
{
	if (rank == 0 && oriel_put(win, base, size_bytes, 1, 0))
		return fail("oriel_put");
	return oriel_win_fence(win, 0) ? fail("oriel_win_fence") : 0;
}

int patterns_barrier(int rank)
{
	(void)rank; /* opens the fence epoch that put and get run in */
	return oriel_win_fence(win, 0) ? fail("oriel_win_fence") : 0;
}

int patterns_open(int *rank)
{
	int peer;

	if (oriel_init(NULL, &job) || oriel_group_world(job, &world))
		return fail("oriel_init");
	*rank = oriel_rank(job);
	peer = 1 - *rank;
	if (oriel_size(job) != 2 || oriel_group_incl(world, 1, &peer, &other)) {
		fprintf(stderr, "run me with 2 ranks: oriel-run -n 2 oriel_lat\n");
		return 2;
	}
	return oriel_win_allocate(SIZE_MAX_BYTES, 1, NULL, world, &base, &win) ? fail("oriel_win_allocate") : 0;
}

int patterns_close(void)
{
	if (oriel_win_fence(win, ORIEL_MODE_NOSUCCEED) || oriel_win_free(&win))
		return fail("oriel_win_free");
	oriel_group_free(&other);
	oriel_group_free(&world);
	return oriel_finalize(&job) ? fail("oriel_finalize") : 0;
}

const struct pattern patterns[] = {
	{ "pscw", "put in an epoch there and an epoch back", pscw },
	{ "fence", "put and fence", fence },
	{ "put", "put and flush", put },
	{ "get", "get and flush", get },
	{ NULL, NULL, NULL },
};
