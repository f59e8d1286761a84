// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_model.c - what loads and stores see of operations, and operations of stores: rules MM2 to
 * MM4; and errors, which have a code for each kind and leave window and epoch as they were: I5, I6
 */
#include "multi.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

#define BYTES 4096

typedef void with_window(struct multi *m, struct multi_window *w);

static void on_windows(struct multi *m, with_window *run)
{
	for (int kind = 0; kind < 2; kind++) {
		struct multi_window w;

		multi_window_open_as(m, &w, BYTES, NULL, kind);
		multi_sync(m);
		run(m, &w);
		multi_sync(m);
		multi_window_close(m, &w);
	}
}

static uint64_t *word(const struct multi_window *w, size_t at)
{
	return (uint64_t *)(void *)(w->base + at);
}

/* Words of the board, for either kind of window. */
static int step(const struct multi_window *w, int i)
{
	return 2 * i + w->allocated;
}

/* Waits for a value, by loads alone. */
static void see(struct multi *m, const struct multi_window *w, size_t at, uint64_t value)
{
	while (flag_load(word(w, at)) != value && !multi_failed(m)) /* pairs with the put, or accumulate, of rank 0 */
		sched_yield();
}

#define ROUNDS 50

static void put_and_poll(struct multi *m, struct multi_window *w)
{
	CHECK_OK(m, oriel_win_lock_all(w->win, 0));
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		if (m->rank == 0) {
			CHECK_OK(m, oriel_put(w->win, &round, sizeof(round), 1, 64));
			CHECK_OK(m, oriel_win_flush(w->win, 1));
			multi_await(m, step(w, 0), round);
		} else {
			see(m, w, 64, round);
			multi_raise(m, step(w, 0), round);
		}
	}
	CHECK_OK(m, oriel_win_unlock_all(w->win));
}

/* MM2: loads see what is put without any call. */
static void loads_see_puts(struct multi *m)
{
	on_windows(m, put_and_poll);
}

/*
 * Checks the order of each of these calls: a rank that is notified after it sees the store before
 * it.
 */
static void store_and_tell(struct multi *m, struct multi_window *w, uint64_t round)
{
	*word(w, 128) = round;
	if (round % 2)
		CHECK_OK(m, oriel_win_sync(w->win));
	else
		CHECK_OK(m, oriel_win_unlock(w->win, m->rank));
	multi_raise(m, step(w, 0), round);
	multi_await(m, step(w, 1), round);
}

static void store_and_get(struct multi *m, struct multi_window *w)
{
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		uint64_t seen = 0;

		if (m->rank == 1) {
			if (round % 2 == 0)
				CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_EXCLUSIVE, 1, 0));
			store_and_tell(m, w, round);
			continue;
		}
		multi_await(m, step(w, 0), round);
		CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_SHARED, 1, 0));
		CHECK_OK(m, oriel_get(w->win, &seen, sizeof(seen), 1, 128));
		CHECK_OK(m, oriel_win_unlock(w->win, 1));
		CHECK(m, seen == round);
		multi_raise(m, step(w, 1), round);
	}
}

/* MM2: gets see what the target has stored before sync or unlock. */
static void gets_see_stores(struct multi *m)
{
	on_windows(m, store_and_get);
}

/* Every rank has every size-th byte of rank 0's window, which it changes, and finds as it has left it. */
static void bytes_of_all(struct multi *m, struct multi_window *w)
{
	int mine = 0;

	CHECK_OK(m, oriel_win_lock_all(w->win, 0));
	for (uint8_t round = 1; round <= 200; round++) {
		size_t at = 256 + (size_t)m->rank + (size_t)(m->size * (round % 5));
		uint8_t seen = 0;

		mine = round;
		if (m->rank == 0) {
			w->base[at] = round;
			seen = w->base[at];
		} else {
			CHECK_OK(m, oriel_put(w->win, &round, 1, 0, at));
			CHECK_OK(m, oriel_win_flush(w->win, 0));
			CHECK_OK(m, oriel_get(w->win, &seen, 1, 0, at));
			CHECK_OK(m, oriel_win_flush(w->win, 0));
		}
		CHECK(m, seen == mine);
	}
	CHECK_OK(m, oriel_win_unlock_all(w->win));
	multi_sync(m);
	for (int i = 0; m->rank == 0 && i < 5 * m->size; i++)
		CHECK(m, w->base[256 + i] == 200 - (200 - i / m->size) % 5); /* the last round that came there */
}

/* MM3: stores of the owner and puts of others to bytes side by side. */
static void bytes_side_by_side(struct multi *m)
{
	on_windows(m, bytes_of_all);
}

static const enum oriel_type widths[] = { ORIEL_UINT8, ORIEL_UINT16, ORIEL_UINT32, ORIEL_UINT64 };

/* Until its origin knows that it is complete, and on. */
static void stays(struct multi *m, const struct multi_window *w, uint64_t value)
{
	for (int more = 0; more < 100 && !multi_failed(m); more += multi_word(m, step(w, 1)) >= value)
		CHECK(m, flag_load(word(w, 512)) == value); /* pairs with nothing: it does not change any more */
}

static void poll_and_stay(struct multi *m, struct multi_window *w)
{
	CHECK_OK(m, oriel_win_lock_all(w->win, 0));
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		enum oriel_type type = widths[round % 4];

		if (m->rank == 0) {
			if (round % 3)
				CHECK_OK(m, oriel_put(w->win, &round, oriel_type_bytes(type), 1, 512));
			else
				CHECK_OK(m, oriel_accumulate(w->win, &round, 1, type, ORIEL_REPLACE, 1, 512));
			CHECK_OK(m, oriel_win_flush(w->win, 1)); /* put and accumulate have no order */
			multi_raise(m, step(w, 1), round);
			multi_await(m, step(w, 0), round);
		} else {
			see(m, w, 512, round);
			stays(m, w, round);
			multi_raise(m, step(w, 0), round);
		}
	}
	CHECK_OK(m, oriel_win_unlock_all(w->win));
}

