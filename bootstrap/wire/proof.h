// SPDX-License-Identifier: BSD-2-Clause
/*
 * proof.h - launcher and rank prove to each other that they know the job's secret
 *
 * Each side sends a nonce of 32 random bytes, and answers the other's with a keyed BLAKE2b hash
 * over both nonces, the rank and its own role. The secret never travels. The role prevents
 * reflection to the author, the nonces prevent replay, and the rank prevents use for another rank.
 */
#ifndef ORIEL_WIRE_PROOF_H
#define ORIEL_WIRE_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/proto.h"

#define BOOT_SECRET_BYTES 32

enum proof_role {
	PROOF_BY_RANK = 1,
	PROOF_BY_LAUNCHER = 2,
};

struct proof_context {
	uint8_t launcher_nonce[PROTO_NONCE_BYTES];
	uint8_t rank_nonce[PROTO_NONCE_BYTES];
	uint32_t rank;
};

void proof_make(const uint8_t secret[BOOT_SECRET_BYTES], enum proof_role role, const struct proof_context *context,
                uint8_t proof[PROTO_PROOF_BYTES]);

/* Compares in constant time. */
bool proof_holds(const uint8_t secret[BOOT_SECRET_BYTES], enum proof_role role, const struct proof_context *context,
                 const uint8_t proof[PROTO_PROOF_BYTES]);

/* Gets random bytes from the kernel. Returns 0, or -1 with errno set. */
int proof_random(void *bytes, size_t size);

#endif
