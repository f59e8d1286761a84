// SPDX-License-Identifier: BSD-2-Clause
/*
 * heat2d.c - a 2-D heat equation with halo exchange by post, start, complete, wait
 *
 * The square of N x N points is cut into px x py blocks, one a rank. A block keeps two copies of
 * its points, each with a frame of halo points, in one window. Before each step every rank puts its
 * outermost points into the halos of its neighbours: rows with oriel_put, columns with oriel_putv.
 * At the end rank 0 gets all blocks and compares them with a serial run, to the last bit.
 *
 * usage: oriel-run -n P heat2d [N [STEPS]]
 */
#include <math.h>
#include <oriel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_DEFAULT 96
#define STEPS_DEFAULT 100
#define ALPHA 0.2

/* A block of the square: its place in the grid of ranks, its points without the halo. */
struct block {
	int x0, y0; /* first point */
	int nx, ny; /* points across and down */
};

struct heat {
	int n, steps;
	int rank, size;
	int px, py; /* ranks across and down */
	struct block mine;
	oriel_win *win;
	oriel_group *world;
	oriel_group *neighbours;
	double *points; /* two copies, each (nx + 2) x (ny + 2) */
};

static double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const char *call)
{
	fprintf(stderr, "%s failed: %s\n", call, oriel_last_error());
	return 1;
}

static double initial(int n, int x, int y)
{
	return sin(3.0 * x / n) * cos(5.0 * y / n) + (x * 7 + y * 13) % 11;
}

/* One new point from the five old ones; the serial run uses the same function. */
static double step_point(double here, double left, double right, double up, double down)
{
	return here + ALPHA * (left + right + up + down - 4.0 * here);
}

static int cut(int n, int parts, int i)
{
	return (int)((long)n * i / parts);
}

static struct block block_of(const struct heat *h, int rank)
{
	int ix = rank % h->px, iy = rank / h->px;
	struct block b = { .x0 = cut(h->n, h->px, ix), .y0 = cut(h->n, h->py, iy) };

	b.nx = cut(h->n, h->px, ix + 1) - b.x0;
	b.ny = cut(h->n, h->py, iy + 1) - b.y0;
	return b;
}

/* Index of point (x, y) of a block in copy 0 or 1; x and y from -1 (halo) to nx and ny. */
static size_t at(const struct block *b, int copy, int x, int y)
{
	size_t width = (size_t)b->nx + 2, height = (size_t)b->ny + 2;

	return ((size_t)copy * height + (size_t)(y + 1)) * width + (size_t)(x + 1);
}

/* The rank next to this one, or -1 at the edge of the square, where points stay 0. */
static int neighbour(const struct heat *h, int dx, int dy)
{
	int ix = h->rank % h->px + dx, iy = h->rank / h->px + dy;

	return ix < 0 || ix >= h->px || iy < 0 || iy >= h->py ? -1 : iy * h->px + ix;
}

static int put_row(const struct heat *h, int copy, int dy)
{
	int other = neighbour(h, 0, dy);
	struct block theirs;
	int from = dy < 0 ? 0 : h->mine.ny - 1;

	if (other < 0)
		return 0;
	theirs = block_of(h, other);
	if (oriel_put(h->win, &h->points[at(&h->mine, copy, 0, from)], (size_t)h->mine.nx * sizeof(double), other,
	              at(&theirs, copy, 0, dy < 0 ? theirs.ny : -1)))
		return fail("oriel_put");
	return 0;
}

static int put_column(const struct heat *h, int copy, int dx, struct oriel_origin_piece *origin,
                      struct oriel_target_piece *target)
{
	int other = neighbour(h, dx, 0);
	struct block theirs;

	if (other < 0)
		return 0;
	theirs = block_of(h, other);
	for (int y = 0; y < h->mine.ny; y++) {
		origin[y].addr = &h->points[at(&h->mine, copy, dx < 0 ? 0 : h->mine.nx - 1, y)];
		origin[y].size_bytes = sizeof(double);
		target[y].disp = at(&theirs, copy, dx < 0 ? theirs.nx : -1, y);
		target[y].size_bytes = sizeof(double);
	}
	if (oriel_putv(h->win, origin, h->mine.ny, other, target, h->mine.ny))
		return fail("oriel_putv");
	return 0;
}

static int exchange(const struct heat *h, int copy, struct oriel_origin_piece *origin,
                    struct oriel_target_piece *target)
{
	if (oriel_win_post(h->win, h->neighbours, 0))
		return fail("oriel_win_post");
	if (oriel_win_start(h->win, h->neighbours, 0))
		return fail("oriel_win_start");
	for (int side = -1; side <= 1; side += 2) {
		if (put_row(h, copy, side) || put_column(h, copy, side, origin, target))
			return 1;
	}
	if (oriel_win_complete(h->win))
		return fail("oriel_win_complete");
	if (oriel_win_wait(h->win))
		return fail("oriel_win_wait");
	return 0;
}

static void compute(const struct block *b, double *p, int from)
{
	for (int y = 0; y < b->ny; y++) {
		for (int x = 0; x < b->nx; x++)
			p[at(b, 1 - from, x, y)] =
				step_point(p[at(b, from, x, y)], p[at(b, from, x - 1, y)], p[at(b, from, x + 1, y)],
			               p[at(b, from, x, y - 1)], p[at(b, from, x, y + 1)]);
	}
}

