// SPDX-License-Identifier: BSD-2-Clause
/* See profile.h. Equal input gives equal text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "see/report/advice.h"
#include "see/report/profile.h"
#include "see/report/program.h"
#include "see/report/window_number.h"

#define WAIT_LINES 12
#define SITE_LINES 14
#define OTHER_CAUSES 3
#define ADVICE_LINES 12
#define DEAD_LINES 3
#define COLUMNS 118
#define WINDOW_COLUMNS 19
#define MISSING_MAX 8

/* Lines of the text: waits by cause and rank, calls by place, each over all ranks. */
struct line {
	const struct profile_site *site;
	enum wait_cause cause;
	int culprit;
	uint64_t count;
	uint64_t bytes;
	uint64_t ns;
	uint64_t waits_ns;
	uint64_t max_ns;
	uint64_t served;
	struct part_root root; /* of the one wait with the most */
};

struct lines {
	struct line *list;
	uint32_t count, capacity;
};

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_SECOND;
}

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static struct line *add(struct lines *lines)
{
	if (!grow_array(&lines->list, &lines->capacity, lines->count + 1, sizeof(*lines->list)))
		program_fail("out of memory");
	lines->list[lines->count] = (struct line){ 0 };
	return &lines->list[lines->count++];
}

static int compare_times(const void *a, const void *b)
{
	const struct line *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns < right->ns ? 1 : -1;
	return (left > right) - (left < right);
}

/* ---- where the time went ---- */

static void print_head(FILE *out, const struct profile *profile, const struct read_parts *parts)
{
	fprintf(out, "oriel: %d rank%s, %.2f s, %" PRIu64 " calls", profile->size, profile->size == 1 ? "" : "s",
	        profile->seconds, profile->calls);
	if (profile->lost)
		fprintf(out, ", %" PRIu64 " of calls and waits lost: there are too many places", profile->lost);
	fputc('\n', out);
	for (int rank = 0, missing = 0; rank < parts->size && missing < MISSING_MAX; rank++) {
		uint32_t i = 0;

		while (i < parts->count && parts->list[i].part->header.rank != rank)
			i++;
		if (i == parts->count)
			fprintf(out, "%srank %d", missing++ ? ", " : "not recorded on this machine: ", rank);
		if (missing == MISSING_MAX || (missing && rank == parts->size - 1))
			fputs(missing == MISSING_MAX ? " and others\n" : "\n", out);
	}
}

static void print_dead(FILE *out, const struct read_parts *parts)
{
	uint32_t dead = 0;

	for (uint32_t i = 0; i < parts->count; i++) {
		const struct part_header *header = &parts->list[i].part->header;

		if (header->state == PART_RUNNING && dead++ < DEAD_LINES)
			fprintf(out, "rank %d %s: its calls until then are here\n", header->rank, read_death(parts, header->rank));
	}
	if (dead > DEAD_LINES)
		fprintf(out, "%u more ranks did not finalize\n", dead - DEAD_LINES);
}

static void print_share(FILE *out, const char *what, uint64_t ns, uint64_t of)
{
	fprintf(out, "%-20s %9.3f  %5.1f %%\n", what, seconds(ns), percent(ns, of));
}

/* Reading another clock takes longer, which the calls' times hold. */
static void print_clock(FILE *out, const struct read_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		if (parts->list[i].part->header.has_counter)
			continue;
		fputs("the processor's counter is not even: times are those of CLOCK_MONOTONIC, and calls cost more\n", out);
		return;
	}
}

static void print_machines(FILE *out, const struct read_parts *parts)
{
	if (parts->hosts > 1 && parts->unaligned)
		fprintf(out, "the clocks of %d of %d machines cannot be compared: their times differ as the clocks do\n",
		        parts->unaligned, parts->hosts);
	else if (parts->hosts > 1)
		fprintf(out, "times of %d machines agree within %.3f ms\n", parts->hosts,
		        parts->clock_error_ns / (double)NS_PER_MS);
}

static void print_shares(FILE *out, const struct profile *profile)
{
	uint64_t inside = profile->in_calls_ns, waits = profile->waits_ns < inside ? profile->waits_ns : inside;
	uint64_t ends = profile->at_ends_ns < inside - waits ? profile->at_ends_ns : inside - waits;

	fputs("all ranks                    s   of all\n", out);
	print_share(out, "outside of Oriel", profile->all_ns > inside ? profile->all_ns - inside : 0, profile->all_ns);
	print_share(out, "waiting", waits, profile->all_ns);
	print_share(out, "init and finalize", ends, profile->all_ns);
	print_share(out, "copying, library", inside - waits - ends, profile->all_ns);
}

/* ---- waits ---- */

