// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_accumulate.c - accumulate, get_accumulate, fetch_and_op, compare_and_swap: rules A1 to A19, but for their order
 *
 * Most have two ranks, which accumulate to each other.
 */
#include "multi.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/order.h"
#include "job/job.h"
#include "op/element.h"

#define NONE_LEFT 0xa5

/* A zeroed window of allocated memory over the case's ranks. */
static void open_allocated(struct multi *m, struct multi_window *w, size_t size_bytes, const struct oriel_hint *hints)
{
	multi_window_open_as(m, w, size_bytes, hints, true);
}

/* How often: over a card, where each time is a request and cards are emulated, a hundredth. Alike on all ranks. */
static int turns(int many)
{
	return multi_over_card() ? (many + 99) / 100 : many;
}

static int64_t fetch_add(struct multi *m, oriel_win *win, int64_t value, int rank, size_t disp)
{
	int64_t old = -1;

	CHECK_OK(m, oriel_fetch_and_op(win, &value, &old, ORIEL_INT64, ORIEL_SUM, rank, disp));
	CHECK_OK(m, oriel_win_flush(win, rank));
	return old;
}

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

/* Whether elements are the same; of a number of ten bytes in sixteen the rest does not matter. */
static bool same(enum oriel_type type, const uint8_t *a, const uint8_t *b, size_t bytes)
{
	bool ten = LDBL_MANT_DIG == 64 &&
	           (type == ORIEL_LONG_DOUBLE || type == ORIEL_LONG_DOUBLE_COMPLEX || type == ORIEL_LONG_DOUBLE_INT);

	for (size_t i = 0; i < bytes; i++) {
		if (!(ten && i % 16 >= 10) && a[i] != b[i])
			return false;
	}
	return true;
}

/*
 * A3, A4: every operation on every type, by accumulate and get_accumulate, with what plain code
 * makes of it; what a type does not have is ORIEL_ERR_OP and changes nothing.
 */
static void type_and_op(struct multi *m, struct multi_window *w, enum oriel_type type, enum oriel_op op)
{
	enum { COUNT = 3 };
	size_t bytes = COUNT * oriel_type_bytes(type);
	uint8_t first[COUNT * ELEMENT_BYTES_MAX], second[COUNT * ELEMENT_BYTES_MAX], old[COUNT * ELEMENT_BYTES_MAX];
	uint8_t model[COUNT * ELEMENT_BYTES_MAX];
	int to = (m->rank + 1) % m->size;

	for (size_t i = 0; i < bytes; i++) { /* no NaN and no padding that matters: 1 and 2 in every byte */
		first[i] = 1;
		second[i] = 2;
	}
	CHECK_OK(m, oriel_accumulate(w->win, first, COUNT, type, ORIEL_REPLACE, to, 0));
	if (!oriel_op_legal(op, type)) {
		CHECK_RC(m, ORIEL_ERR_OP, oriel_accumulate(w->win, second, COUNT, type, op, to, 0));
		CHECK_RC(m, ORIEL_ERR_OP, oriel_get_accumulate(w->win, second, old, COUNT, type, op, to, 0));
		CHECK_RC(m, ORIEL_ERR_OP, oriel_fetch_and_op(w->win, second, old, type, op, to, 0));
	} else {
		CHECK_OK(m, oriel_get_accumulate(w->win, second, old, COUNT, type, op, to, 0));
	}
	CHECK_OK(m, oriel_win_fence(w->win, 0));
	memset(model, NONE_LEFT, sizeof(model));
	memset(w->base + 100, NONE_LEFT, sizeof(model));
	element_apply(type, ORIEL_REPLACE, model, first, NULL, COUNT);
	if (oriel_op_legal(op, type)) {
		element_apply(type, op, model, second, NULL, COUNT);
		element_apply(type, ORIEL_REPLACE, w->base + 300, old, NULL, COUNT);
		element_apply(type, ORIEL_REPLACE, w->base + 500, first, NULL, COUNT);
		CHECK(m,
		      memcmp(w->base + 300, w->base + 500, element_span(type, 1)) == 0 || element_types[type].span_bytes > 8);
	}
	element_apply(type, ORIEL_REPLACE, w->base + 100, w->base, NULL, COUNT);
	CHECK(m, same(type, w->base + 100, model, sizeof(model)));
	CHECK_OK(m, oriel_win_fence(w->win, 0));
}

