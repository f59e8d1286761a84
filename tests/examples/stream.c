// SPDX-License-Identifier: BSD-2-Clause
/*
 * stream.c - a producer and a consumer with signals
 *
 * Rank 0 puts blocks into a ring of slots at rank 1. One signal of rank 1 counts the blocks that have
 * arrived, one signal of rank 0 the blocks that have been used. Other ranks look on.
 */
#include "check.h"

#define BLOCKS 1000
#define SLOTS 4
#define NUMBERS 512 /* of a block */

enum { PRODUCER, CONSUMER };

struct block {
	int64_t number[NUMBERS];
};

static void produce(oriel_win *win)
{
	static struct block block;

	for (uint64_t i = 0; i < BLOCKS; i++) {
		for (int k = 0; k < NUMBERS; k++)
			block.number[k] = (int64_t)i;
		if (i >= SLOTS)
			CHECK(oriel_signal_until(win, 0, i - SLOTS + 1)); /* the slot is free */
		CHECK(oriel_put(win, &block, sizeof(block), CONSUMER, i % SLOTS));
		CHECK(oriel_signal(win, CONSUMER, 0, i + 1, ORIEL_SIGNAL_SET)); /* arrives after the block */
		CHECK(oriel_win_flush_local(win, CONSUMER));                    /* `block` may change */
	}
}

static int64_t consume(oriel_win *win, const struct block *slots)
{
	int64_t sum = 0;

	for (uint64_t i = 0; i < BLOCKS; i++) {
		CHECK(oriel_signal_until(win, 0, i + 1)); /* the block is here */
		for (int k = 0; k < NUMBERS; k++)
			sum += slots[i % SLOTS].number[k];
		CHECK(oriel_signal(win, PRODUCER, 0, i + 1, ORIEL_SIGNAL_SET)); /* the slot is free */
	}
	return sum;
}

int main(int argc, char **argv)
{
	static const struct oriel_hint one_signal[] = { { "signals", "1" }, { NULL, NULL } };
	oriel_job *job;
	oriel_group *world;
	oriel_win *win;
	void *slots;
	int64_t sum = 0;
	int rank;

	usage(argc, argv, "oriel-run -n 2 ./stream");
	CHECK(oriel_init(NULL, &job));
	rank = CHECK(oriel_rank(job));
	if (CHECK(oriel_size(job)) < 2)
		return fprintf(stderr, "stream needs two ranks: oriel-run -n 2 ./stream\n"), 2;
	CHECK(oriel_group_world(job, &world));
	CHECK(oriel_win_allocate(rank == CONSUMER ? SLOTS * sizeof(struct block) : 0, sizeof(struct block), one_signal,
	                         world, &slots, &win));
	CHECK(oriel_win_lock_all(win, 0)); /* one epoch for the whole stream */
	if (rank == PRODUCER)
		produce(win);
	if (rank == CONSUMER)
		sum = consume(win, slots);
	CHECK(oriel_win_unlock_all(win));
	if (rank == CONSUMER)
		printf("%d blocks of %zu bytes, sum %lld\n", BLOCKS, sizeof(struct block), (long long)sum);

	CHECK(oriel_win_free(&win));
	CHECK(oriel_group_free(&world));
	CHECK(oriel_finalize(&job));
	return rank == CONSUMER && sum != (int64_t)NUMBERS * BLOCKS * (BLOCKS - 1) / 2;
}
