// SPDX-License-Identifier: BSD-2-Clause
/* memory.c - MPI_Alloc_mem gives memory that peers can map when a window is made of it. */
#include "mpi/memory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mpi/calls.h"
#include "mpi/job.h"
#include "mpi/table.h"

/* What is Oriel's, so that the rest is freed by whose it is; and without looking at it when MPI has ended. */
static struct table allocated = TABLE_INITIAL;

static int keep(void *memory)
{
	if (table_add(&allocated, TABLE_KEY(memory), memory) == 0)
		return 0;
	oriel_free(job.oriel, memory);
	return -1;
}

/* The lowest that is free tells. */
bool memory_is_short_of_descriptors(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct rlimit limit;

	if (fd < 0)
		return true;
	close(fd);
	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd >= limit.rlim_cur / 2;
}

static void *allocate(MPI_Aint size)
{
	if (!job.oriel || size <= 0 || memory_is_short_of_descriptors())
		return NULL;
	return oriel_alloc(job.oriel, (size_t)size);
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
	void *memory = allocate(size);

	if (!memory || keep(memory))
		return own.Alloc_mem(size, info, baseptr);
	*(void **)baseptr = memory;
	return MPI_SUCCESS;
}
TAKEN(Alloc_mem);

int MPI_Free_mem(void *base)
{
	if (!base || !table_find(&allocated, TABLE_KEY(base)))
		return own.Free_mem(base);
	table_remove(&allocated, TABLE_KEY(base));
	if (job.oriel)
		oriel_free(job.oriel, base);
	return MPI_SUCCESS;
}
TAKEN(Free_mem);

static void release(void *memory)
{
	oriel_free(job.oriel, memory);
}

void memory_release(void)
{
	table_each(&allocated, release);
}
