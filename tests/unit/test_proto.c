// SPDX-License-Identifier: BSD-2-Clause
/* test_proto.c - bootstrap/wire/proto.c */
#include "wire/proto.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <string.h>

/* One of each, with every field at its longest or largest. */
static struct proto_msg longest(enum proto_type type)
{
	struct proto_msg msg = { .type = type,
		                     .rank = BOOT_RANKS_MAX - 1,
		                     .size = BOOT_RANKS_MAX,
		                     .local_size = 1,
		                     .status = 255,
		                     .found = 1,
		                     .value_size = BOOT_VALUE_MAX_BYTES };

	memset(msg.nonce, 0xa5, sizeof(msg.nonce));
	memset(msg.proof, 0x5a, sizeof(msg.proof));
	memset(msg.value, 0xff, sizeof(msg.value));
	memset(msg.key, 'k', BOOT_KEY_MAX_BYTES);
	memset(msg.text, 't', PROTO_TEXT_MAX_BYTES);
	return msg;
}

static int encode_longest(enum proto_type type, uint8_t bytes[PROTO_MESSAGE_MAX_BYTES])
{
	struct proto_msg msg = longest(type);

	return proto_encode(&msg, bytes);
}

static void decode__gives_back_what_was_encoded(void)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	uint8_t again[PROTO_MESSAGE_MAX_BYTES];
	struct proto_msg msg;
	int type;

	for (type = PROTO_CHALLENGE; type < PROTO_TYPES; type++) {
		int size = encode_longest((enum proto_type)type, bytes);

		CU_ASSERT_FATAL(size >= PROTO_HEADER_BYTES);
		CU_ASSERT_EQUAL_FATAL(proto_decode(bytes, (size_t)size, &msg), size);
		CU_ASSERT_EQUAL_FATAL((int)msg.type, type);
		CU_ASSERT_EQUAL(proto_encode(&msg, again), size);
		CU_ASSERT_EQUAL(memcmp(bytes, again, (size_t)size), 0);
	}
}

static void decode__fills_in_the_fields(void)
{
	struct proto_msg in = {
		.type = PROTO_VALUE, .rank = 0x010203, .found = 1, .key = "addr", .value = "1.2", .value_size = 3
	};
	const uint8_t expected[] = { 14,  0,   PROTO_VALUE, PROTO_VERSION, 3, 2, 1,   0,   4,
		                         'a', 'd', 'd',         'r',           1, 3, '1', '.', '2' };
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	struct proto_msg out;

	CU_ASSERT_EQUAL_FATAL(proto_encode(&in, bytes), (int)sizeof(expected));
	CU_ASSERT_EQUAL(memcmp(bytes, expected, sizeof(expected)), 0);
	CU_ASSERT_EQUAL_FATAL(proto_decode(bytes, sizeof(expected), &out), (int)sizeof(expected));
	CU_ASSERT_EQUAL(out.rank, 0x010203);
	CU_ASSERT_STRING_EQUAL(out.key, "addr");
	CU_ASSERT_EQUAL(out.found, 1);
	CU_ASSERT_EQUAL(out.value_size, 3);
	CU_ASSERT_EQUAL(memcmp(out.value, "1.2", 3), 0);
}

static void decode__asks_for_more_of_every_beginning(void)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	struct proto_msg msg;
	int type;
	int part;

	for (type = PROTO_CHALLENGE; type < PROTO_TYPES; type++) {
		int size = encode_longest((enum proto_type)type, bytes);

		for (part = 0; part < size; part++)
			CU_ASSERT_EQUAL_FATAL(proto_decode(bytes, (size_t)part, &msg), 0);
	}
}

static void decode__takes_one_message_only(void)
{
	uint8_t bytes[2 * PROTO_MESSAGE_MAX_BYTES];
	struct proto_msg msg;
	int size = encode_longest(PROTO_PUT, bytes);

	CU_ASSERT_EQUAL(encode_longest(PROTO_GET, bytes + size) > 0, 1);
	CU_ASSERT_EQUAL(proto_decode(bytes, sizeof(bytes), &msg), size);
	CU_ASSERT_EQUAL(msg.type, PROTO_PUT);
}

static void expect_malformed(const uint8_t *bytes, size_t size)
{
	struct proto_msg msg;

	CU_ASSERT_EQUAL(proto_decode(bytes, size, &msg), -1);
}

static void decode__refuses_wrong_headers_at_once(void)
{
	const uint8_t too_long[] = { (PROTO_BODY_MAX_BYTES + 1) & 0xff, (PROTO_BODY_MAX_BYTES + 1) >> 8, PROTO_PUT,
		                         PROTO_VERSION };
	const uint8_t no_type[] = { 0, 0, 0, PROTO_VERSION };
	const uint8_t beyond_types[] = { 0, 0, PROTO_TYPES, PROTO_VERSION };
	const uint8_t other_version[] = { 0, 0, PROTO_LEAVE, PROTO_VERSION + 1 };

	expect_malformed(too_long, sizeof(too_long));
	expect_malformed(no_type, sizeof(no_type));
	expect_malformed(beyond_types, sizeof(beyond_types));
	expect_malformed(other_version, sizeof(other_version));
	expect_malformed((const uint8_t *)"GET / HTTP/1.1\r\n", 16);
}

/* One byte more or less than the fields need, by the header too. */
static void decode__refuses_bodies_of_other_sizes(void)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES + 1];
	int type;

	for (type = PROTO_CHALLENGE; type < PROTO_TYPES; type++) {
		size_t body;

		memset(bytes, 0, sizeof(bytes));
		body = (size_t)encode_longest((enum proto_type)type, bytes) - PROTO_HEADER_BYTES;
		bytes[0] = (uint8_t)(body + 1);
		bytes[1] = (uint8_t)((body + 1) >> 8);
		expect_malformed(bytes, sizeof(bytes));
		if (body == 0)
			continue;
		bytes[0] = (uint8_t)(body - 1);
		bytes[1] = (uint8_t)((body - 1) >> 8);
		expect_malformed(bytes, sizeof(bytes));
	}
}

