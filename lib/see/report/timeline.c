// SPDX-License-Identifier: BSD-2-Clause
/*
 * See timeline.h and perfetto.h. Nothing in a part is trusted: what does not nest is cut, so that
 * slices nest in any case.
 */
#include "see/report/timeline.h"
#include "see/report/window_number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "see/report/perfetto.h"
#include "see/report/program.h"

#define DEPTH_MAX 64
#define NAME_OF_ARROW (PART_SITES + 1)

/* A call of another rank that ended a wait. */
struct arrow {
	const struct part_entry *entry;
	uint64_t seen_ns; /* in the call that waited */
	uint32_t lane;
	uint64_t number; /* 0: another one is the same */
};

/* A slice of a lane. */
struct slice {
	const struct part_entry *entry;
	uint64_t begun_ns;
	uint64_t ended_ns;
	uint32_t lane;
	uint64_t arrow; /* that ends here; 0: the slice is a call */
};

/* Bytes that a call has moved. */
struct moved {
	uint64_t ns;
	uint64_t bytes;
};

struct timeline {
	const struct profile *profile;
	const struct read_part *from;
	const char *death; /* read_death */
	struct perfetto to;
	struct arrow *arrows;
	struct slice *slices;
	struct moved *moved;
	uint32_t arrow_count, arrow_capacity;
	uint32_t slice_count, slice_capacity;
	uint32_t moved_count, moved_capacity;
	uint32_t names[PART_SITES]; /* of the sites' calls */
};

/* ---- times ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greatest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- entries ---- */

/*
 * The arrows in front of a call are seen in it: the two clocks may disagree a little. Each is seen
 * at a time of its own.
 */
static void place_arrows(struct timeline *line, uint32_t first, const struct slice *call)
{
	uint64_t at = call->begun_ns + 1;

	for (uint32_t i = first; i < line->arrow_count; i++) {
		struct arrow *arrow = &line->arrows[i];
		uint64_t latest = call->ended_ns - 2 * (uint64_t)(line->arrow_count - i);

		at = greatest(at, least(arrow->entry->ended, latest));
		arrow->seen_ns = at;
		at += 2;
	}
}

static void take_call(struct timeline *line, const struct part_chunk *chunk, const struct part_entry *entry,
                      uint32_t first_arrow)
{
	uint32_t arrows = line->arrow_count - first_arrow;
	struct slice *call = program_append(&line->slices, &line->slice_count, &line->slice_capacity, sizeof(*call));

	*call = (struct slice){ .entry = entry, .lane = chunk->lane };
	call->begun_ns = chunks_ns(chunk, entry->begun, line->from->ns_per_tick);
	call->ended_ns =
		greatest(chunks_ns(chunk, entry->ended, line->from->ns_per_tick), call->begun_ns + 1 + 2 * (uint64_t)arrows);
	place_arrows(line, first_arrow, call);
	if (entry->bytes)
		*(struct moved *)program_append(&line->moved, &line->moved_count, &line->moved_capacity, sizeof(*line->moved)) =
			(struct moved){ call->ended_ns, entry->bytes };
}

/* Arrows of a call that was not recorded, since its rank died, are left out. */
static void take_entries(struct timeline *line, const struct read_chunks *chunks)
{
	uint32_t first_arrow = 0;

	for (uint32_t i = 0; i < chunks->count; i++) {
		const struct part_chunk *chunk = &chunks->list[i];

		if (i > 0 && chunk->lane != chunk[-1].lane)
			line->arrow_count = first_arrow;
		for (uint32_t k = 0; k < chunk->count; k++) {
			const struct part_entry *entry = &chunk->entries[k];

			if (entry->kind == PART_CALL) {
				take_call(line, chunk, entry, first_arrow);
				first_arrow = line->arrow_count;
				continue;
			}
			*(struct arrow *)program_append(&line->arrows, &line->arrow_count, &line->arrow_capacity,
			                                sizeof(*line->arrows)) =
				(struct arrow){ .entry = entry, .lane = chunk->lane };
		}
	}
	line->arrow_count = first_arrow;
}

