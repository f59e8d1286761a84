// SPDX-License-Identifier: BSD-2-Clause
/*
 * acc_device.h - accumulate operations on words, by the atomics of the target's device
 *
 * DESIGN NOTES
 *
 * A device adds to an aligned integer of 8 bytes and compares and swaps it: a sum is a
 * fetch-and-add, a reading a fetch-and-add of 0, a compare_and_swap what it is. Those go out like
 * gets, one request an element, and nothing waits for them. Every other operation, replace
 * too, reads the word and then compares and swaps it, until no other update has come between. Each
 * repetition means that another update was carried out. After some repetitions the operation gives
 * up the window's lock for a while. Those
 * operations are waited for here, bounded by the device's retries, as are all that go through an
 * atomics peer (conn/atomics_peer.h): later calls need not know of it. The same holds for all to
 * memory that is mapped here, where other elements on the same bytes are the processor's, at once
 * (A15).
 *
 * A word is never written plainly: some versions of rxe store the old value back when a comparison
 * fails, and would undo the write. All of one origin go by one queue pair, in order (A15).
 */
#ifndef ORIEL_ACC_DEVICE_H
#define ORIEL_ACC_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "win/link.h"

struct oriel_win;
struct acc;

/*
 * See to it that acc_by_device can reach the target's device; the wait gives up win->lock. The caller
 * holds it. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY, ORIEL_ERR_TIMEOUT.
 */
int acc_connect_device(struct oriel_win *win, struct link *link, const char *call);

/*
 * An operation of which acc_route says ACC_ROUTE_DEVICE, behind acc_connect_device. 0, or
 * ISSUE_LATER: *acc is what is left of it. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int acc_by_device(struct oriel_win *win, struct link *link, struct acc *acc);

/* See acc_words_by_wire. */
bool acc_device_by_wire(const struct link *link, uint32_t *rkey);

/*
 * The words of a member whose memory is not mapped, where the device that changes them is reached
 * by the wire that puts go by: *rkey is theirs. False: by an atomics peer, and nobody has been
 * asked whether there is one.
 */
static inline bool acc_words_by_wire(const struct link *link, uint32_t *rkey)
{
	*rkey = link->rkey;
	return link->words == WORDS_BY_BOTH || acc_device_by_wire(link, rkey);
}

/*
 * ACC_ROUTE_DEVICE of one element, if that is one request and can be posted now. False: it is not,
 * and nothing has happened.
 */
bool acc_post_word(struct oriel_win *win, struct link *link, struct acc *acc, int *rc);

#endif
