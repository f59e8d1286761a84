// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault_lock.c - ranks die that hold locks or wait for them: rules L21 to L23; with open requests:
 * R7; while others wait for signals: N7
 *
 *   oriel-run -n 4 fault_lock MODE    MODE is a name of the table below, fault_lock --list; rank 3 dies
 *   oriel-run -n N fault_lock SEED    ranks 3 and up die, at any moment of epochs on the windows of 0 and 1
 *
 * The survivors get every lock, in a mode within 5 s, with the orphan reported, and find the array
 * under the lock whole unless an orphan was reported. Each prints "told RANK". A rank that may die
 * in the board's calls does not use the board.
 */
#include "multi.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/order.h"
#include "base/util.h"
#include "job/job.h"
#include "job/lock_table.h"
#include "told.h"
#include "win/win.h"

#define VICTIM 3
#define TARGETS 2
#define RELEASED_NS told_limit_ns()
#define LIMIT_S 150
#define WORDS 16

#define REQUESTS 4

enum { READY, FINISHED, TOLD = 5, DYING = 8 }; /* the last three have one word per rank */

struct fault {
	struct multi m;
	struct multi_window w;
	uint64_t seed;
	bool crowd; /* many ranks: a lock takes as long as their epochs, on few processors */
	oriel_request request[REQUESTS];
	multi_rest operand;
	uint8_t data[100];
	oriel_win *signals;
};

static int killed(struct multi *m)
{
	multi_raise(m, DYING + m->rank, 1);
	kill(getpid(), SIGKILL);
	return 1;
}

/* Takes a lock, within 5 s unless f->crowd. Returns whether it was an orphan's. */
static bool take(struct fault *f, enum oriel_lock_type type, int target)
{
	uint64_t begun = now_ns();
	int orphaned;

	CHECK_OK(&f->m, oriel_win_lock(f->w.win, type, target, 0));
	CHECK(&f->m, f->crowd || now_ns() - begun <= RELEASED_NS);
	orphaned = oriel_win_lock_orphaned(f->w.win, target);
	CHECK(&f->m, orphaned == 0 || orphaned == 1);
	return orphaned == 1;
}

static void give(struct fault *f, int target)
{
	CHECK_OK(&f->m, oriel_win_unlock(f->w.win, target));
}

/* The modes: the state of rank 3 at its death, and the effect on the others. */

static void die_exclusive(struct fault *f)
{
	take(f, ORIEL_LOCK_EXCLUSIVE, 0);
}

static void die_shared(struct fault *f)
{
	take(f, ORIEL_LOCK_SHARED, 0);
}

static void die_in_lock_all(struct fault *f)
{
	uint8_t byte = 1;

	CHECK_OK(&f->m, oriel_win_lock_all(f->w.win, 0));
	CHECK_OK(&f->m, oriel_put(f->w.win, &byte, 1, 0, 200));
	CHECK_OK(&f->m, oriel_win_flush(f->w.win, 0));
}

/* Repeats until the orphan is reported: before the death is known, shared locks are granted. */
static bool is_told(struct fault *f)
{
	uint64_t begun = now_ns();
	bool told = false;

	while (!told && now_ns() - begun <= RELEASED_NS) {
		told = take(f, ORIEL_LOCK_SHARED, 0);
		give(f, 0);
		sched_yield();
	}
	return told;
}

/* Every grant reports the orphan until an exclusive holder has unlocked. */
static void orphan_is_told(struct fault *f)
{
	struct multi *m = &f->m;

	for (int turn = 0; turn < 3; turn++) {
		if (turn == m->rank) {
			if (turn < 2)
				CHECK(m, is_told(f));
			else
				CHECK(m, take(f, ORIEL_LOCK_EXCLUSIVE, 0));
			if (turn == 2)
				give(f, 0);
			multi_raise(m, READY, (uint64_t)turn + 10);
		}
		multi_await(m, READY, (uint64_t)turn + 10);
	}
	CHECK(m, !take(f, ORIEL_LOCK_SHARED, 0));
	give(f, 0);
	CHECK(m, !take(f, ORIEL_LOCK_EXCLUSIVE, 0));
	give(f, 0);
	CHECK(m, !take(f, ORIEL_LOCK_EXCLUSIVE, 1));
	give(f, 1);
}

