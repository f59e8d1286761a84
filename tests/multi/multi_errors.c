// SPDX-License-Identifier: BSD-2-Clause
/* multi_errors.c - rules E1 to E3: every public call with each argument wrong in turn, and wrong order. */
#include "multi.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE ((int)1 << 20)

/*
 * Handles that are none: null, of other kinds, memory of the program's, and what the case adds:
 * freed ones.
 */
#define WRONG_MAX 8

struct wrong {
	void *handle[WRONG_MAX];
	int count;
};

static uint64_t no_handle[512];

static struct wrong wrong_handles(void *first, void *second, void *third)
{
	struct wrong wrong = { .handle = { NULL, no_handle, (uint8_t *)no_handle + 1, first, second, third } };

	wrong.count = 6;
	return wrong;
}

/* Everything about a window that a refused call could have changed. */
static void window_is_as_before(struct multi *m, const struct multi_window *w)
{
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };

	CHECK_OK(m, oriel_win_query(w->win, &info));
	CHECK(m, info.base == w->base && info.size_bytes == w->size_bytes && info.disp_unit_bytes == 1);
	CHECK(m, multi_all(w->base, w->size_bytes, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(w->win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_wait(w->win));
	multi_warm(m, w->win);
}

/* E2: job handles. */
static void job_handles(struct multi *m)
{
	struct multi_window w;
	struct wrong wrong;
	struct oriel_usage usage = { .struct_bytes = sizeof(usage) };
	oriel_group *group;
	oriel_mem *mem;
	uint8_t memory[8];

	multi_window_open(m, &w, 64);
	wrong = wrong_handles(m->group, w.win, (uint8_t *)m->job + 8);
	for (int i = 0; i < wrong.count; i++) {
		oriel_job *job = wrong.handle[i];

		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_finalize(&job));
		CHECK(m, job == wrong.handle[i]);
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_rank(job));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_size(job));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_barrier(job));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_abort(job, 1, "must not happen"));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_usage(job, &usage));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_world(job, &group));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_mem_register(job, memory, 8, &mem));
		CHECK_TEXT(m, "oriel_mem_register");
	}
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_finalize(NULL));
	window_is_as_before(m, &w);
	multi_window_close(m, &w);
}

/*
 * E2: oriel_init, usage, memory: what is no handle. A second job of this process is not asked for:
 * it would join as the same rank.
 */
static void other_job_arguments(struct multi *m)
{
	const struct oriel_options negative = { .struct_bytes = sizeof(negative), .timeout_ms = -1 };
	const struct oriel_options unset = { .timeout_ms = 1 };
	struct oriel_usage usage = { 0 };
	oriel_job *job = NULL;
	oriel_mem *mem = NULL, *freed;
	uint8_t memory[64];

	CHECK_RC(m, ORIEL_ERR_ARG, oriel_init(NULL, NULL));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_init(&negative, &job));
	CHECK_TEXT(m, "oriel_init");
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_init(&unset, &job));
	CHECK_TEXT(m, "struct_bytes is 0; set it to sizeof(struct oriel_options)");
	CHECK(m, job == NULL);
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_usage(m->job, &usage));
	CHECK_TEXT(m, "sizeof(struct oriel_usage)");
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_usage(m->job, NULL));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_mem_register(m->job, NULL, 8, &mem));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_mem_register(m->job, memory, 0, &mem));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_mem_register(m->job, memory, 8, NULL));
	CHECK_RC(m, ORIEL_ERR_MEMORY, oriel_mem_register(m->job, (void *)4096, 4096, &mem)); /* not mapped */
	CHECK_TEXT(m, "oriel_mem_register");
	CHECK(m, mem == NULL);
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_mem_deregister(NULL));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_mem_deregister(&mem));
	mem = (void *)m->group;
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_mem_deregister(&mem));
	CHECK_OK(m, oriel_mem_register(m->job, memory, 64, &mem));
	freed = mem;
	job = m->job;
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_finalize(&job)); /* memory is still registered: the job lives on */
	CHECK_TEXT(m, "memory not deregistered or freed: 1; call oriel_win_free, oriel_mem_deregister or oriel_free first");
	CHECK(m, job == m->job && oriel_rank(job) == m->rank);
	CHECK_OK(m, oriel_mem_deregister(&mem));
	CHECK(m, mem == NULL);
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_mem_deregister(&freed));
}

