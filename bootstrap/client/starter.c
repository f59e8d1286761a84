// SPDX-License-Identifier: BSD-2-Clause
/* starter.c - see starter.h. */
#include "client/starter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 128
#define VERSION_BYTES 48

static const char *with_version(char text[VERSION_BYTES], const char *name, const char *version)
{
	snprintf(text, VERSION_BYTES, "%s%s%.24s", name, version && *version ? " " : "", version ? version : "");
	return text;
}

/* Returns the release with this protocol, or NULL; protocol / 256 numbers the releases. */
static const char *slurm_release(long protocol)
{
	static const char *const releases[] = { "20.02", "20.11", "21.08", "22.05", "23.02",
		                                    "23.11", "24.05", "24.11", "25.05" };
	long first = 35, number = protocol / 256 - first;

	return number >= 0 && number < (long)(sizeof(releases) / sizeof(releases[0])) ? releases[number] : NULL;
}

/* Returns the protocol out of "cluster:host:port:protocol:..."; 0 if it is not there. */
static long slurm_protocol(void)
{
	const char *at = getenv("SLURM_WORKING_CLUSTER");

	for (int i = 0; at && i < 3; i++) {
		at = strchr(at, ':');
		at = at ? at + 1 : NULL;
	}
	return at ? strtol(at, NULL, 10) : 0;
}

const char *starter_slurm(void)
{
	static _Thread_local char text[VERSION_BYTES];

	return with_version(text, "Slurm", slurm_release(slurm_protocol()));
}

const char *starter_pmix_version(void)
{
	static _Thread_local char text[VERSION_BYTES];

	return with_version(text, "PMIx", getenv("PMIX_VERSION"));
}

const char *starter_open_mpi(void)
{
	static _Thread_local char text[VERSION_BYTES];

	return with_version(text, "Open MPI", getenv("OMPI_VERSION"));
}

bool starter_is_slurm(void)
{
	return getenv("SLURM_PROCID") && !getenv("HYDI_CONTROL_FD") && !getenv("OMPI_COMM_WORLD_RANK");
}

const char *starter_pmix(void)
{
	static _Thread_local char text[TEXT_BYTES];
	const char *version = getenv("PMIX_VERSION");

	if (getenv("OMPI_COMM_WORLD_RANK"))
		snprintf(text, sizeof(text), "%s's mpirun", starter_open_mpi());
	else if (getenv("SLURM_PROCID"))
		snprintf(text, sizeof(text), "%s (srun --mpi=pmix)", starter_slurm());
	else
		snprintf(text, sizeof(text), "the PMIx launcher");
	if (version && *version)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " with PMIx %.24s", version);
	return text;
}

const char *starter_pmi(void)
{
	static _Thread_local char text[TEXT_BYTES];

	if (getenv("HYDI_CONTROL_FD"))
		return "hydra (mpiexec)";
	if (!getenv("SLURM_PROCID"))
		return "the PMI launcher";
	snprintf(text, sizeof(text), "%s (srun --mpi=pmi2)", starter_slurm());
	return text;
}
