// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_pscw.c - post, start, complete, wait, test: rules P1 to P14 (P5's errors: fault_wire;
 * waiting in vain: multi_timeout).
 */
#include "multi.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "base/order.h"
#include "win/win.h"

/* Words of the board. */
enum { STARTED, ISSUED, POSTED, SEEN, DONE, ROUND };

static int put_int(const struct multi_window *w, const int *value, int target, size_t index)
{
	return oriel_put(w->win, value, sizeof(*value), target, index * sizeof(int));
}

static int int_at(const struct multi_window *w, size_t index)
{
	int value;

	memcpy(&value, w->base + index * sizeof(int), sizeof(value));
	return value;
}

/* Wait until a byte that a peer writes has a value, without a call of the library. */
static void await_byte(const uint8_t *byte, uint8_t value)
{
	while (__atomic_load_n(byte, __ATOMIC_ACQUIRE) != value) /* pairs with the peer's put */
		sched_yield();
}

/* P1: start names the targets, post the origins; no other rank is in the epoch. */
static void start_and_post_name_their_ranks(struct multi *m)
{
	struct multi_window w;
	oriel_group *zero = multi_group_one(m, 0), *one = multi_group_one(m, 1);
	int value = 7;

	multi_window_open(m, &w, 64);
	if (m->rank == 0) {
		CHECK_RC(m, ORIEL_ERR_SYNC, put_int(&w, &value, 1, 0));
		CHECK_OK(m, oriel_win_start(w.win, one, 0));
		CHECK_RC(m, ORIEL_ERR_SYNC, put_int(&w, &value, 2, 0));
		CHECK_RC(m, ORIEL_ERR_SYNC, put_int(&w, &value, 0, 0));
		CHECK_OK(m, put_int(&w, &value, 1, 0));
		CHECK_OK(m, oriel_win_complete(w.win));
		CHECK_RC(m, ORIEL_ERR_SYNC, put_int(&w, &value, 1, 0));
	}
	if (m->rank == 1) {
		CHECK_OK(m, oriel_win_post(w.win, zero, 0));
		CHECK_OK(m, oriel_win_wait(w.win));
		CHECK(m, int_at(&w, 0) == 7);
	}
	multi_sync(m);
	CHECK(m, m->rank == 1 || multi_all(w.base, w.size_bytes, 0));
	multi_window_close(m, &w);
	multi_group_drop(m, zero);
	multi_group_drop(m, one);
}

/*
 * P2: rank 2's post is there, rank 1's is not: an epoch towards rank 1 must not take the one for
 * the other.
 */
static void post_names_its_poster(struct multi *m)
{
	struct multi_window w;
	oriel_group *zero = multi_group_one(m, 0), *one = multi_group_one(m, 1), *two = multi_group_one(m, 2);
	int value = 21;

	multi_window_open(m, &w, 64);
	multi_warm(m, w.win);
	if (m->rank == 2) {
		CHECK_OK(m, oriel_win_post(w.win, zero, 0));
		multi_drain(m);
	}
	multi_sync(m);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(w.win, one, 0));
		CHECK_OK(m, put_int(&w, &value, 1, 0));
		CHECK_OK(m, oriel_put(w.win, &value, 0, 1, 0)); /* a further call: what is deferred might go out */
		multi_drain(m);
	}
	multi_sync(m);
	CHECK(m, multi_all(w.base, w.size_bytes, 0));
	multi_sync(m);
	if (m->rank == 1) {
		CHECK_OK(m, oriel_win_post(w.win, zero, 0));
		CHECK_OK(m, oriel_win_wait(w.win));
		CHECK(m, int_at(&w, 0) == 21);
	}
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_complete(w.win));
		CHECK_OK(m, oriel_win_start(w.win, two, 0));
		CHECK_OK(m, put_int(&w, &value, 2, 1));
		CHECK_OK(m, oriel_win_complete(w.win));
	}
	if (m->rank == 2) {
		CHECK_OK(m, oriel_win_wait(w.win));
		CHECK(m, int_at(&w, 1) == 21 && int_at(&w, 0) == 0);
	}
	multi_window_close(m, &w);
	multi_group_drop(m, zero);
	multi_group_drop(m, one);
	multi_group_drop(m, two);
}

#define SEQUENCE 60

/* P2: the n-th start that names a target goes with its n-th post, whatever came for others in between. */
static void matching_in_order_per_pair(struct multi *m)
{
	struct multi_window w;
	oriel_group *zero = multi_group_one(m, 0);
	uint64_t seed = multi_seed(m);
	int count[4] = { 0 };

	multi_window_open(m, &w, 64);
	for (int i = 0; i < SEQUENCE; i++) {
		unsigned mask = (unsigned)(multi_random(&seed) % 7 + 1) << 1; /* some of ranks 1 to 3 */
		oriel_group *targets = multi_group_mask(m, mask);
		int value[4];

		for (int rank = 1; rank < 4; rank++)
			count[rank] += mask & 1u << rank ? 1 : 0;
		memcpy(value, count, sizeof(value));
		if (m->rank == 0) {
			CHECK_OK(m, oriel_win_start(w.win, targets, 0));
			for (int rank = 1; rank < 4; rank++) {
				if (mask & 1u << rank)
					CHECK_OK(m, put_int(&w, &value[rank], rank, 3));
			}
			CHECK_OK(m, oriel_win_complete(w.win));
		} else if (mask & 1u << m->rank) {
			CHECK_OK(m, oriel_win_post(w.win, zero, 0));
			CHECK_OK(m, oriel_win_wait(w.win));
			CHECK(m, int_at(&w, 3) == count[m->rank]);
		}
		multi_group_drop(m, targets);
	}
	multi_window_close(m, &w);
	multi_group_drop(m, zero);
}

/*
 * Sizes that go different ways: in the request itself, through the ring, with memory of their own,
 * in several messages.
 */
static const size_t sizes[] = { 1, 7, 64, 65, 220, 221, 1000, 8192, 8193, 70001 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))
#define SIZES_BYTES 90000

