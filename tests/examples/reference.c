// SPDX-License-Identifier: BSD-2-Clause
/*
 * reference.c - the smallest program that uses everything post, start, complete and test have
 *
 * Rank 1 shows 20 ints, B[i] = -4 * i. Rank 0 shows nothing; it puts its ints 0 to 9 one by one,
 * gets the ints at 10 to 19 one by one, and completes. It must then hold -4 * (i + 10); rank 1
 * spins on test and must then find B[i] == i for i < 10.
 */
#include "check.h"

#define PUTS 10
#define INTS 20

static int fail(const char *call)
{
	fprintf(stderr, "%s failed: %s\n", call, oriel_last_error());
	return 1;
}

static int origin(oriel_job *job, const oriel_group *peer, oriel_win *win)
{
	int a[INTS], b[INTS], errors = 0;

	for (int i = 0; i < INTS; i++)
		a[i] = b[i] = i;
	if (oriel_win_start(win, peer, 0))
		return fail("oriel_win_start");
	for (int i = 0; i < PUTS; i++) {
		if (oriel_put(win, a + i, sizeof(int), 1, (size_t)i))
			return fail("oriel_put");
	}
	for (int i = 0; i < PUTS; i++) {
		if (oriel_get(win, b + i, sizeof(int), 1, (size_t)(PUTS + i)))
			return fail("oriel_get");
	}
	if (oriel_win_complete(win))
		return fail("oriel_win_complete");
	for (int i = 0; i < PUTS; i++) {
		if (b[i] != -4 * (i + PUTS)) {
			fprintf(stderr, "get: b[%d] is %d, should be %d\n", i, b[i], -4 * (i + PUTS));
			errors++;
		}
	}
	if (errors == 0)
		printf("rank %d of %d: %d puts and %d gets are right\n", oriel_rank(job), oriel_size(job), PUTS, PUTS);
	return errors;
}

static int target(const oriel_group *peer, oriel_win *win, const int *b)
{
	int flag = 0, errors = 0;

	if (oriel_win_post(win, peer, 0))
		return fail("oriel_win_post");
	while (!flag) {
		if (oriel_win_test(win, &flag))
			return fail("oriel_win_test");
	}
	for (int i = 0; i < PUTS; i++) {
		if (b[i] != i) {
			fprintf(stderr, "put: b[%d] is %d, should be %d\n", i, b[i], i);
			errors++;
		}
	}
	return errors;
}

static int run(oriel_job *job, oriel_group *world)
{
	int b[INTS], rank = oriel_rank(job), other = 1 - rank, errors;
	oriel_group *peer;
	oriel_win *win;

	for (int i = 0; i < INTS; i++)
		b[i] = -4 * i;
	if (oriel_win_create(rank ? b : NULL, rank ? sizeof(b) : 0, rank ? sizeof(int) : 1, NULL, world, &win))
		return fail("oriel_win_create");
	if (oriel_group_incl(world, 1, &other, &peer))
		return fail("oriel_group_incl");
	errors = rank ? target(peer, win, b) : origin(job, peer, win);
	oriel_group_free(&peer);
	if (oriel_win_free(&win))
		return fail("oriel_win_free");
	return errors;
}

int main(int argc, char **argv)
{
	oriel_job *job;
	oriel_group *world;
	int errors;

	usage(argc, argv, "oriel-run -n 2 ./reference");
	if (oriel_init(NULL, &job))
		return fail("oriel_init");
	if (oriel_size(job) != 2) {
		fprintf(stderr, "run me with 2 ranks: oriel-run -n 2 reference\n");
		return 2;
	}
	if (oriel_group_world(job, &world))
		return fail("oriel_group_world");
	errors = run(job, world);
	oriel_group_free(&world);
	if (oriel_finalize(&job))
		return fail("oriel_finalize");
	return errors != 0;
}
