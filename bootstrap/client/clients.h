// SPDX-License-Identifier: BSD-2-Clause
/*
 * clients.h - the bootstrap clients that boot.c chooses from
 *
 * ASSUMPTIONS: only boot_open calls these functions, and fills in events and events_arg afterwards:
 * no client calls an event before its first dispatch. ERRORS: 0 or a negative ORIEL_ERR_*, with
 * err_set's text.
 */
#ifndef ORIEL_CLIENT_CLIENTS_H
#define ORIEL_CLIENT_CLIENTS_H

#include "boot.h"
#include "oriel.h"

/* Joins an oriel-run job. */
int boot_run_open(struct boot **boot);

/* Joins by PMIx: Open MPI's mpirun, PRRTE, srun --mpi=pmix. */
int boot_pmix_open(struct boot **boot);

/* Joins by PMI-1: hydra, srun --mpi=pmi2, Flux. */
int boot_pmi_open(struct boot **boot);

/* Joins by the program's own means; copies *given. */
int boot_caller_open(const struct oriel_bootstrap *given, struct boot **boot);

/* Makes a job of one rank. */
int boot_single_open(struct boot **boot);

#endif
