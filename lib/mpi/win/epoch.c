// SPDX-License-Identifier: BSD-2-Clause
/* epoch.c - the calls that open, close and complete epochs */
#include <stdio.h>

#include "mpi/job/real_mpi.h"
#include "mpi/win/error.h"
#include "mpi/win/members.h"
#include "mpi/win/window.h"

static const struct {
	int mpi, oriel;
} modes[] = {
	{ MPI_MODE_NOCHECK, ORIEL_MODE_NOCHECK },     { MPI_MODE_NOSTORE, ORIEL_MODE_NOSTORE },
	{ MPI_MODE_NOPUT, ORIEL_MODE_NOPUT },         { MPI_MODE_NOPRECEDE, ORIEL_MODE_NOPRECEDE },
	{ MPI_MODE_NOSUCCEED, ORIEL_MODE_NOSUCCEED },
};

static int assertions(int given)
{
	int oriel = 0;

	for (size_t i = 0; given && i < sizeof(modes) / sizeof(*modes); i++)
		if (given & modes[i].mpi)
			oriel |= modes[i].oriel;
	return oriel;
}

/* The standard's assertions; start and locks have MPI_MODE_NOCHECK alone. */
#define FENCE_MODES (MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)
#define POST_MODES (MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)

static int refuse_assertion(const struct window *window, const char *call, int given)
{
	char text[128];

	snprintf(text, sizeof(text), "assertion %d is not one of this call's", given);
	return error_on_window(window, MPI_ERR_ASSERT, call, text);
}

int MPI_Win_fence(int assert, MPI_Win win)
{
	struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_fence(assert, win);
	if (assert & ~FENCE_MODES)
		return refuse_assertion(window, "MPI_Win_fence", assert);
	window_set_active(window, true);
	return error_of_call(window, oriel_win_fence(window->win, assertions(assert)));
}
TAKEN(Win_fence);

static uint64_t groups_freed; /* atomic; the program orders a group's uses and its free */

int MPI_Group_free(MPI_Group *group)
{
	__atomic_add_fetch(&groups_freed, 1, __ATOMIC_RELAXED); /* read by is_last */
	return real_mpi.Group_free(group);
}
TAKEN(Group_free);

static uint64_t freed_count(void)
{
	return __atomic_load_n(&groups_freed, __ATOMIC_RELAXED);
}

static int is_last(const struct last_group *last, MPI_Group group)
{
	return last->members && last->group == group && last->freed == freed_count();
}

static int find_members(const struct window *window, MPI_Group group, struct last_group *last)
{
	int rc;

	if (is_last(last, group))
		return 0;
	if (last->members)
		oriel_group_free(&last->members);
	last->group = group;
	last->freed = freed_count();
	rc = members_of_group(group, window->group, window->members, &last->members);
	if (rc)
		last->members = NULL;
	return rc;
}

int MPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
	struct window *window = window_of(win);
	int rc;

	if (!window)
		return window_error(win) ?: real_mpi.Win_post(group, assert, win);
	if (assert & ~POST_MODES)
		return refuse_assertion(window, "MPI_Win_post", assert);
	if (group == MPI_GROUP_NULL)
		return error_on_window(window, MPI_ERR_GROUP, "MPI_Win_post", "the group is MPI_GROUP_NULL");
	rc = find_members(window, group, &window->posted);
	if (rc == 0)
		rc = oriel_win_post(window->win, window->posted.members, assertions(assert));
	return error_of_call(window, rc);
}
TAKEN(Win_post);

int MPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
	struct window *window = window_of(win);
	int rc;

	if (!window)
		return window_error(win) ?: real_mpi.Win_start(group, assert, win);
	if (assert & ~MPI_MODE_NOCHECK)
		return refuse_assertion(window, "MPI_Win_start", assert);
	if (group == MPI_GROUP_NULL)
		return error_on_window(window, MPI_ERR_GROUP, "MPI_Win_start", "the group is MPI_GROUP_NULL");
	rc = find_members(window, group, &window->started);
	window_set_active(window, true);
	if (rc == 0)
		rc = oriel_win_start(window->win, window->started.members, assertions(assert));
	return error_of_call(window, rc);
}
TAKEN(Win_start);

int MPI_Win_complete(MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_complete(win);
	return error_of_call(window, oriel_win_complete(window->win));
}
TAKEN(Win_complete);

int MPI_Win_wait(MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_wait(win);
	return error_of_call(window, oriel_win_wait(window->win));
}
TAKEN(Win_wait);

int MPI_Win_test(MPI_Win win, int *flag)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_test(win, flag);
	return error_of_call(window, oriel_win_test(window->win, flag));
}
TAKEN(Win_test);

int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
	struct window *window = window_of(win);
	enum oriel_lock_type type = lock_type == MPI_LOCK_EXCLUSIVE ? ORIEL_LOCK_EXCLUSIVE : ORIEL_LOCK_SHARED;

	if (!window)
		return window_error(win) ?: real_mpi.Win_lock(lock_type, rank, assert, win);
	if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
		return error_on_window(window, MPI_ERR_LOCKTYPE, "MPI_Win_lock", "the lock's type is none of the two");
	if (assert & ~MPI_MODE_NOCHECK)
		return refuse_assertion(window, "MPI_Win_lock", assert);
	if (rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	window_set_active(window, false);
	return error_of_call(window, oriel_win_lock(window->win, type, rank, assertions(assert)));
}
TAKEN(Win_lock);

int MPI_Win_unlock(int rank, MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_unlock(rank, win);
	return rank == MPI_PROC_NULL ? MPI_SUCCESS : error_of_call(window, oriel_win_unlock(window->win, rank));
}
TAKEN(Win_unlock);

int MPI_Win_lock_all(int assert, MPI_Win win)
{
	struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_lock_all(assert, win);
	if (assert & ~MPI_MODE_NOCHECK)
		return refuse_assertion(window, "MPI_Win_lock_all", assert);
	window_set_active(window, false);
	return error_of_call(window, oriel_win_lock_all(window->win, assertions(assert)));
}
TAKEN(Win_lock_all);

int MPI_Win_unlock_all(MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_unlock_all(win);
	return error_of_call(window, oriel_win_unlock_all(window->win));
}
TAKEN(Win_unlock_all);

int MPI_Win_flush(int rank, MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_flush(rank, win);
	return rank == MPI_PROC_NULL ? MPI_SUCCESS : error_of_call(window, oriel_win_flush(window->win, rank));
}
TAKEN(Win_flush);

int MPI_Win_flush_local(int rank, MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_flush_local(rank, win);
	return rank == MPI_PROC_NULL ? MPI_SUCCESS : error_of_call(window, oriel_win_flush_local(window->win, rank));
}
TAKEN(Win_flush_local);

int MPI_Win_flush_all(MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_flush_all(win);
	return error_of_call(window, oriel_win_flush(window->win, ORIEL_RANK_ALL));
}
TAKEN(Win_flush_all);

int MPI_Win_flush_local_all(MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_flush_local_all(win);
	return error_of_call(window, oriel_win_flush_local(window->win, ORIEL_RANK_ALL));
}
TAKEN(Win_flush_local_all);

int MPI_Win_sync(MPI_Win win)
{
	const struct window *window = window_of(win);

	if (!window)
		return window_error(win) ?: real_mpi.Win_sync(win);
	return error_of_call(window, oriel_win_sync(window->win));
}
TAKEN(Win_sync);
