// SPDX-License-Identifier: BSD-2-Clause
/* model.c - see model.h. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_first_content(const struct plan_region *region, uint8_t *to)
{
	if (region->kind == REGION_ALLOCATED)
		memset(to, 0, region->size_bytes);
	else
		random_fill(to, region->size_bytes, region->serial);
}

static void update_region(struct model *model, int rank, int at, const struct plan_region *region)
{
	if (model->serial[rank][at] == region->serial)
		return;
	free(model->bytes[rank][at]);
	model->bytes[rank][at] = NULL;
	model->serial[rank][at] = region->serial;
	if (region->kind == REGION_NONE)
		return;
	model->bytes[rank][at] = malloc(region->size_bytes);
	if (!model->bytes[rank][at]) {
		perror("epochs: model");
		exit(1);
	}
	model_first_content(region, model->bytes[rank][at]);
}

static void update_regions(struct model *model, const struct plan *plan)
{
	for (int rank = 0; rank < plan->ranks; rank++) {
		for (int i = 0; i < PLAN_REGIONS_MAX; i++)
			update_region(model, rank, i, &plan->region[rank][i]);
	}
}

void model_init(struct model *model, const struct plan *plan)
{
	memset(model, 0, sizeof(*model));
	update_regions(model, plan);
}

void model_destroy(struct model *model)
{
	for (int rank = 0; rank < PLAN_RANKS_MAX; rank++) {
		for (int i = 0; i < PLAN_REGIONS_MAX; i++)
			free(model->bytes[rank][i]);
	}
}

void model_fill_pieces(const struct plan_op *op, uint64_t seed, uint8_t *const bytes[PLAN_REGIONS_MAX])
{
	for (int i = 0; i < op->origin_count; i++) {
		uint8_t *to = op->from[i].size_bytes > 0 ? bytes[op->from[i].region] + op->from[i].offset : NULL;

		if (to && op->family)
			elements_fill(op->type, to, op->from[i].size_bytes, seed + (uint64_t)i);
		else if (to)
			random_fill(to, op->from[i].size_bytes, seed + (uint64_t)i);
	}
}

/* All pieces' bytes, one after the other, into a buffer or out of it. */
static void transfer(const struct model *model, const struct range *pieces, int count, uint8_t *buffer, bool out)
{
	for (int i = 0; i < count; i++) {
		uint8_t *memory;

		if (pieces[i].size_bytes == 0)
			continue;
		memory = model->bytes[pieces[i].rank][pieces[i].region] + pieces[i].offset;
		if (out)
			memcpy(memory, buffer, pieces[i].size_bytes);
		else
			memcpy(buffer, memory, pieces[i].size_bytes);
		buffer += pieces[i].size_bytes;
	}
}

static uint8_t *scratch(size_t size_bytes)
{
	uint8_t *memory = malloc(size_bytes + 1);

	if (!memory) {
		perror("epochs: model");
		exit(1);
	}
	return memory;
}

/* compare_and_swap: of what is compared, so that the swap succeeds or not. */
static bool swaps(struct plan_op *op, const uint8_t *target)
{
	memcpy(op->compare, target, op->size_bytes);
	op->compare[0] ^= (uint8_t)!op->hit;
	return op->hit;
}

static void combine(struct plan_op *op, uint8_t *target, const uint8_t *origin)
{
	size_t each = elements_bytes(op->type);

	if (op->family == FAMILY_COMPARE_AND_SWAP && !swaps(op, target))
		return;
	for (size_t at = 0; at < op->size_bytes; at += each)
		elements_apply(op->type, op->combine, target + at, origin + at);
}

static void apply_accumulate(struct model *model, struct plan_op *op)
{
	uint8_t *target = scratch(op->size_bytes), *origin = scratch(op->size_bytes);

	if (op->fill)
		model_fill_pieces(op, op->seed, model->bytes[op->origin]);
	transfer(model, op->from, op->origin_count, origin, false);
	transfer(model, op->to, op->target_count, target, false);
	transfer(model, &op->result, 1, target, true);
	combine(op, target, origin);
	transfer(model, op->to, op->target_count, target, true);
	free(target);
	free(origin);
}

static void apply_op(struct model *model, struct plan_op *op)
{
	uint8_t *buffer;

	if (op->signal)
		return;
	if (op->family) {
		apply_accumulate(model, op);
		return;
	}
	buffer = scratch(op->size_bytes);
	if (op->fill)
		model_fill_pieces(op, op->seed, model->bytes[op->origin]);
	transfer(model, op->get ? op->to : op->from, op->get ? op->target_count : op->origin_count, buffer, false);
	transfer(model, op->get ? op->from : op->to, op->get ? op->origin_count : op->target_count, buffer, true);
	free(buffer);
}

/* The members' blocks, one of them, or none. */
static void apply_blocks(struct model *model, const struct plan *plan, const struct event *event)
{
	const struct plan_win *win = &plan->win[event->win];

	for (int i = 0; i < win->count; i++) {
		const struct plan_part *part = &win->part[win->members[i]];

		if (part->block.size_bytes > 0 && (event->kind == EVENT_PHASE || event->target == win->members[i]))
			plan_block_fill(model->bytes[part->block.rank][part->block.region] + part->block.offset, part->block_count);
	}
}

/* Fills arenas with what they hold at the beginning of a phase, and after it. */
static void apply_arenas(struct model *model, const struct plan *plan, const struct event *event)
{
	const struct plan_win *win = &plan->win[event->win];

	for (int i = 0; i < win->count; i++) {
		const struct plan_arena *arena = &win->arena[win->members[i]];

		if (arena->count > 0)
			elements_fill(arena->type, model->bytes[arena->range.rank][arena->range.region] + arena->range.offset,
			              arena->range.size_bytes, event->kind == EVENT_PHASE ? arena->seed : ~arena->seed);
	}
}

void model_apply(struct model *model, const struct plan *plan, const struct event *event)
{
	const struct range *range = &event->range;

	if (event->kind == EVENT_CREATE || event->kind == EVENT_FREE || event->kind == EVENT_REATTACH)
		update_regions(model, plan);
	if (event->kind == EVENT_PHASE || event->kind == EVENT_SECTION)
		apply_blocks(model, plan, event);
	if (event->kind == EVENT_PHASE || event->kind == EVENT_PHASE_END)
		apply_arenas(model, plan, event);
	if (event->op)
		apply_op(model, event->op);
	for (int i = 0; i < event->section_count; i++)
		apply_op(model, event->section[i]);
	if (event->kind == EVENT_STORE)
		random_fill(model->bytes[range->rank][range->region] + range->offset, range->size_bytes, event->seed);
	for (int i = 0; i < event->done_count; i++) {
		if (event->done[i]->scribble)
			model_fill_pieces(event->done[i], ~event->done[i]->seed, model->bytes[event->done[i]->origin]);
	}
}