static void *die_in_the_queue(void *arg)
{
	struct fault *f = arg;

	multi_await(&f->m, READY, 1); /* the other thread is in lock, not in the board's calls */
	killed(&f->m);
	return NULL;
}

/* Rank 0 holds its own lock. */
static void die_waiting(struct fault *f)
{
	pthread_t thread;

	pthread_create(&thread, NULL, die_in_the_queue, f);
	oriel_win_lock(f->w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0);
}

static void hold_own(struct fault *f)
{
	if (f->m.rank == 0)
		CHECK_OK(&f->m, oriel_win_lock(f->w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
}

/* Waits until some of these bits are set in the victim's word at rank 0. */
static void await_word(struct fault *f, uint64_t bits)
{
	struct oriel_job *job = f->m.job;
	struct peer *victim = peer_find(job, VICTIM);
	struct lock_member *member;

	pthread_mutex_lock(&job->lock);
	member = lock_table_member(lock_table_words(job, f->w.win->slot), victim->neighbour);
	pthread_mutex_unlock(&job->lock);
	while (!(flag_load(&member->state) & bits)) /* pairs with write_state at the victim, and repair_ticket */
		sched_yield();
}

static void let_it_die_in_the_queue(struct fault *f)
{
	if (f->m.rank != 0)
		return;
	await_word(f, 0xff);
	multi_raise(&f->m, READY, 1);
}

static void waiter_is_no_orphan(struct fault *f)
{
	if (f->m.rank == 0) {
		await_word(f, LOCK_EXAMINED); /* it died waiting: later it would count as the holder */
		give(f, 0);
	}
	CHECK(&f->m, !take(f, ORIEL_LOCK_EXCLUSIVE, 0));
	give(f, 0);
	CHECK(&f->m, !take(f, ORIEL_LOCK_SHARED, 0));
	give(f, 0);
}

/* L23: the victim is the target; others hold or request its lock. Other locks keep working. */
static void lock_victim(struct fault *f)
{
	if (f->m.rank == 1)
		take(f, ORIEL_LOCK_SHARED, VICTIM);
	if (f->m.rank == 0)
		take(f, ORIEL_LOCK_SHARED, 1);
}

/*
 * Locks until the error: before this rank knows of the death, the dead target's words may grant it.
 */
static int lock_until_told(struct fault *f, int target)
{
	uint64_t begun = now_ns();
	int rc;

	do {
		rc = oriel_win_lock(f->w.win, ORIEL_LOCK_EXCLUSIVE, target, 0);
		if (rc == 0)
			oriel_win_unlock(f->w.win, target);
	} while (rc == 0 && now_ns() - begun < RELEASED_NS);
	return rc;
}

static void dead_target_is_told(struct fault *f)
{
	struct multi *m = &f->m;
	uint8_t byte = 1;

	if (m->rank == 1) {
		uint64_t begun = now_ns();

		while (oriel_put(f->w.win, &byte, 1, VICTIM, 0) == 0 && now_ns() - begun < RELEASED_NS)
			oriel_win_flush(f->w.win, VICTIM);
		CHECK_RC(m, ORIEL_ERR_PEER, oriel_put(f->w.win, &byte, 1, VICTIM, 0));
		CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_unlock(f->w.win, VICTIM));
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock(f->w.win, VICTIM));
	}
	CHECK_RC(m, ORIEL_ERR_PEER, lock_until_told(f, VICTIM));
	if (m->rank == 0)
		give(f, 1);
	for (int target = 0; target < 3; target++) {
		take(f, ORIEL_LOCK_EXCLUSIVE, target);
		give(f, target);
	}
}

/* L23: rank 1 holds the lock of a living member; after the victim's death it frees its window. */
static void lock_0(struct fault *f)
{
	if (f->m.rank == 1)
		take(f, ORIEL_LOCK_EXCLUSIVE, 0);
}

static void holder_frees(struct fault *f)
{
	int rc = ORIEL_ERR_SYNC;

	while (f->m.rank == 1 && rc == ORIEL_ERR_SYNC) /* until it knows of the death */
		rc = oriel_win_free(&f->w.win);
	if (f->m.rank == 1)
		CHECK_RC(&f->m, ORIEL_ERR_PEER, rc);
	if (f->m.rank == 2) {
		take(f, ORIEL_LOCK_EXCLUSIVE, 0);
		give(f, 0);
	}
}

