// SPDX-License-Identifier: BSD-2-Clause
/* multi_dynamic.c - dynamic windows: rules DW1 to DW8. */
#include "multi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE ((size_t)4096)

/* Words of the board: addresses of ranks, and steps. */
enum { ADDRESS, STEP = MULTI_WORDS / 2 };

static oriel_win *open_dynamic(struct multi *m)
{
	oriel_win *win = NULL;

	CHECK_OK(m, oriel_win_create_dynamic(NULL, m->group, &win));
	return win;
}

static uint8_t *map_pages(size_t pages)
{
	uint8_t *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Other memory at the same address. */
static void map_anew(struct multi *m, uint8_t *memory, size_t size_bytes)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	munmap(memory, size_bytes);
	CHECK(m, mmap(memory, size_bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == memory);
}

/* Tell the address of this rank's memory, and learn that of another. */
static void tell(struct multi *m, const void *memory)
{
	multi_raise(m, ADDRESS + m->rank, (uintptr_t)memory);
	multi_sync(m);
}

static size_t address(struct multi *m, int rank)
{
	return (size_t)multi_word(m, ADDRESS + rank);
}

static int right_of(const struct multi *m)
{
	return (m->rank + 1) % m->size;
}

static uint64_t left_of(const struct multi *m)
{
	return (uint64_t)((m->rank + m->size - 1) % m->size);
}

/* DW1, DW5: a new window has no memory, whatever the address; a failed operation harms nothing. */
static void begins_empty(struct multi *m)
{
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	oriel_win *win = open_dynamic(m);
	uint8_t byte = 1, memory[16] = { 0 };

	CHECK_OK(m, oriel_win_query(win, &info));
	CHECK(m, info.kind == ORIEL_WIN_DYNAMIC && info.base == NULL && info.size_bytes == 0 && info.disp_unit_bytes == 1);
	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int to = 0; to < m->size; to++) {
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, &byte, 1, to, address(m, to)));
		CHECK_TEXT(m, "attached to its window; the displacement is an address at the target");
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_get(win, &byte, 1, to, 0));
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_get(win, &byte, 1, to, SIZE_MAX));
		CHECK_OK(m, oriel_put(win, NULL, 0, to, 12345));
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, multi_all(memory, sizeof(memory), 0));
	CHECK_OK(m, oriel_win_free(&win));
}

/* DW1, DW2: attached at any time, reached by its address; of no bytes, and read-only. */
static void attached_memory(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = multi_alloc(20000), data[10000], got[10000];
	int right = right_of(m);

	memset(memory, 0, 20000);
	multi_fill(data, sizeof(data), (uint64_t)m->rank);
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_attach(win, memory + 1, 19998));
	CHECK_OK(m, oriel_win_attach(win, memory + 7, 0));
	tell(m, memory);
	CHECK_OK(m, oriel_put(win, data, sizeof(data), right, address(m, right) + 3));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, data, 1, right, address(m, right)));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, data, 1, right, address(m, right) + 19999));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, data, 2, right, address(m, right) + 19998));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, multi_holds(memory + 3, sizeof(data), left_of(m)));
	CHECK_OK(m, oriel_get(win, got, sizeof(got), right, address(m, right) + 3));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, memcmp(got, data, sizeof(data)) == 0);
	CHECK_OK(m, oriel_win_detach(win, memory + 7));
	CHECK_OK(m, oriel_win_free(&win));
	free(memory);
}

