// SPDX-License-Identifier: BSD-2-Clause
/* record.c - see record.h. */
#include "op/record.h"

#include <assert.h>
#include <string.h>

static_assert(2 * 8 <= RECORD_INLINE_BYTES && ELEMENT_BYTES_MAX <= RECORD_INLINE_BYTES, "one element fits the slot");

static uint32_t span(const struct acc *acc, uint32_t count)
{
	return (uint32_t)element_span(acc->type, count);
}

/* The padding of the program's pairs stays as it is. */
static void copy_fields(uint8_t type, void *to, const void *from, uint32_t size_bytes)
{
	size_t size = element_types[type].size_bytes;

	element_apply(type, ORIEL_REPLACE, to, from, NULL, (size_bytes + size - 1) / size);
}

uint32_t record_encode(const struct acc *acc, struct record_message *message,
                       uint8_t swap_operands[2 * ELEMENT_BYTES_MAX])
{
	size_t size = element_types[acc->type].size_bytes, most = RECORD_LARGEST_BYTES / size;
	uint32_t count = (uint32_t)(acc->count < most ? acc->count : most), bytes = span(acc, count);

	memset(message, 0, sizeof(*message));
	message->record.call = acc->compare ? RECORD_SWAP : RECORD_ACCUMULATE;
	message->record.type = acc->type;
	message->record.op = acc->op;
	message->record.count = count;
	message->data = acc_origin(acc);
	message->record.data_bytes = acc->op == ORIEL_NO_OP ? 0 : bytes;
	message->result = acc->result;
	message->result_bytes = acc->result ? bytes : 0;
	message->copy = element_legal(ORIEL_MINLOC, acc->type) ? copy_fields : NULL;
	if (message->record.call == RECORD_SWAP) {
		memcpy(swap_operands, acc_origin(acc), size);
		memcpy(swap_operands + size, acc_compare(acc), size);
		message->data = swap_operands;
		message->record.data_bytes = (uint32_t)(2 * size);
	}
	return count;
}

/* Whether operands and results of so many bytes lie where the record says, and the operands, or NULL. */
static const uint8_t *find_data(const struct record *record, const uint8_t *data, uint32_t most_bytes)
{
	if (record->data_at == RECORD_INLINE)
		return most_bytes <= RECORD_INLINE_BYTES ? record->data : NULL;
	if (most_bytes > RECORD_LARGEST_BYTES || record->data_at % RECORD_ALIGN != 0 ||
	    record->data_at > RECORD_DATA_BYTES - most_bytes)
		return NULL;
	return data + record->data_at;
}

/* Type and operation are legal for the call, and the number of elements. */
static bool is_legal(const struct record *record)
{
	bool fetches = record->wants_result == 1;

	if (!element_known(record->type) || record->wants_result > 1 || record->count < 1 ||
	    record->count > RECORD_LARGEST_BYTES / element_types[record->type].size_bytes)
		return false;
	if (record->call == RECORD_SWAP)
		return element_types[record->type].comparable && record->op == ORIEL_REPLACE && record->count == 1 && fetches;
	return record->call == RECORD_ACCUMULATE && element_legal(record->op, record->type) &&
	       (record->op != ORIEL_NO_OP || fetches);
}

static uint32_t operand_bytes(const struct record *record, const struct acc *acc)
{
	if (record->call == RECORD_SWAP)
		return 2u * element_types[acc->type].size_bytes;
	return record->op == ORIEL_NO_OP ? 0 : span(acc, record->count);
}

bool record_decode(const struct record *record, const uint8_t *data, void *result, struct acc *acc)
{
	uint32_t bytes;

	if (!is_legal(record))
		return false;
	*acc = (struct acc){ .type = record->type, .op = record->op, .count = record->count };
	bytes = operand_bytes(record, acc);
	if (record->data_bytes != bytes)
		return false;
	if (record->wants_result && span(acc, record->count) > bytes)
		bytes = span(acc, record->count);
	acc->origin = find_data(record, data, bytes);
	if (!acc->origin)
		return false;
	if (record->call == RECORD_SWAP)
		acc->compare = (const uint8_t *)acc->origin + element_types[acc->type].size_bytes;
	acc->result = record->wants_result ? result : NULL;
	acc->remote_addr = record->disp_bytes;
	return true;
}

void record_encode_add(uint32_t signal, const uint64_t *value, struct record_message *message)
{
	memset(message, 0, sizeof(*message));
	message->record.call = RECORD_ADD;
	message->record.type = ORIEL_UINT64;
	message->record.op = ORIEL_SUM;
	message->record.count = 1;
	message->record.disp_bytes = signal;
	message->record.data_bytes = sizeof(*value);
	message->data = value;
}

bool record_decode_add(const struct record *record, uint32_t *signal, uint64_t *value)
{
	if (record->call != RECORD_ADD || record->type != ORIEL_UINT64 || record->op != ORIEL_SUM || record->count != 1 ||
	    record->wants_result || record->data_bytes != sizeof(*value) || record->data_at != RECORD_INLINE ||
	    record->disp_bytes > UINT32_MAX)
		return false;
	*signal = (uint32_t)record->disp_bytes;
	memcpy(value, record->data, sizeof(*value));
	return true;
}
