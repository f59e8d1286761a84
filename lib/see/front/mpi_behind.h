/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_behind.h - what is behind and in front of a function with the name of an MPI's call */
#ifndef ORIEL_SEE_MPI_BEHIND_H
#define ORIEL_SEE_MPI_BEHIND_H

#include <dlfcn.h>
#include <string.h>

#include "see/front/call.h"

/* The place in the program that the function it stands in was called from. */
#define HERE call_place(__builtin_return_address(0), __builtin_frame_address(0))

/* Finds the next function of that name. ISO C casts no address of an object to a function's. */
static inline void mpi_behind(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

#endif
