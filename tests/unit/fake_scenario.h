// SPDX-License-Identifier: BSD-2-Clause
/* fake_scenario.h - a little of everything a job does, for runs under faults and under odd devices. */
#ifndef ORIEL_TESTS_FAKE_SCENARIO_H
#define ORIEL_TESTS_FAKE_SCENARIO_H

#include "fake_job.h"

/*
 * Join; window; on every two neighbours in a ring of ranks post, start, small, larger and vector
 * puts, gets, complete, wait; fence with puts; memory registered and used; window freed; finalize.
 * A call that is out of memory is made again, one that fails otherwise is noted and the rank goes
 * on with the next; without a window it exits. Data is checked where no call has failed. arg may be
 * a struct oriel_options.
 */
void scenario(struct rank *rank);

/* Runs the scenario where ranks 0 and 1 share memory, and the card reaches the others. */
void scenario_on_nodes(struct rank *rank);

/*
 * Two ranks: locks of either type and lock_all with puts, gets, fetch_and_op, accumulate, a signal;
 * memory attached to a dynamic window, reached in a lock epoch, and detached. Calls that fail are
 * treated as in scenario.
 */
void scenario_passive(struct rank *rank);

/* Set rank->wrong if two buffers differ although no call of the rank has failed. */
void scenario_compare(struct rank *rank, const void *got, const void *wanted, size_t size_bytes);

#endif
