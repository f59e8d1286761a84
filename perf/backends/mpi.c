// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi.c - the patterns on MPI's one-sided calls, for the rivals: Open MPI and MPICH
 *
 * Linked with the same driver as Oriel's programs by perf/perf.mk. Each of the two libraries has
 * its own header, so this is compiled once with each mpicc.
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

/*
 * Errors abort the job with the library's own message: MPI_ERRORS_ARE_FATAL is what windows and
 * communicators begin with.
 */

/* ---- operations ---- */

static int put(const struct perf_turn *t, int to, size_t at)
{
	return MPI_Put(t->origin + at, (int)t->size_bytes, MPI_BYTE, to, (MPI_Aint)(put_disp(t, to) + at),
	               (int)t->size_bytes, MPI_BYTE, win);
}

static int get(const struct perf_turn *t, int from, uint8_t *to, size_t at)
{
	return MPI_Get(to, (int)t->size_bytes, MPI_BYTE, from, (MPI_Aint)(get_disp(t) + at), (int)t->size_bytes, MPI_BYTE,
	               win);
}

/* With each neighbour or, at a neighbour, with the hub. */
static void with_each(const struct perf_turn *t, bool gets)
{
	int first = rank == 0 ? 1 : 0, last = rank == 0 ? t->neighbours : 0;

	for (int peer = first; peer <= last; peer++) {
		if (gets)
			get(t, peer, get_origin(t, peer), 0);
		else
			put(t, peer, 0);
	}
}

static void batch(const struct perf_turn *t, bool gets)
{
	int first = rank == 0 ? 1 : 0, last = rank == 0 ? t->neighbours : 0;

	for (long i = 0; i < t->operations; i++) {
		size_t at = slot_at(t, i);

		for (int peer = first; peer <= last; peer++) {
			if (gets)
				get(t, peer, t->origin + at, at);
			else
				put(t, peer, at);
		}
	}
}

/* ---- turns ---- */

static int expose(void)
{
	MPI_Win_post(partners, 0, win);
	return MPI_Win_wait(win);
}

static int lat_pscw(const struct perf_turn *t, bool gets)
{
	if (rank > 0)
		expose();
	MPI_Win_start(partners, 0, win);
	with_each(t, gets);
	MPI_Win_complete(win);
	return rank == 0 ? expose() : 0;
}

static int lat_fence(const struct perf_turn *t, bool gets)
{
	if (rank == 0)
		with_each(t, gets);
	MPI_Win_fence(0, win);
	if (rank > 0)
		with_each(t, gets);
	return MPI_Win_fence(0, win);
}

static int put_lat_pscw(const struct perf_turn *t)
{
	return lat_pscw(t, false);
}

static int get_lat_pscw(const struct perf_turn *t)
{
	return lat_pscw(t, true);
}

static int put_lat_fence(const struct perf_turn *t)
{
	return lat_fence(t, false);
}

static int get_lat_fence(const struct perf_turn *t)
{
	return lat_fence(t, true);
}

/* Where puts are messages that the target's library places, its progress must be called for. */
static void progress_until_mark(const struct perf_turn *t)
{
	int spins = 0, found;

	while (!mark_is_there(t)) {
		if (++spins % SPINS_BEFORE_PROGRESS == 0)
			MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
	}
}

static int put_marked(const struct perf_turn *t)
{
	t->origin[t->size_bytes - 1] = t->mark;
	put(t, !rank, 0);
	return MPI_Win_flush(!rank, win);
}

static int put_lat_flush(const struct perf_turn *t)
{
	if (rank == 0)
		put_marked(t);
	progress_until_mark(t);
	return rank == 1 ? put_marked(t) : 0;
}

static int get_lat_flush(const struct perf_turn *t)
{
	if (rank > 0)
		return 0;
	with_each(t, true);
	return MPI_Win_flush_all(win);
}

static int bw_pscw(const struct perf_turn *t, bool gets)
{
	if (rank > 0)
		return expose();
	MPI_Win_start(partners, 0, win);
	batch(t, gets);
	return MPI_Win_complete(win);
}

static int put_bw_pscw(const struct perf_turn *t)
{
	return bw_pscw(t, false);
}

