// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine: the one thread that softverbs adds to a process. It accepts pipes, notices deaths,
 * runs timers, and carries out peers' requests while nobody calls ibv_poll_cq. It also serves
 * librdmacm's sockets.
 *
 * DESIGN NOTES A peer that leaves a request must know whether somebody will see it.
 * segment->attention says so:
 *   SHM_WAKEUP  nobody looks; the peer writes to our eventfd, which costs it a system call.
 *   SHM_POLLED  some thread polls and sees the bell itself. In case it stops, the engine looks now and then, and
 *               two looks in a row that find that nobody has polled lead back to SHM_WAKEUP.
 * Callers that are about to sleep on a completion channel switch to SHM_WAKEUP at once.
 *
 * When the engine looks, it takes the processor from the polling thread, in a virtual machine for
 * tens of microseconds, and the peers wait as long. So it looks every eight milliseconds while the
 * program polls, and after one millisecond once it has found that no thread polls any more. A peer
 * that waits for an answer need not wait for the look: it wakes the engine (renotify.c).
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "soft/verbs/base.h"
#include "soft/verbs/core.h"
#include "soft/verbs/engine.h"
#include "soft/verbs/lock.h"
#include "soft/verbs/loop.h"
#include "soft/verbs/peer_events.h"
#include "soft/verbs/progress.h"
#include "soft/verbs/qp.h"
#include "soft/verbs/shm.h"
#include "soft/verbs/timer.h"
#include "soft/verbs/tsan.h"

enum {
	TICK_NS = 8000000,
	QUIET_TICK_NS = 1000000, /* after one before which nobody has polled */
	QUIET_TICKS = 2,
};

/* Set by threads that poll in vain, cleared by the engine at each tick and wakeup. */
static _Atomic uint32_t polls_seen;

/* The looks while others poll; the engine's own. */
static struct {
	uint64_t next_ns; /* 0: not known */
	uint32_t quiet;   /* in a row before which nobody has polled */
} ticks;

static bool has_polled(void)
{
	return atomic_exchange_explicit(&polls_seen, 0, memory_order_relaxed);
}

/* A peer has waited in vain: perhaps nobody polls any more, or not often enough. */
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

	/* Non-blocking: another wake may have taken the count. */
	if (read(core->wakeup_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return;
	by_peer = shm_wakeup_reset(core->bell);
	soft_progress_now(core);
	if (by_peer)
		look_soon();
}

/* Then one more look: a peer that rang before may not have seen that wakeups are wanted. */
static void ask_for_wakeups(struct soft_core *core)
{
	shm_attention_set(core->seg, SHM_WAKEUP);
	soft_heavy_barrier();
	/* Not in vain if somebody is at it: he may have looked too early. */
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

/*
 * Fire what is due; when the next one is due. A queue pair is not destroyed while core->progress is
 * held.
 */
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

/* While others poll: look, if it is time; when the next time is. */
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
	/* Signals are the program's business, on its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, NULL, engine_main, core);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		return 0;
	softverbs_unwatch(core->wakeup_fd);
	return err;
}
