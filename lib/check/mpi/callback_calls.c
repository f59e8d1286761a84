// SPDX-License-Identifier: BSD-2-Clause
/*
 * callback_calls.c - calls that give the MPI a function of the program; see calls.h
 *
 * DESIGN NOTES
 *
 * An MPI calls such a function inside of another call: when attributes are copied or deleted, after
 * an error, or when a generalized request ends. It may sleep, make calls that are not counted, or
 * never return. So no deadlock is proven of a process that has given one. MPI's own functions, such
 * as MPI_ERRORS_RETURN, do none of this. One for MPI_Op_create may not communicate.
 *
 * Bindings for Fortran and C++ of Open MPI go past MPI's names, to those of Open MPI.
 */
#include <stdlib.h>

#include "check/mpi/calls.h"

#define CALLS_OF_MPI_3(X)                                                                               \
	X(Comm_create_keyval)                                                                               \
	X(Win_create_keyval)                                                                                \
	X(Type_create_keyval)                                                                               \
	X(Comm_create_errhandler) X(Win_create_errhandler) X(File_create_errhandler) X(Comm_set_errhandler) \
		X(Win_set_errhandler) X(Grequest_start)
#if MPI_VERSION >= 4
#define CALLS_OF_MPI_4(X) X(Session_create_errhandler)
#else
#define CALLS_OF_MPI_4(X)
#endif
#define CALLS(X) CALLS_OF_MPI_3(X) CALLS_OF_MPI_4(X)

#include "check/mpi/next.h"

/* The layer's own functions are known: its calls are no program's. */
static bool is_of_layer(const void *caller)
{
	Dl_info object;
	const char *slash;

	if (!dladdr(caller, &object) || !object.dli_fname)
		return false;
	slash = strrchr(object.dli_fname, '/');
	return strncmp(slash ? slash + 1 : object.dli_fname, "liboriel", 8) == 0;
}

/* A call that ends by call_end gives functions to the MPI; `plain` ones are MPI's own. */
static void given(const void *caller, bool plain)
{
	if (inside++ == 0 && !plain && !is_of_layer(caller))
		trace_unproven();
}

static int end(int rc)
{
	call_end();
	return rc;
}

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                           MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state)
{
	given(__builtin_return_address(0),
	      (comm_copy_attr_fn == MPI_COMM_NULL_COPY_FN || comm_copy_attr_fn == MPI_COMM_DUP_FN) &&
	          comm_delete_attr_fn == MPI_COMM_NULL_DELETE_FN);
	return end(next.Comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state));
}
TAKEN(Comm_create_keyval);

int MPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                          MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state)
{
	given(__builtin_return_address(0),
	      (win_copy_attr_fn == MPI_WIN_NULL_COPY_FN || win_copy_attr_fn == MPI_WIN_DUP_FN) &&
	          win_delete_attr_fn == MPI_WIN_NULL_DELETE_FN);
	return end(next.Win_create_keyval(win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state));
}
TAKEN(Win_create_keyval);

int MPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                           MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state)
{
	given(__builtin_return_address(0),
	      (type_copy_attr_fn == MPI_TYPE_NULL_COPY_FN || type_copy_attr_fn == MPI_TYPE_DUP_FN) &&
	          type_delete_attr_fn == MPI_TYPE_NULL_DELETE_FN);
	return end(next.Type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state));
}
TAKEN(Type_create_keyval);

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
{
	given(__builtin_return_address(0), false);
	return end(next.Comm_create_errhandler(comm_errhandler_fn, errhandler));
}
TAKEN(Comm_create_errhandler);

int MPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn, MPI_Errhandler *errhandler)
{
	given(__builtin_return_address(0), false);
	return end(next.Win_create_errhandler(win_errhandler_fn, errhandler));
}
TAKEN(Win_create_errhandler);

int MPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler)
{
	given(__builtin_return_address(0), false);
	return end(next.File_create_errhandler(file_errhandler_fn, errhandler));
}
TAKEN(File_create_errhandler);

/* C++ has a handler that throws, and is there without a call. */
static bool is_plain_handler(MPI_Errhandler handler)
{
	return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
	given(__builtin_return_address(0), is_plain_handler(errhandler));
	return end(next.Comm_set_errhandler(comm, errhandler));
}
TAKEN(Comm_set_errhandler);

