// SPDX-License-Identifier: BSD-2-Clause
/* See misuse.h. */
#include "check/judge/misuse.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "see/json_text.h"

#define MOST_PRINTED 20

struct finding {
	enum misuse kind;
	const struct judge_window *window;
	struct misuse_call first, second;
	uint64_t count;
	char detail[160]; /* a line of the report; "": none */
};

static const struct {
	const char *name;   /* in JSON */
	const char *what;   /* behind "misuse of window 1: " */
	const char *remedy; /* NULL: `what` says it */
} kinds[] = {
	[MISUSE_REQUEST] = { "request_in_active_epoch", "a request-based operation in an epoch of fence or start",
	                     "its epoch must be one of lock or lock_all" },
	[MISUSE_NOPRECEDE] = { "false_noprecede", "NOPRECEDE is false: the fence has operations to complete",
	                       "take the assertion away" },
	[MISUSE_NOT_ALL] = { "assertions_differ", "NOPRECEDE or NOSUCCEED is given by some ranks only",
	                     "all members give it, or none" },
	[MISUSE_NOPUT_FENCE] = { "false_noput", "NOPUT is false: an operation changes the memory before the next fence",
	                         "take the assertion away" },
	[MISUSE_NOPUT_POST] = { "false_noput", "NOPUT is false: an operation changes the memory before the wait",
	                        "take the assertion away" },
	[MISUSE_START] = { "false_nocheck", "NOCHECK is false: start is called before the post",
	                   "something must order the post before the start" },
	[MISUSE_LOCK] = { "false_nocheck", "NOCHECK is false: two locks that exclude each other are held at once",
	                  "take the assertion away" },
	[MISUSE_NO_MEMORY] = { "no_memory", "the window has a size, and its address is NULL", NULL },
	[MISUSE_HELD_LOCK] = { "lock_at_end", "a lock is held at the end of the job", "unlock is missing" },
	[MISUSE_OPEN_START] = { "epoch_at_end", "an epoch is open at the end of the job", "complete is missing" },
	[MISUSE_OPEN_POST] = { "epoch_at_end", "an epoch is open at the end of the job", "wait is missing" },
	[MISUSE_OPEN_REQUEST] = { "request_at_end", "a request is not complete at the end of the job",
	                          "wait or test is missing" },
	[MISUSE_IN_EPOCH] = { "illegal_call",
	                      "the call is refused: it is not legal in the epoch that the other call has begun", NULL },
	[MISUSE_BEHIND_EPOCH] = { "illegal_call", "the call is refused: no epoch for it is open since the other call",
	                          NULL },
	[MISUSE_NO_EPOCH] = { "illegal_call", "the call is refused: no epoch for it was begun", NULL },
	[MISUSE_RANGE] = { "out_of_range", "the call is refused: it names bytes outside of the target's part", NULL },
	[MISUSE_ARGUMENT] = { "wrong_argument", "the call is refused: an argument is wrong", NULL },
	[MISUSE_TYPES] = { "types_differ", "the call is refused: an accumulate wants one predefined datatype on all sides",
	                   NULL },
	[MISUSE_COLLECTIVE] = { "collective_calls_differ", "two members of a communicator make different collective calls",
	                        "all members make the same ones in the same order" },
	[MISUSE_ROOT] = { "roots_differ", "two members of a communicator name different roots in a collective call",
	                  "all members name the same one" },
	[MISUSE_ABSENT] = { "collective_call_missing", "a collective call was not made by all members of its communicator",
	                    "where there is another call, it is the last of a rank that has not made this one" },
	[MISUSE_WINDOW_FREED] = { "window_memory_freed", "the memory is freed while the window exists",
	                          "the window is freed first" },
	[MISUSE_BUFFER_FREED] = { "buffer_freed", "the buffer of an operation is freed before it is complete",
	                          "flush_local, flush, unlock, complete or fence is missing between the two" },
	[MISUSE_THREAD] = { "thread_level_too_low", "a thread calls, and the level of threads allows another one only",
	                    "MPI_Init_thread asks for MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE" },
	[MISUSE_AT_ONCE] = { "calls_at_once", "two threads call at one time, and the level of threads does not allow it",
	                     "MPI_Init_thread asks for MPI_THREAD_MULTIPLE, or a lock keeps the calls apart" },
	[HINT_ALIGNMENT] = { "accumulate_not_aligned",
	                     "elements of an accumulate are not aligned: MPI does not promise that it is atomic",
	                     "the address of an element is a multiple of its size" },
	[LEAK_WINDOW] = { "window_not_freed", "the window is not freed", NULL },
};

