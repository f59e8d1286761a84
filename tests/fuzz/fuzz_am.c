// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_am.c - messages of operations for the target to apply: what is taken can be applied
 *
 * The input is a message and the beginning of the ring's data. What am_decode takes is applied to
 * memory of its own: no byte outside the operands, the elements and the result is touched, which
 * the sanitizers see.
 */
#include "op/am_codec.c"
#include "op/element.c"
#include "op/element_plain.c"

#include <stdlib.h>

#define FUZZ_SPAN_BYTES (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of just the size that the elements take. */
static void apply(struct acc *acc)
{
	size_t bytes = element_span(acc->type, acc->count);
	uint8_t *target = calloc(1, bytes), *result = calloc(1, bytes);

	if (acc->result)
		acc->result = result;
	acc_apply(acc, target);
	free(target);
	free(result);
}

/*
 * The pieces of a list, in memory of the bytes from the first to the last; results lie one behind
 * the other.
 */
static void apply_list(const struct am *am, const uint8_t *ring)
{
	uint8_t *result = calloc(1, AM_LARGEST_BYTES), *target;
	const uint8_t *operand;
	struct am_list list;

	if (!am_decode_list(am, ring, result, &list) || list.span_bytes > FUZZ_SPAN_BYTES) {
		free(result);
		return;
	}
	target = calloc(1, list.span_bytes);
	operand = list.operands;
	for (uint32_t i = 0; i < list.count; i++) {
		const struct am_piece *piece = &list.pieces[i];
		size_t bytes = element_span(list.type, piece->count);

		element_apply(list.type, list.op, target + piece->offset_bytes - list.from, operand, list.result, piece->count);
		if (operand)
			operand += bytes;
		if (list.result)
			list.result += bytes;
	}
	free(target);
	free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_Alignas(AM_ALIGN) struct am am;
	uint8_t *ring = calloc(1, AM_PULLED_BYTES), result; /* as long as AM_DATA_BYTES, and what AM_PULL reads */
	struct acc acc;
	uint64_t value;
	uint32_t signal;

	memset(&am, 0, sizeof(am));
	memcpy(&am, data, size < sizeof(am) ? size : sizeof(am));
	if (size > sizeof(am))
		memcpy(ring, data + sizeof(am), size - sizeof(am) < AM_DATA_BYTES ? size - sizeof(am) : AM_DATA_BYTES);
	if (am_decode(&am, ring, &result, &acc))
		apply(&acc);
	am_decode_add(&am, &signal, &value);
	apply_list(&am, ring);
	free(ring);
	return 0;
}
