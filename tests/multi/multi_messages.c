// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_messages.c - accumulates that the target applies: elements that no processor stores by one
 * instruction, and memory that no other rank can map (rules A2, A9, A15, A22, A23, L3, L13)
 */
#include "multi.h"

#include <complex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/job.h"
#include "op/element.h"
#include "win/link.h"
#include "win/win.h"

#define ROUNDS 200
#define LONG_COUNT 5000 /* elements; several active messages */

enum { READY, DONE, STAYS };

/* All ranks add to rank 0's elements, of class 3 by their type, inside a fence epoch. */
static void fence_covers_records(struct multi *m)
{
	struct multi_window w;
	multi_rest one[3] = { 1, 2, 3 };
	multi_rest *sums;

	multi_window_open(m, &w, 3 * sizeof(*sums));
	sums = (multi_rest *)(void *)w.base;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 0; i < ROUNDS; i++)
		CHECK_OK(m, oriel_accumulate(w.win, one, 3, MULTI_REST, ORIEL_SUM, 0, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == 0)
		CHECK(m, sums[0] == ROUNDS * m->size && sums[1] == 2 * ROUNDS * m->size && sums[2] == 3 * ROUNDS * m->size);
	multi_window_close(m, &w);
}

/* Long vectors in private memory, split into active messages, with their results. */
static void long_vectors(struct multi *m)
{
	struct multi_window w;
	double *data = multi_alloc(LONG_COUNT * sizeof(double)), *before = multi_alloc(LONG_COUNT * sizeof(double));
	int other = 1 - m->rank;
	bool same = true;

	multi_window_open(m, &w, LONG_COUNT * sizeof(double));
	for (int i = 0; i < LONG_COUNT; i++)
		data[i] = i + m->rank;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_accumulate(w.win, data, LONG_COUNT, ORIEL_DOUBLE, ORIEL_SUM, other, 0));
	CHECK_OK(m, oriel_get_accumulate(w.win, data, before, LONG_COUNT, ORIEL_DOUBLE, ORIEL_SUM, other, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 0; i < LONG_COUNT; i++) {
		double mine;

		memcpy(&mine, w.base + (size_t)i * sizeof(mine), sizeof(mine));
		same &= before[i] == data[i] && mine == 2.0 * (i + other);
	}
	CHECK(m, same);
	multi_window_close(m, &w);
	free(data);
	free(before);
}

#define LARGE_COUNT 8192 /* elements; the target reads them from the origin's memory if it polls */

/* Overwrites the operands after flush_local. */
static void add_and_overwrite(struct multi *m, const struct multi_window *w, double *data)
{
	for (int i = 0; i < LARGE_COUNT; i++)
		data[i] = 1;
	CHECK_OK(m, oriel_accumulate(w->win, data, LARGE_COUNT, ORIEL_DOUBLE, ORIEL_SUM, 0, 0));
	CHECK_OK(m, oriel_win_flush_local(w->win, 0));
	memset(data, 0xff, LARGE_COUNT * sizeof(*data));
	CHECK_OK(m, oriel_win_flush(w->win, 0));
}

/* Rank 0 waits, and polls, in the fences of another window. */
static void large_operands_may_change(struct multi *m)
{
	double *data = multi_alloc(LARGE_COUNT * sizeof(*data));
	struct multi_window w, other;
	bool same = true;

	multi_window_open(m, &w, LARGE_COUNT * sizeof(*data));
	multi_window_open(m, &other, 64);
	CHECK_OK(m, oriel_win_lock_all(w.win, ORIEL_MODE_NOCHECK));
	for (int i = 0; i < ROUNDS; i++) {
		if (m->rank == 1)
			add_and_overwrite(m, &w, data);
		CHECK_OK(m, oriel_win_fence(other.win, 0));
	}
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_sync(m);
	memcpy(data, w.base, LARGE_COUNT * sizeof(*data));
	for (int i = 0; i < LARGE_COUNT; i++)
		same &= data[i] == ROUNDS;
	CHECK(m, m->rank == 1 || same);
	multi_window_close(m, &other);
	multi_window_close(m, &w);
	free(data);
}

/*
 * Complete leaves its flag behind the active messages; the target's wait applies them before it
 * returns.
 */
