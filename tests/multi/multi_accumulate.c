// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_accumulate.c - accumulate, get_accumulate, fetch_and_op, compare_and_swap: in every epoch,
 * with any buffers, at any displacement, with any hint. Rules A1, A2, A7, A13, A14, A16, A18, A19
 *
 * Most have two ranks, which accumulate to each other. What types and operations make of elements is in
 * multi_elements.c, and what ranks change at once in multi_concurrent.c.
 */
#include <stdlib.h>
#include <string.h>

#include "accumulates.h"

/*
 * A1: the four calls; the operands of the last two are read before the call returns, also where it
 * is deferred.
 */
static void four_calls(struct multi *m)
{
	int32_t two[2] = { 5, 6 }, old[2] = { 0, 0 }, one = 10, seven = 5, result = 0, before = 0;
	int other = 1 - m->rank;
	oriel_group *peer = multi_group_one(m, other);
	struct multi_window w;
	int32_t *mine;

	open_allocated(m, &w, 64, NULL);
	mine = (int32_t *)(void *)w.base;
	multi_warm(m, w.win);
	CHECK_OK(m, oriel_win_start(w.win, peer, 0));
	CHECK_OK(m, oriel_accumulate(w.win, two, 2, ORIEL_INT32, ORIEL_SUM, other, 0));
	CHECK_OK(m, oriel_get_accumulate(w.win, two, old, 2, ORIEL_INT32, ORIEL_PROD, other, 0));
	CHECK_OK(m, oriel_fetch_and_op(w.win, &one, &result, ORIEL_INT32, ORIEL_SUM, other, 8));
	one = 1000;
	CHECK_OK(m, oriel_compare_and_swap(w.win, &seven, &result, &before, ORIEL_INT32, other, 12)); /* result is 0 yet */
	seven = 1000;
	result = 0;
	multi_sync(m); /* nothing has been posted before */
	CHECK_OK(m, oriel_win_post(w.win, peer, 0));
	CHECK_OK(m, oriel_win_complete(w.win));
	CHECK_OK(m, oriel_win_wait(w.win));
	CHECK(m, mine[0] == 25 && mine[1] == 36 && mine[2] == 10 && mine[3] == 5);
	CHECK(m, old[0] == 5 && old[1] == 6 && result == 0 && before == 0);
	multi_group_drop(m, peer);
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* One of each, in the epoch that is open. */
static void one_of_each(struct multi *m, oriel_win *win, int to)
{
	static const double half = 0.5;
	static const uint16_t first = 1, second = 2;
	int64_t old = -1, one = 1;
	uint16_t was = 9;

	CHECK_OK(m, oriel_accumulate(win, &half, 1, ORIEL_DOUBLE, ORIEL_SUM, to, 0));
	CHECK_OK(m, oriel_get_accumulate(win, &one, &old, 1, ORIEL_INT64, ORIEL_SUM, to, 8));
	CHECK_OK(m, oriel_fetch_and_op(win, &one, &old, ORIEL_INT64, ORIEL_SUM, to, 8));
	CHECK_OK(m, oriel_compare_and_swap(win, &second, &first, &was, ORIEL_UINT16, to, 16));
	CHECK_OK(m, oriel_win_flush(win, to));
	CHECK(m, old % 2 == 1 && was == 0);
}

/* A2: in every kind of access epoch; what the target waits for has been applied then. */
static void every_epoch(struct multi *m)
{
	int other = 1 - m->rank;
	oriel_group *peer = multi_group_one(m, other);
	struct multi_window w;
	double sum;

	open_allocated(m, &w, 64, NULL);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_accumulate(w.win, &other, 1, ORIEL_INT32, ORIEL_SUM, other, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_fetch_and_op(w.win, &other, &sum, ORIEL_INT32, ORIEL_SUM, other, 0));
	for (int turn = 1; turn <= 10; turn++) {
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		one_of_each(m, w.win, other);
		CHECK_OK(m, oriel_win_fence(w.win, ORIEL_MODE_NOSUCCEED));
		memcpy(&sum, w.base, sizeof(sum));
		CHECK(m, sum == 2.0 * turn - 1.5);
		multi_sync(m);
		CHECK_OK(m, oriel_win_post(w.win, peer, 0));
		CHECK_OK(m, oriel_win_start(w.win, peer, 0));
		one_of_each(m, w.win, other);
		CHECK_OK(m, oriel_win_complete(w.win));
		CHECK_OK(m, oriel_win_wait(w.win));
		memcpy(&sum, w.base, sizeof(sum));
		CHECK(m, sum == 2.0 * turn - 1.0);
		multi_sync(m);
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, other, 0));
		one_of_each(m, w.win, other);
		CHECK_OK(m, oriel_win_unlock(w.win, other));
		CHECK_OK(m, oriel_win_lock_all(w.win, 0));
		one_of_each(m, w.win, other);
		CHECK_OK(m, oriel_win_unlock_all(w.win));
		multi_sync(m);
		memcpy(&sum, w.base, sizeof(sum));
		CHECK(m, sum == 2.0 * turn);
		multi_sync(m);
	}
	multi_group_drop(m, peer);
	CHECK_OK(m, oriel_win_free(&w.win));
}

