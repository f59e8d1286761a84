// SPDX-License-Identifier: BSD-2-Clause
/* Time, random numbers and barriers. */
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "soft/base/base.h"

static bool no_membarrier; /* written once, before there are peers */

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

/*
 * Runs when the library is loaded: with threads, the registration waits for an RCU grace period,
 * tens of milliseconds or more.
 */
__attribute__((constructor)) bool soft_barrier_register(void)
{
	no_membarrier = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) != 0;
	return !no_membarrier;
}

void soft_heavy_barrier(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (!no_membarrier)
		membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

uint64_t soft_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t pool[64], left;

/* Draws from a pool, to save system calls. */
uint32_t soft_random(void)
{
	uint32_t value;

	pthread_mutex_lock(&pool_lock);
	/*
	 * Raw system call: getrandom(2) is a cancellation point. Before the kernel's pool is seeded,
	 * the clock serves.
	 */
	if (left == 0 && syscall(SYS_getrandom, pool, sizeof(pool), GRND_NONBLOCK) == (long)sizeof(pool))
		left = sizeof(pool) / sizeof(pool[0]);
	value = left ? pool[--left] : (uint32_t)(soft_now_ns() * 2654435761u);
	pthread_mutex_unlock(&pool_lock);
	return value;
}

void soft_random_forked(void)
{
	pthread_mutex_init(&pool_lock, NULL);
	left = 0;
}
