// SPDX-License-Identifier: BSD-2-Clause
/*
 * See picture.h. The step is the time around the longest call that waited, and lasts a little
 * longer. Of many ranks those are drawn that it waited for, and the first others of its machine,
 * whose clock they share.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "see/report/advice.h"
#include "see/report/picture.h"
#include "see/report/timeline.h"

#define STEP_X 90
#define PLACES 435 /* of a row: they bound the picture's size */
#define PLACE_PIXELS 2
#define STEP_WIDTH (PLACES * PLACE_PIXELS)
#define ROW_HEIGHT 24
#define ARROWS_MOST 16

/* A call of another rank that ended the wait. */
struct arrow {
	int rank;
	uint64_t begun_ns;
	uint64_t seen_ns;
};

struct step {
	const struct read_parts *parts;
	const struct read_part *part; /* whose call is the longest; NULL: there is none */
	uint32_t site;                /* the part's */
	uint64_t begun_ns, ended_ns;  /* of the call */
	struct arrow arrows[ARROWS_MOST];
	int arrow_count;
	uint64_t from_ns, until_ns; /* what is drawn */
	int ranks[PICTURE_ROWS];
	int rank_count;
};

/* ---- the longest call that waited ---- */

/* Returns whether calls of the site wait, and belong to a step of the program. */
static bool is_waiting_site(const struct part *part, uint32_t site)
{
	enum call_kind kind = call_kind(part->sites[site].call);
	uint32_t i = 0;

	if (part->sites[site].window == PART_NONE || kind == KIND_CREATE || call_is(part->sites[site].call, "win_free"))
		return false;
	while (i < part->header.wait_count && part->waits[i].site != site)
		i++;
	return i < part->header.wait_count;
}

/* Keeps the calls of other ranks in front of the entry, which were seen in it. */
static void take_arrows(struct step *step, const struct part_chunk *chunk, uint32_t index)
{
	step->arrow_count = 0;
	while (index > 0 && chunk->entries[index - 1].kind != PART_CALL && step->arrow_count < ARROWS_MOST) {
		const struct part_entry *entry = &chunk->entries[--index];

		step->arrows[step->arrow_count++] = (struct arrow){ entry->rank, entry->begun, entry->ended };
	}
}

static void look_at_chunk(struct step *step, const struct read_part *part, const bool waits[PART_SITES],
                          const struct part_chunk *chunk)
{
	for (uint32_t i = 0; i < chunk->count; i++) {
		const struct part_entry *entry = &chunk->entries[i];
		uint64_t begun = chunks_ns(chunk, entry->begun, part->ns_per_tick);
		uint64_t ended = chunks_ns(chunk, entry->ended, part->ns_per_tick);

		if (entry->kind != PART_CALL || !waits[entry->site] || ended <= begun ||
		    (step->part && ended - begun <= step->ended_ns - step->begun_ns))
			continue;
		step->part = part;
		step->site = entry->site;
		step->begun_ns = begun;
		step->ended_ns = ended;
		take_arrows(step, chunk, i);
	}
}

static void find_waiting_sites(const struct part *part, bool waits[PART_SITES])
{
	for (uint32_t i = 0; i < part->header.site_count; i++)
		waits[i] = is_waiting_site(part, i);
}

static void look_at_part(struct step *step, const struct read_part *part)
{
	struct read_chunks chunks = { 0 };
	bool waits[PART_SITES];

	find_waiting_sites(part->part, waits);
	chunks_read(&chunks, part);
	for (uint32_t i = 0; i < chunks.count; i++)
		look_at_chunk(step, part, waits, &chunks.list[i]);
	free(chunks.list);
}

/* ---- the ranks that are drawn ---- */

static void add_rank(struct step *step, int rank)
{
	int i = 0;

	while (i < step->rank_count && step->ranks[i] != rank)
		i++;
	if (i == step->rank_count && i < PICTURE_ROWS && rank >= 0)
		step->ranks[step->rank_count++] = rank;
}

