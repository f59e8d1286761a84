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

#define AM_LIST_MAX 64

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

/*
 * Writes as many blocks of a row as one message takes into `data`, of AM_LARGEST_BYTES, and fills
 * in the message without its window. Returns their number; a block fits a message.
 */
uint32_t am_encode_row(const struct acc *acc, uint8_t *data, struct am_message *message);

/*
 * Fills in the operation of a message; `data` is the ring's, of AM_DATA_BYTES, and remote_addr
 * becomes the displacement. Returns false if the message makes no sense; *acc must not be used
 * then.
 */
bool am_decode(const struct am *am, const uint8_t *data, void *result, struct acc *acc);

/*
 * Writes as many operations, of one type and operation, as one message takes into `data`, of
 * AM_LARGEST_BYTES. Fills in the message without window, displacement and scatter. All addresses
 * lie less than 4 GiB above `base`, the least of them. Returns the number; 0: the first is too
 * large for a list.
 */
uint32_t am_encode_list(const struct acc accs[], uint32_t count, uint64_t base, uint8_t *data,
                        struct am_message *message);

/*
 * Fills in the operations of a list, as am_decode does one; results go behind each other. Returns
 * their number; 0: the message makes no sense.
 */
uint32_t am_decode_list(const struct am *am, const uint8_t *data, uint8_t *result, struct acc accs[AM_LIST_MAX]);

/* Fills in an addition to a signal. The message refers to *value until it is sent. */
void am_encode_add(uint32_t signal, const uint64_t *value, struct am_message *message);
bool am_decode_add(const struct am *am, uint32_t *signal, uint64_t *value);

#endif
