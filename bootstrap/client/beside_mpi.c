// SPDX-License-Identifier: BSD-2-Clause
/* beside_mpi.c - see beside_mpi.h; MPI is asked by the one call that is legal at any time, found by its name. */
#include "client/beside_mpi.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

typedef int initialized_function(int *flag);

static initialized_function *find(void)
{
	void *found = dlsym(RTLD_DEFAULT, "MPI_Initialized");
	initialized_function *function;

	memcpy(&function, &found, sizeof(function));
	return function;
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