static int compare_ranks(const void *a, const void *b)
{
	const int *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void choose_ranks(struct step *step)
{
	add_rank(step, step->part->part->header.rank);
	for (int i = 0; i < step->arrow_count && step->rank_count < PICTURE_ROWS / 2; i++)
		add_rank(step, step->arrows[i].rank);
	for (uint32_t i = 0; i < step->parts->count; i++) {
		const struct part_header *header = &step->parts->list[i].part->header;

		if (strcmp(header->host, step->part->part->header.host) == 0)
			add_rank(step, header->rank);
	}
	qsort(step->ranks, (size_t)step->rank_count, sizeof(step->ranks[0]), compare_ranks);
}

/* Returns the rank's row, or -1. */
static int row_of(const struct step *step, int rank)
{
	for (int i = 0; i < step->rank_count; i++) {
		if (step->ranks[i] == rank)
			return i;
	}
	return -1;
}

/* ---- drawing ---- */

/* Returns the place of a time, which may be outside of the step. */
static int place_of(const struct step *step, uint64_t ns)
{
	if (ns <= step->from_ns)
		return 0;
	if (ns >= step->until_ns)
		return PLACES;
	return (int)((double)(ns - step->from_ns) / (double)(step->until_ns - step->from_ns) * PLACES);
}

/* A row's content at each place. */
enum { OUTSIDE, INSIDE, WAITING };

static void fill_call(const struct step *step, uint64_t begun_ns, uint64_t ended_ns, char kind, char row[PLACES])
{
	int end = place_of(step, ended_ns);

	if (ended_ns <= step->from_ns || begun_ns >= step->until_ns)
		return;
	for (int x = place_of(step, begun_ns); x < PLACES && x <= end; x++)
		row[x] = kind > row[x] ? kind : row[x];
}

static void fill_row(const struct step *step, const struct read_part *part, char row[PLACES])
{
	struct read_chunks chunks = { 0 };
	bool waits[PART_SITES];

	find_waiting_sites(part->part, waits);
	chunks_read(&chunks, part);
	for (uint32_t i = 0; i < chunks.count; i++) {
		const struct part_chunk *chunk = &chunks.list[i];

		for (uint32_t k = 0; k < chunk->count; k++) {
			const struct part_entry *entry = &chunk->entries[k];

			if (entry->kind == PART_CALL)
				fill_call(step, chunks_ns(chunk, entry->begun, part->ns_per_tick),
				          chunks_ns(chunk, entry->ended, part->ns_per_tick), waits[entry->site] ? WAITING : INSIDE,
				          row);
		}
	}
	free(chunks.list);
}

static void draw_row(FILE *out, const char row[PLACES], int y, char kind, const char *colour)
{
	svg_begin_boxes(out, colour);
	for (int x = 0, end; x < PLACES; x = end) {
		end = x + 1;
		while (end < PLACES && row[end] == row[x])
			end++;
		if (row[x] == kind)
			svg_add_box(out, STEP_X + x * PLACE_PIXELS, y + 3, (end - x) * PLACE_PIXELS, ROW_HEIGHT - 6);
	}
	svg_end_boxes(out);
}

static void draw_rows(FILE *out, const struct step *step, int y)
{
	for (uint32_t i = 0; i < step->parts->count; i++) {
		const struct read_part *part = &step->parts->list[i];
		int row = row_of(step, part->part->header.rank);
		char places[PLACES] = { 0 };

		if (row < 0)
			continue;
		fill_row(step, part, places);
		svg_text(out, (struct svg_point){ STEP_X - 8, y + row * ROW_HEIGHT + 16 }, "end", "rank %d",
		         part->part->header.rank);
		draw_row(out, places, y + row * ROW_HEIGHT, INSIDE, "#3b78c4");
		draw_row(out, places, y + row * ROW_HEIGHT, WAITING, "#e98336");
	}
}

static int x_of(const struct step *step, uint64_t ns)
{
	return STEP_X + place_of(step, ns) * PLACE_PIXELS;
}

static void draw_arrows(FILE *out, const struct step *step, int y)
{
	int to = row_of(step, step->part->part->header.rank);

	for (int i = 0; i < step->arrow_count; i++) {
		const struct arrow *arrow = &step->arrows[i];
		int from = row_of(step, arrow->rank), end = x_of(step, arrow->seen_ns);

		if (from < 0 || from == to)
			continue;
		fprintf(out, "<path d=\"M%d %dL%d %d\" stroke=\"black\" fill=\"none\"/><circle cx=\"%d\" cy=\"%d\" r=\"3\"/>\n",
		        x_of(step, arrow->begun_ns), y + from * ROW_HEIGHT + ROW_HEIGHT / 2, end,
		        y + to * ROW_HEIGHT + ROW_HEIGHT / 2, end, y + to * ROW_HEIGHT + ROW_HEIGHT / 2);
	}
}

/* The call begins and ends there. */
static void draw_call(FILE *out, const struct step *step, int y)
{
	int height = step->rank_count * ROW_HEIGHT;

	fprintf(out, "<path d=\"M%d %dv%dM%d %dv%d\" stroke=\"black\" stroke-dasharray=\"3\"/>\n",
	        x_of(step, step->begun_ns), y, height, x_of(step, step->ended_ns), y, height);
}

static double ms(uint64_t ns)
{
	return (double)ns / (double)NS_PER_MS;
}

static void draw_legend(FILE *out, const struct step *step, int y)
{
	svg_text(out, (struct svg_point){ STEP_X, y }, "start", "0");
	svg_text(out, (struct svg_point){ STEP_X + STEP_WIDTH, y }, "end", "%.3f ms", ms(step->until_ns - step->from_ns));
	svg_begin_boxes(out, "#e98336");
	svg_add_box(out, STEP_X + 100, y - 10, 12, 12);
	svg_end_boxes(out);
	svg_text(out, (struct svg_point){ STEP_X + 118, y }, "start", "in a call that waits");
	svg_begin_boxes(out, "#3b78c4");
	svg_add_box(out, STEP_X + 270, y - 10, 12, 12);
	svg_end_boxes(out);
	svg_text(out, (struct svg_point){ STEP_X + 288, y }, "start", "in another call");
	svg_text(out, (struct svg_point){ STEP_X + 400, y }, "start",
	         "a line leads from the late call to the moment at which it is seen");
}

static const struct profile_site *find_site(const struct step *step, const struct profile *profile)
{
	const struct part *part = step->part->part;
	const struct part_site *site = &part->sites[step->site];

	for (uint32_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *known = &profile->sites[i];

		if (known->rank == part->header.rank && known->offset == site->offset && strcmp(known->call, site->call) == 0)
			return known;
	}
	return NULL;
}

static void draw_title(FILE *out, const struct step *step, int y, const struct profile *profile)
{
	const struct part_header *header = &step->part->part->header;
	const struct profile_site *site = find_site(step, profile);
	char call[CALL_BYTES] = "a call", window[WINDOW_BYTES] = "";
	uint64_t after_ns = step->begun_ns > header->begun_ns ? step->begun_ns - header->begun_ns : 0;
	char ranks[48] = "";

	if (step->rank_count < (int)step->parts->count)
		snprintf(ranks, sizeof(ranks), "; %d of %u ranks are shown", step->rank_count, step->parts->count);
	if (site) {
		advice_call(site, call);
		advice_window(profile, site->window, window);
	}
	svg_heading(out, 30, y, "The slowest step");
	svg_text(out, (struct svg_point){ STEP_X, y + 22 }, "start",
	         "rank %d waits %.3f ms in %s%s, %.3f s after its begin%s", header->rank,
	         ms(step->ended_ns - step->begun_ns), call, window, advice_seconds(after_ns), ranks);
}

void step_draw(FILE *out, int y, const struct profile *profile, const struct read_parts *parts)
{
	struct step step = { .parts = parts };
	uint64_t margin;

	for (uint32_t i = 0; i < parts->count; i++)
		look_at_part(&step, &parts->list[i]);
	if (!step.part) {
		svg_heading(out, 30, y, "The slowest step");
		svg_text(out, (struct svg_point){ STEP_X, y + 22 }, "start", "no call that waited was recorded");
		return;
	}
	margin = (step.ended_ns - step.begun_ns) / 6 + 1;
	step.from_ns = step.begun_ns > margin ? step.begun_ns - margin : 0;
	step.until_ns = step.ended_ns + margin;
	choose_ranks(&step);
	draw_title(out, &step, y, profile);
	draw_rows(out, &step, y + 40);
	draw_call(out, &step, y + 40);
	draw_arrows(out, &step, y + 40);
	draw_legend(out, &step, y + 40 + step.rank_count * ROW_HEIGHT + 20);
}
