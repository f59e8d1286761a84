// SPDX-License-Identifier: BSD-2-Clause
/* See endpoint.h. */
#include "conn/endpoint.h"

#include <assert.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "conn/conn.h"

#define MARK_BYTES 3
#define HEAD_BYTES (MARK_BYTES + 1)

static const char mark[MARK_BYTES] = { 'o', 'r', 'e' };

#define PLACE_BYTES (PLACE_BOOT_ID_BYTES + 3 * 8 + 4 + PLACE_NODE_BYTES)

static_assert(HEAD_BYTES + HANDSHAKE_KEY_BYTES + 2 * DEVICE_ADDR_TEXT_BYTES + PLACE_BYTES + 2 <= ENDPOINT_MAX_BYTES,
              "an endpoint is one value of the bootstrap; a text takes its length and at most its room less one");
static_assert(ENDPOINT_MAX_BYTES <= 255, "the least that a launcher takes");

/* Bytes still to be read. A field that does not fit sets `bad`, which ends reading. */
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

static void read_place(struct reader *reader, struct place *place)
{
	read_bytes(reader, place->boot_id, sizeof(place->boot_id));
	read_bytes(reader, &place->net_namespace, sizeof(place->net_namespace));
	read_bytes(reader, &place->pid_namespace, sizeof(place->pid_namespace));
	read_bytes(reader, &place->user_namespace, sizeof(place->user_namespace));
	read_bytes(reader, &place->user, sizeof(place->user));
	read_text(reader, place->node, sizeof(place->node));
}

static uint8_t *write_place(uint8_t *at, const struct place *place)
{
	at = write_bytes(at, place->boot_id, sizeof(place->boot_id));
	at = write_bytes(at, &place->net_namespace, sizeof(place->net_namespace));
	at = write_bytes(at, &place->pid_namespace, sizeof(place->pid_namespace));
	at = write_bytes(at, &place->user_namespace, sizeof(place->user_namespace));
	at = write_bytes(at, &place->user, sizeof(place->user));
	return write_text(at, place->node);
}

void endpoint_make(struct endpoint *endpoint, const char *card, const char *soft, enum atomics_by atomics)
{
	*endpoint = (struct endpoint){ .place = place_here(), .atomics = (uint8_t)atomics };
	randombytes_buf(endpoint->key, sizeof(endpoint->key));
	snprintf(endpoint->card, sizeof(endpoint->card), "%s", card);
	snprintf(endpoint->soft, sizeof(endpoint->soft), "%s", soft);
}

size_t endpoint_encode(const struct endpoint *endpoint, uint8_t bytes[ENDPOINT_MAX_BYTES])
{
	const uint8_t version = ENDPOINT_VERSION;
	uint8_t *at = write_bytes(bytes, mark, MARK_BYTES);

	at = write_bytes(at, &version, 1);
	at = write_bytes(at, endpoint->key, sizeof(endpoint->key));
	at = write_text(at, endpoint->card);
	at = write_text(at, endpoint->soft);
	at = write_place(at, &endpoint->place);
	at = write_bytes(at, &endpoint->atomics, 1);
	at = write_bytes(at, &endpoint->unkind, 1);
	return (size_t)(at - bytes);
}

static bool check_head(const uint8_t *bytes, size_t size_bytes, char why[ENDPOINT_WHY_BYTES])
{
	bool marked = size_bytes >= HEAD_BYTES && memcmp(bytes, mark, MARK_BYTES) == 0;

	if (!marked)
		snprintf(why, ENDPOINT_WHY_BYTES, "the value that it gave the launcher (%zu bytes) is not of liboriel",
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
	read_text(&reader, read.card, sizeof(read.card));
	read_text(&reader, read.soft, sizeof(read.soft));
	read_place(&reader, &read.place);
	read_bytes(&reader, &read.atomics, 1);
	reader.bad |= read.atomics > ATOMICS_BY_DEVICE;
	read_bytes(&reader, &read.unkind, 1);
	reader.bad |= read.unkind > 1;
	if (reader.bad || reader.left > 0) {
		snprintf(why, ENDPOINT_WHY_BYTES, "the value that it gave the launcher (%zu bytes) is damaged", size_bytes);
		return false;
	}
	*out = read;
	return true;
}

static const char *who(bool own, bool other)
{
	if (own)
		return other ? "both" : "this rank";
	return "it";
}

/* If ranks could share memory, a setting forbids it. */
static void explain(const struct endpoint *own, const struct endpoint *other, const char *apart,
                    char why[ROUTE_WHY_BYTES])
{
	const char *no_card = who(!*own->card, !*other->card);

	if (apart)
		snprintf(why, ROUTE_WHY_BYTES,
		         "%s, so memory cannot be shared, and %s had no RDMA device to use (ORIEL_DEVICE, oriel-info)", apart,
		         no_card);
	else
		snprintf(why, ROUTE_WHY_BYTES,
		         "%s may not share memory, and %s had no RDMA device to use: set ORIEL_DEVICE alike for all ranks",
		         who(!*own->soft, !*other->soft), no_card);
}

static void explain_atomics(const struct endpoint *own, const struct endpoint *other, char why[ROUTE_WHY_BYTES])
{
	static const char *const setting[] = {
		[ATOMICS_AS_REPORTED] = "not set", [ATOMICS_BY_CPU] = "\"cpu\"", [ATOMICS_BY_DEVICE] = "\"device\""
	};

	snprintf(why, ROUTE_WHY_BYTES, "its ORIEL_ATOMICS is %s, that of this rank %s; set it alike for all ranks",
	         setting[other->atomics], setting[own->atomics]);
}

static void explain_unkind(const struct endpoint *own, char why[ROUTE_WHY_BYTES])
{
	snprintf(why, ROUTE_WHY_BYTES, "ORIEL_UNKIND (--unkind) is set for %s and not for %s; set it alike for all ranks",
	         own->unkind ? "this rank" : "it", own->unkind ? "it" : "this rank");
}

static enum route common_device(const struct endpoint *own, const struct endpoint *other, const char *apart)
{
	if (!apart && *own->soft && *other->soft)
		return ROUTE_SOFT;
	return *own->card && *other->card ? ROUTE_CARD : ROUTE_NONE;
}

enum route route_choose(const struct endpoint *own, const struct endpoint *other, char why[ROUTE_WHY_BYTES])
{
	const char *apart = place_apart(&own->place, &other->place);
	enum route route = common_device(own, other, apart);

	if (route == ROUTE_NONE) {
		explain(own, other, apart, why);
		return ROUTE_NONE;
	}
	if (own->atomics == other->atomics && own->unkind == other->unkind)
		return route;
	if (own->unkind != other->unkind)
		explain_unkind(own, why);
	else
		explain_atomics(own, other, why);
	return ROUTE_NONE;
}
