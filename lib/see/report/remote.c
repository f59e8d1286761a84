// SPDX-License-Identifier: BSD-2-Clause
/*
 * remote.c - tells lateness and handover apart where a rank waited for one of another machine; see
 * profile.h and front/part.h
 *
 * DESIGN NOTES
 *
 * While the job runs such a wait counts as a whole, since the rank cannot read the other machine's
 * notes. Each part lists its latest waits of this kind, and the latest calls that it began. The
 * report has all of them, by one clock but for the error. So it finds the call that ended a wait:
 * the time until that began is its rank's lateness, the rest handover. Calls are matched by numbers
 * that both ranks count; but the unlock or signal is the last until the wait's end. Waits shorter
 * than twice the error stay whole, and so do those whose call is not in the list any more.
 */
#include <stdlib.h>

#include "see/report/profile.h"
#include "see/report/program.h"

/* The begin of a call. Calls of one event, window and match may each have ended the wait. */
struct begin {
	uint64_t event;
	uint64_t key; /* of the window; 0: of the job */
	uint64_t match;
	uint64_t ns; /* by the first machine's clock */
};

/* The calls that a rank began, in order. */
struct begins {
	struct begin *list;
	uint32_t count;
	uint32_t capacity;
};

struct remote {
	const struct read_parts *parts;
	struct begins *begins; /* by part */
	struct roots *roots;
	uint64_t error_ns;
};

static const enum wait_cause causes[EVENT_COUNT] = {
	[EVENT_POST] = WAIT_LATE_POST, [EVENT_COMPLETE] = WAIT_LATE_COMPLETE, [EVENT_FENCE] = WAIT_LATE_FENCE,
	[EVENT_UNLOCK] = WAIT_LOCK,    [EVENT_SIGNAL] = WAIT_SIGNAL,          [EVENT_COLLECTIVE] = WAIT_LATE_COLLECTIVE,
};

/* ---- begins ---- */

/* Unlocks count, but no other rank knows their numbers. */
static uint64_t match_of(uint32_t event, uint64_t number)
{
	return event == EVENT_UNLOCK ? number >> PART_RANK_SHIFT : number;
}

