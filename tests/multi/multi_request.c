// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_request.c - requests: rules R1 to R6 (R7: fault_lock)
 *
 * Most cases are run on windows of every kind, inside lock_all and inside locks of every member. Each rank
 * reaches the next one only, so that what it finds there is its own.
 */
#include "multi.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "job/job.h"
#include "job/peer.h"

#define BYTES 200000
#define LARGE ((size_t)512 << 10) /* copied in several pieces */
#define AT 13 /* where puts go; gets come from 0 */
#define PIECES 100
#define OPEN 40 /* requests at a time */
#define THREADS 4

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

static int open_kind(struct multi *m, struct window *w, enum oriel_win_kind kind)
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
static bool window_open_of(struct multi *m, struct window *w, enum oriel_win_kind kind, size_t bytes)
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

static bool window_open(struct multi *m, struct window *w, enum oriel_win_kind kind)
{
	return window_open_of(m, w, kind, BYTES);
}

static void window_close(struct multi *m, struct window *w)
{
	multi_sync(m);
	CHECK_OK(m, oriel_win_free(&w->win));
}

static void locks_open(struct multi *m, struct window *w, bool all)
{
	w->all = all;
	if (all)
		CHECK_OK(m, oriel_win_lock_all(w->win, 0));
	for (int rank = 0; !all && rank < m->size; rank++)
		CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_SHARED, rank, 0));
}

static void locks_close(struct multi *m, struct window *w)
{
	if (w->all)
		CHECK_OK(m, oriel_win_unlock_all(w->win));
	for (int rank = 0; !w->all && rank < m->size; rank++)
		CHECK_OK(m, oriel_win_unlock(w->win, rank));
}

typedef void with_window(struct multi *m, struct window *w);

static void on_windows(struct multi *m, with_window *run)
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
static void complete_local(struct multi *m, struct window *w)
{
	oriel_request request;

	CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &request));
	CHECK_OK(m, oriel_request_wait(&request));
}

static void complete_both(struct multi *m, struct window *w)
{
	oriel_request request;

	CHECK_OK(m, oriel_win_iflush(w->win, w->right, &request));
	CHECK_OK(m, oriel_request_wait(&request));
}

static bool is_complete(struct multi *m, oriel_request *request)
{
	int flag = -1;

	CHECK_OK(m, oriel_request_test(request, &flag));
	CHECK(m, flag == 0 || flag == 1);
	return flag;
}

/* Nothing but tests. */
static void test_until_complete(struct multi *m, oriel_request *request)
{
	while (!is_complete(m, request) && !multi_failed(m))
		sched_yield();
}

/* The rank before has put `size` bytes of that seed here. */
static void check_bytes_at(struct multi *m, struct window *w, size_t at, size_t size, uint64_t seed)
{
	multi_sync(m);
	CHECK_OK(m, oriel_win_sync(w->win));
	CHECK(m, multi_holds(w->base + at, size, seed));
	multi_sync(m);
}

static void check_put(struct multi *m, struct window *w, size_t size, uint64_t seed)
{
	check_bytes_at(m, w, AT, size, seed);
}

static void iflush_rounds(struct multi *m, struct window *w)
{
	uint8_t *data = multi_alloc(BYTES);

	for (uint64_t round = 0; round < 2 * SIZES; round++) {
		size_t size = sizes[round % SIZES];

		multi_fill(data, size, round * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_put(w->win, data, size, w->right, w->at + AT));
		complete_both(m, w);
		memset(data, 0xee, size);
		check_put(m, w, size, round * 100 + w->left);
	}
	free(data);
}

/* R1: iflush: complete at the target, whose loads see it. */
static void iflush_is_at_both_sides(struct multi *m)
{
	on_windows(m, iflush_rounds);
}

static void earlier_ones_too(struct multi *m, struct window *w)
{
	oriel_request request;
	uint8_t data[100][8];

	for (uint64_t i = 0; i < 100; i++) {
		multi_fill(data[i], 8, i * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_put(w->win, data[i], 8, w->right, w->at + 8 * i));
	}
	CHECK_OK(m, oriel_win_iflush(w->win, w->right, &request));
	for (uint64_t i = 0; i < 100; i++) /* later ones: they do no harm */
		CHECK_OK(m, oriel_put(w->win, data[i], 8, w->right, w->at + 4096 + 8 * i));
	CHECK_OK(m, oriel_request_wait(&request));
	multi_sync(m);
	CHECK_OK(m, oriel_win_sync(w->win));
	for (uint64_t i = 0; i < 100; i++)
		CHECK(m, multi_holds(w->base + 8 * i, 8, i * 100 + w->left));
	CHECK_OK(m, oriel_win_flush(w->win, w->right));
	multi_sync(m);
}

/* R1: all that was issued up to the call. */
static void covers_what_was_issued_before(struct multi *m)
{
	on_windows(m, earlier_ones_too);
}

/* R1: with ORIEL_RANK_ALL, all targets; several requests are open, with operations between them. */
static void covers_all_targets(struct multi *m)
{
	for (int kind = 0; kind < KINDS; kind++) {
		uint8_t *data = multi_alloc(BYTES), *back = multi_alloc(BYTES);
		oriel_request both[SIZES], local[SIZES];
		struct window w;

		if (kinds[kind] == ORIEL_WIN_DYNAMIC || !window_open(m, &w, kinds[kind])) {
			free(data);
			free(back);
			continue;
		}
		CHECK_OK(m, oriel_win_lock_all(w.win, 0));
		for (size_t i = 0; i < SIZES; i++) {
			multi_fill(data + 1000 * i, 900, i * 100 + (uint64_t)m->rank);
			for (int to = 0; to < m->size; to++)
				CHECK_OK(m, oriel_put(w.win, data + 1000 * i, 900, to, 10000 * (size_t)m->rank + 1000 * i));
			CHECK_OK(m, oriel_win_iflush(w.win, ORIEL_RANK_ALL, &both[i]));
			CHECK_OK(m, oriel_win_iflush_local(w.win, ORIEL_RANK_ALL, &local[i]));
		}
		for (size_t i = SIZES; i-- > 0;) {
			CHECK_OK(m, oriel_request_wait(&both[i]));
			test_until_complete(m, &local[i]);
		}
		multi_sync(m);
		for (size_t i = 0; i < SIZES; i++) {
			for (int to = 0; to < m->size; to++)
				CHECK_OK(m, oriel_get(w.win, back + 10000 * (size_t)to + 1000 * i, 900, to,
				                      10000 * (size_t)to + 1000 * i));
			CHECK_OK(m, oriel_win_iflush_local(w.win, ORIEL_RANK_ALL, &local[i]));
		}
		for (size_t i = SIZES; i-- > 0;) {
			CHECK_OK(m, oriel_request_wait(&local[i]));
			for (int to = 0; to < m->size; to++)
				CHECK(m, multi_holds(back + 10000 * (size_t)to + 1000 * i, 900, i * 100 + (uint64_t)to));
		}
		CHECK_OK(m, oriel_win_unlock_all(w.win));
		window_close(m, &w);
		free(data);
		free(back);
	}
}

