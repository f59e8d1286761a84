// SPDX-License-Identifier: BSD-2-Clause
/* test_boot.c - bootstrap/boot.c */
#include "boot_check.h"
#include "client/clients.h"
#include "client/starter.h"
#include "boot_events.h"
#include "oriel.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_single(void)
{
	struct boot *boot = NULL;

	CU_ASSERT_EQUAL_FATAL(boot_open(NULL, &boot_events, boot_events_log, &boot), 0);
	CU_ASSERT_STRING_EQUAL(boot->ops->name, "single");
	CU_ASSERT_EQUAL(boot->rank, 0);
	CU_ASSERT_EQUAL(boot->size, 1);
	boot->ops->close(boot);
}

static void expect_refused(const char *reason)
{
	struct boot *boot = NULL;

	CU_ASSERT_EQUAL(boot_open(NULL, &boot_events, boot_events_log, &boot), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_PTR_NULL(boot);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), reason));
	if (!strstr(oriel_last_error(), reason))
		printf("\"%s\" lacks \"%s\"\n", oriel_last_error(), reason);
}

static void open__alone(void)
{
	boot_events_clear_environment();
	expect_single();
}

static void open__refuses_foreign_launchers(void)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK",
		"MPI_LOCALRANKID",
		"MV2_COMM_WORLD_RANK",
		"PMI_RANK",
		"PMI_ID",
		"PMI_PORT",
		"PMIX_RANK",
		"FLUX_TASK_RANK",
		"PALS_RANKID",
		"ALPS_APP_PE",
		"JSM_NAMESPACE_RANK",
	};
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		boot_events_clear_environment();
		setenv(variables[i], "0", 1);
		expect_refused(variables[i]);
		CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "oriel-run -n"));
	}
	boot_events_clear_environment();
}

static void open__accepts_a_foreign_job_of_one(void)
{
	boot_events_clear_environment();
	setenv("PMI_RANK", "0", 1);
	setenv("PMI_SIZE", "1", 1);
	expect_single();
	setenv("PMI_SIZE", "2", 1);
	expect_refused("PMI_RANK");
	boot_events_clear_environment();
}

static void open__slurm(void)
{
	boot_events_clear_environment();
	setenv("SLURM_NTASKS", "8", 1);
	expect_single();
	setenv("SLURM_PROCID", "0", 1);
	expect_refused("one of 8 started by Slurm, which gives it no way to find the others (SLURM_MPI_TYPE is not set)");
	expect_refused("srun --mpi=pmix");
	setenv("SLURM_MPI_TYPE", "none", 1);
	expect_refused("(SLURM_MPI_TYPE is none)");
	setenv("SLURM_NTASKS", "1", 1);
	expect_single();
	unsetenv("SLURM_NTASKS");
	expect_single();
	boot_events_clear_environment();
}

static void open__names_launcher_and_version(void)
{
	boot_events_clear_environment();
	setenv("OMPI_COMM_WORLD_RANK", "0", 1);
	expect_refused("started by Open MPI (OMPI_COMM_WORLD_RANK is set)");
	setenv("OMPI_VERSION", "5.0.3", 1);
	expect_refused("started by Open MPI 5.0.3 (OMPI_COMM_WORLD_RANK is set)");
	boot_events_clear_environment();
	setenv("PMIX_RANK", "0", 1);
	setenv("PMIX_VERSION", "4.2.2", 1);
	expect_refused("started by PMIx 4.2.2 (PMIX_RANK is set)");
	boot_events_clear_environment();
	setenv("SLURM_PROCID", "0", 1);
	setenv("SLURM_NTASKS", "8", 1);
	setenv("SLURM_WORKING_CLUSTER", "boot:10.77.0.1:6817:9728:102", 1);
	expect_refused("one of 8 started by Slurm 22.05, which");
	setenv("SLURM_WORKING_CLUSTER", "boot:10.77.0.1:6817:99999:102", 1);
	expect_refused("one of 8 started by Slurm, which");
	setenv("SLURM_WORKING_CLUSTER", "boot", 1);
	expect_refused("one of 8 started by Slurm, which");
	boot_events_clear_environment();
}

