// SPDX-License-Identifier: BSD-2-Clause
/* See calls.h. */
#include "check/mpi/calls.h"

#include <pthread.h>
#include <string.h>

#include "mpi/type/flatten.h"

#define RECORDED_MOST 64 /* calls beside another one */
#define CALLS_MOST 64    /* at one time */

_Thread_local int inside __attribute__((tls_model("initial-exec")));
_Thread_local struct current current;
bool has_threads, is_one_thread, is_serialized;
_Thread_local bool may_call, is_counted;

/* Recompiled code calls it while it has values in vector registers. */
__attribute__((target("general-regs-only"))) static bool is_in_call(void)
{
	return inside > 0;
}

__attribute__((constructor)) static void begin(void)
{
	trace_is_in_call = is_in_call;
}

/* ---- threads ---- */

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static struct place calls[CALLS_MOST]; /* that threads are in; call NULL: none */
static int call_count, recorded;
static _Thread_local __attribute__((tls_model("initial-exec"))) struct place *own;

static void note(struct place other, struct place place)
{
	trace_add(other, (struct trace_event){ .kind = TRACE_THREAD, .flags = THREAD_INSIDE, .rank = -1 });
	trace_add(place, (struct trace_event){ .kind = TRACE_THREAD, .flags = THREAD_AT_ONCE, .rank = -1 });
}

/* Returns the first place that is free, or that is not. */
static struct place *find(bool is_free)
{
	for (int i = 0; i < CALLS_MOST; i++) {
		if (!calls[i].call == is_free)
			return &calls[i];
	}
	return NULL;
}

void thread_enter(struct place place)
{
	if (is_counted)
		return;
	pthread_mutex_lock(&changing);
	if (call_count > 0 && recorded++ < RECORDED_MOST)
		note(*find(false), place);
	own = find(true);
	if (own) {
		*own = place;
		call_count++;
		is_counted = true;
	}
	pthread_mutex_unlock(&changing);
}

void thread_leave(void)
{
	is_counted = false;
	pthread_mutex_lock(&changing);
	own->call = NULL;
	call_count--;
	pthread_mutex_unlock(&changing);
}

/* ---- windows ---- */

struct window *window_of(MPI_Win win)
{
	return win == MPI_WIN_NULL ? NULL : window_find((uint64_t)(uintptr_t)win);
}

int window_rank(const struct window *window, int member)
{
	return member >= 0 && member < window->count ? window->ranks[member] : -1;
}

struct window *window_begin(struct place here, MPI_Win win)
{
	struct window *window = call_begin() ? window_of(win) : NULL;

	if (!window)
		return NULL;
	current = (struct current){ .place = here, .key = window->key };
	thread_check(here);
	return window;
}

static uint16_t why_refused(int class)
{
	if (class == MPI_ERR_RMA_SYNC)
		return REFUSED_SYNC;
	if (class == MPI_ERR_RMA_RANGE)
		return REFUSED_RANGE;
	if (class == MPI_ERR_ARG || class == MPI_ERR_RANK || class == MPI_ERR_OP || class == MPI_ERR_TYPE ||
	    class == MPI_ERR_COUNT || class == MPI_ERR_DISP || class == MPI_ERR_RMA_FLAVOR)
		return REFUSED_ARGUMENT;
	return 0;
}

static void write_name(char to[REFUSED_NAME_BYTES], MPI_Datatype type)
{
	char text[MPI_MAX_OBJECT_NAME];
	const char *name = contents_name(type, (enum oriel_type)type_element(type), text);

	memcpy(to, name, strnlen(name, REFUSED_NAME_BYTES - 1));
}

/* Records that the call of an accumulate is refused, if its datatypes have different names. */
static bool is_mixture(struct place place, uint64_t key)
{
	char names[PART_NAME_BYTES] = "", *target = names + REFUSED_NAME_BYTES;

	if (!current.origin)
		return false;
	write_name(names, current.origin->type);
	write_name(target, current.target->type);
	if (strcmp(names, target) == 0)
		return false;
	trace_text(place, (struct trace_event){ .kind = TRACE_REFUSED, .flags = REFUSED_TYPES, .object = key, .rank = -1 },
	           names);
	return true;
}

void window_refused(struct place place, uint64_t key, int class)
{
	uint16_t why = why_refused(class);

	if (why && !(class == MPI_ERR_TYPE && is_mixture(place, key)))
		trace_add(place, (struct trace_event){ .kind = TRACE_REFUSED, .flags = why, .object = key, .rank = -1 });
}

/* A call that has failed may have done a part. */
int window_leave(struct place here, uint64_t key, int rc)
{
	int class = MPI_SUCCESS;

	if (key && rc != MPI_SUCCESS) {
		PMPI_Error_class(rc, &class);
		window_refused(here, key, class);
		trace_unknown(here);
	}
	call_end();
	return rc;
}

uint64_t window_key(const struct window *window)
{
	return window ? window->key : 0;
}