/* DW1: memory that its owner may only read can be got from. */
static void read_only_memory(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = map_pages(2), got[100];
	struct oriel_origin_piece piece = { got, 100 };
	int right = right_of(m);

	memset(memory, 0x30 + m->rank, 2 * PAGE);
	mprotect(memory, PAGE, PROT_READ);
	CHECK_OK(m, oriel_win_attach(win, memory, PAGE));
	CHECK_OK(m, oriel_win_attach(win, memory + PAGE, PAGE));
	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_get(win, got, 100, right, address(m, right) + PAGE - 50));
	CHECK_OK(m, oriel_win_flush(win, ORIEL_RANK_ALL));
	CHECK(m, multi_all(got, 100, (uint8_t)(0x30 + right)));
	CHECK_RC(m, ORIEL_ERR_ACCESS, oriel_put(win, got, 100, right, address(m, right) + PAGE - 50));
	CHECK_RC(m, ORIEL_ERR_ACCESS,
	         oriel_putv(win, &piece, 1, right, &(struct oriel_target_piece){ address(m, right), 100 }, 1));
	CHECK_OK(m, oriel_put(win, got, 100, right, address(m, right) + PAGE));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, 2 * PAGE);
}

#define NODES 50 /* that a rank appends, at most */

/* An element of a list over all ranks, each attached by itself; a place is an address, and its rank above it. */
struct node {
	uint64_t next; /* a place; 0: it is the last */
	uint64_t value;
};

#define PLACE_RANK_SHIFT 56

static uint64_t place_of(const struct multi *m, const struct node *node)
{
	return (uint64_t)m->rank << PLACE_RANK_SHIFT | (uintptr_t)node;
}

static int rank_at(uint64_t place)
{
	return (int)(place >> PLACE_RANK_SHIFT);
}

static size_t disp_at(uint64_t place)
{
	return (size_t)(place & ((UINT64_C(1) << PLACE_RANK_SHIFT) - 1));
}

static struct node *make_node(struct multi *m, oriel_win *win, uint64_t value)
{
	struct node *node = multi_alloc(sizeof(*node));

	*node = (struct node){ .value = value };
	CHECK_OK(m, oriel_win_attach(win, node, sizeof(*node)));
	return node;
}

static struct node look_at_node(struct multi *m, oriel_win *win, uint64_t place)
{
	struct node node = { 0, 0 };

	CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_SHARED, rank_at(place), 0));
	CHECK_OK(m, oriel_get(win, &node, sizeof(node), rank_at(place), disp_at(place)));
	CHECK_OK(m, oriel_win_unlock(win, rank_at(place)));
	return node;
}

/* Hang a node behind that one, if it is still the last: what was behind it before. */
static uint64_t hang_behind(struct multi *m, oriel_win *win, uint64_t last, uint64_t place)
{
	uint64_t none = 0, before = 0;

	CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_SHARED, rank_at(last), 0));
	CHECK_OK(m, oriel_compare_and_swap(win, &place, &none, &before, ORIEL_UINT64, rank_at(last),
	                                   disp_at(last) + offsetof(struct node, next)));
	CHECK_OK(m, oriel_win_unlock(win, rank_at(last)));
	return before;
}

/* Follow the list to its end, and append there. */
static void append(struct multi *m, oriel_win *win, uint64_t at, uint64_t place)
{
	while (at && !multi_failed(m)) {
		uint64_t next = look_at_node(m, win, at).next;

		at = next ? next : hang_behind(m, win, at, place);
	}
}

static uint64_t sum_of_list(struct multi *m, oriel_win *win, uint64_t at)
{
	uint64_t sum = 0;

	while (at && !multi_failed(m)) {
		struct node node = look_at_node(m, win, at);

		sum += node.value;
		at = node.next;
	}
	return sum;
}

/* DW2: what a rank hangs into a list is reached by others at once, while they read what else it attaches. */
static void list_of_all(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	const uint64_t count = multi_over_card() ? 12 : NODES;
	struct node *nodes[NODES + 1];
	uint64_t ranks = (uint64_t)m->size, head;

	nodes[0] = make_node(m, win, 0);
	multi_raise(m, ADDRESS + m->rank, place_of(m, nodes[0]));
	multi_sync(m);
	head = multi_word(m, ADDRESS);
	for (uint64_t i = 1; i <= count; i++) {
		nodes[i] = make_node(m, win, i);
		append(m, win, head, place_of(m, nodes[i]));
	}
	if (multi_failed(m))
		multi_raise(m, STEP, 1); /* its nodes are missing */
	multi_sync(m);
	if (!multi_word(m, STEP))
		CHECK(m, sum_of_list(m, win, head) == ranks * count * (count + 1) / 2);
	multi_sync(m);
	CHECK_OK(m, oriel_win_free(&win));
	for (uint64_t i = 0; i <= count; i++)
		free(nodes[i]);
}

