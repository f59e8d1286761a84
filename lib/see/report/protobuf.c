// SPDX-License-Identifier: BSD-2-Clause
/* See protobuf.h. */
#include "see/report/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "see/report/program.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

#define VARINT_BYTES 10 /* the longest */

/* Returns where to append so many bytes. */
static uint8_t *room(struct message *to, size_t count)
{
	if (to->capacity - to->used < count) {
		to->capacity = 2 * (to->used + count);
		to->bytes = realloc(to->bytes, to->capacity);
		if (!to->bytes)
			program_fail("out of memory");
	}
	return to->bytes + to->used;
}

static void append_varint(struct message *to, uint64_t value)
{
	uint8_t *at = room(to, VARINT_BYTES);

	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	to->used = (size_t)(at - to->bytes);
}

static void append_tag(struct message *to, uint32_t field, enum wire_type type)
{
	append_varint(to, (uint64_t)field << 3 | type);
}

void message_add_number(struct message *to, uint32_t field, uint64_t value)
{
	append_tag(to, field, WIRE_VARINT);
	append_varint(to, value);
}

void message_add_fixed64(struct message *to, uint32_t field, uint64_t value)
{
	uint8_t *at;

	append_tag(to, field, WIRE_FIXED64);
	at = room(to, sizeof(value));
	for (size_t i = 0; i < sizeof(value); i++)
		at[i] = (uint8_t)(value >> 8 * i);
	to->used += sizeof(value);
}

void message_add_bytes(struct message *to, uint32_t field, const void *bytes, size_t count)
{
	append_tag(to, field, WIRE_BYTES);
	append_varint(to, count);
	if (count)
		memcpy(room(to, count), bytes, count);
	to->used += count;
}

void message_add_text(struct message *to, uint32_t field, const char *text)
{
	message_add_bytes(to, field, text, strlen(text));
}

void message_add(struct message *to, uint32_t field, struct message *part)
{
	message_add_bytes(to, field, part->bytes, part->used);
	part->used = 0;
}
