// SPDX-License-Identifier: BSD-2-Clause
/* multi_threads.c - rule E4: several threads of a rank at once. */
#include "multi.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4

struct worker {
	struct multi *m;
	int number;
	struct multi_window *w;
	oriel_group *group;
	pthread_t thread;
};

static void run_workers(struct multi *m, struct worker workers[THREADS], void *(*run)(void *))
{
	for (int i = 0; i < THREADS; i++) {
		workers[i].m = m;
		workers[i].number = i;
		if (!CHECK(m, pthread_create(&workers[i].thread, NULL, run, &workers[i]) == 0))
			abort();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

/* All ranks, beginning with rank `first`: another list of members for each. */
static oriel_group *turned_group(struct multi *m, int first)
{
	int ranks[MULTI_RANKS_MAX];

	for (int i = 0; i < m->size; i++)
		ranks[i] = (first + i) % m->size;
	return multi_group(m, m->size, ranks);
}

/* A thread with a group of its own: windows made, used by fence and by post and start, and freed. */
static void *live_alone(void *arg)
{
	struct worker *me = arg;
	struct multi *m = me->m;
	oriel_group *group = turned_group(m, me->number);
	int rank = oriel_group_rank(group), next = (rank + 1) % m->size;
	uint8_t memory[256];

	for (int round = 1; round <= (multi_over_card() ? 5 : 15); round++) {
		uint8_t value = (uint8_t)(round * 10 + me->number);
		oriel_group *to, *from;
		oriel_win *win;

		memset(memory, 0, sizeof(memory));
		if (!CHECK_OK(m, oriel_win_create(memory, sizeof(memory), 1, NULL, group, &win)))
			break;
		CHECK_OK(m, oriel_win_fence(win, 0));
		CHECK_OK(m, oriel_put(win, &value, 1, next, 7));
		CHECK_OK(m, oriel_win_fence(win, 0));
		CHECK(m, memory[7] == value);
		CHECK_OK(m, oriel_group_incl(group, 1, &next, &to));
		CHECK_OK(m, oriel_group_incl(group, 1, (int[]){ (rank + m->size - 1) % m->size }, &from));
		CHECK_OK(m, oriel_win_post(win, from, 0));
		CHECK_OK(m, oriel_win_start(win, to, 0));
		CHECK_OK(m, oriel_put(win, &value, 1, next, 8));
		CHECK_OK(m, oriel_win_complete(win));
		CHECK_OK(m, oriel_win_wait(win));
		CHECK(m, memory[8] == value);
		CHECK_OK(m, oriel_win_free(&win));
		CHECK_OK(m, oriel_group_free(&to));
		CHECK_OK(m, oriel_group_free(&from));
	}
	multi_group_drop(m, group);
	return NULL;
}

/* Collectives on different groups at once. */
static void threads_with_groups_of_their_own(struct multi *m)
{
	struct worker workers[THREADS];

	run_workers(m, workers, live_alone);
}

static void *use_window(void *arg)
{
	struct worker *me = arg;
	struct multi *m = me->m;

	for (uint64_t round = 0; round < 25; round++) {
		size_t size = round % 5 == 0 ? 20000 : round % 5 == 1 ? 1000 : 40;
		uint8_t *data = multi_alloc(size);

		multi_fill(data, size, round * 100 + (uint64_t)(me->number * 10 + m->rank));
		CHECK_OK(m, oriel_win_fence(me->w->win, 0));
		CHECK_OK(m, oriel_put(me->w->win, data, size, (m->rank + 1) % m->size, 0));
		CHECK_OK(m, oriel_win_fence(me->w->win, 0));
		CHECK(m, multi_holds(me->w->base, size,
		                     round * 100 + (uint64_t)(me->number * 10 + (m->rank + m->size - 1) % m->size)));
		free(data);
	}
	return NULL;
}

/* A window for each thread, all over the same queue pairs. */
static void threads_on_different_windows(struct multi *m)
{
	struct multi_window w[THREADS];
	struct worker workers[THREADS];

	for (int i = 0; i < THREADS; i++) {
		multi_window_open(m, &w[i], 20000);
		workers[i].w = &w[i];
	}
	run_workers(m, workers, use_window);
	for (int i = 0; i < THREADS; i++)
		multi_window_close(m, &w[i]);
}

#define EACH 300
#define SLICE 40000

static void *put_slices(void *arg)
{
	struct worker *me = arg;
	struct multi *m = me->m;
	size_t base = (size_t)(m->rank * THREADS + me->number) * SLICE;
	uint8_t *data = multi_alloc(SLICE);
	int target = (m->rank + 1) % m->size;

	multi_fill(data, SLICE, base);
	for (size_t i = 0; i < EACH; i++)
		CHECK_OK(m, oriel_put(me->w->win, data + i, 1, target, base + i));
	for (size_t i = EACH; i < SLICE; i += 2000) {
		size_t size = SLICE - i < 2000 ? SLICE - i : 2000;

		CHECK_OK(m, oriel_put(me->w->win, data + i, size, target, base + i));
		if (i % 3 == 0)
			CHECK_OK(m, oriel_win_flush_local(me->w->win, target));
	}
	CHECK_OK(m, oriel_win_flush(me->w->win, ORIEL_RANK_ALL));
	free(data);
	return NULL;
}

/* Puts and flushes from several threads into one epoch, fence or start; before the post has come, too. */
static void threads_in_one_epoch(struct multi *m)
{
	struct multi_window w;
	struct worker workers[THREADS];
	int before = (m->rank + m->size - 1) % m->size;
	oriel_group *to = multi_group_one(m, (m->rank + 1) % m->size), *from = multi_group_one(m, before);

	multi_window_open(m, &w, (size_t)m->size * THREADS * SLICE);
	for (int i = 0; i < THREADS; i++)
		workers[i].w = &w;
	for (int round = 0; round < 4; round++) {
		memset(w.base, 0, w.size_bytes);
		if (round % 2) {
			CHECK_OK(m, oriel_win_post(w.win, from, 0));
			CHECK_OK(m, oriel_win_start(w.win, to, 0));
		} else {
			CHECK_OK(m, oriel_win_fence(w.win, 0));
		}
		run_workers(m, workers, put_slices);
		if (round % 2) {
			CHECK_OK(m, oriel_win_complete(w.win));
			CHECK_OK(m, oriel_win_wait(w.win));
		} else {
			CHECK_OK(m, oriel_win_fence(w.win, 0));
		}
		for (size_t i = 0; i < THREADS; i++) {
			size_t base = ((size_t)before * THREADS + i) * SLICE;

			CHECK(m, multi_holds(w.base + base, SLICE, base));
		}
		multi_sync(m);
	}
	multi_window_close(m, &w);
	multi_group_drop(m, to);
	multi_group_drop(m, from);
}

static void *expose(void *arg)
{
	struct worker *me = arg;

	for (int round = 1; round <= 40; round++) {
		CHECK_OK(me->m, oriel_win_post(me->w->win, me->group, 0));
		CHECK_OK(me->m, oriel_win_wait(me->w->win));
		CHECK(me->m, me->w->base[0] == round);
	}
	return NULL;
}

/* One thread is the target, another the origin, on one window (P10): each waits in its own call. */
static void one_thread_exposes_another_accesses(struct multi *m)
{
	struct multi_window w;
	int next = (m->rank + 1) % m->size;
	oriel_group *to = multi_group_one(m, next);
	struct worker target = { .m = m, .w = &w, .group = multi_group_one(m, (m->rank + m->size - 1) % m->size) };

	multi_window_open(m, &w, 64);
	CHECK(m, pthread_create(&target.thread, NULL, expose, &target) == 0);
	for (int round = 1; round <= 40; round++) {
		uint8_t value = (uint8_t)round;

		CHECK_OK(m, oriel_win_start(w.win, to, 0));
		CHECK_OK(m, oriel_put(w.win, &value, 1, next, 0));
		CHECK_OK(m, oriel_win_complete(w.win));
	}
	pthread_join(target.thread, NULL);
	multi_window_close(m, &w);
	multi_group_drop(m, to);
	multi_group_drop(m, target.group);
}

static void *fail_alone(void *arg)
{
	struct worker *me = arg;
	char number[32];

	CHECK(me->m, strcmp(oriel_last_error(), "") == 0);
	for (int i = 0; i < 200; i++) {
		snprintf(number, sizeof(number), "rank %d", 1000 + me->number);
		CHECK_RC(me->m, ORIEL_ERR_RANK, oriel_put(me->w->win, number, 1, 1000 + me->number, 0));
		CHECK_TEXT(me->m, number);
	}
	return NULL;
}

/* The text of the last error is the thread's own. */
static void error_texts_are_the_threads_own(struct multi *m)
{
	struct multi_window w;
	struct worker workers[THREADS];

	multi_window_open(m, &w, 64);
	for (int i = 0; i < THREADS; i++)
		workers[i].w = &w;
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(w.win));
	run_workers(m, workers, fail_alone);
	CHECK_TEXT(m, "oriel_win_complete");
	multi_window_close(m, &w);
}

static void *make_groups(void *arg)
{
	struct worker *me = arg;
	struct multi *m = me->m;

	for (int i = 0; i < 200; i++) {
		oriel_group *world, *part;
		int out, ask = 0;
		struct oriel_usage usage = { .struct_bytes = sizeof(usage) };

		CHECK_OK(m, oriel_group_world(m->job, &world));
		CHECK_OK(m, oriel_group_incl(world, 2, (int[]){ 1, 0 }, &part));
		CHECK_OK(m, oriel_group_translate(part, 1, &ask, world, &out));
		CHECK(m, out == 1);
		CHECK_OK(m, oriel_usage(m->job, &usage));
		CHECK_OK(m, oriel_group_free(&part));
		CHECK_OK(m, oriel_group_free(&world));
	}
	return live_alone(arg);
}

/* Local calls of all kinds beside collective ones. */
static void local_calls_beside_collectives(struct multi *m)
{
	struct worker workers[THREADS];

	run_workers(m, workers, make_groups);
}

static const struct multi_case cases[] = {
	{ "E4_threads_with_groups_of_their_own", 4, threads_with_groups_of_their_own },
	{ "E4_threads_on_different_windows", 3, threads_on_different_windows },
	{ "E4_threads_in_one_epoch", 2, threads_in_one_epoch },
	{ "E4_one_thread_exposes_another_accesses", 3, one_thread_exposes_another_accesses },
	{ "E4_error_texts_are_the_threads_own", 2, error_texts_are_the_threads_own },
	{ "E4_local_calls_beside_collectives", 4, local_calls_beside_collectives },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_threads",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
