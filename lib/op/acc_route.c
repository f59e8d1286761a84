// SPDX-License-Identifier: BSD-2-Clause
/* See acc_route.h. */
#include "op/acc_route.h"

#include <stdio.h>
#include <stdlib.h>

#include "am/am_send.h"
#include "base/settings.h"
#include "base/util.h"
#include "job/job.h"
#include "op/acc_device.h"
#include "op/am_issue.h"
#include "op/issue.h"
#include "win/lock_access.h"
#include "win/win.h"

/* Returns whether the operation would overtake an active message for some of its bytes (A15). */
static bool would_pass_am(const struct oriel_win *win, struct link *link, struct acc_span span)
{
	const uint64_t from = span.from - link->base;

	if (!(link->marks & LINK_AM))
		return false;
	if (am_covers(link->peer, win->label, from, from + span.bytes))
		return !link_applied(link, link_am_number(link));
	if (am_is_applied(link->peer, link_am_number(link)))
		link_forget_ams(link); /* the fast paths are open again */
	return false;
}

/* Private memory: copies here and back, under the page locks. The handler does the rest. */

#define PAGES_COPIED 17 /* 64 KiB */

#define CACHE_LINE_BYTES 64

#define ROOM_BYTES (PAGES_COPIED * LOCKED_PAGE_BYTES + CACHE_LINE_BYTES)

/* NULL: out of memory. */
static uint8_t *room_of(struct oriel_win *win)
{
	if (!win->room)
		win->room = aligned_alloc(CACHE_LINE_BYTES, ROOM_BYTES);
	return win->room;
}

/* Returns whether plain code may change the pieces; switches the mode, for one word, too. */
static bool are_plain(struct oriel_win *win, struct link *link, struct acc acc, const struct softverbs_piece *pieces,
                      uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		acc.count = pieces[i].size_bytes / element_types[acc.type].size_bytes;
		if (!acc_is_plain(&win->job->page_locks, peer_page_locks(link->peer), &acc, pieces[i].addr, MODE_SWITCH_MIN))
			return false;
	}
	return true;
}

/*
 * Applies the operation to pieces, whose pages are locked. Returns how many bytes have changed. The
 * kernel copies a page in one go: a death leaves no part of an element (A21).
 */
static uint64_t change_copies(struct oriel_win *win, struct link *link, const struct acc *acc,
                              const struct softverbs_piece *pieces, uint32_t count)
{
	struct direct_access *direct = &link->peer->direct;
	const bool reads = acc->op != ORIEL_REPLACE || acc->result;

	if (!are_plain(win, link, *acc, pieces, count) || (reads && !direct_get_list_sync(direct, pieces, count)))
		return 0;
	if (acc->blocks > 0)
		acc_combine_blocks(win->job, acc, pieces->here, true);
	else
		acc_apply(acc, pieces->here);
	return acc->op == ORIEL_NO_OP ? acc_bytes(acc) : direct_put_list_sync(direct, pieces, count);
}

static int issue_elements_by_copies(struct oriel_win *win, struct link *link, struct acc *acc)
{
	struct page_lock_table *page_locks = peer_page_locks(link->peer);
	const size_t size_bytes = element_types[acc->type].size_bytes;

	while (acc->count > 0) {
		uint64_t from = acc->remote_addr, to = acc_first_bytes_end(from, acc->count, size_bytes);
		uint64_t end = page_trylock_first(page_locks, win->job->page_locks.process, from, to, PAGES_COPIED);
		struct acc some = *acc;
		struct softverbs_piece piece;
		size_t done;

		some.count = (end - from + size_bytes - 1) / size_bytes;
		if (some.count == 0) /* the handler needs no lock for some words */
			return am_issue(win, link, acc);
		piece = (struct softverbs_piece){ win->room + from % CACHE_LINE_BYTES, acc_bytes(&some), from, link->rkey };
		done = change_copies(win, link, &some, &piece, 1) / size_bytes;
		page_unlock_range(page_locks, from, end);
		acc_advance(acc, done);
		if (done < some.count)
			return am_issue(win, link, acc);
	}
	return 0;
}

