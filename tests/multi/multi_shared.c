// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_shared.c - shared windows and shared_query: rules SW1 to SW5 (SW6: fault_leave)
 *
 * Where ranks are made to be of several nodes (ORIEL_TEST_NODE), the cases run on the caller's.
 */
#include "multi.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct part {
	uint8_t *base;
	size_t size_bytes;
	size_t unit;
};

static struct part ask(struct multi *m, oriel_win *win, int rank)
{
	struct part part = { 0 };
	void *base = NULL;

	CHECK_OK(m, oriel_win_shared_query(win, rank, &base, &part.size_bytes, &part.unit));
	part.base = base;
	return part;
}

/* The ranks that share memory with this one. */
static oriel_group *mine(struct multi *m)
{
	oriel_group *group = NULL;

	CHECK_OK(m, oriel_group_shared(m->group, &group));
	return group;
}

/* SW1: the members of one node, in order; and a window on more than these is refused on all. */
static void who_can_share(struct multi *m)
{
	oriel_group *group = mine(m), *again = NULL;
	int me = oriel_group_rank(group), count = oriel_group_size(group), rank;
	oriel_win *win = NULL;
	void *base;

	CHECK(m, me >= 0 && count >= 1);
	for (int i = 0, last = -1; i < count; i++) {
		CHECK_OK(m, oriel_group_translate(group, 1, &i, m->group, &rank));
		CHECK(m, rank > last);
		last = rank;
	}
	CHECK_OK(m, oriel_group_shared(group, &again));
	CHECK(m, oriel_group_size(again) == count && oriel_group_rank(again) == me);
	CHECK_OK(m, oriel_group_free(&again));
	if (count < m->size) {
		CHECK_RC(m, ORIEL_ERR_SHARED, oriel_win_allocate_shared(64, 1, NULL, m->group, &base, &win));
		CHECK_TEXT(m, "cannot share memory");
		CHECK(m, win == NULL);
	}
	if (CHECK_OK(m, oriel_win_allocate_shared(64, 1, NULL, group, &base, &win)))
		CHECK_OK(m, oriel_win_free(&win));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_group_shared(group, NULL));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_shared(NULL, &again));
	CHECK_OK(m, oriel_group_free(&group));
}

static const size_t sizes[] = { 0, 4097, 24, 0, 100000, 1 };

static size_t size_of(int rank)
{
	return sizes[rank % 6];
}

static oriel_win *open_parts(struct multi *m, const char *noncontig, oriel_group *group, uint8_t **base)
{
	const struct oriel_hint hints[] = { { "alloc_shared_noncontig", noncontig }, { NULL, NULL } };
	int me = oriel_group_rank(group);
	oriel_win *win = NULL;
	void *own = NULL;

	CHECK_OK(m, oriel_win_allocate_shared(size_of(me), (size_t)me + 1, hints, group, &own, &win));
	*base = own;
	return win;
}

/* SW2, SW3: one after the other without a byte between, zeroed, and every rank sees what the others store. */
static void parts_in_order(struct multi *m)
{
	oriel_group *group = mine(m);
	int me = oriel_group_rank(group), count = oriel_group_size(group);
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	uint8_t *base, *end = NULL;
	oriel_win *win = open_parts(m, "false", group, &base);

	CHECK_OK(m, oriel_win_query(win, &info));
	CHECK(m, info.kind == ORIEL_WIN_SHARED && info.base == base && info.size_bytes == size_of(me));
	CHECK(m, multi_all(base, size_of(me), 0));
	CHECK_OK(m, oriel_win_fence(win, 0));
	memset(base, me + 1, size_of(me));
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int i = 0; i < count; i++) {
		struct part part = ask(m, win, i);

		CHECK(m, part.size_bytes == size_of(i) && part.unit == (size_t)i + 1);
		CHECK(m, i == 0 || part.base == end);
		CHECK(m, i != me || part.base == base);
		CHECK(m, multi_all(part.base, part.size_bytes, (uint8_t)(i + 1)));
		end = part.base + part.size_bytes;
	}
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_group_free(&group));
}

/* SW2: with the hint each begins on a page. */
static void parts_on_pages(struct multi *m)
{
	oriel_group *group = mine(m);
	int me = oriel_group_rank(group);
	uint8_t *base;
	oriel_win *win = open_parts(m, "true", group, &base);

	CHECK_OK(m, oriel_win_fence(win, 0));
	memset(base, me + 1, size_of(me));
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int i = 0; i < oriel_group_size(group); i++) {
		struct part part = ask(m, win, i);

		CHECK(m, (uintptr_t)part.base % 4096 == 0 && part.size_bytes == size_of(i));
		CHECK(m, multi_all(part.base, part.size_bytes, (uint8_t)(i + 1)));
	}
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_group_free(&group));
}

