// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_copy.c - lib/soft/rma/copy.c where stores may be seen in another order than they are made
 * in: the last word of what a system call places comes by one of its own
 */
#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define CALLS_MAX 32
#define BYTES 100

/* The arguments of the system call, and the most bytes that it moves at a time. */
static struct {
	struct iovec there[CALLS_MAX]; /* and how much of it was moved */
	uint32_t calls;
	size_t most;
} kernel;

static ssize_t move(const struct iovec *here, unsigned long nhere, const struct iovec *there, bool write);

static ssize_t writes(pid_t pid, const struct iovec *here, unsigned long nhere, const struct iovec *there,
                      unsigned long nthere, unsigned long flags)
{
	CU_ASSERT_TRUE(pid == getpid() && nthere == 1 && flags == 0);
	return move(here, nhere, there, true);
}

static ssize_t reads(pid_t pid, const struct iovec *here, unsigned long nhere, const struct iovec *there,
                     unsigned long nthere, unsigned long flags)
{
	CU_ASSERT_TRUE(pid == getpid() && nthere == 1 && flags == 0);
	return move(here, nhere, there, false);
}

#define SOFT_STORES_IN_ORDER false
#define process_vm_writev writes
#define process_vm_readv reads
#include "soft/rma/copy.c"

#include "suites.h"

/* Stands for the function of key.c; this test needs no key. */
void *soft_key_local(uint32_t lkey, uint32_t pd, uint64_t addr, uint64_t length, uint32_t access)
{
	(void)lkey;
	(void)pd;
	(void)addr;
	(void)length;
	(void)access;
	return NULL;
}

static ssize_t move(const struct iovec *here, unsigned long nhere, const struct iovec *there, bool write)
{
	size_t wanted = there->iov_len < kernel.most ? there->iov_len : kernel.most, done = 0;

	for (unsigned long i = 0; i < nhere && done < wanted; i++) {
		size_t part = here[i].iov_len < wanted - done ? here[i].iov_len : wanted - done;
		uint8_t *at = (uint8_t *)there->iov_base + done;

		memcpy(write ? at : here[i].iov_base, write ? here[i].iov_base : at, part);
		done += part;
	}
	CU_ASSERT_FATAL(kernel.calls < CALLS_MAX);
	kernel.there[kernel.calls++] = (struct iovec){ there->iov_base, done };
	return (ssize_t)done;
}

static uint8_t source[BYTES], target[BYTES];

static void begin(size_t most)
{
	kernel.calls = 0;
	kernel.most = most;
	memset(target, 0, sizeof(target));
	for (int i = 0; i < BYTES; i++)
		source[i] = (uint8_t)(i + 1);
}

/* The last call of all moved the last bytes and no others. */
static bool last_call_is(const uint8_t *at, size_t bytes)
{
	const struct iovec *last = &kernel.there[kernel.calls - 1];

	return last->iov_base == at && last->iov_len == bytes;
}

static void write_some(size_t length, size_t most)
{
	const struct iovec iov[] = { { source, 3 }, { source + 3, 60 }, { source + 63, BYTES - 63 } };

	begin(most);
	CU_ASSERT_EQUAL(soft_vm_write(getpid(), (uintptr_t)target, iov, 3, length), 0);
	CU_ASSERT_EQUAL(memcmp(source, target, length), 0);
}

static void copy__places_the_last_word_of_a_write_by_a_call_of_its_own(void)
{
	write_some(BYTES, SIZE_MAX);
	CU_ASSERT_EQUAL(kernel.calls, 2);
	CU_ASSERT_TRUE(last_call_is(target + 96, 4));
	write_some(64, SIZE_MAX);
	CU_ASSERT_EQUAL(kernel.calls, 2);
	CU_ASSERT_TRUE(last_call_is(target + 56, 8));
	write_some(8, SIZE_MAX);
	CU_ASSERT_EQUAL(kernel.calls, 1);
}

static void copy__goes_on_where_the_kernel_stops(void)
{
	write_some(BYTES, 10);
	CU_ASSERT_EQUAL(kernel.calls, 11);
	CU_ASSERT_TRUE(last_call_is(target + 96, 4));
}

/* Fetched bytes are placed here. */
static void copy__places_the_last_word_of_what_is_fetched_likewise(void)
{
	const struct iovec there[] = { { source, 40 }, { source + 40, 60 } },
					   here[] = { { target, 50 }, { target + 50, 50 } };

	begin(SIZE_MAX);
	CU_ASSERT_EQUAL(soft_vm_fetch(getpid(), there[0], here, 2, 0), 0);
	CU_ASSERT_EQUAL(soft_vm_fetch(getpid(), there[1], here, 2, 40), 0);
	CU_ASSERT_EQUAL(memcmp(source, target, BYTES), 0);
	CU_ASSERT_TRUE(last_call_is(source + 96, 4));
}

static void copy__reads_by_one_call(void)
{
	const struct iovec here = { target, BYTES };

	begin(SIZE_MAX);
	CU_ASSERT_EQUAL(soft_vm_read(getpid(), (uintptr_t)source, &here, 1, BYTES), 0);
	CU_ASSERT_EQUAL(memcmp(source, target, BYTES), 0);
	CU_ASSERT_EQUAL(kernel.calls, 1);
}

void suite_copy(void)
{
	CU_pSuite suite = CU_add_suite("copy", NULL, NULL);

	CU_ADD_TEST(suite, copy__places_the_last_word_of_a_write_by_a_call_of_its_own);
	CU_ADD_TEST(suite, copy__goes_on_where_the_kernel_stops);
	CU_ADD_TEST(suite, copy__places_the_last_word_of_what_is_fetched_likewise);
	CU_ADD_TEST(suite, copy__reads_by_one_call);
}
