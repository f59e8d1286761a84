// SPDX-License-Identifier: BSD-2-Clause
/* err.c - error codes as text, and the thread's last error; see err.h. */
#include "base/err.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANK_UNKNOWN (-1)

/*
 * Allocated at the thread's first error: the dynamic linker has little thread-local storage for
 * libraries that are loaded later.
 */
struct texts {
	char text[ERR_TEXT_BYTES];
	char framed[ERR_TEXT_BYTES + ERR_FRAME_BYTES]; /* returned by oriel_last_error */
};

static _Thread_local struct texts *own; /* NULL: no error yet, or no memory */
static _Thread_local int last_code;
static _Thread_local int last_rank;      /* when the error happened, or RANK_UNKNOWN */
static _Thread_local bool last_is_route; /* by err_set_route */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;

static pthread_mutex_t jobs_lock = PTHREAD_MUTEX_INITIALIZER; /* guards jobs; the others are loaded without */
static uint32_t jobs;
static int jobs_rank = RANK_UNKNOWN;
static pid_t jobs_pid; /* a forked child has none */

static void free_text(void *text)
{
	own = NULL;
	free(text);
}

static void make_key(void)
{
	pthread_key_create(&at_thread_end, free_text);
}

/* A program may unload the library that liboriel.a is linked into; threads end later. */
__attribute__((destructor)) static void delete_key(void)
{
	pthread_once(&once, make_key);
	pthread_key_delete(at_thread_end);
}

static struct texts *own_texts(void)
{
	if (own)
		return own;
	own = calloc(1, sizeof(*own));
	if (own) {
		pthread_once(&once, make_key);
		pthread_setspecific(at_thread_end, own);
	}
	return own;
}

void err_rank_enter(int rank)
{
	pthread_mutex_lock(&jobs_lock);
	if (jobs_pid != getpid())
		jobs = 0;
	if (jobs > 0 && jobs_rank != rank)
		rank = RANK_UNKNOWN;
	jobs++;
	__atomic_store_n(&jobs_rank, rank, __ATOMIC_RELAXED);
	__atomic_store_n(&jobs_pid, getpid(), __ATOMIC_RELAXED);
	pthread_mutex_unlock(&jobs_lock);
}

void err_rank_leave(void)
{
	pthread_mutex_lock(&jobs_lock);
	if (jobs > 0 && --jobs == 0)
		__atomic_store_n(&jobs_rank, RANK_UNKNOWN, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&jobs_lock);
}

/* Relaxed loads: the program orders its calls with oriel_init and oriel_finalize. */
static int own_rank(void)
{
	if (__atomic_load_n(&jobs_pid, __ATOMIC_RELAXED) != getpid())
		return RANK_UNKNOWN;
	return __atomic_load_n(&jobs_rank, __ATOMIC_RELAXED);
}

static void set_text(int code, const char *format, va_list args)
{
	struct texts *texts = own_texts();

	last_code = code;
	last_rank = own_rank();
	if (texts)
		vsnprintf(texts->text, sizeof(texts->text), format, args);
}

int err_set(int code, const char *format, ...)
{
	va_list args;

	last_is_route = false;
	va_start(args, format);
	set_text(code, format, args);
	va_end(args);
	return code;
}

int err_set_route(const char *format, ...)
{
	va_list args;

	last_is_route = true;
	va_start(args, format);
	set_text(ORIEL_ERR_ROUTE, format, args);
	va_end(args);
	return ORIEL_ERR_PEER;
}

int err_in(int code, const char *call)
{
	char text[ERR_TEXT_BYTES];
	size_t call_len = strlen(call);

	if (code == ORIEL_ERR_PEER && last_is_route)
		code = ORIEL_ERR_ROUTE;
	last_code = code;
	if (!own || (strncmp(own->text, call, call_len) == 0 && own->text[call_len] == ':'))
		return code;
	memcpy(text, own->text, sizeof(text));
	snprintf(own->text, sizeof(own->text), "%s: %.*s", call, (int)(sizeof(text) - 64), text);
	return code;
}

const char *err_text(void)
{
	if (own)
		return own->text;
	return last_code ? oriel_strerror(last_code) : "";
}

const char *oriel_strerror(int error)
{
	switch ((enum oriel_error)error) {
	case ORIEL_OK:
		return "success";
	case ORIEL_ERR_ARG:
		return "ORIEL_ERR_ARG: wrong argument";
	case ORIEL_ERR_HANDLE:
		return "ORIEL_ERR_HANDLE: wrong handle";
	case ORIEL_ERR_RANK:
		return "ORIEL_ERR_RANK: wrong rank";
	case ORIEL_ERR_RANGE:
		return "ORIEL_ERR_RANGE: outside the target's window";
	case ORIEL_ERR_ACCESS:
		return "ORIEL_ERR_ACCESS: the target's window may only be read";
	case ORIEL_ERR_SYNC:
		return "ORIEL_ERR_SYNC: not legal in the window's present epochs";
	case ORIEL_ERR_PEER:
		return "ORIEL_ERR_PEER: a needed rank is dead or lost";
	case ORIEL_ERR_TIMEOUT:
		return "ORIEL_ERR_TIMEOUT: time limit passed";
	case ORIEL_ERR_MEMORY:
		return "ORIEL_ERR_MEMORY: out of memory, or memory could not be registered";
	case ORIEL_ERR_LIMIT:
		return "ORIEL_ERR_LIMIT: a bound of the library was reached";
	case ORIEL_ERR_DEVICE:
		return "ORIEL_ERR_DEVICE: no usable RDMA device, or the device failed";
	case ORIEL_ERR_BOOTSTRAP:
		return "ORIEL_ERR_BOOTSTRAP: the launcher could not be understood or reached";
	case ORIEL_ERR_OP:
		return "ORIEL_ERR_OP: the operation is not defined for the type";
	case ORIEL_ERR_ATTACH:
		return "ORIEL_ERR_ATTACH: memory is attached already, or is not attached";
	case ORIEL_ERR_KIND:
		return "ORIEL_ERR_KIND: not for this kind of window";
	case ORIEL_ERR_SHARED:
		return "ORIEL_ERR_SHARED: the members cannot share memory";
	case ORIEL_ERR_ROUTE:
		return "ORIEL_ERR_ROUTE: a needed rank lives and cannot be reached";
	}
	return "unknown error";
}

const char *err_meaning(int code)
{
	const char *text = oriel_strerror(code), *colon = strchr(text, ':');

	return colon ? colon + 2 : text;
}

static void add_constant(char *to, size_t size_bytes, int code)
{
	const char *text = oriel_strerror(code), *colon = strchr(text, ':');

	if (colon)
		snprintf(to, size_bytes, " (%.*s)", (int)(colon - text), text);
}

const char *oriel_last_error(void)
{
	char *framed;
	size_t used;

	if (!own)
		return last_code ? oriel_strerror(last_code) : "";
	if (!*own->text)
		return own->text;
	framed = own->framed;
	if (last_rank == RANK_UNKNOWN)
		used = (size_t)snprintf(framed, sizeof(own->framed), "[pid %d] %s", (int)getpid(), own->text);
	else
		used = (size_t)snprintf(framed, sizeof(own->framed), "[rank %d] %s", last_rank, own->text);
	add_constant(framed + used, sizeof(own->framed) - used, last_code);
	return framed;
}
