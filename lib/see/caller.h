// SPDX-License-Identifier: BSD-2-Clause
/*
 * caller.h - where the program has called the library
 *
 * DESIGN NOTES
 *
 * A public function keeps no return address, which would cost instructions in every call. A wait
 * that lasts walks up its own stack instead: the first frame outside of this library and of
 * oriel-mpi is the program's. Only the library's own frames are walked through, and those of an
 * MPI's Fortran interface, which stands between the program and oriel-mpi.
 *
 * The walk calls the unwinder of libgcc. liboriel.so has it inside (-static-libgcc), so no library
 * more is loaded when a job starts.
 */
#ifndef ORIEL_CALLER_H
#define ORIEL_CALLER_H

#include <stdint.h>

/* Returns the address to which this thread's call of the library returns; 0: it is not known. */
uint64_t caller_address(void);

#endif