static void wait_applies_what_came_before(struct multi *m)
{
	struct multi_window w;
	oriel_group *others;
	int32_t sum = 0, one = 1;

	multi_window_open(m, &w, sizeof(sum));
	others = multi_group_mask(m, m->rank == 0 ? ((1u << m->size) - 1) & ~1u : 1);
	for (int i = 0; i < ROUNDS; i++) {
		if (m->rank == 0) {
			CHECK_OK(m, oriel_win_post(w.win, others, 0));
			CHECK_OK(m, oriel_win_wait(w.win));
			memcpy(&sum, w.base, sizeof(sum));
			CHECK(m, sum == (i + 1) * (m->size - 1) * 3);
			continue;
		}
		CHECK_OK(m, oriel_win_start(w.win, others, 0));
		for (int k = 0; k < 3; k++)
			CHECK_OK(m, oriel_accumulate(w.win, &one, 1, ORIEL_INT32, ORIEL_SUM, 0, 0));
		CHECK_OK(m, oriel_win_complete(w.win));
	}
	multi_group_drop(m, others);
	multi_window_close(m, &w);
}

/* Operations issued before the post go out behind it, results come with complete. */
static void held_back_ones_come_with_complete(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	int64_t before[3] = { -1, -1, -1 }, five = 5;

	multi_window_open(m, &w, 64);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(w.win, other, 0));
		for (int i = 0; i < 3; i++)
			CHECK_OK(m, oriel_fetch_and_op(w.win, &five, &before[i], ORIEL_INT64, ORIEL_SUM, 1, 3));
		multi_raise(m, READY, 1);
		CHECK_OK(m, oriel_win_complete(w.win));
		CHECK(m, before[0] == 0 && before[1] == 5 && before[2] == 10);
	} else {
		multi_await(m, READY, 1);
		CHECK_OK(m, oriel_win_post(w.win, other, 0));
		CHECK_OK(m, oriel_win_wait(w.win));
		memcpy(before, w.base + 3, sizeof(before[0]));
		CHECK(m, before[0] == 15);
	}
	multi_group_drop(m, other);
	multi_window_close(m, &w);
}

/* Flush: results are here and the target has applied, while its threads compute. */
static void target_computes(struct multi *m)
{
	struct multi_window w;
	long double complex product = 0;

	multi_window_open(m, &w, sizeof(product));
	if (m->rank == 0)
		memcpy(w.base, &(long double complex){ 1 }, sizeof(product));
	multi_sync(m);
	CHECK_OK(m, oriel_win_lock_all(w.win, ORIEL_MODE_NOCHECK));
	if (m->rank == 0) {
		multi_await(m, DONE, (uint64_t)(m->size - 1)); /* calls nothing of the library */
		memcpy(&product, w.base, sizeof(product));
		CHECK(m, creall(product) == 1 && cimagl(product) == 0);
	}
	for (int i = 0; i < 4 && m->rank > 0; i++) {
		long double complex turn = I;

		CHECK_OK(m, oriel_accumulate(w.win, &turn, 1, ORIEL_LONG_DOUBLE_COMPLEX, ORIEL_PROD, 0, 0));
		CHECK_OK(m, oriel_get_accumulate(w.win, NULL, &product, 1, ORIEL_LONG_DOUBLE_COMPLEX, ORIEL_NO_OP, 0, 0));
		CHECK_OK(m, oriel_win_flush(w.win, 0));
		CHECK(m, creall(product) * creall(product) + cimagl(product) * cimagl(product) == 1);
	}
	if (m->rank > 0) { /* one after the other */
		multi_await(m, DONE, (uint64_t)m->rank - 1);
		multi_raise(m, DONE, (uint64_t)m->rank);
	}
	multi_sync(m);
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_window_close(m, &w);
}

/* All add 1 to one element, everybody in the same window, the owner too: every old value comes once. */
static void old_values_are_distinct(struct multi *m, enum oriel_type type, size_t disp, struct multi_window *w)
{
	uint64_t last = 0, value = 0;
	bool rising = true;

	CHECK_OK(m, oriel_win_fence(w->win, 0));
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t old = 0;

		CHECK_OK(m, oriel_fetch_and_op(w->win, &(uint64_t){ 1 }, &old, type, ORIEL_SUM, 0, disp));
		CHECK_OK(m, oriel_win_flush(w->win, 0));
		rising &= i == 0 || old > last;
		last = old;
	}
	CHECK(m, rising);
	CHECK_OK(m, oriel_win_fence(w->win, 0));
	if (m->rank == 0) {
		memcpy(&value, w->base + disp, 8);
		CHECK(m, value == (uint64_t)m->size * ROUNDS);
	}
	multi_sync(m);
}

