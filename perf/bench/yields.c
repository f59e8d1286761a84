// SPDX-License-Identifier: BSD-2-Clause
/* yields.c - see yields.h. */
#include "bench/yields.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static long count;

int sched_yield(void)
{
	__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	return (int)syscall(SYS_sched_yield);
}

long yields_so_far(void)
{
	return __atomic_load_n(&count, __ATOMIC_RELAXED);
}
