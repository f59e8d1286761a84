// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_uses.c - a program without a race, whose messages, collective calls and files have buffers in window memory
 *
 * It is for two ranks. At level pages a flush closes the pages: it fails where one is still closed for
 * what uses it, or has not the right bytes. A function of the program that MPI calls loads, too.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS (1 << 18)

static MPI_Win win;
static int rank;
static int *memory; /* of the window: a half to send from, a half to receive into */
static int *received;

static void must(bool is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "rank %d: %s fails\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void begin(void)
{
	for (int i = 0; i < WORDS; i++) {
		memory[i] = i + rank;
		received[i] = 0;
	}
	MPI_Win_flush_all(win);
}

/* The words of a rank have come. */
static void end(int from, int words, const char *what)
{
	int wrong = 0;

	MPI_Win_flush_all(win);
	for (int i = 0; i < words; i++)
		wrong += received[i] != i + from;
	must(wrong == 0, what);
}

static void send_blocking(int words, int from)
{
	begin();
	if (rank == from)
		MPI_Send(memory, words, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(received, words, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank != from)
		end(from, words, "MPI_Recv");
}

static void send_nonblocking(int words)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];

	begin();
	MPI_Irecv(received, words, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(memory, words, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
	MPI_Win_flush_all(win);
	MPI_Waitall(2, requests, statuses);
	end(1 - rank, words, "MPI_Irecv");
	begin();
	MPI_Sendrecv(memory, words, MPI_INT, 1 - rank, 0, received, words, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
	             MPI_STATUS_IGNORE);
	end(1 - rank, words, "MPI_Sendrecv");
}

static void call_collectively(int words)
{
	begin();
	MPI_Bcast(rank == 0 ? memory : received, words, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank == 1)
		end(0, words, "MPI_Bcast");
	begin();
	MPI_Allreduce(memory, received, words, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	end(0, words, "MPI_Allreduce");
	begin();
	MPI_Scatter(memory, words / 2, MPI_INT, received, words / 2, MPI_INT, 0, MPI_COMM_WORLD);
	end(rank * (words / 2), words / 2, "MPI_Scatter");
}

static void use_file(void)
{
	const char *folder = getenv("TMPDIR");
	char name[4096];
	MPI_File file;

	snprintf(name, sizeof(name), "%s/pages.%d", folder ? folder : "/tmp", rank);
	begin();
	MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
	              &file);
	MPI_File_write_at(file, 0, memory, WORDS, MPI_INT, MPI_STATUS_IGNORE);
	MPI_Win_flush_all(win);
	MPI_File_read_at(file, 0, received, WORDS, MPI_INT, MPI_STATUS_IGNORE);
	end(rank, WORDS, "MPI_File_read_at");
	MPI_File_close(&file);
}

/* A function of the program that MPI calls accesses the window behind a put that has been completed. */
static void add_up(void *in, void *sum, int *count, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *count; i++)
		((int *)sum)[i] += ((int *)in)[i] + memory[0];
}

static void access_in_a_function(void)
{
	static int values[16];
	int sum = 0, one = 1;
	MPI_Op op;

	MPI_Op_create(add_up, 1, &op);
	memset(memory, 0, sizeof(values));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		MPI_Put(values, 16, MPI_INT, 0, 0, 16, MPI_INT, win);
		MPI_Win_flush(0, win);
	}
	MPI_Reduce(&one, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
	must(rank != 0 || sum == 2, "MPI_Reduce");
	MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
	void *address = NULL;
	int found = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(2 * WORDS * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	received = memory + WORDS;
	MPI_Win_get_attr(win, MPI_WIN_BASE, &address, &found);
	must(found && address == memory, "the window's address");
	MPI_Win_lock_all(0, win);
	for (int words = 2; words <= WORDS; words *= 8) {
		send_blocking(words, 0);
		send_blocking(words, 1);
		send_nonblocking(words);
		call_collectively(words);
	}
	use_file();
	access_in_a_function();
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	return MPI_Finalize();
}
