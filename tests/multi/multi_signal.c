// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_signal.c - signals: rules N1 to N7
 *
 * Every case is run on a window of the program's memory and on an allocated one, whose data and
 * signals take other ways where memory is shared. Ranks are inside a fence epoch, in which everybody
 * may be signalled, unless the case says otherwise.
 */
#include "multi.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"

#define SIGNALS 8
#define BYTES 200000

/* A window with signals, of one of the two kinds. */
static void signals_open(struct multi *m, struct multi_window *w, const char *signals, bool allocated)
{
	const struct oriel_hint hints[] = { { "signals", signals }, { NULL, NULL } };

	multi_window_open_as(m, w, BYTES, hints, allocated);
}

typedef void with_window(struct multi *m, struct multi_window *w);

/* Inside a fence epoch, on both kinds of windows. */
static void on_windows(struct multi *m, with_window *run)
{
	for (int kind = 0; kind < 2; kind++) {
		struct multi_window w;

		signals_open(m, &w, "8", kind);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		run(m, &w);
		CHECK_OK(m, oriel_win_fence(w.win, ORIEL_MODE_NOSUCCEED));
		multi_window_close(m, &w);
		multi_sync(m);
	}
}

static int next_rank(const struct multi *m)
{
	return (m->rank + 1) % m->size;
}

static int rank_before(const struct multi *m)
{
	return (m->rank + m->size - 1) % m->size;
}

/* The value of the one signal that is awaited. */
static uint64_t wait_for(struct multi *m, struct multi_window *w, uint32_t signal)
{
	uint32_t which = UINT32_MAX;
	uint64_t value = 0;

	CHECK_OK(m, oriel_signal_wait(w->win, signal, 1, &which, &value));
	CHECK(m, which == signal);
	return value;
}

static int take(struct multi *m, struct multi_window *w, uint32_t *signal, uint64_t *value)
{
	int flag = -1;

	CHECK_OK(m, oriel_signal_test(w->win, 0, SIGNALS, signal, value, &flag));
	return flag;
}

/* N1: a number of its own at each member, all 0; none without the hint; no window memory. */
static void begin_at_zero_and_differ(struct multi *m)
{
	static const char *const counts[] = { "0", "1", "17", "65536" };
	static const uint32_t numbers[] = { 0, 1, 17, 65536 };
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	uint64_t value = 1;
	uint32_t which;
	struct multi_window w;

	signals_open(m, &w, counts[m->rank % 4], true);
	CHECK_OK(m, oriel_win_query(w.win, &info));
	CHECK(m, info.signal_count == numbers[m->rank % 4] && info.size_bytes == BYTES);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int to = 0; to < m->size; to++) {
		if (numbers[to % 4])
			CHECK_OK(m, oriel_signal(w.win, to, numbers[to % 4] - 1, 1, ORIEL_SIGNAL_ADD));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_signal(w.win, to, numbers[to % 4], 1, ORIEL_SIGNAL_ADD));
	}
	if (info.signal_count) {
		CHECK_OK(m, oriel_signal_until(w.win, info.signal_count - 1, (uint64_t)m->size));
		CHECK_OK(m, oriel_signal_wait(w.win, 0, info.signal_count, &which, &value));
		CHECK(m, which == info.signal_count - 1);
	}
	if (info.signal_count > 1) {
		CHECK_OK(m, oriel_signal_read(w.win, 0, &value));
		CHECK(m, value == 0);
	}
	CHECK(m, multi_all(w.base, BYTES, 0));
	CHECK_OK(m, oriel_win_fence(w.win, ORIEL_MODE_NOSUCCEED));
	multi_window_close(m, &w);
}

