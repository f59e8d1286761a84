// SPDX-License-Identifier: BSD-2-Clause
/* See atomic_mode.h. */
#include "sync/atomic_mode.h"

#include <pthread.h>

#include "base/order.h"
#include "base/process.h"
#include "base/util.h"
#include "job/job.h"
#include "sync/wait.h"

#define TURNS 100 /* an update takes some instructions */
#define RESTS 100 /* a failed try takes as long as so many vectors */

/*
 * The caller holds the page lock, unless the mode is free or pinned, or is the owner and it is
 * pinned. Pairs with atomic_mode.
 */
static void set_mode(struct page_lock_table *table, uint32_t index, enum atomic_mode mode)
{
	state_store(&table->modes[index], mode);
}

/* Changing the mode to MODE_LOCKED. */

static bool updating(const struct updates *updates)
{
	bool any = __atomic_load_n(&updates->handler, __ATOMIC_ACQUIRE); /* pairs with update_end, as the next */

	for (int i = 0; i < UPDATE_WINDOWS; i++)
		any |= __atomic_load_n(&updates->window[i], __ATOMIC_ACQUIRE);
	return any;
}

/* Returns whether no update is in progress. Later ones see the mode. */
static bool updates_are_over(const struct updates *updates)
{
	for (int i = 0; i < TURNS; i++) {
		if (!updating(updates))
			return true;
		cpu_relax();
	}
	return page_holder_ended(flag_load(&updates->process)); /* pairs with page_locks_map */
}

static bool all_updates_are_over(const struct page_locks *ours, const struct page_lock_table *table)
{
	for (uint32_t i = 0; i < ours->updaters; i++) {
		if (!updates_are_over(&table->updates[i]))
			return false;
	}
	return true;
}

/*
 * Changes the mode from MODE_ATOMIC; the owner may change it, too. Returns whether any is on the
 * way to MODE_LOCKED.
 */
static bool begin_switch(struct page_lock_table *table, uint64_t from, uint64_t to)
{
	bool any = false;

	for (; from < to; from += page_rest(from)) {
		state_change(&table->modes[page_lock_index(from)], MODE_ATOMIC, MODE_SWITCHING);
		any |= atomic_mode(table, from) == MODE_SWITCHING;
	}
	return any;
}

static void end_switch(struct page_lock_table *table, uint64_t from, uint64_t to)
{
	for (; from < to; from += page_rest(from)) {
		if (atomic_mode(table, from) == MODE_SWITCHING)
			set_mode(table, page_lock_index(from), MODE_LOCKED);
	}
}

static bool all_are_locked(const struct page_lock_table *table, uint64_t from, uint64_t to)
{
	for (; from < to; from += page_rest(from)) {
		if (atomic_mode(table, from) != MODE_LOCKED)
			return false;
	}
	return true;
}

/* Returns whether to skip a try, since one has failed recently. */
static bool rests(struct page_locks *ours)
{
	uint32_t left = __atomic_load_n(&ours->rests, __ATOMIC_RELAXED);

	if (left > 0)
		__atomic_store_n(&ours->rests, left - 1, __ATOMIC_RELAXED); /* a hint, shared by threads */
	return left > 0;
}

bool atomic_mode_try_locked(struct page_locks *ours, struct page_lock_table *table, uint64_t from, uint64_t to,
                            size_t changes)
{
	if (all_are_locked(table, from, to))
		return true;
	if (changes < MODE_SWITCH_MIN || !ours->has_barrier || rests(ours) || !begin_switch(table, from, to))
		return false;
	if (!heavy_barrier() || !all_updates_are_over(ours, table)) {
		__atomic_store_n(&ours->rests, RESTS, __ATOMIC_RELAXED);
		return false;
	}
	end_switch(table, from, to);
	return all_are_locked(table, from, to);
}

/* Pinning. */

static int pin_step(void *arg)
{
	struct oriel_job *job = arg;
	struct page_lock_table *table = job->page_locks.piece.addr;

	for (uint32_t i = 0; i < PAGE_LOCKS; i++) {
		state_change(&table->modes[i], MODE_ATOMIC, MODE_PINNED); /* pairs with begin_switch: it is one of the two */
		if (state_load(&table->modes[i]) == MODE_PINNED)
			continue;
		if (!page_trylock(&table->list[i], job->page_locks.process))
			return 0;
		set_mode(table, i, MODE_PINNED);
		page_unlock(&table->list[i]);
	}
	return 1;
}

int atomic_mode_pin(struct oriel_job *job, const char *call)
{
	static const struct waiter waiter = { pin_step, wait_for_nobody };
	struct wait wait;
	int rc;

	pthread_mutex_lock(&job->lock);
	job->page_locks.pins++;
	pthread_mutex_unlock(&job->lock);
	wait_begin(&wait, job, call, NULL);
	rc = wait_until(&wait, &waiter, job);
	if (rc)
		atomic_mode_unpin(job);
	return rc;
}

void atomic_mode_unpin(struct oriel_job *job)
{
	struct page_lock_table *table = job->page_locks.piece.addr;

	pthread_mutex_lock(&job->lock);
	job->page_locks.pins--;
	for (uint32_t i = 0; job->page_locks.pins == 0 && i < PAGE_LOCKS; i++) {
		if (state_load(&table->modes[i]) == MODE_PINNED)
			set_mode(table, i, MODE_ATOMIC);
	}
	pthread_mutex_unlock(&job->lock);
}
