// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_in_place.c - window memory that is moved, in place, to where peers can map it: rule W10
 *
 * oriel_win_query and the kernel (/proc/self/maps) say whether it has been moved. Where it cannot
 * be, over a card or without userfaultfd, windows are as others, and the cases see no more.
 */
#include "multi.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mapping.h"
#include "pages/page_exchange.h"

#define PAGE ((size_t)4096)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LARGE (74 * PAGE) /* their malloc is not glibc's */
#else
#define LARGE ((size_t)300000) /* malloc maps it by itself, and no whole pages */
#endif

enum { ROUNDS = 10, MOVES = 60, MOVES_CARD = 5, WRITTEN = 64 };

static const struct oriel_hint shared[] = { { "share", "true" }, { NULL, NULL } };
static const struct oriel_hint as_it_is[] = { { "share", "false" }, { NULL, NULL } };

static bool can_move(void)
{
	return !multi_over_card() && page_exchange_try() == 0;
}

static int share_of(struct multi *m, const oriel_win *win)
{
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };

	CHECK_OK(m, oriel_win_query(win, &info));
	return info.share;
}

static uint8_t *map_pages(size_t pages)
{
	uint8_t *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static uint8_t *allocate_large(void)
{
	void *memory = NULL;

	if (LARGE % PAGE)
		return malloc(LARGE);
	return posix_memalign(&memory, PAGE, LARGE) ? NULL : memory;
}

static oriel_win *open_win(struct multi *m, void *base, size_t size_bytes, const struct oriel_hint *hints)
{
	oriel_win *win = NULL;

	CHECK_OK(m, oriel_win_create(base, size_bytes, 1, hints, m->group, &win));
	return win;
}

/* The memory has been moved, if that is possible here. */
static void check_moved(struct multi *m, const oriel_win *win, const uint8_t *memory, size_t size_bytes)
{
	CHECK(m, share_of(m, win) == can_move());
	CHECK(m, mapping_kind(memory) == (can_move() ? 's' : 'p'));
	CHECK(m, mapping_kind(memory + size_bytes - 1) == (can_move() ? 's' : 'p'));
}

static int right_of(const struct multi *m)
{
	return (m->rank + 1) % m->size;
}

static int left_of(const struct multi *m)
{
	return (m->rank + m->size - 1) % m->size;
}

static uint64_t sum_at(const uint8_t *memory)
{
	uint64_t sum;

	memcpy(&sum, memory, sizeof(sum));
	return sum;
}

/*
 * A fence with a put of `value` to the right, a get back of it, and an ADD of all to rank 0, at
 * `at` and behind it.
 */
static void use(struct multi *m, oriel_win *win, const uint8_t *memory, size_t at, uint8_t value)
{
	uint8_t mine = (uint8_t)(value + m->rank), seen = 0;
	uint64_t one = 1, before = sum_at(memory + at + 8);

	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_put(win, &mine, 1, right_of(m), at));
	CHECK_OK(m, oriel_accumulate(win, &one, 1, ORIEL_UINT64, ORIEL_SUM, 0, at + 8));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, memory[at] == (uint8_t)(value + left_of(m)));
	CHECK(m, m->rank != 0 || sum_at(memory + at + 8) == before + (uint64_t)m->size);
	CHECK_OK(m, oriel_get(win, &seen, 1, right_of(m), at));
	CHECK_OK(m, oriel_win_fence(win, ORIEL_MODE_NOSUCCEED));
	CHECK(m, seen == mine);
}

/* Each rank's memory has another kind and size; the bytes are there before, during and after. */
static void bytes_stay(struct multi *m)
{
	size_t size_bytes = m->rank == 1 ? 3 * PAGE : LARGE;
	uint8_t *memory = m->rank == 1 ? map_pages(3) : allocate_large();
	oriel_win *win;

	multi_fill(memory, size_bytes, 1);
	win = open_win(m, memory, size_bytes, shared);
	check_moved(m, win, memory, size_bytes);
	CHECK(m, multi_holds(memory, size_bytes, 1));
	use(m, win, memory, 2 * PAGE - 8, 5);
	CHECK(m, memory[2 * PAGE - 8] == 5 + left_of(m));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK(m, mapping_kind(memory) == 'p' && mapping_kind(memory + size_bytes - 1) == 'p');
	CHECK(m, memory[2 * PAGE - 8] == 5 + left_of(m) && multi_holds(memory, PAGE, 1));
	if (m->rank == 1)
		munmap(memory, size_bytes);
	else
		free(memory);
}

/* Threads of the program that write while windows come and go. */

