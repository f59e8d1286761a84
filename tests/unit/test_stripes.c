// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_stripes.c - job/stripes.h: words that say who changes the numbers of a page, among
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
#include "job/stripes.h"
#include "op/element.h"
#include "suites.h"

#define CHILDREN 3
#define TURNS 20000
#define NUMBERS 64

struct shared {
	struct stripe stripe;
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
	static struct stripe_table all;
	bool used[STRIPES] = { false };

	for (uint64_t page = 0; page < 5000; page++) {
		struct stripe *own = stripe_of(&all, page * STRIPE_BYTES);

		used[own - all.list] = true;
		CU_ASSERT_PTR_EQUAL(stripe_of(&all, page * STRIPE_BYTES + STRIPE_BYTES - 1), own);
		for (uint64_t next = 1; next <= 3; next++) /* a record may lie in three */
			CU_ASSERT_PTR_NOT_EQUAL(stripe_of(&all, (page + next) * STRIPE_BYTES), own);
	}
	for (int i = 0; i < STRIPES; i++)
		CU_ASSERT_TRUE(used[i]);
	for (uint64_t here = 100; here < 100 + 100 * STRIPE_BYTES; here += STRIPE_BYTES) {
		uint64_t there = 7 * STRIPE_BYTES + 100;

		CU_ASSERT_PTR_EQUAL(stripe_of(&all, here + stripe_shift(here, there) * STRIPE_BYTES), stripe_of(&all, there));
	}
	CU_ASSERT_EQUAL(stripe_rest(0), STRIPE_BYTES);
	CU_ASSERT_EQUAL(stripe_rest(3 * STRIPE_BYTES - 8), 8);
}

static void test_one_holder(void)
{
	struct stripe stripe = { 0 };
	uint64_t me = (uint64_t)getpid();

	CU_ASSERT_TRUE(stripe_take(&stripe, me));
	CU_ASSERT_FALSE(stripe_take(&stripe, me)); /* another thread of this process */
	CU_ASSERT_FALSE(stripe_take(&stripe, me + 1));
	CU_ASSERT_EQUAL(stripe.holder, me);
	stripe_give(&stripe);
	CU_ASSERT_TRUE(stripe_take(&stripe, me + 1));
}

/* The word, whatever it takes. */
static void take(struct stripe *stripe, uint64_t process)
{
	while (!stripe_take(stripe, process))
		;
}

/* One to each number. */
static void add(struct shared *shared, uint64_t process)
{
	double ones[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		ones[i] = 1.0;
	take(&shared->stripe, process);
	element_apply(ORIEL_DOUBLE, ORIEL_SUM, shared->numbers, ones, NULL, NUMBERS);
	stripe_give(&shared->stripe);
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
	CU_ASSERT_EQUAL(shared->stripe.holder, 0);
	munmap(shared, sizeof(*shared));
}

/* One that holds the word, and says so; it is killed. */
static pid_t hold_in_child(struct shared *shared)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	take(&shared->stripe, (uint64_t)getpid());
	state_store(&shared->turns[0], 1);
	for (;;)
		pause();
}

static void await_turns(const uint32_t *turns, uint32_t count)
{
	while (state_load(turns) < count)
		sched_yield();
}

/* Ended, and nobody has waited for it; stopped is not ended. */
static void test_holder_dies(void)
{
	struct shared *shared = shared_new();
	pid_t child = hold_in_child(shared);
	uint64_t me = (uint64_t)getpid();
	siginfo_t info;

	await_turns(&shared->turns[0], 1);
	CU_ASSERT_FALSE(process_ended(child, 0));
	CU_ASSERT_FALSE(stripe_take(&shared->stripe, me));
	kill(child, SIGSTOP);
	waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT);
	CU_ASSERT_FALSE(process_ended(child, 0));
	CU_ASSERT_FALSE(stripe_take(&shared->stripe, me));
	CU_ASSERT_EQUAL(shared->stripe.holder, (uint64_t)child);
	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	CU_ASSERT_TRUE(process_ended(child, 0));
	CU_ASSERT_TRUE(stripe_take(&shared->stripe, me));
	CU_ASSERT_EQUAL(shared->stripe.holder, me);
	waitpid(child, NULL, 0);
	CU_ASSERT_TRUE(process_ended(child, 0));
	munmap(shared, sizeof(*shared));
}

/* Another process has the number of one that has died, as this one here. */
static void test_number_given_anew(void)
{
	uint64_t me = (process_clock_ns() / NS_PER_SECOND + 1) << 32 | (uint32_t)getpid();
	struct stripe stripe = { (uint64_t)1 << 32 | (uint32_t)getpid() };

	CU_ASSERT_TRUE(stripe_take(&stripe, me));
	CU_ASSERT_FALSE(stripe_take(&stripe, me));
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

void suite_stripes(void)
{
	CU_pSuite suite = CU_add_suite("stripes", NULL, NULL);

	CU_add_test(suite, "pages", test_pages);
	CU_add_test(suite, "one_holder", test_one_holder);
	CU_add_test(suite, "processes", test_processes);
	CU_add_test(suite, "holder_dies", test_holder_dies);
	CU_add_test(suite, "number_given_anew", test_number_given_anew);
	CU_add_test(suite, "adder_dies", test_adder_dies);
}