static void types_and_ops(struct multi *m)
{
	struct multi_window w;

	open_allocated(m, &w, 1024, NULL);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int type = ORIEL_INT8; type < ELEMENT_TYPES; type++) {
		for (int op = ORIEL_SUM; element_known((enum oriel_type)type) && op <= ORIEL_NO_OP; op++)
			type_and_op(m, &w, (enum oriel_type)type, (enum oriel_op)op);
	}
	CHECK_RC(m, ORIEL_ERR_OP, oriel_accumulate(w.win, &w, 1, (enum oriel_type)99, ORIEL_SUM, 0, 0));
	CHECK_RC(m, ORIEL_ERR_OP, oriel_accumulate(w.win, &w, 1, ORIEL_INT8, (enum oriel_op)99, 0, 0));
	CHECK_TEXT(m, "99");
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* A5: integers wrap, logical operations leave 0 or 1, a NaN is one of two, of equal values the lower index. */
static void values(struct multi *m)
{
	static const int8_t large = 127;
	static const uint32_t big = 0x80000001, five = 5;
	static const struct {
		int value, index;
	} here = { 7, 3 };
	const double nan_value = (double)NAN;
	int other = 1 - m->rank;
	struct multi_window w;
	double number = 1.0;
	int32_t pair[2] = { 7, 9 };

	open_allocated(m, &w, 64, NULL);
	w.base[0] = 100;
	memcpy(w.base + 4, &big, sizeof(big));
	memcpy(w.base + 8, &number, sizeof(number));
	memcpy(w.base + 16, &five, sizeof(five));
	memcpy(w.base + 24, pair, sizeof(pair));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_accumulate(w.win, &large, 1, ORIEL_INT8, ORIEL_SUM, other, 0));
	CHECK_OK(m, oriel_accumulate(w.win, &big, 1, ORIEL_UINT32, ORIEL_PROD, other, 4));
	CHECK_OK(m, oriel_accumulate(w.win, &nan_value, 1, ORIEL_DOUBLE, ORIEL_MIN, other, 8));
	CHECK_OK(m, oriel_accumulate(w.win, &big, 1, ORIEL_UINT32, ORIEL_LAND, other, 16));
	CHECK_OK(m, oriel_accumulate(w.win, &here, 1, ORIEL_INT_INT, ORIEL_MAXLOC, other, 24));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	memcpy(&number, w.base + 8, sizeof(number));
	CHECK(m, (int8_t)w.base[0] == -29);
	CHECK(m, w.base[4] == 1 && w.base[5] == 0 && w.base[7] == 0);
	CHECK(m, isnan(number) || number == 1.0);
	CHECK(m, w.base[16] == 1 && w.base[17] == 0);
	CHECK(m, w.base[24] == 7 && w.base[28] == 3);
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* A6: no_op where something is returned, replace everywhere, compare_and_swap for integers and bool. */
static void special_ops(struct multi *m)
{
	static const uint64_t same = 5, next = 8;
	int other = 1 - m->rank;
	uint64_t value = 7, old = 0, compared = 0;
	struct multi_window w;

	open_allocated(m, &w, 64, NULL);
	w.base[0] = 5;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_OP, oriel_accumulate(w.win, &value, 1, ORIEL_UINT64, ORIEL_NO_OP, other, 0));
	CHECK_TEXT(m, "oriel_fetch_and_op");
	CHECK_OK(m, oriel_fetch_and_op(w.win, NULL, &old, ORIEL_UINT64, ORIEL_NO_OP, other, 0));
	CHECK_OK(m, oriel_win_flush(w.win, other));
	CHECK(m, old == 5);
	multi_sync(m);
	for (int type = ORIEL_INT8; type < ELEMENT_TYPES; type++) {
		bool comparable = type <= ORIEL_BOOL || (type == ORIEL_INT128 && oriel_type_bytes(ORIEL_INT128));
		uint8_t zero[ELEMENT_BYTES_MAX] = { 0 }, was[ELEMENT_BYTES_MAX];

		CHECK_RC(m, comparable ? 0 : ORIEL_ERR_OP,
		         oriel_compare_and_swap(w.win, zero, zero, was, (enum oriel_type)type, other, 32));
		CHECK_OK(m, oriel_win_flush(w.win, other));
	}
	CHECK_OK(m, oriel_compare_and_swap(w.win, &next, &same, &compared, ORIEL_UINT64, other, 0));
	CHECK_OK(m, oriel_get_accumulate(w.win, &value, &old, 1, ORIEL_UINT64, ORIEL_REPLACE, other, 0));
	CHECK_OK(m, oriel_win_flush(w.win, other));
	CHECK(m, compared == 5 && old == 8);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, w.base[0] == 7);
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* A6, A10: of the two halves of an integer of 16 bytes none is compared, swapped or added without the other. */
static void large_integers(struct multi *m)
{
#ifdef __SIZEOF_INT128__
	enum { TIMES = 500 };
	__extension__ typedef __int128 int128;
	const int128 step = ((int128)1 << 64) + UINT64_MAX; /* carries */
	int128 old = 0, seen = 0, wanted = -1, wrong;
	struct multi_window w;

	open_allocated(m, &w, 64, NULL);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 0; i < TIMES; i++)
		CHECK_OK(m, oriel_fetch_and_op(w.win, &step, &old, ORIEL_INT128, ORIEL_SUM, 0, 16));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_fetch_and_op(w.win, NULL, &seen, ORIEL_INT128, ORIEL_NO_OP, 0, 16));
	CHECK_OK(m, oriel_win_flush(w.win, 0));
	CHECK(m, seen == m->size * TIMES * step && old < seen && old % step == 0);
	multi_sync(m);
	if (m->rank == 1) {
		wrong = seen & UINT64_MAX; /* the low half alone is as there */
		CHECK_OK(m, oriel_compare_and_swap(w.win, &wanted, &wrong, &old, ORIEL_INT128, 0, 16));
		CHECK_OK(m, oriel_win_flush(w.win, 0));
		CHECK(m, old == seen);
		CHECK_OK(m, oriel_compare_and_swap(w.win, &wanted, &seen, &old, ORIEL_INT128, 0, 16));
		CHECK_OK(m, oriel_win_flush(w.win, 0));
		CHECK(m, old == seen);
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	memcpy(&seen, w.base + 16, sizeof(seen));
	CHECK(m, seen == (m->rank == 0 ? wanted : 0));
	CHECK_OK(m, oriel_win_free(&w.win));
#else
	CHECK(m, oriel_type_bytes(ORIEL_INT128) == 0);
#endif
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

/* A6: memory that its owner may only read is read by no_op, and changed by nothing. */
static void read_only_memory(struct multi *m)
{
	const size_t bytes = 65536;
	uint64_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t old[2] = { 0, 0 }, one = 1;
	oriel_win *win;

	for (uint64_t i = 0; i < bytes / sizeof(*memory); i++)
		memory[i] = i + 100;
	mprotect(memory, bytes, PROT_READ);
	CHECK_OK(m, oriel_win_create(memory, bytes, sizeof(*memory), NULL, m->group, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int to = 0; to < m->size; to++) {
		CHECK_OK(m, oriel_fetch_and_op(win, NULL, &old[0], ORIEL_UINT64, ORIEL_NO_OP, to, 5));
		CHECK_OK(m, oriel_get_accumulate(win, NULL, &old[1], 2, ORIEL_INT32, ORIEL_NO_OP, to, 6));
		CHECK_OK(m, oriel_win_flush(win, to));
		CHECK(m, old[0] == 105 && old[1] == 106);
		CHECK_RC(m, ORIEL_ERR_ACCESS, oriel_accumulate(win, &one, 1, ORIEL_UINT64, ORIEL_SUM, to, 5));
		CHECK_RC(m, ORIEL_ERR_ACCESS, oriel_compare_and_swap(win, &one, &one, &old[0], ORIEL_UINT64, to, 5));
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, bytes);
}

/* A7: pieces that match on no side; those that do not hold whole elements are refused, and nothing is done. */
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

/* A8: the padding of a pair stays, and that of the last may lie outside the window. */
static void padding(struct multi *m)
{
	struct pair {
		long value;
		int index;
	} pairs[2], old[2];
	_Alignas(64) struct {
		struct pair two[2];
	} memory;
	const size_t end = sizeof(struct pair) + offsetof(struct pair, index) + sizeof(int);
	int to = 1 - m->rank;
	oriel_win *win;

	memset(&memory, NONE_LEFT, sizeof(memory));
	memset(old, NONE_LEFT, sizeof(old));
	memset(pairs, 0, sizeof(pairs));
	pairs[0].value = pairs[1].value = 1;
	pairs[1].index = 2;
	CHECK_OK(m, oriel_win_create(&memory, end, 1, NULL, m->group, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_get_accumulate(win, pairs, old, 2, ORIEL_LONG_INT, ORIEL_REPLACE, to, 0));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_accumulate(win, pairs, 2, ORIEL_LONG_INT, ORIEL_MAXLOC, to, 1));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, memory.two[0].value == 1 && memory.two[1].index == 2);
	CHECK(m, multi_all((uint8_t *)&memory.two[0] + 12, 4, NONE_LEFT));
	CHECK(m, multi_all((uint8_t *)&memory.two[1] + 12, 4, NONE_LEFT));
	CHECK(m, multi_all((uint8_t *)&old[0] + 12, 4, NONE_LEFT));
	CHECK_OK(m, oriel_win_free(&win));
}

/* One more each time, by whatever operation; gives what the element was. */
static int64_t one_more(struct multi *m, oriel_win *win, int turn, int to)
{
	int64_t old = 0, seen = 0, next;
	static const int64_t one = 1;

	if (turn % 4 == 0) {
		CHECK_OK(m, oriel_get_accumulate(win, &one, &old, 1, ORIEL_INT64, ORIEL_SUM, to, 0));
		CHECK_OK(m, oriel_win_flush(win, to));
		return old;
	}
	if (turn % 4 < 3)
		return fetch_add(m, win, 1, to, 0);
	CHECK_OK(m, oriel_fetch_and_op(win, NULL, &old, ORIEL_INT64, ORIEL_NO_OP, to, 0));
	CHECK_OK(m, oriel_win_flush(win, to));
	for (;; old = seen) {
		next = old + 1;
		CHECK_OK(m, oriel_compare_and_swap(win, &next, &old, &seen, ORIEL_INT64, to, 0));
		CHECK_OK(m, oriel_win_flush(win, to));
		if (seen == old || multi_failed(m))
			return old;
	}
}

/* Every number below the sum of turns has been one rank's, once: all share a bitmap at rank 0. */
static void check_distinct(struct multi *m, const int64_t *seen, int count)
{
	uint8_t *map = multi_alloc((size_t)(m->size * count));
	struct multi_window w;

	open_allocated(m, &w, (size_t)(m->size * count), NULL);
	for (int i = 0; i < count; i++)
		map[seen[i] >= 0 && seen[i] < (int64_t)m->size * count ? seen[i] : 0]++;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_accumulate(w.win, map, w.size_bytes, ORIEL_UINT8, ORIEL_SUM, 0, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, m->rank != 0 || multi_all(w.base, w.size_bytes, 1));
	CHECK_OK(m, oriel_win_free(&w.win));
	free(map);
}

/* A9, A10: all ranks, the target among them, add one to one element by every call; each gets another number. */
static void mixed_calls(struct multi *m)
{
	const int count = turns(4000);
	int64_t *seen = multi_alloc((size_t)count * sizeof(*seen));
	struct multi_window w;

	open_allocated(m, &w, 64, NULL);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 0; i < count && !multi_failed(m); i++)
		seen[i] = one_more(m, w.win, i + m->rank, 0);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, m->rank != 0 || *(int64_t *)(void *)w.base == (int64_t)m->size * count);
	CHECK_OK(m, oriel_win_free(&w.win));
	check_distinct(m, seen, count);
	free(seen);
}

