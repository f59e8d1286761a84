// SPDX-License-Identifier: BSD-2-Clause
/* See calls.h. Several requests may have one handle: an MPI has one for all that end at once. */
#include <pthread.h>
#include <stdlib.h>

#include "check/mpi/calls.h"

#define PLACES 1024

static struct request *requests[PLACES];
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static struct request **list_of(MPI_Request handle)
{
	return &requests[hash_mix(0, (uint64_t)(uintptr_t)handle) % PLACES];
}

void request_add(MPI_Request handle, struct request request)
{
	struct request *added = malloc(sizeof(*added));

	if (!added) {
		trace_unknown(request.place);
		return;
	}
	*added = request;
	added->handle = handle;
	pthread_mutex_lock(&changing);
	added->next = *list_of(handle);
	*list_of(handle) = added;
	pthread_mutex_unlock(&changing);
}

static struct request *find(MPI_Request handle)
{
	struct request *request = *list_of(handle);

	while (request && request->handle != handle)
		request = request->next;
	return request;
}

/* Each start of a collective call has a number, which is the same on all members. */
static void note_start(struct request *request)
{
	if (request->begin.kind == TRACE_SEND)
		request->begin.base = request->buffers;
	if (request->begin.kind == TRACE_ENTER)
		request->event.id = ++request->begin.id;
}

void request_start(struct place place, MPI_Request handle)
{
	struct request *request;

	pthread_mutex_lock(&changing);
	request = find(handle);
	if (request) {
		request->is_active = true;
		request->buffers = buffers_restart(place, request->kept);
		note_start(request);
		if (request->kind == REQUEST_RECEIVE)
			trace_add(request->place, receive_event(request->comm, request->asked.source, request->asked.tag));
		else if (request->begin.kind)
			trace_add(request->place, request->begin);
	}
	pthread_mutex_unlock(&changing);
}

static bool is_cancelled(const MPI_Status *status)
{
	int flag = 0;

	return PMPI_Test_cancelled(status, &flag) == MPI_SUCCESS && flag;
}

static void add_end(struct place place, const struct request *request, const MPI_Status *status)
{
	if (request->event.kind == TRACE_LEAVE)
		collective_leave(request->place, request->comm, request->event);
	else if (request->kind == REQUEST_EVENT && request->event.kind)
		trace_add(request->place, request->event);
	if (request->kind == REQUEST_RECEIVE && !is_cancelled(status))
		message_received(request->place, request->comm, status->MPI_SOURCE, status->MPI_TAG, &request->asked);
	buffers_done(place, request->buffers);
}

/* Takes one active request with the handle out of the table, or copies it if it is persistent. */
static bool take(MPI_Request handle, struct request *taken)
{
	struct request **at = list_of(handle), *request;

	while (*at && ((*at)->handle != handle || !(*at)->is_active))
		at = &(*at)->next;
	request = *at;
	if (!request)
		return false;
	request->is_active = false;
	*taken = *request;
	if (!request->is_persistent) {
		*at = request->next;
		free(request);
	}
	return true;
}

void request_end(struct place place, MPI_Request handle, const MPI_Status *status)
{
	struct request ended;
	bool found = handle != MPI_REQUEST_NULL;

	while (found) {
		pthread_mutex_lock(&changing);
		found = take(handle, &ended);
		pthread_mutex_unlock(&changing);
		if (found)
			add_end(place, &ended, status);
	}
}

/* ---- what is waited for ---- */

/* Several requests may have the handle: it is not known then which one ends. */
static struct trace_wait wait_of(MPI_Request handle, bool *is_active)
{
	struct trace_wait wait = { .kind = AWAIT_NONE };
	int known = 0, active = 0;

	for (const struct request *request = *list_of(handle); request; request = request->next) {
		if (request->handle != handle)
			continue;
		known++;
		active += request->is_active;
		if (request->is_active)
			wait = request->wait;
	}
	*is_active = known == 0 || active > 0;
	if (known != 1)
		wait.kind = AWAIT_NONE;
	return wait;
}

