// SPDX-License-Identifier: BSD-2-Clause
/* See list.h. */
#include "op/list.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "op/acc_route.h"
#include "op/am_codec.h"
#include "op/am_issue.h"
#include "op/gate.h"
#include "op/issue.h"
#include "op/pieces.h"
#include "op/row.h"
#include "verbs/direct_access.h"
#include "win/link.h"
#include "win/remote_regions.h"
#include "win/win.h"

static bool is_pair(struct pieces_seen *seen, const struct link *link, const struct list *list, const struct walk *here)
{
	return here->count == list->count && pieces_see(seen, link, here->list, list->target, list->count);
}

static uint64_t address_of(const struct link *link, const struct oriel_target_piece *piece)
{
	return link->base + (uint64_t)piece->disp * link->disp_unit_bytes;
}

/* In a dynamic window, they lie in one region. */
static uint32_t key_of(struct oriel_win *win, struct link *link, struct acc_span span)
{
	return link->route == ROUTE_REGIONS ? remote_region_unmapped(win, link, span.from, span.bytes)->rkey : link->rkey;
}

static bool are_in_region(struct oriel_win *win, struct link *link, const struct list *list)
{
	uint64_t from = UINT64_MAX, to = 0;

	for (int i = 0; i < list->count; i++) {
		uint64_t addr = address_of(link, &list->target[i]);

		from = addr < from ? addr : from;
		to = addr + list->target[i].size_bytes > to ? addr + list->target[i].size_bytes : to;
	}
	return remote_region_unmapped(win, link, from, to - from);
}

bool list_is_checked(struct oriel_win *win, struct link *link, const struct list *list)
{
	struct pieces_seen seen;

	if (link->route == ROUTE_NONE || link_mapped(link) || !gate_is_open(win, link) ||
	    (list->op != ORIEL_NO_OP && !is_pair(&seen, link, list, &list->origin)) ||
	    ((list->op == ORIEL_NO_OP || list->result.count > 0) && !is_pair(&seen, link, list, &list->result)) ||
	    seen.bits % element_types[list->type].size_bytes != 0)
		return false;
	if (link_remote_regions(link) && !are_in_region(win, link, list))
		return false;
	return list->op == ORIEL_NO_OP || !link->read_only;
}

/* Lists as active messages. */

bool list_takes_messages(struct link *link, size_t bytes)
{
	return direct_has_lists(&link->peer->direct) &&
	       ((link->marks & (LINK_ACCESS | LINK_AM)) == (LINK_ACCESS | LINK_AM) || am_issue_pays(link, bytes));
}

/* The pieces of one message: those from the list's place to `end` that are not empty. */
struct batch {
	int end;
	uint32_t count, bytes;
	struct acc_span span;
};

static inline bool is_for_message(const struct link *link, const struct list *list, uint64_t addr, size_t bytes)
{
	return bytes <= LIST_PIECE_BYTES &&
	       acc_route(link, list->type, addr, bytes / element_types[list->type].size_bytes) == ACC_ROUTE_AM;
}

static struct batch next_batch(const struct link *link, const struct list *list)
{
	uint64_t from = UINT64_MAX, to = 0;
	struct batch batch = { .end = list->at };

	for (; batch.end < list->count; batch.end++) {
		const struct oriel_target_piece *piece = &list->target[batch.end];
		const uint64_t addr = address_of(link, piece), bytes = piece->size_bytes;
		const uint64_t least = addr < from ? addr : from, most = addr + bytes > to ? addr + bytes : to;

		if (bytes == 0)
			continue;
		if (!is_for_message(link, list, addr, bytes) || batch.count == AM_LIST_MAX || most - least > UINT32_MAX ||
		    batch.bytes + bytes + AM_TABLE_BYTES(batch.count + 1) > AM_LARGEST_BYTES)
			break;
		from = least;
		to = most;
		batch.bytes += (uint32_t)bytes;
		batch.count++;
	}
	batch.span = (struct acc_span){ from, to - from };
	return batch;
}

static void write_table(const struct link *link, const struct list *list, const struct batch *batch, uint8_t *table)
{
	const uint32_t size_bytes = element_types[list->type].size_bytes;

	for (int i = list->at; i < batch->end; i++) {
		const struct oriel_target_piece *target = &list->target[i];
		struct am_piece piece = { (uint32_t)(address_of(link, target) - batch->span.from),
			                      (uint32_t)target->size_bytes / size_bytes };

		if (piece.count == 0)
			continue;
		memcpy(table, &piece, sizeof(piece));
		table += sizeof(piece);
	}
}