static void unaligned_elements_are_atomic(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, 128);
	old_values_are_distinct(m, ORIEL_UINT64, 3, &w);
	if (m->rank == 0)
		CHECK(m, multi_all(w.base, 3, 0) && multi_all(w.base + 11, w.size_bytes - 11, 0));
	multi_window_close(m, &w);
}

static void private_words_are_atomic(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, 128);
	old_values_are_distinct(m, ORIEL_UINT64, 0, &w);
	old_values_are_distinct(m, ORIEL_UINT64, 9, &w);
	multi_window_close(m, &w);
}

/* Compare-and-swap of unaligned words: each rank takes its turn by its number. */
static void swaps_take_turns(struct multi *m)
{
	struct multi_window w;
	const int turns = 20;

	multi_window_open(m, &w, 64);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 0; i < turns; i++) {
		uint32_t mine = (uint32_t)(i * m->size + m->rank), next = mine + 1, old = UINT32_MAX;

		while (!multi_failed(m) && old != mine) {
			CHECK_OK(m, oriel_compare_and_swap(w.win, &next, &mine, &old, ORIEL_UINT32, 0, 5));
			CHECK_OK(m, oriel_win_flush(w.win, 0));
			sched_yield(); /* valgrind runs one thread at a time, and rank 0 holds no page lock here */
		}
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == 0) {
		uint32_t last;

		memcpy(&last, w.base + 5, sizeof(last));
		CHECK(m, last == (uint32_t)(turns * m->size));
	}
	multi_window_close(m, &w);
}

/*
 * A replace and reads of one origin, of active messages of different lengths, take effect in
 * program order.
 */
static void program_order_holds(struct multi *m)
{
	const int count = 700;
	struct multi_window w;
	int16_t *data = multi_alloc((size_t)count * sizeof(int16_t)), *read = multi_alloc((size_t)count * sizeof(int16_t));
	bool ordered = true;

	multi_window_open(m, &w, (size_t)count * sizeof(int16_t));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 0; i < 50 && m->rank == 1; i++) {
		int16_t last = 0;

		for (int k = 0; k < count; k++)
			data[k] = (int16_t)(i * 3 + k);
		CHECK_OK(m, oriel_accumulate(w.win, data, (size_t)count, ORIEL_INT16, ORIEL_REPLACE, 0, 0));
		CHECK_OK(m, oriel_fetch_and_op(w.win, &(int16_t){ 1 }, &last, ORIEL_INT16, ORIEL_SUM, 0,
		                               (size_t)(count - 1) * sizeof(int16_t)));
		CHECK_OK(m, oriel_get_accumulate(w.win, NULL, read, (size_t)count, ORIEL_INT16, ORIEL_NO_OP, 0, 0));
		CHECK_OK(m, oriel_win_flush(w.win, 0));
		ordered &= last == data[count - 1] && read[count - 1] == last + 1 &&
		           memcmp(read, data, (size_t)(count - 1) * sizeof(int16_t)) == 0;
	}
	CHECK(m, ordered);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	multi_window_close(m, &w);
	free(data);
	free(read);
}

/*
 * Whether memory with two elements at `at` is alike but for their padding; a long double has 10
 * bytes of its 16.
 */
static bool alike(int type, const uint8_t *a, const uint8_t *b, size_t size_bytes, size_t at)
{
	bool longer = type == ORIEL_LONG_DOUBLE || type == ORIEL_LONG_DOUBLE_COMPLEX || type == ORIEL_LONG_DOUBLE_INT;
	uint8_t all[64], fields[64] = { 0 };

	memset(all, 0xff, sizeof(all));
	element_apply((enum oriel_type)type, ORIEL_REPLACE, fields, all, NULL, 2);
	for (size_t i = 0; i < size_bytes; i++) {
		size_t in = i - at, end = 2u * element_types[type].size_bytes;
		bool padding = i >= at && in < end && (!fields[in] || (longer && in % 16 >= 10));

		if (a[i] != b[i] && !padding)
			return false;
	}
	return true;
}

