// SPDX-License-Identifier: BSD-2-Clause
/* report.c - see report.h. */
#include "report.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>

static const char *program_name;
static unsigned failed_tests;

static void count_test(const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord failure)
{
	const struct CU_FailureRecord *record;

	if (!failure)
		return;
	failed_tests++;
	for (record = failure; record; record = record->pNext)
		printf("not ok %s %s: %s:%u: %s\n", suite->pName, test->pName, record->strFileName, record->uiLineNumber,
		       record->strCondition);
	printf("# alone: build/bin/%s %s\n", program_name, suite->pName);
}

static void run(const char *suite)
{
	if (suite && CU_get_suite(suite))
		CU_run_suite(CU_get_suite(suite));
	else
		CU_run_all_tests();
}

int report_suites(const char *program, const char *suite)
{
	unsigned tests;

	if (CU_get_error() != CUE_SUCCESS) {
		fprintf(stderr, "%s: %s\n", program, CU_get_error_msg());
		return EXIT_FAILURE;
	}
	program_name = program;
	CU_set_test_complete_handler(count_test);
	run(suite);
	tests = CU_get_number_of_tests_run();
	printf("%s: %u passed, %u failed, 0 skipped\n", program, tests - failed_tests, failed_tests);
	return failed_tests == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
