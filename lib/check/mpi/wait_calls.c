// SPDX-License-Identifier: BSD-2-Clause
/* wait_calls.c - waits and tests for requests, and their end without one; see calls.h */
#include <stdlib.h>

#include "check/mpi/calls.h"

#define CALLS(X) \
	X(Wait)      \
	X(Waitall)   \
	X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) X(Request_get_status) X(Request_free) X(Cancel)

#include "check/mpi/next.h"

/* ---- waiting and testing ---- */

#define FEW 32

/* The handles before a call, since the call sets them to MPI_REQUEST_NULL, and statuses for it. */
struct handles {
	MPI_Request few[FEW];
	MPI_Status few_statuses[FEW];
	MPI_Request *list; /* NULL: nothing is recorded */
	MPI_Status *statuses;
	struct place place;
};

static void keep_handles(struct handles *handles, struct place place, const MPI_Request list[], int count,
                         MPI_Status *statuses)
{
	bool is_recorded = call_begin() && count > 0;

	handles->statuses = statuses;
	handles->list = NULL;
	handles->place = place;
	if (!is_recorded)
		return;
	thread_check(place);
	handles->list = count <= FEW ? handles->few : malloc((size_t)count * sizeof(*list));
	if (statuses == MPI_STATUSES_IGNORE)
		handles->statuses = count <= FEW ? handles->few_statuses : malloc((size_t)count * sizeof(*handles->statuses));
	if (!handles->list || !handles->statuses) {
		trace_unknown(place);
		handles->list = NULL;
		handles->statuses = statuses;
		return;
	}
	memcpy(handles->list, list, (size_t)count * sizeof(*list));
}

static int drop_handles(struct handles *handles, const MPI_Status *statuses, int rc)
{
	if (handles->list && handles->list != handles->few)
		free(handles->list);
	if (handles->statuses != statuses && handles->statuses != handles->few_statuses)
		free(handles->statuses);
	call_end();
	return rc;
}

/* Returns false after an error: it is not known what has ended. */
static bool has_ended(const struct handles *handles, int rc)
{
	if (handles->list && rc != MPI_SUCCESS)
		trace_unknown(handles->place);
	return handles->list && rc == MPI_SUCCESS;
}

static void end_one(const struct handles *handles, int index, int status)
{
	if (index != MPI_UNDEFINED)
		request_end(handles->place, handles->list[index], &handles->statuses[status]);
}

static void end_some(const struct handles *handles, int count, const int indices[])
{
	for (int i = 0; count != MPI_UNDEFINED && i < count; i++)
		end_one(handles, indices ? indices[i] : i, i);
}

/* Shows what the requests wait for, until wait_end. */
static void await(const struct handles *handles, int count, bool is_all)
{
	struct trace_wait waits[WAITS_OF_CALL];

	waits_begin(handles->place, waits, handles->list ? requests_waits(handles->list, count, is_all, waits) : 0);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Wait"), request, 1, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
	await(&handles, 1, true);
	rc = awaited(next.Wait(request, handles.list ? handles.statuses : status));
	if (has_ended(&handles, rc))
		end_one(&handles, 0, 0);
	return drop_handles(&handles, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status, rc);
}
TAKEN(Wait);

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Test"), request, 1, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
	rc = next.Test(request, flag, handles.list ? handles.statuses : status);
	if (has_ended(&handles, rc) && *flag)
		end_one(&handles, 0, 0);
	return drop_handles(&handles, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status, rc);
}
TAKEN(Test);

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Request_get_status"), &request, 1,
	             status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
	rc = next.Request_get_status(request, flag, handles.list ? handles.statuses : status);
	if (has_ended(&handles, rc) && *flag)
		end_one(&handles, 0, 0);
	return drop_handles(&handles, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status, rc);
}
TAKEN(Request_get_status);

int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Waitall"), array_of_requests, count, array_of_statuses);
	await(&handles, count, true);
	rc = awaited(next.Waitall(count, array_of_requests, handles.statuses));
	if (has_ended(&handles, rc))
		end_some(&handles, count, NULL);
	return drop_handles(&handles, array_of_statuses, rc);
}
TAKEN(Waitall);

int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[])
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Testall"), array_of_requests, count, array_of_statuses);
	rc = next.Testall(count, array_of_requests, flag, handles.statuses);
	if (has_ended(&handles, rc) && *flag)
		end_some(&handles, count, NULL);
	return drop_handles(&handles, array_of_statuses, rc);
}
TAKEN(Testall);

int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
	struct handles handles;
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;
	int rc;

	keep_handles(&handles, HERE("MPI_Waitany"), array_of_requests, count, to);
	await(&handles, count, false);
	rc = awaited(next.Waitany(count, array_of_requests, index, to));
	if (has_ended(&handles, rc))
		end_one(&handles, *index, 0);
	return drop_handles(&handles, to, rc);
}
TAKEN(Waitany);

int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status)
{
	struct handles handles;
	MPI_Status own, *to = status == MPI_STATUS_IGNORE ? &own : status;
	int rc;

	keep_handles(&handles, HERE("MPI_Testany"), array_of_requests, count, to);
	rc = next.Testany(count, array_of_requests, index, flag, to);
	if (has_ended(&handles, rc) && *flag)
		end_one(&handles, *index, 0);
	return drop_handles(&handles, to, rc);
}
TAKEN(Testany);

int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                 MPI_Status array_of_statuses[])
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Waitsome"), array_of_requests, incount, array_of_statuses);
	await(&handles, incount, false);
	rc = awaited(next.Waitsome(incount, array_of_requests, outcount, array_of_indices, handles.statuses));
	if (has_ended(&handles, rc))
		end_some(&handles, *outcount, array_of_indices);
	return drop_handles(&handles, array_of_statuses, rc);
}
TAKEN(Waitsome);

int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                 MPI_Status array_of_statuses[])
{
	struct handles handles;
	int rc;

	keep_handles(&handles, HERE("MPI_Testsome"), array_of_requests, incount, array_of_statuses);
	rc = next.Testsome(incount, array_of_requests, outcount, array_of_indices, handles.statuses);
	if (has_ended(&handles, rc))
		end_some(&handles, *outcount, array_of_indices);
	return drop_handles(&handles, array_of_statuses, rc);
}
TAKEN(Testsome);

/* ---- requests that are not waited for ---- */

/* A receive that ends unseen is not counted, and a later one may have its handle. */
int MPI_Request_free(MPI_Request *request)
{
	int rc;

	if (call_begin() && request_remove(HERE("MPI_Request_free"), *request))
		trace_unproven();
	rc = next.Request_free(request);
	call_end();
	return rc;
}
TAKEN(Request_free);

/*
 * A message whose send may have been cancelled cannot be counted. Whether a receive was, its status
 * says; but others may wait for one that has begun.
 */
int MPI_Cancel(MPI_Request *request)
{
	bool is_recorded = call_begin();
	int rc;

	if (is_recorded && request_receives(*request))
		trace_unproven();
	else if (is_recorded)
		trace_unknown(HERE("MPI_Cancel"));
	rc = next.Cancel(request);
	call_end();
	return rc;
}
TAKEN(Cancel);