struct worker {
	struct multi *m;
	struct window *w;
	size_t number;
	int stop; /* by __atomic */
	oriel_request request;
	uint8_t data[64]; /* is put; what was held back is sent after the thread's end */
};

static void *put_for_ever(void *arg)
{
	struct worker *worker = arg;

	while (!__atomic_load_n(&worker->stop, __ATOMIC_RELAXED)) {
		for (int to = 0; to < worker->m->size; to++)
			CHECK_OK(worker->m, oriel_put(worker->w->win, worker->data, sizeof(worker->data), to, 1000));
	}
	return NULL;
}

/* R1, R3: requests for all targets come to an end while another thread goes on putting to them. */
static void all_targets_under_load(struct multi *m)
{
	struct window w;
	struct worker worker = { .m = m, .w = &w };
	uint8_t data[500];
	pthread_t thread;

	if (!window_open(m, &w, ORIEL_WIN_CREATED))
		return;
	multi_fill(w.base + 2000, sizeof(data), (uint64_t)m->rank);
	multi_sync(m);
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	CHECK(m, pthread_create(&thread, NULL, put_for_ever, &worker) == 0);
	for (int i = 0; i < 20; i++) {
		oriel_request both, local;

		memset(data, 0, sizeof(data));
		CHECK_OK(m, oriel_win_iflush(w.win, ORIEL_RANK_ALL, &both));
		CHECK_OK(m, oriel_get(w.win, data, sizeof(data), w.right, 2000));
		CHECK_OK(m, oriel_win_iflush_local(w.win, ORIEL_RANK_ALL, &local));
		test_until_complete(m, &local);
		CHECK(m, multi_holds(data, sizeof(data), (uint64_t)w.right));
		CHECK_OK(m, oriel_request_wait(&both));
	}
	__atomic_store_n(&worker.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	window_close(m, &w);
}

/* R1: with nothing outstanding a request sends nothing. */
static void idle_requests_send_nothing(struct multi *m)
{
	const struct wire *wire;
	struct window w;
	uint64_t posted;

	if (!window_open(m, &w, ORIEL_WIN_CREATED))
		return;
	multi_warm(m, w.win);
	multi_drain(m);
	multi_sync(m);
	wire = &peer_find(m->job, w.right)->wire;
	posted = wire->posted;
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	for (int i = 0; i < 20; i++) {
		oriel_request request;

		complete_both(m, &w);
		complete_local(m, &w);
		CHECK_OK(m, oriel_win_iflush(w.win, ORIEL_RANK_ALL, &request));
		CHECK_OK(m, oriel_request_wait(&request));
	}
	CHECK(m, wire->posted - posted < 10); /* pings, of which a slow machine sends more */
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	window_close(m, &w);
}

/* Both calls give that error, and leave the request as it was. */
static void refused(struct multi *m, struct window *w, int rank, int rc)
{
	oriel_request request, before;

	memset(&request, 0x5a, sizeof(request));
	before = request;
	CHECK_RC(m, rc, oriel_win_iflush(w->win, rank, &request));
	CHECK_RC(m, rc, oriel_win_iflush_local(w->win, rank, &request));
	CHECK(m, memcmp(&request, &before, sizeof(request)) == 0);
}

static void refused_in_lock_epochs(struct multi *m, struct window *w)
{
	oriel_request request;

	CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_SHARED, w->right, 0));
	if (w->right != m->rank)
		refused(m, w, m->rank, ORIEL_ERR_SYNC);
	refused(m, w, ORIEL_RANK_ALL, ORIEL_ERR_SYNC);
	CHECK_TEXT(m, "lock_all");
	refused(m, w, m->size, ORIEL_ERR_RANK);
	refused(m, w, -1, ORIEL_ERR_RANK);
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_iflush(w->win, w->right, NULL));
	CHECK_OK(m, oriel_win_iflush(w->win, w->right, &request));
	CHECK_OK(m, oriel_request_wait(&request));
	CHECK_OK(m, oriel_win_unlock(w->win, w->right));
	refused(m, w, w->right, ORIEL_ERR_SYNC);
	CHECK_OK(m, oriel_win_lock_all(w->win, 0));
	refused(m, w, m->size, ORIEL_ERR_RANK);
	refused(m, w, -1, ORIEL_ERR_RANK);
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_iflush_local(w->win, ORIEL_RANK_ALL, NULL));
	CHECK_OK(m, oriel_win_iflush_local(w->win, ORIEL_RANK_ALL, &request));
	CHECK_OK(m, oriel_win_unlock_all(w->win));
	CHECK_OK(m, oriel_request_wait(&request));
}

/* Both kinds of requests are legal for that rank, and with nothing issued complete. */
static void allowed(struct multi *m, struct window *w, int rank)
{
	oriel_request local, both;

	CHECK_OK(m, oriel_win_iflush_local(w->win, rank, &local));
	CHECK_OK(m, oriel_win_iflush(w->win, rank, &both));
	CHECK(m, is_complete(m, &local));
	CHECK_OK(m, oriel_request_wait(&both));
}

/* R2: in every access epoch, for targets that it names; ORIEL_RANK_ALL in lock_all only. */
static void legal_in_every_access_epoch(struct multi *m)
{
	struct window w;
	oriel_group *one, *none;

	if (!window_open(m, &w, ORIEL_WIN_CREATED))
		return;
	one = multi_group_one(m, m->rank);
	none = multi_group(m, 0, NULL);
	refused(m, &w, w.right, ORIEL_ERR_SYNC);
	CHECK_TEXT(m, "oriel_win_lock");
	refused(m, &w, ORIEL_RANK_ALL, ORIEL_ERR_SYNC);
	CHECK_OK(m, oriel_win_post(w.win, one, 0));
	refused(m, &w, w.right, ORIEL_ERR_SYNC);
	CHECK_OK(m, oriel_win_start(w.win, one, 0));
	allowed(m, &w, m->rank);
	refused(m, &w, m->size, ORIEL_ERR_RANK);
	refused(m, &w, ORIEL_RANK_ALL, ORIEL_ERR_SYNC);
	CHECK_TEXT(m, "lock_all");
	if (w.right != m->rank)
		refused(m, &w, w.right, ORIEL_ERR_SYNC);
	CHECK_OK(m, oriel_win_complete(w.win));
	refused(m, &w, m->rank, ORIEL_ERR_SYNC);
	CHECK_OK(m, oriel_win_wait(w.win));
	CHECK_OK(m, oriel_win_start(w.win, none, 0));
	refused(m, &w, m->rank, ORIEL_ERR_SYNC);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(w.win));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	allowed(m, &w, w.right);
	allowed(m, &w, m->rank);
	refused(m, &w, -1, ORIEL_ERR_RANK);
	refused(m, &w, ORIEL_RANK_ALL, ORIEL_ERR_SYNC);
	CHECK_OK(m, oriel_win_fence(w.win, ORIEL_MODE_NOSUCCEED));
	refused(m, &w, w.right, ORIEL_ERR_SYNC);
	refused_in_lock_epochs(m, &w);
	multi_group_drop(m, none);
	multi_group_drop(m, one);
	window_close(m, &w);
}

