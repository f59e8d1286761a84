// SPDX-License-Identifier: BSD-2-Clause
/* board.c - see board.h. */
#include "mpi/board.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/collective.h"
#include "mpi/machine.h"

int board_open(struct board *board)
{
	memset(board, 0, sizeof(*board));
	PMPI_Comm_rank(MPI_COMM_WORLD, &board->rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &board->size);
	board->all = calloc((size_t)board->size, sizeof(*board->all));
	return board->all ? 0 : -1;
}

void board_close(struct board *board)
{
	free(board->all);
	board->all = NULL;
}

/* The machines' numbers lie where the entries come later. */
void board_meet(struct board *board)
{
	uint64_t mine = machine_number(), *all = (uint64_t *)(void *)board->all;

	collective_allgather(&mine, (int)sizeof(mine), all);
	for (int i = 0; i < board->size; i++)
		board->local_size += all[i] == mine;
}

void board_exchange(struct board *board)
{
	collective_allgather(&board->mine, (int)sizeof(board->mine), board->all);
	__atomic_store_n(&board->done, 1, __ATOMIC_RELEASE); /* pairs with board_get */
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

	if (!__atomic_load_n(&board->done, __ATOMIC_ACQUIRE)) /* pairs with board_exchange */
		return 1;
	if (entry->size_bytes == 0 || entry->size_bytes > *size_bytes)
		return -1;
	memcpy(value, entry->value, entry->size_bytes);
	*size_bytes = entry->size_bytes;
	return 0;
}
