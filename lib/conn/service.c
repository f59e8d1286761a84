// SPDX-License-Identifier: BSD-2-Clause
/* service.c - the service thread's loop; see service.h. */
#include "conn/service.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/libev.h"
#include "base/order.h"
#include "base/owned_lock.h"
#include "base/util.h"
#include "conn/conn.h"
#include "conn/directory.h"
#include "job/job.h"
#include "job/peer.h"
#include "job/service_queue.h"
#include "pages/shortage.h"
#include "sync/lock_repair.h"
#include "verbs/mr_cache.h"

#define TICK_SECONDS 0.002 /* while work is in progress */
#define TICK_MAX_SECONDS \
	0.05                /* when oversubscribed, ticks that bring nothing get rarer, up to this at most; see on_tick */
#define BEAT_SECONDS 2. /* twice this is within the limit of E6 */

struct service {
	struct oriel_job *job;
	pthread_t thread;
	const struct libev *libev;
	struct ev_loop *loop;
	ev_io channels[DEVICES_MAX]; /* by device, as the next two */
	ev_io async_events[DEVICES_MAX];
	ev_io wakeups[DEVICES_MAX]; /* peers' wakeups (wakeup.h) */
	ev_io boot;
	ev_async wake;
	ev_timer tick; /* runs while a busy peer needs it (needs_ticks) */
	ev_timer beat; /* always runs: a poll of closed descriptors would never end */
	bool boot_lost;
	struct task end;
	bool ended;           /* `end` has run */
	int poll_error;       /* errno of a failed poll */
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t changed;
};

struct abort_request {
	struct service *service;
	int status;
	const char *reason;
	int rc;
	bool done; /* guarded by service->lock */
};

static void set_tick(struct service *service, double seconds)
{
	service->tick.repeat = seconds;
	service->libev->timer_again(service->loop, &service->tick);
}

/*
 * Returns whether time can advance a busy peer. Ticks of many waiting ranks would keep a peer from
 * starting.
 */
static bool needs_ticks(struct peer *peer)
{
	return !peer->conn || conn_is_timed(peer);
}

/* Returns whether the peer needs that again. */
static bool serve(struct peer *peer, uint64_t now)
{
	bool connecting, looking;

	if (state_load(&peer->state) == PEER_DEAD) {
		conn_drop(peer);
		lookups_fail(peer);
		lock_repair_begin(peer);
		return false;
	}
	if (state_load(&peer->state) == PEER_NEW)
		conn_want(peer);
	connecting = conn_tick(peer, now);
	looking = lookups_tick(peer);
	return connecting || looking;
}

/* Returns whether peers that are still busy need ticks; *fresh: some of them are new. */
static bool serve_round(struct oriel_job *job, uint64_t now, bool *fresh)
{
	struct peer *round = service_queue_begin_round(job, fresh), *peer;
	bool ticks = false;

	while ((peer = service_queue_next(&round)) != NULL) {
		if (!serve(peer, now))
			continue;
		service_queue_keep(peer);
		ticks |= needs_ticks(peer);
	}
	return ticks;
}

static void serve_busy(struct service *service)
{
	uint64_t now = now_ns();
	bool fresh, ticks = service_queue_run_tasks(service->job, now);

	ticks |= serve_round(service->job, now, &fresh);
	service_queue_tell_contacts(service->job, now);
	if (!ticks)
		service->libev->timer_stop(service->loop, &service->tick);
	else if (fresh || !ev_is_active(&service->tick))
		set_tick(service, TICK_SECONDS);
}

static void take_cm_events_of(struct oriel_job *job, const struct device *device)
{
	struct rdma_cm_event *event;

	while (device->functions->get_cm_event(device->channel, &event) == 0)
		conn_event(job, device, event);
}

static void take_cm_events(struct service *service)
{
	struct oriel_job *job = service->job;

	for (uint32_t i = 0; i < job->devices.count; i++)
		take_cm_events_of(job, &job->devices.list[i]);
}

