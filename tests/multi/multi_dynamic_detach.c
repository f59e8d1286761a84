// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_dynamic_detach.c - memory that is detached from dynamic windows, while others put to it:
 * rules DW4 to DW6
 */
#include <time.h>

#include "dynamic_windows.h"

/*
 * DW4, DW5: detached memory may be unmapped, and the origin gets an error; other windows and
 * regions go on.
 */
static void detached_memory(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = map_pages(3), byte = (uint8_t)(m->rank + 1);
	int right = right_of(m);

	CHECK_OK(m, oriel_win_attach(win, memory, PAGE));
	CHECK_OK(m, oriel_win_attach(win, memory + 2 * PAGE, PAGE));
	CHECK_RC(m, ORIEL_ERR_ATTACH, oriel_win_detach(win, memory + 1));
	CHECK_RC(m, ORIEL_ERR_ATTACH, oriel_win_detach(win, memory + PAGE));
	CHECK_RC(m, ORIEL_ERR_ATTACH, oriel_win_detach(win, NULL));
	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_put(win, &byte, 1, right, address(m, right)));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, memory[0] == left_of(m) + 1);
	multi_sync(m);
	CHECK_OK(m, oriel_win_detach(win, memory));
	munmap(memory, PAGE);
	CHECK_RC(m, ORIEL_ERR_ATTACH, oriel_win_detach(win, memory));
	multi_sync(m);
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, &byte, 1, right, address(m, right)));
	CHECK_OK(m, oriel_put(win, &byte, 1, right, address(m, right) + 2 * PAGE));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, memory[2 * PAGE] == left_of(m) + 1);
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory + PAGE, 2 * PAGE);
}

/*
 * DW5: an origin goes on all the time while the region comes and goes, and its memory with it. It
 * gets errors, and no more happens.
 */
static void comes_and_goes(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = map_pages(1), *steady = map_pages(1), byte = 7, got = 0;

	CHECK_OK(m, oriel_win_attach(win, steady, PAGE));
	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, ORIEL_MODE_NOPRECEDE));
	for (int i = 0; m->rank == 0 && i < 200; i++) {
		CHECK_OK(m, oriel_win_attach(win, memory, PAGE));
		memory[5] = 1;
		CHECK_OK(m, oriel_win_detach(win, memory));
		map_anew(m, memory, PAGE);
	}
	if (m->rank == 0)
		multi_raise(m, STEP, 1);
	while (m->rank != 0) {
		int rc = oriel_put(win, &byte, 1, 0, address(m, 0));

		CHECK(m, rc == 0 || rc == ORIEL_ERR_RANGE);
		CHECK_OK(m, oriel_win_flush(win, 0));
		if (multi_word(m, STEP) || multi_failed(m))
			break;
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
	multi_raise(m, ADDRESS + m->size + m->rank, (uintptr_t)steady);
	multi_sync(m);
	CHECK_OK(m, oriel_get(win, &got, 1, 0, (size_t)multi_word(m, ADDRESS + m->size)));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, PAGE);
	munmap(steady, PAGE);
}

/* DW6: at the same address, with another size and other rights, again and again. */
static void at_the_same_address(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = map_pages(4), data[3 * PAGE];
	int right = right_of(m);

	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (size_t i = 0; i < 30; i++) {
		size_t pages = 1 + i % 3;
		bool read_only = i % 5 == 4;

		mprotect(memory, pages * PAGE, read_only ? PROT_READ : PROT_READ | PROT_WRITE);
		CHECK_OK(m, oriel_win_attach(win, memory, pages * PAGE));
		multi_sync(m);
		multi_fill(data, sizeof(data), i * 10 + (uint64_t)m->rank);
		CHECK_RC(m, read_only ? ORIEL_ERR_ACCESS : 0, oriel_put(win, data, pages * PAGE, right, address(m, right)));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, data, pages * PAGE, right, address(m, right) + 1));
		CHECK_OK(m, oriel_win_fence(win, 0));
		CHECK(m, read_only || multi_holds(memory, pages * PAGE, i * 10 + left_of(m)));
		multi_sync(m);
		CHECK_OK(m, oriel_win_detach(win, memory));
		map_anew(m, memory, pages * PAGE);
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, 4 * PAGE);
}

/* DW6, DW8: a put that waits for its post goes to what is attached when the post comes. */
static void deferred_ops(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = map_pages(2), byte = 9;
	oriel_group *origin = multi_group_one(m, 0), *target = multi_group_one(m, 1);

	tell(m, memory);
	if (m->rank == 1)
		CHECK_OK(m, oriel_win_attach(win, memory, PAGE));
	multi_sync(m);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(win, target, 0));
		CHECK_OK(m, oriel_put(win, &byte, 1, 1, address(m, 1) + 10));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, &byte, 1, 1, address(m, 1) + PAGE));
		multi_raise(m, STEP, 1);
		CHECK_OK(m, oriel_win_complete(win));
	} else {
		multi_await(m, STEP, 1);
		CHECK_OK(m, oriel_win_detach(win, memory));
		map_anew(m, memory, PAGE);
		CHECK_OK(m, oriel_win_attach(win, memory, 2 * PAGE));
		CHECK_OK(m, oriel_win_post(win, origin, 0));
		CHECK_OK(m, oriel_win_wait(win));
		CHECK(m, memory[10] == 9);
	}
	multi_group_drop(m, origin);
	multi_group_drop(m, target);
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, 2 * PAGE);
}

