// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault_accumulate.c - rule A21: a rank dies in the middle of an accumulate
 *
 *   oriel-run -n 4 fault_accumulate MODE    MODE is a name of the table below, fault_accumulate --list
 *   oriel-run -n 4 fault_accumulate SEED    rank 3 dies at any moment
 *
 * Rank 3 adds to long vectors of rank 0 and is killed. The others add to the same elements, as if nothing
 * had been, and each element has what rank 3 has finished, and perhaps once more: those before the
 * place where it died. Each prints "told RANK". The board is not used by a rank that may die in it.
 */
#include "multi.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "job/job.h"
#include "job/peer.h"
#include "am/am_recv.h"
#include "sync/page_lock.h"
#include "sync/atomic_mode.h"
#include "win/link.h"
#include "win/win.h"

#define VICTIM 3
#define LIMIT_S 150
#define COUNT 2000 /* five pages, and several active messages */
#define HALF 100   /* numbers of the first page */
#define TURNS 50

enum { FINISHED, DYING = 8 }; /* of each rank */

struct fault {
	struct multi m;
	struct multi_window w;
	uint64_t seed;
	enum oriel_type type; /* doubles, complex numbers of them, or integers of 8 or 16 bytes */
	union {
		double number;
		int64_t integer;
	} ones[COUNT];
};

static void killed(struct multi *m)
{
	multi_raise(m, DYING + m->rank, 1);
	kill(getpid(), SIGKILL);
}

/* So many; an element of 16 bytes is two. */
static void add(struct fault *f, size_t count)
{
	count /= oriel_type_bytes(f->type) / sizeof(double);
	CHECK_OK(&f->m, oriel_win_lock(f->w.win, ORIEL_LOCK_SHARED, 0, 0));
	CHECK_OK(&f->m, oriel_accumulate(f->w.win, f->ones, count, f->type, ORIEL_SUM, 0, 0));
	CHECK_OK(&f->m, oriel_win_unlock(f->w.win, 0));
}

/* Each number by itself. */
static void add_single(struct fault *f)
{
	size_t bytes = oriel_type_bytes(f->type);
	uint64_t old[2];

	CHECK_OK(&f->m, oriel_win_lock(f->w.win, ORIEL_LOCK_SHARED, 0, 0));
	for (size_t at = 0; at < sizeof(f->ones); at += bytes)
		CHECK_OK(&f->m, oriel_fetch_and_op(f->w.win, f->ones, old, f->type, ORIEL_SUM, 0, at));
	CHECK_OK(&f->m, oriel_win_unlock(f->w.win, 0));
}

/* The modes: where rank 3 is when it dies, and among what. */

static void take(struct page_lock *page_lock, uint64_t process)
{
	while (!page_trylock(page_lock, process))
		sched_yield();
}

/* Rank 0's page locks, which are known from the first accumulate on; NULL: they are not mapped. */
static struct page_lock_table *locks(const struct fault *f)
{
	return peer_page_locks(link_find(f->w.win, 0)->peer);
}

/* Returns the address of the numbers at rank 0. */
static uint64_t there(const struct fault *f)
{
	const struct link *link = link_find(f->w.win, 0);

	return link_there(link, link->base);
}

/* In the first page of rank 0, where it is mapped; else between two calls. */
static void die_in_page(struct fault *f)
{
	add(f, HALF);
	if (locks(f))
		take(page_lock_of(locks(f), there(f)), f->m.job->page_locks.process);
	killed(&f->m);
}

/* With the locks of all pages. */
static void die_with_all(struct fault *f)
{
	add(f, COUNT);
	for (int i = 0; locks(f) && i < PAGE_LOCKS; i++)
		take(&locks(f)->list[i], f->m.job->page_locks.process);
	killed(&f->m);
}

/*
 * About to change an integer by an instruction: the others go over to plain code all the same
 * (sync/atomic_mode.h).
 */
static void die_in_an_update(struct fault *f)
{
	add_single(f);
	if (locks(f))
		update_begin(link_find(f->w.win, 0)->peer, f->w.win->slot, there(f));
	killed(&f->m);
}

/* Having gone half of that way. */
static void die_changing(struct fault *f)
{
	struct page_lock_table *table;

	add_single(f);
	table = locks(f);
	if (table) {
		take(page_lock_of(table, there(f)), f->m.job->page_locks.process);
		if (atomic_mode(table, there(f)) == MODE_ATOMIC)
			state_store(&table->modes[page_lock_index(there(f))], MODE_SWITCHING);
	}
	killed(&f->m);
}

static void *die_at_random(void *arg)
{
	struct fault *f = arg;
	struct timespec t = { 0, (long)(multi_random(&f->seed) % 20000000) };

	nanosleep(&t, NULL); /* any moment is as good as another */
	killed(&f->m);
	return NULL;
}

static void die_adding(struct fault *f)
{
	pthread_t thread;

	pthread_create(&thread, NULL, die_at_random, f);
	for (;;)
		add(f, COUNT);
}

