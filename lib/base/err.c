// SPDX-License-Identifier: BSD-2-Clause
/* err.c - error codes as text, and the thread's last error; see err.h. */
#include "base/err.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The buffer is allocated at the thread's first error. The dynamic linker has little room for
 * thread-local storage of libraries that are loaded later, and libraries share it.
 */
static _Thread_local char *own_text;         /* NULL: no error yet, or no memory */
static _Thread_local const char *other_text; /* in place of own_text, where there is no memory */
static _Thread_local bool last_is_route;     /* the text is of err_set_route */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;

static void free_text(void *text)
{
	own_text = NULL;
	free(text);
}

static void make_key(void)
{
	pthread_key_create(&at_thread_end, free_text);
}

/* A program may unload the library that it has linked liboriel.a into; threads end later. */
__attribute__((destructor)) static void delete_key(void)
{
	pthread_once(&once, make_key);
	pthread_key_delete(at_thread_end);
}

/* Returns the thread's buffer, or NULL. */
static char *text_buffer(void)
{
	if (own_text)
		return own_text;
	own_text = malloc(ERR_TEXT_BYTES);
	if (own_text) {
		own_text[0] = '\0';
		pthread_once(&once, make_key);
		pthread_setspecific(at_thread_end, own_text);
	}
	return own_text;
}

static void set_text(int code, const char *format, va_list args)
{
	char *text = text_buffer();

	other_text = oriel_strerror(code);
	if (text)
		vsnprintf(text, ERR_TEXT_BYTES, format, args);
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
	if (!own_text || (strncmp(own_text, call, call_len) == 0 && own_text[call_len] == ':'))
		return code;
	memcpy(text, own_text, sizeof(text));
	snprintf(own_text, ERR_TEXT_BYTES, "%s: %.*s", call, (int)(sizeof(text) - 64), text);
	return code;
}

const char *oriel_last_error(void)
{
	if (own_text)
		return own_text;
	return other_text ? other_text : "";
}

const char *oriel_strerror(int error)
{
	switch ((enum oriel_error)error) {
	case ORIEL_OK:
		return "success";
	case ORIEL_ERR_ARG:
		return "wrong argument";
	case ORIEL_ERR_HANDLE:
		return "wrong handle";
	case ORIEL_ERR_RANK:
		return "wrong rank";
	case ORIEL_ERR_RANGE:
		return "outside the target's window";
	case ORIEL_ERR_ACCESS:
		return "the target's window may only be read";
	case ORIEL_ERR_SYNC:
		return "not legal in the window's present epochs";
	case ORIEL_ERR_PEER:
		return "a needed rank is dead or lost";
	case ORIEL_ERR_TIMEOUT:
		return "time limit passed";
	case ORIEL_ERR_MEMORY:
		return "out of memory, or memory could not be registered";
	case ORIEL_ERR_LIMIT:
		return "a bound of the library was reached";
	case ORIEL_ERR_DEVICE:
		return "no usable RDMA device, or the device failed";
	case ORIEL_ERR_BOOTSTRAP:
		return "the launcher could not be understood or reached";
	case ORIEL_ERR_OP:
		return "the operation is not defined for the type";
	case ORIEL_ERR_ATTACH:
		return "memory is attached already, or is not attached";
	case ORIEL_ERR_KIND:
		return "not for this kind of window";
	case ORIEL_ERR_SHARED:
		return "the members cannot share memory";
	case ORIEL_ERR_ROUTE:
		return "a needed rank lives and cannot be reached";
	}
	return "unknown error";
}