/* N1: thousands of windows one after the other: nothing leaks, and each begins at 0. */
static void a_new_window_begins_at_zero(struct multi *m)
{
	struct oriel_usage before = { .struct_bytes = sizeof(before) }, after = before;
	struct multi_window w;
	uint64_t value;

	for (int round = 0; round < 20; round++) {
		signals_open(m, &w, "4", round % 2);
		CHECK_OK(m, oriel_signal_read(w.win, 3, &value));
		CHECK(m, value == 0);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK_OK(m, oriel_signal(w.win, next_rank(m), 3, (uint64_t)round, ORIEL_SIGNAL_SET));
		CHECK(m, wait_for(m, &w, 3) == (uint64_t)round);
		CHECK_OK(m, oriel_win_fence(w.win, ORIEL_MODE_NOSUCCEED));
		multi_window_close(m, &w);
		if (round == 3)
			CHECK_OK(m, oriel_usage(m->job, &before));
	}
	CHECK_OK(m, oriel_usage(m->job, &after));
	CHECK(m, after.registered_bytes == before.registered_bytes && after.windows == before.windows);
}

static const size_t sizes[] = { 1, 8, 200, 221, 3000, 9000, 70000 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void put_rounds(struct multi *m, struct multi_window *w)
{
	uint8_t *data = multi_alloc(BYTES);

	for (uint64_t round = 0; round < 4 * SIZES; round++) {
		enum oriel_signal_op op = round % 2 ? ORIEL_SIGNAL_ADD : ORIEL_SIGNAL_SET;
		size_t size = sizes[round % SIZES];

		multi_fill(data, size, round * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_put(w->win, data, size, next_rank(m), 13));
		CHECK_OK(m, oriel_signal(w->win, next_rank(m), round % 4, round + 1, op));
		wait_for(m, w, round % 4);
		CHECK(m, multi_holds(w->base + 13, size, round * 100 + (uint64_t)rank_before(m)));
		CHECK_OK(m, oriel_signal(w->win, rank_before(m), 4 + round % 4, 1, op)); /* it may be put to again */
		wait_for(m, w, 4 + round % 4);
	}
	free(data);
}

/* N2: a rank that sees the signal sees what was put before, whatever the size. */
static void puts_are_there(struct multi *m)
{
	on_windows(m, put_rounds);
}

static void put_pieces(struct multi *m, struct multi_window *w)
{
	uint8_t data[64];
	struct oriel_origin_piece from[4];
	struct oriel_target_piece to[4];

	for (uint64_t round = 1; round <= 20; round++) {
		memset(data, (int)round, sizeof(data));
		for (size_t i = 0; i < 4; i++) {
			from[i] = (struct oriel_origin_piece){ data + 16 * i, 16 };
			to[i] = (struct oriel_target_piece){ 1000 * i, 16 };
		}
		CHECK_OK(m, oriel_putv(w->win, from, 4, next_rank(m), to, 4));
		CHECK_OK(m, oriel_signal(w->win, next_rank(m), 1, round, ORIEL_SIGNAL_SET));
		CHECK(m, wait_for(m, w, 1) == round);
		for (size_t i = 0; i < 4; i++)
			CHECK(m, multi_all(w->base + 1000 * i, 16, (uint8_t)round));
		CHECK_OK(m, oriel_signal(w->win, rank_before(m), 2, round, ORIEL_SIGNAL_SET));
		CHECK(m, wait_for(m, w, 2) == round);
	}
}

/* N2: all pieces of a vector. */
static void pieces_are_there(struct multi *m)
{
	on_windows(m, put_pieces);
}

static void accumulate_rounds(struct multi *m, struct multi_window *w)
{
	multi_rest one = 1, sum = 0;

	for (int round = 1; round <= 20; round++) {
		enum oriel_signal_op op = round % 2 ? ORIEL_SIGNAL_SET : ORIEL_SIGNAL_ADD;

		CHECK_OK(m, oriel_accumulate(w->win, &one, 1, MULTI_REST, ORIEL_SUM, next_rank(m), 16));
		CHECK_OK(m, oriel_signal(w->win, next_rank(m), 0, 1, op));
		wait_for(m, w, 0);
		memcpy(&sum, w->base + 16, sizeof(sum));
		CHECK(m, sum == (multi_rest)round);
		CHECK_OK(m, oriel_signal(w->win, rank_before(m), 1, 1, op));
		wait_for(m, w, 1);
	}
}

/* N2: accumulates that the target applies are applied. */
static void accumulates_are_applied(struct multi *m)
{
	on_windows(m, accumulate_rounds);
}

static void get_rounds(struct multi *m, struct multi_window *w)
{
	uint8_t *back = multi_alloc(BYTES);

	for (uint64_t round = 0; round < 4 * SIZES; round++) {
		enum oriel_signal_op op = round % 2 ? ORIEL_SIGNAL_ADD : ORIEL_SIGNAL_SET;
		size_t size = sizes[round % SIZES];

		multi_fill(w->base, size, round * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_signal(w->win, rank_before(m), 0, 1, op)); /* it is ready */
		wait_for(m, w, 0);
		CHECK_OK(m, oriel_get(w->win, back, size, next_rank(m), 0));
		CHECK_OK(m, oriel_signal(w->win, next_rank(m), 1, 1, op));
		wait_for(m, w, 1);
		memset(w->base, 0xee, size); /* it has been read */
		CHECK_OK(m, oriel_win_flush(w->win, next_rank(m)));
		CHECK(m, multi_holds(back, size, round * 100 + (uint64_t)next_rank(m)));
	}
	free(back);
}

/*
 * Rank 1's active messages stay in the ring, and with them what follows: the signal is not there
 * before they are applied.
 */
static void hold_messages(struct multi *m, struct multi_window *w, uint64_t round)
{
	struct am_service *am = &m->job->am;
	uint64_t value = 0;
	multi_rest sum;

	pthread_mutex_lock(&am->lock); /* as if another thread were applying */
	multi_raise(m, 2 * w->allocated, round);
	multi_await(m, 2 * w->allocated + 1, round);
	for (int look = 0; look < 5000; look++) {
		CHECK_OK(m, oriel_signal_read(w->win, 0, &value));
		CHECK(m, value == round - 1);
		sched_yield();
	}
	pthread_mutex_unlock(&am->lock);
	CHECK(m, wait_for(m, w, 0) == round);
	memcpy(&sum, w->base + 16, sizeof(sum));
	CHECK(m, sum == (multi_rest)round);
}

static void signal_held_messages(struct multi *m, struct multi_window *w)
{
	static const multi_rest one = 1;

	if (m->rank == 1) /* first contact */
		CHECK_OK(m, oriel_accumulate(w->win, &one, 1, MULTI_REST, ORIEL_SUM, 0, 48));
	CHECK_OK(m, oriel_win_fence(w->win, 0));
	for (uint64_t round = 1; round <= 6; round++) {
		if (m->rank == 0) {
			hold_messages(m, w, round);
			continue;
		}
		multi_await(m, 2 * w->allocated, round);
		CHECK_OK(m, oriel_accumulate(w->win, &one, 1, MULTI_REST, ORIEL_SUM, 0, 16));
		multi_raise(m, 2 * w->allocated + 1, round);
		if (round % 2)
			CHECK_OK(m, oriel_signal(w->win, 0, 0, 1, ORIEL_SIGNAL_ADD));
		else
			CHECK_OK(m, oriel_signal(w->win, 0, 0, round / 2, ORIEL_SIGNAL_SET));
		CHECK_OK(m, oriel_win_flush(w->win, 0));
	}
}

/* N2: while the target cannot apply what went before, there is no signal. */
static void held_accumulates_hold_the_signal(struct multi *m)
{
	on_windows(m, signal_held_messages);
}

/* N2: a get before the signal has been read: the target may write the memory again. */
static void gets_have_been_read(struct multi *m)
{
	on_windows(m, get_rounds);
}

/* N2, P3: deferred with the puts until the post, and in the order of the calls. */
static void held_back_in_order(struct multi *m)
{
	oriel_group *one = multi_group_one(m, 1 - m->rank);
	uint64_t data = 0, value = 0;
	struct multi_window w;
	int kind;

	for (kind = 0; kind < 2; kind++) {
		signals_open(m, &w, "8", kind);
		if (m->rank == 0) {
			CHECK_OK(m, oriel_win_start(w.win, one, 0));
			for (uint64_t i = 1; i <= 50; i++) {
				data = i;
				CHECK_OK(m, oriel_signal(w.win, 1, 0, i, ORIEL_SIGNAL_SET));
			}
			CHECK_OK(m, oriel_put(w.win, &data, sizeof(data), 1, 0));
			CHECK_OK(m, oriel_signal(w.win, 1, 1, 1, ORIEL_SIGNAL_ADD));
			multi_drain(m);
			multi_raise(m, kind, 1);
			CHECK_OK(m, oriel_win_complete(w.win));
		} else {
			multi_await(m, kind, 1);
			CHECK_OK(m, oriel_signal_read(w.win, 0, &value));
			CHECK(m, value == 0);
			CHECK_OK(m, oriel_win_post(w.win, one, 0));
			CHECK(m, wait_for(m, &w, 1) == 1);
			memcpy(&data, w.base, sizeof(data));
			CHECK(m, data == 50);
			CHECK(m, wait_for(m, &w, 0) == 50);
			CHECK_OK(m, oriel_win_wait(w.win));
		}
		multi_window_close(m, &w);
	}
	multi_group_drop(m, one);
}

/*
 * N2, P7: a signal is one of the operations of its epoch: complete when wait returns, and outside
 * it is none.
 */
static void belongs_to_its_epoch(struct multi *m)
{
	oriel_group *one = multi_group_one(m, 1 - m->rank);
	uint64_t value = 0;
	struct multi_window w;

	for (int kind = 0; kind < 2; kind++) {
		signals_open(m, &w, "8", kind);
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_signal(w.win, 1 - m->rank, 0, 1, ORIEL_SIGNAL_SET));
		for (uint64_t round = 1; round <= 30; round++) {
			CHECK_OK(m, oriel_win_post(w.win, one, 0));
			CHECK_OK(m, oriel_win_start(w.win, one, 0));
			CHECK_RC(m, ORIEL_ERR_SYNC, oriel_signal(w.win, m->rank, 0, 1, ORIEL_SIGNAL_SET));
			CHECK_OK(m, oriel_signal(w.win, 1 - m->rank, 0, round, ORIEL_SIGNAL_SET));
			CHECK_OK(m, oriel_signal(w.win, 1 - m->rank, 1, 2, ORIEL_SIGNAL_ADD));
			CHECK_OK(m, oriel_win_complete(w.win));
			CHECK_OK(m, oriel_win_wait(w.win));
			CHECK_OK(m, oriel_signal_read(w.win, 0, &value));
			CHECK(m, value == round);
			CHECK_OK(m, oriel_signal_read(w.win, 1, &value));
			CHECK(m, value == 2 * round);
		}
		multi_window_close(m, &w);
	}
	multi_group_drop(m, one);
}

