// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_mr_cache.c - mr_cache.c with the kernel as it is: no thread finds what was registered before
 * a change of the memory
 *
 * Threads take registrations of memory that they map, change and unmap, and hand each other its
 * places: the next thread maps a place as soon as the kernel lets it, while the call that unmapped
 * it may not even have returned. Registrations are numbered. One that is found must be later than
 * the memory that it is found for. UNIT_D2_ROUNDS is how many changes there are (6000).
 */
#include "verbs/mr_cache.h"

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pages/page_watch.h"
#include "suites.h"

#define PAGE ((size_t)4096)
#define BYTES (4 * PAGE)
#define ROUNDS 6000
#define THREADS 3
#define TAKES_MAX 6
#define TRIES_MAX 1000 /* to map a place that another thread is unmapping */
#define LIMIT_S 60     /* and one more for each thousand rounds */

static uint64_t registered; /* number of the last; by atomics */
static int64_t live;        /* by atomics */

static struct ibv_mr *number_it(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	(void)access;
	if (!mr)
		return NULL;
	*mr = (struct ibv_mr){ .pd = pd, .addr = addr, .length = length };
	mr->lkey = (uint32_t)__atomic_add_fetch(&registered, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&live, 1, __ATOMIC_RELAXED);
	return mr;
}

static int give_it_up(struct ibv_mr *mr)
{
	__atomic_sub_fetch(&live, 1, __ATOMIC_RELAXED);
	free(mr);
	return 0;
}

static const struct verbs_functions numbering = { .reg_mr = number_it, .dereg_mr = give_it_up };

static __thread int asked; /* the kernel, how often, by ioctl */

int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *arg;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	asked++;
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

/* Returns false, and prints why: not under valgrind, nor where it is forbidden. */
static bool watch_pages(void)
{
	int rc = page_watch_open();

	if (rc)
		printf("# mr_cache: not tested, pages are not watched here: %s\n", strerror(rc));
	return rc == 0;
}

/* The state of all threads. */
struct contest {
	struct mr_cache *cache;
	uint64_t rounds_left;  /* this and the next by atomics */
	uint8_t *place;        /* that a thread is unmapping, or NULL */
	uint64_t handed, kept; /* places that were got, registrations found again */
	uint64_t stale;        /* must stay 0 */
};

