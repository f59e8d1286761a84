// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_owned_lock.c - owned_lock.c: no two threads are inside together, whichever owns the lock and
 * however often others come.
 */
#include "base/owned_lock.c"

#include <CUnit/CUnit.h>

#include "suites.h"

#define THREADS 3
#define OWNER_TURNS 2000000
#define VISITS 100

struct shared {
	struct owned_lock lock;
	uint64_t counted; /* without atomics: what is lost shows */
	int visits;
	bool as_visitor;
};

static void count(struct shared *shared)
{
	owned_lock_take(&shared->lock);
	shared->counted++;
	owned_lock_give(&shared->lock);
}

static void *visit(void *arg)
{
	struct shared *shared = arg;

	if (shared->as_visitor)
		owned_lock_never_own();
	for (int i = 0; i < shared->visits; i++)
		count(shared);
	return NULL;
}

static void shared_init(struct shared *shared, int visits, bool as_visitor)
{
	*shared = (struct shared){ .visits = visits, .as_visitor = as_visitor };
	owned_lock_init(&shared->lock);
	count(shared); /* this thread owns it */
}

/* The owner counts as fast as it can while others come; true if nothing was lost. */
static bool nothing_is_lost(struct shared *shared)
{
	pthread_t threads[THREADS];
	uint64_t before = shared->counted;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, visit, shared);
	for (int i = 0; i < OWNER_TURNS; i++)
		count(shared);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return shared->counted - before == OWNER_TURNS + (uint64_t)THREADS * (uint64_t)shared->visits;
}

static void lock__keeps_owner_and_others_apart(void)
{
	struct shared shared;

	shared_init(&shared, VISITS / THREADS, false);
	CU_ASSERT(nothing_is_lost(&shared));
	CU_ASSERT(shared.lock.foreign < FOREIGN_MAX);
	CU_ASSERT(nothing_is_lost(&shared));
	owned_lock_destroy(&shared.lock);
}

static void lock__that_many_use_becomes_a_mutex(void)
{
	struct shared shared;

	shared_init(&shared, FOREIGN_MAX * 4, false);
	CU_ASSERT(nothing_is_lost(&shared));
	CU_ASSERT_EQUAL(shared.lock.wanted, 1);
	CU_ASSERT(nothing_is_lost(&shared));
	owned_lock_destroy(&shared.lock);
}

static void lock__does_not_count_visitors(void)
{
	struct shared shared;

	shared_init(&shared, FOREIGN_MAX * 4, true);
	CU_ASSERT(nothing_is_lost(&shared));
	CU_ASSERT_EQUAL(shared.lock.foreign, 0);
	CU_ASSERT_EQUAL(shared.lock.wanted, !barrier_works);
	owned_lock_destroy(&shared.lock);
}

static void *look_who_owns(void *arg)
{
	struct shared *shared = arg;

	shared_init(shared, 0, false);
	owned_lock_never_own();
	owned_lock_destroy(&shared->lock);
	owned_lock_init(&shared->lock);
	owned_lock_take(&shared->lock);
	CU_ASSERT_EQUAL(shared->lock.wanted, !barrier_works); /* if no thread owns it, none is to be kept out */
	owned_lock_give(&shared->lock);
	count(shared);
	return NULL;
}

static void lock__is_not_owned_by_a_visitor(void)
{
	struct shared shared;
	pthread_t thread;

	pthread_create(&thread, NULL, look_who_owns, &shared);
	pthread_join(thread, NULL);
	CU_ASSERT_FALSE(shared.lock.owned);
	count(&shared);
	CU_ASSERT_EQUAL(shared.lock.owned, barrier_works);
	owned_lock_destroy(&shared.lock);
}

static void *try_once(void *arg)
{
	struct shared *shared = arg;

	shared->as_visitor = owned_lock_try(&shared->lock);
	if (shared->as_visitor)
		owned_lock_give(&shared->lock);
	return NULL;
}

/* Returns whether another thread could take the lock. */
static bool another_can(struct shared *shared)
{
	pthread_t thread;

	pthread_create(&thread, NULL, try_once, shared);
	pthread_join(thread, NULL);
	return shared->as_visitor;
}

static void lock__is_tried_without_waiting(void)
{
	struct shared shared;

	shared_init(&shared, 0, false);
	owned_lock_take(&shared.lock); /* as its owner */
	CU_ASSERT_FALSE(owned_lock_try(&shared.lock));
	CU_ASSERT_FALSE(another_can(&shared));
	CU_ASSERT_EQUAL(shared.lock.wanted, !barrier_works);
	owned_lock_give(&shared.lock);
	owned_lock_take_mutex(&shared.lock);
	CU_ASSERT_FALSE(owned_lock_try(&shared.lock));
	CU_ASSERT_FALSE(another_can(&shared));
	owned_lock_give(&shared.lock);
	CU_ASSERT_TRUE(another_can(&shared));
	CU_ASSERT_TRUE(owned_lock_try(&shared.lock));
	CU_ASSERT_FALSE(another_can(&shared));
	owned_lock_give(&shared.lock);
	CU_ASSERT_TRUE(nothing_is_lost(&shared));
	owned_lock_destroy(&shared.lock);
}

void suite_lock(void)
{
	CU_pSuite suite = CU_add_suite("lock", NULL, NULL);

	CU_ADD_TEST(suite, lock__keeps_owner_and_others_apart);
	CU_ADD_TEST(suite, lock__that_many_use_becomes_a_mutex);
	CU_ADD_TEST(suite, lock__does_not_count_visitors);
	CU_ADD_TEST(suite, lock__is_not_owned_by_a_visitor);
	CU_ADD_TEST(suite, lock__is_tried_without_waiting);
}
