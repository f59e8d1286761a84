// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_timeout.c - calls that wait in vain: rule E5, and what P5, P7, F2 and W7 promise to wait
 * for
 *
 * The job has a time limit, so a call that must wait for a rank gives ORIEL_ERR_TIMEOUT as long as
 * that rank does not come, and it comes only when it has been told that the call has timed out. No
 * clock is read.
 */
#include "multi.h"

#include <stdlib.h>
#include <string.h>

#include "job/directory.h"
#include "win/win.h"

#define LIMIT_MS 1500 /* also bounds what is not meant to time out: window creation, all ranks having come to it */

enum { TIMED_OUT, DONE };

/* Everybody begins at the same time, so that creation does not time out. */
static void open_together(struct multi *m, struct multi_window *w, size_t size_bytes)
{
	multi_sync(m);
	multi_window_open(m, w, size_bytes);
	multi_sync(m);
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
		CHECK_RC(m, ORIEL_ERR_TIMEOUT, oriel_win_complete(w.win));
		CHECK_TEXT(m, "oriel_win_complete");
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_start(w.win, both, 0)); /* the epoch is still open */
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
		CHECK_RC(m, ORIEL_ERR_TIMEOUT, oriel_win_complete(w.win));
		CHECK_OK(m, oriel_put(w.win, &value, 1, 2, 3)); /* and open for the target that complete waits for */
		/* Rank 1 may have been told that the epoch is over: a further put to it would come too late. */
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
			CHECK_RC(m, ORIEL_ERR_TIMEOUT, oriel_win_wait(w.win));
			CHECK_TEXT(m, "oriel_win_wait");
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
		CHECK_RC(m, ORIEL_ERR_TIMEOUT, oriel_win_flush(w.win, 1));
		CHECK_RC(m, ORIEL_ERR_TIMEOUT, oriel_win_flush_local(w.win, ORIEL_RANK_ALL));
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
 * F2, E5: nobody leaves the fence before the last one has come to it; the same fence goes on, and
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
			CHECK_RC(m, ORIEL_ERR_TIMEOUT, oriel_win_fence(w.win, 0));
			CHECK_TEXT(m, "oriel_win_fence");
			CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(w.win, &value, 1, 2, 9)); /* it would belong to no epoch */
			CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
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

		CHECK_RC(m, ORIEL_ERR_TIMEOUT, oriel_win_free(&w.win));
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
		CHECK_RC(m, ORIEL_ERR_TIMEOUT, oriel_win_create(memory, 64, 1, NULL, turned, &win));
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

/* E5: one member's time passes before the other comes, which is told so; then they go on. */
static void create_is_taken_back(struct multi *m)
{
	struct multi_window w;
	uint8_t memory[64];
	oriel_win *win = NULL;

	open_together(m, &w, 64); /* the two are connected */
	if (m->rank == 1) {
		CHECK_RC(m, ORIEL_ERR_TIMEOUT, oriel_win_create(memory, 64, 1, NULL, m->group, &win));
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

/* Which slot of this rank's directory is the window's; its entry is taken away, as if it had not been made. */
static void hide_window(struct multi *m, oriel_win *win)
{
	directory_hide(m->job, win->slot);
}

/* E5: a member that does not have the window costs those who need it there, and the window; no rank is lost. */
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

static const struct multi_case cases[] = {
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
