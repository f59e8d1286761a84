// SPDX-License-Identifier: BSD-2-Clause
/* test_conn_private.c - conn_private.c: what a connection request or answer says, and its proof. */
#include "verbs/conn_private.c"

#include <CUnit/CUnit.h>

#include "suites.h"

static uint8_t secret[BOOT_SECRET_BYTES];

static const struct conn_private sample = {
	.rank = 0x00fedcba,
	.attempt = 3,
	.area_addr = 0x7f0123456789a0c0,
	.directory_addr = 0x7f0fedcba9876540,
	.area_rkey = 0x80a1b2c3,
	.directory_rkey = 0x11223344,
};

static int init(void)
{
	for (size_t i = 0; i < sizeof(secret); i++)
		secret[i] = (uint8_t)(i * 7 + 1);
	return sodium_init() < 0;
}

static bool same(const struct conn_private *a, const struct conn_private *b)
{
	return a->rank == b->rank && a->attempt == b->attempt && a->area_addr == b->area_addr &&
	       a->directory_addr == b->directory_addr && a->area_rkey == b->area_rkey &&
	       a->directory_rkey == b->directory_rkey;
}

static void conn_private_encode__round_trip(void)
{
	uint8_t bytes[CONN_PRIVATE_BYTES];

	for (enum conn_direction direction = CONN_REQUEST; direction <= CONN_ANSWER; direction++) {
		struct conn_private out = { .rank = 1 };

		conn_private_encode(bytes, &sample, direction, 5, secret);
		CU_ASSERT_TRUE(conn_private_decode(&out, bytes, sizeof(bytes), direction, 5, secret));
		CU_ASSERT_TRUE(same(&out, &sample));
	}
}

/* rdma_cm pads private data with zeros; the receiver sees more bytes than were sent. */
static void conn_private_decode__takes_padding(void)
{
	uint8_t bytes[196] = { 0 };
	struct conn_private out;

	conn_private_encode(bytes, &sample, CONN_ANSWER, 5, secret);
	CU_ASSERT_TRUE(conn_private_decode(&out, bytes, 56, CONN_ANSWER, 5, secret));
	CU_ASSERT_TRUE(conn_private_decode(&out, bytes, sizeof(bytes), CONN_ANSWER, 5, secret));
	CU_ASSERT_TRUE(same(&out, &sample));
}

static void conn_private_decode__refuses_every_flipped_bit(void)
{
	uint8_t bytes[CONN_PRIVATE_BYTES];

	conn_private_encode(bytes, &sample, CONN_REQUEST, 5, secret);
	for (size_t bit = 0; bit < sizeof(bytes) * 8; bit++) {
		struct conn_private out = { .rank = 77 }, before = out;

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CU_ASSERT_FALSE(conn_private_decode(&out, bytes, sizeof(bytes), CONN_REQUEST, 5, secret));
		CU_ASSERT_TRUE(same(&out, &before));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static void conn_private_decode__refuses_what_is_too_short(void)
{
	uint8_t bytes[CONN_PRIVATE_BYTES];
	struct conn_private out;

	conn_private_encode(bytes, &sample, CONN_REQUEST, 5, secret);
	for (size_t size = 0; size < sizeof(bytes); size++)
		CU_ASSERT_FALSE(conn_private_decode(&out, bytes, size, CONN_REQUEST, 5, secret));
	CU_ASSERT_FALSE(conn_private_decode(&out, NULL, 0, CONN_REQUEST, 5, secret));
	CU_ASSERT_FALSE(conn_private_decode(&out, NULL, sizeof(bytes), CONN_REQUEST, 5, secret));
}

static void conn_private_decode__refuses_another_secret(void)
{
	uint8_t bytes[CONN_PRIVATE_BYTES], other[BOOT_SECRET_BYTES];
	struct conn_private out;

	memcpy(other, secret, sizeof(other));
	other[BOOT_SECRET_BYTES - 1] ^= 1;
	conn_private_encode(bytes, &sample, CONN_REQUEST, 5, other);
	CU_ASSERT_FALSE(conn_private_decode(&out, bytes, sizeof(bytes), CONN_REQUEST, 5, secret));
}

/* What rank 5 was sent must not be usable towards rank 6. */
static void conn_private_decode__refuses_another_receiver(void)
{
	uint8_t bytes[CONN_PRIVATE_BYTES];
	struct conn_private out;

	conn_private_encode(bytes, &sample, CONN_REQUEST, 5, secret);
	CU_ASSERT_FALSE(conn_private_decode(&out, bytes, sizeof(bytes), CONN_REQUEST, 6, secret));
	CU_ASSERT_FALSE(conn_private_decode(&out, bytes, sizeof(bytes), CONN_REQUEST, 0, secret));
}

/* Nor a request be sent back as an answer. */
static void conn_private_decode__refuses_the_other_direction(void)
{
	uint8_t bytes[CONN_PRIVATE_BYTES];
	struct conn_private out;

	conn_private_encode(bytes, &sample, CONN_REQUEST, 5, secret);
	CU_ASSERT_FALSE(conn_private_decode(&out, bytes, sizeof(bytes), CONN_ANSWER, 5, secret));
	conn_private_encode(bytes, &sample, CONN_ANSWER, 5, secret);
	CU_ASSERT_FALSE(conn_private_decode(&out, bytes, sizeof(bytes), CONN_REQUEST, 5, secret));
}

static void conn_private_decode__refuses_another_version_with_a_good_proof(void)
{
	uint8_t bytes[CONN_PRIVATE_BYTES];
	struct conn_private out;

	conn_private_encode(bytes, &sample, CONN_REQUEST, 5, secret);
	bytes[0] ^= 3;
	prove(bytes + SIGNED_BYTES, bytes, CONN_REQUEST, 5, secret);
	CU_ASSERT_FALSE(conn_private_decode(&out, bytes, sizeof(bytes), CONN_REQUEST, 5, secret));
}

void suite_conn_private(void)
{
	CU_pSuite suite = CU_add_suite("conn_private", init, NULL);

	CU_ADD_TEST(suite, conn_private_encode__round_trip);
	CU_ADD_TEST(suite, conn_private_decode__takes_padding);
	CU_ADD_TEST(suite, conn_private_decode__refuses_every_flipped_bit);
	CU_ADD_TEST(suite, conn_private_decode__refuses_what_is_too_short);
	CU_ADD_TEST(suite, conn_private_decode__refuses_another_secret);
	CU_ADD_TEST(suite, conn_private_decode__refuses_another_receiver);
	CU_ADD_TEST(suite, conn_private_decode__refuses_the_other_direction);
	CU_ADD_TEST(suite, conn_private_decode__refuses_another_version_with_a_good_proof);
}
