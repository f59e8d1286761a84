// SPDX-License-Identifier: BSD-2-Clause
/*
 * threads.c [funneled | serialized] - threads of a program, at each level of MPI_Init_thread
 *
 * At MPI_THREAD_MULTIPLE, without an argument, threads have windows of their own, on duplicates of
 * one communicator, and there are messages beside, also in one array with requests of operations.
 * Serialized they take turns on one window: each call is made by another thread than the one
 * before. Funneled the main thread makes the calls, and the others load and store what they
 * transfer.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define THREADS 3
#define TURNS 8
#define FEW_RANKS 2 /* waiting threads of MPICH do not give way to others */

static int rank, size, wrong, busy;

struct own_thread {
	MPI_Comm comm;
	int number;
};

static int right(void)
{
	return (rank + 1) % size;
}

static int left(void)
{
	return (rank + size - 1) % size;
}

static void count_wrong(int is)
{
	if (is)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED); /* read when all threads have ended */
}

/* A window of one thread: nothing of the others' comes into it. */
static void use_window(const struct own_thread *thread, int turn)
{
	int *memory, mine = 1000 * thread->number + 10 * turn + rank, got = -1;
	MPI_Request request;
	MPI_Win win;

	MPI_Win_allocate(8, sizeof(int), MPI_INFO_NULL, thread->comm, &memory, &win);
	MPI_Win_fence(0, win);
	MPI_Put(&mine, 1, MPI_INT, right(), 0, 1, MPI_INT, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	count_wrong(memory[0] != 1000 * thread->number + 10 * turn + left());
	MPI_Win_lock_all(0, win);
	MPI_Rget(&got, 1, MPI_INT, right(), 0, 1, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	count_wrong(got != mine);
	MPI_Win_free(&win);
}

enum { REQUESTS = 5, WAYS_TO_WAIT = 4, BATCHES = 12, SINGLES = 20 };

/* Each of the calls that complete several requests. What one thread completes of Oriel's may be another's. */
static void wait_for(int way, MPI_Request requests[REQUESTS])
{
	MPI_Status statuses[REQUESTS];
	int done = 0, some, which[REQUESTS];

	switch (way) {
	case 0:
		MPI_Waitall(REQUESTS, requests, statuses);
		break;
	case 1:
		for (int i = 0; i < REQUESTS; i++)
			MPI_Waitany(REQUESTS, requests, &some, MPI_STATUS_IGNORE);
		break;
	case 2:
		for (done = 0; done < REQUESTS; done += some)
			MPI_Waitsome(REQUESTS, requests, &some, which, statuses);
		break;
	default:
		while (!done)
			MPI_Testall(REQUESTS, requests, &done, statuses);
	}
}

/* Operations with requests, and messages, in one array. */
static void use_requests(const struct own_thread *thread)
{
	MPI_Request requests[REQUESTS];
	int *memory;
	MPI_Win win;

	MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, thread->comm, &memory, &win);
	MPI_Win_lock_all(0, win);
	for (int batch = 0; batch < BATCHES; batch++) {
		int sent[2] = { batch, rank }, got = -1, back = -1, one = 1;

		MPI_Rput(&sent[0], 1, MPI_INT, right(), 0, 1, MPI_INT, win, &requests[0]);
		MPI_Raccumulate(&one, 1, MPI_INT, right(), 1, 1, MPI_INT, MPI_SUM, win, &requests[1]);
		MPI_Isend(&sent[1], 1, MPI_INT, right(), 0, thread->comm, &requests[2]);
		MPI_Irecv(&got, 1, MPI_INT, left(), 0, thread->comm, &requests[3]);
		MPI_Rget(&back, 1, MPI_INT, rank, 0, 1, MPI_INT, win, &requests[4]);
		wait_for((batch + thread->number) % WAYS_TO_WAIT, requests);
		count_wrong(got != left());
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(thread->comm);
	count_wrong(memory[0] != BATCHES - 1 || memory[1] != BATCHES);
	MPI_Win_free(&win);
}

static const struct timespec a_while = { 0, 100000 };

/*
 * The layer's call comes here first, and takes its time: so other threads come between what the
 * layer does before it and behind it.
 */
int PMPI_Grequest_complete(MPI_Request done)
{
	int (*next)(MPI_Request);
	void *found = dlsym(RTLD_NEXT, "PMPI_Grequest_complete");

	memcpy(&next, &found, sizeof(found)); /* ISO C has no cast from an object's address to a function's */
	nanosleep(&a_while, NULL);
	return next(done);
}

/* A request that any thread completes by a test, while the thread comes to wait for it. */
static void use_single_requests(const struct own_thread *thread)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int *memory, back;
	MPI_Win win;

	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, thread->comm, &memory, &win);
	MPI_Win_lock_all(0, win);
	for (int turn = 0; turn < SINGLES; turn++) {
		MPI_Rget(&back, 1, MPI_INT, rank, 0, 1, MPI_INT, win, &requests[0]);
		requests[1] = MPI_REQUEST_NULL;
		nanosleep(&a_while, NULL);
		MPI_Waitall(2, requests, statuses);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

static void *use_windows(void *arg)
{
	for (int turn = 0; turn < TURNS; turn++)
		use_window(arg, turn);
	if (size <= FEW_RANKS) {
		use_requests(arg);
		use_single_requests(arg);
	}
	__atomic_sub_fetch(&busy, 1, __ATOMIC_RELAXED); /* for test_meanwhile */
	return NULL;
}

static void test_meanwhile(void)
{
	MPI_Request none = MPI_REQUEST_NULL;
	int flag;

	while (__atomic_load_n(&busy, __ATOMIC_RELAXED)) {
		MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
		sched_yield();
	}
}

static void send_messages(void)
{
	for (int turn = 0; turn < 10 * TURNS; turn++) {
		int got = -1;

		MPI_Sendrecv(&turn, 1, MPI_INT, right(), 0, &got, 1, MPI_INT, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		count_wrong(got != turn);
	}
}

static void use_windows_at_once(void)
{
	struct own_thread threads[THREADS];
	pthread_t ids[THREADS];

	for (int i = 0; i < THREADS; i++) {
		threads[i].number = i;
		MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm);
	}
	busy = THREADS;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, use_windows, &threads[i]);
	send_messages();
	if (size <= FEW_RANKS)
		test_meanwhile();
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&threads[i].comm);
}