static void flush_them(struct multi *m, struct multi_window *w)
{
	uint64_t value = 0;

	for (uint64_t round = 1; round <= 20; round++) {
		CHECK_OK(m, oriel_signal(w->win, next_rank(m), 0, round, ORIEL_SIGNAL_SET));
		CHECK_OK(m, oriel_signal(w->win, next_rank(m), 1, 1, ORIEL_SIGNAL_ADD));
		CHECK_OK(m, oriel_win_flush(w->win, next_rank(m)));
		multi_sync(m);
		CHECK_OK(m, oriel_signal_read(w->win, 0, &value));
		CHECK(m, value == round);
		CHECK_OK(m, oriel_signal_read(w->win, 1, &value));
		CHECK(m, value == round);
		multi_sync(m);
	}
}

/* N2: flush completes signals at the target. */
static void flush_completes_them(struct multi *m)
{
	on_windows(m, flush_them);
}

static void take_once(struct multi *m, struct multi_window *w)
{
	uint64_t value = 99;
	uint32_t which = 99;

	CHECK(m, take(m, w, &which, &value) == 0 && which == 99 && value == 99);
	multi_sync(m);
	for (uint64_t round = 0; round < 3; round++) {
		CHECK_OK(m, oriel_signal(w->win, next_rank(m), 2, 5, ORIEL_SIGNAL_SET)); /* the same value each time */
		CHECK(m, wait_for(m, w, 2) == 5);
		CHECK(m, take(m, w, &which, &value) == 0);
		multi_sync(m);
	}
	CHECK_OK(m, oriel_signal_read(w->win, 2, &value));
	CHECK(m, value == 5);
}

