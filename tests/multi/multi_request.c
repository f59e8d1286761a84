// SPDX-License-Identifier: BSD-2-Clause
/* multi_request.c - requests themselves: rules R1, R2, R5, R6 (R7: fault_lock) */
#include "request_windows.h"

#include <pthread.h>
#include <stdlib.h>

#include "job/job.h"
#include "job/peer.h"

#define OPEN 40 /* requests at a time */
#define THREADS 4

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
