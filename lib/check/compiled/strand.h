/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * strand.h - threads of recompiled code, and what orders them
 *
 * DESIGN NOTES
 *
 * A *strand* is a thread that the program has started. *Things* order strands, such as mutexes: one
 * *releases* before it lets others go on, and another *acquires* when it goes on. Things are known
 * by a number, made of their address; two with one number make more order, never less.
 *
 * Each strand, and each thing, has a clock: how many events of each strand it knows. Only what adds
 * to a clock is recorded, so that a lock around nothing of interest costs no room.
 *
 * Where it is not known what orders threads, all become strand 0: a thread that was started out of
 * sight, a call that is not followed, a library that may order threads by itself. So do threads
 * beyond the last strand share those that there are.
 */
#ifndef ORIEL_CHECK_STRAND_H
#define ORIEL_CHECK_STRAND_H

#include <stdbool.h>
#include <stdint.h>

#include "check/compiled/compiled.h"

#define STRANDS 64
#define STRAND_NONE (STRANDS - 1) /* of a thread that has not been heard of */

extern _Thread_local uint32_t strand_own __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern uint32_t strand_mask __attribute__((visibility("hidden")));   /* 0: all are one */
extern bool strand_is_several __attribute__((visibility("hidden"))); /* threads */

static inline uint32_t strand_now(void)
{
	return strand_own & __atomic_load_n(&strand_mask, __ATOMIC_RELAXED);
}

/* This thread's strand begins, if it has not yet. */
void strand_need(void);

/* Begins or ends recording. NULL: ends. */
void strand_open(const struct compiled_front *front);

/* Before a thread lets others go on by the thing at this address, or after it goes on by it. */
void strand_release(const volatile void *thing);
void strand_acquire(const volatile void *thing);

/* Atomics do so as their order says, which is one of the compiler's. */
static inline void strand_before(const volatile void *memory, int order)
{
	if (strand_is_several && (order & 7) >= __ATOMIC_RELEASE)
		strand_release(memory);
}

static inline void strand_after(const volatile void *memory, int order)
{
	if (!strand_is_several || (order & 7) == __ATOMIC_RELAXED || (order & 7) == __ATOMIC_RELEASE)
		return;
	strand_acquire(memory);
	strand_acquire(&strand_mask); /* what fences have released */
}

/* A fence: which accesses it orders is not known, so it orders behind all of the others. */
void strand_fence(void);

/* From here on the program has several threads. */
void strand_split(void);

/* From here on all threads are one strand, because of this call. */
void strand_merge(const char *call);

/* From here on locks in shared memory, or words and fences, may order processes. */
void strand_outside(void);

/* From here on atomics in this block may do so, if it is one of a shared window. */
void strand_outside_by(uint64_t block);

/* This thread is about to start one, which begins by the thing: returns the strand for it. */
uint32_t strand_make(const void *thing);

/* This thread begins, or ends. */
void strand_begin(const void *thing, uint32_t strand);
void strand_end(void);

/* The thread with this number, which is its pthread_t, has ended. */
void strand_join(uint64_t thread);

/* The front calls these under the lock of the trace. */
uint32_t strand_event(bool is_event);
bool strand_order(enum compiled_order order, uint64_t number);
const char *strand_merged(void);

/* Returns a name of this moment of this strand. */
uint64_t strand_moment(void);

/* Returns whether all threads know of it. */
bool strand_all_know(uint64_t moment);

/* Runs of the strand are recorded. */
void strand_count(uint32_t strand);

#endif
