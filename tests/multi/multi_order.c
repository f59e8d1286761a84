// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_order.c - operations of the accumulate family of one origin to one target take effect in
 * order: rule A15
 */
#include "multi.h"

#include <string.h>

#include "op/element.h"

/* Operations whose outcome tells their order, on element 0 and by vectors over 0 and 1. */
static void in_order(struct multi *m, oriel_win *win, int to, int64_t old[4])
{
	static const int64_t three = 3, five = 5;
	static int64_t pair[2] = { 100, 200 };
	struct oriel_origin_piece origin = { pair, 16 };
	struct oriel_target_piece target[] = { { 0, 8 }, { 8, 8 } };

	CHECK_OK(m, oriel_accumulate(win, &three, 1, ORIEL_INT64, ORIEL_REPLACE, to, 0));
	CHECK_OK(m, oriel_fetch_and_op(win, &five, &old[0], ORIEL_INT64, ORIEL_PROD, to, 0));
	CHECK_OK(m, oriel_compare_and_swap(win, &five, &old[3], &old[1], ORIEL_INT64, to, 0));
	CHECK_OK(m, oriel_accumulatev(win, &origin, 1, ORIEL_INT64, ORIEL_SUM, to, target, 2));
	CHECK_OK(m, oriel_get_accumulate(win, NULL, &old[2], 1, ORIEL_INT64, ORIEL_NO_OP, to, 0));
	CHECK_OK(m, oriel_accumulate(win, &three, 1, ORIEL_INT64, ORIEL_SUM, to, 0));
}

/* A15: in program order, to another rank and to oneself, deferred and not. */
static void program_order(struct multi *m)
{
	oriel_group *all = multi_group_mask(m, 3);
	struct multi_window w;

	multi_window_open_as(m, &w, 64, NULL, true);
	for (int turn = 0; turn < 20; turn++) {
		int64_t old[2][4], value;

		for (int to = 0; to < 2; to++)
			old[to][3] = 15;
		CHECK_OK(m, oriel_win_start(w.win, all, 0));
		for (int to = 0; to < 2; to++) {
			if (to == turn % 2)
				in_order(m, w.win, (m->rank + to) % 2, old[to]);
		}
		CHECK_OK(m, oriel_win_post(w.win, all, 0));
		CHECK_OK(m, oriel_win_complete(w.win));
		CHECK_OK(m, oriel_win_wait(w.win));
		memcpy(&value, w.base, sizeof(value));
		CHECK(m, value == 108);
		CHECK(m, old[turn % 2][0] == 3 && old[turn % 2][1] == 15 && old[turn % 2][2] == 105);
		multi_sync(m);
	}
	multi_group_drop(m, all);
	CHECK_OK(m, oriel_win_free(&w.win));
}

#define SHARE_BYTES 64 /* of the target's memory, for each origin */
#define OPERATIONS 12  /* that nothing completes between */
#define RESULT_BYTES 32

/* One operation, what it is to find, and what it has found. */
struct change {
	enum oriel_type type;
	enum oriel_op op;
	size_t disp; /* in the share */
	size_t count;
	bool swaps; /* it is a compare_and_swap */
	uint8_t origin[RESULT_BYTES];
	uint8_t compare[RESULT_BYTES];
	uint8_t wanted[RESULT_BYTES];
	uint8_t found[RESULT_BYTES];
};

/*
 * Returns a change of any class (op/acc.h), so that one goes by the processor or the card and the
 * next as an active message. Sums of integers only: as floating-point numbers, arbitrary bits may
 * give different sums.
 */
static struct change random_change(uint64_t *seed)
{
	static const struct {
		enum oriel_type type;
		size_t size_bytes;
		bool whole;
	} types[] = {
		{ ORIEL_INT8, 1, true },     { ORIEL_INT32, 4, true },   { ORIEL_UINT64, 8, true },
		{ ORIEL_INT64, 8, true },    { ORIEL_DOUBLE, 8, false }, { ORIEL_DOUBLE_COMPLEX, 16, false },
		{ ORIEL_INT128, 16, false },
	};
	size_t at = multi_random(seed) % (sizeof(types) / sizeof(types[0])), size_bytes = types[at].size_bytes;
	struct change change = { .type = types[at].type, .op = ORIEL_REPLACE };

