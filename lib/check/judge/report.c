// SPDX-License-Identifier: BSD-2-Clause
/* See judge.h. Findings are in the order in which they were found. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "check/compiled/compiled.h"
#include "check/judge/misuse.h"
#include "see/json_text.h"

#define MOST_PRINTED 20

/* One of the two accesses of a finding. */
struct side {
	uint32_t site;
	int rank;
	uint16_t strand;
	bool is_local, is_own, is_operation;
	enum access_how how;
	uint32_t ended_by; /* the first call that ended it; TRACE_NONE: none has */
	bool ended_late;   /* after the other has begun */
};

struct finding {
	struct side first, second; /* in the order of time */
	char window[PLACE_TEXT_BYTES];
	uint64_t key;
	int owner;
	uint64_t base; /* of the owner's part; 0: address is one */
	uint64_t address;
	uint64_t bytes;
	uint64_t count;
	bool by_calls;
};

static struct finding *findings;
static uint32_t finding_count, finding_capacity;

static const struct judge_window *window_of(const struct access *a, const struct access *b)
{
	return a->window ? a->window : b->window ? b->window : a->shared;
}

static bool is_place(const struct side *side, const struct access *access)
{
	return side->is_local == access->is_local && place_is_same(replaying.traces, side->site, access->site);
}

static struct finding *find(const struct access *a, const struct access *b)
{
	for (uint32_t i = 0; i < finding_count; i++) {
		struct finding *finding = &findings[i];

		if (finding->key == window_of(a, b)->key && ((is_place(&finding->first, a) && is_place(&finding->second, b)) ||
		                                             (is_place(&finding->first, b) && is_place(&finding->second, a))))
			return finding;
	}
	return NULL;
}

static struct side side_of(const struct access *access, const struct access *other)
{
	struct side side = { .site = access->site,
		                 .rank = access->rank,
		                 .strand = access->strand,
		                 .is_local = access->is_local,
		                 .is_operation = access->window != NULL,
		                 .is_own = access->is_own,
		                 .how = access->how,
		                 .ended_by = TRACE_NONE };

	if (access->end_count) {
		side.ended_by = access->end.site;
		side.ended_late = access->end.ns > other->ns;
	}
	return side;
}

void finding_add(const struct access *earlier, const struct access *later, uint64_t address, uint64_t bytes,
                 bool by_calls)
{
	struct finding *finding = find(earlier, later);
	const struct access *first = earlier->ns <= later->ns ? earlier : later;
	const struct access *second = first == earlier ? later : earlier;

	if (finding) {
		finding->count++;
		finding->by_calls &= by_calls;
		return;
	}
	if (!grow_array(&findings, &finding_capacity, finding_count + 1, sizeof(*findings)))
		program_fail("out of memory");
	finding = &findings[finding_count++];
	*finding = (struct finding){ .first = side_of(first, second),
		                         .second = side_of(second, first),
		                         .key = window_of(earlier, later)->key,
		                         .owner = earlier->owner,
		                         .base = first->is_local || first->is_own ? second->base : first->base,
		                         .address = address,
		                         .bytes = bytes,
		                         .count = 1,
		                         .by_calls = by_calls };
	window_text(window_of(earlier, later), finding->window);
}

void findings_drop_members(void)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < finding_count; i++) {
		if (!findings[i].by_calls)
			findings[kept++] = findings[i];
	}
	finding_count = kept;
}

/* ---- texts ---- */

static const char *deed_of(const struct side *side)
{
	static const char *const own[] = { [HOW_LOAD] = "loads", [HOW_STORE] = "stores" };
	static const char *const deeds[] = {
		[HOW_LOAD] = "reads its buffer",
		[HOW_STORE] = "writes its buffer",
		[HOW_GET] = "reads",
		[HOW_PUT] = "writes",
		[HOW_ACCUMULATE] = "updates",
		[HOW_READ_ATOMICALLY] = "reads atomically",
	};

	return side->is_own ? own[side->how] : deeds[side->how];
}

/* ---- one finding ---- */

static void print_where(FILE *out, const struct finding *finding)
{
	if (finding->base && finding->address >= finding->base)
		fprintf(out, "%" PRIu64 " byte%s at byte %" PRIu64 " of rank %d's part of %s", finding->bytes,
		        finding->bytes == 1 ? "" : "s", finding->address - finding->base, finding->owner, finding->window);
	else
		fprintf(out, "%" PRIu64 " byte%s at address 0x%" PRIx64 " of rank %d, by %s", finding->bytes,
		        finding->bytes == 1 ? "" : "s", finding->address, finding->owner, finding->window);
}