/* What the threads have in common, at the other two levels. */
static MPI_Win win;
static MPI_Request request;
static MPI_Group right_group, left_group;
static int *memory, sent[THREADS], got, round_number;

static void make_window(void)
{
	MPI_Win_allocate(THREADS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memset(memory, 0, THREADS * sizeof(int));
	sent[0] = 100 * round_number + rank;
	got = -1;
}

static void fence(void)
{
	MPI_Win_fence(0, win);
}

static void put_first(void)
{
	MPI_Put(&sent[0], 1, MPI_INT, right(), 0, 1, MPI_INT, win);
}

static void last_fence(void)
{
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	count_wrong(memory[0] != 100 * round_number + left());
}

static void lock(void)
{
	MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win);
}

static void begin_get(void)
{
	MPI_Rget(&got, 1, MPI_INT, right(), 0, 1, MPI_INT, win, &request);
}

static void end_get(void)
{
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	count_wrong(got != sent[0]);
}

static void add(void)
{
	MPI_Accumulate(&sent[0], 1, MPI_INT, right(), 1, 1, MPI_INT, MPI_SUM, win);
}

static void flush(void)
{
	MPI_Win_flush(right(), win);
}

static void unlock(void)
{
	MPI_Win_unlock(right(), win);
}

static void message(void)
{
	int back = -1;

	MPI_Sendrecv(&sent[0], 1, MPI_INT, right(), 0, &back, 1, MPI_INT, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	count_wrong(back != 100 * round_number + left());
}

static void post(void)
{
	MPI_Win_post(left_group, 0, win);
}

static void start(void)
{
	MPI_Win_start(right_group, 0, win);
}

static void put_last(void)
{
	MPI_Put(&sent[0], 1, MPI_INT, right(), 2, 1, MPI_INT, win);
}

static void complete(void)
{
	MPI_Win_complete(win);
}

static void wait_for_puts(void)
{
	MPI_Win_wait(win);
	count_wrong(memory[1] != 100 * round_number + left() || memory[2] != 100 * round_number + left());
}

static void free_window(void)
{
	MPI_Win_free(&win);
}

static void (*const steps[])(void) = {
	make_window, fence,   put_first, last_fence, lock,     add,      begin_get,     end_get,     flush,
	unlock,      message, post,      start,      put_last, complete, wait_for_puts, free_window,
};

#define STEPS ((int)(sizeof(steps) / sizeof(steps[0])))

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_over = PTHREAD_COND_INITIALIZER;
static int turn; /* changed and read under the lock */

/*
 * Each step of each round in its turn; there are more steps than threads, and they are no multiple
 * of these.
 */
static void *take_turns(void *arg)
{
	const struct own_thread *thread = arg;

	for (int mine = thread->number; mine < TURNS * STEPS; mine += THREADS) {
		pthread_mutex_lock(&turn_lock);
		while (turn != mine)
			pthread_cond_wait(&turn_over, &turn_lock);
		round_number = mine / STEPS;
		steps[mine % STEPS]();
		turn++;
		pthread_cond_broadcast(&turn_over);
		pthread_mutex_unlock(&turn_lock);
	}
	return NULL;
}

static void group_of(int member, MPI_Group *group)
{
	MPI_Group world;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &member, group);
	MPI_Group_free(&world);
}

