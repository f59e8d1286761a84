// SPDX-License-Identifier: BSD-2-Clause
/* threads.c - MPI_THREAD_MULTIPLE: threads with windows of their own, on duplicates of one communicator, and messages beside. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 3
#define TURNS 8

static int rank, size, wrong;

struct own_thread {
	MPI_Comm comm;
	int number;
};

static void count_wrong(int is)
{
	if (is)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED); /* read when all threads have ended */
}

/* A window of one thread: nothing of the others' comes into it. */
static void use_window(const struct own_thread *thread, int turn)
{
	int *memory, mine = 1000 * thread->number + 10 * turn + rank, got = -1;
	MPI_Request request;
	MPI_Win win;

	MPI_Win_allocate(8, sizeof(int), MPI_INFO_NULL, thread->comm, &memory, &win);
	MPI_Win_fence(0, win);
	MPI_Put(&mine, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	count_wrong(memory[0] != 1000 * thread->number + 10 * turn + (rank + size - 1) % size);
	MPI_Win_lock_all(0, win);
	MPI_Rget(&got, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	count_wrong(got != mine);
	MPI_Win_free(&win);
}

static void *use_windows(void *arg)
{
	for (int turn = 0; turn < TURNS; turn++)
		use_window(arg, turn);
	return NULL;
}

static void send_messages(void)
{
	for (int turn = 0; turn < 10 * TURNS; turn++) {
		int got = -1;

		MPI_Sendrecv(&turn, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0,
		             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		count_wrong(got != turn);
	}
}

int main(int argc, char **argv)
{
	struct own_thread threads[THREADS];
	pthread_t ids[THREADS];
	int provided, all = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	count_wrong(provided != MPI_THREAD_MULTIPLE);
	for (int i = 0; i < THREADS; i++) {
		threads[i].number = i;
		MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, use_windows, &threads[i]);
	send_messages();
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&threads[i].comm);
	MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf(all ? "not ok E4_threads: %d things do not hold\n" : "ok E4_threads\n", all);
	MPI_Finalize();
	return 0;
}