static int get_bw_pscw(const struct perf_turn *t)
{
	return bw_pscw(t, true);
}

static int bw_fence(const struct perf_turn *t, bool gets)
{
	if (rank == 0)
		batch(t, gets);
	return MPI_Win_fence(0, win);
}

static int put_bw_fence(const struct perf_turn *t)
{
	return bw_fence(t, false);
}

static int get_bw_fence(const struct perf_turn *t)
{
	return bw_fence(t, true);
}

static int bw_flush(const struct perf_turn *t, bool gets)
{
	if (rank > 0)
		return 0;
	batch(t, gets);
	return MPI_Win_flush_all(win);
}

static int put_bw_flush(const struct perf_turn *t)
{
	return bw_flush(t, false);
}

static int get_bw_flush(const struct perf_turn *t)
{
	return bw_flush(t, true);
}

static int bibw_pscw(const struct perf_turn *t)
{
	MPI_Win_post(partners, 0, win);
	MPI_Win_start(partners, 0, win);
	batch(t, false);
	MPI_Win_complete(win);
	return MPI_Win_wait(win);
}

static int bibw_fence(const struct perf_turn *t)
{
	batch(t, false);
	return MPI_Win_fence(0, win);
}

static int bibw_flush(const struct perf_turn *t)
{
	batch(t, false);
	return MPI_Win_flush(!rank, win);
}

static int epoch_late(const struct perf_turn *t)
{
	if (rank == 0)
		return expose();
	MPI_Win_start(partners, 0, win);
	put(t, 0, 0);
	return MPI_Win_complete(win);
}

static int only_fence(const struct perf_turn *t)
{
	if (rank == 0 && t->size_bytes)
		put(t, 1, 0);
	return MPI_Win_fence(0, win);
}

static perf_turn_fn turn(enum perf_pattern pattern, enum perf_sync how)
{
	static const perf_turn_fn turns[][3] = {
		[PATTERN_PUT_LAT] = { put_lat_pscw, put_lat_fence, put_lat_flush },
		[PATTERN_GET_LAT] = { get_lat_pscw, get_lat_fence, get_lat_flush },
		[PATTERN_PUT_BW] = { put_bw_pscw, put_bw_fence, put_bw_flush },
		[PATTERN_GET_BW] = { get_bw_pscw, get_bw_fence, get_bw_flush },
		[PATTERN_PUT_BIBW] = { bibw_pscw, bibw_fence, bibw_flush },
		[PATTERN_EPOCH_LATE] = { epoch_late, NULL, NULL },
		[PATTERN_FENCE] = { NULL, only_fence, NULL },
	};

	return (size_t)pattern < sizeof(turns) / sizeof(turns[0]) ? turns[pattern][how] : NULL;
}

/* ---- joining ---- */

static int barrier(void)
{
	if (sync == SYNC_FENCE)
		return MPI_Win_fence(0, win);
	if (sync == SYNC_PSCW)
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

/* The hub's partners are its neighbours, and theirs is the hub. */
static void make_groups(int neighbours)
{
	int hub = 0, range[1][3] = { { 1, neighbours, 1 } };

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	if (rank == 0)
		MPI_Group_range_incl(all, 1, range, &partners);
	else
		MPI_Group_incl(all, 1, &hub, &partners);
}

static void make_window(const struct perf_options *options, struct perf_place *place)
{
	void *base = NULL;

	if (options->window == WINDOW_CREATE) {
		MPI_Win_create(place->window, (MPI_Aint)place->window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		return;
	}
	MPI_Win_allocate((MPI_Aint)place->window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	place->window = base;
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
	make_window(options, place);
	snprintf(place->device, sizeof(place->device), "%s", transport ? transport : "default");
	if (sync == SYNC_FLUSH)
		MPI_Win_lock_all(0, win);
	return barrier();
}

static int close_mpi(void)
{
	if (sync == SYNC_FENCE)
		MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	if (sync == SYNC_FLUSH)
		MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
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

const struct perf_backend backend = { MPI_NAME, refusals, open_mpi, barrier, agree, turn, close_mpi };
