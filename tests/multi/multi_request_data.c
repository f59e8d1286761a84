// SPDX-License-Identifier: BSD-2-Clause
/* multi_request_data.c - what is complete with a request, for each operation: rules R3 to R5 */
#include "request_windows.h"

#include <stdlib.h>

#define PIECES 100
#define OPEN 40 /* requests at a time */

static void only_tests(struct multi *m, struct window *w)
{
	uint8_t *back = multi_alloc(BYTES);

	multi_fill(w->base, BYTES, (uint64_t)m->rank);
	multi_sync(m);
	for (size_t i = 0; i < SIZES; i++) {
		oriel_request request;

		memset(back, 0, sizes[i]);
		CHECK_OK(m, oriel_get(w->win, back, sizes[i], w->right, w->at));
		CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &request));
		test_until_complete(m, &request);
		CHECK(m, multi_holds(back, sizes[i], (uint64_t)w->right));
		CHECK(m, is_complete(m, &request));
	}
	multi_sync(m);
	for (size_t i = 0; i < SIZES; i++) {
		oriel_request request;

		multi_fill(back, sizes[i], i * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_put(w->win, back, sizes[i], w->right, w->at + AT));
		CHECK_OK(m, oriel_win_iflush(w->win, w->right, &request));
		test_until_complete(m, &request);
		check_put(m, w, sizes[i], i * 100 + w->left);
	}
	free(back);
}

/* R3: tested again and again it becomes true without any other call. */
static void test_becomes_true(struct multi *m)
{
	on_windows(m, only_tests);
}

static void small_puts(struct multi *m, struct window *w)
{
	uint8_t data[1000] = { 0 }; /* copied by every device, among other puts too */
	oriel_request request;

	CHECK_OK(m, oriel_put(w->win, data, 8, w->right, w->at));
	CHECK_OK(m, oriel_win_flush(w->win, w->right)); /* the lock of lock_all is held from here on */
	for (int i = 0; i < 10; i++) {
		CHECK_OK(m, oriel_put(w->win, data, i % 2 ? sizeof(data) : 8, w->right, w->at));
		CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &request));
		CHECK(m, is_complete(m, &request));
	}
}

/* R3: the buffer of a put that is copied is free at once, without an answer of the target. */
static void copied_puts_wait_for_nobody(struct multi *m)
{
	on_windows(m, small_puts);
}

static void put_rounds(struct multi *m, struct window *w)
{
	uint8_t *data = multi_alloc(BYTES);

	for (uint64_t round = 0; round < 2 * SIZES; round++) {
		size_t size = sizes[round % SIZES];

		multi_fill(data, size, round * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_put(w->win, data, size, w->right, w->at + AT));
		complete_local(m, w);
		memset(data, 0xee, size); /* it is the program's again */
		if (round % 2)
			complete_both(m, w);
		else
			CHECK_OK(m, oriel_win_flush(w->win, w->right));
		check_put(m, w, size, round * 100 + w->left);
	}
	free(data);
}

/* R4, R3: put buffers may be reused, whatever the size. */
static void put_buffers_are_free(struct multi *m)
{
	on_windows(m, put_rounds);
}

static void get_rounds(struct multi *m, struct window *w)
{
	uint8_t *back = multi_alloc(BYTES);

	for (uint64_t round = 0; round < 3 * SIZES; round++) {
		size_t size = sizes[round % SIZES];

		multi_fill(w->base, size, round * 100 + (uint64_t)m->rank);
		multi_sync(m);
		memset(back, 0xee, size);
		CHECK_OK(m, oriel_get(w->win, back, size, w->right, w->at));
		complete_local(m, w);
		CHECK(m, multi_holds(back, size, round * 100 + (uint64_t)w->right));
		multi_sync(m);
	}
	free(back);
}

/* R4, R3: got data is there, whatever the size. */
static void got_data_is_there(struct multi *m)
{
	on_windows(m, get_rounds);
}

/* A list of pieces of one size, apart at both sides. */
struct shape {
	int count;
	size_t piece_bytes;
};

static const struct shape shapes[] = { { 1, 3000 }, { 16, 8 }, { PIECES, 40 }, { 3, 24 }, { 7, 9000 } };
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))
#define SHAPES_OF_ELEMENTS (SHAPES - 1) /* that a card may have to change one by one */

struct pieces {
	struct oriel_origin_piece origin[PIECES];
	struct oriel_target_piece target[PIECES];
};

static void lay_out(struct pieces *p, const struct shape *shape, uint8_t *data, size_t disp)
{
	for (int i = 0; i < shape->count; i++) {
		p->origin[i] = (struct oriel_origin_piece){ data + (size_t)i * (shape->piece_bytes + 8), shape->piece_bytes };
		p->target[i] = (struct oriel_target_piece){ disp + (size_t)i * (shape->piece_bytes + 16), shape->piece_bytes };
	}
}

