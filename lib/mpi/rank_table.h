/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_table.h - every rank's bootstrap value, by rank
 *
 * DESIGN NOTES
 *
 * Each rank has a copy: 256 bytes for each rank of the job. Memory that the ranks of a node share
 * would take a communicator and a window of the MPI's, which are a dozen collective calls when the
 * program begins and ends, and descriptors and files.
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
	/* By rank of MPI_COMM_WORLD; filled by rank_table_exchange, read by any thread afterwards. */
	struct rank_table_entry *all;
	int done; /* 1: all is filled; stored with release, loaded with acquire */
};

/* 0, or -1, which other ranks need not have; rank_table_close in any case. */
int rank_table_open(struct rank_table *table);

/* Count who is on this machine: collective over MPI_COMM_WORLD, once all have a table. */
void rank_table_count_local(struct rank_table *table);

/* Fill `all` with the values of all ranks: collective likewise. */
void rank_table_exchange(struct rank_table *table);

void rank_table_close(struct rank_table *table);

/* As put and get of oriel_bootstrap; context is the table. */
int rank_table_put(void *context, const void *value, size_t size_bytes);
int rank_table_get(void *context, int rank, void *value, size_t *size_bytes);

#endif
