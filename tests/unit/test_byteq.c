// SPDX-License-Identifier: BSD-2-Clause
/* test_byteq.c - bootstrap/wire/byteq.c */
#include "wire/byteq.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <string.h>

#define MAX 100000

static void append__keeps_order(void)
{
	struct byteq queue = { 0 };

	CU_ASSERT_EQUAL(byteq_append(&queue, "abc", 3, MAX), 0);
	CU_ASSERT_EQUAL(byteq_append(&queue, "", 0, MAX), 0);
	CU_ASSERT_EQUAL(byteq_append(&queue, "de", 2, MAX), 0);
	CU_ASSERT_EQUAL(queue.size, 5);
	CU_ASSERT_EQUAL(memcmp(byteq_head(&queue), "abcde", 5), 0);
	byteq_clear(&queue);
}

static void append__refuses_beyond_bound(void)
{
	struct byteq queue = { 0 };

	CU_ASSERT_EQUAL(byteq_append(&queue, "abc", 3, 4), 0);
	CU_ASSERT_EQUAL(byteq_append(&queue, "de", 2, 4), -1);
	CU_ASSERT_EQUAL(byteq_append(&queue, "abcde", 5, 4), -1);
	CU_ASSERT_EQUAL(byteq_append(&queue, "d", 1, 4), 0);
	CU_ASSERT_EQUAL(memcmp(byteq_head(&queue), "abcd", 4), 0);
	byteq_clear(&queue);
}

/* Every byte that goes in comes out once, in order, whatever the sizes of the steps. */
static void append__survives_any_mix_of_steps(void)
{
	struct byteq queue = { 0 };
	unsigned char bytes[300];
	size_t in = 0;
	size_t out = 0;
	size_t step;
	size_t i;

	for (step = 0; step < 3000; step++) {
		size_t add = step * 7 % sizeof(bytes);
		size_t take = step * 11 % sizeof(bytes);

		for (i = 0; i < add; i++)
			bytes[i] = (unsigned char)((in + i) % 251);
		CU_ASSERT_EQUAL_FATAL(byteq_append(&queue, bytes, add, 1000000), 0);
		in += add;
		take = take < queue.size ? take : queue.size;
		for (i = 0; i < take; i++)
			CU_ASSERT_EQUAL_FATAL(byteq_head(&queue)[i], (out + i) % 251);
		byteq_drop(&queue, take);
		out += take;
		CU_ASSERT_EQUAL_FATAL(queue.size, in - out);
	}
	byteq_clear(&queue);
}

static void drop__of_everything_gives_memory_back(void)
{
	struct byteq queue = { 0 };

	CU_ASSERT_EQUAL(byteq_append(&queue, "abc", 3, MAX), 0);
	byteq_drop(&queue, 3);
	CU_ASSERT_PTR_NULL(queue.block);
	CU_ASSERT_EQUAL(queue.size, 0);
	CU_ASSERT_EQUAL(byteq_append(&queue, "x", 1, MAX), 0);
	CU_ASSERT_EQUAL(*byteq_head(&queue), 'x');
	byteq_clear(&queue);
}

void suite_byteq(void)
{
	CU_pSuite suite = CU_add_suite("byteq", NULL, NULL);

	CU_ADD_TEST(suite, append__keeps_order);
	CU_ADD_TEST(suite, append__refuses_beyond_bound);
	CU_ADD_TEST(suite, append__survives_any_mix_of_steps);
	CU_ADD_TEST(suite, drop__of_everything_gives_memory_back);
}
