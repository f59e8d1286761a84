// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_handshake.c - private data of a connection request: what has no proof is not taken, what
 * has one is not lost
 *
 * The first byte chooses what is done with the rest: taken as it is; or given a right proof first,
 * so that the fuzzer reaches what lies behind it; or a right request changed in one place.
 */
#include "verbs/handshake.c"

#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t key[HANDSHAKE_KEY_BYTES] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

#define RECEIVER 5

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return sodium_init() < 0;
}

/* What was decoded encodes to the same bytes: no bit of the input has been made up or dropped. */
static void check_taken(const struct handshake *taken, const uint8_t *data)
{
	uint8_t again[HANDSHAKE_BYTES];

	handshake_encode(again, taken, HANDSHAKE_REQUEST, RECEIVER, key);
	if (memcmp(again, data, sizeof(again)) != 0)
		abort();
}

static void try_bytes(const uint8_t *data, size_t size, bool must_fail)
{
	struct handshake untouched, taken;

	memset(&untouched, 0xa5, sizeof(untouched));
	taken = untouched;
	if (handshake_decode(&taken, data, size, HANDSHAKE_REQUEST, RECEIVER, key)) {
		if (must_fail)
			abort();
		check_taken(&taken, data);
	} else if (memcmp(&taken, &untouched, sizeof(taken)) != 0) {
		abort();
	}
}

/* The input as fields, proven, and then spoiled where its last two bytes say. */
static void try_proven(const uint8_t *data, size_t size, bool spoil)
{
	uint8_t bytes[HANDSHAKE_BYTES + 4] = { 0 };

	memcpy(bytes, data, size < SIGNED_BYTES ? size : SIGNED_BYTES);
	prove(bytes + SIGNED_BYTES, bytes, HANDSHAKE_REQUEST, RECEIVER, key);
	if (spoil && size >= 2)
		bytes[data[size - 1] % HANDSHAKE_BYTES] ^= (uint8_t)(data[size - 2] | 1);
	try_bytes(bytes, sizeof(bytes), spoil && size >= 2);
	try_bytes(bytes, HANDSHAKE_BYTES - 1, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] % 3 == 0)
		try_bytes(data + 1, size - 1, false);
	else
		try_proven(data + 1, size - 1, data[0] % 3 == 2);
	return 0;
}

/* A right version word in front, so that half of the inputs are whole requests. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	uint32_t version = HANDSHAKE_VERSION;

	size = LLVMFuzzerMutate(data, size, max_size);
	if ((seed & 1) && size >= 5)
		memcpy(data + 1, &version, sizeof(version));
	return size;
}
