/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - the checker's front: shows what each thread waits for, and reports deadlocks
 *
 * DESIGN NOTES
 *
 * A call that waits for another rank takes a slot of the trace (check/waits.h), between
 * wait_begin and wait_end.
 *
 * A thread of each process, the watcher, looks from time to time. When nothing has changed for a
 * second, it finds out whether all threads that may make calls are in slots: the one that the
 * MPI's thread level allows, or each thread of the process. Threads that the library has started
 * while the job began make none. Of the processes that are quiet the one of the lowest rank
 * searches the job for a deadlock. It runs oriel-check, which searches once more, and prints.
 *
 * With a time limit for waits there is no watcher: any wait may end.
 */
#ifndef ORIEL_CHECK_WATCH_H
#define ORIEL_CHECK_WATCH_H

#include "check/front/write.h"

/* The job begins. Threads that are there now and were not before are the library's. */
void watch_prepare(void);

/* The job has begun. is_threaded: several threads may make calls. */
void watch_begin(struct trace *trace, bool is_threaded);

/* The process makes no further call that others may wait for; or, after an error, it may. */
void watch_ended(bool is_ended);

/* Ends the watcher. */
void watch_end(void);

#endif
