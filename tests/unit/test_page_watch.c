// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_page_watch.c - page_watch.c with the kernel as it is: a caller that asks sees every way to
 * change memory, and nothing else, and no thread waits for ever.
 */
#include "pages/page_watch.h"

#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pages/share_in_place.h"
#include "pages/page_exchange.h"
#include "suites.h"

enum { PAGES = 8, PAGE = 4096, BYTES = PAGES * PAGE, ROUNDS = 3000, LIMIT_S = 60 };

static uint8_t *map_at(void *where, int flags)
{
	uint8_t *memory = mmap(where, BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static uint8_t *private_pages(void)
{
	uint8_t *memory = map_at(NULL, MAP_PRIVATE | MAP_ANONYMOUS);

	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	memset(memory, 1, BYTES);
	return memory;
}

/* Between two that stay unmapped: no neighbour becomes one mapping with it. */
static uint8_t *lone_pages(void)
{
	uint8_t *room = mmap(NULL, 3 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_NOT_EQUAL_FATAL(room, MAP_FAILED);
	munmap(room, 3 * BYTES);
	return map_at(room + BYTES, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
}

/* The thread that reads may be without a processor for longer than page_watch_settled asks. */
static bool settled_in_time(void)
{
	for (int ms = 0; ms < LIMIT_S * 1000; ms++) {
		if (page_watch_settled())
			return true;
		usleep(1000);
	}
	return false;
}

static int watch(const void *memory, size_t bytes)
{
	struct page_range pages = pages_of(memory, bytes);

	settled_in_time();
	return page_watch_begin(&pages);
}

static bool is_same(int range)
{
	return page_watch_settled() && page_watch_is_same(range);
}

/* Each leaves memory at the place, or not, and gives what is there to be unmapped. */
static uint8_t *unmap(uint8_t *memory)
{
	munmap(memory, BYTES);
	return NULL;
}

static uint8_t *unmap_a_page(uint8_t *memory)
{
	munmap(memory + 3 * PAGE, PAGE);
	return memory;
}

static uint8_t *map_over(uint8_t *memory)
{
	return map_at(memory, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
}

static uint8_t *discard(uint8_t *memory)
{
	madvise(memory + PAGE, PAGE, MADV_DONTNEED);
	return memory;
}

static uint8_t *discard_later(uint8_t *memory)
{
	madvise(memory, BYTES, MADV_FREE);
	return memory;
}

static uint8_t *move(uint8_t *memory)
{
	return mremap(memory, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, private_pages());
}

static uint8_t *move_pages_only(uint8_t *memory)
{
	void *moved = mremap(memory, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);

	munmap(moved, BYTES);
	return memory;
}

static uint8_t *make_shorter(uint8_t *memory)
{
	return mremap(memory, BYTES, PAGE, 0);
}

static uint8_t *move_over(uint8_t *memory)
{
	return mremap(private_pages(), BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, memory);
}

static void watch__sees_every_change(void)
{
	static uint8_t *(*const changes[])(uint8_t * memory) = { unmap,           unmap_a_page,  map_over,
		                                                     discard,         discard_later, move,
		                                                     move_pages_only, make_shorter,  move_over };

	if (page_watch_open())
		return; /* not under valgrind, nor where it is forbidden */
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		uint8_t *memory = private_pages();
		bool settled = settled_in_time(); /* what the last one unmapped may be here */
		uint64_t hits = page_watch_hits();
		int range = watch(memory, BYTES);

		CU_ASSERT_NOT_EQUAL_FATAL(range, PAGE_WATCH_NONE);
		CU_ASSERT(settled);
		CU_ASSERT(is_same(range));
		CU_ASSERT_EQUAL(page_watch_hits(), hits);
		memory = changes[i](memory);
		CU_ASSERT_FALSE(is_same(range));
		CU_ASSERT(settled_in_time());
		CU_ASSERT_EQUAL(page_watch_hits(), hits + 1);
		page_watch_end(range);
		if (memory)
			munmap(memory, BYTES);
	}
	page_watch_close();
}

/* The end of the heap, which belongs to malloc: what is put behind it is the test's. */
static void watch__sees_brk(void)
{
	uint8_t *end = sbrk(0);
	int range;

	if (page_watch_open())
		return;
	end += (PAGE - (uintptr_t)end % PAGE) % PAGE;
	CU_ASSERT_EQUAL_FATAL(brk(end + BYTES), 0);
	range = watch(end, BYTES);
	CU_ASSERT_NOT_EQUAL_FATAL(range, PAGE_WATCH_NONE);
	CU_ASSERT(is_same(range));
	CU_ASSERT_EQUAL(brk(end), 0);
	CU_ASSERT_FALSE(is_same(range));
	page_watch_end(range);
	page_watch_close();
}

/*
 * The range is unaffected by changes of the rest of its mapping, and by calls that leave the memory
 * as it is.
 */
static void watch__sees_nothing_else(void)
{
	uint8_t *memory = private_pages();
	int range;

	if (page_watch_open())
		goto out;
	range = watch(memory + 3 * PAGE + 100, PAGE); /* two pages */
	CU_ASSERT_NOT_EQUAL_FATAL(range, PAGE_WATCH_NONE);
	madvise(memory, 3 * PAGE, MADV_DONTNEED);
	munmap(memory + 5 * PAGE, PAGE);
	mprotect(memory + 3 * PAGE, PAGE, PROT_NONE);
	mprotect(memory + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE);
	memset(memory + 3 * PAGE, 2, 2 * PAGE);
	CU_ASSERT(is_same(range));
	madvise(memory + 4 * PAGE, PAGE, MADV_DONTNEED);
	CU_ASSERT_FALSE(is_same(range));
	page_watch_end(range);
	page_watch_close();
out:
	munmap(memory, BYTES);
}

static bool is_mapped(void *page)
{
	unsigned char in_core;

	return mincore(page, PAGE, &in_core) == 0;
}

/* Nor what has a page behind it that is none; another thread may get that place meanwhile. */
static void watch_beyond_the_end(void)
{
	uint8_t *memory = lone_pages();
	int range = watch(memory, BYTES + 1);

	CU_ASSERT(range == PAGE_WATCH_NONE || is_mapped(memory + BYTES));
	if (range != PAGE_WATCH_NONE)
		page_watch_end(range);
	munmap(memory, BYTES);
}

/* Memory that is shared lies right behind. */
static void watch__own_memory_only(void)
{
	uint8_t *room = mmap(NULL, 3 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *memory, *shared, *file;
	uint64_t offered;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), others = -1;

	CU_ASSERT_NOT_EQUAL_FATAL(room, MAP_FAILED);
	memory = map_at(room + BYTES, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
	shared = map_at(room + 2 * BYTES, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED);
	file = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (page_watch_open())
		goto out;
	CU_ASSERT_EQUAL(watch(shared, BYTES), PAGE_WATCH_NONE);
	CU_ASSERT_EQUAL(watch(file, BYTES), PAGE_WATCH_NONE);
	CU_ASSERT_EQUAL(watch(memory, BYTES + 1), PAGE_WATCH_NONE); /* the last page is shared */
	watch_beyond_the_end();
	if (userfault_open(0, &offered, &others) == 0) {
		struct uffdio_register request = { .range = { (uintptr_t)memory, BYTES }, .mode = UFFDIO_REGISTER_MODE_WP };

		CU_ASSERT_EQUAL(ioctl(others, UFFDIO_REGISTER, &request), 0);
		CU_ASSERT_EQUAL(watch(memory, PAGE), PAGE_WATCH_NONE); /* another owner's */
		close(others);
	}
	page_watch_close();
out:
	munmap(room, 3 * BYTES);
	munmap(file, BYTES);
	close(fd);
}

/* Some of a mapping is watched, and mremap takes the whole, as it would without. */
static void watch__leaves_mappings_whole(void)
{
	uint8_t *memory = lone_pages();
	int range;

	if (page_watch_open())
		goto out;
	range = watch(memory + 2 * PAGE, PAGE);
	CU_ASSERT_NOT_EQUAL_FATAL(range, PAGE_WATCH_NONE);
	memory = mremap(memory, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
	CU_ASSERT_NOT_EQUAL_FATAL(memory, MAP_FAILED);
	page_watch_end(range);
	page_watch_close();
out:
	munmap(memory, 2 * BYTES);
}

/*
 * Memory that was moved and enlarged stays whole, and may be moved again; closing ends the watch of
 * all of it.
 */
static void watch__leaves_what_is_moved_whole(void)
{
	uint8_t *memory = lone_pages(), *room = mmap(NULL, 8 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int range;

	CU_ASSERT_NOT_EQUAL_FATAL(room, MAP_FAILED);
	if (page_watch_open())
		goto out;
	range = watch(memory, BYTES);
	CU_ASSERT_NOT_EQUAL_FATAL(range, PAGE_WATCH_NONE);
	memory = mremap(memory, BYTES, 2 * BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	CU_ASSERT_EQUAL_FATAL(memory, room);
	CU_ASSERT_TRUE(settled_in_time());
	CU_ASSERT_FALSE(page_watch_is_same(range));
	memory = mremap(memory, 2 * BYTES, 3 * BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, room + 4 * BYTES);
	CU_ASSERT_EQUAL_FATAL(memory, room + 4 * BYTES);
	page_watch_end(range);
	page_watch_close();
out:
	munmap(room, 8 * BYTES);
}

static void watch__as_many_as_there_is_room_for(void)
{
	static int range[PAGE_WATCH_MAX];
	uint8_t *memory = private_pages();

	if (page_watch_open())
		goto out;
	for (int i = 0; i < PAGE_WATCH_MAX; i++) {
		range[i] = watch(memory + i % PAGES * PAGE, PAGE);
		CU_ASSERT_NOT_EQUAL(range[i], PAGE_WATCH_NONE);
	}
	CU_ASSERT_EQUAL(watch(memory, PAGE), PAGE_WATCH_NONE);
	page_watch_end(range[7]);
	CU_ASSERT_EQUAL(watch(memory, PAGE), range[7]);
	madvise(memory, BYTES, MADV_DONTNEED);
	for (int i = 0; i < PAGE_WATCH_MAX; i++) {
		CU_ASSERT_FALSE(is_same(range[i]));
		page_watch_end(range[i]);
	}
	page_watch_close();
out:
	munmap(memory, BYTES);
}

/*
 * Another thread unmaps; this one gets the place at once, before the other's call has returned, or
 * any thread has the event.
 */
struct taken {
	uint8_t *memory;
	uint32_t round, left; /* atomics: the round that may be unmapped, and the last that has been */
};

static void *unmap_in_turn(void *arg)
{
	struct taken *t = arg;

	for (uint32_t round = 1; round <= ROUNDS; round++) {
		while (__atomic_load_n(&t->round, __ATOMIC_ACQUIRE) != round)
			sched_yield();
		munmap(t->memory, BYTES);
		__atomic_store_n(&t->left, round, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Or NULL: another thread, of another test's, had it first. */
static uint8_t *take_the_place(struct taken *t, uint32_t round)
{
	uint8_t *memory = NULL;

	for (bool left = false; !memory && !left;) {
		left = __atomic_load_n(&t->left, __ATOMIC_ACQUIRE) == round;
		memory = map_at(t->memory, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE);
	}
	return memory;
}

static uint32_t times_fooled(struct taken *t)
{
	uint32_t fooled = 0;

	for (uint32_t round = 1; round <= ROUNDS; round++) {
		int range = watch(t->memory, BYTES);
		uint8_t *memory;

		__atomic_store_n(&t->round, round, __ATOMIC_RELEASE);
		memory = take_the_place(t, round);
		fooled += memory && is_same(range);
		while (__atomic_load_n(&t->left, __ATOMIC_ACQUIRE) != round)
			sched_yield();
		if (range != PAGE_WATCH_NONE)
			page_watch_end(range);
		if (!memory)
			t->memory = private_pages();
	}
	return fooled;
}

static void watch__knows_what_nobody_has_been_told(void)
{
	struct taken t = { .memory = private_pages() };
	pthread_t thread;

	if (page_watch_open() == 0) {
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, unmap_in_turn, &t), 0);
		CU_ASSERT_EQUAL(times_fooled(&t), 0);
		pthread_join(thread, NULL);
		page_watch_close();
	}
	munmap(t.memory, BYTES);
}

/* A thread's stack is given back when it ends; another one, such as the watch's own, may get it. */
static void *watch_own_stack(void *arg)
{
	uint8_t large[4 * PAGE];

	memset(large, 1, sizeof(large));
	*(int *)arg = watch(large, sizeof(large));
	return NULL;
}

static void watch__ends_on_a_stack_that_was_watched(void)
{
	pthread_t thread;
	int range;

	for (int i = 0; i < 20; i++) {
		if (page_watch_open())
			return;
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, watch_own_stack, &range), 0);
		pthread_join(thread, NULL);
		if (range != PAGE_WATCH_NONE)
			page_watch_end(range);
		page_watch_close();
	}
}

/* A child by fork: it unmaps as it likes, and does not wait for a thread that it does not have. */
static void watch__not_in_a_child(void)
{
	uint8_t *memory = private_pages();
	int range, status = -1;
	pid_t child;

	if (page_watch_open())
		goto out;
	range = watch(memory, BYTES);
	child = fork();
	if (child == 0) {
		alarm(LIMIT_S);
		munmap(memory, BYTES);
		_exit(page_watch_open() ? 1 : 0); /* and it may begin anew */
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT(is_same(range));
	page_watch_end(range);
	page_watch_close();
out:
	munmap(memory, BYTES);
}

/*
 * One that was made without fork, and holds the descriptor when this process has no thread any more
 * that reads.
 */
static void watch__closed_beside_another_kind_of_child(void)
{
	uint8_t *memory = private_pages(), *moved = private_pages();
	int range;
	pid_t child;

	if (page_watch_open())
		goto out;
	range = watch(memory, BYTES);
	moved = mremap(memory, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, moved);
	memory = private_pages();
	page_watch_end(range);
	range = watch(memory, BYTES);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		alarm(LIMIT_S); /* where the test does not end it */
		for (;;)
			pause();
	}
	page_watch_end(range);
	page_watch_close();
	alarm(LIMIT_S);
	munmap(memory, BYTES);
	munmap(moved, BYTES);
	alarm(0);
	memory = moved = NULL;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
out:
	munmap(memory, BYTES);
	munmap(moved, BYTES);
}

/* Memory that was watched can be shared as any other, and what was known of it is worth nothing then. */
static void watch__gives_way_to_sharing(void)
{
	uint8_t *memory = lone_pages();
	char why[SHARE_WHY_BYTES];
	int range;

	memset(memory, 1, BYTES);
	if (page_watch_open())
		goto out;
	range = watch(memory + PAGE, PAGE);
	CU_ASSERT_NOT_EQUAL(range, PAGE_WATCH_NONE);
	CU_ASSERT_PTR_NULL(share_in_place(memory, BYTES, false, why));
	CU_ASSERT_FALSE(is_same(range));
	CU_ASSERT_EQUAL(watch(memory, PAGE), PAGE_WATCH_NONE); /* a file's now */
	share_let_go(memory, BYTES);
	page_watch_end(range);
	page_watch_close();
out:
	munmap(memory, BYTES);
}

void suite_page_watch(void)
{
	CU_pSuite suite = CU_add_suite("page_watch", NULL, NULL);

	CU_ADD_TEST(suite, watch__sees_every_change);
	CU_ADD_TEST(suite, watch__sees_brk);
	CU_ADD_TEST(suite, watch__sees_nothing_else);
	CU_ADD_TEST(suite, watch__own_memory_only);
	CU_ADD_TEST(suite, watch__leaves_mappings_whole);
	CU_ADD_TEST(suite, watch__leaves_what_is_moved_whole);
	CU_ADD_TEST(suite, watch__as_many_as_there_is_room_for);
	CU_ADD_TEST(suite, watch__knows_what_nobody_has_been_told);
	CU_ADD_TEST(suite, watch__ends_on_a_stack_that_was_watched);
	CU_ADD_TEST(suite, watch__not_in_a_child);
	CU_ADD_TEST(suite, watch__closed_beside_another_kind_of_child);
	CU_ADD_TEST(suite, watch__gives_way_to_sharing);
}
