// SPDX-License-Identifier: BSD-2-Clause
/* See shared.h. */
#include "win/shared.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/settings.h"
#include "base/util.h"
#include "conn/atomics_peer.h"
#include "conn/coll.h"
#include "conn/sharing.h"
#include "job/group.h"
#include "job/job.h"
#include "pages/memory_file.h"
#include "sync/wait.h"
#include "win/link.h"
#include "win/win.h"

/* A member's words in the gathering. */
enum { ITEM_PLACE, ITEM_SIZE, ITEM_UNIT };

static int no_memory(const struct oriel_win *win)
{
	return err_set(ORIEL_ERR_MEMORY, "out of memory for the parts of %d members", win->group->size);
}

/* A member that votes against the window contributes and receives nothing. */
static int gather_parts(struct oriel_win *win, int vote, struct coll_item items[], const char *call)
{
	struct coll coll;
	struct wait wait;
	uint8_t id[16];

	if (items)
		items[win->group->my_rank] = (struct coll_item){ { [ITEM_PLACE] = sharing_place(win->job),
			                                               [ITEM_SIZE] = win->memory.size_bytes,
			                                               [ITEM_UNIT] = win->memory.disp_unit_bytes } };
	coll_id_within(id, win->id, 0, COLL_SHARED_SIZES);
	coll_begin(&coll, win->group, id, vote, win->job->rank);
	wait_begin(&wait, win->job, call, NULL);
	return coll_gather(&coll, items, &wait);
}

static int check_places(const struct oriel_win *win, const struct coll_item items[])
{
	for (int i = 1; i < win->group->size; i++) {
		if (items[i].word[ITEM_PLACE] == items[0].word[ITEM_PLACE])
			continue;
		return err_set(ORIEL_ERR_SHARED,
		               "ranks 0 and %d of the group (ranks %d and %d of the job) cannot share memory: they are not of "
		               "one machine, user and container; oriel_group_shared gives the ranks that are",
		               i, win_world_rank(win, 0), win_world_rank(win, i));
	}
	return 0;
}

/*
 * Computes the layout, equally on all members. With the hint, each part begins on its own page
 * (SW2).
 */
static int plan_parts(struct oriel_win *win, const struct coll_item items[])
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), most = (size_t)INT64_MAX - page, end = 0;

	for (int i = 0; i < win->group->size; i++) {
		struct shared_part *part = &win->shared.parts[i];

		part->size_bytes = items[i].word[ITEM_SIZE];
		part->disp_unit_bytes = items[i].word[ITEM_UNIT];
		part->offset = win->info.alloc_shared_noncontig ? round_up(end, page) : end;
		if (part->offset > most || part->size_bytes > most - part->offset)
			return err_set(ORIEL_ERR_MEMORY, "the parts of ranks 0 to %d of the group are together larger than can be",
			               i);
		end = part->offset + part->size_bytes;
	}
	win->shared.mapped_bytes = round_up(end, page);
	return 0;
}

static int agree_on_parts(struct oriel_win *win, int vote, const char *call)
{
	size_t count = (size_t)win->group->size;
	struct coll_item *items = vote ? NULL : calloc(count, sizeof(*items));
	int rc;

	if (!vote && !items)
		vote = no_memory(win);
	rc = gather_parts(win, vote, items, call);
	if (rc == 0)
		rc = check_places(win, items);
	if (rc == 0) {
		win->shared.parts = calloc(count, sizeof(*win->shared.parts));
		rc = win->shared.parts ? plan_parts(win, items) : no_memory(win);
	}
	free(items);
	return rc;
}

static int make_file(struct oriel_win *win, uint64_t name[2])
{
	struct shared_memory *shared = &win->shared;
	void *base;
	int rc = map_memory_file("oriel-shared", shared->mapped_bytes, &base, &shared->fd);

	if (rc)
		return rc;
	shared->base = base;
	return sharing_name(shared->fd, name);
}