struct writer {
	pthread_t thread;
	uint8_t *memory;
	uint64_t rounds, wrong;
	bool stop;
};

static void *write_on(void *arg)
{
	struct writer *w = arg;

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		for (size_t page = 0; page < WRITTEN; page++) {
			volatile uint64_t *count = (void *)(w->memory + page * PAGE + 64);

			w->wrong += *count != w->rounds;
			*count = w->rounds + 1;
		}
		w->rounds++;
		sched_yield(); /* there may be one processor for all */
	}
	return NULL;
}

static void threads_write_meanwhile(struct multi *m)
{
	struct writer writer = { .memory = map_pages(WRITTEN) };

	CHECK(m, pthread_create(&writer.thread, NULL, write_on, &writer) == 0);
	for (int i = 0; i < (multi_over_card() ? MOVES_CARD : MOVES); i++) {
		oriel_win *win = open_win(m, writer.memory, WRITTEN * PAGE, shared);

		check_moved(m, win, writer.memory, WRITTEN * PAGE);
		use(m, win, writer.memory, PAGE, (uint8_t)i);
		CHECK_OK(m, oriel_win_free(&win));
	}
	__atomic_store_n(&writer.stop, true, __ATOMIC_RELAXED);
	pthread_join(writer.thread, NULL);
	CHECK(m, writer.wrong == 0);
	munmap(writer.memory, WRITTEN * PAGE);
}

/* A child has what was there when it was forked, and writes for itself. */
static int in_child(struct multi *m, uint8_t *memory, size_t size_bytes)
{
	bool well;

	multi_await(m, 0, 1); /* the neighbour has put into the parent's */
	well = multi_holds(memory, size_bytes, 7) && mapping_kind(memory) == 'p';
	memset(memory, 0xaa, size_bytes);
	multi_raise(m, 1, 1);
	return well ? 0 : 1;
}

static void forked_children(struct multi *m)
{
	uint8_t *memory = allocate_large();
	oriel_win *win;
	int status = -1;
	pid_t child = 0;

	multi_fill(memory, LARGE, 7);
	win = open_win(m, memory, LARGE, shared);
	check_moved(m, win, memory, LARGE);
	if (m->rank == 0) {
		child = fork();
		if (child == 0)
			_exit(in_child(m, memory, LARGE));
		memory[1] = 100;
	}
	multi_sync(m);
	use(m, win, memory, 2 * PAGE, 9);
	multi_raise(m, 0, 1);
	multi_await(m, 1, 1);
	CHECK(m, memory[2 * PAGE] == 9 + left_of(m) && (m->rank != 0 || memory[1] == 100));
	CHECK(m, multi_holds(memory + 2 * PAGE, 0, 7) && memory[LARGE - 1] != 0xaa);
	if (m->rank == 0)
		CHECK(m, waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_OK(m, oriel_win_free(&win));
	free(memory);
}

/* After the window the memory is the program's as before: given another size, released, mapped anew. */
static void memory_afterwards(struct multi *m)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t *memory = allocate_large(), *pages = map_pages(2);
		oriel_win *one, *two;

		multi_fill(memory, LARGE, (uint64_t)i);
		one = open_win(m, memory, LARGE, shared);
		check_moved(m, one, memory, LARGE);
		two = open_win(m, pages, 2 * PAGE, shared);
		use(m, two, pages, 0, (uint8_t)i);
		CHECK_OK(m, oriel_win_free(&one));
		CHECK_OK(m, oriel_win_free(&two));
		madvise(pages, 2 * PAGE, MADV_DONTNEED);
		CHECK(m, multi_all(pages, 2 * PAGE, 0));
		munmap(pages, 2 * PAGE);
		memory = realloc(memory, 4 * LARGE);
		memset(memory + LARGE, 1, 3 * LARGE);
		CHECK(m, multi_holds(memory, LARGE, (uint64_t)i));
		free(memory);
	}
}

/*
 * Windows over the same bytes, with and without the hint, and memory registered for origins; in
 * each order.
 */
