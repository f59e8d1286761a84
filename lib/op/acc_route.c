// SPDX-License-Identifier: BSD-2-Clause
/* See acc_route.h. */
#include "op/acc_route.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "am/am_send.h"
#include "base/copy_blocks.h"
#include "base/settings.h"
#include "base/util.h"
#include "job/job.h"
#include "op/acc_device.h"
#include "op/am_codec.h"
#include "op/am_issue.h"
#include "op/copy.h"
#include "op/issue.h"
#include "win/lock_access.h"
#include "win/win.h"

/* Pages that are locked at a time. */
#define PAGES_AT_ONCE 4
#define PAGES_COPIED 17 /* 64 KiB */

static void unlock_pages(struct page_lock_table *page_locks, uint64_t from, uint64_t to)
{
	for (; from < to; from += page_rest(from))
		page_unlock(page_lock_of(page_locks, from));
}

/*
 * Locks the first pages, as far as they are free. Returns where the locked bytes end; `from`: none.
 */
static uint64_t trylock_first_pages(struct page_lock_table *page_locks, uint64_t process, uint64_t from, uint64_t to,
                                    uint32_t pages)
{
	uint64_t at = from + page_rest(from), most = at + (uint64_t)(pages - 1) * LOCKED_PAGE_BYTES;

	if (!page_trylock(page_lock_of(page_locks, from), process))
		return from;
	while (at < to && at < most && page_trylock_free(page_lock_of(page_locks, at), process))
		at += LOCKED_PAGE_BYTES;
	return at < to ? at : to;
}

/* Acts likewise on the last pages. Returns where the locked bytes begin; `to`: none. */
static uint64_t trylock_last_pages(struct page_lock_table *page_locks, uint64_t process, uint64_t from, uint64_t to)
{
	uint64_t at = to - 1 - (to - 1) % LOCKED_PAGE_BYTES;

	if (!page_trylock(page_lock_of(page_locks, at), process))
		return to;
	for (int n = 1; n < PAGES_AT_ONCE && at > from && page_trylock_free(page_lock_of(page_locks, at - 1), process); n++)
		at -= LOCKED_PAGE_BYTES;
	return at > from ? at : from;
}

/* Their pages are locked. */
static void apply_first(struct page_locks *ours, struct page_lock_table *page_locks, struct acc acc, size_t count,
                        uint64_t there)
{
	acc.count = count;
	acc_apply_locked(ours, page_locks, &acc, (void *)(uintptr_t)acc.remote_addr, there);
}

/* Returns where the first bytes of `count` elements end. */
static uint64_t first_bytes_end(uint64_t there, size_t count, size_t size_bytes)
{
	return there + (count - 1) * size_bytes + 1;
}

/*
 * Applies the operation some pages at a time: taking a lock waits for all stores before it, so
 * locks are taken before stores are made. An unaligned element may lie in two pages; it belongs to
 * that of its first byte. Returns false if a lock is not free: *acc has become the rest.
 */
static bool apply_upwards(struct page_locks *ours, struct page_lock_table *page_locks, struct acc *acc, uint64_t there)
{
	size_t size_bytes = element_types[acc->type].size_bytes;

	while (acc->count > 0) {
		uint64_t to = first_bytes_end(there, acc->count, size_bytes);
		uint64_t end = trylock_first_pages(page_locks, ours->process, there, to, PAGES_AT_ONCE);
		size_t count = (end - there + size_bytes - 1) / size_bytes;

		if (count == 0)
			return false;
		apply_first(ours, page_locks, *acc, count, there);
		unlock_pages(page_locks, there, end);
		there += acc_advance(acc, count);
	}
	return true;
}

static bool apply_downwards(struct page_locks *ours, struct page_lock_table *page_locks, struct acc *acc,
                            uint64_t there)
{
	size_t size_bytes = element_types[acc->type].size_bytes;

	while (acc->count > 0) {
		uint64_t end = there + acc->count * size_bytes;
		uint64_t to = first_bytes_end(there, acc->count, size_bytes);
		uint64_t begin = trylock_last_pages(page_locks, ours->process, there, to);
		size_t count = (end - begin) / size_bytes;
		struct acc last;

		if (begin == to)
			return false;
		last = *acc;
		acc_advance(&last, acc->count - count);
		apply_first(ours, page_locks, last, count, end - count * size_bytes);
		unlock_pages(page_locks, begin, to);
		acc->count -= count;
	}
	return true;
}

/* Return the locks of pages, a bit each. */
static uint32_t locks_of_bytes(uint64_t from, uint64_t size_bytes)
{
	uint64_t to = from + size_bytes;
	uint32_t locks = 0;

	static_assert(PAGE_LOCKS == 32, "a bit for each");
	for (; from < to; from += page_rest(from))
		locks |= UINT32_C(1) << page_lock_index(from);
	return locks;
}

