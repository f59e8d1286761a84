// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_timeout.c - calls that wait in vain: rule E5, and what P5, P7, F2 and W7 promise to wait
 * for
 *
 * The job has a time limit, so a call that must wait for a rank gives ORIEL_ERR_TIMEOUT as long as
 * that rank does not come. The rank comes only when it has learnt that the call has timed out. No
 * clock is read. Calls that are to wait in vain have a short limit; all others have one that passes
 * only if something hangs: a rank may get no processor for seconds.
 */
#include "multi.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "conn/directory.h"
#include "job/job.h"
#include "job/lock_table.h"
#include "win/win.h"

#define LIMIT_MS 60000 /* bounds what is not meant to time out */
#define VAIN_MS 300

enum { TIMED_OUT, DONE };

/* Sets the limit of this rank's later calls. */
static void set_limit(struct multi *m, int limit_ms)
{
	m->job->limits.timeout_ms = limit_ms;
}

/* A call that waits in vain: it times out, and soon. */
#define CHECK_IN_VAIN(m, call)                    \
	do {                                          \
		set_limit((m), VAIN_MS);                  \
		CHECK_RC((m), ORIEL_ERR_TIMEOUT, (call)); \
		set_limit((m), LIMIT_MS);                 \
	} while (0)

static void open_together(struct multi *m, struct multi_window *w, size_t size_bytes)
{
	multi_window_open(m, w, size_bytes);
	multi_warm(m, w->win);
	multi_sync(m);
}

static void close_together(struct multi *m, struct multi_window *w)
{
	multi_sync(m);
	multi_window_close(m, w);
}

/*
 * P5, E5: one of two targets has not posted; complete waits for it although nothing was put there.
 * Then it goes on.
 */
static void complete_waits_for_every_post(struct multi *m)
{
	struct multi_window w;
	oriel_group *zero = multi_group_one(m, 0), *both = multi_group_mask(m, 0x6);
	uint8_t value = 4;

	open_together(m, &w, 64);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(w.win, both, 0));
		CHECK_OK(m, oriel_put(w.win, &value, 1, 1, 0));
		CHECK_IN_VAIN(m, oriel_win_complete(w.win));
		CHECK_TEXT(m, "oriel_win_complete");
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_start(w.win, both, 0)); /* the epoch is still open */
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
		CHECK_IN_VAIN(m, oriel_win_complete(w.win));
		CHECK_OK(m, oriel_put(w.win, &value, 1, 2, 3)); /* and open for the target that complete waits for */
		/* Rank 1 may know that the epoch is over: a further put to it would come too late. */
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(w.win, &value, 1, 1, 1));
		multi_raise(m, TIMED_OUT, 1);
		CHECK_OK(m, oriel_win_complete(w.win));
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(w.win));
	} else {
		if (m->rank == 2)
			multi_await(m, TIMED_OUT, 1);
		CHECK_OK(m, oriel_win_post(w.win, zero, 0));
		CHECK_OK(m, oriel_win_wait(w.win));
		CHECK(m, w.base[0] == (m->rank == 1 ? 4 : 0) && w.base[1] == 0 && w.base[3] == (m->rank == 2 ? 4 : 0));
		if (m->rank == 1)
			multi_await(m, TIMED_OUT, 1);
	}
	close_together(m, &w);
	multi_group_drop(m, zero);
	multi_group_drop(m, both);
}

/* P7, E5: wait waits for the last origin; after the timeout test and wait go on with the same epoch. */
static void wait_waits_for_every_origin(struct multi *m)
{
	struct multi_window w;
	oriel_group *zero = multi_group_one(m, 0), *both = multi_group_mask(m, 0x6);
	uint8_t value = (uint8_t)m->rank;

	open_together(m, &w, 64);
	for (uint64_t round = 1; round <= 2; round++) {
		if (m->rank == 0) {
			int flag = -1;

			memset(w.base, 0, 64);
			CHECK_OK(m, oriel_win_post(w.win, both, 0));
			CHECK_IN_VAIN(m, oriel_win_wait(w.win));
			CHECK_TEXT(m, "oriel_win_wait");
			CHECK_TEXT(m, "waiting for rank");
			CHECK_TEXT(m, " 2 (no complete yet)");
			CHECK_OK(m, oriel_win_test(w.win, &flag));
			CHECK(m, flag == 0);
			CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_post(w.win, both, 0));
			multi_raise(m, TIMED_OUT, round);
			if (round == 1) {
				CHECK_OK(m, oriel_win_wait(w.win));
			} else {
				while (oriel_win_test(w.win, &flag) == 0 && !flag)
					;
				CHECK(m, flag == 1);
			}
			CHECK(m, w.base[1] == 1 && w.base[2] == 2);
			multi_raise(m, DONE, round);
			continue;
		}
		CHECK_OK(m, oriel_win_start(w.win, zero, 0));
		CHECK_OK(m, oriel_put(w.win, &value, 1, 0, (size_t)m->rank));
		if (m->rank == 2)
			multi_await(m, TIMED_OUT, round);
		CHECK_OK(m, oriel_win_complete(w.win));
		multi_await(m, DONE, round);
	}
	close_together(m, &w);
	multi_group_drop(m, zero);
	multi_group_drop(m, both);
}