/* Returns the longest tick, by which all ranks of a processor together cause a constant load. */
static double tick_most(const struct oriel_job *job)
{
	double most = TICK_SECONDS * job->ranks_per_processor;

	return most < TICK_MAX_SECONDS ? most : TICK_MAX_SECONDS;
}

/* Handles events before time limits: the process may have been stopped. */
static void on_tick(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct service *service = watcher->data;

	(void)loop;
	(void)events;
	take_cm_events(service);
	serve_busy(service);
	if (ev_is_active(&service->tick) && watcher->repeat * 2 <= tick_most(service->job))
		set_tick(service, watcher->repeat * 2);
}

/* Serves peers at once: an event may have finished what another step waits for. */
static void on_channel(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct service *service = watcher->data;

	(void)loop;
	(void)events;
	take_cm_events(service);
	serve_busy(service);
}

static struct peer *peer_of_qp(struct oriel_job *job, const struct ibv_qp *qp)
{
	struct peer *found = NULL;
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at)) {
		if (peer->id && peer->id->qp == qp)
			found = peer;
	}
	return found;
}

static void qp_failed(struct oriel_job *job, const struct ibv_qp *qp, const char *what)
{
	struct peer *peer = peer_of_qp(job, qp);

	if (peer)
		peer_lost(peer, what);
}

/* Returns whether the peer is reached by this device, or could only be. */
static bool needs_device(const struct peer *peer, const struct device *device)
{
	if (peer->rank == peer->job->rank || peer->device != device)
		return false;
	return peer->device_chosen || peer->job->devices.count == 1;
}

static void device_failed(struct oriel_job *job, const struct device *device, const char *what)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at)) {
		if (needs_device(peer, device))
			rank_died(job, peer->rank, what);
	}
}

static void device_event(struct oriel_job *job, const struct device *device, const struct ibv_async_event *event)
{
	const char *what = device->functions->event_type_str(event->event_type);

	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		qp_failed(job, event->element.qp, what);
		break;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_CQ_ERR:
		device_failed(job, device, what);
		break;
	default: /* affected queue pairs report port changes and the like themselves */
		break;
	}
}

static void take_device_events(struct oriel_job *job, const struct device *device)
{
	struct ibv_async_event event;

	while (device->functions->get_async_event(device->verbs, &event) == 0) {
		struct ibv_async_event copy = event;

		device->functions->ack_async_event(&event);
		device_event(job, device, &copy);
	}
}

static void on_async_event(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct service *service = watcher->data;
	struct oriel_job *job = service->job;

	(void)loop;
	(void)events;
	for (uint32_t i = 0; i < job->devices.count; i++)
		take_device_events(job, &job->devices.list[i]);
	serve_busy(service);
}

static void on_wakeup(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct service *service = watcher->data;

	(void)loop;
	(void)events;
	am_woken(service->job);
	serve_busy(service);
}

static void on_boot(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct service *service = watcher->data;

	(void)loop;
	(void)events;
	service->job->boot->ops->dispatch(service->job->boot);
	serve_busy(service);
}

/* Callbacks of the bootstrap. */

static void boot_value(void *arg, int rank, const char *key, const void *value, size_t size_bytes)
{
	struct oriel_job *job = arg;
	struct peer *peer = peer_find(job, rank), *atomics_peer;

	(void)key;
	if (!peer)
		return;
	conn_endpoint(peer, value, size_bytes);
	atomics_peer =
		__atomic_load_n(&peer->atomics_peer, __ATOMIC_ACQUIRE); /* pairs with the store in peer_make_atomics_peer */
	if (atomics_peer)
		conn_endpoint(atomics_peer, value, size_bytes);
}

static void boot_died(void *arg, int rank, const char *text)
{
	struct oriel_job *job = arg;

	if (job->service)
		rank_ended(job, rank, text);
}

/* Connected ranks go on; any other rank counts as dead when it is needed. */
static void boot_lost(void *arg, const char *text)
{
	struct oriel_job *job = arg;
	uint32_t at = 0;

	(void)text;
	if (!job->service)
		return;
	job->service->boot_lost = true;
	job->service->libev->io_stop(job->service->loop, &job->service->boot);
	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at))
		conn_endpoint(peer, NULL, 0); /* no endpoint will arrive any more */
}