static uint32_t locks_of(const struct acc *acc, uint64_t from)
{
	return locks_of_bytes(from, element_span(acc->type, acc->count));
}

/* Also those between blocks that are close. */
static uint32_t locks_of_row(const struct acc *acc, uint64_t from)
{
	const ptrdiff_t distance = acc->row.target, page = LOCKED_PAGE_BYTES;
	uint64_t extent = (uint64_t)distance * (acc->blocks - 1);
	uint32_t locks = 0;

	if (distance >= -page && distance <= page)
		return distance < 0 ? locks_of_bytes(from + extent, element_span(acc->type, acc->count) - extent)
		                    : locks_of_bytes(from, element_span(acc->type, acc->count) + extent);
	for (uint32_t i = 0; i < acc->blocks; i++)
		locks |= locks_of(acc, from + (uint64_t)distance * i);
	return locks;
}

static void unlock_these(struct page_lock_table *page_locks, uint32_t locks)
{
	for (; locks; locks &= locks - 1)
		page_unlock(&page_locks->list[__builtin_ctz(locks)]);
}

/* Takes all of these locks, or none. */
static bool trylock_these(struct page_lock_table *page_locks, uint64_t process, uint32_t locks)
{
	for (uint32_t left = locks; left; left &= left - 1) {
		if (!page_trylock(&page_locks->list[__builtin_ctz(left)], process)) {
			unlock_these(page_locks, locks & ((left & -left) - 1));
			return false;
		}
	}
	return true;
}

static bool apply_shared(struct oriel_job *job, const struct acc *acc, void *target)
{
	uint64_t from = (uintptr_t)target;
	struct page_lock_table *page_locks = job->page_locks.piece.addr;
	uint32_t locks;

	if (acc_needs_no_lock(acc, from) && acc_apply_unlocked(acc, target, update_begin_here(&job->page_locks, from)))
		return true;
	locks = locks_of(acc, from);
	if (!trylock_these(page_locks, job->page_locks.process, locks))
		return false;
	acc_apply_locked(&job->page_locks, page_locks, acc, target, from);
	unlock_these(page_locks, locks);
	return true;
}

static void apply_rest(struct oriel_job *job, const struct acc *acc, void *target)
{
	pthread_mutex_lock(&job->elements_lock);
	acc_apply(acc, target);
	pthread_mutex_unlock(&job->elements_lock);
}

/* Rows: their blocks have one class. `to` is the first block's place. */

/* Applies an operation to each block, by plain code or as acc_apply_locked. */
static void combine_blocks(struct oriel_job *job, const struct acc *acc, uint8_t *to, bool plain)
{
	struct acc block = *acc;

	for (uint32_t i = 0; i < acc->blocks; i++) {
		if (plain)
			acc_apply(&block, to);
		else
			acc_apply_locked(&job->page_locks, job->page_locks.piece.addr, &block, to, (uintptr_t)to);
		to += acc->row.target;
		if (block.origin)
			block.origin = (const uint8_t *)block.origin + acc->row.origin;
		if (block.result)
			block.result = (uint8_t *)block.result + acc->row.result;
	}
}

#define GATHERED_BYTES 4096

static bool are_apart(size_t block_bytes, ptrdiff_t distance)
{
	return block_bytes <= GATHERED_BYTES / 2 &&
	       (distance >= (ptrdiff_t)block_bytes || distance <= -(ptrdiff_t)block_bytes);
}

static void combine_gathered(const struct acc *acc, uint8_t *to)
{
	const size_t block_bytes = element_span(acc->type, acc->count);
	const uint8_t *origin = acc->origin;
	uint8_t *result = acc->result;
	_Alignas(ELEMENT_BYTES_MAX) uint8_t gathered[GATHERED_BYTES];
	const struct blocks here = { gathered, (ptrdiff_t)block_bytes };

	for (size_t left = acc->blocks, some; left > 0; left -= some) {
		const struct blocks there = { to, acc->row.target };

		some = min_size(left, GATHERED_BYTES / block_bytes);
		copy_blocks(here, there, block_bytes, some);
		element_apply(acc->type, acc->op, gathered, origin, result, some * acc->count);
		copy_blocks(there, here, block_bytes, some);
		to += acc->row.target * (ptrdiff_t)some;
		origin += some * block_bytes;
		if (result)
			result += some * block_bytes;
	}
}

