// SPDX-License-Identifier: BSD-2-Clause
/* See gate.h. */
#include "op/gate.h"

#include "win/lock_mapped.h"

bool gate_enter_lock_all(struct oriel_win *win, struct link *link)
{
	if ((win->sync & (SYNC_LOCK_ALL | SYNC_NO_OPERATION)) != SYNC_LOCK_ALL || link->marks & LINK_ACCESS)
		return false;
	return gate_is_ready(link) && lock_enter_all_mapped(win, link);
}
