// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault_kill.c - rule E6, and W7 with a dead member: a rank is killed inside a call, and all others
 * get the error
 *
 *   oriel-run -n 4 fault_kill WHERE     WHERE is a name of the table below; fault_kill --list
 *
 * Rank 1 is the victim. It goes into the call, and a second thread of it waits until it is there
 * (which it sees inside the library), notes the time on the board and kills the process. The others
 * wait for it, each mode in another call, and must get ORIEL_ERR_PEER that names it within 5 s.
 * Then they must still be able to work with each other, to free the windows they had with the
 * victim, and to leave. Each survivor prints "told RANK MILLISECONDS".
 */
#include "multi.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/job.h"
#include "base/order.h"
#include "base/util.h"
#include "told.h"
#include "win/win.h"

#define VICTIM 1
#define LATE 0 /* whom the victim waits for in the first round of a collective call */
#define RANKS 4
#define TOLD_MS ((uint64_t)told_limit_ms())
#define LIMIT_S 150
#define SOME_CALLS 2000

/* Words of the board. */
enum { KILLED_NS, REACHED /* of rank 0; those of the others follow: it has put to the victim */ };

struct fault {
	struct multi m;
	struct multi_window w;
	oriel_group *victim;
	oriel_group *others; /* all but the victim */
	oriel_group *none;
	uint64_t calls; /* that the victim has made; counter_load */
	bool (*is_there)(struct fault *fault);
};

/* The victim. */

static bool made_some_calls(struct fault *fault)
{
	return counter_load(&fault->calls) > SOME_CALLS; /* pairs with count_call */
}

static void count_call(struct fault *fault)
{
	counter_store(&fault->calls, fault->calls + 1);
}

static void die_in_start(struct fault *fault)
{
	while (CHECK_OK(&fault->m, oriel_win_start(fault->w.win, fault->none, 0))) /* each discards the one before */
		count_call(fault);
}

static void die_in_put(struct fault *fault)
{
	uint8_t byte = 1;

	CHECK_OK(&fault->m, oriel_win_start(fault->w.win, fault->others, 0));
	for (size_t i = 0;; i++) {
		if (!CHECK_OK(&fault->m, oriel_put(fault->w.win, &byte, 1, i % 3 == 0 ? 0 : (int)(i % 3) + 1, i % 64)))
			return;
		count_call(fault);
	}
}

/*
 * A lock that is taken now and then by the thread that waits; the flags it guards change only when
 * it begins and ends.
 */
static bool locked_bit(struct fault *fault, enum sync_bit bit)
{
	bool set;

	owned_lock_take(&fault->w.win->lock);
	set = fault->w.win->sync & bit;
	owned_lock_give(&fault->w.win->lock);
	return set;
}

static bool is_in_complete(struct fault *fault)
{
	return locked_bit(fault, SYNC_COMPLETING);
}

/* No rank posts to the victim. */
static void die_in_complete(struct fault *fault)
{
	uint8_t byte = 1;

	CHECK_OK(&fault->m, oriel_win_start(fault->w.win, fault->others, 0));
	CHECK_OK(&fault->m, oriel_put(fault->w.win, &byte, 1, 0, 0));
	CHECK_OK(&fault->m, oriel_win_complete(fault->w.win));
}

static bool is_in_wait(struct fault *fault)
{
	struct multi *m = &fault->m;

	return locked_bit(fault, SYNC_WAITING) && multi_word(m, REACHED) && multi_word(m, REACHED + 2) &&
	       multi_word(m, REACHED + 3);
}

/* The others flush inside their epochs and do not complete. */
static void die_in_wait(struct fault *fault)
{
	CHECK_OK(&fault->m, oriel_win_post(fault->w.win, fault->others, 0));
	CHECK_OK(&fault->m, oriel_win_wait(fault->w.win));
}

static bool is_in_fence(struct fault *fault)
{
	return locked_bit(fault, SYNC_FENCING);
}

static void die_in_fence(struct fault *fault)
{
	CHECK_OK(&fault->m, oriel_win_fence(fault->w.win, 0));
}

static bool is_in_create(struct fault *fault)
{
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };

	return oriel_usage(fault->m.job, &usage) == 0 && usage.windows == 2;
}

static void die_in_create(struct fault *fault)
{
	oriel_win *win;

	CHECK_OK(&fault->m, oriel_win_create(fault->w.base, 8, 1, NULL, fault->m.group, &win));
}

static bool is_in_free(struct fault *fault)
{
	return locked_bit(fault, SYNC_FREEING);
}

