// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_random_threads.c FIRST COUNT free|racy - random programs whose ranks have threads
 *
 * Each program has phases. In a phase each slot of each window is used by one thread of one rank, by
 * loads and stores if it is the owner's, else by operations. Buffers are used in the same way, by
 * threads of their rank. Between phases all threads of all ranks meet: those of a rank by something
 * that is drawn, and the ranks by a barrier that one thread calls.
 *
 * In the racy form the threads of rank 0 meet once by relaxed atomics: a thread has got into a
 * buffer before, and another one loads from it then. Fences are left out: what they order is not known.
 */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 3
#define RANKS_MOST 8
#define SLOTS 12 /* of a window */
#define SLOT_BYTES 24
#define BUFFERS 9
#define PHASES 8

enum meeting {
	BY_BARRIER,
	BY_LOOP,
	BY_MUTEX,
	BY_ATOMIC,
	BY_FENCE,
	BY_SEMAPHORE,
	BY_CRITICAL,
	BY_PTHREADS,
	BY_COPY,
	MEETINGS
};

static MPI_Win win;
static uint8_t *base;
static uint8_t buffers[BUFFERS][SLOT_BYTES];
static int rank, size;
static bool racy;
static volatile uint8_t sink;

/* ---- what is drawn, alike on all ranks and threads ---- */

static uint32_t draw(uint64_t seed, uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t bits = (seed * 1000003 + a) * 0x9e3779b97f4a7c15ULL + b * 7919ULL + c * 104729ULL;

	bits = (bits ^ bits >> 31) * 0xbf58476d1ce4e5b9ULL;
	return (uint32_t)(bits >> 29);
}

/* ---- meetings of the threads of a rank ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int arrived, round_of_mutex;
static atomic_int here, generation;
static sem_t come, go;
static int in_critical, round_of_critical;
static pthread_barrier_t barrier;

static void meet_by_mutex(void)
{
	int round;

	pthread_mutex_lock(&mutex);
	round = round_of_mutex;
	if (++arrived == THREADS) {
		arrived = 0;
		round_of_mutex++;
		pthread_cond_broadcast(&cond);
	}
	while (round == round_of_mutex)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void meet_by_atomic(memory_order arrive, memory_order leave)
{
	int now = atomic_load_explicit(&generation, memory_order_relaxed);

	if (atomic_fetch_add_explicit(&here, 1, arrive) == THREADS - 1) {
		atomic_store_explicit(&here, 0, memory_order_relaxed);
		atomic_store_explicit(&generation, now + 1, leave == memory_order_relaxed ? leave : memory_order_release);
		return;
	}
	while (atomic_load_explicit(&generation, leave) == now)
		usleep(10);
}

static void meet_by_fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	meet_by_atomic(memory_order_relaxed, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

/* Thread 0 waits for the others, and lets them go. */
static void meet_by_semaphore(int thread)
{
	for (int i = 1; thread == 0 && i < THREADS; i++)
		sem_wait(&come);
	for (int i = 1; thread == 0 && i < THREADS; i++)
		sem_post(&go);
	if (thread != 0) {
		sem_post(&come);
		sem_wait(&go);
	}
#pragma omp barrier
}

static void meet_by_critical(void)
{
	int round, now;

#pragma omp critical(meet)
	{
		round = round_of_critical;
		if (++in_critical == THREADS) {
			in_critical = 0;
			round_of_critical++;
		}
	}
	do {
#pragma omp critical(meet)
		now = round_of_critical;
		usleep(10);
	} while (now == round);
}

static void meet(uint32_t how, int thread)
{
	int copied = thread;

	switch (racy && how % MEETINGS == BY_FENCE ? BY_BARRIER : how % MEETINGS) {
	case BY_BARRIER: {
#pragma omp barrier
		break;
	}
	case BY_LOOP: {
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < 2 * THREADS; i++)
			sink = (uint8_t)i;
		break;
	}
	case BY_MUTEX:
		meet_by_mutex();
		break;
	case BY_ATOMIC:
		meet_by_atomic(memory_order_acq_rel, memory_order_acquire);
		break;
	case BY_FENCE:
		meet_by_fence();
		break;
	case BY_SEMAPHORE:
		meet_by_semaphore(thread);
		break;
	case BY_CRITICAL:
		meet_by_critical();
		break;
	case BY_PTHREADS:
		pthread_barrier_wait(&barrier);
		break;
	default: {
#pragma omp barrier
#pragma omp single copyprivate(copied)
		copied = thread;
		sink = (uint8_t)copied;
		break;
	}
	}
}

/* ---- a phase ---- */

