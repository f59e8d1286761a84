/* SPDX-License-Identifier: BSD-2-Clause */
/* choice.h - which MPI a program uses */
#ifndef ORIEL_MPI_CHOICE_H
#define ORIEL_MPI_CHOICE_H

/*
 * Returns "openmpi" or "mpich", by the program's libraries, else by its starter's environment.
 * Exits if neither names one.
 */
const char *choice_of_mpi(const char *path);

/* Exits if the process was started as one of several ranks by what this MPI does not know. */
void choice_check_starter(const char *mpi, const char *path);

#endif
