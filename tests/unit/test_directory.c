// SPDX-License-Identifier: BSD-2-Clause
/* test_directory.c - directory.c: the check of an entry that is read while its owner writes it. */
#include "job/directory.c"

#include <CUnit/CUnit.h>

#include "suites.h"

#define WORDS (sizeof(struct dir_entry) / sizeof(uint64_t))

static struct dir_entry entry_of(uint8_t seed)
{
	struct dir_entry entry = {
		.base = 0x7f0000001000u + seed * 0x1000u,
		.size_bytes = 4096u * seed,
		.control_addr = 0x7f0100002000u + seed * 64u,
		.control_rkey = 0x1200u + seed,
		.rkey = 0x3400u + seed,
		.disp_unit_bytes = seed & 1 ? 8 : 1,
		.flags = seed & 2 ? DIR_READ_ONLY : 0,
	};

	for (size_t i = 0; i < sizeof(entry.id); i++)
		entry.id[i] = (uint8_t)(seed * 31 + i * 17 + 1);
	entry.check = dir_entry_check(&entry);
	return entry;
}

static void dir_entry_check__is_never_zero(void)
{
	struct dir_entry entry;

	memset(&entry, 0, sizeof(entry));
	CU_ASSERT_NOT_EQUAL(dir_entry_check(&entry), 0);
	for (int seed = 0; seed < 256; seed++) {
		entry = entry_of((uint8_t)seed);
		CU_ASSERT_NOT_EQUAL(entry.check, 0);
	}
}

static void dir_entry_check__covers_every_bit(void)
{
	struct dir_entry entry = entry_of(9);

	for (size_t bit = 0; bit < sizeof(entry) * 8; bit++) {
		struct dir_entry changed = entry;

		((uint8_t *)&changed)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CU_ASSERT_FALSE(dir_entry_matches(&changed, entry.id));
	}
}

static void dir_entry_matches__its_own_id_alone(void)
{
	struct dir_entry a = entry_of(1), b = entry_of(2), hidden;

	memset(&hidden, 0, sizeof(hidden));
	CU_ASSERT_TRUE(dir_entry_matches(&a, a.id));
	CU_ASSERT_FALSE(dir_entry_matches(&a, b.id));
	CU_ASSERT_FALSE(dir_entry_matches(&hidden, a.id));
	CU_ASSERT_FALSE(dir_entry_matches(&hidden, hidden.id));
}

/* A whole entry without a displacement unit would make the range check divide by zero. */
static void dir_entry_matches__refuses_a_unit_of_zero(void)
{
	struct dir_entry entry = entry_of(1);

	entry.disp_unit_bytes = 0;
	entry.check = dir_entry_check(&entry);
	CU_ASSERT_FALSE(dir_entry_matches(&entry, entry.id));
}

/* A reading that matches one of the two windows must be one of the two entries, whole. */
static bool is_torn(const struct dir_entry *mixture, const struct dir_entry *a, const struct dir_entry *b)
{
	if (!dir_entry_matches(mixture, a->id) && !dir_entry_matches(mixture, b->id))
		return false;
	return memcmp(mixture, a, sizeof(*a)) != 0 && memcmp(mixture, b, sizeof(*b)) != 0;
}

static void mix(struct dir_entry *out, const struct dir_entry *a, const struct dir_entry *b, uint64_t mask)
{
	for (size_t i = 0; i < sizeof(*out); i++)
		((uint8_t *)out)[i] = ((const uint8_t *)(mask >> i & 1 ? b : a))[i];
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * Byte i of a mixture is of the new entry where bit i of the mask is set. All stretches of bytes,
 * all sets of words, and a million masks at random stand for all 2^64.
 */
static void check_torn(const struct dir_entry *a, const struct dir_entry *b)
{
	uint64_t state = 88172645463325252;
	struct dir_entry mixture;
	unsigned torn = 0;

	for (unsigned from = 0; from < 64; from++) {
		for (unsigned to = from; to < 64; to++) {
			mix(&mixture, a, b, (UINT64_MAX << from) & (UINT64_MAX >> (63 - to)));
			torn += is_torn(&mixture, a, b);
		}
	}
	for (unsigned words = 0; words < 1u << WORDS; words++) {
		uint64_t mask = 0;

		for (unsigned i = 0; i < WORDS; i++)
			mask |= words >> i & 1 ? UINT64_C(0xff) << 8 * i : 0;
		mix(&mixture, a, b, mask);
		torn += is_torn(&mixture, a, b);
	}
	for (int i = 0; i < 1000000; i++) {
		mix(&mixture, a, b, next_random(&state) & (i & 1 ? UINT64_MAX : next_random(&state)));
		torn += is_torn(&mixture, a, b);
	}
	CU_ASSERT_EQUAL(torn, 0);
}

static void dir_entry_matches__no_torn_mixture(void)
{
	struct dir_entry a = entry_of(3), b = entry_of(4), zeros;

	memset(&zeros, 0, sizeof(zeros));
	check_torn(&a, &b);
	check_torn(&zeros, &b);
	check_torn(&a, &zeros);
}

/* The same window's neighbour in all but one word: the hardest to tell. */
static void dir_entry_matches__no_torn_mixture_of_similar_entries(void)
{
	struct dir_entry a = entry_of(5), b = a;

	b.size_bytes ^= 1;
	b.base += 64;
	b.check = dir_entry_check(&b);
	check_torn(&a, &b);
}

void suite_directory(void)
{
	CU_pSuite suite = CU_add_suite("directory", NULL, NULL);

	CU_ADD_TEST(suite, dir_entry_check__is_never_zero);
	CU_ADD_TEST(suite, dir_entry_check__covers_every_bit);
	CU_ADD_TEST(suite, dir_entry_matches__its_own_id_alone);
	CU_ADD_TEST(suite, dir_entry_matches__refuses_a_unit_of_zero);
	CU_ADD_TEST(suite, dir_entry_matches__no_torn_mixture);
	CU_ADD_TEST(suite, dir_entry_matches__no_torn_mixture_of_similar_entries);
}
