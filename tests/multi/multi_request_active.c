// SPDX-License-Identifier: BSD-2-Clause
/* multi_request_active.c - requests in epochs without locks: rules R3 to R5, P4 */
#include "request_windows.h"

#include <stdlib.h>

#include "base/util.h"

/* Epochs without locks: of everybody, to everybody. */
enum active { BY_FENCE, BY_START, ACTIVES };

static void active_open(struct multi *m, struct window *w, enum active by)
{
	if (by == BY_FENCE) {
		CHECK_OK(m, oriel_win_fence(w->win, 0));
		return;
	}
	CHECK_OK(m, oriel_win_post(w->win, m->group, 0));
	CHECK_OK(m, oriel_win_start(w->win, m->group, 0));
}

static void active_close(struct multi *m, struct window *w, enum active by)
{
	if (by == BY_FENCE) {
		CHECK_OK(m, oriel_win_fence(w->win, ORIEL_MODE_NOSUCCEED));
		return;
	}
	CHECK_OK(m, oriel_win_complete(w->win));
	CHECK_OK(m, oriel_win_wait(w->win));
}

/* A third of a window is got from, one put to, in one numbers are added. */
#define PUT_AT LARGE
#define ADD_AT (2 * LARGE)
#define ADD_MOST 8192 /* numbers */
#define ADD_CARD 512  /* behind a card the target adds them */

/* Operations to one rank, which a case waits for or tests. */
struct issued {
	uint8_t *data;
	uint8_t *back;
	int64_t *numbers;
	int64_t *before;
	size_t bytes; /* put and got */
	size_t count; /* added */
	bool by_test;
};

static void issued_make(struct issued *i, size_t bytes, bool by_test)
{
	i->bytes = bytes;
	i->count = min_size(bytes / 8, multi_over_card() ? ADD_CARD : ADD_MOST);
	i->by_test = by_test;
	i->data = multi_alloc(bytes);
	i->back = multi_alloc(bytes);
	i->numbers = multi_alloc(i->count * 8);
	i->before = multi_alloc(i->count * 8);
	memset(i->back, 0xee, bytes);
	for (size_t k = 0; k < i->count; k++) {
		i->numbers[k] = (int64_t)k + 1;
		i->before[k] = -1;
	}
}

static void issued_drop(struct issued *i)
{
	free(i->data);
	free(i->back);
	free(i->numbers);
	free(i->before);
}

static void finish(struct multi *m, const struct issued *i, oriel_request *request)
{
	if (i->by_test)
		test_until_complete(m, request);
	else
		CHECK_OK(m, oriel_request_wait(request));
}

static void issue_to(struct multi *m, struct window *w, struct issued *i, int rank, uint64_t seed)
{
	multi_fill(i->data, i->bytes, seed);
	CHECK_OK(m, oriel_put(w->win, i->data, i->bytes, rank, w->at + PUT_AT));
	CHECK_OK(m, oriel_get(w->win, i->back, i->bytes, rank, w->at));
	CHECK_OK(m, oriel_get_accumulate(w->win, i->numbers, i->before, i->count, ORIEL_INT64, ORIEL_SUM, rank,
	                                 w->at + ADD_AT));
}

/* Returns whether the numbers are those after `times` such operations. */
static bool numbers_hold(const int64_t *numbers, size_t count, int64_t times)
{
	for (size_t k = 0; k < count; k++)
		if (numbers[k] != times * ((int64_t)k + 1))
			return false;
	return true;
}