static void fill(const struct heat *h, const struct block *b, double *p)
{
	for (int y = 0; y < b->ny; y++) {
		for (int x = 0; x < b->nx; x++)
			p[at(b, 0, x, y)] = initial(h->n, b->x0 + x, b->y0 + y);
	}
}

static int run_steps(struct heat *h)
{
	struct oriel_origin_piece *origin = calloc((size_t)h->mine.ny, sizeof(*origin));
	struct oriel_target_piece *target = calloc((size_t)h->mine.ny, sizeof(*target));
	int rc = !origin || !target;

	for (int step = 0; rc == 0 && step < h->steps; step++) {
		rc = exchange(h, step % 2, origin, target);
		if (rc == 0)
			compute(&h->mine, h->points, step % 2);
	}
	free(origin);
	free(target);
	return rc;
}

static double *serial_run(const struct heat *h, const struct block *all)
{
	double *p = calloc(2 * ((size_t)h->n + 2) * ((size_t)h->n + 2), sizeof(double));

	if (!p)
		return NULL;
	fill(h, all, p);
	for (int step = 0; step < h->steps; step++)
		compute(all, p, step % 2);
	return p;
}

/* Rank 0, inside a fence epoch: get each row of each block and compare it with the serial run. */
static long get_and_compare(const struct heat *h, const double *serial, double *row)
{
	struct block all = { 0, 0, h->n, h->n };
	long wrong = 0;

	for (int rank = 0; rank < h->size; rank++) {
		struct block b = block_of(h, rank);

		for (int y = 0; y < b.ny; y++) {
			size_t bytes = (size_t)b.nx * sizeof(double);

			if (oriel_get(h->win, row, bytes, rank, at(&b, h->steps % 2, 0, y)) || oriel_win_flush(h->win, rank))
				return fail("oriel_get");
			wrong += memcmp(row, &serial[at(&all, h->steps % 2, b.x0, b.y0 + y)], bytes) != 0;
		}
	}
	return wrong;
}

static int check(const struct heat *h, double seconds)
{
	struct block all = { 0, 0, h->n, h->n };
	double *serial = h->rank == 0 ? serial_run(h, &all) : NULL;
	double *row = malloc((size_t)h->n * sizeof(double));
	long wrong = 0;

	if (oriel_win_fence(h->win, ORIEL_MODE_NOPRECEDE))
		return fail("oriel_win_fence");
	if (h->rank == 0)
		wrong = serial && row ? get_and_compare(h, serial, row) : 1;
	if (oriel_win_fence(h->win, ORIEL_MODE_NOSUCCEED))
		return fail("oriel_win_fence");
	if (h->rank == 0 && wrong == 0)
		printf("heat2d: %d x %d points, %d steps on %d x %d ranks in %.3f s; equal to the serial run to the last bit\n",
		       h->n, h->n, h->steps, h->px, h->py, seconds);
	if (wrong)
		fprintf(stderr, "heat2d: %ld rows differ from the serial run\n", wrong);
	free(serial);
	free(row);
	return wrong != 0;
}

static int make_neighbours(struct heat *h)
{
	static const int sides[4][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };
	int ranks[4], count = 0;

	for (int i = 0; i < 4; i++) {
		int other = neighbour(h, sides[i][0], sides[i][1]);

		if (other >= 0)
			ranks[count++] = other;
	}
	return oriel_group_incl(h->world, count, ranks, &h->neighbours) ? fail("oriel_group_incl") : 0;
}

static int run(struct heat *h)
{
	size_t bytes = 2 * ((size_t)h->mine.nx + 2) * ((size_t)h->mine.ny + 2) * sizeof(double);
	double started;
	void *base;
	int rc;

	if (oriel_win_allocate(bytes, sizeof(double), NULL, h->world, &base, &h->win))
		return fail("oriel_win_allocate");
	h->points = base;
	fill(h, &h->mine, h->points);
	started = now_seconds();
	rc = run_steps(h);
	if (rc == 0)
		rc = check(h, now_seconds() - started);
	if (rc == 0 && oriel_win_free(&h->win))
		rc = fail("oriel_win_free");
	return rc;
}

/* The most square grid of ranks. */
static void shape(struct heat *h)
{
	h->py = 1;
	for (int i = 1; i * i <= h->size; i++) {
		if (h->size % i == 0)
			h->py = i;
	}
	h->px = h->size / h->py;
	h->mine = block_of(h, h->rank);
}

int main(int argc, char **argv)
{
	struct heat h = { .n = argc > 1 ? atoi(argv[1]) : N_DEFAULT, .steps = argc > 2 ? atoi(argv[2]) : STEPS_DEFAULT };
	oriel_job *job;
	int rc;

	if (argc > 1 && strcmp(argv[1], "--help") == 0)
		return puts("usage: oriel-run -n P ./heat2d [N [STEPS]]"), 0;
	if (oriel_init(NULL, &job))
		return fail("oriel_init");
	h.rank = oriel_rank(job);
	h.size = oriel_size(job);
	if (h.n < h.size || h.n > 1 << 14 || h.steps < 0) {
		fprintf(stderr, "usage: heat2d [N [STEPS]], N from the number of ranks to 16384\n");
		return 2;
	}
	shape(&h);
	if (oriel_group_world(job, &h.world))
		return fail("oriel_group_world");
	rc = make_neighbours(&h);
	if (rc == 0)
		rc = run(&h);
	if (rc)
		return rc;
	oriel_group_free(&h.neighbours);
	oriel_group_free(&h.world);
	return oriel_finalize(&job) ? fail("oriel_finalize") : 0;
}
