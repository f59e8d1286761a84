// SPDX-License-Identifier: BSD-2-Clause
/* test_directory.c - directory.c: the check of an entry that is read while its owner writes it. */
#include "conn/directory.c"

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
		.signals_addr = 0x7f0200003000u + seed * 32u,
		.signals_rkey = 0x5600u + seed,
		.signal_count = seed,
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

/* Which bytes of a mixture are of the new entry. */
struct mask {
	bool byte[sizeof(struct dir_entry)];
};

static void mix(struct dir_entry *out, const struct dir_entry *a, const struct dir_entry *b, const struct mask *mask)
{
	for (size_t i = 0; i < sizeof(*out); i++)
		((uint8_t *)out)[i] = ((const uint8_t *)(mask->byte[i] ? b : a))[i];
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static struct mask stretch(size_t from, size_t to)
{
	struct mask mask;

	for (size_t i = 0; i < sizeof(mask.byte); i++)
		mask.byte[i] = i >= from && i <= to;
	return mask;
}

static struct mask words(unsigned set)
{
	struct mask mask;

	for (size_t i = 0; i < sizeof(mask.byte); i++)
		mask.byte[i] = set >> i / 8 & 1;
	return mask;
}

/* Half of the bytes, or a quarter of them. */
static struct mask at_random(uint64_t *state, bool few)
{
	struct mask mask;
	uint64_t bits = 0;

	for (size_t i = 0; i < sizeof(mask.byte); i++) {
		if (i % 64 == 0)
			bits = next_random(state) & (few ? next_random(state) : UINT64_MAX);
		mask.byte[i] = bits >> i % 64 & 1;
	}
	return mask;
}

static bool mixture_is_torn(const struct dir_entry *a, const struct dir_entry *b, struct mask mask)
{
	struct dir_entry mixture;

	mix(&mixture, a, b, &mask);
	return is_torn(&mixture, a, b);
}

/* All stretches of bytes, all sets of words, and a hundred thousand masks at random stand for all 2^128. */
static void check_torn(const struct dir_entry *a, const struct dir_entry *b)
{
	uint64_t state = 88172645463325252;
	unsigned torn = 0;

	for (size_t from = 0; from < sizeof(*a); from++) {
		for (size_t to = from; to < sizeof(*a); to++)
			torn += mixture_is_torn(a, b, stretch(from, to));
	}
	for (unsigned set = 0; set < 1u << WORDS; set++)
		torn += mixture_is_torn(a, b, words(set));
	for (int i = 0; i < 100000; i++)
		torn += mixture_is_torn(a, b, at_random(&state, i & 1));
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

/* A neighbour of the window that differs in one word is the hardest to distinguish. */
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
