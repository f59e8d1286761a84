// SPDX-License-Identifier: BSD-2-Clause
/*
 * pages.c [created] - a program without a race, whose system calls, signals, threads and children use window memory
 *
 * It is for two ranks, under oriel-check --pages. Pages are closed when a call of Oriel has been
 * made. It fails where one is still closed for what uses it, or has not the right bytes.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oriel.h"

#define PAGE 4096
#define PAGES 300
#define BYTES ((size_t)PAGES * PAGE)

static oriel_job *job;
static oriel_group *world;
static oriel_win *win;
static int rank;
static uint8_t *memory; /* of the window */
static uint8_t copy[BYTES];

static void must(bool is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "rank %d: %s fails: %s\n", rank, what, oriel_last_error());
	exit(1);
}

/* Closes all pages. */
static void close_pages(void)
{
	must(oriel_barrier(job) == 0, "oriel_barrier");
}

static uint8_t byte_at(size_t at)
{
	return (uint8_t)(at / PAGE + at);
}

static void fill(void)
{
	for (size_t i = 0; i < BYTES; i++)
		memory[i] = byte_at(i);
	close_pages();
}

static bool is_filled(const uint8_t *bytes, size_t first, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bytes[i] != byte_at(first + i))
			return false;
	}
	return true;
}

/* ---- the kernel ---- */

static void use_file(void)
{
	struct iovec list[2] = { { memory, 3 * PAGE }, { memory + 5 * PAGE, PAGE } };
	FILE *file = tmpfile();
	int fd = fileno(file);

	fill();
	must(pwrite(fd, memory, BYTES, 0) == (ssize_t)BYTES, "pwrite");
	must(pread(fd, copy, BYTES, 0) == (ssize_t)BYTES && is_filled(copy, 0, BYTES), "pread of what was written");
	memset(memory, 0, BYTES);
	close_pages();
	must(read(fd, memory, BYTES) == (ssize_t)BYTES, "read");
	must(is_filled(memory, 0, BYTES), "memory behind read");
	close_pages();
	must(pwritev(fd, list, 2, 0) == 4 * PAGE, "pwritev");
	close_pages();
	must(preadv(fd, list, 2, 0) == 4 * PAGE && is_filled(memory, 0, BYTES), "preadv");
	close_pages();
	must(lseek(fd, 0, SEEK_SET) == 0 && fwrite(memory, 1, BYTES, file) == BYTES && fflush(file) == 0, "fwrite");
	memset(memory, 0, BYTES);
	close_pages();
	must(fseek(file, 0, SEEK_SET) == 0 && fread(memory, 1, BYTES, file) == BYTES, "fread");
	must(is_filled(memory, 0, BYTES), "memory behind fread");
	fclose(file);
}

static void use_socket(void)
{
	struct iovec piece = { memory + PAGE, PAGE };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };
	int pair[2];

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
	fill();
	must(send(pair[0], memory + PAGE, PAGE, 0) == PAGE, "send");
	memset(memory + PAGE, 0, PAGE);
	close_pages();
	must(recv(pair[1], memory + PAGE, PAGE, MSG_WAITALL) == PAGE && is_filled(memory + PAGE, PAGE, PAGE), "recv");
	close_pages();
	must(sendmsg(pair[0], &message, 0) == PAGE, "sendmsg");
	close_pages();
	must(recvmsg(pair[1], &message, MSG_WAITALL) == PAGE && is_filled(memory + PAGE, PAGE, PAGE), "recvmsg");
	close(pair[0]);
	close(pair[1]);
}

/* Rank 1 reads rank 0's memory, which may be closed there. */
static void use_other_process(void)
{
	struct {
		uint64_t address;
		int64_t pid;
	} here = { (uint64_t)(uintptr_t)memory, getpid() }, there;
	struct iovec to = { copy, BYTES }, from = { NULL, BYTES };

	fill();
	must(oriel_win_lock_all(win, 0) == 0 && oriel_put(win, &here, sizeof(here), 1 - rank, 0) == 0 &&
	         oriel_win_unlock_all(win) == 0,
	     "oriel_put");
	close_pages();
	memcpy(&there, memory, sizeof(there));
	close_pages();
	from.iov_base = (void *)(uintptr_t)(there.address);
	must(process_vm_readv((pid_t)there.pid, &to, 1, &from, 1, 0) == (ssize_t)BYTES, "process_vm_readv");
	must(is_filled(copy + PAGE, PAGE, BYTES - PAGE), "memory of the other process");
	close_pages();
}

/* ---- signals ---- */

static sigjmp_buf back;
static volatile sig_atomic_t caught;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	caught++;
	siglongjmp(back, 1);
}

static void use_handler(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO }, before;
	volatile char *forbidden = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	caught = 0;
	must(sigaction(SIGSEGV, &action, NULL) == 0, "sigaction");
	for (int i = 0; i < 3; i++) {
		if (sigsetjmp(back, 1) == 0)
			*forbidden = 1;
		fill();
		must(is_filled(memory, 0, BYTES), "memory behind a fault of the program");
	}
	must(caught == 3, "the program's handler");
	must(sigaction(SIGSEGV, NULL, &before) == 0 && before.sa_sigaction == on_fault, "the program's sigaction");
	signal(SIGSEGV, SIG_DFL);
}

