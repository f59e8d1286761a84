// SPDX-License-Identifier: BSD-2-Clause
/* plan_op.c - operations and the memory they touch; see claims.h. */
#include <string.h>

#include "plan_parts.h"

#define PLACES_TRIED 6

/* Claims and exposure epochs. */

static bool part_exposed(const struct plan_win *win, int rank)
{
	return win->fence_open || win->phase || win->part[rank].exposed;
}

bool plan_covered(const struct plan *plan, const struct range *range)
{
	for (int w = 0; w < PLAN_WINDOWS_MAX; w++) {
		const struct plan_win *win = &plan->win[w];

		if (win->live && part_exposed(win, range->rank) && range_overlaps(&win->part[range->rank].range, range))
			return true;
	}
	return false;
}

void plan_sweep(struct plan *plan)
{
	struct claims *claims = &plan->claims;
	int kept = 0;

	for (int i = 0; i < claims->count; i++) {
		struct claim *claim = &claims->list[i];

		if (!claim->over || plan_covered(plan, &claim->range))
			claims->list[kept++] = *claim;
	}
	claims->count = kept;
}

void plan_note_store(struct plan *plan, const struct range *range)
{
	for (int w = 0; w < PLAN_WINDOWS_MAX; w++) {
		struct plan_part *part = &plan->win[w].part[range->rank];

		if (plan->win[w].live && range_overlaps(&part->range, range))
			part->stored = true;
	}
}

bool plan_may_store(struct plan *plan, const struct range *range)
{
	struct claim claim = { .range = *range, .side = CLAIM_STORE, .write = true, .over = true, .win = -1, .origin = -1 };

	if (claims_conflict(&plan->claims, &claim))
		return false;
	if (plan_covered(plan, range) && !claims_add(&plan->claims, &claim))
		return false;
	plan_note_store(plan, range);
	return true;
}

/* Unstable bytes: see plan.h. */

static void unstable_add(struct unstable *unstable, size_t from, size_t to)
{
	int at = unstable->count;

	if (from >= to)
		return;
	for (; at > 0 && unstable->from[at - 1] > from; at--) {
		unstable->from[at] = unstable->from[at - 1];
		unstable->to[at] = unstable->to[at - 1];
	}
	unstable->from[at] = from;
	unstable->to[at] = to;
	unstable->count++;
}

static void unstable_window(const struct plan_win *win, int rank, struct unstable *unstable)
{
	const struct plan_part *part = &win->part[rank];
	size_t begin = part->range.offset, end = begin + part->range.size_bytes;

	if (part->exposed && !part->posted_noput)
		unstable_add(unstable, begin, end);
	if (win->phase)
		unstable_add(unstable, begin, end);
	if (win->fence_open) {
		unstable_add(unstable, begin, begin + part->keep_from);
		unstable_add(unstable, begin + part->keep_to, end);
	}
}

void plan_unstable(const struct plan *plan, const struct range *range, struct unstable *unstable)
{
	unstable->count = 0;
	for (int i = 0; i < plan->claims.count; i++) {
		const struct claim *claim = &plan->claims.list[i];

		if (claim->write && claim->side != CLAIM_STORE && range_overlaps(&claim->range, range))
			unstable_add(unstable, claim->range.offset, claim->range.offset + claim->range.size_bytes);
	}
	for (int w = 0; w < PLAN_WINDOWS_MAX; w++) {
		if (plan->win[w].live && range_overlaps(&plan->win[w].part[range->rank].range, range))
			unstable_window(&plan->win[w], range->rank, unstable);
	}
}

/* Sizes. */

static size_t edge_size(struct rng *rng)
{
	/* Around words, the inline limits, packets, the copy limit. */
	static const size_t edges[] = { 1,    7,    8,    9,    63,   64,   65,   219,  220,  221,  999, 1000,
		                            1001, 1023, 1024, 1025, 2000, 4095, 4096, 4097, 8191, 8192, 8193 };

	return edges[rng_below(rng, sizeof(edges) / sizeof(edges[0]))];
}

static size_t op_size(struct plan *plan)
{
	struct rng *rng = &plan->rng;

	if (rng_chance(rng, plan->large, 64))
		return 8194 + rng_below(rng, 90u << 10);
	switch (rng_below(rng, 8)) {
	case 0:
	case 1:
	case 2:
		return edge_size(rng);
	case 3:
		return rng_chance(rng, 1, 3) ? 0 : rng_below(rng, 10000);
	case 4:
		return 1 + rng_below(rng, 2500);
	default:
		return 1 + rng_below(rng, 300);
	}
}