int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
	given(__builtin_return_address(0), is_plain_handler(errhandler));
	return end(next.Win_set_errhandler(win, errhandler));
}
TAKEN(Win_set_errhandler);

int MPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                       MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request)
{
	given(__builtin_return_address(0), false);
	return end(next.Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request));
}
TAKEN(Grequest_start);

#if MPI_VERSION >= 4
int MPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn, MPI_Errhandler *errhandler)
{
	given(__builtin_return_address(0), false);
	return end(next.Session_create_errhandler(session_errhandler_fn, errhandler));
}
TAKEN(Session_create_errhandler);
#endif

/* ---- calls that mpi.h may not have, or forbids: their arguments are pointers and numbers ---- */

typedef uintptr_t word;
typedef word words_function(word a, word b, word c, word d, word e, word f, word g);

/* Notes that functions are given. Returns the function behind this call, which leave ends. */
static words_function *given_to(const char *name, const void *caller)
{
	words_function *function = NULL;

	given(caller, false);
	find_behind(name, &function);
	if (!function)
		abort(); /* the program has called it: it is there */
	return function;
}

static word leave(word result)
{
	call_end();
	return result;
}

extern words_function keyval_create __asm__("MPI_Keyval_create");
word keyval_create(word a, word b, word c, word d, word e, word f, word g)
{
	return leave(given_to("PMPI_Keyval_create", __builtin_return_address(0))(a, b, c, d, e, f, g));
}
extern words_function p_keyval_create __asm__("PMPI_Keyval_create") __attribute__((alias("MPI_Keyval_create")));

extern words_function errhandler_create __asm__("MPI_Errhandler_create");
word errhandler_create(word a, word b, word c, word d, word e, word f, word g)
{
	return leave(given_to("PMPI_Errhandler_create", __builtin_return_address(0))(a, b, c, d, e, f, g));
}
extern words_function p_errhandler_create __asm__("PMPI_Errhandler_create")
	__attribute__((alias("MPI_Errhandler_create")));

#ifdef OPEN_MPI
extern words_function attribute_key __asm__("ompi_attr_create_keyval");
word attribute_key(word a, word b, word c, word d, word e, word f, word g)
{
	return leave(given_to("ompi_attr_create_keyval", __builtin_return_address(0))(a, b, c, d, e, f, g));
}

extern words_function attribute_key_of_addresses __asm__("ompi_attr_create_keyval_aint");
word attribute_key_of_addresses(word a, word b, word c, word d, word e, word f, word g)
{
	return leave(given_to("ompi_attr_create_keyval_aint", __builtin_return_address(0))(a, b, c, d, e, f, g));
}

extern words_function attribute_key_of_integers __asm__("ompi_attr_create_keyval_fint");
word attribute_key_of_integers(word a, word b, word c, word d, word e, word f, word g)
{
	return leave(given_to("ompi_attr_create_keyval_fint", __builtin_return_address(0))(a, b, c, d, e, f, g));
}

extern words_function handler_of_any __asm__("ompi_errhandler_create");
word handler_of_any(word a, word b, word c, word d, word e, word f, word g)
{
	return leave(given_to("ompi_errhandler_create", __builtin_return_address(0))(a, b, c, d, e, f, g));
}
#else
extern words_function grequest_start __asm__("MPIX_Grequest_start");
word grequest_start(word a, word b, word c, word d, word e, word f, word g)
{
	return leave(given_to("PMPIX_Grequest_start", __builtin_return_address(0))(a, b, c, d, e, f, g));
}
extern words_function p_grequest_start __asm__("PMPIX_Grequest_start") __attribute__((alias("MPIX_Grequest_start")));

extern words_function grequest_class_create __asm__("MPIX_Grequest_class_create");
word grequest_class_create(word a, word b, word c, word d, word e, word f, word g)
{
	return leave(given_to("PMPIX_Grequest_class_create", __builtin_return_address(0))(a, b, c, d, e, f, g));
}
extern words_function p_grequest_class_create __asm__("PMPIX_Grequest_class_create")
	__attribute__((alias("MPIX_Grequest_class_create")));
#endif
