// SPDX-License-Identifier: BSD-2-Clause
/*
 * pieces.h - pairs of lists with pieces of the same lengths, for the fast paths of the vector forms
 *
 * One loop without an early exit checks all pieces, so the longest piece must be in range at the
 * last place.
 */
#ifndef ORIEL_PIECES_H
#define ORIEL_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op/target.h"

struct pieces_seen {
	size_t longest;
	uint64_t bits; /* of all sizes, and of all displacements in bytes */
};

/*
 * Returns whether the lists of `count` pieces are such a pair, in mapped memory, and not all empty.
 */
static inline bool pieces_see(struct pieces_seen *seen, const struct link *link, const struct oriel_origin_piece here[],
                              const struct oriel_target_piece there[], int count)
{
	size_t longest = 0, different = 0, last = 0, bits = 0;
	uint64_t offset;
	bool null = false;

	if (count <= 0 || !here || !there)
		return false;
	for (int i = 0; i < count; i++) {
		size_t bytes = here[i].size_bytes, disp = there[i].disp;

		null |= !here[i].addr;
		different |= bytes ^ there[i].size_bytes;
		longest = bytes > longest ? bytes : longest;
		last = disp > last ? disp : last;
		bits |= bytes | disp * link->disp_unit_bytes;
	}
	*seen = (struct pieces_seen){ longest, bits };
	return !null && !different && longest > 0 && in_range(link, last, longest, &offset);
}

#endif
