// SPDX-License-Identifier: BSD-2-Clause
/* See profile.h. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "see/report/profile.h"
#include "see/report/program.h"

const char *const cause_names[WAIT_CAUSES] = {
	[WAIT_LATE_POST] = "late_post",
	[WAIT_LATE_COMPLETE] = "late_complete",
	[WAIT_LATE_FENCE] = "late_fence",
	[WAIT_LATE_COLLECTIVE] = "late_collective",
	[WAIT_LOCK] = "lock",
	[WAIT_DATA] = "data",
	[WAIT_PROGRESS] = "progress",
	[WAIT_ROOM] = "room",
	[WAIT_SETUP] = "setup",
	[WAIT_REGISTRATION] = "registration",
	[WAIT_SIGNAL] = "signal",
	[WAIT_THREADS] = "threads",
	[WAIT_HANDOVER] = "handover",
	[WAIT_SHORT] = "short",
	[WAIT_UNKNOWN] = "unknown",
};

/* ---- windows ---- */

static int gather_window(struct profile *profile, const struct part_window *from)
{
	uint32_t i = 0;

	while (i < profile->window_count && profile->windows[i].key != from->key)
		i++;
	if (i == profile->window_count) {
		struct profile_window *window =
			program_append(&profile->windows, &profile->window_count, &profile->window_capacity, sizeof(*window));

		window->key = from->key;
		window->number = from->number;
		snprintf(window->kind, sizeof(window->kind), "%s", from->kind);
	}
	if (from->name[0])
		snprintf(profile->windows[i].name, NAME_BYTES, "%s", from->name);
	return (int)i;
}

/* ---- sites ---- */

static bool is_same_site(const struct profile_site *site, const struct profile_site *other)
{
	return site->offset == other->offset && site->window == other->window && strcmp(site->object, other->object) == 0 &&
	       strcmp(site->call, other->call) == 0;
}

/* Lines of the same place are read once: each reading searches the file. */
static void find_place(struct profile *profile, struct profile_site *site)
{
	for (uint32_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *known = &profile->sites[i];

		if (known != site && known->offset == site->offset && strcmp(known->object, site->object) == 0) {
			site->place = known->place;
			return;
		}
	}
	if (site->object[0])
		source_find(site->object, site->offset - 1, &site->place); /* the call's last byte */
}

/* Returns the index of the rank's site. `from` counts for it. */
static uint32_t merge_site(struct profile *profile, uint32_t first, const struct profile_site *from)
{
	uint32_t i = first;
	struct profile_site *site;

	while (i < profile->site_count && !is_same_site(&profile->sites[i], from))
		i++;
	if (i == profile->site_count) {
		site = program_append(&profile->sites, &profile->site_count, &profile->site_capacity, sizeof(*site));
		*site = *from;
		find_place(profile, site);
		return i;
	}
	site = &profile->sites[i];
	site->count += from->count;
	site->bytes += from->bytes;
	site->ns += from->ns;
	site->targets |= from->targets;
	site->followed += from->followed;
	for (int k = 0; k < PART_SIZES; k++)
		site->sizes[k] += from->sizes[k];
	return i;
}

/* A part may hold any number: thirty years are the most. */
static uint64_t ns_of(uint64_t ticks, double ns_per_tick)
{
	double ns = (double)ticks * ns_per_tick;

	return ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18;
}

static uint32_t gather_site(struct profile *profile, const struct read_part *part, uint32_t first,
                            const struct part_site *from, int window)
{
	const struct part_object *object = from->object == PART_NONE ? NULL : &part->part->objects[from->object];
	struct profile_site site = { .rank = part->part->header.rank,
		                         .window = window,
		                         .object = object ? object->path : "",
		                         .build_id = object ? object->build_id : NULL,
		                         .build_id_bytes = object ? object->build_id_bytes : 0,
		                         .offset = from->offset,
		                         .bytes = from->bytes,
		                         .ns = ns_of(from->ticks, part->ns_per_tick),
		                         .targets = from->targets,
		                         .followed = from->followed };

	memcpy(site.call, from->call, sizeof(site.call));
	memcpy(site.sizes, from->sizes, sizeof(site.sizes));
	for (int k = 0; k < PART_SIZES; k++)
		site.count += from->sizes[k];
	profile->calls += site.count;
	profile->in_calls_ns += site.ns;
	if (site.rank >= 0 && site.rank < profile->size)
		profile->ranks[site.rank].in_calls_ns += site.ns;
	if (window >= 0)
		profile->windows[window].in_calls_ns += site.ns;
	return merge_site(profile, first, &site);
}

/* ---- waits ---- */

/* Returns the rank of a process on the part's host, or -1. */
static int rank_of(const struct read_parts *parts, const struct part *part, int32_t process)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		const struct part_header *header = &parts->list[i].part->header;

		if (header->pid == process && strcmp(header->host, part->header.host) == 0)
			return header->rank;
	}
	return -1;
}

static void merge_roots(struct profile_wait *wait, const struct part_wait *from)
{
	for (uint32_t i = 0; i < from->root_count; i++)
		roots_count(wait, from->roots[i].rank, from->roots[i].ns);
}

struct profile_wait *gather_waits_of(struct profile *profile, uint32_t site, enum wait_cause cause, int culprit)
{
	struct profile_wait *wait;

	for (uint32_t i = profile->first_wait; i < profile->wait_count; i++) {
		wait = &profile->waits[i];
		if (wait->site == site && wait->cause == cause && wait->culprit == culprit)
			return wait;
	}
	wait = program_append(&profile->waits, &profile->wait_count, &profile->wait_capacity, sizeof(*wait));
	*wait = (struct profile_wait){ .site = site, .cause = cause, .culprit = culprit };
	return wait;
}