static void in_active_epoch(struct multi *m, struct window *w, enum active by, size_t bytes, bool by_test)
{
	oriel_request local, both;
	struct issued i;

	issued_make(&i, bytes, by_test);
	multi_fill(w->base, bytes, 7 + (uint64_t)m->rank);
	memset(w->base + ADD_AT, 0, i.count * 8);
	multi_sync(m);
	active_open(m, w, by);
	issue_to(m, w, &i, w->right, 100 + (uint64_t)m->rank);
	CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &local));
	finish(m, &i, &local);
	CHECK(m, multi_holds(i.back, bytes, 7 + (uint64_t)w->right));
	CHECK(m, numbers_hold(i.before, i.count, 0));
	memset(i.data, 0xee, bytes); /* it may be used again */
	issue_to(m, w, &i, w->right, 200 + (uint64_t)m->rank);
	CHECK_OK(m, oriel_win_iflush(w->win, w->right, &both));
	finish(m, &i, &both);
	CHECK(m, numbers_hold(i.before, i.count, 1));
	check_bytes_at(m, w, PUT_AT, bytes, 200 + w->left);
	CHECK(m, numbers_hold((int64_t *)(void *)(w->base + ADD_AT), i.count, 2));
	CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &local));
	active_close(m, w, by);
	CHECK(m, is_complete(m, &local) && is_complete(m, &both));
	multi_sync(m);
	issued_drop(&i);
}

/* Over a card one kind of window has the large ones. */
static bool is_spared(int kind, size_t bytes)
{
	return bytes == LARGE && kind > 0 && multi_over_card();
}

/* R3, R4: in epochs of fence and of start, small and large, waited for and tested. */
static void complete_in_active_epochs(struct multi *m)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct window w;

		if (!window_open_of(m, &w, kinds[kind], 3 * LARGE))
			continue;
		for (unsigned n = 0; n < 4 * ACTIVES; n++) {
			size_t bytes = n % 2 ? LARGE : 8;

			if (!is_spared(kind, bytes))
				in_active_epoch(m, &w, (enum active)(n / 4), bytes, n / 2 % 2);
		}
		window_close(m, &w);
	}
}

/* Rank 1 posts only when rank 0 has come so far. It sees what has arrived before the epoch is over. */
static void post_late(struct multi *m, struct window *w, oriel_group *origin, uint64_t turn, size_t bytes)
{
	multi_await(m, STEP, 2 * turn - 1);
	CHECK_OK(m, oriel_win_post(w->win, origin, 0));
	multi_await(m, STEP, 2 * turn);
	CHECK_OK(m, oriel_win_sync(w->win));
	CHECK(m, multi_holds(w->base + PUT_AT, bytes, turn));
	CHECK_OK(m, oriel_win_wait(w->win));
}

static void start_early(struct multi *m, struct window *w, oriel_group *target, uint64_t turn, struct issued *i)
{
	oriel_request local, both, more;

	CHECK_OK(m, oriel_win_start(w->win, target, 0));
	issue_to(m, w, i, 1, turn);
	CHECK_OK(m, oriel_win_iflush_local(w->win, 1, &local));
	CHECK_OK(m, oriel_win_iflush(w->win, 1, &both));
	for (int n = 0; n < 60; n++)
		CHECK(m, !is_complete(m, n % 2 ? &local : &both));
	multi_raise(m, STEP, 2 * turn - 1);
	finish(m, i, &local);
	CHECK(m, multi_holds(i->back, i->bytes, 9));
	CHECK(m, numbers_hold(i->before, i->count, 0));
	finish(m, i, &both);
	allowed(m, w, 1); /* the epoch is open still */
	CHECK_OK(m, oriel_put(w->win, &turn, sizeof(turn), 1, w->at + PUT_AT - 8));
	CHECK_OK(m, oriel_win_iflush_local(w->win, 1, &more));
	finish(m, i, &more);
	multi_raise(m, STEP, 2 * turn);
	CHECK_OK(m, oriel_win_complete(w->win));
}

static void late_turn(struct multi *m, struct window *w, uint64_t turn, size_t bytes)
{
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	struct issued i;
	uint64_t told;

	issued_make(&i, bytes, turn % 2);
	multi_fill(w->base, bytes, 9);
	memset(w->base + ADD_AT, 0, i.count * 8);
	multi_sync(m);
	if (m->rank == 1) {
		post_late(m, w, other, turn, bytes);
		memcpy(&told, w->base + PUT_AT - 8, sizeof(told));
		CHECK(m, told == turn);
	} else {
		start_early(m, w, other, turn, &i);
	}
	multi_sync(m);
	issued_drop(&i);
	multi_group_drop(m, other);
}