static void several_windows(struct multi *m)
{
	for (int order = 0; order < 2; order++) {
		uint8_t *memory = map_pages(4);
		oriel_mem *mem = NULL;
		oriel_win *first = open_win(m, memory, 4 * PAGE, order ? as_it_is : shared);
		oriel_win *second = open_win(m, memory + PAGE, 2 * PAGE, order ? shared : as_it_is);
		oriel_win *third = open_win(m, memory + 8, PAGE, shared);

		CHECK(m, share_of(m, first) == (!order && can_move()));
		CHECK(m, share_of(m, second) == 0); /* not asked for, or registered as it was */
		CHECK(m, share_of(m, third) == (!order && can_move()));
		CHECK_OK(m, oriel_mem_register(m->job, memory, 4 * PAGE, &mem));
		use(m, first, memory, PAGE, 1);
		use(m, second, memory + PAGE, 0, 2);
		CHECK_OK(m, oriel_win_free(&first));
		use(m, second, memory + PAGE, 0, 3);
		use(m, third, memory + 8, 64, 4);
		CHECK_OK(m, oriel_win_free(&third));
		use(m, second, memory + PAGE, 16, 5);
		CHECK_OK(m, oriel_win_free(&second));
		CHECK_OK(m, oriel_mem_deregister(&mem));
		CHECK(m, mapping_kind(memory) == 'p');
		munmap(memory, 4 * PAGE);
	}
}

/*
 * A part of the memory has been moved, so that processors may change it by plain code. All of it is
 * in another window, which no other rank can map, so that a device changes its words: rank 1 uses
 * that one, the others the first. Nothing is lost.
 */
static void words_moved_in_part(struct multi *m)
{
	enum { WORDS = 8, SINGLES = 4000, VECTORS = 100000, CARD = 100 };
	static const int64_t ones[WORDS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	int64_t singles = SINGLES / (multi_over_card() ? CARD : 1), vectors = VECTORS / (multi_over_card() ? CARD : 1);
	uint8_t *memory = map_pages(2);
	oriel_win *moved = open_win(m, memory, PAGE, shared), *whole;
	int64_t sum = 0, old;

	CHECK_OK(m, oriel_win_fence(moved, 0));
	CHECK_OK(m, oriel_accumulate(moved, ones, WORDS, ORIEL_INT64, ORIEL_SUM, 0, 0));
	CHECK_OK(m, oriel_win_flush(moved, 0));
	whole = open_win(m, memory, 2 * PAGE, as_it_is);
	CHECK_OK(m, oriel_win_fence(whole, 0));
	for (int64_t i = 0; m->rank == 1 && i < singles; i++) {
		CHECK_OK(m, oriel_fetch_and_op(whole, ones, &old, ORIEL_INT64, ORIEL_SUM, 0, 0));
		CHECK_OK(m, oriel_win_flush(whole, 0));
	}
	for (int64_t i = 0; m->rank != 1 && i < vectors; i++)
		CHECK_OK(m, oriel_accumulate(moved, ones, WORDS, ORIEL_INT64, ORIEL_SUM, 0, 0));
	CHECK_OK(m, oriel_win_flush(moved, 0));
	CHECK_OK(m, oriel_win_fence(whole, 0));
	for (int i = 0; i < WORDS; i++)
		sum += ((const int64_t *)(const void *)memory)[i];
	CHECK(m, sum == (m->rank ? 0 : singles + WORDS * (vectors * (m->size - 1) + m->size)));
	CHECK_OK(m, oriel_win_free(&whole));
	CHECK_OK(m, oriel_win_fence(moved, 0));
	CHECK_OK(m, oriel_win_free(&moved));
	munmap(memory, 2 * PAGE);
}

/* Checks that memory which cannot be moved stays, and that the window works. */
static void check_stays(struct multi *m, void *base, size_t size_bytes)
{
	uint8_t *memory = base;
	char before = mapping_kind(memory);
	oriel_win *win = open_win(m, memory, size_bytes, shared);

	CHECK(m, share_of(m, win) == 0 && mapping_kind(memory) == before);
	use(m, win, memory, 8, 1);
	CHECK_OK(m, oriel_win_free(&win));
}

static void neighbours(struct multi *m)
{
	uint8_t *heap = malloc(1000), *neighbour = malloc(1000), *pages = map_pages(3);

	memset(neighbour, 3, 1000);
	check_stays(m, heap, 1000);
	check_stays(m, pages + 1, 2 * PAGE);
	check_stays(m, pages + PAGE, PAGE + 100);
	CHECK(m, multi_all(neighbour, 1000, 3) && pages[0] == 0);
	free(heap);
	free(neighbour);
	munmap(pages, 3 * PAGE);
}

static void what_stays(struct multi *m)
{
	static uint8_t in_data[3 * PAGE] = { 1 };
	uint8_t on_stack[3 * PAGE] = { 0 };
	int fd = memfd_create("test", 0);
	void *others = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *file = NULL, *huge;

	CHECK(m, ftruncate(fd, (off_t)PAGE) == 0);
	file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	check_stays(m, in_data, sizeof(in_data));
	check_stays(m, on_stack, sizeof(on_stack));
	check_stays(m, others, PAGE);
	check_stays(m, file, PAGE);
	huge = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (huge == MAP_FAILED) /* there may be some for other ranks */
		huge = in_data;
	check_stays(m, huge, 3 * PAGE);
	if (huge != in_data)
		munmap(huge, 2 << 20);
	munmap(others, PAGE);
	munmap(file, PAGE);
	close(fd);
}

/*
 * Checks that only members with the hint move memory, and that a window without bytes moves none.
 */
static void hints_differ(struct multi *m)
{
	uint8_t *memory = map_pages(2);
	bool mine = m->rank % 2 == 0;
	oriel_win *win = open_win(m, memory, 2 * PAGE, mine ? shared : as_it_is), *empty = open_win(m, memory, 0, shared);
	const struct oriel_hint wrong[] = { { "share", "yes" }, { NULL, NULL } };

	CHECK(m, share_of(m, win) == (mine && can_move()) && share_of(m, empty) == 0);
	use(m, win, memory, PAGE, 1);
	CHECK_OK(m, oriel_win_free(&empty));
	CHECK_OK(m, oriel_win_set_hints(win, as_it_is));
	CHECK(m, share_of(m, win) == (mine && can_move()));
	use(m, win, memory, PAGE, 2);
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_create(memory, PAGE, 1, wrong, m->group, &win));
	munmap(memory, 2 * PAGE);
}

