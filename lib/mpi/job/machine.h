/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.h - which ranks share a machine */
#ifndef ORIEL_MPI_MACHINE_H
#define ORIEL_MPI_MACHINE_H

#include <stdint.h>

/*
 * Returns a number that all ranks of a machine share, and other machines almost certainly do not.
 */
uint64_t machine_number(void);

#endif
