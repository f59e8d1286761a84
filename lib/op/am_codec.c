// SPDX-License-Identifier: BSD-2-Clause
/* See am_codec.h. */
#include "op/am_codec.h"

#include <assert.h>
#include <string.h>

#include "base/copy_blocks.h"
#include "base/util.h"

static_assert(2 * 8 <= AM_INLINE_BYTES && ELEMENT_BYTES_MAX <= AM_INLINE_BYTES, "one element fits the slot");

#define PULLED_MOST (UINT16_MAX / 2 + 1) /* elements; whole pages of bytes */

static uint32_t span(const struct acc *acc, uint32_t count)
{
	return (uint32_t)element_span(acc->type, count);
}

/* Copies a result without the padding of pairs. */
static void copy_fields(uint8_t type, void *to, const void *from, uint32_t size_bytes)
{
	size_t size = element_types[type].size_bytes;

	element_apply(type, ORIEL_REPLACE, to, from, NULL, (size_bytes + size - 1) / size);
}

/* Leaves the subject, and most data of the slot. */
static void clear(struct am_message *message)
{
	memset(&message->am, 0, offsetof(struct am, data) + AM_LINE_BYTES);
	memset(&message->data, 0, offsetof(struct am_message, subject) - offsetof(struct am_message, data));
}

uint32_t am_encode(const struct acc *acc, struct am_message *message, uint8_t swap_operands[2 * ELEMENT_BYTES_MAX])
{
	size_t size = element_types[acc->type].size_bytes, most = AM_LARGEST_BYTES / size;
	uint32_t count = (uint32_t)(acc->count < most ? acc->count : most), bytes = span(acc, count);

	clear(message);
	message->am.call = acc->compare ? AM_SWAP : AM_ACCUMULATE;
	message->am.type = acc->type;
	message->am.op = acc->op;
	message->am.count = (uint16_t)count;
	message->data = acc_origin(acc);
	message->am.data_bytes = (uint16_t)(acc->op == ORIEL_NO_OP ? 0 : bytes);
	message->result = acc->result;
	message->result_bytes = acc->result ? bytes : 0;
	message->copy = element_legal(ORIEL_MINLOC, acc->type) ? copy_fields : NULL;
	if (message->am.call == AM_SWAP) {
		memcpy(swap_operands, acc_origin(acc), size);
		memcpy(swap_operands + size, acc_compare(acc), size);
		message->data = swap_operands;
		message->am.data_bytes = (uint16_t)(2 * size);
	}
	return count;
}

uint32_t am_encode_pull(const struct acc *acc, struct am_message *message, struct am_pull *pull)
{
	size_t most = min_size(AM_PULLED_BYTES / element_types[acc->type].size_bytes, PULLED_MOST);
	uint32_t count = (uint32_t)min_size(acc->count, most);

	clear(message);
	*pull = (struct am_pull){ (uintptr_t)acc->origin, span(acc, count) };
	message->am.call = AM_PULL;
	message->am.type = acc->type;
	message->am.op = acc->op;
	message->am.count = (uint16_t)count;
	message->am.data_bytes = sizeof(*pull);
	message->data = pull;
	return count;
}

uint32_t am_encode_row(const struct acc *acc, uint8_t *data, struct am_message *message)
{
	uint32_t block_bytes = span(acc, (uint32_t)acc->count), most = AM_LARGEST_BYTES / block_bytes;
	uint32_t blocks = acc->blocks < most ? acc->blocks : most;

	clear(message);
	message->am.call = AM_ACCUMULATE;
	message->am.type = acc->type;
	message->am.op = acc->op;
	message->am.count = (uint16_t)acc->count;
	message->am.blocks = (uint16_t)blocks;
	message->am.distance = acc->row.target;
	message->data = data;
	if (acc->op != ORIEL_NO_OP) {
		message->am.data_bytes = (uint16_t)(blocks * block_bytes);
		copy_blocks((struct blocks){ data, (ptrdiff_t)block_bytes },
		            (struct blocks){ (uint8_t *)(uintptr_t)acc->origin, acc->row.origin }, block_bytes, blocks);
	}
	message->result = acc->result;
	message->result_bytes = acc->result ? blocks * block_bytes : 0;
	message->blocks = (struct am_blocks){ acc->row.result, block_bytes };
	return blocks;
}