/* Keeps the rank that most of the line's lateness began at. */
static void take_root(struct line *line, const struct profile_wait *wait)
{
	for (int i = 0; i < PART_ROOTS && wait->roots[i].ns; i++) {
		if (wait->roots[i].rank == line->root.rank)
			line->root.ns += wait->roots[i].ns;
		else if (wait->roots[i].ns > line->root.ns)
			line->root = wait->roots[i];
	}
}

static void collect_waits(struct lines *lines, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->wait_count; i++) {
		const struct profile_wait *wait = &profile->waits[i];
		struct line *line = NULL;

		for (uint32_t k = 0; k < lines->count && !line; k++) {
			if (lines->list[k].cause == wait->cause && lines->list[k].culprit == wait->culprit)
				line = &lines->list[k];
		}
		if (!line)
			line = add(lines);
		line->cause = wait->cause;
		line->culprit = wait->culprit;
		line->count += wait->count;
		line->ns += wait->ns;
		line->served += wait->served;
		if (wait->max_ns > line->max_ns)
			line->max_ns = wait->max_ns;
		take_root(line, wait);
	}
}

static const char *cause_text(enum wait_cause cause, char text[32])
{
	snprintf(text, 32, "%s", cause_names[cause]);
	for (char *c = text; *c; c++) {
		if (*c == '_')
			*c = ' ';
	}
	return text;
}

/* Prints for which causes ranks have waited longest in the other lines. */
static void print_other_waits(FILE *out, const struct lines *lines)
{
	uint64_t ns[WAIT_CAUSES] = { 0 };
	char text[32];

	fprintf(out, "... and %u more", lines->count - WAIT_LINES);
	for (uint32_t i = WAIT_LINES; i < lines->count; i++)
		ns[lines->list[i].cause] += lines->list[i].ns;
	for (int i = 0; i < OTHER_CAUSES; i++) {
		enum wait_cause most = 0;

		for (enum wait_cause cause = 0; cause < WAIT_CAUSES; cause++)
			most = ns[cause] > ns[most] ? cause : most;
		if (!ns[most])
			break;
		fprintf(out, "%s %.3f s %s", i ? "," : ":", seconds(ns[most]), cause_text(most, text));
		ns[most] = 0;
	}
	fputc('\n', out);
}

static void print_waits(FILE *out, const struct profile *profile)
{
	struct lines lines = { 0 };
	char text[32];

	collect_waits(&lines, profile);
	if (lines.count)
		qsort(lines.list, lines.count, sizeof(*lines.list), compare_times);
	fputs("\nwaits by cause               s    count   longest ms   for\n", out);
	for (uint32_t i = 0; i < lines.count && i < WAIT_LINES; i++) {
		const struct line *line = &lines.list[i];

		fprintf(out, "%-20s %9.3f %8" PRIu64 " %12.3f   ", cause_text(line->cause, text), seconds(line->ns),
		        line->count, (double)line->max_ns / (double)NS_PER_MS);
		if (line->culprit < 0)
			fputs("-", out);
		else
			fprintf(out, "rank %d", line->culprit);
		if (line->root.ns && line->root.rank != line->culprit)
			fprintf(out, "; begins at rank %d, %.0f %%", line->root.rank, percent(line->root.ns, line->ns));
		if (line->cause == WAIT_PROGRESS)
			fprintf(out, "; its service thread applied %.0f %%", percent(line->served, line->count));
		fputc('\n', out);
	}
	if (lines.count > WAIT_LINES)
		print_other_waits(out, &lines);
	free(lines.list);
}

/* ---- places ---- */

/* Returns whether one line is for both: a line of source may call at several addresses. */
static bool is_same_place(const struct profile_site *a, const struct profile_site *b)
{
	bool same_line = a->place.file[0] && a->place.line == b->place.line && strcmp(a->place.file, b->place.file) == 0 &&
	                 strcmp(a->place.function, b->place.function) == 0;

	return (same_line || a->offset == b->offset) && a->window == b->window && strcmp(a->object, b->object) == 0 &&
	       strcmp(a->call, b->call) == 0;
}

static void collect_sites(struct lines *lines, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->site_count; i++) {
		const struct profile_site *site = &profile->sites[i];
		struct line *line = NULL;

		for (uint32_t k = 0; k < lines->count && !line; k++) {
			if (is_same_place(lines->list[k].site, site))
				line = &lines->list[k];
		}
		if (!line)
			line = add(lines);
		line->site = site;
		line->count += site->count;
		line->bytes += site->bytes;
		line->ns += site->ns;
		line->waits_ns += site->waits_ns;
	}
}

