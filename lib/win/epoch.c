// SPDX-License-Identifier: BSD-2-Clause
/* epoch.c - see epoch.h. */
#include "win/epoch.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "job/group.h"
#include "win/link.h"
#include "win/win.h"

/* Why a call is refused while a bit is set; in the order in which they are told. */
static const struct {
	unsigned bits;
	const char *why_not;
} obstacles[] = {
	{ SYNC_ACCESS, "an access epoch is open; complete it first" },
	{ SYNC_EXPOSURE, "an exposure epoch is open; wait for it first" },
	{ SYNC_COMPLETING, "another thread is completing the access epoch" },
	{ SYNC_WAITING, "another thread is waiting for the exposure epoch" },
	{ SYNC_FREEING, "it is being freed" },
	{ SYNC_FENCING, "another thread is inside the fence" },
	{ SYNC_FENCE_BEGUN, "a fence has timed out; call oriel_win_fence again" },
	{ SYNC_FENCE_USED, "operations of a fence epoch are pending; fence first" },
	{ SYNC_LOCKING_ALL, "another thread is inside oriel_win_lock_all or oriel_win_unlock_all" },
	{ SYNC_LOCK_ALL, "an oriel_win_lock_all is open; call oriel_win_unlock_all first" },
	{ SYNC_LOCK, "members are locked; unlock them first" },
};

const char *epoch_why_not(const struct oriel_win *win, enum sync_call call)
{
	const struct legality *row = &legality[call];

	for (size_t i = 0; i < sizeof(obstacles) / sizeof(obstacles[0]); i++) {
		if (win->sync & row->forbids & obstacles[i].bits)
			return obstacles[i].why_not;
	}
	if (call == CALL_UNLOCK)
		return "nobody is locked; call oriel_win_lock first";
	if (call == CALL_UNLOCK_ALL)
		return "no oriel_win_lock_all is open";
	if (row->needs & SYNC_EXPOSURE)
		return "no exposure epoch is open; call oriel_win_post first";
	if (row->needs & SYNC_FENCE)
		return "no access epoch is open; call oriel_win_start, oriel_win_lock or oriel_win_fence first";
	return "no access epoch is open; call oriel_win_start first";
}

int epoch_refuse(const struct oriel_win *win, enum sync_call call, const char *name)
{
	return err_set(ORIEL_ERR_SYNC, "%s: %s: %s", name, win->label, epoch_why_not(win, call));
}

const struct oriel_group no_group;

static int add_links(struct oriel_win *win, struct link **links, const struct oriel_group *group, const char *call)
{
	for (int i = 0; i < group->size; i++) {
		int world = group_world_rank(group, i);
		int rank = group_rank_of(win->group, world);
		int rc;

		if (rank == ORIEL_RANK_NONE)
			return err_set(ORIEL_ERR_RANK, "%s: %s: rank %d of the job is in the group but not in the window's", call,
			               win->label, world);
		rc = link_get(win, rank, &links[i]);
		if (rc)
			return rc;
	}
	return 0;
}

static bool reserve_links(struct epoch *epoch, uint32_t count)
{
	struct link **bigger;

	if (count <= epoch->capacity)
		return true;
	bigger = realloc(epoch->links, count * sizeof(*bigger));
	if (!bigger)
		return false;
	epoch->links = bigger;
	epoch->capacity = count;
	return true;
}

/* The links of a group that is not the one before: they stay until another comes. */
static int epoch_prepare(struct oriel_win *win, struct epoch *epoch, const struct oriel_group *group, const char *call)
{
	int rc;

	epoch->prepared = false;
	epoch->group = &no_group;
	if (!reserve_links(epoch, (uint32_t)group->size))
		return err_set(ORIEL_ERR_MEMORY, "%s: %s: out of memory for %d ranks", call, win->label, group->size);
	rc = add_links(win, epoch->links, group, call);
	for (int i = 0; rc == 0 && i < group->size; i++)
		rc = link_prefetch(win, epoch->links[i]);
	if (rc)
		return rc;
	memcpy(epoch->key, group->key, sizeof(epoch->key));
	epoch->prepared = true;
	return 0;
}

int epoch_open(struct oriel_win *win, struct epoch *epoch, const struct oriel_group *group, const char *call)
{
	if (!epoch->prepared || memcmp(epoch->key, group->key, sizeof(epoch->key)) != 0) {
		int rc = epoch_prepare(win, epoch, group, call);

		if (rc)
			return rc;
	}
	epoch->group = group->size > 0 ? group : &no_group;
	epoch->group_serial = group->handle.serial;
	epoch->count = (uint32_t)group->size;
	epoch->next = 0;
	return 0;
}