static const struct mode {
	const char *name;
	void (*die)(struct fault *f);
	enum oriel_type type;
	bool first;   /* before the others begin */
	bool created; /* the window is over memory that no rank maps */
} modes[] = {
	{ "A21_killed_in_a_page", die_in_page, ORIEL_DOUBLE, false, false },
	{ "A21_killed_in_all_pages", die_with_all, ORIEL_DOUBLE_COMPLEX, false, false },
	{ "A21_killed_in_all_pages_of_integers_of_16_bytes", die_with_all, ORIEL_INT128, false, false },
	{ "A21_killed_in_a_flight", die_in_an_update, ORIEL_INT64, true, false },
	{ "A21_killed_changing_the_mode", die_changing, ORIEL_INT64, true, false },
	{ "A21_killed_copying_a_page", die_in_page, ORIEL_DOUBLE, false, true },
	{ "A21_killed_copying", die_adding, ORIEL_DOUBLE, false, true },
	{ "A21_killed_copying_integers", die_adding, ORIEL_INT64, false, true },
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

/* Nothing of rank 3 is under way any more. */
static void await_end(struct multi *m)
{
	multi_await(m, DYING + VICTIM, 1);
	while (!process_ended(multi_pid(m, VICTIM), 0))
		sched_yield();
	am_drain_all(&m->job->am);
}

static double number(const struct fault *f, size_t i)
{
	if (f->type == ORIEL_INT64 || f->type == ORIEL_INT128)
		return (double)((const int64_t *)(const void *)f->w.base)[i];
	return ((const double *)(const void *)f->w.base)[i];
}

/* From some element on one less, by an operation that died there; or the same in all. */
static bool is_right(const struct fault *f)
{
	for (size_t i = 1; i < COUNT; i++) {
		if (number(f, i) > number(f, i - 1) || number(f, i) < number(f, 0) - 1)
			return false;
		if (oriel_type_bytes(f->type) == 16 && i % 2 && number(f, i) != number(f, i - 1))
			return false;
	}
	return true;
}

static bool has_added(const struct fault *f, double others)
{
	return number(f, COUNT - 1) >= others && is_right(f);
}

/* At rank 0, to whose memory vectors have been added, where that is for processors. */
static bool mode_was_switched(const struct fault *f)
{
	const struct page_locks *ours = &f->m.job->page_locks;

	if (f->type != ORIEL_INT64 || !ours->has_barrier || ours->pins > 0)
		return true;
	return link_find(f->w.win, 0)->words != WORDS_BY_PROCESSOR ||
	       atomic_mode(ours->piece.addr, (uintptr_t)f->w.base) == MODE_LOCKED;
}

static void survive(struct fault *f)
{
	struct multi *m = &f->m;

	for (int i = 0; i < TURNS; i++)
		add(f, COUNT);
	add_single(f);
	await_end(m);
	for (int i = 0; i < TURNS; i++)
		add(f, COUNT);
	add_single(f);
	multi_raise(m, FINISHED + m->rank, 1);
	for (int rank = 0; rank < VICTIM; rank++)
		multi_await(m, FINISHED + rank, 1);
	CHECK(m, m->rank != 0 || has_added(f, VICTIM * 2.0 * (TURNS + 1)));
	CHECK(m, m->rank != 0 || mode_was_switched(f));
}

static int leave(struct fault *f)
{
	struct multi *m = &f->m;
	oriel_job *job = m->job;

	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_free(&f->w.win));
	CHECK_OK(m, oriel_group_free(&m->group));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_finalize(&job));
	if (multi_tell(m) == 0)
		printf("told %d\n", m->rank);
	return multi_failed(m);
}

static void run(struct fault *f, const struct mode *mode, uint64_t seed)
{
	static const enum oriel_type types[] = { ORIEL_DOUBLE, ORIEL_DOUBLE_COMPLEX, ORIEL_INT64, ORIEL_INT128 };
	struct multi *m = &f->m;

	f->seed = seed;
	f->type = mode ? mode->type : types[seed % 4];
	for (int i = 0; i < COUNT; i++) {
		if (f->type == ORIEL_INT64 || f->type == ORIEL_INT128)
			f->ones[i].integer = 1;
		else
			f->ones[i].number = 1;
	}
	multi_warm(m, f->w.win);
	multi_sync(m);
	if (m->rank != VICTIM && mode && mode->first)
		await_end(m);
	if (m->rank != VICTIM)
		survive(f);
	else if (mode)
		mode->die(f);
	else
		die_adding(f);
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

static void open_window(struct fault *f, bool created)
{
	void *base = created ? multi_alloc(COUNT * sizeof(double)) : NULL;

	if (created)
		CHECK_OK(&f->m, oriel_win_create(base, COUNT * sizeof(double), 1, NULL, f->m.group, &f->w.win));
	else
		CHECK_OK(&f->m, oriel_win_allocate(COUNT * sizeof(double), 1, NULL, f->m.group, &base, &f->w.win));
	f->w.base = base;
}

int main(int argc, char **argv)
{
	static struct fault f;
	const struct mode *mode;

	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return list();
	if (argc != 2 || !multi_enter(&f.m, argv[1], LIMIT_S))
		return 2;
	mode = find_mode(argv[1]);
	open_window(&f, mode && mode->created);
	run(&f, mode, strtoull(argv[1], NULL, 10));
	return leave(&f);
}
