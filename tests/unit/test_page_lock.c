// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_page_lock.c - sync/page_lock.h: locks for the numbers of a page, among
 * processes that share memory, some of which are killed; and base/process.h
 */
#include <CUnit/CUnit.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/util.h"
#include "sync/page_lock.h"
#include "op/element.h"
#include "suites.h"

#define CHILDREN 3
#define TURNS 20000
#define NUMBERS 64

struct shared {
	struct page_lock page_lock;
	double numbers[NUMBERS];
	uint32_t turns[CHILDREN]; /* of each child; by itself */
};

static struct shared *shared_new(void)
{
	void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_PTR_NOT_EQUAL_FATAL(memory, MAP_FAILED);
	return memory;
}

static void test_pages(void)
{
	static struct page_lock_table all;
	bool used[PAGE_LOCKS] = { false };

	for (uint64_t page = 0; page < 5000; page++) {
		struct page_lock *own = page_lock_of(&all, page * LOCKED_PAGE_BYTES);

		used[own - all.list] = true;
		CU_ASSERT_PTR_EQUAL(page_lock_of(&all, page * LOCKED_PAGE_BYTES + LOCKED_PAGE_BYTES - 1), own);
		for (uint64_t next = 1; next <= 3; next++) /* an active message may lie in three */
			CU_ASSERT_PTR_NOT_EQUAL(page_lock_of(&all, (page + next) * LOCKED_PAGE_BYTES), own);
	}
	for (int i = 0; i < PAGE_LOCKS; i++)
		CU_ASSERT_TRUE(used[i]);
	for (uint64_t here = 100; here < 100 + 100 * LOCKED_PAGE_BYTES; here += LOCKED_PAGE_BYTES) {
		uint64_t there = 7 * LOCKED_PAGE_BYTES + 100;

		CU_ASSERT_PTR_EQUAL(page_lock_of(&all, here + page_shift(here, there) * LOCKED_PAGE_BYTES),
		                    page_lock_of(&all, there));
	}
	CU_ASSERT_EQUAL(page_rest(0), LOCKED_PAGE_BYTES);
	CU_ASSERT_EQUAL(page_rest(3 * LOCKED_PAGE_BYTES - 8), 8);
}

static void test_one_holder(void)
{
	struct page_lock page_lock = { 0 };
	uint64_t me = (uint64_t)getpid();

	CU_ASSERT_TRUE(page_trylock(&page_lock, me));
	CU_ASSERT_FALSE(page_trylock(&page_lock, me)); /* another thread of this process */
	CU_ASSERT_FALSE(page_trylock(&page_lock, me + 1));
	CU_ASSERT_EQUAL(page_lock.holder, me);
	page_unlock(&page_lock);
	CU_ASSERT_TRUE(page_trylock(&page_lock, me + 1));
}

/* The lock, whatever it takes. */
static void take(struct page_lock *page_lock, uint64_t process)
{
	while (!page_trylock(page_lock, process))
		;
}

/* One to each number. */
static void add(struct shared *shared, uint64_t process)
{
	double ones[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		ones[i] = 1.0;
	take(&shared->page_lock, process);
	element_apply(ORIEL_DOUBLE, ORIEL_SUM, shared->numbers, ones, NULL, NUMBERS);
	page_unlock(&shared->page_lock);
}

static pid_t add_in_child(struct shared *shared, int child, uint32_t turns)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (uint32_t i = 0; i < turns; i++) {
		add(shared, (uint64_t)getpid());
		state_store(&shared->turns[child], i + 1);
	}
	_exit(0);
}

static bool all_are(const struct shared *shared, double value)
{
	for (int i = 0; i < NUMBERS; i++) {
		if (shared->numbers[i] != value)
			return false;
	}
	return true;
}