/* E2: group handles, lists, ranks out of range and twice. */
static void groups(struct multi *m)
{
	struct multi_window w;
	struct wrong wrong;
	oriel_group *freed = multi_group_one(m, 0), *copy = freed, *group = NULL, *none = multi_group(m, 0, NULL);
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	int ranks[3] = { 0, 1, 0 }, out[3] = { 7, 7, 7 };

	multi_window_open(m, &w, 64);
	multi_group_drop(m, freed);
	wrong = wrong_handles(m->job, w.win, copy);
	for (int i = 0; i < wrong.count; i++) {
		oriel_group *bad = wrong.handle[i];

		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_incl(bad, 1, ranks, &group));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_free(&bad));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_rank(bad));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_size(bad));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_translate(bad, 1, ranks, m->group, out));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_translate(m->group, 1, ranks, bad, out));
	}
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_free(NULL));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_group_world(m->job, NULL));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_group_incl(m->group, -1, ranks, &group));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_group_incl(m->group, 1, NULL, &group));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_group_incl(m->group, 1, ranks, NULL));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_group_incl(m->group, 3, ranks, &group)); /* more than there are */
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_group_incl(m->group, INT_MAX, ranks, &group));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_group_incl(m->group, 2, (int[]){ 1, 1 }, &group));
	CHECK_TEXT(m, "twice");
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_group_incl(m->group, 1, (int[]){ 2 }, &group));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_group_incl(m->group, 1, (int[]){ -1 }, &group));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_group_incl(m->group, 1, (int[]){ INT_MIN }, &group));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_group_incl(none, 1, ranks, &group));
	CHECK(m, group == NULL);
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_group_translate(m->group, -1, ranks, m->group, out));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_group_translate(m->group, 1, NULL, m->group, out));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_group_translate(m->group, 1, ranks, m->group, NULL));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_group_translate(m->group, 2, (int[]){ 0, 2 }, m->group, out));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_group_translate(m->group, 1, (int[]){ ORIEL_RANK_NONE }, m->group, out));
	CHECK(m, out[0] == 7 && out[1] == 7 && out[2] == 7);
	CHECK_OK(m, oriel_win_query(w.win, &info));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_free(&info.group)); /* borrowed */
	window_is_as_before(m, &w);
	multi_window_close(m, &w);
	multi_group_drop(m, none);
}

/* E2: making windows: a refused call is no collective call, so the others do not wait for it. */
static void window_creation(struct multi *m)
{
	struct wrong wrong;
	oriel_group *freed = multi_group_one(m, 0), *copy = freed, *other = multi_group_one(m, 1 - m->rank);
	struct multi_window w;
	uint8_t memory[64];
	oriel_win *win = NULL;
	void *base = NULL;

	multi_group_drop(m, freed);
	wrong = wrong_handles(m->job, copy, (uint8_t *)m->group + 8);
	for (int i = 0; i < wrong.count; i++) {
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_create(memory, 64, 1, NULL, wrong.handle[i], &win));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_allocate(64, 1, NULL, wrong.handle[i], &base, &win));
	}
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_create(NULL, 1, 1, NULL, m->group, &win));
	CHECK_TEXT(m, "oriel_win_create: base is NULL, size_bytes is 1; give the memory's address, or 0 bytes");
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_create(memory, SIZE_MAX, 1, NULL, m->group, &win));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_create(memory, 64, 0, NULL, m->group, &win));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_create(memory, 64, (size_t)INT_MAX + 1, NULL, m->group, &win));
	CHECK_TEXT(m, "oriel_win_create");
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_create(memory, 64, 1, NULL, m->group, NULL));
	CHECK_TEXT(m, "oriel_win_create: win is NULL");
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_create(memory, 64, 1, NULL, other, &win));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_allocate(64, 0, NULL, m->group, &base, &win));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_allocate(64, 1, NULL, m->group, NULL, &win));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_allocate(64, 1, NULL, m->group, &base, NULL));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_allocate(64, 1, NULL, other, &base, &win));
	CHECK(m, win == NULL && base == NULL);
	/*
	 * Memory that is not there, at one rank: found out together, so it fails at both, and nothing
	 * is left.
	 */
	CHECK_RC(m, ORIEL_ERR_MEMORY, oriel_win_create(m->rank ? memory : (void *)4096, 64, 1, NULL, m->group, &win));
	CHECK_RC(m, ORIEL_ERR_MEMORY, oriel_win_allocate(m->rank ? 64 : SIZE_MAX / 2, 1, NULL, m->group, &base, &win));
	CHECK(m, win == NULL && base == NULL);
	multi_window_open(m, &w, 64);
	window_is_as_before(m, &w);
	multi_window_close(m, &w);
	multi_group_drop(m, other);
}

