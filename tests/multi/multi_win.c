// SPDX-License-Identifier: BSD-2-Clause
/* multi_win.c - windows: rules W1 to W7 and W9 (W8: multi_memory). */
#include "multi.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "job/job.h"
#include "mem/alloc.h"

enum { FREED, LIVES };

#define GUARD 64 /* bytes around a window's memory that no rank may touch */
#define GUARD_BYTE 0xa5

/*
 * Every rank puts one byte into every rank's window at a displacement of its own, between two
 * fences, and reads it back.
 */
static void exchange_bytes(struct multi *m, oriel_win *win, const size_t first_disp[], uint8_t tag)
{
	uint8_t value = (uint8_t)(tag + oriel_rank(m->job)), got[8];

	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int to = 0; to < m->size; to++)
		CHECK_OK(m, oriel_put(win, &value, 1, to, first_disp[to] + (size_t)m->rank));
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int from = 0; from < m->size; from++)
		CHECK_OK(m, oriel_get(win, &got[from], 1, from, first_disp[from] + (size_t)m->rank));
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int from = 0; from < m->size; from++)
		CHECK(m, got[from] == value);
}

/* W1: base, size, unit and hints are each rank's own. */
static void everything_differs(struct multi *m)
{
	static const size_t sizes[] = { 64, 1000, 5000, 77 }, units[] = { 1, 8, 100, 3 };
	const struct oriel_hint hints[] = { { "no_locks", m->rank % 2 ? "true" : "false" }, { NULL, NULL } };
	const size_t none[4] = { 0 };
	size_t size = sizes[m->rank], unit = units[m->rank];
	uint8_t *memory = multi_alloc(size + 2 * GUARD);
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	oriel_win *win;

	memset(memory, GUARD_BYTE, size + 2 * GUARD);
	CHECK_OK(m, oriel_win_create(memory + GUARD, size, unit, m->rank == 2 ? NULL : hints, m->group, &win));
	CHECK_OK(m, oriel_win_query(win, &info));
	CHECK(m, info.base == memory + GUARD && info.size_bytes == size && info.disp_unit_bytes == unit);
	CHECK(m, oriel_group_size(info.group) == m->size && oriel_group_rank(info.group) == m->rank);
	CHECK(m, info.no_locks == (m->rank == 2 ? 0 : m->rank % 2));
	exchange_bytes(m, win, none, 10);
	for (int from = 0; from < m->size; from++)
		CHECK(m, memory[GUARD + (size_t)from * unit] == 10 + from);
	CHECK(m, multi_all(memory, GUARD, GUARD_BYTE) && multi_all(memory + GUARD + size, GUARD, GUARD_BYTE));
	CHECK_OK(m, oriel_win_free(&win));
	free(memory);
}

/* W2: a rank without memory is an origin like any other, and a target of nothing. */
static void size_zero(struct multi *m)
{
	uint8_t memory[16] = { 0 }, value = (uint8_t)(m->rank + 1), got = 0;
	oriel_win *win;
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };

	if (m->rank == 0)
		CHECK_OK(m, oriel_win_create(NULL, 0, 1, NULL, m->group, &win));
	else if (m->rank == 1)
		CHECK_OK(m, oriel_win_create(memory + 3, 0, 4, NULL, m->group, &win));
	else
		CHECK_OK(m, oriel_win_create(memory, sizeof(memory), 1, NULL, m->group, &win));
	CHECK_OK(m, oriel_win_query(win, &info));
	CHECK(m, info.base == (m->rank == 0 ? NULL : m->rank == 1 ? memory + 3 : memory));
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int to = 0; to < 2; to++) {
		CHECK_OK(m, oriel_put(win, NULL, 0, to, 0));
		CHECK_OK(m, oriel_get(win, NULL, 0, to, 5));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, &value, 1, to, 0));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_get(win, &got, 1, to, 0));
	}
	CHECK_OK(m, oriel_put(win, &value, 1, 2, (size_t)m->rank));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, m->rank != 2 || (memory[0] == 1 && memory[1] == 2 && memory[2] == 3));
	CHECK(m, m->rank == 2 || multi_all(memory, sizeof(memory), 0));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_win_allocate(m->rank ? 8 : 0, 1, NULL, m->group, &info.base, &win));
	CHECK(m, (info.base == NULL) == (m->rank == 0));
	CHECK_OK(m, oriel_win_free(&win));
}

