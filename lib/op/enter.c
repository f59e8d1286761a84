// SPDX-License-Identifier: BSD-2-Clause
/* See enter.h. */
#include "op/enter.h"

#include "base/err.h"
#include "job/job.h"
#include "op/gate.h"
#include "win/link.h"
#include "win/lock_mapped.h"

/*
 * Takes news: closes the gates to all members, since opening one finds a lost member. A failed
 * operation stays news until a call reports it.
 */
static void look_again(struct oriel_win *win)
{
	counter_store(&win->losses_seen, counter_load(win->losses)); /* the load pairs with note_loss */
	full_fence(); /* pairs with the exchange in deferred_error_note, and with the fence in checked */
	gate_close_all(win);
	if (deferred_error_is_noted(&win->deferred_errors))
		counter_store(&win->losses_seen, UINT64_MAX);
}

/*
 * Returns the rank of a target that died before a copied put of a closed epoch was seen complete,
 * or ORIEL_RANK_NONE.
 */
static int find_sticky(struct oriel_win *win)
{
	int rank = ORIEL_RANK_NONE;

	look_again(win);
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		struct link *link = win->links.table[i];

		if (!link || !(link->marks & LINK_COPIED) || state_load(&link->peer->state) != PEER_DEAD)
			continue;
		link->marks &= (uint16_t)~LINK_COPIED;
		if (!wire_done(&link->peer->wire, link->last_number) && rank == ORIEL_RANK_NONE)
			rank = link->rank;
	}
	return rank;
}

int win_find_sticky(struct oriel_win *win, const char *call)
{
	int rank = find_sticky(win);

	return rank == ORIEL_RANK_NONE ? 0 : err_in(win_peer_error(win, rank), call);
}

int win_enter_any(struct oriel_win *win, const char *call)
{
	int rc = win_enter_closing(win, call);

	if (rc || !win_has_news(win))
		return rc;
	rc = win_find_sticky(win, call);
	if (rc)
		owned_lock_give(&win->lock);
	return rc;
}

int win_find_refused(struct oriel_win *win, const char *call)
{
	int rc = deferred_error_report(&win->deferred_errors);

	return rc ? err_in(rc, call) : 0;
}

int win_leave_with(struct oriel_win *win, int rc)
{
	win_leave(win);
	return rc;
}

int win_find_news(struct oriel_win *win, const char *call)
{
	int rc = win_find_sticky(win, call);

	return rc ? rc : win_find_refused(win, call);
}

int win_tell_news(struct oriel_win *win, const char *call)
{
	int rc;

	owned_lock_take(&win->lock);
	rc = win_find_news(win, call);
	owned_lock_give(&win->lock);
	return rc;
}

bool gate_enter_lock_all(struct oriel_win *win, struct link *link)
{
	if ((win->sync & (SYNC_LOCK_ALL | SYNC_SHUT)) != SYNC_LOCK_ALL || link->marks & LINK_ACCESS)
		return false;
	return state_load(&link->peer->state) != PEER_DEAD && lock_enter_all_mapped(win, link); /* pairs with rank_lost */
}
