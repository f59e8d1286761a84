// SPDX-License-Identifier: BSD-2-Clause
/* service.c - the service thread's loop; see service.h. */
#include "job/service.h"

#include <ev.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "job/conn.h"
#include "job/directory.h"
#include "base/err.h"
#include "job/job.h"
#include "base/owned_lock.h"
#include "base/order.h"
#include "job/peer.h"
#include "base/util.h"

#define CONNECTS_MAX 32    /* attempts of this rank under way at once */
#define TICK_SECONDS 0.002 /* while something is under way */
#define TICK_MAX_SECONDS \
	0.05 /* where ranks exceed processors, ticks that bring nothing get rarer, up to this at most */
#define STOP_SLICE_NS (500 * NS_PER_MS)

enum stop_state { STOP_NO, STOP_WANTED, STOP_BARRIER, STOP_NOW };

/* A job's wish to be aborted, handed to the thread. */
struct abort_request {
	int status;
	const char *reason;
	bool done;
	int rc;
};

struct service {
	struct oriel_job *job;
	pthread_t thread;
	struct ev_loop *loop;
	ev_io channel;
	ev_io async_events;
	ev_io boot;
	ev_async wake;
	ev_timer tick;      /* runs while a busy peer needs it, see needs_ticks */
	struct peer **busy; /* peers with something under way */
	uint32_t busy_count;
	uint32_t busy_capacity;
	int connecting;
	bool boot_lost;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t changed;
	enum stop_state stop;
	bool left; /* the last barrier is over */
	struct abort_request *abort;
};

void service_request(struct peer *peer)
{
	struct oriel_job *job = peer->job;

	pthread_mutex_lock(&job->lock);
	if (!peer->requested) {
		peer->requested = true;
		peer->next_request = job->requests;
		job->requests = peer;
	}
	pthread_mutex_unlock(&job->lock);
	if (job->service)
		ev_async_send(job->service->loop, &job->service->wake);
}

static struct peer *next_request(struct oriel_job *job)
{
	struct peer *peer;

	pthread_mutex_lock(&job->lock);
	peer = job->requests;
	if (peer) {
		job->requests = peer->next_request;
		peer->requested = false;
	}
	pthread_mutex_unlock(&job->lock);
	return peer;
}

static void set_tick(struct service *service, double seconds)
{
	service->tick.repeat = seconds;
	ev_timer_again(service->loop, &service->tick);
}

void service_watch(struct peer *peer)
{
	struct service *service = peer->job->service;

	if (peer->busy)
		return;
	if (!grow_array(&service->busy, &service->busy_capacity, service->busy_count + 1, sizeof(*service->busy))) {
		rank_died(peer->job, peer->rank, "out of memory while connecting");
		return;
	}
	peer->busy = true;
	service->busy[service->busy_count++] = peer;
	set_tick(service, TICK_SECONDS);
}

bool service_may_connect(struct oriel_job *job)
{
	return job->service->connecting < CONNECTS_MAX;
}

void service_connecting(struct oriel_job *job, int change)
{
	job->service->connecting += change;
}

/*
 * What a busy peer waits for may come with time. A rank that waits for the addresses of ranks that
 * are still being started needs no ticks, or a thousand of them would keep those from starting.
 */
static bool needs_ticks(struct peer *peer)
{
	return !peer->conn || conn_is_timed(peer);
}

/* One look at a peer; whether it needs another. */
static bool serve(struct peer *peer, uint64_t now)
{
	bool connecting, looking;

	if (state_load(&peer->state) == PEER_DEAD) {
		conn_drop(peer);
		lookups_fail(peer);
		return false;
	}
	if (state_load(&peer->state) == PEER_NEW)
		conn_want(peer);
	connecting = conn_tick(peer, now);
	looking = lookups_tick(peer);
	return connecting || looking;
}

static void serve_busy(struct service *service)
{
	uint64_t now = now_ns();
	bool ticks = false;

	for (uint32_t i = 0; i < service->busy_count;) {
		struct peer *peer = service->busy[i];

		if (serve(peer, now)) {
			ticks |= needs_ticks(peer);
			i++;
			continue;
		}
		peer->busy = false;
		service->busy[i] = service->busy[--service->busy_count];
	}
	if (!ticks)
		ev_timer_stop(service->loop, &service->tick);
	else if (!ev_is_active(&service->tick))
		set_tick(service, TICK_SECONDS);
}

static void take_cm_events(struct service *service)
{
	struct rdma_cm_event *event;

	while (rdma_get_cm_event(service->job->device.channel, &event) == 0)
		conn_event(service->job, event);
}

/* The same load for all ranks of a processor together, however many they are. */
static double tick_most(const struct oriel_job *job)
{
	double most = TICK_SECONDS * job->ranks_per_processor;

	return most < TICK_MAX_SECONDS ? most : TICK_MAX_SECONDS;
}

/*
 * What has come in is looked at before time is judged: the process may have been stopped for longer
 * than any limit.
 */
