// SPDX-License-Identifier: BSD-2-Clause
/*
 * contacts.c - the cost of connecting all ranks to all others at once
 *
 *   oriel-run -n P oriel_scale_contacts [--none] [--out_json FILE]
 *
 * In one epoch of post, start, a put to each, complete and wait, most pairs of ranks have their
 * first contact. all_s is the slowest rank's time. The barriers of the window's creation have
 * connected a few pairs before, which do not count. pair_us is the time for each pair: processors
 * are always busy, so it must not rise with the number of ranks. --none leaves the epoch out, as a
 * reference for counts of system calls.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "oriel.h"
#include "scaling/scale.h"

#define RANKS_MAX 8192
#define WINDOW_BYTES 64

/* Results of one rank. */
struct told {
	double us;    /* of the epoch */
	double peers; /* that the epoch has connected */
};

static struct told *told; /* by rank */
static oriel_job *job;
static oriel_win *win;
static oriel_group *others;

static oriel_group *all_but_this(const oriel_group *world)
{
	static int ranks[RANKS_MAX];
	oriel_group *group;
	int count = 0;

	for (int i = 0; i < oriel_size(job); i++) {
		if (i != oriel_rank(job))
			ranks[count++] = i;
	}
	scale_must(oriel_group_incl(world, count, ranks, &group), "oriel_group_incl");
	return group;
}

static double peers_now(void)
{
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };

	scale_must(oriel_usage(job, &usage), "oriel_usage");
	return (double)usage.peers;
}

static void speak_to_all(struct told *mine)
{
	double started = scale_now_us();
	uint64_t value = 1;

	scale_must(oriel_win_post(win, others, 0), "oriel_win_post");
	scale_must(oriel_win_start(win, others, 0), "oriel_win_start");
	for (int to = 0; to < oriel_size(job); to++) {
		if (to != oriel_rank(job))
			scale_must(oriel_put(win, &value, sizeof(value), to, 0), "oriel_put");
	}
	scale_must(oriel_win_complete(win), "oriel_win_complete");
	scale_must(oriel_win_wait(win), "oriel_win_wait");
	mine->us = scale_now_us() - started;
	mine->peers += peers_now();
}

static void tell_all(struct scale *scale, int size)
{
	double longest = 0, pairs = 0;

	for (int i = 0; i < size; i++) {
		longest = told[i].us > longest ? told[i].us : longest;
		pairs += told[i].peers / 2;
	}
	scale_row(scale, (double[]){ size, pairs, longest * 1e-6, pairs > 0 ? longest / pairs : 0 });
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "ranks", "pairs", "all_s", "pair_us", NULL };
	static const struct option known[] = {
		{ "out_json", required_argument, NULL, 'o' },
		{ "none", no_argument, NULL, 'n' },
		{ NULL, 0, NULL, 0 },
	};
	const char *out_json = NULL;
	struct scale scale;
	oriel_group *world;
	int option;
	bool none = false;
	void *memory;

	scale_about(
		argc, argv, "oriel_scale_contacts [--none] [--out_json FILE]",
		"The cost of connecting all ranks to all others at once. --none leaves the epoch that connects them out.");
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'o')
			out_json = optarg;
		else if (option == 'n')
			none = true;
		else
			return 2;
	}
	scale_must(oriel_init(NULL, &job), "oriel_init");
	scale_begin(&scale, "scale_contacts", names, oriel_rank(job) == 0);
	scale.out_json = out_json;
	told = scale_shared(RANKS_MAX * sizeof(*told));
	scale_must(oriel_group_world(job, &world), "oriel_group_world");
	others = all_but_this(world);
	scale_must(oriel_win_allocate(WINDOW_BYTES, 1, NULL, world, &memory, &win), "oriel_win_allocate");
	if (oriel_rank(job) == 0)
		scale_shared_unlink();
	told[oriel_rank(job)].peers = -peers_now(); /* before any rank is in the epoch */
	scale_must(oriel_barrier(job), "oriel_barrier");
	if (!none)
		speak_to_all(&told[oriel_rank(job)]);
	scale_must(oriel_barrier(job), "oriel_barrier");
	if (!none)
		tell_all(&scale, oriel_size(job));
	scale_must(oriel_win_free(&win), "oriel_win_free");
	scale_must(oriel_group_free(&others), "oriel_group_free");
	scale_must(oriel_group_free(&world), "oriel_group_free");
	scale_must(oriel_finalize(&job), "oriel_finalize");
	return scale_end(&scale);
}