/*
 * W3: units and bases without any alignment; one byte at the first and the last place, and none
 * beside it.
 */
static void displacements_are_exact(struct multi *m)
{
	static const size_t units[] = { 1, 3, 8, 4097 }, shifts[] = { 0, 1, 3, 7, 63 };
	const size_t elements = 5;

	for (size_t u = 0; u < 4; u++) {
		for (size_t s = 0; s < 5; s++) {
			/* The target's unit counts, so the ranks have different ones. */
			size_t unit = units[(u + (size_t)m->rank) % 4], size = unit * elements, bytes = size + 2 * GUARD + 64;
			uint8_t *memory = multi_alloc(bytes), *base = memory + GUARD + shifts[s], value = 1;
			oriel_win *win;

			memset(memory, GUARD_BYTE, bytes);
			CHECK_OK(m, oriel_win_create(base, size, unit, NULL, m->group, &win));
			CHECK_OK(m, oriel_win_fence(win, 0));
			CHECK_OK(m, oriel_put(win, &value, 1, 1 - m->rank, 0));
			CHECK_OK(m, oriel_put(win, &value, 1, 1 - m->rank, elements - 1));
			CHECK_OK(m, oriel_win_fence(win, 0));
			CHECK(m, base[0] == 1 && base[unit * (elements - 1)] == 1);
			base[0] = base[unit * (elements - 1)] = GUARD_BYTE;
			CHECK(m, multi_all(memory, bytes, GUARD_BYTE));
			CHECK_OK(m, oriel_win_free(&win));
			free(memory);
		}
	}
}

static uint8_t static_memory[10000];

static uint8_t *map_file(size_t size_bytes)
{
	char path[] = "/dev/shm/oriel-multi-XXXXXX";
	int fd = mkstemp(path);
	uint8_t *memory = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)size_bytes) == 0)
		memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0) {
		unlink(path);
		close(fd);
	}
	return memory == MAP_FAILED ? NULL : memory;
}

static void use_memory(struct multi *m, uint8_t *memory, size_t size_bytes, uint64_t seed)
{
	uint8_t *data = multi_alloc(size_bytes), *back = multi_alloc(size_bytes);
	oriel_win *win;

	multi_fill(data, size_bytes, seed);
	if (CHECK(m, memory) && CHECK_OK(m, oriel_win_create(memory, size_bytes, 1, NULL, m->group, &win))) {
		CHECK_OK(m, oriel_win_fence(win, 0));
		CHECK_OK(m, oriel_put(win, data, size_bytes, 1 - m->rank, 0));
		CHECK_OK(m, oriel_win_fence(win, 0));
		CHECK(m, multi_holds(memory, size_bytes, seed));
		CHECK_OK(m, oriel_get(win, back, size_bytes, 1 - m->rank, 0));
		CHECK_OK(m, oriel_win_fence(win, 0));
		CHECK(m, multi_holds(back, size_bytes, seed));
		CHECK_OK(m, oriel_win_free(&win));
	}
	free(data);
	free(back);
}

/* W4: heap, stack, static, mapped memory, a mapped file; none of it aligned. */
static void any_memory(struct multi *m)
{
	uint8_t stack_memory[5000], *heap = multi_alloc(30000), *file = map_file(20000);
	uint8_t *anonymous = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	use_memory(m, stack_memory + 1, 4000, 1);
	use_memory(m, heap + 3, 29000, 2);
	use_memory(m, static_memory + 5, 9000, 3);
	use_memory(m, file, 20000, 4);
	use_memory(m, file + 4095, 10000, 5);
	use_memory(m, anonymous + 17, (1 << 20) - 17, 6);
	/* Different kinds at the two ranks. */
	use_memory(m, m->rank ? stack_memory : heap + 1, 4001, 7);
	free(heap);
	munmap(file, 20000);
	munmap(anonymous, 1 << 20);
}

