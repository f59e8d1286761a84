// SPDX-License-Identifier: BSD-2-Clause
/* beside_mpi.c - see beside_mpi.h; MPI is asked by the one call that is legal at any time, found by its name. */
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

/* A module that Python has loaded brings its MPI along, and shows it to nobody who does not ask for it by name. */
static initialized_function *find_in_library(const char *name)
{
	void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	initialized_function *found = handle ? find_in(handle) : NULL;

	if (handle)
		dlclose(handle); /* takes back the count only: others hold it */
	return found;
}

static initialized_function *find(void)
{
	/* MPICH and its relatives, by Debian's name and by the one that they have agreed on; Open MPI. */
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
