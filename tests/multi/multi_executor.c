// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_executor.c - accumulates that the target applies: elements that no processor stores by one
 * instruction, and memory that no other rank can map (rules A2, A9, A15, A22, A23, L3, L13)
 */
#include "multi.h"

#include <complex.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "job/service_queue.h"
#include "job/job.h"
#include "op/element.h"
#include "sync/atomic_mode.h"
#include "verbs/direct_access.h"
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

/* Whether memory with two elements at `at` is alike but for their padding; a long double has 10 bytes of its 16. */
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
 * A fence tells what it is the first to find refused, also where all has been answered before it is called, and it has
 * nothing to wait for.
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

/* Work for the service thread: to wait. */
struct pause {
	struct task task;
	sem_t begun, over;
};

static void pause_service(void *arg)
{
	struct pause *pause = arg;

	sem_post(&pause->begun);
	sem_wait(&pause->over);
}

/* The service thread does nothing from here on, until it is let go. The pause outlives the case: it may be about to leave it. */
static void hold_service(struct multi *m, struct pause *pause)
{
	sem_init(&pause->begun, 0, 0);
	sem_init(&pause->over, 0, 0);
	pause->task = (struct task){ .run = pause_service, .arg = pause };
	service_queue_add(m->job, &pause->task);
	sem_wait(&pause->begun);
}

#define MANY 4000 /* elements of 8 bytes, on more pages than are copied at a time */

/* Whether system calls copy this rank's accumulates there; on return the target does not poll. */
static bool copies_reach(struct multi *m, const struct multi_window *w, int rank)
{
	struct link *link = link_find(w->win, rank);
	struct direct_access *direct = &link->peer->direct;
	uint64_t word;
	const struct softverbs_piece piece = { &word, sizeof(word), link->base, link->rkey };

	while (direct_polls(direct) && !multi_failed(m))
		usleep(100);
	return !link_mapped(link) && direct_has_list_puts(direct) && direct_get_list_sync(direct, &piece, 1);
}

/* Each call's result shows what the call before it has done. */
static void change_by_copies(struct multi *m, struct multi_window *w)
{
	double *ones = multi_alloc(MANY * sizeof(double)), *old = multi_alloc(MANY * sizeof(double)), one = 1, four = 4;
	int64_t sum = 0, swapped = 0, last = 0;
	bool right = true;

	for (int i = 0; i < MANY; i++)
		ones[i] = 1;
	CHECK_OK(m, oriel_accumulate(w->win, ones, MANY, ORIEL_DOUBLE, ORIEL_SUM, 1, 0));
	CHECK_OK(m, oriel_get_accumulate(w->win, ones, old, MANY, ORIEL_DOUBLE, ORIEL_SUM, 1, 0));
	for (int i = 0; i < MANY; i++)
		right &= old[i] == 1;
	CHECK_OK(m, oriel_fetch_and_op(w->win, &one, &old[0], ORIEL_DOUBLE, ORIEL_SUM, 1, 0));
	CHECK_OK(m, oriel_accumulate(w->win, &four, 1, ORIEL_DOUBLE, ORIEL_REPLACE, 1, 8));
	CHECK_OK(m, oriel_get_accumulate(w->win, NULL, &old[1], MANY - 1, ORIEL_DOUBLE, ORIEL_NO_OP, 1, 8));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	CHECK(m, right && old[0] == 2 && old[1] == 4 && old[2] == 2 && old[MANY - 1] == 2);
	CHECK_OK(m, oriel_accumulate(w->win, &(int64_t){ 5 }, 1, ORIEL_INT64, ORIEL_REPLACE, 1, 16));
	CHECK_OK(m, oriel_fetch_and_op(w->win, &(int64_t){ 1 }, &sum, ORIEL_INT64, ORIEL_SUM, 1, 16));
	CHECK_OK(m, oriel_compare_and_swap(w->win, &(int64_t){ 9 }, &(int64_t){ 6 }, &swapped, ORIEL_INT64, 1, 16));
	CHECK_OK(m, oriel_fetch_and_op(w->win, NULL, &last, ORIEL_INT64, ORIEL_NO_OP, 1, 16));
	CHECK(m, sum == 5 && swapped == 6 && last == 9);
	free(ones);
	free(old);
}

