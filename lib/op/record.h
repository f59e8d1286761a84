// SPDX-License-Identifier: BSD-2-Clause
/*
 * record.h - operations of the accumulate family, and additions to signals, as records (layout.h), written and read
 *
 * record_decode and record_decode_add are the only readers: what they accept can be applied, but for the
 * target's memory and signals, of which they know nothing. They look at no byte outside the record and
 * the ring's data.
 */
#ifndef ORIEL_RECORD_H
#define ORIEL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/record_out.h"
#include "op/acc.h"

enum record_call {
	RECORD_ACCUMULATE = 1, /* operands: as many elements as there are; none for ORIEL_NO_OP */
	RECORD_SWAP,           /* compare_and_swap: one element, and one to compare with */
	RECORD_ADD,            /* to a signal, whose number is in disp_bytes: one operand of 8 bytes */
};

/*
 * As much of the operation as one record takes: the number of elements, and the message without the
 * window. swap_operands is used for two elements that lie apart.
 */
uint32_t record_encode(const struct acc *acc, struct record_message *message,
                       uint8_t swap_operands[2 * ELEMENT_BYTES_MAX]);

/*
 * The operation of a record; data is the ring's, of RECORD_DATA_BYTES. acc->result is `result` where
 * one is wanted. False if it makes no sense; *acc is then of no use. remote_addr is the record's
 * displacement.
 */
bool record_decode(const struct record *record, const uint8_t *data, void *result, struct acc *acc);

/* The same for an addition to a signal; *value is the message's operand, which is used until it is sent. */
void record_encode_add(uint32_t signal, const uint64_t *value, struct record_message *message);
bool record_decode_add(const struct record *record, uint32_t *signal, uint64_t *value);

#endif
