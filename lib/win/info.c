// SPDX-License-Identifier: BSD-2-Clause
/* info.c - queries of a window, and changes of its hints, name and user pointer */
#include "base/err.h"
#include "base/handle.h"
#include "conn/coll.h"
#include "job/job.h"
#include "sync/wait.h"
#include "win/win.h"
#include "win/window.h"

int oriel_win_query(const oriel_win *win, struct oriel_win_info *info)
{
	struct oriel_win_info known;
	int rc = win_check(win, "oriel_win_query");

	if (rc)
		return rc;
	if (!info)
		return err_set(ORIEL_ERR_ARG, "oriel_win_query: %s: info is NULL", win->label);
	rc = public_struct_check(info->struct_bytes, "oriel_win_info");
	if (rc)
		return err_in(rc, "oriel_win_query");
	known = win->info;
	known.base = win->memory.base;
	known.size_bytes = win->memory.size_bytes;
	known.disp_unit_bytes = win->memory.disp_unit_bytes;
	known.group = win->group;
	known.accumulate_uses_target = win->group->size > 1;               /* elements of ACC_REST: op/acc_route.h */
	known.free_refused = window_free_refused((struct oriel_win *)win); /* takes the lock, and changes nothing */
	public_struct_copy(info, info->struct_bytes, &known, sizeof(known));
	return 0;
}

/* Returns 0 if all members accept their lists (I2). */
static int hints_together(struct oriel_win *win, int vote)
{
	struct coll coll;
	struct wait wait;
	uint8_t id[16];

	coll_id_within(id, win->id, ++win->rehints, COLL_HINTS);
	coll_begin(&coll, win->group, id, vote, win->job->rank);
	wait_begin(&wait, win->job, "oriel_win_set_hints", win->label);
	return coll_run_once(&coll, &wait);
}

int oriel_win_set_hints(oriel_win *win, const struct oriel_hint hints[])
{
	struct oriel_win_info changed;
	int rc = win_check(win, "oriel_win_set_hints");

	if (rc)
		return rc;
	changed = win->info;
	rc = hints_together(win, hints_take(&changed, hints, true));
	if (rc)
		return err_in(rc, "oriel_win_set_hints");
	owned_lock_take(&win->lock);
	win->info = changed;
	owned_lock_give(&win->lock);
	return 0;
}

int oriel_win_set_name(oriel_win *win, const char *name)
{
	int rc = win_check(win, "oriel_win_set_name");

	if (rc)
		return rc;
	rc = hints_take_name(&win->info, name ? name : "");
	if (rc)
		return err_in(rc, "oriel_win_set_name");
	win_make_label(win);
	return 0;
}

int oriel_win_set_user(oriel_win *win, void *user)
{
	int rc = win_check(win, "oriel_win_set_user");

	if (rc == 0)
		win->user = user;
	return rc;
}

void *oriel_win_user(const oriel_win *win)
{
	return win_check(win, "oriel_win_user") ? NULL : win->user;
}