static_assert(sizeof(kinds) / sizeof(kinds[0]) == MISUSES, "each kind has its texts");

static struct finding *findings;
static uint32_t finding_count, finding_capacity;

void misuse_add(enum misuse kind, const struct judge_window *window, struct misuse_call first,
                struct misuse_call second)
{
	misuse_add_with(kind, window, first, second, "");
}

void misuse_add_with(enum misuse kind, const struct judge_window *window, struct misuse_call first,
                     struct misuse_call second, const char *detail)
{
	struct finding *finding;

	for (uint32_t i = 0; i < finding_count; i++) {
		finding = &findings[i];
		if (finding->kind == kind && finding->first.site == first.site && finding->second.site == second.site) {
			finding->count++;
			return;
		}
	}
	finding = program_append(&findings, &finding_count, &finding_capacity, sizeof(*finding));
	*finding = (struct finding){ kind, window, first, second, 1, "" };
	snprintf(finding->detail, sizeof(finding->detail), "%s", detail);
}

static const char *word_of(const struct finding *finding)
{
	if (finding->kind == LEAK_WINDOW)
		return "leak";
	return finding->kind == HINT_ALIGNMENT ? "hint" : "misuse";
}

uint32_t misuse_count(const char *word)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < finding_count; i++)
		count += strcmp(word_of(&findings[i]), word) == 0;
	return count;
}

/* ---- texts ---- */

static const char *prefix_of(const struct finding *finding)
{
	if (!finding->window)
		return "";
	return finding->kind == HINT_ALIGNMENT ? " for " : " of ";
}

static const char *window_of(const struct finding *finding, char text[PLACE_TEXT_BYTES])
{
	text[0] = '\0';
	return finding->window ? window_text(finding->window, text) : text;
}

static void print_call(FILE *out, const struct job_traces *traces, const struct misuse_call *call)
{
	char place[PLACE_TEXT_BYTES];

	if (call->rank < 0)
		return;
	fprintf(out, "  rank %d: %s at %s", call->rank, place_call(traces, call->site),
	        place_text(traces, call->site, place));
	place_print_function(out, traces, call->site);
	fputc('\n', out);
}

static void print_finding(FILE *out, const struct job_traces *traces, const struct finding *finding)
{
	char window[PLACE_TEXT_BYTES];

	fprintf(out, "oriel-check: %s%s%s: %s\n", word_of(finding), prefix_of(finding), window_of(finding, window),
	        kinds[finding->kind].what);
	print_call(out, traces, &finding->first);
	print_call(out, traces, &finding->second);
	if (finding->detail[0])
		fprintf(out, "  %s\n", finding->detail);
	if (kinds[finding->kind].remedy)
		fprintf(out, "  %s\n", kinds[finding->kind].remedy);
	if (finding->count > 1)
		fprintf(out, "  found %" PRIu64 " times\n", finding->count);
}

void misuses_print(FILE *out, const struct job_traces *traces)
{
	for (uint32_t i = 0; i < finding_count && i < MOST_PRINTED; i++)
		print_finding(out, traces, &findings[i]);
	if (finding_count > MOST_PRINTED)
		fprintf(out, "oriel-check: %u more misuses and leaks\n", finding_count - MOST_PRINTED);
}

static void print_json_call(FILE *out, const struct job_traces *traces, const char *key, const struct misuse_call *call)
{
	if (call->rank < 0)
		return;
	fprintf(out, ", \"%s\": {", key);
	place_print_json(out, traces, call->site);
	fprintf(out, ", \"rank\": %d}", call->rank);
}

void misuses_print_json(FILE *out, const struct job_traces *traces)
{
	for (uint32_t i = 0; i < finding_count; i++) {
		const struct finding *finding = &findings[i];
		char window[PLACE_TEXT_BYTES];

		fprintf(out, "{\"kind\": \"%s\", ", word_of(finding));
		if (finding->window)
			json_write_text(out, "window", window_text(finding->window, window));
		json_write_text(out, "name", kinds[finding->kind].name);
		json_write_text(out, "text", kinds[finding->kind].what);
		json_write_text(out, "detail", finding->detail);
		fprintf(out, "\"count\": %" PRIu64, finding->count);
		print_json_call(out, traces, "first", &finding->first);
		print_json_call(out, traces, "second", &finding->second);
		fputs("}\n", out);
	}
}
