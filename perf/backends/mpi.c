// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi.c - the patterns on MPI's one-sided calls, for Open MPI and MPICH
 *
 * perf/perf.mk links it with the driver of Oriel's programs. The two libraries have different
 * headers, so each mpicc compiles it once.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/backend.h"

#define SPINS_BEFORE_PROGRESS 256

#ifdef OPEN_MPI
#define MPI_NAME "openmpi"
#define TRANSPORT "OMPI_MCA_osc"
#else
#define MPI_NAME "mpich"
#define TRANSPORT "UCX_TLS"
#endif

static MPI_Win win = MPI_WIN_NULL;
static MPI_Group all = MPI_GROUP_NULL, partners = MPI_GROUP_NULL;
static enum perf_sync sync;
static int rank;
static MPI_Aint *bases; /* each rank's address in a dynamic window; NULL: displacements from 0 */
static void *window_of_mpi, *origin_of_mpi; /* from MPI_Alloc_mem */

/* Errors abort the job with the library's message: MPI_ERRORS_ARE_FATAL is the default. */

/* Steps. */

static MPI_Aint there(int to, size_t disp)
{
	return (bases ? bases[to] : 0) + (MPI_Aint)disp;
}

static int put(const struct perf_turn *turn, int to, size_t at)
{
	return MPI_Put(turn->origin + at, (int)turn->size_bytes, MPI_BYTE, to, there(to, put_disp(turn, to) + at),
	               (int)turn->size_bytes, MPI_BYTE, win);
}

static int get(const struct perf_turn *turn, int from, uint8_t *here, size_t at)
{
	return MPI_Get(here, (int)turn->size_bytes, MPI_BYTE, from, there(from, get_disp(turn) + at), (int)turn->size_bytes,
	               MPI_BYTE, win);
}

static int start(const struct perf_turn *turn)
{
	(void)turn;
	return MPI_Win_start(partners, 0, win);
}

static int complete(const struct perf_turn *turn)
{
	(void)turn;
	return MPI_Win_complete(win);
}

static int post(const struct perf_turn *turn)
{
	(void)turn;
	return MPI_Win_post(partners, 0, win);
}

static int await(const struct perf_turn *turn)
{
	(void)turn;
	return MPI_Win_wait(win);
}

static int fence(void)
{
	return MPI_Win_fence(0, win);
}

static int flush_one(int to)
{
	return MPI_Win_flush(to, win);
}

static int flush_all(void)
{
	return MPI_Win_flush_all(win);
}

static int lock(const struct perf_turn *turn, int to)
{
	return MPI_Win_lock(turn->lock == LOCK_SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, win);
}

static int unlock(const struct perf_turn *turn, int to)
{
	(void)turn;
	return MPI_Win_unlock(to, win);
}

static int accumulate(const struct perf_turn *turn, int to, size_t at)
{
	const MPI_Datatype types[] = { [TYPE_DOUBLE] = MPI_DOUBLE, [TYPE_CHAR] = MPI_CHAR, [TYPE_LONG] = MPI_LONG };
	int count = (int)(turn->size_bytes / type_bytes(turn->type));
	MPI_Datatype type = types[turn->type];

	return MPI_Accumulate(turn->origin + at, count, type, to, there(to, put_disp(turn, to) + at), count, type, MPI_SUM,
	                      win);
}

static int fetch_and_add(const struct perf_turn *turn, int to)
{
	struct perf_words *words = words_of(turn);

	return MPI_Fetch_and_op(&words->operand, &words->result, MPI_INT64_T, to, there(to, word_disp(turn)), MPI_SUM, win);
}

static int swap(const struct perf_turn *turn, int to)
{
	struct perf_words *words = words_of(turn);

	return MPI_Compare_and_swap(&words->operand, &words->compare, &words->result, MPI_INT64_T, to,
	                            there(to, word_disp(turn)), win);
}

