// SPDX-License-Identifier: BSD-2-Clause
/* See operation.h. */
#include "mpi/win/operation.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "mpi/job/job.h"
#include "mpi/job/real_mpi.h"
#include "mpi/win/error.h"

struct request {
	oriel_request oriel;
	MPI_Request handle;
	int code;      /* the request's error code */
	bool given_up; /* the program has freed it; guarded by the lock */
	struct request *next;
};

static struct request *outstanding; /* guarded by the lock */
static size_t outstanding_count;    /* changed under the lock, loaded without */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int none_outstanding(void)
{
	return __atomic_load_n(&outstanding_count, __ATOMIC_ACQUIRE) == 0; /* pairs with count */
}

static void count(size_t change)
{
	__atomic_store_n(&outstanding_count, outstanding_count + change,
	                 __ATOMIC_RELEASE); /* pairs with none_outstanding */
}

/* Sets the status of a generalized request. */
static int query(void *state, MPI_Status *status)
{
	const struct request *request = state;

	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return request->code;
}

static int release(void *state)
{
	free(state);
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
	(void)state, (void)complete;
	return MPI_SUCCESS;
}

static void keep(struct request *request)
{
	pthread_mutex_lock(&lock);
	request->next = outstanding;
	outstanding = request;
	count(1);
	pthread_mutex_unlock(&lock);
}

/* Returns whether the request is complete, or has failed. */
static int over(struct request *request)
{
	int flag = 0, rc = oriel_request_test(&request->oriel, &flag);
	char text[LANGUAGE_BYTES];

	if (rc && !flag && (rc == ORIEL_ERR_TIMEOUT || rc == ORIEL_ERR_MEMORY))
		return 0; /* the test can be repeated */
	if (rc)
		request->code = error_code(error_class(rc), language_of_mpi(NULL, oriel_last_error(), text));
	return rc || flag;
}

/* Makes a complete request with an empty status: a send to MPI_PROC_NULL. */
static int make_complete(const struct window *window, MPI_Request *handle)
{
	if (PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, handle))
		return error_on_window(window, MPI_ERR_OTHER, "a request", "the MPI could not make a request");
	return MPI_SUCCESS;
}

static int make_outstanding(const struct window *window, const oriel_request *oriel, MPI_Request *handle)
{
	struct request *request = malloc(sizeof(*request));

	if (!request)
		return error_on_window(window, MPI_ERR_NO_MEM, "a request", "out of memory");
	*request = (struct request){ .oriel = *oriel, .code = MPI_SUCCESS };
	if (PMPI_Grequest_start(query, release, cancel, request, &request->handle)) {
		free(request);
		return error_on_window(window, MPI_ERR_OTHER, "a request", "the MPI could not start a generalized request");
	}
	*handle = request->handle;
	keep(request);
	return MPI_SUCCESS;
}

int request_make(const struct window *window, int rank, MPI_Request *handle)
{
	struct request made = { .code = MPI_SUCCESS };
	int rc = rank == MPI_PROC_NULL ? 0 : oriel_win_iflush_local(window->win, rank, &made.oriel);

	if (rc)
		return error_of_call(window, rc);
	if (rank == MPI_PROC_NULL || (over(&made) && made.code == MPI_SUCCESS))
		return make_complete(window, handle);
	return make_outstanding(window, &made.oriel, handle);
}

void request_tell_active(void)
{
	static bool reported;

	if (__atomic_load_n(&reported, __ATOMIC_RELAXED) || __atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
		return;
	job_tell("request-based operations in an epoch of fence or start, which MPI has in those of locks only, are done");
}

/*
 * Completes the MPI's request, which another thread may then free, or frees it if the program has
 * done so.
 */
static void complete(struct request *request)
{
	MPI_Request handle = request->handle;
	bool given_up = request->given_up;

	PMPI_Grequest_complete(handle);
	if (given_up)
		real_mpi.Request_free(&handle);
}

static void drive(void)
{
	pthread_mutex_lock(&lock);
	for (struct request **at = &outstanding; *at;) {
		struct request *request = *at;

		if (!over(request)) {
			at = &request->next;
			continue;
		}
		*at = request->next;
		complete(request);
		count((size_t)-1); /* last: a thread that finds none relies on the MPI's knowing */
	}
	pthread_mutex_unlock(&lock);
}

/* Calls that test: the MPI's own, after requests_look. */
void requests_look(void)
{
	if (!none_outstanding())
		drive();
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	requests_look();
	return real_mpi.Test(request, flag, status);
}
TAKEN(Test);

int MPI_Testall(int number, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
	requests_look();
	return real_mpi.Testall(number, requests, flag, statuses);
}
TAKEN(Testall);

int MPI_Testany(int number, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
	requests_look();
	return real_mpi.Testany(number, requests, index, flag, status);
}
TAKEN(Testany);

int MPI_Testsome(int number, MPI_Request requests[], int *outcount, int *indices, MPI_Status *statuses)
{
	requests_look();
	return real_mpi.Testsome(number, requests, outcount, indices, statuses);
}
TAKEN(Testsome);

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	requests_look();
	return real_mpi.Request_get_status(request, flag, status);
}
TAKEN(Request_get_status);