	change.count = 1 + multi_random(seed) % (RESULT_BYTES / 16);
	change.disp = multi_random(seed) % (SHARE_BYTES - change.count * size_bytes + 1);
	if (multi_random(seed) % 4)
		change.disp -= change.disp % size_bytes;
	if (multi_random(seed) % 4 == 0)
		change.op = ORIEL_NO_OP;
	else if (types[at].whole && multi_random(seed) % 2)
		change.op = ORIEL_SUM;
	change.swaps = types[at].whole && change.op == ORIEL_REPLACE && multi_random(seed) % 2;
	if (change.swaps)
		change.count = 1;
	for (size_t i = 0; i < RESULT_BYTES; i++)
		change.origin[i] = (uint8_t)multi_random(seed);
	return change;
}

/*
 * Call it, and do the same to what the target's bytes are to become. A comparison is with what is
 * to be found, or not.
 */
static void issue_change(struct multi *m, oriel_win *win, struct change *change, int to, size_t share,
                         uint8_t *expected)
{
	if (change->swaps) {
		memcpy(change->compare, expected + change->disp, sizeof(uint64_t) <= SHARE_BYTES - change->disp ? 8 : 1);
		change->compare[0] ^= change->origin[0] % 4 == 0;
		element_swap(change->type, expected + change->disp, change->origin, change->compare, change->wanted);
		CHECK_OK(m, oriel_compare_and_swap(win, change->origin, change->compare, change->found, change->type, to,
		                                   share + change->disp));
		return;
	}
	element_apply(change->type, change->op, expected + change->disp, change->origin, change->wanted, change->count);
	CHECK_OK(m, oriel_get_accumulate(win, change->origin, change->found, change->count, change->type, change->op, to,
	                                 share + change->disp));
}

static void random_changes(struct multi *m, oriel_win *win, uint64_t *seed, int to, uint8_t *expected)
{
	struct change changes[OPERATIONS];

	for (int i = 0; i < OPERATIONS; i++) {
		changes[i] = random_change(seed);
		memset(changes[i].wanted, 0, RESULT_BYTES);
		memset(changes[i].found, 0, RESULT_BYTES);
		issue_change(m, win, &changes[i], to, (size_t)m->rank * SHARE_BYTES, expected);
	}
	CHECK_OK(m, oriel_win_flush(win, to));
	for (int i = 0; i < OPERATIONS; i++)
		CHECK(m, memcmp(changes[i].wanted, changes[i].found, RESULT_BYTES) == 0);
}

/*
 * A15: whatever types lie on the same bytes, and whatever way each goes (A14). Every origin has
 * bytes of its own.
 */
static void mixed_types(struct multi *m)
{
	const int turns = multi_over_card() ? 20 : 500;
	uint64_t seed = multi_seed(m) + (uint64_t)m->rank;

	for (int allocated = 0; allocated < 2; allocated++) {
		uint8_t expected[MULTI_RANKS_MAX][SHARE_BYTES] = { { 0 } }, found[SHARE_BYTES];
		struct multi_window w;

		multi_window_open_as(m, &w, (size_t)m->size * SHARE_BYTES, NULL, allocated);
		CHECK_OK(m, oriel_win_lock_all(w.win, 0));
		for (int i = 0; i < turns && !multi_failed(m); i++) {
			int to = (int)(multi_random(&seed) % (unsigned)m->size);

			random_changes(m, w.win, &seed, to, expected[to]);
		}
		for (int to = 0; to < m->size; to++) {
			CHECK_OK(m, oriel_get(w.win, found, SHARE_BYTES, to, (size_t)m->rank * SHARE_BYTES));
			CHECK_OK(m, oriel_win_flush(w.win, to));
			CHECK(m, memcmp(found, expected[to], SHARE_BYTES) == 0);
		}
		CHECK_OK(m, oriel_win_unlock_all(w.win));
		multi_sync(m);
		multi_window_close(m, &w);
	}
}

static const struct multi_case cases[] = {
	{ "A15_program_order", 2, program_order },
	{ "A15_types_mixed", 0, mixed_types },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_order",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