static void die_in_free(struct fault *fault)
{
	oriel_win *win = fault->w.win;

	CHECK_OK(&fault->m, oriel_win_free(&win));
}

/* The number of barriers is counted when one begins. */
static bool is_in_barrier(struct fault *fault)
{
	struct oriel_job *job = fault->m.job;
	bool in = false;

	pthread_mutex_lock(&job->lock);
	for (uint32_t i = 0; i < job->group_counts.count; i++)
		in = in || job->group_counts.list[i].count >= 2;
	pthread_mutex_unlock(&job->lock);
	return in;
}

static void die_in_barrier(struct fault *fault)
{
	CHECK_OK(&fault->m, oriel_barrier(fault->m.job));
}

static bool at_once(struct fault *fault)
{
	(void)fault;
	return true;
}

static void die_computing(struct fault *fault)
{
	(void)fault;
	for (;;)
		sched_yield();
}

static void leave_in_error(struct fault *fault)
{
	multi_raise(&fault->m, KILLED_NS, now_ns());
	_exit(3);
}

static void *kill_there(void *arg)
{
	struct fault *fault = arg;

	while (!fault->is_there(fault))
		sched_yield();
	multi_raise(&fault->m, KILLED_NS, now_ns());
	kill(getpid(), SIGKILL);
	return NULL;
}

/* The others. Each gives what the call that waits for the victim returns. */

static int told_in_complete(struct fault *fault)
{
	uint8_t byte = 1;
	int rc;

	CHECK_OK(&fault->m, oriel_win_start(fault->w.win, fault->victim, 0));
	rc = oriel_put(fault->w.win, &byte, 1, VICTIM, 0);
	CHECK(&fault->m, rc == 0 || rc == ORIEL_ERR_PEER); /* it may be known by now */
	return oriel_win_complete(fault->w.win);
}

static int told_in_wait(struct fault *fault)
{
	CHECK_OK(&fault->m, oriel_win_post(fault->w.win, fault->victim, 0));
	return oriel_win_wait(fault->w.win);
}

static int told_in_test(struct fault *fault)
{
	int flag = 0, rc;

	CHECK_OK(&fault->m, oriel_win_post(fault->w.win, fault->victim, 0));
	do
		rc = oriel_win_test(fault->w.win, &flag);
	while (rc == 0 && !flag);
	CHECK(&fault->m, flag == 0);
	return rc;
}

static int told_in_flush(struct fault *fault)
{
	static uint8_t large[100000];
	int rc;

	CHECK_OK(&fault->m, oriel_win_start(fault->w.win, fault->victim, 0));
	CHECK_OK(&fault->m, oriel_put(fault->w.win, large, 8, VICTIM, 0));
	CHECK_OK(&fault->m, oriel_win_flush(fault->w.win, VICTIM));
	multi_raise(&fault->m, REACHED + fault->m.rank, 1);
	do {
		rc = oriel_put(fault->w.win, large, 64, VICTIM, 0);
		if (rc == 0)
			rc = oriel_win_flush(fault->w.win, ORIEL_RANK_ALL);
	} while (rc == 0);
	CHECK_RC(&fault->m, ORIEL_ERR_PEER, oriel_win_complete(fault->w.win));
	return rc;
}

/* Whether a process has ended, reaped or not. */
static bool has_ended(pid_t pid)
{
	char path[64], text[512];
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return true;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	at = strrchr(text, ')');
	return at && (at[2] == 'Z' || at[2] == 'X');
}

/* A rank that came before the victim is dead could let it out of the call, and the others too. */
static void come_late(struct fault *fault)
{
	if (fault->m.rank != LATE)
		return;
	multi_await(&fault->m, KILLED_NS, 1);
	while (!has_ended(multi_pid(&fault->m, VICTIM)))
		sched_yield();
}

static int told_in_fence(struct fault *fault)
{
	come_late(fault);
	return oriel_win_fence(fault->w.win, 0);
}

static int told_in_create(struct fault *fault)
{
	oriel_win *win = NULL;
	int rc;

	come_late(fault);
	rc = oriel_win_create(fault->w.base, 8, 1, NULL, fault->m.group, &win);
	CHECK(&fault->m, (win == NULL) == (rc != 0));
	if (rc == 0)
		rc = oriel_win_free(&win);
	return rc;
}

static int told_in_free(struct fault *fault)
{
	int rc;

	come_late(fault);
	rc = oriel_win_free(&fault->w.win);
	CHECK(&fault->m, fault->w.win == NULL);
	return rc;
}

static int told_in_barrier(struct fault *fault)
{
	come_late(fault);
	return oriel_barrier(fault->m.job);
}

