// SPDX-License-Identifier: BSD-2-Clause
/* See order.h. */
#include "base/order.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

bool heavy_barrier_join(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool heavy_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}
