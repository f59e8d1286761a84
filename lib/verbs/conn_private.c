// SPDX-License-Identifier: BSD-2-Clause
/* conn_private.c - see conn_private.h. */
#include "verbs/conn_private.h"

#include <sodium.h>
#include <string.h>

#include "boot.h"

#define SIGNED_BYTES (CONN_PRIVATE_BYTES - CONN_PROOF_BYTES)

/* What the proof covers: the data before it, then receiver and direction, which are not sent. */
static void prove(uint8_t proof[CONN_PROOF_BYTES], const uint8_t *bytes, enum conn_direction direction,
                  uint32_t receiver, const uint8_t *secret)
{
	uint8_t covered[SIGNED_BYTES + 8];
	uint32_t tail[2] = { receiver, direction };

	memcpy(covered, bytes, SIGNED_BYTES);
	memcpy(covered + SIGNED_BYTES, tail, sizeof(tail));
	crypto_generichash(proof, CONN_PROOF_BYTES, covered, sizeof(covered), secret, BOOT_SECRET_BYTES);
}

void conn_private_encode(uint8_t out[CONN_PRIVATE_BYTES], const struct conn_private *in, enum conn_direction direction,
                         uint32_t receiver, const uint8_t *secret)
{
	uint32_t version = CONN_VERSION;

	memcpy(out, &version, 4);
	memcpy(out + 4, &in->rank, 4);
	memcpy(out + 8, &in->attempt, 4);
	memcpy(out + 12, &in->area_addr, 8);
	memcpy(out + 20, &in->directory_addr, 8);
	memcpy(out + 28, &in->area_rkey, 4);
	memcpy(out + 32, &in->directory_rkey, 4);
	prove(out + SIGNED_BYTES, out, direction, receiver, secret);
}

bool conn_private_decode(struct conn_private *out, const void *bytes, size_t size_bytes, enum conn_direction direction,
                         uint32_t receiver, const uint8_t *secret)
{
	const uint8_t *in = bytes;
	uint8_t proof[CONN_PROOF_BYTES];
	uint32_t version;

	if (!in || size_bytes < CONN_PRIVATE_BYTES)
		return false;
	memcpy(&version, in, 4);
	prove(proof, in, direction, receiver, secret);
	if (version != CONN_VERSION || sodium_memcmp(proof, in + SIGNED_BYTES, CONN_PROOF_BYTES) != 0)
		return false;
	memcpy(&out->rank, in + 4, 4);
	memcpy(&out->attempt, in + 8, 4);
	memcpy(&out->area_addr, in + 12, 8);
	memcpy(&out->directory_addr, in + 20, 8);
	memcpy(&out->area_rkey, in + 28, 4);
	memcpy(&out->directory_rkey, in + 32, 4);
	return true;
}
