// SPDX-License-Identifier: BSD-2-Clause
/*
 * mpi_threads.c CASE racy|free - threads of a rank, compiled with -fsanitize=thread
 *
 * One thread gets, and another one reads what has come. In the free form one thing orders the two,
 * and nothing else does; in the racy one it is a relaxed atomic, or time. The buffer is read behind the call of MPI_Get:
 * before, the checker does not know that it is one.
 */
#define CASES_HAVE_THREADS
#include "mpi_pair.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define VALUE 16
#define MANY 100

static uint8_t result[BYTES];
static volatile uint8_t sink;
static atomic_int relaxed, flag, met;
static bool is_done;

static void tell_relaxed(void)
{
	atomic_store_explicit(&relaxed, 1, memory_order_relaxed);
}

static void hear_relaxed(void)
{
	while (!atomic_load_explicit(&relaxed, memory_order_relaxed))
		usleep(100);
}

/* Flags of the case before are taken back. */
static void begin_case(void)
{
	atomic_store_explicit(&relaxed, 0, memory_order_relaxed);
	atomic_store_explicit(&flag, 0, memory_order_relaxed);
	atomic_store_explicit(&met, 0, memory_order_relaxed);
	is_done = false;
}

static void get(void)
{
	MPI_Get(result, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, win); /* RACE */
	MPI_Win_flush(2, win);
	if (racy)
		tell_relaxed();
}

static void load(void)
{
	if (racy)
		hear_relaxed();
	sink = result[3]; /* RACE */
}

static void *get_in_thread(void *unused)
{
	get();
	return unused;
}

static void *load_in_thread(void *unused)
{
	load();
	return unused;
}

/* ---- begin and end ---- */

static void *idle_in_thread(void *until)
{
	while (!atomic_load_explicit((atomic_int *)until, memory_order_relaxed))
		usleep(100);
	return NULL;
}

/* While a thread does not know of the get, its buffer is watched. */
static void K21_create(void)
{
	pthread_t thread, idle;
	atomic_int is_over = 0;

	if (rank != 0)
		return;
	pthread_create(&idle, NULL, idle_in_thread, &is_over);
	if (!racy)
		get();
	pthread_create(&thread, NULL, load_in_thread, NULL);
	if (racy)
		get();
	pthread_join(thread, NULL);
	atomic_store_explicit(&is_over, 1, memory_order_relaxed);
	pthread_join(idle, NULL);
}

static void K21_join(void)
{
	pthread_t thread;

	if (rank != 0)
		return;
	pthread_create(&thread, NULL, get_in_thread, NULL);
	if (racy)
		load();
	pthread_join(thread, NULL);
	if (!racy)
		load();
}

static int get_in_thread_of_c(void *unused)
{
	(void)unused;
	get();
	return 0;
}

static void K21_join_of_c(void)
{
	thrd_t thread;

	if (rank != 0)
		return;
	thrd_create(&thread, get_in_thread_of_c, NULL);
	if (racy)
		load();
	thrd_join(thread, NULL);
	if (!racy)
		load();
}

static void *do_nothing(void *unused)
{
	return unused;
}

/* Threads beyond the last strand share those of others. The last one gets, and is not joined. */
static void K21_many(void)
{
	pthread_t thread;

	for (int i = 0; rank == 0 && i < MANY; i++) {
		pthread_create(&thread, NULL, i == MANY - 1 ? get_in_thread : do_nothing, NULL);
		if (i < MANY - 1 || !racy)
			pthread_join(thread, NULL);
	}
	if (rank == 0)
		load();
	if (rank == 0 && racy)
		pthread_join(thread, NULL);
}

/* ---- one thread tells another one ---- */

static struct hand_over {
	void (*tell)(void);
	void (*hear)(void);
} hand_over;

static void *get_and_tell(void *unused)
{
	get();
	hand_over.tell();
	return unused;
}