static void apply_blocks(struct oriel_job *job, const struct acc *acc, uint8_t *to, enum acc_class class)
{
	const struct blocks there = { to, acc->row.target };
	const size_t block_bytes = element_span(acc->type, acc->count);

	if (acc->op == ORIEL_NO_OP && class != ACC_WORD)
		copy_blocks((struct blocks){ acc->result, acc->row.result }, there, block_bytes, acc->blocks);
	else if (acc->op == ORIEL_REPLACE && !acc->result && class != ACC_WORD)
		copy_blocks(there, (struct blocks){ (uint8_t *)(uintptr_t)acc->origin, acc->row.origin }, block_bytes,
		            acc->blocks);
	else if (class == ACC_NUMBER && are_apart(block_bytes, acc->row.target))
		combine_gathered(acc, to);
	else
		combine_blocks(job, acc, to, class == ACC_REST);
}

static bool apply_row(struct oriel_job *job, const struct acc *acc, void *target)
{
	struct page_lock_table *page_locks = job->page_locks.piece.addr;
	const enum acc_class class = acc_class(acc->type, (uintptr_t)target);
	uint32_t locks;

	if (class == ACC_REST) {
		pthread_mutex_lock(&job->elements_lock);
		apply_blocks(job, acc, target, class);
		pthread_mutex_unlock(&job->elements_lock);
		return true;
	}
	locks = locks_of_row(acc, (uintptr_t)target);
	if (!trylock_these(page_locks, job->page_locks.process, locks))
		return false;
	apply_blocks(job, acc, target, class);
	unlock_these(page_locks, locks);
	return true;
}

bool acc_apply_here(struct oriel_job *job, const struct acc *acc, void *target)
{
	if (acc->blocks > 0)
		return apply_row(job, acc, target);
	if (acc_class(acc->type, (uintptr_t)target) != ACC_REST)
		return apply_shared(job, acc, target);
	apply_rest(job, acc, target);
	return true;
}

/* Also those between pages if they are few. */
static uint32_t locks_of_list(const struct am_list *list, uint64_t base)
{
	uint32_t locks = 0;

	if (list->span_bytes <= 2 * (uint64_t)list->count * LOCKED_PAGE_BYTES)
		return locks_of_bytes(base + list->from, list->span_bytes);
	for (uint32_t i = 0; i < list->count; i++)
		locks |= locks_of_bytes(base + list->pieces[i].offset_bytes, element_span(list->type, list->pieces[i].count));
	return locks;
}

static void copy_list(const struct am_list *list, uint8_t *base)
{
	const uint8_t *operand = list->operands;
	uint8_t *result = list->result;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct am_piece piece = list->pieces[i];

		if (result) {
			copy_short(result, base + piece.offset_bytes, piece.count);
			result += piece.count;
		} else {
			copy_short(base + piece.offset_bytes, operand, piece.count);
			operand += piece.count;
		}
	}
}

static void combine_list(struct oriel_job *job, const struct am_list *list, uint8_t *base)
{
	const uint8_t *operand = list->operands;
	uint8_t *result = list->result;
	struct acc acc;

	acc_init(&acc, list->type, list->op, 0);
	for (uint32_t i = 0; i < list->count; i++) {
		uint8_t *to = base + list->pieces[i].offset_bytes;
		size_t bytes;

		acc.count = list->pieces[i].count;
		acc.origin = operand;
		acc.result = result;
		if (acc_class(list->type, (uintptr_t)to) == ACC_REST)
			apply_rest(job, &acc, to);
		else
			acc_apply_locked(&job->page_locks, job->page_locks.piece.addr, &acc, to, (uintptr_t)to);
		bytes = element_span(list->type, acc.count);
		if (operand)
			operand += bytes;
		if (result)
			result += bytes;
	}
}

bool acc_apply_list_here(struct oriel_job *job, const struct am_list *list, uint8_t *base)
{
	struct page_lock_table *page_locks = job->page_locks.piece.addr;
	uint32_t locks = locks_of_list(list, (uintptr_t)base);

	if (!trylock_these(page_locks, job->page_locks.process, locks))
		return false;
	if (list->type == ORIEL_UINT8 && (list->op == ORIEL_NO_OP || (list->op == ORIEL_REPLACE && !list->result)))
		copy_list(list, base);
	else
		combine_list(job, list, base);
	unlock_these(page_locks, locks);
	return true;
}

