// SPDX-License-Identifier: BSD-2-Clause
/* test_util.c - util.c and the inline functions of util.h. */
#include "base/util.c"

#include <CUnit/CUnit.h>

#include "suites.h"

/* A sanitizer would end the program instead of letting realloc fail. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void now_ns__goes_on(void)
{
	uint64_t before = now_ns();

	CU_ASSERT(now_ns() >= before);
}

static void round_up__reaches_the_next_step(void)
{
	CU_ASSERT_EQUAL(round_up(0, 64), 0);
	CU_ASSERT_EQUAL(round_up(1, 64), 64);
	CU_ASSERT_EQUAL(round_up(64, 64), 64);
	CU_ASSERT_EQUAL(round_up(65, 64), 128);
}

static void log2_up__is_the_smallest_that_reaches(void)
{
	CU_ASSERT_EQUAL(log2_up(1), 0);
	for (uint64_t value = 2; value < 70000; value++) {
		int r = log2_up(value);

		if ((UINT64_C(1) << r) < value || (UINT64_C(1) << (r - 1)) >= value)
			CU_FAIL("log2_up is wrong");
	}
	CU_ASSERT_EQUAL(log2_up(UINT64_C(1) << 63), 63);
	CU_ASSERT_EQUAL(log2_up((UINT64_C(1) << 63) + 1), 64);
}

static void grow_array__keeps_what_is_there(void)
{
	uint32_t capacity = 0;
	int *array = NULL;

	for (uint32_t i = 0; i < 5000; i++) {
		CU_ASSERT_TRUE_FATAL(grow_array(&array, &capacity, i + 1, sizeof(*array)));
		CU_ASSERT_FATAL(capacity > i);
		array[i] = (int)i * 3;
	}
	for (uint32_t i = 0; i < 5000; i++)
		CU_ASSERT_EQUAL(array[i], (int)i * 3);
	CU_ASSERT(capacity < 2 * 5000);
	free(array);
}

static void grow_array__does_nothing_where_there_is_room(void)
{
	uint32_t capacity = 0;
	int *array = NULL, *before;

	CU_ASSERT_TRUE(grow_array(&array, &capacity, 3, sizeof(*array)));
	before = array;
	CU_ASSERT_TRUE(grow_array(&array, &capacity, capacity, sizeof(*array)));
	CU_ASSERT_PTR_EQUAL(array, before);
	CU_ASSERT_TRUE(grow_array(&array, &capacity, 0, sizeof(*array)));
	CU_ASSERT_PTR_EQUAL(array, before);
	free(array);
}

static void grow_array__changes_nothing_when_memory_is_out(void)
{
	uint32_t capacity = 0;
	char *array = NULL, *before;

	CU_ASSERT_TRUE(grow_array(&array, &capacity, 4, 1));
	before = array;
	CU_ASSERT_FALSE(grow_array(&array, &capacity, 1u << 30, SIZE_MAX >> 32));
	CU_ASSERT_PTR_EQUAL(array, before);
	CU_ASSERT_EQUAL(capacity, 4);
	free(array);
}

void suite_util(void)
{
	CU_pSuite suite = CU_add_suite("util", NULL, NULL);

	CU_ADD_TEST(suite, now_ns__goes_on);
	CU_ADD_TEST(suite, round_up__reaches_the_next_step);
	CU_ADD_TEST(suite, log2_up__is_the_smallest_that_reaches);
	CU_ADD_TEST(suite, grow_array__keeps_what_is_there);
	CU_ADD_TEST(suite, grow_array__does_nothing_where_there_is_room);
	CU_ADD_TEST(suite, grow_array__changes_nothing_when_memory_is_out);
}
