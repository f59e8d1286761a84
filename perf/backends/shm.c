// SPDX-License-Identifier: BSD-2-Clause
/*
 * shm.c - the patterns on bare shared memory: the bound for the other backends on one machine
 *
 * All ranks map an allocated window; put and get are memcpy. A created window is its owner's
 * private memory, accessed by process_vm_writev and process_vm_readv. All ranks map the
 * synchronisation words. The ranks are children of one launcher, whose process id names the memory.
 * A turn contains no library and no other system call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "bench/backend.h"

#define RANKS_MAX 64
#define PAGE_BYTES 4096
#define START_PATIENCE_S 20

/* Words that `from` writes for one rank, in one cache line. Epoch numbers only grow. */
struct words {
	_Alignas(64) uint64_t posted;
	uint64_t completed;
};

/* A rank's lock: tickets for writers, a count of readers. */
struct ticket_lock {
	_Alignas(64) uint64_t next;
	uint64_t serving;
	uint64_t readers;
};

struct member {
	struct words from[RANKS_MAX];
	struct ticket_lock lock;
	_Alignas(64) uint64_t barrier; /* barriers that this rank has entered */
	int64_t value;
	pid_t pid;
	uint64_t window; /* an address in that process */
};

struct shared {
	struct member members[RANKS_MAX];
	uint64_t joined;
};

static struct shared *shared;
static uint8_t *windows; /* of all ranks, contiguous; allocated windows only */
static size_t window_bytes;
static int rank, size;
static bool created;
static uint64_t barriers, posts[RANKS_MAX], completes[RANKS_MAX], seen_posts[RANKS_MAX], seen_completes[RANKS_MAX];
static char name[64];

static int fail(const char *what)
{
	fprintf(stderr, "shm: %s: %s\n", what, strerror(errno));
	return 1;
}

/* Pairs with raise_word of another rank: its earlier stores are visible. */
static void wait_word(const uint64_t *word, uint64_t value)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value)
		perf_relax();
}

static void raise_word(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Steps. */

static void copy(void *to, const void *from, size_t size_bytes)
{
	if (size_bytes == 8)
		memcpy(to, from, 8); /* one load, one store */
	else
		memcpy(to, from, size_bytes);
}

static int put(const struct perf_turn *turn, int to, size_t at)
{
	size_t disp = put_disp(turn, to) + at;
	struct iovec here = { turn->origin + at, turn->size_bytes };
	struct iovec there = { (void *)(uintptr_t)(shared->members[to].window + disp), turn->size_bytes };

	if (created)
		return process_vm_writev(shared->members[to].pid, &here, 1, &there, 1, 0) == (ssize_t)turn->size_bytes
		           ? 0
		           : fail("process_vm_writev");
	copy(windows + (size_t)to * window_bytes + disp, here.iov_base, turn->size_bytes);
	return 0;
}

static int get(const struct perf_turn *turn, int from, uint8_t *to, size_t at)
{
	size_t disp = get_disp(turn) + at;
	struct iovec here = { to, turn->size_bytes };
	struct iovec there = { (void *)(uintptr_t)(shared->members[from].window + disp), turn->size_bytes };

	if (created)
		return process_vm_readv(shared->members[from].pid, &here, 1, &there, 1, 0) == (ssize_t)turn->size_bytes
		           ? 0
		           : fail("process_vm_readv");
	copy(to, windows + (size_t)from * window_bytes + disp, turn->size_bytes);
	return 0;
}

static int post(const struct perf_turn *turn)
{
	for (int i = first_partner(turn); i <= last_partner(turn); i++)
		raise_word(&shared->members[i].from[rank].posted, ++posts[i]);
	return 0;
}

static int start(const struct perf_turn *turn)
{
	for (int i = first_partner(turn); i <= last_partner(turn); i++)
		wait_word(&shared->members[rank].from[i].posted, ++seen_posts[i]);
	return 0;
}

static int complete(const struct perf_turn *turn)
{
	for (int i = first_partner(turn); i <= last_partner(turn); i++)
		raise_word(&shared->members[i].from[rank].completed, ++completes[i]);
	return 0;
}

static int await(const struct perf_turn *turn)
{
	for (int i = first_partner(turn); i <= last_partner(turn); i++)
		wait_word(&shared->members[rank].from[i].completed, ++seen_completes[i]);
	return 0;
}

static int fence(void)
{
	raise_word(&shared->members[rank].barrier, ++barriers);
	for (int i = 0; i < size; i++)
		wait_word(&shared->members[i].barrier, barriers);
	return 0;
}

/* Copies are complete when their call returns. */
static int flush_all(void)
{
	return 0;
}

static int flush_one(int to)
{
	(void)to;
	return 0;
}

static void look(long spins)
{
	(void)spins;
	perf_relax();
}

/* Pairs with the release of the previous owner. */
static void await_word(const uint64_t *word, uint64_t value)
{
	for (long spins = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; spins++)
		perf_spin(spins);
}

/* A reader gives way to a writer; if both come at once, at least one sees the other. */
static void lock_shared(struct ticket_lock *lock)
{
	for (;;) {
		uint64_t next = __atomic_load_n(&lock->next, __ATOMIC_RELAXED);

		await_word(&lock->serving, next);
		__atomic_fetch_add(&lock->readers, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&lock->next, __ATOMIC_SEQ_CST) == next)
			return;
		__atomic_fetch_sub(&lock->readers, 1, __ATOMIC_RELEASE);
	}
}

