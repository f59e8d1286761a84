// SPDX-License-Identifier: BSD-2-Clause
/* See call.h. A rank that is late because it has waited for another one passes the blame on. */
#include "see/front/call.h"

#define DEPTH_MAX 8
#define LOOKS_MAX 32 /* at lists of latenesses, for one wait */

struct search {
	struct part_wait *wait;
	int looks;
};

static void add_root(struct part_wait *wait, int rank, uint64_t ns)
{
	uint32_t i = 0;

	while (i < wait->root_count && wait->roots[i].rank != rank)
		i++;
	if (i == PART_ROOTS)
		i--;
	if (i == wait->root_count)
		wait->roots[wait->root_count++] = (struct part_root){ .rank = rank };
	wait->roots[i].ns += ns;
}

/* Makes the lateness that of a part of the time. Returns false if it is not in it. */
static bool clip(struct part_lateness *lateness, uint64_t begun_ns, uint64_t ended_ns)
{
	if (lateness->begun_ns < begun_ns)
		lateness->begun_ns = begun_ns;
	if (lateness->ended_ns > ended_ns)
		lateness->ended_ns = ended_ns;
	return lateness->begun_ns < lateness->ended_ns;
}

static void divide(struct search *search, int rank, uint64_t begun_ns, uint64_t ended_ns, int depth)
{
	struct part_lateness list[NOTES_LATENESSES];
	int count = depth < DEPTH_MAX && search->looks++ < LOOKS_MAX ? notes_latenesses(rank, list) : 0;
	uint64_t own_ns = ended_ns - begun_ns;

	for (int i = 0; i < count; i++) {
		uint64_t ns;

		if (!clip(&list[i], begun_ns, ended_ns))
			continue;
		ns = list[i].ended_ns - list[i].begun_ns;
		if (ns > own_ns)
			continue;
		own_ns -= ns;
		divide(search, (int)list[i].rank, list[i].begun_ns, list[i].ended_ns, depth + 1);
	}
	if (own_ns)
		add_root(search->wait, rank, own_ns);
}

void roots_add(struct part_wait *wait, int rank, uint64_t begun_ns, uint64_t ended_ns)
{
	struct search search = { .wait = wait };

	divide(&search, rank, begun_ns, ended_ns, 0);
}
