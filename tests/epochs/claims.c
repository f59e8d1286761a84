// SPDX-License-Identifier: BSD-2-Clause
/* claims.c - see claims.h. */
#include "claims.h"

bool range_overlaps(const struct range *a, const struct range *b)
{
	return a->rank == b->rank && a->region == b->region && a->offset < b->offset + b->size_bytes &&
	       b->offset < a->offset + a->size_bytes;
}

/* Accumulates on the same elements, one behind the other. */
static bool accumulated(const struct claim *claim, const struct claim *wanted)
{
	return claim->type && claim->type == wanted->type && claim->serial != wanted->serial &&
	       (claim->range.offset - wanted->range.offset) % claim->size_bytes == 0;
}

/*
 * Returns whether one operation ends before the other begins: both have one origin in one epoch,
 * with a flush between them, or with the order of accumulates.
 */
static bool ordered(const struct claim *claim, const struct claim *wanted)
{
	return claim->side == CLAIM_TARGET && wanted->side == CLAIM_TARGET &&
	       (claim->flushed || accumulated(claim, wanted)) && claim->origin == wanted->origin &&
	       claim->win == wanted->win && claim->round == wanted->round;
}

bool claims_conflict(const struct claims *claims, const struct claim *wanted)
{
	for (int i = 0; i < claims->count; i++) {
		const struct claim *claim = &claims->list[i];

		if ((claim->write || wanted->write) && range_overlaps(&claim->range, &wanted->range) && !ordered(claim, wanted))
			return true;
	}
	return false;
}

bool claims_add(struct claims *claims, const struct claim *claim)
{
	if (claim->range.size_bytes == 0)
		return true;
	if (claims->count == CLAIMS_MAX)
		return false;
	claims->list[claims->count++] = *claim;
	return true;
}

bool claims_origin_in_use(const struct claims *claims, const struct range *range)
{
	for (int i = 0; i < claims->count; i++) {
		const struct claim *claim = &claims->list[i];

		if (claim->side == CLAIM_ORIGIN && !claim->over && range_overlaps(&claim->range, range))
			return true;
	}
	return false;
}
