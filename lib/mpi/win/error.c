// SPDX-License-Identifier: BSD-2-Clause
/* See error.h. */
#include "mpi/win/error.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/job/job.h"
#include "mpi/job/real_mpi.h"
#include "oriel.h"

#define CLASSES_MAX 32

struct class_code {
	int class;
	int code;
	char text[MPI_MAX_ERROR_STRING];
};

static struct class_code codes[CLASSES_MAX];
static size_t code_count;
static pthread_mutex_t codes_lock = PTHREAD_MUTEX_INITIALIZER;

static const struct {
	int class;
	int code;
} classes[] = {
	{ ORIEL_ERR_ARG, MPI_ERR_ARG },           { ORIEL_ERR_HANDLE, MPI_ERR_WIN },
	{ ORIEL_ERR_RANK, MPI_ERR_RANK },         { ORIEL_ERR_RANGE, MPI_ERR_RMA_RANGE },
	{ ORIEL_ERR_ACCESS, MPI_ERR_ACCESS },     { ORIEL_ERR_SYNC, MPI_ERR_RMA_SYNC },
	{ ORIEL_ERR_MEMORY, MPI_ERR_NO_MEM },     { ORIEL_ERR_OP, MPI_ERR_OP },
	{ ORIEL_ERR_ATTACH, MPI_ERR_RMA_ATTACH }, { ORIEL_ERR_KIND, MPI_ERR_RMA_FLAVOR },
	{ ORIEL_ERR_SHARED, MPI_ERR_RMA_SHARED },
};

int error_class(int rc)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (classes[i].class == rc)
			return classes[i].code;
	return MPI_ERR_OTHER;
}

static struct class_code *find_code(int class)
{
	for (size_t i = 0; i < code_count; i++)
		if (codes[i].class == class)
			return &codes[i];
	return NULL;
}

static struct class_code *add_code(int class)
{
	struct class_code *new = &codes[code_count];

	if (code_count == CLASSES_MAX || PMPI_Add_error_code(class, &new->code))
		return NULL;
	new->class = class;
	code_count++;
	return new;
}

/*
 * Writes the caller's rank, the text, and the class. A text that is too long is cut:
 * MPI_MAX_ERROR_STRING may be 256.
 */
static void write_error(char to[MPI_MAX_ERROR_STRING], int class, const char *text)
{
	const char *name = language_class(class);
	char begin[48];
	size_t room = MPI_MAX_ERROR_STRING - sizeof(" ()") - strlen(name);

	room -= (size_t)snprintf(begin, sizeof(begin), "Oriel: [rank %d] ", job.rank);
	snprintf(to, MPI_MAX_ERROR_STRING, "%s%.*s (%s)", begin, (int)room, text, name);
}

int error_code(int class, const char *text)
{
	struct class_code *code;

	pthread_mutex_lock(&codes_lock);
	code = find_code(class);
	if (!code)
		code = add_code(class);
	if (code) {
		write_error(code->text, class, text);
		PMPI_Add_error_string(code->code, code->text); /* for the MPI's last message */
	}
	pthread_mutex_unlock(&codes_lock);
	return code ? code->code : class;
}

/* MPICH returns no added text for a code of its own classes. */
int MPI_Error_string(int errorcode, char *string, int *resultlen)
{
	int rc = -1;

	pthread_mutex_lock(&codes_lock);
	for (size_t i = 0; i < code_count; i++)
		if (codes[i].code == errorcode) {
			*resultlen = snprintf(string, MPI_MAX_ERROR_STRING, "%s", codes[i].text);
			rc = MPI_SUCCESS;
		}
	pthread_mutex_unlock(&codes_lock);
	return rc == MPI_SUCCESS ? rc : real_mpi.Error_string(errorcode, string, resultlen);
}
TAKEN(Error_string);

/*
 * Ends the program if the handler does: it would print the MPI's text for the code, which says
 * less, or a foreign one (MPICH).
 */
static void before_handler(MPI_Comm comm, MPI_Errhandler handler, int class, const char *text)
{
	if (handler != MPI_ERRORS_ARE_FATAL) {
		PMPI_Errhandler_free(&handler);
		return;
	}
	job_warn("%s (%s)", text, language_class(class));
	job_abort(comm, class);
}

static int raise_on_window(const struct window *window, int class, const char *text)
{
	int code = error_code(class, text);
	MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;

	PMPI_Win_get_errhandler(window->handle, &handler);
	before_handler(MPI_COMM_WORLD, handler, class, text);
	PMPI_Win_call_errhandler(window->handle, code);
	return code;
}

int error_on_window(const struct window *window, int class, const char *call, const char *why)
{
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	char text[LANGUAGE_BYTES];

	oriel_win_query(window->win, &info);
	snprintf(text, sizeof(text), *info.name ? "%s: window %llu (%s): %s" : "%s: window %llu%s: %s", call,
	         (unsigned long long)info.number, info.name, why);
	return raise_on_window(window, class, text);
}

int error_on_comm(MPI_Comm comm, int class, const char *text)
{
	int code = error_code(class, text);
	MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;

	PMPI_Comm_get_errhandler(comm, &handler);
	before_handler(comm, handler, class, text);
	PMPI_Comm_call_errhandler(comm, code);
	return code;
}

int error_of_oriel(const struct window *window, int rc)
{
	char text[LANGUAGE_BYTES];

	return raise_on_window(window, error_class(rc), language_of_mpi(window, oriel_last_error(), text));
}

int error_of_oriel_on(MPI_Win handle, int rc)
{
	return error_of_oriel(window_of(handle), rc);
}
