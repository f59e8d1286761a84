// SPDX-License-Identifier: BSD-2-Clause
/* See remote_regions.h. */
#include "win/remote_regions.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/job.h"
#include "sync/page_lock.h"
#include "sync/wait.h"
#include "win/link.h"
#include "win/win.h"

#define LOOK_NS NS_PER_MS
#define BLOCK_ENTRIES (WIRE_COPY_MAX / sizeof(struct region_entry))

bool remote_regions_begin(struct link *link, struct remote root)
{
	struct remote_regions *remote_regions = calloc(1, sizeof(*remote_regions));

	if (!remote_regions)
		return false;
	remote_regions->root = root;
	link->ext->remote_regions = remote_regions;
	link->base = link->ext->there = 0;
	link->size_bytes = UINT64_MAX;
	return true;
}

static void unmap(struct link *link, struct remote_region *region)
{
	if (region->here)
		direct_unmap(&link->peer->direct, region->here, (size_t)region->size_bytes);
	region->here = NULL;
}

void remote_regions_free(struct link *link)
{
	struct remote_regions *remote_regions = link_remote_regions(link);

	if (!remote_regions)
		return;
	for (uint32_t i = 0; i < remote_regions->count; i++)
		unmap(link, &remote_regions->list[i]);
	free(remote_regions->list);
	free(remote_regions);
	link->ext->remote_regions = NULL;
}

/* Reading the member's memory. */

static int read_block(struct link *link, struct remote from, void *to, size_t size_bytes)
{
	struct wire *wire = &link->peer->wire;

	if (link->peer->direct.self) {
		memcpy(to, (const void *)(uintptr_t)from.addr, size_bytes);
		return 0;
	}
	return wire_get(wire, wire_sge(to, size_bytes, 0), from, &link->last_number);
}

/* The device's retries bound the wait. */
static int blocks_read(struct oriel_win *win, struct link *link)
{
	struct wire *wire = &link->peer->wire;

	if (link->peer->direct.self || wire_wait(wire, wire_signal(wire)))
		return 0;
	return win_peer_error(win, link->rank);
}

/* Reads `count` entries from `offset` on. An unlinked segment had no entries before the call. */
static int read_segment(struct link *link, const struct segment_ref *ref, uint32_t offset, uint32_t count,
                        struct region_entry entries[])
{
	uint32_t block;
	int rc = 0;

	for (uint32_t at = 0; rc == 0 && segment_ready(ref) && at < count; at += block) {
		uint64_t addr = ref->addr + (offset + at) * sizeof(struct region_entry);

		block = min_u32((uint32_t)BLOCK_ENTRIES, count - at);
		rc = read_block(link, (struct remote){ addr, ref->rkey }, &entries[at], block * sizeof(struct region_entry));
	}
	return rc;
}

/* Reads the first entries. Missing ones stay zero, as free ones are. */
static int read_entries(struct oriel_win *win, struct link *link, const struct region_root *root, uint32_t used,
                        struct region_entry entries[])
{
	uint32_t offset, count;
	int rc = 0;

	for (uint32_t at = 0; rc == 0 && at < used; at += count) {
		uint32_t segment = table_segment(at, &offset);

		count = min_u32(used - at, table_segment_elements(segment) - offset);
		rc = read_segment(link, &root->segments.segment[segment], offset, count, &entries[at]);
	}
	return rc ? win_peer_error(win, link->rank) : blocks_read(win, link);
}

static int read_root(struct oriel_win *win, struct link *link, struct region_root *root)
{
	int rc = read_block(link, link->ext->remote_regions->root, root, sizeof(*root));

	return rc ? win_peer_error(win, link->rank) : blocks_read(win, link);
}

/* Known regions. */

