// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_endpoint.c - what another rank has put into the bootstrap: what is taken encodes to the
 * same bytes again, and what is not leaves nothing behind
 */
#include "base/process.c"
#include "conn/endpoint.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A right head in front, so that the fuzzer reaches what lies behind it. */
static size_t with_head(const uint8_t *data, size_t size, uint8_t bytes[ENDPOINT_MAX_BYTES])
{
	const uint8_t version = ENDPOINT_VERSION;
	uint8_t *at = write_bytes(write_bytes(bytes, mark, MARK_BYTES), &version, 1);

	if (size > ENDPOINT_MAX_BYTES - HEAD_BYTES)
		size = ENDPOINT_MAX_BYTES - HEAD_BYTES;
	write_bytes(at, data, size);
	return HEAD_BYTES + size;
}

static void try_bytes(const uint8_t *bytes, size_t size)
{
	struct endpoint untouched, taken;
	uint8_t again[ENDPOINT_MAX_BYTES];
	char why[ENDPOINT_WHY_BYTES];

	memset(&untouched, 0xa5, sizeof(untouched));
	taken = untouched;
	if (!endpoint_decode(&taken, bytes, size, why)) {
		if (memcmp(&taken, &untouched, sizeof(taken)) != 0)
			abort();
	} else if (endpoint_encode(&taken, again) != size || memcmp(again, bytes, size) != 0) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES];

	try_bytes(data, size);
	if (size > 0)
		try_bytes(bytes, with_head(data, size, bytes));
	return 0;
}
