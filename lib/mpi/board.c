// SPDX-License-Identifier: BSD-2-Clause
/* board.c - see board.h. */
#include "mpi/board.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/calls.h"

/* What one rank of each node tells the others of its node's. */
struct record {
	int rank;
	struct board_entry entry;
};

static size_t bytes_of(const struct board *board)
{
	return (size_t)board->size * sizeof(*board->all) + sizeof(*board->done);
}

/* Open MPI over UCX has no shared window for one rank. */
static int open_alone(struct board *board)
{
	board->all = board->alone = calloc(1, bytes_of(board));
	return board->alone ? 0 : -1;
}

static int open_shared(struct board *board)
{
	MPI_Aint bytes = (MPI_Aint)bytes_of(board);
	void *ignored;
	int unit;

	PMPI_Comm_set_errhandler(board->node, MPI_ERRORS_RETURN);
	if (own.Win_allocate_shared(board->local_rank == 0 ? bytes : 0, 1, MPI_INFO_NULL, board->node, &ignored,
	                            &board->memory))
		return -1;
	return own.Win_shared_query(board->memory, 0, &bytes, &unit, &board->all) ? -1 : 0;
}

/* `done` becomes 1 when all is there; nobody looks at it before all ranks have opened their boards. */
static int open_memory(struct board *board)
{
	int rc = board->local_size == 1 ? open_alone(board) : open_shared(board);

	if (rc)
		return rc;
	board->done = (int *)(void *)(board->all + board->size);
	if (board->local_rank == 0)
		*board->done = 0;
	return 0;
}

int board_open(struct board *board)
{
	memset(board, 0, sizeof(*board));
	board->node = MPI_COMM_NULL;
	board->memory = MPI_WIN_NULL;
	PMPI_Comm_rank(MPI_COMM_WORLD, &board->rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &board->size);
	if (PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &board->node))
		return -1;
	PMPI_Comm_rank(board->node, &board->local_rank);
	PMPI_Comm_size(board->node, &board->local_size);
	return open_memory(board);
}

void board_close(struct board *board)
{
	if (board->memory != MPI_WIN_NULL)
		own.Win_free(&board->memory);
	if (board->node != MPI_COMM_NULL)
		PMPI_Comm_free(&board->node);
	free(board->alone);
	board->alone = NULL;
}

/* Those of this node, by its rank 0. */
static struct record *pack(const struct board *board, const int *ranks)
{
	struct record *records = calloc((size_t)board->local_size, sizeof(*records));

	for (int i = 0; records && i < board->local_size; i++) {
		records[i].rank = ranks[i];
		records[i].entry = board->all[ranks[i]];
	}
	return records;
}

static void unpack(struct board *board, const struct record *records, int count)
{
	for (int i = 0; i < count; i++)
		board->all[records[i].rank] = records[i].entry;
}

/* bytes[i] and offsets[i] of what node i tells; returns the sum. */
static int spread(MPI_Comm nodes, int count, int mine, int bytes[], int offsets[])
{
	int sum = 0;

	PMPI_Allgather(&mine, 1, MPI_INT, bytes, 1, MPI_INT, nodes);
	for (int i = 0; i < count; i++) {
		offsets[i] = sum;
		sum += bytes[i];
	}
	return sum;
}

static int exchange_among(struct board *board, MPI_Comm nodes, int count, const struct record *mine)
{
	const int mine_bytes = board->local_size * (int)sizeof(*mine);
	int *bytes = calloc((size_t)count * 2, sizeof(*bytes)), rc = -1;
	struct record *all = malloc((size_t)board->size * sizeof(*all));

	if (bytes && all && mine) {
		spread(nodes, count, mine_bytes, bytes, bytes + count);
		rc = PMPI_Allgatherv(mine, mine_bytes, MPI_BYTE, all, bytes, bytes + count, MPI_BYTE, nodes);
		unpack(board, all, board->size);
	}
	free(all);
	free(bytes);
	return rc;
}

static int exchange_nodes(struct board *board, MPI_Comm nodes, const int *ranks)
{
	struct record *mine = pack(board, ranks);
	int count, rc;

	PMPI_Comm_size(nodes, &count);
	rc = count > 1 ? exchange_among(board, nodes, count, mine) : 0;
	free(mine);
	return rc;
}

/* Rank 0 of each node knows who is on it. */
static int exchange_as_node(struct board *board, MPI_Comm nodes)
{
	int *ranks = calloc((size_t)board->local_size, sizeof(*ranks)), rc = -1;

	if (ranks && PMPI_Gather(&board->rank, 1, MPI_INT, ranks, 1, MPI_INT, 0, board->node) == 0)
		rc = nodes == MPI_COMM_NULL ? 0 : exchange_nodes(board, nodes, ranks);
	free(ranks);
	return rc;
}

int board_exchange(struct board *board)
{
	MPI_Comm nodes;
	int rc;

	board->all[board->rank] = board->mine;
	PMPI_Barrier(board->node);
	PMPI_Comm_split(MPI_COMM_WORLD, board->local_rank == 0 ? 0 : MPI_UNDEFINED, 0, &nodes);
	rc = exchange_as_node(board, nodes);
	if (nodes != MPI_COMM_NULL)
		PMPI_Comm_free(&nodes);
	if (board->local_rank == 0)
		__atomic_store_n(board->done, 1, __ATOMIC_RELEASE); /* pairs with board_get */
	PMPI_Barrier(board->node);
	return rc;
}

int board_put(void *context, const void *value, size_t size_bytes)
{
	struct board *board = context;

	if (size_bytes > BOARD_VALUE_MAX)
		return 1;
	board->mine.size_bytes = (uint8_t)size_bytes;
	memcpy(board->mine.value, value, size_bytes);
	return 0;
}

int board_get(void *context, int rank, void *value, size_t *size_bytes)
{
	const struct board *board = context;
	const struct board_entry *entry = &board->all[rank];

	if (!__atomic_load_n(board->done, __ATOMIC_ACQUIRE)) /* pairs with board_exchange */
		return 1;
	if (entry->size_bytes == 0 || entry->size_bytes > *size_bytes)
		return -1;
	memcpy(value, entry->value, entry->size_bytes);
	*size_bytes = entry->size_bytes;
	return 0;
}