static void test_processes(void)
{
	struct shared *shared = shared_new();
	pid_t children[CHILDREN];

	for (int i = 0; i < CHILDREN; i++)
		children[i] = add_in_child(shared, i, TURNS);
	for (int i = 0; i < TURNS; i++)
		add(shared, (uint64_t)getpid());
	for (int i = 0; i < CHILDREN; i++)
		waitpid(children[i], NULL, 0);
	CU_ASSERT_TRUE(all_are(shared, (CHILDREN + 1.0) * TURNS));
	CU_ASSERT_EQUAL(shared->page_lock.holder, 0);
	munmap(shared, sizeof(*shared));
}

/* One that holds the lock, and says so; it is killed. */
static pid_t hold_in_child(struct shared *shared)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	take(&shared->page_lock, (uint64_t)getpid());
	state_store(&shared->turns[0], 1);
	for (;;)
		pause();
}

static void await_turns(const uint32_t *turns, uint32_t count)
{
	while (state_load(turns) < count)
		sched_yield();
}

/* Ended, and its parent has not waited for it; stopped is not ended. */
static void test_holder_dies(void)
{
	struct shared *shared = shared_new();
	pid_t child = hold_in_child(shared);
	uint64_t me = (uint64_t)getpid();
	siginfo_t info;

	await_turns(&shared->turns[0], 1);
	CU_ASSERT_FALSE(process_ended(child, 0));
	CU_ASSERT_FALSE(page_trylock(&shared->page_lock, me));
	kill(child, SIGSTOP);
	waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT);
	CU_ASSERT_FALSE(process_ended(child, 0));
	CU_ASSERT_FALSE(page_trylock(&shared->page_lock, me));
	CU_ASSERT_EQUAL(shared->page_lock.holder, (uint64_t)child);
	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	CU_ASSERT_TRUE(process_ended(child, 0));
	CU_ASSERT_TRUE(page_trylock(&shared->page_lock, me));
	CU_ASSERT_EQUAL(shared->page_lock.holder, me);
	waitpid(child, NULL, 0);
	CU_ASSERT_TRUE(process_ended(child, 0));
	munmap(shared, sizeof(*shared));
}

/* Another process has the number of one that has died, as this one here. */
static void test_number_given_anew(void)
{
	uint64_t me = (process_clock_ns() / NS_PER_SECOND + 1) << 32 | (uint32_t)getpid();
	struct page_lock page_lock = { (uint64_t)1 << 32 | (uint32_t)getpid() };

	CU_ASSERT_TRUE(page_trylock(&page_lock, me));
	CU_ASSERT_FALSE(page_trylock(&page_lock, me));
}

/* At any moment: each number has what the dead one had finished, and perhaps once more. */
static void test_adder_dies(void)
{
	for (int turn = 0; turn < 50; turn++) {
		struct shared *shared = shared_new();
		pid_t child = add_in_child(shared, 0, UINT32_MAX);
		uint32_t told;
		bool right = true;

		await_turns(&shared->turns[0], (uint32_t)turn * 10 + 1);
		kill(child, SIGKILL);
		for (int i = 0; i < 100; i++)
			add(shared, (uint64_t)getpid());
		waitpid(child, NULL, 0);
		add(shared, (uint64_t)getpid());
		told = state_load(&shared->turns[0]);
		for (int i = 0; i < NUMBERS; i++)
			right = right && shared->numbers[i] >= told + 101.0 && shared->numbers[i] <= told + 102.0;
		CU_ASSERT_TRUE(right);
		munmap(shared, sizeof(*shared));
	}
}

void suite_page_lock(void)
{
	CU_pSuite suite = CU_add_suite("page_lock", NULL, NULL);

	CU_add_test(suite, "pages", test_pages);
	CU_add_test(suite, "one_holder", test_one_holder);
	CU_add_test(suite, "processes", test_processes);
	CU_add_test(suite, "holder_dies", test_holder_dies);
	CU_add_test(suite, "number_given_anew", test_number_given_anew);
	CU_add_test(suite, "adder_dies", test_adder_dies);
}
