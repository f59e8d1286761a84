// SPDX-License-Identifier: BSD-2-Clause
/* test_proof.c - bootstrap/wire/proof.c */
#include "wire/proof.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <string.h>

static const uint8_t secret[BOOT_SECRET_BYTES] = { 1, 2, 3 };
static const struct proof_context context = { .launcher_nonce = { 4 }, .rank_nonce = { 5 }, .rank = 0x01020304 };

static void holds__for_its_own_context_only(void)
{
	struct proof_context other;
	uint8_t proof[PROTO_PROOF_BYTES];

	proof_make(secret, PROOF_BY_RANK, &context, proof);
	CU_ASSERT_TRUE(proof_holds(secret, PROOF_BY_RANK, &context, proof));
	other = context;
	other.launcher_nonce[31] ^= 1;
	CU_ASSERT_FALSE(proof_holds(secret, PROOF_BY_RANK, &other, proof));
	other = context;
	other.rank_nonce[31] ^= 1;
	CU_ASSERT_FALSE(proof_holds(secret, PROOF_BY_RANK, &other, proof));
	other = context;
	other.rank ^= 0x01000000;
	CU_ASSERT_FALSE(proof_holds(secret, PROOF_BY_RANK, &other, proof));
}

static void holds__not_for_the_other_role(void)
{
	uint8_t proof[PROTO_PROOF_BYTES];

	proof_make(secret, PROOF_BY_RANK, &context, proof);
	CU_ASSERT_FALSE(proof_holds(secret, PROOF_BY_LAUNCHER, &context, proof));
	proof_make(secret, PROOF_BY_LAUNCHER, &context, proof);
	CU_ASSERT_FALSE(proof_holds(secret, PROOF_BY_RANK, &context, proof));
}

static void holds__not_for_another_secret(void)
{
	uint8_t other[BOOT_SECRET_BYTES];
	uint8_t proof[PROTO_PROOF_BYTES];

	proof_make(secret, PROOF_BY_RANK, &context, proof);
	memcpy(other, secret, sizeof(other));
	other[BOOT_SECRET_BYTES - 1] ^= 1;
	CU_ASSERT_FALSE(proof_holds(other, PROOF_BY_RANK, &context, proof));
}

static void holds__not_with_one_bit_changed(void)
{
	uint8_t proof[PROTO_PROOF_BYTES];
	int i;

	proof_make(secret, PROOF_BY_RANK, &context, proof);
	for (i = 0; i < PROTO_PROOF_BYTES; i++) {
		proof[i] ^= 0x80;
		CU_ASSERT_FALSE(proof_holds(secret, PROOF_BY_RANK, &context, proof));
		proof[i] ^= 0x80;
	}
}

static void random__differs(void)
{
	uint8_t first[32] = { 0 };
	uint8_t second[32] = { 0 };

	CU_ASSERT_EQUAL(proof_random(first, sizeof(first)), 0);
	CU_ASSERT_EQUAL(proof_random(second, sizeof(second)), 0);
	CU_ASSERT_NOT_EQUAL(memcmp(first, second, sizeof(first)), 0);
}

void suite_proof(void)
{
	CU_pSuite suite = CU_add_suite("proof", NULL, NULL);

	CU_ADD_TEST(suite, holds__for_its_own_context_only);
	CU_ADD_TEST(suite, holds__not_for_the_other_role);
	CU_ADD_TEST(suite, holds__not_for_another_secret);
	CU_ADD_TEST(suite, holds__not_with_one_bit_changed);
	CU_ADD_TEST(suite, random__differs);
}
