// SPDX-License-Identifier: BSD-2-Clause
/* multi_fence.c - fences: rules F1 to F4. */
#include "multi.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "verbs/direct_access.h"
#include "win/link.h"
#include "win/win.h"

enum { ENTERED, ISSUED, FENCED };

#define PART 3000

/*
 * Everybody puts its part to everybody and gets everybody's; sizes differ, so that all ways of
 * sending are taken.
 */
static void all_to_all(struct multi *m, const struct multi_window *w, uint64_t round, int before, int after)
{
	uint8_t *data = multi_alloc(PART), *back = multi_alloc((size_t)m->size * PART);
	size_t size = round % 4 == 0 ? PART : round % 4 == 1 ? 17 : round % 4 == 2 ? 400 : 1;

	multi_fill(data, size, round * 10 + (uint64_t)m->rank);
	CHECK_OK(m, oriel_win_fence(w->win, before));
	for (int to = 0; to < m->size; to++)
		CHECK_OK(m, oriel_put(w->win, data, size, to, (size_t)m->rank * PART));
	CHECK_OK(m, oriel_win_fence(w->win, 0));
	memset(data, 0xee, PART);
	for (int from = 0; from < m->size; from++) {
		CHECK(m, multi_holds(w->base + (size_t)from * PART, size, round * 10 + (uint64_t)from));
		CHECK_OK(m, oriel_get(w->win, back + (size_t)from * PART, size, from, (size_t)m->rank * PART));
	}
	CHECK_OK(m, oriel_win_fence(w->win, after));
	for (int from = 0; from < m->size; from++)
		CHECK(m, multi_holds(back + (size_t)from * PART, size, round * 10 + (uint64_t)m->rank));
	free(data);
	free(back);
}

/* F1: after the fence the data is there, at the origin and at the target. */
static void data_is_complete_after_fence(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, (size_t)m->size * PART);
	for (uint64_t round = 0; round < 24; round++)
		all_to_all(m, &w, round, 0, 0);
	multi_window_close(m, &w);
}

/*
 * F1: one fence a round and nothing between rounds, so fast ranks run one fence ahead; parity keeps
 * their data apart.
 */
static void fences_in_close_order(struct multi *m)
{
	struct multi_window w;
	uint64_t seed = multi_seed(m) + (uint64_t)m->rank;
	const uint64_t rounds = m->size > 16 ? 30 : 150;

	multi_window_open(m, &w, 4096);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (uint64_t round = 1; round <= rounds; round++) {
		uint8_t value = (uint8_t)round;
		size_t half = round % 2 * MULTI_RANKS_MAX;

		for (int to = 0; to < m->size; to++)
			CHECK_OK(m, oriel_put(w.win, &value, 1, to, half + (size_t)m->rank));
		for (uint64_t i = multi_random(&seed) % 8; i > 0; i--)
			sched_yield();
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		for (int from = 0; from < m->size; from++)
			CHECK(m, w.base[half + (size_t)from] == value);
	}
	multi_window_close(m, &w);
}

/* F1, P13: the numbers of fences across 2^32. */
static void numbers_across_2_32(struct multi *m)
{
	const uint64_t number = (UINT64_C(1) << 32) - 3;
	struct multi_window w;

	multi_window_open(m, &w, (size_t)m->size * PART);
	all_to_all(m, &w, 0, 0, 0);
	multi_drain(m);
	multi_sync(m);
	w.win->fence.number = number;
	for (int round = 0; round < w.win->fence.barrier.rounds; round++) {
		w.win->fence.words[(number & 1) * (uint64_t)w.win->fence.barrier.rounds + (uint64_t)round] = number;
		w.win->fence.words[(~number & 1) * (uint64_t)w.win->fence.barrier.rounds + (uint64_t)round] = number - 1;
	}
	multi_sync(m);
	for (uint64_t round = 1; round <= 6; round++)
		all_to_all(m, &w, round, 0, 0);
	CHECK(m, w.win->fence.number == number + 18);
	multi_window_close(m, &w);
}

struct late {
	struct multi *m;
	oriel_win *win;
	int assertions;
};

/* Fence and put, then say so: rank 1 must not see either before it has come to the fence itself. */
static void *fence_and_put(void *arg)
{
	struct late *late = arg;
	uint8_t value = 1;

	CHECK_OK(late->m, oriel_win_fence(late->win, late->assertions));
	CHECK_OK(late->m, oriel_put(late->win, &value, 1, 1, (size_t)late->m->rank));
	CHECK_OK(late->m, oriel_win_flush(late->win, 1));
	multi_raise(late->m, ISSUED, 1);
	return NULL;
}