/* Epochs without locks: of everybody, to everybody. */
enum active { BY_FENCE, BY_START, ACTIVES };

static void active_open(struct multi *m, struct window *w, enum active by)
{
	if (by == BY_FENCE) {
		CHECK_OK(m, oriel_win_fence(w->win, 0));
		return;
	}
	CHECK_OK(m, oriel_win_post(w->win, m->group, 0));
	CHECK_OK(m, oriel_win_start(w->win, m->group, 0));
}

static void active_close(struct multi *m, struct window *w, enum active by)
{
	if (by == BY_FENCE) {
		CHECK_OK(m, oriel_win_fence(w->win, ORIEL_MODE_NOSUCCEED));
		return;
	}
	CHECK_OK(m, oriel_win_complete(w->win));
	CHECK_OK(m, oriel_win_wait(w->win));
}

/* A third of a window is got from, one put to, in one numbers are added. */
#define PUT_AT LARGE
#define ADD_AT (2 * LARGE)
#define ADD_MOST 8192 /* numbers */
#define ADD_CARD 512  /* behind a card the target adds them */

/* Operations to one rank, which a case waits for or tests. */
struct issued {
	uint8_t *data;
	uint8_t *back;
	int64_t *numbers;
	int64_t *before;
	size_t bytes; /* put and got */
	size_t count; /* added */
	bool by_test;
};

static void issued_make(struct issued *i, size_t bytes, bool by_test)
{
	i->bytes = bytes;
	i->count = min_size(bytes / 8, multi_over_card() ? ADD_CARD : ADD_MOST);
	i->by_test = by_test;
	i->data = multi_alloc(bytes);
	i->back = multi_alloc(bytes);
	i->numbers = multi_alloc(i->count * 8);
	i->before = multi_alloc(i->count * 8);
	memset(i->back, 0xee, bytes);
	for (size_t k = 0; k < i->count; k++) {
		i->numbers[k] = (int64_t)k + 1;
		i->before[k] = -1;
	}
}

static void issued_drop(struct issued *i)
{
	free(i->data);
	free(i->back);
	free(i->numbers);
	free(i->before);
}

static void finish(struct multi *m, const struct issued *i, oriel_request *request)
{
	if (i->by_test)
		test_until_complete(m, request);
	else
		CHECK_OK(m, oriel_request_wait(request));
}

static void issue_to(struct multi *m, struct window *w, struct issued *i, int rank, uint64_t seed)
{
	multi_fill(i->data, i->bytes, seed);
	CHECK_OK(m, oriel_put(w->win, i->data, i->bytes, rank, w->at + PUT_AT));
	CHECK_OK(m, oriel_get(w->win, i->back, i->bytes, rank, w->at));
	CHECK_OK(m, oriel_get_accumulate(w->win, i->numbers, i->before, i->count, ORIEL_INT64, ORIEL_SUM, rank,
	                                 w->at + ADD_AT));
}

/* Returns whether the numbers are those after `times` such operations. */
static bool numbers_hold(const int64_t *numbers, size_t count, int64_t times)
{
	for (size_t k = 0; k < count; k++)
		if (numbers[k] != times * ((int64_t)k + 1))
			return false;
	return true;
}

static void in_active_epoch(struct multi *m, struct window *w, enum active by, size_t bytes, bool by_test)
{
	oriel_request local, both;
	struct issued i;

	issued_make(&i, bytes, by_test);
	multi_fill(w->base, bytes, 7 + (uint64_t)m->rank);
	memset(w->base + ADD_AT, 0, i.count * 8);
	multi_sync(m);
	active_open(m, w, by);
	issue_to(m, w, &i, w->right, 100 + (uint64_t)m->rank);
	CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &local));
	finish(m, &i, &local);
	CHECK(m, multi_holds(i.back, bytes, 7 + (uint64_t)w->right));
	CHECK(m, numbers_hold(i.before, i.count, 0));
	memset(i.data, 0xee, bytes); /* it may be used again */
	issue_to(m, w, &i, w->right, 200 + (uint64_t)m->rank);
	CHECK_OK(m, oriel_win_iflush(w->win, w->right, &both));
	finish(m, &i, &both);
	CHECK(m, numbers_hold(i.before, i.count, 1));
	check_bytes_at(m, w, PUT_AT, bytes, 200 + w->left);
	CHECK(m, numbers_hold((int64_t *)(void *)(w->base + ADD_AT), i.count, 2));
	CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &local));
	active_close(m, w, by);
	CHECK(m, is_complete(m, &local) && is_complete(m, &both));
	multi_sync(m);
	issued_drop(&i);
}

/* Over a card one kind of window has the large ones. */
static bool is_spared(int kind, size_t bytes)
{
	return bytes == LARGE && kind > 0 && multi_over_card();
}

/* R3, R4: in epochs of fence and of start, small and large, waited for and tested. */
static void complete_in_active_epochs(struct multi *m)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct window w;

		if (!window_open_of(m, &w, kinds[kind], 3 * LARGE))
			continue;
		for (unsigned n = 0; n < 4 * ACTIVES; n++) {
			size_t bytes = n % 2 ? LARGE : 8;

			if (!is_spared(kind, bytes))
				in_active_epoch(m, &w, (enum active)(n / 4), bytes, n / 2 % 2);
		}
		window_close(m, &w);
	}
}

