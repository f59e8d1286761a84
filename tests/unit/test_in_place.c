// SPDX-License-Identifier: BSD-2-Clause
/* test_in_place.c - mem/mem.c: threads that register and move the same memory at once. */
#include "mem/mem.h"

#include <CUnit/CUnit.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/order.h"
#include "job/job.h"
#include "pages/share_in_place.h"
#include "suites.h"
#include "thread_state.h"

#define BYTES ((size_t)8 * 4096)

/* The work of another thread while this one registers the memory. */
static struct mover {
	struct oriel_job job;
	pthread_t thread;
	void *memory;
	uint64_t tid; /* once it runs */
	uint64_t done;
	bool moved;
} mover;

static void *move(void *arg)
{
	(void)arg;
	counter_store(&mover.tid, (uint64_t)syscall(SYS_gettid)); /* pairs with the load in has_come_to_rest */
	mover.moved = in_place_move(&mover.job, IN_PLACE_ALWAYS, mover.memory, BYTES);
	counter_store(&mover.done, 1);
	return NULL;
}

/* The mover has done it, or waits for this thread. */
static bool has_come_to_rest(void)
{
	return counter_load(&mover.done) || thread_sleeps(counter_load(&mover.tid));
}

/* The device's: others are about to move what it has not pinned yet, as far as they know. */
static struct ibv_mr *register_slowly(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	static struct ibv_mr mr;

	(void)pd, (void)access;
	mr = (struct ibv_mr){ .addr = addr, .length = length };
	pthread_create(&mover.thread, NULL, move, NULL);
	while (!has_come_to_rest())
		usleep(100);
	return &mr;
}

static int deregister(struct ibv_mr *mr)
{
	(void)mr;
	return 0;
}

static void open_job(const struct verbs_functions *functions)
{
	mover = (struct mover){ .job = { .size = 2, .needs_progress = true, .devices = { .count = 1 } } };
	mover.job.devices.list[0].functions = functions;
	mem_table_init(&mover.job.mems, &mover.job.devices);
	mover.memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_NOT_EQUAL_FATAL(mover.memory, MAP_FAILED);
	memset(mover.memory, 7, BYTES);
}

static void close_job(void)
{
	if (mover.moved)
		share_let_go(mover.memory, BYTES);
	munmap(mover.memory, BYTES);
	mem_table_close(&mover.job.mems);
}

/* A device must not go on with pages that have been moved away since they were registered. */
static void in_place_move__waits_for_who_registers_the_same_memory(void)
{
	static const struct verbs_functions functions = { .reg_mr = register_slowly, .dereg_mr = deregister };
	struct mem_region region = { .size_bytes = BYTES };

	open_job(&functions);
	region.base = (uintptr_t)mover.memory;
	CU_ASSERT_EQUAL(mem_add(&mover.job.mems, 1, &region), 0);
	pthread_join(mover.thread, NULL);
	CU_ASSERT_TRUE(!mover.moved || region.registration.holds);
	CU_ASSERT_EQUAL(is_shared_in_place(mover.memory, BYTES), mover.moved);
	mem_deregister(&mover.job.mems, &region.registration);
	close_job();
}

void suite_in_place(void)
{
	CU_pSuite suite = CU_add_suite("in_place", NULL, NULL);

	CU_ADD_TEST(suite, in_place_move__waits_for_who_registers_the_same_memory);
}
