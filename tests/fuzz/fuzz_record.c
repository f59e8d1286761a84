// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_record.c - records of operations for the target to apply: what is taken can be applied
 *
 * The input is a record and the beginning of the ring's data. What record_decode takes is applied to
 * memory of its own: no byte outside the operands, the elements and the result is touched, which the
 * sanitizers see.
 */
#include "op/element.c"
#include "op/element_atomic.c"
#include "op/element_plain.c"
#include "op/record.c"

#include <stdlib.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_Alignas(RECORD_ALIGN) struct record record;
	uint8_t *ring = calloc(1, RECORD_DATA_BYTES), result;
	struct acc acc;
	uint64_t value;
	uint32_t signal;

	memset(&record, 0, sizeof(record));
	memcpy(&record, data, size < sizeof(record) ? size : sizeof(record));
	if (size > sizeof(record))
		memcpy(ring, data + sizeof(record),
		       size - sizeof(record) < RECORD_DATA_BYTES ? size - sizeof(record) : RECORD_DATA_BYTES);
	if (record_decode(&record, ring, &result, &acc))
		apply(&acc);
	record_decode_add(&record, &signal, &value);
	free(ring);
	return 0;
}
