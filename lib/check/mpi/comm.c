// SPDX-License-Identifier: BSD-2-Clause
/* See calls.h. A communicator that is freed stays in memory: requests may still refer to it. */
#include <pthread.h>
#include <stdlib.h>

#include "check/mpi/calls.h"
#include "see/front/mpi_ranks.h"

#define PLACES 256

static struct comm *comms[PLACES];
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static struct comm **list_of(MPI_Comm handle)
{
	return &comms[hash_mix(0, (uint64_t)(uintptr_t)handle) % PLACES];
}

struct comm *comm_find(MPI_Comm handle)
{
	struct comm *comm;

	pthread_mutex_lock(&changing);
	comm = *list_of(handle);
	while (comm && comm->handle != handle)
		comm = comm->next;
	pthread_mutex_unlock(&changing);
	return comm;
}

/* An error of MPI_Group_size would be one of MPI_COMM_WORLD, which ends the program. */
int *comm_ranks_of(MPI_Group group, int *count)
{
	if (group == MPI_GROUP_NULL || PMPI_Group_size(group, count) != MPI_SUCCESS)
		return NULL;
	return mpi_ranks_of(group, *count);
}

static int *ranks_of_comm(MPI_Comm handle, int *count)
{
	MPI_Group group;
	int *ranks = NULL;

	if (PMPI_Comm_group(handle, &group) != MPI_SUCCESS)
		return NULL;
	ranks = comm_ranks_of(group, count);
	PMPI_Group_free(&group);
	return ranks;
}

void comm_put_back(struct comm *comm)
{
	pthread_mutex_lock(&changing);
	comm->next = *list_of(comm->handle);
	*list_of(comm->handle) = comm;
	pthread_mutex_unlock(&changing);
}

void comm_add(MPI_Comm handle, uint64_t number)
{
	struct comm *comm;
	int is_inter = 0;

	if (handle == MPI_COMM_NULL || PMPI_Comm_test_inter(handle, &is_inter) || is_inter)
		return;
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return;
	comm->handle = handle;
	comm->ranks = ranks_of_comm(handle, &comm->size);
	if (!comm->ranks || PMPI_Comm_rank(handle, &comm->rank)) {
		free(comm->ranks);
		free(comm);
		return;
	}
	comm->id = hash_mix(hash_mix(ranks_hash(comm->ranks, comm->size), number), 1);
	trace_join(comm->id);
	comm_put_back(comm);
}

struct comm *comm_take(MPI_Comm handle)
{
	struct comm **at, *taken;

	pthread_mutex_lock(&changing);
	for (at = list_of(handle); *at && (*at)->handle != handle;)
		at = &(*at)->next;
	taken = *at;
	if (taken)
		*at = taken->next;
	pthread_mutex_unlock(&changing);
	return taken;
}