/* ---- names ---- */

static const struct profile_site *find_site(const struct timeline *line, const struct part_site *site)
{
	const struct part *part = line->from->part;
	const char *object = site->object == PART_NONE ? "" : part->objects[site->object].path;

	for (uint32_t i = 0; i < line->profile->site_count; i++) {
		const struct profile_site *known = &line->profile->sites[i];

		if (known->offset == site->offset && strcmp(known->object, object) == 0)
			return known;
	}
	return NULL;
}

static void add_place(struct timeline *line, uint32_t number, const struct profile_site *site)
{
	struct source_place place = site->place;
	char text[PLACE_BYTES];

	if (!place.file[0])
		snprintf(place.function, sizeof(place.function), "%s", place_text(site, text));
	perfetto_add_place(&line->to, number, &place);
}

static void add_names_of_sites(struct timeline *line)
{
	const struct part *part = line->from->part;

	for (uint32_t i = 0; i < part->header.site_count; i++) {
		const struct part_site *site = &part->sites[i];
		const struct profile_site *known = find_site(line, site);
		uint32_t same = 0;

		while (strcmp(part->sites[same].call, site->call) != 0)
			same++;
		line->names[i] = same + 1;
		if (same == i)
			perfetto_add_name(&line->to, NAMES_OF_EVENTS, line->names[i], site->call);
		if (known)
			add_place(line, i + 1, known);
	}
}

static void add_names_of_windows(struct timeline *line)
{
	const struct part *part = line->from->part;

	for (uint32_t i = 0; i < part->header.window_count; i++) {
		const struct part_window *window = &part->windows[i];
		char text[64], number[WINDOW_NUMBER_BYTES];

		if (window->name[0])
			snprintf(text, sizeof(text), "%.63s", window->name);
		else
			snprintf(text, sizeof(text), "%s (%.15s)", window_number(window->number, number), window->kind);
		perfetto_add_name(&line->to, NAMES_OF_WINDOWS, i + 1, text);
	}
}

static uint32_t name_of_arrow(const struct arrow *arrow, bool is_end)
{
	return NAME_OF_ARROW + 2 * (uint32_t)arrow->entry->kind + is_end;
}

static void write_names(struct timeline *line)
{
	static const char *const names[EVENT_COUNT] = {
		[EVENT_POST] = "post",     [EVENT_COMPLETE] = "complete", [EVENT_FENCE] = "last at the fence",
		[EVENT_UNLOCK] = "unlock", [EVENT_SIGNAL] = "signal",     [EVENT_COLLECTIVE] = "last in the call",
	};

	add_names_of_sites(line);
	add_names_of_windows(line);
	for (uint32_t event = 0; event < EVENT_COUNT; event++) {
		char text[32];

		snprintf(text, sizeof(text), "%s seen", names[event]);
		perfetto_add_name(&line->to, NAMES_OF_EVENTS, NAME_OF_ARROW + 2 * event, names[event]);
		perfetto_add_name(&line->to, NAMES_OF_EVENTS, NAME_OF_ARROW + 2 * event + 1, text);
	}
	perfetto_write_names(&line->to);
}

/* ---- arrows ---- */

static int compare_arrows(const void *a, const void *b)
{
	const struct arrow *left = a, *right = b;

	if (left->entry->rank != right->entry->rank)
		return left->entry->rank < right->entry->rank ? -1 : 1;
	if (left->entry->begun != right->entry->begun)
		return left->entry->begun < right->entry->begun ? -1 : 1;
	if (left->entry->kind != right->entry->kind)
		return left->entry->kind < right->entry->kind ? -1 : 1;
	return (left->seen_ns > right->seen_ns) - (left->seen_ns < right->seen_ns);
}

