/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pieces.h - large memory of MPI_Alloc_mem that the program has freed, kept for reuse
 *
 * DESIGN NOTES
 *
 * Programs allocate scratch memory for a call or a step, free it, and repeat that. The MPI's own
 * memory is malloc's, which keeps freed memory; Oriel's costs system calls, and a page fault for
 * each page on first touch. So freed pieces are kept with their bytes: MPI does not promise zeroes.
 * Only sizes that recur are kept; memory that is allocated once is released, as malloc releases
 * large memory. The total is bounded, and the oldest piece goes first.
 *
 * Sizes are rounded up to one of eight between a power of two and the next, so that similar sizes
 * share pieces. The excess is not touched, so it costs nothing.
 *
 * The caller holds one lock for all calls but pieces_round.
 */
#ifndef ORIEL_MPI_PIECES_H
#define ORIEL_MPI_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#define PIECES_BYTES_MAX ((size_t)64 << 20) /* of all kept pieces */
#define PIECES_MAX 64                       /* number of kept pieces */
#define PIECE_BYTES_MIN ((size_t)64 << 10)  /* smaller memory: slots.h */

/* A piece of memory from oriel_alloc. */
struct piece {
	void *base;
	size_t size_bytes;
	bool recurs; /* its size recurs: keep it when it is freed */
};

/* Returns the rounded size to allocate for size_bytes. */
size_t pieces_round(size_t size_bytes);

/* Takes a kept piece that is large enough, but not much larger; NULL: there is none. */
struct piece *pieces_take(size_t size_bytes);

/* Returns whether a piece of that rounded size has been released lately. */
bool pieces_recur(size_t size_bytes);

/* Keeps the piece; false: there is no room, which pieces_oldest makes. */
bool pieces_keep(struct piece *piece);

/* Returns whether the piece is worth keeping. If its size has not recurred, remembers the size. */
bool pieces_wants(const struct piece *piece);

/* Takes the oldest kept piece; NULL: there is none. */
struct piece *pieces_oldest(void);

#endif