/* Rank 1 of two posts only when rank 0 has got so far, and sees what has come before the epoch is over. */
static void post_late(struct multi *m, struct window *w, oriel_group *origin, uint64_t turn, size_t bytes)
{
	multi_await(m, STEP, 2 * turn - 1);
	CHECK_OK(m, oriel_win_post(w->win, origin, 0));
	multi_await(m, STEP, 2 * turn);
	CHECK_OK(m, oriel_win_sync(w->win));
	CHECK(m, multi_holds(w->base + PUT_AT, bytes, turn));
	CHECK_OK(m, oriel_win_wait(w->win));
}

static void start_early(struct multi *m, struct window *w, oriel_group *target, uint64_t turn, struct issued *i)
{
	oriel_request local, both, more;

	CHECK_OK(m, oriel_win_start(w->win, target, 0));
	issue_to(m, w, i, 1, turn);
	CHECK_OK(m, oriel_win_iflush_local(w->win, 1, &local));
	CHECK_OK(m, oriel_win_iflush(w->win, 1, &both));
	for (int n = 0; n < 60; n++)
		CHECK(m, !is_complete(m, n % 2 ? &local : &both));
	multi_raise(m, STEP, 2 * turn - 1);
	finish(m, i, &local);
	CHECK(m, multi_holds(i->back, i->bytes, 9));
	CHECK(m, numbers_hold(i->before, i->count, 0));
	finish(m, i, &both);
	allowed(m, w, 1); /* the epoch is open still */
	CHECK_OK(m, oriel_put(w->win, &turn, sizeof(turn), 1, w->at + PUT_AT - 8));
	CHECK_OK(m, oriel_win_iflush_local(w->win, 1, &more));
	finish(m, i, &more);
	multi_raise(m, STEP, 2 * turn);
	CHECK_OK(m, oriel_win_complete(w->win));
}

static void late_turn(struct multi *m, struct window *w, uint64_t turn, size_t bytes)
{
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	struct issued i;
	uint64_t told;

	issued_make(&i, bytes, turn % 2);
	multi_fill(w->base, bytes, 9);
	memset(w->base + ADD_AT, 0, i.count * 8);
	multi_sync(m);
	if (m->rank == 1) {
		post_late(m, w, other, turn, bytes);
		memcpy(&told, w->base + PUT_AT - 8, sizeof(told));
		CHECK(m, told == turn);
	} else {
		start_early(m, w, other, turn, &i);
	}
	multi_sync(m);
	issued_drop(&i);
	multi_group_drop(m, other);
}

/* P4, R3, R4: what waits for the post is complete after it, and the epoch stays open. */
static void late_posts_are_waited_for(struct multi *m)
{
	uint64_t turn = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		struct window w;

		if (!window_open_of(m, &w, kinds[kind], 3 * LARGE))
			continue;
		for (int n = 0; n < 4; n++) {
			size_t bytes = n / 2 ? LARGE : 8;

			if (!is_spared(kind, bytes))
				late_turn(m, &w, ++turn, bytes);
		}
		window_close(m, &w);
	}
}

/* Rank 0 of two; its requests, as they were when rank 1 had not posted. */
static void close_while_held(struct multi *m, struct window *w, oriel_group *target, uint64_t turn, bool push)
{
	oriel_request held[2], again[2], next;
	uint8_t data[100], back[100] = { 0 }, last;

	multi_fill(data, sizeof(data), turn);
	CHECK_OK(m, oriel_win_start(w->win, target, 0));
	CHECK_OK(m, oriel_put(w->win, data, sizeof(data), 1, w->at + AT));
	CHECK_OK(m, oriel_get(w->win, back, sizeof(back), 1, w->at + 1000));
	CHECK_OK(m, oriel_win_iflush_local(w->win, 1, &held[0]));
	CHECK_OK(m, oriel_win_iflush(w->win, 1, &held[1]));
	CHECK(m, !is_complete(m, &held[0]) && !is_complete(m, &held[1]));
	memcpy(again, held, sizeof(again));
	multi_raise(m, STEP, 2 * turn - 1);
	if (push)
		CHECK_OK(m, oriel_win_flush(w->win, 1)); /* nothing is deferred any more when the epoch ends */
	CHECK_OK(m, oriel_win_complete(w->win));
	CHECK(m, is_complete(m, &held[0]));
	CHECK(m, multi_holds(back, sizeof(back), 9));
	test_until_complete(m, &held[1]);
	CHECK_OK(m, oriel_win_start(w->win, target, 0));
	CHECK_OK(m, oriel_get(w->win, &last, 1, 1, w->at));
	CHECK_OK(m, oriel_win_iflush_local(w->win, 1, &next));
	CHECK(m, !is_complete(m, &next));
	CHECK(m, is_complete(m, &again[0]));
	test_until_complete(m, &again[1]); /* without the next post */
	CHECK(m, !is_complete(m, &next));
	multi_raise(m, STEP, 2 * turn);
	CHECK_OK(m, oriel_win_complete(w->win));
	CHECK(m, is_complete(m, &next));
}

static void held_turn(struct multi *m, struct window *w, uint64_t turn)
{
	oriel_group *other = multi_group_one(m, 1 - m->rank);

	multi_fill(w->base + 1000, 100, 9);
	multi_sync(m);
	if (m->rank == 0)
		close_while_held(m, w, other, turn, turn % 2);
	for (uint64_t n = 0; m->rank == 1 && n < 2; n++) {
		multi_await(m, STEP, 2 * turn - 1 + n);
		CHECK_OK(m, oriel_win_post(w->win, other, 0));
		CHECK_OK(m, oriel_win_wait(w->win));
		CHECK(m, multi_holds(w->base + AT, 100, turn));
	}
	multi_sync(m);
	multi_group_drop(m, other);
}

/*
 * R5: the end of an epoch of start completes what was deferred in it, whatever is deferred in the
 * next.
 */
static void complete_ends_held_ones(struct multi *m)
{
	uint64_t turn = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		struct window w;

		if (!window_open(m, &w, kinds[kind]))
			continue;
		for (int n = 0; n < 4; n++)
			held_turn(m, &w, ++turn);
		window_close(m, &w);
	}
}

static void only_tests(struct multi *m, struct window *w)
{
	uint8_t *back = multi_alloc(BYTES);

	multi_fill(w->base, BYTES, (uint64_t)m->rank);
	multi_sync(m);
	for (size_t i = 0; i < SIZES; i++) {
		oriel_request request;

		memset(back, 0, sizes[i]);
		CHECK_OK(m, oriel_get(w->win, back, sizes[i], w->right, w->at));
		CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &request));
		test_until_complete(m, &request);
		CHECK(m, multi_holds(back, sizes[i], (uint64_t)w->right));
		CHECK(m, is_complete(m, &request));
	}
	multi_sync(m);
	for (size_t i = 0; i < SIZES; i++) {
		oriel_request request;

		multi_fill(back, sizes[i], i * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_put(w->win, back, sizes[i], w->right, w->at + AT));
		CHECK_OK(m, oriel_win_iflush(w->win, w->right, &request));
		test_until_complete(m, &request);
		check_put(m, w, sizes[i], i * 100 + w->left);
	}
	free(back);
}