/*
 * DW5: a deferred put finds its memory detached, or read-only, when it is to be issued. The end of
 * the epoch reports it, and the epoch ends for the target all the same: its wait returns, and its
 * lock is released.
 */
static void held_back_in_vain(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = map_pages(1), byte = 9;
	oriel_group *origin = multi_group_one(m, 0), *target = multi_group_one(m, 1);

	tell(m, memory);
	if (m->rank == 1)
		CHECK_OK(m, oriel_win_attach(win, memory, PAGE));
	multi_sync(m);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(win, target, 0));
		CHECK_OK(m, oriel_put(win, &byte, 1, 1, address(m, 1)));
		multi_raise(m, STEP, 1);
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_win_complete(win));
		multi_await(m, STEP, 2);
		CHECK_OK(m, oriel_win_lock_all(win, 0));
		CHECK_OK(m, oriel_put(win, &byte, 1, 1, address(m, 1)));
		multi_raise(m, STEP, 3);
		CHECK_RC(m, ORIEL_ERR_ACCESS, oriel_win_unlock_all(win));
	} else {
		multi_await(m, STEP, 1);
		CHECK_OK(m, oriel_win_detach(win, memory));
		CHECK_OK(m, oriel_win_post(win, origin, 0));
		CHECK_OK(m, oriel_win_wait(win));
		CHECK_OK(m, oriel_win_attach(win, memory, PAGE));
		CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 1, 0));
		multi_raise(m, STEP, 2);
		multi_await(m, STEP, 3);
		CHECK_OK(m, oriel_win_detach(win, memory));
		mprotect(memory, PAGE, PROT_READ);
		CHECK_OK(m, oriel_win_attach(win, memory, PAGE));
		CHECK_OK(m, oriel_win_unlock(win, 1));
	}
	multi_sync(m);
	CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 1, 0));
	CHECK_OK(m, oriel_win_unlock(win, 1));
	CHECK(m, memory[0] == 0);
	multi_group_drop(m, origin);
	multi_group_drop(m, target);
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, PAGE);
}

/*
 * P5, DW5: complete waits for every post, also if it has found by then that an operation to another
 * target is refused.
 */
static void refused_and_others_late(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = map_pages(1), byte = 9;
	oriel_group *origin = multi_group_one(m, 0), *targets = multi_group(m, 2, (int[]){ 1, 2 });
	const struct timespec late = { 1, 0 };

	tell(m, memory);
	CHECK_OK(m, oriel_win_attach(win, memory, PAGE));
	multi_sync(m);
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_start(win, targets, 0));
		CHECK_OK(m, oriel_put(win, &byte, 1, 1, address(m, 1)));
		CHECK_OK(m, oriel_put(win, &byte, 1, 2, address(m, 2)));
		multi_raise(m, STEP, 1);
		multi_await(m, STEP, 2);
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_win_complete(win));
		CHECK_TEXT(m, "oriel_win_complete");
		CHECK(m, multi_word(m, STEP) == 3);
		CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_complete(win));
	} else if (m->rank == 1) {
		multi_await(m, STEP, 1);
		CHECK_OK(m, oriel_win_detach(win, memory));
		CHECK_OK(m, oriel_win_post(win, origin, 0));
		multi_drain(m);
		multi_raise(m, STEP, 2);
		CHECK_OK(m, oriel_win_wait(win));
	} else {
		multi_await(m, STEP, 2);
		nanosleep(&late, NULL); /* longer than an error lingers */
		multi_raise(m, STEP, 3);
		CHECK_OK(m, oriel_win_post(win, origin, 0));
		CHECK_OK(m, oriel_win_wait(win));
		CHECK(m, memory[0] == 9);
	}
	multi_sync(m);
	multi_group_drop(m, origin);
	multi_group_drop(m, targets);
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, PAGE);
}

/* DW4: a computing rank's service thread acknowledges: detach ends without a call of that rank. */
static void origin_computes(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = map_pages(1), byte = 1;

	CHECK_OK(m, oriel_win_attach(win, memory, PAGE));
	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int to = 0; to < m->size; to++)
		CHECK_OK(m, oriel_put(win, &byte, 1, to, address(m, to) + (size_t)m->rank));
	CHECK_OK(m, oriel_win_fence(win, 0));
	if (m->rank == 0) {
		CHECK_OK(m, oriel_win_detach(win, memory));
		multi_raise(m, STEP, 1);
	}
	multi_await(m, STEP, 1);
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, PAGE);
}

static const struct multi_case cases[] = {
	{ "DW4_DW5_detached_memory", 3, detached_memory },
	{ "DW4_origin_computes", 4, origin_computes },
	{ "DW5_comes_and_goes", 3, comes_and_goes },
	{ "DW5_held_back_in_vain", 2, held_back_in_vain },
	{ "P5_DW5_refused_and_others_late", 3, refused_and_others_late },
	{ "DW6_at_the_same_address", 3, at_the_same_address },
	{ "DW6_DW8_held_back", 2, deferred_ops },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_dynamic_detach",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
