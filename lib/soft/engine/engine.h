// SPDX-License-Identifier: BSD-2-Clause
/* The engine thread, the creation of the process's state, and draining the pipes. */
#ifndef SOFT_ENGINE_H
#define SOFT_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/base.h"
#include "soft/peer/pipe.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

/* engine.c */

/* Turns the loop, which is open. Returns 0 or an errno value. */
int soft_engine_start(struct soft_core *core);
/* A thread is about to sleep: peers have to wake the engine. */
void soft_attention_wakeup(struct soft_core *core);
/* A thread polls: peers need not wake the engine. */
void soft_attention_polled(struct soft_core *core);

/* start.c */

/* Returns the process's core, made at first use; or NULL with errno. */
struct soft_core *soft_core_get(void);
/*
 * Around a fork: the core does not change until soft_core_let_go. Before that, the child calls
 * soft_core_forked; then soft_core_get makes a new core.
 */
void soft_core_hold(void);
void soft_core_let_go(void);
void soft_core_forked(void);
/* Takes another block of queue pair numbers. Under table_lock. Returns 0 or an errno value. */
int soft_slot_take(struct soft_core *core);

/* progress.c */

enum {
	SOFT_SAY_TICKS = 1000, /* between two stores of spin_ticks: peers read the line */
};

/*
 * Drains all pipes: carries out requests, takes responses. Returns immediately if there is nothing
 * to do, or another thread does it.
 */
void soft_progress(struct soft_core *core);
/* Waits until no other thread does it, and then does. */
void soft_progress_arrived(struct soft_core *core);
/* Does so even if there seems to be nothing to do. */
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

/* Pairs with soft_count_look. */
static inline uint32_t soft_looks(struct soft_core *core)
{
	return atomic_load_explicit(&core->looks, memory_order_relaxed);
}

/* Announces that a thread polls, after an empty poll. */
static inline void soft_say_spinning(struct soft_core *core)
{
	uint64_t now = shm_ticks();

	if (now - shm_spin_load(core->seg) > SOFT_SAY_TICKS)
		shm_spin_store(core->seg, now);
}

/* Returns whether the bell has rung since listen_to_bell. */
static inline bool soft_bell_rung(struct soft_core *core)
{
	return shm_bell_last(core->bell) != atomic_load_explicit(&core->bell_seen, memory_order_relaxed);
}

/* Pipes come in, are made, are answered, and end with their process. */

/* peer_events.c */

/*
 * Attaches an answered pipe to a queue pair, or none: for NULL, or if the peer does not have the
 * number. Returns whether the pipe was taken. Under qp->lock.
 */
bool soft_attach_pipe(struct soft_qp *qp, struct soft_out *out);
/* Queue pairs that awaited the pipe continue. Under core->progress. */
void soft_out_answered(struct soft_core *core, struct soft_out *out);
/* Queue pairs to a dead process fail soon. Under core->progress. */
void soft_out_died(struct soft_core *core, struct soft_out *out);
/* Under core->progress. */
void soft_timer_fired(struct soft_qp *qp);
/* Returns whether the adversary has cut the connection, also for librdmacm's messages. */
SOFT_EXPORT bool softverbs_lost(uint32_t qpn);

/* pipes.c */

/* Accepts on a slot's socket. */
void soft_pipe_accept(void *sock);

enum {
	SOFT_ANSWER_MS = 200, /* limit of a connecting thread's wait */
};

/*
 * *out becomes a reference to the pipe to the process that owns a number, or NULL if there is none.
 * Makes the pipe if needed, and waits limit_ms for the answer; it may still be unanswered.
 * Returns 0 or an errno value: a shortage of this process (EMFILE, ENFILE, ENOMEM) or of that one
 * (EREMOTEIO, EREMCHG).
 */
int soft_out_get(struct soft_core *core, uint32_t qpn, int limit_ms, struct soft_out **out);
void soft_out_put(struct soft_out *out);
/* In a forked child: makes the lock anew. */
void soft_out_forked(void);

#endif
