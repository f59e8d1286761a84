// SPDX-License-Identifier: BSD-2-Clause
/* proof.c - keyed hashes over nonces; see proof.h. */
#include "wire/proof.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <sys/random.h>

static_assert(BOOT_SECRET_BYTES >= crypto_generichash_KEYBYTES_MIN &&
                  BOOT_SECRET_BYTES <= crypto_generichash_KEYBYTES_MAX,
              "the secret is a BLAKE2b key");
static_assert(PROTO_PROOF_BYTES >= crypto_generichash_BYTES && PROTO_PROOF_BYTES <= crypto_generichash_BYTES_MAX,
              "a proof is a BLAKE2b hash");

void proof_make(const uint8_t secret[BOOT_SECRET_BYTES], enum proof_role role, const struct proof_context *context,
                uint8_t proof[PROTO_PROOF_BYTES])
{
	const uint8_t head[] = { 'o',
		                     'r',
		                     'i',
		                     'e',
		                     'l',
		                     PROTO_VERSION,
		                     (uint8_t)role,
		                     (uint8_t)context->rank,
		                     (uint8_t)(context->rank >> 8),
		                     (uint8_t)(context->rank >> 16),
		                     (uint8_t)(context->rank >> 24) };
	crypto_generichash_state state;

	crypto_generichash_init(&state, secret, BOOT_SECRET_BYTES, PROTO_PROOF_BYTES);
	crypto_generichash_update(&state, head, sizeof(head));
	crypto_generichash_update(&state, context->launcher_nonce, PROTO_NONCE_BYTES);
	crypto_generichash_update(&state, context->rank_nonce, PROTO_NONCE_BYTES);
	crypto_generichash_final(&state, proof, PROTO_PROOF_BYTES);
	sodium_memzero(&state, sizeof(state));
}

bool proof_holds(const uint8_t secret[BOOT_SECRET_BYTES], enum proof_role role, const struct proof_context *context,
                 const uint8_t proof[PROTO_PROOF_BYTES])
{
	uint8_t expected[PROTO_PROOF_BYTES];

	proof_make(secret, role, context, expected);
	return sodium_memcmp(expected, proof, sizeof(expected)) == 0;
}

int proof_random(void *bytes, size_t size)
{
	uint8_t *at = bytes;

	while (size > 0) {
		ssize_t got = getrandom(at, size, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		at += got;
		size -= (size_t)got;
	}
	return 0;
}