static void on_tick(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct service *service = ev_userdata(loop);

	(void)events;
	take_cm_events(service);
	serve_busy(service);
	if (ev_is_active(&service->tick) && watcher->repeat * 2 <= tick_most(service->job))
		set_tick(service, watcher->repeat * 2);
}

/*
 * Something that came in may have finished what another step waits for: look at once instead of at
 * the next tick.
 */
static void on_channel(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct service *service = ev_userdata(loop);

	(void)watcher;
	(void)events;
	take_cm_events(service);
	serve_busy(service);
}

/* The peer whose queue pair it is; a cold path. */
static struct peer *peer_of_qp(struct oriel_job *job, const struct ibv_qp *qp)
{
	struct peer *found = NULL;

	pthread_mutex_lock(&job->lock);
	for (uint32_t i = 0; i < job->peer_capacity; i++) {
		if (job->peers[i] && job->peers[i]->id && job->peers[i]->id->qp == qp)
			found = job->peers[i];
	}
	pthread_mutex_unlock(&job->lock);
	return found;
}

static void qp_failed(struct oriel_job *job, const struct ibv_qp *qp, const char *what)
{
	struct peer *peer = peer_of_qp(job, qp);

	if (peer && !job->closing)
		rank_died(job, peer->rank, what);
}

static void device_failed(struct oriel_job *job, const char *what)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at)) {
		if (peer->rank != job->rank)
			rank_died(job, peer->rank, what);
	}
}

static void device_event(struct oriel_job *job, const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		qp_failed(job, event->element.qp, ibv_event_type_str(event->event_type));
		break;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_CQ_ERR:
		device_failed(job, ibv_event_type_str(event->event_type));
		break;
	default: /* port changes, path migration and the like: queue pairs tell themselves when they suffer */
		break;
	}
}

static void on_async_event(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct service *service = ev_userdata(loop);
	struct ibv_async_event event;

	(void)watcher;
	(void)events;
	while (ibv_get_async_event(service->job->device.verbs, &event) == 0) {
		struct ibv_async_event copy = event;

		ibv_ack_async_event(&event);
		device_event(service->job, &copy);
	}
	serve_busy(service);
}

static void on_boot(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct service *service = ev_userdata(loop);

	(void)watcher;
	(void)events;
	service->job->boot->ops->dispatch(service->job->boot);
	serve_busy(service);
}

/* Callbacks of the bootstrap. */

static void boot_value(void *arg, int rank, const char *key, const void *value, size_t size_bytes)
{
	struct oriel_job *job = arg;
	struct peer *peer = peer_find(job, rank);
	char text[BOOT_VALUE_MAX_BYTES + 1];

	(void)key;
	if (!peer || size_bytes > BOOT_VALUE_MAX_BYTES)
		return;
	if (value) {
		memcpy(text, value, size_bytes);
		text[size_bytes] = '\0';
	}
	conn_address(peer, value ? text : NULL);
}

static void mark_left(struct service *service)
{
	pthread_mutex_lock(&service->lock);
	service->left = true;
	pthread_cond_broadcast(&service->changed);
	pthread_mutex_unlock(&service->lock);
}

static void boot_released(void *arg)
{
	mark_left(((struct oriel_job *)arg)->service);
}

static void boot_died(void *arg, int rank, const char *text)
{
	struct oriel_job *job = arg;

	if (job->service)
		rank_died(job, rank, text);
}

/*
 * Without the launcher the ranks that are connected go on; whoever else is needed counts as dead
 * when asked for.
 */
static void boot_lost(void *arg, const char *text)
{
	struct oriel_job *job = arg;

	(void)text;
	if (!job->service)
		return;
	job->service->boot_lost = true;
	ev_io_stop(job->service->loop, &job->service->boot);
	for (uint32_t i = 0; i < job->service->busy_count; i++)
		conn_address(job->service->busy[i], NULL); /* no address will come any more */
	mark_left(job->service);
}

const struct boot_events job_boot_events = { boot_value, boot_released, boot_died, boot_lost };

/* Stopping. */

static void enter_last_barrier(struct service *service)
{
	struct boot *boot = service->job->boot;

	service->job->closing = true;
	if (service->boot_lost || boot->ops->barrier(boot))
		mark_left(service);
	else if (boot->ops->fd(boot) < 0)
		boot->ops->dispatch(boot);
}

static void disconnect_all(struct oriel_job *job)
{
	for (uint32_t i = 0; i < job->peer_capacity; i++) {
		if (job->peers[i])
			conn_disconnect(job->peers[i]);
	}
}

static void look_at_stop(struct service *service)
{
	enum stop_state stop;

	pthread_mutex_lock(&service->lock);
	stop = service->stop;
	if (stop == STOP_WANTED)
		service->stop = STOP_BARRIER;
	pthread_mutex_unlock(&service->lock);
	if (stop == STOP_WANTED)
		enter_last_barrier(service);
	if (stop != STOP_NOW)
		return;
	if (!service->boot_lost)
		service->job->boot->ops->leave(service->job->boot);
	disconnect_all(service->job);
	ev_break(service->loop, EVBREAK_ALL);
}

