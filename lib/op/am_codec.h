// SPDX-License-Identifier: BSD-2-Clause
/*
 * am_codec.h - accumulate operations, and additions to signals, as active messages (layout.h)
 *
 * Only the am_decode functions read messages. They check all that can be checked without the
 * target's memory and signals, and read no byte outside the message and the ring's data.
 */
#ifndef ORIEL_AM_CODEC_H
#define ORIEL_AM_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "am/am_send.h"
#include "op/acc.h"

#define AM_LIST_MAX 128 /* pieces; the target applies them while the origin makes the next message */

/* A piece of a list. Operands are contiguous, in the order of the pieces; so are results. */
struct am_piece {
	uint32_t offset_bytes; /* from the message's displacement */
	uint32_t count;        /* elements */
};

#define AM_TABLE_BYTES(count) (((count) * sizeof(struct am_piece) + AM_ALIGN - 1) / AM_ALIGN * AM_ALIGN)

/*
 * Fills in a message, without its window, with as many elements as it can hold. Returns their
 * number. swap_operands is room for the operands of compare_and_swap.
 */
uint32_t am_encode(const struct acc *acc, struct am_message *message, uint8_t swap_operands[2 * ELEMENT_BYTES_MAX]);

/* Acts as am_encode for operands that the target reads; *pull is room for the message's data. */
uint32_t am_encode_pull(const struct acc *acc, struct am_message *message, struct am_pull *pull);

/*
 * Writes as many blocks of a row as one message takes into `data`, of AM_LARGEST_BYTES, and fills
 * in the message without its window. Returns their number; a block fits a message.
 */
uint32_t am_encode_row(const struct acc *acc, uint8_t *data, struct am_message *message);

/*
 * Fills in the operation of a message; `data` is the ring's, of AM_DATA_BYTES, or, of AM_PULL, what
 * has been read; remote_addr becomes the displacement. Returns false if the message makes no sense;
 * *acc must not be used then.
 */
bool am_decode(const struct am *am, const uint8_t *data, void *result, struct acc *acc);

/* Operations of one type and operation on pieces of the target's memory. */
struct am_list {
	uint8_t type, op;
	uint32_t count;
	uint32_t bytes;          /* of all elements */
	uint32_t from;           /* the least offset of a piece */
	uint64_t disp_bytes;     /* of offset 0 */
	uint64_t span_bytes;     /* from there to the end of the last piece */
	const uint8_t *operands; /* NULL for ORIEL_NO_OP */
	uint8_t *result;         /* NULL: none */
	struct am_piece pieces[AM_LIST_MAX];
};

/*
 * Returns a message without window, displacement and scatter. `data` has the table of `count`
 * pieces, and behind it the operands, of `bytes` unless the operation is ORIEL_NO_OP.
 */
struct am_message am_encode_list(enum oriel_type type, enum oriel_op op, uint32_t count, uint32_t bytes,
                                 const uint8_t *data);

/* Fills in a list, as am_decode does an operation. */
bool am_decode_list(const struct am *am, const uint8_t *data, uint8_t *result, struct am_list *list);

/* Fills in an addition to a signal. The message refers to *value until it is sent. */
void am_encode_add(uint32_t signal, const uint64_t *value, struct am_message *message);
bool am_decode_add(const struct am *am, uint32_t *signal, uint64_t *value);

#endif
