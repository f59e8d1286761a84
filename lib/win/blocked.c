// SPDX-License-Identifier: BSD-2-Clause
/* See blocked.h. */
#include "win/blocked.h"

#include "base/order.h"
#include "win/lock_access.h"

static void note_epochs(const struct oriel_win *win, struct wait *wait)
{
	static const struct {
		unsigned sync;
		enum board_epoch epoch;
	} epochs[] = { { SYNC_ACCESS, EPOCH_ACCESS },
		           { SYNC_EXPOSURE, EPOCH_EXPOSURE },
		           { SYNC_FENCE, EPOCH_FENCE },
		           { SYNC_LOCK, EPOCH_LOCK },
		           { SYNC_LOCK_ALL, EPOCH_LOCK_ALL } };

	wait->why.epochs = 0;
	for (size_t i = 0; i < sizeof(epochs) / sizeof(epochs[0]); i++) {
		if (win->sync & epochs[i].sync)
			wait->why.epochs |= epochs[i].epoch;
	}
}

/*
 * A holder is a writer that is served or got its ticket at once, or a reader before the served
 * writer.
 */
bool blocked_is_holder(uint64_t state, uint64_t ticket, uint64_t serving)
{
	switch ((enum lock_state)(state & 0xff)) {
	case LOCK_TICKET:
		return ticket == serving;
	case LOCK_WAIT:
		return ticket < serving;
	default:
		return (state & 0xff) == LOCK_ASK || (state & 0xff) == LOCK_INTENT;
	}
}

/* Notes the process in the word; only members that map the memory write it there. */
static void note_holder(struct wait_why *why, uint64_t state)
{
	int32_t process = (int32_t)(state >> 32);

	if (process > 0 && why->holder_count < BOARD_HOLDERS)
		why->holders[why->holder_count++] = process;
}

/* Notes the holders of a mapped lock; others are not known. */
static void note_holders(const struct lock *lock, struct wait_why *why)
{
	uint64_t serving = flag_load(&lock->header->serving); /* pairs with lock_pass_on */
	uint32_t place = 0;

	for (uint32_t i = 0; i < lock->part_count; i++) {
		const struct lock_member *members = lock_part_members(lock, i);

		for (uint32_t k = 0; k < lock_segment_members(i); k++, place++) {
			uint64_t state = flag_load(&members[k].state); /* pairs with lock_store_state */

			if (place != lock->place && blocked_is_holder(state, flag_load(&members[k].ticket), serving))
				note_holder(why, state);
		}
	}
}

static enum board_cause cause_of(const struct link *link)
{
	if (link_state(link) != LINK_READY)
		return CAUSE_SETUP;
	if (link->marks & LINK_GRANTED)
		return link->marks & LINK_AM ? CAUSE_APPLY : CAUSE_DATA;
	return link->marks & LINK_LOCK ? CAUSE_LOCK : CAUSE_POST;
}

static void note_target(const struct oriel_win *win, const struct link *link, struct wait *wait)
{
	enum board_cause cause = cause_of(link);
	const struct lock *lock = cause == CAUSE_LOCK ? lock_of(win, link) : NULL;

	note_epochs(win, wait);
	wait_blocked_about(wait, cause, (struct wait_about){ link->peer, window_check(win->id), link->posted_expected });
	if (lock && lock->header && lock->phase > PHASE_IDLE)
		note_holders(lock, &wait->why);
}

void blocked_on_target(const struct oriel_win *win, const struct link *link, struct wait *wait)
{
	if (wait_says_why(wait))
		note_target(win, link, wait);
}

void blocked_by_target(struct oriel_win *win, const struct link *link, struct wait *wait)
{
	if (!wait_says_why(wait))
		return;
	owned_lock_take(&win->lock);
	note_target(win, link, wait);
	owned_lock_give(&win->lock);
}

void blocked_by(struct oriel_win *win, struct wait *wait, enum board_cause cause, struct peer *peer, uint64_t count)
{
	if (!wait_says_why(wait))
		return;
	wait_blocked_about(wait, cause, (struct wait_about){ peer, window_check(win->id), count });
	owned_lock_take(&win->lock);
	note_epochs(win, wait);
	owned_lock_give(&win->lock);
}
