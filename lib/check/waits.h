/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.h - the part of a trace by which deadlocks are found while the job runs
 *
 * DESIGN NOTES
 *
 * A trace shows in which calls the process's threads wait, and how often it has made each call
 * that others wait for. Both are kept in its header, which the other processes of the job map.
 * deadlock.h has the rules.
 *
 * `changes` grows when such a wait has begun, and before one ends. The process's watcher
 * (front/watch.c) writes it to `quiet` when it has seen that no thread can make a call. A reader
 * that finds both equal, reads, and finds them equal again has read what is true at one time.
 *
 * Nothing is proven of a process whose `is_unproven` is set: a count has found no room, or the
 * program does what is not counted (trace_unproven).
 */
#ifndef ORIEL_CHECK_WAITS_H
#define ORIEL_CHECK_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#define WAITS_SLOTS 32
#define WAITS_OF_CALL 16 /* at most */
#define WAITS_COUNTS 8192
#define WAITS_COUNTS_USED (WAITS_COUNTS / 4 * 3) /* at most: free places end a search */
#define WAITS_TAGS_USED (WAITS_COUNTS / 2)       /* beyond, no count is added for a tag */
#define WAITS_ANY_TAG UINT64_MAX
#define WAITS_REPORTED 64
#define WAITS_NAMES 64
#define WAITS_SIGNALS 64 /* that one wait may take */
#define WAITS_NAME_BYTES 56

struct trace_event;

/* A call waits for one of these. */
enum wait_kind {
	AWAIT_NONE,       /* the slot is free */
	AWAIT_POST,       /* of each target of the open access epoch */
	AWAIT_COMPLETE,   /* of each origin of the open exposure epoch */
	AWAIT_FENCE,      /* of each member, with this number */
	AWAIT_COLLECTIVE, /* of each member, or of `rank`, with this number */
	AWAIT_UNLOCK,     /* of each rank that holds the lock of `rank`, and excludes this one */
	AWAIT_MESSAGE,    /* `number` of these of `rank`, or one of any of `size` members */
	AWAIT_RECEIVER,   /* of the message of this number to `rank`, of those of its tag */
	AWAIT_SIGNAL,     /* of any of `size` members: signals from `number` on */
	AWAIT_KINDS
};

#define AWAIT_EXCLUSIVE 1 /* the lock that is wanted */
#define AWAIT_FREE 2      /* the collective call frees the window */
#define AWAIT_UNTIL 4     /* for a signal's value; no signal is taken */
#define AWAIT_ANY_TAG 8
#define AWAIT_PART 16 /* any of these waits of the thread keeps it; else all of its waits do */

/* A thread's wait. Ranks are those of the job. */
struct trace_wait {
	uint32_t kind; /* enum wait_kind */
	uint32_t flags;
	uint64_t object; /* as in events */
	uint64_t number;
	int32_t rank;   /* -1: any, or all */
	uint32_t count; /* of signals; else of the thread's waits, or 0 */
	uint32_t size;  /* how many members the object has */
	uint32_t site;
	int32_t thread;
	uint32_t tag;
};

/* Counts are kept by an object and, where it says so, a rank. */
enum count_kind {
	COUNT_MEMBER, /* 1: the process has the object */
	COUNT_POSTS,  /* for a rank; `epoch` is the exposure epoch of the last one */
	COUNT_POST_EPOCHS,
	COUNT_STARTS, /* for a rank; `epoch` is the access epoch of the last one */
	COUNT_START_EPOCHS,
	COUNT_COMPLETES,
	COUNT_FENCES,
	COUNT_COLLECTIVES, /* one more than the number of the last one */
	COUNT_LOCK,        /* of a rank: HELD_SHARED, HELD_EXCLUSIVE, or 0 */
	COUNT_SENT,        /* to a rank; the object may be one of tag_object */
	COUNT_RECEIVED,    /* from a rank; as above */
	COUNT_RECEIVING,   /* receives that have begun and not ended, from a rank or any; as above */
	COUNT_SIGNALS,     /* to a rank; the object is one of signal_object */
	COUNT_TAKEN        /* as above, of this rank */
};

#define HELD_SHARED 1
#define HELD_EXCLUSIVE 2

struct trace_count {
	uint64_t key; /* 0: free */
	uint64_t value;
	uint64_t epoch; /* twice its number, and one more if start has NOCHECK */
};

/* A rank that stands in a report. */
struct trace_reported {
	int32_t rank;
	int32_t padding;
	uint64_t changes; /* its, then */
};

struct trace_window_name {
	uint64_t key;
	char name[WAITS_NAME_BYTES];
};

struct trace_waits {
	uint64_t changes;
	uint64_t quiet;
	uint32_t is_ended; /* the process makes no further call */
	uint32_t is_unproven;
	uint32_t used;           /* counts */
	uint32_t reported_count; /* reports of this process's watcher */
	uint32_t name_count;
	uint32_t is_untagged; /* a count by tag has found no room: all of these are of no use */
	struct trace_wait slots[WAITS_SLOTS];
	struct trace_reported reported[WAITS_REPORTED];
	struct trace_window_name names[WAITS_NAMES];
	struct trace_count counts[WAITS_COUNTS];
};

/* Copies a slot. Returns whether it is used. `changes` differs if it has changed meanwhile. */
static inline bool waits_read_slot(const struct trace_waits *waits, int slot, struct trace_wait *wait)
{
	uint32_t kind = __atomic_load_n(&waits->slots[slot].kind, __ATOMIC_ACQUIRE); /* pairs with waits_begin */

	*wait = waits->slots[slot];
	wait->kind = kind;
	return kind != AWAIT_NONE;
}

/* waits.c */

/* Counts a call that others may wait for. The caller holds the trace's lock. */
void waits_count(struct trace_waits *waits, const struct trace_event *event);

/* The process is a member of the object from here on. The caller holds the trace's lock. */
void waits_join(struct trace_waits *waits, uint64_t object);

/* Returns the count, which is one of zeroes if nothing was counted. Rank -1: it has none. */
struct trace_count waits_find(const struct trace_waits *waits, enum count_kind kind, uint64_t object, int rank);

static inline uint64_t waits_value(const struct trace_waits *waits, enum count_kind kind, uint64_t object, int rank)
{
	return waits_find(waits, kind, object, rank).value;
}

/* Returns the object by which one signal of a window is counted. */
uint64_t signal_object(uint64_t window, uint64_t signal);

/* Returns the object by which messages of a tag are counted. */
uint64_t tag_object(uint64_t comm, uint64_t tag);

#endif
