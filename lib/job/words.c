// SPDX-License-Identifier: BSD-2-Clause
/* words.c - see words.h. */
#include "job/words.h"

#include <pthread.h>

#include "base/heavy_barrier.h"
#include "base/process.h"
#include "base/util.h"
#include "job/job.h"
#include "job/wait.h"

#define TURNS 100 /* a flight is some instructions long */
#define RESTS 100 /* a try that fails takes as long as so many vectors */

/*
 * By who holds the page lock, unless it is free or pinned, or by the owner while it is pinned.
 * Pairs with word_mode.
 */
static void set_mode(struct page_lock_table *table, uint32_t index, enum word_mode mode)
{
	state_store(&table->modes[index], mode);
}

/* Changing the mode to WORD_PLAIN. */

/* Whether any window's flight is under way. */
static bool flies(const struct flights *flights)
{
	bool any = __atomic_load_n(&flights->executor, __ATOMIC_ACQUIRE); /* pairs with words_end, as the next */

	for (int i = 0; i < FLIGHT_WINDOWS; i++)
		any |= __atomic_load_n(&flights->window[i], __ATOMIC_ACQUIRE);
	return any;
}

/* A flight is over once it has been seen so: whoever begins after the barrier finds the mode. */
static bool have_landed(const struct flights *flights)
{
	for (int i = 0; i < TURNS; i++) {
		if (!flies(flights))
			return true;
		cpu_relax();
	}
	return page_holder_ended(flag_load(&flights->process)); /* pairs with page_locks_map */
}

static bool all_have_landed(const struct page_locks *ours, const struct page_lock_table *table)
{
	for (uint32_t i = 0; i < ours->flights; i++) {
		if (!have_landed(&table->flights[i]))
			return false;
	}
	return true;
}

/* From WORD_FREE, which the owner may change meanwhile: whether any is on its way to WORD_PLAIN. */
static bool begin_change(struct page_lock_table *table, uint64_t from, uint64_t to)
{
	bool any = false;

	for (; from < to; from += page_rest(from)) {
		state_change(&table->modes[page_lock_index(from)], WORD_FREE, WORD_CHANGING);
		any |= word_mode(table, from) == WORD_CHANGING;
	}
	return any;
}

static void end_change(struct page_lock_table *table, uint64_t from, uint64_t to)
{
	for (; from < to; from += page_rest(from)) {
		if (word_mode(table, from) == WORD_CHANGING)
			set_mode(table, page_lock_index(from), WORD_PLAIN);
	}
}

static bool all_are_plain(const struct page_lock_table *table, uint64_t from, uint64_t to)
{
	for (; from < to; from += page_rest(from)) {
		if (word_mode(table, from) != WORD_PLAIN)
			return false;
	}
	return true;
}

/* A try that has failed, since somebody is stopped or has no processor in a flight, is not repeated at once. */
static bool rests(struct page_locks *ours)
{
	uint32_t left = __atomic_load_n(&ours->rests, __ATOMIC_RELAXED);

	if (left > 0)
		__atomic_store_n(&ours->rests, left - 1, __ATOMIC_RELAXED); /* of several threads': a hint */
	return left > 0;
}

bool words_are_plain(struct page_locks *ours, struct page_lock_table *table, uint64_t from, uint64_t to, size_t changes)
{
	if (all_are_plain(table, from, to))
		return true;
	if (changes < WORDS_MANY || !ours->has_barrier || rests(ours) || !begin_change(table, from, to))
		return false;
	if (!heavy_barrier() || !all_have_landed(ours, table)) {
		__atomic_store_n(&ours->rests, RESTS, __ATOMIC_RELAXED);
		return false;
	}
	end_change(table, from, to);
	return all_are_plain(table, from, to);
}

/* Pinning. */

static int pin_step(void *arg)
{
	struct oriel_job *job = arg;
	struct page_lock_table *table = job->page_locks.piece.addr;

	for (uint32_t i = 0; i < PAGE_LOCKS; i++) {
		state_change(&table->modes[i], WORD_FREE, WORD_PINNED); /* pairs with begin_change: it is one of the two */
		if (state_load(&table->modes[i]) == WORD_PINNED)
			continue;
		if (!page_trylock(&table->list[i], job->page_locks.process))
			return 0;
		set_mode(table, i, WORD_PINNED);
		page_unlock(&table->list[i]);
	}
	return 1;
}

int words_pin(struct oriel_job *job, const void *win, const char *call)
{
	static const struct waiter waiter = { pin_step, wait_for_nobody };
	struct wait wait;
	int rc;

	pthread_mutex_lock(&job->lock);
	job->page_locks.pins++;
	pthread_mutex_unlock(&job->lock);
	wait_begin(&wait, job, call, win);
	rc = wait_until(&wait, &waiter, job);
	if (rc)
		words_unpin(job);
	return rc;
}

void words_unpin(struct oriel_job *job)
{
	struct page_lock_table *table = job->page_locks.piece.addr;

	pthread_mutex_lock(&job->lock);
	job->page_locks.pins--;
	for (uint32_t i = 0; job->page_locks.pins == 0 && i < PAGE_LOCKS; i++) {
		if (state_load(&table->modes[i]) == WORD_PINNED)
			set_mode(table, i, WORD_FREE);
	}
	pthread_mutex_unlock(&job->lock);
}