/* N3: taken once; SET to the value that it had, it is there again. */
static void the_same_value_is_seen_again(struct multi *m)
{
	on_windows(m, take_once);
}

static void take_all(struct multi *m, struct multi_window *w)
{
	for (int round = 0; round < 5; round++) {
		unsigned seen = 0;

		for (uint32_t s = 0; s < SIGNALS; s++)
			CHECK_OK(m, oriel_signal(w->win, next_rank(m), s, 10 + s, s % 2 ? ORIEL_SIGNAL_SET : ORIEL_SIGNAL_ADD));
		for (uint32_t i = 0; i < SIGNALS; i++) {
			uint64_t value = 0;
			uint32_t which = 0;

			CHECK_OK(m, oriel_signal_wait(w->win, 0, SIGNALS, &which, &value));
			CHECK(m, which < SIGNALS && !(seen >> which & 1));
			CHECK(m, value == (which % 2 ? 10 + which : (10 + which) * (uint64_t)(round + 1)));
			seen |= 1u << which;
		}
		CHECK(m, seen == (1u << SIGNALS) - 1);
		multi_sync(m);
	}
}

/* N3: each of a range that has changed, once. */
static void a_range_gives_each_once(struct multi *m)
{
	on_windows(m, take_all);
}

static void outside_the_range(struct multi *m, struct multi_window *w)
{
	uint64_t value = 0;
	uint32_t which = 0;
	int flag = -1;

	CHECK_OK(m, oriel_signal(w->win, next_rank(m), 5, 1, ORIEL_SIGNAL_SET));
	CHECK_OK(m, oriel_signal(w->win, next_rank(m), 2, 1, ORIEL_SIGNAL_SET));
	CHECK_OK(m, oriel_signal_until(w->win, 2, 1));
	CHECK_OK(m, oriel_signal_until(w->win, 5, 1));
	CHECK_OK(m, oriel_signal_test(w->win, 3, 2, &which, &value, &flag));
	CHECK(m, flag == 0);
	CHECK_OK(m, oriel_signal_test(w->win, 3, 3, &which, &value, &flag));
	CHECK(m, flag == 1 && which == 5);
	CHECK(m, wait_for(m, w, 2) == 1);
}