static void print_strand(FILE *out, const struct side *side)
{
	fprintf(out, "rank %d", side->rank);
	if (side->strand)
		fprintf(out, " (thread %u)", side->strand);
}

static void print_side(FILE *out, const struct job_traces *traces, const struct side *side)
{
	char place[PLACE_TEXT_BYTES];

	fputs("  ", out);
	print_strand(out, side);
	fprintf(out, " %s: %s at %s", deed_of(side), place_call(traces, side->site), place_text(traces, side->site, place));
	place_print_function(out, traces, side->site);
	fputc('\n', out);
}

/* Returns what ends an access, apart from what the calls say. */
static const char *remedy_of(const struct side *side)
{
	if (!side->is_operation)
		return "MPI_Wait or MPI_Test";
	return side->is_local ? "flush_local, flush, unlock or fence" : "flush, unlock or fence";
}

/* Prints the call that is missing between the two. */
static void print_missing(FILE *out, const struct job_traces *traces, const struct finding *finding)
{
	const struct side *first = &finding->first, *second = &finding->second;
	char place[PLACE_TEXT_BYTES], end[PLACE_TEXT_BYTES];

	if (first->is_own) {
		fputs("  the first is over, but nothing that ", out);
		print_strand(out, second);
		fprintf(out, " waits for before %s says so\n", place_text(traces, second->site, place));
		return;
	}
	if (first->ended_by == TRACE_NONE || first->ended_late) {
		fprintf(out, "  the first is not complete when the second begins: %s is missing behind %s", remedy_of(first),
		        place_text(traces, first->site, place));
		if (first->ended_late)
			fprintf(out, ", before %s at %s", place_call(traces, first->ended_by),
			        place_text(traces, first->ended_by, end));
		fputc('\n', out);
		return;
	}
	fprintf(out, "  the first is complete at %s (%s), but nothing that ", place_text(traces, first->ended_by, end),
	        place_call(traces, first->ended_by));
	print_strand(out, second);
	fprintf(out, " waits for before %s says so\n", place_text(traces, second->site, place));
}

static void print_finding(FILE *out, const struct job_traces *traces, const struct finding *finding)
{
	fprintf(out, "oriel-check: race in ");
	print_where(out, finding);
	fputc('\n', out);
	print_side(out, traces, &finding->first);
	print_side(out, traces, &finding->second);
	print_missing(out, traces, finding);
	if (finding->count > 1)
		fprintf(out, "  found %" PRIu64 " times\n", finding->count);
}

/* ---- all ---- */

static void print_count(FILE *out, uint32_t count, const char *word)
{
	if (count)
		fprintf(out, ", %u %s%s", count, word, count == 1 ? "" : "s");
}

/* Prints why threads of a rank count as ordered. */
static void print_merged(FILE *out, const struct job_traces *traces)
{
	for (int rank = 0; rank < traces->size; rank++) {
		if (!traces->list[rank].trace->merged[0])
			continue;
		fprintf(out, "oriel-check: threads of a rank count as ordered by time: what %s orders is not known\n",
		        traces->list[rank].trace->merged);
		return;
	}
}

/* Prints whether loads and stores were recorded. */
static void print_loads(FILE *out, const struct job_traces *traces)
{
	uint64_t unwatched_bytes = 0, lost = 0;
	uint32_t objects = 0;

	for (int rank = 0; rank < traces->size; rank++) {
		const struct trace *trace = traces->list[rank].trace;

		objects = trace->compiled_objects > objects ? trace->compiled_objects : objects;
		unwatched_bytes += trace->unwatched_bytes;
		lost += trace->lost_loads;
	}
	if (objects == OBJECTS_PAGES) {
		fputs("oriel-check: loads and stores were checked, the first of each page between two calls\n", out);
		if (unwatched_bytes)
			fprintf(out,
			        "oriel-check: those of %" PRIu64 " bytes of windows were not, which were not allocated by Oriel\n",
			        unwatched_bytes);
		return;
	}
	if (objects == 0) {
		fputs("oriel-check: loads and stores were not checked: compile and link with -fsanitize=thread\n", out);
		return;
	}
	fprintf(out, "oriel-check: loads and stores were checked in %u object file%s\n", objects, objects == 1 ? "" : "s");
	print_merged(out, traces);
	if (unwatched_bytes)
		fprintf(out,
		        "oriel-check: those of %" PRIu64
		        " bytes of windows were not: ORIEL_CHECK_MEMORY gives more mebibytes\n",
		        unwatched_bytes);
	if (lost)
		fprintf(out, "oriel-check: %" PRIu64 " groups of them, or buffers, found no room\n", lost);
}

