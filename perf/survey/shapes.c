// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "survey/shapes.h"

enum {
	ROW = 8, /* doubles of a subarray's row, in an array of twice as many columns */
	RUNS = 4,
};

/* An irregular list: runs of doubles, and the gaps behind them. */
static const int run_length[RUNS] = { 1, 3, 2, 2 };
static const int run_gap[RUNS] = { 2, 5, 1, 4 };

struct run {
	int first, length; /* doubles */
};

static struct run next_run(const char *name, int number, int first)
{
	if (strcmp(name, "vector") == 0)
		return (struct run){ 2 * number, 1 };
	if (strcmp(name, "subarray") == 0)
		return (struct run){ 2 * ROW * number + ROW / 2, ROW };
	if (strcmp(name, "indexed") == 0)
		return (struct run){ first + (number ? run_gap[(number - 1) % RUNS] : 0), run_length[number % RUNS] };
	if (strcmp(name, "struct") == 0)
		return (struct run){ 3 * (number / 2) + 2 * (number % 2), 1 };
	return (struct run){ first, 1 << 30 };
}

/* Calls `take` for each run of the shape. Returns how many there are. */
static int each_run(const char *name, int doubles, void (*take)(struct run run, int number, void *context),
                    void *context)
{
	int number = 0;

	for (int left = doubles, first = 0; left > 0; number++) {
		struct run run = next_run(name, number, first);

		if (run.length > left)
			run.length = left;
		take(run, number, context);
		first = run.first + run.length;
		left -= run.length;
	}
	return number;
}

struct lists {
	int *lengths, *firsts;
};

static void take_lists(struct run run, int number, void *context)
{
	struct lists *lists = context;

	lists->lengths[number] = run.length;
	lists->firsts[number] = run.first;
}

static MPI_Datatype indexed(const char *name, int doubles)
{
	struct lists lists = { malloc((size_t)doubles * sizeof(int)), malloc((size_t)doubles * sizeof(int)) };
	int runs = each_run(name, doubles, take_lists, &lists);
	MPI_Datatype type;

	MPI_Type_indexed(runs, lists.lengths, lists.firsts, MPI_DOUBLE, &type);
	free(lists.lengths);
	free(lists.firsts);
	return type;
}

static MPI_Datatype subarray(int doubles)
{
	int columns = doubles < ROW ? doubles : ROW, rows = doubles / columns;
	int sizes[] = { rows, 2 * ROW }, parts[] = { rows, columns }, starts[] = { 0, ROW / 2 };
	MPI_Datatype type;

	MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
	return type;
}

/* Two doubles with one between that does not belong to the structure. */
static MPI_Datatype structure(int doubles)
{
	int lengths[] = { 1, 1 };
	MPI_Aint places[] = { 0, 2 * sizeof(double) };
	MPI_Datatype types[] = { MPI_DOUBLE, MPI_DOUBLE }, type;

	MPI_Type_create_struct(doubles > 1 ? 2 : 1, lengths, places, types, &type);
	return type;
}

/* Elements that are no doubles, or lie at odd addresses. */
static struct shape elements(const char *name, int bytes)
{
	int pairs = bytes / (int)(2 * sizeof(double));

	if (strcmp(name, "double_int") == 0)
		return (struct shape){ MPI_DOUBLE_INT, pairs, MPI_MAXLOC, 0 };
	if (strcmp(name, "long_int") == 0)
		return (struct shape){ MPI_LONG_INT, pairs, MPI_MAXLOC, 0 };
	if (strcmp(name, "long_double") == 0)
		return (struct shape){ MPI_LONG_DOUBLE, bytes / (int)sizeof(long double), MPI_SUM, 0 };
	if (strcmp(name, "unaligned") == 0)
		return (struct shape){ MPI_DOUBLE, bytes / (int)sizeof(double), MPI_SUM, 1 };
	return (struct shape){ .count = 0 };
}

static struct shape derived(const char *name, int doubles)
{
	struct shape shape = { .count = 1, .op = MPI_SUM };

	if (strcmp(name, "vector") == 0) {
		MPI_Type_vector(doubles, 1, 2, MPI_DOUBLE, &shape.type);
	} else if (strcmp(name, "subarray") == 0) {
		shape.type = subarray(doubles);
	} else if (strcmp(name, "indexed") == 0) {
		shape.type = indexed(name, doubles);
	} else if (strcmp(name, "struct") == 0) {
		shape.type = structure(doubles);
		shape.count = doubles > 1 ? doubles / 2 : 1;
	} else {
		return (struct shape){ .count = 0 };
	}
	MPI_Type_commit(&shape.type);
	return shape;
}

struct shape shape_make(const char *name, int bytes)
{
	int doubles = bytes / (int)sizeof(double);
	struct shape shape = elements(name, bytes);

	if (shape.count > 0)
		return shape;
	if (strcmp(name, "contiguous") == 0 || strcmp(name, "written") == 0)
		return (struct shape){ MPI_DOUBLE, doubles, MPI_SUM, 0 };
	return derived(name, doubles);
}

void shape_free(struct shape *shape)
{
	int integers, addresses, types, combiner;

	MPI_Type_get_envelope(shape->type, &integers, &addresses, &types, &combiner);
	if (combiner != MPI_COMBINER_NAMED)
		MPI_Type_free(&shape->type);
}

struct places {
	char *base;
	struct iovec *list;
};

static void take_places(struct run run, int number, void *context)
{
	struct places *places = context;

	places->list[number] =
		(struct iovec){ places->base + (size_t)run.first * sizeof(double), (size_t)run.length * sizeof(double) };
}

int shape_pieces(const char *name, int doubles, void *base, struct iovec *list)
{
	struct places places = { base, list };

	return each_run(name, doubles, take_places, &places);
}