/* P4, R3, R4: what waits for the post is complete after it, and the epoch stays open. */
static void late_posts_are_waited_for(struct multi *m)
{
	uint64_t turn = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		struct window w;

		if (!window_open_of(m, &w, kinds[kind], 3 * LARGE))
			continue;
		for (int n = 0; n < 4; n++) {
			size_t bytes = n / 2 ? LARGE : 8;

			if (!is_spared(kind, bytes))
				late_turn(m, &w, ++turn, bytes);
		}
		window_close(m, &w);
	}
}

/* Rank 0 of two; its requests, as they were when rank 1 had not posted. */
static void close_while_held(struct multi *m, struct window *w, oriel_group *target, uint64_t turn, bool push)
{
	oriel_request held[2], again[2], next;
	uint8_t data[100], back[100] = { 0 }, last;

	multi_fill(data, sizeof(data), turn);
	CHECK_OK(m, oriel_win_start(w->win, target, 0));
	CHECK_OK(m, oriel_put(w->win, data, sizeof(data), 1, w->at + AT));
	CHECK_OK(m, oriel_get(w->win, back, sizeof(back), 1, w->at + 1000));
	CHECK_OK(m, oriel_win_iflush_local(w->win, 1, &held[0]));
	CHECK_OK(m, oriel_win_iflush(w->win, 1, &held[1]));
	CHECK(m, !is_complete(m, &held[0]) && !is_complete(m, &held[1]));
	memcpy(again, held, sizeof(again));
	multi_raise(m, STEP, 2 * turn - 1);
	if (push)
		CHECK_OK(m, oriel_win_flush(w->win, 1)); /* nothing is deferred any more when the epoch ends */
	CHECK_OK(m, oriel_win_complete(w->win));
	CHECK(m, is_complete(m, &held[0]));
	CHECK(m, multi_holds(back, sizeof(back), 9));
	test_until_complete(m, &held[1]);
	CHECK_OK(m, oriel_win_start(w->win, target, 0));
	CHECK_OK(m, oriel_get(w->win, &last, 1, 1, w->at));
	CHECK_OK(m, oriel_win_iflush_local(w->win, 1, &next));
	CHECK(m, !is_complete(m, &next));
	CHECK(m, is_complete(m, &again[0]));
	test_until_complete(m, &again[1]); /* without the next post */
	CHECK(m, !is_complete(m, &next));
	multi_raise(m, STEP, 2 * turn);
	CHECK_OK(m, oriel_win_complete(w->win));
	CHECK(m, is_complete(m, &next));
}

static void held_turn(struct multi *m, struct window *w, uint64_t turn)
{
	oriel_group *other = multi_group_one(m, 1 - m->rank);

	multi_fill(w->base + 1000, 100, 9);
	multi_sync(m);
	if (m->rank == 0)
		close_while_held(m, w, other, turn, turn % 2);
	for (uint64_t n = 0; m->rank == 1 && n < 2; n++) {
		multi_await(m, STEP, 2 * turn - 1 + n);
		CHECK_OK(m, oriel_win_post(w->win, other, 0));
		CHECK_OK(m, oriel_win_wait(w->win));
		CHECK(m, multi_holds(w->base + AT, 100, turn));
	}
	multi_sync(m);
	multi_group_drop(m, other);
}

/*
 * R5: the end of an epoch of start completes what was deferred in it, whatever is deferred in the
 * next.
 */
static void complete_ends_held_ones(struct multi *m)
{
	uint64_t turn = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		struct window w;

		if (!window_open(m, &w, kinds[kind]))
			continue;
		for (int n = 0; n < 4; n++)
			held_turn(m, &w, ++turn);
		window_close(m, &w);
	}
}

static const struct multi_case cases[] = {
	{ "R3_R4_complete_in_active_epochs", 3, complete_in_active_epochs },
	{ "P4_R3_R4_late_posts_are_waited_for", 2, late_posts_are_waited_for },
	{ "R5_complete_ends_held_ones", 2, complete_ends_held_ones },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_request_active",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