/* Moves the walk on, and returns where these bytes of a result go; NULL: out of memory. */
static struct am_scatter *scatter_of(struct walk *walk, uint32_t bytes)
{
	struct am_scatter *scatter;
	struct walk ahead = *walk;
	uint32_t count = 0;
	size_t some;

	for (size_t left = bytes; left > 0; left -= some) {
		some = walk_together(&ahead, left);
		walk_step(&ahead, some);
		count++;
	}
	scatter = malloc(sizeof(*scatter) + count * sizeof(scatter->parts[0]));
	if (!scatter)
		return NULL;
	scatter->count = count;
	for (uint32_t i = 0; i < count; i++, bytes -= (uint32_t)some) {
		some = walk_together(walk, bytes);
		scatter->parts[i] = (struct am_part){ walk_step(walk, some), (uint32_t)some };
	}
	return scatter;
}

static int out_of_memory(const struct oriel_win *win, const struct link *link, const char *call)
{
	return err_set(ORIEL_ERR_MEMORY, "%s: %s: out of memory for the results of rank %d", call, win->label, link->rank);
}

static int send_batch(struct oriel_win *win, struct link *link, struct list *list, const struct batch *batch)
{
	struct walk origin = list->origin, result = list->result;
	uint8_t data[AM_LARGEST_BYTES];
	struct am_message message;
	int rc;

	write_table(link, list, batch, data);
	if (list->op != ORIEL_NO_OP)
		walk_pack(&origin, data + AM_TABLE_BYTES(batch->count), batch->bytes);
	message = am_encode_list(list->type, list->op, batch->count, batch->bytes, data);
	if (list->result.count > 0) {
		message.result_bytes = batch->bytes;
		message.scatter = scatter_of(&result, batch->bytes);
		if (!message.scatter)
			return out_of_memory(win, link, list->call);
	}
	rc = am_issue_list(win, link, &message, batch->span, list->call);
	if (rc != 0)
		return rc;
	list->at = batch->end;
	list->origin = origin;
	list->result = result;
	return 0;
}

/* Returns an operation on the next bytes of a piece, at most `bytes`, and moves the walks on. */
static struct acc next_stretch(struct list *list, uint64_t addr, size_t bytes)
{
	size_t some = walk_together(&list->result, walk_together(&list->origin, bytes));
	struct acc acc;

	acc_init(&acc, list->type, list->op, some / element_types[list->type].size_bytes);
	acc.origin = walk_step(&list->origin, some);
	acc.result = walk_step(&list->result, some);
	acc.remote_addr = addr;
	return acc;
}

int list_issue_piece(struct oriel_win *win, struct link *link, struct list *list)
{
	const struct oriel_target_piece *piece = &list->target[list->at++];
	int rc = 0;

	for (size_t done = 0; rc == 0 && done < piece->size_bytes;) {
		struct acc acc = next_stretch(list, address_of(link, piece) + done, piece->size_bytes - done);

		done += acc.count * element_types[list->type].size_bytes;
		rc = acc_issue_or_defer(win, link, &acc, list->call);
	}
	return rc;
}

static void take_pieces(const struct link *link, const struct list *list, const struct batch *batch, uint32_t rkey,
                        struct softverbs_piece *pieces)
{
	for (int i = list->at; i < batch->end; i++) {
		if (list->target[i].size_bytes > 0)
			*pieces++ =
				(struct softverbs_piece){ NULL, list->target[i].size_bytes, address_of(link, &list->target[i]), rkey };
	}
}

/*
 * Changes pieces by copies. One that has changed in part counts. Returns false if none has changed.
 */
static bool change_batch(struct oriel_win *win, struct link *link, struct list *list, const struct batch *batch)
{
	const bool reads = list->origin.count > 0, fetches = list->result.count > 0;
	uint8_t operands[AM_LARGEST_BYTES], results[AM_LARGEST_BYTES];
	struct softverbs_piece pieces[ACC_COPIED_MAX];
	struct walk origin = list->origin;
	uint64_t changed, done = 0;
	struct acc acc;

	if (list->count > ACC_COPIED_MAX || !acc_list_takes_copies(win, link, batch->span))
		return false;
	take_pieces(link, list, batch, key_of(win, link, batch->span), pieces);
	acc_init(&acc, list->type, list->op, batch->bytes / element_types[list->type].size_bytes);
	walk_pack(&origin, operands, reads ? batch->bytes : 0);
	acc.origin = operands;
	acc.result = fetches ? results : NULL;
	changed = acc_change_list(win, link, &acc, pieces, batch->count);
	for (; done < changed; list->at++)
		done += list->target[list->at].size_bytes;
	walk_pack(&list->origin, operands, reads ? done : 0);
	walk_unpack(&list->result, results, fetches ? done : 0);
	return done > 0;
}