/* R3: tested again and again it becomes true without any other call. */
static void test_becomes_true(struct multi *m)
{
	on_windows(m, only_tests);
}

static void small_puts(struct multi *m, struct window *w)
{
	uint8_t data[1000] = { 0 }; /* copied by every device, among other puts too */
	oriel_request request;

	CHECK_OK(m, oriel_put(w->win, data, 8, w->right, w->at));
	CHECK_OK(m, oriel_win_flush(w->win, w->right)); /* the lock of lock_all is held from here on */
	for (int i = 0; i < 10; i++) {
		CHECK_OK(m, oriel_put(w->win, data, i % 2 ? sizeof(data) : 8, w->right, w->at));
		CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &request));
		CHECK(m, is_complete(m, &request));
	}
}

/* R3: the buffer of a put that is copied is free at once, without an answer of the target. */
static void copied_puts_wait_for_nobody(struct multi *m)
{
	on_windows(m, small_puts);
}

static void put_rounds(struct multi *m, struct window *w)
{
	uint8_t *data = multi_alloc(BYTES);

	for (uint64_t round = 0; round < 2 * SIZES; round++) {
		size_t size = sizes[round % SIZES];

		multi_fill(data, size, round * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_put(w->win, data, size, w->right, w->at + AT));
		complete_local(m, w);
		memset(data, 0xee, size); /* it is the program's again */
		if (round % 2)
			complete_both(m, w);
		else
			CHECK_OK(m, oriel_win_flush(w->win, w->right));
		check_put(m, w, size, round * 100 + w->left);
	}
	free(data);
}

/* R4, R3: put buffers may be reused, whatever the size. */
static void put_buffers_are_free(struct multi *m)
{
	on_windows(m, put_rounds);
}

static void get_rounds(struct multi *m, struct window *w)
{
	uint8_t *back = multi_alloc(BYTES);

	for (uint64_t round = 0; round < 3 * SIZES; round++) {
		size_t size = sizes[round % SIZES];

		multi_fill(w->base, size, round * 100 + (uint64_t)m->rank);
		multi_sync(m);
		memset(back, 0xee, size);
		CHECK_OK(m, oriel_get(w->win, back, size, w->right, w->at));
		complete_local(m, w);
		CHECK(m, multi_holds(back, size, round * 100 + (uint64_t)w->right));
		multi_sync(m);
	}
	free(back);
}

/* R4, R3: got data is there, whatever the size. */
static void got_data_is_there(struct multi *m)
{
	on_windows(m, get_rounds);
}

/* A list of pieces of one size, apart at both sides. */
struct shape {
	int count;
	size_t piece_bytes;
};

static const struct shape shapes[] = { { 1, 3000 }, { 16, 8 }, { PIECES, 40 }, { 3, 24 }, { 7, 9000 } };
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))
#define SHAPES_OF_ELEMENTS (SHAPES - 1) /* that a card may have to change one by one */

struct pieces {
	struct oriel_origin_piece origin[PIECES];
	struct oriel_target_piece target[PIECES];
};

static void lay_out(struct pieces *p, const struct shape *shape, uint8_t *data, size_t disp)
{
	for (int i = 0; i < shape->count; i++) {
		p->origin[i] = (struct oriel_origin_piece){ data + (size_t)i * (shape->piece_bytes + 8), shape->piece_bytes };
		p->target[i] = (struct oriel_target_piece){ disp + (size_t)i * (shape->piece_bytes + 16), shape->piece_bytes };
	}
}

static uint64_t piece_seed(size_t s, int i, int rank)
{
	return s * 10000 + (uint64_t)i * 100 + (uint64_t)rank;
}

static void vector_rounds(struct multi *m, struct window *w)
{
	uint8_t *data = multi_alloc(BYTES);
	struct pieces p;

	for (size_t s = 0; s < SHAPES; s++) {
		const struct shape *shape = &shapes[s];

		lay_out(&p, shape, data, w->at + 8);
		for (int i = 0; i < shape->count; i++)
			multi_fill(p.origin[i].addr, shape->piece_bytes, piece_seed(s, i, m->rank));
		CHECK_OK(m, oriel_putv(w->win, p.origin, shape->count, w->right, p.target, shape->count));
		complete_local(m, w);
		memset(data, 0xee, BYTES);
		CHECK_OK(m, oriel_win_flush(w->win, w->right));
		CHECK_OK(m, oriel_getv(w->win, p.origin, shape->count, w->right, p.target, shape->count));
		complete_local(m, w);
		for (int i = 0; i < shape->count; i++)
			CHECK(m, multi_holds(p.origin[i].addr, shape->piece_bytes, piece_seed(s, i, m->rank)));
	}
	free(data);
}

/* R4: lists of pieces, of every shape. */
static void pieces_are_there(struct multi *m)
{
	on_windows(m, vector_rounds);
}

/* Elements of the accumulate family, one type for each of its ways. */

static const enum oriel_type types[] = { ORIEL_INT64, ORIEL_DOUBLE, ORIEL_UINT8, MULTI_REST };
#define TYPES (sizeof(types) / sizeof(types[0]))

static void set_element(enum oriel_type type, void *list, size_t i, int value)
{
	if (type == ORIEL_INT64)
		((int64_t *)list)[i] = value;
	else if (type == ORIEL_DOUBLE)
		((double *)list)[i] = value;
	else if (type == ORIEL_UINT8)
		((uint8_t *)list)[i] = (uint8_t)value;
	else
		((multi_rest *)list)[i] = value;
}

static int element(enum oriel_type type, const void *list, size_t i)
{
	if (type == ORIEL_INT64)
		return (int)((const int64_t *)list)[i];
	if (type == ORIEL_DOUBLE)
		return (int)((const double *)list)[i];
	if (type == ORIEL_UINT8)
		return ((const uint8_t *)list)[i];
	return (int)((const multi_rest *)list)[i];
}

