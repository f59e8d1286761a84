// SPDX-License-Identifier: BSD-2-Clause
/* starter.c - see starter.h. */
#include "client/starter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct starter_text with_version(const char *name, const char *version)
{
	struct starter_text text;

	snprintf(text.text, sizeof(text.text), "%s%s%.24s", name, version && *version ? " " : "", version ? version : "");
	return text;
}

/* Returns the release with this protocol, or NULL; protocol / 256 numbers the releases. */
static const char *slurm_release(long protocol)
{
	static const char *const releases[] = { "20.02", "20.11", "21.08", "22.05", "23.02",
		                                    "23.11", "24.05", "24.11", "25.05", "25.11", "26.05" };
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

struct starter_text starter_slurm(void)
{
	return with_version("Slurm", slurm_release(slurm_protocol()));
}

struct starter_text starter_pmix_version(void)
{
	return with_version("PMIx", getenv("PMIX_VERSION"));
}

struct starter_text starter_open_mpi(void)
{
	return with_version("Open MPI", getenv("OMPI_VERSION"));
}

bool starter_is_slurm(void)
{
	return getenv("SLURM_PROCID") && !getenv("HYDI_CONTROL_FD") && !getenv("OMPI_COMM_WORLD_RANK");
}

struct starter_text starter_pmix(void)
{
	struct starter_text text = { "the PMIx launcher" };
	const char *version = getenv("PMIX_VERSION");
	size_t length;

	if (getenv("OMPI_COMM_WORLD_RANK"))
		snprintf(text.text, sizeof(text.text), "%.48s's mpirun", starter_open_mpi().text);
	else if (getenv("SLURM_PROCID"))
		snprintf(text.text, sizeof(text.text), "%.48s (srun --mpi=pmix)", starter_slurm().text);
	length = strlen(text.text);
	if (version && *version)
		snprintf(text.text + length, sizeof(text.text) - length, " with PMIx %.24s", version);
	return text;
}

struct starter_text starter_pmi(void)
{
	struct starter_text text = { "the PMI launcher" };

	if (getenv("HYDI_CONTROL_FD"))
		return (struct starter_text){ "hydra (mpiexec)" };
	if (getenv("SLURM_PROCID"))
		snprintf(text.text, sizeof(text.text), "%.48s (srun --mpi=pmi2)", starter_slurm().text);
	return text;
}
