/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_group.h - groups, for the checker's MPI programs */
#ifndef CHECK_MPI_GROUP_H
#define CHECK_MPI_GROUP_H

#include <mpi.h>

/* Returns the group of one member of MPI_COMM_WORLD. The caller frees it. */
static inline MPI_Group group_of(int member)
{
	MPI_Group world, group;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &member, &group);
	MPI_Group_free(&world);
	return group;
}

#endif