struct contender {
	struct contest *contest;
	pthread_t thread;
	uint64_t random;
	uint8_t *at;
	uint64_t born; /* registrations up to this one are of other memory */
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static void count(uint64_t *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static uint8_t *map_at(void *where, int how)
{
	void *memory = mmap(where, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Places that are used again and again are not registered any more: so most are new. */
static uint8_t *map_afresh(struct contender *c)
{
	return map_at((void *)(((uintptr_t)1 << 44) + next_random(&c->random) % (1 << 24) * 2 * BYTES), 0);
}

static uint8_t *map_handed(struct contender *c)
{
	uint8_t *place = __atomic_exchange_n(&c->contest->place, NULL, __ATOMIC_ACQ_REL), *memory = NULL;

	for (int i = 0; place && !memory && i < TRIES_MAX; i++)
		memory = map_at(place, MAP_FIXED_NOREPLACE);
	if (memory)
		count(&c->contest->handed);
	return memory;
}

static void hand_over(struct contender *c)
{
	__atomic_store_n(&c->contest->place, c->at, __ATOMIC_RELEASE);
	munmap(c->at, BYTES);
	c->at = NULL;
	if (next_random(&c->random) % 2)
		c->at = map_handed(c); /* another's, or its own that no thread was fast enough for */
	if (!c->at)
		c->at = map_afresh(c);
}

static void change(struct contender *c)
{
	uint64_t how = next_random(&c->random) % 8;

	if (how == 0)
		map_at(c->at, MAP_FIXED);
	else if (how == 1)
		madvise(c->at, BYTES, MADV_DONTNEED);
	else if (how == 2)
		mremap(map_at(NULL, 0), BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, c->at);
	else
		hand_over(c);
	c->at[0] = 1;
	c->born = __atomic_load_n(&registered, __ATOMIC_SEQ_CST); /* behind the change, and none is of this memory yet */
}

static struct cached_mr *take(struct contender *c, uint32_t *last)
{
	size_t from = next_random(&c->random) % 2 * PAGE;
	struct cached_mr *entry = mr_cache_take(c->contest->cache, c->at + from, BYTES - from, true);

	if (!entry)
		return NULL;
	if (mr_cache_lkey(entry) <= c->born)
		count(&c->contest->stale);
	if (mr_cache_lkey(entry) == *last)
		count(&c->contest->kept);
	*last = mr_cache_lkey(entry);
	return entry;
}

/* Now and then another thread still has it when the memory is changed. */
static void take_some(struct contender *c)
{
	uint64_t takes = next_random(&c->random) % (TAKES_MAX + 1);
	struct cached_mr *entry = NULL;
	uint32_t last = 0;

	for (uint64_t i = 0; i < takes; i++) {
		if (entry)
			mr_cache_give(c->contest->cache, entry);
		entry = take(c, &last);
	}
	if (next_random(&c->random) % 2) {
		change(c);
		if (entry)
			mr_cache_give(c->contest->cache, entry);
		return;
	}
	if (entry)
		mr_cache_give(c->contest->cache, entry);
	change(c);
}

static void *contend(void *arg)
{
	struct contender *c = arg;

	c->at = map_afresh(c);
	while ((int64_t)__atomic_fetch_sub(&c->contest->rounds_left, 1, __ATOMIC_RELAXED) > 0)
		take_some(c);
	munmap(c->at, BYTES);
	return NULL;
}

static uint64_t rounds(void)
{
	const char *given = getenv("UNIT_D2_ROUNDS");

	return given ? strtoull(given, NULL, 10) : ROUNDS;
}

static void run_contest(struct contest *contest)
{
	struct contender all[THREADS];

	for (uint64_t i = 0; i < THREADS; i++) {
		all[i] = (struct contender){ .contest = contest, .random = i + (uint64_t)getpid() };
		CU_ASSERT_EQUAL_FATAL(pthread_create(&all[i].thread, NULL, contend, &all[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i].thread, NULL);
}

static void mr_cache__finds_nothing_stale(void)
{
	struct contest contest = { .rounds_left = rounds() };

	if (!watch_pages())
		return;
	alarm((unsigned)(LIMIT_S + contest.rounds_left / 1000));
	contest.cache = mr_cache_open(&numbering, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(contest.cache);
	run_contest(&contest);
	mr_cache_close(contest.cache);
	page_watch_close();
	alarm(0);
	if (getenv("UNIT_D2_ROUNDS"))
		printf("# %" PRIu64 " registrations, %" PRIu64 " found again, %" PRIu64 " places handed over, %" PRIu64
		       " stale\n",
		       registered, contest.kept, contest.handed, contest.stale);
	CU_ASSERT_EQUAL(contest.stale, 0);
	CU_ASSERT_EQUAL(live, 0);
	CU_ASSERT(contest.handed > 0 && contest.kept > 0);
}

/*
 * A registration that is found again costs one question to the kernel, whether the memory is
 * unchanged.
 */
static void mr_cache__asks_the_kernel_once(void)
{
	struct mr_cache *cache;
	uint8_t *memory;
	uint64_t before;

	if (!watch_pages())
		return;
	memory = map_at(NULL, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	memory[0] = 1;
	cache = mr_cache_open(&numbering, NULL);
	mr_cache_give(cache, mr_cache_take(cache, memory, PAGE, true));
	before = registered;
	for (int i = 0; i < 100; i++) {
		struct cached_mr *entry;

		asked = 0;
		entry = mr_cache_take(cache, memory + i, 8, i % 2);
		CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
		mr_cache_give(cache, entry);
		CU_ASSERT_EQUAL(asked, 1);
	}
	CU_ASSERT_EQUAL(registered, before);
	mr_cache_close(cache);
	page_watch_close();
	munmap(memory, BYTES);
}

void suite_mr_cache(void)
{
	CU_pSuite suite = CU_add_suite("mr_cache", NULL, NULL);

	CU_ADD_TEST(suite, mr_cache__finds_nothing_stale);
	CU_ADD_TEST(suite, mr_cache__asks_the_kernel_once);
}