static size_t sizes_offset(size_t i)
{
	size_t offset = 0;

	for (size_t j = 0; j < i; j++)
		offset += sizes[j] + 1;
	return offset;
}

static void put_sizes(struct multi *m, const struct multi_window *w, int target, uint8_t *buffers[], uint64_t seed)
{
	for (size_t i = 0; i < SIZES; i++) {
		buffers[i] = multi_alloc(sizes[i]);
		multi_fill(buffers[i], sizes[i], seed + i);
		CHECK_OK(m, oriel_put(w->win, buffers[i], sizes[i], target, sizes_offset(i)));
	}
}

/* All that was put is there, and the bytes between are untouched. */
static bool sizes_arrived(const struct multi_window *w, uint64_t seed)
{
	for (size_t i = 0; i < SIZES; i++) {
		const uint8_t *at = w->base + sizes_offset(i);

		if (!multi_holds(at, sizes[i], seed + i) || at[sizes[i]] != 0)
			return false;
	}
	return true;
}

/* P3: puts of all sizes are issued, and gets; nothing has been touched or read before the post. */
static void nothing_before_the_post(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	uint8_t *buffers[SIZES], small = 0, *large = multi_alloc(20000);

	multi_window_open(m, &w, SIZES_BYTES + 20000);
	multi_warm(m, w.win);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(w.win, other, 0));
		put_sizes(m, &w, 1, buffers, 3);
		CHECK_OK(m, oriel_get(w.win, &small, 1, 1, SIZES_BYTES));
		CHECK_OK(m, oriel_get(w.win, large, 20000, 1, SIZES_BYTES));
		multi_drain(m);
		multi_raise(m, ISSUED, 1);
		CHECK_OK(m, oriel_win_complete(w.win));
		CHECK(m, small == 99 && multi_all(large, 20000, 99));
		for (size_t i = 0; i < SIZES; i++)
			free(buffers[i]);
	} else {
		multi_await(m, ISSUED, 1);
		CHECK(m, multi_all(w.base, w.size_bytes, 0));
		memset(w.base + SIZES_BYTES, 99, 20000); /* what a get of this epoch must find */
		CHECK_OK(m, oriel_win_post(w.win, other, 0));
		CHECK_OK(m, oriel_win_wait(w.win));
		CHECK(m, sizes_arrived(&w, 3));
	}
	multi_window_close(m, &w);
	multi_group_drop(m, other);
	free(large);
}

/* P4: the target posts only after start and put have returned. First contact, so nothing is prepared. */
static void start_does_not_block(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	int value = 5;

	multi_window_open(m, &w, 64);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(w.win, other, 0));
		multi_raise(m, STARTED, 1);
		CHECK_OK(m, put_int(&w, &value, 1, 0));
		multi_raise(m, ISSUED, 1);
		CHECK_OK(m, oriel_win_complete(w.win));
	} else {
		multi_await(m, STARTED, 1);
		multi_await(m, ISSUED, 1);
		CHECK_OK(m, oriel_win_post(w.win, other, 0));
		CHECK_OK(m, oriel_win_wait(w.win));
		CHECK(m, int_at(&w, 0) == 5);
	}
	multi_window_close(m, &w);
	multi_group_drop(m, other);
}

/*
 * Rank 0 issues, rank 1 posts, rank 0 makes one call and none after it: everything must arrive.
 * Operation `large` may be missing.
 */
static void held_back_round(struct multi *m, const struct multi_window *w, const oriel_group *other, uint8_t tag,
                            bool large)
{
	uint8_t *data = multi_alloc(30000), small = tag;

	memset(data, tag, 30000);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(w->win, other, 0));
		CHECK_OK(m, oriel_put(w->win, &small, 1, 1, 0));
		if (large)
			CHECK_OK(m, oriel_put(w->win, data, 30000, 1, 1));
		multi_raise(m, ISSUED, tag);
		multi_await(m, POSTED, tag);
		CHECK_OK(m, oriel_put(w->win, NULL, 0, 1, 0));
		multi_await(m, SEEN, tag); /* without any call */
		CHECK_OK(m, oriel_win_complete(w->win));
	} else {
		multi_await(m, ISSUED, tag);
		CHECK_OK(m, oriel_win_post(w->win, other, 0));
		multi_drain(m);
		multi_raise(m, POSTED, tag);
		await_byte(w->base, tag);
		if (large)
			await_byte(w->base + 30000, tag);
		multi_raise(m, SEEN, tag);
		CHECK_OK(m, oriel_win_wait(w->win));
		CHECK(m, multi_all(w->base + 1, 30000, large ? tag : 0));
	}
	free(data);
}

/*
 * P4: once the post has arrived, the next call on the window, whatever it is, sends what was
 * deferred.
 */
static void held_back_goes_out_at_the_next_call(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);

	multi_window_open(m, &w, 40000);
	multi_warm(m, w.win);
	held_back_round(m, &w, other, 1, false);
	held_back_round(m, &w, other, 2, true);
	multi_window_close(m, &w);
	multi_group_drop(m, other);
}

/*
 * P4: flush waits for the post and puts the data there; flush_local gives the buffers back. The
 * epoch stays open.
 */