static bool is_same_arrow(const struct arrow *a, const struct arrow *b)
{
	return a->entry->rank == b->entry->rank && a->entry->begun == b->entry->begun && a->entry->kind == b->entry->kind;
}

static uint32_t window_of(const struct timeline *line, const struct part_entry *entry)
{
	uint32_t window = line->from->part->sites[entry->site].window;

	return window == PART_NONE ? 0 : window + 1;
}

/* Begins are in the order of time, on a track of the rank that was awaited. */
static uint64_t write_begin(struct timeline *line, const struct arrow *arrow, uint64_t after_ns)
{
	struct perfetto_slice slice = {
		.track = perfetto_awaited(arrow->entry->rank, line->to.rank),
		.ns = greatest(least(arrow->entry->begun, arrow->seen_ns - 1), after_ns),
		.name = name_of_arrow(arrow, false),
		.window = window_of(line, arrow->entry),
		.rank = line->to.rank,
		.begins_arrow = arrow->number,
	};

	perfetto_begin_slice(&line->to, &slice);
	perfetto_end_slice(&line->to, slice.track, slice.ns + 1);
	return slice.ns + 1;
}

/* An arrow's number is its own in the files of all ranks. */
static void write_arrow_begins(struct timeline *line)
{
	uint64_t number = (uint64_t)(line->to.rank + 1) << 40, ended_ns = 0;

	if (line->arrow_count)
		qsort(line->arrows, line->arrow_count, sizeof(*line->arrows), compare_arrows);
	for (uint32_t i = 0; i < line->arrow_count; i++) {
		struct arrow *arrow = &line->arrows[i];

		if (i > 0 && is_same_arrow(arrow, arrow - 1))
			continue;
		if (i == 0 || arrow->entry->rank != arrow[-1].entry->rank) {
			perfetto_describe_awaited(&line->to, arrow->entry->rank);
			ended_ns = 0;
		}
		arrow->number = ++number;
		ended_ns = write_begin(line, arrow, ended_ns);
	}
}

static void add_arrow_ends(struct timeline *line)
{
	for (uint32_t i = 0; i < line->arrow_count; i++) {
		const struct arrow *arrow = &line->arrows[i];

		if (arrow->number)
			*(struct slice *)program_append(&line->slices, &line->slice_count, &line->slice_capacity,
			                                sizeof(*line->slices)) =
				(struct slice){ arrow->entry, arrow->seen_ns, arrow->seen_ns + 1, arrow->lane, arrow->number };
	}
}

/* ---- slices ---- */

/* A slice comes before those in it. */
static int compare_slices(const void *a, const void *b)
{
	const struct slice *left = a, *right = b;

	if (left->lane != right->lane)
		return left->lane < right->lane ? -1 : 1;
	if (left->begun_ns != right->begun_ns)
		return left->begun_ns < right->begun_ns ? -1 : 1;
	if (left->ended_ns != right->ended_ns)
		return left->ended_ns > right->ended_ns ? -1 : 1;
	return (left->arrow > right->arrow) - (left->arrow < right->arrow);
}

static void write_slice(struct timeline *line, const struct slice *slice, uint64_t track)
{
	const struct part_entry *entry = slice->entry;
	struct perfetto_slice begun = {
		.track = track,
		.ns = slice->begun_ns,
		.name = line->names[entry->site],
		.place = entry->site + 1,
		.window = window_of(line, entry),
		.rank = entry->rank,
		.bytes = entry->bytes,
	};

	if (slice->arrow) {
		begun.name = name_of_arrow(&(struct arrow){ .entry = entry }, true);
		begun.place = 0;
		begun.bytes = 0;
		begun.ends_arrow = slice->arrow;
	}
	perfetto_begin_slice(&line->to, &begun);
}

