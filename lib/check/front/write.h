/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write.h - the checker's front: records calls in this process's trace (trace.h)
 *
 * DESIGN NOTES
 *
 * A wrapper has the name of a call. It records an event, calls the function behind it, and may
 * record another event. An event has its time under a lock: a process's events are in the order of
 * time, and all its threads count as one. So the checker takes threads of a rank as ordered by
 * time, and misses races between them.
 *
 * Without a trace a wrapper only calls the function.
 */
#ifndef ORIEL_CHECK_WRITE_H
#define ORIEL_CHECK_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/trace.h"

/* write.c */

/* Makes the trace. Prints why there is none. */
void trace_open(void);

bool trace_is_on(void);

/* Returns whether this thread is recording an event. */
bool trace_is_busy(void);

/* Returns whether this thread is in a call, where the front knows that; or NULL. */
extern bool (*trace_is_in_call)(void) __attribute__((visibility("hidden")));

/* Names the job of this rank. */
void trace_job(const char *job, int rank, int size);

/* Ends the trace, and on rank 0 starts the program that judges. */
void trace_end(void);

/* Judges what all ranks have recorded until now: the job is about to be ended. */
void trace_abort(void);

/* A place in the program. */
struct place {
	const char *call;   /* a literal */
	const void *caller; /* behind the call */
};

/* Records an event, whose time and site are set here. */
void trace_add(struct place place, struct trace_event event);

/* Records an event and what follows it. The event's count is set here. */
void trace_add_with(struct place place, struct trace_event event, const struct trace_piece pieces[], size_t count);

/*
 * Records an operation that has one piece of so many bytes on each side, at the target behind
 * event.of.disp. An address of 0: the origin's memory is not read, or not written.
 */
void trace_plain(struct place place, struct trace_event event, uint64_t bytes, uint64_t read, uint64_t written);

/* Records an event with a list of ranks; its id is set here. */
void trace_ranks(struct place place, struct trace_event event, const int ranks[], int count);

/* Records an event with a text of at most PART_NAME_BYTES - 1. */
void trace_name(struct place place, struct trace_event event, const char *name);

/* Records an event with text of PART_NAME_BYTES. */
void trace_text(struct place place, struct trace_event event, const char text[PART_NAME_BYTES]);

/* Begins other runs if there are stores: what the program stores next may be a flag for these. */
void trace_sync(void);

/* From here on the order of accesses is not known, because of this call. */
void trace_unknown(struct place place);

/*
 * From here on no deadlock with this process is proven: a call may wait for what is not seen.
 * This may be called before trace_open.
 */
void trace_unproven(void);

/*
 * A call waits for other ranks from here on, until wait_end. Calls without a trace, and those whose
 * wait has the kind 0, are not shown.
 */
void wait_begin(struct place place, struct trace_wait wait);
void wait_end(void);

/* A call has several waits, at most WAITS_OF_CALL, and each or none has AWAIT_PART. */
void waits_begin(struct place place, struct trace_wait waits[], int count);

/* Returns how many messages with the tag this process has begun to send to the rank. */
uint64_t trace_sent(uint64_t comm, int rank, uint32_t tag);

/* Ends the wait; returns what the call has returned. */
static inline int awaited(int rc)
{
	wait_end();
	return rc;
}

/* This process is a member of the object, whose counts are kept from here on. */
void trace_join(uint64_t object);

/* Deadlocks of the job are looked for from here on. is_threaded: several threads may make calls. */
void trace_watch(bool is_threaded);

/* windows.c: windows by their handles */

struct window {
	uint64_t handle;
	uint64_t key;
	int *ranks; /* of its members */
	int count;
	uint64_t fences; /* that this rank has called */
	bool is_oriel;   /* its calls wait as those of oriel.h */
	struct window *next;
};

/* Adds a window, whose number is the same on all its members. Returns NULL without memory. */
struct window *window_add(uint64_t handle, uint64_t number, const int ranks[], int count);

/* Returns the window, or NULL: it is not recorded. It stays in memory until it is dropped. */
struct window *window_find(uint64_t handle);

/*
 * Takes a window out before a call that frees it, behind which another one may have its handle. It
 * stays in memory until window_drop, or is put back.
 */
struct window *window_take(uint64_t handle);
void window_put_back(struct window *window);
void window_drop(struct window *window);

/* Returns whether the process has had a window. */
bool window_was_made(void);

/* A call on the window waits from here on. It is shown if the window is Oriel's. */
void window_await(struct place place, const struct window *window, struct trace_wait wait);

/* Returns a number that equal lists of ranks have. */
uint64_t ranks_hash(const int ranks[], int count);

uint64_t hash_mix(uint64_t key, uint64_t more);

/* memory.c: memory that is freed */

/* The program's memory is that of a window, from here until memory_unwatch. */
void memory_watch(uint64_t key, uint64_t first, uint64_t bytes);
void memory_unwatch(uint64_t key);

#define MEMORY_LINES 65536
#define MEMORY_LINE_BYTES 64

/* Written to under the lock of the trace. */
extern struct memory_table {
	uint32_t completions;
	uint32_t latest;              /* the number of completions at the latest operation, + 1; 0: there was none */
	uint32_t lines[MEMORY_LINES]; /* at the latest one that had a buffer in the line */
} memory_table __attribute__((visibility("hidden")));

static inline uint32_t *memory_line(uint64_t address)
{
	return &memory_table.lines[address / MEMORY_LINE_BYTES % MEMORY_LINES];
}

/* An operation uses memory at the origin. */
static inline void memory_used(uint64_t first)
{
	uint32_t number = memory_table.completions + 1;

	__atomic_store_n(&memory_table.latest, number, __ATOMIC_RELAXED);
	__atomic_store_n(memory_line(first), number, __ATOMIC_RELAXED);
}

/* Operations are complete. */
static inline void memory_completed(void)
{
	__atomic_store_n(&memory_table.completions, memory_table.completions + 1, __ATOMIC_RELAXED);
}

/* This memory is about to be freed. 0 bytes: how many is not known. */
void memory_freed(struct place place, uint64_t first, uint64_t bytes);
void memory_freed_elsewhere(const void *memory);

#endif
