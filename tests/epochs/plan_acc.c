// SPDX-License-Identifier: BSD-2-Clause
/*
 * plan_acc.c - accumulates of one origin
 *
 * No other rank touches the elements meanwhile, so that the order of the calls gives every result.
 * Elements that have just been accumulated to are often taken again, before a flush.
 */
#include <string.h>

#include "plan_parts.h"

static bool reads(const struct plan_op *op)
{
	return op->family != FAMILY_ACCUMULATE;
}

static bool single(const struct plan_op *op)
{
	return op->family == FAMILY_FETCH_AND_OP || op->family == FAMILY_COMPARE_AND_SWAP;
}

/* An accumulate of the same epoch and ranks that is not complete; NULL: none. */
static const struct plan_op *earlier(struct plan *plan, const struct plan_op *op)
{
	uint32_t at = rng_below(&plan->rng, PLAN_OPS_MAX);

	for (uint32_t i = 0; i < PLAN_OPS_MAX; i++) {
		const struct plan_op *other = &plan->op[(at + i) % PLAN_OPS_MAX];

		if (other->live && other->family && other->win == op->win && other->round == op->round &&
		    other->origin == op->origin && other->target == op->target && other->to[0].size_bytes > 0)
			return other;
	}
	return NULL;
}

static void choose_kind(struct plan *plan, struct plan_op *op, const struct plan_op *again)
{
	struct rng *rng = &plan->rng;
	bool fresh;

	op->type = again ? again->type : elements_some_type(rng);
	op->family = (enum plan_family)(FAMILY_ACCUMULATE + (int)rng_below(rng, 4));
	if (op->family == FAMILY_COMPARE_AND_SWAP && !elements_are_whole(op->type))
		op->family = FAMILY_FETCH_AND_OP;
	if (elements_are_padded(op->type)) /* whose results have bytes that are not defined */
		op->family = FAMILY_ACCUMULATE;
	fresh = !again || again->combine == ORIEL_NO_OP; /* which leaves whatever bytes there were */
	op->combine = elements_some_op(rng, op->type, fresh, reads(op));
	if (op->family == FAMILY_COMPARE_AND_SWAP)
		op->combine = ORIEL_REPLACE;
	op->hit = rng_chance(rng, 1, 2);
	op->vector = !single(op) && rng_chance(rng, 1, 4);
}

static size_t some_count(struct rng *rng)
{
	switch (rng_below(rng, 8)) {
	case 0:
		return 100 + rng_below(rng, 900);
	case 1:
	case 2:
		return 1 + rng_below(rng, 60);
	default:
		return 1 + rng_below(rng, 4);
	}
}

/* Pieces of whole elements. */
static void cut_elements(struct rng *rng, size_t count, size_t each, int pieces, size_t sizes[])
{
	for (int i = 0; i + 1 < pieces; i++) {
		size_t some = rng_below(rng, (uint32_t)count + 1);

		sizes[i] = some * each;
		count -= some;
	}
	sizes[pieces - 1] = count * each;
}

/* Half of the elements at aligned addresses, where that fits the window's unit. */
static size_t some_step(struct plan *plan, const struct plan_part *part, size_t each)
{
	return rng_chance(&plan->rng, 1, 2) && each % part->unit == 0 ? each : part->unit;
}

static bool place_target(struct plan *plan, struct plan_op *op, const struct plan_op *again, int piece,
                         size_t size_bytes)
{
	const struct plan_part *part = &plan->win[op->win].part[op->target];
	struct claim claim = { .side = CLAIM_TARGET,
		                   .write = true,
		                   .win = op->win,
		                   .round = op->round,
		                   .origin = op->origin,
		                   .target = op->target,
		                   .serial = op->serial,
		                   .type = (int)op->type,
		                   .size_bytes = elements_bytes(op->type) };
	struct range within = again ? again->to[0] : part->range;
	size_t step = again ? part->unit : some_step(plan, part, claim.size_bytes);

	/*
	 * Elements may begin anywhere in new places; in this origin's earlier places they keep its
	 * borders.
	 */
	if (again && claim.size_bytes % part->unit == 0)
		step = claim.size_bytes;
	else if (again)
		within.size_bytes = size_bytes < within.size_bytes ? size_bytes : within.size_bytes;
	if (!plan_place(plan, &within, step, size_bytes, &claim))
		return false;
	op->to[piece] = claim.range;
	return op->round != 0 || size_bytes == 0 || !plan_kept(part, &claim.range);
}

static bool place_here(struct plan *plan, struct plan_op *op, bool write, size_t size_bytes, struct range *to)
{
	struct range within = plan_pick_origin(plan, op->origin);
	struct claim claim = { .side = CLAIM_ORIGIN,
		                   .write = write,
		                   .win = op->win,
		                   .round = op->round,
		                   .origin = op->origin,
		                   .target = op->target,
		                   .serial = op->serial };

	if (!plan_place(plan, &within, 1, size_bytes, &claim))
		return false;
	*to = claim.range;
	if (write)
		plan_note_store(plan, to);
	return true;
}

static bool place_all(struct plan *plan, struct plan_op *op, const struct plan_op *again, int first)
{
	size_t each = elements_bytes(op->type), count = op->size_bytes / each, sizes[PLAN_PIECES_MAX];

	cut_elements(&plan->rng, count, each, op->target_count, sizes);
	for (int i = 0; i < op->target_count; i++) {
		if (!place_target(plan, op, again, i, sizes[i]))
			return false;
	}
	cut_elements(&plan->rng, count, each, op->origin_count, sizes);
	for (int i = 0; i < op->origin_count; i++) {
		if (!place_here(plan, op, false, sizes[i], &op->from[i]))
			return false;
	}
	/* Origin data must be numbers. */
	op->fill = op->combine != ORIEL_NO_OP;
	if (op->fill && !(plan_origins_apart(op) && plan_may_fill(plan, op, first)))
		return false;
	return !reads(op) || place_here(plan, op, true, op->size_bytes, &op->result);
}

bool plan_make_accumulate(struct plan *plan, struct plan_op *op)
{
	const struct plan_op *again = rng_chance(&plan->rng, 1, 2) ? earlier(plan, op) : NULL;
	int first = plan->claims.count;
	size_t each, fits;

	if (first + 6 * PLAN_PIECES_MAX > CLAIMS_MAX)
		return false;
	choose_kind(plan, op, again);
	each = elements_bytes(op->type);
	fits = (again ? again->to[0].size_bytes : plan->win[op->win].part[op->target].range.size_bytes) / each;
	op->size_bytes = single(op) ? 1 : some_count(&plan->rng);
	if (op->size_bytes > fits)
		op->size_bytes = fits > 4 ? fits / 2 : fits;
	op->size_bytes *= each;
	op->origin_count = op->vector ? 1 + (int)rng_below(&plan->rng, PLAN_PIECES_MAX) : 1;
	op->target_count = op->vector && !again ? 1 + (int)rng_below(&plan->rng, PLAN_PIECES_MAX) : 1;
	op->result.region = -1;
	op->live = op->size_bytes > 0 && place_all(plan, op, again, first);
	if (!op->live)
		plan->claims.count = first;
	return op->live;
}