/* Whether the other rank's part is mapped here. */
static bool use_allocated(struct multi *m, size_t size)
{
	uint8_t *data = multi_alloc(size);
	void *base, *there = NULL;
	oriel_win *win;
	size_t bytes, unit, kept = devices_find(&m->job->devices, true) ? CACHED_BYTES_MAX : CACHED_WITH_PAGES_BYTES_MAX;

	multi_fill(data, size, size);
	CHECK_OK(m, oriel_win_allocate(size, 1, NULL, m->group, &base, &win));
	CHECK(m, (uintptr_t)base % (uintptr_t)sysconf(_SC_PAGESIZE) == 0 && multi_all(base, size, 0));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_put(win, data, size, 1 - m->rank, 0));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, multi_holds(base, size, size));
	CHECK_OK(m, oriel_win_shared_query(win, 1 - m->rank, &there, &bytes, &unit));
	CHECK(m, !there || multi_holds(there, size, size));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK(m, size <= kept || msync(base, 1, MS_ASYNC) != 0); /* not mapped any more */
	free(data);
	return there;
}

/*
 * W4: memory of the library: zeroed, also what a window before has had; aligned; gone after free,
 * if it is large.
 */
static void allocated_memory(struct multi *m)
{
	for (size_t size = 1; size < 3000000; size = size * 7 + 3) {
		bool mapped = use_allocated(m, size);

		CHECK(m, use_allocated(m, size) == mapped);
	}
}

/*
 * W4: if one rank cannot have the memory, all get an error, and that rank the reason; and not when
 * it is touched.
 */
static void allocated_memory_that_is_not_there(struct multi *m)
{
	void *base = &base;
	oriel_win *win = NULL;

	CHECK_RC(m, ORIEL_ERR_MEMORY, oriel_win_allocate(m->rank ? (size_t)1 << 46 : 64, 1, NULL, m->group, &base, &win));
	CHECK(m, base == &base && win == NULL);
	if (m->rank == 1) {
		CHECK_TEXT(m, "oriel_win_allocate");
		CHECK_TEXT(m, "70368744177664 bytes");
		CHECK_TEXT(m, "raise that limit");
	}
}

/* W5: the same bytes through three windows, of two groups, one of them over a part. */
static void same_bytes_in_several_windows(struct multi *m)
{
	uint8_t memory[300] = { 0 }, value[3] = { 1, 2, 3 };
	oriel_group *turned = multi_group(m, 2, (int[]){ 1, 0 });
	oriel_win *whole, *again, *part;

	CHECK_OK(m, oriel_win_create(memory, 300, 1, NULL, m->group, &whole));
	CHECK_OK(m, oriel_win_create(memory, 300, 1, NULL, m->group, &again));
	CHECK_OK(m, oriel_win_create(memory + 100, 100, 2, NULL, turned, &part));
	CHECK_OK(m, oriel_win_fence(whole, 0));
	CHECK_OK(m, oriel_win_fence(again, 0));
	CHECK_OK(m, oriel_win_fence(part, 0));
	CHECK_OK(m, oriel_put(whole, &value[0], 1, 1 - m->rank, 100));
	CHECK_OK(m, oriel_put(again, &value[1], 1, 1 - m->rank, 101));
	CHECK_OK(m, oriel_put(part, &value[2], 1, m->rank, 1)); /* the other one, in the turned group */
	CHECK_OK(m, oriel_win_fence(part, 0));
	CHECK_OK(m, oriel_win_fence(again, 0));
	CHECK_OK(m, oriel_win_fence(whole, 0));
	CHECK(m, memory[100] == 1 && memory[101] == 2 && memory[102] == 3);
	CHECK_OK(m, oriel_win_free(&again));
	multi_sync(m);
	CHECK_OK(m, oriel_put(whole, &value[2], 1, 1 - m->rank, 0)); /* one of them is gone, the others are not */
	CHECK_OK(m, oriel_put(part, &value[1], 1, m->rank, 0));
	CHECK_OK(m, oriel_win_fence(part, 0));
	CHECK_OK(m, oriel_win_fence(whole, 0));
	CHECK(m, memory[0] == 3 && memory[100] == 2);
	CHECK_OK(m, oriel_win_free(&whole));
	CHECK_OK(m, oriel_win_free(&part));
	multi_group_drop(m, turned);
}