/* A9: exchanges and swaps: every token that goes in comes out once, but for the last. */
static void tokens(struct multi *m)
{
	const int count = turns(2000);
	struct multi_window w, sums;
	int64_t in = 0, out = 0, token, old = 0, total[2];

	open_allocated(m, &w, 64, NULL);
	open_allocated(m, &sums, 16, NULL);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 1; i <= count; i++) {
		token = (int64_t)m->rank * count + i;
		CHECK_OK(m, oriel_fetch_and_op(w.win, &token, &old, ORIEL_INT64, ORIEL_REPLACE, 0, 0));
		CHECK_OK(m, oriel_win_flush(w.win, 0));
		in += token;
		out += old;
	}
	total[0] = in;
	total[1] = out;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_win_fence(sums.win, 0));
	CHECK_OK(m, oriel_accumulate(sums.win, total, 2, ORIEL_INT64, ORIEL_SUM, 0, 0));
	CHECK_OK(m, oriel_win_fence(sums.win, 0));
	if (m->rank == 0) {
		memcpy(total, sums.base, sizeof(total));
		memcpy(&old, w.base, sizeof(old));
		CHECK(m, total[0] == total[1] + old);
	}
	CHECK_OK(m, oriel_win_free(&sums.win));
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* A11: the target stores to the bytes beside an element that is accumulated to; none of the stores is lost. */
static void neighbouring_bytes(struct multi *m)
{
	enum { DONE = 1 };
	const int count = turns(20000);
	static const int8_t one = 1;
	struct multi_window w;
	volatile uint8_t *bytes;

	open_allocated(m, &w, 64, NULL);
	bytes = w.base;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == 0) {
		for (int i = 0; i < count; i++)
			CHECK_OK(m, oriel_accumulate(w.win, &one, 1, ORIEL_INT8, ORIEL_SUM, 1, 3));
		CHECK_OK(m, oriel_win_flush(w.win, 1));
		multi_raise(m, DONE, 1);
	} else {
		for (int i = 0; multi_word(m, DONE) == 0; i++) {
			bytes[2] = bytes[4] = (uint8_t)i;
			if (bytes[2] != (uint8_t)i || bytes[4] != (uint8_t)i) {
				multi_fail(m, __FILE__, __LINE__, "a store to a neighbouring byte was lost");
				break;
			}
		}
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, m->rank == 0 || bytes[3] == (uint8_t)count);
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* A12: a load of an aligned element sees one of the values that were there. */
static void loads(struct multi *m)
{
	enum { DONE = 1 };
	const int count = turns(20000);
	struct multi_window w;

	open_allocated(m, &w, 64, NULL);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == 0) {
		for (int i = 0; i < count; i++) {
			uint64_t value = (uint64_t)(i & 0xff) * 0x0101010101010101;

			CHECK_OK(m, oriel_accumulate(w.win, &value, 1, ORIEL_UINT64, ORIEL_REPLACE, 1, 8));
		}
		CHECK_OK(m, oriel_win_flush(w.win, 1));
		multi_raise(m, DONE, 1);
	} else {
		while (multi_word(m, DONE) == 0 && !multi_failed(m)) {
			uint64_t seen = flag_load((uint64_t *)(void *)(w.base + 8)); /* one load */

			CHECK(m, seen == (seen & 0xff) * 0x0101010101010101);
		}
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
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

/*
 * A13, A14: all ranks change long vectors and single elements of the same memory at once. Nothing
 * is lost. Unaligned elements may lie in two pages.
 */
static void lengths_at(struct multi *m, size_t at)
{
	enum { COUNT = 6000 }; /* more than COPY_PIECE_BYTES: upwards and downwards in turn */
	const int rounds = turns(60);
	double *ones = multi_alloc(COUNT * sizeof(*ones)), expected = 0;
	struct multi_window w;
	bool right = true;

	open_allocated(m, &w, at + COUNT * sizeof(*ones), NULL);
	for (int i = 0; i < COUNT; i++)
		ones[i] = 1;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int turn = 0; turn < rounds; turn++) {
		CHECK_OK(m, oriel_accumulate(w.win, ones, COUNT, ORIEL_DOUBLE, ORIEL_SUM, 0, at));
		for (size_t i = 0; i < COUNT; i++)
			CHECK_OK(m, oriel_accumulate(w.win, ones, 1, ORIEL_DOUBLE, ORIEL_SUM, 0, at + i * sizeof(double)));
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	expected = 2.0 * rounds * m->size;
	for (size_t i = 0; m->rank == 0 && i < COUNT; i++) {
		double sum;

		memcpy(&sum, w.base + at + i * sizeof(sum), sizeof(sum));
		right = right && sum == expected;
	}
	CHECK(m, right);
	CHECK_OK(m, oriel_win_free(&w.win));
	free(ones);
}

static void lengths(struct multi *m)
{
	lengths_at(m, 0);
	lengths_at(m, 3);
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

/* Rank 0 changes a number by loads and stores, under the word of its page. */
static void change_slowly(struct multi *m, struct page_lock *page_lock, double *number)
{
	volatile double *slow = number;
	double before;

	while (!page_trylock(page_lock, m->job->page_locks.process))
		sched_yield();
	multi_sync(m);
	before = *slow;
	for (int rank = 1; rank < m->size; rank++)
		multi_await(m, rank, 1); /* and a while, in which additions that did not wait would come */
	for (int i = 0; i < 1000; i++)
		sched_yield();
	*slow = before + 1;
	page_unlock(page_lock);
}

/*
 * A14: a rank that finds a page lock held waits for it, with a single number and within a longer
 * vector; other pages are free. So plain code that changes the elements is atomic with all routes
 * of other ranks.
 */
static void held_page(struct multi *m)
{
	enum { COUNT = 6000, PAGE = LOCKED_PAGE_BYTES / sizeof(double) };
	double *ones = multi_alloc(COUNT * sizeof(*ones)), old;
	struct multi_window w;
	bool right = true;

	open_allocated(m, &w, COUNT * sizeof(*ones), NULL);
	for (int i = 0; i < COUNT; i++)
		ones[i] = 1;
	multi_warm(m, w.win);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank & 2) /* so that its next one goes downwards, and finds the word taken at last */
		CHECK_OK(m, oriel_put(w.win, ones, COUNT * sizeof(*ones), m->rank, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == 0) {
		change_slowly(m, page_lock_of(m->job->page_locks.piece.addr, (uintptr_t)w.base), (double *)(void *)w.base);
	} else {
		multi_sync(m);
		CHECK_OK(m, oriel_fetch_and_op(w.win, ones, &old, ORIEL_DOUBLE, ORIEL_SUM, 0, PAGE * sizeof(double)));
		CHECK_OK(m, oriel_win_flush(w.win, 0));
		multi_raise(m, m->rank, 1);
		if (m->rank % 2) /* by the way of single numbers first */
			CHECK_OK(m, oriel_accumulate(w.win, ones, 1, ORIEL_DOUBLE, ORIEL_SUM, 0, 0));
		CHECK_OK(m, oriel_accumulate(w.win, ones, COUNT, ORIEL_DOUBLE, ORIEL_SUM, 0, 0));
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 0; m->rank == 0 && i < COUNT; i++)
		right = right && ((double *)(void *)w.base)[i] == (i == 0      ? 1 + m->size / 2
		                                                   : i == PAGE ? m->size - 1
		                                                               : 0) +
		                                                      (double)m->size - 1;
	CHECK(m, right);
	CHECK_OK(m, oriel_win_free(&w.win));
	free(ones);
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

/* One thread's share of A17. */
struct share {
	struct multi *m;
	oriel_win *win;
	size_t disp;
};

static void *add_in_thread(void *arg)
{
	struct share *share = arg;
	static const uint32_t one = 1;
	const int count = turns(5000);

	for (int i = 0; i < count; i++) {
		CHECK_OK(share->m, oriel_accumulate(share->win, &one, 1, ORIEL_UINT32, ORIEL_SUM, 0, 0));
		CHECK_OK(share->m, oriel_accumulate(share->win, &one, 1, ORIEL_UINT32, ORIEL_SUM, 0, share->disp));
	}
	return NULL;
}

/* A17: two threads of each rank, on one element and on elements of their own. */
static void threads(struct multi *m)
{
	struct multi_window w;
	pthread_t second;
	uint32_t sums[3];

	open_allocated(m, &w, 64, NULL);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	pthread_create(&second, NULL, add_in_thread, &(struct share){ m, w.win, 4 });
	add_in_thread(&(struct share){ m, w.win, 8 });
	pthread_join(second, NULL);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	memcpy(sums, w.base, sizeof(sums));
	CHECK(m, m->rank != 0 || sums[0] == 2 * (uint32_t)(turns(5000) * m->size));
	CHECK(m, m->rank != 0 || (sums[1] == sums[2] && sums[1] * 2 == sums[0]));
	CHECK_OK(m, oriel_win_free(&w.win));
}

static const struct multi_case cases[] = {
	{ "A1_four_calls_and_their_operands", 2, four_calls },
	{ "A2_every_epoch", 2, every_epoch },
	{ "A3_every_type_A4_and_op", 2, types_and_ops },
	{ "A5_values", 2, values },
	{ "A6_no_op_replace_and_what_is_compared", 2, special_ops },
	{ "A6_no_op_reads_read_only_memory", 2, read_only_memory },
	{ "A6_A10_integers_of_16_bytes", 2, large_integers },
	{ "A7_buffers_and_counts", 2, buffers },
	{ "A7_vectors_hold_whole_elements", 2, vectors },
	{ "A8_padding_stays", 2, padding },
	{ "A9_mixed_calls_A10_of_all_ranks", 0, mixed_calls },
	{ "A9_tokens_are_not_lost", 0, tokens },
	{ "A11_neighbouring_bytes", 2, neighbouring_bytes },
	{ "A12_loads_see_no_mixture", 2, loads },
	{ "A13_unaligned_and_two_windows", 2, unaligned },
	{ "A14_long_and_short_at_once", 0, lengths },
	{ "A14_a_page_that_is_held", 0, held_page },
	{ "A14_many_elements_in_turn", 0, many_in_turn },
	{ "A16_ordering_A18_ops_A19_granularity_change_no_result", 0, hints },
	{ "A17_threads", 0, threads },
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