/* E5: flush waits for the post; the operation is neither lost nor done twice. */
static void flush_can_be_repeated(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	uint8_t value = 4;

	open_together(m, &w, 64);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(w.win, other, 0));
		CHECK_OK(m, oriel_put(w.win, &value, 1, 1, 0));
		CHECK_IN_VAIN(m, oriel_win_flush(w.win, 1));
		CHECK_IN_VAIN(m, oriel_win_flush_local(w.win, ORIEL_RANK_ALL));
		multi_raise(m, TIMED_OUT, 1);
		CHECK_OK(m, oriel_win_flush(w.win, 1));
		multi_raise(m, DONE, 1);
		CHECK_OK(m, oriel_win_complete(w.win));
	} else {
		multi_await(m, TIMED_OUT, 1);
		CHECK(m, w.base[0] == 0);
		CHECK_OK(m, oriel_win_post(w.win, other, 0));
		multi_await(m, DONE, 1);
		CHECK(m, w.base[0] == 4);
		CHECK_OK(m, oriel_win_wait(w.win));
	}
	close_together(m, &w);
	multi_group_drop(m, other);
}

/*
 * F2, E5: no rank leaves the fence before the last one has come to it; the same fence goes on, and
 * those after it are in step.
 */
static void fence_waits_for_everybody(struct multi *m)
{
	struct multi_window w;
	uint8_t value = (uint8_t)(m->rank + 1);

	open_together(m, &w, 64);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (uint64_t round = 1; round <= 2; round++) {
		memset(w.base, 0, 64);
		multi_sync(m);
		CHECK_OK(m, oriel_put(w.win, &value, 1, (m->rank + 1) % m->size, round));
		if (m->rank == 2) {
			for (uint64_t rank = 0; rank < 4; rank++) {
				if (rank != 2)
					multi_await(m, 10 + (int)rank, round);
			}
			CHECK_OK(m, oriel_win_fence(w.win, 0));
		} else {
			CHECK_IN_VAIN(m, oriel_win_fence(w.win, 0));
			CHECK_TEXT(m, "oriel_win_fence");
			CHECK_TEXT(m, "waiting for rank "); /* the partner of the round */
			CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(w.win, &value, 1, 2, 9)); /* it would belong to no epoch */
			CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
			CHECK_TEXT(m, "a fence has timed out; call oriel_win_fence again");
			multi_raise(m, 10 + m->rank, round);
			CHECK_OK(m, oriel_win_fence(w.win, 0));
		}
		CHECK(m, w.base[round] == (m->rank + 3) % 4 + 1 && w.base[9] == 0);
		multi_sync(m);
		CHECK_OK(m, oriel_put(w.win, &value, 1, (m->rank + 1) % m->size, 20));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK(m, w.base[20] == (m->rank + 3) % 4 + 1);
	}
	close_together(m, &w);
}

/* W7, E5: free is collective; until the last one comes the window lives on, but takes no epochs. */
static void free_can_be_repeated(struct multi *m)
{
	struct multi_window w;
	oriel_group *all = multi_group_mask(m, 0x7);

	open_together(m, &w, 64);
	if (m->rank == 2) {
		multi_await(m, TIMED_OUT, 1);
		multi_await(m, TIMED_OUT + 1, 1);
	} else {
		oriel_win *before = w.win;

		CHECK_IN_VAIN(m, oriel_win_free(&w.win));
		CHECK_TEXT(m, "oriel_win_free");
		CHECK(m, w.win == before);
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_post(w.win, all, 0));
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_start(w.win, all, 0));
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_fence(w.win, 0));
		multi_raise(m, TIMED_OUT + m->rank, 1);
	}
	multi_window_close(m, &w);
	open_together(m, &w, 64); /* and the next window is as good as any */
	close_together(m, &w);
	multi_group_drop(m, all);
}

