// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_share_in_place.c - share_in_place.c, page_exchange.c and own_pages.c: memory that is moved
 * into a file and back, under the hands of threads, beside forks; and memory that is not.
 */
#include "pages/share_in_place.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/order.h"
#include "pages/own_pages.h"
#include "pages/page_exchange.h"
#include "base/settings.h"
#include "mapping.h"
#include "suites.h"
#include "thread_state.h"

enum { PAGES = 8, PAGE = 4096, BYTES = PAGES * PAGE, MOVES = 300, THREADS = 3, LARGE = 1 << 20 };

static bool loses_address;

/* In the place of libc's: in this suite as UCX replaces it, without the wanted address. */
void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	va_list more;
	void *wanted;

	va_start(more, flags);
	wanted = va_arg(more, void *);
	va_end(more);
	return (void *)syscall(SYS_mremap, old, old_bytes, bytes, flags, loses_address ? NULL : wanted);
}

static int begin_suite(void)
{
	loses_address = true;
	return 0;
}

static int end_suite(void)
{
	loses_address = false;
	return 0;
}

/* Not under valgrind, nor where it is forbidden. */
static bool can_move(void)
{
	return page_exchange_try() == 0;
}

static uint8_t *map_pages(int flags, int fd)
{
	uint8_t *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);

	CU_ASSERT_NOT_EQUAL_FATAL(memory, MAP_FAILED);
	return memory;
}

static uint8_t *private_pages(void)
{
	return map_pages(MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void fill(uint8_t *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		memory[i] = (uint8_t)(i * 7 + i / PAGE);
}

static bool is_filled(const uint8_t *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (memory[i] != (uint8_t)(i * 7 + i / PAGE))
			return false;
	}
	return true;
}

/* NULL, or why not. */
static const char *share(void *memory, size_t bytes)
{
	static char room[SHARE_WHY_BYTES];

	return share_in_place(memory, bytes, false, room);
}

static void check_stays(void *memory, size_t bytes, const char *word)
{
	char before = mapping_kind(memory);
	const char *why = share(memory, bytes);

	if (!why || !strstr(why, word))
		fprintf(stderr, "%p: it is %s; awaited: %s\n", memory, why ? why : "moved", word);
	CU_ASSERT_PTR_NOT_NULL_FATAL(why);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, word));
	CU_ASSERT_EQUAL(mapping_kind(memory), before);
	CU_ASSERT_FALSE(is_shared_in_place(memory, bytes));
}

static void share__there_and_back(void)
{
	uint8_t *memory = private_pages();

	if (!can_move())
		return;
	fill(memory, BYTES / 2); /* half of the pages have never been touched */
	CU_ASSERT_PTR_NULL_FATAL(share(memory, BYTES));
	CU_ASSERT_EQUAL(mapping_kind(memory), 's');
	CU_ASSERT_EQUAL(mapping_kind(memory + BYTES - 1), 's');
	CU_ASSERT(is_filled(memory, BYTES / 2));
	CU_ASSERT_EQUAL(memory[BYTES - 1], 0);
	fill(memory, BYTES);
	share_let_go(memory, BYTES);
	CU_ASSERT_EQUAL(mapping_kind(memory), 'p');
	CU_ASSERT(is_filled(memory, BYTES));
	madvise(memory, BYTES, MADV_DONTNEED); /* it is the program's as before */
	CU_ASSERT_EQUAL(memory[0], 0);
	munmap(memory, BYTES);
}

/* Pages of large malloc'ed memory hold nothing else; it can be resized afterwards, or released. */
static void share__malloced(void)
{
	uint8_t *large = malloc(LARGE), *grown;
	void *aligned = NULL;

	CU_ASSERT_PTR_NOT_NULL_FATAL(large);
	CU_ASSERT_EQUAL_FATAL(posix_memalign(&aligned, PAGE, PAGE), 0);
	if (!can_move() || malloc_usable_size(large) != ((LARGE + PAGE - 1 + 16) & ~(PAGE - 1)) - 16)
		goto out; /* another malloc */
	fill(large, LARGE);
	CU_ASSERT_PTR_NULL_FATAL(share(large, LARGE));
	CU_ASSERT(is_filled(large, LARGE));
	share_let_go(large, LARGE);
	grown = realloc(large, 3 * LARGE);
	CU_ASSERT_PTR_NOT_NULL_FATAL(grown);
	CU_ASSERT(is_filled(grown, LARGE));
	memset(grown, 1, 3 * LARGE);
	large = grown;
	CU_ASSERT_PTR_NULL_FATAL(share(aligned, 8)); /* the rest of the page is the same piece's */
	share_let_go(aligned, 8);
out:
	free(aligned);
	free(large);
}

