// SPDX-License-Identifier: BSD-2-Clause
/* main_fake.c - runs the suites over the fake device; `unit_fake SUITE` runs one. */
#include <CUnit/Basic.h>
#include <sodium.h>
#include <stdlib.h>

#include "fake_verbs.h"
#include "report.h"
#include "suites_fake.h"

static void add_suites(void)
{
	suite_provider();
	suite_mixed(); /* before the tests that close all descriptors, softverbs' too; as the next four */
	suite_sweep_mixed();
	suite_atomics_peer();
	suite_acc_device();
	suite_lock();
	suite_lock_cost();
	suite_hand_over();
	suite_signal();
	suite_dynamic();
	suite_window_cache();
	suite_mr_cache();
	suite_wire();
	suite_coll();
	suite_conn();
	suite_goodbye();
	suite_fence();
	suite_modes();
	suite_am();
	suite_sweep();
}

/*
 * A rank may get no processor for seconds. Each test begins with this limit, whatever the one before
 * it has set; a test in which a message is lost sets a shorter one.
 */
static void begin_test(const CU_pTest test, const CU_pSuite suite)
{
	(void)test;
	(void)suite;
	setenv("ORIEL_CONNECT_TIMEOUT", "25", 1);
}

int main(int argc, char **argv)
{
	int status;

	if (CU_initialize_registry() != CUE_SUCCESS || sodium_init() < 0)
		return EXIT_FAILURE;
	setenv("ORIEL_DEVICE", "card", 1); /* the fake one; tests that want softverbs beside it say so */
	fake_reset();
	add_suites();
	CU_set_test_start_handler(begin_test);
	status = report_suites("unit_fake", argc > 1 ? argv[1] : NULL);
	CU_cleanup_registry();
	return status;
}