/* E5: a window that one member never comes to make; it is made nowhere, and the next one is. */
static void create_fails_for_all(struct multi *m)
{
	oriel_group *two = multi_group_mask(m, 0x3), *turned = multi_group(m, 3, (int[]){ 2, 1, 0 });
	struct multi_window w;
	uint8_t memory[64];
	oriel_win *win = NULL;

	multi_sync(m);
	if (m->rank != 2) {
		CHECK_IN_VAIN(m, oriel_win_create(memory, 64, 1, NULL, turned, &win));
		CHECK(m, win == NULL);
		multi_sync(m);
		CHECK_OK(m, oriel_win_create(memory, 64, 1, NULL, two, &win)); /* other lists of members are not concerned */
		CHECK_OK(m, oriel_win_free(&win));
	} else {
		multi_sync(m);
	}
	open_together(m, &w, 64);
	close_together(m, &w);
	multi_group_drop(m, two);
	multi_group_drop(m, turned);
}

/* E5: one member's time passes before the other comes, which gets an error; then they go on. */
static void create_is_taken_back(struct multi *m)
{
	struct multi_window w;
	uint8_t memory[64];
	oriel_win *win = NULL;

	open_together(m, &w, 64); /* the two are connected */
	if (m->rank == 1) {
		CHECK_IN_VAIN(m, oriel_win_create(memory, 64, 1, NULL, m->group, &win));
		multi_drain(m);
		multi_raise(m, TIMED_OUT, 1);
	} else {
		multi_await(m, TIMED_OUT, 1);
		CHECK_RC(m, ORIEL_ERR_TIMEOUT, oriel_win_create(memory, 64, 1, NULL, m->group, &win));
		CHECK_TEXT(m, "oriel_win_create");
		CHECK_TEXT(m, "rank 1");
	}
	CHECK(m, win == NULL);
	close_together(m, &w);
	open_together(m, &w, 64);
	close_together(m, &w);
}

/*
 * Which slot of this rank's directory is the window's; its entry is taken away, as if it had not
 * been made.
 */
static void hide_window(struct multi *m, oriel_win *win)
{
	directory_hide(m->job, win->slot);
}

/*
 * E5: a member that does not have the window costs the ranks that need it there, and the window; no
 * rank is lost.
 */
static void window_that_is_not_there(struct multi *m)
{
	struct multi_window w, other;
	oriel_group *first = multi_group_one(m, 1);
	uint8_t byte = 3;
	int rc;

	multi_sync(m);
	multi_window_open(m, &w, 64);
	multi_window_open(m, &other, 64);
	if (m->rank == 1)
		hide_window(m, w.win);
	multi_sync(m);
	if (m->rank != 1) {
		CHECK_OK(m, oriel_win_start(w.win, first, 0));
		CHECK_RC(m, ORIEL_ERR_PEER, oriel_put(w.win, &byte, 1, 1, 0));
		CHECK_TEXT(m, "oriel_put");
		CHECK_TEXT(m, "rank 1");
		CHECK_TEXT(m, "does not have the window");
		CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_complete(w.win));
		CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_free(&w.win));
	}
	multi_sync(m);
	CHECK_OK(m, oriel_barrier(m->job));
	CHECK_OK(m, oriel_win_fence(other.win, 0));
	CHECK_OK(m, oriel_put(other.win, &byte, 1, 1, (size_t)m->rank));
	CHECK_OK(m, oriel_win_fence(other.win, 0));
	if (m->rank == 1) {
		CHECK(m, other.base[0] == 3 && multi_all(other.base, (size_t)m->size, 3));
		rc = oriel_win_free(&w.win); /* it has the window, and may have heard from all before they missed it */
		CHECK(m, rc == 0 || rc == ORIEL_ERR_PEER);
	}
	CHECK(m, w.win == NULL);
	free(w.base);
	close_together(m, &other);
	multi_group_drop(m, first);
}

/* A lock that comes as soon as those before it have gone on, on a machine however slow. */
static void lock_at_last(struct multi *m, const struct multi_window *w)
{
	int rc = ORIEL_ERR_TIMEOUT;

	while (rc == ORIEL_ERR_TIMEOUT)
		rc = oriel_win_lock(w->win, ORIEL_LOCK_EXCLUSIVE, 0, 0);
	CHECK_OK(m, rc);
	CHECK_OK(m, oriel_win_unlock(w->win, 0));
}