static void share__what_stays(void)
{
	static uint8_t in_data[3 * PAGE] = { 1 };
	uint8_t on_stack[3 * PAGE], *anonymous = private_pages(), *shared = map_pages(MAP_SHARED | MAP_ANONYMOUS, -1);
	int fd = memfd_create("test", 0);
	uint8_t *malloced, *file;

	if (!can_move())
		return;
	malloced = memset(malloc(3 * PAGE), 0xff, 3 * PAGE);
	CU_ASSERT_EQUAL_FATAL(ftruncate(fd, BYTES), 0);
	file = map_pages(MAP_PRIVATE, fd);
	check_stays(in_data, sizeof(in_data), "static memory");
	check_stays(on_stack, sizeof(on_stack), "stack");
	check_stays(shared, BYTES, "shared memory already");
	check_stays(file, BYTES, "mapped file");
	check_stays(malloced + 64, 2 * PAGE, "not alone"); /* wherever in its pages the whole of it lies */
	check_stays(anonymous + 8, BYTES - 8, "not alone");
	check_stays(anonymous + PAGE, BYTES - PAGE - 8, "not alone");
	for (size_t i = 0; i < BYTES / sizeof(double); i++) /* what lies in front is no header of malloc's */
		((double *)(void *)anonymous)[i] = 1.0;
	check_stays(anonymous + PAGE, BYTES - PAGE - 8, "not alone");
	mprotect(anonymous + PAGE, PAGE, PROT_READ);
	check_stays(anonymous, BYTES, "not to be written");
	mprotect(anonymous + PAGE, PAGE, PROT_READ | PROT_WRITE);
	madvise(anonymous + PAGE, PAGE, MADV_DONTFORK);
	check_stays(anonymous, BYTES, "forked children");
	madvise(anonymous + PAGE, PAGE, MADV_DOFORK);
	if (syscall(SYS_mlock, anonymous, BYTES) == 0) /* the sanitizers have a mlock of their own */
		check_stays(anonymous, BYTES, "locked");
	syscall(SYS_munlock, anonymous, BYTES);
	munmap(anonymous + PAGE, PAGE);
	check_stays(anonymous, BYTES, "not mapped");
	munmap(anonymous, BYTES);
	munmap(shared, BYTES);
	munmap(file, BYTES);
	free(malloced);
	close(fd);
}

static void share__huge_pages(void)
{
	const size_t bytes = (size_t)2 << 20;
	void *huge = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (huge == MAP_FAILED || !can_move())
		return; /* there are none */
	check_stays(huge, bytes, "huge pages");
	munmap(huge, bytes);
}

/* A piece stays as long as some of it is held. */
static void share__holders(void)
{
	uint8_t *memory = private_pages();

	if (!can_move())
		return;
	CU_ASSERT_FALSE(share_hold(memory, BYTES));
	CU_ASSERT_PTR_NULL_FATAL(share(memory, 4 * PAGE));
	CU_ASSERT_PTR_NULL(share(memory + PAGE + 1, 10)); /* lies in it, aligned or not */
	CU_ASSERT(share_hold(memory + 3 * PAGE, 3 * PAGE));
	CU_ASSERT_PTR_NOT_NULL(share(memory + 3 * PAGE, 3 * PAGE)); /* a part of it does */
	CU_ASSERT_PTR_NULL(share(memory + 4 * PAGE, PAGE));
	CU_ASSERT(is_shared_in_place(memory, 4 * PAGE));
	CU_ASSERT_FALSE(is_shared_in_place(memory, 5 * PAGE));
	share_let_go(memory, 2 * PAGE);
	share_let_go(memory + PAGE + 1, 10);
	CU_ASSERT_EQUAL(mapping_kind(memory), 's');
	share_let_go(memory + 3 * PAGE, 1);
	CU_ASSERT_EQUAL(mapping_kind(memory), 'p');
	CU_ASSERT_EQUAL(mapping_kind(memory + 4 * PAGE), 's');
	share_let_go(memory + 4 * PAGE, 1);
	CU_ASSERT_EQUAL(mapping_kind(memory + 4 * PAGE), 'p');
	munmap(memory, BYTES);
}