static void flush_waits_for_the_post(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	uint8_t *buffers[SIZES];

	multi_window_open(m, &w, SIZES_BYTES);
	if (m->rank == 0) {
		uint8_t got = 0;

		CHECK_OK(m, oriel_win_start(w.win, other, 0));
		put_sizes(m, &w, 1, buffers, 11);
		multi_raise(m, ISSUED, 1);
		CHECK_OK(m, oriel_win_flush_local(w.win, 1));
		for (size_t i = 0; i < SIZES; i++)
			memset(buffers[i], 0xee, sizes[i]);
		CHECK_OK(m, oriel_win_flush(w.win, ORIEL_RANK_ALL));
		multi_raise(m, DONE, 1);
		multi_await(m, SEEN, 1);
		CHECK_OK(m, oriel_get(w.win, &got, 1, 1, SIZES_BYTES - 1));
		CHECK_OK(m, oriel_win_flush(w.win, 1));
		CHECK(m, got == 44);
		CHECK_OK(m, oriel_win_complete(w.win));
		for (size_t i = 0; i < SIZES; i++)
			free(buffers[i]);
	} else {
		multi_await(m, ISSUED, 1);
		CHECK_OK(m, oriel_win_post(w.win, other, 0));
		multi_await(m, DONE, 1);
		CHECK(m, sizes_arrived(&w, 11)); /* before its complete */
		w.base[SIZES_BYTES - 1] = 44;
		multi_raise(m, SEEN, 1);
		CHECK_OK(m, oriel_win_wait(w.win));
	}
	multi_window_close(m, &w);
	multi_group_drop(m, other);
}

#define MANY_DEFERRED (DEFERRED_MAX + 500)

/*
 * P4: more operations than can be deferred: the put beyond the bound waits for the post, and none
 * is lost.
 */
static void more_held_back_than_the_bound(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	uint8_t *bytes = multi_alloc(MANY_DEFERRED);

	multi_window_open(m, &w, MANY_DEFERRED);
	multi_fill(bytes, MANY_DEFERRED, 1);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(w.win, other, 0));
		for (size_t i = 0; i < MANY_DEFERRED; i++) {
			if (i == DEFERRED_MAX)
				multi_raise(m, ISSUED, 1);
			if (!CHECK_OK(m, oriel_put(w.win, bytes + i, 1, 1, i)))
				break;
		}
		CHECK_OK(m, oriel_win_complete(w.win));
	} else {
		multi_await(m, ISSUED, 1);
		CHECK_OK(m, oriel_win_post(w.win, other, 0));
		CHECK_OK(m, oriel_win_wait(w.win));
		CHECK(m, multi_holds(w.base, MANY_DEFERRED, 1));
	}
	multi_window_close(m, &w);
	multi_group_drop(m, other);
	free(bytes);
}

#define LARGE_BYTES ((size_t)2 << 20) /* more than a device has under way at once */

/* P5: after complete the buffers of puts may be overwritten and those of gets read. */
static void buffers_are_free_after_complete(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	uint8_t small[1000], *buffers[SIZES], *got = multi_alloc(LARGE_BYTES), *large = multi_alloc(LARGE_BYTES);
	oriel_mem *got_mem, *large_mem;

	multi_window_open(m, &w, SIZES_BYTES + 2 * LARGE_BYTES);
	multi_fill(w.base + SIZES_BYTES, LARGE_BYTES, 6);
	/* Registered once: deregistration, which waits for the device, must not be what makes complete wait. */
	CHECK_OK(m, oriel_mem_register(m->job, got, LARGE_BYTES, &got_mem));
	CHECK_OK(m, oriel_mem_register(m->job, large, LARGE_BYTES, &large_mem));
	for (uint64_t round = 0; round < 6; round++) {
		memset(w.base, 0, SIZES_BYTES);
		if (m->rank == 0) {
			memset(got, 0, LARGE_BYTES);
			memset(small, 0, sizeof(small));
			multi_fill(large, LARGE_BYTES, round);
			CHECK_OK(m, oriel_win_start(w.win, other, 0));
			if (round % 3 != 1)
				put_sizes(m, &w, 1, buffers, round);
			/*
			 * Large puts alone, gets alone, and both: a wait for one kind would hide that none
			 * waits for the other.
			 */
			if (round % 3 != 1)
				CHECK_OK(m, oriel_put(w.win, large, LARGE_BYTES, 1, SIZES_BYTES + LARGE_BYTES));
			if (round % 3) {
				CHECK_OK(m, oriel_get(w.win, got, LARGE_BYTES, 1, SIZES_BYTES));
				CHECK_OK(m, oriel_get(w.win, small, sizeof(small), 1, SIZES_BYTES));
			}
			CHECK_OK(m, oriel_win_complete(w.win));
			memset(large, 0xee, LARGE_BYTES);
			CHECK(m, round % 3 == 0 || (multi_holds(got, LARGE_BYTES, 6) && multi_holds(small, sizeof(small), 6)));
			for (size_t i = 0; round % 3 != 1 && i < SIZES; i++) {
				memset(buffers[i], 0xee, sizes[i]);
				free(buffers[i]);
			}
		} else {
			CHECK_OK(m, oriel_win_post(w.win, other, 0));
			CHECK_OK(m, oriel_win_wait(w.win));
			CHECK(m, round % 3 == 1 || sizes_arrived(&w, round));
			CHECK(m, round % 3 == 1 || multi_holds(w.base + SIZES_BYTES + LARGE_BYTES, LARGE_BYTES, round));
		}
	}
	CHECK_OK(m, oriel_mem_deregister(&got_mem));
	CHECK_OK(m, oriel_mem_deregister(&large_mem));
	multi_window_close(m, &w);
	multi_group_drop(m, other);
	free(got);
	free(large);
}

#define SHARED_BYTES ((size_t)300000) /* of which a target that waits may move a part itself */
#define SHARED_ROOM (SHARED_BYTES + 64)
#define SHARED_ROUNDS 100 /* it does so once it has waited for a while; */
#define CARD_ROUNDS 10    /* behind a card never */

/* A put to an odd place of the target, then a get of the same; the bytes around it stay. */
static void there_and_back(struct multi *m, oriel_win *win, uint8_t *origin, uint8_t *got, uint64_t seed)
{
	oriel_group *target = multi_group_one(m, 1);

	multi_fill(origin, SHARED_BYTES, seed);
	memset(got, 0, SHARED_BYTES + 1);
	CHECK_OK(m, oriel_win_start(win, target, 0));
	CHECK_OK(m, oriel_put(win, origin, SHARED_BYTES, 1, 5));
	CHECK_OK(m, oriel_win_complete(win));
	CHECK_OK(m, oriel_win_start(win, target, 0));
	CHECK_OK(m, oriel_get(win, got, SHARED_BYTES, 1, 5));
	CHECK_OK(m, oriel_win_complete(win));
	CHECK(m, multi_holds(got, SHARED_BYTES, seed) && got[SHARED_BYTES] == 0);
	multi_group_drop(m, target);
}

