// SPDX-License-Identifier: BSD-2-Clause
/* See starter.h. */
#include "mpi/starter/starter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/starter/libraries.h"

#define STANDARD_ABI "libmpi_abi.so."

/* Returns the library's MPI; "": not supported; NULL: none. */
static const char *mpi_of_library(const char *library)
{
	if (strstr(library, "libmpi.so.40"))
		return "openmpi";
	if (strstr(library, "libmpich.so.12"))
		return "mpich";
	return strstr(library, "libmpi.so.") || strstr(library, STANDARD_ABI) ? "" : NULL;
}

static void refuse(const char *path, const char *library)
{
	if (strstr(library, STANDARD_ABI))
		say_and_exit(
			EXIT_REFUSED,
			"%s is linked for MPI's standard ABI (%s), for which there is no layer: link it with Open MPI's own "
			"library (libmpi.so.40) or MPICH's (libmpich.so.12)",
			path, library);
	say_and_exit(EXIT_REFUSED, "%s uses an MPI that is neither Open MPI 4 or 5 nor MPICH 3 or 4: %s", path, library);
}

/* Returns the MPI that the program is linked with, or NULL. */
static const char *mpi_of_program(const char *path)
{
	const char *mpi = NULL, *library, *other = NULL;
	struct libraries libraries;

	if (libraries_open(&libraries, path))
		say_and_exit(EXIT_REFUSED, "there is no memory for the list of %s's libraries", path);
	while ((!mpi || !*mpi) && (library = libraries_next(&libraries)) != NULL) {
		const char *found = mpi_of_library(library);

		mpi = found ? found : mpi;
		other = found && !*found ? library : other;
	}
	if (mpi && !*mpi)
		refuse(path, other);
	libraries_close(&libraries);
	return mpi;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

static const char *mpi_of_starter(void)
{
	if (is_set("OMPI_COMM_WORLD_SIZE"))
		return "openmpi";
	if (is_set("HYDI_CONTROL_FD") || is_set("PMI_FD"))
		return "mpich";
	return is_set("PMIX_NAMESPACE") ? "openmpi" : NULL;
}

static bool means_several(const char *variable)
{
	const char *value = getenv(variable);

	return value && atoi(value) > 1;
}

/*
 * Returns the command that has started this process, if this MPI does not know its ranks; else
 * NULL.
 */
static const char *foreign_starter(const char *mpi, const char *path)
{
	const bool by_openmpi = is_set("OMPI_COMM_WORLD_SIZE"), by_pmi = is_set("PMI_FD") || is_set("PMI_PORT");
	const bool by_pmix = is_set("PMIX_NAMESPACE");

	if (means_several("ORIEL_SIZE") && is_set("ORIEL_BOOTSTRAP") && !by_openmpi && !by_pmi && !by_pmix)
		return "oriel-run";
	if (strcmp(mpi, "openmpi") == 0 && is_set("HYDI_CONTROL_FD") && means_several("PMI_SIZE") && !by_openmpi &&
	    !by_pmix)
		return "MPICH's mpiexec";
	if (strcmp(mpi, "mpich") == 0 && means_several("OMPI_COMM_WORLD_SIZE") && !by_pmi &&
	    libraries_version_of(path, "libpmix.so.") < 0)
		return "Open MPI's mpirun";
	return NULL;
}

void choice_check_starter(const char *mpi, const char *path)
{
	const char *starter = foreign_starter(mpi, path);

	if (starter)
		say_and_exit(
			EXIT_REFUSED,
			"%s has started several ranks, and %s, which uses %s, would be a job of one rank in each; start it "
			"with %s -n N %s %s",
			starter, path, strcmp(mpi, "mpich") == 0 ? "MPICH" : "Open MPI",
			strcmp(mpi, "mpich") == 0 ? "mpiexec.hydra" : "mpirun", say_name, path);
}

const char *choice_of_mpi(const char *path)
{
	const char *mpi = mpi_of_program(path);

	if (!mpi)
		mpi = mpi_of_starter();
	if (!mpi)
		say_and_exit(
			EXIT_REFUSED,
			"%s is not linked with an MPI library and was not started by an MPI launcher. If it loads MPI at run time, "
			"pass --mpi=openmpi or --mpi=mpich",
			path);
	return mpi;
}
