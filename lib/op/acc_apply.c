// SPDX-License-Identifier: BSD-2-Clause
/* acc_apply.c - changes elements in memory that this processor reaches; see acc_route.h. */
#include <pthread.h>

#include "base/copy_blocks.h"
#include "base/util.h"
#include "job/job.h"
#include "op/acc_route.h"
#include "op/am_codec.h"
#include "op/copy.h"
#include "op/issue.h"
#include "win/win.h"

/* Pages that are locked at a time. */
#define PAGES_AT_ONCE 4

/* Acts as page_trylock_first on the last pages. Returns where the locked bytes begin. */
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

/*
 * Applies the operation some pages at a time: taking a lock waits for all stores before it, so
 * locks are taken before stores are made. Returns false if a lock is not free: *acc has become the
 * rest.
 */
static bool apply_upwards(struct page_locks *ours, struct page_lock_table *page_locks, struct acc *acc, uint64_t there)
{
	size_t size_bytes = element_types[acc->type].size_bytes;

	while (acc->count > 0) {
		uint64_t to = acc_first_bytes_end(there, acc->count, size_bytes);
		uint64_t end = page_trylock_first(page_locks, ours->process, there, to, PAGES_AT_ONCE);
		size_t count = (end - there + size_bytes - 1) / size_bytes;

		if (count == 0)
			return false;
		apply_first(ours, page_locks, *acc, count, there);
		page_unlock_range(page_locks, there, end);
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
		uint64_t to = acc_first_bytes_end(there, acc->count, size_bytes);
		uint64_t begin = trylock_last_pages(page_locks, ours->process, there, to);
		size_t count = (end - begin) / size_bytes;
		struct acc last;

		if (begin == to)
			return false;
		last = *acc;
		acc_advance(&last, acc->count - count);
		apply_first(ours, page_locks, last, count, end - count * size_bytes);
		page_unlock_range(page_locks, begin, to);
		acc->count -= count;
	}
	return true;
}

static uint32_t locks_of(const struct acc *acc, uint64_t from)
{
	return page_lock_set(from, element_span(acc->type, acc->count));
}

uint32_t acc_locks_of_row(const struct acc *acc, uint64_t from)
{
	const ptrdiff_t distance = acc->row.target, page = LOCKED_PAGE_BYTES;
	uint64_t extent = (uint64_t)distance * (acc->blocks - 1);
	uint32_t locks = 0;

	if (distance >= -page && distance <= page)
		return distance < 0 ? page_lock_set(from + extent, element_span(acc->type, acc->count) - extent)
		                    : page_lock_set(from, element_span(acc->type, acc->count) + extent);
	for (uint32_t i = 0; i < acc->blocks; i++)
		locks |= locks_of(acc, from + (uint64_t)distance * i);
	return locks;
}

static bool apply_shared(struct oriel_job *job, const struct acc *acc, void *target)
{
	uint64_t from = (uintptr_t)target;
	struct page_lock_table *page_locks = job->page_locks.piece.addr;
	uint32_t locks;

	if (acc_needs_no_lock(acc, from) && acc_apply_unlocked(acc, target, update_begin_here(&job->page_locks, from)))
		return true;
	locks = locks_of(acc, from);
	if (!page_trylock_set(page_locks, job->page_locks.process, locks))
		return false;
	acc_apply_locked(&job->page_locks, page_locks, acc, target, from);
	page_unlock_set(page_locks, locks);
	return true;
}

static void apply_rest(struct oriel_job *job, const struct acc *acc, void *target)
{
	pthread_mutex_lock(&job->elements_lock);
	acc_apply(acc, target);
	pthread_mutex_unlock(&job->elements_lock);
}

/* Rows: their blocks have one class. `to` is the first block's place. */

void acc_combine_blocks(struct oriel_job *job, const struct acc *acc, uint8_t *to, bool plain)
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

static void combine_gathered(const struct acc *acc, uint8_t *to)
{
	const size_t block_bytes = element_span(acc->type, acc->count);
	const uint8_t *origin = acc->origin;
	uint8_t *result = acc->result;
	_Alignas(ELEMENT_BYTES_MAX) uint8_t gathered[ACC_GATHERED_BYTES];
	const struct blocks here = { gathered, (ptrdiff_t)block_bytes };

	for (size_t left = acc->blocks, some; left > 0; left -= some) {
		const struct blocks there = { to, acc->row.target };

		some = min_size(left, ACC_GATHERED_BYTES / block_bytes);
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
	else if (class == ACC_NUMBER && acc_blocks_are_apart(block_bytes, acc->row.target))
		combine_gathered(acc, to);
	else
		acc_combine_blocks(job, acc, to, class == ACC_REST);
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
	locks = acc_locks_of_row(acc, (uintptr_t)target);
	if (!page_trylock_set(page_locks, job->page_locks.process, locks))
		return false;
	apply_blocks(job, acc, target, class);
	page_unlock_set(page_locks, locks);
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
		return page_lock_set(base + list->from, list->span_bytes);
	for (uint32_t i = 0; i < list->count; i++)
		locks |= page_lock_set(base + list->pieces[i].offset_bytes, element_span(list->type, list->pieces[i].count));
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

	if (!page_trylock_set(page_locks, job->page_locks.process, locks))
		return false;
	if (list->type == ORIEL_UINT8 && (list->op == ORIEL_NO_OP || (list->op == ORIEL_REPLACE && !list->result)))
		copy_list(list, base);
	else
		combine_list(job, list, base);
	page_unlock_set(page_locks, locks);
	return true;
}

int acc_by_page_lock(struct oriel_win *win, const struct link *link, struct acc *acc)
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
