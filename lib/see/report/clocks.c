// SPDX-License-Identifier: BSD-2-Clause
/*
 * clocks.c - makes times of several machines those of one clock; see profile.h
 *
 * DESIGN NOTES
 *
 * No member returns from a meeting (front/meetings.c) before all have begun it. So the clock of a
 * machine is ahead of the first machine's by at least the latest begin there less the earliest
 * return here, and by at most the earliest return there less the latest begin here. All meetings
 * together bound it at any time, since clocks drift apart by DRIFT_MOST at most. The middle of the
 * bounds is used, at the first and the last time of the machine's parts, and the line between them;
 * half of the width is the error, and how exactly times are read.
 */
#include <stdlib.h>
#include <string.h>

#include "see/report/profile.h"
#include "see/report/program.h"

#define DRIFT_MOST 200e-6 /* each crystal is right to 100 parts in a million */
#define NS_MOST 1e18      /* thirty years */
#define READING_NS 1000   /* the times of a meeting are right to so much, since two clocks are read for each */

/* A meeting, as the ranks of one machine saw it. */
struct seen {
	uint64_t key;
	uint64_t number;
	double begun; /* the latest, in ns */
	double ended; /* the earliest */
};

struct sight {
	struct seen *list;
	uint32_t count;
	uint32_t capacity;
	double from, until; /* the first and the last time of the parts */
};

/* A clock is ahead of the first machine's by this much, as a meeting's begin and end bound it. */
struct bound {
	double begun, least;
	double ended, most;
};

struct bounds {
	struct bound *list;
	uint32_t count;
	uint32_t capacity;
};

/* ---- meetings of a machine ---- */

static bool is_on(const struct read_part *part, const char *host)
{
	return strcmp(part->part->header.host, host) == 0;
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static void extend(struct sight *sight, double ns)
{
	sight->from = ns < sight->from ? ns : sight->from;
	sight->until = ns > sight->until ? ns : sight->until;
}

static void take_part(struct sight *sight, const struct part *part)
{
	uint32_t count = part->header.meeting_count;

	extend(sight, (double)part->header.begun_ns);
	extend(sight, (double)(part->header.ended_ns ? part->header.ended_ns : part->header.begun_ns));
	for (uint32_t i = 0; i < count && i < 2 * PART_MEETINGS; i++) {
		const struct part_meeting *meeting = &part->meetings[i];
		double begun = (double)meeting->begun_ns, ended = (double)meeting->ended_ns;

		if (!meeting->number || ended < begun || ended >= NS_MOST)
			continue;
		extend(sight, ended);
		*(struct seen *)program_append(&sight->list, &sight->count, &sight->capacity, sizeof(*sight->list)) =
			(struct seen){ meeting->key, meeting->number, begun, ended };
	}
}

/* Makes one of what several ranks saw of a meeting. */
static void unite(struct sight *sight)
{
	uint32_t kept = 0;

	if (sight->count)
		qsort(sight->list, sight->count, sizeof(*sight->list), compare_seen);
	for (uint32_t i = 0; i < sight->count; i++) {
		struct seen *last = kept ? &sight->list[kept - 1] : NULL, *seen = &sight->list[i];

		if (!last || compare_seen(last, seen) != 0) {
			sight->list[kept++] = *seen;
			continue;
		}
		last->begun = seen->begun > last->begun ? seen->begun : last->begun;
		last->ended = seen->ended < last->ended ? seen->ended : last->ended;
	}
	sight->count = kept;
}

static void look(struct sight *sight, const struct read_parts *parts, const char *host)
{
	*sight = (struct sight){ .from = NS_MOST };
	for (uint32_t i = 0; i < parts->count; i++) {
		if (is_on(&parts->list[i], host))
			take_part(sight, parts->list[i].part);
	}
	unite(sight);
}

/* ---- bounds ---- */

static void find_bounds(struct bounds *bounds, const struct sight *here, const struct sight *there)
{
	for (uint32_t i = 0, k = 0; i < here->count && k < there->count;) {
		const struct seen *own = &here->list[i], *other = &there->list[k];
		int order = compare_seen(own, other);

		i += order <= 0;
		k += order >= 0;
		if (order == 0)
			*(struct bound *)program_append(&bounds->list, &bounds->count, &bounds->capacity, sizeof(*bounds->list)) =
				(struct bound){ other->begun, other->begun - own->ended, other->ended, other->ended - own->begun };
	}
}

static double drift_most(double from, double until)
{
	return DRIFT_MOST * (until > from ? until - from : from - until);
}

/* Returns the bounds at a time. */
static struct bound bound_at(const struct bounds *bounds, double at)
{
	struct bound all = { .begun = at, .least = -NS_MOST, .ended = at, .most = NS_MOST };

	for (uint32_t i = 0; i < bounds->count; i++) {
		const struct bound *one = &bounds->list[i];
		double least = one->least - drift_most(one->begun, at), most = one->most + drift_most(one->ended, at);

		all.least = least > all.least ? least : all.least;
		all.most = most < all.most ? most : all.most;
	}
	return all;
}

static double middle(const struct bound *bound)
{
	return bound->least + (bound->most - bound->least) / 2;
}

static double error(const struct bound *bound)
{
	return (bound->most - bound->least) / 2 + READING_NS;
}

/* Returns false if there are no meetings, or they contradict each other: a clock has been set. */
static bool compare(const struct bounds *bounds, const struct sight *there, struct clock_shift *shift)
{
	struct bound begin = bound_at(bounds, there->from), end = bound_at(bounds, there->until);

	if (bounds->count == 0 || begin.least > begin.most || end.least > end.most)
		return false;
	*shift = (struct clock_shift){ .at_ns = there->from, .ahead_ns = middle(&begin) };
	if (there->until > there->from)
		shift->drift = (middle(&end) - middle(&begin)) / (there->until - there->from);
	shift->error_ns = error(&begin) > error(&end) ? error(&begin) : error(&end);
	return true;
}

/* ---- all parts ---- */

static void set_shift(struct read_parts *parts, const char *host, const struct clock_shift *shift)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		struct part_header *header = &parts->list[i].part->header;

		if (!is_on(&parts->list[i], host))
			continue;
		parts->list[i].shift = *shift;
		header->begun_ns = clocks_shifted(shift, header->begun_ns);
		header->ended_ns = header->ended_ns ? clocks_shifted(shift, header->ended_ns) : 0;
	}
}

