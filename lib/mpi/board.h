/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * board.h - every rank's value, known to all
 *
 * DESIGN NOTES
 *
 * Each rank has a copy: 256 bytes for each rank of the job. Memory that the ranks of a node share would take a communicator and
 * a window of the MPI's, which are a dozen collective calls when the program begins and ends, and descriptors and files.
 */
#ifndef ORIEL_MPI_BOARD_H
#define ORIEL_MPI_BOARD_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_VALUE_MAX 255

struct board_entry {
	uint8_t size_bytes;
	uint8_t value[BOARD_VALUE_MAX];
};

struct board {
	int rank, size, local_size;
	struct board_entry mine;
	struct board_entry *all; /* by rank of MPI_COMM_WORLD; filled by board_exchange, read by any thread afterwards */
	int done;                /* 1: all is filled; stored with release, loaded with acquire */
};

/* 0, or -1, which other ranks need not have; board_close in any case. */
int board_open(struct board *board);

/* Count who is on this machine: collective over MPI_COMM_WORLD, once all have a board. */
void board_meet(struct board *board);

/* Make everybody's mine known: collective likewise. */
void board_exchange(struct board *board);

void board_close(struct board *board);

/* As put and get of oriel_bootstrap; context is the board. */
int board_put(void *context, const void *value, size_t size_bytes);
int board_get(void *context, int rank, void *value, size_t *size_bytes);

#endif