static bool is_alike(const struct trace_wait *a, const struct trace_wait *b)
{
	return a->kind == b->kind && a->object == b->object && a->rank == b->rank && a->tag == b->tag &&
	       a->flags == b->flags && a->kind != AWAIT_COLLECTIVE;
}

/* Several receives wait for as many messages. The last of several sends is received last. */
static void join(struct trace_wait *wait, const struct trace_wait *other, bool is_all)
{
	if (wait->kind == AWAIT_MESSAGE && is_all && wait->rank >= 0)
		wait->number++;
	if (wait->kind == AWAIT_RECEIVER && (other->number > wait->number) == is_all)
		wait->number = other->number;
}

static int add_wait(struct trace_wait waits[WAITS_OF_CALL], int count, const struct trace_wait *wait, bool is_all)
{
	for (int i = 0; i < count; i++) {
		if (!is_alike(&waits[i], wait))
			continue;
		join(&waits[i], wait, is_all);
		return count;
	}
	if (count < WAITS_OF_CALL)
		waits[count] = *wait;
	return count + 1;
}

/* One wait that is shown keeps a call for all. A call for one is shown with all that may end it. */
int requests_waits(const MPI_Request handles[], int count, bool is_all, struct trace_wait waits[WAITS_OF_CALL])
{
	bool is_active, is_whole = true;
	int found = 0;

	pthread_mutex_lock(&changing);
	for (int i = 0; i < count && found <= WAITS_OF_CALL; i++) {
		struct trace_wait wait;

		if (handles[i] == MPI_REQUEST_NULL)
			continue;
		wait = wait_of(handles[i], &is_active);
		if (wait.kind != AWAIT_NONE && is_active)
			found = add_wait(waits, found, &wait, is_all);
		else
			is_whole &= !is_active;
	}
	pthread_mutex_unlock(&changing);
	if (!is_all && (!is_whole || found > WAITS_OF_CALL))
		return 0;
	found = found < WAITS_OF_CALL ? found : WAITS_OF_CALL;
	for (int i = 0; is_all && i < found; i++)
		waits[i].flags |= AWAIT_PART;
	return found;
}

/* ---- requests that are freed, and messages that they may take ---- */

/* Of other requests it is not known which of those with this handle is meant: none is forgotten. */
bool request_remove(struct place place, MPI_Request handle)
{
	struct request **at, *removed;
	bool receives = false;

	pthread_mutex_lock(&changing);
	for (const struct request *request = *list_of(handle); request; request = request->next) {
		if (request->handle != handle || !request->is_active)
			continue;
		receives |= request->kind == REQUEST_RECEIVE;
		buffers_done(place, request->buffers);
	}
	for (at = list_of(handle); *at && ((*at)->handle != handle || !(*at)->is_persistent);)
		at = &(*at)->next;
	removed = *at;
	if (removed)
		*at = removed->next;
	pthread_mutex_unlock(&changing);
	if (removed)
		free(removed->kept);
	free(removed);
	return receives;
}

bool request_receives(MPI_Request handle)
{
	bool is_known = false, receives = true;

	pthread_mutex_lock(&changing);
	for (const struct request *request = *list_of(handle); request; request = request->next) {
		if (request->handle != handle || !request->is_active)
			continue;
		is_known = true;
		receives &= request->kind == REQUEST_RECEIVE;
	}
	pthread_mutex_unlock(&changing);
	return is_known && receives;
}

static bool may_take(const struct request *request, const struct comm *comm, int source, int tag)
{
	return request->kind == REQUEST_RECEIVE && request->is_active && request->comm == comm &&
	       (request->asked.source == MPI_ANY_SOURCE || request->asked.source == source) &&
	       (request->asked.tag == MPI_ANY_TAG || request->asked.tag == tag);
}

uint64_t requests_compatible(const struct comm *comm, int source, int tag)
{
	uint64_t count = 0;

	pthread_mutex_lock(&changing);
	for (int i = 0; i < PLACES; i++) {
		for (const struct request *request = requests[i]; request; request = request->next)
			count += may_take(request, comm, source, tag);
	}
	pthread_mutex_unlock(&changing);
	return count;
}