/* N3: a signal that is not in the range stays. */
static void others_stay(struct multi *m)
{
	on_windows(m, outside_the_range);
}

static void test_alone(struct multi *m, struct multi_window *w)
{
	uint64_t data = 0, value = 0;
	uint32_t which = 0;

	for (uint64_t round = 1; round <= 20; round++) {
		CHECK_OK(m, oriel_put(w->win, &round, sizeof(round), next_rank(m), 0));
		CHECK_OK(m, oriel_signal(w->win, next_rank(m), 6, round, ORIEL_SIGNAL_SET));
		while (!take(m, w, &which, &value) && !multi_failed(m))
			sched_yield();
		CHECK(m, which == 6 && value == round);
		memcpy(&data, w->base, sizeof(data));
		CHECK(m, data == round);
		multi_sync(m);
	}
}

/* N3: tested again and again it becomes true without any other call. */
static void test_becomes_true(struct multi *m)
{
	on_windows(m, test_alone);
}

static void count_adds(struct multi *m, struct multi_window *w)
{
	uint64_t value = 0;

	for (uint64_t round = 1; round <= 10; round++) {
		for (int to = 0; to < m->size; to++)
			CHECK_OK(m, oriel_signal(w->win, to, 4, 3, ORIEL_SIGNAL_ADD));
		CHECK_OK(m, oriel_signal_until(w->win, 4, round * 3 * (uint64_t)m->size));
		multi_sync(m);
	}
	CHECK_OK(m, oriel_signal_read(w->win, 4, &value));
	CHECK(m, value == 30 * (uint64_t)m->size);
	CHECK(m, wait_for(m, w, 4) == value); /* nothing has been taken */
}

