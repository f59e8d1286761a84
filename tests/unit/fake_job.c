// SPDX-License-Identifier: BSD-2-Clause
/* fake_job.c - see fake_job.h. */
#include "fake_job.h"

#include <CUnit/CUnit.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_verbs.h"
#include "base/handle.h"
#include "base/order.h"
#include "conn/service.h"
#include "job/job.h"

struct run {
	rank_function *function;
	struct rank *rank;
	pthread_t thread;
};

static int limit_seconds = 60;
static char doing[256];
static int boots_left;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool running; /* guarded by lock */
static struct rank *watched;
static int watched_count;

static uint32_t resting; /* ranks that have begun to; changed atomically */
static uint32_t counted; /* rank 0 has */

int rank_join(struct rank *rank, const struct oriel_options *options)
{
	static const struct oriel_options defaults;
	struct oriel_job *job = handle_new(HANDLE_JOB, sizeof(*job));
	struct boot *boot;
	int rc;

	if (!job)
		return ORIEL_ERR_MEMORY;
	boot = fake_boot_open(rank->world, rank->rank, &job_boot_events, job);
	rc = job_open(job, boot, options ? options : &defaults);
	if (rc == 0)
		rank->job = job;
	return rc;
}

int rank_join_on(struct rank *rank, const char *node)
{
	static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;
	const struct oriel_options both = { .struct_bytes = sizeof(both), .device = "card+soft" };
	int rc;

	pthread_mutex_lock(&joining);
	setenv("ORIEL_TEST_NODE", node, 1);
	rc = rank_note(rank, "job_open", rank_join(rank, &both));
	unsetenv("ORIEL_TEST_NODE");
	pthread_mutex_unlock(&joining);
	return rc;
}

int rank_note(struct rank *rank, const char *call, int rc)
{
	if (rc >= 0)
		return rc;
	if (getenv("UNIT_FAKE_VERBOSE"))
		printf("rank %d: %d in %s: %s\n", rank->rank, rc, call, oriel_last_error());
	if (rank->errors++ == 0) {
		rank->first_error = rc;
		rank->first_call = call;
		snprintf(rank->first_text, sizeof(rank->first_text), "%s", oriel_last_error());
	}
	return rc;
}

void rank_begin_counting(const struct rank *rank)
{
	while (state_load(&resting) < (uint32_t)rank->size - 1) /* pairs with the addition in rank_rest */
		sched_yield();
}

void rank_end_counting(void)
{
	state_store(&counted, 1); /* pairs with the state_load in rank_rest */
}

void rank_rest(void)
{
	__atomic_fetch_add(&resting, 1, __ATOMIC_RELEASE); /* pairs with the state_load in rank_begin_counting */
	while (!state_load(&counted))
		sched_yield();
}

static void *run_rank(void *arg)
{
	struct run *run = arg;

	run->function(run->rank);
	fake_world_ended(run->rank->world, run->rank->rank, "exited with status 1");
	return NULL;
}

static void report_hang(void)
{
	printf("not ok: nothing moved for %d s: %s; fault hit: %s\n", limit_seconds, doing,
	       fake_hit() ? fake_hit() : "none");
	for (int i = 0; i < watched_count; i++)
		printf("  rank %d is in %s; first error %d in %s: %s\n", i, watched[i].step ? watched[i].step : "?",
		       watched[i].first_error, watched[i].first_call ? watched[i].first_call : "-", watched[i].first_text);
	printf("  %s\nunit_fake: 0 passed, 1 failed, 0 skipped\n", fake_report());
	fflush(stdout);
	if (getenv("UNIT_FAKE_HANG_STOPS"))
		abort();
	_exit(EXIT_FAILURE);
}

static void *watch(void *arg)
{
	struct timespec until;

	(void)arg;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += limit_seconds;
	pthread_mutex_lock(&lock);
	while (running) {
		if (pthread_cond_timedwait(&changed, &lock, &until) && running)
			report_hang();
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

void ranks_limit(int seconds, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(doing, sizeof(doing), format, args);
	va_end(args);
	limit_seconds = seconds;
}

void ranks_run(int size, rank_function *function, void *arg, struct rank ranks[])
{
	struct fake_world *world = fake_world_new(size);
	struct run runs[FAKE_RANKS_MAX];
	pthread_t watchdog;

	memset(ranks, 0, (size_t)size * sizeof(*ranks));
	running = true;
	resting = counted = 0;
	watched = ranks;
	watched_count = size;
	if (pthread_create(&watchdog, NULL, watch, NULL))
		abort();
	for (int i = 0; i < size; i++) {
		ranks[i] = (struct rank){ .world = world, .rank = i, .size = size, .arg = arg };
		runs[i] = (struct run){ function, &ranks[i], 0 };
	}
	for (int i = 0; i < size; i++) {
		if (pthread_create(&runs[i].thread, NULL, run_rank, &runs[i]))
			abort();
	}
	for (int i = 0; i < size; i++)
		pthread_join(runs[i].thread, NULL);
	pthread_mutex_lock(&lock);
	running = false;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(watchdog, NULL);
	boots_left = fake_world_free(world);
}

bool ranks_clean(void)
{
	fake_release_requests();
	if (fake_alive() == 0 && fake_misuses() == 0 && boots_left == 0)
		return true;
	printf("not clean: %s: %s; boots %d; fault hit: %s\n", doing, fake_report(), boots_left,
	       fake_hit() ? fake_hit() : "none");
	return false;
}

void ranks_check(const struct rank ranks[], int size)
{
	for (int i = 0; i < size; i++) {
		if (ranks[i].errors || ranks[i].wrong)
			printf("rank %d: error %d in %s: %s; %d comparisons wrong\n", i, ranks[i].first_error,
			       ranks[i].first_call ? ranks[i].first_call : "-", ranks[i].first_text, ranks[i].wrong);
		CU_ASSERT_EQUAL(ranks[i].errors, 0);
		CU_ASSERT_EQUAL(ranks[i].wrong, 0);
	}
	CU_ASSERT_TRUE(ranks_clean());
}