static void decode__refuses_fields_out_of_bounds(void)
{
	const uint8_t rank[] = { 6, 0, PROTO_GET, PROTO_VERSION, 0, 0, 0, 1, 1, 'k' };
	const uint8_t empty_key[] = { 5, 0, PROTO_GET, PROTO_VERSION, 0, 0, 0, 0, 0 };
	const uint8_t zero_in_key[] = { 7, 0, PROTO_GET, PROTO_VERSION, 0, 0, 0, 0, 2, 'k', 0 };
	const uint8_t zero_in_text[] = { 3, 0, PROTO_REFUSED, PROTO_VERSION, 2, 'a', 0 };
	const uint8_t status_0[] = { 5, 0, PROTO_ABORT, PROTO_VERSION, 0, 0, 0, 0, 0 };
	const uint8_t status_256[] = { 5, 0, PROTO_ABORT, PROTO_VERSION, 0, 1, 0, 0, 0 };
	const uint8_t found_2[] = { 8, 0, PROTO_VALUE, PROTO_VERSION, 0, 0, 0, 0, 1, 'k', 2, 0 };
	const uint8_t never_with_value[] = { 9, 0, PROTO_VALUE, PROTO_VERSION, 0, 0, 0, 0, 1, 'k', 0, 1, 'v' };
	const uint8_t value_beyond_body[] = { 4, 0, PROTO_PUT, PROTO_VERSION, 1, 'k', 2, 'v' };

	expect_malformed(rank, sizeof(rank));
	expect_malformed(empty_key, sizeof(empty_key));
	expect_malformed(zero_in_key, sizeof(zero_in_key));
	expect_malformed(zero_in_text, sizeof(zero_in_text));
	expect_malformed(status_0, sizeof(status_0));
	expect_malformed(status_256, sizeof(status_256));
	expect_malformed(found_2, sizeof(found_2));
	expect_malformed(never_with_value, sizeof(never_with_value));
	expect_malformed(value_beyond_body, sizeof(value_beyond_body));
}

static void decode__refuses_long_key_and_text(void)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES] = { 4 + 1 + BOOT_KEY_MAX_BYTES + 1, 0, PROTO_GET, PROTO_VERSION };

	memset(bytes + 8, 'k', BOOT_KEY_MAX_BYTES + 2);
	bytes[8] = BOOT_KEY_MAX_BYTES + 1;
	expect_malformed(bytes, PROTO_HEADER_BYTES + bytes[0]);
	memset(bytes, 't', sizeof(bytes));
	bytes[0] = 1 + PROTO_TEXT_MAX_BYTES + 1;
	bytes[1] = 0;
	bytes[2] = PROTO_REFUSED;
	bytes[3] = PROTO_VERSION;
	bytes[4] = PROTO_TEXT_MAX_BYTES + 1;
	expect_malformed(bytes, PROTO_HEADER_BYTES + bytes[0]);
}

static void encode__refuses_fields_out_of_bounds(void)
{
	uint8_t bytes[PROTO_MESSAGE_MAX_BYTES];
	struct proto_msg msg = longest(PROTO_GET);

	msg.rank = BOOT_RANKS_MAX;
	CU_ASSERT_EQUAL(proto_encode(&msg, bytes), -1);
	msg = longest(PROTO_GET);
	msg.key[0] = '\0';
	CU_ASSERT_EQUAL(proto_encode(&msg, bytes), -1);
	msg = longest(PROTO_WELCOME);
	msg.size = 0;
	CU_ASSERT_EQUAL(proto_encode(&msg, bytes), -1);
	msg = longest(PROTO_ABORT);
	msg.status = 0;
	CU_ASSERT_EQUAL(proto_encode(&msg, bytes), -1);
	msg = longest(PROTO_VALUE);
	msg.found = 0;
	CU_ASSERT_EQUAL(proto_encode(&msg, bytes), -1);
	msg = longest(PROTO_TYPES);
	CU_ASSERT_EQUAL(proto_encode(&msg, bytes), -1);
}

static void set_text__cuts(void)
{
	char text[2 * PROTO_TEXT_MAX_BYTES];
	struct proto_msg msg;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	proto_set_text(&msg, text);
	CU_ASSERT_EQUAL(strlen(msg.text), PROTO_TEXT_MAX_BYTES);
	proto_set_text(&msg, "short");
	CU_ASSERT_STRING_EQUAL(msg.text, "short");
	proto_set_text(&msg, NULL);
	CU_ASSERT_STRING_EQUAL(msg.text, "");
}

void suite_proto(void)
{
	CU_pSuite suite = CU_add_suite("proto", NULL, NULL);

	CU_ADD_TEST(suite, decode__gives_back_what_was_encoded);
	CU_ADD_TEST(suite, decode__fills_in_the_fields);
	CU_ADD_TEST(suite, decode__asks_for_more_of_every_beginning);
	CU_ADD_TEST(suite, decode__takes_one_message_only);
	CU_ADD_TEST(suite, decode__refuses_wrong_headers_at_once);
	CU_ADD_TEST(suite, decode__refuses_bodies_of_other_sizes);
	CU_ADD_TEST(suite, decode__refuses_fields_out_of_bounds);
	CU_ADD_TEST(suite, decode__refuses_long_key_and_text);
	CU_ADD_TEST(suite, encode__refuses_fields_out_of_bounds);
	CU_ADD_TEST(suite, set_text__cuts);
}