/*
 * Returns the operands; NULL if most_bytes of operands or results do not fit where the message
 * says.
 */
static const uint8_t *find_data(const struct am *am, const uint8_t *data, uint32_t most_bytes)
{
	if (am->data_at == AM_INLINE)
		return most_bytes <= AM_INLINE_BYTES ? am->data : NULL;
	if (most_bytes > AM_LARGEST_BYTES || am->data_at % AM_ALIGN != 0 || am->data_at > AM_DATA_BYTES - most_bytes)
		return NULL;
	return data + am->data_at;
}

/* Returns whether the type has the operation. ORIEL_NO_OP needs a result. */
static bool is_legal_op(const struct am *am)
{
	return element_legal(am->op, am->type) && (am->op != ORIEL_NO_OP || am->wants_result == 1);
}

static bool is_legal(const struct am *am)
{
	bool fetches = am->wants_result == 1;
	const uint32_t most = am->call == AM_PULL ? AM_PULLED_BYTES : AM_LARGEST_BYTES;

	if (!element_known(am->type) || am->wants_result > 1 || am->count < 1 ||
	    am->count > most / element_types[am->type].size_bytes)
		return false;
	if (am->call == AM_PULL)
		return !fetches && am->blocks == 0 && is_legal_op(am);
	if (am->call == AM_SWAP)
		return element_types[am->type].comparable && am->op == ORIEL_REPLACE && am->count == 1 && fetches;
	return am->call == AM_ACCUMULATE && is_legal_op(am);
}

static uint32_t operand_bytes(const struct am *am, const struct acc *acc)
{
	if (am->call == AM_SWAP)
		return 2u * element_types[acc->type].size_bytes;
	return am->op == ORIEL_NO_OP ? 0 : (uint32_t)acc_bytes(acc);
}

/*
 * Fills in the row of a message that has blocks. Returns false if they are too many, are pairs with
 * padding, are not aligned alike, or are spread over more bytes than there are addresses.
 */
static bool take_row(const struct am *am, struct acc *acc)
{
	const uint32_t block_bytes = span(acc, am->count);
	int64_t extent;

	if (am->call != AM_ACCUMULATE || !acc_row_is_even(am->type, am->distance) ||
	    am->blocks > AM_LARGEST_BYTES / block_bytes ||
	    __builtin_mul_overflow(am->distance, (int64_t)(am->blocks - 1), &extent))
		return false;
	if (extent < 0 && -(uint64_t)extent > am->disp_bytes)
		return false;
	acc->blocks = am->blocks;
	acc->row.target = am->distance;
	acc->row.origin = acc->row.result = (ptrdiff_t)block_bytes;
	return true;
}

static bool take_pulled(const struct am *am, const uint8_t *data, struct acc *acc)
{
	struct am_pull pull;

	memcpy(&pull, am->data, sizeof(pull));
	acc->origin = data;
	acc->remote_addr = am->disp_bytes;
	return am->data_at == AM_INLINE && am->data_bytes == sizeof(pull) && pull.size_bytes == acc_bytes(acc);
}

bool am_decode(const struct am *am, const uint8_t *data, void *result, struct acc *acc)
{
	uint32_t bytes;

	if (!is_legal(am))
		return false;
	*acc = (struct acc){ .type = am->type, .op = am->op, .count = am->count };
	if (am->call == AM_PULL)
		return take_pulled(am, data, acc);
	if (am->blocks > 0 && !take_row(am, acc))
		return false;
	bytes = operand_bytes(am, acc);
	if (am->data_bytes != bytes)
		return false;
	if (am->wants_result && acc_bytes(acc) > bytes)
		bytes = (uint32_t)acc_bytes(acc);
	acc->origin = find_data(am, data, bytes);
	if (!acc->origin)
		return false;
	if (am->call == AM_SWAP)
		acc->compare = (const uint8_t *)acc->origin + element_types[acc->type].size_bytes;
	acc->result = am->wants_result ? result : NULL;
	acc->remote_addr = am->disp_bytes;
	return true;
}

