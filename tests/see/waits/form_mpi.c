// SPDX-License-Identifier: BSD-2-Clause
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "form.h"

struct form_win {
	MPI_Win win;
	char name[64];
	bool reversed;
	struct notes_ranks targets, origins; /* of the epochs that are open */
};

static MPI_Group world;
static MPI_Comm reversed_world;
static int last_rank;
static const struct notes_ranks everybody = { .count = NOTES_ALL };

static struct notes_ranks only(int rank)
{
	return (struct notes_ranks){ .count = 1, .rank = { rank } };
}

/* Returns a rank's place in the window's group. */
static int place(const struct form_win *win, int rank)
{
	return win->reversed ? last_rank - rank : rank;
}

static MPI_Group group_of(const struct notes_ranks *ranks)
{
	MPI_Group group;

	MPI_Group_incl(world, ranks->count, ranks->rank, &group);
	return group;
}

struct form_world form_open(int *argc, char ***argv)
{
	struct form_world is = { 0 };
	int level;

	MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &is.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &is.ranks);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -is.rank, &reversed_world);
	last_rank = is.ranks - 1;
	return is;
}

void form_close(void)
{
	MPI_Group_free(&world);
	MPI_Comm_free(&reversed_world);
	MPI_Finalize();
}

static struct form_win *named(const char *name)
{
	struct form_win *win = calloc(1, sizeof(*win));

	if (!win)
		abort();
	snprintf(win->name, sizeof(win->name), "%s", name);
	return win;
}

struct form_win *form_allocate(const char *name, size_t size_bytes)
{
	struct form_win *win = named(name);
	void *base;
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_allocate((MPI_Aint)size_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win->win);
	notes_call("collective", "MPI_Win_allocate", name, begun_ns, &everybody);
	MPI_Win_set_name(win->win, win->name);
	return win;
}

struct form_win *form_create(const char *name, void *base, size_t size_bytes, bool reversed)
{
	struct form_win *win = named(name);
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_create(base, (MPI_Aint)size_bytes, 1, MPI_INFO_NULL, reversed ? reversed_world : MPI_COMM_WORLD, &win->win);
	notes_call("collective", "MPI_Win_create", name, begun_ns, &everybody);
	win->reversed = reversed;
	MPI_Win_set_name(win->win, win->name);
	return win;
}

void form_free(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_free(&win->win);
	notes_call("collective", "MPI_Win_free", win->name, begun_ns, &everybody);
	free(win);
}

void form_put(struct form_win *win, const void *origin, size_t size_bytes, int target)
{
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	MPI_Put(origin, (int)size_bytes, MPI_BYTE, place(win, target), 0, (int)size_bytes, MPI_BYTE, win->win);
	notes_call("transfer", "MPI_Put", win->name, begun_ns, &ranks);
}

void form_accumulate(struct form_win *win, int target)
{
	static const long double one = 1;
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	MPI_Accumulate(&one, 1, MPI_LONG_DOUBLE, place(win, target), 0, 1, MPI_LONG_DOUBLE, MPI_SUM, win->win);
	notes_call("transfer", "MPI_Accumulate", win->name, begun_ns, &ranks);
}

void form_flush(struct form_win *win, int target)
{
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_flush(place(win, target), win->win);
	notes_call("flush", "MPI_Win_flush", win->name, begun_ns, &ranks);
}

void form_post(struct form_win *win, const struct notes_ranks *origins)
{
	MPI_Group group = group_of(origins);
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_post(group, 0, win->win);
	notes_call("post", "MPI_Win_post", win->name, begun_ns, origins);
	win->origins = *origins;
	MPI_Group_free(&group);
}

void form_start(struct form_win *win, const struct notes_ranks *targets)
{
	MPI_Group group = group_of(targets);
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_start(group, 0, win->win);
	notes_call("start", "MPI_Win_start", win->name, begun_ns, targets);
	win->targets = *targets;
	MPI_Group_free(&group);
}

void form_complete(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_complete(win->win);
	notes_call("complete", "MPI_Win_complete", win->name, begun_ns, &win->targets);
}

void form_wait(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_wait(win->win);
	notes_call("wait", "MPI_Win_wait", win->name, begun_ns, &win->origins);
}

void form_fence(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_fence(0, win->win);
	notes_call("fence", "MPI_Win_fence", win->name, begun_ns, &everybody);
}

void form_lock(struct form_win *win, bool exclusive, int target)
{
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, place(win, target), 0, win->win);
	notes_call(exclusive ? "lock_exclusive" : "lock_shared", "MPI_Win_lock", win->name, begun_ns, &ranks);
}

void form_unlock(struct form_win *win, int target)
{
	struct notes_ranks ranks = only(target);
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_unlock(place(win, target), win->win);
	notes_call("unlock", "MPI_Win_unlock", win->name, begun_ns, &ranks);
}

void form_lock_all(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_lock_all(0, win->win);
	notes_call("lock_all", "MPI_Win_lock_all", win->name, begun_ns, &everybody);
}

void form_unlock_all(struct form_win *win)
{
	uint64_t begun_ns = notes_now_ns();

	MPI_Win_unlock_all(win->win);
	notes_call("unlock_all", "MPI_Win_unlock_all", win->name, begun_ns, &everybody);
}

/* MPI_Barrier is none of Oriel's calls. */
void form_barrier(void)
{
}

void form_signal(struct form_win *win, int target)
{
	(void)win, (void)target;
}

void form_signal_until(struct form_win *win, uint64_t value, int sender)
{
	(void)win, (void)value, (void)sender;
}
