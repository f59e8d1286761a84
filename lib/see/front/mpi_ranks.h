/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_ranks.h - a group's ranks in MPI_COMM_WORLD, for what stands in front of MPI's calls */
#ifndef ORIEL_SEE_MPI_RANKS_H
#define ORIEL_SEE_MPI_RANKS_H

#include <mpi.h>
#include <stdlib.h>

/* Returns the ranks of the group's `count` members, or NULL. The caller frees them. */
static inline int *mpi_ranks_of(MPI_Group group, int count)
{
	int *own = malloc(((size_t)count + 1) * sizeof(int)), *ranks = malloc(((size_t)count + 1) * sizeof(int));
	MPI_Group world = MPI_GROUP_NULL;
	int rc = own && ranks ? MPI_SUCCESS : MPI_ERR_OTHER;

	for (int i = 0; rc == MPI_SUCCESS && i < count; i++)
		own[i] = i;
	if (rc == MPI_SUCCESS)
		rc = PMPI_Comm_group(MPI_COMM_WORLD, &world);
	if (rc == MPI_SUCCESS)
		rc = PMPI_Group_translate_ranks(group, count, own, world, ranks);
	if (world != MPI_GROUP_NULL)
		PMPI_Group_free(&world);
	free(own);
	if (rc == MPI_SUCCESS)
		return ranks;
	free(ranks);
	return NULL;
}

#endif