/* Every type and operation, against the same applied to memory of one's own. */
static void types_and_operations(struct multi *m)
{
	struct multi_window w;
	int other = (m->rank + 1) % m->size;

	multi_window_open(m, &w, 256);
	for (int type = 1; type < ELEMENT_TYPES; type++) {
		for (int op = ORIEL_SUM; op < ORIEL_NO_OP; op++) {
			_Alignas(16) uint8_t operands[64], mine[96], old[64], expected[64];

			if (!element_legal((enum oriel_op)op, (enum oriel_type)type))
				continue;
			memset(operands, 3, sizeof(operands));
			memset(mine, 1, sizeof(mine));
			memset(old, 0, sizeof(old));
			memset(expected, 0, sizeof(expected));
			memset(w.base, 1, 256);
			element_apply((enum oriel_type)type, (enum oriel_op)op, mine + 7, operands, expected, 2);
			CHECK_OK(m, oriel_win_fence(w.win, 0));
			CHECK_OK(m,
			         oriel_get_accumulate(w.win, operands, old, 2, (enum oriel_type)type, (enum oriel_op)op, other, 7));
			CHECK_OK(m, oriel_win_fence(w.win, 0));
			if (!alike(type, mine, w.base, sizeof(mine), 7) || !alike(type, old, expected, sizeof(old), 0))
				multi_fail(m, __FILE__, __LINE__, "type %d, operation %d", type, op);
		}
	}
	multi_window_close(m, &w);
}

/* Unlock: complete at the target; the next holder reads it by a get. */
static void unlock_completes(struct multi *m)
{
	struct multi_window w;
	int64_t sum = 0, one = 1;

	multi_window_open(m, &w, 32);
	for (int i = 0; i < 20; i++) {
		CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
		CHECK_OK(m, oriel_get(w.win, &sum, sizeof(sum), 0, 1));
		CHECK_OK(m, oriel_win_flush(w.win, 0));
		CHECK(m, sum % 3 == 0);
		for (int k = 0; k < 3; k++)
			CHECK_OK(m, oriel_accumulate(w.win, &one, 1, ORIEL_INT64, ORIEL_SUM, 0, 1));
		CHECK_OK(m, oriel_win_unlock(w.win, 0));
	}
	multi_sync(m);
	memcpy(&sum, w.base + 1, sizeof(sum));
	CHECK(m, m->rank > 0 || sum == (int64_t)m->size * 60);
	multi_window_close(m, &w);
}

/* Refusals. What rank 1 believes of rank 0's window is made wrong, as a race or a defect would. */

#define FAR 4096

static struct link *opened(struct multi *m, struct multi_window *w)
{
	float one = 1;

	multi_window_open(m, w, 64);
	CHECK_OK(m, oriel_win_lock_all(w->win, ORIEL_MODE_NOCHECK));
	CHECK_OK(m, oriel_accumulate(w->win, &one, 1, ORIEL_FLOAT, ORIEL_SUM, 1 - m->rank, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1 - m->rank));
	multi_sync(m);
	return link_find(w->win, 1 - m->rank);
}

/* One that is refused and one that is not. */
static void send_far(struct multi *m, struct multi_window *w)
{
	static const float one = 1, two = 2; /* operands stay until a later call completes them */

	CHECK_OK(m, oriel_accumulate(w->win, &two, 1, ORIEL_FLOAT, ORIEL_SUM, 0, FAR));
	CHECK_OK(m, oriel_accumulate(w->win, &one, 1, ORIEL_FLOAT, ORIEL_SUM, 0, 4));
}

/* Once each, by whichever call completes them. */
static void refusals_are_told(struct multi *m)
{
	struct multi_window w;
	struct link *link = opened(m, &w);
	float before = -1, far = -1;
	oriel_request request;

	if (m->rank == 1) {
		link->size_bytes = 2 * FAR;
		send_far(m, &w);
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_win_flush(w.win, 0));
		CHECK_TEXT(m, "oriel_win_flush: ");
		CHECK_TEXT(m, "oriel_accumulate: window ");
		CHECK_TEXT(m, "rank 0 ");
		CHECK_TEXT(m, "4096");
		CHECK_TEXT(m, "8192");
		CHECK_OK(m, oriel_win_flush(w.win, 0));
		CHECK_OK(m, oriel_get_accumulate(w.win, NULL, &far, 1, ORIEL_FLOAT, ORIEL_NO_OP, 0, FAR));
		CHECK_OK(m, oriel_fetch_and_op(w.win, NULL, &before, ORIEL_FLOAT, ORIEL_NO_OP, 0, 4));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_win_flush_local(w.win, 0));
		CHECK_TEXT(m, "oriel_get_accumulate: window ");
		CHECK(m, before == 1 && far == -1);
		send_far(m, &w);
		send_far(m, &w);
		CHECK_OK(m, oriel_win_iflush(w.win, 0, &request));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_request_wait(&request));
		CHECK_TEXT(m, "oriel_request_wait: ");
		CHECK_TEXT(m, "one more");
		CHECK_OK(m, oriel_request_wait(&request));
		send_far(m, &w);
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_win_unlock_all(w.win));
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_unlock_all(w.win));
	} else {
		CHECK_OK(m, oriel_win_unlock_all(w.win));
	}
	multi_sync(m);
	memcpy(&before, w.base + 4, sizeof(before));
	CHECK(m, m->rank == 1 || before == 4);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == 1)
		send_far(m, &w);
	CHECK_RC(m, m->rank == 1 ? ORIEL_ERR_RANGE : 0, oriel_win_fence(w.win, 0));
	multi_window_close(m, &w);
}