const struct boot_events job_boot_events = { boot_value, boot_died, boot_lost };

/* Tasks. */

static void end_thread(void *arg)
{
	struct service *service = arg;

	if (!service->boot_lost)
		service->job->boot->ops->leave(service->job->boot);
	connections_close(service->job);
	service->ended = true;
	service->libev->break_loop(service->loop, EVBREAK_ALL);
}

static void send_abort(void *arg)
{
	struct abort_request *request = arg;
	struct service *service = request->service;
	struct boot *boot = service->job->boot;

	request->rc = boot->ops->abort(boot, request->status, request->reason);
	pthread_mutex_lock(&service->lock);
	request->done = true;
	pthread_cond_broadcast(&service->changed);
	pthread_mutex_unlock(&service->lock);
}

/* The thread. */

static void serve_requests(struct service *service)
{
	for (struct peer *peer = service_queue_next_request(service->job); peer;
	     peer = service_queue_next_request(service->job))
		service_queue_watch(peer);
	serve_busy(service);
}

static void on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
	(void)loop;
	(void)events;
	serve_requests(watcher->data);
}

static void wake(void *arg)
{
	struct service *service = arg;

	service->libev->async_send(service->loop, &service->wake);
}

/*
 * A poll fails if the program has closed descriptors of the library; libev would end the process.
 * Its callback serves all loops, and stays set, since the previous one cannot be restored.
 */
static _Thread_local struct service *polling;

static void poll_failed(const char *what)
{
	int error = errno;

	if (!polling) {
		perror(what);
		abort();
	}
	polling->poll_error = error ? error : EBADF;
}

/*
 * Without descriptors every call that needs another rank fails. Requests of this rank's threads are
 * still served, or they would hang.
 */
static void run_deaf(struct service *service)
{
	const struct timespec pause = { 0, (long)(TICK_SECONDS * 1e9) };
	struct oriel_job *job = service->job;
	char text[DEATH_TEXT_BYTES];

	snprintf(text, sizeof(text),
	         "this rank receives no events: poll fails: %s; has the program closed all descriptors?",
	         strerror(service->poll_error));
	for (int rank = 0; rank < job->size; rank++) {
		if (rank != job->rank)
			rank_died(job, rank, text);
	}
	boot_lost(job, text);
	while (!service->ended) {
		serve_requests(service);
		nanosleep(&pause, NULL);
	}
}

static void *run(void *arg)
{
	struct service *service = arg;

	owned_lock_never_own();
	polling = service;
	while (!service->ended && !service->poll_error)
		service->libev->run(service->loop, EVRUN_ONCE); /* a poll cannot break the loop */
	polling = NULL;
	if (!service->ended)
		run_deaf(service);
	return NULL;
}

static void on_beat(struct ev_loop *loop, ev_timer *watcher, int events)
{
	struct service *service = watcher->data;

	(void)loop;
	(void)events;
	lock_repair_ping(service->job);
	for (uint32_t i = 0; i < service->job->devices.count; i++)
		mr_cache_tidy(service->job->devices.list[i].cache); /* releases unmapped memory */
}

static void watch_device(struct service *service, const struct device *device)
{
	ev_io *channel = &service->channels[device->index], *async_events = &service->async_events[device->index];

	channel->data = async_events->data = service;
	ev_io_init(channel, on_channel, device->channel->fd, EV_READ);
	service->libev->io_start(service->loop, channel);
	ev_io_init(async_events, on_async_event, device->verbs->async_fd, EV_READ);
	service->libev->io_start(service->loop, async_events);
}

static void watch_wakeups(struct service *service, const struct device *device)
{
	ev_io *watcher = &service->wakeups[device->index];

	if (!device->wakeup)
		return;
	watcher->data = service;
	ev_io_init(watcher, on_wakeup, device->wakeup->channel->fd, EV_READ);
	service->libev->io_start(service->loop, watcher);
}