static void starter__who_serves_pmix_and_pmi(void)
{
	boot_events_clear_environment();
	CU_ASSERT_STRING_EQUAL(starter_pmix().text, "the PMIx launcher");
	CU_ASSERT_STRING_EQUAL(starter_pmi().text, "the PMI launcher");
	setenv("PMIX_VERSION", "4.2.2", 1);
	setenv("SLURM_PROCID", "0", 1);
	setenv("SLURM_WORKING_CLUSTER", "boot:10.77.0.1:6817:9728:102", 1);
	CU_ASSERT_STRING_EQUAL(starter_pmix().text, "Slurm 22.05 (srun --mpi=pmix) with PMIx 4.2.2");
	CU_ASSERT_STRING_EQUAL(starter_pmi().text, "Slurm 22.05 (srun --mpi=pmi2)");
	CU_ASSERT_TRUE(starter_is_slurm());
	setenv("HYDI_CONTROL_FD", "7", 1);
	CU_ASSERT_STRING_EQUAL(starter_pmi().text, "hydra (mpiexec)");
	CU_ASSERT_FALSE(starter_is_slurm());
	setenv("OMPI_COMM_WORLD_RANK", "0", 1);
	CU_ASSERT_STRING_EQUAL(starter_pmix().text, "Open MPI's mpirun with PMIx 4.2.2");
	boot_events_clear_environment();
}

/* Variables, and a piece of the text with which the chosen client refuses them. */
struct choice {
	const char *variables[5]; /* NAME=VALUE */
	const char *refusal;
};

static const struct choice choices[] = {
	{ { "PMI_FD=x" }, "PMI_FD is \"x\"" },
	{ { "PMI_FD=x", "SLURM_PROCID=0", "SLURM_NTASKS=2", "PMI_RANK=0" }, "PMI_FD is \"x\"" },
	{ { "PMI_FD=x", "ORIEL_BOOTSTRAP=nonsense" }, "nonsense" },
	{ { "PMI_FD=x", "PMIX_NAMESPACE=n" }, "PMI_FD is \"x\"" },
	{ { "PMI_FD=x", "PMIX_NAMESPACE=n", "PMIX_RANK=0" }, "one within the other" },
	{ { "PMI_FD=x", "PMIX_NAMESPACE=n", "PMIX_RANK=0", "HYDI_CONTROL_FD=7" }, "PMI_FD is \"x\"" },
	{ { "PMI_FD=x", "PMIX_NAMESPACE=n", "PMIX_RANK=0", "ORIEL_BOOT=pmi" }, "PMI_FD is \"x\"" },
	{ { "PMI_FD=x", "ORIEL_BOOTSTRAP=nonsense", "ORIEL_BOOT=pmi" }, "PMI_FD is \"x\"" },
	{ { "PMI_FD=x", "ORIEL_BOOTSTRAP=nonsense", "ORIEL_BOOT=run" }, "nonsense" },
	{ { "ORIEL_BOOT=pmi" }, "PMI_FD is not set" },
	{ { "ORIEL_BOOT=pmix" }, "PMIX_NAMESPACE is not set" },
	{ { "ORIEL_BOOT=run" }, "ORIEL_BOOTSTRAP is not set" },
};

static void open__chooses_by_the_environment(void)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		boot_events_clear_environment();
		for (int j = 0; j < 5 && choices[i].variables[j]; j++)
			putenv((char *)(uintptr_t)choices[i].variables[j]);
		expect_refused(choices[i].refusal);
	}
	boot_events_clear_environment();
}

static void open__single_by_wish(void)
{
	boot_events_clear_environment();
	setenv("PMI_FD", "x", 1);
	setenv("OMPI_COMM_WORLD_RANK", "1", 1);
	setenv("ORIEL_BOOT", "single", 1);
	expect_single();
	boot_events_clear_environment();
}

static void open__wish_that_cannot_be_read(void)
{
	struct boot *boot = NULL;

	boot_events_clear_environment();
	setenv("ORIEL_BOOT", "mpi", 1);
	CU_ASSERT_EQUAL(boot_open(NULL, &boot_events, boot_events_log, &boot), ORIEL_ERR_ARG);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "run, pmix, pmi, single"));
	boot_events_clear_environment();
}

