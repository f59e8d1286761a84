/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h - calls and constants of Oriel by their names in MPI */
#ifndef ORIEL_MPI_NAMES_H
#define ORIEL_MPI_NAMES_H

#include <stddef.h>

/* Returns MPI's name of Oriel's word, or NULL. */
const char *names_of_mpi(const char *word, size_t length);

/* Returns MPI's name of Oriel's call, or that name; for oriel_options. */
const char *names_call(const char *call);

#endif
