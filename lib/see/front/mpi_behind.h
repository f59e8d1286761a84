/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_behind.h - what is behind and in front of a function with the name of an MPI's call */
#ifndef ORIEL_SEE_MPI_BEHIND_H
#define ORIEL_SEE_MPI_BEHIND_H

#include <dlfcn.h>
#include <string.h>

#include "see/front/behind.h"
#include "see/front/call.h"

/* The place in the program that the function it stands in was called from. */
#define HERE call_place(__builtin_return_address(0), __builtin_frame_address(0))

#endif