static void open__refuses_half_an_environment(void)
{
	static const char *const variables[] = { "ORIEL_RANK", "ORIEL_SIZE", "ORIEL_SECRET_FD" };
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		boot_events_clear_environment();
		setenv(variables[i], "1", 1);
		expect_refused("ORIEL_BOOTSTRAP is not");
	}
	boot_events_clear_environment();
}

static void open__prefers_oriel_run(void)
{
	boot_events_clear_environment();
	setenv("OMPI_COMM_WORLD_RANK", "0", 1);
	setenv("ORIEL_BOOTSTRAP", "nonsense", 1);
	expect_refused("nonsense");
	boot_events_clear_environment();
}

static void check_key__length(void)
{
	char key[BOOT_KEY_MAX_BYTES + 2];

	memset(key, 'k', sizeof(key));
	key[BOOT_KEY_MAX_BYTES + 1] = '\0';
	CU_ASSERT_EQUAL(boot_check_key(key), ORIEL_ERR_ARG);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "63"));
	CU_ASSERT_EQUAL(boot_check_key(key + 1), 0);
	CU_ASSERT_EQUAL(boot_check_key(""), ORIEL_ERR_ARG);
}

static void check_value__size(void)
{
	char value[BOOT_VALUE_MAX_BYTES + 1] = { 0 };

	CU_ASSERT_EQUAL(boot_check_value("k", value, BOOT_VALUE_MAX_BYTES), 0);
	CU_ASSERT_EQUAL(boot_check_value("k", value, BOOT_VALUE_MAX_BYTES + 1), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(boot_check_value("k", NULL, 0), 0);
	CU_ASSERT_EQUAL(boot_check_value("k", NULL, 1), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(boot_check_value("", value, 1), ORIEL_ERR_ARG);
}

static void read_choices__copies_and_bounds(void)
{
	struct boot boot;
	char text[sizeof(boot.addr) + 1];

	boot_events_clear_environment();
	CU_ASSERT_EQUAL(boot_read_choices(&boot), 0);
	CU_ASSERT_STRING_EQUAL(boot.addr, "");
	setenv("ORIEL_ADDR", "10.0.0.1", 1);
	setenv("ORIEL_DEVICE", "rxe0", 1);
	CU_ASSERT_EQUAL(boot_read_choices(&boot), 0);
	CU_ASSERT_STRING_EQUAL(boot.addr, "10.0.0.1");
	CU_ASSERT_STRING_EQUAL(boot.device, "rxe0");
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	setenv("ORIEL_ADDR", text, 1);
	CU_ASSERT_EQUAL(boot_read_choices(&boot), ORIEL_ERR_BOOTSTRAP);
	setenv("ORIEL_ADDR", text + 1, 1);
	CU_ASSERT_EQUAL(boot_read_choices(&boot), 0);
	boot_events_clear_environment();
}

void suite_boot(void)
{
	CU_pSuite suite = CU_add_suite("boot", NULL, NULL);

	CU_ADD_TEST(suite, open__alone);
	CU_ADD_TEST(suite, open__refuses_foreign_launchers);
	CU_ADD_TEST(suite, open__accepts_a_foreign_job_of_one);
	CU_ADD_TEST(suite, open__slurm);
	CU_ADD_TEST(suite, open__names_launcher_and_version);
	CU_ADD_TEST(suite, starter__who_serves_pmix_and_pmi);
	CU_ADD_TEST(suite, open__chooses_by_the_environment);
	CU_ADD_TEST(suite, open__single_by_wish);
	CU_ADD_TEST(suite, open__wish_that_cannot_be_read);
	CU_ADD_TEST(suite, open__refuses_half_an_environment);
	CU_ADD_TEST(suite, open__prefers_oriel_run);
	CU_ADD_TEST(suite, check_key__length);
	CU_ADD_TEST(suite, check_value__size);
	CU_ADD_TEST(suite, read_choices__copies_and_bounds);
}
