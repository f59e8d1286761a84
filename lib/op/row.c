// SPDX-License-Identifier: BSD-2-Clause
/* See row.h. */
#include "op/row.h"

#include <stdint.h>

#include "base/copy_blocks.h"
#include "base/err.h"
#include "op/acc_route.h"
#include "op/copy.h"
#include "op/enter.h"
#include "op/gate.h"
#include "op/list.h"
#include "op/target.h"
#include "win/link.h"
#include "win/remote_regions.h"
#include "win/win.h"

/*
 * Return whether a list, of this rank or of the target's pieces, is a row of blocks of that size.
 * They set the distance between them.
 */
static bool is_row_here(const struct oriel_origin_piece list[], int count, size_t block_bytes, ptrdiff_t *distance)
{
	const uintptr_t step = (uintptr_t)list[1].addr - (uintptr_t)list[0].addr;
	uintptr_t next = (uintptr_t)list[0].addr;

	for (int i = 0; i < count; i++, next += step) {
		if (next == 0 || (uintptr_t)list[i].addr != next || list[i].size_bytes != block_bytes)
			return false;
	}
	*distance = (ptrdiff_t)step;
	return true;
}

static bool is_row_there(const struct oriel_target_piece list[], int count, size_t block_bytes, ptrdiff_t *distance)
{
	const size_t step = list[1].disp - list[0].disp;
	size_t next = list[0].disp;

	for (int i = 0; i < count; i++, next += step) {
		if (list[i].disp != next || list[i].size_bytes != block_bytes)
			return false;
	}
	*distance = (ptrdiff_t)step;
	return true;
}

bool row_find(const struct row_lists *lists, enum oriel_type type, enum oriel_op op, struct acc *acc)
{
	const size_t element_bytes = element_types[type].size_bytes, block_bytes = lists->target[0].size_bytes;

	if (block_bytes == 0 || block_bytes > LIST_PIECE_BYTES || block_bytes % element_bytes != 0)
		return false;
	acc_init(acc, type, op, block_bytes / element_bytes);
	acc->blocks = (uint32_t)lists->count;
	acc->row = (struct acc_row){ .call = lists->call };
	if (!is_row_there(lists->target, lists->count, block_bytes, &acc->row.target))
		return false;
	if (lists->origin) {
		acc->origin = lists->origin[0].addr;
		if (!is_row_here(lists->origin, lists->count, block_bytes, &acc->row.origin))
			return false;
	}
	if (lists->result) {
		acc->result = lists->result[0].addr;
		if (!is_row_here(lists->result, lists->count, block_bytes, &acc->row.result))
			return false;
	}
	return true;
}

/* Completes *acc. Returns whether all blocks, the first at disp, are in range. */
static bool place(const struct link *link, struct acc *acc, size_t disp)
{
	ptrdiff_t step, extent;
	struct acc_span span;
	uint64_t offset;

	if (!in_range(link, disp, element_span(acc->type, acc->count), &offset) ||
	    __builtin_mul_overflow(acc->row.target, (int64_t)link->disp_unit_bytes, &step) ||
	    __builtin_mul_overflow(step, (int64_t)(acc->blocks - 1), &extent))
		return false;
	acc->remote_addr = link->base + offset;
	acc->row.target = step;
	if (extent < 0 && -(uint64_t)extent > offset)
		return false;
	span = acc_span(acc);
	return span.bytes <= link->size_bytes && span.from - link->base <= link->size_bytes - span.bytes;
}

bool row_place(struct oriel_win *win, struct link *link, struct acc *acc, size_t disp)
{
	struct acc_span span;

	if (link_mapped(link) || !place(link, acc, disp))
		return false;
	span = acc_span(acc);
	if (span.bytes > UINT32_MAX || !acc_row_is_even(acc->type, acc->row.target) ||
	    acc_route(link, acc->type, acc->remote_addr, acc->count) != ACC_ROUTE_AM)
		return false;
	if (link_remote_regions(link) && !remote_region_unmapped(win, link, span.from, span.bytes))
		return false;
	return acc->op == ORIEL_NO_OP || !link->read_only;
}

static const char *call_of(const struct oriel_row *row)
{
	if (row->accumulates)
		return row->result.first ? "oriel_get_accumulatev" : "oriel_accumulatev";
	return row->op == ORIEL_NO_OP ? "oriel_getv" : "oriel_putv";
}

static bool take_row(const struct oriel_row *row, struct acc *acc)
{
	const bool reads = row->op != ORIEL_NO_OP;

	if (row->block_bytes == 0 || row->block_bytes > LIST_PIECE_BYTES || row->blocks == 0 || row->blocks > UINT32_MAX ||
	    !element_legal(row->op, row->type) || row->block_bytes % element_types[row->type].size_bytes != 0 ||
	    !(reads ? row->origin.first : row->result.first))
		return false;
	acc_init(acc, row->type, row->op, row->block_bytes / element_types[row->type].size_bytes);
	acc->blocks = (uint32_t)row->blocks;
	acc->origin = reads ? row->origin.first : NULL;
	acc->result = row->result.first;
	acc->row = (struct acc_row){
		.target = row->distance, .origin = row->origin.distance, .result = row->result.distance, .call = call_of(row)
	};
	return true;
}