/* Replace, add one, read; each buffer is used again once its request is complete. */
static void accumulate_round(struct multi *m, struct window *w, enum oriel_type type, size_t count, void *data)
{
	size_t bytes = count * oriel_type_bytes(type);

	for (size_t i = 0; i < count; i++)
		set_element(type, data, i, (int)(i % 100));
	CHECK_OK(m, oriel_accumulate(w->win, data, count, type, ORIEL_REPLACE, w->right, w->at));
	complete_local(m, w);
	for (size_t i = 0; i < count; i++)
		set_element(type, data, i, 1);
	CHECK_OK(m, oriel_accumulate(w->win, data, count, type, ORIEL_SUM, w->right, w->at));
	complete_local(m, w);
	memset(data, 0, bytes);
	CHECK_OK(m, oriel_get_accumulate(w->win, NULL, data, count, type, ORIEL_NO_OP, w->right, w->at));
	complete_local(m, w);
	for (size_t i = 0; i < count; i++) {
		if (!CHECK(m, element(type, data, i) == (int)(i % 100) + 1))
			return;
	}
}

static void accumulate_rounds(struct multi *m, struct window *w)
{
	/* A card changes each number of the first type by a request of its own. */
	static const size_t counts[TYPES][3] = { { 1, 5, 200 }, { 1, 5, 3000 }, { 1, 5, 3000 }, { 1, 5, 3000 } };
	void *data = multi_alloc(BYTES);

	for (size_t i = 0; i < TYPES * 3; i++)
		accumulate_round(m, w, types[i % TYPES], counts[i % TYPES][i / TYPES], data);
	free(data);
}

/* R4, R3: accumulate and get_accumulate, of every way and of several lengths. */
static void accumulated_data_is_there(struct multi *m)
{
	on_windows(m, accumulate_rounds);
}

static void single_elements(struct multi *m, struct window *w)
{
	int64_t one = 1, forty = OPEN, seven = 7, before[OPEN], swapped[2] = { -1, -1 };
	oriel_request request[OPEN];

	memset(before, 0xee, sizeof(before));
	for (int i = 0; i < OPEN; i++) {
		CHECK_OK(m, oriel_fetch_and_op(w->win, &one, &before[i], ORIEL_INT64, ORIEL_SUM, w->right, w->at));
		CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &request[i]));
	}
	for (int i = OPEN; i-- > 0;) {
		CHECK_OK(m, oriel_request_wait(&request[i]));
		CHECK(m, before[i] == i);
	}
	CHECK_OK(m, oriel_compare_and_swap(w->win, &seven, &forty, &swapped[0], ORIEL_INT64, w->right, w->at));
	complete_local(m, w);
	CHECK(m, swapped[0] == OPEN);
	CHECK_OK(m, oriel_compare_and_swap(w->win, &one, &forty, &swapped[1], ORIEL_INT64, w->right, w->at));
	complete_local(m, w);
	CHECK(m, swapped[1] == 7);
}

/* R4, R5: fetch_and_op and compare_and_swap; many are open, and are waited for from the last one on. */
static void fetched_values_are_there(struct multi *m)
{
	on_windows(m, single_elements);
}

/* Set all pieces' elements to a value, or check that they have it. */
static void set_pieces(struct pieces *p, const struct shape *shape, int value)
{
	for (int i = 0; i < shape->count; i++) {
		for (size_t k = 0; k < shape->piece_bytes / 8; k++)
			set_element(ORIEL_INT64, p->origin[i].addr, k, value + i);
	}
}

static bool pieces_hold(const struct pieces *p, const struct shape *shape, int value)
{
	for (int i = 0; i < shape->count; i++) {
		for (size_t k = 0; k < shape->piece_bytes / 8; k++) {
			if (element(ORIEL_INT64, p->origin[i].addr, k) != value + i)
				return false;
		}
	}
	return true;
}

static void accumulatev_rounds(struct multi *m, struct window *w)
{
	uint8_t *data = multi_alloc(BYTES), *results = multi_alloc(BYTES);
	struct pieces p, r;

	for (size_t s = 0; s < SHAPES_OF_ELEMENTS; s++) {
		const struct shape *shape = &shapes[s];
		int count = shape->count;

		lay_out(&p, shape, data, w->at);
		lay_out(&r, shape, results, w->at);
		set_pieces(&p, shape, 10);
		CHECK_OK(m, oriel_accumulatev(w->win, p.origin, count, ORIEL_INT64, ORIEL_REPLACE, w->right, p.target, count));
		complete_local(m, w);
		set_pieces(&p, shape, 100);
		memset(results, 0xee, BYTES);
		CHECK_OK(m, oriel_get_accumulatev(w->win, p.origin, count, r.origin, count, ORIEL_INT64, ORIEL_REPLACE,
		                                  w->right, p.target, count));
		complete_local(m, w);
		CHECK(m, pieces_hold(&r, shape, 10));
		set_pieces(&p, shape, 1);
		memset(results, 0xee, BYTES);
		CHECK_OK(m, oriel_get_accumulatev(w->win, NULL, 0, r.origin, count, ORIEL_INT64, ORIEL_NO_OP, w->right,
		                                  p.target, count));
		complete_local(m, w);
		CHECK(m, pieces_hold(&r, shape, 100));
	}
	free(data);
	free(results);
}

/* R4: the family's lists of pieces. */
static void accumulated_pieces_are_there(struct multi *m)
{
	on_windows(m, accumulatev_rounds);
}

static void memory_that_changes(struct multi *m, struct window *w)
{
	for (uint64_t round = 0; round < 6; round++) {
		uint8_t *data = multi_alloc(70000);

		multi_fill(data, 70000, round * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_put(w->win, data, 70000, w->right, w->at + AT));
		complete_local(m, w);
		free(data); /* the next round's may lie there, of other pages */
		complete_both(m, w);
		check_put(m, w, 70000, round * 100 + w->left);
	}
}

/* R3, R4: a buffer that was registered for its put may be unmapped, and another one mapped there. */
static void buffers_may_be_unmapped(struct multi *m)
{
	on_windows(m, memory_that_changes);
}

/*
 * Rank 0 of two makes requests for operations to rank 1 that wait for its lock: a put of `seed`, a get of
 * seed 9; at both sides, at the origin, and for all targets.
 */
struct waiting {
	oriel_request request[3];
	uint8_t data[100];
	uint8_t back[100];
};

static void hold(struct multi *m, struct window *w, struct waiting *held, uint64_t seed)
{
	memset(held, 0, sizeof(*held));
	multi_fill(held->data, sizeof(held->data), seed);
	CHECK_OK(m, oriel_win_lock_all(w->win, 0));
	CHECK_OK(m, oriel_put(w->win, held->data, sizeof(held->data), 1, w->at + AT));
	CHECK_OK(m, oriel_get(w->win, held->back, sizeof(held->back), 1, w->at + 1000));
	CHECK_OK(m, oriel_win_iflush(w->win, 1, &held->request[0]));
	CHECK_OK(m, oriel_win_iflush_local(w->win, 1, &held->request[1]));
	CHECK_OK(m, oriel_win_iflush(w->win, ORIEL_RANK_ALL, &held->request[2]));
	for (int i = 0; i < 60; i++)
		CHECK(m, !is_complete(m, &held->request[i % 3]));
}

