// SPDX-License-Identifier: BSD-2-Clause
/*
 * pieces.h - lists of pieces that are as long as those they go to, one by one: what the short ways
 * of the vector forms take
 *
 * They are looked at all together, by a loop without a way out of it. So the longest at the last
 * place has to be in range, which leaves a few lists to the longer way that are in range.
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

/* Whether they are such, of memory that is mapped as a whole, and not all empty. */
static inline bool pieces_see(struct pieces_seen *seen, const struct link *link, const struct oriel_origin_piece here[],
                              int here_count, const struct oriel_target_piece there[], int there_count)
{
	size_t longest = 0, different = 0, last = 0, bits = 0;
	uint64_t offset;
	bool null = false;

	if (here_count <= 0 || here_count != there_count || !here || !there)
		return false;
	for (int i = 0; i < here_count; i++) {
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
