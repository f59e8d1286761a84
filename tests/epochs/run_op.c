// SPDX-License-Identifier: BSD-2-Clause
/* run_op.c - the operations of one origin */
#include "run.h"

#include <string.h>

static size_t disp(const struct run *run, const struct plan_op *op, int piece)
{
	const struct plan_part *part = &run->plan.win[op->win].part[op->target];

	if (op->size_bytes == 0)
		return op->wild_disp;
	return base_disp(run, op->win, op->target) + (op->to[piece].offset - part->range.offset) / part->unit;
}

static void *origin_of(const struct run *run, const struct plan_op *op, int piece)
{
	return op->from[piece].size_bytes ? run->bytes[op->from[piece].region] + op->from[piece].offset : NULL;
}

static void vector_op(struct run *run, const struct plan_op *op)
{
	struct oriel_origin_piece from[PLAN_PIECES_MAX];
	struct oriel_target_piece to[PLAN_PIECES_MAX];
	oriel_win *win = run->win[op->win];
	int target = member(run, op->win, op->target);

	for (int i = 0; i < op->origin_count; i++)
		from[i] = (struct oriel_origin_piece){ origin_of(run, op, i), op->from[i].size_bytes };
	for (int i = 0; i < op->target_count; i++)
		to[i] = (struct oriel_target_piece){ disp(run, op, i), op->to[i].size_bytes };
	if (op->get)
		must(run, oriel_getv(win, from, op->origin_count, target, to, op->target_count), "oriel_getv");
	else
		must(run, oriel_putv(win, from, op->origin_count, target, to, op->target_count), "oriel_putv");
	memset(from, 0xee, sizeof(from)); /* the lists are the caller's again */
	memset(to, 0xee, sizeof(to));
}

static void accumulate_vector(struct run *run, const struct plan_op *op, void *result)
{
	struct oriel_origin_piece from[PLAN_PIECES_MAX], back = { result, op->size_bytes };
	struct oriel_target_piece to[PLAN_PIECES_MAX];
	int target = member(run, op->win, op->target), from_count = op->fill ? op->origin_count : 0;
	oriel_win *win = run->win[op->win];

	for (int i = 0; i < op->origin_count; i++)
		from[i] = (struct oriel_origin_piece){ origin_of(run, op, i), op->from[i].size_bytes };
	for (int i = 0; i < op->target_count; i++)
		to[i] = (struct oriel_target_piece){ disp(run, op, i), op->to[i].size_bytes };
	if (result)
		must(run,
		     oriel_get_accumulatev(win, op->fill ? from : NULL, from_count, &back, 1, op->type, op->combine, target, to,
		                           op->target_count),
		     "oriel_get_accumulatev");
	else
		must(run, oriel_accumulatev(win, from, from_count, op->type, op->combine, target, to, op->target_count),
		     "oriel_accumulatev");
}

static void accumulate(struct run *run, const struct plan_op *op)
{
	void *origin = op->fill ? origin_of(run, op, 0) : NULL;
	void *result = op->result.size_bytes ? run->bytes[op->result.region] + op->result.offset : NULL;
	size_t count = op->size_bytes / elements_bytes(op->type), at = disp(run, op, 0);
	int target = member(run, op->win, op->target);
	oriel_win *win = run->win[op->win];

	if (op->vector)
		accumulate_vector(run, op, result);
	else if (op->family == FAMILY_ACCUMULATE)
		must(run, oriel_accumulate(win, origin, count, op->type, op->combine, target, at), "oriel_accumulate");
	else if (op->family == FAMILY_GET_ACCUMULATE)
		must(run, oriel_get_accumulate(win, origin, result, count, op->type, op->combine, target, at),
		     "oriel_get_accumulate");
	else if (op->family == FAMILY_FETCH_AND_OP)
		must(run, oriel_fetch_and_op(win, origin, result, op->type, op->combine, target, at), "oriel_fetch_and_op");
	else
		must(run, oriel_compare_and_swap(win, origin, op->compare, result, op->type, target, at),
		     "oriel_compare_and_swap");
}

/* Loads and stores of another member's part. */
static void load_or_store(struct run *run, const struct plan_op *op, void *origin)
{
	size_t size_bytes, unit;
	uint8_t *at;
	void *base;

	must(run, oriel_win_shared_query(run->win[op->win], member(run, op->win, op->target), &base, &size_bytes, &unit),
	     "oriel_win_shared_query");
	at = (uint8_t *)base + disp(run, op, 0) * unit;
	if (op->get)
		memcpy(origin, at, op->size_bytes);
	else
		memcpy(at, origin, op->size_bytes);
}

void run_op(struct run *run, const struct plan_op *op)
{
	oriel_win *win = run->win[op->win];
	int target = member(run, op->win, op->target);
	void *origin = origin_of(run, op, 0);

	if (op->fill)
		model_fill_pieces(op, op->seed, run->bytes);
	if (op->signal)
		must(run, oriel_signal(win, target, op->which, op->value, op->set ? ORIEL_SIGNAL_SET : ORIEL_SIGNAL_ADD),
		     "oriel_signal");
	else if (op->family)
		accumulate(run, op);
	else if (op->vector)
		vector_op(run, op);
	else if (op->direct && op->size_bytes > 0 && run->job->can_share)
		load_or_store(run, op, origin);
	else if (op->get)
		must(run, oriel_get(win, origin, op->size_bytes, target, disp(run, op, 0)), "oriel_get");
	else
		must(run, oriel_put(win, origin, op->size_bytes, target, disp(run, op, 0)), "oriel_put");
}