/* Rank 1 keeps others out until rank 0 has come to `step`. */
static void keep_out(struct multi *m, struct window *w, int word, uint64_t step)
{
	CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_EXCLUSIVE, 1, 0));
	multi_raise(m, word, step);
	multi_await(m, word + 1, step);
	CHECK_OK(m, oriel_win_unlock(w->win, 1));
}

/* R1, R3: what is deferred until the lock is held counts as issued. */
static void held_back_counts(struct multi *m)
{
	for (int kind = 0; kind < KINDS; kind++) {
		int word = STEP + 2 * kind;
		struct window w;
		struct waiting held;

		if (kinds[kind] == ORIEL_WIN_SHARED || !window_open(m, &w, kinds[kind]))
			continue; /* of a shared window lock_all takes every lock at once */
		multi_fill(w.base + 1000, sizeof(held.back), 9);
		multi_sync(m);
		if (m->rank == 1) {
			keep_out(m, &w, word, 1);
		} else {
			multi_await(m, word, 1);
			hold(m, &w, &held, 5);
			multi_raise(m, word + 1, 1);
			for (int i = 0; i < 3; i++)
				test_until_complete(m, &held.request[(i + kind) % 3]);
			CHECK(m, multi_holds(held.back, sizeof(held.back), 9));
		}
		multi_sync(m);
		CHECK_OK(m, oriel_win_sync(w.win));
		CHECK(m, m->rank == 0 || multi_holds(w.base + AT, sizeof(held.data), 5));
		if (m->rank == 0)
			CHECK_OK(m, oriel_win_unlock_all(w.win));
		window_close(m, &w);
	}
}

/*
 * R5: deferred when the epoch is closed: complete then, and whatever is deferred in the next epoch.
 */
static void closing_completes_held_ones(struct multi *m)
{
	for (int kind = 0; kind < KINDS; kind++) {
		int word = STEP + 2 * kind;
		struct window w;
		struct waiting held, copy, next;

		if (kinds[kind] == ORIEL_WIN_SHARED || !window_open(m, &w, kinds[kind]))
			continue; /* of a shared window lock_all takes every lock at once */
		multi_fill(w.base + 1000, sizeof(held.back), 9);
		multi_sync(m);
		if (m->rank == 1) {
			keep_out(m, &w, word, 1);
			multi_await(m, word + 1, 2); /* rank 0 may not have asked for the lock when it is given back */
			keep_out(m, &w, word, 3);
		}
		if (m->rank == 0) {
			multi_await(m, word, 1);
			hold(m, &w, &held, 6);
			copy = held;
			multi_raise(m, word + 1, 1);
			CHECK_OK(m, oriel_win_unlock_all(w.win));
			for (int i = 0; i < 3; i++)
				CHECK(m, is_complete(m, &held.request[i]));
			CHECK(m, multi_holds(held.back, sizeof(held.back), 9));
			multi_raise(m, word + 1, 2);
			multi_await(m, word, 3);
			hold(m, &w, &next, 7);
			for (int i = 0; i < 3; i++)
				CHECK(m, is_complete(m, &copy.request[i]));
			multi_raise(m, word + 1, 3);
			CHECK_OK(m, oriel_win_unlock_all(w.win));
		}
		window_close(m, &w);
		CHECK(m, m->rank == 0 || kinds[kind] == ORIEL_WIN_ALLOCATED || kinds[kind] == ORIEL_WIN_SHARED ||
		             multi_holds(own_memory + AT, sizeof(held.data), 7));
	}
}

/* R5: an epoch that is closed completes the requests that are open, each of them. */
static void closing_completes(struct multi *m)
{
	uint8_t *back = multi_alloc(BYTES);

	for (int i = 0; i < KINDS * 2; i++) {
		oriel_request request[SIZES * 2];
		struct window w;

		if (!window_open(m, &w, kinds[i / 2]))
			continue;
		multi_fill(w.base, BYTES, (uint64_t)m->rank);
		multi_sync(m);
		memset(back, 0, BYTES);
		locks_open(m, &w, i % 2);
		for (size_t k = 0; k < SIZES; k++) {
			CHECK_OK(m, oriel_get(w.win, back, sizes[k], w.right, w.at));
			CHECK_OK(m, oriel_win_iflush_local(w.win, w.right, &request[2 * k]));
			CHECK_OK(m, oriel_win_iflush(w.win, w.right, &request[2 * k + 1]));
		}
		locks_close(m, &w);
		for (size_t k = SIZES * 2; k-- > 0;)
			CHECK(m, is_complete(m, &request[k]));
		CHECK(m, multi_holds(back, sizes[SIZES - 1], (uint64_t)w.right));
		window_close(m, &w);
	}
	free(back);
}

static void *put_and_get(void *arg)
{
	struct worker *worker = arg;
	struct multi *m = worker->m;
	struct window *w = worker->w;
	size_t at = w->at + 4096 * worker->number;
	uint8_t data[3000], back[3000];

	for (uint64_t i = 0; i < 40; i++) {
		oriel_request request;

		multi_fill(data, sizeof(data), i * 10 + worker->number);
		CHECK_OK(m, oriel_put(w->win, data, sizeof(data), w->right, at));
		CHECK_OK(m, oriel_win_iflush(w->win, w->right, &request));
		CHECK_OK(m, oriel_request_wait(&request));
		memset(back, 0, sizeof(back));
		CHECK_OK(m, oriel_get(w->win, back, sizeof(back), w->right, at));
		CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &request));
		test_until_complete(m, &request);
		CHECK(m, memcmp(data, back, sizeof(data)) == 0);
	}
	return NULL;
}

static void *wait_for_it(void *arg)
{
	struct worker *worker = arg;

	CHECK_OK(worker->m, oriel_request_wait(&worker->request));
	return NULL;
}

