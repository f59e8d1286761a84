// SPDX-License-Identifier: BSD-2-Clause
/*
 * roots.c - where lateness begins if chains of waits lead to other machines; see profile.h
 *
 * DESIGN NOTES
 *
 * While the job runs, ranks follow chains of waits on their own machine (front/roots.c). They
 * cannot know how long another machine's rank was late, which remote.c finds. Such a lateness has
 * no roots yet, and roots in front of it end at the rank that waited for it. So each chain is
 * followed again. Behind the first lateness that remote.c has found, shares count for the ranks at
 * the chain's ends.
 */
#include <stdlib.h>

#include "see/report/profile.h"
#include "see/report/program.h"

#define DEPTH_MAX 8
#define LOOKS_MAX 32 /* at lists, for one lateness */

/* The latenesses that a rank waited for, in order. */
struct latenesses {
	struct lateness *list;
	uint32_t count;
	uint32_t capacity;
};

struct roots {
	int size;
	struct latenesses *of_rank;
};

struct chain {
	const struct roots *roots;
	struct profile_wait *wait;
	int looks;
};

struct roots *roots_open(int size)
{
	struct roots *roots = calloc(1, sizeof(*roots));

	if (roots)
		roots->of_rank = calloc((size_t)(size > 0 ? size : 1), sizeof(*roots->of_rank));
	if (!roots || !roots->of_rank)
		program_fail("out of memory");
	roots->size = size;
	return roots;
}

void roots_close(struct roots *roots)
{
	for (int rank = 0; rank < roots->size; rank++)
		free(roots->of_rank[rank].list);
	free(roots->of_rank);
	free(roots);
}

void roots_add(struct roots *roots, int rank, const struct lateness *lateness)
{
	struct latenesses *of;

	if (rank < 0 || rank >= roots->size || lateness->rank < 0 || lateness->rank >= roots->size ||
	    lateness->begun_ns >= lateness->ended_ns)
		return;
	of = &roots->of_rank[rank];
	*(struct lateness *)program_append(&of->list, &of->count, &of->capacity, sizeof(*lateness)) = *lateness;
}

/* ---- shares of a wait ---- */

void roots_count(struct profile_wait *wait, int rank, uint64_t ns)
{
	int i = 0;

	while (i < PART_ROOTS - 1 && wait->roots[i].ns && wait->roots[i].rank != rank)
		i++;
	if (!wait->roots[i].ns)
		wait->roots[i].rank = rank;
	wait->roots[i].ns += ns;
}

/* Takes a share of a rank away. Returns false if it has less. */
static bool take_share(struct profile_wait *wait, int rank, uint64_t ns)
{
	int i = 0, last = PART_ROOTS - 1;

	while (i < PART_ROOTS && wait->roots[i].rank != rank)
		i++;
	if (i == PART_ROOTS || wait->roots[i].ns < ns)
		return false;
	wait->roots[i].ns -= ns;
	while (last > i && !wait->roots[last].ns)
		last--;
	if (wait->roots[i].ns)
		return true;
	wait->roots[i] = wait->roots[last];
	wait->roots[last].ns = 0;
	return true;
}

/* ---- chains ---- */

/* Returns the first lateness that ends after a time, as far as those of several threads allow. */
static uint32_t first_after(const struct latenesses *of, uint64_t ns)
{
	uint32_t low = 0, high = of->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (of->list[middle].ended_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Cuts off what is not in the time of another one. Returns how much is left. */
static uint64_t clip(struct lateness *lateness, const struct lateness *to)
{
	if (lateness->begun_ns < to->begun_ns)
		lateness->begun_ns = to->begun_ns;
	if (lateness->ended_ns > to->ended_ns)
		lateness->ended_ns = to->ended_ns;
	return lateness->begun_ns < lateness->ended_ns ? lateness->ended_ns - lateness->begun_ns : 0;
}

/* Behind a lateness that remote.c has found, a rank's share counts. */
static void follow(struct chain *chain, const struct lateness *late, int depth, bool counts)
{
	bool looks = depth < DEPTH_MAX && chain->looks++ < LOOKS_MAX;
	const struct latenesses none = { 0 }, *of = looks ? &chain->roots->of_rank[late->rank] : &none;
	uint64_t own_ns = late->ended_ns - late->begun_ns;

	for (uint32_t i = first_after(of, late->begun_ns); i < of->count && of->list[i].begun_ns < late->ended_ns; i++) {
		struct lateness inner = of->list[i];
		uint64_t ns = clip(&inner, late);

		if (ns == 0 || ns > own_ns)
			continue;
		own_ns -= ns;
		follow(chain, &inner, depth + 1, counts || (inner.by_report && take_share(chain->wait, late->rank, ns)));
	}
	if (counts && own_ns)
		roots_count(chain->wait, late->rank, own_ns);
}

static int compare_times(const void *a, const void *b)
{
	const struct lateness *left = a, *right = b;

	return (left->begun_ns > right->begun_ns) - (left->begun_ns < right->begun_ns);
}

void roots_divide(const struct roots *roots, struct profile *profile)
{
	for (int rank = 0; rank < roots->size; rank++) {
		if (roots->of_rank[rank].count)
			qsort(roots->of_rank[rank].list, roots->of_rank[rank].count, sizeof(struct lateness), compare_times);
	}
	for (int rank = 0; rank < roots->size; rank++) {
		for (uint32_t i = 0; i < roots->of_rank[rank].count; i++) {
			const struct lateness *one = &roots->of_rank[rank].list[i];
			struct chain chain = { .roots = roots };

			if (one->wait == PART_NONE)
				continue;
			chain.wait = &profile->waits[one->wait];
			follow(&chain, one, 0, one->by_report);
		}
	}
}