/* Returns how many known regions begin at or below the address. */
static uint32_t count_below(const struct remote_regions *remote_regions, uint64_t addr)
{
	uint32_t low = 0, high = remote_regions->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (remote_regions->list[middle].base <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct remote_region *holding(const struct remote_regions *remote_regions, uint64_t addr)
{
	uint32_t below = count_below(remote_regions, addr);
	struct remote_region *region = below ? &remote_regions->list[below - 1] : NULL;

	return region && addr - region->base < region->size_bytes ? region : NULL;
}

static void map_region(struct link *link, struct remote_region *region)
{
	struct remote base = { region->base, region->rkey };
	void *here;

	region->map_asked = true;
	if (region->read_only && !link->peer->direct.self)
		return;
	if (!direct_map(&link->peer->direct, base, (size_t)region->size_bytes, &here))
		return;
	region->here = here;
	page_locks_map(link->peer);
}

struct remote_region *remote_region_at(struct link *link, uint64_t addr)
{
	struct remote_region *region = holding(link->ext->remote_regions, addr);

	if (region && !region->map_asked)
		map_region(link, region);
	return region;
}

const struct remote_region *remote_region_unmapped(struct oriel_win *win, struct link *link, uint64_t addr,
                                                   uint64_t size_bytes)
{
	const struct remote_region *region;

	if (remote_regions_find(win, link, addr, size_bytes) != 0)
		return NULL;
	region = remote_region_at(link, addr);
	return !region->here && region->size_bytes - (addr - region->base) >= size_bytes ? region : NULL;
}

static int compare_base(const void *a, const void *b)
{
	const struct remote_region *left = a, *right = b;

	return (left->base > right->base) - (left->base < right->base);
}

/* Makes the region of an entry. False: the entry is free, or torn, and so not the caller's. */
static bool take_entry(const struct region_entry *entry, uint32_t index, struct remote_region *region)
{
	if (entry->check != region_check(entry))
		return false;
	*region = (struct remote_region){ .base = entry->base,
		                              .size_bytes = entry->size_bytes,
		                              .serial = entry->serial,
		                              .rkey = entry->rkey,
		                              .index = index,
		                              .read_only = entry->flags & DIR_READ_ONLY };
	return true;
}

/* Moves mappings of regions that still exist to the new list; unmaps the others. */
static void carry_over(struct link *link, struct remote_regions *known, const struct remote_regions *read)
{
	for (uint32_t i = 0; i < known->count; i++) {
		struct remote_region *old = &known->list[i], *same = holding(read, old->base);

		if (!same || same->serial != old->serial) {
			unmap(link, old);
			continue;
		}
		same->here = old->here;
		same->map_asked = old->map_asked;
	}
	free(known->list);
	known->list = read->list;
	known->count = read->count;
}

static int adopt(struct link *link, const struct region_entry entries[], uint32_t used)
{
	struct remote_regions read = { .list = malloc(used * sizeof(struct remote_region) + 1) };

	if (!read.list)
		return err_set(ORIEL_ERR_MEMORY, "out of memory for %u regions of rank %d", used, link->rank);
	for (uint32_t i = 0; i < used; i++)
		read.count += take_entry(&entries[i], i, &read.list[read.count]);
	qsort(read.list, read.count, sizeof(*read.list), compare_base);
	carry_over(link, link->ext->remote_regions, &read);
	return 0;
}

/* Reads the table once (remote_regions.h). */
static int read_table(struct oriel_win *win, struct link *link)
{
	struct region_root root;
	struct region_entry *entries;
	uint32_t used;
	int rc = read_root(win, link, &root);

	if (rc)
		return rc;
	used = region_used_of(root.used);
	entries = calloc((size_t)used + 1, sizeof(*entries));
	if (!entries)
		return err_set(ORIEL_ERR_MEMORY, "out of memory for the regions of rank %d", link->rank);
	rc = read_entries(win, link, &root, used, entries);
	if (rc == 0)
		rc = adopt(link, entries, used);
	free(entries);
	return rc;
}

/* Words between this rank and the member. */

static int send_acked(struct oriel_win *win, struct link *link, uint64_t notified, uint64_t *number)
{
	struct remote words = link_remote_flags(link);
	uint64_t before = link->ext->remote_regions->acked;

	(void)win;
	words.addr += offsetof(struct flag_pair, acked);
	link->ext->remote_regions->acked = notified + 1;
	/* Pairs with the flag_load in is_done, regions.c, at the member. */
	return direct_flag(&link->peer->direct, before, notified + 1, words, number);
}

static uint64_t notified_word(const struct oriel_win *win, const struct link *link)
{
	return flag_load(&link_flags(win, link)->notified); /* pairs with send_notified, regions.c, at the member */
}

static void drop_index(struct link *link, uint32_t index)
{
	struct remote_regions *remote_regions = link->ext->remote_regions;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < remote_regions->count; i++) {
		if (remote_regions->list[i].index == index)
			unmap(link, &remote_regions->list[i]);
		else
			remote_regions->list[kept++] = remote_regions->list[i];
	}
	remote_regions->count = kept;
}

/* Drops the entry. The acknowledgement waits for requests posted so far, which may use it. */
static void act_on(struct link *link, uint64_t notified)
{
	drop_index(link, (uint32_t)notified & (WINDOW_REGIONS_MAX - 1));
	counter_store(&link->ext->remote_regions->notified, notified);
	link->ext->remote_regions->answer_number = link->peer->direct.self ? 0 : wire_signal(&link->peer->wire);
	state_store(&link->ext->remote_regions->answering, 1);
}

static void answer(struct oriel_win *win, struct link *link)
{
	struct remote_regions *remote_regions = link->ext->remote_regions;

	if (!link->peer->direct.self && !wire_drive(&link->peer->wire, remote_regions->answer_number))
		return;
	send_acked(win, link, remote_regions->notified, &link->last_number);
	state_store(&remote_regions->answering, 0);
}

static void look_at(struct oriel_win *win, struct link *link)
{
	uint64_t notified = notified_word(win, link);

	if (notified != link->ext->remote_regions->notified)
		act_on(link, notified);
	if (link->ext->remote_regions->answering)
		answer(win, link);
}

void remote_regions_look(struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->regions_watch.count; i++) {
		if (!link_lost(win->regions_watch.links[i]))
			look_at(win, win->regions_watch.links[i]);
	}
}