#if HAS_STATUS_OF_MANY
/* The standard's array is constant, MPICH 4.2's is not. */
typedef __typeof__(_Generic(&MPI_Request_get_status_all, int (*)(int, const MPI_Request *, int *, MPI_Status *)
                            : (const MPI_Request *)0, default
                            : (MPI_Request *)0)) read_requests;

int MPI_Request_get_status_all(int number, read_requests requests, int *flag, MPI_Status *statuses)
{
	requests_look();
	return real_mpi.Request_get_status_all(number, requests, flag, statuses);
}
TAKEN(Request_get_status_all);

int MPI_Request_get_status_any(int number, read_requests requests, int *index, int *flag, MPI_Status *status)
{
	requests_look();
	return real_mpi.Request_get_status_any(number, requests, index, flag, status);
}
TAKEN(Request_get_status_any);

int MPI_Request_get_status_some(int number, read_requests requests, int *outcount, int *indices, MPI_Status *statuses)
{
	requests_look();
	return real_mpi.Request_get_status_some(number, requests, outcount, indices, statuses);
}
TAKEN(Request_get_status_some);
#endif

/*
 * Returns whether the request is outstanding, and marks it as freed. MPICH would forget it at once.
 */
static bool give_up(MPI_Request handle)
{
	struct request *request;

	pthread_mutex_lock(&lock);
	for (request = outstanding; request && request->handle != handle;)
		request = request->next;
	if (request)
		request->given_up = true;
	pthread_mutex_unlock(&lock);
	return request != NULL;
}

int MPI_Request_free(MPI_Request *request)
{
	requests_look(); /* a program may never test */
	if (none_outstanding() || !give_up(*request))
		return real_mpi.Request_free(request);
	*request = MPI_REQUEST_NULL;
	return MPI_SUCCESS;
}
TAKEN(Request_free);

/*
 * Calls that wait: they loop while any request is outstanding. Then the MPI waits: its waits can
 * report an error while others are pending.
 */
static bool look_again(void)
{
	if (none_outstanding())
		return false;
	drive();
	if (none_outstanding())
		return false;
	sched_yield();
	return true;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	while (look_again()) {
		int flag, rc = real_mpi.Test(request, &flag, status);

		if (rc || flag)
			return rc;
	}
	return real_mpi.Wait(request, status);
}
TAKEN(Wait);

int MPI_Waitall(int number, MPI_Request requests[], MPI_Status *statuses)
{
	while (look_again()) {
		int flag, rc = real_mpi.Testall(number, requests, &flag, statuses);

		if (rc || flag)
			return rc;
	}
	return real_mpi.Waitall(number, requests, statuses);
}
TAKEN(Waitall);

int MPI_Waitany(int number, MPI_Request requests[], int *index, MPI_Status *status)
{
	while (look_again()) {
		int flag, rc = real_mpi.Testany(number, requests, index, &flag, status);

		if (rc || flag)
			return rc;
	}
	return real_mpi.Waitany(number, requests, index, status);
}
TAKEN(Waitany);

int MPI_Waitsome(int number, MPI_Request requests[], int *outcount, int *indices, MPI_Status *statuses)
{
	while (look_again()) {
		int rc = real_mpi.Testsome(number, requests, outcount, indices, statuses);

		if (rc || *outcount) /* MPI_UNDEFINED, too */
			return rc;
	}
	return real_mpi.Waitsome(number, requests, outcount, indices, statuses);
}
TAKEN(Waitsome);