/* SW3: the lowest rank that has memory; no rank has any. */
static void lowest_with_memory(struct multi *m)
{
	oriel_group *group = mine(m);
	int me = oriel_group_rank(group), last = oriel_group_size(group) - 1;
	struct part part;
	oriel_win *win;
	void *base;

	CHECK_OK(m, oriel_win_allocate_shared(me == last ? 8 : 0, 4, NULL, group, &base, &win));
	part = ask(m, win, ORIEL_RANK_NONE);
	CHECK(m, part.size_bytes == 8 && part.unit == 4 && part.base == ask(m, win, last).base);
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_shared_query(win, last + 1, &base, &part.size_bytes, &part.unit));
	CHECK_RC(m, ORIEL_ERR_RANK, oriel_win_shared_query(win, -7, &base, &part.size_bytes, &part.unit));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_shared_query(win, 0, NULL, &part.size_bytes, &part.unit));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_win_allocate_shared(0, 1, NULL, group, &base, &win));
	CHECK(m, base == NULL);
	part = ask(m, win, ORIEL_RANK_NONE);
	CHECK(m, part.size_bytes == 0 && part.base == NULL);
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_group_free(&group));
}

/* SW4: other kinds. What is given is the part itself; the answer stays. */
static void other_kinds(struct multi *m)
{
	int right = (m->rank + 1) % m->size;
	struct part first, again;
	uint8_t memory[64];
	oriel_win *win;
	void *base;

	CHECK_OK(m, oriel_win_create(memory, sizeof(memory), 8, NULL, m->group, &win));
	first = ask(m, win, m->rank);
	CHECK(m, first.base == memory && first.size_bytes == sizeof(memory) && first.unit == 8);
	first = ask(m, win, right);
	CHECK(m, first.base == NULL ? first.size_bytes == 0 : first.size_bytes == sizeof(memory));
	CHECK_OK(m, oriel_win_free(&win));

	CHECK_OK(m, oriel_win_allocate(100, 2, NULL, m->group, &base, &win));
	memset(base, 0x40 + m->rank, 100);
	CHECK_OK(m, oriel_win_fence(win, 0));
	first = ask(m, win, right);
	CHECK(m, first.base
	             ? first.size_bytes == 100 && first.unit == 2 && multi_all(first.base, 100, (uint8_t)(0x40 + right))
	             : first.size_bytes == 0);
	again = ask(m, win, right);
	CHECK(m, again.base == first.base && again.size_bytes == first.size_bytes);
	first = ask(m, win, ORIEL_RANK_NONE);
	CHECK(m, first.base && first.size_bytes == 100);
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
}

/*
 * SW5: puts, gets, loads and stores on the same memory, ordered by fences and by post, start,
 * complete, wait.
 */
static void mixed_accesses(struct multi *m)
{
	oriel_group *group = mine(m), *to, *from;
	int me = oriel_group_rank(group), count = oriel_group_size(group), right = (me + 1) % count,
		left = (me + count - 1) % count;
	uint8_t data[3000], got[3000];
	struct part theirs, own;
	oriel_win *win;
	void *base;

	CHECK_OK(m, oriel_group_incl(group, 1, &right, &to));
	CHECK_OK(m, oriel_group_incl(group, 1, &left, &from));
	CHECK_OK(m, oriel_win_allocate_shared(6001, 1, NULL, group, &base, &win));
	theirs = ask(m, win, right);
	own = ask(m, win, me);
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (uint64_t round = 0; round < 20; round++) {
		multi_fill(data, sizeof(data), round * 100 + (uint64_t)me);
		CHECK_OK(m, oriel_put(win, data, sizeof(data), right, 1));
		memcpy(theirs.base + 3001, data, sizeof(data));
		CHECK_OK(m, oriel_win_fence(win, 0));
		CHECK(m, multi_holds(own.base + 1, 3000, round * 100 + (uint64_t)left));
		CHECK(m, multi_holds(own.base + 3001, 3000, round * 100 + (uint64_t)left));
		CHECK_OK(m, oriel_get(win, got, sizeof(got), right, 3001));
		CHECK_OK(m, oriel_win_fence(win, 0));
		CHECK(m, memcmp(got, data, sizeof(data)) == 0);
	}
	CHECK_OK(m, oriel_win_fence(win, ORIEL_MODE_NOSUCCEED));
	for (uint64_t round = 0; round < 20; round++) {
		multi_fill(data, sizeof(data), 7000 + round * 100 + (uint64_t)me);
		CHECK_OK(m, oriel_win_post(win, from, 0));
		CHECK_OK(m, oriel_win_start(win, to, 0));
		CHECK_OK(m, oriel_put(win, data, sizeof(data), right, 1));
		CHECK_OK(m, oriel_win_complete(win));
		CHECK_OK(m, oriel_win_wait(win));
		CHECK(m, multi_holds(own.base + 1, 3000, 7000 + round * 100 + (uint64_t)left));
	}
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_group_free(&to));
	CHECK_OK(m, oriel_group_free(&from));
	CHECK_OK(m, oriel_group_free(&group));
}

