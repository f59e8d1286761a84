// SPDX-License-Identifier: BSD-2-Clause
/* multi_lock.c - passive target: rules L1 to L25. */
#include "multi.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/util.h"
#include "job/job.h"
#include "job/lock_table.h"
#include "op/acc_route.h"
#include "win/win.h"

#define PART 20000

static const size_t sizes[] = { 1, 8, 200, 3000, PART };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static int neighbour(const struct multi *m, int distance)
{
	return (m->rank + distance) % m->size;
}

/* Put to a target and get it back, in an epoch that is open; with `complete` both are flushed. */
static void put_and_get(struct multi *m, const struct multi_window *w, int target, size_t size, uint64_t seed)
{
	uint8_t *data = multi_alloc(size), *back = multi_alloc(size);

	multi_fill(data, size, seed);
	CHECK_OK(m, oriel_put(w->win, data, size, target, (size_t)m->rank * PART));
	CHECK_OK(m, oriel_win_flush(w->win, target));
	memset(data, 0xee, size);
	CHECK_OK(m, oriel_get(w->win, back, size, target, (size_t)m->rank * PART));
	CHECK_OK(m, oriel_win_flush_local(w->win, target));
	CHECK(m, multi_holds(back, size, seed));
	free(data);
	free(back);
}

/* L1, L4, L6: every kind of lock on everybody, oneself included, carries operations of all sizes. */
static void operations_in_lock_epochs(struct multi *m)
{
	static const int modes[] = { 0, ORIEL_MODE_NOCHECK };
	struct multi_window w;

	multi_window_open(m, &w, (size_t)m->size * PART);
	for (size_t i = 0; i < SIZES * 2; i++) {
		for (int distance = 0; distance < m->size; distance++) {
			int target = neighbour(m, distance);

			CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, target, modes[i / SIZES]));
			put_and_get(m, &w, target, sizes[i % SIZES], i * 100 + (uint64_t)target);
			CHECK_OK(m, oriel_win_unlock(w.win, target));
		}
	}
	multi_window_close(m, &w);
}

/* L4: after unlock the data is at the target, whose own lock shows it. */
static void data_is_complete_after_unlock(struct multi *m)
{
	struct multi_window w;
	uint8_t *data = multi_alloc(PART);

	multi_window_open(m, &w, (size_t)m->size * PART);
	for (size_t i = 0; i < SIZES; i++) {
		int right = neighbour(m, 1), left = neighbour(m, m->size - 1);

		multi_fill(data, sizes[i], i * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, right, 0));
		CHECK_OK(m, oriel_put(w.win, data, sizes[i], right, (size_t)m->rank * PART));
		CHECK_OK(m, oriel_win_unlock(w.win, right));
		memset(data, 0xee, PART);
		multi_sync(m);
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, m->rank, 0));
		CHECK(m, multi_holds(w.base + (size_t)left * PART, sizes[i], i * 100 + (uint64_t)left));
		CHECK_OK(m, oriel_win_unlock(w.win, m->rank));
		multi_sync(m);
	}
	free(data);
	multi_window_close(m, &w);
}

/* L5: several targets at once, opened and closed in different orders; the second lock of one is refused. */
static void several_targets_at_once(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, (size_t)m->size * PART);
	for (int i = 0; i < m->size; i++)
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, neighbour(m, i), 0));
	for (int i = 0; i < m->size; i++) {
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, neighbour(m, i), 0));
		put_and_get(m, &w, neighbour(m, i), 100, (uint64_t)i);
	}
	for (int i = 0; i < m->size; i += 2)
		CHECK_OK(m, oriel_win_unlock(w.win, neighbour(m, i)));
	for (int i = 0; i < m->size; i += 2)
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock(w.win, neighbour(m, i)));
	for (int i = 1; i < m->size; i += 2)
		CHECK_OK(m, oriel_win_unlock(w.win, neighbour(m, i)));
	multi_window_close(m, &w);
}

/* L7: lock_all reaches everybody. */
static void lock_all_reaches_everybody(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, (size_t)m->size * PART);
	for (int round = 0; round < 6; round++) {
		CHECK_OK(m, oriel_win_lock_all(w.win, round % 2 ? ORIEL_MODE_NOCHECK : 0));
		for (int i = 0; i < m->size; i++)
			put_and_get(m, &w, neighbour(m, i), sizes[(size_t)round % SIZES], (uint64_t)round);
		CHECK_OK(m, oriel_win_flush(w.win, ORIEL_RANK_ALL));
		CHECK_OK(m, oriel_win_unlock_all(w.win));
	}
	multi_window_close(m, &w);
}

/* L7: lock_all ends although its only operations, to members never heard of before, moved no bytes. */
static void lock_all_ends_after_nothing(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, PART);
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	for (int target = 0; target < m->size; target++) {
		CHECK_OK(m, oriel_put(w.win, NULL, 0, target, 0));
		CHECK_OK(m, oriel_get(w.win, NULL, 0, target, 0));
	}
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_put(w.win, NULL, 0, m->size, 0));
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(w.win, NULL, 0, 0, 0));
	multi_window_close(m, &w);
}

