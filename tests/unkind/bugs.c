// SPDX-License-Identifier: BSD-2-Clause
/*
 * bugs.c - see bugs.h. Usage: bugs BUG, with two ranks. Rank 0 prints a line for each way to complete
 * an epoch, each kind of window and each size: what was done, and which rounds had a wrong result.
 *
 *   get     rank 0 reads a get's buffer before the call that completes the get
 *   put     rank 0 writes a put's buffer before the call that completes the put
 *   order   rank 0 puts twice to one place in an epoch, and the second is to stay
 *   right   none of these
 */
#include "unkind/bugs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const how_names[] = { "fence", "complete", "unlock", "flush" };
static const char *const kind_names[] = { "created", "allocated", "shared" };
static long *window, buffer[LONGS_MAX], other[LONGS_MAX];
static const char *bug;
static int rank;

static void fill(long *at, size_t count, long value)
{
	for (size_t i = 0; i < count; i++)
		at[i] = value + (long)i;
}

static bool is_filled(const long *at, size_t count, long value)
{
	for (size_t i = 0; i < count; i++)
		if (at[i] != value + (long)i)
			return false;
	return true;
}

/* Each returns whether the calling rank has seen a wrong result. */

static bool round_of_get(enum how how, size_t count, long value)
{
	bool wrong = false;

	if (rank == 1)
		fill(window, count, value);
	form.barrier();
	form.open(how);
	if (rank == 0)
		form.get(buffer, count, 0);
	if (rank == 0 && strcmp(bug, "get") == 0)
		wrong = !is_filled(buffer, count, value);
	form.close(how);
	form.barrier();
	return wrong || (rank == 0 && !is_filled(buffer, count, value));
}

static bool round_of_put(enum how how, size_t count, long value)
{
	bool early = strcmp(bug, "put") == 0;

	fill(buffer, count, value);
	form.open(how);
	if (rank == 0)
		form.put(buffer, count, 0);
	if (rank == 0 && early)
		fill(buffer, count, -value);
	form.close(how);
	form.barrier();
	return rank == 1 && !is_filled(window, count, value);
}

static bool round_of_order(enum how how, size_t count, long value)
{
	fill(buffer, count, -value);
	fill(other, count, value);
	form.open(how);
	if (rank == 0) {
		form.put(buffer, count, 0);
		form.put(other, count, 0);
	}
	form.close(how);
	form.barrier();
	return rank == 1 && !is_filled(window, count, value);
}

static void rounds(const char *name, bool (*round)(enum how how, size_t count, long value), enum how how,
                   enum kind kind, size_t count)
{
	char which[ROUNDS + 1] = "";
	int wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int here = form.sum(round(how, count, 1000 * (i + 1)));

		which[i] = here ? 'x' : '.';
		wrong += here;
	}
	if (rank == 0)
		printf("%s, %s, %s, %zu bytes: %d of %d wrong %s\n", name, how_names[how], kind_names[kind],
		       count * sizeof(long), wrong, ROUNDS, which);
}

static void all_ways(enum kind kind, size_t count)
{
	bool right = strcmp(bug, "right") == 0;

	for (enum how how = 0; how < HOWS; how++) {
		if (right || strcmp(bug, "get") == 0)
			rounds("get", round_of_get, how, kind, count);
		if (right || strcmp(bug, "put") == 0)
			rounds("put", round_of_put, how, kind, count);
		if (strcmp(bug, "order") == 0)
			rounds("order", round_of_order, how, kind, count);
	}
}

int main(int argc, char **argv)
{
	static const size_t counts[] = { 1, LONGS_MAX };

	rank = form.begin(&argc, &argv);
	bug = argc > 1 ? argv[1] : "right";
	for (enum kind kind = CREATED; kind <= SHARED; kind++) {
		window = form.window(kind);
		for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
			all_ways(kind, counts[i]);
		form.window_free();
	}
	form.end();
	return 0;
}
