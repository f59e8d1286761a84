// SPDX-License-Identifier: BSD-2-Clause
/* test_variables.c - variables.c: misspelt names of environment variables. */
#include "variables.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "suites.h"

static void variables_meant__near_misses(void)
{
	static const char *const cases[][2] = {
		{ "ORIEL_TIMEOT=10", "ORIEL_TIMEOUT" },
		{ "ORIEL_TIMEOUTS=10", "ORIEL_TIMEOUT" },
		{ "ORIEL_TIEMOUT=", "ORIEL_TIMEOUT" },
		{ "ORIEL_WACHTDOG=1", "ORIEL_WATCHDOG" },
		{ "ORIEL_DEVIC=soft", "ORIEL_DEVICE" },
		{ "ORIEL_BOTO=run", "ORIEL_BOOT" },
		{ "ORIEL_VERBOS", "ORIEL_VERBOSE" },
		{ "ORIEL_MPI_VERBSE=1", "ORIEL_MPI_VERBOSE" },
		{ "ORIEL_KEEPREGISTRED=0", "ORIEL_KEEP_REGISTERED" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *meant = variables_meant(cases[i][0]);

		CU_ASSERT_PTR_NOT_NULL_FATAL(meant);
		CU_ASSERT_STRING_EQUAL(meant, cases[i][1]);
	}
}

static void variables_meant__others(void)
{
	static const char *const cases[] = {
		"ORIEL_TIMEOUT=10",
		"ORIEL_RANK=0",
		"ORIEL_TEST_NODE=a",
		"ORIEL_TEST_NOED=a",
		"ORIEL_ROOT=/opt/oriel",
		"ORIEL_HOME=/opt",
		"ORIEL_DIR=/op",
		"ORIEL_=1",
		"ORIEL_",
		"MY_ORIEL_TIMEOT=1",
		"PATH=/bin",
		"",
		"=",
		"ORIEL_PROGRAM=x",
		"ORIEL_A_NAME_THAT_IS_MUCH_LONGER_THAN_ANY_OF_ORIELS=1",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		CU_ASSERT_PTR_NULL(variables_meant(cases[i]));
}

static void keep(void *arg, const char *text)
{
	char *all = arg;
	size_t used = strlen(all);

	snprintf(all + used, VARIABLES_TEXT_BYTES - used, "%s\n", text);
}

static void variables_check__reports_each(void)
{
	char first[] = "ORIEL_TIMEOT=10", known[] = "ORIEL_SHARE=1", second[] = "ORIEL_SHAER=1",
		 all[VARIABLES_TEXT_BYTES] = "";
	char *list[] = { first, known, second, NULL };

	variables_check(list, keep, all);
	CU_ASSERT_STRING_EQUAL(all, "ORIEL_TIMEOT is not known; did you mean ORIEL_TIMEOUT?\n"
	                            "ORIEL_SHAER is not known; did you mean ORIEL_SHARE?\n");
}

void suite_variables(void)
{
	CU_pSuite suite = CU_add_suite("variables", NULL, NULL);

	CU_ADD_TEST(suite, variables_meant__near_misses);
	CU_ADD_TEST(suite, variables_meant__others);
	CU_ADD_TEST(suite, variables_check__reports_each);
}