/* DW3: regions that overlap are refused, those that touch are one for an operation. */
static void seams(struct multi *m)
{
	oriel_win *win = open_dynamic(m), *other = open_dynamic(m);
	uint8_t *memory = multi_alloc(30000), data[30000], got[30000];
	int right = right_of(m);

	memset(memory, 0, 30000);
	CHECK_OK(m, oriel_win_attach(win, memory + 10000, 10000));
	CHECK_RC(m, ORIEL_ERR_ATTACH, oriel_win_attach(win, memory + 10000, 10000));
	CHECK_RC(m, ORIEL_ERR_ATTACH, oriel_win_attach(win, memory + 9999, 2));
	CHECK_RC(m, ORIEL_ERR_ATTACH, oriel_win_attach(win, memory + 19999, 1));
	CHECK_RC(m, ORIEL_ERR_ATTACH, oriel_win_attach(win, memory, 30000));
	CHECK_RC(m, ORIEL_ERR_ATTACH, oriel_win_attach(win, memory + 12000, 5));
	CHECK_OK(m, oriel_win_attach(win, memory + 20000, 9999));
	CHECK_OK(m, oriel_win_attach(win, memory, 10000));
	CHECK_OK(m, oriel_win_attach(other, memory, 30000));
	multi_fill(data, sizeof(data), (uint64_t)m->rank);
	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_put(win, data, 29999, right, address(m, right)));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, data, 30000, right, address(m, right)));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, multi_holds(memory, 29999, left_of(m)) && memory[29999] == 0);
	CHECK_OK(m, oriel_win_fence(other, 0));
	CHECK_OK(m, oriel_get(other, got, 29999, right, address(m, right)));
	CHECK_OK(m, oriel_win_fence(other, 0));
	CHECK(m, memcmp(got, data, 29999) == 0);
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_win_free(&other));
	free(memory);
}

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

#define MANY 65536
#define MANY_CARD 4096
#define STRIDE 48

/* DW7: that many, in any order of attaching; each is reached. There is no room for one more than MANY. */
static void many_regions(struct multi *m)
{
	const size_t many = multi_over_card() ? MANY_CARD : MANY;
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = multi_alloc((many + 1) * STRIDE);
	uint32_t number, got;
	int rc = 0;

	memset(memory, 0, (many + 1) * STRIDE);
	for (size_t i = 0; m->rank == 0 && rc == 0 && i < many; i++) {
		size_t at = (i * 40503) % many; /* an odd number: each once */

		memcpy(memory + at * STRIDE, &(uint32_t){ (uint32_t)at }, sizeof(number));
		rc = oriel_win_attach(win, memory + at * STRIDE, 8);
	}
	if (rc == ORIEL_ERR_MEMORY)
		multi_skip(m, "the device has no room: %s", oriel_last_error());
	else if (CHECK(m, rc == 0) && m->rank == 0 && many == MANY)
		CHECK_RC(m, ORIEL_ERR_LIMIT, oriel_win_attach(win, memory + MANY * STRIDE, 8));
	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (number = 0; rc == 0 && number < many && !multi_failed(m); number += 97) {
		CHECK_OK(m, oriel_get(win, &got, sizeof(got), 0, address(m, 0) + number * STRIDE));
		CHECK_OK(m, oriel_win_flush(win, 0));
		CHECK(m, got == number);
	}
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_get(win, &got, 4, 0, address(m, 0) + 6));
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (size_t i = 0; m->rank == 0 && i < 20 && rc == 0; i++)
		CHECK_OK(m, oriel_win_detach(win, memory + i * STRIDE));
	multi_sync(m);
	if (rc == 0) {
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_get(win, &got, 4, 0, address(m, 0) + 19 * STRIDE));
		CHECK_OK(m, oriel_get(win, &got, 4, 0, address(m, 0) + 20 * STRIDE));
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, rc || got == 20);
	CHECK_OK(m, oriel_win_free(&win));
	free(memory);
}

