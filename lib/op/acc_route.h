// SPDX-License-Identifier: BSD-2-Clause
/*
 * acc_route.h - where an accumulate operation is applied
 *
 * DESIGN NOTES
 *
 * Operations by two mechanisms may not be atomic with each other (A9, A10). So the route follows
 * from the target and the class of the elements (acc.h) alone: all origins find the same one, or
 * routes that are atomic with each other:
 *
 *   ACC_WORD    If the target's device is atomic among its own requests only: that device, for
 *               all origins (acc_device.h). Else the processor of the target and of origins that
 *               map its memory, by instructions or plain code, as the page's mode says
 *               (sync/atomic_mode.h). For other origins: the device, if it is one word and the
 *               device is atomic with processors; or as ACC_NUMBER.
 *   ACC_NUMBER  For origins that map the memory: their processor, by plain code under page locks
 *               (sync/page_lock.h). For others: the target's handler, or copies here and back
 *               (issue_by_copies), under these locks.
 *   ACC_REST    The target's handler, for all origins. The target itself takes the handler's lock.
 *
 * Elements of two classes may lie on the same bytes. So an operation on another route waits until
 * no active message of this origin for those bytes is outstanding (A15). An active message does not
 * overtake other routes: their operations are complete on return, or precede it on its queue pair,
 * where it stands behind a fence. The hint accumulate_ordering relaxes none of that.
 */
#ifndef ORIEL_ACC_ROUTE_H
#define ORIEL_ACC_ROUTE_H

#include "op/acc.h"
#include "sync/atomic_mode.h"
#include "sync/page_lock.h"
#include "win/link.h"
#include "win/win.h"

struct am_list;
struct oriel_job;

enum acc_route {
	ACC_ROUTE_AM,        /* the target's handler */
	ACC_ROUTE_SELF,      /* this rank is the target, and acts as its handler */
	ACC_ROUTE_DEVICE,    /* the target's device */
	ACC_ROUTE_PAGE_LOCK, /* this processor, under the target's page locks */
};

/*
 * Returns whether the target's device changes `count` words for origins that reach the target as
 * this rank does. If the device is atomic with processors, several words are one active message
 * (A20).
 */
static inline bool acc_words_by_device(const struct link *link, size_t count)
{
	return link->words == WORDS_BY_DEVICE || (link->words == WORDS_BY_BOTH && !link_mapped(link) && count == 1);
}

/* Returns the route of an operation. The link has been described. */
static inline enum acc_route acc_route(const struct link *link, enum oriel_type type, uint64_t addr, size_t count)
{
	if (acc_words_by_device(link, count) && acc_class(type, addr) == ACC_WORD)
		return ACC_ROUTE_DEVICE;
	if (!link_mapped(link))
		return ACC_ROUTE_AM;
	if (!element_has_one_store(type, addr))
		return link->peer->direct.self ? ACC_ROUTE_SELF : ACC_ROUTE_AM;
	return peer_page_locks(link->peer) ? ACC_ROUTE_PAGE_LOCK : ACC_ROUTE_AM;
}

/* acc_apply.c */

/*
 * Applies an operation to window memory of this process, for the handler and for an origin that is
 * its own target. An operation on elements that processors share must be no longer than an active
 * message. Returns false if another thread holds a page lock; nothing has happened then.
 */
bool acc_apply_here(struct oriel_job *job, const struct acc *acc, void *target);

/* Applies a list, whose offsets are from `base`, as acc_apply_here does: all or none. */
bool acc_apply_list_here(struct oriel_job *job, const struct am_list *list, uint8_t *base);

/*
 * Applies an operation by page locks, large ones upwards and downwards in turn, as copies go
 * (copy.h). Returns 0 or ISSUE_LATER: *acc is the rest.
 */
int acc_by_page_lock(struct oriel_win *win, const struct link *link, struct acc *acc);

#define ACC_GATHERED_BYTES 4096