/* L7, D8: the same while another holds a lock, which operations that move nothing do not ask for. */
static void lock_all_asks_for_nothing(struct multi *m)
{
	const struct oriel_origin_piece here[2] = { { &m, 0 }, { &m, 0 } };
	const struct oriel_target_piece there[2] = { { 0, 0 }, { 8, 0 } };
	const int64_t one = 1;
	struct multi_window w;

	multi_window_open_as(m, &w, PART, NULL, true);
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, &one, sizeof(one), 0, (size_t)m->rank * sizeof(one))); /* all is known from now on */
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_sync(m);
	if (m->rank == 1)
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	multi_sync(m);
	if (m->rank > 1) {
		CHECK_OK(m, oriel_win_lock_all(w.win, 0));
		CHECK_OK(m, oriel_put(w.win, NULL, 0, 0, 0));
		CHECK_OK(m, oriel_accumulate(w.win, NULL, 0, ORIEL_INT64, ORIEL_SUM, 0, 0));
		CHECK_OK(m, oriel_putv(w.win, here, 2, 0, there, 2));
		CHECK_OK(m, oriel_accumulatev(w.win, here, 2, ORIEL_INT64, ORIEL_SUM, 0, there, 2));
		CHECK_OK(m, oriel_win_unlock_all(w.win));
		multi_raise(m, m->rank, 1);
	}
	for (int rank = 2; m->rank == 1 && rank < m->size; rank++)
		multi_await(m, rank, 1);
	if (m->rank == 1)
		CHECK_OK(m, oriel_win_unlock(w.win, 0));
	multi_window_close(m, &w);
}

static bool holds_lock(const oriel_win *win, int rank)
{
	const struct link *link = link_find(win, rank);

	return link && (link->marks & LINK_LOCK) && (link->marks & LINK_GRANTED);
}

/*
 * L7: on shared windows all locks are held from the call on; elsewhere that of a member whose
 * address was asked for.
 */
static void lock_all_and_shared_memory(struct multi *m)
{
	size_t size_bytes, unit;
	oriel_group *sharing;
	oriel_win *win;
	void *base;

	CHECK_OK(m, oriel_group_shared(m->group, &sharing));
	CHECK_OK(m, oriel_win_allocate_shared(64, 1, NULL, sharing, &base, &win));
	CHECK_OK(m, oriel_win_lock_all(win, 0));
	for (int i = 0; i < oriel_group_size(sharing); i++)
		CHECK(m, holds_lock(win, i));
	CHECK_OK(m, oriel_win_unlock_all(win));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_win_allocate(64, 1, NULL, sharing, &base, &win));
	CHECK_OK(m, oriel_win_lock_all(win, 0));
	for (int i = 0; i < oriel_group_size(sharing); i++) {
		CHECK(m, holds_lock(win, i) == (i == oriel_group_rank(sharing)));
		CHECK_OK(m, oriel_win_shared_query(win, i, &base, &size_bytes, &unit));
		CHECK(m, holds_lock(win, i) || !base);
	}
	CHECK_OK(m, oriel_win_unlock_all(win));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_group_free(&sharing));
}

/* L8: what is out of order is refused, and changes nothing. */
static void wrong_order_is_refused(struct multi *m)
{
	struct multi_window w;
	int right = neighbour(m, 1);
	uint8_t byte = 1;

	multi_window_open(m, &w, PART);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock(w.win, right));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock_all(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(w.win, &byte, 1, right, 0));
	CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, right, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock_all(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock_all(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock(w.win, m->rank));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(w.win, &byte, 1, m->rank, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_flush(w.win, m->rank));
	CHECK_OK(m, oriel_put(w.win, &byte, 1, right, 0));
	CHECK_OK(m, oriel_win_unlock(w.win, right));
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, right, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock_all(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock(w.win, right));
	CHECK_OK(m, oriel_put(w.win, &byte, 1, right, 0));
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_window_close(m, &w);
}

/* L9, E2: the only assertion is NOCHECK; other arguments that are wrong. */
static void wrong_arguments_are_refused(struct multi *m)
{
	struct multi_window w;
	enum oriel_lock_type unknown = ORIEL_LOCK_EXCLUSIVE;

	memcpy(&unknown, &(int){ 7 }, sizeof(int));
	multi_window_open(m, &w, PART);
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, 0, ORIEL_MODE_NOSTORE));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_lock(w.win, unknown, 0, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_lock_all(w.win, ORIEL_MODE_NOPUT));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, m->size, 0));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, -1, 0));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_unlock(w.win, m->size));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_lock(NULL, ORIEL_LOCK_SHARED, 0, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_unlock(NULL, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_lock_all(NULL, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_unlock_all(NULL));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_sync(NULL));
	multi_window_close(m, &w);
}

/* The wire to a rank, with everything known that a first operation asks for, and nothing under way. */
static const struct wire *quiet_wire(struct multi *m, oriel_win *win, int rank)
{
	multi_warm(m, win);
	multi_drain(m);
	multi_sync(m);
	return &peer_find(m->job, rank)->wire;
}

/* L9: with NOCHECK no message is sent by lock and unlock; what was issued is complete all the same. */
static void nocheck_sends_nothing(struct multi *m)
{
	struct multi_window w;
	int right = neighbour(m, 1);
	const struct wire *wire;
	uint64_t posted;

	multi_window_open(m, &w, PART);
	wire = quiet_wire(m, w.win, right);
	posted = wire->posted;
	for (int i = 0; i < 10; i++) {
		CHECK_OK(m, oriel_win_lock(w.win, i % 2 ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE, right, ORIEL_MODE_NOCHECK));
		CHECK_OK(m, oriel_win_unlock(w.win, right));
		CHECK_OK(m, oriel_win_lock_all(w.win, ORIEL_MODE_NOCHECK));
		CHECK_OK(m, oriel_win_unlock_all(w.win));
	}
	CHECK(m, wire->posted - posted < 10); /* pings, of which a slow machine sends more */
	multi_sync(m);
	multi_window_close(m, &w);
}

/* L12: the hint no_locks. */
static void no_locks_refuses(struct multi *m)
{
	static const struct oriel_hint hints[] = { { "no_locks", "true" }, { NULL, NULL } };
	oriel_win *win;
	uint8_t memory[8];

	CHECK_OK(m, oriel_win_create(memory, sizeof(memory), 1, hints, m->group, &win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock(win, ORIEL_LOCK_SHARED, 0, 0));
	CHECK_TEXT(m, "no_locks");
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock_all(win, 0));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
}

