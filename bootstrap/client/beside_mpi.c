// SPDX-License-Identifier: BSD-2-Clause
/* beside_mpi.c - see beside_mpi.h; calls MPI_Initialized, which is legal at any time, by name. */
#include "client/beside_mpi.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef int initialized_function(int *flag);

static initialized_function *find_in(void *handle)
{
	void *found = dlsym(handle, "MPI_Initialized");
	initialized_function *function;

	memcpy(&function, &found, sizeof(function));
	return function;
}

/* Finds it in a loaded library: the MPI that a Python module loads is not in the global scope. */
static initialized_function *find_in_library(const char *name)
{
	void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	initialized_function *found = handle ? find_in(handle) : NULL;

	if (handle)
		dlclose(handle); /* only drops our reference: others hold the library */
	return found;
}

static initialized_function *find(void)
{
	/* MPICH and its relatives (Debian's name, then their common one), Open MPI */
	static const char *const libraries[] = { "libmpich.so.12", "libmpi.so.12", "libmpi.so.40" };
	initialized_function *found = find_in(RTLD_DEFAULT);

	for (size_t i = 0; !found && i < sizeof(libraries) / sizeof(libraries[0]); i++)
		found = find_in_library(libraries[i]);
	return found;
}

bool mpi_is_here(void)
{
	return find();
}

bool mpi_is_initialized(void)
{
	initialized_function *initialized = find();
	int flag = 0;

	return initialized && initialized(&flag) == 0 && flag;
}
