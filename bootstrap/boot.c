// SPDX-License-Identifier: BSD-2-Clause
/*
 * boot.c - finds out how this process was started
 *
 * DESIGN NOTES Variables that a launcher leaves in the environment choose the client; the innermost
 * launcher's go first. ORIEL_BOOT overrides that.
 *
 * Under an unknown launcher, a job of N ranks would become N jobs of one rank. So every launcher
 * without a client is listed with a variable that only its children have, and refused, unless it
 * says that the job has one process.
 */
#include "client/clients.h"
#include "client/starter.h"
#include "wire/environment.h"

#include "base/err.h"
#include "base/settings.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum way { WAY_RUN, WAY_PMIX, WAY_PMI, WAY_SINGLE, WAY_UNKNOWN };

static const char *const way_words[] = { "run", "pmix", "pmi", "single", NULL };

/* The launchers' variables; WAY_SINGLE has none. */
static const char *const way_variables[] = { BOOT_ENV_SERVER, "PMIX_NAMESPACE", "PMI_FD" };

/* A launcher without a client. */
struct foreign_launcher {
	const char *name;
	struct starter_text (*versioned)(void); /* NULL: use name */
	const char *rank_variable;              /* set in each process it starts */
	const char *size_variable;              /* NULL: not known */
};

static const struct foreign_launcher foreign_launchers[] = {
	{ NULL, starter_open_mpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "Intel MPI's mpirun", NULL, "MPI_LOCALRANKID", "MPI_LOCALNRANKS" },
	{ "MVAPICH's mpirun", NULL, "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
	{ "mpiexec with -pmi-port", NULL, "PMI_PORT", "PMI_SIZE" },
	{ "a PMI launcher", NULL, "PMI_RANK", "PMI_SIZE" },
	{ "a PMI launcher", NULL, "PMI_ID", "PMI_SIZE" },
	{ NULL, starter_pmix_version, "PMIX_RANK", NULL },
	{ "Flux", NULL, "FLUX_TASK_RANK", "FLUX_JOB_SIZE" },
	{ "PALS", NULL, "PALS_RANKID", NULL },
	{ "ALPS", NULL, "ALPS_APP_PE", NULL },
	{ "jsrun", NULL, "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE" },
};

/* Plain srun. */
static const struct foreign_launcher slurm = { NULL, starter_slurm, "SLURM_PROCID", "SLURM_NTASKS" };

static int is_alone(const struct foreign_launcher *launcher)
{
	const char *size = launcher->size_variable ? getenv(launcher->size_variable) : NULL;

	return size && strcmp(size, "1") == 0;
}

static int may_be_many(const struct foreign_launcher *launcher)
{
	return getenv(launcher->rank_variable) && !is_alone(launcher);
}

static int refuse_foreign(const struct foreign_launcher *launcher)
{
	return err_set(ORIEL_ERR_BOOTSTRAP,
	               "this process looks started by %s (%s is set), and cannot find the other ranks: it would be several "
	               "jobs of one rank. Start it with mpirun, mpiexec.hydra, srun --mpi=pmix or, on one machine, "
	               "oriel-run -n N; or set ORIEL_BOOT=single for jobs of one rank",
	               launcher->versioned ? launcher->versioned().text : launcher->name, launcher->rank_variable);
}

/* Slurm sets its variables in a batch script too, but SLURM_NTASKS there only on request. */
static int refuse_plain_srun(void)
{
	const char *type = getenv("SLURM_MPI_TYPE"), *count = getenv(slurm.size_variable);

	if (!may_be_many(&slurm) || !count)
		return 0;
	return err_set(ORIEL_ERR_BOOTSTRAP,
	               "this process is one of %.16s started by %s, which gives it no way to find the others "
	               "(SLURM_MPI_TYPE is %.16s): it would be several jobs of one rank. Start it with srun --mpi=pmix or "
	               "srun --mpi=pmi2 (srun --mpi=list prints what the site has) or, on one machine, oriel-run -n N; or "
	               "set ORIEL_BOOT=single for jobs of one rank",
	               count, starter_slurm().text, type && *type ? type : "not set");
}

static int refuse_foreign_launchers(void)
{
	size_t count = sizeof(foreign_launchers) / sizeof(foreign_launchers[0]);

	for (size_t i = 0; i < count; i++)
		if (may_be_many(&foreign_launchers[i]))
			return refuse_foreign(&foreign_launchers[i]);
	return refuse_plain_srun();
}

/* A wrapper that drops some variables must not turn a rank into a job of its own. */
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

/* Reads ORIEL_BOOT into *way, if set. */
static int read_wish(enum way *way)
{
	int word = WAY_UNKNOWN;
	int rc = setting_word("ORIEL_BOOT", way_words, &word);

	if (rc || word == WAY_UNKNOWN)
		return rc;
	if (word != WAY_SINGLE && !getenv(way_variables[word]))
		return err_set(
			ORIEL_ERR_BOOTSTRAP,
			"ORIEL_BOOT is %s, but %s is not set: no such launcher has started this process. Unset ORIEL_BOOT",
			way_words[word], way_variables[word]);
	*way = (enum way)word;
	return 0;
}

/*
 * hydra starts its agents by srun, which may give them a PMIx job, so hydra is the inner launcher.
 * For other launchers the order is unknown.
 */
static int choose_between_both(enum way *way)
{
	if (!getenv("HYDI_CONTROL_FD"))
		return err_set(
			ORIEL_ERR_BOOTSTRAP,
			"this process has been started by %s and by a PMI launcher (PMIX_NAMESPACE and PMI_FD are set), one "
			"within the other: set ORIEL_BOOT=pmix or ORIEL_BOOT=pmi to say which of them has the job",
			starter_pmix().text);
	*way = WAY_PMI;
	return 0;
}

static int choose(enum way *way)
{
	bool pmix = getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK"), pmi = getenv("PMI_FD");
	int rc;

	if (getenv(BOOT_ENV_SERVER)) {
		*way = WAY_RUN;
		return 0;
	}
	rc = refuse_half_an_environment();
	if (rc)
		return rc;
	if (pmix && pmi)
		return choose_between_both(way);
	*way = pmix ? WAY_PMIX : pmi ? WAY_PMI : WAY_SINGLE;
	return *way == WAY_SINGLE ? refuse_foreign_launchers() : 0;
}

static int open_client(struct boot **boot)
{
	enum way way = WAY_UNKNOWN;
	int rc = read_wish(&way);

	if (!rc && way == WAY_UNKNOWN)
		rc = choose(&way);
	if (rc)
		return rc;
	switch (way) {
	case WAY_RUN:
		return boot_run_open(boot);
	case WAY_PMIX:
		return boot_pmix_open(boot);
	case WAY_PMI:
		return boot_pmi_open(boot);
	default:
		return boot_single_open(boot);
	}
}

/* In a job without a name, all ranks on this machine have one parent, the launcher's. */
static void name_job(struct boot *boot)
{
	const char *space = getenv("PMIX_NAMESPACE");

	if (boot->job[0])
		return;
	if (boot->size == 1)
		snprintf(boot->job, sizeof(boot->job), "process %d", (int)getpid());
	else if (space)
		snprintf(boot->job, sizeof(boot->job), "%.63s", space);
	else
		snprintf(boot->job, sizeof(boot->job), "parent %d", (int)getppid());
}

int boot_open(const struct oriel_bootstrap *own, const struct boot_events *events, void *events_arg, struct boot **boot)
{
	struct boot *opened;
	int rc = own ? boot_caller_open(own, &opened) : open_client(&opened);

	if (rc)
		return rc;
	name_job(opened);
	opened->events = events;
	opened->events_arg = events_arg;
	*boot = opened;
	return 0;
}