/* N4: counting what many origins add. */
static void until_counts(struct multi *m)
{
	on_windows(m, count_adds);
}

static void past_the_end(struct multi *m, struct multi_window *w)
{
	CHECK_OK(m, oriel_signal(w->win, next_rank(m), 0, UINT64_MAX - 1, ORIEL_SIGNAL_SET));
	CHECK_OK(m, oriel_signal_until(w->win, 0, UINT64_MAX - 1));
	CHECK_OK(m, oriel_signal(w->win, next_rank(m), 0, 5, ORIEL_SIGNAL_ADD));
	CHECK_OK(m, oriel_signal_until(w->win, 0, 3));
	CHECK(m, wait_for(m, w, 0) == 3);
	CHECK_OK(m, oriel_signal_until(w->win, 0, UINT64_MAX - 1)); /* it has gone past it */
}

/* N4: modulo 2^64. */
static void until_wraps(struct multi *m)
{
	on_windows(m, past_the_end);
}

#define ADDS 300

struct adder {
	struct multi *m;
	struct multi_window *w;
};

static void *add_many(void *arg)
{
	struct adder *adder = arg;

	for (int i = 0; i < ADDS; i++)
		CHECK_OK(adder->m, oriel_signal(adder->w->win, 0, 3, 1, ORIEL_SIGNAL_ADD));
	return NULL;
}

static void storm(struct multi *m, struct multi_window *w)
{
	struct adder adder = { m, w };
	uint64_t value = 0;
	pthread_t other;

	CHECK(m, pthread_create(&other, NULL, add_many, &adder) == 0);
	add_many(&adder);
	pthread_join(other, NULL);
	CHECK_OK(m, oriel_win_flush(w->win, 0));
	multi_sync(m);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_signal_read(w->win, 3, &value));
		CHECK(m, value == 2 * ADDS * (uint64_t)m->size);
	}
}

/* N5, E4: no ADD is lost, of all ranks, the target among them, with two threads each. */
static void no_add_is_lost(struct multi *m)
{
	on_windows(m, storm);
}

static void count_up(struct multi *m, struct multi_window *w)
{
	uint64_t last = 0, value = 0, most = 400;
	uint32_t which;

	for (uint64_t i = 1; i <= most; i++)
		CHECK_OK(m, oriel_signal(w->win, next_rank(m), 0, i, ORIEL_SIGNAL_SET));
	while (last < most && !multi_failed(m)) {
		if (!take(m, w, &which, &value))
			continue;
		CHECK(m, value > last && value <= most);
		last = value;
	}
}

/* N5: SETs of one origin arrive in order, and the last one stays. */
static void sets_arrive_in_order(struct multi *m)
{
	on_windows(m, count_up);
}

/* Both halves say which rank has set it, and how often before. */
static uint64_t own_value(int rank, uint64_t i)
{
	return (uint64_t)(rank + 1) << 56 | i << 32 | (uint64_t)(rank + 1) << 24 | i;
}

