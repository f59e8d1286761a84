// SPDX-License-Identifier: BSD-2-Clause
/*
 * refused.c - one rank has no handle for a window, or no descriptor: all of them leave it to the
 * MPI, and none waits
 *
 * It is preloaded behind the layer, too (refused.so): there it takes the MPI's place, and makes no
 * handle while refused_fails is not 0.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* From now on a process may have so many descriptors, of which some are in use. */
static void limit_descriptors(rlim_t count)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = count;
	EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static int some_are_left(void)
{
	int list[20], count = 0;

	while (count < 20 && (list[count] = open("/dev/null", O_RDONLY)) >= 0)
		count++;
	for (int i = 0; i < count; i++)
		close(list[i]);
	return count == 20;
}

/* More memory than there are descriptors for: what is left of these is the program's, and the MPI's. */
static void W4_descriptors_are_left(void)
{
	enum { BLOCKS = 60, LIMIT = 160, ALLOCATED = 1 << 16, WINDOW = 16 /* less MPICH itself gets wrong */ };
	int *memory[BLOCKS];
	MPI_Win wins[BLOCKS];

	limit_descriptors(LIMIT);
	for (int i = 0; i < BLOCKS; i++)
		MPI_Alloc_mem(ALLOCATED, MPI_INFO_NULL, &memory[i]);
	EXPECT(some_are_left());
	for (int i = 0; i < BLOCKS; i++) {
		*memory[i] = i;
		MPI_Free_mem(memory[i]);
	}
	if (layer_size > 2) /* the MPI's own windows take their time */
		return;
	for (int i = 0; i < BLOCKS; i++)
		MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory[i], &wins[i]);
	EXPECT(some_are_left());
	for (int i = 0; i < BLOCKS; i++) {
		MPI_Win_fence(0, wins[i]);
		MPI_Put(&i, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, wins[i]);
		MPI_Win_fence(0, wins[i]);
		EXPECT(*memory[i] == i);
		MPI_Win_free(&wins[i]);
	}
}

static const struct layer_case cases[] = {
	{ "W1_no_handle", W1_no_handle },
	{ "W1_no_handle_at_first", W1_no_handle_at_first },
	{ "W4_descriptors_are_left", W4_descriptors_are_left },
};
LAYER_MAIN(cases)

#endif