/* Rank 0 holds its own lock until rank 1 has timed out asking for it. */
static void time_out_behind_rank_0(struct multi *m, const struct multi_window *w, enum oriel_lock_type type)
{
	if (m->rank == 0)
		CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	multi_sync(m);
	if (m->rank == 1) {
		CHECK_IN_VAIN(m, oriel_win_lock(w->win, type, 0, 0));
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock(w->win, 0)); /* it is not held */
	}
	multi_sync(m);
	if (m->rank == 0)
		CHECK_OK(m, oriel_win_unlock(w->win, 0));
	multi_sync(m);
}

/* L24: a lock that timed out can be asked for again, of the other type too; or not, and others go on. */
static void lock_times_out(struct multi *m)
{
	struct multi_window w;

	CHECK(m, m->job->limits.timeout_ms == LIMIT_MS); /* as the program has asked for */
	open_together(m, &w, 64);
	for (int i = 0; i < 4; i++) {
		time_out_behind_rank_0(m, &w, i % 2 ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE);
		if ((i >= 2 && m->rank == 1) || m->rank == 2)
			lock_at_last(m, &w);
		multi_sync(m);
	}
	time_out_behind_rank_0(m, &w, ORIEL_LOCK_EXCLUSIVE); /* the free passes it on */
	close_together(m, &w);
}

/* A process that is stopped: every thread of it. */
static void stop(const struct multi *m, int rank)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)multi_pid(m, rank));
	kill(multi_pid(m, rank), SIGSTOP);
	while (state != 'T') {
		FILE *file = fopen(path, "r");

		if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
			state = 'T'; /* gone: the checks tell */
		if (file)
			fclose(file);
		sched_yield();
	}
}

/*
 * Rank 2 asks while rank 1, which is stopped, is before it: it gets nothing but a time-out; other
 * locks go on.
 */
static void time_out_behind_stopped(struct multi *m, const struct multi_window *w, enum oriel_lock_type type)
{
	CHECK_IN_VAIN(m, oriel_win_lock(w->win, type, 0, 0));
	CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_EXCLUSIVE, 2, 0));
	CHECK_OK(m, oriel_win_unlock(w->win, 2));
}

static void lock_and_see_no_orphan(struct multi *m, const struct multi_window *w)
{
	int rc = ORIEL_ERR_TIMEOUT;

	while (rc == ORIEL_ERR_TIMEOUT)
		rc = oriel_win_lock(w->win, ORIEL_LOCK_EXCLUSIVE, 0, 0);
	CHECK_OK(m, rc);
	CHECK_RC(m, 0, oriel_win_lock_orphaned(w->win, 0));
	CHECK_OK(m, oriel_win_unlock(w->win, 0));
}

/* L21, L24: a rank that is stopped while it holds the lock is not dead, and keeps it. */
static void stopped_holder_keeps_it(struct multi *m)
{
	struct multi_window w;

	open_together(m, &w, 64);
	if (m->rank == 1)
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	multi_sync(m);
	if (m->rank == 2) {
		stop(m, 1);
		time_out_behind_stopped(m, &w, ORIEL_LOCK_EXCLUSIVE);
		kill(multi_pid(m, 1), SIGCONT);
		multi_raise(m, DONE, 1);
	}
	if (m->rank == 1) {
		while (!multi_word(m, DONE)) /* in no call, and not at the board for long */
			sched_yield();
		CHECK_OK(m, oriel_win_unlock(w.win, 0));
	}
	lock_and_see_no_orphan(m, &w);
	close_together(m, &w);
}

/* Rank 0 holds its own lock, and waits until another rank waits for it. */
static void await_waiter(struct multi *m, const struct multi_window *w)
{
	const struct lock_header *header;

	pthread_mutex_lock(&m->job->lock);
	header = &lock_table_words(m->job, w->win->slot)->header;
	pthread_mutex_unlock(&m->job->lock);
	while (flag_load(&header->next) - flag_load(&header->serving) < 2) /* pairs with the fetch-and-add of a writer */
		sched_yield();
}

/*
 * L21, L24: a rank that is stopped while it waits for the lock keeps its place, and the ranks
 * behind it wait.
 */