/* Prints why loads and stores of two ranks count as ordered. */
static void print_signals(FILE *out, const struct job_traces *traces, const struct verdict *verdict)
{
	char place[PLACE_TEXT_BYTES];
	uint32_t objects = 0;

	for (int rank = 0; rank < traces->size; rank++)
		objects |= traces->list[rank].trace->compiled_objects;
	if (!verdict->signals || objects == 0 || objects == OBJECTS_PAGES)
		return;
	fprintf(out, "oriel-check: loads and stores of two ranks count as ordered: %s may order them", verdict->signals);
	if (verdict->signals_at != TRACE_NONE)
		fprintf(out, ", at %s", place_text(traces, verdict->signals_at, place));
	fputc('\n', out);
}

static void print_verdict(FILE *out, const struct job_traces *traces, const struct verdict *verdict)
{
	char place[PLACE_TEXT_BYTES];

	fprintf(out, "oriel-check: %u race%s in %" PRIu64 " operation%s", finding_count, finding_count == 1 ? "" : "s",
	        verdict->operations, verdict->operations == 1 ? "" : "s");
	if (verdict->not_judged)
		fprintf(out, "; %" PRIu64 " more have too many pieces to be judged", verdict->not_judged);
	print_count(out, misuse_count("misuse"), "misuse");
	print_count(out, misuse_count("leak"), "leak");
	print_count(out, misuse_count("hint"), "hint");
	fputc('\n', out);
	print_loads(out, traces);
	print_signals(out, traces, verdict);
	if (traces->is_running)
		fputs("oriel-check: the job is ended by a rank: what followed is not judged\n", out);
	if (traces->is_cut)
		fputs("oriel-check: what followed is not judged: a trace is full; ORIEL_CHECK_MEMORY gives it more mebibytes\n",
		      out);
	if (verdict->is_full)
		fputs("oriel-check: what followed is not judged: too many accesses are not ordered behind each other\n", out);
	if (verdict->is_ended)
		fprintf(out, "oriel-check: what followed is not judged: what %s at %s orders is not known\n",
		        place_call(traces, verdict->unknown), place_text(traces, verdict->unknown, place));
}

uint32_t findings_print(FILE *out, struct job_traces *traces, const struct verdict *verdict)
{
	for (uint32_t i = 0; i < finding_count && i < MOST_PRINTED; i++)
		print_finding(out, traces, &findings[i]);
	if (finding_count > MOST_PRINTED)
		fprintf(out, "oriel-check: %u more races\n", finding_count - MOST_PRINTED);
	misuses_print(out, traces);
	print_verdict(out, traces, verdict);
	return finding_count;
}

static void print_json_side(FILE *out, const struct job_traces *traces, const char *key, const struct side *side)
{
	fprintf(out, "\"%s\": {", key);
	place_print_json(out, traces, side->site);
	fprintf(out, ", \"rank\": %d, \"thread\": %u, \"buffer\": %s}", side->rank, side->strand,
	        side->is_local ? "true" : "false");
}

void findings_print_json(FILE *out, struct job_traces *traces)
{
	for (uint32_t i = 0; i < finding_count; i++) {
		const struct finding *finding = &findings[i];
		bool in_part = finding->base && finding->address >= finding->base;

		fputs("{\"kind\": \"race\", ", out);
		json_write_text(out, "window", finding->window);
		fprintf(out, "\"owner\": %d, ", finding->owner);
		if (in_part)
			fprintf(out, "\"offset\": %" PRIu64 ", ", finding->address - finding->base);
		else
			fprintf(out, "\"address\": %" PRIu64 ", ", finding->address);
		fprintf(out, "\"bytes\": %" PRIu64 ", \"count\": %" PRIu64 ", ", finding->bytes, finding->count);
		print_json_side(out, traces, "first", &finding->first);
		fputs(", ", out);
		print_json_side(out, traces, "second", &finding->second);
		fputs("}\n", out);
	}
	misuses_print_json(out, traces);
}
