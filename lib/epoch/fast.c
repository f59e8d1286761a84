// SPDX-License-Identifier: BSD-2-Clause
/*
 * fast.c - the fast paths of start, complete, post, wait, lock, unlock and flush
 *
 * They are for mapped windows, the group of the previous epoch, and locks that no other rank uses.
 * The general paths (general.h) are in other files, and cold here: so the fast paths save no
 * registers.
 */
#include "base/order.h"
#include "epoch/general.h"
#include "op/enter.h"
#include "op/flush.h"
#include "op/target.h"
#include "win/link.h"
#include "win/lock_mapped.h"
#include "win/win.h"

__attribute__((cold)) int complete_held(struct oriel_win *win, uint32_t closed);
__attribute__((cold)) int post_held(struct oriel_win *win, const struct oriel_group *group, int assertions);
__attribute__((cold)) int wait_held(struct oriel_win *win);
__attribute__((cold)) int lock_member(struct oriel_win *win, enum oriel_lock_type type, int rank, int assertions);
__attribute__((cold)) int unlock_member(struct oriel_win *win, int rank);
__attribute__((cold)) int flush_held(struct oriel_win *win, int rank, bool local);
__attribute__((cold)) int flush_link(struct oriel_win *win, struct link *link, bool local, bool first);

int oriel_win_start(oriel_win *win, const oriel_group *group, int assertions)
{
	if (assertions || !win_enter_at_once(win))
		return start_any(win, group, assertions);
	if (!epoch_is_for(&win->access, group) || !epoch_allows_for_somebody(win, CALL_START)) {
		win_leave_at_once(win);
		return start_any(win, group, assertions);
	}
	start_links(win, false);
	win_leave_at_once(win);
	return 0;
}

#define OTHER_MARKS ((LINK_LASTING | ACCESS_MARKS) & ~(LINK_ACCESS | LINK_GRANTED))

/* There were only loads and stores, the post has arrived, and the flag is a store. */
static inline bool close_by_store(const struct oriel_win *win, struct link *link)
{
	struct flag_pair *there;

	if ((link->marks & OTHER_MARKS) || !link_mapped(link) || state_load(&link->peer->state) == PEER_DEAD)
		return false; /* the load pairs with rank_lost */
	if (!(link->marks & LINK_GRANTED) && !link_post_is_there(win, link))
		return false;
	there = link_flags_there(link);
	if (!there)
		return false;
	flag_store(&there->completed, ++link->completed_sent); /* pairs as in send_completed */
	link->marks &= (uint16_t)~ACCESS_MARKS;
	return true;
}

int oriel_win_complete(oriel_win *win)
{
	uint32_t i = 0, count;

	if (!win_enter_at_once(win))
		return complete_any(win);
	count = epoch_allows(win, CALL_COMPLETE) && win->epoch_mrs.count == 0 ? win->access.count : 0;
	do {
		if (i == count || !close_by_store(win, win->access.links[i]))
			return win_leave_with(win, complete_held(win, i));
	} while (++i < count);
	win->sync &= ~(unsigned)SYNC_ACCESS_ALL;
	gate_close_all(win);
	win_leave_at_once(win);
	return 0;
}

/* Posts to the only origin, if its word is mapped. Returns whether it has. */
static inline bool post_one_by_store(struct oriel_win *win, const struct oriel_group *group)
{
	struct flag_pair *there;
	struct link *link;

	if (win->exposure.count != 1)
		return false;
	link = win->exposure.links[0];
	there = link_flags_there(link);
	if (!there || !may_post(win, group) || !takes_post(win, link))
		return false;
	post_by_store(link, there);
	exposure_begun(win);
	return true;
}

int oriel_win_post(oriel_win *win, const oriel_group *group, int assertions)
{
	if (assertions || !win_enter_at_once(win))
		return post_any(win, group, assertions);
	if (!post_one_by_store(win, group))
		return win_leave_with(win, post_held(win, group, 0));
	win_leave_at_once(win);
	return 0;
}

