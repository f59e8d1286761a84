// SPDX-License-Identifier: BSD-2-Clause
/* layer.c - see layer.h. */
#include "layer.h"

int layer_rank, layer_size;
static int failures;

int layer_right(void)
{
	return (layer_rank + 1) % layer_size;
}

int layer_left(void)
{
	return (layer_rank + layer_size - 1) % layer_size;
}

void layer_put_to_address(MPI_Win win, int *memory)
{
	MPI_Aint here, there;

	MPI_Get_address(memory, &here);
	MPI_Sendrecv(&here, 1, MPI_AINT, layer_left(), 0, &there, 1, MPI_AINT, layer_right(), 0, MPI_COMM_WORLD,
	             MPI_STATUS_IGNORE);
	MPI_Win_fence(0, win);
	MPI_Put(&layer_rank, 1, MPI_INT, layer_right(), there, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	EXPECT(*memory == layer_left());
}

void layer_expect(int held, const char *what, const char *file, int line)
{
	if (held)
		return;
	if (failures++ < 5)
		fprintf(stderr, "# rank %d: %s:%d: %s\n", layer_rank, file, line, what);
}

static int run_case(const struct layer_case *c)
{
	int failed, ranks = 0;

	failures = 0;
	c->run();
	failed = failures != 0;
	MPI_Reduce(&failed, &ranks, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (layer_rank == 0 && ranks == 0)
		printf("ok %s\n", c->name);
	else if (layer_rank == 0)
		printf("not ok %s: on %d of %d ranks\n", c->name, ranks, layer_size);
	return ranks;
}

int layer_run(int *argc, char ***argv, const struct layer_case *cases, int count)
{
	int failed = 0, provided;

	MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &layer_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &layer_size);
	for (int i = 0; i < count; i++)
		failed += run_case(&cases[i]) != 0;
	if (layer_rank == 0)
		printf("layer: %d passed, %d failed, 0 skipped\n", count - failed, failed);
	MPI_Finalize();
	return failed != 0;
}
