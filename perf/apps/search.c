// SPDX-License-Identifier: BSD-2-Clause
/*
 * search.c - a breadth-first search of a random graph by accumulates with MPI_MIN, as in Graph500
 *
 * usage: search SCALE DEGREE SEARCHES
 *
 * The graph has 2^SCALE vertices with DEGREE edges each, drawn from Kronecker's product (.57 .19
 * .19 .05); the ranks own vertices in turn. A vertex has one word in its rank's window: the level
 * at which it was reached and the least vertex that reached it there, or that it was not reached.
 * In each level all ranks accumulate into the words of the previous level's neighbours, fence, and
 * check which of their own vertices have been reached.
 */
#include <limits.h>
#include <stdlib.h>

#include "apps/apps.h"

static long scale, vertices, edges, mine; /* mine: vertices of this rank */
static long *begins, *ends;               /* first neighbour of each own vertex; all neighbours */
static long *words, *front, *values;
static MPI_Win win;

/* Draws an edge, which any rank can draw again. */
static void draw_edge(unsigned long *state, long vertex[2])
{
	vertex[0] = vertex[1] = 0;
	for (long bit = 0; bit < scale; bit++) {
		double drawn = (double)(next_random(state) >> 11) / 9007199254740992.0;

		vertex[0] |= (long)(drawn >= .76) << bit;
		vertex[1] |= (long)((drawn >= .57 && drawn < .76) || drawn >= .95) << bit;
	}
}

/* Counts each edge at both ends, and stores it there if `place`. */
static void go_over_edges(long *counts, int place)
{
	unsigned long state = 362436069UL;
	long vertex[2];

	for (long i = 0; i < edges; i++) {
		draw_edge(&state, vertex);
		for (int end = 0; end < 2; end++) {
			if (vertex[end] % ranks != rank)
				continue;
			if (place)
				ends[begins[vertex[end] / ranks] + counts[vertex[end] / ranks]] = vertex[1 - end];
			counts[vertex[end] / ranks]++;
		}
	}
}

static void make_graph(void)
{
	long *counts = calloc((size_t)mine, sizeof(*counts));

	begins = calloc((size_t)mine + 1, sizeof(*begins));
	go_over_edges(counts, 0);
	for (long i = 0; i < mine; i++) {
		begins[i + 1] = begins[i] + counts[i];
		counts[i] = 0;
	}
	ends = malloc((size_t)(begins[mine] + 1) * sizeof(*ends));
	go_over_edges(counts, 1);
	free(counts);
}

static long word_of(long level, long parent)
{
	return level << 32 | parent;
}

static void reach(long vertex, const long *value)
{
	MPI_Accumulate(value, 1, MPI_LONG, (int)(vertex % ranks), vertex / ranks, 1, MPI_LONG, MPI_MIN, win);
}

/* Accumulates from words that stay unchanged until the fence. */
static void reach_neighbours(long level, long in_front)
{
	for (long i = 0; i < in_front; i++) {
		values[i] = word_of(level, front[i] * ranks + rank);
		for (long j = begins[front[i]]; j < begins[front[i] + 1]; j++)
			reach(ends[j], &values[i]);
	}
}

/* Makes the front: this rank's vertices reached at `level`. Returns their number. */
static long new_front(long level)
{
	long count = 0;

	for (long i = 0; i < mine; i++)
		if (words[i] >> 32 == level)
			front[count++] = i;
	return count;
}

static void search_from(long root)
{
	long in_front, in_all_fronts = 1;

	for (long i = 0; i < mine; i++)
		words[i] = LONG_MAX;
	if (root % ranks == rank)
		words[root / ranks] = word_of(0, root);
	MPI_Win_fence(0, win);
	for (long level = 1; in_all_fronts > 0; level++) {
		in_front = new_front(level - 1);
		MPI_Allreduce(&in_front, &in_all_fronts, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
		reach_neighbours(level, in_front);
		MPI_Win_fence(0, win);
	}
}

static double checksum(void)
{
	double sum = 0;

	for (long i = 0; i < mine; i++)
		sum += words[i] == LONG_MAX ? 0 : (double)(1000 * (words[i] >> 32) + words[i] % 997);
	return sum;
}

int main(int argc, char **argv)
{
	long arguments[3];
	double sum = 0;

	begin(argc, argv, "SCALE DEGREE SEARCHES", 3, arguments);
	scale = arguments[0];
	vertices = 1L << scale;
	edges = vertices * arguments[1];
	mine = (vertices - rank + ranks - 1) / ranks;
	make_graph();
	front = malloc((size_t)(mine + 1) * sizeof(*front));
	values = malloc((size_t)(mine + 1) * sizeof(*values));
	words = window_of(mine * (long)sizeof(*words), sizeof(*words), &win);
	for (long i = 0; i < arguments[2]; i++) {
		search_from(i * 7 % vertices);
		sum += checksum();
	}
	MPI_Win_free(&win);
	return end_with("checksum", sum);
}