/* Returns a number of /proc/self/status, in KiB. */
static long memory_of_kind(const char *kind)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (file && kib < 0 && fgets(line, sizeof(line), file)) {
		if (strncmp(line, kind, strlen(kind)) == 0)
			kib = atol(line + strlen(kind));
	}
	if (file)
		fclose(file);
	return kib;
}

/* Untouched pages cost nothing, there and back, and in a forked child's copy. */
static void share__untouched_pages_cost_nothing(void)
{
	const size_t much = (size_t)64 << 20;
	const long most_kib = 16384; /* of other things: tables of pages, and ASan's shadow, an eighth of the memory */
	long shared_kib = memory_of_kind("RssShmem:"), private_kib = memory_of_kind("RssAnon:");
	uint8_t *memory = mmap(NULL, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int status;

	CU_ASSERT_NOT_EQUAL_FATAL(memory, MAP_FAILED);
	if (!can_move())
		return;
	madvise(memory, much, MADV_NOHUGEPAGE);
	memory[much / 2] = 7;
	CU_ASSERT_PTR_NULL_FATAL(share(memory, much));
	CU_ASSERT(memory_of_kind("RssShmem:") - shared_kib < most_kib);
	child = fork();
	if (child == 0)
		_exit(memory[much / 2] != 7 || memory_of_kind("RssAnon:") - private_kib >= most_kib);
	CU_ASSERT(waitpid(child, &status, 0) == child && status == 0);
	CU_ASSERT(memory_of_kind("RssShmem:") - shared_kib < most_kib);
	share_let_go(memory, much);
	CU_ASSERT(memory_of_kind("RssShmem:") - shared_kib < most_kib);
	CU_ASSERT(memory_of_kind("RssAnon:") - private_kib < most_kib);
	CU_ASSERT(memory[much / 2] == 7 && memory[much / 2 + PAGE] == 0);
	munmap(memory, much);
}

/* Threads that count in the memory while it is moved. */

struct counting {
	pthread_t thread;
	uint8_t *memory;
	size_t offset;
	uint64_t rounds, wrong;
	const bool *stop;
};

/* In each page one count of its own, without atomics: a lost store is a count that has gone back. */
static void *count_in_pages(void *arg)
{
	struct counting *c = arg;

	while (!__atomic_load_n(c->stop, __ATOMIC_RELAXED)) {
		for (int page = 0; page < PAGES; page++) {
			volatile uint64_t *count = (void *)(c->memory + page * PAGE + c->offset);

			c->wrong += *count != c->rounds;
			*count = c->rounds + 1;
		}
		c->rounds++;
	}
	return NULL;
}

/* Counts by system calls, which write for the process. */
static void *count_by_calls(void *arg)
{
	struct counting *c = arg;
	int ends[2];

	if (pipe(ends))
		return c->wrong++, NULL;
	while (!__atomic_load_n(c->stop, __ATOMIC_RELAXED)) {
		uint64_t *count = (void *)(c->memory + c->rounds % PAGES * PAGE + c->offset), next = c->rounds + 1;

		c->wrong += write(ends[1], &next, sizeof(next)) != sizeof(next);
		c->wrong += read(ends[0], count, sizeof(next)) != sizeof(next);
		c->wrong += *(volatile uint64_t *)count != next;
		c->rounds++;
	}
	close(ends[0]);
	close(ends[1]);
	return NULL;
}

/* Move there and back while threads run. */
static void move_under(void *(*run)(void *), int threads)
{
	struct counting counting[THREADS];
	uint8_t *memory = private_pages();
	bool stop = false;

	for (int i = 0; i < threads; i++) {
		counting[i] = (struct counting){ .memory = memory, .offset = (size_t)i * 64, .stop = &stop };
		CU_ASSERT_EQUAL_FATAL(pthread_create(&counting[i].thread, NULL, run, &counting[i]), 0);
	}
	for (int i = 0; i < MOVES; i++) {
		CU_ASSERT_PTR_NULL(share(memory, BYTES));
		share_let_go(memory, BYTES);
	}
	CU_ASSERT_EQUAL(mapping_kind(memory), 'p');
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < threads; i++) {
		pthread_join(counting[i].thread, NULL);
		CU_ASSERT_EQUAL(counting[i].wrong, 0);
		CU_ASSERT_NOT_EQUAL(counting[i].rounds, 0);
	}
	munmap(memory, BYTES);
}

static void share__loses_no_store(void)
{
	if (can_move())
		move_under(count_in_pages, THREADS);
}