static void lock_exclusive(struct ticket_lock *lock)
{
	await_word(&lock->serving, __atomic_fetch_add(&lock->next, 1, __ATOMIC_SEQ_CST));
	await_word(&lock->readers, 0);
}

static int lock(const struct perf_turn *turn, int to)
{
	if (turn->lock == LOCK_SHARED)
		lock_shared(&shared->members[to].lock);
	else
		lock_exclusive(&shared->members[to].lock);
	return 0;
}

static int unlock(const struct perf_turn *turn, int to)
{
	struct ticket_lock *held = &shared->members[to].lock;

	if (turn->lock == LOCK_SHARED)
		__atomic_fetch_sub(&held->readers, 1, __ATOMIC_RELEASE);
	else
		raise_word(&held->serving, held->serving + 1);
	return 0;
}

static int mapped_only(void)
{
	fprintf(stderr, "shm: no processor's atomic reaches private memory; give -w allocate\n");
	return 1;
}

/* Uses the widest vectors of the processor. */
#ifdef __x86_64__
#define VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VECTORS
#endif

#define ADD(name, T)                                                   \
	static VECTORS void name(void *to, const void *from, size_t bytes) \
	{                                                                  \
		const T *ones = from;                                          \
		T *sums = to;                                                  \
                                                                       \
		for (size_t i = 0; i < bytes / sizeof(T); i++)                 \
			sums[i] = (T)(sums[i] + ones[i]);                          \
	}

ADD(add_doubles, double)
ADD(add_chars, uint8_t)
ADD(add_longs, uint64_t)

/* Plain additions, without atomicity: the bound. */
static int accumulate(const struct perf_turn *turn, int to, size_t at)
{
	static void (*const add[])(void *to, const void *from, size_t bytes) = {
		[TYPE_DOUBLE] = add_doubles, [TYPE_CHAR] = add_chars, [TYPE_LONG] = add_longs
	};
	uint8_t *sums = windows + (size_t)to * window_bytes + put_disp(turn, to) + at;

	if (created)
		return mapped_only();
	add[turn->type](sums, turn->origin + at, turn->size_bytes);
	return 0;
}

static uint64_t *word_at(const struct perf_turn *turn, int to)
{
	return (uint64_t *)(void *)(windows + (size_t)to * window_bytes + word_disp(turn));
}

static int fetch_and_add(const struct perf_turn *turn, int to)
{
	struct perf_words *words = words_of(turn);

	if (created)
		return mapped_only();
	words->result = __atomic_fetch_add(word_at(turn, to), words->operand, __ATOMIC_SEQ_CST);
	return 0;
}

