// SPDX-License-Identifier: BSD-2-Clause
/*
 * comm_calls.c - the making of communicators, and begin and end of the program; see calls.h
 *
 * A communicator is made by a collective call of another one, whose number names it. One that some
 * members make by a group is named by the members, and how often these have made one.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check/front/watch.h"
#include "check/mpi/collective.h"

#define CALLS(X)                                                                                          \
	X(Comm_dup)                                                                                           \
	X(Comm_dup_with_info)                                                                                 \
	X(Comm_create)                                                                                        \
	X(Comm_create_group)                                                                                  \
	X(Comm_split)                                                                                         \
	X(Comm_split_type)                                                                                    \
	X(Comm_free)                                                                                          \
	X(Comm_disconnect)                                                                                    \
	X(Cart_create) X(Graph_create) X(Dist_graph_create) X(Dist_graph_create_adjacent) X(Cart_sub) X(Init) \
		X(Init_thread) X(Finalize) X(Abort)

#include "check/mpi/next.h"

/* ---- communicators ---- */

/* Ends a call that has made a communicator. */
static int end_making(const struct collective *collective, const MPI_Comm *made, int rc)
{
	if (collective->is_recorded && rc == MPI_SUCCESS)
		comm_add(*made, hash_mix(collective->leave.object, collective->leave.id));
	return collective_end(collective, rc);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
	struct collective call = collective_begin(HERE("MPI_Comm_dup"), comm, FLOW_ALL, 0);

	return end_making(&call, newcomm, next.Comm_dup(comm, newcomm));
}
TAKEN(Comm_dup);

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
	struct collective call = collective_begin(HERE("MPI_Comm_dup_with_info"), comm, FLOW_ALL, 0);

	return end_making(&call, newcomm, next.Comm_dup_with_info(comm, info, newcomm));
}
TAKEN(Comm_dup_with_info);

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
	struct collective call = collective_begin(HERE("MPI_Comm_create"), comm, FLOW_ALL, 0);

	return end_making(&call, newcomm, next.Comm_create(comm, group, newcomm));
}
TAKEN(Comm_create);

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
	struct collective call = collective_begin(HERE("MPI_Comm_split"), comm, FLOW_ALL, 0);

	return end_making(&call, newcomm, next.Comm_split(comm, color, key, newcomm));
}
TAKEN(Comm_split);

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
	struct collective call = collective_begin(HERE("MPI_Comm_split_type"), comm, FLOW_ALL, 0);

	return end_making(&call, newcomm, next.Comm_split_type(comm, split_type, key, info, newcomm));
}
TAKEN(Comm_split_type);

int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                    MPI_Comm *comm_cart)
{
	struct collective call = collective_begin(HERE("MPI_Cart_create"), comm_old, FLOW_ALL, 0);

	return end_making(&call, comm_cart, next.Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart));
}
TAKEN(Cart_create);

int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
	struct collective call = collective_begin(HERE("MPI_Cart_sub"), comm, FLOW_ALL, 0);

	return end_making(&call, newcomm, next.Cart_sub(comm, remain_dims, newcomm));
}
TAKEN(Cart_sub);

int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
                     MPI_Comm *comm_graph)
{
	struct collective call = collective_begin(HERE("MPI_Graph_create"), comm_old, FLOW_ALL, 0);

	return end_making(&call, comm_graph, next.Graph_create(comm_old, nnodes, indx, edges, reorder, comm_graph));
}
TAKEN(Graph_create);

int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
	struct collective call = collective_begin(HERE("MPI_Dist_graph_create"), comm_old, FLOW_ALL, 0);

	return end_making(&call, comm_dist_graph,
	                  next.Dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info, reorder,
	                                         comm_dist_graph));
}
TAKEN(Dist_graph_create);

int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                                   int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                   int reorder, MPI_Comm *comm_dist_graph)
{
	struct collective call = collective_begin(HERE("MPI_Dist_graph_create_adjacent"), comm_old, FLOW_ALL, 0);

	return end_making(&call, comm_dist_graph,
	                  next.Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, outdegree,
	                                                  destinations, destweights, info, reorder, comm_dist_graph));
}
TAKEN(Dist_graph_create_adjacent);

