// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_mpi_memory.c - mpi/job/pieces.c: what MPI_Alloc_mem keeps of memory that
 * was freed.
 */
#include <CUnit/CUnit.h>
#include <stdint.h>
#include <stdlib.h>

#include "mpi/job/pieces.c"
#include "suites.h"

#define KIB ((size_t)1024)
#define MIB ((size_t)1 << 20)

static void drop_all(void)
{
	while (pieces_oldest())
		;
}

/* At most an eighth more, and what cannot be kept as it is. */
static void pieces__round_up_a_little(void)
{
	for (size_t bytes = PIECE_BYTES_MIN; bytes <= PIECES_BYTES_MAX; bytes += bytes / 7 + 1) {
		size_t rounded = pieces_round(bytes);

		CU_ASSERT(rounded >= bytes && rounded <= bytes + bytes / STEPS);
		CU_ASSERT_EQUAL(pieces_round(rounded), rounded);
		CU_ASSERT_EQUAL(rounded % 4096, 0);
	}
	CU_ASSERT_EQUAL(pieces_round(PIECES_BYTES_MAX + 1), PIECES_BYTES_MAX + 1);
}

/* A size is kept when it has come back. */
static void pieces__keep_what_recurs(void)
{
	struct piece first = { .size_bytes = 3 * MIB }, second = first;

	CU_ASSERT_FALSE(pieces_recur(3 * MIB));
	CU_ASSERT_FALSE(pieces_wants(&first));
	CU_ASSERT(pieces_recur(3 * MIB));
	second.recurs = true;
	CU_ASSERT(pieces_wants(&second));
	CU_ASSERT(pieces_keep(&second));
	CU_ASSERT_PTR_EQUAL(pieces_take(3 * MIB), &second);
	CU_ASSERT_PTR_NULL(pieces_take(3 * MIB));
	second.size_bytes = PIECES_BYTES_MAX + 1;
	CU_ASSERT_FALSE(pieces_wants(&second));
}

/* The smallest that is large enough; none that is much larger. */
static void pieces__take_what_fits(void)
{
	struct piece pieces[] = { { .size_bytes = MIB }, { .size_bytes = 9 * MIB / 8 }, { .size_bytes = MIB } };

	for (int i = 0; i < 3; i++)
		CU_ASSERT(pieces_keep(&pieces[i]));
	CU_ASSERT_PTR_NULL(pieces_take(MIB / 2));
	CU_ASSERT_PTR_NULL(pieces_take(9 * MIB / 8 + 1));
	CU_ASSERT_PTR_EQUAL(pieces_take(MIB), &pieces[2]); /* the last that was freed */
	CU_ASSERT_PTR_EQUAL(pieces_take(900 * KIB), &pieces[0]);
	CU_ASSERT_PTR_EQUAL(pieces_take(MIB), &pieces[1]);
	CU_ASSERT_PTR_NULL(pieces_oldest());
}

/* Bytes and number are bounded; the oldest makes room. */
static void pieces__are_bounded(void)
{
	static struct piece many[PIECES_MAX + 1];
	struct piece large[] = { { .size_bytes = 40 * MIB }, { .size_bytes = 24 * MIB }, { .size_bytes = MIB } };

	CU_ASSERT(pieces_keep(&large[0]) && pieces_keep(&large[1]));
	CU_ASSERT_FALSE(pieces_keep(&large[2]));
	CU_ASSERT_PTR_EQUAL(pieces_oldest(), &large[0]);
	CU_ASSERT(pieces_keep(&large[2]));
	drop_all();
	for (int i = 0; i <= PIECES_MAX; i++) {
		many[i].size_bytes = PIECE_BYTES_MIN;
		CU_ASSERT_EQUAL(pieces_keep(&many[i]), i < PIECES_MAX);
	}
	drop_all();
}

/*
 * Each is its own, large enough, and there again when it has been given back; in the end there is
 * none.
 */
static void slots__are_apart_and_come_again(void)
{
	static const size_t sizes[] = { 1, 4096, 4097, 20000, 33000, 65536 };
	uint8_t *memory = aligned_alloc(4096, SLOTS_BYTES), *taken[PAGES], *again;
	size_t bytes = 0;
	int n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	CU_ASSERT_FALSE(slots_has(memory));
	slots_open(memory);
	CU_ASSERT(slots_has(memory) && slots_has(memory + SLOTS_BYTES - 1) && !slots_has(memory + SLOTS_BYTES));
	CU_ASSERT_FALSE(slots_has(NULL));
	while ((taken[n] = slots_take(sizes[n % 6]))) {
		memset(taken[n], n & 0xff, sizes[n % 6]);
		bytes += sizes[n % 6];
		n++;
	}
	CU_ASSERT(bytes > SLOTS_BYTES / 2);
	for (int i = 0; i < n; i++) {
		CU_ASSERT(slots_has(taken[i]) && taken[i][0] == (i & 0xff) && taken[i][sizes[i % 6] - 1] == (i & 0xff));
	}
	slots_give(taken[3]);
	slots_give(taken[9]);
	CU_ASSERT_PTR_EQUAL(slots_take(32768), taken[9]);
	again = slots_take(16385);
	CU_ASSERT_PTR_EQUAL(again, taken[3]);
	CU_ASSERT_PTR_NULL(slots_take(32768));
	free(memory);
}

void suite_mpi_memory(void)
{
	CU_pSuite suite = CU_add_suite("mpi_memory", NULL, NULL);

	CU_ADD_TEST(suite, pieces__round_up_a_little);
	CU_ADD_TEST(suite, pieces__keep_what_recurs);
	CU_ADD_TEST(suite, pieces__take_what_fits);
	CU_ADD_TEST(suite, pieces__are_bounded);
	CU_ADD_TEST(suite, slots__are_apart_and_come_again);
}
