// SPDX-License-Identifier: BSD-2-Clause
/* multi_dynamic.c - memory that is attached to dynamic windows: rules DW1 to DW3, DW7, DW8 */
#include <stdlib.h>
#include <string.h>

#include "dynamic_windows.h"

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

/*
 * An element of a list over all ranks, each attached by itself; a place is an address, and its rank
 * above it.
 */
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

/* Appends a node to that one, if it is still the last. Returns the place that it had as its next one. */
static uint64_t append_to(struct multi *m, oriel_win *win, uint64_t last, uint64_t place)
{
	uint64_t none = 0, before = 0;

	CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_SHARED, rank_at(last), 0));
	CHECK_OK(m, oriel_compare_and_swap(win, &place, &none, &before, ORIEL_UINT64, rank_at(last),
	                                   disp_at(last) + offsetof(struct node, next)));
	CHECK_OK(m, oriel_win_unlock(win, rank_at(last)));
	return before;
}

/* Follows the list to its end, and appends there. */
static void append(struct multi *m, oriel_win *win, uint64_t at, uint64_t place)
{
	while (at && !multi_failed(m)) {
		uint64_t next = look_at_node(m, win, at).next;

		at = next ? next : append_to(m, win, at, place);
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

static const struct multi_case cases[] = {
	{ "DW1_DW5_begins_empty", 3, begins_empty },     { "DW1_DW2_attached_memory", 3, attached_memory },
	{ "DW1_read_only_memory", 2, read_only_memory }, { "DW2_memory_of_the_library", 3, memory_of_the_library },
	{ "DW2_list_of_all", 4, list_of_all },           { "DW3_seams", 3, seams },
	{ "DW7_many_regions", 2, many_regions },         { "DW8_other_kinds", 2, other_kinds },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_dynamic",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
