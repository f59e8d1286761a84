// SPDX-License-Identifier: BSD-2-Clause
/* beside_mpi.c - see beside_mpi.h; what it calls of MPI, by name, is legal at any time. */
#include "client/beside_mpi.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef int initialized_function(int *flag);
typedef int version_function(char *text, int *length);

#define VERSION_BYTES 8192 /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH; Open MPI's is shorter */

/* Finds it in a loaded library: the MPI that a Python module loads is not in the global scope. */
static void *find_in_library(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle ? dlsym(handle, name) : NULL;

	if (handle)
		dlclose(handle); /* only drops our reference: others hold the library */
	return found;
}

/* Sets *function to the MPI's function of this name. Returns whether there is one. */
static bool find(const char *name, void *function)
{
	/* MPICH and its relatives (Debian's name, their common one), Open MPI, the standard's ABI */
	static const char *const libraries[] = { "libmpich.so.12", "libmpi.so.12", "libmpi.so.40", "libmpi_abi.so.1" };
	void *found = dlsym(RTLD_DEFAULT, name);

	for (size_t i = 0; !found && i < sizeof(libraries) / sizeof(libraries[0]); i++)
		found = find_in_library(libraries[i], name);
	memcpy(function, &found, sizeof(found));
	return found;
}

bool mpi_is_here(void)
{
	initialized_function *initialized;

	return find("MPI_Initialized", &initialized);
}

bool mpi_is_initialized(void)
{
	initialized_function *initialized;
	int flag = 0;

	return find("MPI_Initialized", &initialized) && initialized(&flag) == 0 && flag;
}

bool mpi_wants_pmix_alone(void)
{
	char text[VERSION_BYTES] = "";
	version_function *version;
	int length = 0, major = 0;

	if (!find("MPI_Get_library_version", &version) || version(text, &length))
		return false;
	return sscanf(text, "Open MPI v%d", &major) == 1 && major >= 5;
}
