// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_mpi_table.c - mpi/job/table.c: what is no handle of an MPI is not found, whatever was there
 * before.
 */
#include "mpi/job/table.c"

#include <CUnit/CUnit.h>

#include "suites.h"

#define KEYS 1000

static struct table table = TABLE_INITIAL;
static char values[KEYS];

/* Every slot of the first size has had a value, and chains have been emptied from their ends. */
static void table_find__finds_no_handle_that_cannot_be(void)
{
	for (uintptr_t i = 0; i < KEYS; i++) {
		CU_ASSERT_EQUAL(table_add(&table, 16 * (i + 1), &values[i]), 0);
		if (i % 50 == 49)
			for (uintptr_t j = i - 49; j <= i; j++)
				table_remove(&table, 16 * (j + 1));
	}
	CU_ASSERT_PTR_NULL(table_find(&table, TABLE_EMPTY));
	CU_ASSERT_PTR_NULL(table_find(&table, TABLE_REMOVED));
}

/* One that was removed before others of its chain stays marked. */
static void table_find__finds_nothing_removed(void)
{
	for (uintptr_t i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(table_add(&table, 16 * (i + 1), &values[i]), 0);
	for (uintptr_t i = 0; i < 100; i += 2)
		table_remove(&table, 16 * (i + 1));
	for (uintptr_t i = 0; i < 100; i++)
		CU_ASSERT_PTR_EQUAL(table_find(&table, 16 * (i + 1)), i % 2 ? &values[i] : NULL);
	CU_ASSERT_PTR_NULL(table_find(&table, TABLE_REMOVED));
	CU_ASSERT_PTR_NULL(table_find(&table, TABLE_EMPTY));
}

void suite_mpi_table(void)
{
	CU_pSuite suite = CU_add_suite("mpi_table", NULL, NULL);

	CU_ADD_TEST(suite, table_find__finds_no_handle_that_cannot_be);
	CU_ADD_TEST(suite, table_find__finds_nothing_removed);
}