/* W6: subsets in any order; ranks are those of the group, in put and in what post and start name. */
static void any_subset_in_any_order(struct multi *m)
{
	static const int lists[][4] = {
		{ 3, 1, 2, -1 }, { 2, 0, -1, -1 }, { 1, 3, 0, 2 }, { 3, 2, 1, 0 }, { 0, 2, 3, -1 }
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		int count = 0, mine;
		uint8_t memory[8] = { 0 }, value = (uint8_t)(m->rank + 1);
		oriel_group *group, *next, *before;
		oriel_win *win;

		while (count < 4 && lists[i][count] >= 0)
			count++;
		group = multi_group(m, count, lists[i]);
		mine = oriel_group_rank(group);
		if (mine == ORIEL_RANK_NONE) {
			CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_create(memory, 8, 1, NULL, group, &win));
			multi_group_drop(m, group);
			continue;
		}
		CHECK(m, lists[i][mine] == m->rank);
		CHECK_OK(m, oriel_win_create(memory, 8, 1, NULL, group, &win));
		next = multi_group_one(m, lists[i][(mine + 1) % count]);
		before = multi_group_one(m, lists[i][(mine + count - 1) % count]);
		CHECK_OK(m, oriel_win_post(win, before, 0));
		CHECK_OK(m, oriel_win_start(win, next, 0));
		CHECK_OK(m, oriel_put(win, &value, 1, (mine + 1) % count, 0));
		CHECK_OK(m, oriel_win_complete(win));
		CHECK_OK(m, oriel_win_wait(win));
		CHECK(m, memory[0] == lists[i][(mine + count - 1) % count] + 1);
		CHECK_RC(m, ORIEL_ERR_RANK, oriel_put(win, &value, 1, count, 0));
		CHECK_OK(m, oriel_win_fence(win, 0));
		for (int to = 0; to < count; to++)
			CHECK_OK(m, oriel_put(win, &value, 1, to, (size_t)mine + 1));
		CHECK_OK(m, oriel_win_fence(win, 0));
		for (int from = 0; from < count; from++)
			CHECK(m, memory[1 + from] == lists[i][from] + 1);
		CHECK_OK(m, oriel_win_free(&win));
		multi_group_drop(m, next);
		multi_group_drop(m, before);
		multi_group_drop(m, group);
	}
}

/* W7: free is refused inside epochs, and the window lives on; a quiet fence epoch is no epoch. */
static void free_needs_closed_epochs(struct multi *m)
{
	struct multi_window w;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	oriel_win *before;
	uint8_t value = 9;

	multi_window_open(m, &w, 64);
	before = w.win;
	CHECK_OK(m, oriel_win_post(w.win, other, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
	CHECK_OK(m, oriel_win_start(w.win, other, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
	CHECK(m, w.win == before);
	CHECK_OK(m, oriel_put(w.win, &value, 1, 1 - m->rank, 0));
	CHECK_OK(m, oriel_win_complete(w.win));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
	CHECK_OK(m, oriel_win_wait(w.win));
	CHECK(m, w.base[0] == 9);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_put(w.win, &value, 1, 1 - m->rank, 1));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&w.win));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, w.base[1] == 9);
	multi_window_close(m, &w);
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_free(&w.win));
	multi_group_drop(m, other);
}

/*
 * W7: small puts are copied, so complete returns while they are under way; free waits for them.
 * Afterwards the memory goes away, and what is mapped in its place stays untouched.
 */