static uint64_t piece_seed(size_t s, int i, int rank)
{
	return s * 10000 + (uint64_t)i * 100 + (uint64_t)rank;
}

static void vector_rounds(struct multi *m, struct window *w)
{
	uint8_t *data = multi_alloc(BYTES);
	struct pieces p;

	for (size_t s = 0; s < SHAPES; s++) {
		const struct shape *shape = &shapes[s];

		lay_out(&p, shape, data, w->at + 8);
		for (int i = 0; i < shape->count; i++)
			multi_fill(p.origin[i].addr, shape->piece_bytes, piece_seed(s, i, m->rank));
		CHECK_OK(m, oriel_putv(w->win, p.origin, shape->count, w->right, p.target, shape->count));
		complete_local(m, w);
		memset(data, 0xee, BYTES);
		CHECK_OK(m, oriel_win_flush(w->win, w->right));
		CHECK_OK(m, oriel_getv(w->win, p.origin, shape->count, w->right, p.target, shape->count));
		complete_local(m, w);
		for (int i = 0; i < shape->count; i++)
			CHECK(m, multi_holds(p.origin[i].addr, shape->piece_bytes, piece_seed(s, i, m->rank)));
	}
	free(data);
}

/* R4: lists of pieces, of every shape. */
static void pieces_are_there(struct multi *m)
{
	on_windows(m, vector_rounds);
}

/* Elements of the accumulate family, one type for each of its ways. */

static const enum oriel_type types[] = { ORIEL_INT64, ORIEL_DOUBLE, ORIEL_UINT8, MULTI_REST };
#define TYPES (sizeof(types) / sizeof(types[0]))

static void set_element(enum oriel_type type, void *list, size_t i, int value)
{
	if (type == ORIEL_INT64)
		((int64_t *)list)[i] = value;
	else if (type == ORIEL_DOUBLE)
		((double *)list)[i] = value;
	else if (type == ORIEL_UINT8)
		((uint8_t *)list)[i] = (uint8_t)value;
	else
		((multi_rest *)list)[i] = value;
}

static int element(enum oriel_type type, const void *list, size_t i)
{
	if (type == ORIEL_INT64)
		return (int)((const int64_t *)list)[i];
	if (type == ORIEL_DOUBLE)
		return (int)((const double *)list)[i];
	if (type == ORIEL_UINT8)
		return ((const uint8_t *)list)[i];
	return (int)((const multi_rest *)list)[i];
}

/* Replace, add one, read; each buffer is used again once its request is complete. */
static void accumulate_round(struct multi *m, struct window *w, enum oriel_type type, size_t count, void *data)
{
	size_t bytes = count * oriel_type_bytes(type);

	for (size_t i = 0; i < count; i++)
		set_element(type, data, i, (int)(i % 100));
	CHECK_OK(m, oriel_accumulate(w->win, data, count, type, ORIEL_REPLACE, w->right, w->at));
	complete_local(m, w);
	for (size_t i = 0; i < count; i++)
		set_element(type, data, i, 1);
	CHECK_OK(m, oriel_accumulate(w->win, data, count, type, ORIEL_SUM, w->right, w->at));
	complete_local(m, w);
	memset(data, 0, bytes);
	CHECK_OK(m, oriel_get_accumulate(w->win, NULL, data, count, type, ORIEL_NO_OP, w->right, w->at));
	complete_local(m, w);
	for (size_t i = 0; i < count; i++) {
		if (!CHECK(m, element(type, data, i) == (int)(i % 100) + 1))
			return;
	}
}

static void accumulate_rounds(struct multi *m, struct window *w)
{
	/* A card changes each number of the first type by a request of its own. */
	static const size_t counts[TYPES][3] = { { 1, 5, 200 }, { 1, 5, 3000 }, { 1, 5, 3000 }, { 1, 5, 3000 } };
	void *data = multi_alloc(BYTES);

	for (size_t i = 0; i < TYPES * 3; i++)
		accumulate_round(m, w, types[i % TYPES], counts[i % TYPES][i / TYPES], data);
	free(data);
}

/* R4, R3: accumulate and get_accumulate, of every way and of several lengths. */
static void accumulated_data_is_there(struct multi *m)
{
	on_windows(m, accumulate_rounds);
}