/* Every call on a window, with arguments that are right but for the handle. */
static void all_window_calls(struct multi *m, oriel_win *win)
{
	uint8_t byte = 0;
	struct oriel_origin_piece origin = { &byte, 1 };
	struct oriel_target_piece target = { 0, 1 };
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	oriel_win *copy = win;
	int flag = 5;

	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_put(win, &byte, 1, 0, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_put(win, &byte, 0, 0, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_get(win, &byte, 1, 0, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_putv(win, &origin, 1, 0, &target, 1));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_getv(win, &origin, 1, 0, &target, 1));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_flush(win, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_flush_local(win, ORIEL_RANK_ALL));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_post(win, m->group, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_start(win, m->group, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_complete(win));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_wait(win));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_test(win, &flag));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_fence(win, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_query(win, &info));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_free(&copy));
	CHECK_TEXT(m, "oriel_win_free");
	CHECK(m, flag == 5 && copy == win);
}

/* A thread that has not been in any window yet. */
static void *call_with_nothing(void *arg)
{
	all_window_calls(arg, NULL);
	return NULL;
}

static void no_window_in_a_new_thread(struct multi *m)
{
	pthread_t thread;

	if (CHECK(m, pthread_create(&thread, NULL, call_with_nothing, m) == 0))
		pthread_join(thread, NULL);
}

/* E2: window handles: null, foreign, freed. */
static void window_handles(struct multi *m)
{
	struct multi_window w, gone;
	struct wrong wrong;
	oriel_win *freed;

	multi_window_open(m, &w, 64);
	multi_window_open(m, &gone, 64);
	freed = gone.win;
	multi_window_close(m, &gone);
	wrong = wrong_handles(m->job, m->group, (uint8_t *)w.win + 8);
	wrong.handle[wrong.count++] = freed;
	for (int i = 0; i < wrong.count; i++)
		all_window_calls(m, wrong.handle[i]);
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_free(NULL));
	window_is_as_before(m, &w);
	multi_window_close(m, &w);
}

/*
 * Two epochs each way with the other rank: the second of each goes the shortest way, which
 * remembers what it has checked.
 */
static void use_twice(struct multi *m, oriel_win *win, oriel_group *other)
{
	const uint64_t zero = 0;

	for (int i = 0; i < 2; i++) {
		CHECK_OK(m, oriel_win_post(win, other, 0));
		CHECK_OK(m, oriel_win_start(win, other, 0));
		CHECK_OK(m, oriel_put(win, &zero, sizeof(zero), 1 - m->rank, 0));
		CHECK_OK(m, oriel_win_complete(win));
		CHECK_OK(m, oriel_win_wait(win));
		multi_sync(m); /* so that no call of the next epoch has to wait */
	}
}

/* Uses a window and a group of its epochs, which were valid a moment before and have been freed. */
static void freed_after_use(struct multi *m)
{
	oriel_group *other = multi_group_one(m, 1 - m->rank), *freed_group = other;
	oriel_win *win, *freed_win;
	void *base;

	CHECK_OK(m, oriel_win_allocate(64, 1, NULL, m->group, &base, &win));
	memset(base, 0, 64);
	use_twice(m, win, other);
	multi_group_drop(m, other);
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_post(win, freed_group, 0));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_start(win, freed_group, 0));
	other = multi_group_one(m, 1 - m->rank);
	use_twice(m, win, other);
	freed_win = win;
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_post(freed_win, other, 0)); /* as the last calls were */
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_start(freed_win, other, 0));
	all_window_calls(m, freed_win);
	multi_group_drop(m, other);
}

/* In the middle of an epoch, with the calls that the parent goes on with. */
static int use_as_child(const struct multi *m, oriel_win *win, oriel_group *other)
{
	const uint64_t stray = 77;

	return oriel_put(win, &stray, sizeof(stray), 1 - m->rank, 0) != ORIEL_ERR_HANDLE ||
	       oriel_win_complete(win) != ORIEL_ERR_HANDLE || oriel_win_wait(win) != ORIEL_ERR_HANDLE ||
	       oriel_win_post(win, other, 0) != ORIEL_ERR_HANDLE || oriel_win_start(win, other, 0) != ORIEL_ERR_HANDLE;
}