/* DW8: attach and detach are for dynamic windows. */
static void other_kinds(struct multi *m)
{
	uint8_t memory[64], *none = NULL;
	oriel_win *win, *dynamic = open_dynamic(m);
	void *base;

	CHECK_OK(m, oriel_win_create(memory, sizeof(memory), 1, NULL, m->group, &win));
	CHECK_RC(m, ORIEL_ERR_KIND, oriel_win_attach(win, memory, 8));
	CHECK_RC(m, ORIEL_ERR_KIND, oriel_win_detach(win, memory));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_attach(NULL, memory, 8));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_attach(dynamic, none, 8));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_attach(dynamic, memory, SIZE_MAX));
	CHECK_OK(m, oriel_win_allocate(64, 1, NULL, m->group, &base, &win));
	CHECK_RC(m, ORIEL_ERR_KIND, oriel_win_attach(win, memory, 8));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_win_free(&dynamic));
}

/* W4, DW2: memory that ranks of the node can map. */
static void memory_of_the_library(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	uint8_t *memory = oriel_alloc(m->job, 3 * PAGE), data[2 * PAGE];
	int right = right_of(m);

	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (size_t i = 0; i < 20; i++) {
		multi_fill(data, sizeof(data), i * 10 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_win_attach(win, memory, PAGE));
		CHECK_OK(m, oriel_win_attach(win, memory + PAGE, 2 * PAGE));
		multi_sync(m);
		CHECK_OK(m, oriel_put(win, data, sizeof(data), right, address(m, right) + PAGE / 2));
		CHECK_OK(m, oriel_win_fence(win, 0));
		CHECK(m, multi_holds(memory + PAGE / 2, sizeof(data), i * 10 + left_of(m)));
		CHECK_OK(m, oriel_win_detach(win, memory + PAGE));
		CHECK_OK(m, oriel_win_detach(win, memory));
		multi_sync(m);
		CHECK_RC(m, ORIEL_ERR_RANGE, oriel_put(win, data, 1, right, address(m, right)));
		multi_sync(m);
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_free(m->job, memory));
}

/*
 * DW8: accumulates, where memory is mapped; a device whose ranks cannot map it says that they are not for it, or
 * applies them at the target.
 */
static void accumulates(struct multi *m)
{
	oriel_win *win = open_dynamic(m);
	int64_t *memory = oriel_alloc(m->job, PAGE), one = 1, old = 0;
	uint64_t done = 0;

	CHECK_OK(m, oriel_win_attach(win, memory + 8, PAGE - 64));
	tell(m, memory);
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_accumulate(win, &one, 1, ORIEL_INT64, ORIEL_SUM, 0, address(m, 0) + 56));
	for (int i = 0; i < 1000; i++) {
		int rc = oriel_fetch_and_op(win, &one, &old, ORIEL_INT64, ORIEL_SUM, 0, address(m, 0) + 64);

		CHECK(m, rc == 0 || rc == ORIEL_ERR_OP);
		done += rc == 0;
	}
	multi_raise(m, STEP + m->rank, done + 1);
	CHECK_OK(m, oriel_win_fence(win, 0));
	multi_sync(m);
	for (int i = 0; i < m->size; i++)
		done += i == 0 ? 0 : multi_word(m, STEP + i) - 1;
	CHECK(m, m->rank != 0 || (uint64_t)memory[8] == done);
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_free(m->job, memory));
}

