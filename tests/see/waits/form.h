/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * form.h - the calls that the properties make, in one of two forms: oriel.h or MPI
 *
 * Each function makes one call of its library and writes its line (notes.h). An error ends the job.
 */
#ifndef ORIEL_TESTS_WAITS_FORM_H
#define ORIEL_TESTS_WAITS_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "notes.h"

struct form_win;

struct form_world {
	int rank;
	int ranks;
	bool has_signals;
};

/* init and finalize, which write no line. */
struct form_world form_open(int *argc, char ***argv);
void form_close(void);

/* A window of all ranks in memory of the library. */
struct form_win *form_allocate(const char *name, size_t size_bytes);
/*
 * A window of all ranks in memory of the program, where accumulates of long double are active
 * messages. Reversed: the job's last rank is the window's first. Callers name ranks of the job.
 */
struct form_win *form_create(const char *name, void *base, size_t size_bytes, bool reversed);
void form_free(struct form_win *win);

void form_put(struct form_win *win, const void *origin, size_t size_bytes, int target);
/* Adds one long double. */
void form_accumulate(struct form_win *win, int target);
void form_flush(struct form_win *win, int target);

void form_post(struct form_win *win, const struct notes_ranks *origins);
void form_start(struct form_win *win, const struct notes_ranks *targets);
void form_complete(struct form_win *win);
void form_wait(struct form_win *win);
void form_fence(struct form_win *win);

void form_lock(struct form_win *win, bool exclusive, int target);
void form_unlock(struct form_win *win, int target);
void form_lock_all(struct form_win *win);
void form_unlock_all(struct form_win *win);

/* A collective call without a window, if the library has one. */
void form_barrier(void);
/*
 * Adds 1 to the signal 0 of the target; waits until that of this rank has a value. Where
 * has_signals.
 */
void form_signal(struct form_win *win, int target);
void form_signal_until(struct form_win *win, uint64_t value, int sender);

#endif