/* Waits at the target, which does nothing else. */
static void wait_for_both(struct multi *m, oriel_win *win, const uint8_t *base, uint64_t seed)
{
	oriel_group *origin = multi_group_one(m, 0);

	CHECK_OK(m, oriel_win_post(win, origin, 0));
	CHECK_OK(m, oriel_win_wait(win));
	CHECK(m, multi_holds(base + 5, SHARED_BYTES, seed) && base[4] == 0 && base[5 + SHARED_BYTES] == 0);
	CHECK_OK(m, oriel_win_post(win, origin, 0));
	CHECK_OK(m, oriel_win_wait(win));
	multi_group_drop(m, origin);
}

static void rounds_of_large_ones(struct multi *m, const struct multi_window *w, uint8_t *memory)
{
	const uint64_t rounds = multi_over_card() ? CARD_ROUNDS : SHARED_ROUNDS;

	for (uint64_t round = 0; round < rounds; round++) {
		if (m->rank == 0)
			there_and_back(m, w->win, memory + 3, memory + SHARED_ROOM + 1, round);
		else
			wait_for_both(m, w->win, w->base, round);
	}
}

/* D1: any memory, any window, with the help of a target that waits or without. */
static void large_ones_while_the_target_waits(struct multi *m)
{
	uint8_t *heap = multi_alloc(2 * SHARED_ROOM), *shared = oriel_alloc(m->job, 2 * SHARED_ROOM);

	CHECK(m, shared);
	for (int allocated = 0; allocated < 2; allocated++) {
		struct multi_window w;

		multi_window_open_as(m, &w, SHARED_ROOM, NULL, allocated);
		rounds_of_large_ones(m, &w, heap);
		rounds_of_large_ones(m, &w, shared);
		multi_window_close(m, &w);
	}
	CHECK_OK(m, oriel_free(m->job, shared));
	free(heap);
}

static bool is_stopped(pid_t pid)
{
	char path[64], text[512] = "";
	FILE *file;
	char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	at = strrchr(text, ')');
	return at && at[2] == 'T';
}

static void stop(pid_t pid)
{
	kill(pid, SIGSTOP);
	while (!is_stopped(pid))
		sched_yield();
}

/* Rank `origin` is stopped, service thread and all, while `target` posts. */
static void post_to_a_stopped_rank(struct multi *m, const struct multi_window *w, int origin, int target)
{
	oriel_group *group = multi_group_one(m, m->rank == origin ? target : origin);
	int value = 3;

	if (m->rank == target) {
		multi_await(m, STARTED, 1);
		stop(multi_pid(m, origin));
		CHECK_OK(m, oriel_win_post(w->win, group, 0));
		kill(multi_pid(m, origin), SIGCONT);
		multi_raise(m, POSTED, 1);
		CHECK_OK(m, oriel_win_wait(w->win));
		CHECK(m, int_at(w, 0) == 3);
	}
	if (m->rank == origin) {
		multi_raise(m, STARTED, 1);
		multi_await(m, POSTED, 1);
		CHECK_OK(m, oriel_win_start(w->win, group, 0));
		CHECK_OK(m, put_int(w, &value, target, 0));
		CHECK_OK(m, oriel_win_complete(w->win));
	}
	multi_group_drop(m, group);
}

/* P6: post does not wait for the origin. */
static void post_never_waits(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, 64);
	multi_warm(m, w.win);
	post_to_a_stopped_rank(m, &w, 0, 1);
	multi_window_close(m, &w);
}

/*
 * P6: nor for the connection to it. Making a window connects ranks 1, 2, 4 places apart, so of six
 * ranks 0 and 3 do not know each other.
 */
static void post_never_waits_at_first_contact(struct multi *m)
{
	struct multi_window w;
	const struct peer *far;

	multi_window_open(m, &w, 64);
	far = peer_find(m->job, (m->rank + 3) % 6);
	multi_raise(m, 10 + m->rank, far && state_load(&far->state) != PEER_NEW ? 2 : 1);
	multi_await(m, 10, 1);
	multi_await(m, 13, 1);
	if (multi_word(m, 10) == 2 || multi_word(m, 13) == 2)
		multi_skip(m, "another case has run before; run it alone");
	else
		post_to_a_stopped_rank(m, &w, 0, 3);
	multi_window_close(m, &w);
}

/* P7: three origins, much data each, all of it in place when wait returns. */
static void wait_means_all_data_of_all(struct multi *m)
{
	const size_t part = 40000;
	struct multi_window w;
	oriel_group *zero = multi_group_one(m, 0), *rest = multi_group_mask(m, 0xe);
	uint8_t *data = multi_alloc(part);

	multi_window_open(m, &w, 4 * part);
	for (uint64_t round = 0; round < 10; round++) {
		if (m->rank == 0) {
			CHECK_OK(m, oriel_win_post(w.win, rest, 0));
			CHECK_OK(m, oriel_win_wait(w.win));
			for (uint64_t rank = 1; rank < 4; rank++)
				CHECK(m, multi_holds(w.base + rank * part, part, round * 4 + rank));
			continue;
		}
		multi_fill(data, part, round * 4 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_win_start(w.win, zero, 0));
		CHECK_OK(m, oriel_put(w.win, data, part - 100, 0, (size_t)m->rank * part));
		for (size_t i = part - 100; i < part; i++)
			CHECK_OK(m, oriel_put(w.win, data + i, 1, 0, (size_t)m->rank * part + i));
		CHECK_OK(m, oriel_win_complete(w.win));
	}
	multi_window_close(m, &w);
	multi_group_drop(m, zero);
	multi_group_drop(m, rest);
	free(data);
}

/*
 * P8: false as long as one origin is missing, and changes nothing; then true, with the data there;
 * then no more.
 */
