// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine: the one thread that softverbs adds to a process. It accepts links, notices deaths,
 * runs timers, and carries out peers' requests while nobody calls ibv_poll_cq. It also serves
 * librdmacm's sockets.
 *
 * DESIGN NOTES
 * A peer that leaves a request must know whether somebody will see it. segment->attention says so:
 *   SHM_KICK    nobody looks; the peer writes to our eventfd, which costs it a system call.
 *   SHM_POLLED  some thread polls and sees the bell itself. The engine looks once per millisecond, so that a thread
 *               that stops polling delays a peer by no more; two quiet milliseconds lead back to SHM_KICK.
 * Callers that are about to sleep on a completion channel switch to SHM_KICK at once.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "soft.h"

enum {
	TICK_NS = 1000000,
	QUIET_TICKS = 2,
	ROUND_MAX_NS = 1000000000, /* longest wait where the clock of epoll_wait is all there is */
};

struct watch {
	soft_engine_fn *fn;
	void *arg;
	uint32_t generation; /* tells a reused descriptor from the one an old event was about */
	bool running;
};

static struct {
	pthread_t thread;
	int epoll_fd;
	pthread_mutex_t lock;
	pthread_cond_t idle; /* a callback returned */
	struct watch *watch; /* by descriptor */
	int nwatch;
} engine = { .lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER, .epoll_fd = -1 };

/* Set by threads that poll in vain, cleared by the engine at each tick. */
static _Atomic uint32_t polls_seen;

/* Grow the table so that it holds fd; engine.lock is held. */
static int watch_reserve(int fd)
{
	int n = engine.nwatch ? engine.nwatch : 64;
	struct watch *table;

	if (fd < engine.nwatch)
		return 0;
	while (n <= fd)
		n *= 2;
	table = realloc(engine.watch, (size_t)n * sizeof(*table));
	if (!table)
		return ENOMEM;
	memset(table + engine.nwatch, 0, (size_t)(n - engine.nwatch) * sizeof(*table));
	engine.watch = table;
	engine.nwatch = n;
	return 0;
}

