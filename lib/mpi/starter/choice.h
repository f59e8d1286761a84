/* SPDX-License-Identifier: BSD-2-Clause */
/* choice.h - which MPI a program uses */
#ifndef ORIEL_MPI_CHOICE_H
#define ORIEL_MPI_CHOICE_H

/* openmpi or mpich, by what the program at path is linked with, else by its starter. Ends this process where neither tells. */
const char *choice_of_mpi(const char *path);

#endif
