// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_stop.c - rules L1, L2: a rank is stopped for longer than a round trip in the middle of
 * taking, using and giving back a lock
 *
 * DESIGN NOTES
 *
 * Rank 3, the victim, has epochs at rank 0 of each kind. In the first it is stopped in front of the
 * first request of its lock, in the second in front of the second, and so on, by a post_send in
 * front of the device's; what it has posted before is on its way. Where the words are mapped there
 * are no requests, and rank 0 stops it at any moment. The ranks between have epochs all the time.
 * An array at rank 0, changed in two parts, shows whether a lock was held by two that exclude each
 * other, and in the end how many have changed it.
 */
#include "multi.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "job/job.h"
#include "win/link.h"
#include "win/lock_words.h"
#include "win/win.h"

#define RANKS 4
#define VICTIM 3
#define STEPS 14 /* a list of exclusive lock, get, two puts and unlock has no more */
#define KINDS 3  /* shared, exclusive, lock_all */
#define WORDS 16
#define STOPPED_US 4000 /* which is longer than a round trip */
#define HOLD_US 300     /* a rank is in most of the time */
#define PASSES 2
#define MAPPED_EPOCHS 200

enum { MAPPED, STOPPED, OVER, CHANGES }; /* of each rank: the last */

struct array {
	uint64_t word[WORDS];
};

static struct victim {
	struct multi *m;
	struct wire *wire; /* to rank 0 */
	pthread_t thread;  /* whose requests are counted */
	int steps;
	int stop_at; /* the step before which it is stopped; 0: none */
	uint64_t stops;
	int (*post)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
} victim;

/* Stops the process in this thread, which then holds nothing of the board. */
static void stop_here(void)
{
	victim.stop_at = 0;
	multi_raise(victim.m, STOPPED, ++victim.stops);
	raise(SIGSTOP);
}

/* Posts the requests before the step, stops for a time, then posts the rest. */
static int stopping_post(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad)
{
	struct ibv_send_wr *before = NULL, *wr = list;
	int rc = 0;

	if (qp != victim.wire->qp || victim.stop_at == 0 || !pthread_equal(pthread_self(), victim.thread))
		return victim.post(qp, list, bad);
	for (; wr && ++victim.steps < victim.stop_at; wr = wr->next)
		before = wr;
	if (!wr)
		return victim.post(qp, list, bad);
	if (before) {
		before->next = NULL;
		rc = victim.post(qp, list, bad);
		before->next = wr;
	}
	if (rc)
		return rc;
	stop_here();
	return victim.post(qp, wr, bad);
}

static void count_requests(struct multi *m)
{
	struct ibv_context *context;

	victim = (struct victim){ .m = m, .wire = &peer_find(m->job, 0)->wire, .thread = pthread_self() };
	context = victim.wire->qp->context;
	victim.post = context->ops.post_send;
	context->ops.post_send = stopping_post;
}

/* Epochs at rank 0. */

static bool is_whole(const struct array *array)
{
	for (int i = 1; i < WORDS; i++) {
		if (array->word[i] != array->word[0])
			return false;
	}
	return true;
}

static void get_array(struct multi *m, oriel_win *win, struct array *array)
{
	CHECK_OK(m, oriel_get(win, array, sizeof(*array), 0, 0));
	CHECK_OK(m, oriel_win_flush(win, 0));
	CHECK(m, is_whole(array));
}

static void change(struct multi *m, oriel_win *win)
{
	const size_t half = sizeof(struct array) / 2;
	static struct array array; /* which the second put needs until the unlock */

	get_array(m, win, &array);
	for (int i = 0; i < WORDS; i++)
		array.word[i]++;
	CHECK_OK(m, oriel_put(win, &array, half, 0, 0));
	CHECK_OK(m, oriel_win_flush(win, 0));
	usleep(HOLD_US);
	CHECK_OK(m, oriel_put(win, &array.word[WORDS / 2], half, 0, half));
	multi_raise(m, CHANGES + m->rank, multi_word(m, CHANGES + m->rank) + 1);
}

static void look(struct multi *m, oriel_win *win)
{
	struct array first, second;

	get_array(m, win, &first);
	usleep(HOLD_US);
	get_array(m, win, &second);
	CHECK(m, first.word[0] == second.word[0]);
}