SOFT_EXPORT int softverbs_watch(int fd, soft_engine_fn *fn, void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	int err;

	pthread_mutex_lock(&engine.lock);
	err = watch_reserve(fd);
	if (err)
		goto out;
	engine.watch[fd].fn = fn;
	engine.watch[fd].arg = arg;
	engine.watch[fd].generation++;
	event.data.u64 = (uint64_t)engine.watch[fd].generation << 32 | (uint32_t)fd;
	if (epoll_ctl(engine.epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
		err = errno;
		engine.watch[fd].fn = NULL;
	}
out:
	pthread_mutex_unlock(&engine.lock);
	return err;
}

SOFT_EXPORT void softverbs_unwatch(int fd)
{
	pthread_mutex_lock(&engine.lock);
	if (fd < engine.nwatch && engine.watch[fd].fn) {
		epoll_ctl(engine.epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		engine.watch[fd].fn = NULL;
	}
	/*
	 * Also where the callback has unwatched itself: it may not be done with what the caller is
	 * about to free.
	 */
	while (fd < engine.nwatch && engine.watch[fd].running && !pthread_equal(pthread_self(), engine.thread))
		pthread_cond_wait(&engine.idle, &engine.lock);
	pthread_mutex_unlock(&engine.lock);
}

static void dispatch(uint64_t data)
{
	int fd = (int)(uint32_t)data;
	struct watch watch;

	pthread_mutex_lock(&engine.lock);
	watch = engine.watch[fd];
	if (watch.fn && watch.generation == (uint32_t)(data >> 32)) {
		engine.watch[fd].running = true;
		pthread_mutex_unlock(&engine.lock);
		watch.fn(watch.arg);
		pthread_mutex_lock(&engine.lock);
		engine.watch[fd].running = false;
		pthread_cond_broadcast(&engine.idle);
	}
	pthread_mutex_unlock(&engine.lock);
}

void soft_kick(int fd)
{
	uint64_t one = 1;

	/*
	 * Fails only when 2^64 - 1 kicks are pending. By number, because write(2) is a place where a
	 * thread can be cancelled, with locks and with a kick that it has claimed.
	 */
	(void)syscall(SYS_write, fd, &one, sizeof(one));
}

void soft_engine_wake(void)
{
	soft_kick(soft_core->kick_fd);
}

static void on_kick(void *arg)
{
	struct soft_core *core = arg;
	uint64_t count;

	/* Non-blocking: another wake may have taken the count. */
	if (read(core->kick_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return;
	shm_kick_reset(core->bell);
	soft_progress_now(core);
}

/* Then one more look: who rang before may not have seen that kicks are wanted. */
static void ask_for_kicks(struct soft_core *core)
{
	shm_attention_set(core->seg, SHM_KICK);
	soft_heavy_barrier();
	/* Not in vain if somebody is at it: he may have looked too early. */
	if (soft_bell_rung(core))
		soft_progress_now(core);
}

void soft_attention_kick(struct soft_core *core)
{
	if (shm_attention_get(core->seg) != SHM_KICK)
		ask_for_kicks(core);
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

/* A millisecond of SHM_POLLED is over. */
static void tick(struct soft_core *core)
{
	static uint32_t quiet;

	if (atomic_exchange_explicit(&polls_seen, 0, memory_order_relaxed)) {
		quiet = 0;
	} else if (++quiet >= QUIET_TICKS) {
		quiet = 0;
		ask_for_kicks(core);
	}
	if (soft_bell_rung(core))
		soft_progress_now(core);
}

void soft_timer_set(struct soft_qp *qp, uint64_t deadline_ns)
{
	soft_lock(&soft_core->timer_lock);
	qp->deadline_ns = deadline_ns;
	soft_list_del(&qp->timer);
	soft_list_add_tail(&soft_core->timers, &qp->timer);
	soft_unlock(&soft_core->timer_lock);
	soft_engine_wake();
}

void soft_timer_clear(struct soft_qp *qp)
{
	soft_lock(&soft_core->timer_lock);
	soft_list_del(&qp->timer);
	soft_unlock(&soft_core->timer_lock);
}

/* One queue pair whose time has come, taken off the list; NULL and the next deadline if there is none. */
static struct soft_qp *timer_take(struct soft_core *core, uint64_t now, uint64_t *next)
{
	struct soft_qp *due = NULL;

	*next = UINT64_MAX;
	soft_lock(&core->timer_lock);
	for (struct soft_list *i = core->timers.next; i != &core->timers; i = i->next) {
		struct soft_qp *qp = soft_container(i, struct soft_qp, timer);

		if (qp->deadline_ns <= now) {
			due = qp;
			break;
		}
		if (qp->deadline_ns < *next)
			*next = qp->deadline_ns;
	}
	if (due)
		soft_list_del(&due->timer);
	soft_unlock(&core->timer_lock);
	return due;
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
	while ((qp = timer_take(core, now, &next)))
		soft_timer_fired(qp);
	soft_unlock(&core->progress);
	return next;
}

static int engine_wait(struct epoll_event *event, uint64_t now, uint64_t until)
{
	static bool only_ms;
	struct timespec ts;
	uint64_t ns = until > now ? until - now : 0;
	int n;

	if (until == UINT64_MAX)
		return epoll_wait(engine.epoll_fd, event, 1, -1);
	if (!only_ms) {
		ts.tv_sec = (time_t)(ns / 1000000000u);
		ts.tv_nsec = (long)(ns % 1000000000u);
		n = epoll_pwait2(engine.epoll_fd, event, 1, &ts, NULL);
		if (n >= 0 || errno != ENOSYS)
			return n;
		/* Linux before 5.11, and what pretends to be Linux. */
		only_ms = true;
	}
	if (ns > ROUND_MAX_NS)
		ns = ROUND_MAX_NS;
	return epoll_wait(engine.epoll_fd, event, 1, (int)((ns + TICK_NS - 1) / TICK_NS));
}

static void *engine_main(void *arg)
{
	struct soft_core *core = arg;
	uint64_t next_tick = 0;

	for (;;) {
		uint64_t now = soft_now_ns();
		uint64_t until = run_timers(core, now);
		struct epoll_event event;

		if (shm_attention_get(core->seg) == SHM_POLLED) {
			if (next_tick == 0)
				next_tick = now + TICK_NS;
			if (now >= next_tick) {
				tick(core);
				next_tick = now + TICK_NS;
			}
			if (next_tick < until)
				until = next_tick;
		} else {
			next_tick = 0;
		}
		if (engine_wait(&event, now, until) == 1)
			dispatch(event.data.u64);
	}
	return NULL;
}

int soft_engine_start(struct soft_core *core)
{
	sigset_t all, old;
	int err;

	engine.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (engine.epoll_fd < 0)
		return errno;
	err = softverbs_watch(core->kick_fd, on_kick, core);
	if (err)
		goto err_close;
	/* Signals are the program's business, on its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&engine.thread, NULL, engine_main, core);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		return 0;
	softverbs_unwatch(core->kick_fd);
err_close:
	close(engine.epoll_fd);
	return err;
}
