// SPDX-License-Identifier: BSD-2-Clause
/*
 * acc_device.h - accumulate operations on words, by the atomics of the target's device
 *
 * DESIGN NOTES
 *
 * A sum is a fetch-and-add, a read is a fetch-and-add of 0, and compare_and_swap is one request.
 * These go out like gets. Every other operation, replace included, reads the word, and compares and
 * swaps it until that succeeds. After some tries it gives up win->lock for a while.
 *
 * The call waits for these other operations, bounded by the device's retries; for operations
 * through an atomics peer (conn/atomics_peer.h), of which later calls need not know then; and for
 * operations on memory that is mapped here, because the processor updates other elements on the
 * same bytes at once (A15).
 *
 * A word is never written plainly: some versions of rxe store the old value back when a comparison
 * fails, and would undo the write. All operations of one origin use one queue pair, in order (A15).
 */
#ifndef ORIEL_ACC_DEVICE_H
#define ORIEL_ACC_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <string.h>

#include "op/acc.h"
#include "win/link.h"

struct oriel_win;

/*
 * Connects to the target's device for acc_by_device. The caller holds win->lock; a wait gives it
 * up. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY, ORIEL_ERR_TIMEOUT.
 */
int acc_connect_device(struct oriel_win *win, struct link *link, const char *call);

/*
 * Issues an operation by ACC_ROUTE_DEVICE, after acc_connect_device. Returns 0 or ISSUE_LATER: *acc
 * is the rest. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int acc_by_device(struct oriel_win *win, struct link *link, struct acc *acc);

/* Returns whether one request of the device carries out the operation on a word. */
static inline bool acc_is_one_request(const struct acc *acc)
{
	return acc->compare || acc->op == ORIEL_SUM || acc->op == ORIEL_NO_OP;
}

/* Returns that request. */
static inline struct atomic acc_atomic(const struct acc *acc, struct remote word)
{
	uint64_t compare = 0, operand = 0;

	if (acc->op != ORIEL_NO_OP)
		memcpy(&operand, acc_origin(acc), sizeof(operand));
	if (!acc->compare)
		return atomic_add(operand, word);
	memcpy(&compare, acc_compare(acc), sizeof(compare));
	return atomic_swap(compare, operand, word);
}

/* See acc_wire_reaches_words. */
bool acc_wire_reaches_device(const struct link *link, uint32_t *rkey);

/*
 * Returns whether the wire of puts reaches the device that changes the words of a member whose
 * memory is not mapped; *rkey becomes their key. False: an atomics peer changes them, if there is
 * one.
 */
static inline bool acc_wire_reaches_words(const struct link *link, uint32_t *rkey)
{
	*rkey = link->rkey;
	return link->words == WORDS_BY_BOTH || acc_wire_reaches_device(link, rkey);
}

/*
 * Posts an operation on one word, if that is one request and can be posted now. Returns false if
 * nothing has happened.
 */
bool acc_post_word(struct oriel_win *win, struct link *link, struct acc *acc, int *rc);

#endif