/* L13: with nothing outstanding flush sends nothing; a target that the epoch does not name is refused. */
static void idle_flush_sends_nothing(struct multi *m)
{
	struct multi_window w;
	int right = neighbour(m, 1);
	const struct wire *wire;
	uint64_t posted;

	multi_window_open(m, &w, PART);
	wire = quiet_wire(m, w.win, right);
	posted = wire->posted;
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	for (int i = 0; i < 20; i++) {
		CHECK_OK(m, oriel_win_flush(w.win, right));
		CHECK_OK(m, oriel_win_flush_local(w.win, ORIEL_RANK_ALL));
		CHECK_OK(m, oriel_win_flush(w.win, ORIEL_RANK_ALL));
	}
	CHECK(m, wire->posted - posted < 10); /* pings, of which a slow machine sends more */
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_flush(w.win, m->size));
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_sync(m);
	multi_window_close(m, &w);
}

/* L16: sync is legal everywhere. */
static void sync_is_always_legal(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, PART);
	CHECK_OK(m, oriel_win_sync(w.win));
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	CHECK_OK(m, oriel_win_sync(w.win));
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_win_sync(w.win));
	multi_window_close(m, &w);
}

/* L17: a rank that polls its own memory sees what is put there. */
static void polling_sees_puts(struct multi *m)
{
	struct multi_window w;
	uint64_t value;

	multi_window_open(m, &w, 4096);
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	for (value = 1; value <= 50; value++) {
		if (m->rank == 0) {
			CHECK_OK(m, oriel_put(w.win, &value, sizeof(value), neighbour(m, 1), 0));
			CHECK_OK(m, oriel_win_flush(w.win, neighbour(m, 1)));
		}
		while (__atomic_load_n((uint64_t *)(void *)w.base, __ATOMIC_RELAXED) != value) {
			CHECK_OK(m, oriel_win_sync(w.win));
			sched_yield();
		}
		if (m->rank != 0) {
			CHECK_OK(m, oriel_put(w.win, &value, sizeof(value), neighbour(m, 1), 0));
			CHECK_OK(m, oriel_win_flush(w.win, neighbour(m, 1)));
		}
	}
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_window_close(m, &w);
}

/* L18: lock epochs overlap no start and no fence epoch; the later call is refused. */
static void no_overlap_with_other_epochs(struct multi *m)
{
	struct multi_window w, other;
	int right = neighbour(m, 1);
	oriel_group *one = multi_group_one(m, right);
	uint8_t byte = 1;

	multi_window_open(m, &w, PART);
	multi_window_open(m, &other, PART);
	CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, right, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_start(w.win, one, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_fence(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
	CHECK_OK(m, oriel_win_lock(other.win, ORIEL_LOCK_SHARED, right, 0));
	CHECK_OK(m, oriel_win_unlock(other.win, right));
	CHECK_OK(m, oriel_win_unlock(w.win, right));
	CHECK_OK(m, oriel_win_start(w.win, one, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, right, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock_all(w.win, 0));
	CHECK_OK(m, oriel_win_post(w.win, m->group, 0)); /* for all, so that no rank is left */
	multi_sync(m);
	CHECK_OK(m, oriel_win_complete(w.win));
	for (int i = 0; i < m->size; i++) {
		oriel_group *rest = multi_group_one(m, i);

		if (i != right) {
			CHECK_OK(m, oriel_win_start(w.win, rest, 0));
			CHECK_OK(m, oriel_win_complete(w.win));
		}
		multi_group_drop(m, rest);
	}
	CHECK_OK(m, oriel_win_wait(w.win));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, &byte, 1, right, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, right, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_win_lock_all(w.win, 0)); /* a fence epoch without operations does not count */
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_group_drop(m, one);
	multi_window_close(m, &other);
	multi_window_close(m, &w);
}

/* L19: locks at others while the own window is exposed by post. */
static void locks_while_exposed(struct multi *m)
{
	struct multi_window w;
	int right = neighbour(m, 1);
	oriel_group *left = multi_group_one(m, neighbour(m, m->size - 1)), *to = multi_group_one(m, right);
	uint8_t byte = 1;

	multi_window_open(m, &w, (size_t)m->size * PART);
	CHECK_OK(m, oriel_win_post(w.win, left, 0));
	CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, right, 0));
	CHECK_OK(m, oriel_put(w.win, &byte, 1, right, (size_t)m->rank));
	CHECK_OK(m, oriel_win_unlock(w.win, right));
	CHECK_OK(m, oriel_win_start(w.win, to, 0));
	CHECK_OK(m, oriel_win_complete(w.win));
	CHECK_OK(m, oriel_win_wait(w.win));
	multi_group_drop(m, left);
	multi_group_drop(m, to);
	multi_window_close(m, &w);
}

/* L20: the three kinds of epochs alternate. */
static void epoch_kinds_alternate(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, (size_t)m->size * PART);
	for (int round = 0; round < 10; round++) {
		CHECK_OK(m,
		         oriel_win_lock(w.win, round % 2 ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE, neighbour(m, round), 0));
		put_and_get(m, &w, neighbour(m, round), 300, (uint64_t)round);
		CHECK_OK(m, oriel_win_unlock(w.win, neighbour(m, round)));
		multi_warm(m, w.win);
		CHECK_OK(m, oriel_win_lock_all(w.win, 0));
		put_and_get(m, &w, neighbour(m, round), 5000, (uint64_t)round);
		CHECK_OK(m, oriel_win_unlock_all(w.win));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		put_and_get(m, &w, neighbour(m, round), 40, (uint64_t)round);
		CHECK_OK(m, oriel_win_fence(w.win, ORIEL_MODE_NOSUCCEED));
	}
	multi_window_close(m, &w);
}

#define INVARIANT_WORDS 16

/* The array under a lock: all words are equal, except while a rank holds it exclusively. */
struct invariant {
	uint64_t word[INVARIANT_WORDS];
};