/* DW8: what the target has to apply, in mapped and in private memory, at any alignment and across a seam. */
static void accumulates_at_the_target(struct multi *m)
{
	uint8_t *memory[2] = { oriel_alloc(m->job, PAGE), map_pages(1) };
	multi_rest one = 1, sum;

	for (int i = 0; i < 2; i++) {
		oriel_win *win = open_dynamic(m);

		memset(memory[i], 0, PAGE);
		CHECK_OK(m, oriel_win_attach(win, memory[i], 24));
		CHECK_OK(m, oriel_win_attach(win, memory[i] + 24, 100));
		multi_raise(m, ADDRESS + i * m->size + m->rank, (uintptr_t)memory[i]);
		multi_sync(m);
		CHECK_OK(m, oriel_win_fence(win, 0));
		for (int n = 0; n < 50; n++)
			CHECK_OK(m, oriel_accumulate(win, &one, 1, MULTI_REST, ORIEL_SUM, 0,
			                             (size_t)multi_word(m, ADDRESS + i * m->size) + 17));
		CHECK_OK(m, oriel_win_fence(win, 0));
		memcpy(&sum, memory[i] + 17, sizeof(sum));
		CHECK(m, m->rank != 0 || sum == 50 * m->size);
		CHECK_OK(m, oriel_win_free(&win));
	}
	CHECK_OK(m, oriel_free(m->job, memory[0]));
	munmap(memory[1], PAGE);
}

/*
 * A window with a page that ranks of the node can map and one that they cannot; the ranks exchange
 * addresses.
 */
struct pages {
	oriel_win *win;
	uint8_t *memory[2];
};

static void open_pages(struct multi *m, struct pages *pages)
{
	static const struct oriel_hint hints[] = { { "signals", "2" }, { NULL, NULL } };

	*pages = (struct pages){ .memory = { oriel_alloc(m->job, PAGE), map_pages(1) } };
	CHECK_OK(m, oriel_win_create_dynamic(hints, m->group, &pages->win));
	for (int i = 0; i < 2; i++) {
		memset(pages->memory[i], 0, PAGE);
		CHECK_OK(m, oriel_win_attach(pages->win, pages->memory[i], PAGE));
		multi_raise(m, ADDRESS + i * m->size + m->rank, (uintptr_t)pages->memory[i]);
	}
	multi_sync(m);
}

static size_t page_of(struct multi *m, int rank, int i)
{
	return (size_t)multi_word(m, ADDRESS + i * m->size + rank);
}

static void close_pages(struct multi *m, struct pages *pages)
{
	CHECK_OK(m, oriel_win_free(&pages->win));
	CHECK_OK(m, oriel_free(m->job, pages->memory[0]));
	munmap(pages->memory[1], PAGE);
}

static void await_signal(struct multi *m, struct pages *pages, uint32_t signal)
{
	uint32_t which = 9;
	uint64_t value = 0;

	CHECK_OK(m, oriel_signal_wait(pages->win, signal, 1, &which, &value));
	CHECK(m, which == signal);
}

/* Behind one operation of each way to either page. */
static void signal_rounds(struct multi *m, struct pages *pages)
{
	int right = right_of(m), left = (int)left_of(m);
	multi_rest one = 1, sum;
	int64_t two = 2;

	for (uint64_t round = 1; round <= 20; round++) {
		for (int i = 0; i < 2; i++) {
			size_t there = page_of(m, right, i);

			CHECK_OK(m, oriel_put(pages->win, &round, sizeof(round), right, there));
			CHECK_OK(m, oriel_accumulate(pages->win, &two, 1, ORIEL_INT64, ORIEL_SUM, right, there + 64));
			CHECK_OK(m, oriel_accumulate(pages->win, &one, 1, MULTI_REST, ORIEL_SUM, right, there + 128));
		}
		CHECK_OK(m, oriel_signal(pages->win, right, 0, 1, round % 2 ? ORIEL_SIGNAL_SET : ORIEL_SIGNAL_ADD));
		await_signal(m, pages, 0);
		for (int i = 0; i < 2; i++) {
			const uint64_t *words = (const uint64_t *)(const void *)pages->memory[i];

			memcpy(&sum, pages->memory[i] + 128, sizeof(sum));
			CHECK(m, words[0] == round && words[8] == 2 * round && sum == (multi_rest)round);
		}
		CHECK_OK(m, oriel_signal(pages->win, left, 1, 1, ORIEL_SIGNAL_ADD)); /* the right one may go on */
		await_signal(m, pages, 1);
	}
}