static void watch_all(struct service *service)
{
	const struct libev *libev = service->libev;
	struct oriel_job *job = service->job;
	int boot_fd = job->boot->ops->fd(job->boot);

	for (uint32_t i = 0; i < job->devices.count; i++) {
		watch_device(service, &job->devices.list[i]);
		watch_wakeups(service, &job->devices.list[i]);
	}
	service->boot.data = service->wake.data = service->tick.data = service->beat.data = service;
	ev_io_init(&service->boot, on_boot, boot_fd, EV_READ);
	if (boot_fd >= 0)
		libev->io_start(service->loop, &service->boot);
	ev_async_init(&service->wake, on_wake);
	libev->async_start(service->loop, &service->wake);
	ev_timer_init(&service->beat, on_beat, BEAT_SECONDS, BEAT_SECONDS * job_timeout_scale(job));
	libev->timer_start(service->loop, &service->beat);
	ev_timer_init(&service->tick, on_tick, 0., TICK_SECONDS);
}

static void service_free(struct service *service)
{
	if (service->loop)
		service->libev->loop_destroy(service->loop);
	pthread_mutex_destroy(&service->lock);
	pthread_cond_destroy(&service->changed);
	free(service);
}

/* Blocks all signals, which belong to the program's threads. Returns 0 or an errno value. */
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

static struct service *service_new(struct oriel_job *job, const struct libev *libev)
{
	struct service *service = calloc(1, sizeof(*service));

	if (!service)
		return NULL;
	service->job = job;
	service->libev = libev;
	service->end = (struct task){ .run = end_thread, .arg = service };
	pthread_mutex_init(&service->lock, NULL);
	pthread_cond_init(&service->changed, NULL);
	service->loop = libev->loop_new(EVFLAG_AUTO | EVFLAG_NOSIGMASK);
	if (service->loop)
		return service;
	service_free(service);
	return NULL;
}

/* libev reports no error if it cannot make a pipe. */
static int check_descriptors(void)
{
	char text[SHORTAGE_TEXT_BYTES];
	int ends[2], error;

	if (pipe(ends) == 0) {
		close(ends[0]);
		close(ends[1]);
		return 0;
	}
	error = errno;
	shortage_text(error, false, text, sizeof(text));
	return err_set(shortage_code(error), "the service thread's loop cannot be made: %s", text);
}

int service_start(struct oriel_job *job)
{
	char text[SHORTAGE_TEXT_BYTES];
	const struct libev *libev;
	struct service *service;
	int rc = libev_open(&libev);

	if (rc)
		return rc;
	service = service_new(job, libev);
	if (!service)
		return err_set(ORIEL_ERR_MEMORY, "the service thread's loop cannot be made");
	rc = check_descriptors();
	if (rc) {
		service_free(service);
		return rc;
	}
	libev->set_syserr_cb(poll_failed);
	watch_all(service);
	job->service = service;
	service_queue_set_wake(job, wake, service);
	rc = start_thread(service);
	if (rc == 0)
		return 0;
	service_queue_set_wake(job, NULL, NULL);
	job->service = NULL;
	service_free(service);
	thread_text(rc, text, sizeof(text));
	return err_set(ORIEL_ERR_LIMIT, "the service thread cannot be started: %s", text);
}

static void await_change(struct service *service, const bool *condition)
{
	pthread_mutex_lock(&service->lock);
	while (!*condition)
		pthread_cond_wait(&service->changed, &service->lock);
	pthread_mutex_unlock(&service->lock);
}

void service_stop(struct oriel_job *job)
{
	struct service *service = job->service;

	service_queue_add(job, &service->end);
	pthread_join(service->thread, NULL);
	service_queue_set_wake(job, NULL, NULL);
	job->service = NULL;
	service_free(service);
}

int service_abort(struct oriel_job *job, int status, const char *reason)
{
	struct abort_request request = { .service = job->service, .status = status, .reason = reason };
	struct task task = { .run = send_abort, .arg = &request };

	service_queue_add(job, &task);
	await_change(job->service, &request.done);
	return request.rc;
}
