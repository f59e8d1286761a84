// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_elements.c - what each operation makes of an element of each type, and what it leaves
 * alone: rules A3 to A6, A8
 *
 * Two ranks accumulate to each other.
 */
#include <float.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "accumulates.h"
#include "op/element.h"

#define NONE_LEFT 0xa5

/* Whether elements are the same; of a number of ten bytes in sixteen the rest does not matter. */
static bool same(enum oriel_type type, const uint8_t *a, const uint8_t *b, size_t bytes)
{
	bool ten = LDBL_MANT_DIG == 64 &&
	           (type == ORIEL_LONG_DOUBLE || type == ORIEL_LONG_DOUBLE_COMPLEX || type == ORIEL_LONG_DOUBLE_INT);

	for (size_t i = 0; i < bytes; i++) {
		if (!(ten && i % 16 >= 10) && a[i] != b[i])
			return false;
	}
	return true;
}

/*
 * A3, A4: every operation on every type, by accumulate and get_accumulate, with what plain code
 * makes of it; what a type does not have is ORIEL_ERR_OP and changes nothing.
 */
static void type_and_op(struct multi *m, struct multi_window *w, enum oriel_type type, enum oriel_op op)
{
	enum { COUNT = 3 };
	size_t bytes = COUNT * oriel_type_bytes(type);
	uint8_t first[COUNT * ELEMENT_BYTES_MAX], second[COUNT * ELEMENT_BYTES_MAX], old[COUNT * ELEMENT_BYTES_MAX];
	uint8_t model[COUNT * ELEMENT_BYTES_MAX];
	int to = (m->rank + 1) % m->size;

	for (size_t i = 0; i < bytes; i++) { /* no NaN and no padding that matters: 1 and 2 in every byte */
		first[i] = 1;
		second[i] = 2;
	}
	CHECK_OK(m, oriel_accumulate(w->win, first, COUNT, type, ORIEL_REPLACE, to, 0));
	if (!oriel_op_legal(op, type)) {
		CHECK_RC(m, ORIEL_ERR_OP, oriel_accumulate(w->win, second, COUNT, type, op, to, 0));
		CHECK_RC(m, ORIEL_ERR_OP, oriel_get_accumulate(w->win, second, old, COUNT, type, op, to, 0));
		CHECK_RC(m, ORIEL_ERR_OP, oriel_fetch_and_op(w->win, second, old, type, op, to, 0));
	} else {
		CHECK_OK(m, oriel_get_accumulate(w->win, second, old, COUNT, type, op, to, 0));
	}
	CHECK_OK(m, oriel_win_fence(w->win, 0));
	memset(model, NONE_LEFT, sizeof(model));
	memset(w->base + 100, NONE_LEFT, sizeof(model));
	element_apply(type, ORIEL_REPLACE, model, first, NULL, COUNT);
	if (oriel_op_legal(op, type)) {
		element_apply(type, op, model, second, NULL, COUNT);
		element_apply(type, ORIEL_REPLACE, w->base + 300, old, NULL, COUNT);
		element_apply(type, ORIEL_REPLACE, w->base + 500, first, NULL, COUNT);
		CHECK(m,
		      memcmp(w->base + 300, w->base + 500, element_span(type, 1)) == 0 || element_types[type].span_bytes > 8);
	}
	element_apply(type, ORIEL_REPLACE, w->base + 100, w->base, NULL, COUNT);
	CHECK(m, same(type, w->base + 100, model, sizeof(model)));
	CHECK_OK(m, oriel_win_fence(w->win, 0));
}

static void types_and_ops(struct multi *m)
{
	struct multi_window w;

	open_allocated(m, &w, 1024, NULL);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int type = ORIEL_INT8; type < ELEMENT_TYPES; type++) {
		for (int op = ORIEL_SUM; element_known((enum oriel_type)type) && op <= ORIEL_NO_OP; op++)
			type_and_op(m, &w, (enum oriel_type)type, (enum oriel_op)op);
	}
	CHECK_RC(m, ORIEL_ERR_OP, oriel_accumulate(w.win, &w, 1, (enum oriel_type)99, ORIEL_SUM, 0, 0));
	CHECK_RC(m, ORIEL_ERR_OP, oriel_accumulate(w.win, &w, 1, ORIEL_INT8, (enum oriel_op)99, 0, 0));
	CHECK_TEXT(m, "99");
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_win_free(&w.win));
}

/*
 * A5: integers wrap, logical operations leave 0 or 1, a NaN is one of two, of equal values the
 * lower index.
 */