/* The task. */

static bool has_news(struct oriel_win *win)
{
	struct regions_watch *watch = &win->regions_watch;
	bool news = false;

	pthread_mutex_lock(&watch->lock);
	for (uint32_t i = 0; i < watch->count; i++) {
		const struct remote_regions *remote_regions = link_remote_regions(watch->links[i]);

		news |= state_load(&remote_regions->answering) ||
		        notified_word(win, watch->links[i]) != counter_load(&remote_regions->notified);
	}
	pthread_mutex_unlock(&watch->lock);
	return news;
}

static void run(void *arg)
{
	struct oriel_win *win = arg;
	struct oriel_job *job = win->job;
	struct task *task = &win->regions_watch.task;

	if (state_load(&win->regions_watch.stop)) {
		state_store(&win->regions_watch.running, 0); /* the last access: pairs with has_ended */
		return;
	}
	if (has_news(win)) {
		owned_lock_take(&win->lock);
		remote_regions_look(win);
		owned_lock_give(&win->lock);
	}
	task->when_ns = now_ns() + LOOK_NS;
	service_queue_add(job, task);
}

static void start(struct oriel_win *win)
{
	struct oriel_job *job = win->job;
	struct task *task = &win->regions_watch.task;

	if (win->regions_watch.running)
		return;
	state_store(&win->regions_watch.running, 1);
	*task = (struct task){ .run = run, .arg = win };
	service_queue_add(job, task);
}

void regions_watch_init(struct regions_watch *watch)
{
	pthread_mutex_init(&watch->lock, NULL);
}

void regions_watch_destroy(struct regions_watch *watch)
{
	free(watch->links);
	pthread_mutex_destroy(&watch->lock);
}

static int has_ended(void *arg)
{
	return !state_load(&((const struct regions_watch *)arg)->running);
}

void regions_watch_stop(struct oriel_win *win)
{
	static const struct waiter waiter = { has_ended, wait_for_nobody };
	struct wait wait;

	state_store(&win->regions_watch.stop, 1);
	wait_begin(&wait, win->job, "oriel_win_free", win->label);
	wait.limit_ms = 0;
	wait_until(&wait, &waiter, &win->regions_watch);
}

/* Subscribing, and finding. */

static bool enter_watch(struct oriel_win *win, struct link *link)
{
	struct regions_watch *watch = &win->regions_watch;
	bool room;

	pthread_mutex_lock(&watch->lock);
	room = grow_array(&watch->links, &watch->capacity, watch->count + 1, sizeof(*watch->links));
	if (room)
		watch->links[watch->count++] = link;
	pthread_mutex_unlock(&watch->lock);
	return room;
}

/* Subscribes to the member's notifications, before the first reading. */
static int subscribe(struct oriel_win *win, struct link *link)
{
	uint64_t number = 0;
	int rc;

	if (!enter_watch(win, link))
		return err_set(ORIEL_ERR_MEMORY, "%s: out of memory for rank %d", win->label, link->rank);
	link->ext->remote_regions->subscribed = true;
	rc = send_acked(win, link, link->ext->remote_regions->notified, &number);
	full_fence(); /* of a stored word; pairs with that of begin, regions.c, at the member */
	if (rc == 0 && number && !wire_wait(&link->peer->wire, wire_signal(&link->peer->wire)))
		rc = ORIEL_ERR_PEER;
	start(win);
	return rc ? win_peer_error(win, link->rank) : 0;
}

/* The memory may span adjacent regions. */
static bool is_known(struct link *link, uint64_t addr, uint64_t size_bytes)
{
	bool read_only = false;

	for (uint64_t done = 0; done < size_bytes;) {
		const struct remote_region *region = holding(link->ext->remote_regions, addr + done);

		if (!region)
			return false;
		read_only |= region->read_only;
		done += region->size_bytes - (addr + done - region->base);
	}
	link->read_only = read_only;
	return true;
}

int remote_regions_find(struct oriel_win *win, struct link *link, uint64_t addr, uint64_t size_bytes)
{
	int rc = 0;

	if (!link->ext->remote_regions->subscribed)
		rc = subscribe(win, link);
	if (rc)
		return rc;
	look_at(win, link);
	if (is_known(link, addr, size_bytes))
		return 0;
	rc = read_table(win, link);
	if (rc || is_known(link, addr, size_bytes))
		return rc;
	return err_set(
		ORIEL_ERR_RANGE,
		"%s: %llu bytes at address 0x%llx of rank %d are not all attached to its window; the displacement is "
		"an address at the target",
		win->label, (unsigned long long)size_bytes, (unsigned long long)addr, link->rank);
}