/* R7: the victim holds its own lock when it dies: deferred operations are never issued. */
static void keep_others_out(struct fault *f)
{
	take(f, ORIEL_LOCK_EXCLUSIVE, VICTIM);
	multi_raise(&f->m, READY, 1);
}

/*
 * Requests for the victim, at both sides and at the origin; for all; and for rank 0, which lives.
 */
static void request_victim(struct fault *f)
{
	struct multi *m = &f->m;
	int flag = 1;

	multi_await(m, READY, 1);
	CHECK_OK(m, oriel_win_lock_all(f->w.win, 0));
	CHECK_OK(m, oriel_put(f->w.win, f->data, sizeof(f->data), VICTIM, 0));
	CHECK_OK(m, oriel_get(f->w.win, f->data, sizeof(f->data), VICTIM, 0));
	CHECK_OK(m, oriel_put(f->w.win, f->data, sizeof(f->data), 0, 0));
	CHECK_OK(m, oriel_win_iflush(f->w.win, VICTIM, &f->request[0]));
	CHECK_OK(m, oriel_win_iflush_local(f->w.win, VICTIM, &f->request[1]));
	CHECK_OK(m, oriel_win_iflush(f->w.win, ORIEL_RANK_ALL, &f->request[2]));
	CHECK_OK(m, oriel_win_iflush(f->w.win, 0, &f->request[3]));
	for (int i = 0; i < 3; i++) {
		CHECK_OK(m, oriel_request_test(&f->request[i], &flag));
		CHECK(m, flag == 0);
	}
}

static void is_refused(struct fault *f, oriel_request *request)
{
	int flag = 0;

	CHECK_RC(&f->m, ORIEL_ERR_PEER, oriel_request_wait(request));
	CHECK_RC(&f->m, ORIEL_ERR_PEER, oriel_request_test(request, &flag));
	CHECK(&f->m, flag == 1);
}

/* Requests fail in tests and in waits; those for living ranks complete. */
static void requests_are_told(struct fault *f)
{
	struct multi *m = &f->m;
	oriel_request copy = f->request[0];
	uint64_t begun = now_ns();
	int flag = 0, rc = 0;

	while (rc == 0 && flag == 0 && now_ns() - begun <= RELEASED_NS)
		rc = oriel_request_test(&f->request[m->rank % 3], &flag);
	CHECK(m, rc == ORIEL_ERR_PEER && flag == 1);
	for (int i = 0; i < 3; i++)
		is_refused(f, &f->request[i]);
	CHECK(m, now_ns() - begun <= RELEASED_NS);
	CHECK_OK(m, oriel_request_wait(&f->request[3]));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_unlock_all(f->w.win));
	is_refused(f, &copy);
	is_refused(f, &f->request[2]);
	CHECK_OK(m, oriel_win_lock_all(f->w.win, 0));
	CHECK_OK(m, oriel_put(f->w.win, f->data, sizeof(f->data), 0, 0));
	CHECK_OK(m, oriel_win_iflush(f->w.win, ORIEL_RANK_ALL, &f->request[2]));
	CHECK_OK(m, oriel_request_wait(&f->request[2]));
	CHECK_OK(m, oriel_win_unlock_all(f->w.win));
}

/* R7: the victim dies before its post: deferred operations are never issued. */
static void request_before_the_post(struct fault *f)
{
	struct multi *m = &f->m;
	oriel_group *victim = multi_group_one(m, VICTIM);
	int flag = 1;

	CHECK_OK(m, oriel_win_start(f->w.win, victim, 0));
	multi_group_drop(m, victim);
	CHECK_OK(m, oriel_put(f->w.win, f->data, sizeof(f->data), VICTIM, 0));
	CHECK_OK(m, oriel_get(f->w.win, f->data, sizeof(f->data), VICTIM, 0));
	CHECK_OK(m, oriel_win_iflush(f->w.win, VICTIM, &f->request[0]));
	CHECK_OK(m, oriel_win_iflush_local(f->w.win, VICTIM, &f->request[1]));
	for (int i = 0; i < 2; i++) {
		CHECK_OK(m, oriel_request_test(&f->request[i], &flag));
		CHECK(m, flag == 0);
	}
}