static void one_epoch(struct multi *m, oriel_win *win, int kind)
{
	bool exclusive = kind == 1;

	if (kind == 2)
		CHECK_OK(m, oriel_win_lock_all(win, 0));
	else
		CHECK_OK(m, oriel_win_lock(win, exclusive ? ORIEL_LOCK_EXCLUSIVE : ORIEL_LOCK_SHARED, 0, 0));
	if (exclusive)
		change(m, win);
	else
		look(m, win);
	if (kind == 2)
		CHECK_OK(m, oriel_win_unlock_all(win));
	else
		CHECK_OK(m, oriel_win_unlock(win, 0));
}

/* The ranks' parts. */

static void be_victim(struct multi *m, oriel_win *win)
{
	if (multi_word(m, MAPPED)) {
		for (int i = 0; i < MAPPED_EPOCHS; i++)
			one_epoch(m, win, i % KINDS);
	} else {
		count_requests(m);
		for (int i = 0; i < PASSES * KINDS * STEPS; i++) {
			victim.steps = 0;
			victim.stop_at = i / KINDS % STEPS + 1;
			one_epoch(m, win, i % KINDS);
		}
		victim.stop_at = 0;
		CHECK(m, victim.stops >= 2 * KINDS * PASSES); /* no list is shorter */
		peer_find(m->job, 0)->wire.qp->context->ops.post_send = victim.post;
	}
	multi_raise(m, OVER, 1);
}

/* It says when it stops. SIGCONT may come before SIGSTOP: it comes again. */
static void wake_victim(struct multi *m)
{
	uint64_t seen = 0;

	while (!multi_word(m, OVER)) {
		uint64_t stopped = multi_word(m, STOPPED);

		usleep(stopped > seen ? STOPPED_US : STOPPED_US / 10);
		seen = stopped;
		kill(multi_pid(m, VICTIM), SIGCONT);
	}
}

/* Nothing of the board is touched while the victim may hold it. */
static void stop_at_any_moment(struct multi *m, uint64_t seed)
{
	while (!multi_word(m, OVER)) {
		kill(multi_pid(m, VICTIM), SIGSTOP);
		usleep((unsigned)(multi_random(&seed) % STOPPED_US));
		kill(multi_pid(m, VICTIM), SIGCONT);
		usleep((unsigned)(multi_random(&seed) % STOPPED_US));
	}
}

static void be_between(struct multi *m, oriel_win *win, uint64_t seed)
{
	while (!multi_word(m, OVER) && !multi_failed(m))
		one_epoch(m, win, (int)(multi_random(&seed) % KINDS));
}

static void check_changes(struct multi *m, const struct multi_window *w)
{
	struct array array = { 0 };
	uint64_t changes = 0;

	for (int rank = 0; rank < RANKS; rank++)
		changes += multi_word(m, CHANGES + rank);
	CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_SHARED, 0, 0));
	get_array(m, w->win, &array);
	CHECK_OK(m, oriel_win_unlock(w->win, 0));
	CHECK(m, array.word[0] == changes);
}

/*
 * L1, L2: no rank comes in beside a stopped holder, or beside a rank that had asked before it was
 * stopped.
 */
static void stopped_in_the_gaps(struct multi *m)
{
	uint64_t seed = multi_seed(m) + (uint64_t)m->rank;
	struct multi_window w;

	multi_window_open(m, &w, 4096);
	multi_warm(m, w.win);
	if (m->rank > 0)
		one_epoch(m, w.win, 1);
	if (m->rank == VICTIM)
		multi_raise(m, MAPPED, lock_is_mapped(w.win, link_find(w.win, 0)));
	multi_sync(m);
	if (m->rank == VICTIM)
		be_victim(m, w.win);
	else if (m->rank > 0)
		be_between(m, w.win, seed);
	else if (multi_word(m, MAPPED))
		stop_at_any_moment(m, seed);
	else
		wake_victim(m);
	multi_sync(m);
	check_changes(m, &w);
	multi_window_close(m, &w);
}

static const struct multi_case cases[] = {
	{ "L1_L2_stopped_in_the_gaps", RANKS, stopped_in_the_gaps },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = { .name = "multi_stop",
		                                          .cases = cases,
		                                          .case_count = sizeof(cases) / sizeof(cases[0]) };

	return multi_main(argc, argv, &program);
}
