// SPDX-License-Identifier: BSD-2-Clause
/* main_fake.c - runs the suites over the fake device; `unit_fake SUITE` runs one. */
#include <CUnit/Basic.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_verbs.h"
#include "suites_fake.h"

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
}

static void add_suites(void)
{
	suite_provider();
	suite_mixed(); /* before the tests that close all descriptors, softverbs' too; as the next four */
	suite_sweep_mixed();
	suite_twin();
	suite_family();
	suite_lock();
	suite_lock_cost();
	suite_hand_over();
	suite_signal();
	suite_dynamic();
	suite_kept();
	suite_mr_cache();
	suite_wire();
	suite_coll();
	suite_conn();
	suite_goodbye();
	suite_fence();
	suite_modes();
	suite_record();
	suite_sweep();
}

static void run(const char *name)
{
	if (name && CU_get_suite(name))
		CU_run_suite(CU_get_suite(name));
	else
		CU_run_all_tests();
}

int main(int argc, char **argv)
{
	unsigned tests;

	if (CU_initialize_registry() != CUE_SUCCESS || sodium_init() < 0)
		return EXIT_FAILURE;
	setenv("ORIEL_DEVICE", "card", 1); /* the fake one; tests that want softverbs beside it say so */
	fake_reset();
	add_suites();
	if (CU_get_error() != CUE_SUCCESS) {
		fprintf(stderr, "unit_fake: %s\n", CU_get_error_msg());
		return EXIT_FAILURE;
	}
	CU_set_test_complete_handler(count_test);
	run(argc > 1 ? argv[1] : NULL);
	tests = CU_get_number_of_tests_run();
	printf("unit_fake: %u passed, %u failed, 0 skipped\n", tests - failed_tests, failed_tests);
	CU_cleanup_registry();
	return failed_tests == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