/* F2: rank 1 is late; the others' operations wait for it. With NOPRECEDE too (F4). */
static void wait_for_target(struct multi *m, int assertions)
{
	struct multi_window w;
	struct late late = { m, NULL, assertions };

	multi_window_open(m, &w, 64);
	late.win = w.win;
	CHECK_OK(m, oriel_win_fence(w.win, 0)); /* connections are there */
	multi_sync(m);
	if (m->rank == 1) {
		multi_await(m, ENTERED, 1);
		/*
		 * Room for an operation that does not wait to arrive; one that waits never does, however
		 * long this is.
		 */
		for (int i = 0; i < 3000 && multi_word(m, ISSUED) == 0; i++)
			sched_yield();
		CHECK(m, multi_word(m, ISSUED) == 0);
		CHECK(m, multi_all(w.base, w.size_bytes, 0));
		CHECK_OK(m, oriel_win_fence(w.win, assertions));
	} else {
		multi_raise(m, ENTERED, 1);
		fence_and_put(&late);
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, m->rank != 1 || (w.base[0] == 1 && w.base[2] == 1 && w.base[3] == 1));
	multi_window_close(m, &w);
}

static void operations_wait_for_the_target(struct multi *m)
{
	wait_for_target(m, 0);
}

static void noprecede_still_waits_for_the_target(struct multi *m)
{
	wait_for_target(m, ORIEL_MODE_NOPRECEDE);
}

/* One epoch of post and start around a ring. */
static void ring_epoch(struct multi *m, const struct multi_window *w, uint8_t value)
{
	int next = (m->rank + 1) % m->size, before = (m->rank + m->size - 1) % m->size;
	oriel_group *to = multi_group_one(m, next), *from = multi_group_one(m, before);

	CHECK_OK(m, oriel_win_post(w->win, from, 0));
	CHECK_OK(m, oriel_win_start(w->win, to, 0));
	CHECK_OK(m, oriel_put(w->win, &value, 1, next, 0));
	CHECK_OK(m, oriel_win_complete(w->win));
	CHECK_OK(m, oriel_win_wait(w->win));
	CHECK(m, w->base[0] == value);
	multi_group_drop(m, to);
	multi_group_drop(m, from);
}

/* F3: fence epochs and the others alternate on one window, in any order. */
static void epoch_kinds_alternate(struct multi *m)
{
	struct multi_window w;
	uint64_t seed = multi_seed(m);

	multi_window_open(m, &w, (size_t)m->size * PART);
	for (uint64_t round = 0; round < 30; round++) {
		if (multi_random(&seed) % 2)
			ring_epoch(m, &w, (uint8_t)(round + 1));
		else
			all_to_all(m, &w, round, 0, round % 3 ? 0 : ORIEL_MODE_NOSUCCEED);
	}
	multi_window_close(m, &w);
}

/*
 * F3: after a fence without operations of its own a rank may start, post, free; with operations it
 * may not.
 */
static void quiet_fence_epoch_is_no_epoch(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	uint8_t value = 1;

	multi_window_open(m, &w, 64);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	ring_epoch(m, &w, 5);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(w.win, &value, 1, 1 - m->rank, 1)); /* start has ended the fence epoch */
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, &value, 1, 1 - m->rank, 1));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_start(w.win, other, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_post(w.win, other, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, w.base[1] == 1);
	ring_epoch(m, &w, 6);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	multi_window_close(m, &w);
	multi_group_drop(m, other);
}

/*
 * D8: a put of nothing leaves the fence epoch as quiet as it was, also where a device maps
 * allocated memory.
 */
static void no_bytes_are_no_operation(struct multi *m)
{
	struct multi_window w = { .size_bytes = 64 };
	void *base = NULL;
	uint8_t value = 1;

	CHECK_OK(m, oriel_win_allocate(w.size_bytes, 1, NULL, m->group, &base, &w.win));
	w.base = base;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, &value, 1, 1 - m->rank, 1));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, &value, 0, 1 - m->rank, 1));
	ring_epoch(m, &w, 6);
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* F4: true assertions, alone and together; data is right with all of them. */
static void assertions(struct multi *m)
{
	static const int first[] = { ORIEL_MODE_NOPRECEDE, ORIEL_MODE_NOPRECEDE | ORIEL_MODE_NOSTORE, ORIEL_MODE_NOSTORE,
		                         0 };
	static const int last[] = { ORIEL_MODE_NOSUCCEED, ORIEL_MODE_NOSUCCEED | ORIEL_MODE_NOPUT, ORIEL_MODE_NOPUT,
		                        ORIEL_MODE_NOSUCCEED | ORIEL_MODE_NOSTORE | ORIEL_MODE_NOPUT };
	struct multi_window w;
	uint8_t value = 1;

	multi_window_open(m, &w, (size_t)m->size * PART);
	for (uint64_t i = 0; i < 16; i++) {
		all_to_all(m, &w, i, first[i % 4], last[i / 4]);
		if (last[i / 4] & ORIEL_MODE_NOSUCCEED)
			CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(w.win, &value, 1, 0, 0));
	}
	multi_window_close(m, &w);
}