/*
 * A7, and what D8 says of zero: buffers that overlap, counts of nothing and of too much, an origin
 * in one's own window.
 */
static void buffers(struct multi *m)
{
	const size_t many = 300000;
	int other = 1 - m->rank;
	struct multi_window w;
	int64_t two[2] = { 1, 2 }, old[2];
	int32_t *mine;

	open_allocated(m, &w, 2 * many * sizeof(int32_t), NULL);
	mine = (int32_t *)(void *)w.base;
	for (size_t i = 0; i < many; i++)
		mine[many + i] = (int32_t)i;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_get_accumulate(w.win, two, two + 1, 2, ORIEL_INT64, ORIEL_SUM, other, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_get_accumulate(w.win, two + 1, two, 2, ORIEL_INT64, ORIEL_SUM, other, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_fetch_and_op(w.win, two, NULL, ORIEL_INT64, ORIEL_SUM, other, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_accumulate(w.win, NULL, 1, ORIEL_INT64, ORIEL_SUM, other, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_compare_and_swap(w.win, two, NULL, old, ORIEL_INT64, other, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_compare_and_swap(w.win, two, old, old, ORIEL_INT64, other, 0));
	CHECK_OK(m, oriel_accumulate(w.win, NULL, 0, ORIEL_INT64, ORIEL_SUM, other, SIZE_MAX));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_accumulate(w.win, NULL, 0, ORIEL_INT64, ORIEL_SUM, 2, 0));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_accumulate(w.win, two, 2, ORIEL_INT64, ORIEL_SUM, other, w.size_bytes - 8));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_accumulate(w.win, two, SIZE_MAX / 8 + 2, ORIEL_INT64, ORIEL_SUM, other, 0));
	CHECK_OK(m, oriel_accumulate(w.win, mine + many, many, ORIEL_INT32, ORIEL_SUM, other, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (size_t i = 0; i < many; i += 997)
		CHECK(m, mine[i] == (int32_t)i);
	CHECK_OK(m, oriel_win_free(&w.win));
}

/*
 * A7: pieces that match on no side; those that do not hold whole elements are refused, and nothing
 * is done.
 */
static void vectors(struct multi *m)
{
	int32_t from[] = { 1, 2, 3, 4, 5, 6 }, old[6] = { 0 };
	struct oriel_origin_piece origin[] = { { from, 4 }, { NULL, 0 }, { from + 1, 20 } };
	struct oriel_origin_piece result[] = { { old, 12 }, { old + 3, 12 } }, odd[] = { { from, 2 }, { from + 1, 22 } };
	struct oriel_target_piece target[] = { { 8, 8 }, { 0, 4 }, { 100, 0 }, { 20, 12 } };
	struct oriel_target_piece outside[] = { { 8, 8 }, { 64, 16 } };
	int other = 1 - m->rank;
	struct multi_window w;
	int32_t *mine;

	open_allocated(m, &w, 64, NULL);
	mine = (int32_t *)(void *)w.base;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_accumulatev(w.win, odd, 2, ORIEL_INT32, ORIEL_SUM, other, target, 4));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_accumulatev(w.win, origin, 1, ORIEL_INT32, ORIEL_SUM, other, target, 4));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_accumulatev(w.win, origin, -1, ORIEL_INT32, ORIEL_SUM, other, target, 4));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_accumulatev(w.win, origin, 3, ORIEL_INT32, ORIEL_SUM, other, outside, 2));
	CHECK_RC(m, ORIEL_ERR_ARG,
	         oriel_get_accumulatev(w.win, origin, 3, result, 1, ORIEL_INT32, ORIEL_SUM, other, target, 4));
	CHECK_OK(m, oriel_accumulatev(w.win, origin, 3, ORIEL_INT32, ORIEL_SUM, other, target, 4));
	CHECK_OK(m, oriel_get_accumulatev(w.win, origin, 3, result, 2, ORIEL_INT32, ORIEL_SUM, other, target, 4));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, memcmp(old, from, sizeof(from)) == 0);
	CHECK(m, mine[2] == 2 && mine[3] == 4 && mine[0] == 6 && mine[5] == 8 && mine[6] == 10 && mine[7] == 12);
	CHECK(m, mine[1] == 0 && mine[4] == 0 && mine[8] == 0);
	CHECK_OK(m, oriel_get_accumulatev(w.win, NULL, 0, result, 2, ORIEL_INT32, ORIEL_NO_OP, other, target, 4));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, old[0] == 2 && old[1] == 4 && old[2] == 6 && old[5] == 12);
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* A13: elements without alignment; and two windows on the same memory, each of which adds to it. */
static void unaligned(struct multi *m)
{
	const int count = turns(500);
	struct multi_window w;
	oriel_win *again;
	int64_t sum;
	int to = (m->rank + 1) % m->size;

	open_allocated(m, &w, 64, NULL);
	CHECK_OK(m, oriel_win_create(w.base, 64, 1, NULL, m->group, &again));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_win_fence(again, 0));
	for (int turn = 0; turn < count; turn++) {
		for (size_t disp = 3; disp <= 24; disp += 21) {
			fetch_add(m, w.win, 1, to, disp);
			fetch_add(m, again, 1, to, disp);
		}
	}
	CHECK_OK(m, oriel_win_fence(again, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (size_t disp = 3; disp <= 24; disp += 21) {
		memcpy(&sum, w.base + disp, sizeof(sum));
		CHECK(m, sum == 2 * count);
	}
	CHECK_OK(m, oriel_win_free(&again));
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* A14: of many elements each meets its own operand and leaves its own result, whichever are done first. */
static void many_in_turn(struct multi *m)
{
	enum { COUNT = 9001, TURNS = 4 };
	const size_t bytes = COUNT * sizeof(double);
	double *data = multi_alloc(bytes), *before = multi_alloc(bytes);
	int to = (m->rank + 1) % m->size, from = (m->rank + m->size - 1) % m->size;
	const double *sums;
	struct multi_window w;
	bool right = true;

	open_allocated(m, &w, bytes + sizeof(double), NULL);
	sums = (const double *)(const void *)w.base + 1;
	for (int i = 0; i < COUNT; i++)
		data[i] = i + m->rank;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int turn = 0; turn < TURNS; turn++) {
		CHECK_OK(m, oriel_get_accumulate(w.win, data, before, COUNT, ORIEL_DOUBLE, ORIEL_SUM, to, sizeof(double)));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		for (int i = 0; i < COUNT; i++)
			right = right && before[i] == turn * data[i] && sums[i] == (turn + 1.0) * (i + from);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
	}
	CHECK(m, right);
	CHECK_OK(m, oriel_win_free(&w.win));
	free(data);
	free(before);
}

/* A16, A18, A19: no hint changes what comes out. */
static void hints(struct multi *m)
{
	static const struct oriel_hint lists[][2] = {
		{ { "accumulate_ordering", "none" }, { 0 } },     { { "accumulate_ordering", " waw , rar" }, { 0 } },
		{ { "accumulate_ops", "same_op" }, { 0 } },       { { "accumulate_ops", "same_op_no_op" }, { 0 } },
		{ { "mpi_accumulate_granularity", "1" }, { 0 } }, { { "mpi_accumulate_granularity", "65536" }, { 0 } },
	};
	const int count = turns(100);
	int64_t ones[100], total = 0;

	for (int i = 0; i < 100; i++)
		ones[i] = 1;
	for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
		struct multi_window w;

		open_allocated(m, &w, sizeof(ones), lists[list]);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		for (int i = 0; i < count; i++) {
			CHECK_OK(m, oriel_accumulate(w.win, ones, 100, ORIEL_INT64, ORIEL_SUM, 0, 0));
			fetch_add(m, w.win, 1, 0, 80);
		}
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		memcpy(&total, w.base + 80, sizeof(total));
		CHECK(m, m->rank != 0 || total == 2 * (int64_t)count * m->size);
		CHECK_OK(m, oriel_win_free(&w.win));
	}
}

static const struct multi_case cases[] = {
	{ "A1_four_calls_and_their_operands", 2, four_calls },
	{ "A2_every_epoch", 2, every_epoch },
	{ "A7_buffers_and_counts", 2, buffers },
	{ "A7_vectors_hold_whole_elements", 2, vectors },
	{ "A13_unaligned_and_two_windows", 2, unaligned },
	{ "A14_many_elements_in_turn", 0, many_in_turn },
	{ "A16_ordering_A18_ops_A19_granularity_change_no_result", 0, hints },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_accumulate",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