static int swap(const struct perf_turn *turn, int to)
{
	struct perf_words *words = words_of(turn);
	uint64_t expected = words->compare;

	if (created)
		return mapped_only();
	__atomic_compare_exchange_n(word_at(turn, to), &expected, words->operand, false, __ATOMIC_SEQ_CST,
	                            __ATOMIC_SEQ_CST);
	words->result = expected;
	return 0;
}

/* The word that ends an epoch serves as the signal. */
static int put_signal(const struct perf_turn *turn, int to)
{
	(void)to;
	return complete(turn);
}

static int await_signal(const struct perf_turn *turn)
{
	return await(turn);
}

#include "backends/turns_acc.h"
#include "backends/turns_signal.h"

static perf_turn_fn turn_of(enum perf_pattern pattern, enum perf_sync sync)
{
	perf_turn_fn turn = sync == SYNC_LOCK ? turn_of_locks(pattern) : turn_of_steps(pattern, sync);

	if (pattern == PATTERN_SIGNAL)
		return signal_lat;
	return turn ? turn : turn_of_accumulates(pattern, sync);
}

/* Joining. */

static int barrier(void)
{
	fence();
	return 0;
}

static int agree(int64_t *value)
{
	if (rank == 0)
		shared->members[0].value = *value;
	fence();
	*value = shared->members[0].value;
	fence(); /* no rank changes it before all have read it */
	return 0;
}

static int from_environment(const char *variable, int most)
{
	const char *text = getenv(variable);
	int value = text ? atoi(text) : -1;

	return value >= 0 && value <= most ? value : -1;
}

/* Waits until all ranks have mapped the memory, with a time limit. */
static int join(void)
{
	const struct timespec pause = { 0, 1000000 };
	time_t deadline = time(NULL) + START_PATIENCE_S;

	__atomic_fetch_add(&shared->joined, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&shared->joined, __ATOMIC_ACQUIRE) < (uint64_t)size) {
		if (time(NULL) > deadline) {
			fprintf(stderr, "shm: not all %d ranks came within %d s\n", size, START_PATIENCE_S);
			return 1;
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}

static size_t whole_pages(size_t size_bytes)
{
	return (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static int map_all(size_t total_bytes)
{
	void *mapped;
	int fd;

	snprintf(name, sizeof(name), "/oriel-perf-%ld", (long)getppid());
	fd = shm_open(name, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)total_bytes))
		return fail(name);
	mapped = mmap(NULL, total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		return fail("mmap");
	shared = mapped;
	windows = (uint8_t *)mapped + whole_pages(sizeof(*shared));
	return 0;
}

static int open_shm(const struct perf_options *options, struct perf_place *place)
{
	size_t mapped_bytes = whole_pages(sizeof(struct shared));

	rank = from_environment("ORIEL_RANK", RANKS_MAX - 1);
	size = from_environment("ORIEL_SIZE", RANKS_MAX);
	if (rank < 0 || size < 2) {
		fprintf(stderr, "shm: run me by oriel-run with 2 to %d ranks\n", RANKS_MAX);
		return 2;
	}
	if (options->window != WINDOW_CREATE && options->window != WINDOW_ALLOCATE)
		return fprintf(stderr, "shm: -w is create or allocate\n"), 2;
	created = options->window == WINDOW_CREATE;
	if (options->memory == MEMORY_ALLOC_MEM)
		return fprintf(stderr, "shm: -m is heap, huge or registered\n"), 2;
	window_bytes = whole_pages(place->window_bytes);
	if (!created)
		mapped_bytes += (size_t)size * window_bytes;
	if (map_all(mapped_bytes))
		return 1;
	if (!created)
		place->window = windows + (size_t)rank * window_bytes;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* otherwise siblings may not write here */
	shared->members[rank].pid = getpid();
	shared->members[rank].window = (uint64_t)(uintptr_t)place->window;
	place->rank = rank;
	place->size = size;
	snprintf(place->device, sizeof(place->device), "memory");
	if (join())
		return 1;
	fence();
	if (rank == 0)
		shm_unlink(name);
	return 0;
}

static int close_shm(void)
{
	fence();
	return 0;
}

static const struct perf_refusal refusals[] = {
	{ NULL, NULL },
};

const struct perf_backend backend = { "shm", refusals, open_shm, barrier, agree, turn_of, close_shm };
