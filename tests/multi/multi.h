// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi.h - what the programs in tests/multi are made of
 *
 * DESIGN NOTES
 *
 * A program is a table of cases. Every rank of the job runs the same cases in the same order; a
 * case fails if it fails on any rank. Results, and whatever ranks must tell each other without the
 * library, go over the *board*: a file in /dev/shm that all ranks of the job map, named after the
 * process that started them; or, for ranks on several machines, a slot of the file that they share,
 * MULTI_BOARD=FILE:SLOT. Nothing on the board depends on what is tested.
 *
 * A check that fails is remembered and the case goes on, because a rank that left in the middle
 * would hang the others until the launcher ends them. A case that does not end is ended by an
 * alarm, and the program with it.
 *
 * Ranks wait for each other by multi_sync, or by words of the board that one raises and another
 * awaits. What must *not* happen (an operation that arrives too early) is tested by multi_drain,
 * after which everything the rank has posted is in the memory of its targets, rightly or wrongly.
 */
#ifndef ORIEL_TESTS_MULTI_H
#define ORIEL_TESTS_MULTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "oriel.h"

#define MULTI_RANKS_MAX 80
#define MULTI_WORDS 64

struct multi {
	oriel_job *job;
	oriel_group *group; /* the ranks that take part in the case, in order: 0 to size - 1 */
	int rank;
	int size;
	struct noticeboard *board;
};

typedef void multi_case_fn(struct multi *m);

struct multi_case {
	const char *name;
	int ranks; /* that take part; others only wait for the end. 0: all of the job */
	multi_case_fn *run;
};

struct multi_program {
	const char *name;
	const struct multi_case *cases;
	size_t case_count;
	struct oriel_options options;
	int limit_s; /* of one case; 0: MULTI_LIMIT_S */
};

/* The whole of main: join the job, run the cases named on the command line or all, print results, leave. */
int multi_main(int argc, char **argv, const struct multi_program *program);

/*
 * For programs that lose ranks on purpose, in place of multi_main: joins job and board as a case of
 * that name, with all ranks; an alarm ends it after limit_s seconds. Returns false when the job
 * cannot be joined. No rank collects results: multi_tell prints this rank's, "not ok NAME: ..." if
 * a check has failed, and returns the value for main to return.
 */
bool multi_enter(struct multi *m, const char *name, int limit_s);
int multi_tell(struct multi *m);

/* Checks. They give whether it held, remember the first failure of the case, and never leave it. */
bool multi_check(struct multi *m, bool held, const char *what, const char *file, int line);
bool multi_check_rc(struct multi *m, int rc, int expected, const char *what, const char *file, int line);
void multi_fail(struct multi *m, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#define CHECK(m, condition) multi_check((m), (condition), #condition, __FILE__, __LINE__)
#define CHECK_RC(m, expected, call) multi_check_rc((m), (call), (expected), #call, __FILE__, __LINE__)
#define CHECK_OK(m, call) CHECK_RC(m, 0, call)
/* The last error's text holds a word. */
#define CHECK_TEXT(m, word) multi_check_text((m), (word), __FILE__, __LINE__)
bool multi_check_text(struct multi *m, const char *word, const char *file, int line);

/* Whether this rank has failed a check of the case. */
bool multi_failed(const struct multi *m);

/* The case cannot be run here; any rank may say so. */
void multi_skip(struct multi *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Over the board. */

/* Wait until all ranks that take part have come here. */
void multi_sync(struct multi *m);
/* Words begin at 0 in every case. multi_await waits until the word is at least `value`. */
void multi_raise(struct multi *m, int word, uint64_t value);
void multi_await(struct multi *m, int word, uint64_t value);
uint64_t multi_word(struct multi *m, int word);
/* The process of a rank. */
pid_t multi_pid(const struct multi *m, int rank);

/*
 * Returns a number that is equal on all ranks, and printed by rank 0; from MULTI_SEED or the clock.
 * Every rank calls it, once a case.
 */
uint64_t multi_seed(struct multi *m);
uint64_t multi_random(uint64_t *state);

/* Inside the library. */

/* How many active messages this rank has applied for others. */
uint64_t multi_applied(struct multi *m);

/* Elements that the handler changes in all windows: no processor has one store for them. */
#define MULTI_REST ORIEL_LONG_DOUBLE_COMPLEX
typedef long double _Complex multi_rest;

/* Wait until all requests of this rank, to anybody, have been answered: their data is where it was sent. */
void multi_drain(struct multi *m);

/* Whether every request goes over a card, which the tests have emulated: less of each thing will do. */
bool multi_over_card(void);

/* Data. */

void multi_fill(void *memory, size_t size_bytes, uint64_t seed);
/* Whether memory holds what multi_fill has put there. */
bool multi_holds(const void *memory, size_t size_bytes, uint64_t seed);
/* Whether all bytes are the same value. */
bool multi_all(const void *memory, size_t size_bytes, uint8_t value);
/* Never NULL: ends the program. */
void *multi_alloc(size_t size_bytes);

/* Groups of ranks of the case. */

oriel_group *multi_group(struct multi *m, int count, const int ranks[]);
oriel_group *multi_group_mask(struct multi *m, unsigned mask);
oriel_group *multi_group_one(struct multi *m, int rank);
void multi_group_drop(struct multi *m, oriel_group *group);

/*
 * A window over the case's ranks with size_bytes bytes of unit 1 at each, zeroed. Without it no case can
 * go on: where it cannot be made the rank prints its error and ends, and with it the job.
 */
struct multi_window {
	oriel_win *win;
	uint8_t *base;
	size_t size_bytes;
	bool allocated; /* the memory is the library's */
};

/* Opens a window of zeros. The first function takes the program's memory, and no hints. */
void multi_window_open(struct multi *m, struct multi_window *w, size_t size_bytes);
void multi_window_open_as(struct multi *m, struct multi_window *w, size_t size_bytes, const struct oriel_hint *hints,
                          bool allocated);
void multi_window_close(struct multi *m, struct multi_window *w);

/*
 * One epoch from every rank to every other and itself, without operations: connections and
 * descriptions are in place.
 */
void multi_warm(struct multi *m, oriel_win *win);

#endif
