// SPDX-License-Identifier: BSD-2-Clause
/*
 * refused.c - one rank has no handle for a window: all of them leave it to the MPI, and nobody waits
 *
 * It is preloaded behind the layer, too (refused.so): there it is what stands in the MPI's place, and makes no handle while
 * refused_fails is not 0.
 */
#include <dlfcn.h>
#include <string.h>

#include "layer.h"

#ifdef REFUSED_PRELOAD

int refused_fails;

/* ISO C has no cast from an object's address to a function's. */
static void find_next(const char *name, void *function)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

/* A handle is the window of one rank. */
static int fails(MPI_Comm comm)
{
	int size;

	MPI_Comm_size(comm, &size);
	return size == 1 && refused_fails;
}

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	int (*next)(MPI_Info, MPI_Comm, MPI_Win *);

	find_next("PMPI_Win_create_dynamic", &next);
	return fails(comm) ? MPI_ERR_OTHER : next(info, comm, win);
}

int PMPI_Win_allocate(MPI_Aint size_bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
	int (*next)(MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *);

	find_next("PMPI_Win_allocate", &next);
	return fails(comm) ? MPI_ERR_OTHER : next(size_bytes, unit, info, comm, base, win);
}

#else

enum { WINDOWS = 3 };

/* The one rank whose handles are none. */
static void set_fails(int fails)
{
	int *refused_fails = dlsym(RTLD_DEFAULT, "refused_fails");

	EXPECT(refused_fails != NULL);
	if (refused_fails && layer_rank == layer_size - 1)
		*refused_fails = fails;
}

/* A rank writes to its neighbour. */
static void use(MPI_Win win)
{
	int memory = -1;

	MPI_Win_attach(win, &memory, sizeof(memory));
	layer_put_to_address(win, &memory);
	MPI_Win_detach(win, &memory);
}

/* Handles that are kept from before serve first: so more windows are open than there were. */
static void W1_no_handle(void)
{
	MPI_Win wins[WINDOWS];

	for (int times = 0; times < 2; times++) {
		for (int i = 0; i < WINDOWS; i++) {
			set_fails(i >= 1);
			MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &wins[i]);
			use(wins[i]);
		}
		set_fails(0);
		for (int i = 0; i < WINDOWS; i++)
			MPI_Win_free(&wins[i]);
	}
}

/* The first window of a communicator is agreed on before it is made. */
static void W1_no_handle_at_first(void)
{
	MPI_Comm comm;
	MPI_Win first, second;

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &first); /* takes the handle that is kept */
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	for (int fails = 1; fails >= 0; fails--) {
		set_fails(fails);
		MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &second);
		use(second);
		MPI_Win_free(&second);
	}
	MPI_Comm_free(&comm);
	MPI_Win_free(&first);
}

static const struct layer_case cases[] = {
	{ "W1_no_handle", W1_no_handle },
	{ "W1_no_handle_at_first", W1_no_handle_at_first },
};
LAYER_MAIN(cases)

#endif