static void use_own(uint32_t what, uint8_t memory[SLOT_BYTES])
{
	if (what % 3 == 0)
		sink = memory[what % SLOT_BYTES];
	else if (what % 3 == 1)
		memory[what % SLOT_BYTES]++;
	else
		memset(memory, (int)what, what % SLOT_BYTES + 1);
}

/* The thread's buffers are those of this phase. */
static int buffer_of(uint64_t seed, int phase, int thread)
{
	return thread + THREADS * (int)(draw(seed, 1, (uint32_t)phase, 0) % (BUFFERS / THREADS));
}

static void operate(uint32_t what, int target, int slot, uint8_t buffer[SLOT_BYTES])
{
	MPI_Aint disp = (MPI_Aint)slot * SLOT_BYTES;

	if (what % 3 == 0)
		MPI_Put(buffer, SLOT_BYTES, MPI_BYTE, target, disp, SLOT_BYTES, MPI_BYTE, win);
	else if (what % 3 == 1)
		MPI_Get(buffer, SLOT_BYTES, MPI_BYTE, target, disp, SLOT_BYTES, MPI_BYTE, win);
	else
		MPI_Accumulate(buffer, 3, MPI_UINT64_T, target, disp, 3, MPI_UINT64_T, MPI_REPLACE, win);
	if (what % 2)
		MPI_Win_flush(target, win);
	else
		MPI_Win_flush_all(win);
	if (what % 5 == 0)
		sink = buffer[what % SLOT_BYTES];
}

static void work(uint64_t seed, int phase, int thread)
{
	int rotated = (int)(draw(seed, 2, (uint32_t)phase, 1) % THREADS);

	for (int target = 0; target < size; target++) {
		for (int slot = 0; slot < SLOTS; slot++) {
			uint32_t user = draw(seed, 3, (uint32_t)(phase * RANKS_MOST + target), (uint32_t)slot);
			uint32_t what = draw(seed, 4, (uint32_t)(phase * RANKS_MOST + target), (uint32_t)slot);

			if ((int)(user % (uint32_t)size) != rank || (int)(user / 64 % THREADS) != thread)
				continue;
			if (target == rank)
				use_own(what, base + slot * SLOT_BYTES);
			else
				operate(what, target, slot, buffers[(buffer_of(seed, phase, thread) + rotated) % BUFFERS]);
		}
	}
}

/* Buffers of two phases may be those of two threads: all have met between them. */
static void race(uint64_t seed, int thread)
{
	int getter = (int)(draw(seed, 5, 0, 0) % THREADS);
	static uint8_t there[SLOT_BYTES];

	if (thread == getter) {
		MPI_Get(there, 8, MPI_BYTE, size - 1, SLOTS * SLOT_BYTES, 8, MPI_BYTE, win);
		MPI_Win_flush(size - 1, win);
	}
	meet_by_atomic(memory_order_relaxed, memory_order_relaxed);
	if (thread == (getter + 1) % THREADS)
		sink = there[2];
}

static void run_phases(uint64_t seed, int first, int end)
{
#pragma omp parallel num_threads(THREADS)
	{
		int thread = omp_get_thread_num();

		for (int phase = first; phase < end; phase++) {
			work(seed, phase, thread);
			if (racy && rank == 0 && phase == (int)(draw(seed, 6, 0, 0) % PHASES))
				race(seed, thread);
			meet(draw(seed, 7, (uint32_t)phase, (uint32_t)rank), thread);
			if (thread == (int)(draw(seed, 8, (uint32_t)phase, (uint32_t)rank) % THREADS))
				MPI_Barrier(MPI_COMM_WORLD);
			meet(draw(seed, 9, (uint32_t)phase, (uint32_t)rank), thread);
		}
	}
}

static void run(uint64_t seed)
{
	int middle = (int)(draw(seed, 10, 0, 0) % PHASES);
	char name[32];

	MPI_Win_allocate((SLOTS + 1) * SLOT_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	memset(base, 0, (SLOTS + 1) * SLOT_BYTES);
	snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
	MPI_Win_set_name(win, name);
	MPI_Win_lock_all(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	run_phases(seed, 0, middle);
	run_phases(seed, middle, PHASES);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
	int provided;

	if (argc != 4)
		return 2;
	racy = strcmp(argv[3], "racy") == 0;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size > RANKS_MOST || provided != MPI_THREAD_MULTIPLE)
		return 2;
	sem_init(&come, 0, 0);
	sem_init(&go, 0, 0);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (uint64_t seed = strtoull(argv[1], NULL, 10), i = strtoull(argv[2], NULL, 10); i > 0; seed++, i--)
		run(seed);
	MPI_Finalize();
	return 0;
}