static bool copy_row(struct oriel_win *win, struct link *link, struct acc *acc, size_t disp)
{
	const bool put = acc->op != ORIEL_NO_OP;
	struct blocks here, there;

	if ((put && link->read_only) || !place(link, acc, disp) || !gate_opens(win, link))
		return false;
	gate_pass(win, link);
	here = put ? (struct blocks){ (uint8_t *)(uintptr_t)acc->origin, acc->row.origin }
	           : (struct blocks){ acc->result, acc->row.result };
	there = (struct blocks){ (uint8_t *)(uintptr_t)acc->remote_addr, acc->row.target };
	if (acc->count - COPY_ROW_MIN <= COPY_ROW_MAX - COPY_ROW_MIN)
		copy_row_by(put ? there : here, put ? here : there, acc->count, acc->blocks);
	else
		copy_blocks(put ? there : here, put ? here : there, acc->count, acc->blocks);
	return true;
}

static int send_row(struct oriel_win *win, const struct oriel_row *row, struct acc *acc, int rank)
{
	const char *call = acc->row.call;
	struct link *link;
	int rc = op_begin(win, rank, false, &link, call);

	if (rc)
		return rc;
	if (!row_place(win, link, acc, row->disp))
		return ORIEL_ROW_NOT;
	if (row->accumulates || list_takes_messages(link, acc_bytes(acc)))
		return acc_issue_or_defer(win, link, acc, call);
	return !row->woven && list_move_row(win, link, acc) ? 0 : ORIEL_ROW_NOT;
}

int oriel_row(oriel_win *win, const struct oriel_row *row, int target_rank)
{
	struct link *link;
	struct acc acc;
	int rc;

	if (!take_row(row, &acc))
		return ORIEL_ROW_NOT;
	rc = win_enter(win, acc.row.call);
	if (rc)
		return rc;
	link = gate_find(win, target_rank);
	if (!link || !link_mapped(link))
		rc = send_row(win, row, &acc, target_rank);
	else
		rc = !row->accumulates && copy_row(win, link, &acc, row->disp) ? 0 : ORIEL_ROW_NOT;
	win_leave(win);
	return rc < 0 ? err_in(rc, acc.row.call) : rc;
}

static inline void copy_place(uint8_t *to, const uint8_t *from, size_t size_bytes, bool put)
{
	if (put || size_bytes < COPY_GOT_MIN)
		copy_short(to, from, size_bytes);
	else
		copy_got(to, from, size_bytes);
}

/* Copies pieces that lie alike on both sides, in four fifths of copy_dense's instructions. */
static void copy_places(uint8_t *to, const uint8_t *from, const struct oriel_place *place, int count, bool put)
{
	for (int i = 0; i < count; i++, place++)
		copy_place(to + place->offset, from + place->offset, place->size_bytes, put);
}

static void copy_dense(uint8_t *there, const struct oriel_alike *alike, const struct oriel_place *place, int count)
{
	const bool put = alike->put;

	for (int i = 0; i < count; i++, place++) {
		uint8_t *here_at = (uint8_t *)alike->here + piece_here(alike, place);
		uint8_t *there_at = there + piece_there(alike, place);

		copy_place(put ? there_at : here_at, put ? here_at : there_at, place->size_bytes, put);
	}
}

static int copy_alike(struct oriel_win *win, struct link *link, const struct oriel_alike *alike, int at)
{
	uint8_t *there = (uint8_t *)(uintptr_t)(link->base + alike->disp);
	const struct oriel_place *place = &alike->places->list[at];
	const int count = alike->places->count - at;

	if ((alike->put && link->read_only) || alike->places->longest_bytes > COPY_PIECE_BYTES || !gate_opens(win, link))
		return 0;
	gate_pass(win, link);
	if (alike->dense_here || alike->dense_there)
		copy_dense(there, alike, place, count);
	else
		copy_places(alike->put ? there : alike->here, alike->put ? alike->here : there, place, count, alike->put);
	return count;
}

static bool alike_in_range(const struct link *link, const struct oriel_alike *alike)
{
	uint64_t offset;

	return link->disp_unit_bytes == 1 &&
	       in_range(link, alike->disp + (size_t)alike_from(alike), alike_span(alike), &offset);
}

int oriel_alike(oriel_win *win, const struct oriel_alike *alike, int at, int target_rank)
{
	const char *call = alike->put ? "oriel_putv" : "oriel_getv";
	int rc = win_enter(win, call);
	struct link *link;

	if (rc)
		return rc;
	link = gate_find(win, target_rank);
	if (link && link->route != ROUTE_NONE && alike_in_range(link, alike))
		rc = (link_mapped(link) ? copy_alike : list_send_alike)(win, link, alike, at);
	win_leave(win);
	return rc < 0 ? err_in(rc, call) : rc;
}
