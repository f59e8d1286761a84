// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_copies.c - accumulates that the origin carries out by system calls, which copy the target's
 * private memory here and back (rules A10, A22)
 */
#include "multi.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service_pause.h"
#include "sync/atomic_mode.h"
#include "verbs/direct_access.h"
#include "win/link.h"
#include "win/win.h"

enum { READY, DONE };

#define MANY 4000 /* elements of 8 bytes, on more pages than are copied at a time */

/* Whether system calls copy this rank's accumulates there; on return the target does not poll. */
static bool copies_reach(struct multi *m, const struct multi_window *w, int rank)
{
	struct link *link = link_find(w->win, rank);
	struct direct_access *direct = &link->peer->direct;
	uint64_t word;
	const struct softverbs_piece piece = { &word, sizeof(word), link->base, link->rkey };

	while (direct_polls(direct) && !multi_failed(m))
		usleep(100);
	return !link_mapped(link) && direct_has_list_puts(direct) && direct_get_list_sync(direct, &piece, 1);
}

/* Each call's result shows what the call before it has done. */
static void change_by_copies(struct multi *m, struct multi_window *w)
{
	double *ones = multi_alloc(MANY * sizeof(double)), *old = multi_alloc(MANY * sizeof(double)), one = 1, four = 4;
	int64_t sum = 0, swapped = 0, last = 0;
	bool right = true;

	for (int i = 0; i < MANY; i++)
		ones[i] = 1;
	CHECK_OK(m, oriel_accumulate(w->win, ones, MANY, ORIEL_DOUBLE, ORIEL_SUM, 1, 0));
	CHECK_OK(m, oriel_get_accumulate(w->win, ones, old, MANY, ORIEL_DOUBLE, ORIEL_SUM, 1, 0));
	for (int i = 0; i < MANY; i++)
		right &= old[i] == 1;
	CHECK_OK(m, oriel_fetch_and_op(w->win, &one, &old[0], ORIEL_DOUBLE, ORIEL_SUM, 1, 0));
	CHECK_OK(m, oriel_accumulate(w->win, &four, 1, ORIEL_DOUBLE, ORIEL_REPLACE, 1, 8));
	CHECK_OK(m, oriel_get_accumulate(w->win, NULL, &old[1], MANY - 1, ORIEL_DOUBLE, ORIEL_NO_OP, 1, 8));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	CHECK(m, right && old[0] == 2 && old[1] == 4 && old[2] == 2 && old[MANY - 1] == 2);
	CHECK_OK(m, oriel_accumulate(w->win, &(int64_t){ 5 }, 1, ORIEL_INT64, ORIEL_REPLACE, 1, 16));
	CHECK_OK(m, oriel_fetch_and_op(w->win, &(int64_t){ 1 }, &sum, ORIEL_INT64, ORIEL_SUM, 1, 16));
	CHECK_OK(m, oriel_compare_and_swap(w->win, &(int64_t){ 9 }, &(int64_t){ 6 }, &swapped, ORIEL_INT64, 1, 16));
	CHECK_OK(m, oriel_fetch_and_op(w->win, NULL, &last, ORIEL_INT64, ORIEL_NO_OP, 1, 16));
	CHECK(m, sum == 5 && swapped == 6 && last == 9);
	free(ones);
	free(old);
}

#define BLOCKS 60 /* more than are copied at a time */
#define BLOCK 40  /* elements */
#define STEP 60   /* from block to block */