/*
 * A fence tells what it is the first to find refused, also where all has been answered before it is
 * called, and it has nothing to wait for.
 */
static void refusals_are_told_by_a_plain_fence(struct multi *m)
{
	struct multi_window w;
	struct link *link = opened(m, &w);
	uint64_t before = multi_applied(m);

	CHECK_OK(m, oriel_win_unlock_all(w.win));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == 1) {
		link->size_bytes = 2 * FAR;
		send_far(m, &w);
		multi_drain(m);
		multi_raise(m, READY, 1);
		multi_await(m, DONE, 1);
	} else {
		multi_await(m, READY, 1);
		while (multi_applied(m) < before + 2)
			oriel_progress(m->job);
		multi_drain(m);
		multi_raise(m, DONE, 1);
	}
	CHECK_RC(m, m->rank == 1 ? ORIEL_ERR_RANGE : 0, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	multi_window_close(m, &w);
}

/*
 * Complete does not wait for active messages: it tells or a later call does, the free at the
 * latest; one of them.
 */
static void refusals_of_closed_epochs_are_told(struct multi *m)
{
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	struct multi_window w;
	struct link *link = opened(m, &w);
	int rc;

	CHECK_OK(m, oriel_win_unlock_all(w.win));
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_post(w.win, other, 0));
		CHECK_OK(m, oriel_win_wait(w.win));
		CHECK_OK(m, oriel_win_free(&w.win));
	} else {
		link->size_bytes = 2 * FAR;
		CHECK_OK(m, oriel_win_start(w.win, other, 0));
		send_far(m, &w);
		rc = oriel_win_complete(w.win);
		CHECK(m, rc == 0 || rc == ORIEL_ERR_RANGE);
		CHECK_RC(m, rc ? 0 : ORIEL_ERR_RANGE, oriel_win_free(&w.win));
		CHECK(m, w.win == NULL);
	}
	multi_group_drop(m, other);
	free(w.base);
}

/*
 * Deferred, and its region is gone when the post comes: a later put lets it go, which is not to
 * blame; complete tells.
 */
static void lost_while_held_back(struct multi *m)
{
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	struct region {
		float *memory;
		uint64_t there;
	} gone = { multi_alloc(64), 0 }, stays = { multi_alloc(64), 0 };
	oriel_win *win;

	CHECK_OK(m, oriel_win_create_dynamic(NULL, m->group, &win));
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_attach(win, gone.memory, 64));
		CHECK_OK(m, oriel_win_attach(win, stays.memory, 64));
		multi_raise(m, READY, (uintptr_t)gone.memory);
		multi_raise(m, STAYS, (uintptr_t)stays.memory);
	}
	multi_sync(m);
	gone.there = multi_word(m, READY);
	stays.there = multi_word(m, STAYS);
	if (m->rank == 0) {
		multi_await(m, DONE, 1);
		CHECK_OK(m, oriel_win_detach(win, gone.memory));
		CHECK_OK(m, oriel_win_post(win, other, 0));
		multi_raise(m, DONE, 2);
		CHECK_OK(m, oriel_win_wait(win));
		CHECK(m, stays.memory[0] == 3);
	} else {
		stays.memory[0] = 3;
		CHECK_OK(m, oriel_win_start(win, other, 0));
		CHECK_OK(m, oriel_accumulate(win, &(float){ 1 }, 1, ORIEL_FLOAT, ORIEL_SUM, 0, gone.there));
		multi_raise(m, DONE, 1);
		multi_await(m, DONE, 2);
		while (oriel_put(win, stays.memory, sizeof(float), 0, stays.there) == 0 && win->deferred.links > 0)
			; /* the post may still be on its way */
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_win_complete(win));
	}
	CHECK_OK(m, oriel_win_free(&win));
	multi_group_drop(m, other);
	free(gone.memory);
	free(stays.memory);
}

