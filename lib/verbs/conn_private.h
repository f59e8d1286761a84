// SPDX-License-Identifier: BSD-2-Clause
/*
 * conn_private.h - the private data of connection requests and answers, as pure functions
 *
 * 52 of the 56 bytes that rdma_cm leaves in a request: version, rank, attempt, where the receiver's
 *    area and the sender's directory
 * lie, and a proof of knowing the job's secret. The proof is a keyed hash over everything before
 * it, the receiver's rank and the direction, so that it can be used for nothing else.
 */
#ifndef ORIEL_CONN_PRIVATE_H
#define ORIEL_CONN_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONN_PRIVATE_BYTES 52
#define CONN_PROOF_BYTES 16
#define CONN_VERSION 0x4f520001u /* also tells the byte order */

enum conn_direction { CONN_REQUEST = 1, CONN_ANSWER = 2 };

struct conn_private {
	uint32_t rank;           /* the sender's */
	uint32_t attempt;        /* number of the request; an answer repeats it */
	uint64_t area_addr;      /* the sender's area for the receiver */
	uint64_t directory_addr; /* the sender's directory root */
	uint32_t area_rkey;
	uint32_t directory_rkey;
};

void conn_private_encode(uint8_t out[CONN_PRIVATE_BYTES], const struct conn_private *in, enum conn_direction direction,
                         uint32_t receiver, const uint8_t *secret);

/*
 * False for anything that is too short, of another version, or does not prove the secret; *out is
 * then untouched.
 */
bool conn_private_decode(struct conn_private *out, const void *bytes, size_t size_bytes, enum conn_direction direction,
                         uint32_t receiver, const uint8_t *secret);

#endif
