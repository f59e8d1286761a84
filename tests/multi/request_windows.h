// SPDX-License-Identifier: BSD-2-Clause
/*
 * request_windows.h - windows of every kind, in which the cases of multi_request*.c are run
 *
 * Most cases are run on windows of every kind, inside lock_all and inside locks of every member. Each
 * rank reaches the next one only, so that what it finds there is its own.
 */
#ifndef ORIEL_TESTS_REQUEST_WINDOWS_H
#define ORIEL_TESTS_REQUEST_WINDOWS_H

#include <sched.h>
#include <string.h>

#include "multi.h"

#define BYTES 200000
#define LARGE ((size_t)512 << 10) /* copied in several pieces */
#define AT 13                     /* where puts go; gets come from 0 */

/* Words of the board: two for each kind of window; addresses of ranks. */
enum { STEP, ADDRESS = MULTI_WORDS - 16 };

static const enum oriel_win_kind kinds[] = { ORIEL_WIN_CREATED, ORIEL_WIN_ALLOCATED, ORIEL_WIN_SHARED,
	                                         ORIEL_WIN_DYNAMIC };
#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

static const size_t sizes[] = { 1, 8, 200, 221, 3000, 8192, 9000, 70000 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Memory of windows that the program provides: its address is constant, and exchanged once. */
static _Alignas(64) uint8_t own_memory[3 * LARGE];

struct window {
	oriel_win *win;
	uint8_t *base;
	size_t bytes;
	size_t at; /* displacement of the next rank's memory */
	int right; /* the next rank */
	uint64_t left;
	bool all; /* lock_all is open, else a lock of every member */
};

static inline int open_kind(struct multi *m, struct window *w, enum oriel_win_kind kind)
{
	switch (kind) {
	case ORIEL_WIN_ALLOCATED:
		return oriel_win_allocate(w->bytes, 1, NULL, m->group, (void **)&w->base, &w->win);
	case ORIEL_WIN_SHARED:
		return oriel_win_allocate_shared(w->bytes, 1, NULL, m->group, (void **)&w->base, &w->win);
	case ORIEL_WIN_DYNAMIC:
		w->at = (size_t)multi_word(m, ADDRESS + w->right);
		return oriel_win_create_dynamic(NULL, m->group, &w->win);
	default:
		return oriel_win_create(own_memory, w->bytes, 1, NULL, m->group, &w->win);
	}
}

/* False where there can be none of that kind: ranks of several nodes share no memory. */
static inline bool window_open_of(struct multi *m, struct window *w, enum oriel_win_kind kind, size_t bytes)
{
	int rc;

	*w = (struct window){ .base = own_memory, .bytes = bytes, .right = (m->rank + 1) % m->size };
	w->left = (uint64_t)((m->rank + m->size - 1) % m->size);
	multi_raise(m, ADDRESS + m->rank, (uintptr_t)own_memory);
	memset(own_memory, 0, bytes);
	multi_sync(m);
	rc = open_kind(m, w, kind);
	if (rc == ORIEL_ERR_SHARED || !CHECK_OK(m, rc))
		return false;
	if (kind == ORIEL_WIN_DYNAMIC)
		CHECK_OK(m, oriel_win_attach(w->win, own_memory, bytes));
	multi_sync(m);
	return true;
}

static inline bool window_open(struct multi *m, struct window *w, enum oriel_win_kind kind)
{
	return window_open_of(m, w, kind, BYTES);
}

static inline void window_close(struct multi *m, struct window *w)
{
	multi_sync(m);
	CHECK_OK(m, oriel_win_free(&w->win));
}

static inline void locks_open(struct multi *m, struct window *w, bool all)
{
	w->all = all;
	if (all)
		CHECK_OK(m, oriel_win_lock_all(w->win, 0));
	for (int rank = 0; !all && rank < m->size; rank++)
		CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_SHARED, rank, 0));
}

static inline void locks_close(struct multi *m, struct window *w)
{
	if (w->all)
		CHECK_OK(m, oriel_win_unlock_all(w->win));
	for (int rank = 0; !w->all && rank < m->size; rank++)
		CHECK_OK(m, oriel_win_unlock(w->win, rank));
}

typedef void with_window(struct multi *m, struct window *w);

static inline void on_windows(struct multi *m, with_window *run)
{
	for (int i = 0; i < KINDS * 2; i++) {
		struct window w;

		if (!window_open(m, &w, kinds[i / 2]))
			continue;
		locks_open(m, &w, i % 2);
		run(m, &w);
		locks_close(m, &w);
		window_close(m, &w);
	}
}

/* Completes what was issued to the next rank: at the origin, or at both. */
static inline void complete_local(struct multi *m, struct window *w)
{
	oriel_request request;

	CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &request));
	CHECK_OK(m, oriel_request_wait(&request));
}

static inline void complete_both(struct multi *m, struct window *w)
{
	oriel_request request;

	CHECK_OK(m, oriel_win_iflush(w->win, w->right, &request));
	CHECK_OK(m, oriel_request_wait(&request));
}

static inline bool is_complete(struct multi *m, oriel_request *request)
{
	int flag = -1;

	CHECK_OK(m, oriel_request_test(request, &flag));
	CHECK(m, flag == 0 || flag == 1);
	return flag;
}

/* Nothing but tests. */
static inline void test_until_complete(struct multi *m, oriel_request *request)
{
	while (!is_complete(m, request) && !multi_failed(m))
		sched_yield();
}

/* The rank before has put `size` bytes of that seed here. */
static inline void check_bytes_at(struct multi *m, struct window *w, size_t at, size_t size, uint64_t seed)
{
	multi_sync(m);
	CHECK_OK(m, oriel_win_sync(w->win));
	CHECK(m, multi_holds(w->base + at, size, seed));
	multi_sync(m);
}

static inline void check_put(struct multi *m, struct window *w, size_t size, uint64_t seed)
{
	check_bytes_at(m, w, AT, size, seed);
}

/* Both kinds of requests are legal for that rank, and with nothing issued complete. */
static inline void allowed(struct multi *m, struct window *w, int rank)
{
	oriel_request local, both;

	CHECK_OK(m, oriel_win_iflush_local(w->win, rank, &local));
	CHECK_OK(m, oriel_win_iflush(w->win, rank, &both));
	CHECK(m, is_complete(m, &local));
	CHECK_OK(m, oriel_request_wait(&both));
}

#endif
