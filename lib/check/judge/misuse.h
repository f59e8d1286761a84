/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * misuse.h - what a program does wrong, apart from races
 *
 * DESIGN NOTES
 *
 * A rule needs events that show the misuse for certain, in an order that no right program has:
 * calls are recorded before they are made, or after they have returned (trace.h).
 */
#ifndef ORIEL_JUDGE_MISUSE_H
#define ORIEL_JUDGE_MISUSE_H

#include "check/judge/view.h"

enum misuse {
	MISUSE_REQUEST,     /* a request-based operation in an epoch of fence or start */
	MISUSE_NOPRECEDE,   /* there are operations before the fence */
	MISUSE_NOT_ALL,     /* some members give NOPRECEDE or NOSUCCEED */
	MISUSE_NOPUT_FENCE, /* an operation of the fence's epoch changes the memory */
	MISUSE_NOPUT_POST,  /* an operation of the post's epoch does */
	MISUSE_START,       /* start has NOCHECK, and comes before the post */
	MISUSE_LOCK,        /* a lock with NOCHECK, and one that excludes it */
	MISUSE_NO_MEMORY,   /* a window has a size, and no address */
	MISUSE_HELD_LOCK,   /* at the end */
	MISUSE_OPEN_START,
	MISUSE_OPEN_POST,
	MISUSE_OPEN_REQUEST,
	MISUSE_IN_EPOCH, /* a call is refused: an epoch is open */
	MISUSE_BEHIND_EPOCH,
	MISUSE_NO_EPOCH,
	MISUSE_RANGE,
	MISUSE_ARGUMENT,
	MISUSE_TYPES,        /* datatypes of an accumulate */
	MISUSE_COLLECTIVE,   /* two members make different collective calls */
	MISUSE_ROOT,         /* or name different roots */
	MISUSE_ABSENT,       /* some members have not made one at the end */
	MISUSE_WINDOW_FREED, /* its memory is freed before it is */
	MISUSE_BUFFER_FREED, /* before an operation is complete at its origin */
	MISUSE_THREAD,       /* a thread calls that must not */
	MISUSE_AT_ONCE,      /* two threads call that must not do so at one time */
	HINT_ALIGNMENT,      /* of an accumulate */
	LEAK_WINDOW,
	MISUSES
};

/* A call. Rank -1: there is none. */
struct misuse_call {
	int rank;
	uint32_t site;
};

/* misuse.c: what has been found */

/* Adds a finding of two calls, with a window or none. One more of these places is counted. */
void misuse_add(enum misuse kind, const struct judge_window *window, struct misuse_call first,
                struct misuse_call second);

/* Adds one with a line of text, which is copied. */
void misuse_add_with(enum misuse kind, const struct judge_window *window, struct misuse_call first,
                     struct misuse_call second, const char *detail);

/* Returns how many findings have this word: misuse, leak, hint. */
uint32_t misuse_count(const char *word);

void misuses_print(FILE *out, const struct job_traces *traces);
void misuses_print_json(FILE *out, const struct job_traces *traces);

/* rules.c: which calls are misuse, by event */

/* An operation that its rank has issued. */
void rules_of_operation(struct view *view, struct view *target, const struct operation *operation,
                        const struct trace_event *event);

void rules_of_fence(struct view *view, const struct trace_event *event);

/* The post has this number for the event's rank. */
void rules_of_post(const struct view *view, uint64_t number, const struct trace_event *event);

/* The lock has been granted, or those of all for rank -1. It is not yet in the view. */
void rules_of_lock(const struct view *view, const struct trace_event *event);

void rules_of_window(const struct view *view, const struct trace_event *event);

/* The call was refused. Other ranks may hold memory that it names. */
void rules_of_refused(struct view *view, const struct trace_event *event, const struct trace_piece pieces[]);

/* A thread of the rank must not call. */
void rules_of_threads(const struct trace_event *event, int rank);

/* The rank has freed memory. */
void rules_of_memory(const struct trace_event *event, int rank);

/* The job has ended, and all events were taken. */
void rules_of_end(void);

/* collective.c: a member has begun a collective call; at the end, members that have not */
void rules_of_collective(const struct trace_event *event, int rank);
void rules_of_absent_members(void);

#endif
