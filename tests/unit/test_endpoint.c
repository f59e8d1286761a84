// SPDX-License-Identifier: BSD-2-Clause
/* test_endpoint.c - lib/conn/endpoint.c: what a rank tells the others, and what is refused */
#include "conn/endpoint.c"

#include <CUnit/CUnit.h>

#include "soft/state/shm.h"
#include "suites.h"

static_assert(
	ENDPOINT_VERSION == 8 && SHM_ABI == 11,
	"ranks with another softverbs are refused by their endpoint's version: a new SHM_ABI takes a new version");

static const struct endpoint sample = {
	.key = { 1, 2, 3, 0, 5 },
	.card = "10.0.0.1 18515",
	.soft = "127.0.0.1 40000",
	.place = { { 9, 8, 7 }, 1ull << 40, 2, 3, 1000, "n1" },
	.atomics = ATOMICS_BY_DEVICE,
	.unkind = 1,
};

static int init(void)
{
	return sodium_init() < 0;
}

static bool refused(const void *bytes, size_t size_bytes, const char *reason)
{
	char why[ENDPOINT_WHY_BYTES] = "";
	struct endpoint out;

	memcpy(&out, &sample, sizeof(out)); /* with the bytes between its members */
	if (endpoint_decode(&out, bytes, size_bytes, why))
		return false;
	return memcmp(&out, &sample, sizeof(out)) == 0 && strstr(why, reason);
}

static void endpoint_encode__round_trip(void)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES];
	char why[ENDPOINT_WHY_BYTES];
	struct endpoint out;

	CU_ASSERT_TRUE_FATAL(endpoint_decode(&out, bytes, endpoint_encode(&sample, bytes), why));
	CU_ASSERT_EQUAL(memcmp(out.key, sample.key, sizeof(out.key)), 0);
	CU_ASSERT_STRING_EQUAL(out.card, sample.card);
	CU_ASSERT_STRING_EQUAL(out.soft, sample.soft);
	CU_ASSERT_EQUAL(memcmp(out.place.boot_id, sample.place.boot_id, PLACE_BOOT_ID_BYTES), 0);
	CU_ASSERT_EQUAL(out.place.net_namespace, sample.place.net_namespace);
	CU_ASSERT_EQUAL(out.place.pid_namespace, sample.place.pid_namespace);
	CU_ASSERT_EQUAL(out.place.user_namespace, sample.place.user_namespace);
	CU_ASSERT_EQUAL(out.place.user, sample.place.user);
	CU_ASSERT_STRING_EQUAL(out.place.node, sample.place.node);
	CU_ASSERT_EQUAL(out.atomics, sample.atomics);
	CU_ASSERT_EQUAL(out.unkind, sample.unkind);
}

static void endpoint_encode__longest_texts(void)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES];
	struct endpoint longest = sample, out;
	char why[ENDPOINT_WHY_BYTES];

	memset(longest.card, 'x', sizeof(longest.card) - 1);
	longest.card[sizeof(longest.card) - 1] = '\0';
	memset(longest.soft, 'y', sizeof(longest.soft) - 1);
	longest.soft[sizeof(longest.soft) - 1] = '\0';
	memset(longest.place.node, 'z', sizeof(longest.place.node) - 1);
	CU_ASSERT_TRUE_FATAL(endpoint_decode(&out, bytes, endpoint_encode(&longest, bytes), why));
	CU_ASSERT_STRING_EQUAL(out.card, longest.card);
	CU_ASSERT_STRING_EQUAL(out.soft, longest.soft);
	CU_ASSERT_STRING_EQUAL(out.place.node, longest.place.node);
}

static void endpoint_make__has_a_new_key(void)
{
	struct endpoint a, b;

	endpoint_make(&a, "10.0.0.1 1", "", ATOMICS_BY_CPU);
	endpoint_make(&b, "10.0.0.1 1", "", ATOMICS_BY_CPU);
	CU_ASSERT_STRING_EQUAL(a.card, "10.0.0.1 1");
	CU_ASSERT_STRING_EQUAL(a.soft, "");
	CU_ASSERT_EQUAL(a.atomics, ATOMICS_BY_CPU);
	CU_ASSERT_NOT_EQUAL(memcmp(a.key, b.key, sizeof(a.key)), 0);
}

static void endpoint_decode__refuses_every_other_size(void)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES + 1] = { 0 };
	size_t size = endpoint_encode(&sample, bytes);

	for (size_t i = 0; i < HEAD_BYTES; i++)
		CU_ASSERT_TRUE(refused(bytes, i, "not of liboriel"));
	for (size_t i = HEAD_BYTES; i <= sizeof(bytes); i++)
		CU_ASSERT_TRUE(i == size || refused(bytes, i, "damaged"));
}

static void endpoint_decode__refuses_another_version_by_name(void)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES];
	size_t size = endpoint_encode(&sample, bytes);

	bytes[MARK_BYTES] = ENDPOINT_VERSION + 1;
	CU_ASSERT_TRUE(refused(bytes, size, "another liboriel"));
	CU_ASSERT_TRUE(refused(bytes, HEAD_BYTES, "another liboriel")); /* whatever follows there */
}

static void endpoint_decode__refuses_unknown_atomics(void)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES];
	size_t size = endpoint_encode(&sample, bytes);

	bytes[size - 1] = ATOMICS_BY_DEVICE + 1;
	CU_ASSERT_TRUE(refused(bytes, size, "damaged"));
}

static void endpoint_decode__refuses_what_others_have_put(void)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES];
	size_t size = endpoint_encode(&sample, bytes);

	CU_ASSERT_TRUE(refused("10.0.0.1 18515", 14, "not of liboriel"));
	bytes[0] ^= 0x20;
	CU_ASSERT_TRUE(refused(bytes, size, "not of liboriel"));
}

static void endpoint_decode__refuses_texts_that_do_not_fit(void)
{
	uint8_t bytes[ENDPOINT_MAX_BYTES] = { 0 };
	size_t at = HEAD_BYTES + HANDSHAKE_KEY_BYTES;

	endpoint_encode(&sample, bytes);
	memset(bytes + at, 'x', sizeof(bytes) - at);
	bytes[at] = sizeof(sample.card);
	CU_ASSERT_TRUE(refused(bytes, at + 1 + sizeof(sample.card), "damaged"));
	bytes[at] = 4;
	bytes[at + 2] = '\0';
	CU_ASSERT_TRUE(refused(bytes, at + 5, "damaged"));
}

void suite_endpoint(void)
{
	CU_pSuite suite = CU_add_suite("endpoint", init, NULL);

	CU_ADD_TEST(suite, endpoint_encode__round_trip);
	CU_ADD_TEST(suite, endpoint_encode__longest_texts);
	CU_ADD_TEST(suite, endpoint_make__has_a_new_key);
	CU_ADD_TEST(suite, endpoint_decode__refuses_every_other_size);
	CU_ADD_TEST(suite, endpoint_decode__refuses_another_version_by_name);
	CU_ADD_TEST(suite, endpoint_decode__refuses_unknown_atomics);
	CU_ADD_TEST(suite, endpoint_decode__refuses_what_others_have_put);
	CU_ADD_TEST(suite, endpoint_decode__refuses_texts_that_do_not_fit);
}
