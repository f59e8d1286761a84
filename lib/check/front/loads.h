/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loads.h - loads and stores of recompiled code, as events of the trace
 *
 * DESIGN NOTES
 *
 * Watched are this process's parts of windows, and buffers of operations from their call until one
 * that completes them, and all threads know of it. Of a buffer that is only read its stores are
 * watched. Where a list is full, the oldest buffers are let go: races with them are missed.
 *
 * The caller holds the lock of the trace.
 */
#ifndef ORIEL_CHECK_LOADS_H
#define ORIEL_CHECK_LOADS_H

#include "check/compiled/compiled.h"
#include "check/trace.h"

/* Finds out whether the program has recompiled code. */
void loads_open(uint64_t cell_bytes, const struct compiled_front *front);

void loads_close(void);

extern bool loads_are_on __attribute__((visibility("hidden")));

/* If loads are on: this thread is about to record the event. The caller does not hold the lock. */
void loads_enter(const struct trace_event *event);

/* Returns the strand of this thread. `is_event`: it records an event that is no order. */
uint16_t loads_strand(bool is_event);

/* This thread is about to free memory. Another one may get it: what orders the two is not seen. */
void loads_freed(uint64_t first, uint64_t bytes);

/* Whether the program has several threads. */
extern const bool *loads_have_threads __attribute__((visibility("hidden")));

/* Returns whether the order is to be recorded. */
bool loads_order(enum compiled_order order, uint64_t number);

/* Returns whether recompiled code has stored since the last call of loads_take. */
bool loads_have_stores(void);

/* Takes what was accessed since the last call. Returns how many runs there are. */
uint32_t loads_take(const struct compiled_run **runs);

/* Watches what an event that has been recorded makes, and lets go of what it completes. */
void loads_note(const struct trace_event *event, const struct trace_piece pieces[]);

/* Writes how much was looked at into the trace's header. */
void loads_count(struct trace *trace);

#endif
