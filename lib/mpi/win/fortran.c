// SPDX-License-Identifier: BSD-2-Clause
/*
 * fortran.c - Fortran's calls for attributes
 *
 * DESIGN NOTES
 *
 * Fortran's bindings call C's MPI_X or PMPI_X, which the layer takes, except for attributes, which
 * Fortran has as numbers instead of pointers. Open MPI's bindings read the window themselves; the
 * f08 module calls pmpi_win_get_attr_ and ompi_win_set_attr_f. MPICH's call functions of its C
 * library with another argument, which says that the value is a number; Fortran's predefined
 * keyvals are C's plus one.
 */
#include <dlfcn.h>
#include <string.h>

#include "mpi/win/window.h"

/* Finds the definition after this library's. */
static void find_next(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

#ifdef OMPI_MAJOR_VERSION

#define NEXT_NAME "ompi_win_get_attr_f"
#define TRUE_OF_FORTRAN 1

typedef void get_attr_call(MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierr);

get_attr_call mpi_win_get_attr_;

void mpi_win_get_attr_(MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierr)
{
	struct window *window = window_of(PMPI_Win_f2c(*win));
	get_attr_call *next;

	if (window && attribute_number(window, *keyval, value)) {
		*flag = TRUE_OF_FORTRAN;
		*ierr = MPI_SUCCESS;
		return;
	}
	*ierr = window_error(PMPI_Win_f2c(*win));
	if (*ierr)
		return;
	find_next(NEXT_NAME, &next);
	next(win, keyval, value, flag, ierr);
}

/* The spellings of Fortran compilers and of the profiling interface. */
#define SPELLED(name) extern get_attr_call name __attribute__((alias("mpi_win_get_attr_")))
SPELLED(mpi_win_get_attr);
SPELLED(mpi_win_get_attr__);
SPELLED(MPI_WIN_GET_ATTR);
SPELLED(pmpi_win_get_attr);
SPELLED(pmpi_win_get_attr_);
SPELLED(pmpi_win_get_attr__);
SPELLED(PMPI_WIN_GET_ATTR);
#undef SPELLED

typedef void set_attr_call(MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *ierr);

set_attr_call ompi_win_set_attr_f;

void ompi_win_set_attr_f(MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *ierr)
{
	struct window *window = window_of(PMPI_Win_f2c(*win));
	set_attr_call *next;

	*ierr = window_error(PMPI_Win_f2c(*win));
	if (*ierr)
		return;
	find_next("ompi_win_set_attr_f", &next);
	next(win, keyval, value, ierr);
	if (window && *ierr == MPI_SUCCESS)
		keyvals_add(&window->keyvals, *keyval);
}

#define SPELLED(name) extern set_attr_call name __attribute__((alias("ompi_win_set_attr_f")))
SPELLED(mpi_win_set_attr);
SPELLED(mpi_win_set_attr_);
SPELLED(mpi_win_set_attr__);
SPELLED(MPI_WIN_SET_ATTR);
SPELLED(pmpi_win_set_attr);
SPELLED(pmpi_win_set_attr_);
SPELLED(pmpi_win_set_attr__);
SPELLED(PMPI_WIN_SET_ATTR);

#else

typedef int get_attr_call(MPI_Win win, int keyval, void *value, int *flag, int sort);

get_attr_call MPII_Win_get_attr;

int MPII_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag, int sort)
{
	struct window *window = window_of(win);
	get_attr_call *next;

	if (window && attribute_number(window, keyval - 1, value)) {
		*flag = 1;
		return MPI_SUCCESS;
	}
	find_next("MPII_Win_get_attr", &next);
	return window_error(win) ?: next(win, keyval, value, flag, sort);
}

typedef int set_attr_call(MPI_Win win, int keyval, void *value, int sort);

set_attr_call MPII_Win_set_attr;

int MPII_Win_set_attr(MPI_Win win, int keyval, void *value, int sort)
{
	struct window *window = window_of(win);
	set_attr_call *next;
	int rc;

	find_next("MPII_Win_set_attr", &next);
	rc = window_error(win) ?: next(win, keyval, value, sort);
	if (window && rc == MPI_SUCCESS)
		keyvals_add(&window->keyvals, keyval);
	return rc;
}

#endif
