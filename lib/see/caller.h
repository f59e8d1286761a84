// SPDX-License-Identifier: BSD-2-Clause
/*
 * caller.h - where the program has called the library
 *
 * DESIGN NOTES
 *
 * To keep return addresses would cost instructions in every call. So a wait that lasts walks up its
 * own stack: the first frame outside of this library, oriel-mpi and the MPI's Fortran interface is
 * the program's. liboriel.so has libgcc's unwinder inside (-static-libgcc), so that a job loads no
 * further library.
 */
#ifndef ORIEL_CALLER_H
#define ORIEL_CALLER_H

#include <stdint.h>

/* Returns the address to which this thread's call of the library returns; 0: it is not known. */
uint64_t caller_address(void);

#endif
