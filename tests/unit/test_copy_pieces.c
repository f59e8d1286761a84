// SPDX-License-Identifier: BSD-2-Clause
/* test_copy_pieces.c - lib/op/copy.c: every byte comes, none beside them, and the last ones at last */
#include <CUnit/CUnit.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "op/copy.h"
#include "suites.h"

#define ROOM ((size_t)1 << 20)
#define GUARD 0xa5
#define SHIFT_MAX 64

static uint8_t *from, *to;

static uint8_t byte_of(size_t i)
{
	return (uint8_t)(i * 7 + i / 251 + 1);
}

static void fill(void)
{
	from = malloc(ROOM + 2 * SHIFT_MAX);
	to = malloc(ROOM + 2 * SHIFT_MAX);
	CU_ASSERT_TRUE_FATAL(from && to);
	for (size_t i = 0; i < ROOM + 2 * SHIFT_MAX; i++)
		from[i] = byte_of(i);
	memset(to, GUARD, ROOM + 2 * SHIFT_MAX);
}

static void done(void)
{
	free(from);
	free(to);
}

/*
 * Whether `size_bytes` bytes have come from one place to the other, and those around them are as
 * they were, which they become.
 */
static bool came(size_t to_shift, size_t from_shift, size_t size_bytes)
{
	bool right = memcmp(to + to_shift, from + from_shift, size_bytes) == 0;

	for (size_t i = 1; i <= to_shift; i++)
		right = right && to[to_shift - i] == GUARD;
	for (size_t i = 0; i < SHIFT_MAX; i++)
		right = right && to[to_shift + size_bytes + i] == GUARD;
	memset(to + to_shift, GUARD, size_bytes);
	return right;
}

static void test_got(void)
{
	static const size_t shifts[] = { 0, 1, 8, 63 };
	bool right = true;

	fill();
	for (size_t bytes = 1; bytes <= COPY_GOT_MAX + 600; bytes += bytes < COPY_GOT_MIN - 2 ? 61 : 1) {
		for (size_t i = 0; i < 16; i++) {
			copy_got(to + shifts[i % 4], from + shifts[i / 4], bytes);
			right = right && came(shifts[i % 4], shifts[i / 4], bytes);
		}
	}
	CU_ASSERT_TRUE(right);
	done();
}

static void test_pieces(void)
{
	static const size_t sizes[] = { 1,
		                            8,
		                            63,
		                            COPY_PIECE_BYTES,
		                            COPY_PIECE_BYTES + 1,
		                            COPY_PIECE_BYTES + COPY_LAST_BYTES,
		                            COPY_PIECE_BYTES + COPY_LAST_BYTES + 1,
		                            2 * COPY_PIECE_BYTES,
		                            COPY_LARGE_BYTES,
		                            COPY_LARGE_BYTES + 1,
		                            3 * COPY_LARGE_BYTES + 77,
		                            ROOM };

	fill();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int downwards = 0; downwards <= 1; downwards++) {
			copy_pieces(to + 3, from + 5, sizes[i], downwards);
			CU_ASSERT_TRUE(came(3, 5, sizes[i]));
		}
	}
	done();
}

/* Memory that overlaps comes as it was. */
static void test_overlapping(void)
{
	static const size_t sizes[] = { 100, COPY_GOT_MIN, 3 * COPY_PIECE_BYTES };

	for (size_t i = 0; i < 3; i++) {
		for (int up = 0; up <= 1; up++) {
			size_t wrong = 0;

			fill();
			if (sizes[i] > COPY_GOT_MAX)
				copy_pieces(from + (up ? 40 : 0), from + (up ? 0 : 40), sizes[i], up);
			else
				copy_got(from + (up ? 40 : 0), from + (up ? 0 : 40), sizes[i]);
			for (size_t at = 0; at < sizes[i]; at++)
				wrong += from[at + (up ? 40 : 0)] != byte_of(at + (up ? 0 : 40));
			CU_ASSERT_EQUAL(wrong, 0);
			done();
		}
	}
}

static void *copy_downwards(void *unused)
{
	(void)unused;
	copy_pieces(to, from, ROOM, true);
	return NULL;
}

/* A thread that sees the last word sees all of it. */
static void test_last(void)
{
	uint64_t *last, expected;

	for (int i = 0; i < 20; i++) {
		pthread_t thread;

		fill();
		last = (uint64_t *)(void *)(to + ROOM - sizeof(*last));
		memcpy(&expected, from + ROOM - sizeof(expected), sizeof(expected));
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, copy_downwards, NULL), 0);
		while (flag_load(last) != expected) /* pairs with the fence of copy_pieces */
			;
		CU_ASSERT_EQUAL(memcmp(to, from, ROOM), 0);
		CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
		done();
	}
}

#define ROW_ROOM 16384
#define ROW_BLOCKS 20

/* Copies blocks inside `room`, which overlap, by memmove one by one. */
static void move_row(uint8_t *room, size_t at, ptrdiff_t distance, size_t bytes)
{
	for (ptrdiff_t i = 0; i < ROW_BLOCKS; i++)
		memmove(room + at + i * distance, room + ROW_ROOM / 2 + i * 24, bytes);
}

/* Of each size, upwards and downwards, to places that overlap those they come from. */
static void test_rows(void)
{
	static const ptrdiff_t distances[] = { 128, 73, -100, 16, -40, 0, 24 };
	uint8_t *wanted = malloc(ROW_ROOM);
	bool right = true;

	fill();
	CU_ASSERT_TRUE_FATAL(wanted != NULL);
	for (size_t bytes = COPY_ROW_MIN; bytes <= COPY_ROW_MAX; bytes++) {
		for (size_t i = 0; i < 7; i++) {
			const size_t at = ROW_ROOM / 2 + 5 * i - 10;

			memcpy(wanted, from, ROW_ROOM);
			memcpy(to, from, ROW_ROOM);
			move_row(wanted, at, distances[i], bytes);
			copy_row_by((struct blocks){ to + at, distances[i] }, (struct blocks){ to + ROW_ROOM / 2, 24 }, bytes,
			            ROW_BLOCKS);
			right = right && memcmp(wanted, to, ROW_ROOM) == 0;
		}
	}
	CU_ASSERT_TRUE(right);
	free(wanted);
	done();
}

void suite_copy_pieces(void)
{
	CU_pSuite suite = CU_add_suite("copy_pieces", NULL, NULL);

	CU_add_test(suite, "gets of any number of bytes, from anywhere to anywhere", test_got);
	CU_add_test(suite, "pieces upwards and downwards", test_pieces);
	CU_add_test(suite, "memory that overlaps", test_overlapping);
	CU_add_test(suite, "the last bytes come at last", test_last);
	CU_add_test(suite, "blocks of one size", test_rows);
}
