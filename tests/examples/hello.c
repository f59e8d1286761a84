// SPDX-License-Identifier: BSD-2-Clause
/* hello.c - every rank puts a greeting into the window of its right neighbour */
#include "check.h"

int main(int argc, char **argv)
{
	char greeting[40], inbox[40] = "";
	oriel_job *job;
	oriel_group *world;
	oriel_win *win;
	int rank, size;

	usage(argc, argv, "oriel-run -n 4 ./hello");
	CHECK(oriel_init(NULL, &job));
	rank = CHECK(oriel_rank(job));
	size = CHECK(oriel_size(job));
	CHECK(oriel_group_world(job, &world)); /* all ranks */
	CHECK(oriel_win_create(inbox, sizeof(inbox), 1, NULL, world, &win));

	snprintf(greeting, sizeof(greeting), "hello from rank %d", rank);
	CHECK(oriel_win_fence(win, 0)); /* opens an epoch: puts may arrive */
	CHECK(oriel_put(win, greeting, sizeof(greeting), (rank + 1) % size, 0));
	CHECK(oriel_win_fence(win, 0)); /* closes it: the puts have arrived */
	printf("rank %d of %d: %s\n", rank, size, inbox);

	CHECK(oriel_win_free(&win));
	CHECK(oriel_group_free(&world));
	CHECK(oriel_finalize(&job));
	return 0;
}
