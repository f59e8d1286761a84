// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_messages.c - each way to send with each way to receive, for three ranks
 *
 * Rank 0 sends to rank 1. Both put to the same bytes of rank 2, and flush: before the message or
 * behind it. The window of each has a name, such as "Issend Mprobe 2". Rank 0 prints "NAME races"
 * where the message does not order the two puts.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum order { AS_SENT, BEFORE_RECEIVE, BEHIND_BOTH, ORDERS };

static MPI_Win win;
static int rank;
static char out[1], in[1];

static void finish(MPI_Request *request, bool is_persistent)
{
	int is_done = 0;

	if (is_persistent)
		MPI_Start(request);
	while (!is_done)
		MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
	if (is_persistent)
		MPI_Request_free(request);
}

/* ---- ways to send ---- */

static void by_send(void)
{
	MPI_Send(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
}

static void by_bsend(void)
{
	MPI_Bsend(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
}

static void by_ssend(void)
{
	MPI_Ssend(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
}

static void by_isend(void)
{
	MPI_Request request;

	MPI_Isend(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
	finish(&request, false);
}

static void by_ibsend(void)
{
	MPI_Request request;

	MPI_Ibsend(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
	finish(&request, false);
}

static void by_issend(void)
{
	MPI_Request request;

	MPI_Issend(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
	finish(&request, false);
}

static void by_send_init(void)
{
	MPI_Request request;

	MPI_Send_init(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
	finish(&request, true);
}

static void by_bsend_init(void)
{
	MPI_Request request;

	MPI_Bsend_init(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
	finish(&request, true);
}

static void by_ssend_init(void)
{
	MPI_Request request;

	MPI_Ssend_init(out, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
	finish(&request, true);
}

static void by_sendrecv(void)
{
	MPI_Sendrecv(out, 1, MPI_BYTE, 1, 0, in, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_sendrecv_replace(void)
{
	MPI_Sendrecv_replace(out, 1, MPI_BYTE, 1, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- ways to receive ---- */

static void to_recv(void)
{
	MPI_Recv(in, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void to_recv_of_any(void)
{
	MPI_Recv(in, 1, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void to_irecv(void)
{
	MPI_Request request;

	MPI_Irecv(in, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
	finish(&request, false);
}

static void to_waitsome(void)
{
	MPI_Request request;
	MPI_Status status;
	int count, index;

	MPI_Irecv(in, 1, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	MPI_Waitsome(1, &request, &count, &index, &status);
}

static void to_recv_init(void)
{
	MPI_Request request;

	MPI_Recv_init(in, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
	finish(&request, true);
}

static void to_probe(void)
{
	MPI_Status status;

	MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	MPI_Recv(in, 1, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void to_mprobe(void)
{
	MPI_Message message;

	MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, 1, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

static void to_improbe(void)
{
	MPI_Message message;
	MPI_Request request;
	int is_there = 0;

	while (!is_there)
		MPI_Improbe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, &message, MPI_STATUS_IGNORE);
	MPI_Imrecv(in, 1, MPI_BYTE, &message, &request);
	finish(&request, false);
}

static void to_sendrecv(void)
{
	MPI_Sendrecv(out, 1, MPI_BYTE, MPI_PROC_NULL, 0, in, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- all of them ---- */

static const struct way {
	const char *name;
	void (*call)(void);
	bool is_synchronous;
} sends[] = {
	{ "Send", by_send, false },
	{ "Bsend", by_bsend, false },
	{ "Ssend", by_ssend, true },
	{ "Isend", by_isend, false },
	{ "Ibsend", by_ibsend, false },
	{ "Issend", by_issend, true },
	{ "Send_init", by_send_init, false },
	{ "Bsend_init", by_bsend_init, false },
	{ "Ssend_init", by_ssend_init, true },
	{ "Sendrecv", by_sendrecv, false },
	{ "Sendrecv_replace", by_sendrecv_replace, false },
}, receives[] = {
	{ "Recv", to_recv, false },
	{ "Recv_of_any", to_recv_of_any, false },
	{ "Irecv", to_irecv, false },
	{ "Waitsome", to_waitsome, false },
	{ "Recv_init", to_recv_init, false },
	{ "Probe", to_probe, false },
	{ "Mprobe", to_mprobe, false },
	{ "Improbe", to_improbe, false },
	{ "Sendrecv", to_sendrecv, false },
};

static void put_if(bool is_it)
{
	static uint8_t buffer[8];

	if (!is_it)
		return;
	MPI_Put(buffer, 8, MPI_BYTE, 2, 0, 8, MPI_BYTE, win);
	MPI_Win_flush(2, win);
}

static void try(const struct way *send, const struct way *receive, enum order order)
{
	char name[64];
	void *base;

	snprintf(name, sizeof(name), "%s %s %d", send->name, receive->name, (int)order);
	MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	MPI_Win_set_name(win, name);
	MPI_Win_lock_all(0, win);
	put_if((rank == 0 && order == AS_SENT) || (rank == 1 && order == BEFORE_RECEIVE));
	if (rank == 0)
		send->call();
	if (rank == 1)
		receive->call();
	put_if((rank == 0 && order != AS_SENT) || (rank == 1 && order != BEFORE_RECEIVE));
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	if (rank == 0 && order != AS_SENT && !(order == BEFORE_RECEIVE && send->is_synchronous))
		printf("%s races\n", name);
}

int main(int argc, char **argv)
{
	static char room[10000];
	void *detached;
	int bytes;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Buffer_attach(room, sizeof(room));
	for (size_t i = 0; i < sizeof(sends) / sizeof(sends[0]); i++) {
		for (size_t k = 0; k < sizeof(receives) / sizeof(receives[0]); k++) {
			for (int order = 0; order < ORDERS; order++)
				try(&sends[i], &receives[k], (enum order)order);
		}
	}
	MPI_Buffer_detach((void *)&detached, &bytes);
	MPI_Finalize();
	return 0;
}
