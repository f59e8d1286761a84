/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deadlock.h - finds ranks of a running job that can never go on
 *
 * DESIGN NOTES
 *
 * A rank *needs* another one if its call cannot return before that one makes a certain call,
 * which it has not begun (needs). The call names what is awaited: the counts of both ranks show
 * that it is missing, so a message or a flag under way is never taken for one that is missing.
 *
 * A set of ranks is deadlocked if each waits in a call that needs a rank of the set; or, for a
 * call that any member may end, if all members are in the set. A call that waits for several
 * requests is kept by one of them, or must be kept by each. Then none can be the first to
 * return. A rank that has ended counts as one that waits for ever.
 *
 * This holds for what was true at one time. So the changes of all ranks are read before and
 * after the counts (waits.h). How long a wait has lasted proves nothing, and is not asked for.
 *
 * tests/models/deadlock_model.py has these rules, and what each is for.
 */
#ifndef ORIEL_CHECK_DEADLOCK_H
#define ORIEL_CHECK_DEADLOCK_H

#include <stddef.h>

#include "check/trace.h"

struct deadlock_rank {
	const struct trace *trace; /* NULL: it is not seen, and may do anything */
	uint64_t changes;
	bool is_ended;
	bool is_stuck;  /* with those that have ended */
	bool is_double; /* several traces name it: none is taken */
	int seen;       /* 1 more than the rank from which it was come to, or 0 */
};

struct deadlock_job {
	struct deadlock_rank *ranks;
	int size;
	int *core; /* the ranks of a circle, or one that needs a rank that has ended */
	int core_count;
};

/* Maps the headers of the job's traces on this machine. Returns false if there are none. */
bool deadlock_open(struct deadlock_job *job, const char *name, const char *host);

void deadlock_close(struct deadlock_job *job);

/* Returns whether the headers of all ranks are mapped. */
bool deadlock_is_whole(const struct deadlock_job *job);

/* Returns whether the process runs, and may report further deadlocks. */
bool deadlock_may_search(const struct trace *trace);

/*
 * Returns whether ranks are stuck that are in no report; or, with a rank that is not -1, whether
 * that one is. The circle that it waits for is the core.
 */
bool deadlock_search(struct deadlock_job *job, int from);

/* Returns whether this wait of a stuck rank needs the other one, as far as is known. */
bool deadlock_needs(const struct deadlock_job *job, int rank, const struct trace_wait *wait, int other);

/* Returns whether the wait cannot end before a rank of the set goes on. */
bool deadlock_keeps(const struct deadlock_job *job, int rank, const struct trace_wait *wait);

/* Returns whether any member may end the wait. */
bool deadlock_is_any(const struct trace_wait *wait);

#endif