/* MM4: what has been seen once is not seen otherwise later. */
static void what_is_seen_stays(struct multi *m)
{
	on_windows(m, poll_and_stay);
}

/* Calls that are wrong in any access epoch. */
static void go_wrong(struct multi *m, struct multi_window *w, int to)
{
	uint64_t value = 1;

	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(w->win, &value, sizeof(value), to, BYTES - 7));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_get(w->win, &value, sizeof(value), to, SIZE_MAX));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_put(w->win, &value, sizeof(value), m->size, 0));
	CHECK_RC(m, ORIEL_ERR_OP, oriel_accumulate(w->win, &value, 1, ORIEL_DOUBLE, ORIEL_BAND, to, 0));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_signal(w->win, to, 0, 1, ORIEL_SIGNAL_SET));
	CHECK_RC(m, ORIEL_ERR_KIND, oriel_win_attach(w->win, &value, sizeof(value)));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w->win));
	CHECK(m, w->win != NULL);
}

/* A put before, wrong calls, and one behind them: both arrive. The round is read until the epoch's end. */
static void put_around_errors(struct multi *m, struct multi_window *w, const uint64_t *round)
{
	int to = (m->rank + 1) % m->size;

	CHECK_OK(m, oriel_put(w->win, round, sizeof(*round), to, 0));
	go_wrong(m, w, to);
	CHECK_OK(m, oriel_put(w->win, round, sizeof(*round), to, BYTES - 8));
}

static void check_arrived(struct multi *m, const struct multi_window *w, uint64_t round)
{
	CHECK(m, *word(w, 0) == round && *word(w, BYTES - 8) == round);
	multi_sync(m);
}

static void errors_in_each_epoch(struct multi *m, struct multi_window *w)
{
	static const uint64_t rounds[] = { 1, 2, 3 };
	oriel_group *right = multi_group_one(m, (m->rank + 1) % m->size);
	oriel_group *left = multi_group_one(m, (m->rank + m->size - 1) % m->size);

	CHECK_OK(m, oriel_win_lock_all(w->win, 0));
	put_around_errors(m, w, &rounds[0]);
	CHECK_OK(m, oriel_win_unlock_all(w->win));
	multi_sync(m);
	check_arrived(m, w, rounds[0]);
	CHECK_OK(m, oriel_win_post(w->win, left, 0));
	CHECK_OK(m, oriel_win_start(w->win, right, 0));
	put_around_errors(m, w, &rounds[1]);
	CHECK_OK(m, oriel_win_complete(w->win));
	CHECK_OK(m, oriel_win_wait(w->win));
	check_arrived(m, w, rounds[1]);
	CHECK_OK(m, oriel_win_fence(w->win, 0));
	put_around_errors(m, w, &rounds[2]);
	CHECK_OK(m, oriel_win_fence(w->win, 0));
	check_arrived(m, w, rounds[2]);
	multi_group_drop(m, left);
	multi_group_drop(m, right);
}

/* I6: in each kind of epoch. */
static void errors_change_nothing(struct multi *m)
{
	on_windows(m, errors_in_each_epoch);
}

/*
 * Provokes errors that a layer above distinguishes: range, order, memory of dynamic windows, kind,
 * operation, rank, argument.
 */
static void ask_wrongly(struct multi *m, oriel_win *dynamic)
{
	uint64_t value = 0;

	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(dynamic, &value, sizeof(value), 0, 1));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock(dynamic, 0));
	CHECK_RC(m, ORIEL_ERR_ATTACH, oriel_win_detach(dynamic, &value));
	CHECK_RC(m, ORIEL_ERR_OP, oriel_accumulate(dynamic, &value, 1, ORIEL_DOUBLE, ORIEL_BAND, 0, 0));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_put(dynamic, &value, sizeof(value), m->size, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_put(dynamic, NULL, sizeof(value), 0, 0));
}

/* I5: and each code has a text of its own. */
static void kinds_have_codes(struct multi *m)
{
	static const int codes[] = { ORIEL_ERR_RANGE, ORIEL_ERR_SYNC, ORIEL_ERR_ATTACH, ORIEL_ERR_KIND, ORIEL_ERR_SHARED,
		                         ORIEL_ERR_OP,    ORIEL_ERR_RANK, ORIEL_ERR_ARG,    ORIEL_ERR_PEER, ORIEL_ERR_ROUTE };
	size_t count = sizeof(codes) / sizeof(codes[0]);
	oriel_win *win = NULL;

	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < i; k++)
			CHECK(m, codes[i] < 0 && strcmp(oriel_strerror(codes[i]), oriel_strerror(codes[k])) != 0);
	}
	CHECK_OK(m, oriel_win_create_dynamic(NULL, m->group, &win));
	CHECK_OK(m, oriel_win_lock_all(win, 0));
	ask_wrongly(m, win);
	CHECK_OK(m, oriel_win_unlock_all(win));
	CHECK_OK(m, oriel_win_free(&win));
}

static const struct multi_case cases[] = {
	{ "MM2_loads_see_puts", 2, loads_see_puts },         { "MM2_gets_see_stores", 2, gets_see_stores },
	{ "MM3_bytes_side_by_side", 0, bytes_side_by_side }, { "MM4_what_is_seen_stays", 2, what_is_seen_stays },
	{ "I5_kinds_have_codes", 2, kinds_have_codes },      { "I6_errors_change_nothing", 3, errors_change_nothing },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_model",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