static bool is_own_value(const struct multi *m, uint64_t value)
{
	int rank = (int)(value >> 56) - 1;

	return rank >= 0 && rank < m->size && value == own_value(rank, value & 0xffffff);
}

static void set_together(struct multi *m, struct multi_window *w)
{
	uint64_t i, value = 0, most = 300;
	uint32_t which;

	for (i = 1; i <= most; i++) {
		CHECK_OK(m, oriel_signal(w->win, 0, 0, own_value(m->rank, i), ORIEL_SIGNAL_SET));
		if (m->rank == 0 && take(m, w, &which, &value))
			CHECK(m, is_own_value(m, value));
	}
	CHECK_OK(m, oriel_win_flush(w->win, 0));
	multi_sync(m);
	if (m->rank != 0)
		return;
	CHECK_OK(m, oriel_signal_read(w->win, 0, &value));
	CHECK(m, is_own_value(m, value));
	while (take(m, w, &which, &value))
		CHECK(m, is_own_value(m, value));
	CHECK_OK(m, oriel_signal(w->win, 0, 0, 77, ORIEL_SIGNAL_SET)); /* whatever they have left */
	CHECK(m, wait_for(m, w, 0) == 77);
}

/* N5, N6: SETs of several origins to one signal leave one of theirs. */
static void sets_together_leave_one(struct multi *m)
{
	on_windows(m, set_together);
}

static void set_and_add(struct multi *m, struct multi_window *w)
{
	uint64_t value = 0;

	for (int to = 0; to < m->size; to++)
		CHECK_OK(m, oriel_signal(w->win, to, 1, 10, ORIEL_SIGNAL_ADD));
	CHECK_OK(m, oriel_signal(w->win, next_rank(m), 1, 1000, ORIEL_SIGNAL_SET));
	CHECK_OK(m, oriel_win_flush(w->win, ORIEL_RANK_ALL));
	multi_sync(m);
	CHECK_OK(m, oriel_signal_read(w->win, 1, &value));
	CHECK(m, value == 1000 + 10 * (uint64_t)m->size);
}

/* N5: the last SET plus all ADDs. */
static void set_and_add_mix(struct multi *m)
{
	on_windows(m, set_and_add);
}

static void flip(struct multi *m, struct multi_window *w)
{
	uint64_t value = 0, data = 0, last = 0, most = 300;
	uint32_t which;

	for (uint64_t i = 1; i <= most; i++) {
		data = i % 2 ? ~i : i; /* every byte changes */
		CHECK_OK(m, oriel_signal(w->win, next_rank(m), 0, data, ORIEL_SIGNAL_SET));
		CHECK_OK(m, oriel_signal_read(w->win, 0, &value));
		value = value > most ? ~value : value;
		CHECK(m, value <= most);
		if (!take(m, w, &which, &value))
			continue;
		value = value > most ? ~value : value;
		CHECK(m, value > last && value <= most);
		last = value;
	}
	while (last < most && !multi_failed(m)) {
		last = wait_for(m, w, 0);
		last = last > most ? ~last : last;
	}
}

/* N6: no reading is a mixture of two values. */
static void no_mixture_is_seen(struct multi *m)
{
	on_windows(m, flip);
}

