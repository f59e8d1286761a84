// SPDX-License-Identifier: BSD-2-Clause
/*
 * acc_route.h - who applies an accumulate operation
 *
 * DESIGN NOTES
 *
 * Every element must be changed by one mechanism, whatever the operation and whoever issues it, or
 * two that come at once are not atomic with each other (A9, A10). So the route of an operation
 * follows from the target and the class of its elements (acc.h) alone, and all origins find the
 * same, or routes that are atomic with each other:
 *
 *   ACC_WORD              where the target's device is atomic among its own requests only, that device, for
 *                         everybody (acc_device.h); else the processor of whoever can map the memory, the
 *                         target itself among them, by instructions or plain code, as the pages' mode says
 *                         (sync/atomic_mode.h), and for others its device, if it is one word and the device is
 *                         atomic with processors' instructions, or the target's handler, which does as
 *                         processors do
 *   ACC_NUMBER            the processor of whoever can map the memory, by plain code under locks that all of
 *                         them take (sync/page_lock.h), so that a vector of them is changed as fast as it is
 *                         copied; for others the target's handler, which takes the same locks
 *   ACC_REST              the target's handler, for everybody; the target itself changes such
 *                         elements under the lock that its handler takes
 *
 * The handler is a thread of the target that is inside the library, or its service thread; active
 * messages are sent to it (am_issue.h). Elements of two classes may lie on the same bytes, so an
 * operation that takes another route waits until no active message of this origin for those bytes
 * is under way (A15). An active message does not pass the others: they are done on return, or go
 * before it by the same queue pair, and it stands behind a fence. The hint accumulate_ordering
 * gives nothing of that up.
 */
#ifndef ORIEL_ACC_ROUTE_H
#define ORIEL_ACC_ROUTE_H

#include "sync/page_lock.h"
#include "sync/atomic_mode.h"
#include "op/acc.h"
#include "win/link.h"

struct oriel_job;

enum acc_route {
	ACC_ROUTE_AM,        /* the target applies it */
	ACC_ROUTE_SELF,      /* we are the target: as its handler would */
	ACC_ROUTE_DEVICE,    /* the target's device changes words */
	ACC_ROUTE_PAGE_LOCK, /* this processor, under the locks of the target's pages */
};

/*
 * Whether the target's device changes so many words, for those who reach them as this rank does: a
 * request each. Where it is atomic with processors, several are an active message, which is one
 * message however many (A20).
 */
static inline bool acc_words_by_device(const struct link *link, size_t count)
{
	return link->words == WORDS_BY_DEVICE || (link->words == WORDS_BY_BOTH && !link_mapped(link) && count == 1);
}

/* The one place where the route of an operation is chosen; the link has been described. */
static inline enum acc_route acc_route(const struct link *link, enum oriel_type type, uint64_t addr, size_t count)
{
	if (acc_words_by_device(link, count) && acc_class(type, addr) == ACC_WORD)
		return ACC_ROUTE_DEVICE;
	if (!link_mapped(link))
		return ACC_ROUTE_AM;
	if (!element_is_small(type, addr))
		return link->peer->direct.self ? ACC_ROUTE_SELF : ACC_ROUTE_AM;
	return peer_page_locks(link->peer) ? ACC_ROUTE_PAGE_LOCK : ACC_ROUTE_AM;
}

/* Returns whether this processor updates the element itself, at once. The link must be mapped. */
static inline bool acc_at_once(const struct link *link, enum oriel_type type, uint64_t addr)
{
	if (link->words == WORDS_BY_DEVICE && acc_class(type, addr) == ACC_WORD)
		return false;
	return element_is_small(type, addr);
}

/*
 * Apply an operation to memory of this process that is a window of it: for the handler, and for an
 * origin that is its own target. All of them come through here, so that none meets another. It is
 * no longer than an active message where processors share it. False: not now, and nothing has been
 * done.
 */
bool acc_apply_here(struct oriel_job *job, const struct acc *acc, void *target);

/*
 * Applies the operations of a list, whose addresses are of this process, as acc_apply_here does
 * one. Returns false if another thread holds one of their page locks: nothing has been done then.
 */
bool acc_apply_list_here(struct oriel_job *job, const struct acc accs[], uint32_t count);

/* How many words of so many an operation changes: none that are only read. */
static inline size_t acc_changes(enum oriel_op op, size_t count)
{
	return op == ORIEL_NO_OP ? 0 : count;
}

/* Whether it is of a few words of one page, which need no page lock if the mode allows it. */
static inline bool acc_needs_no_lock(const struct acc *acc, uint64_t there)
{
	return !element_types[acc->type].number && acc->count < MODE_SWITCH_MIN &&
	       acc->count * sizeof(uint64_t) <= page_rest(there);
}

/*
 * Applies it so, if update_begin has given a byte. False: it has not, and the page lock is needed.
 */
static inline bool acc_apply_unlocked(const struct acc *acc, void *target, uint8_t *in_progress)
{
	if (!in_progress)
		return false;
	acc_apply_atomic(acc, target);
	update_end(in_progress);
	return true;
}

/*
 * Apply it to memory whose page locks are held, by a processor: `there` is where it begins at the
 * owner, whose table that is.
 */
static inline void acc_apply_locked(struct page_locks *ours, struct page_lock_table *table, const struct acc *acc,
                                    void *target, uint64_t there)
{
	if (element_types[acc->type].number ||
	    atomic_mode_try_locked(ours, table, there, there + acc->count * sizeof(uint64_t),
	                           acc_changes(acc->op, acc->count)))
		acc_apply(acc, target);
	else
		acc_apply_atomic(acc, target);
}

/*
 * An operation that has been checked and may go out. The caller holds win->lock. 0, or ISSUE_LATER:
 * *acc is then what is left of it (am_issue.h). ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int acc_issue(struct oriel_win *win, struct link *link, struct acc *acc);

#endif
