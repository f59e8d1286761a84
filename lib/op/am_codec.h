// SPDX-License-Identifier: BSD-2-Clause
/*
 * am_codec.h - accumulate operations, and additions to signals, as active messages (layout.h)
 *
 * am_decode, am_decode_list and am_decode_add are the only readers. They check all that can be
 * checked without the target's memory and signals, and read no byte outside the message and the
 * ring's data.
 */
#ifndef ORIEL_AM_CODEC_H
#define ORIEL_AM_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "am/am_send.h"
#include "op/acc.h"

#define AM_LIST_MAX 64

/* A piece of a list. Operands are contiguous, in the order of the pieces, and so are results. */
struct am_piece {
	uint32_t offset_bytes; /* from the message's displacement */
	uint32_t count;        /* elements */
};

#define AM_TABLE_BYTES(count) (((count) * sizeof(struct am_piece) + AM_ALIGN - 1) / AM_ALIGN * AM_ALIGN)

/*
 * Fills in a message, without its window, with as much of the operation as it can hold. Returns the
 * number of elements. swap_operands holds the two operands of a compare_and_swap if they are not
 * contiguous.
 */
uint32_t am_encode(const struct acc *acc, struct am_message *message, uint8_t swap_operands[2 * ELEMENT_BYTES_MAX]);

/*
 * Fills in the operation of a message; `data` is the ring's, of AM_DATA_BYTES. acc->result is
 * `result` if the message wants one. remote_addr is the message's displacement. Returns false if
 * the message makes no sense; *acc must not be used then.
 */
bool am_decode(const struct am *am, const uint8_t *data, void *result, struct acc *acc);

/*
 * Writes into `data`, of AM_LARGEST_BYTES, as many operations of one type and operation as one
 * message takes, and fills in the message without the window, the displacement and the scatter.
 * `base` is the least address of all of them; none lies 4 GiB above it or more. Returns their
 * number; 0: the first one is too large for a list.
 */
uint32_t am_encode_list(const struct acc accs[], uint32_t count, uint64_t base, uint8_t *data,
                        struct am_message *message);

/*
 * Fills in the operations of a list. remote_addr is the displacement; operands lie in the ring's
 * data, and `result` is where all results go. Returns their number; 0: the message makes no sense.
 */
uint32_t am_decode_list(const struct am *am, const uint8_t *data, uint8_t *result, struct acc accs[AM_LIST_MAX]);

/* Fills in a message for an addition to a signal. The message refers to *value until it is sent. */
void am_encode_add(uint32_t signal, const uint64_t *value, struct am_message *message);
bool am_decode_add(const struct am *am, uint32_t *signal, uint64_t *value);

#endif
