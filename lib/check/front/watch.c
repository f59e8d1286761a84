// SPDX-License-Identifier: BSD-2-Clause
/* See watch.h. */
#include "check/front/watch.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "check/deadlock.h"
#include "see/front/spawn.h"

#define TICK_MS 250
#define TICK_VARIABLE "ORIEL_CHECK_DEADLOCK" /* milliseconds between looks; 0: none */
#define TICK_MOST_MS 10000
#define TICKS_QUIET 4
#define TICKS_FOUND 4 /* in which further ranks join a deadlock */
#define THREADS_MAX 256
#define FAIL_VARIABLE "ORIEL_CHECK_FAIL"
#define LIMIT_VARIABLE "ORIEL_TIMEOUT"
#define PROGRAM_VARIABLE "ORIEL_CHECK" /* the starter's */
#define EXIT_FOUND 86
#define MAP_LOOKS_MOST 63 /* between two looks for traces that are missing */

/* Threads by their numbers. */
struct threads {
	pid_t list[THREADS_MAX];
	int count; /* -1: not known */
};

static struct {
	struct trace *trace;
	pthread_t thread;
	bool is_running;
	bool is_threaded;
	uint64_t tick_ns;
	struct threads before, library;
	struct deadlock_job job;
	int found;               /* looks in a row that have found a deadlock */
	int map_looks, map_left; /* looks between those for missing traces, and until the next */
} watch;

static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t end_asked;
static pthread_once_t is_prepared = PTHREAD_ONCE_INIT;
static bool is_asked;

/* ---- threads ---- */

static pid_t own_thread(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void list_threads(struct threads *threads)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;

	threads->count = tasks ? 0 : -1;
	while (tasks && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		if (threads->count == THREADS_MAX) {
			threads->count = -1;
			break;
		}
		threads->list[threads->count++] = (pid_t)atoi(entry->d_name);
	}
	if (tasks)
		closedir(tasks);
}

static bool has_thread(const struct threads *threads, pid_t thread)
{
	for (int i = 0; i < threads->count; i++) {
		if (threads->list[i] == thread)
			return true;
	}
	return false;
}

/* If the program had several threads, one of them may have started a thread while the job began. */
static void find_library_threads(void)
{
	struct threads now;

	watch.library.count = 0;
	list_threads(&now);
	if (watch.before.count != 1 || now.count < 0)
		return;
	for (int i = 0; i < now.count; i++) {
		if (!has_thread(&watch.before, now.list[i]))
			watch.library.list[watch.library.count++] = now.list[i];
	}
}

/* A later thread may have the number of one that has ended. */
static void drop_ended_threads(void)
{
	static struct threads now;
	int left = 0;

	if (!watch.is_threaded || watch.library.count == 0)
		return;
	list_threads(&now);
	for (int i = 0; i < watch.library.count; i++) {
		if (has_thread(&now, watch.library.list[i]))
			watch.library.list[left++] = watch.library.list[i];
	}
	watch.library.count = left;
}

static bool waits_in_slot(pid_t thread)
{
	struct trace_wait wait;

	for (int i = 0; i < WAITS_SLOTS; i++) {
		if (waits_read_slot(&watch.trace->waits, i, &wait) && wait.thread == thread)
			return true;
	}
	return false;
}

static bool all_wait(const struct threads *threads)
{
	for (int i = 0; i < threads->count; i++) {
		pid_t thread = threads->list[i];

		if (thread != own_thread() && !has_thread(&watch.library, thread) && !waits_in_slot(thread))
			return false;
	}
	return threads->count > 0;
}

/* Returns how many threads wait in slots: 0, 1, or 2 for more. */
static int waiting_threads(void)
{
	int32_t first = 0;

	for (int i = 0; i < WAITS_SLOTS; i++) {
		struct trace_wait wait;

		if (!waits_read_slot(&watch.trace->waits, i, &wait))
			continue;
		if (first && wait.thread != first)
			return 2;
		first = wait.thread;
	}
	return first != 0;
}

/* Threads that end may hide others from a list: it is read twice. */
static bool is_quiet(void)
{
	static struct threads first, second;

	if (!watch.is_threaded && waiting_threads() == 1)
		return true;
	list_threads(&first);
	list_threads(&second);
	return first.count == second.count && all_wait(&first) && all_wait(&second);
}

/* ---- looking for a deadlock ---- */

/* The process of the lowest rank that is quiet, and can, searches. */
static bool searches(void)
{
	for (int rank = 0; rank < watch.trace->rank && rank < watch.job.size; rank++) {
		const struct trace *trace = watch.job.ranks[rank].trace;

		if (trace && trace->waits.quiet > 0 &&
		    __atomic_load_n(&trace->waits.quiet, __ATOMIC_ACQUIRE) == /* pairs with look */
		        __atomic_load_n(&trace->waits.changes, __ATOMIC_ACQUIRE) &&
		    deadlock_may_search(trace))
			return false;
	}
	return true;
}

static void note_report(void)
{
	struct trace_waits *waits = &watch.trace->waits;

	for (int i = 0; i < watch.job.core_count && waits->reported_count < WAITS_REPORTED; i++) {
		int rank = watch.job.core[i];

		waits->reported[waits->reported_count] = (struct trace_reported){ rank, 0, watch.job.ranks[rank].changes };
		__atomic_store_n(&waits->reported_count, waits->reported_count + 1,
		                 __ATOMIC_RELEASE); /* pairs with is_reported_by */
	}
}

