// SPDX-License-Identifier: BSD-2-Clause
/*
 * rank.c - the program that runs unchanged under every starter
 *
 *   starters-rank work STEPS      puts among the ranks by fences and by post, start, complete, wait; prints what came
 *   starters-rank start           joins and leaves
 *   starters-rank window          joins, makes a window, goes through two fences, and leaves
 *   starters-rank memory          the same, with a put to a neighbour; prints the resident memory before the end
 *   starters-rank kill RANK       that rank kills itself; every other one must be told, and leaves
 *   starters-rank told            each rank prints "ready", and goes through fences until it is told of a death
 *   starters-rank exit STATUS     the last rank ends with STATUS in the middle of the job; the others likewise
 *   starters-rank abort STATUS    the last rank ends the job by oriel_abort
 *
 * Further arguments are ignored: they help to find the processes of a job. What a rank prints
 * depends on its rank and the number of ranks alone, but for "told MILLISECONDS", which is counted
 * from the last fence that the rank came through.
 */
#include <oriel.h>

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "told.h"

#define DISTANCES_MAX 32 /* of neighbours: powers of two below the number of ranks */

/* A rank, and its window: a word for each distance from which a neighbour puts. */
struct rank {
	oriel_job *job;
	oriel_group *world;
	oriel_win *win;
	uint64_t *words;
	int me, size;
	int distance[DISTANCES_MAX];
	int distances;
	uint64_t sum; /* of what has come */
};

static int fail(const char *call)
{
	fprintf(stderr, "%s failed: %s\n", call, oriel_last_error());
	return 1;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int neighbour(const struct rank *r, int distance)
{
	return ((r->me + distance) % r->size + r->size) % r->size;
}

static bool is_last(const struct rank *r)
{
	return r->me == r->size - 1;
}

/* Joining and leaving. */

static int join(struct rank *r)
{
	if (oriel_init(NULL, &r->job))
		return fail("oriel_init");
	r->me = oriel_rank(r->job);
	r->size = oriel_size(r->job);
	for (int d = 1; d < r->size; d *= 2)
		r->distance[r->distances++] = d;
	return oriel_group_world(r->job, &r->world) ? fail("oriel_group_world") : 0;
}

static int leave(struct rank *r)
{
	if (oriel_group_free(&r->world))
		return fail("oriel_group_free");
	return oriel_finalize(&r->job) ? fail("oriel_finalize") : 0;
}

static int open_window(struct rank *r)
{
	void *base;

	if (oriel_win_allocate(DISTANCES_MAX * sizeof(uint64_t), sizeof(uint64_t), NULL, r->world, &base, &r->win))
		return fail("oriel_win_allocate");
	r->words = base;
	memset(r->words, 0, DISTANCES_MAX * sizeof(uint64_t));
	return oriel_win_fence(r->win, 0) ? fail("oriel_win_fence") : 0;
}

static int close_window(struct rank *r)
{
	return oriel_win_free(&r->win) ? fail("oriel_win_free") : 0;
}

/* The work: every rank puts to its neighbours at all distances, and sums up what it is given. */

static uint64_t word_of(int from, int step, int i)
{
	return (uint64_t)from * 1000003 + (uint64_t)step * 1009 + (uint64_t)i;
}

static int put_words(struct rank *r, int step, uint64_t *words)
{
	for (int i = 0; i < r->distances; i++) {
		words[i] = word_of(r->me, step, i);
		if (oriel_put(r->win, &words[i], sizeof(words[i]), neighbour(r, r->distance[i]), (size_t)i))
			return fail("oriel_put");
	}
	return 0;
}

static int take_words(struct rank *r, int step)
{
	for (int i = 0; i < r->distances; i++) {
		uint64_t expected = word_of(neighbour(r, -r->distance[i]), step, i);

		if (r->words[i] != expected) {
			fprintf(stderr, "rank %d, step %d: word %d is %" PRIu64 ", should be %" PRIu64 "\n", r->me, step, i,
			        r->words[i], expected);
			return 1;
		}
		r->sum += r->words[i];
	}
	return 0;
}

static int step_by_fence(struct rank *r, int step)
{
	uint64_t words[DISTANCES_MAX];

	if (put_words(r, step, words))
		return 1;
	if (oriel_win_fence(r->win, 0))
		return fail("oriel_win_fence");
	if (take_words(r, step))
		return 1;
	return oriel_win_fence(r->win, 0) ? fail("oriel_win_fence") : 0; /* no rank puts before all have taken */
}

/* The ranks at all distances in one direction, each once. */
static oriel_group *neighbours(struct rank *r, int direction)
{
	oriel_group *group = NULL;
	int ranks[DISTANCES_MAX];

	for (int i = 0; i < r->distances; i++)
		ranks[i] = neighbour(r, direction * r->distance[i]);
	if (oriel_group_incl(r->world, r->distances, ranks, &group))
		fail("oriel_group_incl");
	return group;
}

static int step_by_post(struct rank *r, int step, const oriel_group *to, const oriel_group *from)
{
	uint64_t words[DISTANCES_MAX];

	if (oriel_win_post(r->win, from, 0) || oriel_win_start(r->win, to, 0))
		return fail("oriel_win_post or oriel_win_start");
	if (put_words(r, step, words))
		return 1;
	if (oriel_win_complete(r->win) || oriel_win_wait(r->win))
		return fail("oriel_win_complete or oriel_win_wait");
	return take_words(r, step);
}

static int steps_by_post(struct rank *r, int steps)
{
	oriel_group *to = neighbours(r, 1), *from = neighbours(r, -1);
	int rc = !to || !from;

	for (int step = steps; rc == 0 && step < 2 * steps; step++)
		rc = step_by_post(r, step, to, from);
	oriel_group_free(&to);
	oriel_group_free(&from);
	return rc;
}

static int work(struct rank *r, int steps)
{
	int rc = open_window(r);

	for (int step = 0; rc == 0 && step < steps; step++)
		rc = step_by_fence(r, step);
	if (rc == 0)
		rc = steps_by_post(r, steps);
	if (rc == 0 && oriel_barrier(r->job))
		rc = fail("oriel_barrier");
	if (rc == 0)
		rc = close_window(r);
	if (rc == 0)
		printf("rank %d of %d: %" PRIu64 "\n", r->me, r->size, r->sum);
	return rc;
}

static int start(struct rank *r, int unused)
{
	(void)r;
	(void)unused;
	return 0;
}

static int window(struct rank *r, int unused)
{
	(void)unused;
	if (open_window(r))
		return 1;
	if (oriel_win_fence(r->win, 0))
		return fail("oriel_win_fence");
	return close_window(r);
}

/* A figure of this process as the kernel tells it, in kB. */
static long status_kb(const char *name)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) == 0)
			kb = strtol(line + strlen(name), NULL, 10);
	}
	if (file)
		fclose(file);
	return kb;
}

