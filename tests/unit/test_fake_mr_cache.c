// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_mr_cache.c - registrations that outlive their epoch: which operation finds which, when
 * they go, and what they never stand in the way of. If the system does not let the process watch
 * memory, nothing is kept, and little is tested.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pages/page_watch.h"
#include "fake_job.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "suites_fake.h"
#include "verbs/mr_cache.h"
#include "win/win.h"

#define PAGE ((size_t)4096)
#define PART (4 * PAGE) /* more than is copied */
#define BYTES (4 * PART)

static uint8_t window[2][BYTES];

static uint8_t *map_at(void *where)
{
	void *memory =
		mmap(where, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);

	CU_ASSERT_NOT_EQUAL_FATAL(memory, MAP_FAILED);
	return memory;
}

static bool can_keep(void)
{
	if (page_watch_open())
		return false;
	page_watch_close();
	return true;
}

/* Rank 0, which puts to rank 1. */
struct putter {
	struct rank *rank;
	oriel_group *world;
	oriel_win *win;
	uint8_t *origin;
};

static void begin(struct putter *a, struct rank *rank)
{
	*a = (struct putter){ .rank = rank, .origin = map_at(NULL) };
	rank_note(rank, "job_open", rank_join(rank, NULL));
	rank_note(rank, "group", oriel_group_world(rank->job, &a->world));
	rank_note(rank, "create", oriel_win_create(window[rank->rank], BYTES, 1, NULL, a->world, &a->win));
	if (rank->rank == 0)
		rank_note(rank, "lock", oriel_win_lock(a->win, ORIEL_LOCK_SHARED, 1, 0));
}

static void end(struct putter *a)
{
	if (a->rank->rank == 0)
		rank_note(a->rank, "unlock", oriel_win_unlock(a->win, 1));
	rank_note(a->rank, "free", oriel_win_free(&a->win));
	rank_note(a->rank, "group_free", oriel_group_free(&a->world));
	rank_note(a->rank, "finalize", oriel_finalize(&a->rank->job));
	munmap(a->origin, BYTES);
}

/* The key that a put from there has used. */
static uint32_t put(struct putter *a, size_t from, size_t size_bytes)
{
	rank_note(a->rank, "put", oriel_put(a->win, a->origin + from, size_bytes, 1, 0));
	CU_ASSERT_FATAL(a->win->epoch_mrs.count > 0);
	return a->win->epoch_mrs.list[a->win->epoch_mrs.count - 1].lkey;
}

static void flush(struct putter *a, int target)
{
	rank_note(a->rank, "flush", oriel_win_flush(a->win, target));
}

static uint32_t put_and_flush(struct putter *a, size_t from, size_t size_bytes)
{
	uint32_t lkey = put(a, from, size_bytes);

	flush(a, ORIEL_RANK_ALL); /* all is given back */
	CU_ASSERT_EQUAL(a->win->epoch_mrs.count, 0);
	return lkey;
}

static void found_again(struct rank *rank)
{
	struct putter a;
	uint32_t first;
	int regions;

	begin(&a, rank);
	first = put_and_flush(&a, 100, PART);
	regions = fake_regions();
	CU_ASSERT_EQUAL(put_and_flush(&a, 100, PART), first);
	CU_ASSERT_EQUAL(put_and_flush(&a, 200, PART), first); /* the same pages */
	rank_note(rank, "get", oriel_get(a.win, a.origin + 100, PART, 1, 0));
	CU_ASSERT_EQUAL(a.win->epoch_mrs.list[0].lkey, first);
	flush(&a, ORIEL_RANK_ALL);
	CU_ASSERT_EQUAL(fake_regions(), regions);
	CU_ASSERT_NOT_EQUAL(put_and_flush(&a, 2 * PART, PART), first);
	map_at(a.origin);
	CU_ASSERT_NOT_EQUAL(put_and_flush(&a, 100, PART), first);
	end(&a);
}

/*
 * Memory that another operation of the epoch has named is found without a question; other memory of
 * its registration is not.
 */
