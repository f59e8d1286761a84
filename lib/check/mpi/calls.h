/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.h - liboriel-check-<mpi>.so: MPI's calls, in front of oriel-mpi
 *
 * DESIGN NOTES
 *
 * LD_PRELOAD puts it in front of the layer. It takes all calls that move data one-sidedly, or by
 * which a rank may learn of another one: operations (operation_calls.c), epochs (epoch_calls.c),
 * windows (window_calls.c), messages (message_calls.c),
 * waits for requests (wait_calls.c), collective calls (collective_calls.c, icollective_calls.c,
 * init_calls.c), and the making of communicators (comm_calls.c). Both names of each call are
 * defined, as in the layer.
 *
 * Calls that an MPI or the layer makes inside of a taken call are passed on: `inside` counts.
 *
 * A function of the program that runs inside of a call is not followed. Where there may be one, no
 * deadlock is proven (callback_calls.c).
 *
 * Where a call may order ranks in a way that is not followed, as MPI_Comm_spawn does, the trace
 * says so, and judging ends there (unfollowed_calls.c).
 */
#ifndef ORIEL_CHECK_MPI_CALLS_H
#define ORIEL_CHECK_MPI_CALLS_H

#include <mpi.h>
#include <stdbool.h>

#include "check/front/write.h"
#include "check/mpi/buffers.h"

#define HERE(name) ((struct place){ name, __builtin_return_address(0) })

/* Follows the definition of MPI_X. */
#define TAKEN(name) extern __typeof__(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)))

/* The calls that this thread is inside of. */
extern _Thread_local int inside __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The program's call of a window that this thread is in, if it has a key. */
extern _Thread_local struct current {
	struct place place;
	uint64_t key;
	const struct side *origin, *target; /* of an accumulate; NULL: it is none */
} current __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The level of threads allows calls of one thread only: that for which this is set. */
extern bool is_one_thread __attribute__((visibility("hidden")));
extern _Thread_local bool may_call __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* It allows one thread at a time to be in a call. */
extern bool is_serialized __attribute__((visibility("hidden")));
extern _Thread_local bool is_counted __attribute__((tls_model("initial-exec"), visibility("hidden")));

void thread_enter(struct place place);
void thread_leave(void);

/* Records a call of another thread, once for each, or one beside that of another thread. */
static inline void thread_check(struct place place)
{
	if (is_serialized)
		thread_enter(place);
	if (!is_one_thread || may_call)
		return;
	may_call = true;
	trace_add(place, (struct trace_event){ .kind = TRACE_THREAD, .rank = -1 });
}

/* A call begins, which ends by call_end. Returns whether it is the program's, and is recorded. */
static inline bool call_begin(void)
{
	if (inside++ > 0)
		return false;
	current.key = 0;
	return trace_is_on();
}

static inline void call_end(void)
{
	if (--inside == 0 && is_counted)
		thread_leave();
}

/* ---- calls of windows ---- */

/* Returns NULL for a window that is not recorded. */
struct window *window_of(MPI_Win win);

/* Returns the member's rank in MPI_COMM_WORLD, or -1. */
int window_rank(const struct window *window, int member);

/* Begins a call. Returns the window, or NULL: the call is not recorded. */
struct window *window_begin(struct place here, MPI_Win win);

/* Ends a call of the window with this key, or 0; returns rc. */
int window_leave(struct place here, uint64_t key, int rc);

/* Returns 0 for NULL. */
uint64_t window_key(const struct window *window);

/* Records that the window's call is refused with this class of errors, if it is. */
void window_refused(struct place place, uint64_t key, int class);

/* comm.c: communicators */

/* Members in the order of a call's blocks, or MPI_PROC_NULL, which has a block that is not used. */
struct neighbors {
	int count;
	int *members;
};

struct comm {
	MPI_Comm handle;
	uint64_t id; /* the same on all members */
	int rank;    /* of this process in it */
	int size;
	int *ranks;                             /* of its members, in MPI_COMM_WORLD */
	struct neighbors sources, destinations; /* of its topology, if it has one */
	uint64_t collectives;
	uint64_t groups; /* communicators that have been made of some members */
	struct comm *next;
};

/* Returns NULL for communicators whose making was not followed. */
struct comm *comm_find(MPI_Comm handle);

/* Adds a communicator that all its members have made with this number. */
void comm_add(MPI_Comm handle, uint64_t number);

/*
 * Takes a communicator out before a call that frees it, behind which another one may have its
 * handle. Returns it, or NULL.
 */
struct comm *comm_take(MPI_Comm handle);
void comm_put_back(struct comm *comm);

/* Returns the group's ranks in MPI_COMM_WORLD, or NULL. The caller frees them. */
int *comm_ranks_of(MPI_Group group, int *count);

static inline int comm_world_rank(const struct comm *comm, int rank)
{
	return rank >= 0 && rank < comm->size ? comm->ranks[rank] : -1;
}

/* request.c: what happens when requests are complete */

enum request_kind { REQUEST_EVENT, REQUEST_RECEIVE };

/* A receive names these, which may be any. */
struct asked {
	int source, tag;
};

struct request {
	MPI_Request handle;
	enum request_kind kind;
	bool is_persistent;
	bool is_active;
	struct place place;
	struct trace_event begin; /* REQUEST_EVENT, persistent: recorded at each start; kind 0: nothing */
	struct trace_event event; /* REQUEST_EVENT: recorded at the end; kind 0: nothing */
	const struct comm *comm;  /* of a receive or a collective call */
	struct asked asked;
	struct trace_wait wait;    /* for its end; AWAIT_NONE: it is not shown */
	uint64_t buffers;          /* in use; 0: none */
	struct kept_buffers *kept; /* of a persistent request, or NULL */
	struct request *next;
};

void request_add(MPI_Request handle, struct request request);

/* A persistent request is started by the call at this place. */
void request_start(struct place place, MPI_Request handle);

/* The call at this place has found the request to be complete, with this status. */
void request_end(struct place place, MPI_Request handle, const MPI_Status *status);

/*
 * Finds what the requests wait for, until all have ended, or one of them. Returns how many waits
 * are to be shown, or 0.
 */
int requests_waits(const MPI_Request handles[], int count, bool is_all, struct trace_wait waits[WAITS_OF_CALL]);

/*
 * A request is freed: when its buffers are free is not known. Returns whether a receive of the
 * handle is active.
 */
bool request_remove(struct place place, MPI_Request handle);

/* Returns whether all active requests that have the handle are receives. */
bool request_receives(MPI_Request handle);

/* Returns how many receives are active that might have taken a message of this source and tag. */
uint64_t requests_compatible(const struct comm *comm, int source, int tag);

/* collective.c */

/* Records that a member leaves a collective call. */
void collective_leave(struct place place, const struct comm *comm, struct trace_event leave);

/* message_calls.c */

/* Records that a receive that has asked for a message has got this one. NULL: a probe has. */
void message_received(struct place place, const struct comm *comm, int source, int tag, const struct asked *asked);

/* Returns the event of a receive that begins. */
struct trace_event receive_event(const struct comm *comm, int source, int tag);

/* Returns the wait for a message; without a communicator, none that is shown. */
struct trace_wait message_wait(const struct comm *comm, int source, int tag);

/* Several threads of a rank of the job may call MPI at once. */
extern bool has_threads __attribute__((visibility("hidden")));

#endif