/* The first of the threads is the one that has initialised MPI. */
static void run_threads(void *(*body)(void *), struct own_thread *threads)
{
	pthread_t ids[THREADS];

	for (int i = 0; i < THREADS; i++)
		threads[i].number = i;
	for (int i = 1; i < THREADS; i++)
		pthread_create(&ids[i], NULL, body, &threads[i]);
	body(&threads[0]);
	for (int i = 1; i < THREADS; i++)
		pthread_join(ids[i], NULL);
}

static void use_window_in_turns(void)
{
	struct own_thread threads[THREADS];

	group_of(right(), &right_group);
	group_of(left(), &left_group);
	run_threads(take_turns, threads);
	MPI_Group_free(&right_group);
	MPI_Group_free(&left_group);
}

static pthread_barrier_t all_here;

static void put_all(void)
{
	MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
	MPI_Put(sent, THREADS, MPI_INT, right(), 0, THREADS, MPI_INT, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void *compute(void *arg)
{
	const struct own_thread *thread = arg;
	const int number = thread->number;

	for (int i = 0; i < TURNS; i++) {
		sent[number] = 1000 * number + 10 * i + rank;
		pthread_barrier_wait(&all_here);
		if (number == 0)
			put_all();
		pthread_barrier_wait(&all_here);
		count_wrong(memory[number] != 1000 * number + 10 * i + left());
	}
	return NULL;
}

static void use_window_in_one_thread(void)
{
	struct own_thread threads[THREADS];

	pthread_barrier_init(&all_here, NULL, THREADS);
	make_window();
	run_threads(compute, threads);
	free_window();
	pthread_barrier_destroy(&all_here);
}

static const struct level {
	const char *argument;
	int required;
	void (*run)(void);
	const char *name;
} levels[] = {
	{ "", MPI_THREAD_MULTIPLE, use_windows_at_once, "E4_threads" },
	{ "serialized", MPI_THREAD_SERIALIZED, use_window_in_turns, "E4_threads_in_turns" },
	{ "funneled", MPI_THREAD_FUNNELED, use_window_in_one_thread, "E4_one_thread_calls" },
};

static const struct level *level_of(const char *argument)
{
	for (size_t i = 1; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (strcmp(levels[i].argument, argument) == 0)
			return &levels[i];
	return &levels[0];
}

int main(int argc, char **argv)
{
	const struct level *level = level_of(argc > 1 ? argv[1] : "");
	int provided, all = 0;

	MPI_Init_thread(&argc, &argv, level->required, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	count_wrong(provided < level->required);
	level->run();
	MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0 && all)
		printf("not ok %s: %d things do not hold\n", level->name, all);
	else if (rank == 0)
		printf("ok %s\n", level->name);
	MPI_Finalize();
	return 0;
}