/* The second thread has begun before the first one gets. */
static void hand(void (*tell)(void), void (*hear)(void))
{
	pthread_t thread;

	if (rank != 0)
		return;
	hand_over = (struct hand_over){ racy ? tell_relaxed : tell, racy ? hear_relaxed : hear };
	pthread_create(&thread, NULL, get_and_tell, NULL);
	hand_over.hear();
	load();
	pthread_join(thread, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static void tell_by_mutex(void)
{
	pthread_mutex_lock(&mutex);
	is_done = true;
	pthread_mutex_unlock(&mutex);
}

static void hear_by_mutex(void)
{
	bool is_heard = false;

	while (!is_heard) {
		pthread_mutex_lock(&mutex);
		is_heard = is_done;
		pthread_mutex_unlock(&mutex);
		usleep(100);
	}
}

static void K21_mutex(void)
{
	hand(tell_by_mutex, hear_by_mutex);
}

/* The mutex is of one thread alone. A wait may begin too late for the signal: it ends by time. */
static struct timespec soon(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += now.tv_nsec >= 990000000;
	now.tv_nsec = (now.tv_nsec + 10000000) % 1000000000;
	return now;
}

static void tell_by_cond(void)
{
	pthread_cond_signal(&cond);
	tell_relaxed();
}

static void hear_by_cond(void)
{
	bool is_heard = false;

	pthread_mutex_lock(&mutex);
	while (!is_heard) {
		struct timespec until = soon();

		is_heard = atomic_load_explicit(&relaxed, memory_order_relaxed);
		pthread_cond_timedwait(&cond, &mutex, &until);
	}
	pthread_mutex_unlock(&mutex);
}

static void K21_condition(void)
{
	hand(tell_by_cond, hear_by_cond);
}

static mtx_t mutex_of_c;
static cnd_t cond_of_c;

static void tell_by_cond_of_c(void)
{
	cnd_signal(&cond_of_c);
	tell_relaxed();
}

static void hear_by_cond_of_c(void)
{
	bool is_heard = false;

	mtx_lock(&mutex_of_c);
	while (!is_heard) {
		struct timespec until = soon();

		is_heard = atomic_load_explicit(&relaxed, memory_order_relaxed);
		cnd_timedwait(&cond_of_c, &mutex_of_c, &until);
	}
	mtx_unlock(&mutex_of_c);
}

static void K21_condition_of_c(void)
{
	mtx_init(&mutex_of_c, mtx_timed);
	cnd_init(&cond_of_c);
	hand(tell_by_cond_of_c, hear_by_cond_of_c);
}

static pthread_barrier_t barrier;

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

static void K21_barrier(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
	hand(meet, meet);
}

static sem_t semaphore;

static void tell_by_semaphore(void)
{
	sem_post(&semaphore);
}

static void hear_by_semaphore(void)
{
	while (sem_wait(&semaphore))
		continue;
}

static void K21_semaphore(void)
{
	sem_init(&semaphore, 0, 0);
	hand(tell_by_semaphore, hear_by_semaphore);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void tell_by_rwlock(void)
{
	pthread_rwlock_wrlock(&rwlock);
	is_done = true;
	pthread_rwlock_unlock(&rwlock);
}

static void hear_by_rwlock(void)
{
	bool is_heard = false;

	while (!is_heard) {
		pthread_rwlock_rdlock(&rwlock);
		is_heard = is_done;
		pthread_rwlock_unlock(&rwlock);
		usleep(100);
	}
}

static void K21_rwlock(void)
{
	hand(tell_by_rwlock, hear_by_rwlock);
}

static pthread_spinlock_t spin;

static void tell_by_spin(void)
{
	pthread_spin_lock(&spin);
	is_done = true;
	pthread_spin_unlock(&spin);
}

static void hear_by_spin(void)
{
	bool is_heard = false;

	while (!is_heard) {
		pthread_spin_lock(&spin);
		is_heard = is_done;
		pthread_spin_unlock(&spin);
		usleep(100);
	}
}

static void K21_spin_lock(void)
{
	pthread_spin_init(&spin, 0);
	hand(tell_by_spin, hear_by_spin);
}

static void tell_by_atomic(void)
{
	atomic_store_explicit(&flag, 1, memory_order_release);
}

static void hear_by_atomic(void)
{
	while (!atomic_load_explicit(&flag, memory_order_acquire))
		usleep(100);
}

static void K21_atomic(void)
{
	hand(tell_by_atomic, hear_by_atomic);
}

static void hear_by_exchange(void)
{
	int one = 1;

	while (!atomic_compare_exchange_weak(&flag, &one, 2)) {
		one = 1;
		usleep(100);
	}
}

static void K21_compare_exchange(void)
{
	hand(tell_by_atomic, hear_by_exchange);
}

static void tell_behind_fence(void)
{
	atomic_thread_fence(memory_order_release);
	tell_relaxed();
}

static void hear_before_fence(void)
{
	hear_relaxed();
	atomic_thread_fence(memory_order_acquire);
}

static void K21_fences(void)
{
	hand(tell_behind_fence, hear_before_fence);
}

static void hear_by_acquire(void)
{
	while (!atomic_load_explicit(&relaxed, memory_order_acquire))
		usleep(100);
}

static void K21_fence_and_acquire(void)
{
	hand(tell_behind_fence, hear_by_acquire);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *get_once(void *unused)
{
	if (racy)
		get();
	else
		pthread_once(&once, get);
	tell_relaxed();
	return unused;
}

static void K21_once(void)
{
	pthread_t thread;

	if (rank != 0)
		return;
	pthread_create(&thread, NULL, get_once, NULL);
	hear_relaxed();
	if (!racy)
		pthread_once(&once, get);
	load();
	pthread_join(thread, NULL);
}

static int ends[2];

static void tell_by_pipe(void)
{
	while (write(ends[1], "x", 1) != 1)
		continue;
}

static void hear_by_pipe(void)
{
	char byte;

	while (read(ends[0], &byte, 1) != 1)
		continue;
}

static void K21_pipe(void)
{
	if (pipe(ends) == 0)
		hand(tell_by_pipe, hear_by_pipe);
}

/*
 * Memory that one thread frees is another's: free and malloc order them. In the racy form it is not
 * freed. The C library keeps a list in the first bytes.
 */
static void *volatile block;

static void *get_and_free(void *unused)
{
	uint8_t *memory = malloc(100000);

	MPI_Get(memory + 64, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, win); /* RACE */
	MPI_Win_flush(2, win);
	block = memory;
	if (!racy)
		free(memory);
	tell_relaxed();
	return unused;
}

static void K21_freed_memory(void)
{
	pthread_t thread;
	uint8_t *memory;

	if (rank != 0)
		return;
	pthread_create(&thread, NULL, get_and_free, NULL);
	hear_relaxed();
	memory = block;
	memory[69] = 1; /* RACE */
	pthread_join(thread, NULL);
}

/* One thread puts, another one completes it, and a third one changes the source. */
static void *flush_and_tell(void *unused)
{
	MPI_Win_flush(2, win);
	hand_over.tell();
	return unused;
}

static void K21_flush_of_another_thread(void)
{
	pthread_t thread;

	if (rank != 0)
		return;
	hand_over = (struct hand_over){ racy ? tell_relaxed : tell_by_mutex, racy ? hear_relaxed : hear_by_mutex };
	MPI_Put(buffer, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, win); /* RACE */
	pthread_create(&thread, NULL, flush_and_tell, NULL);
	hand_over.hear();
	buffer[2] = 1; /* RACE */
	pthread_join(thread, NULL);
}

/* ---- the owner of a window ---- */

static void *store_in_thread(void *unused)
{
	base[1] = 1; /* RACE */
	return unused;
}

static void K21_thread_of_the_owner(void)
{
	pthread_t thread;

	if (rank == 2)
		pthread_create(&thread, NULL, store_in_thread, NULL);
	if (rank == 2 && !racy)
		pthread_join(thread, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Put(buffer, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, win); /* RACE */
	if (rank == 2 && racy)
		pthread_join(thread, NULL);
}

/*
 * Messages of two threads with one tag: which of them is received first is not known. The thread
 * sends last, and by its message of tag 1 both are sent before rank 2 receives one.
 */
static void *send_in_thread(void *unused)
{
	hear_relaxed();
	MPI_Send(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD);
	MPI_Send(NULL, 0, MPI_BYTE, 2, 1, MPI_COMM_WORLD);
	return unused;
}

static void K21_messages_of_two_threads(void)
{
	pthread_t thread;

	if (rank == 0) {
		pthread_create(&thread, NULL, send_in_thread, NULL);
		MPI_Put(buffer, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, win); /* RACE */
		if (!racy)
			MPI_Win_flush(2, win);
		MPI_Send(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD);
		tell_relaxed();
		pthread_join(thread, NULL);
	}
	if (rank == 2) {
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		sink = base[1]; /* RACE */
		MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* ---- OpenMP ---- */

#ifdef _OPENMP

/* Has threads begin, which later regions use again: that they begin is an order, too. */
static void begin_threads(int count)
{
#pragma omp parallel num_threads(count)
	usleep(1000);
}

static void K21_region(void)
{
	if (rank != 0)
		return;
	begin_threads(2);
	if (!racy)
		get();
#pragma omp parallel num_threads(2)
	{
		if (racy && omp_get_thread_num() == 0)
			get();
		if (omp_get_thread_num() == 1)
			load();
	}
}

static void K21_end_of_region(void)
{
	if (rank != 0)
		return;
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 1)
			get();
		if (racy && omp_get_thread_num() == 0)
			load();
	}
	if (!racy)
		load();
}

static void K21_barrier_of_a_region(void)
{
	if (rank != 0)
		return;
#pragma omp parallel num_threads(2)
	{
		for (int i = 0; i < 3; i++) {
			if (i == 1 && omp_get_thread_num() == 1)
				get();
			if (racy && i == 1 && omp_get_thread_num() == 0)
				load();
#pragma omp barrier
		}
		if (!racy && omp_get_thread_num() == 0)
			load();
	}
}

static void K21_loops(void)
{
	if (rank != 0)
		return;
#pragma omp parallel num_threads(2)
	{
#pragma omp for schedule(dynamic, 1) nowait
		for (int i = 0; i < 2; i++) {
			if (omp_get_thread_num() == 0)
				usleep(1000);
		}
		if (omp_get_thread_num() == 0)
			get();
		if (racy && omp_get_thread_num() == 1)
			load();
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < 2; i++)
			usleep(100);
		if (!racy && omp_get_thread_num() == 1)
			load();
	}
}

/* Two threads have come here, which orders nothing. */
static void meet_relaxed(void)
{
	atomic_fetch_add_explicit(&met, 1, memory_order_relaxed);
	while (atomic_load_explicit(&met, memory_order_relaxed) < 2)
		usleep(100);
}

static void K21_loop_region(void)
{
	if (rank != 0)
		return;
	begin_threads(2);
	if (!racy)
		get();
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
	for (int i = 0; i < 2; i++) {
		meet_relaxed();
		if (racy && omp_get_thread_num() == 0)
			get();
		if (omp_get_thread_num() == 1)
			load();
	}
}

static void tell_in_critical(void)
{
#pragma omp critical(done)
	is_done = true;
}

static void hear_in_critical(void)
{
	bool is_heard = false;

	while (!is_heard) {
#pragma omp critical(done)
		is_heard = is_done;
		usleep(100);
	}
}

static void hand_in_region(void (*tell)(void), void (*hear)(void))
{
	if (rank != 0)
		return;
	hand_over = (struct hand_over){ racy ? tell_relaxed : tell, racy ? hear_relaxed : hear };
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 0) {
			get();
			hand_over.tell();
		} else {
			hand_over.hear();
			load();
		}
	}
}

static void K21_critical(void)
{
	hand_in_region(tell_in_critical, hear_in_critical);
}

static omp_lock_t lock;

static void tell_by_lock(void)
{
	omp_set_lock(&lock);
	is_done = true;
	omp_unset_lock(&lock);
}

static void hear_by_lock(void)
{
	bool is_heard = false;

	while (!is_heard) {
		omp_set_lock(&lock);
		is_heard = is_done;
		omp_unset_lock(&lock);
		usleep(100);
	}
}

static void K21_lock_of_openmp(void)
{
	omp_init_lock(&lock);
	hand_in_region(tell_by_lock, hear_by_lock);
}

static void K21_ordered(void)
{
	if (rank != 0)
		return;
#pragma omp parallel num_threads(2)
	{
#pragma omp for schedule(static, 1) ordered
		for (int i = 0; i < 2; i++) {
			if (racy && i == 0)
				get();
			if (racy && i == 1)
				load();
			if (!racy) {
#pragma omp ordered
				{
					if (i == 0)
						get();
					else
						load();
				}
			}
		}
	}
}

static void K21_single_with_copies(void)
{
	int value = 0;

	if (rank != 0)
		return;
#pragma omp parallel num_threads(2) firstprivate(value)
	{
		if (racy) {
			if (omp_get_thread_num() == 1)
				get();
			else
				load();
		} else {
#pragma omp single copyprivate(value)
			{
				get();
				value = omp_get_thread_num();
			}
			if (omp_get_thread_num() != value)
				load();
		}
	}
}

/*
 * A task is not followed: threads are one strand then. The race is one of calls in a row. The other
 * thread takes the task, for which this one waits.
 */
static void K21_tasks(void)
{
	if (rank != 0)
		return;
#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task
		{
			MPI_Get(result, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, win); /* RACE */
			if (!racy)
				MPI_Win_flush(2, win);
			tell_relaxed();
		}
		hear_relaxed();
#pragma omp taskwait
		load();
	}
	MPI_Win_flush(2, win);
}

/* Each thread of a region stores in the window, the last one in its end. */
static void K21_stores_of_a_region(void)
{
	if (racy && rank == 0)
		MPI_Put(buffer, VALUE, MPI_BYTE, 2, BYTES - VALUE, VALUE, MPI_BYTE, win); /* RACE */
	if (rank == 2) {
#pragma omp parallel for num_threads(4)
		for (int i = 0; i < BYTES; i++)
			base[i] = (uint8_t)i; /* RACE */
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!racy && rank == 0)
		MPI_Put(buffer, VALUE, MPI_BYTE, 2, BYTES - VALUE, VALUE, MPI_BYTE, win); /* RACE */
}

/* All threads read the same, and each in turn. */
static void K21_loads_of_all_threads(void)
{
	if (rank == 0)
		MPI_Put(buffer, VALUE, MPI_BYTE, 2, 0, VALUE, MPI_BYTE, win); /* RACE */
	if (rank == 0 && !racy)
		MPI_Win_flush(2, win);
	if (rank == 2)
		begin_threads(4);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2) {
#pragma omp parallel num_threads(4)
		{
			for (int round = 0; round < 100; round++)
				for (int i = 0; i < BYTES; i++)
					(void)((volatile uint8_t *)base)[i]; /* RACE */
		}
	}
}

