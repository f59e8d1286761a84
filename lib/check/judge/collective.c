// SPDX-License-Identifier: BSD-2-Clause
/*
 * collective.c - collective calls of a communicator that do not go together; see misuse.h
 *
 * The members make its collective calls in one order, so the call of a number must be the same on
 * all. At the end of a job each call has been made by all members, or it never will be.
 */
#include <stdlib.h>
#include <string.h>

#include "check/judge/misuse.h"

#define PLACES 4096 /* of the tables */

/* A call that some members have not made yet. */
struct meeting {
	uint64_t object, number;
	uint64_t root; /* + 1; 0: the call has none */
	uint64_t members, made;
	struct misuse_call first;
	struct meeting *next;
};

/* The latest call of a rank on an object. */
struct latest {
	uint64_t object, number;
	struct misuse_call call;
	struct latest *next;
};

static struct meeting *meetings[PLACES];
static struct latest *latests[PLACES];

static struct meeting **place_of(const struct trace_event *event)
{
	struct meeting **place = &meetings[(event->object ^ event->object >> 32 ^ event->id * 0x9e3779b1) % PLACES];

	while (*place && ((*place)->object != event->object || (*place)->number != event->id))
		place = &(*place)->next;
	return place;
}

static struct latest **latest_place(uint64_t object, int rank)
{
	struct latest **place = &latests[(object ^ object >> 32 ^ (uint64_t)rank * 0x9e3779b1) % PLACES];

	while (*place && ((*place)->object != object || (*place)->call.rank != rank))
		place = &(*place)->next;
	return place;
}

static void *new_entry(size_t bytes)
{
	void *entry = calloc(1, bytes);

	if (!entry)
		program_fail("out of memory");
	return entry;
}

static void note_latest(const struct trace_event *event, struct misuse_call call)
{
	struct latest **place = latest_place(event->object, call.rank);

	if (!*place) {
		*place = new_entry(sizeof(**place));
		(*place)->object = event->object;
	}
	(*place)->number = event->id;
	(*place)->call = call;
}

/* Takes the end away from the text, if it has it. */
static bool cut(char *text, const char *end)
{
	size_t length = strlen(text), of_end = strlen(end);
	bool has_end = length > of_end && strcmp(text + length - of_end, end) == 0;

	if (has_end)
		text[length - of_end] = '\0';
	return has_end;
}

/* Writes the name of the call, without what each member may choose: large counts, vectors. */
static void write_kind(char kind[36], uint32_t site)
{
	bool is_init;

	snprintf(kind, 36, "%s", place_call(replaying.traces, site));
	cut(kind, "_c");
	is_init = cut(kind, "_init");
	if (!cut(kind, "v"))
		cut(kind, "w");
	if (is_init)
		strcat(kind, "_init");
	if (strcmp(kind, "MPI_Comm_dup_with_info") == 0)
		snprintf(kind, 36, "MPI_Comm_dup");
}

static bool is_same_call(uint32_t a, uint32_t b)
{
	char kind_of_a[36], kind_of_b[36];

	if (a == b || a == TRACE_NONE || b == TRACE_NONE)
		return true;
	write_kind(kind_of_a, a);
	write_kind(kind_of_b, b);
	return strcmp(kind_of_a, kind_of_b) == 0;
}

static void join_meeting(struct meeting *meeting, const struct trace_event *event, struct misuse_call call)
{
	bool is_same = is_same_call(meeting->first.site, call.site);

	meeting->made++;
	if (is_same && meeting->root == event->unit_bytes)
		return;
	misuse_add(is_same ? MISUSE_ROOT : MISUSE_COLLECTIVE, NULL, meeting->first, call);
	replaying.verdict->is_ended = true; /* what the calls order is not known */
	replaying.verdict->unknown = call.site;
}

void rules_of_collective(const struct trace_event *event, int rank)
{
	struct meeting **place = place_of(event), *meeting = *place;
	struct misuse_call call = { rank, event->site };

	if (event->id == 0)
		return;
	note_latest(event, call);
	if (meeting) {
		join_meeting(meeting, event, call);
	} else {
		meeting = *place = new_entry(sizeof(*meeting));
		*meeting = (struct meeting){ event->object, event->id, event->unit_bytes, event->size_bytes, 1, call, NULL };
	}
	if (meeting->made < meeting->members)
		return;
	*place = meeting->next;
	free(meeting);
}

/* Returns the latest call of a member that has not made this one, if there was one. */
static struct misuse_call absent_call(const struct meeting *meeting)
{
	for (int i = 0; i < PLACES; i++) {
		for (const struct latest *latest = latests[i]; latest; latest = latest->next) {
			if (latest->object == meeting->object && latest->number < meeting->number)
				return latest->call;
		}
	}
	return (struct misuse_call){ -1, TRACE_NONE };
}

void rules_of_absent_members(void)
{
	for (int rank = 0; rank < replaying.traces->size; rank++) {
		if (replaying.traces->list[rank].trace->state != PART_ENDED)
			return;
	}
	for (int i = 0; i < PLACES; i++) {
		for (const struct meeting *meeting = meetings[i]; meeting; meeting = meeting->next)
			misuse_add(MISUSE_ABSENT, NULL, meeting->first, absent_call(meeting));
	}
}