static void single_elements(struct multi *m, struct window *w)
{
	int64_t one = 1, forty = OPEN, seven = 7, before[OPEN], swapped[2] = { -1, -1 };
	oriel_request request[OPEN];

	memset(before, 0xee, sizeof(before));
	for (int i = 0; i < OPEN; i++) {
		CHECK_OK(m, oriel_fetch_and_op(w->win, &one, &before[i], ORIEL_INT64, ORIEL_SUM, w->right, w->at));
		CHECK_OK(m, oriel_win_iflush_local(w->win, w->right, &request[i]));
	}
	for (int i = OPEN; i-- > 0;) {
		CHECK_OK(m, oriel_request_wait(&request[i]));
		CHECK(m, before[i] == i);
	}
	CHECK_OK(m, oriel_compare_and_swap(w->win, &seven, &forty, &swapped[0], ORIEL_INT64, w->right, w->at));
	complete_local(m, w);
	CHECK(m, swapped[0] == OPEN);
	CHECK_OK(m, oriel_compare_and_swap(w->win, &one, &forty, &swapped[1], ORIEL_INT64, w->right, w->at));
	complete_local(m, w);
	CHECK(m, swapped[1] == 7);
}

/* R4, R5: fetch_and_op and compare_and_swap. Many are open. The last one is waited for first. */
static void fetched_values_are_there(struct multi *m)
{
	on_windows(m, single_elements);
}

/* Set all pieces' elements to a value, or check that they have it. */
static void set_pieces(struct pieces *p, const struct shape *shape, int value)
{
	for (int i = 0; i < shape->count; i++) {
		for (size_t k = 0; k < shape->piece_bytes / 8; k++)
			set_element(ORIEL_INT64, p->origin[i].addr, k, value + i);
	}
}

static bool pieces_hold(const struct pieces *p, const struct shape *shape, int value)
{
	for (int i = 0; i < shape->count; i++) {
		for (size_t k = 0; k < shape->piece_bytes / 8; k++) {
			if (element(ORIEL_INT64, p->origin[i].addr, k) != value + i)
				return false;
		}
	}
	return true;
}

static void accumulatev_rounds(struct multi *m, struct window *w)
{
	uint8_t *data = multi_alloc(BYTES), *results = multi_alloc(BYTES);
	struct pieces p, r;

	for (size_t s = 0; s < SHAPES_OF_ELEMENTS; s++) {
		const struct shape *shape = &shapes[s];
		int count = shape->count;

		lay_out(&p, shape, data, w->at);
		lay_out(&r, shape, results, w->at);
		set_pieces(&p, shape, 10);
		CHECK_OK(m, oriel_accumulatev(w->win, p.origin, count, ORIEL_INT64, ORIEL_REPLACE, w->right, p.target, count));
		complete_local(m, w);
		set_pieces(&p, shape, 100);
		memset(results, 0xee, BYTES);
		CHECK_OK(m, oriel_get_accumulatev(w->win, p.origin, count, r.origin, count, ORIEL_INT64, ORIEL_REPLACE,
		                                  w->right, p.target, count));
		complete_local(m, w);
		CHECK(m, pieces_hold(&r, shape, 10));
		set_pieces(&p, shape, 1);
		memset(results, 0xee, BYTES);
		CHECK_OK(m, oriel_get_accumulatev(w->win, NULL, 0, r.origin, count, ORIEL_INT64, ORIEL_NO_OP, w->right,
		                                  p.target, count));
		complete_local(m, w);
		CHECK(m, pieces_hold(&r, shape, 100));
	}
	free(data);
	free(results);
}

/* R4: the family's lists of pieces. */
static void accumulated_pieces_are_there(struct multi *m)
{
	on_windows(m, accumulatev_rounds);
}

static void memory_that_changes(struct multi *m, struct window *w)
{
	for (uint64_t round = 0; round < 6; round++) {
		uint8_t *data = multi_alloc(70000);

		multi_fill(data, 70000, round * 100 + (uint64_t)m->rank);
		CHECK_OK(m, oriel_put(w->win, data, 70000, w->right, w->at + AT));
		complete_local(m, w);
		free(data); /* the next round's may lie there, of other pages */
		complete_both(m, w);
		check_put(m, w, 70000, round * 100 + w->left);
	}
}

/* R3, R4: a buffer that was registered for its put may be unmapped, and another mapped there. */
static void buffers_may_be_unmapped(struct multi *m)
{
	on_windows(m, memory_that_changes);
}

static const struct multi_case cases[] = {
	{ "R3_test_becomes_true", 0, test_becomes_true },
	{ "R3_copied_puts_wait_for_nobody", 2, copied_puts_wait_for_nobody },
	{ "R3_buffers_may_be_unmapped", 2, buffers_may_be_unmapped },
	{ "R4_put_buffers_are_free", 0, put_buffers_are_free },
	{ "R4_got_data_is_there", 0, got_data_is_there },
	{ "R4_pieces_are_there", 3, pieces_are_there },
	{ "R4_accumulated_data_is_there", 3, accumulated_data_is_there },
	{ "R4_R5_fetched_values_are_there", 3, fetched_values_are_there },
	{ "R4_accumulated_pieces_are_there", 2, accumulated_pieces_are_there },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_request_data",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
