// SPDX-License-Identifier: BSD-2-Clause
/* See members.h. */
#include "mpi/win/members.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "mpi/job/job.h"
#include "mpi/job/real_mpi.h"

static uint64_t last_tag; /* atomic */
static int keyval = MPI_KEYVAL_INVALID;
static pthread_once_t keyval_once = PTHREAD_ONCE_INIT;

static int comm_freed(MPI_Comm comm, int key, void *value, void *extra)
{
	oriel_group *group = value;

	(void)comm, (void)key, (void)extra;
	if (job.oriel) /* the job has not ended with MPI_COMM_SELF */
		oriel_group_free(&group);
	return MPI_SUCCESS;
}

static void make_keyval(void)
{
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_freed, &keyval, NULL);
}

/* Returns the ranks that the group's members have in `in`, or NULL if there is no memory. */
static int *translate(MPI_Group group, MPI_Group in, int *count)
{
	int *ranks, *first;

	PMPI_Group_size(group, count);
	ranks = malloc(((size_t)*count + 1) * 2 * sizeof(*ranks));
	first = ranks + *count;
	for (int i = 0; ranks && i < *count; i++)
		first[i] = i;
	if (ranks)
		PMPI_Group_translate_ranks(group, *count, first, in, ranks);
	return ranks;
}

static bool all_in_world(MPI_Group group)
{
	int count, *ranks = translate(group, job.mpi_world, &count);
	bool all = ranks != NULL;

	for (int i = 0; all && i < count; i++)
		all = ranks[i] != MPI_UNDEFINED;
	free(ranks);
	return all;
}

/*
 * Compares groups: Open MPI 5 ends a program that compares a session's communicator with
 * MPI_COMM_WORLD.
 */
static bool in_world(MPI_Comm comm)
{
	MPI_Group group;
	int result;
	bool all;

	PMPI_Comm_group(comm, &group);
	PMPI_Group_compare(group, job.mpi_world, &result);
	all = result == MPI_IDENT || result == MPI_SIMILAR || all_in_world(group);
	real_mpi.Group_free(&group);
	return all;
}

static oriel_group *kept(MPI_Comm comm)
{
	oriel_group *group;
	int found;

	pthread_once(&keyval_once, make_keyval);
	PMPI_Comm_get_attr(comm, keyval, &group, &found);
	return found ? group : NULL;
}

bool members_known(MPI_Comm comm)
{
	return kept(comm) != NULL;
}

bool members_suit(MPI_Comm comm, const char **why)
{
	int inter = 0;

	if (kept(comm))
		return true;
	PMPI_Comm_test_inter(comm, &inter);
	if (inter)
		*why = "its communicator is an intercommunicator";
	else if (!in_world(comm))
		*why = "some of its ranks are not in MPI_COMM_WORLD";
	else
		return true;
	return false;
}

int members_of_group(MPI_Group group, MPI_Group in_group, const oriel_group *in, oriel_group **out)
{
	int count, rc, *ranks = translate(group, in_group, &count);

	if (!ranks)
		return ORIEL_ERR_MEMORY;
	for (int i = 0; i < count; i++) /* oriel_group_incl refuses this rank */
		if (ranks[i] == MPI_UNDEFINED)
			ranks[i] = oriel_group_size(in);
	rc = oriel_group_incl(in, count, ranks, out);
	free(ranks);
	return rc;
}

static uint64_t agree_on_tag(MPI_Comm comm)
{
	uint64_t tag = __atomic_add_fetch(&last_tag, 1, __ATOMIC_RELAXED);

	PMPI_Bcast(&tag, sizeof(tag), MPI_BYTE, 0, comm);
	return tag;
}

static oriel_group *make_group(MPI_Comm comm)
{
	uint64_t tag = agree_on_tag(comm);
	oriel_group *plain, *tagged = NULL;
	MPI_Group group;

	PMPI_Comm_group(comm, &group);
	if (members_of_group(group, job.mpi_world, job.world, &plain) == 0) {
		oriel_group_tagged(plain, tag, &tagged);
		oriel_group_free(&plain);
	}
	real_mpi.Group_free(&group);
	if (tagged)
		PMPI_Comm_set_attr(comm, keyval, tagged);
	return tagged;
}

oriel_group *members_of_comm(MPI_Comm comm)
{
	oriel_group *group = kept(comm);

	return group ? group : make_group(comm);
}

void members_forget(MPI_Comm comm)
{
	if (kept(comm))
		PMPI_Comm_delete_attr(comm, keyval);
}
