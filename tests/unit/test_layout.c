// SPDX-License-Identifier: BSD-2-Clause
/* test_layout.c - layout.h: tables that grow by segments, and the check word of a segment's place. */
#include "verbs/layout.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "suites.h"

static void segment_check__is_never_that_of_zeros(void)
{
	struct segment_ref ref;

	memset(&ref, 0, sizeof(ref));
	CU_ASSERT_FALSE(segment_ready(&ref));
	ref.check = segment_check(&ref);
	CU_ASSERT_TRUE(segment_ready(&ref));
}

/* Byte i of the mixture is of `b` where bit i of the mask is set, else of `a`. */
static void count_torn(const struct segment_ref *a, const struct segment_ref *b, unsigned *accepted)
{
	for (uint32_t mask = 0; mask < 1u << sizeof(*a); mask++) {
		uint8_t bytes[sizeof(*a)];
		struct segment_ref mixture;

		memcpy(bytes, a, sizeof(bytes));
		for (uint32_t i = 0; i < sizeof(bytes); i++) {
			if (mask >> i & 1)
				bytes[i] = ((const uint8_t *)b)[i];
		}
		memcpy(&mixture, bytes, sizeof(bytes));
		if (segment_ready(&mixture) && memcmp(&mixture, b, sizeof(*b)) != 0)
			++*accepted;
	}
}

/* The place is written once, over zeros: whatever bytes of it have arrived, only the whole is taken. */
static void segment_check__tells_every_torn_value(void)
{
	static const struct segment_ref places[] = {
		{ 0x00007f3a12345000, 0x00001207, 0 },
		{ 0x00007ffff7fc0040, 0xffffffff, 0 },
		{ 0x00007f1200000000, 0x00000012, 0 }, /* bytes of address and key that are alike */
		{ 0x0000121212121212, 0x12121212, 0 },
		{ 0x00007f0012003400, 0x34001200, 0 },
		{ 1, 1, 0 },
	};
	static const struct segment_ref zeros;
	unsigned accepted = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct segment_ref place = places[i];

		place.check = segment_check(&place);
		CU_ASSERT_TRUE(segment_ready(&place));
		count_torn(&zeros, &place, &accepted);
	}
	CU_ASSERT_EQUAL(accepted, 0);
}

static void table_segment__is_contiguous_and_without_overlap(void)
{
	uint32_t segment = 0, offset = 0;

	for (uint32_t index = 0; index < WINDOWS_MAX; index++) {
		uint32_t at, in = table_segment(index, &at);

		if (offset == table_segment_elements(segment)) {
			segment++;
			offset = 0;
		}
		if (in != segment || at != offset)
			CU_FAIL_FATAL("an index is not behind the one before it");
		offset++;
	}
	CU_ASSERT_EQUAL(segment, TABLE_SEGMENTS - 1);
	CU_ASSERT_EQUAL(offset, table_segment_elements(TABLE_SEGMENTS - 1));
}

static void table_segment_elements__adds_up_to_every_slot(void)
{
	uint32_t sum = 0;

	for (uint32_t segment = 0; segment < TABLE_SEGMENTS; segment++) {
		CU_ASSERT(segment == 0 || table_segment_elements(segment) == sum);
		sum += table_segment_elements(segment);
	}
	CU_ASSERT_EQUAL(sum, WINDOWS_MAX);
}

/* Returns whether every mixture of bytes of two successive numbers that is neither is detected. */
static bool mixtures_are_told(uint32_t used)
{
	const uint64_t word[2] = { region_used(used), region_used(used + 1) };

	for (unsigned mask = 0; mask < 256; mask++) {
		uint64_t mixed = 0;
		uint32_t told;

		for (unsigned i = 0; i < 8; i++)
			mixed |= word[mask >> i & 1] & (uint64_t)0xff << 8 * i;
		told = region_used_of(mixed);
		if (told != used && told != used + 1 && told != WINDOW_REGIONS_MAX)
			return false;
	}
	return true;
}

static void region_used__tells_every_torn_value(void)
{
	CU_ASSERT_EQUAL(region_used(0), 0);
	for (uint32_t used = 0; used < WINDOW_REGIONS_MAX; used++) {
		if (region_used_of(region_used(used)) != used || !mixtures_are_told(used))
			CU_FAIL_FATAL("a number is not told, or a mixture of two is");
	}
	CU_ASSERT_EQUAL(region_used_of(region_used(WINDOW_REGIONS_MAX)), WINDOW_REGIONS_MAX);
}

/* A flag word that straddled two cache lines could be placed in two parts. */
static void layout__keeps_words_aligned(void)
{
	CU_ASSERT_EQUAL(offsetof(struct area, up) % 8, 0);
	CU_ASSERT_EQUAL(offsetof(struct area, ctrl_msg_consumed) % 8, 0);
	CU_ASSERT_EQUAL(offsetof(struct area, sink) % 8, 0);
	CU_ASSERT_EQUAL((offsetof(struct area, ctrl_msgs) + offsetof(struct ctrl_msg, stamp)) % 8, 0);
	CU_ASSERT_EQUAL(sizeof(struct flag_pair), 32);
	CU_ASSERT_EQUAL(sizeof(struct region_entry), 40);
}

void suite_layout(void)
{
	CU_pSuite suite = CU_add_suite("layout", NULL, NULL);

	CU_ADD_TEST(suite, segment_check__is_never_that_of_zeros);
	CU_ADD_TEST(suite, segment_check__tells_every_torn_value);
	CU_ADD_TEST(suite, table_segment__is_contiguous_and_without_overlap);
	CU_ADD_TEST(suite, table_segment_elements__adds_up_to_every_slot);
	CU_ADD_TEST(suite, region_used__tells_every_torn_value);
	CU_ADD_TEST(suite, layout__keeps_words_aligned);
}