/* Returns how many have changed. One that has changed in part counts. */
static uint32_t change_blocks(struct oriel_win *win, struct link *link, const struct acc *acc)
{
	const size_t block_bytes = element_span(acc->type, acc->count);
	struct softverbs_piece pieces[ACC_COPIED_MAX];
	struct acc copied = *acc;

	for (uint32_t i = 0; i < acc->blocks; i++)
		pieces[i] = (struct softverbs_piece){ win->room + i * block_bytes, block_bytes,
			                                  acc->remote_addr + (uint64_t)acc->row.target * i, link->rkey };
	copied.row.target = (ptrdiff_t)block_bytes;
	return (uint32_t)((change_copies(win, link, &copied, pieces, acc->blocks) + block_bytes - 1) / block_bytes);
}

static int issue_row_by_copies(struct oriel_win *win, struct link *link, struct acc *acc)
{
	struct page_lock_table *page_locks = peer_page_locks(link->peer);
	const uint32_t room = PAGES_COPIED * LOCKED_PAGE_BYTES / (uint32_t)element_span(acc->type, acc->count);

	while (acc->count > 0) {
		struct acc some = *acc;
		uint32_t locks, done;

		some.blocks = min_u32(acc->blocks, room);
		locks = acc_locks_of_row(&some, acc->remote_addr);
		if (!page_trylock_set(page_locks, win->job->page_locks.process, locks))
			return am_issue(win, link, acc);
		done = change_blocks(win, link, &some);
		page_unlock_set(page_locks, locks);
		acc_advance_row(acc, done);
		if (done < some.blocks)
			return am_issue(win, link, acc);
	}
	return 0;
}

static int issue_by_copies(struct oriel_win *win, struct link *link, struct acc *acc)
{
	return (acc->blocks > 0 ? issue_row_by_copies : issue_elements_by_copies)(win, link, acc);
}

static bool is_whole(enum oriel_type type, uint64_t place)
{
	return place % sizeof(uint64_t) == 0 || element_types[type].size_bytes == 1;
}

/*
 * Returns whether copies change the elements as stores do (A12). Kernels copy aligned words of 8
 * bytes as a whole, but some copy less by bytes.
 */
static bool are_whole_in_copies(enum oriel_type type, uint64_t addr, uint64_t bytes)
{
	return acc_class(type, addr) != ACC_REST && is_whole(type, addr | bytes) &&
	       addr % element_types[type].size_bytes == 0;
}

static bool row_is_whole_in_copies(const struct acc *acc)
{
	const size_t bytes = element_span(acc->type, acc->count);

	return are_whole_in_copies(acc->type, acc->remote_addr, bytes) &&
	       (acc->blocks == 0 ||
	        (acc_blocks_are_apart(bytes, acc->row.target) && is_whole(acc->type, (uint64_t)acc->row.target)));
}

static bool has_copies(struct oriel_win *win, struct link *link)
{
	if (link_mapped(link) || !direct_has_list_puts(&link->peer->direct) || !room_of(win))
		return false;
	page_locks_map(link->peer);
	return peer_page_locks(link->peer);
}

/* A target that polls applies fewer bytes faster. */
#define COPIED_MIN_BYTES ((size_t)2 << 10)

/* Returns whether a message is faster than copies. */
static bool is_for_target(struct link *link, const struct acc *acc)
{
	if (acc->blocks > 0 || element_span(acc->type, acc->count) < COPIED_MIN_BYTES)
		return am_issue_pays(link, acc_bytes(acc));
	return am_is_polled(link->peer) && am_pulls(link, acc);
}

static bool takes_copies(struct oriel_win *win, struct link *link, const struct acc *acc)
{
	return acc->blocks <= ACC_COPIED_MAX && row_is_whole_in_copies(acc) && has_copies(win, link) &&
	       !would_pass_am(win, link, acc_span(acc)) && !is_for_target(link, acc);
}

bool acc_list_takes_copies(struct oriel_win *win, struct link *link, struct acc_span span)
{
	return has_copies(win, link) && !am_issue_pays(link, 0) && !would_pass_am(win, link, span);
}

/* They must not overlap. */
static bool list_is_whole_in_copies(enum oriel_type type, const struct softverbs_piece *pieces, uint32_t count)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (pieces[i].addr < end || !are_whole_in_copies(type, pieces[i].addr, pieces[i].size_bytes))
			return false;
		end = pieces[i].addr + pieces[i].size_bytes;
	}
	return true;
}

