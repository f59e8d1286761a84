// SPDX-License-Identifier: BSD-2-Clause
/* relay.c - signals: a message goes round the ring of ranks, each waits for it and passes it on; no other calls */
#include "check.h"

#define ROUNDS 100

/* The message is the put's until it has come round again. */
static int pass_on(oriel_win *win, long *message, int to)
{
	++*message;
	return oriel_put(win, message, sizeof(*message), to, 0) || oriel_signal(win, to, 0, 1, ORIEL_SIGNAL_ADD);
}

int main(int argc, char **argv)
{
	static const struct oriel_hint one_signal[] = { { "signals", "1" }, { NULL, NULL } };
	static long message; /* each rank's window */
	oriel_job *job;
	oriel_group *world;
	oriel_win *win;
	int rc, to;

	usage(argc, argv, "oriel-run -n 4 ./relay");
	rc = oriel_init(NULL, &job) || oriel_group_world(job, &world) ||
	     oriel_win_create(&message, sizeof(message), 1, one_signal, world, &win) || oriel_win_lock_all(win, 0);
	to = rc ? 0 : (oriel_rank(job) + 1) % oriel_size(job);
	if (rc == 0 && oriel_rank(job) == 0)
		rc = pass_on(win, &message, to);
	for (uint64_t round = 1; rc == 0 && round <= ROUNDS; round++) {
		rc = oriel_signal_until(win, 0, round); /* the message is there */
		if (rc == 0 && !(oriel_rank(job) == 0 && round == ROUNDS))
			rc = pass_on(win, &message, to);
	}
	if (rc == 0 && oriel_rank(job) == 0)
		printf("relay: after %d rounds of %d ranks the message is %ld\n", ROUNDS, oriel_size(job), message);
	rc = rc || (oriel_rank(job) == 0 && message != (long)ROUNDS * oriel_size(job)) || oriel_win_unlock_all(win);
	if (rc || oriel_win_free(&win) || oriel_group_free(&world) || oriel_finalize(&job))
		return fprintf(stderr, "relay: %s\n", oriel_last_error()), 1;
	return 0;
}