static void share__loses_no_call(void)
{
	int fd = (int)syscall(SYS_userfaultfd, 0); /* only a process that may catch faults of the kernel can promise that */

	if (fd < 0 || !can_move())
		return;
	close(fd);
	move_under(count_by_calls, 1);
}

/* A thread that sleeps until a word of the memory is woken: what its mutexes and conditions do. */
struct sleeper {
	pthread_t thread;
	uint32_t *word;
	uint64_t tid; /* once it runs */
};

static void *sleep_on_word(void *arg)
{
	struct sleeper *sleeper = arg;

	counter_store(&sleeper->tid, (uint64_t)syscall(SYS_gettid)); /* pairs with the load before thread_sleeps */
	while (__atomic_load_n(sleeper->word, __ATOMIC_ACQUIRE) == 1)
		syscall(SYS_futex, sleeper->word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
	return NULL;
}

static void begin_sleep(struct sleeper *sleeper)
{
	sleeper->tid = 0;
	*sleeper->word = 1;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&sleeper->thread, NULL, sleep_on_word, sleeper), 0);
	while (!thread_sleeps(counter_load(&sleeper->tid)))
		usleep(100);
}

static void end_sleep(struct sleeper *sleeper)
{
	__atomic_store_n(sleeper->word, 0, __ATOMIC_RELEASE);
	CU_ASSERT_EQUAL_FATAL(syscall(SYS_futex, sleeper->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
	pthread_join(sleeper->thread, NULL);
}

/* Threads of this process are found by their address, which stays. */
static void share__sleepers_are_woken(void)
{
	uint8_t *memory = private_pages();
	struct sleeper sleeper = { .word = (uint32_t *)(void *)memory };

	if (!can_move())
		return;
	begin_sleep(&sleeper);
	CU_ASSERT_PTR_NULL(share(memory, BYTES));
	end_sleep(&sleeper);
	begin_sleep(&sleeper);
	share_let_go(memory, BYTES);
	end_sleep(&sleeper);
	munmap(memory, BYTES);
}

static uint8_t *written_by_handler;
static volatile uint64_t handled;

static void write_all_pages(int number)
{
	(void)number;
	handled++;
	for (int page = 0; page < PAGES; page++)
		*(volatile uint64_t *)(void *)(written_by_handler + page * PAGE) = handled;
}

/*
 * A handler of the thread that moves the memory writes into it: in the middle of that it would wait
 * for ever.
 */
static void share__signal_handler_writes(void)
{
	const struct itimerval often = { .it_interval.tv_usec = 50, .it_value.tv_usec = 50 },
						   never = { .it_value.tv_sec = 0 };
	uint8_t *memory = written_by_handler = private_pages();

	if (!can_move())
		return;
	signal(SIGALRM, write_all_pages);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < MOVES || handled < MOVES; i++) {
		CU_ASSERT_PTR_NULL(share(memory, BYTES));
		share_let_go(memory, BYTES);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	for (int page = 0; page < PAGES; page++)
		CU_ASSERT_EQUAL(*(uint64_t *)(void *)(memory + page * PAGE), handled);
	munmap(memory, BYTES);
}

/* Forks. */

/* Whether a child that does `work` ends well. */
static bool child_is_well(bool (*work)(uint8_t *), uint8_t *memory)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(work(memory) ? 0 : 1);
	memset(memory, 0x55, BYTES); /* nothing of this is the child's */
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool has_a_copy(uint8_t *memory)
{
	bool well = true;

	for (int i = 0; i < 1000; i++) /* while the parent writes */
		well &= is_filled(memory, BYTES);
	well &= mapping_kind(memory) == 'p' && !is_shared_in_place(memory, BYTES);
	memset(memory, 0xaa, BYTES);
	return well;
}

static void share__forked_child(void)
{
	uint8_t *memory = private_pages();
	uint8_t there[BYTES];

	if (!can_move())
		return;
	fill(memory, BYTES);
	CU_ASSERT_PTR_NULL_FATAL(share(memory, BYTES));
	CU_ASSERT(child_is_well(has_a_copy, memory));
	memset(there, 0x55, BYTES);
	CU_ASSERT_EQUAL(memcmp(memory, there, BYTES), 0);
	CU_ASSERT_EQUAL(mapping_kind(memory), 's');
	share_let_go(memory, BYTES);
	munmap(memory, BYTES);
}

/* A child that no handler has seen cannot reach the memory at all. */
static void share__child_without_handlers(void)
{
	uint8_t *memory = private_pages();
	int status = 0;
	pid_t child;

	if (!can_move())
		return;
	fill(memory, BYTES);
	CU_ASSERT_PTR_NULL_FATAL(share(memory, BYTES));
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		memory[0]++;
		_exit(0);
	}
	waitpid(child, &status, 0);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	CU_ASSERT(is_filled(memory, BYTES));
	share_let_go(memory, BYTES);
	munmap(memory, BYTES);
}

static bool filter_calls(struct sock_filter *filter, size_t count)
{
	struct sock_fprog program = { (unsigned short)count, filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool forbid_userfaultfd(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return filter_calls(filter, sizeof(filter) / sizeof(filter[0]));
}

/* No file can be mapped privately at a certain place. */
static bool forbid_private_mappings(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_PRIVATE | MAP_FIXED, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return filter_calls(filter, sizeof(filter) / sizeof(filter[0]));
}

/* In a child, which keeps the filter: what stays, and what has been moved, is private and may grow. */
static bool is_refused(uint8_t *memory)
{
	uint8_t *second = memory + BYTES / 2, *grown;
	char room[SHARE_WHY_BYTES];
	const char *why;
	bool well = !share(memory, BYTES / 2) && forbid_userfaultfd();

	why = share_in_place(second, BYTES / 2, false, room);
	well &= why == room && strstr(why, "userfaultfd") && mapping_kind(second) == 'p';
	share_let_go(memory, BYTES / 2);
	well &= mapping_kind(memory) == 'p' && is_filled(memory, BYTES) && !is_shared_in_place(memory, 1);
	well &= share(memory, BYTES / 2) != NULL;
	grown = mremap(memory, BYTES / 2, 4 * BYTES, MREMAP_MAYMOVE);
	well &= grown != MAP_FAILED && is_filled(grown, BYTES / 2) && grown[4 * BYTES - 1] == 0;
	memset(grown, 1, 4 * BYTES);
	return well;
}

static void share__refused(void)
{
	uint8_t *memory = private_pages();

	if (!can_move())
		return;
	fill(memory, BYTES);
	CU_ASSERT(child_is_well(is_refused, memory));
	munmap(memory, BYTES);
}

/* Whether standard error has had a line with these words. */
static bool is_told(int from, const char *words)
{
	char line[512] = "";

	return read(from, line, sizeof(line) - 1) > 0 && strstr(line, words);
}

/* The table has nothing of it: a fork does not look for memory that the program has unmapped. */
static bool is_forgotten(uint8_t *memory)
{
	bool well = !is_shared_in_place(memory, 1) && !share_hold(memory, BYTES);
	int status = -1;
	pid_t child;

	munmap(memory, BYTES);
	child = fork();
	if (child == 0)
		_exit(0);
	return waitpid(child, &status, 0) == child && status == 0 && well;
}

/* In a child, which keeps the filters: pages cannot be exchanged, and there is no memory for the mapping. */
static bool stays_moved(uint8_t *memory)
{
	bool well = !share(memory, BYTES);
	int ends[2];

	setenv("ORIEL_VERBOSE", "1", 1);
	well &= tell_open() == 0 && pipe2(ends, O_NONBLOCK) == 0 && dup2(ends[1], STDERR_FILENO) >= 0;
	well &= forbid_userfaultfd() && forbid_private_mappings();
	share_let_go(memory, BYTES);
	well &= is_told(ends[0], "stay in shared pages: Cannot allocate memory");
	well &= mapping_kind(memory) == 's' && is_filled(memory, BYTES);
	memset(memory, 1, BYTES);
	return well && is_forgotten(memory);
}

static void share__cannot_be_moved_back(void)
{
	uint8_t *memory = private_pages();

	if (!can_move())
		return;
	fill(memory, BYTES);
	CU_ASSERT(child_is_well(stays_moved, memory));
	munmap(memory, BYTES);
}

/* With short stays every second, third, fifth, ... is moved; a long one compensates. */
static void move_worth__short_stays(void)
{
	struct page_range pages = { 0x1000, PAGE }, other = { 0x1000, 2 * PAGE };
	int moved = 0;

	for (int i = 0; i < 100; i++) {
		if (!move_is_worth(&pages))
			continue;
		moved++;
		move_took(&pages, 100, 999);
	}
	CU_ASSERT_EQUAL(moved, 7); /* and 1, 2, 4, ... 32 not, each time */
	CU_ASSERT(move_is_worth(&other));
	for (int i = 0; i < MOVE_SKIPS_MAX && !move_is_worth(&pages); i++)
		;
	CU_ASSERT(move_is_worth(&pages));
	move_took(&pages, 100, 1000);
	CU_ASSERT(move_is_worth(&pages));
	move_took(&pages, 100, 999);
	CU_ASSERT_FALSE(move_is_worth(&pages));
	CU_ASSERT(move_is_worth(&pages));
	for (uintptr_t i = 1; i <= MOVE_MEMOS; i++) /* it is forgotten */
		move_took(&(struct page_range){ i * 0x100000, PAGE }, 100, 0);
	CU_ASSERT(move_is_worth(&pages));
}

/* Without insistence memory is moved less and less often in a loop, and stays the same memory. */
static void share__in_a_loop(void)
{
	uint8_t *memory = private_pages();
	char room[SHARE_WHY_BYTES];
	int moved = 0;

	if (!can_move())
		return;
	fill(memory, BYTES);
	for (int i = 0; i < MOVES; i++) {
		if (share_in_place(memory, BYTES, true, room))
			continue;
		moved++;
		share_let_go(memory, BYTES);
	}
	CU_ASSERT(moved >= 1 && moved < MOVES / 2);
	CU_ASSERT(is_filled(memory, BYTES));
	munmap(memory, BYTES);
}

static size_t next_descriptor(void)
{
	int fd = dup(STDIN_FILENO);

	close(fd);
	return (size_t)fd;
}

/* The file's pages are not kept by processes that still have it mapped or open. */
static void share__nothing_is_kept(void)
{
	uint8_t *memory = private_pages();
	int fd = (int)next_descriptor();
	struct stat status;

	if (!can_move())
		return;
	fill(memory, BYTES);
	CU_ASSERT_PTR_NULL_FATAL(share(memory, BYTES));
	fd = dup(fd); /* the lowest that was free is the file's */
	CU_ASSERT(fstat(fd, &status) == 0 && status.st_blocks >= BYTES / 512);
	share_let_go(memory, BYTES);
	CU_ASSERT(fstat(fd, &status) == 0 && status.st_blocks == 0);
	CU_ASSERT(is_filled(memory, BYTES));
	close(fd);
	munmap(memory, BYTES);
}

/* Moves as many as there is room for, and leaves nothing of them. */
static void share__many(void)
{
	const size_t most = SHARED_PIECES_MAX;
	uint8_t *memory = mmap(NULL, 2 * (most + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before = next_descriptor(), done = 0;

	CU_ASSERT_NOT_EQUAL_FATAL(memory, MAP_FAILED);
	if (!can_move())
		return;
	while (done < most && !share(memory + 2 * done * PAGE, PAGE)) /* or as descriptors are left */
		done++;
	CU_ASSERT(done >= 100);
	CU_ASSERT_PTR_NOT_NULL(share(memory + 2 * done * PAGE, PAGE));
	for (size_t i = 0; i < done; i++)
		share_let_go(memory + 2 * i * PAGE, PAGE);
	CU_ASSERT_FALSE(share_hold(memory, 2 * most * PAGE));
	CU_ASSERT_EQUAL(next_descriptor(), before);
	munmap(memory, 2 * (most + 1) * PAGE);
}

void suite_share_in_place(void)
{
	CU_pSuite suite = CU_add_suite("share_in_place", begin_suite, end_suite);

	CU_ADD_TEST(suite, share__there_and_back);
	CU_ADD_TEST(suite, share__malloced);
	CU_ADD_TEST(suite, share__what_stays);
	CU_ADD_TEST(suite, share__huge_pages);
	CU_ADD_TEST(suite, share__holders);
	CU_ADD_TEST(suite, share__untouched_pages_cost_nothing);
	CU_ADD_TEST(suite, share__loses_no_store);
	CU_ADD_TEST(suite, share__loses_no_call);
	CU_ADD_TEST(suite, share__sleepers_are_woken);
	CU_ADD_TEST(suite, share__signal_handler_writes);
	CU_ADD_TEST(suite, share__forked_child);
	CU_ADD_TEST(suite, share__child_without_handlers);
	CU_ADD_TEST(suite, share__refused);
	CU_ADD_TEST(suite, share__cannot_be_moved_back);
	CU_ADD_TEST(suite, move_worth__short_stays);
	CU_ADD_TEST(suite, share__in_a_loop);
	CU_ADD_TEST(suite, share__nothing_is_kept);
	CU_ADD_TEST(suite, share__many);
}