/*
 * F4: with NOPRECEDE and NOSUCCEED nothing is sent, and no epoch is open afterwards; others go on
 * as before.
 */
static void noprecede_nosucceed_does_nothing(struct multi *m)
{
	struct multi_window w;
	uint8_t value = 1;

	multi_window_open(m, &w, (size_t)m->size * PART);
	all_to_all(m, &w, 1, 0, 0);
	for (int i = 0; i < 5; i++) {
		uint64_t number = w.win->fence.number;

		CHECK_OK(m, oriel_win_fence(w.win, ORIEL_MODE_NOPRECEDE | ORIEL_MODE_NOSUCCEED));
		CHECK(m, w.win->fence.number == number);
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(w.win, &value, 1, 0, 0));
	}
	all_to_all(m, &w, 2, ORIEL_MODE_NOPRECEDE, ORIEL_MODE_NOSUCCEED);
	multi_window_close(m, &w);
}

/*
 * F1: a put of one epoch does not come behind that of the next to the same place, though the origin
 * need not wait for it.
 */
static void puts_of_two_epochs(struct multi *m)
{
	struct multi_window w;
	int right = (m->rank + 1) % m->size;

	multi_window_open(m, &w, sizeof(uint64_t));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (uint64_t i = 1; i <= 300; i++) {
		for (uint64_t value = 2 * i; value <= 2 * i + 1; value++) {
			CHECK_OK(m, oriel_put(w.win, &value, sizeof(value), right, 0));
			CHECK_OK(m, oriel_win_fence(w.win, 0));
		}
		CHECK(m, *(uint64_t *)(void *)w.base == 2 * i + 1);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
	}
	multi_window_close(m, &w);
}

#define PUT_BYTES 4096
#define PUTS 3
#define IN_A_ROW 4

static bool copies_at_once(struct link *link)
{
	uint64_t word;

	return link->route == ROUTE_SYNC &&
	       direct_get_sync(&link->peer->direct, &word, sizeof(word), (struct remote){ link->base, link->rkey });
}

static bool all_are(const uint8_t *bytes, size_t count, uint8_t value)
{
	return bytes[0] == value && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/*
 * An epoch has more or fewer puts than the one before. A device that copies posts no put that is
 * alone.
 */
static void puts_alone_and_together(struct multi *m)
{
	uint8_t *parts = multi_alloc(PUTS * PUT_BYTES);
	int right = (m->rank + 1) % m->size, at_once = 0;
	struct multi_window w;
	struct link *link;
	bool copies;

	multi_window_open(m, &w, PUTS * PUT_BYTES);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, parts, 1, right, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	link = link_find(w.win, right);
	copies = copies_at_once(link);
	for (int round = 0; round < 8 * IN_A_ROW; round++) {
		const int puts = 1 + round / IN_A_ROW % PUTS;
		const uint64_t posted = link->last_number;

		memset(parts, round + 1, PUTS * PUT_BYTES);
		for (int i = 0; i < puts; i++)
			CHECK_OK(m, oriel_put(w.win, parts + i * PUT_BYTES, PUT_BYTES, right, (size_t)i * PUT_BYTES));
		at_once += link->last_number == posted;
		CHECK(m, !copies || puts == 1 || round % IN_A_ROW == 0 || link->last_number != posted);
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		CHECK(m, all_are(w.base, (size_t)puts * PUT_BYTES, (uint8_t)(round + 1)));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
	}
	CHECK(m, !copies || at_once > 0);
	multi_window_close(m, &w);
	free(parts);
}

static const struct multi_case cases[] = {
	{ "F1_data_is_complete_after_fence", 0, data_is_complete_after_fence },
	{ "F1_fences_in_close_order", 0, fences_in_close_order },
	{ "F1_puts_of_two_epochs", 2, puts_of_two_epochs },
	{ "F1_numbers_across_2_32", 3, numbers_across_2_32 },
	{ "F1_puts_alone_and_together", 2, puts_alone_and_together },
	{ "F2_operations_wait_for_the_target", 4, operations_wait_for_the_target },
	{ "F3_epoch_kinds_alternate", 0, epoch_kinds_alternate },
	{ "F3_quiet_fence_epoch_is_no_epoch", 2, quiet_fence_epoch_is_no_epoch },
	{ "F3_no_bytes_are_no_operation", 2, no_bytes_are_no_operation },
	{ "F4_assertions", 0, assertions },
	{ "F4_noprecede_still_waits_for_the_target", 4, noprecede_still_waits_for_the_target },
	{ "F4_noprecede_nosucceed_does_nothing", 3, noprecede_nosucceed_does_nothing },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_fence",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