static void named_parts(struct rank *rank)
{
	struct putter a;
	uint32_t whole;

	begin(&a, rank);
	whole = put_and_flush(&a, 0, 2 * PART);
	CU_ASSERT_EQUAL(put(&a, 0, PART), whole);
	CU_ASSERT_EQUAL(put(&a, PAGE, 2 * PAGE + 1), whole);
	CU_ASSERT_EQUAL(a.win->epoch_mrs.count, 1);
	madvise(a.origin + PART, PART, MADV_DONTNEED);
	CU_ASSERT_NOT_EQUAL(put(&a, PART, PART), whole);
	end(&a);
}

/* Puts and flushes in turns, of one target, take one place of the list. */
static void flushed_in_turns(struct rank *rank)
{
	struct putter a;

	begin(&a, rank);
	for (size_t i = 0; i < 10; i++) {
		put(&a, i % 4 * 8, PART - 64); /* the same pages */
		flush(&a, 1);
		CU_ASSERT_EQUAL(a.win->epoch_mrs.count, 1);
	}
	end(&a);
}

/* A registration of the program displaces cached ones. */
static void short_of_regions(struct rank *rank)
{
	struct putter a;
	oriel_mem *mem;

	begin(&a, rank);
	put_and_flush(&a, 0, PART);
	put_and_flush(&a, PART, PART);
	fake_config.regions_max = fake_regions();
	rank_note(rank, "register", oriel_mem_register(rank->job, a.origin, BYTES, &mem));
	CU_ASSERT_EQUAL(fake_regions(), fake_config.regions_max - 1);
	fake_config.regions_max = 0;
	rank_note(rank, "deregister", oriel_mem_deregister(&mem));
	end(&a);
}

/*
 * More memory than there is room for, in turns: some of it is found again, and little is registered
 * in vain.
 */
