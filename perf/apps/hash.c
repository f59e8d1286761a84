// SPDX-License-Identifier: BSD-2-Clause
/*
 * hash.c - a hash table over all ranks: compare_and_swap takes a slot, fetch_and_op counts in it
 *
 * usage: hash SLOTS INSERTS, both of each rank
 *
 * A slot holds a key and the number of its inserts. A key belongs to the slot of its hash, or to
 * the next that is free or its own. There are half as many keys as slots, so that most inserts find
 * their key.
 */
#include "apps/apps.h"

struct slot {
	long key, count;
};

enum { KEY, COUNT, WORDS }; /* of a slot, in the window's unit */

static long slots;
static MPI_Win win;

/* Takes a slot. Returns true if it is the key's. */
static int take(long slot, long key)
{
	long nothing = 0, found;

	MPI_Compare_and_swap(&key, &nothing, &found, MPI_LONG, (int)(slot / slots), slot % slots * WORDS + KEY, win);
	MPI_Win_flush((int)(slot / slots), win);
	return found == 0 || found == key;
}

static void insert(long key)
{
	unsigned long hash = (unsigned long)key * 11400714819323198485UL;
	long one = 1, before, all = slots * ranks, slot = (long)(hash >> 20) % all;

	while (!take(slot, key))
		slot = (slot + 1) % all;
	MPI_Fetch_and_op(&one, &before, MPI_LONG, (int)(slot / slots), slot % slots * WORDS + COUNT, MPI_SUM, win);
	MPI_Win_flush((int)(slot / slots), win);
}

/* Sums keys times counts, in any order; the sum shows lost and repeated inserts. */
static double checksum(const struct slot *table)
{
	double sum = 0;

	for (long i = 0; i < slots; i++)
		sum += (double)(table[i].key % 1009 * table[i].count);
	return sum;
}

int main(int argc, char **argv)
{
	long arguments[2];
	unsigned long state;
	double sum;
	struct slot *table;

	begin(argc, argv, "SLOTS INSERTS", 2, arguments);
	slots = arguments[0];
	state = 88172645463325252UL + (unsigned long)rank;
	table = window_of(slots * (long)sizeof(*table), sizeof(long), &win);
	MPI_Win_lock_all(0, win);
	for (long i = 0; i < arguments[1]; i++)
		insert(1 + (long)(next_random(&state) >> 1) % (slots * ranks / 2 + 1));
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	sum = checksum(table);
	MPI_Win_unlock(rank, win);
	MPI_Win_free(&win);
	return end_with("checksum", sum);
}
