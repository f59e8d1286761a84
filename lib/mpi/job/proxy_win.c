// SPDX-License-Identifier: BSD-2-Clause
/* See proxy_win.h. */
#include "mpi/job/proxy_win.h"

#include <pthread.h>

#include "mpi/job/job.h"
#include "mpi/job/real_mpi.h"

#define KEPT_MAX 16

/* Threads may make windows on different communicators; calls on job.self must not overlap. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Win kept[KEPT_MAX]; /* changed under the lock, as is kept_count, loaded without */
static int kept_count;

static void set_count(int count)
{
	__atomic_store_n(&kept_count, count, __ATOMIC_RELEASE); /* pairs with proxy_win_is_kept */
}

static MPI_Win pop(void)
{
	set_count(kept_count - 1);
	return kept[kept_count];
}

static void push(MPI_Win handle)
{
	__atomic_store_n(&kept[kept_count], handle, __ATOMIC_RELAXED);
	set_count(kept_count + 1);
}

/*
 * Open MPI's first dynamic window takes 6 ms, if it has one (Debian's 4.1 does not). MPICH 4.0 over
 * UCX can crash in allocated ones.
 */
static int make(MPI_Win *handle)
{
#ifdef OPEN_MPI
	void *ignored;

	if (real_mpi.Win_allocate(0, 1, MPI_INFO_NULL, job.self, &ignored, handle) == MPI_SUCCESS)
		return MPI_SUCCESS;
#endif
	return real_mpi.Win_create_dynamic(MPI_INFO_NULL, job.self, handle);
}

static bool renew(MPI_Win handle)
{
	return real_mpi.Win_set_name(handle, "") == MPI_SUCCESS &&
	       PMPI_Win_set_errhandler(handle, MPI_ERRORS_ARE_FATAL) == MPI_SUCCESS;
}

int proxy_win_take(MPI_Win *handle)
{
	int rc = MPI_SUCCESS;

	pthread_mutex_lock(&lock);
	if (kept_count > 0)
		*handle = pop();
	else
		rc = make(handle);
	if (rc == MPI_SUCCESS)
		renew(*handle); /* Open MPI names new windows */
	pthread_mutex_unlock(&lock);
	return rc;
}

static bool keep(MPI_Win handle)
{
	bool room;

	pthread_mutex_lock(&lock);
	room = kept_count < KEPT_MAX;
	if (room)
		push(handle);
	pthread_mutex_unlock(&lock);
	return room;
}

int proxy_win_give(MPI_Win *handle, bool had_attributes)
{
	if (had_attributes || !renew(*handle) || !keep(*handle))
		return real_mpi.Win_free(handle);
	*handle = MPI_WIN_NULL;
	return MPI_SUCCESS;
}

bool proxy_win_is_kept(MPI_Win handle)
{
	const int count = __atomic_load_n(&kept_count, __ATOMIC_ACQUIRE); /* pairs with set_count */
	bool found = false;

	for (int i = 0; i < count; i++)
		found |= __atomic_load_n(&kept[i], __ATOMIC_RELAXED) == handle;
	return found;
}

void proxy_wins_release(void)
{
	pthread_mutex_lock(&lock);
	while (kept_count > 0) {
		MPI_Win handle = pop();

		real_mpi.Win_free(&handle);
	}
	pthread_mutex_unlock(&lock);
}