/* Memory of dynamic windows comes and goes as it would. */
static void attached(struct multi *m)
{
	uint8_t *memory = map_pages(4), value = (uint8_t)(m->rank + 1);
	oriel_win *win = NULL;

	CHECK_OK(m, oriel_win_create_dynamic(shared, m->group, &win));
	multi_raise(m, m->rank, (uintptr_t)memory);
	for (int i = 0; i < ROUNDS; i++) {
		multi_fill(memory, 4 * PAGE, (uint64_t)i);
		CHECK_OK(m, oriel_win_attach(win, memory, 4 * PAGE));
		CHECK(m, mapping_kind(memory) == (can_move() ? 's' : 'p') && multi_holds(memory, 4 * PAGE, (uint64_t)i));
		CHECK_OK(m, oriel_win_fence(win, 0));
		CHECK_OK(m, oriel_put(win, &value, 1, right_of(m), (size_t)multi_word(m, right_of(m)) + 2 * PAGE));
		CHECK_OK(m, oriel_win_fence(win, ORIEL_MODE_NOSUCCEED));
		CHECK(m, memory[2 * PAGE] == left_of(m) + 1);
		multi_sync(m);
		CHECK_OK(m, oriel_win_detach(win, memory));
		CHECK(m, mapping_kind(memory) == 'p' && memory[2 * PAGE] == left_of(m) + 1);
		multi_sync(m);
	}
	CHECK_OK(m, oriel_win_attach(win, memory, 4 * PAGE));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK(m, mapping_kind(memory) == 'p');
	munmap(memory, 4 * PAGE);
}

static bool forbid_userfaultfd(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* The last case: the filter stays. One window is there when it comes. */
static void refused(struct multi *m)
{
	uint8_t *memory = map_pages(2), *other = map_pages(2);
	bool moved = can_move();
	oriel_win *win = open_win(m, memory, 2 * PAGE, shared);

	CHECK(m, share_of(m, win) == moved && forbid_userfaultfd());
	check_stays(m, other, 2 * PAGE);
	use(m, win, memory, 64, 1);
	CHECK_OK(m, oriel_win_free(&win));
	CHECK(m, mapping_kind(memory) == 'p' && memory[64] == 1 + left_of(m));
	check_stays(m, memory, 2 * PAGE);
	munmap(memory, 2 * PAGE);
	munmap(other, 2 * PAGE);
}

static const struct multi_case cases[] = {
	{ "W10_bytes_stay", 0, bytes_stay },
	{ "W10_threads_write_meanwhile", 2, threads_write_meanwhile },
	{ "W10_forked_children", 2, forked_children },
	{ "W10_memory_afterwards", 0, memory_afterwards },
	{ "W10_W5_several_windows", 3, several_windows },
	{ "W10_A13_words_moved_in_part", 3, words_moved_in_part },
	{ "W10_W4_neighbours", 2, neighbours },
	{ "W10_W4_what_stays", 2, what_stays },
	{ "W10_I1_hints_differ", 0, hints_differ },
	{ "W10_DW1_attached", 2, attached },
	{ "W10_refused", 0, refused },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = { .name = "multi_in_place",
		                                          .cases = cases,
		                                          .case_count = sizeof(cases) / sizeof(cases[0]) };

	mallopt(M_MMAP_THRESHOLD, 128 << 10); /* it no longer grows */
	return multi_main(argc, argv, &program);
}