static void the_post_never_comes(struct fault *f)
{
	struct multi *m = &f->m;
	oriel_request copy = f->request[0];
	uint64_t begun = now_ns();
	int flag = 0, rc = 0;

	while (rc == 0 && flag == 0 && now_ns() - begun <= RELEASED_NS)
		rc = oriel_request_test(&f->request[m->rank % 2], &flag);
	CHECK(m, rc == ORIEL_ERR_PEER && flag == 1);
	is_refused(f, &f->request[0]);
	is_refused(f, &f->request[1]);
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_complete(f->w.win));
	is_refused(f, &copy);
}

/*
 * R7: requests that are complete at the death, of puts and of accumulates that the victim applied.
 */
static void requests_complete(struct fault *f)
{
	struct multi *m = &f->m;

	CHECK_OK(m, oriel_win_lock(f->w.win, ORIEL_LOCK_SHARED, VICTIM, 0));
	CHECK_OK(m, oriel_put(f->w.win, f->data, sizeof(f->data), VICTIM, 1000));
	CHECK_OK(m, oriel_win_iflush(f->w.win, VICTIM, &f->request[0]));
	CHECK_OK(m, oriel_accumulate(f->w.win, &f->operand, 1, MULTI_REST, ORIEL_SUM, VICTIM, 0));
	CHECK_OK(m, oriel_win_iflush(f->w.win, VICTIM, &f->request[1]));
	f->request[2] = f->request[0];
	f->request[3] = f->request[1];
	CHECK_OK(m, oriel_request_wait(&f->request[1]));
	CHECK_OK(m, oriel_request_wait(&f->request[0]));
}

/* They stay complete; later requests fail. */
static void complete_stay_complete(struct fault *f)
{
	struct multi *m = &f->m;
	oriel_request late;
	uint64_t begun = now_ns();
	int rc = 0;

	while (rc == 0 && now_ns() - begun <= RELEASED_NS) {
		rc = oriel_put(f->w.win, f->data, sizeof(f->data), VICTIM, 1000);
		if (rc == 0)
			rc = oriel_win_iflush(f->w.win, VICTIM, &late);
		if (rc == 0)
			rc = oriel_request_wait(&late);
	}
	CHECK(m, rc == ORIEL_ERR_PEER);
	for (int i = 0; i < REQUESTS; i++)
		CHECK_OK(m, oriel_request_wait(&f->request[i]));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_unlock(f->w.win, VICTIM));
	for (int i = 0; i < REQUESTS; i++)
		CHECK_OK(m, oriel_request_wait(&f->request[i]));
}

/* N7: another window, on which the survivors can signal each other. */
static void open_signals(struct fault *f)
{
	static const struct oriel_hint hints[] = { { "signals", "3" }, { NULL, NULL } };
	struct multi *m = &f->m;

	CHECK_OK(m, oriel_win_create(f->data, sizeof(f->data), 1, hints, m->group, &f->signals));
	if (m->rank != VICTIM)
		CHECK_OK(m, oriel_win_lock(f->signals, ORIEL_LOCK_SHARED, (m->rank + 1) % VICTIM, 0));
}

/* Waits for a signal, by another call at each survivor. 0: *signal was taken, if the call takes. */
static int wait_in_turn(struct fault *f, int which, uint32_t *signal)
{
	uint64_t value;
	int flag = 0, rc = 0;

	if (which % 3 == 0)
		return oriel_signal_wait(f->signals, 0, 2, signal, &value);
	if (which % 3 == 1)
		return oriel_signal_until(f->signals, 2, 9);
	while (rc == 0 && !flag)
		rc = oriel_signal_test(f->signals, 0, 2, signal, &value, &flag);
	return rc;
}

