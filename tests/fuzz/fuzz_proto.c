// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_proto.c - proto_decode against any bytes
 *
 * What decodes must encode to exactly the bytes it came from, and no beginning of it may be taken
 * for a message.
 */
#include "../../bootstrap/wire/proto.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

static void check_round_trip(const uint8_t *bytes, size_t used, const struct proto_msg *msg)
{
	uint8_t again[PROTO_MESSAGE_MAX_BYTES];

	require(proto_encode(msg, again) == (int)used);
	require(memcmp(again, bytes, used) == 0);
}

/* A copy of exact size, so that the sanitizer sees a read beyond it. */
static void check_beginning(const uint8_t *bytes, size_t size)
{
	struct proto_msg msg;
	uint8_t *copy = malloc(size ? size : 1);

	require(copy != NULL);
	memcpy(copy, bytes, size);
	require(proto_decode(copy, size, &msg) == 0);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proto_msg msg;
	int used;

	while ((used = proto_decode(data, size, &msg)) > 0) {
		require((size_t)used <= size && used <= PROTO_MESSAGE_MAX_BYTES);
		check_round_trip(data, (size_t)used, &msg);
		check_beginning(data, (size_t)used - 1);
		data += used;
		size -= (size_t)used;
	}
	require(used < 0 || size < PROTO_MESSAGE_MAX_BYTES);
	return 0;
}