/* Passes the file's name to all members, with the vote on success so far. */
static int pass_name(struct oriel_win *win, int vote, uint64_t name[2], const char *call)
{
	struct coll coll;
	struct wait wait;
	uint8_t id[16];

	coll_id_within(id, win->id, 0, COLL_SHARED_FILE);
	coll_begin(&coll, win->group, id, vote, win->job->rank);
	memcpy(coll.payload, name, sizeof(coll.payload));
	wait_begin(&wait, win->job, call, NULL);
	vote = coll_run_once(&coll, &wait);
	memcpy(name, coll.payload, sizeof(coll.payload));
	return vote;
}

static int map_file(struct shared_memory *shared, const uint64_t name[2])
{
	void *base;
	int rc = sharing_map(name, shared->mapped_bytes, &base, &shared->fd);

	if (rc == 0)
		shared->base = base;
	return rc;
}

/*
 * Places this rank's part on its node, not on that of the file's maker; no page has been touched.
 */
static void take_part(struct oriel_win *win)
{
	win->memory.base = win->shared.base + win->shared.parts[win->group->my_rank].offset;
	memory_node_bind(win->memory.base, win->memory.size_bytes);
}

/* Rank 0 of the first shared window's group prints it. */
static void tell_uncovered(const struct oriel_win *win)
{
	static bool printed;

	if (!(win->sync & SYNC_UNKIND) || win->group->my_rank != 0 ||
	    __atomic_exchange_n(&printed, true, __ATOMIC_RELAXED))
		return;
	tell_always(win->job->rank,
	            "loads and stores in shared memory (oriel_win_allocate_shared, MPI_Win_allocate_shared) are not "
	            "covered by --unkind (ORIEL_UNKIND): as ever, they take effect at once");
}

int shared_open(struct oriel_win *win, int vote, const char *call)
{
	struct shared_memory *shared = &win->shared;
	bool first = win->group->my_rank == 0;
	uint64_t name[2] = { 0 };
	int rc = agree_on_parts(win, vote, call);

	if (rc == 0 && first && shared->mapped_bytes)
		rc = make_file(win, name);
	rc = pass_name(win, rc, name, call);
	if (rc == 0 && !first && shared->mapped_bytes)
		rc = map_file(shared, name);
	if (rc == 0 && shared->base)
		take_part(win);
	if (rc == 0)
		tell_uncovered(win);
	return rc;
}

void shared_close(struct shared_memory *shared)
{
	if (shared->base) {
		munmap(shared->base, shared->mapped_bytes);
		close(shared->fd);
	}
	free(shared->parts);
}

/* oriel_win_shared_query */

struct answer {
	void *base;
	size_t size_bytes;
	size_t disp_unit_bytes;
};

static struct answer own_part(const struct oriel_win *win)
{
	return (struct answer){ win->memory.base, win->memory.size_bytes, win->memory.disp_unit_bytes };
}

static struct answer shared_part(const struct oriel_win *win, int rank)
{
	const struct shared_part *part = &win->shared.parts[rank];
	void *base = win->shared.base ? win->shared.base + part->offset : NULL;

	return (struct answer){ base, part->size_bytes, part->disp_unit_bytes };
}

static int described_link(struct oriel_win *win, int rank, struct link **link)
{
	struct link_wait waiting = { .win = win };
	struct wait wait;
	int rc;

	owned_lock_take(&win->lock);
	rc = link_get(win, rank, link);
	if (rc == 0)
		rc = link_prefetch(win, *link);
	owned_lock_give(&win->lock);
	if (rc)
		return rc;
	waiting.link = *link;
	wait_begin(&wait, win->job, "oriel_win_shared_query", win->label);
	rc = wait_until(&wait, &link_described, &waiting);
	return rc == 0 && link_state(*link) == LINK_GONE ? win_peer_error(win, rank) : rc;
}

/* Returns a part that the device maps, or nothing (SW4). link_map runs once: the answer stays. */
static int mapped_part(struct oriel_win *win, int rank, struct answer *answer)
{
	struct link *link;
	int rc = described_link(win, rank, &link);

	if (rc)
		return rc;
	owned_lock_take(&win->lock);
	if (link->route == ROUTE_NONE)
		link_map(link);
	if (link_mapped(link))
		*answer = (struct answer){ (void *)(uintptr_t)link->base, (size_t)link->size_bytes, link->disp_unit_bytes };
	owned_lock_give(&win->lock);
	return 0;
}

