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

/* ---- neighbours ---- */

static bool has_room(struct neighbors *neighbors, int count)
{
	neighbors->count = count;
	neighbors->members = calloc((size_t)count + 1, sizeof(int));
	return neighbors->members;
}

/* Two in each dimension, the lower one first. */
static bool learn_grid(struct comm *comm)
{
	int dimensions, rc = PMPI_Cartdim_get(comm->handle, &dimensions);

	if (rc || !has_room(&comm->sources, 2 * dimensions) || !has_room(&comm->destinations, 2 * dimensions))
		return false;
	for (int i = 0; i < dimensions && !rc; i++) {
		int *pair = &comm->sources.members[2 * i];

		rc = PMPI_Cart_shift(comm->handle, i, 1, &pair[0], &pair[1]);
		comm->destinations.members[2 * i] = pair[0];
		comm->destinations.members[2 * i + 1] = pair[1];
	}
	return rc == MPI_SUCCESS;
}

static bool learn_graph(struct comm *comm)
{
	int count, rc = PMPI_Graph_neighbors_count(comm->handle, comm->rank, &count);

	if (rc || !has_room(&comm->sources, count) || !has_room(&comm->destinations, count))
		return false;
	return PMPI_Graph_neighbors(comm->handle, comm->rank, count, comm->sources.members) == MPI_SUCCESS &&
	       PMPI_Graph_neighbors(comm->handle, comm->rank, count, comm->destinations.members) == MPI_SUCCESS;
}

static bool learn_dist_graph(struct comm *comm)
{
	int sources, destinations, is_weighted, rc;
	int *weights;

	rc = PMPI_Dist_graph_neighbors_count(comm->handle, &sources, &destinations, &is_weighted);
	if (rc || !has_room(&comm->sources, sources) || !has_room(&comm->destinations, destinations))
		return false;
	weights = calloc((size_t)sources + (size_t)destinations + 1, sizeof(int));
	rc = weights ? PMPI_Dist_graph_neighbors(comm->handle, sources, comm->sources.members, weights, destinations,
	                                         comm->destinations.members, weights + sources)
	             : MPI_ERR_NO_MEM;
	free(weights);
	return rc == MPI_SUCCESS;
}

/* Returns false if it has neighbours that are not known. */
static bool learn_neighbors(struct comm *comm)
{
	int topology;

	if (PMPI_Topo_test(comm->handle, &topology) != MPI_SUCCESS)
		return false;
	if (topology == MPI_CART)
		return learn_grid(comm);
	if (topology == MPI_GRAPH)
		return learn_graph(comm);
	return topology != MPI_DIST_GRAPH || learn_dist_graph(comm);
}

/* ---- the table ---- */

static void release(struct comm *comm)
{
	free(comm->sources.members);
	free(comm->destinations.members);
	free(comm->ranks);
	free(comm);
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
	if (!comm->ranks || PMPI_Comm_rank(handle, &comm->rank) || !learn_neighbors(comm)) {
		release(comm);
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
