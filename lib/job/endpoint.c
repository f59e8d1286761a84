// SPDX-License-Identifier: BSD-2-Clause
/* endpoint.c - see endpoint.h. */
#include "job/endpoint.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define MARK_BYTES 3
#define HEAD_BYTES (MARK_BYTES + 1)

static const char mark[MARK_BYTES] = { 'o', 'r', 'e' };

static_assert(HEAD_BYTES + HANDSHAKE_KEY_BYTES + DEVICE_ADDR_TEXT_BYTES <= ENDPOINT_MAX_BYTES,
              "an endpoint is one value of the bootstrap; a text takes its length and at most its room less one");

/* Bytes still to be read; fields that do not fit make it bad, and nothing is read from there on. */
struct reader {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static void read_bytes(struct reader *reader, void *out, size_t size_bytes)
{
	reader->bad |= size_bytes > reader->left;
	if (reader->bad)
		return;
	memcpy(out, reader->at, size_bytes);
	reader->at += size_bytes;
	reader->left -= size_bytes;
}

/* A text of at most room - 1 characters. */
static void read_text(struct reader *reader, char *out, size_t room)
{
	uint8_t length = 0;

	read_bytes(reader, &length, 1);
	reader->bad |= length >= room;
	read_bytes(reader, out, length);
	out[reader->bad ? 0 : length] = '\0';
	reader->bad |= !reader->bad && strlen(out) != length;
}

static uint8_t *write_bytes(uint8_t *at, const void *bytes, size_t size_bytes)
{
	memcpy(at, bytes, size_bytes);
	return at + size_bytes;
}

static uint8_t *write_text(uint8_t *at, const char *text)
{
	uint8_t length = (uint8_t)strlen(text);

	return write_bytes(write_bytes(at, &length, 1), text, length);
}

void endpoint_make(struct endpoint *endpoint, const char *addr)
{
	*endpoint = (struct endpoint){ .key = { 0 } };
	randombytes_buf(endpoint->key, sizeof(endpoint->key));
	snprintf(endpoint->addr, sizeof(endpoint->addr), "%s", addr);
}

size_t endpoint_encode(const struct endpoint *endpoint, uint8_t bytes[ENDPOINT_MAX_BYTES])
{
	const uint8_t version = ENDPOINT_VERSION;
	uint8_t *at = write_bytes(bytes, mark, MARK_BYTES);

	at = write_bytes(at, &version, 1);
	at = write_bytes(at, endpoint->key, sizeof(endpoint->key));
	at = write_text(at, endpoint->addr);
	return (size_t)(at - bytes);
}

static bool check_head(const uint8_t *bytes, size_t size_bytes, char why[ENDPOINT_WHY_BYTES])
{
	bool marked = size_bytes >= HEAD_BYTES && memcmp(bytes, mark, MARK_BYTES) == 0;

	if (!marked)
		snprintf(why, ENDPOINT_WHY_BYTES, "what it told the launcher about itself (%zu bytes) is not of liboriel",
		         size_bytes);
	else if (bytes[MARK_BYTES] != ENDPOINT_VERSION)
		snprintf(why, ENDPOINT_WHY_BYTES,
		         "it was built with another liboriel: it describes itself in version %u, here it is version %u",
		         bytes[MARK_BYTES], ENDPOINT_VERSION);
	return marked && bytes[MARK_BYTES] == ENDPOINT_VERSION;
}

bool endpoint_decode(struct endpoint *out, const void *bytes, size_t size_bytes, char why[ENDPOINT_WHY_BYTES])
{
	struct reader reader = { bytes, size_bytes, false };
	struct endpoint read = { .key = { 0 } };

	if (!check_head(bytes, size_bytes, why))
		return false;
	reader.at += HEAD_BYTES;
	reader.left -= HEAD_BYTES;
	read_bytes(&reader, read.key, sizeof(read.key));
	read_text(&reader, read.addr, sizeof(read.addr));
	if (reader.bad || reader.left > 0) {
		snprintf(why, ENDPOINT_WHY_BYTES, "what it told the launcher about itself (%zu bytes) is damaged", size_bytes);
		return false;
	}
	*out = read;
	return true;
}