static bool is_whole(const struct invariant *array)
{
	for (int i = 1; i < INVARIANT_WORDS; i++) {
		if (array->word[i] != array->word[0])
			return false;
	}
	return true;
}

/* Under an exclusive lock: all words go up by one, in two parts, with a moment between. */
static void change(struct multi *m, const struct multi_window *w, int target)
{
	const size_t half = sizeof(struct invariant) / 2;
	struct invariant array;

	CHECK_OK(m, oriel_get(w->win, &array, sizeof(array), target, 0));
	CHECK_OK(m, oriel_win_flush(w->win, target));
	CHECK(m, is_whole(&array));
	for (int i = 0; i < INVARIANT_WORDS; i++)
		array.word[i]++;
	CHECK_OK(m, oriel_put(w->win, &array, half, target, 0));
	CHECK_OK(m, oriel_win_flush(w->win, target));
	sched_yield();
	CHECK_OK(m, oriel_put(w->win, &array.word[INVARIANT_WORDS / 2], half, target, half));
}

/* Changes the rank's own window by loads and stores. */
static void change_own(struct multi *m, const struct multi_window *w)
{
	volatile uint64_t *word = (volatile uint64_t *)(void *)w->base;
	uint64_t first = word[0];

	for (int i = 0; i < INVARIANT_WORDS; i++) {
		CHECK(m, word[i] == first);
		word[i] = first + 1;
		if (i == INVARIANT_WORDS / 2)
			sched_yield();
	}
}

static void look(struct multi *m, const struct multi_window *w, int target)
{
	struct invariant array;

	CHECK_OK(m, oriel_get(w->win, &array, sizeof(array), target, 0));
	CHECK_OK(m, oriel_win_flush(w->win, target));
	CHECK(m, is_whole(&array));
}

/* One lock epoch; 1 if it has changed the array. */
static uint64_t one_epoch(struct multi *m, const struct multi_window *w, int target, unsigned writers)
{
	bool exclusive = writers & 1u << (m->rank % 32);

	CHECK_OK(m, oriel_win_lock(w->win, exclusive ? ORIEL_LOCK_EXCLUSIVE : ORIEL_LOCK_SHARED, target, 0));
	if (!exclusive)
		look(m, w, target);
	else if (target == m->rank)
		change_own(m, w);
	else
		change(m, w, target);
	CHECK_OK(m, oriel_win_unlock(w->win, target));
	return exclusive;
}

/* Epochs of all ranks at once; in the end the array has been changed as often as writers say. */
static void storm(struct multi *m, unsigned writers, int targets, int rounds)
{
	struct multi_window w;
	uint64_t seed = multi_seed(m) + (uint64_t)m->rank, sum = 0;

	multi_window_open(m, &w, sizeof(struct invariant));
	for (int i = 0; i < rounds && !multi_failed(m); i++) {
		int target = (int)(multi_random(&seed) % (unsigned)targets);
		unsigned who = writers ? writers : (unsigned)multi_random(&seed);

		sum += one_epoch(m, &w, target, who) << (target * 16);
	}
	for (int target = 0; target < targets; target++) {
		for (int turn = 0; turn < m->size; turn++) {
			multi_sync(m);
			if (turn == m->rank)
				multi_raise(m, target, multi_word(m, target) + (sum >> (target * 16) & 0xffff));
		}
	}
	multi_sync(m);
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	for (int target = 0; target < targets; target++) {
		uint64_t changes;

		CHECK_OK(m, oriel_get(w.win, &changes, sizeof(changes), target, 0));
		CHECK_OK(m, oriel_win_flush(w.win, target));
		CHECK(m, changes == multi_word(m, target));
	}
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_window_close(m, &w);
}

/* L1, L2: exclusive holders are alone, each of them. */
static void writers_exclude_each_other(struct multi *m)
{
	storm(m, ~0u, 1, 300);
}

/* L1, L2, L6: readers and writers, at all targets, oneself included. */
static void readers_and_writers_exclude_each_other(struct multi *m)
{
	storm(m, 0, m->size < 4 ? m->size : 4, 300);
}

/* L7: lock_all excludes writers, from the first operation to a member on. */
static void lock_all_excludes_writers(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, sizeof(struct invariant));
	for (int i = 0; i < 100; i++) {
		if (m->rank % 2) {
			one_epoch(m, &w, i % m->size, ~0u);
			continue;
		}
		CHECK_OK(m, oriel_win_lock_all(w.win, 0));
		for (int target = 0; target < m->size; target++) {
			look(m, &w, target);
			look(m, &w, target);
		}
		CHECK_OK(m, oriel_win_unlock_all(w.win));
	}
	multi_window_close(m, &w);
}

/* L6: a lock on oneself keeps others out, and theirs keeps out oneself. */
static void own_lock_keeps_others_out(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, sizeof(struct invariant));
	for (int i = 0; i < 150; i++)
		one_epoch(m, &w, m->rank == 0 || i % 2 ? 0 : m->rank, ~0u);
	multi_window_close(m, &w);
}

enum { STOP, HELD, FREE, ASKED };

/* L10: while all others lock shared in a loop, one gets its exclusive lock, again and again. */
static void writer_gets_past_readers(struct multi *m)
{
	struct multi_window w;
	int last = m->size - 1;

	multi_window_open(m, &w, sizeof(struct invariant));
	if (m->rank == last) {
		for (int i = 0; i < 50; i++)
			one_epoch(m, &w, 0, ~0u);
		multi_raise(m, STOP, 1);
	}
	while (m->rank != last && !multi_word(m, STOP))
		CHECK_RC(m, 0, (int)one_epoch(m, &w, 0, 0x0));
	multi_window_close(m, &w);
}

