// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_process.c - process.c: the living, the ended, and another one with the number of one that
 * has ended.
 */
#include "base/process.c"

#include <CUnit/CUnit.h>
#include <pthread.h>
#include <sys/wait.h>

#include "suites.h"

#define TICKS_NS (50 * NS_PER_MS) /* some of the clock's ticks, in which starts are counted */

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	return pid;
}

static void process__lives_and_ends(void)
{
	pid_t pid = start();
	uint64_t known = process_clock_ns();
	siginfo_t info;

	CU_ASSERT_FALSE(process_ended(pid, known));
	CU_ASSERT_FALSE(process_ended(pid, 0));
	CU_ASSERT_FALSE(process_ended(getpid(), known));
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	CU_ASSERT_TRUE(process_ended(pid, known));
	waitpid(pid, NULL, 0);
	CU_ASSERT_TRUE(process_ended(pid, known));
}

/* A process that was known before this one was started has ended, whichever has its number now. */
static void process__another_has_the_number(void)
{
	uint64_t known = process_clock_ns();
	pid_t pid;

	while (process_clock_ns() - known < TICKS_NS)
		continue;
	pid = start();
	CU_ASSERT_TRUE(process_ended(pid, known));
	CU_ASSERT_FALSE(process_ended(pid, 0));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void *stay(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

/* A process whose first thread has ended lives on, although the system calls it a zombie. */
static void process__lives_without_its_first_thread(void)
{
	struct status status = { 0 };
	pthread_t thread;
	pid_t pid = fork();

	if (pid == 0) {
		pthread_create(&thread, NULL, stay, NULL);
		pthread_exit(NULL);
	}
	while (status.state != 'Z')
		CU_ASSERT_TRUE_FATAL(read_status(pid, &status));
	CU_ASSERT_EQUAL(status.threads, 2);
	CU_ASSERT_FALSE(process_ended(pid, 0));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CU_ASSERT_TRUE(process_ended(pid, 0));
}

void suite_process(void)
{
	CU_pSuite suite = CU_add_suite("process", NULL, NULL);

	CU_ADD_TEST(suite, process__lives_and_ends);
	CU_ADD_TEST(suite, process__another_has_the_number);
	CU_ADD_TEST(suite, process__lives_without_its_first_thread);
}