/* N7: a wait fails once, in each of the calls; later waits get the signals of others. */
static void waiters_are_told(struct fault *f)
{
	struct multi *m = &f->m;
	int right = (m->rank + 1) % VICTIM, flag = 0;
	uint64_t begun = now_ns(), value = 0;
	uint32_t signal = 9;

	CHECK_RC(m, ORIEL_ERR_PEER, wait_in_turn(f, m->rank, &signal));
	CHECK_TEXT(m, "rank 3");
	CHECK(m, now_ns() - begun <= RELEASED_NS);
	CHECK_OK(m, oriel_signal_test(f->signals, 0, 3, &signal, &value, &flag));
	CHECK(m, flag == 0 && signal == 9);
	multi_raise(m, TOLD + m->rank, 1);
	for (int rank = 0; rank < VICTIM; rank++)
		multi_await(m, TOLD + rank, 1);
	CHECK_OK(m, oriel_signal(f->signals, right, 1, 5, ORIEL_SIGNAL_ADD));
	CHECK_OK(m, oriel_signal(f->signals, right, 2, 9, ORIEL_SIGNAL_SET));
	CHECK_OK(m, oriel_win_unlock(f->signals, right));
	CHECK_OK(m, oriel_signal_wait(f->signals, 0, 2, &signal, &value));
	CHECK(m, signal == 1 && value == 5);
	CHECK_OK(m, oriel_signal_until(f->signals, 2, 9));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_free(&f->signals));
}

/* N7: a signal that has arrived is taken before the death is reported. */
static void signal_comes_first(struct fault *f)
{
	struct multi *m = &f->m;
	int right = (m->rank + 1) % VICTIM;

	CHECK_OK(m, oriel_signal(f->signals, right, 1, 1, ORIEL_SIGNAL_ADD));
	CHECK_OK(m, oriel_signal(f->signals, right, 2, 9, ORIEL_SIGNAL_SET));
	CHECK_OK(m, oriel_win_unlock(f->signals, right));
}

static void open_and_signal(struct fault *f)
{
	open_signals(f);
	signal_comes_first(f);
}

static void taken_then_told(struct fault *f)
{
	struct multi *m = &f->m;
	uint64_t begun = now_ns();
	uint32_t signal = 9;

	while (counter_load(&f->signals->job->deaths.count) == 0 &&
	       /* pairs with rank_died */ now_ns() - begun <= RELEASED_NS)
		sched_yield();
	CHECK_OK(m, wait_in_turn(f, m->rank, &signal));
	CHECK(m, m->rank % 3 == 1 || signal == 1);
	CHECK_OK(m, oriel_signal_until(f->signals, 2, 9));
	if (m->rank % 3 == 1)
		CHECK_RC(m, ORIEL_ERR_PEER, oriel_signal_until(f->signals, 2, 10));
	else
		CHECK_RC(m, ORIEL_ERR_PEER, wait_in_turn(f, m->rank, &signal));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_free(&f->signals));
}

static void nothing(struct fault *f)
{
	(void)f;
}

