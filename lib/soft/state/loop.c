// SPDX-License-Identifier: BSD-2-Clause
/*
 * The event loop: callbacks for readable descriptors, also librdmacm's sockets. engine.c runs it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "soft/base/base.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"

#ifndef SYS_epoll_pwait2 /* headers before Linux 5.11 */
#define SYS_epoll_pwait2 441
#endif

enum {
	MS_NS = 1000000,
	ROUND_MAX_NS = 1000000000,
};

struct watch {
	soft_engine_fn *fn;
	void *arg;
	uint32_t generation; /* distinguishes reuses of the descriptor */
	bool running;
	pthread_t runner; /* while running */
};

static struct {
	int epoll_fd;
	pthread_mutex_t lock;
	pthread_cond_t idle;
	struct watch *watch; /* by descriptor */
	int nwatch;
} loop = { .lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER, .epoll_fd = -1 };

/* Under loop.lock. */
static int watch_reserve(int fd)
{
	int n = loop.nwatch ? loop.nwatch : 64;
	struct watch *table;

	if (fd < loop.nwatch)
		return 0;
	while (n <= fd)
		n *= 2;
	table = realloc(loop.watch, (size_t)n * sizeof(*table));
	if (!table)
		return ENOMEM;
	memset(table + loop.nwatch, 0, (size_t)(n - loop.nwatch) * sizeof(*table));
	loop.watch = table;
	loop.nwatch = n;
	return 0;
}

SOFT_EXPORT int softverbs_watch(int fd, soft_engine_fn *fn, void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	int err;

	pthread_mutex_lock(&loop.lock);
	err = watch_reserve(fd);
	if (err)
		goto out;
	loop.watch[fd].fn = fn;
	loop.watch[fd].arg = arg;
	loop.watch[fd].generation++;
	event.data.u64 = (uint64_t)loop.watch[fd].generation << 32 | (uint32_t)fd;
	if (epoll_ctl(loop.epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
		err = errno;
		loop.watch[fd].fn = NULL;
	}
out:
	pthread_mutex_unlock(&loop.lock);
	return err;
}

SOFT_EXPORT void softverbs_watch_on(int fd, soft_engine_fn *fn, void *arg)
{
	pthread_mutex_lock(&loop.lock);
	loop.watch[fd].fn = fn;
	loop.watch[fd].arg = arg;
	pthread_mutex_unlock(&loop.lock);
}

SOFT_EXPORT void softverbs_unwatch(int fd)
{
	pthread_mutex_lock(&loop.lock);
	if (fd < loop.nwatch && loop.watch[fd].fn) {
		epoll_ctl(loop.epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		loop.watch[fd].fn = NULL;
	}
	/* Also if the callback has unwatched itself: it may still use what the caller frees. */
	while (fd < loop.nwatch && loop.watch[fd].running && !pthread_equal(pthread_self(), loop.watch[fd].runner))
		pthread_cond_wait(&loop.idle, &loop.lock);
	pthread_mutex_unlock(&loop.lock);
}

static void dispatch(uint64_t data)
{
	int fd = (int)(uint32_t)data;
	struct watch watch;

	pthread_mutex_lock(&loop.lock);
	watch = loop.watch[fd];
	if (watch.fn && watch.generation == (uint32_t)(data >> 32)) {
		loop.watch[fd].running = true;
		loop.watch[fd].runner = pthread_self();
		pthread_mutex_unlock(&loop.lock);
		watch.fn(watch.arg);
		pthread_mutex_lock(&loop.lock);
		loop.watch[fd].running = false;
		pthread_cond_broadcast(&loop.idle);
	}
	pthread_mutex_unlock(&loop.lock);
}

void soft_wake(int fd)
{
	uint64_t one = 1;

	/*
	 * Fails only if 2^64 - 1 wakeups are pending. Raw system call: write(2) is a cancellation
	 * point, and the thread may hold locks and a claimed wakeup.
	 */
	(void)syscall(SYS_write, fd, &one, sizeof(one));
}

void soft_engine_wake(void)
{
	soft_wake(soft_core->wakeup_fd);
}

static int wait_event(struct epoll_event *event, uint64_t now, uint64_t until)
{
	static bool only_ms;
	struct timespec ts;
	uint64_t ns = until > now ? until - now : 0;
	int n;

	if (until == UINT64_MAX)
		return epoll_wait(loop.epoll_fd, event, 1, -1);
	if (!only_ms) {
		ts.tv_sec = (time_t)(ns / 1000000000u);
		ts.tv_nsec = (long)(ns % 1000000000u);
		/* Raw system call: glibc has it from 2.35 on. */
		n = (int)syscall(SYS_epoll_pwait2, loop.epoll_fd, event, 1, &ts, NULL, (size_t)0);
		if (n >= 0 || (errno != ENOSYS && errno != EPERM))
			return n;
		/* Older kernels, emulations of Linux, and filters. */
		only_ms = true;
	}
	if (ns > ROUND_MAX_NS)
		ns = ROUND_MAX_NS;
	return epoll_wait(loop.epoll_fd, event, 1, (int)((ns + MS_NS - 1) / MS_NS));
}

void soft_loop_turn(uint64_t now_ns, uint64_t until_ns)
{
	struct epoll_event event;

	if (wait_event(&event, now_ns, until_ns) == 1)
		dispatch(event.data.u64);
}

int soft_loop_open(void)
{
	loop.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return loop.epoll_fd < 0 ? errno : 0;
}

void soft_loop_close(void)
{
	close(loop.epoll_fd);
	loop.epoll_fd = -1;
}

void soft_loop_hold(void)
{
	pthread_mutex_lock(&loop.lock);
}

void soft_loop_let_go(void)
{
	pthread_mutex_unlock(&loop.lock);
}

/* A socket that the child kept open would hide the parent's death from its peers. */
void soft_loop_forked(void)
{
	for (int fd = 0; fd < loop.nwatch; fd++)
		if (loop.watch[fd].fn)
			close(fd);
	if (loop.epoll_fd >= 0)
		soft_loop_close();
	if (loop.nwatch)
		memset(loop.watch, 0, (size_t)loop.nwatch * sizeof(*loop.watch));
	pthread_cond_init(&loop.idle, NULL);
}

/* Timers of queue pairs. */

void soft_timer_set(struct soft_qp *qp, uint64_t deadline_ns)
{
	soft_lock(&soft_core->timer_lock);
	qp->deadline_ns = deadline_ns;
	soft_list_del(&qp->timer);
	soft_list_add_tail(&soft_core->timers, &qp->timer);
	soft_unlock(&soft_core->timer_lock);
	soft_engine_wake();
}

void soft_timer_set_if_none(struct soft_qp *qp, uint64_t deadline_ns)
{
	bool is_set;

	soft_lock(&soft_core->timer_lock);
	is_set = !soft_list_empty(&qp->timer);
	if (!is_set) {
		qp->deadline_ns = deadline_ns;
		soft_list_add_tail(&soft_core->timers, &qp->timer);
	}
	soft_unlock(&soft_core->timer_lock);
	if (!is_set)
		soft_engine_wake();
}

void soft_timer_clear(struct soft_qp *qp)
{
	soft_lock(&soft_core->timer_lock);
	soft_list_del(&qp->timer);
	soft_unlock(&soft_core->timer_lock);
}

struct soft_qp *soft_timer_take(struct soft_core *core, uint64_t now, uint64_t *next)
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

/* The state of the process; start.c makes it. */

struct soft_core *soft_core;
