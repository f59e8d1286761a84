// SPDX-License-Identifier: BSD-2-Clause
/*
 * proto.c - encoding and decoding of the launcher's messages
 *
 * DESIGN NOTES One table lists the fields of each type, in order. Decoder and encoder walk this
 * table, so they cannot disagree. Each kind of field has a function that reads and one that writes
 * it, with equal checks: a decoded message encodes to the same bytes (the fuzzer checks that).
 */
#include "wire/proto.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum field {
	FIELD_END,
	FIELD_RANK,
	FIELD_SIZE,
	FIELD_LOCAL_SIZE,
	FIELD_STATUS,
	FIELD_FOUND,
	FIELD_NONCE,
	FIELD_PROOF,
	FIELD_KEY,
	FIELD_VALUE,
	FIELD_TEXT,
};

#define FIELDS_MAX 4

static const enum field layouts[PROTO_TYPES][FIELDS_MAX + 1] = {
	[PROTO_CHALLENGE] = { FIELD_NONCE },
	[PROTO_PROOF] = { FIELD_RANK, FIELD_NONCE, FIELD_PROOF },
	[PROTO_WELCOME] = { FIELD_PROOF, FIELD_SIZE, FIELD_LOCAL_SIZE },
	[PROTO_REFUSED] = { FIELD_TEXT },
	[PROTO_PUT] = { FIELD_KEY, FIELD_VALUE },
	[PROTO_GET] = { FIELD_RANK, FIELD_KEY },
	[PROTO_VALUE] = { FIELD_RANK, FIELD_KEY, FIELD_FOUND, FIELD_VALUE },
	[PROTO_LEAVE] = { FIELD_END },
	[PROTO_ABORT] = { FIELD_STATUS, FIELD_TEXT },
	[PROTO_DIED] = { FIELD_RANK, FIELD_TEXT },
};

static_assert(PROTO_BODY_MAX_BYTES == 4 + (1 + BOOT_KEY_MAX_BYTES) + 1 + (1 + BOOT_VALUE_MAX_BYTES),
              "VALUE is the longest message: rank, key, found, value");
static_assert(PROTO_BODY_MAX_BYTES >= 4 + PROTO_NONCE_BYTES + PROTO_PROOF_BYTES, "PROOF fits");
static_assert(PROTO_BODY_MAX_BYTES >= 4 + 1 + PROTO_TEXT_MAX_BYTES, "ABORT and DIED fit");
static_assert(BOOT_KEY_MAX_BYTES <= 255 && BOOT_VALUE_MAX_BYTES <= 255 && PROTO_TEXT_MAX_BYTES <= 255,
              "one length byte is enough");

static bool type_is_known(unsigned type)
{
	return type >= PROTO_CHALLENGE && type < PROTO_TYPES;
}

struct reader {
	const uint8_t *at;
	size_t left;
};

static int read_block(struct reader *reader, void *out, size_t size)
{
	if (reader->left < size)
		return -1;
	memcpy(out, reader->at, size);
	reader->at += size;
	reader->left -= size;
	return 0;
}

static int read_number(struct reader *reader, uint32_t min, uint32_t max, uint32_t *out)
{
	uint8_t b[4];

	if (read_block(reader, b, sizeof(b)) != 0)
		return -1;
	*out = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	return *out >= min && *out <= max ? 0 : -1;
}

static int read_flag(struct reader *reader, uint32_t *out)
{
	uint8_t flag;

	if (read_block(reader, &flag, 1) != 0 || flag > 1)
		return -1;
	*out = flag;
	return 0;
}

static int read_bytes(struct reader *reader, size_t max, uint8_t *out, uint8_t *size)
{
	if (read_block(reader, size, 1) != 0 || *size > max)
		return -1;
	return read_block(reader, out, *size);
}

/* out holds max + 1 bytes, all 0. */
static int read_string(struct reader *reader, size_t min, size_t max, char *out)
{
	uint8_t size;

	if (read_bytes(reader, max, (uint8_t *)out, &size) != 0)
		return -1;
	return size >= min && strlen(out) == size ? 0 : -1;
}

static int read_field(struct reader *reader, enum field field, struct proto_msg *msg)
{
	switch (field) {
	case FIELD_RANK:
		return read_number(reader, 0, BOOT_RANKS_MAX - 1, &msg->rank);
	case FIELD_SIZE:
		return read_number(reader, 1, BOOT_RANKS_MAX, &msg->size);
	case FIELD_LOCAL_SIZE:
		return read_number(reader, 1, BOOT_RANKS_MAX, &msg->local_size);
	case FIELD_STATUS:
		return read_number(reader, 1, 255, &msg->status);
	case FIELD_FOUND:
		return read_flag(reader, &msg->found);
	case FIELD_NONCE:
		return read_block(reader, msg->nonce, sizeof(msg->nonce));
	case FIELD_PROOF:
		return read_block(reader, msg->proof, sizeof(msg->proof));
	case FIELD_KEY:
		return read_string(reader, 1, BOOT_KEY_MAX_BYTES, msg->key);
	case FIELD_VALUE:
		return read_bytes(reader, BOOT_VALUE_MAX_BYTES, msg->value, &msg->value_size);
	case FIELD_TEXT:
		return read_string(reader, 0, PROTO_TEXT_MAX_BYTES, msg->text);
	case FIELD_END:
		break;
	}
	return -1;
}