static const struct mode {
	const char *name;
	void (*before)(struct fault *f);    /* the others */
	void (*beside)(struct fault *f);    /* the victim, at the same time */
	void (*die)(struct fault *f);       /* the victim, which is killed afterwards */
	void (*meanwhile)(struct fault *f); /* the others */
	void (*after)(struct fault *f);     /* the others, after the death */
} modes[] = {
	{ "L22_L21_exclusive", nothing, nothing, die_exclusive, nothing, orphan_is_told },
	{ "L22_L21_shared", nothing, nothing, die_shared, nothing, orphan_is_told },
	{ "L22_L21_lock_all", nothing, nothing, die_in_lock_all, nothing, orphan_is_told },
	{ "L22_waiting", hold_own, nothing, die_waiting, let_it_die_in_the_queue, waiter_is_no_orphan },
	{ "L23_target", lock_victim, nothing, nothing, nothing, dead_target_is_told },
	{ "L23_holder_frees", lock_0, nothing, nothing, nothing, holder_frees },
	{ "R7_held_back", request_victim, keep_others_out, nothing, nothing, requests_are_told },
	{ "R7_no_post", request_before_the_post, nothing, nothing, nothing, the_post_never_comes },
	{ "R7_complete", requests_complete, nothing, nothing, nothing, complete_stay_complete },
	{ "N7_waiters_are_told", open_signals, open_signals, nothing, nothing, waiters_are_told },
	{ "N7_signals_come_first", open_and_signal, open_signals, nothing, nothing, taken_then_told },
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

static void run_mode(struct fault *f, const struct mode *mode)
{
	struct multi *m = &f->m;

	multi_warm(m, f->w.win);
	multi_sync(m);
	if (m->rank == VICTIM)
		mode->beside(f);
	else
		mode->before(f);
	multi_sync(m);
	if (m->rank == VICTIM) {
		mode->die(f);
		killed(m);
	}
	mode->meanwhile(f);
	multi_await(m, DYING + VICTIM, 1);
	mode->after(f);
}

/* Deaths at any moment. */

struct array {
	uint64_t word[WORDS];
};

static bool is_whole(const struct array *array)
{
	for (int i = 1; i < WORDS; i++) {
		if (array->word[i] != array->word[0])
			return false;
	}
	return true;
}

static void write_array(struct fault *f, int target, struct array *array, uint64_t value)
{
	for (int i = 0; i < WORDS; i++)
		array->word[i] = value;
	CHECK_OK(&f->m, oriel_put(f->w.win, array, sizeof(*array) / 2, target, 0));
	CHECK_OK(&f->m, oriel_win_flush(f->w.win, target));
	CHECK_OK(&f->m, oriel_put(f->w.win, &array->word[WORDS / 2], sizeof(*array) / 2, target, sizeof(*array) / 2));
}

/* An exclusive holder that gets the lock of an orphan makes the array whole again. */
static void one_epoch(struct fault *f, int target, bool exclusive)
{
	bool orphaned = take(f, exclusive ? ORIEL_LOCK_EXCLUSIVE : ORIEL_LOCK_SHARED, target);
	struct array array;

	CHECK_OK(&f->m, oriel_get(f->w.win, &array, sizeof(array), target, 0));
	CHECK_OK(&f->m, oriel_win_flush(f->w.win, target));
	CHECK(&f->m, orphaned || is_whole(&array));
	if (exclusive)
		write_array(f, target, &array, array.word[0] + 1);
	give(f, target);
}

static void *die_at_random(void *arg)
{
	struct fault *f = arg;
	struct timespec t = { 0,
		                  (long)(multi_random(&f->seed) % 40000000 * (uint64_t)(f->m.rank - VICTIM + 1)) % 1000000000 };

	nanosleep(&t, NULL); /* any moment is as good as another */
	killed(&f->m);
	return NULL;
}

static bool all_victims_are_dying(struct multi *m)
{
	for (int rank = VICTIM; rank < m->size; rank++) {
		if (!multi_word(m, DYING + rank))
			return false;
	}
	return true;
}

static void run_random(struct fault *f, uint64_t seed)
{
	struct multi *m = &f->m;
	uint64_t state = seed * 1000 + (uint64_t)m->rank;
	pthread_t thread;

	multi_warm(m, f->w.win);
	multi_sync(m);
	f->seed = state + 500;
	f->crowd = true;
	if (m->rank >= VICTIM)
		pthread_create(&thread, NULL, die_at_random, f);
	while (m->rank >= VICTIM || !all_victims_are_dying(m))
		one_epoch(f, (int)(multi_random(&state) % TARGETS), multi_random(&state) % 2);
	for (int i = 0; i < 20; i++)
		one_epoch(f, i % TARGETS, i % 3);
}

static int leave(struct fault *f)
{
	struct multi *m = &f->m;
	oriel_job *job = m->job;

	multi_raise(m, FINISHED + m->rank, 1);
	for (int rank = 0; rank < VICTIM; rank++)
		multi_await(m, FINISHED + rank, 1);
	if (f->w.win)
		CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_free(&f->w.win));
	CHECK_OK(m, oriel_group_free(&m->group));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_finalize(&job));
	if (multi_tell(m) == 0)
		printf("told %d\n", m->rank);
	return multi_failed(m);
}

static const struct mode *find_mode(const char *name)
{
	for (size_t i = 0; i < MODES; i++) {
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	}
	return NULL;
}

static int list(void)
{
	for (size_t i = 0; i < MODES; i++)
		puts(modes[i].name);
	return 0;
}

int main(int argc, char **argv)
{
	struct fault f = { 0 };
	const struct mode *mode = argc == 2 ? find_mode(argv[1]) : NULL;

	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return list();
	if (argc != 2 || !multi_enter(&f.m, argv[1], LIMIT_S))
		return 2;
	multi_window_open(&f.m, &f.w, 4096);
	if (mode)
		run_mode(&f, mode);
	else
		run_random(&f, strtoull(argv[1], NULL, 10));
	return leave(&f);
}