#define ELEMENTS 6
#define TURNS 60

/* Numbers at rank 0 of the window: processors, page locks and the target's handler change them. */
struct numbers {
	int64_t words[ELEMENTS];
	double numbers[ELEMENTS];
	multi_rest rest[ELEMENTS];
};

static void raise_each(struct numbers *all)
{
	for (int i = 0; i < ELEMENTS; i++) {
		all->words[i]++;
		all->numbers[i]++;
		all->rest[i] += 1;
	}
}

static void raise_by_operations(struct multi *m, oriel_win *win)
{
	static struct numbers all; /* the put needs it until the unlock */

	CHECK_OK(m, oriel_get(win, &all, sizeof(all), 0, 0));
	CHECK_OK(m, oriel_win_flush(win, 0));
	raise_each(&all);
	CHECK_OK(m, oriel_put(win, &all, sizeof(all), 0, 0));
}

static void raise_by_family(struct multi *m, oriel_win *win)
{
	static const int64_t words[ELEMENTS] = { 1, 1, 1, 1, 1, 1 };
	static const double numbers[ELEMENTS] = { 1, 1, 1, 1, 1, 1 };
	static const multi_rest rest[ELEMENTS] = { 1, 1, 1, 1, 1, 1 };

	CHECK_OK(m, oriel_accumulate(win, words, ELEMENTS, ORIEL_INT64, ORIEL_SUM, 0, offsetof(struct numbers, words)));
	CHECK_OK(m,
	         oriel_accumulate(win, numbers, ELEMENTS, ORIEL_DOUBLE, ORIEL_SUM, 0, offsetof(struct numbers, numbers)));
	CHECK_OK(m, oriel_accumulate(win, rest, ELEMENTS, MULTI_REST, ORIEL_SUM, 0, offsetof(struct numbers, rest)));
}

static bool all_are(const struct numbers *all, int64_t value)
{
	for (int i = 0; i < ELEMENTS; i++) {
		if (all->words[i] != value || all->numbers[i] != (double)value || all->rest[i] != (multi_rest)value)
			return false;
	}
	return true;
}

/*
 * SW5: under one lock by loads and stores, by put and get, and by the family, in turn; readers
 * beside each other load.
 */
static void ordered_by_locks(struct multi *m)
{
	oriel_group *group = mine(m);
	int me = oriel_group_rank(group), count = oriel_group_size(group);
	struct numbers *shared;
	oriel_win *win;
	void *base;

	CHECK_OK(m, oriel_win_allocate_shared(me == 0 ? sizeof(*shared) : 0, 1, NULL, group, &base, &win));
	shared = (struct numbers *)(void *)ask(m, win, 0).base;
	for (int turn = 0; turn < TURNS; turn++) {
		CHECK_OK(m, oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
		CHECK(m, all_are(shared, shared->words[0]));
		if ((turn + me) % 3 == 0)
			raise_each(shared);
		else if ((turn + me) % 3 == 1)
			raise_by_operations(m, win);
		else
			raise_by_family(m, win);
		CHECK_OK(m, oriel_win_unlock(win, 0));
		CHECK_OK(m, turn % 2 ? oriel_win_lock_all(win, 0) : oriel_win_lock(win, ORIEL_LOCK_SHARED, 0, 0));
		CHECK(m, all_are(shared, shared->words[0]) && shared->words[0] > turn);
		CHECK_OK(m, turn % 2 ? oriel_win_unlock_all(win) : oriel_win_unlock(win, 0));
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, all_are(shared, (int64_t)TURNS * count));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_group_free(&group));
}

