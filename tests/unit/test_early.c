// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_early.c - what the kernel makes a process with threads wait for, by RCU grace periods, is
 * done when the library is loaded.
 *
 * The suite is the first, and looks when it is made: nothing of the library has been called then.
 */
#include <CUnit/CUnit.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "suites.h"

#define GET_REGISTRATIONS (1 << 9) /* of membarrier, since Linux 6.3 */
#define DESCRIPTORS 4096

static struct {
	long barriers;        /* that the kernel has */
	long private_barrier; /* 0: it may be called */
	long registrations;   /* negative: the kernel does not tell */
	int descriptors;
} found;

static int table_size(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	int size = 0;

	while (status && size == 0 && fgets(line, sizeof(line), status))
		sscanf(line, "FDSize: %d", &size);
	if (status)
		fclose(status);
	return size;
}

static void early__barriers_are_registered(void)
{
	if (found.barriers > 0 && found.barriers & MEMBARRIER_CMD_PRIVATE_EXPEDITED)
		CU_ASSERT_EQUAL(found.private_barrier, 0);
	if (found.registrations >= 0)
		CU_ASSERT(found.registrations & MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

static void early__the_table_of_descriptors_has_its_size(void)
{
	struct rlimit limit = { .rlim_cur = 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	CU_ASSERT(found.descriptors >= DESCRIPTORS || (rlim_t)found.descriptors >= limit.rlim_cur);
}

void suite_early(void)
{
	CU_pSuite suite = CU_add_suite("early", NULL, NULL);

	found.barriers = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
	found.private_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	found.registrations = syscall(SYS_membarrier, GET_REGISTRATIONS, 0, 0);
	found.descriptors = table_size();
	CU_ADD_TEST(suite, early__barriers_are_registered);
	CU_ADD_TEST(suite, early__the_table_of_descriptors_has_its_size);
}
