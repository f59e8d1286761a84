/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_table.h - every rank's bootstrap value, by rank
 *
 * DESIGN NOTES
 *
 * Each rank has a copy: 256 bytes for each rank of the job. Memory shared by the ranks of a node
 * would take a communicator and a window of the MPI's: a dozen collective calls as the program
 * begins and ends, and descriptors and files.
 */
#ifndef ORIEL_MPI_RANK_TABLE_H
#define ORIEL_MPI_RANK_TABLE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define RANK_VALUE_MAX 255

struct rank_table_entry {
	uint8_t size_bytes;
	uint8_t value[RANK_VALUE_MAX];
};

struct rank_table {
	int rank, size, local_size;
	struct rank_table_entry mine;
	/*
	 * All values, by rank of MPI_COMM_WORLD; filled by rank_table_exchange, then read by any
	 * thread.
	 */
	struct rank_table_entry *all;
	int done; /* 1: all is filled; stored with release, loaded with acquire */
};

/* Returns 0, or -1, perhaps on this rank alone. rank_table_close must be called in any case. */
int rank_table_open(struct rank_table *table);

/* Counts the ranks on this machine. Collective over MPI_COMM_WORLD, once all have a table. */
void rank_table_count_local(struct rank_table *table);

/* Fills `all` with every rank's value. Collective likewise. */
void rank_table_exchange(struct rank_table *table);

void rank_table_close(struct rank_table *table);

/* The put and get functions of oriel_bootstrap; context is the table. */
int rank_table_put(void *context, const void *value, size_t size_bytes);
int rank_table_get(void *context, int rank, void *value, size_t *size_bytes);

/*
 * Returns a number that all ranks of a machine share, and other machines almost certainly do not.
 */
uint64_t machine_number(void);

#endif
