// SPDX-License-Identifier: BSD-2-Clause
/* multi_concurrent.c - ranks and threads that change the same elements at once: rules A9 to A14, A17 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "accumulates.h"
#include "base/order.h"
#include "job/job.h"

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

/*
 * A9, A10: all ranks, the target among them, add one to one element by every call; each gets
 * another number.
 */
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

/*
 * A11: the target stores to the bytes beside an element that is accumulated to; none of the stores
 * is lost.
 */
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
	{ "A9_mixed_calls_A10_of_all_ranks", 0, mixed_calls },
	{ "A9_tokens_are_not_lost", 0, tokens },
	{ "A11_neighbouring_bytes", 2, neighbouring_bytes },
	{ "A12_loads_see_no_mixture", 2, loads },
	{ "A14_long_and_short_at_once", 0, lengths },
	{ "A14_a_page_that_is_held", 0, held_page },
	{ "A17_threads", 0, threads },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_concurrent",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