static inline bool acc_blocks_are_apart(size_t block_bytes, ptrdiff_t distance)
{
	return block_bytes <= ACC_GATHERED_BYTES / 2 &&
	       (distance >= (ptrdiff_t)block_bytes || distance <= -(ptrdiff_t)block_bytes);
}

/* Returns the page locks of a row, also those between blocks that are close. */
uint32_t acc_locks_of_row(const struct acc *acc, uint64_t from);

/* Applies an operation to each block, by plain code or as acc_apply_locked. */
void acc_combine_blocks(struct oriel_job *job, const struct acc *acc, uint8_t *to, bool plain);

/* Returns where the first bytes of `count` elements end. */
static inline uint64_t acc_first_bytes_end(uint64_t there, size_t count, size_t size_bytes)
{
	return there + (count - 1) * size_bytes + 1;
}

static inline size_t acc_changes(enum oriel_op op, size_t count)
{
	return op == ORIEL_NO_OP ? 0 : count;
}

/*
 * Returns whether the operation is on a few words of one page: it needs no page lock if the mode
 * allows that.
 */
static inline bool acc_needs_no_lock(const struct acc *acc, uint64_t there)
{
	return acc_are_words(acc->type, there) && acc->count < MODE_SWITCH_MIN &&
	       acc->count * sizeof(uint64_t) <= page_rest(there);
}

/*
 * Applies the operation under the byte of update_begin. Returns false if that is NULL: the page
 * lock is needed.
 */
static inline bool acc_apply_unlocked(const struct acc *acc, void *target, uint8_t *in_progress)
{
	if (!in_progress)
		return false;
	acc_apply_atomic(acc, target);
	update_end(in_progress);
	return true;
}

/* Returns whether plain code may change the elements, whose page locks the caller holds. */
static inline bool acc_is_plain(struct page_locks *ours, struct page_lock_table *table, const struct acc *acc,
                                uint64_t there, size_t changes)
{
	return !acc_are_words(acc->type, there) ||
	       atomic_mode_try_locked(ours, table, there, there + acc->count * sizeof(uint64_t), changes);
}

/*
 * Applies the operation by this processor. The caller holds the page locks; `there` is the address
 * at their owner.
 */
static inline void acc_apply_locked(struct page_locks *ours, struct page_lock_table *table, const struct acc *acc,
                                    void *target, uint64_t there)
{
	if (acc_is_plain(ours, table, acc, there, acc_changes(acc->op, acc->count)))
		acc_apply(acc, target);
	else
		acc_apply_atomic(acc, target);
}

/*
 * Sends an operation of ACC_ROUTE_AM as one message, with its error in *rc. Returns false if it is
 * long, copies are faster, or there is no room.
 */
bool acc_send(struct oriel_win *win, struct link *link, struct acc *acc, int *rc);

/*
 * Issues an operation that has been checked and may go out. The caller holds win->lock. Returns 0
 * or ISSUE_LATER: *acc is the rest. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int acc_issue(struct oriel_win *win, struct link *link, struct acc *acc);

#define ACC_COPIED_MAX 128 /* pieces; of more, waking the target is faster */

/* Returns whether a list within these bytes goes by copies, not by a message. Under win->lock. */
bool acc_list_takes_copies(struct oriel_win *win, struct link *link, struct acc_span span);

/*
 * Applies an operation, on AM_LARGEST_BYTES at most, to pieces one behind the other. Returns how
 * many bytes have changed; the rest is for messages.
 */
uint64_t acc_change_list(struct oriel_win *win, struct link *link, const struct acc *acc,
                         struct softverbs_piece *pieces, uint32_t count);

/*
 * Prints one line, if wanted (ORIEL_VERBOSE=2): the routes of puts and gets, of each class of
 * accumulate operations, and of the lock if this rank holds it. The link's route has been decided.
 * The caller holds win->lock.
 */
void route_tell(const struct oriel_win *win, const struct link *link);

#endif