const char *place_text(const struct profile_site *site, char text[PLACE_BYTES])
{
	const char *slash = strrchr(site->object, '/'), *name = slash ? slash + 1 : site->object;

	if (site->place.file[0])
		snprintf(text, PLACE_BYTES, "%.20s %.20s:%d", site->place.function, site->place.file, site->place.line);
	else if (site->place.function[0])
		snprintf(text, PLACE_BYTES, "%.20s+0x%" PRIx64, site->place.function, site->place.offset);
	else
		snprintf(text, PLACE_BYTES, "%.20s+0x%" PRIx64, name, site->offset);
	return text;
}

const struct profile_site *window_creation(const struct profile *profile, int window)
{
	for (uint32_t i = 0; i < profile->site_count; i++) {
		if (profile->sites[i].window == window && call_kind(profile->sites[i].call) == KIND_CREATE)
			return &profile->sites[i];
	}
	return NULL;
}

/* A window without a name is shown by the line that made it, if that is short enough. */
static void print_window(FILE *out, const struct profile *profile, int window)
{
	const struct profile_site *made = window < 0 ? NULL : window_creation(profile, window);
	char text[WINDOW_COLUMNS + 1], number[WINDOW_NUMBER_BYTES];

	if (window < 0) {
		fputs("  -", out);
		return;
	}
	window_number(profile->windows[window].number, number);
	if (profile->windows[window].name[0])
		fprintf(out, "  \"%.16s\"", profile->windows[window].name);
	else if (made && made->place.file[0] &&
	         snprintf(text, sizeof(text), "%s (%s:%d)", number, made->place.file, made->place.line) <= WINDOW_COLUMNS)
		fprintf(out, "  %s", text);
	else
		fprintf(out, "  %s (%s)", number, profile->windows[window].kind);
}

static void print_other_sites(FILE *out, const struct lines *lines)
{
	uint64_t ns = 0, waits_ns = 0;

	for (uint32_t i = SITE_LINES; i < lines->count; i++) {
		ns += lines->list[i].ns;
		waits_ns += lines->list[i].waits_ns;
	}
	fprintf(out, "... and %u more: %.3f s, waiting %.3f s\n", lines->count - SITE_LINES, seconds(ns),
	        seconds(waits_ns));
}

static void print_sites(FILE *out, const struct profile *profile)
{
	struct lines lines = { 0 };
	char place[PLACE_BYTES];

	collect_sites(&lines, profile);
	if (lines.count)
		qsort(lines.list, lines.count, sizeof(*lines.list), compare_times);
	fputs(
		"\ncalls                     from                                count         s   waiting  bytes each  window\n",
		out);
	for (uint32_t i = 0; i < lines.count && i < SITE_LINES; i++) {
		const struct line *line = &lines.list[i];

		fprintf(out, "%-25s %-31.31s %9" PRIu64 " %9.3f %9.3f %11" PRIu64, line->site->call,
		        place_text(line->site, place), line->count, seconds(line->ns), seconds(line->waits_ns),
		        line->count ? line->bytes / line->count : 0);
		print_window(out, profile, line->site->window);
		fputc('\n', out);
	}
	if (lines.count > SITE_LINES)
		print_other_sites(out, &lines);
	free(lines.list);
}

/* ---- advice ---- */

/* Returns how many characters of the text fit into a line. */
static int length_of_line(const char *text)
{
	int length = (int)strlen(text);

	if (length <= COLUMNS)
		return length;
	for (length = COLUMNS; length > 0 && text[length] != ' '; length--)
		;
	return length > 0 ? length : COLUMNS;
}

/* Prints a sentence, in lines, or without a file counts them. */
static int wrap(FILE *out, const char *text)
{
	int lines = 0;

	for (; *text; text += strspn(text, " ")) {
		int length = length_of_line(text);

		if (out)
			fprintf(out, "%s%.*s\n", lines ? "  " : "> ", length, text);
		text += length;
		lines++;
	}
	return lines;
}

static void print_advice(FILE *out, const struct advice_list *advice)
{
	uint32_t i = 0;
	int lines = 0;

	fputs("\nadvice\n", out);
	for (; i < advice->count && lines + wrap(NULL, advice->list[i].text) <= ADVICE_LINES; i++)
		lines += wrap(out, advice->list[i].text);
	if (advice->count == 0)
		fputs("nothing stands out\n", out);
	if (i < advice->count)
		fprintf(out, "... and %u more, in the JSON\n", advice->count - i);
}

void text_print(FILE *out, const struct profile *profile, const struct advice_list *advice,
                const struct read_parts *parts)
{
	print_head(out, profile, parts);
	print_dead(out, parts);
	print_clock(out, parts);
	print_machines(out, parts);
	print_shares(out, profile);
	print_waits(out, profile);
	print_sites(out, profile);
	print_advice(out, advice);
}