/* L10: the reverse: one reader among writers. */
static void reader_gets_past_writers(struct multi *m)
{
	struct multi_window w;
	int last = m->size - 1;

	multi_window_open(m, &w, sizeof(struct invariant));
	if (m->rank == last) {
		for (int i = 0; i < 50; i++)
			one_epoch(m, &w, 0, 0u);
		multi_raise(m, STOP, 1);
	}
	while (m->rank != last && !multi_word(m, STOP))
		one_epoch(m, &w, 0, ~0u);
	multi_window_close(m, &w);
}

/* Rank 0, which holds its own lock: all others have asked for it, and time has passed. */
static void hold_while_others_ask(struct multi *m)
{
	multi_raise(m, HELD, 1);
	for (int i = 1; i < m->size; i++)
		multi_await(m, ASKED + i, 1);
	for (int i = 0; i < 2000; i++)
		sched_yield();
	CHECK(m, multi_word(m, FREE) == 0);
	multi_raise(m, FREE, 1);
}

static void ask_while_held(struct multi *m, const struct multi_window *w, enum oriel_lock_type type)
{
	multi_await(m, HELD, 1);
	multi_raise(m, ASKED + m->rank, 1);
	CHECK_OK(m, oriel_win_lock(w->win, type, 0, 0));
	CHECK(m, multi_word(m, FREE) == 1);
	CHECK_OK(m, oriel_win_unlock(w->win, 0));
}

/* L2: while one rank holds the lock exclusively, no other comes in. */
static void nobody_comes_in(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, sizeof(struct invariant));
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
		hold_while_others_ask(m);
		CHECK_OK(m, oriel_win_unlock(w.win, 0));
	} else {
		ask_while_held(m, &w, m->rank % 2 ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE);
	}
	multi_window_close(m, &w);
}

/* L7: lock_all holds the lock of the caller itself from the call on, without any operation. */
static void lock_all_locks_oneself(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, sizeof(struct invariant));
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_lock_all(w.win, 0));
		hold_while_others_ask(m);
		CHECK_OK(m, oriel_win_unlock_all(w.win));
	} else {
		ask_while_held(m, &w, ORIEL_LOCK_EXCLUSIVE);
	}
	multi_window_close(m, &w);
}

/* The words of this rank's own lock. */
static const struct lock_header *own_header(struct multi *m, const struct multi_window *w)
{
	const struct lock_header *header;

	pthread_mutex_lock(&m->job->lock);
	header = &lock_table_words(m->job, w->win->slot)->header;
	pthread_mutex_unlock(&m->job->lock);
	return header;
}

/* Until so many tickets of this rank's lock have been drawn that are not served yet. */
static void await_tickets(struct multi *m, const struct multi_window *w, uint64_t count)
{
	const struct lock_header *header = own_header(m, w);

	while (flag_load(&header->next) - flag_load(&header->serving) <
	       count) /* pairs with the fetch-and-add of a writer */
		sched_yield();
}

/* L7: two that hold their own locks and ask for each other's, behind writers that wait for them. */
static void no_circle(struct multi *m)
{
	struct multi_window w;
	int other = 2 - m->rank;

	multi_window_open(m, &w, sizeof(struct invariant));
	multi_warm(m, w.win);
	for (int i = 0; i < 5; i++) {
		multi_sync(m);
		if (m->rank % 2) {
			multi_await(m, HELD + m->rank, (uint64_t)i + 1);
			one_epoch(m, &w, m->rank - 1, ~0u);
			continue;
		}
		CHECK_OK(m, oriel_win_lock_all(w.win, 0));
		multi_raise(m, HELD + m->rank + 1, (uint64_t)i + 1);
		await_tickets(m, &w, 1);
		look(m, &w, other);
		CHECK_OK(m, oriel_win_unlock_all(w.win));
	}
	multi_window_close(m, &w);
}

#define DONE_OFFSET 512

/*
 * A byte of rank 1's window for each rank: it has come so far. Not over the board, on which a
 * stopped rank may sit.
 */
static void tell_rank_1(struct multi *m, const struct multi_window *w)
{
	static const uint8_t done = 1;

	CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_SHARED, 1, ORIEL_MODE_NOCHECK));
	CHECK_OK(m, oriel_put(w->win, &done, 1, 1, DONE_OFFSET + (size_t)m->rank));
	CHECK_OK(m, oriel_win_unlock(w->win, 1));
}

static void await_told(struct multi *m, const struct multi_window *w, int rank)
{
	while (!__atomic_load_n(&w->base[DONE_OFFSET + rank], __ATOMIC_ACQUIRE)) {
		CHECK_OK(m, oriel_win_sync(w->win));
		sched_yield();
	}
}

/* While others have epochs rank 0 is stopped. */
typedef void stopped_epoch(struct multi *m, const struct multi_window *w, int i);

static void open_told(struct multi *m, struct multi_window *w)
{
	void *base;

	CHECK_OK(m, oriel_win_allocate(DONE_OFFSET + MULTI_RANKS_MAX, 1, NULL, m->group, &base, &w->win));
	w->base = base;
}

/* From first contact on, until all the others have had so many. */
static void epochs_at_a_stopped_target(struct multi *m, const struct multi_window *w, stopped_epoch *epoch, int count)
{
	multi_sync(m);
	if (m->rank == 0)
		tell_rank_1(m, w);
	if (m->rank == 1) {
		await_told(m, w, 0);
		kill(multi_pid(m, 0), SIGSTOP);
	}
	for (int i = 0; i < count && m->rank != 0; i++)
		epoch(m, w, i);
	if (m->rank > 1)
		tell_rank_1(m, w);
	for (int i = 2; m->rank == 1 && i < m->size; i++)
		await_told(m, w, i);
	if (m->rank == 1)
		kill(multi_pid(m, 0), SIGCONT);
	if (m->rank == 0)
		while (__atomic_load_n((uint64_t *)(void *)w->base, __ATOMIC_ACQUIRE) == 0) /* computing, or stopped */
			sched_yield();
	multi_sync(m);
}