/* Sets what the library assumes of its own memory, between two barriers, when no rank sends. */
static void believe_read_only(struct multi *m, struct oriel_win *win, bool read_only)
{
	pthread_mutex_lock(&m->job->am.lock); /* with which the service thread reads it */
	win->memory.read_only = read_only;
	pthread_mutex_unlock(&m->job->am.lock);
}

/* A window whose memory may only be read, and one that is not there. */
static void refusals_have_reasons(struct multi *m)
{
	struct multi_window w;
	struct link *link = opened(m, &w);
	bool here = w.win->memory.read_only;

	if (m->rank == 0)
		believe_read_only(m, w.win, true);
	multi_sync(m);
	if (m->rank == 1) {
		CHECK_OK(m, oriel_accumulate(w.win, &(float){ 1 }, 1, ORIEL_FLOAT, ORIEL_SUM, 0, 8));
		CHECK_RC(m, ORIEL_ERR_ACCESS, oriel_win_flush(w.win, 0));
		CHECK_TEXT(m, "read");
		link->slot += 1000;
		CHECK_OK(m, oriel_accumulate(w.win, &(float){ 1 }, 1, ORIEL_FLOAT, ORIEL_SUM, 0, 8));
		CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_flush(w.win, 0));
		CHECK_TEXT(m, "window");
		link->slot -= 1000;
	}
	multi_sync(m);
	if (m->rank == 0)
		believe_read_only(m, w.win, here);
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_window_close(m, &w);
}

/*
 * Checks what the query says, and whether the neighbour applies this rank's operation, or this rank
 * its own.
 */
static void query_and_count(struct multi *m, oriel_group *group, bool uses_target)
{
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	multi_rest room[2] = { 0 }, one = 1;
	uint64_t before = multi_applied(m);
	oriel_win *win;

	CHECK_OK(m, oriel_win_create(room, sizeof(room), sizeof(one), NULL, group, &win));
	CHECK_OK(m, oriel_win_query(win, &info));
	CHECK(m, info.accumulate_uses_target == uses_target);
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_accumulate(win, &one, 1, MULTI_REST, ORIEL_SUM,
	                             (oriel_group_rank(group) + 1) % oriel_group_size(group), 1));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, room[1] == 1 && multi_applied(m) - before == uses_target);
	CHECK_OK(m, oriel_win_free(&win));
}

/*
 * A window of this rank alone has no other rank to apply for. In other windows a target applies
 * what no processor updates by an instruction.
 */
static void query_tells(struct multi *m)
{
	oriel_group *alone = multi_group_one(m, m->rank);

	query_and_count(m, alone, false);
	query_and_count(m, m->group, true);
	multi_group_drop(m, alone);
}

static const struct multi_case cases[] = {
	{ "A2_fence_covers_records", 0, fence_covers_records },
	{ "A7_long_vectors_are_split", 2, long_vectors },
	{ "L15_large_operands_may_change", 2, large_operands_may_change },
	{ "A2_wait_applies_what_came_before", 0, wait_applies_what_came_before },
	{ "A2_held_back_ones_come_with_complete", 2, held_back_ones_come_with_complete },
	{ "A14_target_computes", 0, target_computes },
	{ "A13_unaligned_elements_are_atomic", 0, unaligned_elements_are_atomic },
	{ "A9_private_words_are_atomic", 0, private_words_are_atomic },
	{ "A9_swaps_take_turns", 0, swaps_take_turns },
	{ "A15_program_order_holds", 2, program_order_holds },
	{ "A4_types_and_operations", 0, types_and_operations },
	{ "L4_unlock_completes_records", 0, unlock_completes },
	{ "A23_refusals_are_told", 2, refusals_are_told },
	{ "A23_refusals_are_told_by_a_plain_fence", 2, refusals_are_told_by_a_plain_fence },
	{ "A23_refusals_of_closed_epochs_are_told", 2, refusals_of_closed_epochs_are_told },
	{ "A23_DW6_lost_while_held_back", 2, lost_while_held_back },
	{ "A23_refusals_have_reasons", 2, refusals_have_reasons },
	{ "A22_query_tells", 0, query_tells },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_messages",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
