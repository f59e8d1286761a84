// SPDX-License-Identifier: BSD-2-Clause
/* boot_events.c - see boot_events.h. */
#include "boot_events.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char boot_events_log[8192];

static void note(const char *text)
{
	strncat(boot_events_log, text, sizeof(boot_events_log) - strlen(boot_events_log) - 1);
}

static void on_value(void *arg, int rank, const char *key, const void *value, size_t size_bytes)
{
	char text[400];

	CU_ASSERT_PTR_EQUAL(arg, boot_events_log);
	snprintf(text, sizeof(text), "%d.%s=%.*s;", rank, key, value ? (int)size_bytes : 1,
	         value ? (const char *)value : "-");
	note(text);
}

static void on_died(void *arg, int rank, const char *why)
{
	char text[300];

	CU_ASSERT_PTR_EQUAL(arg, boot_events_log);
	snprintf(text, sizeof(text), "%d died %s;", rank, why);
	note(text);
}

static void on_lost(void *arg, const char *text)
{
	CU_ASSERT_PTR_EQUAL(arg, boot_events_log);
	CU_ASSERT_TRUE(strlen(text) > 0);
	note("lost;");
}

const struct boot_events boot_events = { on_value, on_died, on_lost };

void boot_events_expect(const char *expected)
{
	CU_ASSERT_STRING_EQUAL(boot_events_log, expected);
	if (strcmp(boot_events_log, expected) != 0)
		printf("\"%s\" instead of \"%s\"\n", boot_events_log, expected);
	boot_events_log[0] = '\0';
}

void boot_events_clear_environment(void)
{
	static const char *const variables[] = {
		"ORIEL_BOOTSTRAP",
		"ORIEL_RANK",
		"ORIEL_SIZE",
		"ORIEL_LOCAL_SIZE",
		"ORIEL_SECRET_FD",
		"ORIEL_ADDR",
		"ORIEL_DEVICE",
		"OMPI_COMM_WORLD_RANK",
		"OMPI_COMM_WORLD_SIZE",
		"MPI_LOCALRANKID",
		"MPI_LOCALNRANKS",
		"MV2_COMM_WORLD_RANK",
		"MV2_COMM_WORLD_SIZE",
		"PMI_RANK",
		"PMI_SIZE",
		"PMI_ID",
		"PMI_FD",
		"PMI_PORT",
		"PMIX_RANK",
		"PMIX_NAMESPACE",
		"HYDI_CONTROL_FD",
		"ORIEL_BOOT",
		"FLUX_TASK_RANK",
		"FLUX_JOB_SIZE",
		"PALS_RANKID",
		"ALPS_APP_PE",
		"JSM_NAMESPACE_RANK",
		"JSM_NAMESPACE_SIZE",
		"SLURM_PROCID",
		"SLURM_NTASKS",
		"SLURM_MPI_TYPE",
		"SLURM_WORKING_CLUSTER",
		"PMIX_VERSION",
		"OMPI_VERSION",
	};
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
}
