/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pieces.h - large memory of MPI_Alloc_mem that the program has freed, for the next time
 *
 * DESIGN NOTES
 *
 * Programs allocate scratch memory for a call or a step, free it, and do the same again. The MPI's own memory is malloc's,
 * which keeps what was freed; ours costs system calls to make, and a fault for each page when it is touched anew. So what is
 * freed is kept as it is, bytes and all: nobody promises zeroes here. Only of a size that comes back: what is allocated once,
 * and freed, is given back, as malloc does with what is large. What is kept is bounded, and the oldest goes first.
 *
 * Sizes are rounded up to one of eight between a power of two and the next, so that those that differ a little find each
 * other's. The rest of a piece is not touched, and costs nothing.
 *
 * The caller guards all of it by one lock.
 */
#ifndef ORIEL_MPI_PIECES_H
#define ORIEL_MPI_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#define PIECES_BYTES_MAX ((size_t)64 << 20) /* kept, in all */
#define PIECES_MAX 64                       /* of so many pieces */
#define PIECE_BYTES_MIN ((size_t)64 << 10)  /* what is smaller is slots.h's */

/* Of oriel_alloc. */
struct piece {
	void *base;
	size_t size_bytes;
	bool recurs; /* its size has come back: to be kept when it is freed */
};

/* The size to make, of size_bytes or more. */
size_t pieces_round(size_t size_bytes);

/* One that is kept and large enough, but not much larger; it is the caller's. NULL: there is none. */
struct piece *pieces_take(size_t size_bytes);

/* Whether a piece of that size, rounded up, has been freed and given back lately. */
bool pieces_recur(size_t size_bytes);

/* Whether it is kept. Not: for want of room, which pieces_oldest makes, or because it is to be given back. */
bool pieces_keep(struct piece *piece);

/* Whether it could be kept, with room. It is remembered where it is not to be kept this time. */
bool pieces_wants(const struct piece *piece);

/* The one kept for longest, which is the caller's now; NULL: there is none. */
struct piece *pieces_oldest(void);

#endif