/* DW8, N2: a signal follows puts and accumulates of every way. */
static void signals_follow(struct multi *m)
{
	struct pages pages;

	open_pages(m, &pages);
	CHECK_OK(m, oriel_win_lock_all(pages.win, 0));
	signal_rounds(m, &pages);
	CHECK_OK(m, oriel_win_unlock_all(pages.win));
	close_pages(m, &pages);
}

/* Read, change and write back a number in either page; they stay alike. */
static void count_locked(struct multi *m, struct pages *pages)
{
	uint64_t number[2];

	CHECK_OK(m, oriel_win_lock(pages->win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	for (int i = 0; i < 2; i++)
		CHECK_OK(m, oriel_get(pages->win, &number[i], sizeof(number[i]), 0, page_of(m, 0, i)));
	CHECK_OK(m, oriel_win_flush(pages->win, 0));
	CHECK(m, number[0] == number[1]);
	for (int i = 0; i < 2; i++) {
		number[i]++;
		CHECK_OK(m, oriel_put(pages->win, &number[i], sizeof(number[i]), 0, page_of(m, 0, i)));
	}
	CHECK_OK(m, oriel_win_unlock(pages->win, 0));
}

/* DW8, L1: a lock protects all that the rank has attached. */
static void locks_protect_all(struct multi *m)
{
	struct pages pages;

	open_pages(m, &pages);
	for (int i = 0; i < 50; i++)
		count_locked(m, &pages);
	multi_sync(m);
	CHECK_OK(m, oriel_win_lock(pages.win, ORIEL_LOCK_SHARED, m->rank, 0));
	for (int i = 0; m->rank == 0 && i < 2; i++)
		CHECK(m, *(const uint64_t *)(const void *)pages.memory[i] == 50 * (uint64_t)m->size);
	CHECK_OK(m, oriel_win_unlock(pages.win, m->rank));
	close_pages(m, &pages);
}

static const struct multi_case cases[] = {
	{ "DW1_DW5_begins_empty", 3, begins_empty },
	{ "DW1_DW2_attached_memory", 3, attached_memory },
	{ "DW1_read_only_memory", 2, read_only_memory },
	{ "DW2_memory_of_the_library", 3, memory_of_the_library },
	{ "DW2_list_of_all", 4, list_of_all },
	{ "DW3_seams", 3, seams },
	{ "DW4_DW5_detached_memory", 3, detached_memory },
	{ "DW4_origin_computes", 4, origin_computes },
	{ "DW5_comes_and_goes", 3, comes_and_goes },
	{ "DW5_held_back_in_vain", 2, held_back_in_vain },
	{ "P5_DW5_refused_and_others_late", 3, refused_and_others_late },
	{ "DW6_at_the_same_address", 3, at_the_same_address },
	{ "DW6_DW8_held_back", 2, deferred_ops },
	{ "DW7_many_regions", 2, many_regions },
	{ "DW8_accumulates", 3, accumulates },
	{ "DW8_accumulates_at_the_target", 3, accumulates_at_the_target },
	{ "DW8_N2_signals_follow", 3, signals_follow },
	{ "DW8_L1_locks_protect_all", 0, locks_protect_all },
	{ "DW8_other_kinds", 2, other_kinds },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = { .name = "multi_dynamic",
		                                          .cases = cases,
		                                          .case_count = sizeof(cases) / sizeof(cases[0]) };

	return multi_main(argc, argv, &program);
}