static void wrong_numbers(struct multi *m, struct multi_window *w)
{
	uint64_t value = 0;
	uint32_t which = 0;
	int flag = 0;

	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_signal(w->win, next_rank(m), SIGNALS, 1, ORIEL_SIGNAL_SET));
	CHECK_TEXT(m, " has 8 signals; the hint signals sets their number");
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_signal(w->win, next_rank(m), UINT32_MAX, 1, ORIEL_SIGNAL_ADD));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_signal(w->win, m->size, 0, 1, ORIEL_SIGNAL_SET));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_signal(w->win, next_rank(m), 0, 1, (enum oriel_signal_op)3));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_signal_wait(w->win, 0, SIGNALS + 1, &which, &value));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_signal_wait(w->win, SIGNALS, 1, &which, &value));
	CHECK_TEXT(m, "1 from signal 8 on, this rank has 8 signals; the hint signals sets their number");
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_signal_wait(w->win, 2, UINT32_MAX - 1, &which, &value));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_signal_wait(w->win, 0, 0, &which, &value));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_signal_wait(w->win, 0, 1, NULL, &value));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_signal_test(w->win, 0, 1, &which, &value, NULL));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_signal_test(w->win, 7, 2, &which, &value, &flag));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_signal_until(w->win, SIGNALS, 0));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_signal_read(w->win, SIGNALS, &value));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_signal_read(w->win, 0, NULL));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_signal_read(NULL, 0, &value));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_signal_until(NULL, 0, 0));
	multi_sync(m);
	for (uint32_t s = 0; s < SIGNALS; s++) {
		CHECK_OK(m, oriel_signal_read(w->win, s, &value));
		CHECK(m, value == 0);
	}
}

/* N7: signal numbers that do not exist are errors, and nothing is sent. */
static void numbers_outside_are_told(struct multi *m)
{
	on_windows(m, wrong_numbers);
}

static void no_time(struct multi *m, struct multi_window *w)
{
	uint64_t value = 0;
	uint32_t which = 0;

	CHECK_OK(m, oriel_signal(w->win, next_rank(m), 0, 4, ORIEL_SIGNAL_SET));
	CHECK(m, wait_for(m, w, 0) == 4);
	CHECK_OK(m, oriel_signal_until(w->win, 0, 4)); /* there already: no waiting, so no limit */
	CHECK_OK(m, oriel_signal_until(w->win, 0, 3));
	CHECK(m, take(m, w, &which, &value) == 0);
}

/* N4: a value that has been reached is not waited for, taken or not. */
static void until_reached_returns_at_once(struct multi *m)
{
	on_windows(m, no_time);
}

static const struct multi_case cases[] = {
	{ "N1_begin_at_zero_and_differ", 0, begin_at_zero_and_differ },
	{ "N1_a_new_window_begins_at_zero", 2, a_new_window_begins_at_zero },
	{ "N2_puts_are_there", 0, puts_are_there },
	{ "N2_pieces_are_there", 3, pieces_are_there },
	{ "N2_gets_have_been_read", 0, gets_have_been_read },
	{ "N2_accumulates_are_applied", 3, accumulates_are_applied },
	{ "N2_held_accumulates_hold_the_signal", 2, held_accumulates_hold_the_signal },
	{ "N2_held_back_in_order", 2, held_back_in_order },
	{ "N2_belongs_to_its_epoch", 2, belongs_to_its_epoch },
	{ "N2_flush_completes_them", 3, flush_completes_them },
	{ "N3_the_same_value_is_seen_again", 3, the_same_value_is_seen_again },
	{ "N3_a_range_gives_each_once", 2, a_range_gives_each_once },
	{ "N3_others_stay", 2, others_stay },
	{ "N3_test_becomes_true", 3, test_becomes_true },
	{ "N4_until_counts", 0, until_counts },
	{ "N4_until_wraps", 2, until_wraps },
	{ "N4_until_reached_returns_at_once", 2, until_reached_returns_at_once },
	{ "N5_no_add_is_lost", 0, no_add_is_lost },
	{ "N5_sets_arrive_in_order", 2, sets_arrive_in_order },
	{ "N5_sets_together_leave_one", 0, sets_together_leave_one },
	{ "N5_set_and_add_mix", 3, set_and_add_mix },
	{ "N6_no_mixture_is_seen", 2, no_mixture_is_seen },
	{ "N7_numbers_outside_are_told", 2, numbers_outside_are_told },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_signal",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