int oriel_win_wait(oriel_win *win)
{
	if (!win_enter_at_once(win))
		return wait_any(win);
	if (!epoch_allows(win, CALL_WAIT) || !exposure_step(win))
		return win_leave_with(win, wait_held(win));
	exposure_end(win, true);
	win_leave_at_once(win);
	return 0;
}

/* Returns whether arguments and epoch are legal, without NOCHECK. */
static inline bool may_lock(struct oriel_win *win, enum oriel_lock_type type, int assertions)
{
	return assertions == 0 && (type == ORIEL_LOCK_SHARED || type == ORIEL_LOCK_EXCLUSIVE) && !win->info.no_locks &&
	       epoch_allows(win, CALL_LOCK);
}

int oriel_win_lock(oriel_win *win, enum oriel_lock_type type, int target_rank, int assertions)
{
	struct link *link;
	struct lock *lock;

	if (!win_enter_at_once(win))
		return lock_any(win, type, target_rank, assertions);
	link = living_link(win, target_rank);
	lock = lock_idle(win, link);
	if (!lock || !may_lock(win, type, assertions) || !lock_take_mapped(lock, type == ORIEL_LOCK_EXCLUSIVE))
		return win_leave_with(win, lock_member(win, type, target_rank, assertions));
	lock_begun(win, link, type);
	link->marks = (uint16_t)((link->marks & ~LINK_LOCKING) | LINK_GRANTED | LINK_ACCESS);
	win_leave_at_once(win);
	return 0;
}

int oriel_win_unlock(oriel_win *win, int target_rank)
{
	struct link *link;
	struct lock *lock;

	if (!win_enter_at_once(win))
		return unlock_any(win, target_rank);
	link = living_link(win, target_rank);
	lock = lock_held(win, link);
	if (!lock || !(win->sync & SYNC_LOCK) || win->epoch_mrs.count > 0)
		return win_leave_with(win, unlock_member(win, target_rank));
	lock_release_mapped(lock);
	link->marks &= (uint16_t)~LOCK_MARKS;
	gate_close(link);
	lock_counted_out(win);
	win_leave_at_once(win);
	return win_tell_sticky(win, "oriel_win_unlock");
}

/*
 * Returns whether the open epoch, in which operations are legal, names a member: flush_check
 * without texts.
 */
static inline bool is_named(const struct oriel_win *win, const struct link *link, int rank)
{
	if (!link)
		return (win->sync & SYNC_LOCK_ALL) && rank >= 0 && rank < win->group->size;
	if ((win->sync & SYNC_LOCK_ALL) || !(win->sync & SYNC_NAMING))
		return true;
	return (link->marks & (LINK_ACCESS | LINK_FLAGGED)) == LINK_ACCESS;
}

static inline __attribute__((always_inline)) int flush(struct oriel_win *win, int rank, bool local)
{
	const char *call = flush_call(local);
	bool all = rank == ORIEL_RANK_ALL;
	struct link *link = NULL;
	uint32_t next = 0;

	if (!win_enter_at_once(win))
		return flush_any(win, rank, local);
	if (!epoch_allows(win, CALL_OPERATION) || win->epoch_mrs.count > 0 ||
	    !(all || (link_find_first(win, rank, &link) && is_named(win, link, rank))))
		return win_leave_with(win, flush_held(win, rank, local));
	if (all)
		link = flush_busy(win, NULL, &next);
	if (all ? link != NULL : !flush_idle(win, link)) {
		struct link *only = all && flush_busy(win, NULL, &next) ? NULL : link;

		return win_leave_with(win, flush_report(win, flush_run(win, only, NULL, local, call), call));
	}
	win_leave_at_once(win);
	return 0;
}

int oriel_win_flush(oriel_win *win, int target_rank)
{
	return flush(win, target_rank, false);
}

int oriel_win_flush_local(oriel_win *win, int target_rank)
{
	return flush(win, target_rank, true);
}
