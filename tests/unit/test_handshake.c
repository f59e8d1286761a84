// SPDX-License-Identifier: BSD-2-Clause
/* test_handshake.c - handshake.c: what a connection request or answer says, and its proof. */
#include "verbs/handshake.c"

#include <CUnit/CUnit.h>

#include "suites.h"

static uint8_t key[HANDSHAKE_KEY_BYTES];

static const struct handshake sample = {
	.rank = 0x00fedcba,
	.attempt = 3,
	.area_addr = 0x7f0123456789a0c0,
	.directory_addr = 0x7f0fedcba9876540,
	.area_rkey = 0x80a1b2c3,
	.directory_rkey = 0x11223344,
};

static int init(void)
{
	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(i * 7 + 1);
	return sodium_init() < 0;
}

static bool same(const struct handshake *a, const struct handshake *b)
{
	return a->rank == b->rank && a->attempt == b->attempt && a->area_addr == b->area_addr &&
	       a->directory_addr == b->directory_addr && a->area_rkey == b->area_rkey &&
	       a->directory_rkey == b->directory_rkey;
}

static void handshake_encode__round_trip(void)
{
	uint8_t bytes[HANDSHAKE_BYTES];

	for (enum handshake_direction direction = HANDSHAKE_REQUEST; direction <= HANDSHAKE_ANSWER; direction++) {
		struct handshake out = { .rank = 1 };

		handshake_encode(bytes, &sample, direction, 5, key);
		CU_ASSERT_TRUE(handshake_decode(&out, bytes, sizeof(bytes), direction, 5, key));
		CU_ASSERT_TRUE(same(&out, &sample));
	}
}

/* rdma_cm pads private data with zeros; the receiver sees more bytes than were sent. */
static void handshake_decode__takes_padding(void)
{
	uint8_t bytes[196] = { 0 };
	struct handshake out;

	handshake_encode(bytes, &sample, HANDSHAKE_ANSWER, 5, key);
	CU_ASSERT_TRUE(handshake_decode(&out, bytes, 56, HANDSHAKE_ANSWER, 5, key));
	CU_ASSERT_TRUE(handshake_decode(&out, bytes, sizeof(bytes), HANDSHAKE_ANSWER, 5, key));
	CU_ASSERT_TRUE(same(&out, &sample));
}

static void handshake_decode__refuses_every_flipped_bit(void)
{
	uint8_t bytes[HANDSHAKE_BYTES];

	handshake_encode(bytes, &sample, HANDSHAKE_REQUEST, 5, key);
	for (size_t bit = 0; bit < sizeof(bytes) * 8; bit++) {
		struct handshake out = { .rank = 77 }, before = out;

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CU_ASSERT_FALSE(handshake_decode(&out, bytes, sizeof(bytes), HANDSHAKE_REQUEST, 5, key));
		CU_ASSERT_TRUE(same(&out, &before));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static void handshake_decode__refuses_what_is_too_short(void)
{
	uint8_t bytes[HANDSHAKE_BYTES];
	struct handshake out;

	handshake_encode(bytes, &sample, HANDSHAKE_REQUEST, 5, key);
	for (size_t size = 0; size < sizeof(bytes); size++)
		CU_ASSERT_FALSE(handshake_decode(&out, bytes, size, HANDSHAKE_REQUEST, 5, key));
	CU_ASSERT_FALSE(handshake_decode(&out, NULL, 0, HANDSHAKE_REQUEST, 5, key));
	CU_ASSERT_FALSE(handshake_decode(&out, NULL, sizeof(bytes), HANDSHAKE_REQUEST, 5, key));
}

static void handshake_decode__refuses_another_key(void)
{
	uint8_t bytes[HANDSHAKE_BYTES], other[HANDSHAKE_KEY_BYTES];
	struct handshake out;

	memcpy(other, key, sizeof(other));
	other[HANDSHAKE_KEY_BYTES - 1] ^= 1;
	handshake_encode(bytes, &sample, HANDSHAKE_REQUEST, 5, other);
	CU_ASSERT_FALSE(handshake_decode(&out, bytes, sizeof(bytes), HANDSHAKE_REQUEST, 5, key));
}

/* A request to rank 5 must not be valid for rank 6. */
static void handshake_decode__refuses_another_receiver(void)
{
	uint8_t bytes[HANDSHAKE_BYTES];
	struct handshake out;

	handshake_encode(bytes, &sample, HANDSHAKE_REQUEST, 5, key);
	CU_ASSERT_FALSE(handshake_decode(&out, bytes, sizeof(bytes), HANDSHAKE_REQUEST, 6, key));
	CU_ASSERT_FALSE(handshake_decode(&out, bytes, sizeof(bytes), HANDSHAKE_REQUEST, 0, key));
}

/* Nor a request be sent back as an answer. */
static void handshake_decode__refuses_the_other_direction(void)
{
	uint8_t bytes[HANDSHAKE_BYTES];
	struct handshake out;

	handshake_encode(bytes, &sample, HANDSHAKE_REQUEST, 5, key);
	CU_ASSERT_FALSE(handshake_decode(&out, bytes, sizeof(bytes), HANDSHAKE_ANSWER, 5, key));
	handshake_encode(bytes, &sample, HANDSHAKE_ANSWER, 5, key);
	CU_ASSERT_FALSE(handshake_decode(&out, bytes, sizeof(bytes), HANDSHAKE_REQUEST, 5, key));
}

static void handshake_decode__refuses_another_version_with_a_good_proof(void)
{
	uint8_t bytes[HANDSHAKE_BYTES];
	struct handshake out;

	handshake_encode(bytes, &sample, HANDSHAKE_REQUEST, 5, key);
	bytes[0] ^= 3;
	prove(bytes + SIGNED_BYTES, bytes, HANDSHAKE_REQUEST, 5, key);
	CU_ASSERT_FALSE(handshake_decode(&out, bytes, sizeof(bytes), HANDSHAKE_REQUEST, 5, key));
}

void suite_handshake(void)
{
	CU_pSuite suite = CU_add_suite("handshake", init, NULL);

	CU_ADD_TEST(suite, handshake_encode__round_trip);
	CU_ADD_TEST(suite, handshake_decode__takes_padding);
	CU_ADD_TEST(suite, handshake_decode__refuses_every_flipped_bit);
	CU_ADD_TEST(suite, handshake_decode__refuses_what_is_too_short);
	CU_ADD_TEST(suite, handshake_decode__refuses_another_key);
	CU_ADD_TEST(suite, handshake_decode__refuses_another_receiver);
	CU_ADD_TEST(suite, handshake_decode__refuses_the_other_direction);
	CU_ADD_TEST(suite, handshake_decode__refuses_another_version_with_a_good_proof);
}
