// SPDX-License-Identifier: BSD-2-Clause
/* deadlock.c - reports a deadlock of a job that runs; see judge.h and check/deadlock.h */
#include "check/deadlock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/judge/judge.h"
#include "see/board.h"
#include "see/json_text.h"

#define MOST_PRINTED 20
#define MOST_NAMED 8
#define SEARCHES 3

/* A wait of a stuck rank. */
struct stuck_wait {
	int rank;
	struct trace_wait wait;
	uint32_t site; /* in job_traces */
	bool is_core;
};

struct stuck_list {
	struct stuck_wait *list;
	uint32_t count, capacity;
};

static bool is_in_core(const struct deadlock_job *job, int rank)
{
	for (int i = 0; i < job->core_count; i++) {
		if (job->core[i] == rank)
			return true;
	}
	return false;
}

static void add_rank(struct stuck_list *list, struct job_traces *traces, const struct deadlock_job *job, int rank)
{
	const struct trace *trace = job->ranks[rank].trace;

	for (int i = 0; i < WAITS_SLOTS; i++) {
		struct stuck_wait *added;
		struct trace_wait wait;

		if (!waits_read_slot(&trace->waits, i, &wait) || wait.kind >= AWAIT_KINDS)
			continue;
		if (wait.flags & AWAIT_PART && !deadlock_keeps(job, rank, &wait))
			continue;
		added = program_append(&list->list, &list->count, &list->capacity, sizeof(*added));
		*added = (struct stuck_wait){ rank, wait, traces_site(traces, trace, wait.site), is_in_core(job, rank) };
	}
}

/* The ranks of the circle come first. */
static void make_list(struct stuck_list *list, struct job_traces *traces, const struct deadlock_job *job)
{
	for (int i = 0; i < job->core_count; i++)
		add_rank(list, traces, job, job->core[i]);
	for (int rank = 0; rank < job->size; rank++) {
		if (job->ranks[rank].is_stuck && !job->ranks[rank].is_ended && !is_in_core(job, rank))
			add_rank(list, traces, job, rank);
	}
}

/* ---- texts ---- */

static bool is_awaited(const struct deadlock_job *job, const struct stuck_wait *stuck, int other)
{
	return job->ranks[other].trace && job->ranks[other].is_stuck &&
	       deadlock_needs(job, stuck->rank, &stuck->wait, other);
}

static int count_awaited(const struct deadlock_job *job, const struct stuck_wait *stuck)
{
	int count = 0;

	for (int other = 0; other < job->size; other++)
		count += is_awaited(job, stuck, other);
	return count;
}

static void print_awaited(FILE *out, const struct deadlock_job *job, const struct stuck_wait *stuck)
{
	int count = count_awaited(job, stuck), printed = 0;

	fputs(count == 1 ? "rank " : deadlock_is_any(&stuck->wait) ? "any of ranks " : "ranks ", out);
	for (int other = 0; other < job->size; other++) {
		if (!is_awaited(job, stuck, other))
			continue;
		if (printed == MOST_NAMED) {
			fprintf(out, " and %d more", count - printed);
			return;
		}
		fprintf(out, "%s%d%s",
		        printed == 0           ? ""
		        : printed == count - 1 ? " and "
		                               : ", ",
		        other, job->ranks[other].is_ended ? " (which has ended)" : "");
		printed++;
	}
}

/* Returns the call that would end the wait, behind "MPI_" or "oriel_". */
static const char *remedy_of(const struct stuck_wait *stuck, bool is_mpi)
{
	static const char *const calls[AWAIT_KINDS][2] = {
		[AWAIT_POST] = { "oriel_win_post", "MPI_Win_post" },
		[AWAIT_COMPLETE] = { "oriel_win_complete", "MPI_Win_complete" },
		[AWAIT_FENCE] = { "oriel_win_fence", "MPI_Win_fence" },
		[AWAIT_UNLOCK] = { "oriel_win_unlock", "MPI_Win_unlock" },
		[AWAIT_MESSAGE] = { "MPI_Send", "MPI_Send" },
		[AWAIT_RECEIVER] = { "MPI_Recv", "MPI_Recv" },
		[AWAIT_COLLECTIVE] = { "MPI_Ibarrier", "MPI_Ibarrier" }, /* of requests */
		[AWAIT_SIGNAL] = { "oriel_signal", "oriel_signal" },
	};

	return calls[stuck->wait.kind][is_mpi];
}

static bool is_mpi(const char *call)
{
	return strncmp(call, "MPI_", 4) == 0;
}

static const char *awaited_call(const struct job_traces *traces, const struct stuck_wait *stuck)
{
	const char *own = place_call(traces, stuck->site);

	if (stuck->wait.kind == AWAIT_COLLECTIVE && strncmp(own, "MPI_Wait", 8) != 0)
		return own;
	return remedy_of(stuck, is_mpi(own));
}

/* Writes the window's name in quotes, or "". */
static void window_name(const struct deadlock_job *job, const struct stuck_wait *stuck, char text[PLACE_TEXT_BYTES])
{
	const struct trace_waits *waits = &job->ranks[stuck->rank].trace->waits;

	text[0] = '\0';
	for (uint32_t i = 0; i < waits->name_count && i < WAITS_NAMES; i++) {
		char name[WAITS_NAME_BYTES];

		memcpy(name, waits->names[i].name, sizeof(name));
		board_make_printable(name, sizeof(name));
		if (waits->names[i].key == stuck->wait.object && name[0])
			snprintf(text, PLACE_TEXT_BYTES, "%s", name);
	}
}

