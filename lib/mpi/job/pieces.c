/* SPDX-License-Identifier: BSD-2-Clause */
/* See memory.h. */
#include "mpi/job/memory.h"

#include <stdint.h>
#include <string.h>

#define STEPS 8     /* sizes from a power of two to the next */
#define WASTE 4     /* a kept piece may exceed the request by 1/WASTE */
#define MEMORIES 64 /* sizes of released pieces that are remembered */

/* Oldest first. */
static struct piece *kept[PIECES_MAX];
static int count;
static size_t kept_bytes;

static size_t given_back[MEMORIES];
static unsigned next_memory;

size_t pieces_round(size_t size_bytes)
{
	size_t power = PIECE_BYTES_MIN, step;

	if (size_bytes > PIECES_BYTES_MAX)
		return size_bytes; /* not kept */
	while (power <= size_bytes / 2)
		power *= 2;
	step = power / STEPS;
	return (size_bytes + step - 1) / step * step;
}

static struct piece *take_out(int at)
{
	struct piece *piece = kept[at];

	count--;
	memmove(&kept[at], &kept[at + 1], (size_t)(count - at) * sizeof(*kept));
	kept_bytes -= piece->size_bytes;
	return piece;
}

/*
 * Takes the smallest that fits; among equals the latest, which may still be in the processor's
 * cache.
 */
struct piece *pieces_take(size_t size_bytes)
{
	size_t most = size_bytes + size_bytes / WASTE;
	int best = -1;

	for (int i = count; i-- > 0;) {
		size_t bytes = kept[i]->size_bytes;

		if (bytes >= size_bytes && bytes <= most && (best < 0 || bytes < kept[best]->size_bytes))
			best = i;
	}
	return best < 0 ? NULL : take_out(best);
}

bool pieces_recur(size_t size_bytes)
{
	for (int i = 0; i < MEMORIES; i++) {
		if (given_back[i] == size_bytes)
			return true;
	}
	return false;
}

bool pieces_wants(const struct piece *piece)
{
	if (piece->size_bytes > PIECES_BYTES_MAX)
		return false;
	if (!piece->recurs)
		given_back[next_memory++ % MEMORIES] = piece->size_bytes;
	return piece->recurs;
}

bool pieces_keep(struct piece *piece)
{
	if (count == PIECES_MAX || piece->size_bytes > PIECES_BYTES_MAX - kept_bytes)
		return false;
	kept[count++] = piece;
	kept_bytes += piece->size_bytes;
	return true;
}

struct piece *pieces_oldest(void)
{
	return count > 0 ? take_out(0) : NULL;
}
