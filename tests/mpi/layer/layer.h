/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layer.h - programs that use MPI alone, and that are run with and without oriel-mpi
 *
 * A program is a list of cases, which all ranks run together. Rank 0 prints "ok CASE" or "not ok
 * CASE: on N ranks" for each, and last how many there were of each.
 */
#ifndef TESTS_MPI_LAYER_H
#define TESTS_MPI_LAYER_H

#include <mpi.h>
#include <stdio.h>

struct layer_case {
	const char *name;
	void (*run)(void);
};

extern int layer_rank, layer_size;

/* What does not hold is said, and makes the case fail; it goes on. */
void layer_expect(int held, const char *what, const char *file, int line);
#define EXPECT(condition) layer_expect((condition) != 0, #condition, __FILE__, __LINE__)

/* The body of main. */
int layer_run(int *argc, char ***argv, const struct layer_case *cases, int count);
#define LAYER_MAIN(cases)                                                               \
	int main(int argc, char **argv)                                                     \
	{                                                                                   \
		return layer_run(&argc, &argv, cases, (int)(sizeof(cases) / sizeof(*(cases)))); \
	}

/* Neighbours in a ring. */
int layer_right(void);
int layer_left(void);

/*
 * All ranks put to their right neighbour's `memory`, at its address as displacement, and see what
 * has come.
 */
void layer_put_to_address(MPI_Win win, int *memory);

#endif
