/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.h - which machine this is, as far as ranks share its processors */
#ifndef ORIEL_MPI_MACHINE_H
#define ORIEL_MPI_MACHINE_H

#include <stdint.h>

/* The same on all ranks of one machine, and with all likelihood another elsewhere. */
uint64_t machine_number(void);

#endif
