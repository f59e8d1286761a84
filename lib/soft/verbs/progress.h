// SPDX-License-Identifier: BSD-2-Clause
/* Looking into the pipes. See progress.c. */
#ifndef SOFT_PROGRESS_H
#define SOFT_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "soft/verbs/core.h"
#include "soft/verbs/shm.h"

enum {
	SOFT_SAY_TICKS = 1000, /* how often a poller says that it polls in vain: peers read the line */
};

/*
 * Look into all pipes: carry out requests, take responses. Returns at once if there is nothing or
 * somebody else is at it.
 */
void soft_progress(struct soft_core *core);
/* The same, but wait for whoever is at it. */
void soft_progress_now(struct soft_core *core);

/* Under core->progress; pairs with soft_looks. */
static inline void soft_count_look(struct soft_core *core)
{
	uint32_t looks = atomic_load_explicit(&core->looks, memory_order_relaxed);

	atomic_store_explicit(&core->looks, looks + 1, memory_order_relaxed);
}

/* Under core->progress; pairs with softverbs_served. */
static inline void soft_count_served(struct soft_core *core, uint64_t requests)
{
	uint64_t served = atomic_load_explicit(&core->served, memory_order_relaxed);

	atomic_store_explicit(&core->served, served + requests, memory_order_relaxed);
}

/* Whoever polls, to do something now and then; pairs with soft_count_look. */
static inline uint32_t soft_looks(struct soft_core *core)
{
	return atomic_load_explicit(&core->looks, memory_order_relaxed);
}

/* A poll has found nothing. */
static inline void soft_say_spinning(struct soft_core *core)
{
	uint64_t now = shm_ticks();

	if (now - shm_spin_load(core->seg) > SOFT_SAY_TICKS)
		shm_spin_store(core->seg, now);
}

/* Has it rung since somebody listened? What it rang for may have been seen without. */
static inline bool soft_bell_rung(struct soft_core *core)
{
	return shm_bell_last(core->bell) != atomic_load_explicit(&core->heard, memory_order_relaxed);
}

#endif