static void on_user_signal(int signal)
{
	(void)signal;
	memory[7 * PAGE] = byte_at(7 * PAGE); /* with all signals blocked */
}

static void use_memory_in_handler(void)
{
	struct sigaction action = { .sa_handler = on_user_signal };

	fill();
	sigfillset(&action.sa_mask);
	must(sigaction(SIGUSR1, &action, NULL) == 0 && raise(SIGUSR1) == 0, "raise");
	must(is_filled(memory, 0, BYTES), "memory behind a handler");
}

/* ---- threads and children ---- */

static void *load_all(void *result)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	*(bool *)result = is_filled(memory, 0, BYTES);
	return NULL;
}

static void use_threads(void)
{
	bool is_good[4] = { false };
	pthread_t threads[4];

	fill();
	for (int i = 0; i < 4; i++)
		must(pthread_create(&threads[i], NULL, load_all, &is_good[i]) == 0, "pthread_create");
	for (int i = 0; i < 20; i++)
		close_pages();
	for (int i = 0; i < 4; i++)
		must(pthread_join(threads[i], NULL) == 0 && is_good[i], "a thread");
}

static void use_child(void)
{
	int status = 0;
	pid_t child;

	fill();
	child = fork();
	if (child == 0)
		_exit(is_filled(memory, 0, BYTES) ? 0 : 1);
	must(waitpid(child, &status, 0) == child && status == 0, "a child");
	must(is_filled(memory, 0, BYTES), "memory behind a child");
}

/* ---- Oriel ---- */

/* Operations whose buffers are closed pages. */
static void use_as_buffers(void)
{
	size_t half = BYTES / 2;
	oriel_win *other;
	uint8_t *there;

	must(oriel_win_allocate(BYTES, 1, NULL, world, (void **)&there, &other) == 0, "oriel_win_allocate");
	fill();
	must(oriel_win_fence(other, 0) == 0 && oriel_put(other, memory, half, 1 - rank, 0) == 0 &&
	         oriel_put(other, memory + half, 8, 1 - rank, half) == 0 && oriel_win_fence(other, 0) == 0,
	     "oriel_put of window memory");
	must(is_filled(there, 0, half + 8), "what was put");
	memset(memory, 0, BYTES);
	must(oriel_win_fence(other, 0) == 0 && oriel_get(other, memory, half, 1 - rank, 0) == 0 &&
	         oriel_win_fence(other, ORIEL_MODE_NOSUCCEED) == 0,
	     "oriel_get into window memory");
	must(is_filled(memory, 0, half), "what was got");
	must(oriel_win_free(&other) == 0, "oriel_win_free");
}

/* Another window of the same memory, which its owner accesses by the first one's address. */
static void use_in_another_window(void)
{
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	oriel_win *other;

	must(oriel_win_query(win, &info) == 0 && info.base == memory, "the address of the window");
	fill();
	must(oriel_win_create(memory, BYTES, 1, NULL, world, &other) == 0, "oriel_win_create");
	memcpy(copy, memory, BYTES);
	must(oriel_win_fence(other, 0) == 0 && oriel_put(other, copy, BYTES / 2, 1 - rank, BYTES / 2) == 0 &&
	         oriel_win_fence(other, ORIEL_MODE_NOSUCCEED) == 0,
	     "oriel_put");
	must(memcmp(memory + BYTES / 2, copy, BYTES / 2) == 0, "what was put to the other window");
	must(oriel_win_free(&other) == 0, "oriel_win_free");
}

static void use_window(void)
{
	must(oriel_win_allocate(BYTES, 1, NULL, world, (void **)&memory, &win) == 0, "oriel_win_allocate");
	use_file();
	use_socket();
	use_other_process();
	use_handler();
	use_memory_in_handler();
	use_threads();
	use_child();
	use_as_buffers();
	use_in_another_window();
	must(oriel_win_free(&win) == 0, "oriel_win_free");
}

/* Windows of memory that is not Oriel's are not looked at. */
static void create_window(void)
{
	must(oriel_win_create(copy, BYTES, 1, NULL, world, &win) == 0 && oriel_win_fence(win, 0) == 0 &&
	         oriel_put(win, &rank, sizeof(rank), 1 - rank, 0) == 0 && oriel_win_fence(win, ORIEL_MODE_NOSUCCEED) == 0 &&
	         oriel_win_free(&win) == 0,
	     "a window that is created");
}

int main(int argc, char **argv)
{
	(void)argv;
	must(oriel_init(NULL, &job) == 0 && oriel_group_world(job, &world) == 0, "oriel_init");
	rank = oriel_rank(job);
	if (argc > 1)
		create_window();
	for (int i = 0; i < 2 && argc == 1; i++)
		use_window();
	oriel_group_free(&world);
	return oriel_finalize(&job) ? 1 : 0;
}