static void memory_may_go_after_free(struct multi *m)
{
	const size_t bytes = 8192;
	oriel_group *other = multi_group_one(m, 1 - m->rank);
	uint8_t data[64];

	for (int round = 0; round < 100; round++) {
		uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *again;
		oriel_win *win;

		memset(data, round + 1, sizeof(data));
		if (!CHECK_OK(m, oriel_win_create(memory, bytes, 1, NULL, m->group, &win)))
			break;
		CHECK_OK(m, oriel_win_post(win, other, 0));
		CHECK_OK(m, oriel_win_start(win, other, 0));
		for (size_t at = 0; at < bytes; at += sizeof(data))
			CHECK_OK(m, oriel_put(win, data, sizeof(data), 1 - m->rank, at));
		CHECK_OK(m, oriel_win_complete(win));
		CHECK_OK(m, oriel_win_wait(win));
		CHECK_OK(m, oriel_win_free(&win));
		CHECK(m, multi_all(memory, bytes, (uint8_t)(round + 1)));
		munmap(memory, bytes);
		again = mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		multi_drain(m);
		multi_sync(m);
		CHECK(m, multi_all(again, bytes, 0));
		munmap(again, bytes);
	}
	multi_group_drop(m, other);
}

/* W7: a rank that is late with its last epoch: free at the others waits for it. */
static void free_is_collective(struct multi *m)
{
	struct multi_window w;
	uint8_t value = 1;

	multi_window_open(m, &w, 64);
	if (m->rank == 2) {
		for (int i = 0; i < 2000; i++) { /* calls on the window that need no other rank; any early free would be seen here */
			struct oriel_win_info info = { .struct_bytes = sizeof(info) };

			CHECK_OK(m, oriel_win_query(w.win, &info));
			CHECK(m, multi_word(m, FREED) == 0);
		}
		multi_raise(m, LIVES, 1);
	}
	CHECK_OK(m, oriel_win_free(&w.win));
	multi_raise(m, FREED, 1);
	CHECK(m, multi_word(m, LIVES) == 1);
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_put(w.win, &value, 1, 0, 0));
	free(w.base);
}

/* W9: the known hints are kept, unknown and empty ones ignored. */
static void hints(struct multi *m)
{
	const struct oriel_hint some[] = { { "no_locks", "true" },
		                               { "same_size", "false" },
		                               { "same_disp_unit", "true" },
		                               { "accumulate_ordering", "none" },
		                               { "accumulate_ops", "same_op" },
		                               { "colour", "blue" },
		                               { "no_locks_at_all", "false" },
		                               { "same_size", NULL },
		                               { NULL, NULL } };
	const struct oriel_hint empty[] = { { NULL, NULL } };
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	uint8_t memory[8];
	oriel_win *win;

	CHECK_OK(m, oriel_win_create(memory, 8, 1, some, m->group, &win));
	CHECK_OK(m, oriel_win_query(win, &info));
	CHECK(m, info.no_locks == 1 && info.same_size == 0 && info.same_disp_unit == 1);
	CHECK(m, strcmp(info.accumulate_ordering, "none") == 0 && strcmp(info.accumulate_ops, "same_op") == 0);
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_win_create(memory, 8, 1, empty, m->group, &win));
	CHECK_OK(m, oriel_win_query(win, &info));
	CHECK(m, info.no_locks == 0 && info.same_size == 0 && info.same_disp_unit == 0);
	CHECK(m, strcmp(info.accumulate_ordering, "rar,raw,war,waw") == 0);
	CHECK(m, strcmp(info.accumulate_ops, "same_op_no_op") == 0);
	CHECK_OK(m, oriel_win_free(&win));
}

static const struct multi_case cases[] = {
	{ "W1_everything_differs", 4, everything_differs },
	{ "W2_size_zero", 3, size_zero },
	{ "W3_displacements_are_exact", 2, displacements_are_exact },
	{ "W4_any_memory", 2, any_memory },
	{ "W4_allocated_memory", 2, allocated_memory },
	{ "W4_allocated_memory_that_is_not_there", 2, allocated_memory_that_is_not_there },
	{ "W5_same_bytes_in_several_windows", 2, same_bytes_in_several_windows },
	{ "W6_any_subset_in_any_order", 4, any_subset_in_any_order },
	{ "W7_free_needs_closed_epochs", 2, free_needs_closed_epochs },
	{ "W7_memory_may_go_after_free", 2, memory_may_go_after_free },
	{ "W7_free_is_collective", 3, free_is_collective },
	{ "W9_hints", 2, hints },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_win",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
