// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_limits.c - rule E1 when a rank has used up what the system allows it: the error says what
 * is short and what to do, no rank counts as dead, and the call can be repeated
 *
 * The case must meet ranks that are not connected, so it is the only one.
 */
#include "multi.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* No descriptor beyond those that are open. Returns the limit before. */
static struct rlimit use_up_descriptors(struct multi *m)
{
	struct rlimit before = { 0 }, none;
	int next = dup(STDIN_FILENO);

	close(next);
	CHECK(m, next >= 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
	none = before;
	none.rlim_cur = (rlim_t)next;
	CHECK(m, setrlimit(RLIMIT_NOFILE, &none) == 0);
	return before;
}

/* Rank 0 has none left; a device that needs none for a connection connects all the same. */
static void out_of_descriptors(struct multi *m)
{
	struct rlimit before = { 0 };
	uint8_t memory[64] = { 0 }, value = 5;
	oriel_win *win = NULL;
	int rc;

	if (m->rank == 0)
		before = use_up_descriptors(m);
	multi_sync(m);
	rc = oriel_win_create(memory, sizeof(memory), 1, NULL, m->group, &win);
	if (rc) {
		CHECK_RC(m, ORIEL_ERR_LIMIT, rc);
		CHECK(m, win == NULL);
		CHECK_TEXT(m, "oriel_win_create");
		CHECK_TEXT(m, "ulimit -n");
		CHECK_TEXT(m, m->rank ? "rank 0" : "rank 1");
	}
	multi_sync(m);
	if (m->rank == 0)
		CHECK(m, setrlimit(RLIMIT_NOFILE, &before) == 0);
	multi_sync(m);
	if (rc)
		CHECK_OK(m, oriel_win_create(memory, sizeof(memory), 1, NULL, m->group, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_put(win, &value, 1, 1 - m->rank, 0));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, memory[0] == 5);
	CHECK_OK(m, oriel_barrier(m->job));
	CHECK_OK(m, oriel_win_free(&win));
}

static const struct multi_case cases[] = {
	{ "E1_out_of_descriptors", 2, out_of_descriptors },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_limits",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