/* Cut size_bytes into count pieces at random; some may be empty. */
static void cut(struct rng *rng, size_t size_bytes, int count, size_t pieces[])
{
	for (int i = 0; i + 1 < count; i++) {
		uint32_t part_of = 1 + rng_below(rng, 3);

		pieces[i] = rng_chance(rng, 1, 8) ? 0 : rng_below(rng, (uint32_t)size_bytes + 1) / part_of;
		size_bytes -= pieces[i];
	}
	pieces[count - 1] = size_bytes;
}

/* Places. */

/* A free place of size_bytes at a multiple of unit inside `within`; claims it. */
bool plan_place(struct plan *plan, const struct range *within, size_t unit, size_t size_bytes, struct claim *claim)
{
	if (size_bytes > within->size_bytes)
		return false;
	for (int i = 0; i < PLACES_TRIED; i++) {
		uint32_t places = (uint32_t)((within->size_bytes - size_bytes) / unit) + 1;

		claim->range = *within;
		claim->range.offset += unit * rng_below(&plan->rng, places);
		claim->range.size_bytes = size_bytes;
		if (size_bytes == 0 || !claims_conflict(&plan->claims, claim))
			return claims_add(&plan->claims, claim);
	}
	return false;
}

struct range plan_place_own(struct plan *plan, int win, int rank, size_t step, size_t size_bytes)
{
	const struct plan_part *part = &plan->win[win].part[rank];
	struct range none = { .rank = rank, .region = -1 };
	struct claim claim = {
		.side = CLAIM_TARGET, .write = true, .win = win, .round = plan->win[win].phase, .origin = -1, .target = rank
	};
	int count = plan->claims.count;

	if (size_bytes == 0 || !plan_place(plan, &part->range, step, size_bytes, &claim))
		return none;
	plan->claims.count = count; /* the owner's first content comes before the phase, so this claim is not against it */
	return plan_may_store(plan, &claim.range) && claims_add(&plan->claims, &claim) ? claim.range : none;
}

/* A put in a fence epoch must not go where the target has been promised quiet. */
bool plan_kept(const struct plan_part *part, const struct range *range)
{
	size_t begin = range->offset - part->range.offset;

	return begin < part->keep_to && part->keep_from < begin + range->size_bytes;
}

static bool place_targets(struct plan *plan, struct plan_op *op, const size_t pieces[])
{
	const struct plan_part *part = &plan->win[op->win].part[op->target];
	struct claim claim = { .side = CLAIM_TARGET,
		                   .write = !op->get,
		                   .win = op->win,
		                   .round = op->round,
		                   .origin = op->origin,
		                   .target = op->target,
		                   .serial = op->serial };

	for (int i = 0; i < op->target_count; i++) {
		if (!plan_place(plan, &part->range, part->unit, pieces[i], &claim))
			return false;
		op->to[i] = claim.range;
		if (!op->get && op->round == 0 && pieces[i] > 0 && plan_kept(part, &claim.range))
			return false;
	}
	return true;
}

/* Some memory of the origin: a fixed region or one made for a window. */
static struct range pick_region(struct plan *plan, int rank)
{
	uint32_t count = rng_chance(&plan->rng, 2, 3) ? REGION_FIXED : PLAN_REGIONS_MAX;
	int region = (int)rng_below(&plan->rng, count);

	if (plan->region[rank][region].kind == REGION_NONE)
		region = 0;
	return (struct range){ rank, region, 0, plan->region[rank][region].size_bytes };
}

/* Now and then inside registered memory, or that of a window, this one or another. */
struct range plan_pick_origin(struct plan *plan, int rank)
{
	const struct plan_mem *mem = &plan->mem[rank][rng_below(&plan->rng, PLAN_MEMS_MAX)];
	const struct plan_win *win = &plan->win[rng_below(&plan->rng, PLAN_WINDOWS_MAX)];
	uint32_t dice = rng_below(&plan->rng, 8);

	if (dice < 2 && mem->live)
		return mem->range;
	if (dice < 4 && win->live && win->part[rank].range.size_bytes > 0)
		return win->part[rank].range;
	return pick_region(plan, rank);
}

static bool place_origins(struct plan *plan, struct plan_op *op, const size_t pieces[])
{
	struct claim claim = { .side = CLAIM_ORIGIN,
		                   .write = op->get,
		                   .win = op->win,
		                   .round = op->round,
		                   .origin = op->origin,
		                   .target = op->target,
		                   .serial = op->serial };

	for (int i = 0; i < op->origin_count; i++) {
		struct range within = plan_pick_origin(plan, op->origin);

		if (!plan_place(plan, &within, 1, pieces[i], &claim))
			return false;
		op->from[i] = claim.range;
		if (op->get)
			plan_note_store(plan, &claim.range);
	}
	return true;
}