/* How often these members have made a communicator with this tag; of a list that only grows. */
static uint64_t count_group(const MPI_Comm made, int tag)
{
	static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
	static struct {
		uint64_t members, count;
	} groups[256];
	MPI_Group group;
	uint64_t members, count = 0;
	int *ranks, size, place;

	if (PMPI_Comm_group(made, &group) != MPI_SUCCESS)
		return 0;
	ranks = comm_ranks_of(group, &size);
	PMPI_Group_free(&group);
	if (!ranks)
		return 0;
	members = hash_mix(ranks_hash(ranks, size), (uint64_t)(uint32_t)tag);
	free(ranks);
	place = (int)(members % 256);
	pthread_mutex_lock(&counting);
	for (int i = 0; i < 256 && !count; i++, place = (place + 1) % 256) {
		if (groups[place].members == 0)
			groups[place].members = members;
		if (groups[place].members == members)
			count = ++groups[place].count;
	}
	pthread_mutex_unlock(&counting);
	return count;
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
	bool is_recorded = call_begin();
	uint64_t count;
	int rc;

	if (is_recorded)
		trace_add(HERE("MPI_Comm_create_group"), (struct trace_event){ .kind = TRACE_MEET, .rank = -1 });
	rc = next.Comm_create_group(comm, group, tag, newcomm);
	if (is_recorded && rc == MPI_SUCCESS && *newcomm != MPI_COMM_NULL) {
		count = count_group(*newcomm, tag);
		comm_add(*newcomm, hash_mix(hash_mix((uint64_t)(uint32_t)tag, count), 2));
		if (!count || !comm_find(*newcomm))
			trace_unknown(HERE("MPI_Comm_create_group"));
		else
			trace_ranks(HERE("MPI_Comm_create_group"), (struct trace_event){ .kind = TRACE_MET, .rank = -1 },
			            comm_find(*newcomm)->ranks, comm_find(*newcomm)->size);
	}
	call_end();
	return rc;
}
TAKEN(Comm_create_group);

int MPI_Comm_free(MPI_Comm *comm)
{
	struct comm *taken = call_begin() ? comm_take(*comm) : NULL;
	int rc = next.Comm_free(comm);

	if (taken && rc != MPI_SUCCESS)
		comm_put_back(taken);
	call_end();
	return rc;
}
TAKEN(Comm_free);

int MPI_Comm_disconnect(MPI_Comm *comm)
{
	struct collective call = collective_begin(HERE("MPI_Comm_disconnect"), *comm, FLOW_ALL, 0);
	struct comm *taken = call.is_recorded ? comm_take(*comm) : NULL;
	int rc = next.Comm_disconnect(comm);

	if (taken && rc != MPI_SUCCESS)
		comm_put_back(taken);
	return collective_end(&call, rc);
}
TAKEN(Comm_disconnect);

/* ---- the program's begin and end ---- */

/* Rank 0 draws the name of the job. */
static void name_job(void)
{
	char name[PART_JOB_BYTES] = "";
	struct timespec now;
	int rank = 0, size = 1;

	inside++;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(name, sizeof(name), "%d at %lld.%09ld", (int)getpid(), (long long)now.tv_sec, now.tv_nsec);
	PMPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
	inside--;
	trace_job(name, rank, size);
}

/* Attributes are deleted in the order opposite to that in which they were set: this is the last. */
static int on_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm;
	(void)keyval;
	(void)value;
	(void)extra;
	watch_ended(true);
	return MPI_SUCCESS;
}

/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF. That may call the program. */
static void note_end(void)
{
	int keyval;

	if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_end, &keyval, NULL) == MPI_SUCCESS)
		PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}

/* The MPI may have provided more than the program has asked for. */
static void begin_job(struct place place)
{
	int provided = MPI_THREAD_MULTIPLE, is_multiple, any = 0;

	inside++;
	PMPI_Query_thread(&provided);
	is_multiple = provided == MPI_THREAD_MULTIPLE;
	is_one_thread = provided == MPI_THREAD_SINGLE || provided == MPI_THREAD_FUNNELED;
	is_serialized = provided == MPI_THREAD_SERIALIZED;
	may_call = true;
	trace_add(place, (struct trace_event){ .kind = TRACE_INIT, .rank = -1 });
	comm_add(MPI_COMM_WORLD, 0);
	comm_add(MPI_COMM_SELF, 1);
	PMPI_Allreduce(&is_multiple, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	note_end();
	inside--;
	has_threads = any;
	name_job();
	trace_watch(is_multiple);
}

int MPI_Init(int *argc, char ***argv)
{
	int rc;

	trace_open();
	watch_prepare();
	inside++;
	rc = next.Init(argc, argv);
	inside--;
	if (rc == MPI_SUCCESS)
		begin_job(HERE("MPI_Init"));
	return rc;
}
TAKEN(Init);

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int rc;

	trace_open();
	watch_prepare();
	inside++;
	rc = next.Init_thread(argc, argv, required, provided);
	inside--;
	if (rc == MPI_SUCCESS)
		begin_job(HERE("MPI_Init_thread"));
	return rc;
}
TAKEN(Init_thread);

/* The layer calls it, too, in a call that the program's error handler lets end the job. */
int MPI_Abort(MPI_Comm comm, int errorcode)
{
	if (inside > 0 && current.key)
		window_refused(current.place, current.key, errorcode);
	trace_abort();
	return next.Abort(comm, errorcode);
}
TAKEN(Abort);

int MPI_Finalize(void)
{
	int rc;

	inside++;
	rc = next.Finalize();
	inside--;
	trace_end();
	return rc;
}
TAKEN(Finalize);