/* Checks the one rule that spans two fields: no value goes with found 0. */
static bool fields_agree(const struct proto_msg *msg)
{
	return msg->type != PROTO_VALUE || msg->found != 0 || msg->value_size == 0;
}

static int read_body(struct reader *reader, struct proto_msg *msg)
{
	const enum field *field;

	for (field = layouts[msg->type]; *field != FIELD_END; field++)
		if (read_field(reader, *field, msg) != 0)
			return -1;
	return reader->left == 0 && fields_agree(msg) ? 0 : -1;
}

size_t proto_body_size(const uint8_t header[PROTO_HEADER_BYTES])
{
	return (size_t)(header[0] | header[1] << 8);
}

int proto_decode(const uint8_t *bytes, size_t size, struct proto_msg *out)
{
	struct reader reader;
	size_t body_size;

	if (size < PROTO_HEADER_BYTES)
		return 0;
	body_size = proto_body_size(bytes);
	if (body_size > PROTO_BODY_MAX_BYTES || !type_is_known(bytes[2]) || bytes[3] != PROTO_VERSION)
		return -1;
	if (size - PROTO_HEADER_BYTES < body_size)
		return 0;
	memset(out, 0, sizeof(*out));
	out->type = (enum proto_type)bytes[2];
	reader.at = bytes + PROTO_HEADER_BYTES;
	reader.left = body_size;
	if (read_body(&reader, out) != 0)
		return -1;
	return (int)(PROTO_HEADER_BYTES + body_size);
}

/* The caller's array has room for the longest message. */
struct writer {
	uint8_t *at;
};

static int write_block(struct writer *writer, const void *block, size_t size)
{
	memcpy(writer->at, block, size);
	writer->at += size;
	return 0;
}

static int write_number(struct writer *writer, uint32_t min, uint32_t max, uint32_t number)
{
	const uint8_t b[4] = { (uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16), (uint8_t)(number >> 24) };

	if (number < min || number > max)
		return -1;
	return write_block(writer, b, sizeof(b));
}

static int write_flag(struct writer *writer, uint32_t flag)
{
	const uint8_t b = (uint8_t)flag;

	return flag > 1 ? -1 : write_block(writer, &b, 1);
}

static int write_bytes(struct writer *writer, size_t max, const void *bytes, size_t size)
{
	const uint8_t b = (uint8_t)size;

	if (size > max)
		return -1;
	write_block(writer, &b, 1);
	return write_block(writer, bytes, size);
}

static int write_string(struct writer *writer, size_t min, size_t max, const char *string)
{
	size_t size = strnlen(string, max + 1);

	return size < min ? -1 : write_bytes(writer, max, string, size);
}

static int write_field(struct writer *writer, enum field field, const struct proto_msg *msg)
{
	switch (field) {
	case FIELD_RANK:
		return write_number(writer, 0, BOOT_RANKS_MAX - 1, msg->rank);
	case FIELD_SIZE:
		return write_number(writer, 1, BOOT_RANKS_MAX, msg->size);
	case FIELD_LOCAL_SIZE:
		return write_number(writer, 1, BOOT_RANKS_MAX, msg->local_size);
	case FIELD_STATUS:
		return write_number(writer, 1, 255, msg->status);
	case FIELD_FOUND:
		return write_flag(writer, msg->found);
	case FIELD_NONCE:
		return write_block(writer, msg->nonce, sizeof(msg->nonce));
	case FIELD_PROOF:
		return write_block(writer, msg->proof, sizeof(msg->proof));
	case FIELD_KEY:
		return write_string(writer, 1, BOOT_KEY_MAX_BYTES, msg->key);
	case FIELD_VALUE:
		return write_bytes(writer, BOOT_VALUE_MAX_BYTES, msg->value, msg->value_size);
	case FIELD_TEXT:
		return write_string(writer, 0, PROTO_TEXT_MAX_BYTES, msg->text);
	case FIELD_END:
		break;
	}
	return -1;
}

static void write_header(uint8_t *bytes, size_t body_size, enum proto_type type)
{
	bytes[0] = (uint8_t)body_size;
	bytes[1] = (uint8_t)(body_size >> 8);
	bytes[2] = (uint8_t)type;
	bytes[3] = PROTO_VERSION;
}

int proto_encode(const struct proto_msg *msg, uint8_t bytes[PROTO_MESSAGE_MAX_BYTES])
{
	struct writer writer = { bytes + PROTO_HEADER_BYTES };
	const enum field *field;
	size_t body_size;

	if (!type_is_known(msg->type) || !fields_agree(msg))
		return -1;
	for (field = layouts[msg->type]; *field != FIELD_END; field++)
		if (write_field(&writer, *field, msg) != 0)
			return -1;
	body_size = (size_t)(writer.at - bytes) - PROTO_HEADER_BYTES;
	write_header(bytes, body_size, msg->type);
	return (int)(PROTO_HEADER_BYTES + body_size);
}

void proto_set_text(struct proto_msg *msg, const char *text)
{
	size_t size = text ? strnlen(text, PROTO_TEXT_MAX_BYTES) : 0;

	memset(msg->text, 0, sizeof(msg->text));
	if (size > 0)
		memcpy(msg->text, text, size);
}