/*
 * New bytes for a put, where others' claims allow it: all pieces or none. The store comes before
 * the put, so the put's claims are left out of account for the moment.
 */
bool plan_may_fill(struct plan *plan, const struct plan_op *op, int first_claim)
{
	struct claims *claims = &plan->claims;
	int count = claims->count, own = count - first_claim;
	struct claim saved[2 * PLAN_PIECES_MAX];
	bool may = true;

	memcpy(saved, &claims->list[first_claim], (size_t)own * sizeof(saved[0]));
	claims->count = first_claim;
	for (int i = 0; may && i < op->origin_count; i++)
		may = op->from[i].size_bytes == 0 || plan_may_store(plan, &op->from[i]);
	/* Stores noted for a put that is then not filled only make the plan more careful. */
	for (int i = 0; i < own; i++)
		claims_add(claims, &saved[i]);
	return may;
}

/*
 * Pieces of a put may share origin bytes; then filling piece after piece would change what an
 * earlier one had.
 */
bool plan_origins_apart(const struct plan_op *op)
{
	for (int i = 0; i < op->origin_count; i++) {
		for (int j = 0; j < i; j++) {
			if (range_overlaps(&op->from[i], &op->from[j]))
				return false;
		}
	}
	return true;
}

static bool place_op(struct plan *plan, struct plan_op *op)
{
	size_t target_pieces[PLAN_PIECES_MAX], origin_pieces[PLAN_PIECES_MAX];
	int first = plan->claims.count;

	if (first + 6 * PLAN_PIECES_MAX > CLAIMS_MAX)
		return false;
	cut(&plan->rng, op->size_bytes, op->target_count, target_pieces);
	cut(&plan->rng, op->size_bytes, op->origin_count, origin_pieces);
	if (!place_targets(plan, op, target_pieces) || !place_origins(plan, op, origin_pieces)) {
		plan->claims.count = first;
		return false;
	}
	op->fill = !op->get && rng_chance(&plan->rng, 7, 8) && plan_origins_apart(op) && plan_may_fill(plan, op, first);
	return true;
}

static struct plan_op *free_op(struct plan *plan)
{
	for (int i = 0; i < PLAN_OPS_MAX; i++) {
		if (!plan->op[i].live)
			return &plan->op[i];
	}
	return NULL;
}

static void choose_shape(struct plan *plan, struct plan_op *op, enum op_wish wish)
{
	bool burst = wish == OP_BURST_PUT || wish == OP_BURST_GET;

	op->get = wish == OP_GET || wish == OP_BURST_GET || (wish == OP_ANY && rng_chance(&plan->rng, 2, 5));
	op->vector = !burst && rng_chance(&plan->rng, 1, 4);
	op->origin_count = op->vector ? 1 + (int)rng_below(&plan->rng, PLAN_PIECES_MAX) : 1;
	op->target_count = op->vector ? 1 + (int)rng_below(&plan->rng, PLAN_PIECES_MAX) : 1;
	op->wild_disp = (size_t)rng_next(&plan->rng);
	op->size_bytes = burst ? 4000 + rng_below(&plan->rng, 5000) : op_size(plan);
}

struct plan_op *plan_make_op(struct plan *plan, int win, uint32_t round, int origin, int target, enum op_wish wish)
{
	const struct plan_part *part = &plan->win[win].part[target];
	struct plan_op *op = free_op(plan);

	if (!op)
		return NULL;
	memset(op, 0, sizeof(*op));
	op->win = win;
	op->round = round;
	op->origin = origin;
	op->target = target;
	op->serial = ++plan->op_serial;
	op->seed = rng_next(&plan->rng);
	if (wish == OP_ANY && rng_chance(&plan->rng, plan->signals, 40)) {
		plan_make_signal(plan, op);
		return op;
	}
	if (wish == OP_ANY && rng_chance(&plan->rng, plan->accumulates, 12))
		return plan_make_accumulate(plan, op) ? op : NULL;
	choose_shape(plan, op, wish);
	op->direct =
		plan->win[win].shared && (round == 0 || plan->win[win].phase) && !op->vector && rng_chance(&plan->rng, 1, 3);
	if (op->size_bytes > part->range.size_bytes && part->range.size_bytes > 0)
		op->size_bytes = 1 + rng_below(&plan->rng, (uint32_t)part->range.size_bytes);
	else if (op->size_bytes > part->range.size_bytes)
		op->size_bytes = 0;
	for (int i = 0; i < 3; i++, op->size_bytes /= 6) {
		op->live = place_op(plan, op);
		if (op->live)
			return op;
	}
	return NULL;
}
