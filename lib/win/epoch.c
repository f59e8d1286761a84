// SPDX-License-Identifier: BSD-2-Clause
/* See epoch.h. */
#include "win/epoch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rank_list.h"
#include "job/group.h"
#include "win/link.h"
#include "win/win.h"

static void list_epoch(struct rank_list *ranks, const struct epoch *epoch)
{
	for (uint32_t i = 0; i < epoch->count; i++)
		rank_list_add(ranks, epoch->links[i]->rank);
}

static void list_targets(struct rank_list *ranks, const struct oriel_win *win)
{
	list_epoch(ranks, &win->access);
}

static void list_origins(struct rank_list *ranks, const struct oriel_win *win)
{
	list_epoch(ranks, &win->exposure);
}

static void list_locked(struct rank_list *ranks, const struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->links.capacity; i++)
		if (win->links.table[i] && (win->links.table[i]->marks & LINK_LOCK))
			rank_list_add(ranks, win->links.table[i]->rank);
}

/* Why a call is refused, in order of precedence. %s: the ranks. */
static const struct {
	unsigned bits;
	const char *why_not;
	void (*list)(struct rank_list *ranks, const struct oriel_win *win);
} obstacles[] = {
	{ SYNC_ACCESS, "an access epoch to %s is open; call oriel_win_complete first", list_targets },
	{ SYNC_EXPOSURE, "an exposure epoch for %s is open; call oriel_win_wait first", list_origins },
	{ SYNC_COMPLETING, "another thread is completing the access epoch", NULL },
	{ SYNC_WAITING, "another thread is waiting for the exposure epoch", NULL },
	{ SYNC_FREEING, "it is being freed", NULL },
	{ SYNC_FENCING, "another thread is inside the fence", NULL },
	{ SYNC_FENCE_BEGUN, "a fence has timed out; call oriel_win_fence again", NULL },
	{ SYNC_FENCE_USED, "operations of a fence epoch are pending; fence first", NULL },
	{ SYNC_LOCKING_ALL, "another thread is inside oriel_win_lock_all or oriel_win_unlock_all", NULL },
	{ SYNC_LOCK_ALL, "an oriel_win_lock_all is open; call oriel_win_unlock_all first", NULL },
	{ SYNC_LOCK, "a lock of %s is held; call oriel_win_unlock first", list_locked },
};

static const char *obstacle_text(const struct oriel_win *win, size_t index, char text[EPOCH_WHY_BYTES])
{
	const char *why_not = obstacles[index].why_not, *at = strstr(why_not, "%s");
	char names[RANK_LIST_TEXT_BYTES];
	struct rank_list ranks;

	if (!at)
		return why_not;
	rank_list_clear(&ranks);
	obstacles[index].list(&ranks, win);
	snprintf(text, EPOCH_WHY_BYTES, "%.*s%s%s", (int)(at - why_not), why_not, rank_list_text(&ranks, names), at + 2);
	return text;
}

const char *epoch_why_not(const struct oriel_win *win, enum sync_call call, char text[EPOCH_WHY_BYTES])
{
	const struct legality *row = &legality[call];

	for (size_t i = 0; i < sizeof(obstacles) / sizeof(obstacles[0]); i++) {
		if (win->sync & row->forbids & obstacles[i].bits)
			return obstacle_text(win, i, text);
	}
	if (call == CALL_UNLOCK)
		return "no rank is locked; call oriel_win_lock first";
	if (call == CALL_UNLOCK_ALL)
		return "no oriel_win_lock_all is open; call oriel_win_lock_all first";
	if (row->needs & SYNC_EXPOSURE)
		return "no exposure epoch is open; call oriel_win_post first";
	if (row->needs & SYNC_FENCE)
		return "no access epoch is open; call oriel_win_start, oriel_win_lock or oriel_win_fence first";
	return "no access epoch is open; call oriel_win_start first";
}

int epoch_refuse(const struct oriel_win *win, enum sync_call call, const char *name)
{
	char why[EPOCH_WHY_BYTES];

	return err_set(ORIEL_ERR_SYNC, "%s: %s: %s", name, win->label, epoch_why_not(win, call, why));
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

/* The epoch keeps the links until the group changes. */
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