/* Returns the index of the waits that `from` counts for. */
static uint32_t gather_wait(struct profile *profile, const struct part_wait *from, uint32_t site, int culprit)
{
	struct profile_wait *wait = gather_waits_of(profile, site, from->cause, culprit);

	wait->count += from->count;
	wait->ns += from->ns;
	wait->served += from->served;
	if (from->max_ns > wait->max_ns)
		wait->max_ns = from->max_ns;
	merge_roots(wait, from);
	profile->waits_ns += from->ns;
	profile->sites[site].waits_ns += from->ns;
	if (profile->sites[site].window >= 0)
		profile->windows[profile->sites[site].window].waits_ns += from->ns;
	return (uint32_t)(wait - profile->waits);
}

/* Leaves out waits that others have taken all time of. */
static void drop_empty_waits(struct profile *profile)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < profile->wait_count; i++) {
		if (profile->waits[i].count)
			profile->waits[kept++] = profile->waits[i];
	}
	profile->wait_count = kept;
}

/* ---- parts ---- */

static void gather_part(struct profile *profile, const struct read_parts *parts, const struct read_part *from,
                        const struct remote *remote)
{
	const struct part *part = from->part;
	uint32_t first = profile->site_count, site_of[PART_SITES], wait_of[PART_WAITS];
	int window_of[PART_WINDOWS];

	profile->first_wait = profile->wait_count;
	for (uint32_t i = 0; i < part->header.window_count; i++)
		window_of[i] = gather_window(profile, &part->windows[i]);
	for (uint32_t i = 0; i < part->header.site_count; i++) {
		const struct part_site *site = &part->sites[i];

		site_of[i] = gather_site(profile, from, first, site, site->window == PART_NONE ? -1 : window_of[site->window]);
	}
	for (uint32_t i = 0; i < part->header.wait_count; i++) {
		const struct part_wait *wait = &part->waits[i];
		int culprit = wait->process ? rank_of(parts, part, wait->process) : wait->rank;

		wait_of[i] = gather_wait(profile, wait, site_of[wait->site], culprit);
	}
	if (remote)
		remote_divide(remote, profile, from, site_of, wait_of);
	profile->lost += part->header.lost;
}

static void set_times(struct profile *profile, const struct read_parts *parts)
{
	uint64_t begun = UINT64_MAX, ended = 0;

	for (uint32_t i = 0; i < parts->count; i++) {
		const struct part_header *header = &parts->list[i].part->header;

		if (header->begun_ns < begun)
			begun = header->begun_ns;
		if (header->ended_ns > ended)
			ended = header->ended_ns;
		if (header->ended_ns <= header->begun_ns)
			continue;
		profile->all_ns += header->ended_ns - header->begun_ns;
		if (header->rank >= 0 && header->rank < profile->size)
			profile->ranks[header->rank].all_ns = header->ended_ns - header->begun_ns;
	}
	profile->seconds = ended > begun ? (double)(ended - begun) / (double)NS_PER_SECOND : 0;
}

/* ---- machines ---- */

static int processors_of(const struct read_parts *parts, const char *host, int *ranks)
{
	uint64_t all[PART_PROCESSORS / 64] = { 0 };
	int count = 0;

	*ranks = 0;
	for (uint32_t i = 0; i < parts->count; i++) {
		const struct part_header *header = &parts->list[i].part->header;

		if (strcmp(header->host, host) != 0)
			continue;
		++*ranks;
		for (int k = 0; k < PART_PROCESSORS / 64; k++)
			all[k] |= header->processors[k];
	}
	for (int k = 0; k < PART_PROCESSORS / 64; k++)
		count += __builtin_popcountll(all[k]);
	return count;
}

/* Parts are in the order of ranks, and so, mostly, of machines. */
static void find_busiest(struct profile *profile, const struct read_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		const char *host = parts->list[i].part->header.host;
		int ranks, processors;

		if (i > 0 && strcmp(host, parts->list[i - 1].part->header.host) == 0)
			continue;
		processors = processors_of(parts, host, &ranks);
		if (processors == 0 ||
		    (int64_t)ranks * profile->busiest_processors < (int64_t)profile->busiest_ranks * processors)
			continue;
		profile->busiest_ranks = ranks;
		profile->busiest_processors = processors;
	}
}

static bool is_end(const char *call)
{
	return strcmp(call, "oriel_init") == 0 || strcmp(call, "oriel_finalize") == 0 || strcmp(call, "MPI_Init") == 0 ||
	       strcmp(call, "MPI_Init_thread") == 0 || strcmp(call, "MPI_Finalize") == 0;
}

static void count_ends(struct profile *profile)
{
	for (uint32_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];

		if (is_end(site->call) && site->ns > site->waits_ns)
			profile->at_ends_ns += site->ns - site->waits_ns;
	}
}

void gather(struct profile *profile, const struct read_parts *parts)
{
	struct remote *remote = remote_open(parts);

	profile->size = parts->size;
	profile->ranks = calloc((size_t)(parts->size > 0 ? parts->size : 1), sizeof(*profile->ranks));
	if (!profile->ranks)
		program_fail("out of memory");
	set_times(profile, parts);
	for (uint32_t i = 0; i < parts->count; i++)
		gather_part(profile, parts, &parts->list[i], remote);
	if (remote)
		remote_find_roots(remote, profile);
	drop_empty_waits(profile);
	remote_close(remote);
	count_ends(profile);
	find_busiest(profile, parts);
	profile->clock_error_ns = parts->unaligned ? CLOCK_ERROR_UNKNOWN : (uint64_t)parts->clock_error_ns;
}