struct am_message am_encode_list(enum oriel_type type, enum oriel_op op, uint32_t count, uint32_t bytes,
                                 const uint8_t *data)
{
	struct am_message message;

	clear(&message);
	message.am.call = AM_LIST;
	message.am.type = (uint8_t)type;
	message.am.op = (uint8_t)op;
	message.am.count = (uint16_t)count;
	message.am.data_bytes = (uint16_t)(AM_TABLE_BYTES(count) + (op == ORIEL_NO_OP ? 0 : bytes));
	message.data = data;
	return message;
}

/* Returns whether a list is legal. Pairs, which have padding, are not. */
static bool is_legal_list(const struct am *am)
{
	return element_known(am->type) && am->wants_result <= 1 && am->count >= 1 && am->count <= AM_LIST_MAX &&
	       is_legal_op(am) && !element_has_padding(am->type);
}

/* Returns whether all pieces have elements, and no more than a message takes. Sums them up. */
static bool sum_pieces(struct am_list *list)
{
	const uint32_t most = AM_LARGEST_BYTES / element_types[list->type].size_bytes;
	uint32_t elements = 0, from = UINT32_MAX;
	uint64_t to = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct am_piece *piece = &list->pieces[i];
		uint64_t end = piece->offset_bytes + (uint64_t)piece->count * element_types[list->type].size_bytes;

		if (piece->count == 0 || piece->count > most - elements)
			return false;
		elements += piece->count;
		from = piece->offset_bytes < from ? piece->offset_bytes : from;
		to = end > to ? end : to;
	}
	list->bytes = elements * element_types[list->type].size_bytes;
	list->from = from;
	list->span_bytes = to - from;
	return true;
}

bool am_decode_list(const struct am *am, const uint8_t *data, uint8_t *result, struct am_list *list)
{
	uint32_t table_bytes = (uint32_t)AM_TABLE_BYTES(am->count);
	const uint8_t *at;

	if (am->call != AM_LIST || !is_legal_list(am) || am->data_bytes < table_bytes)
		return false;
	at = find_data(am, data, am->data_bytes);
	if (!at)
		return false;
	list->type = am->type;
	list->op = am->op;
	list->count = am->count;
	list->disp_bytes = am->disp_bytes;
	list->operands = am->op == ORIEL_NO_OP ? NULL : at + table_bytes;
	list->result = am->wants_result ? result : NULL;
	memcpy(list->pieces, at, am->count * sizeof(list->pieces[0])); /* a copy, which the sender cannot change */
	return sum_pieces(list) && am->data_bytes == table_bytes + (am->op == ORIEL_NO_OP ? 0 : list->bytes);
}

void am_encode_add(uint32_t signal, const uint64_t *value, struct am_message *message)
{
	clear(message);
	message->am.call = AM_ADD;
	message->am.type = ORIEL_UINT64;
	message->am.op = ORIEL_SUM;
	message->am.count = 1;
	message->am.disp_bytes = signal;
	message->am.data_bytes = sizeof(*value);
	message->data = value;
}

bool am_decode_add(const struct am *am, uint32_t *signal, uint64_t *value)
{
	if (am->call != AM_ADD || am->type != ORIEL_UINT64 || am->op != ORIEL_SUM || am->count != 1 || am->wants_result ||
	    am->data_bytes != sizeof(*value) || am->data_at != AM_INLINE || am->disp_bytes > UINT32_MAX)
		return false;
	*signal = (uint32_t)am->disp_bytes;
	memcpy(value, am->data, sizeof(*value));
	return true;
}
