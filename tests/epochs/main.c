// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - random epochs against a model
 *
 *   oriel-run -n 6 epochs [--seed S] [--seeds COUNT] [--steps N] [-v]
 *       Run the programs of seeds S to S + COUNT - 1, all of them or their first N steps. A difference, or a call that
 *       fails, is a line "not ok seed ...". Rank 0 prints "ran seed ..." after each. -v prints every event.
 *   epochs --list RANKS [--seed S] [--steps N]
 *       Print the program of a seed for so many ranks, without running it.
 */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "epochs.h"
#include "plan.h"
#include "slowness.h"

#define LIMIT_MS 60000 /* of any one call, unless ORIEL_TIMEOUT says something else: then it tells where it hangs */
#define LINE_BYTES 4000
#define KEEP_BYTES (16 << 20)

static uint8_t static_memory[REGION_STATIC_BYTES + 64];

static uint64_t number(const char *text, uint64_t most)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || end == text || value > most) {
		fprintf(stderr, "epochs: '%s' is not a number up to %llu\n", text, (unsigned long long)most);
		exit(2);
	}
	return value;
}

static int list_plan(uint64_t seed, int ranks, int steps)
{
	struct plan *plan = malloc(sizeof(*plan));
	struct event *event = malloc(sizeof(*event));
	char line[LINE_BYTES];
	int over;

	if (!plan || !event)
		return 1;
	plan_init(plan, seed, ranks, steps);
	while (plan_next(plan, event)) {
		event_print(plan, event, line, sizeof(line));
		puts(line);
	}
	over = plan_over(plan);
	free(plan);
	free(event);
	return over ? 0 : 1;
}

static void check(int rc, const char *call)
{
	if (rc >= 0)
		return;
	printf("not ok %s: %s\n", call, oriel_last_error());
	exit(1);
}

/* After each seed all ranks meet, so that what one seed does cannot be seen in the next. */
static int run_seeds(struct job *job, const struct settings *settings)
{
	int failed = 0;

	for (uint64_t seed = settings->first; seed - settings->first < settings->seeds; seed++) {
		failed += epochs_run(job, settings, seed) > 0;
		check(oriel_barrier(job->handle), "oriel_barrier");
		if (job->rank == 0)
			printf("ran seed %llu\n", (unsigned long long)seed);
		fflush(stdout);
	}
	return failed;
}

static bool all_share(oriel_group *world, int size)
{
	oriel_group *sharing;
	bool all;

	check(oriel_group_shared(world, &sharing), "oriel_group_shared");
	all = oriel_group_size(sharing) == size;
	check(oriel_group_free(&sharing), "oriel_group_free");
	return all;
}

static void open_board(struct job *job)
{
	void *base;

	check(oriel_win_allocate(BOARD_BYTES, 1, NULL, job->world, &base, &job->board), "oriel_win_allocate");
	check(oriel_win_lock_all(job->board, 0), "oriel_win_lock_all");
	job->board_bytes = base;
}

static void close_board(struct job *job)
{
	check(oriel_win_unlock_all(job->board), "oriel_win_unlock_all");
	check(oriel_win_free(&job->board), "oriel_win_free");
}

static int run_job(const struct settings *settings)
{
	struct oriel_options options = { .struct_bytes = sizeof(options),
		                             .timeout_ms = getenv("ORIEL_TIMEOUT") ? 0 : LIMIT_MS * slowness() };
	uint8_t stack_memory[REGION_STACK_BYTES + 64];
	struct job job = { .rank = 0 };
	int failed;

	job.fixed.bytes[0] = malloc(REGION_HEAP_BYTES + 64);
	job.fixed.bytes[1] = static_memory + 1;
	job.fixed.bytes[2] = stack_memory + 3;
	if (!job.fixed.bytes[0])
		return 1;
	check(oriel_init(&options, &job.handle), "oriel_init");
	check(oriel_group_world(job.handle, &job.world), "oriel_group_world");
	job.rank = oriel_rank(job.handle);
	job.size = oriel_size(job.handle);
	if (job.size > PLAN_RANKS_MAX) {
		fprintf(stderr, "epochs: %d ranks, at most %d are possible\n", job.size, PLAN_RANKS_MAX);
		return 2;
	}
	job.can_share = all_share(job.world, job.size);
	open_board(&job);
	failed = run_seeds(&job, settings);
	close_board(&job);
	check(oriel_group_free(&job.world), "oriel_group_free");
	check(oriel_finalize(&job.handle), "oriel_finalize");
	free(job.fixed.bytes[0]);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seeds", required_argument, NULL, 'c' },
		{ "steps", required_argument, NULL, 'n' },
		{ "list", required_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
	};
	struct settings settings = { .first = 1, .seeds = 1 };
	int option, list_ranks = 0;

	while ((option = getopt_long(argc, argv, "v", known, NULL)) != -1) {
		if (option == 's')
			settings.first = number(optarg, UINT64_MAX);
		else if (option == 'c')
			settings.seeds = number(optarg, UINT64_MAX);
		else if (option == 'n')
			settings.steps = (int)number(optarg, PLAN_STEPS_MAX);
		else if (option == 'l')
			list_ranks = (int)number(optarg, PLAN_RANKS_MAX);
		else if (option == 'v')
			settings.verbose = true;
		else
			return 2;
	}
	mallopt(M_MMAP_THRESHOLD, KEEP_BYTES); /* the models' pages stay from one seed to the next */
	mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
	if (list_ranks > 0)
		return list_plan(settings.first, list_ranks, settings.steps);
	return run_job(&settings);
}
