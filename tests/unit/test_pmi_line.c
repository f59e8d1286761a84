// SPDX-License-Identifier: BSD-2-Clause
/* test_pmi_line.c - bootstrap/client/pmi_line.c */
#include "client/pmi_line.h"

#include "suites.h"

#include <CUnit/CUnit.h>
#include <limits.h>
#include <string.h>

static void field__by_name_wherever_it_is(void)
{
	char value[8];

	CU_ASSERT_TRUE(pmi_field("cmd=x rc=0 value=ab", "value", value, sizeof(value)));
	CU_ASSERT_STRING_EQUAL(value, "ab");
	CU_ASSERT_TRUE(pmi_field("  value=ab  cmd=x", "value", value, sizeof(value)));
	CU_ASSERT_STRING_EQUAL(value, "ab");
	CU_ASSERT_TRUE(pmi_field("cmd= rc=0", "cmd", value, sizeof(value)));
	CU_ASSERT_STRING_EQUAL(value, "");
	CU_ASSERT_FALSE(pmi_field("cmd=x xvalue=ab values=c", "value", value, sizeof(value)));
	CU_ASSERT_STRING_EQUAL(value, "");
	CU_ASSERT_FALSE(pmi_field("", "value", value, sizeof(value)));
}

static void field__must_fit(void)
{
	char value[4];

	CU_ASSERT_TRUE(pmi_field("v=abc", "v", value, sizeof(value)));
	CU_ASSERT_FALSE(pmi_field("v=abcd", "v", value, sizeof(value)));
	CU_ASSERT_STRING_EQUAL(value, "");
}

static void number__is_one(void)
{
	int number = -5;

	CU_ASSERT_FALSE(pmi_number("n=", "n", &number));
	CU_ASSERT_FALSE(pmi_number("n=1x", "n", &number));
	CU_ASSERT_FALSE(pmi_number("n=-1", "n", &number));
	CU_ASSERT_FALSE(pmi_number("n=2147483648", "n", &number));
	CU_ASSERT_FALSE(pmi_number("m=1", "n", &number));
	CU_ASSERT_EQUAL(number, -5);
	CU_ASSERT_TRUE(pmi_number("m=1 n=2147483647", "n", &number));
	CU_ASSERT_EQUAL(number, INT_MAX);
}

static void failed__only_by_a_code(void)
{
	CU_ASSERT_FALSE(pmi_failed("cmd=barrier_out"));
	CU_ASSERT_FALSE(pmi_failed("cmd=barrier_out rc=0"));
	CU_ASSERT_TRUE(pmi_failed("cmd=barrier_out rc=-1"));
	CU_ASSERT_TRUE(pmi_failed("rc=1 cmd=barrier_out"));
	CU_ASSERT_TRUE(pmi_failed("cmd=barrier_out rc="));
	CU_ASSERT_TRUE(pmi_failed("cmd=x rc=1000000000000000000000000"));
}

static void hex__round_trip(void)
{
	uint8_t bytes[256], again[256];
	char text[2 * sizeof(bytes) + 1];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	pmi_write_hex(bytes, sizeof(bytes), text);
	CU_ASSERT_EQUAL(strlen(text), 2 * sizeof(bytes));
	CU_ASSERT_EQUAL(pmi_read_hex(text, again, sizeof(again)), (int)sizeof(again));
	CU_ASSERT_EQUAL(memcmp(bytes, again, sizeof(bytes)), 0);
	CU_ASSERT_EQUAL(pmi_read_hex(text, again, sizeof(again) - 1), -1);
	CU_ASSERT_EQUAL(pmi_read_hex("", again, sizeof(again)), 0);
	CU_ASSERT_EQUAL(pmi_read_hex("abc", again, sizeof(again)), -1);
	CU_ASSERT_EQUAL(pmi_read_hex("ag", again, sizeof(again)), -1);
	CU_ASSERT_EQUAL(pmi_read_hex("AB", again, sizeof(again)), -1);
}

static void local_size__of_blocks(void)
{
	CU_ASSERT_EQUAL(pmi_local_size("(vector,(0,1,4))", 3, 4), 4);
	CU_ASSERT_EQUAL(pmi_local_size("(vector,(0,2,2))", 0, 4), 2);
	CU_ASSERT_EQUAL(pmi_local_size("(vector,(0,2,2))", 3, 4), 2);
	CU_ASSERT_EQUAL(pmi_local_size("(vector,(0,2,3))", 4, 5), 2); /* the last node is not full */
	CU_ASSERT_EQUAL(pmi_local_size("(vector,(0,1,3),(1,1,1))", 1, 4), 3);
	CU_ASSERT_EQUAL(pmi_local_size("(vector,(0,1,3),(1,1,1))", 3, 4), 1);
}

/* Round robin: the blocks are dealt out again and again; and a node can stand in several blocks. */
static void local_size__of_ranks_dealt_in_turn(void)
{
	CU_ASSERT_EQUAL(pmi_local_size("(vector,(0,2,1))", 4, 5), 3);
	CU_ASSERT_EQUAL(pmi_local_size("(vector,(0,2,1))", 1, 5), 2);
	CU_ASSERT_EQUAL(pmi_local_size("(vector,(0,1,1),(1,1,1),(0,1,2))", 0, 4), 3);
}

static void local_size__of_nonsense(void)
{
	static const char *const texts[] = {
		"",
		"(vector",
		"(vector)",
		"(vector,(0,0,1))",
		"(vector,(0,1,0))",
		"(vector,(-1,1,1))",
		"(vector,(0,1,1)",
		"(vector,(0,1,1))x",
		"(matrix,(0,1,1))",
		"(vector,(2147483647,2,1))",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CU_ASSERT_EQUAL(pmi_local_size(texts[i], 0, 2), 0);
}

void suite_pmi_line(void)
{
	CU_pSuite suite = CU_add_suite("pmi_line", NULL, NULL);

	CU_ADD_TEST(suite, field__by_name_wherever_it_is);
	CU_ADD_TEST(suite, field__must_fit);
	CU_ADD_TEST(suite, number__is_one);
	CU_ADD_TEST(suite, failed__only_by_a_code);
	CU_ADD_TEST(suite, hex__round_trip);
	CU_ADD_TEST(suite, local_size__of_blocks);
	CU_ADD_TEST(suite, local_size__of_ranks_dealt_in_turn);
	CU_ADD_TEST(suite, local_size__of_nonsense);
}