static void test_tells_and_changes_nothing(struct multi *m)
{
	struct multi_window w;
	oriel_group *zero = multi_group_one(m, 0), *rest = multi_group_mask(m, 0x6);
	int value = m->rank, flag;

	multi_window_open(m, &w, 64);
	if (m->rank == 0) {
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_test(w.win, &flag));
		CHECK_OK(m, oriel_win_post(w.win, rest, 0));
		multi_await(m, DONE, 1); /* rank 1 has completed, rank 2 has not */
		for (int i = 0; i < 1000; i++) {
			flag = -1;
			CHECK_OK(m, oriel_win_test(w.win, &flag));
			CHECK(m, flag == 0);
		}
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_post(w.win, rest, 0));
		multi_raise(m, SEEN, 1);
		while (oriel_win_test(w.win, &flag) == 0 && !flag)
			sched_yield();
		CHECK(m, flag == 1 && int_at(&w, 1) == 1 && int_at(&w, 2) == 2);
		flag = -1;
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_test(w.win, &flag));
		CHECK(m, flag == -1);
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_wait(w.win));
	} else {
		CHECK_OK(m, oriel_win_start(w.win, zero, 0));
		CHECK_OK(m, put_int(&w, &value, 0, (size_t)m->rank));
		if (m->rank == 2)
			multi_await(m, SEEN, 1);
		CHECK_OK(m, oriel_win_complete(w.win));
		multi_drain(m);
		if (m->rank == 1)
			multi_raise(m, DONE, 1);
	}
	multi_window_close(m, &w);
	multi_group_drop(m, zero);
	multi_group_drop(m, rest);
}

/* P8: nothing but test, called again and again, at first contact too. */
static void test_alone_gets_there(struct multi *m)
{
	oriel_group *other = multi_group_one(m, 1 - m->rank);

	for (int round = 0; round < 20; round++) {
		struct multi_window w;
		int flag = 0, value = round;

		multi_window_open(m, &w, 64);
		if (m->rank == 0) {
			CHECK_OK(m, oriel_win_post(w.win, other, 0));
			while (!flag && CHECK_OK(m, oriel_win_test(w.win, &flag)))
				sched_yield();
			CHECK(m, int_at(&w, 0) == round);
		} else {
			CHECK_OK(m, oriel_win_start(w.win, other, 0));
			CHECK_OK(m, put_int(&w, &value, 0, 0));
			CHECK_OK(m, oriel_win_complete(w.win));
		}
		multi_window_close(m, &w);
	}
	multi_group_drop(m, other);
}