static void stopped_waiter_keeps_its_place(struct multi *m)
{
	struct multi_window w;

	open_together(m, &w, 64);
	if (m->rank == 0)
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	multi_sync(m);
	if (m->rank == 0) {
		await_waiter(m, &w);
		multi_raise(m, TIMED_OUT, 1);
		multi_await(m, DONE, 1);
		CHECK_OK(m, oriel_win_unlock(w.win, 0));
		multi_raise(m, TIMED_OUT, 2);
	}
	if (m->rank == 2) {
		multi_await(m, TIMED_OUT, 1);
		stop(m, 1); /* inside the call, or between two: not at the board */
		multi_raise(m, DONE, 1);
		multi_await(m, TIMED_OUT, 2);
		time_out_behind_stopped(m, &w, ORIEL_LOCK_SHARED);
		kill(multi_pid(m, 1), SIGCONT);
	}
	lock_and_see_no_orphan(m, &w);
	close_together(m, &w);
}

#define LONG_COUNT 6000 /* elements: more than the active messages that a target can have before it */

/*
 * E5, A1: the target is to apply an accumulate and does not get on: all of it is applied, once,
 * when it does.
 */
static void accumulate_is_applied_once(struct multi *m)
{
	multi_rest *ones = multi_alloc((LONG_COUNT + 1) * sizeof(*ones)), *sums;
	const size_t end = LONG_COUNT * sizeof(*ones);
	struct multi_window w;
	int rc;

	for (int i = 0; i <= LONG_COUNT; i++)
		ones[i] = 1;
	open_together(m, &w, end + sizeof(*ones));
	sums = (multi_rest *)(void *)w.base;
	memset(w.base, 0, w.size_bytes);
	multi_sync(m);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, 1, ORIEL_MODE_NOCHECK));
		CHECK_OK(m, oriel_accumulate(w.win, ones, 1, MULTI_REST, ORIEL_SUM, 1, 0)); /* first contact */
		do
			rc = oriel_win_flush(w.win, 1);
		while (rc == ORIEL_ERR_TIMEOUT);
		CHECK_OK(m, rc);
		kill(multi_pid(m, 1), SIGSTOP);
		set_limit(m, VAIN_MS);
		CHECK_OK(m, oriel_accumulate(w.win, ones, LONG_COUNT + 1, MULTI_REST, ORIEL_SUM, 1, 0));
		set_limit(m, LIMIT_MS);
		kill(multi_pid(m, 1), SIGCONT);
		do
			rc = oriel_win_unlock(w.win, 1);
		while (rc == ORIEL_ERR_TIMEOUT);
		CHECK_OK(m, rc);
		multi_raise(m, DONE, 1);
	} else {
		while (__atomic_load_n(w.base + end + 7, __ATOMIC_ACQUIRE) == 0) /* a byte of 1 that is not 0 */
			sched_yield();                                               /* computes, or is stopped */
		multi_await(m, DONE, 1);
		CHECK(m, sums[0] == 2);
		for (int i = 1; i <= LONG_COUNT; i++)
			CHECK(m, sums[i] == 1);
	}
	close_together(m, &w);
	free(ones);
}

static const struct multi_case cases[] = {
	{ "L24_lock_times_out", 3, lock_times_out },
	{ "L21_L24_stopped_holder_keeps_it", 3, stopped_holder_keeps_it },
	{ "L21_L24_stopped_waiter_keeps_its_place", 3, stopped_waiter_keeps_its_place },
	{ "E5_A1_accumulate_is_applied_once", 2, accumulate_is_applied_once },
	{ "E5_P5_complete_waits_for_every_post", 3, complete_waits_for_every_post },
	{ "E5_P7_wait_waits_for_every_origin", 3, wait_waits_for_every_origin },
	{ "E5_F2_fence_waits_for_everybody", 4, fence_waits_for_everybody },
	{ "E5_flush_can_be_repeated", 2, flush_can_be_repeated },
	{ "E5_W7_free_can_be_repeated", 3, free_can_be_repeated },
	{ "E5_create_fails_for_all", 3, create_fails_for_all },
	{ "E5_create_is_taken_back", 2, create_is_taken_back },
	{ "E5_window_that_is_not_there", 0, window_that_is_not_there },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_timeout",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
		.options = { .struct_bytes = sizeof(struct oriel_options), .timeout_ms = LIMIT_MS },
	};

	return multi_main(argc, argv, &program);
}