int list_send(struct oriel_win *win, struct link *link, struct list *list)
{
	struct batch batch;
	int rc;

	if (list->alone || element_has_padding(list->type) || !gate_opens(win, link))
		return 0;
	batch = next_batch(link, list);
	if (batch.count < 2)
		return 0;
	list->alone = link_remote_regions(link) && !remote_region_unmapped(win, link, batch.span.from, batch.span.bytes);
	if (list->alone)
		return 0;
	gate_pass(win, link);
	if (change_batch(win, link, list, &batch))
		return 1;
	rc = send_batch(win, link, list, &batch);
	if (rc == ISSUE_LATER)
		rc = list_issue_piece(win, link, list);
	return rc ? rc : 1;
}

/* Pieces that lie alike on both sides. */

/* Pieces without gaps at the target are one. */
static struct batch next_alike(const struct oriel_alike *alike, int at)
{
	const struct oriel_places *places = alike->places;
	struct batch batch = { .end = at };

	for (; batch.end < places->count && batch.count < AM_LIST_MAX; batch.end++) {
		const uint32_t count = alike->dense_there ? 1 : batch.count + 1;
		const size_t bytes = batch.bytes + places->list[batch.end].size_bytes;

		if (bytes + AM_TABLE_BYTES(count) > AM_LARGEST_BYTES)
			break;
		batch.bytes = (uint32_t)bytes;
		batch.count = count;
	}
	return batch;
}

static void write_alike_table(const struct oriel_alike *alike, const struct oriel_place *place,
                              const struct batch *batch, uint8_t *table)
{
	for (uint32_t i = 0; i < batch->count; i++, place++) {
		struct am_piece piece = { (uint32_t)(piece_there(alike, place) - alike_from(alike)),
			                      alike->dense_there ? batch->bytes : (uint32_t)place->size_bytes };

		memcpy(table + i * sizeof(piece), &piece, sizeof(piece));
	}
}

static void pack_alike(const struct oriel_alike *alike, const struct oriel_place *place, const struct batch *batch,
                       uint8_t *to)
{
	const struct oriel_place *end = &alike->places->list[batch->end];

	if (alike->dense_here) {
		memcpy(to, (uint8_t *)alike->here + place->before_bytes, batch->bytes);
		return;
	}
	for (; place < end; to += place->size_bytes, place++)
		copy_short(to, (uint8_t *)alike->here + place->offset, place->size_bytes);
}

/* Sets where the result goes. False: out of memory. */
static bool take_alike(const struct oriel_alike *alike, const struct oriel_place *place, const struct batch *batch,
                       struct am_message *message)
{
	const uint32_t count = (uint32_t)(&alike->places->list[batch->end] - place);

	message->result_bytes = batch->bytes;
	if (alike->dense_here) {
		message->result = (uint8_t *)alike->here + place->before_bytes;
		return true;
	}
	message->scatter = malloc(sizeof(*message->scatter) + count * sizeof(message->scatter->parts[0]));
	if (!message->scatter)
		return false;
	message->scatter->count = count;
	for (uint32_t i = 0; i < count; i++, place++)
		message->scatter->parts[i] =
			(struct am_part){ (uint8_t *)alike->here + place->offset, (uint32_t)place->size_bytes };
	return true;
}

static int send_alike(struct oriel_win *win, struct link *link, const struct oriel_alike *alike, int at,
                      const struct batch *batch)
{
	const char *call = alike->put ? "oriel_putv" : "oriel_getv";
	const struct oriel_place *first = &alike->places->list[at];
	uint8_t data[AM_LARGEST_BYTES];
	struct am_message message;

	write_alike_table(alike, first, batch, data);
	if (alike->put)
		pack_alike(alike, first, batch, data + AM_TABLE_BYTES(batch->count));
	message = am_encode_list(ORIEL_UINT8, alike->put ? ORIEL_REPLACE : ORIEL_NO_OP, batch->count, batch->bytes, data);
	if (!alike->put && !take_alike(alike, first, batch, &message))
		return out_of_memory(win, link, call);
	return am_issue_list(win, link, &message, batch->span, call);
}

