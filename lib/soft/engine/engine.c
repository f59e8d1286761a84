// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine: the one thread that softverbs adds to a process. It accepts pipes, detects deaths,
 * runs timers, carries out peers' requests while no thread calls ibv_poll_cq, and serves
 * librdmacm's sockets.
 *
 * DESIGN NOTES
 *
 * A peer that publishes a request must know whether a thread will see it. segment->attention has
 * the answer:
 *   SHM_WAKEUP  no thread polls; the peer writes to the owner's eventfd, which costs a system call.
 *   SHM_POLLED  a thread polls and sees the bell itself. In case it stops, the engine checks now
 *               and then; two checks in a row without a poll before them lead to SHM_WAKEUP.
 * A caller that is about to sleep on a completion channel switches to SHM_WAKEUP.
 *
 * A check takes the processor from the polling thread, so the engine checks every 8 ms, and after 1
 * ms once it has found that no thread polls. A peer that waits for an answer wakes the engine
 * itself (pipe.c).
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "soft/base/base.h"
#include "soft/base/tsan.h"
#include "soft/engine/engine.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	TICK_NS = 8000000,
	QUIET_TICK_NS = 1000000, /* after a check without a poll before it */
	QUIET_TICKS = 2,
};

/* Set by threads that poll in vain, cleared at each tick and wakeup. */
static _Atomic uint32_t polls_seen;

/* The checks while other threads poll. */
static struct {
	uint64_t next_ns; /* 0: not known */
	uint32_t quiet;   /* checks in a row without a poll before them */
} ticks;

static bool has_polled(void)
{
	return atomic_exchange_explicit(&polls_seen, 0, memory_order_relaxed);
}

/* A peer has waited too long: perhaps no thread polls often enough. */
static void look_soon(void)
{
	uint64_t soon = soft_now_ns() + QUIET_TICK_NS;

	has_polled();
	if (ticks.next_ns > soon)
		ticks.next_ns = soon;
}

static void on_wakeup(void *arg)
{
	struct soft_core *core = arg;
	uint64_t count;
	bool by_peer;

	/* Another wake may have taken the count. */
	if (read(core->wakeup_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return;
	by_peer = shm_wakeup_reset(core->bell);
	soft_progress_now(core);
	if (by_peer)
		look_soon();
}

/* Checks the bell afterwards: a peer that rang before may not have seen SHM_WAKEUP. */
static void ask_for_wakeups(struct soft_core *core)
{
	shm_attention_set(core->seg, SHM_WAKEUP);
	soft_heavy_barrier();
	/* Even if another thread makes progress: it may have read the pipe too early. */
	if (soft_bell_rung(core))
		soft_progress_now(core);
}

void soft_attention_wakeup(struct soft_core *core)
{
	if (shm_attention_get(core->seg) != SHM_WAKEUP)
		ask_for_wakeups(core);
}

void soft_attention_polled(struct soft_core *core)
{
	if (!atomic_load_explicit(&polls_seen, memory_order_relaxed))
		atomic_store_explicit(&polls_seen, 1, memory_order_relaxed);
	if (shm_attention_get(core->seg) == SHM_POLLED)
		return;
	shm_attention_set(core->seg, SHM_POLLED);
	soft_engine_wake();
}

static void tick(struct soft_core *core, uint64_t now)
{
	bool polled = has_polled();

	ticks.quiet = polled ? 0 : ticks.quiet + 1;
	ticks.next_ns = now + (polled ? TICK_NS : QUIET_TICK_NS);
	if (ticks.quiet >= QUIET_TICKS)
		ask_for_wakeups(core);
	if (soft_bell_rung(core))
		soft_progress_now(core);
}

/* Returns the time of the next timer. core->progress keeps queue pairs from being destroyed. */
static uint64_t run_timers(struct soft_core *core, uint64_t now)
{
	struct soft_qp *qp;
	uint64_t next;

	soft_lock(&core->progress);
	while ((qp = soft_timer_take(core, now, &next)))
		soft_timer_fired(qp);
	soft_unlock(&core->progress);
	return next;
}

/* Checks, if it is time; returns the time of the next check. */
static uint64_t run_ticks(struct soft_core *core, uint64_t now)
{
	if (shm_attention_get(core->seg) != SHM_POLLED) {
		ticks.next_ns = 0;
		ticks.quiet = 0;
		return UINT64_MAX;
	}
	if (ticks.next_ns == 0)
		ticks.next_ns = now + TICK_NS;
	if (now >= ticks.next_ns)
		tick(core, now);
	return ticks.next_ns;
}

static void *engine_main(void *arg)
{
	struct soft_core *core = arg;

	soft_tsan_ignore_begin();
	for (;;) {
		uint64_t now = soft_now_ns();
		uint64_t timer = run_timers(core, now), look = run_ticks(core, now);

		soft_loop_turn(now, timer < look ? timer : look);
	}
	return NULL;
}

int soft_engine_start(struct soft_core *core)
{
	sigset_t all, old;
	pthread_t thread;
	int err;

	err = softverbs_watch(core->wakeup_fd, on_wakeup, core);
	if (err)
		return err;
	/* The program's threads handle signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, NULL, engine_main, core);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		return 0;
	softverbs_unwatch(core->wakeup_fd);
	return err;
}