static void back_off(struct rank *rank)
{
	enum { RANGES = 2 * MR_CACHE_MAX };
	uint8_t *memory = mmap(NULL, RANGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t found = 0, none = 0;
	struct mr_cache *cache;
	struct putter a;

	begin(&a, rank);
	cache = rank->job->devices.list[0].cache;
	for (int i = 0; i < 10 * RANGES; i++) {
		struct cached_mr *entry = mr_cache_take(cache, memory + (size_t)(i % RANGES) * PAGE, PAGE, false);

		none += entry == NULL;
		found += entry && mr_cache_lkey(entry) != 0;
		if (entry)
			mr_cache_give(cache, entry);
	}
	CU_ASSERT(found >= 4 * RANGES);
	CU_ASSERT(none >= 3 * RANGES);
	end(&a);
	munmap(memory, RANGES * PAGE);
}

/*
 * The table itself: it is bounded, and drops registrations that are not in use; memory that is
 * unmapped at once is not tried for ever.
 */
static void bounds(struct rank *rank)
{
	static uint8_t *memory[MR_CACHE_MAX + 1];
	struct cached_mr *first, *entry = NULL;
	struct mr_cache *cache;
	int regions, tries = 0;
	struct putter a;

	begin(&a, rank);
	cache = rank->job->devices.list[0].cache;
	put_and_flush(&a, PART, PART); /* connected */
	regions = fake_regions() - 1;
	first = mr_cache_take(cache, a.origin, PAGE, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(first);
	for (int i = 0; i <= MR_CACHE_MAX; i++) {
		memory[i] = map_at(NULL);
		entry = mr_cache_take(cache, memory[i], PAGE, false);
		if (entry)
			mr_cache_give(cache, entry);
	}
	CU_ASSERT_EQUAL(fake_regions(), regions + MR_CACHE_MAX);
	CU_ASSERT_PTR_EQUAL(mr_cache_take(cache, a.origin, PAGE, false), first); /* in use, so it is still there */
	mr_cache_give(cache, first);
	mr_cache_give(cache, first);
	for (int i = 0; i <= MR_CACHE_MAX; i++)
		munmap(memory[i], BYTES);
	CU_ASSERT(page_watch_settled());
	mr_cache_tidy(cache);
	CU_ASSERT_EQUAL(fake_regions(), regions + 1);
	for (int i = 0; i < 100; i++) {
		entry = mr_cache_take(cache, map_at(a.origin), PAGE, false);
		tries += entry != NULL;
		if (entry)
			mr_cache_give(cache, entry);
	}
	CU_ASSERT(tries > 0 && tries < 20);
	end(&a);
}

/* L7: what unlock has completed is the caller's again, though another lock is still held. */
static void unlocked_beside_another(struct rank *rank)
{
	struct putter a;
	uint32_t first;

	begin(&a, rank);
	rank_note(rank, "lock", oriel_win_lock(a.win, ORIEL_LOCK_SHARED, 0, 0));
	first = put(&a, 0, PART);
	rank_note(rank, "unlock", oriel_win_unlock(a.win, 1));
	map_at(a.origin);
	rank_note(rank, "lock", oriel_win_lock(a.win, ORIEL_LOCK_SHARED, 1, 0));
	CU_ASSERT_NOT_EQUAL(put(&a, 0, PART), first);
	rank_note(rank, "unlock", oriel_win_unlock(a.win, 0));
	end(&a);
}

static void kept_by_nobody(struct rank *rank)
{
	struct putter a;
	int regions;

	begin(&a, rank);
	CU_ASSERT_PTR_NULL(rank->job->devices.list[0].cache);
	put_and_flush(&a, 0, PART);
	regions = fake_regions();
	put_and_flush(&a, 0, PART);
	CU_ASSERT_EQUAL(fake_regions(), regions);
	end(&a);
}

/* The other rank's part is to be there. */
static void run_of_two(struct rank *rank)
{
	rank_function *const *function = rank->arg;
	struct putter a;

	if (rank->rank == 0) {
		(*function)(rank);
		return;
	}
	begin(&a, rank);
	end(&a);
}

static void run(rank_function *function)
{
	struct rank ranks[2];

	ranks_limit(60, "registrations that are kept");
	ranks_run(2, run_of_two, &function, ranks);
	ranks_check(ranks, 2);
	fake_reset();
}

static void mr_cache__is_found_again(void)
{
	fake_reset();
	if (can_keep())
		run(found_again);
}

static void mr_cache__serves_the_parts_that_are_named(void)
{
	fake_reset();
	if (can_keep())
		run(named_parts);
}

static void mr_cache__behind_flushes(void)
{
	fake_reset();
	if (can_keep())
		run(flushed_in_turns);
}

static void mr_cache__behind_one_of_two_unlocks(void)
{
	fake_reset();
	if (can_keep())
		run(unlocked_beside_another);
	setenv("ORIEL_KEEP_REGISTERED", "0", 1);
	run(unlocked_beside_another);
	unsetenv("ORIEL_KEEP_REGISTERED");
}

static void mr_cache__gives_way(void)
{
	fake_reset();
	if (can_keep())
		run(short_of_regions);
}

static void mr_cache__has_bounds(void)
{
	fake_reset();
	if (can_keep())
		run(bounds);
}

static void mr_cache__backs_off(void)
{
	fake_reset();
	if (can_keep())
		run(back_off);
}

static void mr_cache__not_wanted(void)
{
	fake_reset();
	setenv("ORIEL_KEEP_REGISTERED", "0", 1);
	run(kept_by_nobody);
	unsetenv("ORIEL_KEEP_REGISTERED");
	fake_config.hides_from_forks = true;
	run(kept_by_nobody);
}

void suite_mr_cache(void)
{
	CU_pSuite suite = CU_add_suite("mr_cache", NULL, NULL);

	CU_ADD_TEST(suite, mr_cache__is_found_again);
	CU_ADD_TEST(suite, mr_cache__serves_the_parts_that_are_named);
	CU_ADD_TEST(suite, mr_cache__behind_flushes);
	CU_ADD_TEST(suite, mr_cache__behind_one_of_two_unlocks);
	CU_ADD_TEST(suite, mr_cache__gives_way);
	CU_ADD_TEST(suite, mr_cache__has_bounds);
	CU_ADD_TEST(suite, mr_cache__backs_off);
	CU_ADD_TEST(suite, mr_cache__not_wanted);
}
