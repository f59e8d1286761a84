// SPDX-License-Identifier: BSD-2-Clause
/*
 * handshake.h - the private data of connection requests and answers
 *
 * They take 52 of the 56 bytes that rdma_cm leaves in a request. The proof is a keyed hash over the
 * other fields, the receiver's rank and the direction, so it cannot be reused. Both directions use
 * the key of the rank that is connected to. The requester has it from the bootstrap, which gives it
 * to ranks of the job only (endpoint.h).
 */
#ifndef ORIEL_HANDSHAKE_H
#define ORIEL_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HANDSHAKE_BYTES 52
#define HANDSHAKE_PROOF_BYTES 16
#define HANDSHAKE_KEY_BYTES 32
#define HANDSHAKE_ATOMICS 0x80000000u /* in a request's rank: a second connection to that rank */
#define HANDSHAKE_VERSION 0x4f520001u /* also shows the byte order */

enum handshake_direction { HANDSHAKE_REQUEST = 1, HANDSHAKE_ANSWER = 2 };

struct handshake {
	uint32_t rank;           /* the sender's; with HANDSHAKE_ATOMICS */
	uint32_t attempt;        /* of the request; an answer repeats it */
	uint64_t area_addr;      /* the sender's area for the receiver */
	uint64_t directory_addr; /* the sender's directory root */
	uint32_t area_rkey;
	uint32_t directory_rkey;
};

void handshake_encode(uint8_t out[HANDSHAKE_BYTES], const struct handshake *in, enum handshake_direction direction,
                      uint32_t receiver, const uint8_t key[HANDSHAKE_KEY_BYTES]);

/*
 * Returns false if the bytes are too few, of another version, or do not prove the key; *out is then
 * untouched.
 */
bool handshake_decode(struct handshake *out, const void *bytes, size_t size_bytes, enum handshake_direction direction,
                      uint32_t receiver, const uint8_t key[HANDSHAKE_KEY_BYTES]);

#endif
