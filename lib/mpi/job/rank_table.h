/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rank_table.h - every rank's bootstrap value, by rank
 *
 * DESIGN NOTES
 *
 * Each rank has its own copy: shared memory would cost a communicator, a window and files.
 */
#ifndef ORIEL_MPI_RANK_TABLE_H
#define ORIEL_MPI_RANK_TABLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANK_VALUE_MAX 255

struct rank_table_entry {
	bool unkind;           /* runs under --unkind */
	bool knows_local_size; /* false: it has yet to join */
	uint8_t size_bytes;    /* 0: it has not joined */
	uint8_t value[RANK_VALUE_MAX];
};

struct rank_table {
	int rank, size;
	int local_size; /* ranks on this machine; 0: not known yet */
	struct rank_table_entry mine;
	/* rank_table_exchange fills it, by rank of MPI_COMM_WORLD; then any thread reads it. */
	struct rank_table_entry *all;
	int done; /* 1: `all` is filled; atomic */
};

/* Returns 0, or -1 if there is no memory. */
int rank_table_open(struct rank_table *table);

/* Counts the ranks on this machine. Collective over MPI_COMM_WORLD. */
void rank_table_count_local(struct rank_table *table);

/* Fills `all`; a rank that has not joined has no value. Collective likewise. */
void rank_table_exchange(struct rank_table *table, bool joined);

/* Each returns the first rank of a kind, or the number of ranks. */
int rank_table_first_without_size(const struct rank_table *table); /* of this machine's ranks */
int rank_table_first_without_value(const struct rank_table *table);
int rank_table_first_unkind(const struct rank_table *table, bool unkind);

void rank_table_close(struct rank_table *table);

/* The functions of oriel_bootstrap; context is the table. */
int rank_table_put(void *context, const void *value, size_t size_bytes);
int rank_table_get(void *context, int rank, void *value, size_t *size_bytes);

/* Returns a number that identifies this machine almost certainly. */
uint64_t machine_number(void);

#endif
