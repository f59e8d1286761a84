// SPDX-License-Identifier: BSD-2-Clause
/* memory.c - memory of MPI_Alloc_mem that peers can map if it becomes part of a window */
#include "mpi/job/memory.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mpi/job/job.h"
#include "mpi/job/real_mpi.h"
#include "mpi/job/table.h"

/*
 * Pieces by address, kept ones too; other memory is the MPI's. After MPI_Finalize, MPI_Free_mem
 * looks here without reading the piece.
 */
static struct table known = TABLE_INITIAL;

/* Guards pieces.c. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long descriptor_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < LONG_MAX ? (long)limit.rlim_cur : LONG_MAX;
}

/* Returns the lowest free descriptor, about the number in use; -1: none. */
static int lowest_descriptor(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd;
}

static bool descriptors_are_short(void)
{
	int fd = lowest_descriptor();

	return fd < 0 || fd >= descriptor_limit() / 2;
}

bool memory_has_descriptors(int count)
{
	int fd = lowest_descriptor();

	return fd >= 0 && fd + (long)count <= descriptor_limit();
}

static void release(struct piece *piece)
{
	table_remove(&known, TABLE_KEY(piece->base));
	oriel_free(job.oriel, piece->base);
	free(piece);
}

/* Releases the oldest kept piece; false: none. */
static bool release_oldest(void)
{
	struct piece *piece;

	pthread_mutex_lock(&lock);
	piece = pieces_oldest();
	pthread_mutex_unlock(&lock);
	if (piece)
		release(piece);
	return piece;
}

bool memory_is_short_of_descriptors(void)
{
	while (descriptors_are_short()) {
		if (!release_oldest())
			return true;
	}
	return false;
}

static void *allocate(size_t size_bytes)
{
	void *memory;

	if (memory_is_short_of_descriptors())
		return NULL;
	do
		memory = oriel_alloc(job.oriel, size_bytes);
	while (!memory && release_oldest());
	return memory;
}

static struct piece *make_known(struct piece *piece)
{
	if (table_add(&known, TABLE_KEY(piece->base), piece) == 0)
		return piece;
	oriel_free(job.oriel, piece->base);
	free(piece);
	return NULL;
}

static struct piece *new_piece(size_t size_bytes)
{
	struct piece *piece = calloc(1, sizeof(*piece));

	if (!piece)
		return NULL;
	piece->size_bytes = pieces_round(size_bytes);
	piece->base = allocate(piece->size_bytes);
	if (piece->base)
		return make_known(piece);
	free(piece);
	return NULL;
}

static void *large(size_t size_bytes)
{
	struct piece *piece;
	bool recurs;

	pthread_mutex_lock(&lock);
	piece = pieces_take(size_bytes);
	recurs = piece || pieces_recur(pieces_round(size_bytes));
	pthread_mutex_unlock(&lock);
	if (!piece)
		piece = new_piece(size_bytes);
	if (!piece)
		return NULL;
	piece->recurs = recurs;
	return piece->base;
}

/* On failure small memory comes from the MPI. */
static void open_slots(void)
{
	struct piece *piece = new_piece(SLOTS_BYTES);

	if (piece)
		slots_open(piece->base);
}

static void *small(size_t size_bytes)
{
	static pthread_once_t opened = PTHREAD_ONCE_INIT;
	void *slot;

	if (!slots_are_open() && (pthread_once(&opened, open_slots) || !slots_are_open()))
		return NULL;
	pthread_mutex_lock(&lock);
	slot = slots_take(size_bytes);
	pthread_mutex_unlock(&lock);
	return slot;
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
	void *memory = NULL;

	if (job.oriel && size > 0)
		memory = (size_t)size < PIECE_BYTES_MIN ? small((size_t)size) : large((size_t)size);
	if (!memory)
		return real_mpi.Alloc_mem(size, info, baseptr);
	*(void **)baseptr = memory;
	return MPI_SUCCESS;
}
TAKEN(Alloc_mem);

static bool keep(struct piece *piece)
{
	bool kept;

	pthread_mutex_lock(&lock);
	kept = pieces_keep(piece);
	pthread_mutex_unlock(&lock);
	return kept;
}

static void free_piece(struct piece *piece)
{
	bool wanted;

	pthread_mutex_lock(&lock);
	wanted = pieces_wants(piece);
	pthread_mutex_unlock(&lock);
	if (!wanted) {
		release(piece);
		return;
	}
	while (!keep(piece))
		release_oldest();
}

static void free_slot(void *slot)
{
	pthread_mutex_lock(&lock);
	slots_give(slot);
	pthread_mutex_unlock(&lock);
}

int MPI_Free_mem(void *base)
{
	struct piece *piece;

	if (slots_has(base)) {
		free_slot(base);
		return MPI_SUCCESS;
	}
	piece = table_find(&known, TABLE_KEY(base));
	if (!piece)
		return real_mpi.Free_mem(base);
	if (job.oriel)
		free_piece(piece);
	return MPI_SUCCESS;
}
TAKEN(Free_mem);

static void release_memory(void *piece)
{
	oriel_free(job.oriel, ((const struct piece *)piece)->base);
}

void memory_release(void)
{
	table_each(&known, release_memory);
}
