// SPDX-License-Identifier: BSD-2-Clause
/* multi_dynamic_accumulate.c - accumulates, signals and locks of dynamic windows: rule DW8 */
#include <string.h>

#include "dynamic_windows.h"

/*
 * DW8: accumulates, where memory is mapped; a device whose ranks cannot map it says that they are
 * not for it, or applies them at the target.
 */
static void accumulates(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	int64_t *memory = oriel_alloc(m->job, PAGE), one = 1, old = 0;
	uint64_t done = 0;

	CHECK_OK(m, oriel_win_attach(win, memory + 8, PAGE - 64));
	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_accumulate(win, &one, 1, ORIEL_INT64, ORIEL_SUM, 0, address(m, 0) + 56));
	for (int i = 0; i < 1000; i++) {
		int rc = oriel_fetch_and_op(win, &one, &old, ORIEL_INT64, ORIEL_SUM, 0, address(m, 0) + 64);

		CHECK(m, rc == 0 || rc == ORIEL_ERR_OP);
		done += rc == 0;
	}
	multi_raise(m, STEP + m->rank, done + 1);
	CHECK_OK(m, oriel_win_fence(win, 0));
	multi_sync(m);
	for (int i = 0; i < m->size; i++)
		done += i == 0 ? 0 : multi_word(m, STEP + i) - 1;
	CHECK(m, m->rank != 0 || (uint64_t)memory[8] == done);
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_free(m->job, memory));
}

/* DW8: what the target has to apply, in mapped and in private memory, at any alignment and across a seam. */
static void accumulates_at_the_target(struct multi *m)
{
	uint8_t *memory[2] = { oriel_alloc(m->job, PAGE), map_pages(1) };
	multi_rest one = 1, sum;

	for (int i = 0; i < 2; i++) {
		oriel_win *win = open_dynamic(m);

		memset(memory[i], 0, PAGE);
		CHECK_OK(m, oriel_win_attach(win, memory[i], 24));
		CHECK_OK(m, oriel_win_attach(win, memory[i] + 24, 100));
		multi_raise(m, ADDRESS + i * m->size + m->rank, (uintptr_t)memory[i]);
		multi_sync(m);
		CHECK_OK(m, oriel_win_fence(win, 0));
		for (int n = 0; n < 50; n++)
			CHECK_OK(m, oriel_accumulate(win, &one, 1, MULTI_REST, ORIEL_SUM, 0,
			                             (size_t)multi_word(m, ADDRESS + i * m->size) + 17));
		CHECK_OK(m, oriel_win_fence(win, 0));
		memcpy(&sum, memory[i] + 17, sizeof(sum));
		CHECK(m, m->rank != 0 || sum == 50 * m->size);
		CHECK_OK(m, oriel_win_free(&win));
	}
	CHECK_OK(m, oriel_free(m->job, memory[0]));
	munmap(memory[1], PAGE);
}

/*
 * A window with a page that ranks of the node can map and one that they cannot; the ranks exchange
 * addresses.
 */
struct pages {
	oriel_win *win;
	uint8_t *memory[2];
};

static void open_pages(struct multi *m, struct pages *pages)
{
	static const struct oriel_hint hints[] = { { "signals", "2" }, { NULL, NULL } };

	*pages = (struct pages){ .memory = { oriel_alloc(m->job, PAGE), map_pages(1) } };
	CHECK_OK(m, oriel_win_create_dynamic(hints, m->group, &pages->win));
	for (int i = 0; i < 2; i++) {
		memset(pages->memory[i], 0, PAGE);
		CHECK_OK(m, oriel_win_attach(pages->win, pages->memory[i], PAGE));
		multi_raise(m, ADDRESS + i * m->size + m->rank, (uintptr_t)pages->memory[i]);
	}
	multi_sync(m);
}

static size_t page_of(struct multi *m, int rank, int i)
{
	return (size_t)multi_word(m, ADDRESS + i * m->size + rank);
}

static void close_pages(struct multi *m, struct pages *pages)
{
	CHECK_OK(m, oriel_win_free(&pages->win));
	CHECK_OK(m, oriel_free(m->job, pages->memory[0]));
	munmap(pages->memory[1], PAGE);
}