/* P9: an empty group makes post and start calls without effect. */
static void empty_groups(struct multi *m)
{
	struct multi_window w;
	oriel_group *none = multi_group(m, 0, NULL), *other = multi_group_one(m, 1 - m->rank);
	int flag = 0, value = 8;

	multi_window_open(m, &w, 64);
	CHECK_OK(m, oriel_win_start(w.win, none, 0));
	CHECK_OK(m, oriel_win_complete(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(w.win));
	CHECK_OK(m, oriel_win_post(w.win, none, 0));
	CHECK_OK(m, oriel_win_wait(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_wait(w.win));
	CHECK_OK(m, oriel_win_post(w.win, none, 0));
	CHECK_OK(m, oriel_win_test(w.win, &flag));
	CHECK(m, flag == 1);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_test(w.win, &flag));
	/* Any other call discards it. */
	CHECK_OK(m, oriel_win_start(w.win, none, 0));
	CHECK_OK(m, oriel_win_post(w.win, none, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, put_int(&w, &value, 1 - m->rank, 0));
	CHECK_OK(m, oriel_win_post(w.win, other, 0));
	CHECK_OK(m, oriel_win_start(w.win, other, 0));
	CHECK_OK(m, put_int(&w, &value, 1 - m->rank, 0));
	CHECK_OK(m, oriel_win_complete(w.win));
	CHECK_OK(m, oriel_win_wait(w.win));
	CHECK(m, int_at(&w, 0) == 8);
	CHECK_OK(m, oriel_win_start(w.win, none, 0));
	CHECK_OK(m, oriel_win_post(w.win, none, 0));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_win_start(w.win, none, 0));
	CHECK_OK(m, oriel_win_post(w.win, none, 0));
	multi_window_close(m, &w); /* and so does free */
	multi_group_drop(m, none);
	multi_group_drop(m, other);
}

/* P9: a chain, in which every rank names other ranks than its neighbours do. */
static void every_rank_its_own_group(struct multi *m)
{
	struct multi_window w;
	oriel_group *in = multi_group_mask(m, m->rank > 0 ? 1u << (m->rank - 1) : 0);
	oriel_group *out = multi_group_mask(m, m->rank + 1 < m->size ? 1u << (m->rank + 1) : 0);

	multi_window_open(m, &w, 64);
	for (int round = 1; round <= 20; round++) {
		int value = round * 10 + m->rank;

		CHECK_OK(m, oriel_win_post(w.win, in, 0));
		CHECK_OK(m, oriel_win_start(w.win, out, 0));
		if (m->rank + 1 < m->size)
			CHECK_OK(m, put_int(&w, &value, m->rank + 1, 0));
		CHECK_OK(m, oriel_win_complete(w.win));
		CHECK_OK(m, oriel_win_wait(w.win));
		CHECK(m, m->rank == 0 || int_at(&w, 0) == value - 1);
	}
	multi_window_close(m, &w);
	multi_group_drop(m, in);
	multi_group_drop(m, out);
}

/*
 * One round of post(in), start(out), operations, complete, wait over the graph: bit t of edges[o]
 * says that o accesses t.
 */
static void graph_round(struct multi *m, const struct multi_window *w, const unsigned edges[], int round)
{
	unsigned in_mask = 0;
	oriel_group *in, *out = multi_group_mask(m, edges[m->rank]);
	int got[8];

	for (int rank = 0; rank < m->size; rank++) {
		if (edges[rank] & 1u << m->rank)
			in_mask |= 1u << rank;
	}
	in = multi_group_mask(m, in_mask);
	memcpy(w->base + 64, &round, sizeof(round)); /* what gets of this round find */
	CHECK_OK(m, oriel_win_post(w->win, in, 0));
	CHECK_OK(m, oriel_win_start(w->win, out, 0));
	for (int rank = 0; rank < m->size; rank++) {
		if (!(edges[m->rank] & 1u << rank))
			continue;
		CHECK_OK(m, put_int(w, &round, rank, (size_t)m->rank));
		CHECK_OK(m, oriel_get(w->win, &got[rank], sizeof(int), rank, 64));
	}
	CHECK_OK(m, oriel_win_complete(w->win));
	CHECK_OK(m, oriel_win_wait(w->win));
	for (int rank = 0; rank < m->size; rank++) {
		if (in_mask & 1u << rank)
			CHECK(m, int_at(w, (size_t)rank) == round);
		if (edges[m->rank] & 1u << rank)
			CHECK(m, got[rank] == round);
	}
	multi_group_drop(m, in);
	multi_group_drop(m, out);
}

/* P10: rings, everybody with everybody, and random graphs with edges to oneself. */
static void any_directed_graph(struct multi *m)
{
	struct multi_window w;
	uint64_t seed = multi_seed(m);
	unsigned all = (1u << m->size) - 1, edges[8];

	multi_window_open(m, &w, 128);
	for (int round = 1; round <= 100; round++) {
		for (int rank = 0; rank < m->size; rank++) {
			unsigned random = (unsigned)multi_random(&seed) & all;

			if (round <= 5)
				edges[rank] = all;
			else if (round <= 10)
				edges[rank] = 1u << (rank + 1) % m->size;
			else
				edges[rank] = random;
		}
		graph_round(m, &w, edges, round);
	}
	multi_window_close(m, &w);
}

/*
 * P11: the target makes no call after post until the origin has completed. First contact, and again
 * when all is known.
 */
static void target_computes_meanwhile(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	uint8_t *data = multi_alloc(20000);

	multi_window_open(m, &w, 20000);
	for (uint64_t round = 1; round <= 3; round++) {
		multi_fill(data, 20000, round);
		if (m->rank == 0) {
			if (round == 2)
				multi_await(m, POSTED, round);
			CHECK_OK(m, oriel_win_start(w.win, other, 0));
			CHECK_OK(m, oriel_put(w.win, data, 20000, 1, 0));
			CHECK_OK(m, oriel_win_complete(w.win));
			multi_raise(m, DONE, round);
		} else {
			CHECK_OK(m, oriel_win_post(w.win, other, 0));
			multi_raise(m, POSTED, round);
			multi_await(m, DONE, round);
			CHECK_OK(m, oriel_win_wait(w.win));
			CHECK(m, multi_holds(w.base, 20000, round));
		}
	}
	multi_window_close(m, &w);
	multi_group_drop(m, other);
	free(data);
}

static void *complete_thread(void *win)
{
	int *rc = multi_alloc(sizeof(int));

	*rc = oriel_win_complete(win);
	return rc;
}

/*
 * P12: rank 0 is inside complete for ranks 1 and 2, and rank 2 has not posted. Rank 1 has been
 * completed, waits, and posts again, before rank 2 lets rank 0 go. Without holding a post fast,
 * rank 0 would miss the first or the second.
 */
static void post_runs_ahead(struct multi *m)
{
	struct multi_window w;
	oriel_group *zero = multi_group_one(m, 0), *one = multi_group_one(m, 1), *both = multi_group_mask(m, 0x6);

	multi_window_open(m, &w, 64);
	for (int round = 1; round <= 10; round++) {
		uint64_t tag = (uint64_t)round;
		int value = round, after = round + 100;

		if (m->rank == 0) {
			pthread_t thread;
			void *rc;

			CHECK_OK(m, oriel_win_start(w.win, both, 0));
			CHECK_OK(m, put_int(&w, &value, 1, 0));
			CHECK_OK(m, put_int(&w, &value, 2, 0));
			pthread_create(&thread, NULL, complete_thread, w.win);
			multi_await(m, POSTED, tag); /* rank 1's second post is here */
			multi_raise(m, SEEN, tag);
			pthread_join(thread, &rc);
			CHECK(m, *(int *)rc == 0);
			free(rc);
			CHECK_OK(m, oriel_win_start(w.win, one, 0));
			CHECK_OK(m, put_int(&w, &after, 1, 0));
			CHECK_OK(m, oriel_win_complete(w.win));
			CHECK_OK(m, oriel_win_start(w.win, one, 0));
			CHECK_OK(m, oriel_win_complete(w.win));
		} else if (m->rank == 1) {
			CHECK_OK(m, oriel_win_post(w.win, zero, 0));
			CHECK_OK(m, oriel_win_wait(w.win));
			CHECK(m, int_at(&w, 0) == value);
			CHECK_OK(m, oriel_win_post(w.win, zero, 0));
			multi_drain(m);
			multi_raise(m, POSTED, tag);
			CHECK_OK(m, oriel_win_wait(w.win));
			CHECK(m, int_at(&w, 0) == after);
			CHECK_OK(m, oriel_win_post(w.win, zero, 0));
			CHECK_OK(m, oriel_win_wait(w.win));
		} else {
			multi_await(m, SEEN, tag);
			CHECK_OK(m, oriel_win_post(w.win, zero, 0));
			CHECK_OK(m, oriel_win_wait(w.win));
			CHECK(m, int_at(&w, 0) == value);
		}
	}
	multi_window_close(m, &w);
	multi_group_drop(m, zero);
	multi_group_drop(m, one);
	multi_group_drop(m, both);
}

/*
 * Set all epoch counters between this rank and another as if `number` epochs had been, each way.
 * All ranks do it between two syncs.
 */
static void set_counters(struct multi *m, oriel_win *win, int rank, uint64_t number)
{
	struct link *link;

	owned_lock_take(&win->lock);
	link = link_find(win, rank);
	if (CHECK(m, link && link_state(link) == LINK_READY)) {
		link->posted_expected = link->completed_sent = number;
		link->posted_sent = link->completed_expected = number;
		*link_flags(win, link) = (struct flag_pair){ .posted = number, .completed = number };
	}
	owned_lock_give(&win->lock);
}

/*
 * P13: epochs across 2^32, and across the last number of 48 bits; with the words as they would be
 * after so many epochs.
 */
static void counters_across_2_32(struct multi *m)
{
	static const uint64_t edges[] = { UINT64_C(1) << 32, UINT64_C(1) << 48, UINT64_C(1) << 63 };
	struct multi_window w;
	unsigned all[2] = { 3, 3 };

	multi_window_open(m, &w, 128);
	multi_warm(m, w.win);
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		multi_drain(m);
		multi_sync(m);
		set_counters(m, w.win, 0, edges[i] - 5);
		set_counters(m, w.win, 1, edges[i] - 5);
		multi_sync(m);
		for (int round = 1; round <= 10; round++)
			graph_round(m, &w, all, round);
		CHECK(m, link_find(w.win, 0)->posted_expected == edges[i] + 5);
		CHECK(m, link_flags(w.win, link_find(w.win, 1))->completed == edges[i] + 5);
	}
	multi_window_close(m, &w);
}

