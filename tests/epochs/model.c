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
		if (op->from[i].size_bytes > 0)
			random_fill(bytes[op->from[i].region] + op->from[i].offset, op->from[i].size_bytes, seed + (uint64_t)i);
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

static void apply_op(struct model *model, const struct plan_op *op)
{
	uint8_t *buffer = malloc(op->size_bytes + 1);

	if (!buffer) {
		perror("epochs: model");
		exit(1);
	}
	if (op->fill)
		model_fill_pieces(op, op->seed, model->bytes[op->origin]);
	transfer(model, op->get ? op->to : op->from, op->get ? op->target_count : op->origin_count, buffer, false);
	transfer(model, op->get ? op->from : op->to, op->get ? op->origin_count : op->target_count, buffer, true);
	free(buffer);
}

void model_apply(struct model *model, const struct plan *plan, const struct event *event)
{
	const struct range *range = &event->range;

	if (event->kind == EVENT_CREATE || event->kind == EVENT_FREE)
		update_regions(model, plan);
	if (event->op)
		apply_op(model, event->op);
	if (event->kind == EVENT_STORE)
		random_fill(model->bytes[range->rank][range->region] + range->offset, range->size_bytes, event->seed);
	for (int i = 0; i < event->done_count; i++) {
		if (event->done[i]->scribble)
			model_fill_pieces(event->done[i], ~event->done[i]->seed, model->bytes[event->done[i]->origin]);
	}
}
