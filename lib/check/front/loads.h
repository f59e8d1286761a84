/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loads.h - loads and stores of recompiled code, as events of the trace
 *
 * DESIGN NOTES
 *
 * Watched are this process's parts of windows, and buffers of operations from their call until one
 * that completes them. Of a buffer that is only read its stores are watched. Where a list is full,
 * the oldest buffers are let go: races with them are missed.
 *
 * The caller holds the lock of the trace.
 */
#ifndef ORIEL_CHECK_LOADS_H
#define ORIEL_CHECK_LOADS_H

#include "check/compiled/compiled.h"
#include "check/trace.h"

/* Finds out whether the program has recompiled code. `full` is called when runs should be taken. */
void loads_open(uint64_t cell_bytes, void (*full)(void));

void loads_close(void);

extern bool loads_are_on __attribute__((visibility("hidden")));

/* Takes what was accessed since the last call. Returns how many runs there are. */
uint32_t loads_take(const struct compiled_run **runs);

/* Watches what an event that has been recorded makes, and lets go of what it completes. */
void loads_note(const struct trace_event *event, const struct trace_piece pieces[]);

/* Writes how much was looked at into the trace's header. */
void loads_count(struct trace *trace);

#endif
