// SPDX-License-Identifier: BSD-2-Clause
/* epoch.c - opening and closing the epochs of post, start, complete, wait; see epoch.h. */
#include "win/epoch.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "job/group.h"
#include "win/link.h"
#include "win/win.h"

static int add_links(struct oriel_win *win, struct link **links, const struct oriel_group *group, const char *call)
{
	for (int i = 0; i < group->size; i++) {
		int world = group_world_rank(group, i);
		int rank = group_rank_of(win->group, world);
		int rc;

		if (rank == ORIEL_RANK_NONE)
			return err_set(ORIEL_ERR_RANK, "%s: window %p: rank %d of the job is in the group but not in the window's",
			               call, (void *)win, world);
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
	if (!reserve_links(epoch, (uint32_t)group->size))
		return err_set(ORIEL_ERR_MEMORY, "%s: window %p: out of memory for %d ranks", call, (void *)win, group->size);
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
	epoch->count = (uint32_t)group->size;
	epoch->next = 0;
	epoch->open = true;
	return 0;
}

void epoch_close(struct epoch *epoch)
{
	epoch->open = false;
	epoch->closing = false;
	epoch->count = 0;
}
