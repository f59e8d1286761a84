// SPDX-License-Identifier: BSD-2-Clause
/* See handshake.h. */
#include "verbs/handshake.h"

#include <sodium.h>
#include <string.h>

#define SIGNED_BYTES (HANDSHAKE_BYTES - HANDSHAKE_PROOF_BYTES)

/* Computes the proof over the data before it, and receiver and direction, which are not sent. */
static void prove(uint8_t proof[HANDSHAKE_PROOF_BYTES], const uint8_t *bytes, enum handshake_direction direction,
                  uint32_t receiver, const uint8_t key[HANDSHAKE_KEY_BYTES])
{
	uint8_t covered[SIGNED_BYTES + 8];
	uint32_t tail[2] = { receiver, direction };

	memcpy(covered, bytes, SIGNED_BYTES);
	memcpy(covered + SIGNED_BYTES, tail, sizeof(tail));
	crypto_generichash(proof, HANDSHAKE_PROOF_BYTES, covered, sizeof(covered), key, HANDSHAKE_KEY_BYTES);
}

void handshake_encode(uint8_t out[HANDSHAKE_BYTES], const struct handshake *in, enum handshake_direction direction,
                      uint32_t receiver, const uint8_t key[HANDSHAKE_KEY_BYTES])
{
	uint32_t version = HANDSHAKE_VERSION;

	memcpy(out, &version, 4);
	memcpy(out + 4, &in->rank, 4);
	memcpy(out + 8, &in->attempt, 4);
	memcpy(out + 12, &in->area_addr, 8);
	memcpy(out + 20, &in->directory_addr, 8);
	memcpy(out + 28, &in->area_rkey, 4);
	memcpy(out + 32, &in->directory_rkey, 4);
	prove(out + SIGNED_BYTES, out, direction, receiver, key);
}

bool handshake_decode(struct handshake *out, const void *bytes, size_t size_bytes, enum handshake_direction direction,
                      uint32_t receiver, const uint8_t key[HANDSHAKE_KEY_BYTES])
{
	const uint8_t *in = bytes;
	uint8_t proof[HANDSHAKE_PROOF_BYTES];
	uint32_t version;

	if (!in || size_bytes < HANDSHAKE_BYTES)
		return false;
	memcpy(&version, in, 4);
	prove(proof, in, direction, receiver, key);
	if (version != HANDSHAKE_VERSION || sodium_memcmp(proof, in + SIGNED_BYTES, HANDSHAKE_PROOF_BYTES) != 0)
		return false;
	memcpy(&out->rank, in + 4, 4);
	memcpy(&out->attempt, in + 8, 4);
	memcpy(&out->area_addr, in + 12, 8);
	memcpy(&out->directory_addr, in + 20, 8);
	memcpy(&out->area_rkey, in + 28, 4);
	memcpy(&out->directory_rkey, in + 32, 4);
	return true;
}