uint64_t acc_change_list(struct oriel_win *win, struct link *link, const struct acc *acc,
                         struct softverbs_piece *pieces, uint32_t count)
{
	struct page_lock_table *page_locks = peer_page_locks(link->peer);
	uint32_t locks = 0, at = 0;
	uint64_t bytes;

	if (!list_is_whole_in_copies(acc->type, pieces, count))
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		locks |= page_lock_set(pieces[i].addr, pieces[i].size_bytes);
		pieces[i].here = win->room + at;
		at += (uint32_t)pieces[i].size_bytes;
	}
	if (!page_trylock_set(page_locks, win->job->page_locks.process, locks))
		return 0;
	bytes = change_copies(win, link, acc, pieces, count);
	page_unlock_set(page_locks, locks);
	return bytes;
}

bool acc_send(struct oriel_win *win, struct link *link, struct acc *acc, int *rc)
{
	if (element_span(acc->type, acc->count) >= COPIED_MIN_BYTES || takes_copies(win, link, acc))
		return false;
	*rc = am_issue(win, link, acc);
	return *rc != ISSUE_LATER;
}

int acc_issue(struct oriel_win *win, struct link *link, struct acc *acc)
{
	void *target = (void *)(uintptr_t)acc->remote_addr;
	enum acc_route route = acc_route(link, acc->type, acc->remote_addr, acc->count);

	if (route != ACC_ROUTE_AM && would_pass_am(win, link, acc_span(acc)))
		return ISSUE_LATER;
	switch (route) {
	case ACC_ROUTE_PAGE_LOCK:
		return acc_by_page_lock(win, link, acc);
	case ACC_ROUTE_SELF:
		return acc_apply_here(win->job, acc, target) ? 0 : ISSUE_LATER;
	case ACC_ROUTE_DEVICE:
		return acc_by_device(win, link, acc);
	case ACC_ROUTE_AM:
		break;
	}
	return (takes_copies(win, link, acc) ? issue_by_copies : am_issue)(win, link, acc);
}

#define LOCK_TEXT_BYTES 64

static const char *transfer_text(const struct link *link)
{
	switch ((enum link_route)link->route) {
	case ROUTE_REGIONS:
		return "as each region can be reached";
	case ROUTE_MAP:
		return "loads and stores";
	case ROUTE_SYNC:
		return "copies by the device";
	case ROUTE_RDMA:
	case ROUTE_NONE:
		break;
	}
	return "work requests";
}

/* The address gives the alignment. */
static const char *acc_text(const struct link *link, enum oriel_type type, uint64_t addr)
{
	switch (acc_route(link, type, addr, 1)) {
	case ACC_ROUTE_PAGE_LOCK:
		return type == ORIEL_INT64 ? "this processor" : "this processor under page locks";
	case ACC_ROUTE_SELF:
		return "this rank's handler";
	case ACC_ROUTE_DEVICE:
		return "the target's device";
	case ACC_ROUTE_AM:
		break;
	}
	return addr % sizeof(uint64_t) == 0 && direct_has_list_puts(&link->peer->direct)
	           ? "copies under page locks or active messages"
	           : "active messages";
}

static const char *lock_text(const struct oriel_win *win, const struct link *link, char text[LOCK_TEXT_BYTES])
{
	const struct lock *lock = lock_of(win, link);

	*text = '\0';
	if (lock && lock->phase == PHASE_HELD)
		snprintf(text, LOCK_TEXT_BYTES, "; lock: %s", lock->header ? "loads and stores" : "work requests");
	return text;
}

void route_tell(const struct oriel_win *win, const struct link *link)
{
	char lock[LOCK_TEXT_BYTES];

	if (!tell_has_routes())
		return;
	if (link->route == ROUTE_REGIONS)
		tell(win->job->rank, "%s: rank %d: put, get, accumulate: %s%s", win->label, link->rank, transfer_text(link),
		     lock_text(win, link, lock));
	else
		tell(win->job->rank,
		     "%s: rank %d: put, get: %s; accumulate: integers of 8 bytes: %s, numbers: %s, others: %s%s", win->label,
		     link->rank, transfer_text(link), acc_text(link, ORIEL_INT64, 0), acc_text(link, ORIEL_DOUBLE, 0),
		     acc_text(link, ORIEL_DOUBLE, 1), lock_text(win, link, lock));
}
