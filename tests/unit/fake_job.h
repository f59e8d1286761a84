// SPDX-License-Identifier: BSD-2-Clause
/*
 * fake_job.h - ranks of a job as threads of the test program, over the fake device and the fake
 * launcher
 *
 * A rank whose function returns without having finalized counts as ended by the launcher's word. A
 * watchdog ends the program with a report if a run takes too long: nothing in the library may hang.
 */
#ifndef ORIEL_TESTS_FAKE_JOB_H
#define ORIEL_TESTS_FAKE_JOB_H

#include <stdbool.h>

#include "fake_boot.h"
#include "oriel.h"

/* One rank of a run, and what its function found. */
struct rank {
	struct fake_world *world;
	int rank;
	int size;
	oriel_job *job;
	int first_error; /* of the first call that failed; 0: none */
	char first_text[512];
	const char *first_call;
	int errors;
	int retried;          /* calls that were out of memory and have been repeated */
	int last;             /* result of the last call */
	int wrong;            /* data that is wrong, and no error has been reported */
	char wrong_text[256]; /* the first of it, and after which call */
	const char *step;     /* where the rank is, for the watchdog */
	void *arg;
};

/* The function of a rank, in a thread of its own. */
typedef void rank_function(struct rank *rank);

/* Join the job as oriel_init would. options may be NULL. */
int rank_join(struct rank *rank, const struct oriel_options *options);

/* Join as a rank of that node, by the card and softverbs; the library reads the node from the environment. */
int rank_join_on(struct rank *rank, const char *node);

/* Enter the result of a call. Returns it. */
int rank_note(struct rank *rank, const char *call, int rc);

/*
 * Requests are counted for all ranks together. Rank 0 counts alone: all others rest from before it
 * begins, without the library, until it has ended, which it does in any case.
 */
void rank_begin_counting(const struct rank *rank);
void rank_end_counting(void);
void rank_rest(void);

/* Run a function as ranks 0 to size - 1 and wait for all. ranks: an array of size elements to be filled. */
void ranks_run(int size, rank_function *function, void *arg, struct rank ranks[]);

/*
 * Sets the time limit of a run, after which the watchdog ends the program, and the text of its
 * report.
 */
void ranks_limit(int seconds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* After a run: nothing is left and nothing was misused. Prints what is wrong and returns false. */
bool ranks_clean(void);

/* After a run: no call failed, no data was wrong, and ranks_clean. Prints what is not so, and asserts it. */
void ranks_check(const struct rank ranks[], int size);

#endif