/*
 * The gate (op/gate.h). Its serial goes from 2^32 - 2 to the one at which a link to the victim was
 * opened, but for 2^32: no put to the victim may take that link for open.
 */

/* A window that every rank maps where it can, with links that lock_all has opened. */
static oriel_win *open_gates(struct fault *fault)
{
	struct multi *m = &fault->m;
	uint64_t word = 1;
	oriel_win *win;
	void *base;

	CHECK_OK(m, oriel_win_allocate(RANKS * sizeof(word), sizeof(word), NULL, m->group, &base, &win));
	CHECK_OK(m, oriel_win_lock_all(win, 0));
	for (int round = 0; round < 2; round++) { /* the first time a put may have to be deferred */
		for (int to = 0; to < RANKS; to++)
			CHECK_OK(m, oriel_put(win, &word, sizeof(word), to, (size_t)m->rank));
		CHECK_OK(m, oriel_win_flush(win, ORIEL_RANK_ALL));
	}
	multi_raise(m, REACHED + m->rank, 1);
	return win;
}

static bool all_have_reached(struct fault *fault)
{
	for (int rank = 0; rank < RANKS; rank++) {
		if (!multi_word(&fault->m, REACHED + rank))
			return false;
	}
	return true;
}

static void die_with_open_gates(struct fault *fault)
{
	open_gates(fault);
	die_computing(fault);
}

static bool gate_stands_open(oriel_win *win, int rank)
{
	bool open;

	owned_lock_take(&win->lock);
	open = link_find(win, rank)->open_in == win->epoch_serial;
	owned_lock_give(&win->lock);
	return open;
}

/* One epoch more, with the victim's link as it was. */
static void walk_one(struct fault *fault, oriel_win *win, int living)
{
	struct multi *m = &fault->m;
	uint64_t word = win->epoch_serial, seen = 0;

	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(win, &word, sizeof(word), living, 0));
	CHECK_OK(m, oriel_win_lock_all(win, 0));
	CHECK(m, !gate_stands_open(win, VICTIM) && !gate_stands_open(win, living));
	for (int i = 0; i < 2; i++) {
		CHECK_RC(m, ORIEL_ERR_PEER, oriel_put(win, &word, sizeof(word), VICTIM, (size_t)m->rank));
		CHECK_OK(m, oriel_put(win, &word, sizeof(word), living, (size_t)m->rank));
	}
	CHECK(m, !gate_stands_open(win, VICTIM) && gate_stands_open(win, living));
	CHECK_OK(m, oriel_win_flush(win, living));
	CHECK_OK(m, oriel_get(win, &seen, sizeof(seen), living, (size_t)m->rank));
	CHECK_OK(m, oriel_win_flush(win, living));
	CHECK(m, seen == word);
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_unlock_all(win));
}

static int told_across_serials(struct fault *fault)
{
	const uint64_t edge = UINT64_C(1) << 32;
	struct multi *m = &fault->m;
	oriel_win *win = open_gates(fault);
	int living = (m->rank + 1) % RANKS == VICTIM ? (m->rank + 2) % RANKS : (m->rank + 1) % RANKS;
	uint64_t opened = link_find(win, VICTIM)->open_in, word = 2;
	int rc;

	CHECK(m, gate_stands_open(win, VICTIM) && gate_stands_open(win, living) && opened < 100);
	multi_await(m, KILLED_NS, 1);
	do
		rc = oriel_put(win, &word, sizeof(word), VICTIM, (size_t)m->rank);
	while (rc == 0);
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_unlock_all(win));
	win->epoch_serial = edge - 2;
	while (win->epoch_serial <= edge + opened && !multi_failed(m))
		walk_one(fault, win, living);
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_free(&win));
	return rc;
}

struct mode {
	const char *name;
	bool (*is_there)(struct fault *fault);
	void (*die)(struct fault *fault);
	int (*told)(struct fault *fault);
	bool collective; /* the next collective call reports it if this one had got from the victim what it needs */
};

static const struct mode modes[] = {
	{ "start_others_wait", made_some_calls, die_in_start, told_in_wait, false },
	{ "put_others_test", made_some_calls, die_in_put, told_in_test, false },
	{ "put_others_wait", made_some_calls, die_in_put, told_in_wait, false },
	{ "complete_others_complete", is_in_complete, die_in_complete, told_in_complete, false },
	{ "wait_others_flush", is_in_wait, die_in_wait, told_in_flush, false },
	{ "fence_others_fence", is_in_fence, die_in_fence, told_in_fence, true },
	{ "create_others_create", is_in_create, die_in_create, told_in_create, true },
	{ "free_others_free", is_in_free, die_in_free, told_in_free, true },
	{ "barrier_others_barrier", is_in_barrier, die_in_barrier, told_in_barrier, true },
	{ "computing_others_fence", at_once, die_computing, told_in_fence, false },
	{ "computing_others_free", at_once, die_computing, told_in_free, false },
	{ "computing_others_walk_across_2_32", all_have_reached, die_with_open_gates, told_across_serials, false },
	{ "left_in_error_others_complete", NULL, leave_in_error, told_in_complete, false },
	{ "left_in_error_others_create", NULL, leave_in_error, told_in_create, false },
};