static int memory(struct rank *r, int unused)
{
	uint64_t words[DISTANCES_MAX];

	(void)unused;
	if (open_window(r))
		return 1;
	r->distances = r->distances > 0; /* a neighbour on one side is enough */
	if (put_words(r, 0, words))
		return 1;
	if (oriel_win_fence(r->win, 0))
		return fail("oriel_win_fence");
	printf("memory %ld %ld\n", status_kb("VmRSS:"), status_kb("RssAnon:"));
	return close_window(r);
}

/* Ends in the middle of the job. */

/* The victim ends after the fence. Others may still be inside: nothing here needs them to come out of it. */
static int until_the_end_is_near(struct rank *r, bool is_victim)
{
	uint64_t words[DISTANCES_MAX];

	if (open_window(r) || put_words(r, 0, words))
		return 1;
	if (is_victim && oriel_win_fence(r->win, 0))
		return fail("oriel_win_fence");
	return 0;
}

/* Fences until one fails: the error must come in time. */
static int be_told(struct rank *r)
{
	int64_t since_ms = now_ms(), took_ms;
	int rc;

	while ((rc = oriel_win_fence(r->win, 0)) == 0)
		since_ms = now_ms();
	took_ms = now_ms() - since_ms;
	if (rc != ORIEL_ERR_PEER)
		return fail("oriel_win_fence, which should tell of the end of a rank,");
	printf("told %" PRId64 "\n", took_ms);
	fflush(stdout);
	oriel_win_free(&r->win);
	return took_ms > told_limit_ms();
}

static int leave_after_death(struct rank *r)
{
	oriel_group_free(&r->world);
	oriel_finalize(&r->job); /* tells of the death once more */
	return 0;
}

static int killed(struct rank *r, int victim)
{
	if (until_the_end_is_near(r, r->me == victim))
		return 1;
	if (r->me == victim)
		raise(SIGKILL);
	return be_told(r);
}

static int told(struct rank *r, int unused)
{
	(void)unused;
	if (until_the_end_is_near(r, true))
		return 1;
	printf("ready\n");
	fflush(stdout);
	return be_told(r);
}

static int exits(struct rank *r, int status)
{
	if (until_the_end_is_near(r, is_last(r)))
		return 1;
	if (is_last(r))
		_exit(status);
	return be_told(r);
}

static int aborts(struct rank *r, int status)
{
	if (open_window(r) || step_by_fence(r, 0))
		return 1;
	if (is_last(r) && oriel_abort(r->job, status, "the test wants it"))
		return fail("oriel_abort");
	for (;;)
		pause(); /* the launcher ends it */
}

struct mode {
	const char *name;
	int (*run)(struct rank *r, int number);
	int (*leave)(struct rank *r);
};

static const struct mode modes[] = {
	{ "work", work, leave },
	{ "start", start, leave },
	{ "window", window, leave },
	{ "memory", memory, leave },
	{ "kill", killed, leave_after_death },
	{ "told", told, leave_after_death },
	{ "exit", exits, leave_after_death },
	{ "abort", aborts, leave_after_death },
};

static const struct mode *find_mode(const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct mode *mode = argc > 1 ? find_mode(argv[1]) : NULL;
	struct rank r = { 0 };

	if (!mode) {
		fprintf(stderr, "usage: starters-rank work|start|window|memory|kill|told|exit|abort [NUMBER]\n");
		return 2;
	}
	if (join(&r))
		return 1;
	if (mode->run(&r, argc > 2 ? atoi(argv[2]) : 0))
		return 1;
	return mode->leave(&r);
}