static bool is_of_epoch(uint64_t event)
{
	return event == EVENT_POST || event == EVENT_COMPLETE;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_begins(const void *a, const void *b)
{
	const struct begin *left = a, *right = b;
	int order = compare_numbers(left->event, right->event);

	order = order ? order : compare_numbers(left->key, right->key);
	order = order ? order : compare_numbers(left->match, right->match);
	return order ? order : compare_numbers(left->ns, right->ns);
}

/* Another process has written the numbers. Returns false if the index is none of the part's. */
static bool find_key(const struct part *part, uint32_t window, uint64_t *key)
{
	if (window != PART_NONE && window >= part->header.window_count)
		return false;
	*key = window == PART_NONE ? 0 : part->windows[window].key;
	return true;
}

static void list_begins(struct begins *begins, const struct read_part *from)
{
	const struct part *part = from->part;
	struct begin new;

	for (uint32_t i = 0; i < PART_BEGINS; i++) {
		const struct part_begin *begin = &part->remote.begins[i];

		if (!begin->number || begin->event >= EVENT_COUNT || !find_key(part, begin->window, &new.key))
			continue;
		new.event = begin->event;
		new.match = match_of(begin->event, begin->number);
		new.ns = clocks_shifted(&from->shift, begin->begun_ns);
		*(struct begin *)program_append(&begins->list, &begins->count, &begins->capacity, sizeof(new)) = new;
	}
	if (begins->count)
		qsort(begins->list, begins->count, sizeof(*begins->list), compare_begins);
}

static bool is_same_call(const struct begin *a, const struct begin *b)
{
	return a->event == b->event && a->key == b->key && a->match == b->match;
}

/* Returns when the last such call until then began; 0: not known. */
static uint64_t find_begin(const struct begins *begins, const struct begin *until)
{
	uint32_t low = 0, high = begins->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_begins(&begins->list[middle], until) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && is_same_call(&begins->list[low - 1], until) ? begins->list[low - 1].ns : 0;
}

struct remote *remote_open(const struct read_parts *parts)
{
	struct remote *remote;

	if (parts->hosts < 2 || parts->unaligned)
		return NULL;
	remote = calloc(1, sizeof(*remote));
	if (remote)
		remote->begins = calloc(parts->count, sizeof(*remote->begins));
	if (!remote || !remote->begins)
		program_fail("out of memory");
	remote->parts = parts;
	remote->roots = roots_open(parts->size);
	remote->error_ns = (uint64_t)parts->clock_error_ns;
	for (uint32_t i = 0; i < parts->count; i++)
		list_begins(&remote->begins[i], &parts->list[i]);
	return remote;
}

void remote_close(struct remote *remote)
{
	for (uint32_t i = 0; remote && i < remote->parts->count; i++)
		free(remote->begins[i].list);
	if (remote) {
		roots_close(remote->roots);
		free(remote->begins);
	}
	free(remote);
}

/* ---- the call that ended a wait ---- */

struct search {
	const struct remote *remote;
	const struct part_remote_wait *wait;
	struct begin until;
	int rank; /* that began it last */
	uint64_t ns;
};

/* Returns whether the wait may be for the rank. */
static bool is_awaited(const struct part_remote_wait *wait, int rank)
{
	for (uint32_t i = 0; i < wait->rank_count; i++) {
		if (wait->ranks[i] == rank)
			return true;
	}
	return wait->rank_count == 0;
}

static bool has_window(const struct part *part, uint64_t key)
{
	for (uint32_t i = 0; i < part->header.window_count; i++) {
		if (part->windows[i].key == key)
			return true;
	}
	return false;
}

/* A collective call has the number of the window that it makes, or that number's complement. */
static bool is_member(const struct search *search, const struct part *part)
{
	uint64_t number = search->wait->number;
	bool of_window = false;

	if (search->until.event != EVENT_COLLECTIVE)
		return has_window(part, search->until.key);
	for (uint32_t i = 0; i < search->remote->parts->count; i++) {
		const struct part *other = search->remote->parts->list[i].part;

		of_window |= has_window(other, number) || has_window(other, ~number);
	}
	return !of_window || has_window(part, number) || has_window(part, ~number);
}

/* Returns whether the call can only be named if this rank's is known. */
static bool is_needed(const struct search *search, const struct part *part)
{
	if (search->until.event == EVENT_UNLOCK || search->until.event == EVENT_SIGNAL)
		return false;
	return search->wait->rank_count > 0 || is_member(search, part);
}

/* Returns when the rank last began such a call; 0: not known. unlock_all unlocks each lock. */
static uint64_t last_begin(const struct search *search, const struct begins *begins)
{
	struct begin of_all = search->until;
	uint64_t ns, all_ns;

	ns = find_begin(begins, &search->until);
	if (search->until.event != EVENT_UNLOCK)
		return ns;
	of_all.match = 0;
	all_ns = find_begin(begins, &of_all);
	return all_ns > ns ? all_ns : ns;
}

/* Returns the number of the rank's post or complete, for `own`, of the wait's epoch. */
static uint64_t match_in_epoch(const struct part_remote_wait *wait, int rank, int own)
{
	for (uint32_t i = 0; i < wait->rank_count; i++) {
		if (wait->ranks[i] == rank)
			return (uint64_t)((int64_t)own + 1) << PART_RANK_SHIFT | wait->epochs[i];
	}
	return 0;
}

/* Looks at a rank's calls. Returns false if the wait must stay whole. */
static bool look_at(struct search *search, uint32_t index, const struct part *own)
{
	const struct part *part = search->remote->parts->list[index].part;
	uint64_t ns;

	if (is_of_epoch(search->until.event))
		search->until.match = match_in_epoch(search->wait, part->header.rank, own->header.rank);
	ns = last_begin(search, &search->remote->begins[index]);
	if (ns > search->ns) {
		search->ns = ns;
		search->rank = part->header.rank;
	}
	return ns || !is_needed(search, part);
}

/* Returns whether the call that ended the wait has been found. */
static bool find_call(struct search *search, const struct part *own)
{
	const struct read_parts *parts = search->remote->parts;
	uint32_t seen = 0;

	for (uint32_t i = 0; i < parts->count; i++) {
		int rank = parts->list[i].part->header.rank;

		if (rank == own->header.rank || !is_awaited(search->wait, rank))
			continue;
		if (!look_at(search, i, own))
			return false;
		seen++;
	}
	return search->ns && seen >= search->wait->rank_count;
}

/* ---- shares ---- */

/* Returns for how much of the wait the rank had not begun its call. */
static uint64_t late_ns(const struct search *search, const struct read_part *from)
{
	uint64_t begun = clocks_shifted(&from->shift, search->wait->begun_ns);
	uint64_t all = search->wait->ended_ns - search->wait->begun_ns;
	uint64_t late = search->ns > begun ? search->ns - begun : 0;

	return late < all ? late : all;
}

/* Returns whether the wait is for another rank. If not, the rest has its cause already. */
static bool is_for_rank(enum wait_cause cause)
{
	return cause == WAIT_LATE_POST || cause == WAIT_LATE_COMPLETE || cause == WAIT_LATE_FENCE ||
	       cause == WAIT_LATE_COLLECTIVE || cause == WAIT_LOCK || cause == WAIT_SIGNAL || cause == WAIT_UNKNOWN;
}

static struct profile_wait *add_share(struct profile *profile, uint32_t site, enum wait_cause cause, int culprit,
                                      uint64_t ns)
{
	struct profile_wait *wait = gather_waits_of(profile, site, cause, culprit);

	wait->count++;
	wait->ns += ns;
	wait->max_ns = ns > wait->max_ns ? ns : wait->max_ns;
	return wait;
}

static void add_lateness(const struct search *search, struct profile *profile, const struct read_part *from,
                         uint32_t site)
{
	struct lateness lateness = { .begun_ns = clocks_shifted(&from->shift, search->wait->begun_ns),
		                         .rank = search->rank,
		                         .by_report = true };
	uint64_t late = late_ns(search, from);

	if (!late)
		return;
	lateness.ended_ns = lateness.begun_ns + late;
	lateness.wait =
		(uint32_t)(add_share(profile, site, causes[search->until.event], search->rank, late) - profile->waits);
	roots_add(search->remote->roots, from->part->header.rank, &lateness);
}

/* Takes time of a wait, or all of it, from where it counts. Returns false if it is not there. */
static bool take_out(struct profile_wait *whole, uint64_t ns, bool all)
{
	if (whole->count == 0 || whole->ns < ns)
		return false;
	whole->count -= all;
	whole->ns -= ns;
	whole->max_ns = whole->max_ns < whole->ns ? whole->max_ns : whole->ns;
	return true;
}

static void divide(const struct search *search, struct profile *profile, const struct read_part *from, uint32_t whole)
{
	uint64_t all = search->wait->ended_ns - search->wait->begun_ns, late = late_ns(search, from), rest;
	uint32_t site = profile->waits[whole].site;

	rest = is_for_rank(profile->waits[whole].cause) ? all - late : 0;
	if (!take_out(&profile->waits[whole], late + rest, late + rest == all))
		return;
	add_lateness(search, profile, from, site);
	if (rest)
		add_share(profile, site, WAIT_HANDOVER, search->rank, rest);
}

/* The time was the library's until now. */
static void add_gap(const struct search *search, struct profile *profile, const struct read_part *from, uint32_t site)
{
	uint64_t late = late_ns(search, from);
	int window = profile->sites[site].window;

	if (profile->sites[site].waits_ns + late > profile->sites[site].ns)
		return;
	add_lateness(search, profile, from, site);
	profile->waits_ns += late;
	profile->sites[site].waits_ns += late;
	if (window >= 0)
		profile->windows[window].waits_ns += late;
}

static bool is_sound_remote(const struct part_remote_wait *wait, const struct part *part)
{
	return wait->site < part->header.site_count && (wait->wait == PART_NONE || wait->wait < part->header.wait_count) &&
	       wait->event < EVENT_COUNT && wait->rank_count <= PART_REMOTE_RANKS && wait->begun_ns < wait->ended_ns;
}

/* The rank's own latenesses, as it has noted them while the job ran. */
static void add_noted(const struct remote *remote, const struct read_part *from, const uint32_t waits[])
{
	const struct part *part = from->part;

	for (uint32_t i = 0; i < PART_LATENESSES; i++) {
		const struct part_lateness *noted = &part->latenesses[i];
		struct lateness lateness = { .begun_ns = clocks_shifted(&from->shift, noted->begun_ns),
			                         .ended_ns = clocks_shifted(&from->shift, noted->ended_ns),
			                         .rank = noted->rank,
			                         .wait = noted->wait < part->header.wait_count ? waits[noted->wait] : PART_NONE };

		if (noted->number)
			roots_add(remote->roots, part->header.rank, &lateness);
	}
}

void remote_find_roots(const struct remote *remote, struct profile *profile)
{
	roots_divide(remote->roots, profile);
}

void remote_divide(const struct remote *remote, struct profile *profile, const struct read_part *from,
                   const uint32_t sites[], const uint32_t waits[])
{
	const struct part *part = from->part;
	uint32_t count = part->remote.wait_count < PART_REMOTE_WAITS ? part->remote.wait_count : PART_REMOTE_WAITS;

	add_noted(remote, from, waits);
	for (uint32_t i = 0; i < count; i++) {
		const struct part_remote_wait *wait = &part->remote.waits[i];
		struct search search = { .remote = remote, .wait = wait };

		if (!is_sound_remote(wait, part) || wait->ended_ns - wait->begun_ns < 2 * remote->error_ns ||
		    !find_key(part, wait->window, &search.until.key))
			continue;
		search.until.event = wait->event;
		search.until.match = wait->number; /* look_at: of a post or complete */
		search.until.ns = UINT64_MAX;      /* the number names one call */
		if (wait->event == EVENT_UNLOCK || wait->event == EVENT_SIGNAL)
			search.until.ns = clocks_shifted(&from->shift, wait->ended_ns) + remote->error_ns;
		if (!find_call(&search, part))
			continue;
		if (wait->wait == PART_NONE)
			add_gap(&search, profile, from, sites[wait->site]);
		else
			divide(&search, profile, from, waits[wait->wait]);
	}
}