#define MODES (sizeof(modes) / sizeof(modes[0]))

static int be_victim(struct fault *fault, const struct mode *mode)
{
	pthread_t thread;

	fault->is_there = mode->is_there;
	if (mode->is_there && pthread_create(&thread, NULL, kill_there, fault))
		return 1;
	mode->die(fault);
	if (multi_tell(&fault->m) == 0)
		printf("not ok %s: the victim has come out of the call\n", mode->name);
	return 1;
}

/* The living can go on among themselves as if nothing had been. */
static void go_on(struct fault *fault)
{
	struct multi *m = &fault->m;
	uint8_t memory[RANKS] = { 0 }, value = (uint8_t)(m->rank + 1);
	oriel_win *win;

	if (!CHECK_OK(m, oriel_win_create(memory, sizeof(memory), 1, NULL, fault->others, &win)))
		return;
	CHECK_OK(m, oriel_win_post(win, fault->others, 0));
	CHECK_OK(m, oriel_win_start(win, fault->others, 0));
	for (int to = 0; to < RANKS - 1; to++)
		CHECK_OK(m, oriel_put(win, &value, 1, to, (size_t)m->rank));
	CHECK_OK(m, oriel_win_complete(win));
	CHECK_OK(m, oriel_win_wait(win));
	CHECK(m, memory[0] == 1 && memory[1] == 0 && memory[2] == 3 && memory[3] == 4);
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
}

static int be_survivor(struct fault *fault, const struct mode *mode)
{
	struct multi *m = &fault->m;
	int rc = mode->told(fault);
	uint64_t told_ns, killed_ns, ms;

	if (rc == 0 && mode->collective)
		rc = oriel_barrier(m->job);
	told_ns = now_ns();
	killed_ns = multi_word(m, KILLED_NS);
	ms = (told_ns - killed_ns) / NS_PER_MS;
	CHECK_RC(m, ORIEL_ERR_PEER, rc);
	CHECK_TEXT(m, "rank 1");
	CHECK(m, killed_ns != 0 && told_ns >= killed_ns);
	if (!CHECK(m, ms < TOLD_MS))
		printf("# %s: rank %d was told after %llu ms\n", mode->name, m->rank, (unsigned long long)ms);
	go_on(fault);
	if (fault->w.win) {
		CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_free(&fault->w.win));
		CHECK(m, fault->w.win == NULL);
	}
	CHECK_OK(m, oriel_group_free(&fault->victim));
	CHECK_OK(m, oriel_group_free(&fault->others));
	CHECK_OK(m, oriel_group_free(&fault->none));
	CHECK_OK(m, oriel_group_free(&m->group));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_finalize(&m->job));
	CHECK(m, m->job == NULL);
	if (multi_tell(m) == 0)
		printf("told %d %llu\n", m->rank, (unsigned long long)ms);
	return multi_failed(m);
}

static int run(const struct mode *mode)
{
	static struct fault fault;
	struct multi *m = &fault.m;

	if (!multi_enter(m, mode->name, LIMIT_S))
		return 1;
	if (m->size != RANKS) {
		fprintf(stderr, "fault_kill: run me with %d ranks\n", RANKS);
		return 2;
	}
	fault.victim = multi_group_one(m, VICTIM);
	fault.others = multi_group_mask(m, 0xf & ~(1u << VICTIM));
	fault.none = multi_group(m, 0, NULL);
	multi_window_open(m, &fault.w, 200000);
	multi_warm(m, fault.w.win);
	multi_sync(m);
	if (multi_failed(m))
		return multi_tell(m);
	return m->rank == VICTIM ? be_victim(&fault, mode) : be_survivor(&fault, mode);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < MODES && argc == 2; i++) {
		if (strcmp(argv[1], "--list") == 0)
			printf("%s\n", modes[i].name);
		else if (strcmp(argv[1], modes[i].name) == 0)
			return run(&modes[i]);
	}
	return argc == 2 && strcmp(argv[1], "--list") == 0 ? 0 : 2;
}
