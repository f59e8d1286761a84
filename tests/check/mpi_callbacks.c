// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_callbacks.c CASE - MPI programs that do what is unusual, and end: there is no deadlock
 *
 * Each case is for four ranks. In most of them a function of the program runs inside of a call that
 * waits, is slow, and then does what another rank waits for.
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/cases.h"
#include "check/live.h"

#define LATE_MS 600
#define TAG 5

static int rank;
static MPI_Win win;
static int cell[2];
static jmp_buf behind;

static void send(int to)
{
	int sent = 1;

	MPI_Send(&sent, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

static void send_late(int to)
{
	sleep_ms(LATE_MS);
	send(to);
}

static void receive(int from)
{
	int received;

	MPI_Recv(&received, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void make_window(void)
{
	MPI_Win_create(cell, sizeof(cell), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}

/* ---- threads ---- */

static void *send_to_1(void *unused)
{
	send_late(1);
	return unused;
}

/* The environment gives MPI_Init the level MPI_THREAD_MULTIPLE. */
static void K30_level_of_the_environment(void)
{
	pthread_t thread;
	int level;

	MPI_Query_thread(&level);
	if (rank == 0 && level == MPI_THREAD_MULTIPLE) {
		pthread_create(&thread, NULL, send_to_1, NULL);
		receive(1);
		pthread_join(thread, NULL);
	} else if (rank == 1 && level == MPI_THREAD_MULTIPLE) {
		receive(0);
		send(0);
	}
}

/* ---- attributes ---- */

static int on_window(MPI_Win of, int key, void *value, void *extra)
{
	(void)of, (void)key, (void)value, (void)extra;
	send_late(1);
	return MPI_SUCCESS;
}

static void K30_attribute_of_a_window(void)
{
	int key;

	make_window();
	if (rank == 0) {
		MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_window, &key, NULL);
		MPI_Win_set_attr(win, key, NULL);
	}
	if (rank == 1)
		receive(0);
	MPI_Win_free(&win);
}

/* Gives a communicator of this rank an attribute, and frees it. */
static void free_with(MPI_Comm_delete_attr_function *on_delete)
{
	MPI_Comm own;
	int key;

	MPI_Comm_dup(MPI_COMM_SELF, &own);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
	MPI_Comm_set_attr(own, key, NULL);
	MPI_Comm_free(&own);
}

static int meet(MPI_Comm of, int key, void *value, void *extra)
{
	(void)of, (void)key, (void)value, (void)extra;
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_SUCCESS;
}

/* Of the first collective call rank 0 has counted nothing. */
static void K30_collective_call_in_a_callback(void)
{
	int sum = 0;

	if (rank == 0)
		free_with(meet);
	else
		MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		sleep_ms(LATE_MS);
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
	if (rank == 0)
		receive(1);
	if (rank == 1)
		send(0);
}

static int unlock(MPI_Comm of, int key, void *value, void *extra)
{
	(void)of, (void)key, (void)value, (void)extra;
	MPI_Win_unlock(0, win);
	return MPI_SUCCESS;
}

/* Rank 2 holds the lock, and not rank 0. */
static void K30_unlock_in_a_callback(void)
{
	make_window();
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		free_with(unlock);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2) {
		sleep_ms(LATE_MS);
		MPI_Win_unlock(0, win);
	}
	if (rank == 0)
		receive(1);
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Win_unlock(0, win);
		send(0);
	}
	MPI_Win_free(&win);
}

static int on_end(MPI_Comm of, int key, void *value, void *extra)
{
	(void)of, (void)key, (void)value, (void)extra;
	send_late(1);
	return MPI_SUCCESS;
}

/* MPI_Finalize may delete it. */
static void K30_attribute_of_the_world(void)
{
	int key;

	if (rank == 0) {
		MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_end, &key, NULL);
		MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
	}
	if (rank == 1)
		receive(0);
}

/* ---- errors ---- */

static void handle(MPI_Comm *comm, int *error, ...)
{
	(void)comm, (void)error;
	send_late(1);
}

static void leave(MPI_Comm *comm, int *error, ...)
{
	(void)comm, (void)error;
	longjmp(behind, 1);
}

static void set_handler(MPI_Comm_errhandler_function *function)
{
	MPI_Errhandler handler;

	MPI_Comm_create_errhandler(function, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Errhandler_free(&handler);
}

static void receive_wrongly(void)
{
	MPI_Recv(cell, -1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void K30_slow_handler_of_errors(void)
{
	set_handler(handle);
	if (rank == 0)
		receive_wrongly();
	if (rank == 1)
		receive(0);
}

static void K30_handler_that_does_not_return(void)
{
	set_handler(leave);
	if (rank == 0) {
		if (!setjmp(behind))
			receive_wrongly();
		send_late(1);
	}
	if (rank == 1)
		receive(0);
}

static void handle_of_window(MPI_Win *of, int *error, ...)
{
	(void)of, (void)error;
	sleep_ms(LATE_MS);
}

/* The second lock of rank 1 is refused. */
static void K30_handler_of_a_window(void)
{
	MPI_Errhandler handler;

	make_window();
	MPI_Win_create_errhandler(handle_of_window, &handler);
	MPI_Win_set_errhandler(win, handler);
	MPI_Errhandler_free(&handler);
	if (rank < 2)
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		send(0);
	}
	if (rank == 0)
		receive(1);
	if (rank < 2)
		MPI_Win_unlock(0, win);
	MPI_Win_free(&win);
}

/* The call fails, as it does without the checker. */
static void K30_error_that_returns(void)
{
	MPI_Comm own;

	MPI_Comm_dup(MPI_COMM_WORLD, &own);
	MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
	if (MPI_Bcast(cell, 1, MPI_DATATYPE_NULL, 0, own) == MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- requests ---- */

/* This process is stopped a while later, for some time. */
static void be_stopped_soon(void)
{
	pid_t self = getpid();

	if (fork() != 0)
		return;
	sleep_ms(LATE_MS / 2);
	kill(self, SIGSTOP);
	sleep_ms(LATE_MS);
	kill(self, SIGCONT);
	_exit(0);
}

/* The second receive has the handle of the first. Rank 3 is stopped when the third message comes. */
static void K30_receive_that_is_freed(void)
{
	MPI_Request request;
	int first, second;

	if (rank == 3) {
		MPI_Irecv(&first, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
		MPI_Request_free(&request);
	}
	if (rank == 1)
		send(3);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 3) {
		sleep_ms(20);
		MPI_Iprobe(0, TAG + 1, MPI_COMM_WORLD, &first, MPI_STATUS_IGNORE);
		MPI_Irecv(&second, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		be_stopped_soon();
		receive(0);
		send(0);
		wait(NULL);
	}
	if (rank == 0) {
		send(3);
		sleep_ms(LATE_MS * 3 / 4);
		send(3);
		receive(3);
	}
}

static const struct check_case cases[] = {
	{ "K30_level_of_the_environment", K30_level_of_the_environment },
	{ "K30_attribute_of_a_window", K30_attribute_of_a_window },
	{ "K30_collective_call_in_a_callback", K30_collective_call_in_a_callback },
	{ "K30_unlock_in_a_callback", K30_unlock_in_a_callback },
	{ "K30_slow_handler_of_errors", K30_slow_handler_of_errors },
	{ "K30_attribute_of_the_world", K30_attribute_of_the_world },
	{ "K30_handler_that_does_not_return", K30_handler_that_does_not_return },
	{ "K30_receive_that_is_freed", K30_receive_that_is_freed },
	{ "K30_handler_of_a_window", K30_handler_of_a_window },
	{ "K30_error_that_returns", K30_error_that_returns },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	const struct check_case *chosen = argc == 2 ? case_of(cases, argv[1]) : NULL;

	if (!chosen)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	chosen->run();
	MPI_Finalize();
	return 0;
}