/* Rows that go up and down, beside elements that stay as they are. */
static void change_rows_by_copies(struct multi *m, struct multi_window *w)
{
	struct oriel_origin_piece ones[BLOCKS], old[BLOCKS];
	struct oriel_target_piece up[BLOCKS], down[BLOCKS];
	double one[BLOCK], got[BLOCKS][BLOCK] = { { 0 } }, all[MANY];
	bool right = true;

	for (int i = 0; i < BLOCK; i++)
		one[i] = i + 1;
	for (int i = 0; i < BLOCKS; i++) {
		ones[i] = (struct oriel_origin_piece){ one, sizeof(one) };
		old[i] = (struct oriel_origin_piece){ got[i], sizeof(got[i]) };
		up[i] = (struct oriel_target_piece){ (size_t)i * STEP * sizeof(double), sizeof(one) };
		down[BLOCKS - 1 - i] = up[i];
	}
	memset(all, 0, sizeof(all));
	CHECK_OK(m, oriel_accumulate(w->win, all, MANY, ORIEL_DOUBLE, ORIEL_REPLACE, 1, 0));
	CHECK_OK(m, oriel_accumulatev(w->win, ones, BLOCKS, ORIEL_DOUBLE, ORIEL_SUM, 1, up, BLOCKS));
	CHECK_OK(m, oriel_get_accumulatev(w->win, ones, BLOCKS, old, BLOCKS, ORIEL_DOUBLE, ORIEL_SUM, 1, down, BLOCKS));
	CHECK_OK(m, oriel_get_accumulate(w->win, NULL, all, MANY, ORIEL_DOUBLE, ORIEL_NO_OP, 1, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	for (int i = 0; i < MANY; i++)
		right &= all[i] == (i % STEP < BLOCK && i / STEP < BLOCKS ? 2 * one[i % STEP] : 0);
	for (int i = 0; i < BLOCKS; i++)
		right &= memcmp(got[i], one, sizeof(one)) == 0;
	CHECK(m, right);
}

#define MOVED 100 /* blocks: more than a system call moves */

/* Puts a row upwards, and gets it downwards. */
static void move_rows(struct multi *m, struct multi_window *w)
{
	struct oriel_origin_piece give[MOVED], take[MOVED];
	struct oriel_target_piece up[MOVED], down[MOVED];
	double given[MOVED][2], got[MOVED][3], all[MANY] = { 0 };
	bool right = true;

	for (int i = 0; i < MOVED; i++) {
		given[i][0] = i + 1;
		given[i][1] = -i;
		give[i] = (struct oriel_origin_piece){ given[i], sizeof(given[i]) };
		take[i] = (struct oriel_origin_piece){ got[i], sizeof(given[i]) };
		up[i] = (struct oriel_target_piece){ (size_t)i * 4 * sizeof(double), sizeof(given[i]) };
		down[MOVED - 1 - i] = up[i];
		got[i][2] = 7;
	}
	CHECK_OK(m, oriel_put(w->win, all, sizeof(all), 1, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	CHECK_OK(m, oriel_putv(w->win, give, MOVED, 1, up, MOVED));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	CHECK_OK(m, oriel_getv(w->win, take, MOVED, 1, down, MOVED));
	CHECK_OK(m, oriel_get(w->win, all, sizeof(all), 1, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	for (int i = 0; i < MANY; i++)
		right &= all[i] == (i / 4 < MOVED && i % 4 < 2 ? given[i / 4][i % 4] : 0);
	for (int i = 0; i < MOVED; i++)
		right &= memcmp(got[i], given[MOVED - 1 - i], sizeof(given[i])) == 0 && got[i][2] == 7;
	CHECK(m, right);
}

#define PIECES 120 /* more than one system call takes */
#define PIECE_STEP 30

/* A list of pieces of one to three elements. Operands and results are cut elsewhere. */
static void change_list_by_copies(struct multi *m, struct multi_window *w)
{
	double numbers[3 * PIECES], old[3 * PIECES] = { 0 }, all[MANY] = { 0 };
	struct oriel_origin_piece operands[2] = { { numbers, 0 }, { NULL, sizeof(double) } }, results = { old, 0 };
	struct oriel_target_piece list[PIECES];
	bool right = true;

	for (size_t i = 0; i < PIECES; i++) {
		list[i] = (struct oriel_target_piece){ i * PIECE_STEP * sizeof(double), (1 + i % 3) * sizeof(double) };
		results.size_bytes += list[i].size_bytes;
	}
	operands[0].size_bytes = results.size_bytes - sizeof(double);
	operands[1].addr = (uint8_t *)numbers + operands[0].size_bytes;
	for (int i = 0; i < 3 * PIECES; i++)
		numbers[i] = i + 1;
	CHECK_OK(m, oriel_accumulate(w->win, all, MANY, ORIEL_DOUBLE, ORIEL_REPLACE, 1, 0));
	CHECK_OK(m, oriel_accumulatev(w->win, operands, 2, ORIEL_DOUBLE, ORIEL_SUM, 1, list, PIECES));
	CHECK_OK(m, oriel_get_accumulatev(w->win, operands, 2, &results, 1, ORIEL_DOUBLE, ORIEL_SUM, 1, list, PIECES));
	CHECK_OK(m, oriel_get_accumulate(w->win, NULL, all, MANY, ORIEL_DOUBLE, ORIEL_NO_OP, 1, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	for (int i = 0, n = 0; i < MANY; i++)
		right &= all[i] == (i / PIECE_STEP < PIECES && i % PIECE_STEP <= i / PIECE_STEP % 3 ? 2 * numbers[n++] : 0);
	CHECK(m, right && memcmp(old, numbers, results.size_bytes) == 0);
}

/* Bytes of any alignment, beside bytes that stay as they are. */
static void change_bytes_by_copies(struct multi *m, struct multi_window *w)
{
	uint8_t some[] = { 1, 2, 3 }, all[8] = { 0 };

	CHECK_OK(m, oriel_accumulate(w->win, all, 8, ORIEL_UINT8, ORIEL_REPLACE, 1, 0));
	CHECK_OK(m, oriel_accumulate(w->win, some, 3, ORIEL_UINT8, ORIEL_SUM, 1, 3));
	CHECK_OK(m, oriel_fetch_and_op(w->win, &some[2], &some[0], ORIEL_UINT8, ORIEL_SUM, 1, 5));
	CHECK_OK(m, oriel_get_accumulate(w->win, NULL, all, 8, ORIEL_UINT8, ORIEL_NO_OP, 1, 0));
	CHECK_OK(m, oriel_win_flush(w->win, 1));
	CHECK(m, some[0] == 3 && memcmp(all, (uint8_t[]){ 0, 0, 0, 1, 2, 6, 0, 0 }, 8) == 0);
}

/* The target's threads do nothing. */
static void copies_need_no_thread(struct multi *m)
{
	static struct service_pause pause;
	struct multi_window w;
	uint64_t before;

	multi_window_open(m, &w, MANY * sizeof(double));
	CHECK_OK(m, oriel_win_lock_all(w.win, ORIEL_MODE_NOCHECK));
	if (m->rank == 0)
		CHECK_OK(m, oriel_accumulate(w.win, &(float){ 0 }, 1, ORIEL_FLOAT, ORIEL_SUM, 1, 0));
	CHECK_OK(m, oriel_win_flush(w.win, 1));
	multi_sync(m);
	before = multi_applied(m);
	if (m->rank == 1) {
		service_pause_begin(m, &pause);
		multi_raise(m, READY, 1);
		multi_await(m, DONE, 1);
		service_pause_end(&pause);
		CHECK(m, multi_applied(m) == before);
	} else {
		multi_await(m, READY, 1);
		if (copies_reach(m, &w, 1)) {
			change_by_copies(m, &w);
			change_rows_by_copies(m, &w);
			change_list_by_copies(m, &w);
			change_bytes_by_copies(m, &w);
			move_rows(m, &w);
		}
		multi_raise(m, DONE, 1);
	}
	multi_sync(m);
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_window_close(m, &w);
}

#define MIXED_ROUNDS 40

union one {
	double number;
	int64_t word;
};

/*
 * The owner polls in some rounds, and applies active messages then; in others it computes. A list
 * has one element twice.
 */
static void add_to_many(struct multi *m, const struct multi_window *w, enum oriel_type type, const void *ones)
{
	const struct oriel_target_piece middle = { 8 * (MANY / 2), 8 }, list[] = { middle, middle };
	const struct oriel_origin_piece operands = { (void *)(uintptr_t)ones, 16 };
	uint64_t old;

	for (int i = 0; i < MIXED_ROUNDS; i++) {
		CHECK_OK(m, oriel_accumulate(w->win, ones, MANY, type, ORIEL_SUM, 0, 0));
		CHECK_OK(m, oriel_fetch_and_op(w->win, ones, &old, type, ORIEL_SUM, 0, middle.disp));
		CHECK_OK(m, oriel_accumulatev(w->win, &operands, 1, type, ORIEL_SUM, 0, list, 2));
		CHECK_OK(m, oriel_win_flush(w->win, 0));
		for (int k = 0; m->rank == 0 && k < 100 * (i % 3); k++)
			CHECK_OK(m, oriel_progress(m->job));
		if (m->rank == 0)
			usleep(i % 2 ? 1000 : 0);
	}
	CHECK_OK(m, oriel_win_fence(w->win, 0));
}

/*
 * Copies, active messages, and the owner's operations, by plain code and by instructions, are atomic
 * with each other.
 */
static void copies_and_messages_mix(struct multi *m)
{
	union one ones[MANY], sum;
	const enum oriel_type types[] = { ORIEL_DOUBLE, ORIEL_INT64 };
	struct multi_window w;

	for (int t = 0; t < 2; t++) {
		bool right = true;

		multi_window_open(m, &w, sizeof(ones));
		CHECK_OK(m, oriel_win_fence(w.win, 0));
		for (int i = 0; i < MANY; i++)
			ones[i] = types[t] == ORIEL_DOUBLE ? (union one){ .number = 1 } : (union one){ .word = 1 };
		add_to_many(m, &w, types[t], ones);
		for (int i = 0; i < MANY && m->rank == 0; i++) {
			memcpy(&sum, w.base + 8 * i, sizeof(sum));
			right &= (types[t] == ORIEL_DOUBLE ? sum.number : (double)sum.word) ==
			         MIXED_ROUNDS * m->size * (i == MANY / 2 ? 4 : 1);
		}
		CHECK(m, right);
		multi_window_close(m, &w);
	}
}

/*
 * The owner changes a word by instructions, as long as it does not know of another mode, and calls
 * nothing else. Others change it by copies meanwhile.
 */
static void words_mix_with_copies(struct multi *m)
{
	const int turns = multi_over_card() ? 200 : 20000;
	int64_t old, sum, own = 0;
	struct multi_window w;

	CHECK_OK(m, atomic_mode_pin(m->job, "words_mix_with_copies")); /* makes an end of plain code for words */
	atomic_mode_unpin(m->job);
	multi_window_open(m, &w, sizeof(sum));
	CHECK_OK(m, oriel_win_lock_all(w.win, ORIEL_MODE_NOCHECK));
	multi_sync(m);
	for (int i = 0; i < turns && m->rank > 0; i++)
		CHECK_OK(m, oriel_fetch_and_op(w.win, &(int64_t){ 1 }, &old, ORIEL_INT64, ORIEL_SUM, 0, 0));
	CHECK_OK(m, oriel_win_flush(w.win, 0));
	if (m->rank > 0)
		multi_raise(m, m->rank, 1);
	for (int rank = 1; rank < m->size && m->rank == 0; own++) {
		CHECK_OK(m, oriel_fetch_and_op(w.win, &(int64_t){ 1 }, &old, ORIEL_INT64, ORIEL_SUM, 0, 0));
		rank += own % 1000 == 0 && multi_word(m, rank) > 0;
	}
	multi_sync(m);
	memcpy(&sum, w.base, sizeof(sum));
	CHECK(m, m->rank > 0 || sum == own + (int64_t)turns * (m->size - 1));
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	multi_window_close(m, &w);
}

static const struct multi_case cases[] = {
	{ "A22_copies_need_no_thread", 2, copies_need_no_thread },
	{ "A10_copies_and_messages_mix", 0, copies_and_messages_mix },
	{ "A10_words_mix_with_copies", 0, words_mix_with_copies },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_copies",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