static void put_and_look(struct multi *m, const struct multi_window *w, int i)
{
	one_epoch(m, w, 0, i % 3 ? ~0u : 0u);
}

/* L3: the target is stopped, after first contact; everything finishes. */
static void target_is_stopped(struct multi *m)
{
	struct multi_window w;

	open_told(m, &w);
	one_epoch(m, &w, 0, ~0u);
	one_epoch(m, &w, 0, 0u);
	epochs_at_a_stopped_target(m, &w, put_and_look, 50);
	CHECK_OK(m, oriel_win_free(&w.win));
}

#define ELEMENTS 8 /* of each type */

/* A word, a small element and a number (op/acc_route.h), and one of each as an origin has them. */
union element {
	int64_t word;
	int32_t small;
	double number[2];
};

static const struct sum {
	enum oriel_type type;
	size_t size_bytes;
	size_t disp;
	union element one;
} sums[] = {
	{ ORIEL_INT64, 8, 0, { .word = 1 } },
	{ ORIEL_INT32, 4, 64, { .small = 1 } },
	{ ORIEL_DOUBLE, 8, 96, { .number = { 1 } } },
	{ ORIEL_DOUBLE_COMPLEX, 16, 160, { .number = { 1, 0 } } },
};
#define SUMS (sizeof(sums) / sizeof(sums[0]))

static_assert(160 + 16 * ELEMENTS <= 512, "what is told lies behind the elements");

#define FIRST_CONTACT (-3) /* an epoch before the others, of an exclusive lock */

/* Returns whether no thread of the target applies so many elements in one call (A14). */
static bool without_the_target(const struct multi_window *w, const struct sum *sum, size_t count)
{
	return acc_route(link_find(w->win, 0), sum->type, sum->disp, count) != ACC_ROUTE_AM;
}

/*
 * One more in each element of a type; the first two by calls that also fetch, the rest together, if
 * that does without the target.
 */
static void add_ones(struct multi *m, const struct multi_window *w, const struct sum *sum)
{
	size_t count = without_the_target(w, sum, ELEMENTS - 2) ? ELEMENTS - 2 : 1;
	uint8_t ones[16 * ELEMENTS], old[16 * ELEMENTS];

	for (size_t i = 0; i < ELEMENTS; i++)
		memcpy(ones + i * sum->size_bytes, &sum->one, sum->size_bytes);
	CHECK_OK(m, oriel_fetch_and_op(w->win, ones, old, sum->type, ORIEL_SUM, 0, sum->disp));
	CHECK_OK(m, oriel_get_accumulate(w->win, ones, old + 16, 1, sum->type, ORIEL_SUM, 0, sum->disp + sum->size_bytes));
	for (size_t i = 2; i < ELEMENTS; i += count)
		CHECK_OK(m, oriel_accumulate(w->win, ones, count, sum->type, ORIEL_SUM, 0, sum->disp + i * sum->size_bytes));
	CHECK_OK(m, oriel_win_flush(w->win, 0));
}

/* Adds under locks of both types, and lock_all, in turn. */
static void add_to_all(struct multi *m, const struct multi_window *w, int i)
{
	int64_t nothing = -1, got = 1;

	if (i % 3 == 2)
		CHECK_OK(m, oriel_win_lock_all(w->win, 0));
	else
		CHECK_OK(m, oriel_win_lock(w->win, i % 3 == 1 ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE, 0, 0));
	for (size_t k = 0; k < SUMS; k++) {
		if (i == FIRST_CONTACT || without_the_target(w, &sums[k], 1))
			add_ones(m, w, &sums[k]);
	}
	if (i == FIRST_CONTACT || without_the_target(w, &sums[0], 1))
		CHECK_OK(m, oriel_compare_and_swap(w->win, &nothing, &nothing, &got, ORIEL_INT64, 0, 0));
	if (i % 3 == 2)
		CHECK_OK(m, oriel_win_unlock_all(w->win));
	else
		CHECK_OK(m, oriel_win_unlock(w->win, 0));
	CHECK(m, got > 0);
}

static int64_t value_of(const struct sum *sum, const void *element)
{
	union element value;

	memcpy(&value, element, sum->size_bytes);
	if (sum->type == ORIEL_INT64)
		return value.word;
	return sum->type == ORIEL_INT32 ? value.small : (int64_t)value.number[0];
}

#define RAISED 8 /* words of the board from here on, one for each rank and type: it goes on without the target */

/* Before the target is stopped: a stopped rank may sit on the board. */
static void tell_raised(struct multi *m, const struct multi_window *w)
{
	for (size_t k = 0; k < SUMS; k++)
		multi_raise(m, RAISED + m->rank * (int)SUMS + (int)k, without_the_target(w, &sums[k], 1));
}

/*
 * Returns how often a type's elements have been raised: once by each rank, and in its epochs by
 * ranks that go on without the target.
 */
static int64_t raised(struct multi *m, size_t k, int count)
{
	int64_t sum = m->size - 1;

	for (int rank = 1; rank < m->size; rank++)
		sum += multi_word(m, RAISED + rank * (int)SUMS + (int)k) ? count : 0;
	return sum;
}

static void check_sums(struct multi *m, const struct multi_window *w, int count)
{
	uint8_t got[16 * ELEMENTS];

	CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_SHARED, 0, 0));
	for (size_t k = 0; k < SUMS; k++) {
		const struct sum *sum = &sums[k];

		CHECK_OK(m, oriel_get(w->win, got, sum->size_bytes * ELEMENTS, 0, sum->disp));
		CHECK_OK(m, oriel_win_flush(w->win, 0));
		for (size_t i = 0; i < ELEMENTS; i++)
			CHECK(m, value_of(sum, got + i * sum->size_bytes) == raised(m, k, count));
	}
	CHECK_OK(m, oriel_win_unlock(w->win, 0));
}