/* In a child made by fork all handles are invalid, also those that the parent was using. */
static void inherited_in_use(struct multi *m)
{
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	uint64_t *base;
	oriel_win *win;
	int status = -1;
	pid_t child;

	CHECK_OK(m, oriel_win_allocate(64, 1, NULL, m->group, (void **)&base, &win));
	memset(base, 0, 64);
	use_twice(m, win, other);
	CHECK_OK(m, oriel_win_post(win, other, 0));
	CHECK_OK(m, oriel_win_start(win, other, 0));
	multi_sync(m);
	child = fork();
	if (child == 0)
		_exit(use_as_child(m, win, other));
	CHECK(m, waitpid(child, &status, 0) == child && status == 0);
	CHECK_OK(m, oriel_win_complete(win));
	CHECK_OK(m, oriel_win_wait(win));
	CHECK(m, *base == 0);
	use_twice(m, win, other);
	CHECK_OK(m, oriel_win_free(&win));
	multi_group_drop(m, other);
}

/* E2: assertions that do not exist, and those of other calls. */
static void assertion_bits(struct multi *m)
{
	static const int on_start[] = { ORIEL_MODE_NOSTORE,
		                            ORIEL_MODE_NOPUT,
		                            ORIEL_MODE_NOPRECEDE,
		                            ORIEL_MODE_NOSUCCEED,
		                            0x20,
		                            0x21,
		                            1 << 30,
		                            INT_MIN,
		                            -1 };
	static const int on_post[] = { ORIEL_MODE_NOPRECEDE, ORIEL_MODE_NOSUCCEED, 0x20, 0x27, 1 << 30, INT_MIN, -1 };
	static const int on_fence[] = { ORIEL_MODE_NOCHECK, 0x20, 0x3e, 1 << 30, INT_MIN, -1 };
	struct multi_window w;

	multi_window_open(m, &w, 64);
	for (size_t i = 0; i < sizeof(on_start) / sizeof(int); i++)
		CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_start(w.win, m->group, on_start[i]));
	CHECK_TEXT(m, "oriel_win_start");
	for (size_t i = 0; i < sizeof(on_post) / sizeof(int); i++)
		CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_post(w.win, m->group, on_post[i]));
	CHECK_TEXT(m, "oriel_win_post");
	for (size_t i = 0; i < sizeof(on_fence) / sizeof(int); i++)
		CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_fence(w.win, on_fence[i]));
	CHECK_TEXT(m, "oriel_win_fence");
	window_is_as_before(m, &w);
	multi_window_close(m, &w);
}

/* E2: groups and ranks of epochs and operations. */
static void epoch_arguments(struct multi *m)
{
	static const int bad_ranks[] = { 2, 3, -1, -3, INT_MAX, INT_MIN, LARGE };
	struct multi_window w, small;
	oriel_group *freed = multi_group_one(m, 0), *copy = freed, *self = multi_group_one(m, m->rank);
	struct wrong wrong;
	uint8_t byte = 1;
	struct oriel_origin_piece origin = { &byte, 1 };
	struct oriel_target_piece target = { 0, 1 };

	multi_window_open(m, &w, 64);
	small.base = multi_alloc(8);
	CHECK_OK(m, oriel_win_create(small.base, 8, 1, NULL, self, &small.win));
	multi_group_drop(m, freed);
	wrong = wrong_handles(m->job, w.win, copy);
	for (int i = 0; i < wrong.count; i++) {
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_post(w.win, wrong.handle[i], 0));
		CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_start(w.win, wrong.handle[i], 0));
	}
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_post(small.win, m->group, 0)); /* not all of them are in the window's group */
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_start(small.win, m->group, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(small.win));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (size_t i = 0; i < sizeof(bad_ranks) / sizeof(int); i++) {
		CHECK_RC(m, ORIEL_ERR_RANK, oriel_put(w.win, &byte, 1, bad_ranks[i], 0));
		CHECK_RC(m, ORIEL_ERR_RANK, oriel_get(w.win, &byte, 1, bad_ranks[i], 0));
		CHECK_RC(m, ORIEL_ERR_RANK, oriel_putv(w.win, &origin, 1, bad_ranks[i], &target, 1));
		CHECK_RC(m, ORIEL_ERR_RANK, oriel_getv(w.win, &origin, 1, bad_ranks[i], &target, 1));
		CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_flush(w.win, bad_ranks[i]));
		CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_flush_local(w.win, bad_ranks[i]));
	}
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_put(w.win, &byte, 1, ORIEL_RANK_ALL, 0));
	multi_sync(m);
	window_is_as_before(m, &w);
	CHECK_OK(m, oriel_win_free(&small.win));
	free(small.base);
	multi_window_close(m, &w);
	multi_group_drop(m, self);
}