#define CTRL_MSG_BYTES 1000

/* One rank's letter box: the number of the last letter, and its text. */
struct box {
	uint64_t number;
	uint8_t text[CTRL_MSG_BYTES];
};

/* The text by stores or by put; the number, behind a sync, by a store or by the family. */
static void send_text(struct multi *m, oriel_win *win, int to, struct box *box, uint64_t number)
{
	uint8_t text[CTRL_MSG_BYTES];
	uint64_t before;

	multi_fill(text, sizeof(text), number);
	if (number & 1)
		memcpy(box->text, text, sizeof(text));
	else
		CHECK_OK(m, oriel_put(win, text, sizeof(text), to, offsetof(struct box, text)));
	CHECK_OK(m, oriel_win_flush(win, to));
	CHECK_OK(m, oriel_win_sync(win));
	if (number & 2)
		__atomic_store_n(&box->number, number, __ATOMIC_RELAXED); /* sync orders it */
	else
		CHECK_OK(m, oriel_fetch_and_op(win, &number, &before, ORIEL_UINT64, ORIEL_REPLACE, to, 0));
	CHECK_OK(m, oriel_win_flush(win, to));
}

static void await_text(struct multi *m, oriel_win *win, const struct box *box, uint64_t number)
{
	while (__atomic_load_n(&box->number, __ATOMIC_RELAXED) != number) {
		CHECK_OK(m, oriel_win_sync(win));
		sched_yield();
	}
	CHECK_OK(m, oriel_win_sync(win));
	CHECK(m, multi_holds(box->text, sizeof(box->text), number));
}

/*
 * SW5: inside lock_all, with sync alone between: letters go round, each written over only when it
 * has been read.
 */
static void ordered_by_sync(struct multi *m)
{
	oriel_group *group = mine(m);
	int me = oriel_group_rank(group), right = (me + 1) % oriel_group_size(group);
	struct box *own, *theirs;
	oriel_win *win;
	void *base;

	CHECK_OK(m, oriel_win_allocate_shared(sizeof(struct box), 1, NULL, group, &base, &win));
	own = base;
	theirs = (struct box *)(void *)ask(m, win, right).base;
	CHECK_OK(m, oriel_win_lock_all(win, 0));
	for (uint64_t number = 1; number <= 40; number++) {
		if (me == 0)
			send_text(m, win, right, theirs, number);
		await_text(m, win, own, number);
		if (me != 0)
			send_text(m, win, right, theirs, number);
	}
	CHECK_OK(m, oriel_win_unlock_all(win));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_group_free(&group));
}

/* W8, SW2: many, one after the other, with arguments that are wrong in between. */
static void again_and_again(struct multi *m)
{
	oriel_group *group = mine(m);
	oriel_win *win;
	void *base;

	for (int i = 0; i < 50; i++) {
		CHECK_OK(m, oriel_win_allocate_shared(1000, 1, NULL, group, &base, &win));
		CHECK(m, multi_all(base, 1000, 0));
		memset(base, 0xff, 1000);
		CHECK_OK(m, oriel_win_free(&win));
		CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_allocate_shared(1000, 0, NULL, group, &base, &win));
		CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_allocate_shared(1000, 1, NULL, group, NULL, &win));
		CHECK_RC(m, ORIEL_ERR_MEMORY, oriel_win_allocate_shared(SIZE_MAX / 2, 1, NULL, group, &base, &win));
	}
	CHECK_OK(m, oriel_group_free(&group));
}

static const struct multi_case cases[] = {
	{ "SW1_who_can_share", 0, who_can_share },
	{ "SW2_SW3_parts_in_order", 0, parts_in_order },
	{ "SW2_parts_on_pages", 0, parts_on_pages },
	{ "SW3_lowest_with_memory", 0, lowest_with_memory },
	{ "SW4_other_kinds", 0, other_kinds },
	{ "SW5_mixed_accesses", 0, mixed_accesses },
	{ "SW5_ordered_by_locks", 0, ordered_by_locks },
	{ "SW5_ordered_by_sync", 0, ordered_by_sync },
	{ "W8_SW2_again_and_again", 0, again_and_again },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = { .name = "multi_shared",
		                                          .cases = cases,
		                                          .case_count = sizeof(cases) / sizeof(cases[0]) };

	return multi_main(argc, argv, &program);
}