/* Post flags ever sent to a member. */
static uint64_t link_posts(oriel_win *win, int rank)
{
	const struct link *link = link_find(win, rank);

	return link ? link->posted_sent : 0;
}

/*
 * P14: with NOCHECK on both sides no handshake is sent: nothing leaves the target. Epochs with and
 * without may alternate.
 */
static void nocheck_sends_no_handshake(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	struct peer *peer;

	multi_window_open(m, &w, 64);
	multi_warm(m, w.win);
	peer = peer_find(m->job, 1 - m->rank);
	for (int round = 1; round <= 20; round++) {
		int assertion = round % 4 ? ORIEL_MODE_NOCHECK : 0;
		uint64_t tag = (uint64_t)round;

		if (m->rank == 1) {
			uint64_t requests = peer->wire.posted, flags = link_posts(w.win, 0);

			CHECK_OK(m, oriel_win_post(w.win, other, assertion));
			CHECK(m, link_posts(w.win, 0) == flags + (assertion == 0));
			CHECK(m, peer->wire.posted <= requests + (assertion == 0)); /* a mapped word takes none */
			multi_raise(m, POSTED, tag);
			CHECK_OK(m, oriel_win_wait(w.win));
			CHECK(m, int_at(&w, 0) == round);
		} else {
			multi_await(m, POSTED, tag);
			CHECK_OK(m, oriel_win_start(w.win, other, assertion));
			CHECK_OK(m, put_int(&w, &round, 1, 0));
			CHECK_OK(m, oriel_win_complete(w.win));
		}
	}
	multi_window_close(m, &w);
	multi_group_drop(m, other);
}

/*
 * P14: at first contact, with windows in several slots, the flag of an epoch without operations waits
 * until the target's words are known. The window that comes first is the one whose words a flag sent
 * too early would hit.
 */
static void nocheck_waits_for_the_description(struct multi *m)
{
	struct multi_window first, w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);

	multi_window_open(m, &first, 64);
	for (int i = 0; i < 20; i++) {
		multi_window_open(m, &w, 64);
		if (m->rank == 1) {
			CHECK_OK(m, oriel_win_post(w.win, other, ORIEL_MODE_NOCHECK));
			multi_raise(m, POSTED, (uint64_t)(100 + i));
			CHECK_OK(m, oriel_win_wait(w.win));
			CHECK(m, peer_flags(peer_find(m->job, 0), 0)->completed == 0);
		} else {
			multi_await(m, POSTED, (uint64_t)(100 + i));
			CHECK_OK(m, oriel_win_start(w.win, other, ORIEL_MODE_NOCHECK));
			CHECK_OK(m, oriel_win_complete(w.win));
		}
		multi_window_close(m, &w);
	}
	multi_window_close(m, &first);
	multi_group_drop(m, other);
}

/* P14: NOSTORE and NOPUT on post, where they are true, and together with NOCHECK. */
static void nostore_and_noput(struct multi *m)
{
	static const int assertions[] = { ORIEL_MODE_NOSTORE, ORIEL_MODE_NOPUT, ORIEL_MODE_NOSTORE | ORIEL_MODE_NOPUT,
		                              ORIEL_MODE_NOSTORE | ORIEL_MODE_NOPUT | ORIEL_MODE_NOCHECK };
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);

	multi_window_open(m, &w, 64);
	w.base[5] = 55;
	multi_sync(m);
	for (int i = 0; i < 4; i++) {
		uint8_t got = 0, value = (uint8_t)(i + 1);

		if (m->rank == 1) {
			CHECK_OK(m, oriel_win_post(w.win, other, assertions[i]));
			multi_raise(m, POSTED, (uint64_t)i + 1);
			CHECK_OK(m, oriel_win_wait(w.win));
			CHECK(m, assertions[i] & ORIEL_MODE_NOPUT || w.base[0] == value);
			continue;
		}
		multi_await(m, POSTED, (uint64_t)i + 1);
		CHECK_OK(m, oriel_win_start(w.win, other, assertions[i] & ORIEL_MODE_NOCHECK));
		CHECK_OK(m, oriel_get(w.win, &got, 1, 1, 5));
		if (!(assertions[i] & ORIEL_MODE_NOPUT))
			CHECK_OK(m, oriel_put(w.win, &value, 1, 1, 0));
		CHECK_OK(m, oriel_win_complete(w.win));
		CHECK(m, got == 55);
	}
	multi_window_close(m, &w);
	multi_group_drop(m, other);
}

/*
 * Epochs on memory that is mapped, between ranks that know each other, go the shortest way where
 * nothing is awaited. Here something is, or one of several has to be.
 */