static void await_signal(struct multi *m, struct pages *pages, uint32_t signal)
{
	uint32_t which = 9;
	uint64_t value = 0;

	CHECK_OK(m, oriel_signal_wait(pages->win, signal, 1, &which, &value));
	CHECK(m, which == signal);
}

/* Signals, each behind one operation of each route to either page. */
static void signal_rounds(struct multi *m, struct pages *pages)
{
	int right = right_of(m), left = (int)left_of(m);
	multi_rest one = 1, sum;
	int64_t two = 2;

	for (uint64_t round = 1; round <= 20; round++) {
		for (int i = 0; i < 2; i++) {
			size_t there = page_of(m, right, i);

			CHECK_OK(m, oriel_put(pages->win, &round, sizeof(round), right, there));
			CHECK_OK(m, oriel_accumulate(pages->win, &two, 1, ORIEL_INT64, ORIEL_SUM, right, there + 64));
			CHECK_OK(m, oriel_accumulate(pages->win, &one, 1, MULTI_REST, ORIEL_SUM, right, there + 128));
		}
		CHECK_OK(m, oriel_signal(pages->win, right, 0, 1, round % 2 ? ORIEL_SIGNAL_SET : ORIEL_SIGNAL_ADD));
		await_signal(m, pages, 0);
		for (int i = 0; i < 2; i++) {
			const uint64_t *words = (const uint64_t *)(const void *)pages->memory[i];

			memcpy(&sum, pages->memory[i] + 128, sizeof(sum));
			CHECK(m, words[0] == round && words[8] == 2 * round && sum == (multi_rest)round);
		}
		CHECK_OK(m, oriel_signal(pages->win, left, 1, 1, ORIEL_SIGNAL_ADD)); /* the right one may go on */
		await_signal(m, pages, 1);
	}
}

/* DW8, N2: a signal follows puts and accumulates of every way. */
static void signals_follow(struct multi *m)
{
	struct pages pages;

	open_pages(m, &pages);
	CHECK_OK(m, oriel_win_lock_all(pages.win, 0));
	signal_rounds(m, &pages);
	CHECK_OK(m, oriel_win_unlock_all(pages.win));
	close_pages(m, &pages);
}

/* Reads, changes and writes back a number in either page: the two stay equal. */
static void count_locked(struct multi *m, struct pages *pages)
{
	uint64_t number[2];

	CHECK_OK(m, oriel_win_lock(pages->win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	for (int i = 0; i < 2; i++)
		CHECK_OK(m, oriel_get(pages->win, &number[i], sizeof(number[i]), 0, page_of(m, 0, i)));
	CHECK_OK(m, oriel_win_flush(pages->win, 0));
	CHECK(m, number[0] == number[1]);
	for (int i = 0; i < 2; i++) {
		number[i]++;
		CHECK_OK(m, oriel_put(pages->win, &number[i], sizeof(number[i]), 0, page_of(m, 0, i)));
	}
	CHECK_OK(m, oriel_win_unlock(pages->win, 0));
}

/* DW8, L1: a lock protects all that the rank has attached. */
static void locks_protect_all(struct multi *m)
{
	struct pages pages;

	open_pages(m, &pages);
	for (int i = 0; i < 50; i++)
		count_locked(m, &pages);
	multi_sync(m);
	CHECK_OK(m, oriel_win_lock(pages.win, ORIEL_LOCK_SHARED, m->rank, 0));
	for (int i = 0; m->rank == 0 && i < 2; i++)
		CHECK(m, *(const uint64_t *)(const void *)pages.memory[i] == 50 * (uint64_t)m->size);
	CHECK_OK(m, oriel_win_unlock(pages.win, m->rank));
	close_pages(m, &pages);
}

static const struct multi_case cases[] = {
	{ "DW8_accumulates", 3, accumulates },
	{ "DW8_accumulates_at_the_target", 3, accumulates_at_the_target },
	{ "DW8_N2_signals_follow", 3, signals_follow },
	{ "DW8_L1_locks_protect_all", 0, locks_protect_all },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_dynamic_accumulate",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