static bool are_for_messages(struct oriel_win *win, struct link *link, const struct oriel_alike *alike,
                             struct acc_span span)
{
	return alike->places->longest_bytes <= LIST_PIECE_BYTES && span.bytes <= UINT32_MAX && list_takes_messages(link, 0) &&
	       (!link_remote_regions(link) || remote_region_unmapped(win, link, span.from, span.bytes)) &&
	       (!alike->put || !link->read_only);
}

int list_send_alike(struct oriel_win *win, struct link *link, const struct oriel_alike *alike, int at)
{
	const struct oriel_places *places = alike->places;
	const struct acc_span span = { link->base + alike->disp + (uint64_t)alike_from(alike), alike_span(alike) };
	const int begin = at;
	int rc = 0;

	if (!are_for_messages(win, link, alike, span) || !gate_opens(win, link))
		return 0;
	gate_pass(win, link);
	while (rc == 0 && at < places->count) {
		struct batch batch = next_alike(alike, at);

		batch.span = span;
		rc = send_alike(win, link, alike, at, &batch);
		at = rc == 0 ? batch.end : at;
	}
	return rc < 0 ? rc : at - begin;
}

/* Lists as a system call. */

/* False: it is mapped, or in two regions. */
static bool region_piece(struct oriel_win *win, struct link *link, const struct op *op, struct softverbs_piece *piece)
{
	const struct remote_region *region = remote_region_unmapped(win, link, op->remote_addr, op->size_bytes);

	if (region)
		piece->rkey = region->rkey;
	return region;
}

static bool piece_of(struct oriel_win *win, struct link *link, const struct op *op, struct softverbs_piece *piece)
{
	*piece = (struct softverbs_piece){ op->origin, op->size_bytes, op->remote_addr, link->rkey };
	return link->route != ROUTE_REGIONS || region_piece(win, link, op, piece);
}

static bool moves_lists(const struct link *link, enum op_kind kind, size_t piece_bytes, uint32_t count)
{
	const struct direct_access *direct = &link->peer->direct;

	if (link->route != ROUTE_SYNC && link->route != ROUTE_REGIONS)
		return false;
	if (kind == OP_GET)
		return direct_has_lists(direct);
	return count >= PUTS_MIN && (link->marks & LINK_LOCK || piece_bytes > LIST_PIECE_BYTES) &&
	       direct_has_list_puts(direct);
}

static bool move_pieces(struct link *link, enum op_kind kind, const struct softverbs_piece *pieces, uint32_t count)
{
	uint64_t bytes = 0;

	if (kind == OP_GET)
		return direct_get_list_sync(&link->peer->direct, pieces, count);
	for (uint32_t i = 0; i < count; i++)
		bytes += pieces[i].size_bytes;
	return direct_put_list_sync(&link->peer->direct, pieces, count) == bytes;
}

static bool move_list(struct oriel_win *win, struct link *link, const struct op ops[], uint32_t count)
{
	struct softverbs_piece pieces[MOVE_MAX];

	if (!moves_lists(link, ops->kind, ops->size_bytes, count) || !gate_opens(win, link))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!piece_of(win, link, &ops[i], &pieces[i]))
			return false;
	}
	if (!move_pieces(link, ops->kind, pieces, count))
		return false;
	gate_pass(win, link);
	return true;
}

bool list_move_row(struct oriel_win *win, struct link *link, const struct acc *row)
{
	const enum op_kind kind = row->op == ORIEL_NO_OP ? OP_GET : OP_PUT;
	const ptrdiff_t distance = kind == OP_PUT ? row->row.origin : row->row.result;
	struct softverbs_piece pieces[MOVE_MAX], next;

	if (!moves_lists(link, kind, row->count, row->blocks) || !gate_opens(win, link))
		return false;
	next = (struct softverbs_piece){ kind == OP_PUT ? (void *)(uintptr_t)row->origin : row->result, row->count,
		                             row->remote_addr, key_of(win, link, acc_span(row)) };
	for (uint32_t left = row->blocks, some; left > 0; left -= some) {
		some = min_u32(left, MOVE_MAX);
		for (uint32_t i = 0; i < some; i++) {
			pieces[i] = next;
			next.here = (uint8_t *)next.here + distance;
			next.addr += (uint64_t)row->row.target;
		}
		if (!move_pieces(link, kind, pieces, some))
			return false;
	}
	gate_pass(win, link);
	return true;
}

int list_issue(struct oriel_win *win, struct link *link, const struct op ops[], uint32_t count, const char *call)
{
	int rc = 0;

	if (count > 1 && move_list(win, link, ops, count))
		return 0;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = issue_or_defer(win, link, &ops[i], call);
	return rc;
}
