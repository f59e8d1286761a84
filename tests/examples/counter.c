// SPDX-License-Identifier: BSD-2-Clause
/*
 * counter.c - four ways for all ranks to change one number at rank 0, which calls nothing for it
 *
 * Rank 0's window holds a total, a ticket counter, a maximum and a word that is changed by
 * compare_and_swap. At the end rank 0 knows what each must be.
 */
#include "check.h"

#define TIMES 1000

enum { TOTAL, TICKETS, LARGEST, DOUBLED, WORDS };

/* Adds without reading: the cheapest way. Returns at once, the flush completes it. */
static void add(oriel_win *win)
{
	static const int64_t one = 1;

	CHECK(oriel_accumulate(win, &one, 1, ORIEL_INT64, ORIEL_SUM, 0, TOTAL));
}

/* Adds, and returns the value from before, which no other rank gets. */
static int64_t take_ticket(oriel_win *win)
{
	static const int64_t one = 1;
	int64_t ticket;

	CHECK(oriel_fetch_and_op(win, &one, &ticket, ORIEL_INT64, ORIEL_SUM, 0, TICKETS));
	CHECK(oriel_win_flush(win, 0));
	return ticket;
}

/* Any function of one number: read it, compute, and write if no other rank has been faster. */
static void double_modulo(oriel_win *win)
{
	int64_t before, seen, next;

	CHECK(oriel_get_accumulate(win, NULL, &seen, 1, ORIEL_INT64, ORIEL_NO_OP, 0, DOUBLED)); /* an atomic read */
	CHECK(oriel_win_flush(win, 0));
	do {
		before = seen;
		next = (2 * before + 1) % 1000003;
		CHECK(oriel_compare_and_swap(win, &next, &before, &seen, ORIEL_INT64, 0, DOUBLED));
		CHECK(oriel_win_flush(win, 0));
	} while (seen != before);
}

static void count(oriel_win *win)
{
	int64_t last = 0;

	CHECK(oriel_win_lock_all(win, 0));
	for (int i = 0; i < TIMES; i++) {
		add(win);
		last = take_ticket(win);
		double_modulo(win);
	}
	CHECK(oriel_accumulate(win, &last, 1, ORIEL_INT64, ORIEL_MAX, 0, LARGEST));
	CHECK(oriel_win_unlock_all(win));
}

/* 0 if the four numbers are those of `all` rounds. */
static int wrong(const int64_t *word, int64_t all)
{
	int64_t doubled = 0;

	for (int64_t i = 0; i < all; i++)
		doubled = (2 * doubled + 1) % 1000003;
	printf("total %lld, tickets %lld, largest %lld, doubled %lld\n", (long long)word[TOTAL], (long long)word[TICKETS],
	       (long long)word[LARGEST], (long long)word[DOUBLED]);
	return word[TOTAL] != all || word[TICKETS] != all || word[LARGEST] != all - 1 || word[DOUBLED] != doubled;
}

int main(int argc, char **argv)
{
	oriel_job *job;
	oriel_group *world;
	oriel_win *win;
	void *base;
	int rank, rc = 0;

	usage(argc, argv, "oriel-run -n 4 ./counter");
	CHECK(oriel_init(NULL, &job));
	rank = CHECK(oriel_rank(job));
	CHECK(oriel_group_world(job, &world));
	CHECK(oriel_win_allocate(rank == 0 ? WORDS * sizeof(int64_t) : 0, sizeof(int64_t), NULL, world, &base, &win));
	count(win);
	CHECK(oriel_barrier(job));
	if (rank == 0) {
		CHECK(oriel_win_sync(win));
		rc = wrong(base, (int64_t)TIMES * CHECK(oriel_size(job)));
	}
	CHECK(oriel_win_free(&win));
	CHECK(oriel_group_free(&world));
	CHECK(oriel_finalize(&job));
	return rc;
}
