// SPDX-License-Identifier: BSD-2-Clause
/* multi_progress.c - oriel_progress in place of a waiting call and of the service thread (rule A22) */
#include "multi.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "job/peer.h"
#include "service_pause.h"

enum { READY };

#define PROGRESS_TURNS 200000 /* of 100 us: longer than any active message takes */

/*
 * oriel_progress applies what has arrived if no thread waits in a call, and the service thread gets
 * no processor.
 */
static void progress_applies(struct multi *m)
{
	multi_rest one[2] = { 1, 2 };
	static struct service_pause pause;
	struct multi_window w;
	uint64_t before;
	int turns = 0;

	multi_window_open(m, &w, sizeof(one));
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	if (m->rank == 0) { /* the ring has been made */
		CHECK_OK(m, oriel_accumulate(w.win, one, 2, MULTI_REST, ORIEL_SUM, 1, 0));
		CHECK_OK(m, oriel_win_flush(w.win, 1));
	}
	multi_sync(m);
	before = multi_applied(m);
	if (m->rank == 1) {
		service_pause_begin(m, &pause);
		multi_raise(m, READY, 1);
		for (; multi_applied(m) == before && turns < PROGRESS_TURNS; turns++) {
			CHECK_OK(m, oriel_progress(m->job));
			usleep(100);
		}
		service_pause_end(&pause);
		CHECK(m, turns < PROGRESS_TURNS);
	} else {
		multi_await(m, READY, 1);
		CHECK_OK(m, oriel_accumulate(w.win, one, 2, MULTI_REST, ORIEL_SUM, 1, 0));
		CHECK_OK(m, oriel_win_flush(w.win, 1));
	}
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_sync(m);
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_progress(NULL));
	multi_window_close(m, &w);
}

/*
 * oriel_progress, and a thread that waits in a call, make the room for the first active messages of
 * a rank if the service thread gets no processor.
 */
static void progress_makes_room(struct multi *m)
{
	multi_rest one[2] = { 1, 2 };
	static struct service_pause pause;
	struct multi_window w;
	int target, turns = 0;

	multi_window_open(m, &w, sizeof(one));
	for (target = 0; target < 2; target++) {
		const uint64_t before = multi_applied(m);

		CHECK_OK(m, oriel_win_fence(w.win, 0));
		if (m->rank == target) {
			service_pause_begin(m, &pause);
			multi_raise(m, target, 1);
			for (; target == 1 && multi_applied(m) == before && turns < PROGRESS_TURNS; turns++) {
				CHECK_OK(m, oriel_progress(m->job));
				usleep(100);
			}
			CHECK(m, turns < PROGRESS_TURNS);
		} else {
			multi_await(m, target, 1);
			CHECK_OK(m, oriel_accumulate(w.win, one, 2, MULTI_REST, ORIEL_SUM, target, 0));
		}
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		if (m->rank == target)
			service_pause_end(&pause);
		multi_sync(m);
	}
	multi_window_close(m, &w);
}

static int (*poll_cq)(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
static int polls;

static int count_polls(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	polls++;
	return poll_cq(cq, entries, wc);
}

/*
 * Also keeps a device going that places what arrives only while its process polls. The service
 * thread is paused, because it polls too.
 */
static void progress_polls(struct multi *m)
{
	static struct service_pause pause;
	struct peer *peer;
	struct multi_window w;

	multi_window_open(m, &w, sizeof(uint64_t));
	multi_sync(m);
	peer = __atomic_load_n(&m->job->peers.moving, __ATOMIC_ACQUIRE);
	if (peer) {
		struct ibv_context_ops *ops = &peer->wire.cq->context->ops;

		service_pause_begin(m, &pause);
		poll_cq = ops->poll_cq;
		ops->poll_cq = count_polls;
		polls = 0;
		CHECK_OK(m, oriel_progress(m->job));
		ops->poll_cq = poll_cq;
		service_pause_end(&pause);
		CHECK(m, polls > 0);
	}
	multi_window_close(m, &w);
}

static _Thread_local int yields;

/* In the place of libc's. */
int sched_yield(void)
{
	yields++;
	return (int)syscall(SYS_sched_yield);
}

/* A rank that polls for something else gives way if others need its processor, and only then. */
static void progress_yields(struct multi *m)
{
	enum { CALLS = 64 };

	yields = 0;
	for (int i = 0; i < CALLS; i++)
		CHECK_OK(m, oriel_progress(m->job));
	CHECK(m, yields == (job_oversubscribed(m->job) ? CALLS / 8 : 0));
}

static const struct multi_case cases[] = {
	{ "A22_progress_makes_room", 2, progress_makes_room }, /* first: there are no rings yet */
	{ "A22_progress_applies", 2, progress_applies },
	{ "A22_progress_polls", 2, progress_polls },
	{ "A22_progress_yields", 0, progress_yields },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_progress",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
