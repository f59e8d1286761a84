// SPDX-License-Identifier: BSD-2-Clause
/*
 * bugs.h - programs with a bug of one-sided communication, and the same programs without it
 *
 * bugs.c has what both forms share; form_mpi.c and form_oriel.c have the calls. Rank 0 is the
 * origin, rank 1 the target. Each round has another right result.
 */
#ifndef UNKIND_BUGS_H
#define UNKIND_BUGS_H

#include <stdbool.h>
#include <stddef.h>

enum { ROUNDS = 2, LONGS_MAX = 4096 };

/* How an epoch is opened, and which call completes it. */
enum how { BY_FENCE, BY_COMPLETE, BY_UNLOCK, BY_FLUSH, HOWS };

enum kind { CREATED, ALLOCATED, SHARED };

/* A window of LONGS_MAX long integers on each rank, and what is done with it. */
struct form {
	int (*begin)(int *argc, char ***argv); /* returns the rank */
	void (*end)(void);
	long *(*window)(enum kind kind); /* returns the rank's memory */
	void (*window_free)(void);
	void (*open)(enum how how); /* the epoch: called by both ranks, as the next */
	void (*close)(enum how how);
	void (*put)(const long *from, size_t count, size_t at); /* to rank 1 */
	void (*get)(long *to, size_t count, size_t at);
	void (*barrier)(void);
	int (*sum)(int mine); /* of both ranks, for both */
};

extern const struct form form;

#endif