/* Applies large operations upwards and downwards in turn, as copies go (copy.h). */
static int issue_by_page_lock(struct oriel_win *win, const struct link *link, struct acc *acc)
{
	uint64_t there = link_there(link, acc->remote_addr);
	struct page_lock_table *page_locks = peer_page_locks(link->peer);
	void *target = (void *)(uintptr_t)acc->remote_addr;
	bool large = acc->count * element_types[acc->type].size_bytes > COPY_PIECE_BYTES;
	bool downwards = large && win->downwards;

	if (acc_needs_no_lock(acc, there) && acc_apply_unlocked(acc, target, update_begin(link->peer, win->slot, there)))
		return 0;
	win->downwards ^= large;
	return (downwards ? apply_downwards : apply_upwards)(&win->job->page_locks, page_locks, acc, there) ? 0
	                                                                                                    : ISSUE_LATER;
}

/* Private memory: copies here and back, under the page locks. The handler does the rest. */

#define CACHE_LINE_BYTES 64

#define ROOM_BYTES (PAGES_COPIED * LOCKED_PAGE_BYTES + CACHE_LINE_BYTES)

/* NULL: out of memory. */
static uint8_t *room_of(struct oriel_win *win)
{
	if (!win->room)
		win->room = aligned_alloc(CACHE_LINE_BYTES, ROOM_BYTES);
	return win->room;
}

/* Plain code only: the mode is switched for one word, too. */
static bool may_copy(struct oriel_win *win, struct link *link, struct acc acc, const struct softverbs_piece *pieces,
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

	if (!may_copy(win, link, *acc, pieces, count) || (reads && !direct_get_list_sync(direct, pieces, count)))
		return 0;
	if (acc->blocks > 0)
		combine_blocks(win->job, acc, pieces->here, true);
	else
		acc_apply(acc, pieces->here);
	return acc->op == ORIEL_NO_OP ? acc_bytes(acc) : direct_put_list_sync(direct, pieces, count);
}

static int issue_elements_by_copies(struct oriel_win *win, struct link *link, struct acc *acc)
{
	struct page_lock_table *page_locks = peer_page_locks(link->peer);
	const size_t size_bytes = element_types[acc->type].size_bytes;

	while (acc->count > 0) {
		uint64_t from = acc->remote_addr, to = first_bytes_end(from, acc->count, size_bytes);
		uint64_t end = trylock_first_pages(page_locks, win->job->page_locks.process, from, to, PAGES_COPIED);
		struct acc some = *acc;
		struct softverbs_piece piece;
		size_t done;

		some.count = (end - from + size_bytes - 1) / size_bytes;
		if (some.count == 0) /* the handler needs no lock for some words */
			return am_issue(win, link, acc);
		piece = (struct softverbs_piece){ win->room + from % CACHE_LINE_BYTES, acc_bytes(&some), from, link->rkey };
		done = change_copies(win, link, &some, &piece, 1) / size_bytes;
		unlock_pages(page_locks, from, end);
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
		locks = locks_of_row(&some, acc->remote_addr);
		if (!trylock_these(page_locks, win->job->page_locks.process, locks))
			return am_issue(win, link, acc);
		done = change_blocks(win, link, &some);
		unlock_these(page_locks, locks);
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
	       (acc->blocks == 0 || (are_apart(bytes, acc->row.target) && is_whole(acc->type, (uint64_t)acc->row.target)));
}

/* Returns whether the operation would overtake an active message for some of its bytes (A15). */
static bool would_pass_am(const struct oriel_win *win, struct link *link, struct acc_span span)
{
	const uint64_t from = span.from - link->base;

	if (!(link->marks & LINK_AM))
		return false;
	if (am_covers(link->peer, win->label, from, from + span.bytes))
		return !link_applied(link);
	if (am_is_applied(link->peer, link_am_number(link)))
		link_forget_ams(link); /* the fast paths are open again */
	return false;
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

static bool takes_copies(struct oriel_win *win, struct link *link, const struct acc *acc)
{
	const bool many = acc->blocks == 0 && element_span(acc->type, acc->count) >= COPIED_MIN_BYTES;

	return acc->blocks <= ACC_COPIED_MAX && row_is_whole_in_copies(acc) && has_copies(win, link) &&
	       !would_pass_am(win, link, acc_span(acc)) && (many || !am_is_polled(link->peer));
}

bool acc_list_takes_copies(struct oriel_win *win, struct link *link, struct acc_span span)
{
	return has_copies(win, link) && !am_is_polled(link->peer) && !would_pass_am(win, link, span);
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
		locks |= locks_of_bytes(pieces[i].addr, pieces[i].size_bytes);
		pieces[i].here = win->room + at;
		at += (uint32_t)pieces[i].size_bytes;
	}
	if (!trylock_these(page_locks, win->job->page_locks.process, locks))
		return 0;
	bytes = change_copies(win, link, acc, pieces, count);
	unlock_these(page_locks, locks);
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
		return issue_by_page_lock(win, link, acc);
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