#define BLOCKS 60 /* more than are copied at a time */
#define BLOCK 40  /* elements */
#define STEP 60   /* from block to block */

/* Rows that go up and down, beside elements that stay as they are. */
static void change_rows_by_copies(struct multi *m, struct multi_window *w)
{
	struct oriel_origin_piece ones[BLOCKS], old[BLOCKS];
	struct oriel_target_piece up[BLOCKS], down[BLOCKS];
	double one[BLOCK], got[BLOCKS][BLOCK] = { { 0 } }, all[MANY];
	bool right = true;

	for (int i = 0; i < BLOCK; i++)
		one[i] = i + 1;
	for (int i = 0; i < BLOCKS; i++) {
		ones[i] = (struct oriel_origin_piece){ one, sizeof(one) };
		old[i] = (struct oriel_origin_piece){ got[i], sizeof(got[i]) };
		up[i] = (struct oriel_target_piece){ (size_t)i * STEP * sizeof(double), sizeof(one) };
		down[BLOCKS - 1 - i] = up[i];
	}
	memset(all, 0, sizeof(all));
	CHECK_OK(m, oriel_accumulate(w->win, all, MANY, ORIEL_DOUBLE, ORIEL_REPLACE, 1, 0));
	CHECK_OK(m, oriel_accumulatev(w->win, ones, BLOCKS, ORIEL_DOUBLE, ORIEL_SUM, 1, up, BLOCKS));
	CHECK_OK(m, oriel_get_accumulatev(w->win, ones, BLOCKS, old, BLOCKS, ORIEL_DOUBLE, ORIEL_SUM, 1, down, BLOCKS));
	CHECK_OK(m, oriel_get_accumulate(w->win, NULL, all, MANY, ORIEL_DOUBLE, ORIEL_NO_OP, 1, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	for (int i = 0; i < MANY; i++)
		right &= all[i] == (i % STEP < BLOCK && i / STEP < BLOCKS ? 2 * one[i % STEP] : 0);
	for (int i = 0; i < BLOCKS; i++)
		right &= memcmp(got[i], one, sizeof(one)) == 0;
	CHECK(m, right);
}

#define MOVED 100 /* blocks: more than a system call moves */

/* Puts a row upwards, and gets it downwards. */
static void move_rows(struct multi *m, struct multi_window *w)
{
	struct oriel_origin_piece give[MOVED], take[MOVED];
	struct oriel_target_piece up[MOVED], down[MOVED];
	double given[MOVED][2], got[MOVED][3], all[MANY] = { 0 };
	bool right = true;

	for (int i = 0; i < MOVED; i++) {
		given[i][0] = i + 1;
		given[i][1] = -i;
		give[i] = (struct oriel_origin_piece){ given[i], sizeof(given[i]) };
		take[i] = (struct oriel_origin_piece){ got[i], sizeof(given[i]) };
		up[i] = (struct oriel_target_piece){ (size_t)i * 4 * sizeof(double), sizeof(given[i]) };
		down[MOVED - 1 - i] = up[i];
		got[i][2] = 7;
	}
	CHECK_OK(m, oriel_put(w->win, all, sizeof(all), 1, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	CHECK_OK(m, oriel_putv(w->win, give, MOVED, 1, up, MOVED));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	CHECK_OK(m, oriel_getv(w->win, take, MOVED, 1, down, MOVED));
	CHECK_OK(m, oriel_get(w->win, all, sizeof(all), 1, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	for (int i = 0; i < MANY; i++)
		right &= all[i] == (i / 4 < MOVED && i % 4 < 2 ? given[i / 4][i % 4] : 0);
	for (int i = 0; i < MOVED; i++)
		right &= memcmp(got[i], given[MOVED - 1 - i], sizeof(given[i])) == 0 && got[i][2] == 7;
	CHECK(m, right);
}

#define PIECES 120 /* more than one system call takes */
#define PIECE_STEP 30

/* A list of pieces of one to three elements. Operands and results are cut elsewhere. */
static void change_list_by_copies(struct multi *m, struct multi_window *w)
{
	double numbers[3 * PIECES], old[3 * PIECES] = { 0 }, all[MANY] = { 0 };
	struct oriel_origin_piece operands[2] = { { numbers, 0 }, { NULL, sizeof(double) } }, results = { old, 0 };
	struct oriel_target_piece list[PIECES];
	bool right = true;

	for (size_t i = 0; i < PIECES; i++) {
		list[i] = (struct oriel_target_piece){ i * PIECE_STEP * sizeof(double), (1 + i % 3) * sizeof(double) };
		results.size_bytes += list[i].size_bytes;
	}
	operands[0].size_bytes = results.size_bytes - sizeof(double);
	operands[1].addr = (uint8_t *)numbers + operands[0].size_bytes;
	for (int i = 0; i < 3 * PIECES; i++)
		numbers[i] = i + 1;
	CHECK_OK(m, oriel_accumulate(w->win, all, MANY, ORIEL_DOUBLE, ORIEL_REPLACE, 1, 0));
	CHECK_OK(m, oriel_accumulatev(w->win, operands, 2, ORIEL_DOUBLE, ORIEL_SUM, 1, list, PIECES));
	CHECK_OK(m, oriel_get_accumulatev(w->win, operands, 2, &results, 1, ORIEL_DOUBLE, ORIEL_SUM, 1, list, PIECES));
	CHECK_OK(m, oriel_get_accumulate(w->win, NULL, all, MANY, ORIEL_DOUBLE, ORIEL_NO_OP, 1, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	for (int i = 0, n = 0; i < MANY; i++)
		right &= all[i] == (i / PIECE_STEP < PIECES && i % PIECE_STEP <= i / PIECE_STEP % 3 ? 2 * numbers[n++] : 0);
	CHECK(m, right && memcmp(old, numbers, results.size_bytes) == 0);
}

/* Bytes of any alignment, beside bytes that stay as they are. */
static void change_bytes_by_copies(struct multi *m, struct multi_window *w)
{
	uint8_t some[] = { 1, 2, 3 }, all[8] = { 0 };

	CHECK_OK(m, oriel_accumulate(w->win, all, 8, ORIEL_UINT8, ORIEL_REPLACE, 1, 0));
	CHECK_OK(m, oriel_accumulate(w->win, some, 3, ORIEL_UINT8, ORIEL_SUM, 1, 3));
	CHECK_OK(m, oriel_fetch_and_op(w->win, &some[2], &some[0], ORIEL_UINT8, ORIEL_SUM, 1, 5));
	CHECK_OK(m, oriel_get_accumulate(w->win, NULL, all, 8, ORIEL_UINT8, ORIEL_NO_OP, 1, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	CHECK(m, some[0] == 3 && memcmp(all, (uint8_t[]){ 0, 0, 0, 1, 2, 6, 0, 0 }, 8) == 0);
}

/* The target's threads do nothing. */
static void copies_need_no_thread(struct multi *m)
{
	static struct pause pause;
	struct multi_window w;
	uint64_t before;

	multi_window_open(m, &w, MANY * sizeof(double));
	CHECK_OK(m, oriel_win_lock_all(w.win, ORIEL_MODE_NOCHECK));
	if (m->rank == 0)
		CHECK_OK(m, oriel_accumulate(w.win, &(float){ 0 }, 1, ORIEL_FLOAT, ORIEL_SUM, 1, 0));
	CHECK_OK(m, oriel_win_flush(w.win, 1));
	multi_sync(m);
	before = multi_applied(m);
	if (m->rank == 1) {
		hold_service(m, &pause);
		multi_raise(m, READY, 1);
		multi_await(m, DONE, 1);
		sem_post(&pause.over);
		CHECK(m, multi_applied(m) == before);
	} else {
		multi_await(m, READY, 1);
		if (copies_reach(m, &w, 1)) {
			change_by_copies(m, &w);
			change_rows_by_copies(m, &w);
			change_list_by_copies(m, &w);
			change_bytes_by_copies(m, &w);
			move_rows(m, &w);
		}
		multi_raise(m, DONE, 1);
	}
	multi_sync(m);
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_window_close(m, &w);
}

#define MIXED_ROUNDS 40

union one {
	double number;
	int64_t word;
};

/* The owner polls in some rounds, and applies active messages then; in others it computes. A list has one element twice. */
static void add_to_many(struct multi *m, const struct multi_window *w, enum oriel_type type, const void *ones)
{
	const struct oriel_target_piece middle = { 8 * (MANY / 2), 8 }, list[] = { middle, middle };
	const struct oriel_origin_piece operands = { (void *)(uintptr_t)ones, 16 };
	uint64_t old;

	for (int i = 0; i < MIXED_ROUNDS; i++) {
		CHECK_OK(m, oriel_accumulate(w->win, ones, MANY, type, ORIEL_SUM, 0, 0));
		CHECK_OK(m, oriel_fetch_and_op(w->win, ones, &old, type, ORIEL_SUM, 0, middle.disp));
		CHECK_OK(m, oriel_accumulatev(w->win, &operands, 1, type, ORIEL_SUM, 0, list, 2));
		CHECK_OK(m, oriel_win_flush(w->win, 0));
		for (int k = 0; m->rank == 0 && k < 100 * (i % 3); k++)
			CHECK_OK(m, oriel_progress(m->job));
		if (m->rank == 0)
			usleep(i % 2 ? 1000 : 0);
	}
	CHECK_OK(m, oriel_win_fence(w->win, 0));
}

/*
 * Copies, active messages, and the owner's operations, by plain code and by instructions, are atomic
 * with each other.
 */
static void copies_and_messages_mix(struct multi *m)
{
	union one ones[MANY], sum;
	const enum oriel_type types[] = { ORIEL_DOUBLE, ORIEL_INT64 };
	struct multi_window w;

	for (int t = 0; t < 2; t++) {
		bool right = true;

		multi_window_open(m, &w, sizeof(ones));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		for (int i = 0; i < MANY; i++)
			ones[i] = types[t] == ORIEL_DOUBLE ? (union one){ .number = 1 } : (union one){ .word = 1 };
		add_to_many(m, &w, types[t], ones);
		for (int i = 0; i < MANY && m->rank == 0; i++) {
			memcpy(&sum, w.base + 8 * i, sizeof(sum));
			right &= (types[t] == ORIEL_DOUBLE ? sum.number : (double)sum.word) ==
			         MIXED_ROUNDS * m->size * (i == MANY / 2 ? 4 : 1);
		}
		CHECK(m, right);
		multi_window_close(m, &w);
	}
}

/*
 * The owner changes a word by instructions, as long as it does not know of another mode, and calls
 * nothing else. Others change it by copies meanwhile.
 */
static void words_mix_with_copies(struct multi *m)
{
	const int turns = multi_over_card() ? 200 : 20000;
	int64_t old, sum, own = 0;
	struct multi_window w;

	CHECK_OK(m, atomic_mode_pin(m->job, "words_mix_with_copies")); /* makes an end of plain code for words */
	atomic_mode_unpin(m->job);
	multi_window_open(m, &w, sizeof(sum));
	CHECK_OK(m, oriel_win_lock_all(w.win, ORIEL_MODE_NOCHECK));
	multi_sync(m);
	for (int i = 0; i < turns && m->rank > 0; i++)
		CHECK_OK(m, oriel_fetch_and_op(w.win, &(int64_t){ 1 }, &old, ORIEL_INT64, ORIEL_SUM, 0, 0));
	CHECK_OK(m, oriel_win_flush(w.win, 0));
	if (m->rank > 0)
		multi_raise(m, m->rank, 1);
	for (int rank = 1; rank < m->size && m->rank == 0; own++) {
		CHECK_OK(m, oriel_fetch_and_op(w.win, &(int64_t){ 1 }, &old, ORIEL_INT64, ORIEL_SUM, 0, 0));
		rank += own % 1000 == 0 && multi_word(m, rank) > 0;
	}
	multi_sync(m);
	memcpy(&sum, w.base, sizeof(sum));
	CHECK(m, m->rank > 0 || sum == own + (int64_t)turns * (m->size - 1));
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_window_close(m, &w);
}

#define PROGRESS_TURNS 200000 /* of 100 us: longer than any active message takes */

/*
 * oriel_progress applies what has arrived if no thread waits in a call, and the service thread gets
 * no processor.
 */
static void progress_applies(struct multi *m)
{
	multi_rest one[2] = { 1, 2 };
	static struct pause pause;
	struct multi_window w;
	uint64_t before;
	int turns = 0;

	multi_window_open(m, &w, sizeof(one));
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	if (m->rank == 0) { /* the ring has been made */
		CHECK_OK(m, oriel_accumulate(w.win, one, 2, MULTI_REST, ORIEL_SUM, 1, 0));
		CHECK_OK(m, oriel_win_flush(w.win, 1));
	}
	multi_sync(m);
	before = multi_applied(m);
	if (m->rank == 1) {
		hold_service(m, &pause);
		multi_raise(m, READY, 1);
		for (; multi_applied(m) == before && turns < PROGRESS_TURNS; turns++) {
			CHECK_OK(m, oriel_progress(m->job));
			usleep(100);
		}
		sem_post(&pause.over);
		CHECK(m, turns < PROGRESS_TURNS);
	} else {
		multi_await(m, READY, 1);
		CHECK_OK(m, oriel_accumulate(w.win, one, 2, MULTI_REST, ORIEL_SUM, 1, 0));
		CHECK_OK(m, oriel_win_flush(w.win, 1));
	}
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_sync(m);
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_progress(NULL));
	multi_window_close(m, &w);
}

static int (*poll_cq)(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
static int polls;

static int count_polls(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	polls++;
	return poll_cq(cq, entries, wc);
}

/* A device that places what arrives only while its process polls is kept going too. The service thread polls too, else. */
static void progress_polls(struct multi *m)
{
	static struct pause pause;
	struct peer *peer;
	struct multi_window w;

	multi_window_open(m, &w, sizeof(uint64_t));
	multi_sync(m);
	peer = __atomic_load_n(&m->job->peers.moving, __ATOMIC_ACQUIRE);
	if (peer) {
		struct ibv_context_ops *ops = &peer->wire.cq->context->ops;

		hold_service(m, &pause);
		poll_cq = ops->poll_cq;
		ops->poll_cq = count_polls;
		polls = 0;
		CHECK_OK(m, oriel_progress(m->job));
		ops->poll_cq = poll_cq;
		sem_post(&pause.over);
		CHECK(m, polls > 0);
	}
	multi_window_close(m, &w);
}

static _Thread_local int yields;

/* In the place of libc's. */
int sched_yield(void)
{
	yields++;
	return (int)syscall(SYS_sched_yield);
}

/* A rank that polls for something else gives way if others need its processor, and only then. */
static void progress_yields(struct multi *m)
{
	enum { CALLS = 64 };

	yields = 0;
	for (int i = 0; i < CALLS; i++)
		CHECK_OK(m, oriel_progress(m->job));
	CHECK(m, yields == (job_oversubscribed(m->job) ? CALLS / 8 : 0));
}

static const struct multi_case cases[] = {
	{ "A2_fence_covers_records", 0, fence_covers_records },
	{ "A7_long_vectors_are_split", 2, long_vectors },
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
	{ "A22_copies_need_no_thread", 2, copies_need_no_thread },
	{ "A10_copies_and_messages_mix", 0, copies_and_messages_mix },
	{ "A10_words_mix_with_copies", 0, words_mix_with_copies },
	{ "A22_progress_applies", 2, progress_applies },
	{ "A22_progress_polls", 2, progress_polls },
	{ "A22_progress_yields", 0, progress_yields },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_executor",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