static void values(struct multi *m)
{
	static const int8_t large = 127;
	static const uint32_t big = 0x80000001, five = 5;
	static const struct {
		int value, index;
	} here = { 7, 3 };
	const double nan_value = (double)NAN;
	int other = 1 - m->rank;
	struct multi_window w;
	double number = 1.0;
	int32_t pair[2] = { 7, 9 };

	open_allocated(m, &w, 64, NULL);
	w.base[0] = 100;
	memcpy(w.base + 4, &big, sizeof(big));
	memcpy(w.base + 8, &number, sizeof(number));
	memcpy(w.base + 16, &five, sizeof(five));
	memcpy(w.base + 24, pair, sizeof(pair));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_accumulate(w.win, &large, 1, ORIEL_INT8, ORIEL_SUM, other, 0));
	CHECK_OK(m, oriel_accumulate(w.win, &big, 1, ORIEL_UINT32, ORIEL_PROD, other, 4));
	CHECK_OK(m, oriel_accumulate(w.win, &nan_value, 1, ORIEL_DOUBLE, ORIEL_MIN, other, 8));
	CHECK_OK(m, oriel_accumulate(w.win, &big, 1, ORIEL_UINT32, ORIEL_LAND, other, 16));
	CHECK_OK(m, oriel_accumulate(w.win, &here, 1, ORIEL_INT_INT, ORIEL_MAXLOC, other, 24));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	memcpy(&number, w.base + 8, sizeof(number));
	CHECK(m, (int8_t)w.base[0] == -29);
	CHECK(m, w.base[4] == 1 && w.base[5] == 0 && w.base[7] == 0);
	CHECK(m, isnan(number) || number == 1.0);
	CHECK(m, w.base[16] == 1 && w.base[17] == 0);
	CHECK(m, w.base[24] == 7 && w.base[28] == 3);
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* A6: no_op where something is returned, replace everywhere, compare_and_swap for integers and bool. */
static void special_ops(struct multi *m)
{
	static const uint64_t same = 5, next = 8;
	int other = 1 - m->rank;
	uint64_t value = 7, old = 0, compared = 0;
	struct multi_window w;

	open_allocated(m, &w, 64, NULL);
	w.base[0] = 5;
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_RC(m, ORIEL_ERR_OP, oriel_accumulate(w.win, &value, 1, ORIEL_UINT64, ORIEL_NO_OP, other, 0));
	CHECK_TEXT(m, "oriel_fetch_and_op");
	CHECK_OK(m, oriel_fetch_and_op(w.win, NULL, &old, ORIEL_UINT64, ORIEL_NO_OP, other, 0));
	CHECK_OK(m, oriel_win_flush(w.win, other));
	CHECK(m, old == 5);
	multi_sync(m);
	for (int type = ORIEL_INT8; type < ELEMENT_TYPES; type++) {
		bool comparable = type <= ORIEL_BOOL || (type == ORIEL_INT128 && oriel_type_bytes(ORIEL_INT128));
		uint8_t zero[ELEMENT_BYTES_MAX] = { 0 }, was[ELEMENT_BYTES_MAX];

		CHECK_RC(m, comparable ? 0 : ORIEL_ERR_OP,
		         oriel_compare_and_swap(w.win, zero, zero, was, (enum oriel_type)type, other, 32));
		CHECK_OK(m, oriel_win_flush(w.win, other));
	}
	CHECK_OK(m, oriel_compare_and_swap(w.win, &next, &same, &compared, ORIEL_UINT64, other, 0));
	CHECK_OK(m, oriel_get_accumulate(w.win, &value, &old, 1, ORIEL_UINT64, ORIEL_REPLACE, other, 0));
	CHECK_OK(m, oriel_win_flush(w.win, other));
	CHECK(m, compared == 5 && old == 8);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK(m, w.base[0] == 7);
	CHECK_OK(m, oriel_win_free(&w.win));
}

/*
 * A6, A10: of the two halves of an integer of 16 bytes none is compared, swapped or added without
 * the other.
 */