static void report(void)
{
	const char *program = getenv(PROGRAM_VARIABLE), *fail = getenv(FAIL_VARIABLE);
	char rank[16];
	char *const arguments[] = { (char *)(uintptr_t)program, (char *)"--deadlock", watch.trace->job, rank, NULL };

	snprintf(rank, sizeof(rank), "%d", watch.job.core[0]);
	note_report();
	if (program)
		spawn_and_wait(program, arguments);
	if (fail && strcmp(fail, "1") == 0)
		_exit(EXIT_FOUND);
}

/* Other ranks may begin later than this one. */
static void map_job(void)
{
	if ((watch.job.size && deadlock_is_whole(&watch.job)) || watch.map_left-- > 0)
		return;
	watch.map_left = watch.map_looks;
	watch.map_looks = watch.map_looks < MAP_LOOKS_MOST ? 2 * watch.map_looks + 1 : MAP_LOOKS_MOST;
	deadlock_close(&watch.job);
	deadlock_open(&watch.job, watch.trace->job, watch.trace->host);
}

static void search(void)
{
	if (watch.found)
		watch.map_left = 0;
	map_job();
	if (watch.trace->waits.reported_count < WAITS_REPORTED && searches() && deadlock_search(&watch.job, -1))
		watch.found++;
	else
		watch.found = 0;
	if (watch.found < TICKS_FOUND)
		return;
	watch.found = 0;
	report();
}

/* Returns for how many looks nothing has changed. */
static int look(uint64_t *changes, int ticks)
{
	struct trace_waits *waits = &watch.trace->waits;
	uint64_t now = __atomic_load_n(&waits->changes, __ATOMIC_ACQUIRE); /* pairs with waits_begin */

	if (now != *changes) {
		*changes = now;
		return 0;
	}
	if (ticks < TICKS_QUIET || waiting_threads() == 0)
		return ticks + 1;
	if (waits->quiet != now && is_quiet() &&
	    now == __atomic_load_n(&waits->changes, __ATOMIC_ACQUIRE)) /* pairs with wait_end */
		__atomic_store_n(&waits->quiet, now, __ATOMIC_RELEASE);    /* pairs with look_first */
	if (waits->quiet == now)
		search();
	return ticks;
}

/* Waits for the next look. Returns false if the watcher is to end. */
static bool await_tick(void)
{
	struct timespec until;
	uint64_t ns;
	bool goes_on;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns = (uint64_t)until.tv_nsec + watch.tick_ns;
	until.tv_sec += (time_t)(ns / NS_PER_SECOND);
	until.tv_nsec = (long)(ns % NS_PER_SECOND);
	pthread_mutex_lock(&ending);
	if (!is_asked)
		pthread_cond_timedwait(&end_asked, &ending, &until);
	goes_on = !is_asked;
	pthread_mutex_unlock(&ending);
	return goes_on;
}

static void *run(void *unused)
{
	uint64_t changes = 0;
	int ticks = 0;

	while (await_tick()) {
		drop_ended_threads();
		ticks = look(&changes, ticks);
	}
	return unused;
}

/* ---- begin and end ---- */

/* A child of fork has no watcher. */
static void leave_in_child(void)
{
	watch.is_running = false;
	watch.trace = NULL;
}

static bool has_limit(void)
{
	const char *text = getenv(LIMIT_VARIABLE);

	return text && *text && strcmp(text, "0") != 0;
}

static uint64_t tick_ns(void)
{
	const char *text = getenv(TICK_VARIABLE);
	unsigned long ms = text && *text ? strtoul(text, NULL, 10) : TICK_MS;

	return (ms < TICK_MOST_MS ? ms : TICK_MOST_MS) * NS_PER_MS;
}

void watch_prepare(void)
{
	list_threads(&watch.before);
}

static void prepare(void)
{
	pthread_condattr_t clock;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&end_asked, &clock);
	pthread_condattr_destroy(&clock);
	pthread_atfork(NULL, NULL, leave_in_child);
}

static void start(void)
{
	sigset_t all, before;

	pthread_once(&is_prepared, prepare);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	watch.is_running = pthread_create(&watch.thread, NULL, run, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* All jobs of one parent that name none have one name (bootstrap/boot.c). */
static bool has_own_name(const struct trace *trace)
{
	return strncmp(trace->job, "parent ", strlen("parent ")) != 0;
}

void watch_begin(struct trace *trace, bool is_threaded)
{
	watch.tick_ns = tick_ns();
	if (!trace || trace->rank < 0 || watch.trace || has_limit() || watch.tick_ns == 0 || !has_own_name(trace))
		return;
	watch.trace = trace;
	watch.is_threaded = is_threaded;
	find_library_threads();
	start();
}

void watch_ended(bool is_ended)
{
	if (watch.trace)
		__atomic_store_n(&watch.trace->waits.is_ended, is_ended, __ATOMIC_RELEASE); /* pairs with look_first */
}

void watch_end(void)
{
	if (!watch.is_running)
		return;
	pthread_mutex_lock(&ending);
	is_asked = true;
	pthread_cond_signal(&end_asked);
	pthread_mutex_unlock(&ending);
	pthread_join(watch.thread, NULL);
	deadlock_close(&watch.job);
	is_asked = false;
	watch.is_running = false;
	watch.trace = NULL;
	watch.found = watch.map_looks = watch.map_left = 0;
}