static void look_at_abort(struct service *service)
{
	struct boot *boot = service->job->boot;

	pthread_mutex_lock(&service->lock);
	if (service->abort) {
		service->abort->rc = boot->ops->abort(boot, service->abort->status, service->abort->reason);
		service->abort->done = true;
		service->abort = NULL;
		pthread_cond_broadcast(&service->changed);
	}
	pthread_mutex_unlock(&service->lock);
}

static void on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
	struct service *service = ev_userdata(loop);

	(void)watcher;
	(void)events;
	for (struct peer *peer = next_request(service->job); peer; peer = next_request(service->job))
		service_watch(peer);
	serve_busy(service);
	look_at_abort(service);
	look_at_stop(service);
}

static void *run(void *arg)
{
	struct service *service = arg;

	owned_lock_never_own();
	ev_run(service->loop, 0);
	return NULL;
}

static void watch_all(struct service *service)
{
	struct oriel_job *job = service->job;
	int boot_fd = job->boot->ops->fd(job->boot);

	ev_set_userdata(service->loop, service);
	ev_io_init(&service->channel, on_channel, job->device.channel->fd, EV_READ);
	ev_io_start(service->loop, &service->channel);
	ev_io_init(&service->async_events, on_async_event, job->device.verbs->async_fd, EV_READ);
	ev_io_start(service->loop, &service->async_events);
	ev_io_init(&service->boot, on_boot, boot_fd, EV_READ);
	if (boot_fd >= 0)
		ev_io_start(service->loop, &service->boot);
	ev_async_init(&service->wake, on_wake);
	ev_async_start(service->loop, &service->wake);
	ev_timer_init(&service->tick, on_tick, 0., TICK_SECONDS);
}

static void service_free(struct service *service)
{
	if (service->loop)
		ev_loop_destroy(service->loop);
	pthread_mutex_destroy(&service->lock);
	pthread_cond_destroy(&service->changed);
	free(service->busy);
	free(service);
}

/* Signals belong to the program's own threads. */
static int start_thread(struct service *service)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&service->thread, NULL, run, service);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

static struct service *service_new(struct oriel_job *job)
{
	struct service *service = calloc(1, sizeof(*service));
	pthread_condattr_t attr;

	if (!service)
		return NULL;
	service->job = job;
	pthread_mutex_init(&service->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&service->changed, &attr);
	pthread_condattr_destroy(&attr);
	service->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOSIGMASK);
	if (service->loop)
		return service;
	service_free(service);
	return NULL;
}

int service_start(struct oriel_job *job)
{
	struct service *service = service_new(job);

	if (!service)
		return err_set(ORIEL_ERR_MEMORY, "the service thread's loop cannot be made");
	watch_all(service);
	job->service = service;
	if (start_thread(service) == 0)
		return 0;
	job->service = NULL;
	service_free(service);
	return err_set(ORIEL_ERR_MEMORY, "the service thread cannot be started");
}

static void set_stop(struct service *service, enum stop_state stop)
{
	pthread_mutex_lock(&service->lock);
	if (service->stop < stop)
		service->stop = stop;
	pthread_mutex_unlock(&service->lock);
	ev_async_send(service->loop, &service->wake);
}

/* Wait for a condition that the thread signals; false when the deadline (0: none) has passed. */
static bool wait_for(struct service *service, const bool *condition, uint64_t deadline_ns)
{
	bool seen;

	pthread_mutex_lock(&service->lock);
	while (!*condition && (deadline_ns == 0 || now_ns() < deadline_ns)) {
		uint64_t slice_end = now_ns() + STOP_SLICE_NS;
		uint64_t until = deadline_ns && deadline_ns < slice_end ? deadline_ns : slice_end;
		struct timespec t = { (time_t)(until / NS_PER_SECOND), (long)(until % NS_PER_SECOND) };

		pthread_cond_timedwait(&service->changed, &service->lock, &t);
	}
	seen = *condition;
	pthread_mutex_unlock(&service->lock);
	return seen;
}

void service_kill(struct oriel_job *job)
{
	struct service *service = job->service;

	set_stop(service, STOP_NOW);
	pthread_join(service->thread, NULL);
	job->service = NULL;
	service_free(service);
}

int service_stop(struct oriel_job *job)
{
	struct service *service = job->service;
	uint64_t deadline = job->timeout_ms ? now_ns() + (uint64_t)job->timeout_ms * NS_PER_MS : 0;

	set_stop(service, STOP_WANTED);
	if (!wait_for(service, &service->left, deadline))
		return err_set(ORIEL_ERR_TIMEOUT, "other ranks did not come to oriel_finalize within %d ms", job->timeout_ms);
	service_kill(job);
	return 0;
}

int service_abort(struct oriel_job *job, int status, const char *reason)
{
	struct service *service = job->service;
	struct abort_request request = { .status = status, .reason = reason };

	pthread_mutex_lock(&service->lock);
	while (service->abort)
		pthread_cond_wait(&service->changed, &service->lock); /* for the thread to take another thread's request */
	service->abort = &request;
	pthread_mutex_unlock(&service->lock);
	ev_async_send(service->loop, &service->wake);
	wait_for(service, &request.done, 0);
	return request.rc;
}