static void print_object(FILE *out, const struct deadlock_job *job, const struct stuck_wait *stuck)
{
	char name[PLACE_TEXT_BYTES];

	window_name(job, stuck, name);
	if (name[0])
		fprintf(out, " on window \"%s\"", name);
	if (stuck->wait.kind == AWAIT_UNLOCK)
		fprintf(out, "%s for the lock of rank %d", name[0] ? "," : "", stuck->wait.rank);
	if (stuck->wait.kind == AWAIT_SIGNAL && stuck->wait.count == 1)
		fprintf(out, "%s for signal %" PRIu64, name[0] ? "," : "", stuck->wait.number);
}

static void print_wait(FILE *out, const struct job_traces *traces, const struct deadlock_job *job,
                       const struct stuck_wait *stuck)
{
	char place[PLACE_TEXT_BYTES];

	fprintf(out, "  rank %d waits: %s at %s", stuck->rank, place_call(traces, stuck->site),
	        place_text(traces, stuck->site, place));
	place_print_function(out, traces, stuck->site);
	print_object(out, job, stuck);
	fprintf(out, ", until %s is called by ", awaited_call(traces, stuck));
	print_awaited(out, job, stuck);
	fputc('\n', out);
}

static uint32_t count_ranks(const struct stuck_list *list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++)
		count += i == 0 || list->list[i].rank != list->list[i - 1].rank;
	return count;
}

static void print_text(FILE *out, const struct job_traces *traces, const struct deadlock_job *job,
                       const struct stuck_list *list)
{
	uint32_t ranks = count_ranks(list);

	fprintf(out, "oriel-check: deadlock: %u rank%s can never go on\n", ranks, ranks == 1 ? "" : "s");
	for (uint32_t i = 0; i < list->count && i < MOST_PRINTED; i++)
		print_wait(out, traces, job, &list->list[i]);
	if (list->count > MOST_PRINTED)
		fprintf(out, "  %u more wait\n", list->count - MOST_PRINTED);
}

/* ---- for tools ---- */

static void print_json(FILE *out, const struct job_traces *traces, const struct deadlock_job *job,
                       const struct stuck_list *list)
{
	char name[PLACE_TEXT_BYTES];

	fputs("{\"kind\": \"deadlock\", \"waits\": [", out);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct stuck_wait *stuck = &list->list[i];
		const char *comma = "";

		window_name(job, stuck, name);
		fprintf(out, "%s{", i ? ", " : "");
		json_write_text(out, "window", name);
		json_write_text(out, "until", awaited_call(traces, stuck));
		place_print_json(out, traces, stuck->site);
		fprintf(out, ", \"rank\": %d, \"in_circle\": %s, \"any\": %s, \"awaited\": [", stuck->rank,
		        stuck->is_core ? "true" : "false", deadlock_is_any(&stuck->wait) ? "true" : "false");
		for (int other = 0; other < job->size; other++) {
			if (!is_awaited(job, stuck, other))
				continue;
			fprintf(out, "%s%d", comma, other);
			comma = ", ";
		}
		fputs("]}", out);
	}
	fputs("]}\n", out);
}

static void print_dot(FILE *out, const struct job_traces *traces, const struct deadlock_job *job,
                      const struct stuck_list *list)
{
	char place[PLACE_TEXT_BYTES];

	fputs("digraph deadlock {\n\tnode [shape=box];\n", out);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct stuck_wait *stuck = &list->list[i];

		fprintf(out, "\t%d [label=\"rank %d\\n%s\\n%s\"];\n", stuck->rank, stuck->rank, place_call(traces, stuck->site),
		        place_text(traces, stuck->site, place));
		for (int other = 0; other < job->size; other++) {
			if (is_awaited(job, stuck, other))
				fprintf(out, "\t%d -> %d [label=\"%s\"];\n", stuck->rank, other, awaited_call(traces, stuck));
		}
	}
	fputs("}\n", out);
}

typedef void print_function(FILE *out, const struct job_traces *traces, const struct deadlock_job *job,
                            const struct stuck_list *list);

static void print_to(const char *variable, print_function *print, const struct job_traces *traces,
                     const struct deadlock_job *job, const struct stuck_list *list)
{
	FILE *file = open_report(variable);

	if (!file)
		return;
	print(file, traces, job, list);
	fclose(file);
}

/* ---- all ---- */

/* A search fails if a rank that is not stuck has done something meanwhile. */
static bool search(struct deadlock_job *job, int rank)
{
	for (int i = 0; i < SEARCHES; i++) {
		if (deadlock_search(job, rank))
			return true;
	}
	return false;
}

void deadlock_report(const char *name, int rank)
{
	struct job_traces traces = { 0 };
	struct deadlock_job job;
	struct stuck_list list = { 0 };
	char host[PART_HOST_BYTES] = "";

	if (gethostname(host, sizeof(host) - 1))
		host[0] = '\0';
	if (!deadlock_open(&job, name, host))
		program_fail("there is no trace of job %s", name);
	if (!search(&job, rank))
		return;
	make_list(&list, &traces, &job);
	print_text(stderr, &traces, &job, &list);
	print_to("ORIEL_CHECK_REPORT", print_json, &traces, &job, &list);
	print_to("ORIEL_CHECK_DOT", print_dot, &traces, &job, &list);
}
