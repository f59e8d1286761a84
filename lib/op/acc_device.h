// SPDX-License-Identifier: BSD-2-Clause
/*
 * acc_device.h - accumulate operations on words, by the atomics of the target's device
 *
 * DESIGN NOTES
 *
 * A device adds to an aligned integer of 8 bytes, and compares and swaps it. A sum is a
 * fetch-and-add, a read a fetch-and-add of 0, and compare_and_swap one request. Those go out like
 * gets, one request an element, and nothing waits for them. Every other operation, replace
 * included, reads the word and then compares and swaps it, until no other update has come between.
 * Each repetition means that another update was carried out. After some repetitions the operation
 * gives up the window's lock for a while. These operations are waited for here, bounded by the
 * device's retries. So are all operations through an atomics peer (conn/atomics_peer.h): later
 * calls need not know of it. So are all operations on memory that is mapped here, because the
 * processor updates other elements on the same bytes at once (A15).
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
 * Connects to the target's device for acc_by_device. The caller holds win->lock, which is given up
 * during the wait. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY, ORIEL_ERR_TIMEOUT.
 */
int acc_connect_device(struct oriel_win *win, struct link *link, const char *call);

/*
 * Issues an operation for which acc_route returns ACC_ROUTE_DEVICE, after acc_connect_device.
 * Returns 0 or ISSUE_LATER: *acc is what is left of it. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int acc_by_device(struct oriel_win *win, struct link *link, struct acc *acc);

/* Returns whether the device carries out an operation on a word by one request. */
static inline bool acc_is_one_request(const struct acc *acc)
{
	return acc->compare || acc->op == ORIEL_SUM || acc->op == ORIEL_NO_OP;
}

/* Returns the request for a word's operation of that kind. */
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

/* See acc_words_by_wire. */
bool acc_device_by_wire(const struct link *link, uint32_t *rkey);

/*
 * Returns whether the wire of puts reaches the device that changes the words of a member whose
 * memory is not mapped; *rkey is their key. False: an atomics peer changes them, and the caller
 * must still find out whether there is one.
 */
static inline bool acc_words_by_wire(const struct link *link, uint32_t *rkey)
{
	*rkey = link->rkey;
	return link->words == WORDS_BY_BOTH || acc_device_by_wire(link, rkey);
}

/*
 * Posts an operation on one word by ACC_ROUTE_DEVICE, if that is one request and can be posted now.
 * Returns false if not, and nothing has happened.
 */
bool acc_post_word(struct oriel_win *win, struct link *link, struct acc *acc, int *rc);

#endif