/* L3: the same with the accumulate family, but for what the target's thread has to apply. */
static void family_at_a_stopped_target(struct multi *m)
{
	struct multi_window w;

	open_told(m, &w);
	if (m->rank > 0) {
		add_to_all(m, &w, FIRST_CONTACT);
		tell_raised(m, &w);
	}
	epochs_at_a_stopped_target(m, &w, add_to_all, 30);
	if (m->rank > 0)
		check_sums(m, &w, 30);
	CHECK_OK(m, oriel_win_free(&w.win));
}

struct sampler {
	struct multi *m;
	const struct wire *wire;
	uint64_t posted, ended; /* while rank 0 still held the lock */
};

/* The other thread writes it, which does not hurt: a count of a moment ago does. */
__attribute__((no_sanitize("thread"))) static uint64_t posted_by_now(const struct wire *wire)
{
	return *(const volatile uint64_t *)&wire->posted;
}

static void *sample(void *arg)
{
	struct sampler *sampler = arg;

	multi_await(sampler->m, HELD + 1, 1);
	sampler->posted = posted_by_now(sampler->wire);
	sampler->ended = now_ns();
	multi_raise(sampler->m, HELD + 1 + sampler->m->rank, 1);
	return NULL;
}

/*
 * L11: a rank that is not the first in the queue reads now and then, up to some milliseconds apart.
 * Another thread counts for it while rank 0 holds the lock: afterwards each is the first at some
 * time, and reads without pause.
 */
static void ask_in_turn(struct multi *m, const struct multi_window *w)
{
	struct sampler sampler = { .m = m, .wire = &peer_find(m->job, 0)->wire };
	uint64_t posted, begun;
	pthread_t thread;

	multi_await(m, HELD, (uint64_t)m->rank);
	posted = sampler.wire->posted;
	begun = now_ns();
	CHECK(m, pthread_create(&thread, NULL, sample, &sampler) == 0);
	CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	pthread_join(thread, NULL);
	CHECK(m, m->rank == 1 || sampler.posted - posted <= 200 + (sampler.ended - begun) / NS_PER_MS);
	CHECK_OK(m, oriel_win_unlock(w->win, 0));
}

/*
 * Waits for some milliseconds, and for two seconds at most: each yield may be a turn of a process
 * that computes.
 */
static void hold_on(void)
{
	uint64_t begun = now_ns();

	for (int i = 0; i < 20000 && now_ns() - begun < 2000 * NS_PER_MS; i++)
		sched_yield();
}

static void waiters_read_seldom(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, sizeof(struct invariant));
	multi_warm(m, w.win);
	one_epoch(m, &w, 0, 0u); /* first contact */
	multi_sync(m);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
		for (int i = 1; i < m->size; i++) {
			multi_raise(m, HELD, (uint64_t)i);
			await_tickets(m, &w, 1 + (uint64_t)i);
		}
		hold_on();
		multi_raise(m, HELD + 1, 1);
		for (int i = 1; i < m->size; i++)
			multi_await(m, HELD + 1 + i, 1);
		CHECK_OK(m, oriel_win_unlock(w.win, 0));
	} else {
		ask_in_turn(m, &w);
	}
	multi_window_close(m, &w);
}

/*
 * Puts and local flushes; how many of them have asked for a completion, without which nothing can
 * be waited for.
 */
static int put_and_flush_local(struct multi *m, const struct multi_window *w, int puts)
{
	const struct wire *wire = &peer_find(m->job, 1)->wire;
	uint8_t data[64];
	int asked = 0;

	for (int i = 0; i < puts; i++) {
		uint64_t before = wire->signalled;

		multi_fill(data, sizeof(data), (uint64_t)i);
		CHECK_OK(m, oriel_put(w->win, data, sizeof(data), 1, (size_t)i * sizeof(data)));
		CHECK_OK(m, oriel_win_flush_local(w->win, 1));
		memset(data, 0xee, sizeof(data));
		asked += wire->signalled != before;
	}
	return asked;
}

/* L15: what was copied may be reused at once, also while the target is stopped, and what needs it with it. */
static void copied_puts_are_not_waited_for(struct multi *m)
{
	struct multi_window w;
	int asked;

	multi_window_open(m, &w, PART);
	multi_warm(m, w.win);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, 1, 0));
		kill(multi_pid(m, 1), SIGSTOP);
		asked = put_and_flush_local(m, &w, 100);
		CHECK(m, asked < 50); /* each quarter of a queue does */
		kill(multi_pid(m, 1), SIGCONT);
		CHECK_OK(m, oriel_win_unlock(w.win, 1));
		multi_raise(m, FREE, 1);
	}
	multi_await(m, FREE, 1);
	for (int i = 0; i < 100 && m->rank == 1; i++)
		CHECK(m, multi_holds(w.base + (size_t)i * 64, 64, (uint64_t)i));
	multi_window_close(m, &w);
}

struct second {
	struct multi *m;
	const struct multi_window *w;
};

/* Beside a thread that waits inside lock: refused, until that one has it. */
static void *lock_beside(void *arg)
{
	struct second *second = arg;
	struct multi *m = second->m;
	oriel_win *win = second->w->win;

	multi_await(m, ASKED, 1);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock(win, ORIEL_LOCK_SHARED, 0, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock(win, 0));
	CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_SHARED, 1, 0)); /* another target */
	CHECK_OK(m, oriel_win_unlock(win, 1));
	multi_raise(m, FREE, 1);
	return NULL;
}

