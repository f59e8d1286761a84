// SPDX-License-Identifier: BSD-2-Clause
/*
 * boot.c - how was this process started?
 *
 * DESIGN NOTES The worst answer to a launcher that is not understood would be to go on: a job of N
 * ranks would become N jobs of one rank, each of which computes happily. So every launcher known to
 * start several processes is listed with a variable that only its children have. Where the launcher
 * also tells how many it started, a job of one is let through: it is what the caller asked for.
 */
#include "client/clients.h"
#include "wire/environment.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* A launcher without a client here. */
struct foreign_launcher {
	const char *name;
	const char *rank_variable; /* set in each process it starts */
	const char *size_variable; /* the number of processes, or NULL if the environment does not tell */
};

static const struct foreign_launcher foreign_launchers[] = {
	{ "Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "Intel MPI's mpirun", "MPI_LOCALRANKID", "MPI_LOCALNRANKS" },
	{ "MVAPICH's mpirun", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
	{ "a PMI launcher", "PMI_RANK", "PMI_SIZE" },
	{ "a PMI launcher", "PMI_ID", "PMI_SIZE" },
	{ "a PMI launcher", "PMI_FD", NULL },
	{ "a PMIx launcher", "PMIX_RANK", NULL },
	{ "Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE" },
	{ "PALS", "PALS_RANKID", NULL },
	{ "ALPS", "ALPS_APP_PE", NULL },
	{ "jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE" },
	{ "Slurm", "SLURM_PROCID", "SLURM_NTASKS" },
};

static int is_alone(const struct foreign_launcher *launcher)
{
	const char *size = launcher->size_variable ? getenv(launcher->size_variable) : NULL;

	return size && strcmp(size, "1") == 0;
}

/*
 * Slurm sets its variables in a batch script too, and there without a number of tasks if none was
 * asked for.
 */
static int may_be_many(const struct foreign_launcher *launcher)
{
	if (!getenv(launcher->rank_variable) || is_alone(launcher))
		return 0;
	return strcmp(launcher->rank_variable, "SLURM_PROCID") != 0 || getenv(launcher->size_variable);
}

static int refuse_foreign_launchers(void)
{
	size_t count = sizeof(foreign_launchers) / sizeof(foreign_launchers[0]);

	for (size_t i = 0; i < count; i++)
		if (may_be_many(&foreign_launchers[i]))
			return err_set(ORIEL_ERR_BOOTSTRAP,
			               "this process looks started by %s (%s is set), which Oriel cannot join: it would be "
			               "several jobs of one rank. Start it with oriel-run -n N (for one rank: -n 1), or unset %s",
			               foreign_launchers[i].name, foreign_launchers[i].rank_variable,
			               foreign_launchers[i].rank_variable);
	return 0;
}

/* A wrapper that passes on only part of the environment must not turn a rank into a job of its own. */
static int refuse_half_an_environment(void)
{
	static const char *const variables[] = { BOOT_ENV_RANK, BOOT_ENV_SIZE, BOOT_ENV_SECRET_FD };

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (getenv(variables[i]))
			return err_set(ORIEL_ERR_BOOTSTRAP,
			               "%s is set but %s is not: something between oriel-run and this program changed the "
			               "environment. Pass all ORIEL_ variables on, or none",
			               variables[i], BOOT_ENV_SERVER);
	return 0;
}

static int open_client(struct boot **boot)
{
	int rc;

	if (getenv(BOOT_ENV_SERVER))
		return boot_run_open(boot);
	rc = refuse_half_an_environment();
	if (!rc)
		rc = refuse_foreign_launchers();
	return rc ? rc : boot_single_open(boot);
}

int boot_open(const struct boot_events *events, void *events_arg, struct boot **boot)
{
	struct boot *opened;
	int rc = open_client(&opened);

	if (rc)
		return rc;
	opened->events = events;
	opened->events_arg = events_arg;
	*boot = opened;
	return 0;
}