#endif

/* ---- running them ---- */

static const struct check_case cases[] = {
	{ "K21_create", K21_create },
	{ "K21_join", K21_join },
	{ "K21_join_of_c", K21_join_of_c },
	{ "K21_mutex", K21_mutex },
	{ "K21_condition", K21_condition },
	{ "K21_condition_of_c", K21_condition_of_c },
	{ "K21_barrier", K21_barrier },
	{ "K21_semaphore", K21_semaphore },
	{ "K21_rwlock", K21_rwlock },
	{ "K21_spin_lock", K21_spin_lock },
	{ "K21_atomic", K21_atomic },
	{ "K21_compare_exchange", K21_compare_exchange },
	{ "K21_fences", K21_fences },
	{ "K21_fence_and_acquire", K21_fence_and_acquire },
	{ "K21_once", K21_once },
	{ "K21_pipe", K21_pipe },
	{ "K21_freed_memory", K21_freed_memory },
	{ "K21_flush_of_another_thread", K21_flush_of_another_thread },
	{ "K21_thread_of_the_owner", K21_thread_of_the_owner },
	{ "K21_messages_of_two_threads", K21_messages_of_two_threads },
#ifdef _OPENMP
	{ "K21_region", K21_region },
	{ "K21_end_of_region", K21_end_of_region },
	{ "K21_barrier_of_a_region", K21_barrier_of_a_region },
	{ "K21_loops", K21_loops },
	{ "K21_loop_region", K21_loop_region },
	{ "K21_critical", K21_critical },
	{ "K21_lock_of_openmp", K21_lock_of_openmp },
	{ "K21_ordered", K21_ordered },
	{ "K21_single_with_copies", K21_single_with_copies },
	{ "K21_stores_of_a_region", K21_stores_of_a_region },
	{ "K21_loads_of_all_threads", K21_loads_of_all_threads },
#endif
	{ "K21_many", K21_many }, /* behind it, threads share strands */
#ifdef _OPENMP
	{ "K21_tasks", K21_tasks }, /* behind it, threads are one strand */
#endif
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return pair_main(argc, argv, cases);
}
