// SPDX-License-Identifier: BSD-2-Clause
/*
 * plan_parts.h - inside the generator
 *
 * An act_ function makes an event if it can: it gives false where the dice ask for something that
 * is not possible now.
 */
#ifndef ORIEL_TESTS_EPOCHS_PLAN_PARTS_H
#define ORIEL_TESTS_EPOCHS_PLAN_PARTS_H

#include "plan.h"

/* plan.c */

void plan_shuffle(struct rng *rng, int list[], int count);

/* plan_op.c: operations and the memory they touch. */

enum op_wish {
	OP_ANY,
	OP_GET,       /* nothing but a get */
	OP_BURST_PUT, /* one contiguous piece of some kilobytes, as many of which fill copy rings */
	OP_BURST_GET,
};

/* Make an operation of an epoch; NULL if no memory fits. */
struct plan_op *plan_make_op(struct plan *plan, int win, uint32_t round, int origin, int target, enum op_wish wish);

/*
 * A free place in the rank's part at a multiple of step, claimed by the window's phase for all origins; the
 * owner has stored its first content before. Size 0 if there is none.
 */
struct range plan_place_own(struct plan *plan, int win, int rank, size_t step, size_t size_bytes);

/* A free place of size_bytes at a multiple of unit inside `within`; claims it. */
bool plan_place(struct plan *plan, const struct range *within, size_t unit, size_t size_bytes, struct claim *claim);

/* A put in a fence epoch must not go where the target has been promised quiet. */
bool plan_kept(const struct plan_part *part, const struct range *range);

void plan_note_store(struct plan *plan, const struct range *range);

/* Some memory of the rank for an operation. */
struct range plan_pick_origin(struct plan *plan, int rank);

/* Whether no two of the origin's pieces share bytes. */
bool plan_origins_apart(const struct plan_op *op);

/* New bytes for what an operation puts; first_claim: its claims begin there. */
bool plan_may_fill(struct plan *plan, const struct plan_op *op, int first_claim);

/*
 * plan_acc.c: make the operation, whose epoch, ranks, seed are set, an accumulate; false if no
 * memory fits.
 */
bool plan_make_accumulate(struct plan *plan, struct plan_op *op);

/*
 * plan_atomic.c: elements for all origins, or none; operations of one origin to them, for
 * event->atomic_first.
 */
void plan_make_arena(struct plan *plan, int w, int rank);
bool plan_make_atomics(struct plan *plan, struct event *event, int w, int origin, int target);

/* Whether an exposure epoch covers bytes of the range. */
bool plan_covered(const struct plan *plan, const struct range *range);

/* The owner may store to the range now; if so it is noted. */
bool plan_may_store(struct plan *plan, const struct range *range);

/* Let go of claims that are over. */
void plan_sweep(struct plan *plan);

/*
 * plan_end.c: for the epoch that event->win and event->round name; of one origin or all, to one
 * target or all (-1).
 */

/* Operations are complete at their origins: into event->done. */
void plan_finish_ops(struct plan *plan, struct event *event, int origin, int target);

/* Let go of what is in event->done, after the claims. */
void plan_free_done(struct plan *plan, struct event *event);

/* Claims on origin memory, and on the memory of a target, are over. */
void plan_end_origins(struct plan *plan, const struct event *event, int origin, int target);
void plan_end_targets(struct plan *plan, const struct event *event, int target);

/* Completes what `origin` has issued: at the origin; at origin and target. */
void plan_complete_origins(struct plan *plan, struct event *event, int origin, int target);
void plan_complete_both(struct plan *plan, struct event *event, int origin, int target);

/* The event of a flush. */
void plan_flush(struct plan *plan, struct event *event, int w, uint32_t round, int origin, int target);

/* plan_win.c: windows and fences. */

bool act_create(struct plan *plan, struct event *event);
bool act_free(struct plan *plan, struct event *event);
bool act_reattach(struct plan *plan, struct event *event);
bool act_fence(struct plan *plan, struct event *event);
bool act_fence_op(struct plan *plan, struct event *event);
bool act_fence_flush(struct plan *plan, struct event *event);

/* A live window, or -1. */
int plan_some_window(struct plan *plan);
int plan_live_windows(const struct plan *plan);

/* A fence epoch without operations ends without a call. */
void plan_leave_fence(struct plan *plan, struct plan_win *win);

/* common: the assertions that all members give. */
void plan_fence_window(struct plan *plan, struct event *event, int w, int common);

/* False where something still needs the window, or its memory. */
bool plan_free_window(struct plan *plan, struct event *event, int w);

/* plan_lock.c: phases of locks. */

bool act_new_phase(struct plan *plan, struct event *event);
bool act_phase(struct plan *plan, struct event *event);

/* The next event that brings some phase to its end, if there is one. */
bool plan_drain_phases(struct plan *plan, struct event *event);

/* plan_request.c: flushes that are waited for later. */

/* Some request's next call. */
bool act_request(struct plan *plan, struct event *event);

/*
 * A request for what `rank` has issued to the target in its open epoch of that round or phase, or of a fence
 * (0); false if there are too many.
 */
bool plan_request(struct plan *plan, struct event *event, int w, uint32_t round, int rank, int target);

/* The window goes; its requests are dropped. */
void plan_drop_requests(struct plan *plan, int w);

/* plan_signal.c: make the operation, whose epoch and ranks are set, a signal; it has left; wait for one. */
void plan_make_signal(struct plan *plan, struct plan_op *op);
void plan_signal_left(struct plan *plan, const struct plan_op *op);
bool act_signal_wait(struct plan *plan, struct event *event);

/* plan_round.c: rounds. */

bool act_round(struct plan *plan, struct event *event);
bool act_new_round(struct plan *plan, struct event *event);
bool plan_has_rounds(const struct plan *plan, int w);

/*
 * Make the next event of a rank in a round, if one is possible; the round's place becomes free with
 * its last.
 */
bool plan_advance(struct plan *plan, struct event *event, struct plan_round *round, int rank);

#endif