/* E2: origins, lists and sums of data calls. */
static void data_arguments(struct multi *m)
{
	struct multi_window w;
	uint8_t byte[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct oriel_origin_piece four = { byte, 4 }, null = { NULL, 4 }, huge[2] = { { byte, SIZE_MAX }, { byte, 5 } };
	struct oriel_target_piece at = { 0, 4 }, three = { 0, 3 }, sum[2] = { { 0, SIZE_MAX }, { 0, 5 } };
	int other = 1 - m->rank;

	multi_window_open(m, &w, 64);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_put(w.win, NULL, 1, other, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_get(w.win, NULL, 1, other, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_putv(w.win, NULL, 1, other, &at, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_putv(w.win, &four, 1, other, NULL, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_putv(w.win, &four, -1, other, &at, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_putv(w.win, &four, 1, other, &at, INT_MIN));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_putv(w.win, &four, 1, other, &three, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_putv(w.win, &four, 1, other, NULL, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_putv(w.win, &null, 1, other, &at, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_putv(w.win, huge, 2, other, &at, 1)); /* sums that wrap to 4 */
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_putv(w.win, &four, 1, other, sum, 2));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_getv(w.win, NULL, 1, other, &at, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_getv(w.win, &four, 1, other, NULL, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_getv(w.win, &four, INT_MIN, other, &at, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_getv(w.win, &four, 1, other, &at, -1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_getv(w.win, &four, 1, other, &three, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_getv(w.win, &null, 1, other, &at, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_getv(w.win, huge, 2, other, &at, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_getv(w.win, &four, 1, other, sum, 2));
	CHECK(m, multi_all(byte, 8, 1));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_query(w.win, NULL));
	multi_sync(m);
	window_is_as_before(m, &w); /* fence epochs without operations: start and post are legal */
	CHECK_OK(m, oriel_win_post(w.win, m->group, 0));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_test(w.win, NULL));
	CHECK_OK(m, oriel_win_start(w.win, m->group, 0));
	CHECK_OK(m, oriel_win_complete(w.win));
	CHECK_OK(m, oriel_win_wait(w.win));
	multi_window_close(m, &w);
}

/* W7: the query tells it before. */
static bool free_refused(struct multi *m, const struct multi_window *w)
{
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };

	CHECK_OK(m, oriel_win_query(w->win, &info));
	return info.free_refused;
}

static void free_is_refused(struct multi *m, struct multi_window *w)
{
	CHECK(m, free_refused(m, w));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w->win));
}

/* E3: each wrong order is an error, and the open epochs go on. */
static void wrong_order(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	oriel_job *job = m->job;
	uint8_t value = 6;
	int flag = 9;

	multi_window_open(m, &w, 64);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_wait(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_test(w.win, &flag));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_flush(w.win, ORIEL_RANK_ALL));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_flush_local(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_finalize(&job)); /* a window is open */
	CHECK(m, job == m->job && flag == 9);
	CHECK_OK(m, oriel_win_post(w.win, other, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_post(w.win, other, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_fence(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(w.win));
	free_is_refused(m, &w);
	CHECK_OK(m, oriel_win_start(w.win, other, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_start(w.win, other, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_fence(w.win, 0));
	free_is_refused(m, &w);
	CHECK_OK(m, oriel_put(w.win, &value, 1, (m->rank + 1) % m->size, 0));
	CHECK_OK(m, oriel_win_complete(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_win_wait(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_wait(w.win));
	CHECK(m, w.base[0] == 6);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, &value, 1, 1 - m->rank, 1));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_start(w.win, other, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_post(w.win, other, 0));
	free_is_refused(m, &w);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(w.win));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, w.base[1] == 6);
	CHECK(m, !free_refused(m, &w));
	multi_window_close(m, &w);
	multi_group_drop(m, other);
}

/* E1: texts name call, window, rank, value and limit. */
static void texts_name_what_was_wrong(struct multi *m)
{
	struct multi_window w;
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	char window[64], caller[64];
	uint8_t byte = 0;

	multi_window_open(m, &w, 640);
	CHECK_OK(m, oriel_win_query(w.win, &info));
	snprintf(window, sizeof(window), "window %llu: ", (unsigned long long)info.number);
	snprintf(caller, sizeof(caller), "[rank %d] oriel_put: ", m->rank);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(w.win, &byte, 33, 1 - m->rank, 620));
	CHECK_TEXT(m, caller);
	CHECK_TEXT(m, " (ORIEL_ERR_RANGE)");
	CHECK_TEXT(m, "oriel_put");
	CHECK_TEXT(m, window);
	CHECK_TEXT(m, m->rank ? "rank 0" : "rank 1");
	CHECK_TEXT(m, "33");
	CHECK_TEXT(m, "620");
	CHECK_TEXT(m, "640");
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_get(w.win, &byte, 1, 4711, 0));
	CHECK_TEXT(m, "oriel_get");
	CHECK_TEXT(m, window);
	CHECK_TEXT(m, "4711");
	CHECK_TEXT(m, "1"); /* the last rank there is */
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_start(w.win, m->group, 0x40));
	CHECK_TEXT(m, "0x40");
	CHECK_TEXT(m, window);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_wait(w.win));
	CHECK_TEXT(m, "oriel_win_wait");
	CHECK_TEXT(m, window);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_TEXT(m, "oriel_win_wait"); /* success leaves the text alone */
	for (int code = -40; code < 3; code++)
		CHECK(m, oriel_strerror(code) && *oriel_strerror(code));
	for (int code = ORIEL_ERR_ROUTE; code < ORIEL_ERR_ARG; code++)
		CHECK(m, strcmp(oriel_strerror(code), oriel_strerror(code + 1)) != 0);
	CHECK(m, oriel_version() && strchr(oriel_version(), '.'));
	multi_window_close(m, &w);
}

/* E1: an error of range gives the bytes, and what a displacement in bytes would have been. */
static void range_in_bytes(struct multi *m)
{
	static uint64_t memory[64];
	uint64_t value = 0;
	oriel_win *win;

	CHECK_OK(m, oriel_win_create(memory, sizeof(memory), sizeof(*memory), NULL, m->group, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, &value, sizeof(value), 1 - m->rank, 80));
	CHECK_TEXT(m, "8 bytes at displacement 80 (unit 8 bytes) of rank ");
	CHECK_TEXT(
		m,
		"are bytes 640 to 647, and its window has 512 bytes; displacements count units of 8 bytes: 10 would be byte 80 (ORIEL_ERR_RANGE)");
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_get(win, &value, sizeof(value), 1 - m->rank, 81));
	CHECK_TEXT(m, "are bytes 648 to 655, and its window has 512 bytes (ORIEL_ERR_RANGE)"); /* 81 is no multiple of 8 */
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_get(win, &value, sizeof(value), 1 - m->rank, SIZE_MAX));
	CHECK_TEXT(m, "whose window has 512 bytes");
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
}

/* E1: the error about an epoch that is in the way names its ranks, and the call that ends it. */
static void obstacles_name_ranks(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, 64);
	CHECK_OK(m, oriel_win_post(w.win, m->group, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_post(w.win, m->group, 0));
	CHECK_TEXT(m, "an exposure epoch for ranks 0, 1 is open; call oriel_win_wait first");
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock_all(w.win));
	CHECK_TEXT(m, "no oriel_win_lock_all is open; call oriel_win_lock_all first");
	CHECK_OK(m, oriel_win_start(w.win, m->group, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_lock_all(w.win, 0));
	CHECK_TEXT(m, "an access epoch to ranks 0, 1 is open; call oriel_win_complete first");
	CHECK_OK(m, oriel_win_complete(w.win));
	CHECK_OK(m, oriel_win_wait(w.win));
	CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, 1, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
	CHECK_TEXT(m, "a lock of rank 1 is held; call oriel_win_unlock first");
	CHECK_OK(m, oriel_win_unlock(w.win, 1));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_fence(NULL, 0));
	CHECK_TEXT(m, "oriel_win_fence: the window handle is NULL");
	multi_window_close(m, &w);
}

/*
 * E1: a window's number is the same on all members, also where some have made windows that others
 * have not.
 */
static void windows_have_numbers(struct multi *m)
{
	oriel_group *alone = multi_group_one(m, m->rank);
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	struct multi_window w, own;
	uint64_t number, before = 0;

	for (int i = 0; i < 3; i++) {
		for (int more = 0; more < m->rank; more++) {
			CHECK_OK(m, oriel_win_create(NULL, 0, 1, NULL, alone, &own.win));
			CHECK_OK(m, oriel_win_free(&own.win));
		}
		multi_window_open(m, &w, sizeof(number));
		CHECK_OK(m, oriel_win_query(w.win, &info));
		CHECK(m, info.number > before);
		before = info.number;
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK_OK(m, oriel_put(w.win, &info.number, sizeof(number), (m->rank + 1) % m->size, 0));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		memcpy(&number, w.base, sizeof(number));
		CHECK(m, number == info.number);
		multi_window_close(m, &w);
	}
	multi_group_drop(m, alone);
}

static const char *const kind_calls[] = { "oriel_win_create", "oriel_win_allocate", "oriel_win_allocate_shared",
	                                      "oriel_win_create_dynamic" };

static int make_kind(struct multi *m, int kind, oriel_win **win)
{
	void *base;

	switch (kind) {
	case 0:
		return oriel_win_create(NULL, 0, 1, NULL, m->group, win);
	case 1:
		return oriel_win_allocate(8, 1, NULL, m->group, &base, win);
	case 2:
		return oriel_win_allocate_shared(8, 1, NULL, m->group, &base, win);
	default:
		return oriel_win_create_dynamic(NULL, m->group, win);
	}
}

/* E2: windows of different kinds in one collective call are no window on any member. */
static void kinds_in_one_call(struct multi *m)
{
	struct multi_window w;
	oriel_win *win = NULL;

	for (int first = 0; first < 4; first++) {
		for (int other = 0; other < 4; other++) {
			int mine = m->rank == 1 ? other : first;

			if (first == other)
				continue;
			CHECK_RC(m, ORIEL_ERR_KIND, make_kind(m, mine, &win));
			CHECK_TEXT(m, kind_calls[mine]);
			CHECK_TEXT(m, kind_calls[mine == first ? other : first]);
			CHECK(m, !win);
		}
	}
	multi_window_open(m, &w, 64); /* the members are in step */
	multi_window_close(m, &w);
}

/* E1: calls that succeed print nothing, and refused ones neither. */
static void nothing_is_printed(struct multi *m)
{
	char path[] = "/dev/shm/oriel-multi-XXXXXX";
	int fd = mkstemp(path), out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	struct multi_window w;
	uint8_t value = 1;

	unlink(path);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	multi_window_open(m, &w, 64);
	window_is_as_before(m, &w);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, &value, 1, (m->rank + 1) % m->size, 0));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(w.win, &value, 1, (m->rank + 1) % m->size, 64));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_barrier(m->job));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_barrier(NULL));
	multi_window_close(m, &w);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	CHECK(m, lseek(fd, 0, SEEK_END) == 0);
	close(fd);
}

static const struct multi_case cases[] = {
	{ "E1_texts_name_what_was_wrong", 2, texts_name_what_was_wrong },
	{ "E1_range_in_bytes", 2, range_in_bytes },
	{ "E1_obstacles_name_ranks", 2, obstacles_name_ranks },
	{ "E1_windows_have_numbers", 0, windows_have_numbers },
	{ "E1_nothing_is_printed", 0, nothing_is_printed },
	{ "E2_job_handles", 2, job_handles },
	{ "E2_other_job_arguments", 2, other_job_arguments },
	{ "E2_groups", 2, groups },
	{ "E2_window_creation", 2, window_creation },
	{ "E2_kinds_in_one_call", 3, kinds_in_one_call },
	{ "E2_window_handles", 2, window_handles },
	{ "E2_no_window_in_a_new_thread", 2, no_window_in_a_new_thread },
	{ "E2_freed_after_use", 2, freed_after_use },
	{ "E2_inherited_in_use", 2, inherited_in_use },
	{ "E2_assertion_bits", 2, assertion_bits },
	{ "E2_epoch_arguments", 2, epoch_arguments },
	{ "E2_data_arguments", 2, data_arguments },
	{ "E3_wrong_order", 2, wrong_order },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_errors",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