/* Writes the slices of a lane, from the first on. Returns the first of the next lane. */
static uint32_t write_lane(struct timeline *line, uint32_t first)
{
	uint32_t lane = line->slices[first].lane, i = first, depth = 0;
	uint64_t track = perfetto_thread(line->to.rank, lane), ends[DEPTH_MAX];

	perfetto_describe_lane(&line->to, lane);
	for (; i < line->slice_count && line->slices[i].lane == lane; i++) {
		const struct slice *slice = &line->slices[i];

		while (depth && ends[depth - 1] <= slice->begun_ns)
			perfetto_end_slice(&line->to, track, ends[--depth]);
		if (depth == DEPTH_MAX)
			continue;
		write_slice(line, slice, track);
		ends[depth] = depth ? least(slice->ended_ns, ends[depth - 1]) : slice->ended_ns;
		depth++;
	}
	while (depth)
		perfetto_end_slice(&line->to, track, ends[--depth]);
	return i;
}

static void write_slices(struct timeline *line)
{
	add_arrow_ends(line);
	if (line->slice_count)
		qsort(line->slices, line->slice_count, sizeof(*line->slices), compare_slices);
	for (uint32_t first = 0; first < line->slice_count;)
		first = write_lane(line, first);
}

/* ---- what belongs to the rank ---- */

static int compare_moved(const void *a, const void *b)
{
	const struct moved *left = a, *right = b;

	return (left->ns > right->ns) - (left->ns < right->ns);
}

static void write_moved(struct timeline *line)
{
	uint64_t bytes = 0;

	if (line->moved_count)
		qsort(line->moved, line->moved_count, sizeof(*line->moved), compare_moved);
	for (uint32_t i = 0; i < line->moved_count; i++) {
		bytes += line->moved[i].bytes;
		perfetto_write_bytes(&line->to, line->moved[i].ns, bytes);
	}
}

/* Says where the rank's calls begin, or end, without being all. */
static void write_marks(struct timeline *line)
{
	const struct part_header *header = &line->from->part->header;
	uint64_t first_ns = TIME_MAX, last_ns = 0;
	char text[PART_DEATH_BYTES + 16];

	for (uint32_t i = 0; i < line->slice_count; i++) {
		first_ns = least(first_ns, line->slices[i].begun_ns);
		last_ns = greatest(last_ns, line->slices[i].ended_ns);
	}
	snprintf(text, sizeof(text), "%" PRIu64 " earlier calls are overwritten", header->overwritten);
	if (header->overwritten && line->slice_count)
		perfetto_write_mark(&line->to, first_ns, text);
	snprintf(text, sizeof(text), "the rank %s", line->death);
	if (header->state == PART_RUNNING && line->slice_count)
		perfetto_write_mark(&line->to, last_ns, text);
}

/* ---- parts ---- */

static void print_part(FILE *out, struct timeline line, const struct read_chunks *chunks)
{
	perfetto_begin(&line.to, out, line.from->part->header.rank);
	write_names(&line);
	perfetto_describe_rank(&line.to);
	take_entries(&line, chunks);
	write_arrow_begins(&line);
	write_slices(&line);
	write_moved(&line);
	write_marks(&line);
	perfetto_end(&line.to);
	free(line.arrows);
	free(line.slices);
	free(line.moved);
}

static bool has_timeline(const struct part_header *header)
{
	return header->chunk_count > 0 && header->rank >= 0;
}

uint32_t timeline_count(const struct read_parts *parts)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < parts->count; i++)
		count += has_timeline(&parts->list[i].part->header);
	return count;
}

void timeline_print(FILE *out, const struct profile *profile, const struct read_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		const struct read_part *from = &parts->list[i];
		struct timeline line = { .profile = profile, .from = from };
		struct read_chunks chunks = { 0 };

		if (!has_timeline(&from->part->header))
			continue;
		line.death = read_death(parts, from->part->header.rank);
		chunks_read(&chunks, from);
		print_part(out, line, &chunks);
		free(chunks.list);
	}
}
