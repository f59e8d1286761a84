// SPDX-License-Identifier: BSD-2-Clause
/* test_options.c - bootstrap/launcher/options.c */
#include "launcher/options.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 32

static struct options options;
static char line[4096]; /* argv points into it until the next parse */
static char *argv[ARGS_MAX];

/* Parse a command line whose words are separated by blanks. */
static enum options_verdict parse(const char *text)
{
	char *rest = line;
	int argc = 0;

	options_free(&options);
	snprintf(line, sizeof(line), "oriel-run %s", text);
	while (argc < ARGS_MAX - 1 && (argv[argc] = strsep(&rest, " ")))
		argc++;
	argv[argc] = NULL;
	return options_parse(argc, argv, &options);
}

static void expect_wrong(const char *text, const char *reason)
{
	CU_ASSERT_EQUAL(parse(text), OPTIONS_WRONG);
	CU_ASSERT_PTR_NOT_NULL(strstr(options.error, reason));
	if (!strstr(options.error, reason))
		printf("\"%s\" does not say \"%s\"\n", options.error, reason);
}

static void parse__least(void)
{
	CU_ASSERT_EQUAL(parse("-n 3 prog -n 4 --prefix"), OPTIONS_RUN);
	CU_ASSERT_EQUAL(options.size, 3);
	CU_ASSERT_FALSE(options.prefix);
	CU_ASSERT_EQUAL(options.timeout_s, 0.);
	CU_ASSERT_EQUAL(options.grace_s, RUN_GRACE_DEFAULT_S);
	CU_ASSERT_PTR_NULL(options.device);
	CU_ASSERT_STRING_EQUAL(options.command[0], "prog");
	CU_ASSERT_STRING_EQUAL(options.command[3], "--prefix");
	CU_ASSERT_PTR_NULL(options.command[4]);
}

static void parse__most(void)
{
	CU_ASSERT_EQUAL(parse("-v -n8192 --prefix --timeout 1.5 --grace=0 --device rxe0 --addr 1.1.1.1,2.2.2.2 "
	                      "-x A=1 -x B= -- prog"),
	                OPTIONS_RUN);
	CU_ASSERT_EQUAL(options.size, RUN_RANKS_MAX);
	CU_ASSERT_TRUE(options.prefix);
	CU_ASSERT_TRUE(options.verbose);
	CU_ASSERT_EQUAL(options.timeout_s, 1.5);
	CU_ASSERT_EQUAL(options.grace_s, 0.);
	CU_ASSERT_STRING_EQUAL(options.device, "rxe0");
	CU_ASSERT_EQUAL(options.addr_count, 2);
	CU_ASSERT_STRING_EQUAL(options.addrs[1], "2.2.2.2");
	CU_ASSERT_EQUAL(options.variable_count, 2);
	CU_ASSERT_STRING_EQUAL(options.variables[1], "B=");
	CU_ASSERT_STRING_EQUAL(options.command[0], "prog");
}

static void parse__last_of_an_option_counts(void)
{
	CU_ASSERT_EQUAL(parse("-n 2 -n 3 --addr a,b --addr c --device x --device auto prog"), OPTIONS_RUN);
	CU_ASSERT_EQUAL(options.size, 3);
	CU_ASSERT_EQUAL(options.addr_count, 1);
	CU_ASSERT_STRING_EQUAL(options.addrs[0], "c");
	CU_ASSERT_PTR_NULL(options.device);
}

/* For other starters, the error prints the line to type, with the program. */
static void parse__several_machines(void)
{
	unsetenv("SLURM_JOB_NUM_NODES");
	expect_wrong("-n 8 --hosts a,b prog -v x", "type: mpiexec.hydra -hosts a,b -n 8 prog -v x");
	setenv("SLURM_JOB_NUM_NODES", "1", 1);
	CU_ASSERT_EQUAL(parse("-n 8 prog"), OPTIONS_RUN);
	expect_wrong("-n 8 --hosts a,b prog", "type: srun --mpi=pmix -n 8 prog");
	setenv("SLURM_JOB_NUM_NODES", "3", 1);
	expect_wrong("-n 8 prog -v x", "allocation of 3 nodes");
	expect_wrong("-n 8 prog -v x", "Type: srun --mpi=pmix -n 8 prog -v x;");
	expect_wrong("prog", "number of ranks");
	CU_ASSERT_EQUAL(parse("--help"), OPTIONS_HELP);
	unsetenv("SLURM_JOB_NUM_NODES");
}

