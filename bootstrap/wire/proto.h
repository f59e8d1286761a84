// SPDX-License-Identifier: BSD-2-Clause
/*
 * proto.h - the messages between oriel-run and its ranks
 *
 * A message is a header of four bytes (size of the body: 16 bits; type; version) and a body of
 * fields in a fixed order. A field is a 32-bit number, a block of fixed size, or up to 255 bytes
 * after a length byte. Numbers are little-endian. No field is optional and nothing may follow the
 * last one, so each message has exactly one encoding.
 *
 *   sent by    type        fields                    meaning
 *   launcher   CHALLENGE   nonce                     first message on every connection
 *   rank       PROOF       rank nonce proof          "I am this rank and know the secret; you?"
 *   launcher   WELCOME     proof size local_size     the launcher's own proof; the rank has joined
 *   launcher   REFUSED     text                      the rank may not join; the connection ends
 *   rank       PUT         key value
 *   rank       GET         rank key
 *   launcher   VALUE       rank key found value      the answer, now or later; found 0: never
 *   rank       LEAVE                                 from here on the rank ends in order
 *   rank       ABORT       status text
 *   launcher   DIED        rank text
 */
#ifndef ORIEL_WIRE_PROTO_H
#define ORIEL_WIRE_PROTO_H

#include <stddef.h>
#include <stdint.h>

#include "boot.h"

#define PROTO_VERSION 2
#define PROTO_HEADER_BYTES 4
#define PROTO_NONCE_BYTES 32
#define PROTO_PROOF_BYTES 32
#define PROTO_TEXT_MAX_BYTES 200 /* without the terminating 0 */
#define PROTO_BODY_MAX_BYTES 325 /* VALUE: rank, longest key, found, longest value */
#define PROTO_MESSAGE_MAX_BYTES (PROTO_HEADER_BYTES + PROTO_BODY_MAX_BYTES)

enum proto_type {
	PROTO_CHALLENGE = 1,
	PROTO_PROOF,
	PROTO_WELCOME,
	PROTO_REFUSED,
	PROTO_PUT,
	PROTO_GET,
	PROTO_VALUE,
	PROTO_LEAVE,
	PROTO_ABORT,
	PROTO_DIED,
	PROTO_TYPES
};

/* A decoded message. Only the fields of its type are valid; proto_decode clears the others. */
struct proto_msg {
	enum proto_type type;
	uint32_t rank;       /* below BOOT_RANKS_MAX */
	uint32_t size;       /* ranks in the job, 1 to BOOT_RANKS_MAX */
	uint32_t local_size; /* ranks on this machine, 1 to BOOT_RANKS_MAX */
	uint32_t status;     /* exit status that ABORT requests, 1 to 255 */
	uint32_t found;      /* 0 or 1; 0: value is empty */
	uint8_t nonce[PROTO_NONCE_BYTES];
	uint8_t proof[PROTO_PROOF_BYTES];
	uint8_t value_size;
	uint8_t value[BOOT_VALUE_MAX_BYTES];
	char key[BOOT_KEY_MAX_BYTES + 1];    /* never empty */
	char text[PROTO_TEXT_MAX_BYTES + 1]; /* proto_set_text cuts it to this length */
};

/*
 * Decodes the first message. Returns the number of bytes it takes, 0 if more bytes are needed, or
 * -1 if no message begins like this (known once the header is there, whatever body size it claims).
 */
int proto_decode(const uint8_t *bytes, size_t size, struct proto_msg *out);

/* Returns the body size that a header announces; proto_decode may reject it. */
size_t proto_body_size(const uint8_t header[PROTO_HEADER_BYTES]);

/* Writes msg into bytes. Returns its size, or -1 if a field is outside its bounds. */
int proto_encode(const struct proto_msg *msg, uint8_t bytes[PROTO_MESSAGE_MAX_BYTES]);

/* Sets msg->text, cut to the maximum length. NULL is "". */
void proto_set_text(struct proto_msg *msg, const char *text);

#endif
