// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_pairs.c - each two calls of the accumulate family at once on one element of each class: rules A9, A10
 *
 * Ranks of even number have one call, the others another; each makes the element one more, so many
 * times, or reads it. The target, rank 0, is among them.
 */
#include "multi.h"

#include <string.h>

#include "op/element.h"

#define TIMES 100
#define ROOM_BYTES 32 /* for an element, wherever in it that lies */

enum call { ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, READ, CALLS };

/*
 * A type of each class (op/acc.h), by processors, cards and handlers, and one that is so where it
 * is not aligned.
 */
static const struct kind {
	enum oriel_type type;
	size_t offset;
} kinds[] = {
	{ ORIEL_INT64, 0 },  { ORIEL_UINT32, 4 },      { ORIEL_INT16, 2 },          { ORIEL_FLOAT, 4 },
	{ ORIEL_DOUBLE, 0 }, { ORIEL_LONG_DOUBLE, 0 }, { ORIEL_DOUBLE_COMPLEX, 0 }, { ORIEL_UINT64, 3 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A sum that all do to one element. */
struct work {
	struct multi *m;
	oriel_win *win;
	const struct kind *kind;
	size_t disp;
	uint8_t one[ELEMENT_BYTES_MAX]; /* what is added; it stays until the end */
	long double last;               /* that this rank has seen */
};

static long double value_of(enum oriel_type type, const uint8_t *element)
{
	union {
		int64_t word;
		uint32_t small;
		int16_t tiny;
		float number;
		double large;
		long double huge;
	} value = { 0 };

	memcpy(&value, element,
	       element_types[type].size_bytes < sizeof(value) ? element_types[type].size_bytes : sizeof(value));
	switch (type) {
	case ORIEL_UINT32:
		return value.small;
	case ORIEL_INT16:
		return value.tiny;
	case ORIEL_FLOAT:
		return value.number;
	case ORIEL_DOUBLE:
	case ORIEL_DOUBLE_COMPLEX:
		return value.large;
	case ORIEL_LONG_DOUBLE:
		return value.huge;
	default:
		return value.word;
	}
}

/* One of the type; the imaginary part of a complex number is 0. */
static void make_one(enum oriel_type type, uint8_t one[ELEMENT_BYTES_MAX])
{
	memset(one, 0, ELEMENT_BYTES_MAX);
	switch (type) {
	case ORIEL_FLOAT:
		memcpy(one, &(float){ 1 }, sizeof(float));
		break;
	case ORIEL_DOUBLE:
	case ORIEL_DOUBLE_COMPLEX:
		memcpy(one, &(double){ 1 }, sizeof(double));
		break;
	case ORIEL_LONG_DOUBLE:
		memcpy(one, &(long double){ 1 }, sizeof(long double));
		break;
	default:
		one[0] = 1; /* little-endian, as all that Oriel runs on */
	}
}

/* Checks the previous value: it never shrinks, since every change makes it larger. */
static void see(struct work *work, const uint8_t *element)
{
	long double value = value_of(work->kind->type, element);

	CHECK(work->m, value >= work->last);
	work->last = value;
}

static void swap_until_it_was(struct work *work)
{
	uint8_t seen[ELEMENT_BYTES_MAX] = { 0 }, compare[ELEMENT_BYTES_MAX], next[ELEMENT_BYTES_MAX];
	enum oriel_type type = work->kind->type;

	do {
		memcpy(compare, seen, sizeof(seen));
		memcpy(next, seen, sizeof(seen));
		element_apply(type, ORIEL_SUM, next, work->one, NULL, 1);
		CHECK_OK(work->m, oriel_compare_and_swap(work->win, next, compare, seen, type, 0, work->disp));
		CHECK_OK(work->m, oriel_win_flush(work->win, 0));
	} while (memcmp(seen, compare, element_types[type].size_bytes) != 0 && !multi_failed(work->m));
	see(work, seen);
}

static void call_once(struct work *work, enum call call)
{
	uint8_t old[ELEMENT_BYTES_MAX] = { 0 };
	enum oriel_type type = work->kind->type;
	oriel_win *win = work->win;

	switch (call) {
	case ACCUMULATE:
		CHECK_OK(work->m, oriel_accumulate(win, work->one, 1, type, ORIEL_SUM, 0, work->disp));
		return;
	case GET_ACCUMULATE:
		CHECK_OK(work->m, oriel_get_accumulate(win, work->one, old, 1, type, ORIEL_SUM, 0, work->disp));
		break;
	case FETCH_AND_OP:
		CHECK_OK(work->m, oriel_fetch_and_op(win, work->one, old, type, ORIEL_SUM, 0, work->disp));
		break;
	case READ:
		CHECK_OK(work->m, oriel_fetch_and_op(win, NULL, old, type, ORIEL_NO_OP, 0, work->disp));
		break;
	default:
		swap_until_it_was(work);
		return;
	}
	CHECK_OK(work->m, oriel_win_flush(win, 0));
	see(work, old);
}

/* Rank 0 looks at what has come of it. */
static void check_sum(struct work *work, enum call even, enum call odd, int times)
{
	struct multi *m = work->m;
	uint8_t found[ELEMENT_BYTES_MAX] = { 0 };
	long double want = (even != READ) * (m->size + 1) / 2 * times + (odd != READ) * (m->size / 2) * times;

	CHECK_OK(m, oriel_win_flush(work->win, 0));
	multi_sync(m);
	if (m->rank != 0)
		return;
	CHECK_OK(m, oriel_fetch_and_op(work->win, NULL, found, work->kind->type, ORIEL_NO_OP, 0, work->disp));
	CHECK_OK(m, oriel_win_flush(work->win, 0));
	if (value_of(work->kind->type, found) != want)
		multi_fail(m, __FILE__, __LINE__, "calls %d and %d, type %d: the element is %Lg, not %Lg", (int)even, (int)odd,
		           (int)work->kind->type, value_of(work->kind->type, found), want);
}

static void run_pair(struct work *work, enum call even, enum call odd)
{
	int times = multi_over_card() ? 1 : TIMES;

	make_one(work->kind->type, work->one);
	multi_sync(work->m); /* they begin together */
	for (int i = 0; i < times && !multi_failed(work->m); i++)
		call_once(work, work->m->rank % 2 ? odd : even);
	check_sum(work, even, odd, times);
}

/* Each pair has an element of its own, behind those before. */
static void run_pairs(struct work *work, size_t at)
{
	bool swaps = element_types[work->kind->type].comparable;

	for (int pair = 0; pair < CALLS * CALLS; pair++, at += ROOM_BYTES) {
		enum call even = (enum call)(pair / CALLS), odd = (enum call)(pair % CALLS);

		work->disp = at + work->kind->offset;
		work->last = 0;
		if (swaps || (even != COMPARE_AND_SWAP && odd != COMPARE_AND_SWAP))
			run_pair(work, even, odd);
	}
}

static void each_pair(struct multi *m)
{
	for (int allocated = 0; allocated < 2; allocated++) {
		struct multi_window w;

		multi_window_open_as(m, &w, KINDS * CALLS * CALLS * ROOM_BYTES, NULL, allocated);
		CHECK_OK(m, oriel_win_lock_all(w.win, 0));
		for (size_t kind = 0; kind < KINDS; kind++)
			run_pairs(&(struct work){ .m = m, .win = w.win, .kind = &kinds[kind] }, kind * CALLS * CALLS * ROOM_BYTES);
		CHECK_OK(m, oriel_win_unlock_all(w.win));
		multi_sync(m);
		multi_window_close(m, &w);
	}
}

static const struct multi_case cases[] = {
	{ "A9_A10_each_pair_of_calls", 0, each_pair },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_pairs",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
