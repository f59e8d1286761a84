// SPDX-License-Identifier: BSD-2-Clause
/*
 * endpoint.h - what a rank publishes through the bootstrap
 *
 * It is one value, put before any other rank is asked about: launchers keep the first value put.
 * Mark and version refuse a rank of another build by name. No field may be missing, and nothing may
 * follow.
 *
 *   mark     "ore"
 *   version  1 byte
 *   key      32 random bytes; a rank that connects proves that it knows them (handshake.h)
 *   card     1 byte of length, then text: the address of its card, as device.h writes it; "": none
 *   soft     1 byte of length, then text: its address on softverbs
 *   place    where it runs: boot id, namespaces, user, name of the test's node (process.h)
 *   atomics  1 byte: its ORIEL_ATOMICS, an enum atomics_by (device.h)
 *   unkind   1 byte: ORIEL_UNKIND is set
 */
#ifndef ORIEL_ENDPOINT_H
#define ORIEL_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/process.h"
#include "boot.h"
#include "verbs/device.h"
#include "verbs/handshake.h"

#define ENDPOINT_BOOT_KEY "endpoint" /* its key in the bootstrap */
#define ENDPOINT_VERSION 8           /* changes if builds would not understand each other, also with SHM_ABI */
#define ENDPOINT_MAX_BYTES BOOT_VALUE_MAX_BYTES
#define ENDPOINT_WHY_BYTES 128

struct endpoint {
	uint8_t key[HANDSHAKE_KEY_BYTES];
	char card[DEVICE_ADDR_TEXT_BYTES]; /* addresses; "": no such device */
	char soft[DEVICE_ADDR_TEXT_BYTES];
	struct place place;
	uint8_t atomics;
	uint8_t unkind;
};

/* Describes this rank, with a new random key. */
void endpoint_make(struct endpoint *endpoint, const char *card, const char *soft, enum atomics_by atomics);

/* Returns the encoding's size. */
size_t endpoint_encode(const struct endpoint *endpoint, uint8_t bytes[ENDPOINT_MAX_BYTES]);

/*
 * Returns false, with the reason as a text about the other rank and *out unchanged, if bytes are no
 * endpoint of this version.
 */
bool endpoint_decode(struct endpoint *out, const void *bytes, size_t size_bytes, char why[ENDPOINT_WHY_BYTES]);

#endif