static void large_integers(struct multi *m)
{
#ifdef __SIZEOF_INT128__
	enum { TIMES = 500 };
	__extension__ typedef __int128 int128;
	const int128 step = ((int128)1 << 64) + UINT64_MAX; /* carries */
	int128 old = 0, seen = 0, wanted = -1, wrong;
	struct multi_window w;

	open_allocated(m, &w, 64, NULL);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 0; i < TIMES; i++)
		CHECK_OK(m, oriel_fetch_and_op(w.win, &step, &old, ORIEL_INT128, ORIEL_SUM, 0, 16));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_fetch_and_op(w.win, NULL, &seen, ORIEL_INT128, ORIEL_NO_OP, 0, 16));
	CHECK_OK(m, oriel_win_flush(w.win, 0));
	CHECK(m, seen == m->size * TIMES * step && old < seen && old % step == 0);
	multi_sync(m);
	if (m->rank == 1) {
		wrong = seen & UINT64_MAX; /* the low half alone is as there */
		CHECK_OK(m, oriel_compare_and_swap(w.win, &wanted, &wrong, &old, ORIEL_INT128, 0, 16));
		CHECK_OK(m, oriel_win_flush(w.win, 0));
		CHECK(m, old == seen);
		CHECK_OK(m, oriel_compare_and_swap(w.win, &wanted, &seen, &old, ORIEL_INT128, 0, 16));
		CHECK_OK(m, oriel_win_flush(w.win, 0));
		CHECK(m, old == seen);
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	memcpy(&seen, w.base + 16, sizeof(seen));
	CHECK(m, seen == (m->rank == 0 ? wanted : 0));
	CHECK_OK(m, oriel_win_free(&w.win));
#else
	CHECK(m, oriel_type_bytes(ORIEL_INT128) == 0);
#endif
}

/* A6: memory that its owner may only read is read by no_op, and changed by nothing. */
static void read_only_memory(struct multi *m)
{
	const size_t bytes = 65536;
	uint64_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t old[2] = { 0, 0 }, one = 1;
	oriel_win *win;

	for (uint64_t i = 0; i < bytes / sizeof(*memory); i++)
		memory[i] = i + 100;
	mprotect(memory, bytes, PROT_READ);
	CHECK_OK(m, oriel_win_create(memory, bytes, sizeof(*memory), NULL, m->group, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	for (int to = 0; to < m->size; to++) {
		CHECK_OK(m, oriel_fetch_and_op(win, NULL, &old[0], ORIEL_UINT64, ORIEL_NO_OP, to, 5));
		CHECK_OK(m, oriel_get_accumulate(win, NULL, &old[1], 2, ORIEL_INT32, ORIEL_NO_OP, to, 6));
		CHECK_OK(m, oriel_win_flush(win, to));
		CHECK(m, old[0] == 105 && old[1] == 106);
		CHECK_RC(m, ORIEL_ERR_ACCESS, oriel_accumulate(win, &one, 1, ORIEL_UINT64, ORIEL_SUM, to, 5));
		CHECK_RC(m, ORIEL_ERR_ACCESS, oriel_compare_and_swap(win, &one, &one, &old[0], ORIEL_UINT64, to, 5));
	}
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_win_free(&win));
	munmap(memory, bytes);
}

/* A8: the padding of a pair stays, and that of the last may lie outside the window. */
static void padding(struct multi *m)
{
	struct pair {
		long value;
		int index;
	} pairs[2], old[2];
	_Alignas(64) struct {
		struct pair two[2];
	} memory;
	const size_t end = sizeof(struct pair) + offsetof(struct pair, index) + sizeof(int);
	int to = 1 - m->rank;
	oriel_win *win;

	memset(&memory, NONE_LEFT, sizeof(memory));
	memset(old, NONE_LEFT, sizeof(old));
	memset(pairs, 0, sizeof(pairs));
	pairs[0].value = pairs[1].value = 1;
	pairs[1].index = 2;
	CHECK_OK(m, oriel_win_create(&memory, end, 1, NULL, m->group, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_get_accumulate(win, pairs, old, 2, ORIEL_LONG_INT, ORIEL_REPLACE, to, 0));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_accumulate(win, pairs, 2, ORIEL_LONG_INT, ORIEL_MAXLOC, to, 1));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, memory.two[0].value == 1 && memory.two[1].index == 2);
	CHECK(m, multi_all((uint8_t *)&memory.two[0] + 12, 4, NONE_LEFT));
	CHECK(m, multi_all((uint8_t *)&memory.two[1] + 12, 4, NONE_LEFT));
	CHECK(m, multi_all((uint8_t *)&old[0] + 12, 4, NONE_LEFT));
	CHECK_OK(m, oriel_win_free(&win));
}

static const struct multi_case cases[] = {
	{ "A3_every_type_A4_and_op", 2, types_and_ops },
	{ "A5_values", 2, values },
	{ "A6_no_op_replace_and_what_is_compared", 2, special_ops },
	{ "A6_no_op_reads_read_only_memory", 2, read_only_memory },
	{ "A6_A10_integers_of_16_bytes", 2, large_integers },
	{ "A8_padding_stays", 2, padding },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_elements",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
