// SPDX-License-Identifier: BSD-2-Clause
/*
 * run.h - inside the runner: what one rank does for a seed
 *
 * A function for an event takes it from run->event.
 */
#ifndef ORIEL_TESTS_EPOCHS_RUN_H
#define ORIEL_TESTS_EPOCHS_RUN_H

#include "epochs.h"
#include "model.h"
#include "plan.h"

#define LINE_BYTES 2000
#define TEXT_BYTES (LINE_BYTES + 200)

/* This rank's memory for a region. */
struct memory {
	uint32_t serial;
	enum region_kind kind;
	uint8_t *base; /* first byte of the region */
	void *mapped;  /* what to give back */
	size_t mapped_bytes;
};

struct run {
	struct job *job;
	uint64_t seed;
	struct plan plan;
	struct model model;
	struct event event;
	struct unstable unstable;
	struct memory memory[PLAN_REGIONS_MAX];
	uint8_t *bytes[PLAN_REGIONS_MAX]; /* memory[].base */
	oriel_win *win[PLAN_WINDOWS_MAX];
	bool closed[PLAN_WINDOWS_MAX]; /* a test was true: the exposure epoch is over, wait has nothing to do */
	oriel_mem *mem[PLAN_MEMS_MAX];
	oriel_request request[PLAN_REQUESTS_MAX];
	uint64_t taken[PLAN_WINDOWS_MAX][PLAN_SIGNALS]; /* values of signals */
	uint8_t operands[BOARD_SEEN_BYTES];
	uint8_t
		seen[BOARD_SEEN_BYTES]; /* results of atomics; behind that of a compare_and_swap what it was compared with */
	int differences;
};

/* run_report.c */

void run_print(const struct run *run);

/* Names seed, rank and event in a text of TEXT_BYTES. */
void run_describe(const struct run *run, char *text);

/* A call has failed: there is no going on. Exiting without finalize tells the others. */
__attribute__((format(printf, 2, 3), noreturn)) void stop(const struct run *run, const char *format, ...);

/* Stops if the call has returned an error. */
void must(const struct run *run, int rc, const char *call);

/* Counts a byte that is not as the model has it, and prints the first few. */
void difference(struct run *run, const char *what, int region, size_t offset, int expected, int got);

/* run_compare.c */

void compare_window(struct run *run);

/* Before a window's memory may go with it: the last look. */
void compare_before_free(struct run *run);

/* The whole of this rank's lasting memory, origins too: nothing has gone where it should not. */
void compare_all(struct run *run);

/* Operations that are complete at their origin: look at what was got, overwrite what was put. */
void finish_ops(struct run *run);

/* run_memory.c */

/* Has memory for the regions of the plan; oriel_win_allocate brings its own. */
void update_memory(struct run *run);

/* Returns whether the library is asked to move memory in place. */
bool moves_memory(void);

/* run_win.c */

oriel_group *make_group(const struct run *run, int count, const int ranks[]);
bool is_member(const struct run *run, int w);

/* Returns the place of a rank in a window's group. */
int member(const struct run *run, int w, int rank);

/* Returns the displacement of the first byte of a part: in a dynamic window, its address. */
size_t base_disp(const struct run *run, int w, int target);

void run_create(struct run *run);
void run_reattach(struct run *run);
void run_free(struct run *run);

/* run_op.c */

void run_op(struct run *run, const struct plan_op *op);

/* run_signal.c */

void run_signal_wait(struct run *run);

/* Compares the values of a window's signals at its end, when everything has arrived. */
void check_signals(struct run *run);

/* run_request.c */

void run_iflush(struct run *run);

/* Returns whether the request is complete. May test a copy of it. */
bool run_request_test(struct run *run);

void run_request_wait(struct run *run);

/* run_epoch.c */

void run_post(struct run *run);
void run_start(struct run *run);
void run_flush(struct run *run);
void run_test(struct run *run);
void run_wait(struct run *run);
void run_fence(struct run *run);

/* run_atomic.c */

void run_atomics(struct run *run);

/* Before the end of a phase: results go to the owners of the elements. */
void publish_results(struct run *run);

/* No rank uses the elements any more: checks them, and stores what the model knows. */
void close_arena(struct run *run);

/* run_lock.c */

void run_phase(struct run *run);
void run_phase_end(struct run *run);
void run_lock(struct run *run);
void run_unlock(struct run *run);
void run_section(struct run *run);

#endif