/* Polls: the target's library may have to place puts that came as messages. */
static void look(long spins)
{
	int found;

	if ((spins + 1) % SPINS_BEFORE_PROGRESS == 0)
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

#include "backends/turns_acc.h"

/* Windows. */

static int win_create(const struct perf_turn *turn)
{
	void *memory = (void *)(uintptr_t)turn->window;
	MPI_Win made;

	MPI_Win_create(memory, (MPI_Aint)turn->size_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
	return MPI_Win_free(&made);
}

static int win_allocate(const struct perf_turn *turn)
{
	MPI_Win made;
	void *base;

	MPI_Win_allocate((MPI_Aint)turn->size_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
	return MPI_Win_free(&made);
}

static int win_dynamic(const struct perf_turn *turn)
{
	void *memory = (void *)(uintptr_t)turn->window;
	MPI_Win made;

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made);
	MPI_Win_attach(made, memory, (MPI_Aint)turn->size_bytes);
	MPI_Win_detach(made, memory);
	return MPI_Win_free(&made);
}

static perf_turn_fn turn_of_windows(enum perf_pattern pattern)
{
	switch (pattern) {
	case PATTERN_WIN_CREATE:
		return win_create;
	case PATTERN_WIN_ALLOCATE:
		return win_allocate;
	case PATTERN_WIN_DYNAMIC:
		return win_dynamic;
	default:
		return NULL;
	}
}

static perf_turn_fn turn_of(enum perf_pattern pattern, enum perf_sync by)
{
	perf_turn_fn turn = turn_of_windows(pattern);

	if (turn)
		return turn;
	turn = by == SYNC_LOCK ? turn_of_locks(pattern) : turn_of_steps(pattern, by);
	return turn ? turn : turn_of_accumulates(pattern, by);
}

/* Joining. */

static int barrier(void)
{
	if (sync == SYNC_FENCE)
		return MPI_Win_fence(0, win);
	if (sync == SYNC_PSCW || sync == SYNC_LOCK)
		return MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Win_sync(win);
}

static int agree(int64_t *value)
{
	MPI_Bcast(value, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	return barrier();
}

/* Makes the partners' group: the neighbours for the hub, the hub for a neighbour. */
static void make_groups(int neighbours)
{
	int hub = 0, range[1][3] = { { 1, neighbours, 1 } };

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	if (rank == 0)
		MPI_Group_range_incl(all, 1, range, &partners);
	else
		MPI_Group_incl(all, 1, &hub, &partners);
}

/* Attaches the program's memory and distributes its address. Returns 0, or 1 without memory. */
static int make_dynamic_window(const struct perf_place *place)
{
	MPI_Aint base;

	bases = malloc((size_t)place->size * sizeof(bases[0]));
	if (!bases)
		return fprintf(stderr, "perf: no memory for %d addresses\n", place->size), 1;
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_attach(win, place->window, (MPI_Aint)place->window_bytes);
	MPI_Get_address(place->window, &base);
	return MPI_Allgather(&base, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
}

static int make_window(const struct perf_options *options, struct perf_place *place)
{
	MPI_Aint bytes = (MPI_Aint)place->window_bytes;
	void *base = NULL;
	MPI_Info info;

	switch (options->window) {
	case WINDOW_DYNAMIC:
		return make_dynamic_window(place);
	case WINDOW_ALLOC_MEM:
		MPI_Alloc_mem(bytes, MPI_INFO_NULL, &window_of_mpi);
		place->window = window_of_mpi;
		return MPI_Win_create(place->window, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	case WINDOW_SHARE: /* under oriel-mpi */
		MPI_Info_create(&info);
		MPI_Info_set(info, "share", "true");
		return MPI_Win_create(place->window, bytes, 1, info, MPI_COMM_WORLD, &win) || MPI_Info_free(&info);
	case WINDOW_CREATE:
		return MPI_Win_create(place->window, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	case WINDOW_ALLOCATE:
		break;
	}
	MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	place->window = base;
	return 0;
}

static int open_mpi(const struct perf_options *options, struct perf_place *place)
{
	const char *transport = getenv(TRANSPORT);

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &place->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &place->size);
	rank = place->rank;
	sync = options->sync;
	if (place->size <= options->neighbours) {
		fprintf(stderr, MPI_NAME ": run me with at least %d ranks\n", options->neighbours + 1);
		MPI_Finalize();
		return 2;
	}
	make_groups(options->neighbours);
	if (make_window(options, place))
		return 1;
	if (options->memory == MEMORY_ALLOC_MEM) {
		MPI_Alloc_mem((MPI_Aint)place->origin_bytes, MPI_INFO_NULL, &origin_of_mpi);
		place->origin = origin_of_mpi;
	}
	snprintf(place->device, sizeof(place->device), "%s", transport ? transport : "default");
	if (sync == SYNC_FLUSH || sync == SYNC_LOCK_ALL)
		MPI_Win_lock_all(0, win);
	return barrier();
}

static int close_mpi(void)
{
	if (sync == SYNC_FENCE)
		MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	if (sync == SYNC_FLUSH || sync == SYNC_LOCK_ALL)
		MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	if (window_of_mpi)
		MPI_Free_mem(window_of_mpi);
	if (origin_of_mpi)
		MPI_Free_mem(origin_of_mpi);
	free(bases);
	MPI_Group_free(&partners);
	MPI_Group_free(&all);
	return MPI_Finalize();
}

static const struct perf_refusal refusals[] = {
	{ "-l", "MPI has no lists of work requests" },
	{ "-Q", "MPI does not say which operations are signalled" },
	{ "-I", "MPI does not say what is sent inline" },
	{ NULL, NULL },
};

const struct perf_backend backend = { MPI_NAME, refusals, open_mpi, barrier, agree, turn_of, close_mpi };