/* Takes the lock of a part inside lock_all, for loads and stores (L7). */
static int lock_part(struct oriel_win *win, int rank)
{
	int rc = 0;

	owned_lock_take(&win->lock);
	if ((win->sync & SYNC_LOCK_ALL) && !(win->sync & SYNC_LOCKING_ALL))
		rc = link_lock_all(win, rank, "oriel_win_shared_query");
	owned_lock_give(&win->lock);
	return rc;
}

static int part_of(struct oriel_win *win, int rank, struct answer *answer)
{
	int rc = 0;

	*answer = (struct answer){ .disp_unit_bytes = 1 };
	if (win->shared.parts)
		*answer = shared_part(win, rank);
	else if (rank == win->group->my_rank)
		*answer = own_part(win);
	else
		rc = mapped_part(win, rank, answer);
	return rc || !answer->base ? rc : lock_part(win, rank);
}

/* Returns the part of the lowest rank that has bytes, or none. */
static int first_part(struct oriel_win *win, struct answer *answer)
{
	int rc = 0;

	*answer = (struct answer){ .disp_unit_bytes = 1 };
	for (int rank = 0; rc == 0 && answer->size_bytes == 0 && rank < win->group->size; rank++)
		rc = part_of(win, rank, answer);
	if (answer->size_bytes == 0)
		*answer = (struct answer){ .disp_unit_bytes = 1 };
	return rc;
}

static int query_check(const struct oriel_win *win, int rank, const void *base, const void *size, const void *unit)
{
	int rc = win_check(win, "oriel_win_shared_query");

	if (rc)
		return rc;
	if (!base || !size || !unit)
		return err_set(ORIEL_ERR_ARG, "oriel_win_shared_query: %s: base is %p, size_bytes %p, disp_unit_bytes %p",
		               win->label, base, size, unit);
	if (rank != ORIEL_RANK_NONE && (rank < 0 || rank >= win->group->size))
		return err_set(ORIEL_ERR_RANK, "oriel_win_shared_query: %s: rank %d, its group has ranks 0 to %d", win->label,
		               rank, win->group->size - 1);
	return 0;
}

int oriel_win_shared_query(oriel_win *win, int rank, void **base, size_t *size_bytes, size_t *disp_unit_bytes)
{
	struct answer answer;
	int rc = query_check(win, rank, base, size_bytes, disp_unit_bytes);

	if (rc)
		return rc;
	rc = rank == ORIEL_RANK_NONE ? first_part(win, &answer) : part_of(win, rank, &answer);
	if (rc)
		return err_in(rc, "oriel_win_shared_query");
	*base = answer.base;
	*size_bytes = answer.size_bytes;
	*disp_unit_bytes = answer.disp_unit_bytes;
	return 0;
}

/* Compares the members' places: the barrier returns ORIEL_ERR_ARG if they differ. */
static int compare_places(struct oriel_win *win, const char *call)
{
	struct coll coll;
	struct wait wait;
	uint8_t id[16];
	int verdict;

	coll_id_within(id, win->id, 0, COLL_PLACES);
	coll_begin(&coll, win->group, id, 0, win->job->rank);
	coll.agreed = sharing_place(win->job);
	wait_begin(&wait, win->job, call, NULL);
	verdict = coll_run_once(&coll, &wait);
	if (verdict && verdict != ORIEL_ERR_ARG)
		return verdict;
	win->places = verdict ? PLACES_SEVERAL : PLACES_ONE;
	if (win->places == PLACES_ONE && win->group->size == win->job->size)
		job_found_in_one_place(win->job);
	return 0;
}

int places_learn(struct oriel_win *win, const char *call)
{
	win->places = job_places(win->job, win->group);
	return win->places == PLACES_UNKNOWN ? compare_places(win, call) : 0;
}

void places_keep(const struct oriel_win *win)
{
	job_keep_places(win->job, win->group, win->places);
}

/* Words that a card changes must be registered with it. */
uint32_t window_devices(const struct oriel_win *win)
{
	const struct devices *devices = &win->job->devices;

	if (win->places != PLACES_ONE || job_atomic_device(win->job))
		return devices_all(devices);
	return devices_without_pinning(devices);
}