static void run_threads(struct multi *m, struct worker workers[THREADS], void *(*run)(void *))
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK(m, pthread_create(&thread[i], NULL, run, &workers[i]) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void threads_on_a_window(struct multi *m, struct window *w)
{
	struct worker workers[THREADS];
	uint8_t *back = multi_alloc(THREADS * 9000);

	for (size_t i = 0; i < THREADS; i++)
		workers[i] = (struct worker){ .m = m, .w = w, .number = i };
	run_threads(m, workers, put_and_get);
	multi_sync(m);
	multi_fill(w->base, 9000, (uint64_t)m->rank);
	multi_sync(m);
	for (size_t i = 0; i < THREADS; i++) {
		CHECK_OK(m, oriel_get(w->win, back + 9000 * i, 9000, w->right, w->at));
		CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &workers[i].request));
	}
	run_threads(m, workers, wait_for_it);
	for (size_t i = 0; i < THREADS; i++)
		CHECK(m, multi_holds(back + 9000 * i, 9000, (uint64_t)w->right));
	multi_sync(m);
	free(back);
}

/* R5: threads make requests of their own, and wait for those of others. */
static void threads_wait(struct multi *m)
{
	on_windows(m, threads_on_a_window);
}

static void drop_many(struct multi *m, struct window *w)
{
	struct oriel_usage before = { .struct_bytes = sizeof(before) }, after = before;
	const int times = multi_over_card() ? 1000 : 3000;
	uint8_t byte = 1, back;

	CHECK_OK(m, oriel_put(w->win, &byte, 1, w->right, w->at + AT));
	CHECK_OK(m, oriel_win_flush(w->win, w->right));
	for (int i = 0; i < times; i++) {
		oriel_request request;

		if (i == 500)
			CHECK_OK(m, oriel_usage(m->job, &before));
		CHECK_OK(m, oriel_put(w->win, &byte, 1, w->right, w->at + AT));
		CHECK_OK(m, oriel_get(w->win, &back, 1, w->right, w->at));
		CHECK_OK(m, i % 2 ? oriel_win_iflush(w->win, w->right, &request)
		                  : oriel_win_iflush_local(w->win, w->right, &request));
	}
	CHECK_OK(m, oriel_win_flush(w->win, w->right));
	CHECK_OK(m, oriel_usage(m->job, &after));
	CHECK(m, after.registered_bytes == before.registered_bytes && after.window_bytes == before.window_bytes);
	CHECK(m, after.link_bytes == before.link_bytes && after.peer_bytes == before.peer_bytes);
}

/* R6: a request that is dropped leaves nothing. */
static void dropped_ones_leave_nothing(struct multi *m)
{
	on_windows(m, drop_many);
}

static void wait_again(struct multi *m, struct window *w)
{
	oriel_request request, copy;
	uint8_t back[9000];

	multi_fill(w->base, sizeof(back), (uint64_t)m->rank);
	multi_sync(m);
	CHECK_OK(m, oriel_get(w->win, back, sizeof(back), w->right, w->at));
	CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &request));
	copy = request;
	for (int i = 0; i < 3; i++) {
		CHECK_OK(m, oriel_request_wait(&request));
		CHECK(m, is_complete(m, &request));
		CHECK(m, multi_holds(back, sizeof(back), (uint64_t)w->right));
	}
	CHECK(m, is_complete(m, &copy));
	CHECK_OK(m, oriel_request_wait(&copy));
}

/* R6: waiting for one twice is legal, and for its copy. */
static void waiting_twice_is_legal(struct multi *m)
{
	on_windows(m, wait_again);
}

static void no_window(struct multi *m, oriel_request *request)
{
	int flag = 7;

	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_request_wait(request));
	CHECK_TEXT(m, "freed");
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_request_test(request, &flag));
	CHECK(m, flag == 7);
}

/* R6: a request of a window that has been freed, complete or not, also when another window has its memory. */
static void a_freed_window_is_told(struct multi *m)
{
	oriel_request request[3] = { { 0 } };
	struct window w, next;
	int flag = 7;

	if (!window_open(m, &w, ORIEL_WIN_CREATED))
		return;
	no_window(m, &request[0]);
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, "x", 1, w.right, 0));
	CHECK_OK(m, oriel_win_iflush(w.win, w.right, &request[0]));
	CHECK_OK(m, oriel_win_iflush(w.win, ORIEL_RANK_ALL, &request[1]));
	CHECK_OK(m, oriel_win_iflush(w.win, w.right, &request[2]));
	CHECK_OK(m, oriel_request_wait(&request[2]));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_request_wait(NULL));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_request_test(NULL, &flag));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_request_test(&request[2], NULL));
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	window_close(m, &w);
	for (int i = 0; i < 3; i++)
		no_window(m, &request[i]);
	if (!window_open(m, &next, ORIEL_WIN_CREATED))
		return;
	CHECK(m, next.win == request[0].win); /* handles' memory is used again: otherwise this tests nothing */
	for (int i = 0; i < 3; i++)
		no_window(m, &request[i]);
	window_close(m, &next);
}

static const struct multi_case cases[] = {
	{ "R1_iflush_is_at_both_sides", 0, iflush_is_at_both_sides },
	{ "R1_covers_what_was_issued_before", 3, covers_what_was_issued_before },
	{ "R1_covers_all_targets", 0, covers_all_targets },
	{ "R1_R3_all_targets_under_load", 3, all_targets_under_load },
	{ "R1_R3_held_back_counts", 2, held_back_counts },
	{ "R1_idle_requests_send_nothing", 2, idle_requests_send_nothing },
	{ "R2_legal_in_every_access_epoch", 0, legal_in_every_access_epoch },
	{ "R3_R4_complete_in_active_epochs", 3, complete_in_active_epochs },
	{ "P4_R3_R4_late_posts_are_waited_for", 2, late_posts_are_waited_for },
	{ "R5_complete_ends_held_ones", 2, complete_ends_held_ones },
	{ "R3_test_becomes_true", 0, test_becomes_true },
	{ "R3_copied_puts_wait_for_nobody", 2, copied_puts_wait_for_nobody },
	{ "R3_buffers_may_be_unmapped", 2, buffers_may_be_unmapped },
	{ "R4_put_buffers_are_free", 0, put_buffers_are_free },
	{ "R4_got_data_is_there", 0, got_data_is_there },
	{ "R4_pieces_are_there", 3, pieces_are_there },
	{ "R4_accumulated_data_is_there", 3, accumulated_data_is_there },
	{ "R4_R5_fetched_values_are_there", 3, fetched_values_are_there },
	{ "R4_accumulated_pieces_are_there", 2, accumulated_pieces_are_there },
	{ "R5_closing_completes", 3, closing_completes },
	{ "R5_closing_completes_held_ones", 2, closing_completes_held_ones },
	{ "R5_threads_wait", 2, threads_wait },
	{ "R6_dropped_ones_leave_nothing", 2, dropped_ones_leave_nothing },
	{ "R6_waiting_twice_is_legal", 3, waiting_twice_is_legal },
	{ "R6_a_freed_window_is_told", 2, a_freed_window_is_told },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_request",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