static void parse__help_and_version(void)
{
	char bound[32];

	CU_ASSERT_EQUAL(parse("--help"), OPTIONS_HELP);
	CU_ASSERT_EQUAL(parse("-h"), OPTIONS_HELP);
	CU_ASSERT_EQUAL(parse("--version"), OPTIONS_VERSION);
	snprintf(bound, sizeof(bound), "1 to %d", RUN_RANKS_MAX);
	CU_ASSERT_PTR_NOT_NULL(strstr(options_usage(), bound));
}

static void parse__wrong_numbers(void)
{
	expect_wrong("-n 0 prog", "1 to 8192");
	expect_wrong("-n 8193 prog", "1 to 8192");
	expect_wrong("-n -1 prog", "1 to 8192");
	expect_wrong("-n 1e3 prog", "1 to 8192");
	expect_wrong("-n 4294967298 prog", "1 to 8192");
	expect_wrong("-n 2 --timeout -0.5 prog", "--timeout -0.5");
	expect_wrong("-n 2 --timeout 1e9 prog", "100000000");
	expect_wrong("-n 2 --timeout inf prog", "seconds");
	expect_wrong("-n 2 --timeout nan prog", "seconds");
	expect_wrong("-n 2 --timeout 1s prog", "seconds");
	expect_wrong("-n 2 --grace -1 prog", "seconds");
}

static void parse__no_time_limit(void)
{
	CU_ASSERT_EQUAL(parse("-n 2 --timeout 5 --timeout 0 prog"), OPTIONS_RUN);
	CU_ASSERT_EQUAL(options.timeout_s, 0.);
}

static void parse__what_is_missing(void)
{
	expect_wrong("prog", "-n N");
	expect_wrong("-n 2", "program");
	expect_wrong("-n", "needs a value");
	expect_wrong("-n 2 --timeout", "needs a value");
}

static void parse__unknown_options(void)
{
	expect_wrong("-n 2 -q prog", "-q");
	expect_wrong("-n 2 --quick prog", "--quick");
	expect_wrong("-n 2 --prefix=3 prog", "--prefix=3");
}

static void parse__wrong_lists(void)
{
	char text[4000] = "-n 2 --addr ";
	int i;

	expect_wrong("-n 2 --addr a,,b prog", "no address");
	expect_wrong("-n 2 --addr , prog", "no address");
	expect_wrong("-n 2 --addr "
	             "0123456789012345678901234567890123456789012345678901234567890123 prog",
	             "1 to 63");
	expect_wrong("-n 2 --device "
	             "0123456789012345678901234567890123456789012345678901234567890123 prog",
	             "1 to 63");
	expect_wrong("-n 2 -x A prog", "VAR=VALUE");
	expect_wrong("-n 2 -x =1 prog", "VAR=VALUE");
	for (i = 0; i <= RUN_ADDRS_MAX; i++)
		strcat(text, "a,");
	strcat(text, "a prog");
	expect_wrong(text, "256");
}

static void parse__too_many_variables(void)
{
	static char variable[] = "A=1";
	char *many[2 * RUN_VARIABLES_MAX + 8] = { line };
	int argc = 1;
	int i;

	options_free(&options);
	for (i = 0; i <= RUN_VARIABLES_MAX; i++) {
		static char option[] = "-x";

		many[argc++] = option;
		many[argc++] = variable;
	}
	CU_ASSERT_EQUAL(options_parse(argc, many, &options), OPTIONS_WRONG);
	CU_ASSERT_PTR_NOT_NULL(strstr(options.error, "256"));
	options_free(&options);
}

void suite_options(void)
{
	CU_pSuite suite = CU_add_suite("options", NULL, NULL);

	CU_ADD_TEST(suite, parse__least);
	CU_ADD_TEST(suite, parse__most);
	CU_ADD_TEST(suite, parse__last_of_an_option_counts);
	CU_ADD_TEST(suite, parse__several_machines);
	CU_ADD_TEST(suite, parse__help_and_version);
	CU_ADD_TEST(suite, parse__wrong_numbers);
	CU_ADD_TEST(suite, parse__no_time_limit);
	CU_ADD_TEST(suite, parse__what_is_missing);
	CU_ADD_TEST(suite, parse__unknown_options);
	CU_ADD_TEST(suite, parse__wrong_lists);
	CU_ADD_TEST(suite, parse__too_many_variables);
}
