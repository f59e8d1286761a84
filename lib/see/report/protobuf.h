/* SPDX-License-Identifier: BSD-2-Clause */
/* protobuf.h - messages in the wire format of protobuf */
#ifndef ORIEL_SEE_PROTOBUF_H
#define ORIEL_SEE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* A message that fields are appended to. Zeroes: it is empty. Its owner frees the bytes. */
struct message {
	uint8_t *bytes;
	size_t used;
	size_t capacity;
};

void message_add_number(struct message *to, uint32_t field, uint64_t value);
void message_add_fixed64(struct message *to, uint32_t field, uint64_t value);
void message_add_bytes(struct message *to, uint32_t field, const void *bytes, size_t count);
void message_add_text(struct message *to, uint32_t field, const char *text);

/* Appends a message as a field, and empties it. */
void message_add(struct message *to, uint32_t field, struct message *part);

#endif