/* L25: two threads want one lock: the second gets an error. */
static void second_thread_is_refused(struct multi *m)
{
	struct multi_window w;
	struct second second = { m, &w };
	pthread_t thread;

	multi_window_open(m, &w, sizeof(struct invariant));
	multi_warm(m, w.win);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
		multi_raise(m, HELD, 1);
		await_tickets(m, &w, 2); /* ours, and that of the thread that waits */
		multi_raise(m, ASKED, 1);
		multi_await(m, FREE, 1);
		CHECK_OK(m, oriel_win_unlock(w.win, 0));
	} else {
		multi_await(m, HELD, 1);
		CHECK_RC(m, 0, pthread_create(&thread, NULL, lock_beside, &second));
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
		pthread_join(thread, NULL);
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, 0, 0));
		look(m, &w, 0);
		CHECK_OK(m, oriel_win_unlock(w.win, 0));
	}
	multi_window_close(m, &w);
}

#define USERS 4
#define USES 20

/*
 * One of the threads that use a lock: it has a word of its own at the target, behind one that all
 * count in.
 */
struct user {
	struct multi *m;
	const struct multi_window *w;
	int target;
	size_t disp;
};

static void *use_lock(void *arg)
{
	const struct user *me = arg;
	struct multi *m = me->m;
	oriel_win *win = me->w->win;
	uint64_t one = 1, old = 0, before = 0, got = 0;

	for (uint64_t i = 1; i <= USES; i++) {
		CHECK_OK(m, oriel_put(win, &i, sizeof(i), me->target, me->disp));
		CHECK_OK(m, oriel_fetch_and_op(win, &one, &old, ORIEL_UINT64, ORIEL_SUM, me->target, 0));
		CHECK_OK(m, oriel_win_flush(win, me->target));
		CHECK_OK(m, oriel_get(win, &got, sizeof(got), me->target, me->disp));
		CHECK_OK(m, oriel_win_flush(win, me->target));
		CHECK(m, got == i && (i == 1 || old > before));
		before = old;
	}
	return NULL;
}

/* L25: all threads of a rank put, count and flush under the lock that one of them has taken. */
static void all_threads_use_a_lock(struct multi *m)
{
	struct multi_window w;
	struct user users[USERS];
	pthread_t threads[USERS];
	int target = (m->rank + 1) % m->size;
	const uint64_t *words;

	multi_window_open(m, &w, (1 + USERS) * sizeof(uint64_t));
	words = (const uint64_t *)(const void *)w.base;
	CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, target, 0));
	for (size_t i = 0; i < USERS; i++) {
		users[i] = (struct user){ m, &w, target, (1 + i) * sizeof(uint64_t) };
		CHECK_RC(m, 0, pthread_create(&threads[i], NULL, use_lock, &users[i]));
	}
	for (size_t i = 0; i < USERS; i++)
		pthread_join(threads[i], NULL);
	CHECK_OK(m, oriel_win_unlock(w.win, target));
	multi_sync(m);
	CHECK_OK(m, oriel_win_sync(w.win));
	CHECK(m, flag_load(&words[0]) == (uint64_t)USERS * USES);
	for (size_t i = 1; i <= USERS; i++)
		CHECK(m, words[i] == USES);
	multi_window_close(m, &w);
}

static const struct multi_case cases[] = {
	{ "L1_L14_operations_in_lock_epochs", 0, operations_in_lock_epochs },
	{ "L2_L1_writers_exclude_each_other", 0, writers_exclude_each_other },
	{ "L1_L2_L6_readers_and_writers_exclude_each_other", 0, readers_and_writers_exclude_each_other },
	{ "L2_nobody_comes_in", 0, nobody_comes_in },
	{ "L3_target_is_stopped", 0, target_is_stopped },
	{ "L3_family_at_a_stopped_target", 0, family_at_a_stopped_target },
	{ "L4_data_is_complete_after_unlock", 0, data_is_complete_after_unlock },
	{ "L5_several_targets_at_once", 0, several_targets_at_once },
	{ "L6_own_lock_keeps_others_out", 0, own_lock_keeps_others_out },
	{ "L7_lock_all_excludes_writers", 0, lock_all_excludes_writers },
	{ "L7_lock_all_locks_oneself", 0, lock_all_locks_oneself },
	{ "L7_lock_alls_wait_in_no_circle", 4, no_circle },
	{ "L7_lock_all_reaches_everybody", 0, lock_all_reaches_everybody },
	{ "L7_lock_all_ends_after_nothing", 0, lock_all_ends_after_nothing },
	{ "L7_D8_lock_all_asks_for_nothing", 0, lock_all_asks_for_nothing },
	{ "L7_lock_all_and_shared_memory", 0, lock_all_and_shared_memory },
	{ "L8_wrong_order_is_refused", 0, wrong_order_is_refused },
	{ "L9_wrong_arguments_are_refused", 0, wrong_arguments_are_refused },
	{ "L9_nocheck_sends_nothing", 2, nocheck_sends_nothing },
	{ "L10_writer_gets_past_readers", 0, writer_gets_past_readers },
	{ "L10_reader_gets_past_writers", 0, reader_gets_past_writers },
	{ "L11_waiters_read_seldom", 0, waiters_read_seldom },
	{ "L12_no_locks_refuses", 0, no_locks_refuses },
	{ "L13_idle_flush_sends_nothing", 2, idle_flush_sends_nothing },
	{ "L15_copied_puts_are_not_waited_for", 2, copied_puts_are_not_waited_for },
	{ "L16_sync_is_always_legal", 0, sync_is_always_legal },
	{ "L17_polling_sees_puts", 0, polling_sees_puts },
	{ "L18_no_overlap_with_other_epochs", 0, no_overlap_with_other_epochs },
	{ "L19_locks_while_exposed", 0, locks_while_exposed },
	{ "L20_epoch_kinds_alternate", 0, epoch_kinds_alternate },
	{ "L25_second_thread_is_refused", 2, second_thread_is_refused },
	{ "L25_all_threads_use_a_lock", 0, all_threads_use_a_lock },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_lock",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
