/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - loads and stores of recompiled code
 *
 * DESIGN NOTES
 *
 * The events of a segment (front/write.c) come when the rank records its next call. Its accesses
 * lie somewhere between the rank's last call and this one, and begin and end with the clock that
 * the rank had in between.
 *
 * Other ranks may learn of a store before it is recorded, and act on it. They can where the rank
 * is a member of a shared window. They can, too, if they get or fetch at most 8 bytes in an epoch
 * of a lock, and the rank stores such a value there: that is a *peek*, and the value may be a flag.
 * An access that may be later than such a moment is not judged against the segment, neither now nor
 * later. If the owner of a place ever stores so small a value there, a peek of it learns what the
 * owner has done.
 *
 * In a shared window what a member loads or stores is also judged by what calls alone say of the
 * order. Where members may use flags, atomics, or locks, what that has found is dropped
 * (members_may_signal). A flag is a value of few bytes that one stores and another one loads, and
 * no call orders the two. Atomics order by what their memory order says: those that are not relaxed
 * are recorded by their block of memory. Relaxed ones do behind MPI_Win_sync only.
 *
 * In the other direction an owner may poll what others put or accumulate. A load that may have seen
 * a value of at most 8 bytes ends the operation, for all that know of the load (access.c).
 */
#ifndef ORIEL_JUDGE_LOCAL_H
#define ORIEL_JUDGE_LOCAL_H

#include "check/judge/view.h"

void locals_make(int ranks);

/* Takes an event of the rank before the first one is judged. */
void local_scan(const struct trace_event *event, int rank);

/* Keeps the event until the rank's segment ends. */
void local_add(const struct trace_event *event, int rank);

/* The rank's segment ends: its accesses are judged. */
void locals_judge(int rank);

/* The rank's next segment begins. */
void locals_begin(int rank);

/* Processes may order each other by what calls do not show: TRACE_OUTSIDE. */
void local_outside(const struct trace_event *event, int rank);

/* Returns whether an operation may see what its target stores as a message. */
bool is_peek(const struct operation *operation);

/* A peek begins, or its value has come, for the first time or another strand. */
void peek_begin(const struct access *access);
void peek_end(const struct access *access, bool is_first);

#endif