/* Each rank's post or complete of one round, as words: a rank raises its own to the round's number. */
enum { BEFORE_COMPLETE = 40, COMPLETED = 44, ROUNDS_KNOWN = 3, ROUNDS_LATE = 20 };

/*
 * Rank 0 accesses the others, which post one after the other; each late one only when rank 0 is
 * closing the epoch.
 */
static void access_late(struct multi *m, oriel_win *win, oriel_group *others, uint64_t round)
{
	CHECK_OK(m, oriel_win_start(win, others, 0));
	multi_raise(m, BEFORE_COMPLETE, round);
	CHECK_OK(m, oriel_win_complete(win));
	multi_raise(m, COMPLETED, round);
	for (int to = 1; to < m->size; to++)
		multi_await(m, COMPLETED + to, round);
}

static void expose_late(struct multi *m, oriel_win *win, oriel_group *zero, int late, uint64_t round)
{
	if (m->rank == late) {
		multi_await(m, BEFORE_COMPLETE, round);
		for (int to = 1; to < m->size; to++) {
			if (to != late)
				multi_await(m, COMPLETED + to, round); /* they do not wait for this one's post */
		}
		CHECK(m, multi_word(m, COMPLETED) < round);
	}
	CHECK_OK(m, oriel_win_post(win, zero, 0));
	CHECK_OK(m, oriel_win_wait(win));
	multi_raise(m, COMPLETED + m->rank, round);
}

/*
 * P2, P4: complete waits for each post, and ranks that have posted need not wait for the others'
 * posts.
 */
static void late_post_among_known(struct multi *m)
{
	oriel_group *zero = multi_group_one(m, 0), *others = multi_group_mask(m, 6);
	oriel_win *win;
	void *base;

	CHECK_OK(m, oriel_win_allocate(64, 1, NULL, m->group, &base, &win));
	for (uint64_t round = 1; round <= ROUNDS_KNOWN + ROUNDS_LATE; round++) {
		int late = round <= ROUNDS_KNOWN ? 0 : 1 + (int)(round % 2);

		if (m->rank == 0)
			access_late(m, win, others, round);
		else
			expose_late(m, win, zero, late, round);
	}
	CHECK_OK(m, oriel_win_free(&win));
	multi_group_drop(m, zero);
	multi_group_drop(m, others);
}

/*
 * Groups of one and of several in turn, in both roles, without a pause: each value comes with its
 * own epoch.
 */
static void groups_in_turn(struct multi *m)
{
	oriel_group *next = multi_group_one(m, (m->rank + 1) % 3), *before = multi_group_one(m, (m->rank + 2) % 3);
	oriel_group *both = multi_group_mask(m, 7u & ~(1u << m->rank));
	uint64_t *base;
	oriel_win *win;

	CHECK_OK(m, oriel_win_allocate(64, 1, NULL, m->group, (void **)&base, &win));
	for (uint64_t round = 1; round <= 600; round++) {
		bool one = round / 3 % 2;

		CHECK_OK(m, oriel_win_post(win, one ? before : both, 0));
		CHECK_OK(m, oriel_win_start(win, one ? next : both, 0));
		CHECK_OK(m, oriel_put(win, &round, sizeof(round), (m->rank + 1) % 3, 8 * (size_t)m->rank));
		if (!one && round % 2)
			CHECK_OK(m, oriel_put(win, &round, sizeof(round), (m->rank + 2) % 3, 8 * (size_t)m->rank));
		CHECK_OK(m, oriel_win_complete(win));
		CHECK_OK(m, oriel_win_wait(win));
		CHECK(m, base[(m->rank + 2) % 3] == round);
	}
	CHECK_OK(m, oriel_win_free(&win));
	multi_group_drop(m, next);
	multi_group_drop(m, before);
	multi_group_drop(m, both);
}

static const struct multi_case cases[] = {
	/* First, while the ranks do not know each other. */
	{ "P14_nocheck_waits_for_the_description", 2, nocheck_waits_for_the_description },
	{ "D1_large_ones_while_the_target_waits", 2, large_ones_while_the_target_waits },
	{ "P1_start_and_post_name_their_ranks", 3, start_and_post_name_their_ranks },
	{ "P2_post_names_its_poster", 3, post_names_its_poster },
	{ "P2_matching_in_order_per_pair", 4, matching_in_order_per_pair },
	{ "P2_P4_late_post_among_known", 3, late_post_among_known },
	{ "P2_groups_in_turn", 3, groups_in_turn },
	{ "P3_nothing_before_the_post", 2, nothing_before_the_post },
	{ "P4_start_does_not_block", 2, start_does_not_block },
	{ "P4_held_back_goes_out_at_the_next_call", 2, held_back_goes_out_at_the_next_call },
	{ "P4_flush_waits_for_the_post", 2, flush_waits_for_the_post },
	{ "P4_more_held_back_than_the_bound", 2, more_held_back_than_the_bound },
	{ "P5_buffers_are_free_after_complete", 2, buffers_are_free_after_complete },
	{ "P6_post_never_waits_at_first_contact", 6, post_never_waits_at_first_contact },
	{ "P6_post_never_waits", 2, post_never_waits },
	{ "P7_wait_means_all_data_of_all", 4, wait_means_all_data_of_all },
	{ "P8_test_tells_and_changes_nothing", 3, test_tells_and_changes_nothing },
	{ "P8_test_alone_gets_there", 2, test_alone_gets_there },
	{ "P9_empty_groups", 2, empty_groups },
	{ "P9_every_rank_its_own_group", 4, every_rank_its_own_group },
	{ "P10_any_directed_graph", 4, any_directed_graph },
	{ "P11_target_computes_meanwhile", 2, target_computes_meanwhile },
	{ "P12_post_runs_ahead", 3, post_runs_ahead },
	{ "P13_counters_across_2_32", 2, counters_across_2_32 },
	{ "P14_nocheck_sends_no_handshake", 2, nocheck_sends_no_handshake },
	{ "P14_nostore_and_noput", 2, nostore_and_noput },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_pscw",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