static void align_host(struct read_parts *parts, const struct sight *first, const char *host)
{
	struct clock_shift shift = { 0 };
	struct bounds bounds = { 0 };
	struct sight sight;

	look(&sight, parts, host);
	find_bounds(&bounds, first, &sight);
	if (!compare(&bounds, &sight, &shift))
		parts->unaligned++;
	else if (shift.error_ns > parts->clock_error_ns)
		parts->clock_error_ns = shift.error_ns;
	set_shift(parts, host, &shift);
	free(bounds.list);
	free(sight.list);
}

/* Returns whether a part is the first of its machine. */
static bool is_first_of_host(const struct read_parts *parts, uint32_t index)
{
	uint32_t i = 0;

	while (i < index && !is_on(&parts->list[i], parts->list[index].part->header.host))
		i++;
	return i == index;
}

void clocks_align(struct read_parts *parts)
{
	struct sight first = { 0 };

	parts->hosts = parts->count > 0;
	parts->unaligned = 0;
	parts->clock_error_ns = 0;
	for (uint32_t i = 1; i < parts->count; i++) {
		if (!is_first_of_host(parts, i))
			continue;
		if (parts->hosts++ == 1)
			look(&first, parts, parts->list[0].part->header.host);
		align_host(parts, &first, parts->list[i].part->header.host);
	}
	free(first.list);
}

uint64_t clocks_shifted(const struct clock_shift *shift, uint64_t ns)
{
	double ahead = shift->ahead_ns + shift->drift * ((double)ns - shift->at_ns);

	if (ns > (uint64_t)NS_MOST || (double)ns - ahead > NS_MOST)
		return (uint64_t)NS_MOST;
	return (double)ns > ahead ? ns - (uint64_t)(int64_t)ahead : 0;
}
