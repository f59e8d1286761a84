// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_pieces.c - the vector forms of put, get, accumulate and get_accumulate, with lists of many
 * pieces: rules D1, D2, D4, D6, A7, A9, A14
 *
 * Lists of pieces that are as long as those they go to take a short way on mapped memory
 * (op/pieces.h); the others, and what is not plain, a longer one. Every origin has bytes of its own
 * at every target.
 */
#include "multi.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/job.h"
#include "job/peer.h"
#include "sync/atomic_mode.h"
#include "sync/page_lock.h"
#include "win/link.h"
#include "win/win.h"
#include "op/element.h"
#include "op/row.h"
#include "service_pause.h"

#define SHARE_BYTES (4 * LOCKED_PAGE_BYTES)
#define PIECES 40
#define PIECE_BYTES 192 /* at most: all of them have room in a share, with gaps */

static const enum oriel_type types[] = { ORIEL_INT8,  ORIEL_INT32,          ORIEL_UINT64,     ORIEL_INT64,
	                                     ORIEL_FLOAT, ORIEL_DOUBLE_COMPLEX, ORIEL_DOUBLE_INT, ORIEL_INT16 };

/* One call: pieces of one type, with gaps between them on all sides. */
struct lists {
	enum oriel_type type;
	int count, target_count;
	size_t bytes;
	struct oriel_origin_piece origin[PIECES], result[PIECES];
	struct oriel_target_piece target[PIECES + 1];
	uint8_t from[PIECES * PIECE_BYTES], found[PIECES * PIECE_BYTES], wanted[PIECES * PIECE_BYTES];
};

enum { ADDRESS = MULTI_WORDS - 1 }; /* of rank 0's memory; before it the ranks that are done */

static size_t random_below(uint64_t *seed, size_t most)
{
	return (size_t)(multi_random(seed) % most);
}

/* One that is aligned to its elements, three times of four. */
static size_t random_gap(uint64_t *seed, size_t at, size_t size_bytes)
{
	size_t gap = random_below(seed, SHARE_BYTES / PIECES - PIECE_BYTES - 16);

	return random_below(seed, 4) ? gap + (size_bytes - (at + gap) % size_bytes) % size_bytes : gap;
}

/* Pieces that touch are one at the target, or are cut elsewhere: the lists are no longer alike. */
static void add_target(struct lists *l, size_t disp, size_t bytes, size_t size_bytes, bool merges)
{
	struct oriel_target_piece *last = l->target_count ? &l->target[l->target_count - 1] : NULL;
	bool touches = last && last->disp + last->size_bytes == disp;
	size_t more = touches && (merges || bytes == 0) ? bytes : touches ? size_bytes : 0;

	if (touches)
		last->size_bytes += more;
	if (!touches || !merges)
		l->target[l->target_count++] = (struct oriel_target_piece){ disp + more, bytes - more };
}

static void make_lists(struct lists *l, uint64_t *seed, size_t share, enum oriel_type type)
{
	const size_t size_bytes = oriel_type_bytes(type);
	size_t at = 0;

	l->type = type;
	l->count = 1 + (int)random_below(seed, PIECES);
	l->target_count = 0;
	l->bytes = 0;
	for (int i = 0; i < l->count; i++) {
		size_t bytes = size_bytes * random_below(seed, PIECE_BYTES / size_bytes + 1);

		at += random_below(seed, 8) ? random_gap(seed, at, size_bytes) : 0;
		l->origin[i] = (struct oriel_origin_piece){ l->from + i * PIECE_BYTES, bytes };
		l->result[i] = (struct oriel_origin_piece){ l->found + i * PIECE_BYTES, bytes };
		add_target(l, share + at, bytes, size_bytes, random_below(seed, 2));
		at += bytes;
		l->bytes += bytes;
	}
	for (size_t i = 0; i < sizeof(l->from); i++)
		l->from[i] = (uint8_t)multi_random(seed);
	memset(l->found, 0, sizeof(l->found));
	memset(l->wanted, 0, sizeof(l->wanted));
}

/* Applies `op` to bytes: changes `expected`, whose earlier values go to `wanted`. */
static void change_model(struct lists *l, uint8_t *expected, size_t share, enum oriel_type type, enum oriel_op op)
{
	const size_t size_bytes = oriel_type_bytes(type);
	size_t done = 0, at = 0;

	for (int i = 0; i < l->count; i++) {
		for (size_t byte = 0; byte < l->origin[i].size_bytes; byte += size_bytes) {
			while (done == l->target[at].size_bytes) {
				at++;
				done = 0;
			}
			element_apply(type, op, expected + l->target[at].disp - share + done, l->from + i * PIECE_BYTES + byte,
			              l->wanted + i * PIECE_BYTES + byte, 1);
			done += size_bytes;
		}
	}
}

/* Beyond the window, by more than a pair may be: all of it is refused, and nothing happens. */
static void refuse_range(struct multi *m, struct lists *l, oriel_win *win, int to, uint64_t *seed)
{
	size_t beyond = (size_t)m->size * SHARE_BYTES;
	int at = (int)random_below(seed, (size_t)l->target_count);
	struct oriel_target_piece kept = l->target[at];

	if (kept.size_bytes == 0)
		return;
	l->target[at].disp = random_below(seed, 2) ? beyond - kept.size_bytes + 8 : SIZE_MAX - kept.size_bytes + 1;
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_putv(win, l->origin, l->count, to, l->target, l->target_count));
	CHECK_RC(m, ORIEL_ERR_RANGE, oriel_getv(win, l->result, l->count, to, l->target, l->target_count));
	CHECK_RC(m, ORIEL_ERR_RANGE,
	         oriel_accumulatev(win, l->origin, l->count, l->type, ORIEL_REPLACE, to, l->target, l->target_count));
	l->target[at] = kept;
}

enum call { PUTV, GETV, ACCUMULATEV, GET_ACCUMULATEV, READV, CALLS };

static void issue(struct multi *m, struct lists *l, enum call call, oriel_win *win, int to, uint8_t *expected,
                  size_t share)
{
	enum oriel_op op = l->type <= ORIEL_UINT64 ? ORIEL_SUM : ORIEL_REPLACE;

	switch (call) {
	case PUTV:
		op = ORIEL_REPLACE;
		CHECK_OK(m, oriel_putv(win, l->origin, l->count, to, l->target, l->target_count));
		break;
	case GETV:
		op = ORIEL_NO_OP;
		CHECK_OK(m, oriel_getv(win, l->result, l->count, to, l->target, l->target_count));
		break;
	case ACCUMULATEV:
		CHECK_OK(m, oriel_accumulatev(win, l->origin, l->count, l->type, op, to, l->target, l->target_count));
		break;
	case GET_ACCUMULATEV:
		CHECK_OK(m, oriel_get_accumulatev(win, l->origin, l->count, l->result, l->count, l->type, op, to, l->target,
		                                  l->target_count));
		break;
	default:
		op = ORIEL_NO_OP;
		CHECK_OK(m,
		         oriel_get_accumulatev(win, NULL, 0, l->result, l->count, l->type, op, to, l->target, l->target_count));
	}
	CHECK_OK(m, oriel_win_flush(win, to));
	change_model(l, expected, share, call <= GETV ? ORIEL_INT8 : l->type, op); /* these move bytes */
	if (call == PUTV || call == ACCUMULATEV)
		memset(l->wanted, 0, sizeof(l->wanted)); /* nothing was fetched */
	CHECK(m, memcmp(l->found, l->wanted, sizeof(l->found)) == 0);
}

static void random_lists(struct multi *m)
{
	const int turns = multi_over_card() ? 20 : 1000;
	uint64_t seed = multi_seed(m) + (uint64_t)m->rank;
	struct lists *l = multi_alloc(sizeof(*l));
	size_t share = (size_t)m->rank * SHARE_BYTES;

	for (int allocated = 0; allocated < 2; allocated++) {
		uint8_t *expected = multi_alloc((size_t)m->size * SHARE_BYTES), *found = multi_alloc(SHARE_BYTES);
		struct multi_window w;

		multi_window_open_as(m, &w, (size_t)m->size * SHARE_BYTES, NULL, allocated);
		CHECK_OK(m, oriel_win_lock_all(w.win, 0));
		for (int i = 0; i < turns && !multi_failed(m); i++) {
			int to = (int)random_below(&seed, (size_t)m->size);

			make_lists(l, &seed, share, types[random_below(&seed, sizeof(types) / sizeof(types[0]))]);
			if (random_below(&seed, 8) == 0)
				refuse_range(m, l, w.win, to, &seed);
			issue(m, l, (enum call)random_below(&seed, CALLS), w.win, to, expected + (size_t)to * SHARE_BYTES, share);
		}
		for (int to = 0; to < m->size; to++) {
			CHECK_OK(m, oriel_get(w.win, found, SHARE_BYTES, to, share));
			CHECK_OK(m, oriel_win_flush(w.win, to));
			CHECK(m, memcmp(found, expected + (size_t)to * SHARE_BYTES, SHARE_BYTES) == 0);
		}
		CHECK_OK(m, oriel_win_unlock_all(w.win));
		multi_sync(m);
		multi_window_close(m, &w);
		free(expected);
		free(found);
	}
	free(l);
}

/* Rank 0 holds the lock of its second page, and changes a number there by a load and a store. */
static void change_slowly(struct multi *m, uint8_t *page)
{
	struct page_lock *page_lock = page_lock_of(m->job->page_locks.piece.addr, (uintptr_t)page);
	volatile int32_t *slow = (int32_t *)(void *)page;
	int32_t before;

	while (!page_trylock(page_lock, m->job->page_locks.process))
		sched_yield();
	multi_sync(m);
	before = *slow;
	for (int i = 0; i < 2000; i++)
		sched_yield();
	*slow = before + 1;
	page_unlock(page_lock);
}

/*
 * Pieces before, in and behind a page that is held: the first are changed at once, the rest when it
 * is free.
 */
static void held_page(struct multi *m)
{
	static const int32_t values[3] = { 1, 10, 100 };
	const struct oriel_origin_piece origin[] = { { (void *)(uintptr_t)&values[0], 4 },
		                                         { (void *)(uintptr_t)&values[1], 4 },
		                                         { (void *)(uintptr_t)&values[2], 4 } };
	struct oriel_target_piece target[] = { { 0, 4 }, { LOCKED_PAGE_BYTES, 4 }, { 2 * LOCKED_PAGE_BYTES, 4 } };
	struct multi_window w;
	int32_t seen;

	multi_window_open_as(m, &w, 3 * LOCKED_PAGE_BYTES, NULL, true);
	multi_warm(m, w.win);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	CHECK_OK(m, oriel_get(w.win, &seen, sizeof(seen), 0, 0)); /* its memory is mapped */
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == 0) {
		change_slowly(m, w.base + LOCKED_PAGE_BYTES);
	} else {
		multi_sync(m);
		CHECK_OK(m, oriel_accumulatev(w.win, origin, 3, ORIEL_INT32, ORIEL_SUM, 0, target, 3));
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 0; m->rank == 0 && i < 3; i++)
		CHECK(m, *(const int32_t *)(const void *)(w.base + (size_t)i * LOCKED_PAGE_BYTES) ==
		             (m->size - 1) * values[i] + (i == 1));
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* One more in the first word of rank 0's memory, by three calls; disp is its place. */
static void add_three(struct multi *m, oriel_win *win, size_t disp)
{
	const int64_t one = 1;
	const struct oriel_origin_piece origin = { (void *)(uintptr_t)&one, sizeof(one) };
	const struct oriel_target_piece target = { disp, sizeof(one) };
	int64_t old;

	CHECK_OK(m, oriel_fetch_and_op(win, &one, &old, ORIEL_INT64, ORIEL_SUM, 0, disp));
	CHECK_OK(m, oriel_accumulate(win, &one, 1, ORIEL_INT64, ORIEL_SUM, 0, disp));
	CHECK_OK(m, oriel_accumulatev(win, &origin, 1, ORIEL_INT64, ORIEL_SUM, 0, &target, 1));
	CHECK_OK(m, oriel_win_flush(win, 0));
}

static void hold_all(struct multi *m, bool hold)
{
	struct page_lock_table *table = m->job->page_locks.piece.addr;

	for (int i = 0; m->rank == 0 && m->job->page_locks.has_barrier && i < PAGE_LOCKS; i++) {
		while (hold && !page_trylock(&table->list[i], m->job->page_locks.process))
			sched_yield();
		if (!hold)
			page_unlock(&table->list[i]);
	}
}

/*
 * Single words need no page lock, and go on while a stopped rank holds theirs: in an allocated
 * window, in memory of one that is attached, and by active messages.
 */
static void words_of_held_pages(struct multi *m)
{
	int64_t *private = multi_alloc(sizeof(*private));
	struct multi_window w;
	oriel_win *dynamic;

	CHECK_OK(m, atomic_mode_pin(m->job, "words_of_held_pages")); /* makes an end of plain code for words */
	atomic_mode_unpin(m->job);
	multi_window_open_as(m, &w, LOCKED_PAGE_BYTES, NULL, true);
	CHECK_OK(m, oriel_win_create_dynamic(NULL, m->group, &dynamic));
	CHECK_OK(m, oriel_win_attach(dynamic, w.base, LOCKED_PAGE_BYTES));
	CHECK_OK(m, oriel_win_attach(dynamic, private, sizeof(*private)));
	if (m->rank == 0) {
		multi_raise(m, ADDRESS, (uintptr_t)w.base);
		multi_raise(m, ADDRESS - 1, (uintptr_t) private);
	}
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	CHECK_OK(m, oriel_win_lock_all(dynamic, 0));
	hold_all(m, true);
	multi_sync(m);
	if (m->rank > 0) {
		add_three(m, w.win, 0);
		add_three(m, dynamic, (size_t)multi_word(m, ADDRESS));
		add_three(m, dynamic, (size_t)multi_word(m, ADDRESS - 1));
		multi_raise(m, m->rank, 1);
	}
	for (int rank = 1; m->rank == 0 && rank < m->size; rank++)
		multi_await(m, rank, 1);
	hold_all(m, false);
	CHECK(m, m->rank || *(const int64_t *)(const void *)w.base == 6 * (m->size - 1));
	CHECK(m, m->rank || *private == 3 * (m->size - 1));
	CHECK_OK(m, oriel_win_unlock_all(dynamic));
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	CHECK_OK(m, oriel_win_free(&dynamic));
	CHECK_OK(m, oriel_win_free(&w.win));
	free(private);
}

/* All add to the same words, by lists of single ones, by long ones, and one by one. */
static void one_word_by_all(struct multi *m)
{
	enum { WORDS = 16 };
	const int turns = multi_over_card() ? 10 : 1000;
	struct oriel_origin_piece origin[WORDS];
	struct oriel_target_piece target[WORDS];
	static int64_t ones[WORDS];
	struct multi_window w;
	int64_t old;

	for (int i = 0; i < WORDS; i++) {
		ones[i] = 1;
		origin[i] = (struct oriel_origin_piece){ &ones[i], sizeof(ones[i]) };
		target[i] = (struct oriel_target_piece){ (size_t)i * 256, sizeof(ones[i]) };
	}
	multi_window_open_as(m, &w, WORDS * 256, NULL, true);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	for (int i = 0; i < turns; i++) {
		CHECK_OK(m, oriel_accumulatev(w.win, origin, WORDS, ORIEL_INT64, ORIEL_SUM, 0, target, WORDS));
		CHECK_OK(m, oriel_fetch_and_op(w.win, ones, &old, ORIEL_INT64, ORIEL_SUM, 0, (size_t)i % WORDS * 256));
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	old = 0;
	for (int i = 0; m->rank == 0 && i < WORDS; i++)
		old += *(const int64_t *)(const void *)(w.base + i * 256);
	CHECK(m, m->rank || old == (int64_t)m->size * turns * (WORDS + 1));
	CHECK_OK(m, oriel_win_free(&w.win));
}

/* Rows: blocks of one size at one distance. */

#define ROW_MEMORY (2u << 20)
#define ROW_BLOCK_MAX 512

struct row {
	size_t block_bytes, count;
	ptrdiff_t distance;
	enum oriel_type type; /* whole elements of which a block holds */
};

static const struct row rows[] = {
	{ 1, 700, 2, ORIEL_INT8 },      { 3, 500, 7, ORIEL_INT8 },        { 8, 64, 16, ORIEL_INT64 },
	{ 8, 3000, 16, ORIEL_DOUBLE },  { 24, 300, 40, ORIEL_UINT64 },    { 24, 300, 36, ORIEL_DOUBLE },
	{ 8, 2000, -24, ORIEL_DOUBLE }, { 64, 1, 128, ORIEL_FLOAT },      { 8, 2, 8192, ORIEL_DOUBLE },
	{ 4, 40000, 8, ORIEL_INT32 },   { 8, 100000, 16, ORIEL_DOUBLE },  { 16, 200, 4104, ORIEL_INT16 },
	{ 8, 200, 10, ORIEL_DOUBLE },   { 512, 100, -1000, ORIEL_FLOAT }, { 8, 30, 0, ORIEL_INT32 },
	{ 16, 100, 48, ORIEL_INT128 },  { 16, 40, 32, ORIEL_DOUBLE_INT },
};

/* One row, on all sides; at the origin its blocks lie in another order, with other gaps. */
struct row_call {
	struct multi *m;
	oriel_win *win;
	size_t base; /* displacement of rank 0's memory */
	struct row row;
	size_t moved; /* a block that lies elsewhere; 0: none */
	bool named;   /* by oriel_row, as the layer's calls */
	size_t taken; /* calls that it has carried out */
	struct oriel_origin_piece *origin, *result;
	struct oriel_target_piece *target;
	uint8_t *from, *found, *expected;
};

static size_t first_offset(const struct row *row)
{
	return row->distance < 0 ? (row->count - 1) * (size_t)-row->distance : 0;
}

static void fill_row(struct row_call *c, size_t offset)
{
	const struct row *row = &c->row;
	const size_t step = row->block_bytes + 8;

	for (size_t i = 0; i < row->count; i++) {
		c->origin[i] = (struct oriel_origin_piece){ c->from + (row->count - 1 - i) * step, row->block_bytes };
		c->result[i] = (struct oriel_origin_piece){ c->found + i * step, row->block_bytes };
		c->target[i] =
			(struct oriel_target_piece){ c->base + offset + (size_t)((ptrdiff_t)i * row->distance), row->block_bytes };
	}
	if (c->moved)
		c->target[c->moved].disp = c->base + ROW_MEMORY - ROW_BLOCK_MAX;
	for (size_t i = 0; i < row->count * step; i++)
		c->from[i] = (uint8_t)(i * 7 + i / 256 + row->count);
	memset(c->found, 0x5a, row->count * step);
}

/* Applies the operation to what is expected; the results must be what was there before. */
static void row_model(struct row_call *c, enum oriel_type type, enum oriel_op op, bool fetched)
{
	const struct row *row = &c->row;
	const size_t elements = row->block_bytes / oriel_type_bytes(type);
	uint8_t before[ROW_BLOCK_MAX];
	size_t wrong = 0;

	for (size_t i = 0; i < row->count; i++) {
		memset(before, 0x5a, sizeof(before));
		element_apply(type, op, c->expected + (c->target[i].disp - c->base), c->origin[i].addr, before, elements);
		wrong += fetched && memcmp(before, c->result[i].addr, row->block_bytes) != 0;
	}
	CHECK(c->m, wrong == 0);
}

static void check_memory(struct row_call *c)
{
	uint8_t *seen = multi_alloc(ROW_MEMORY);

	CHECK_OK(c->m, oriel_win_flush(c->win, 0));
	CHECK_OK(c->m, oriel_get(c->win, seen, ROW_MEMORY, 0, c->base));
	CHECK_OK(c->m, oriel_win_flush(c->win, 0));
	CHECK(c->m, memcmp(seen, c->expected, ROW_MEMORY) == 0);
	free(seen);
}

static struct oriel_row_side side_of(const struct row_call *c, const struct oriel_origin_piece *list)
{
	return (struct oriel_row_side){ list[0].addr,
		                            c->row.count > 1 ? (uint8_t *)list[1].addr - (uint8_t *)list[0].addr : 0 };
}

/* Calls oriel_row. Returns its result, or that lists are to be given. */
static int by_name(struct row_call *c, struct oriel_row row)
{
	int rc;

	if (!c->named || c->moved)
		return ORIEL_ROW_NOT;
	row.block_bytes = c->row.block_bytes;
	row.blocks = c->row.count;
	row.disp = c->target[0].disp;
	row.distance = c->row.distance;
	rc = oriel_row(c->win, &row, 0);
	c->taken += rc == 0;
	return rc;
}

static int put_row(struct row_call *c)
{
	const int n = (int)c->row.count;
	int rc =
		by_name(c, (struct oriel_row){ .origin = side_of(c, c->origin), .type = ORIEL_UINT8, .op = ORIEL_REPLACE });

	return rc == ORIEL_ROW_NOT ? oriel_putv(c->win, c->origin, n, 0, c->target, n) : rc;
}

static int get_row(struct row_call *c)
{
	const int n = (int)c->row.count;
	int rc = by_name(c, (struct oriel_row){ .result = side_of(c, c->result), .type = ORIEL_UINT8, .op = ORIEL_NO_OP });

	return rc == ORIEL_ROW_NOT ? oriel_getv(c->win, c->result, n, 0, c->target, n) : rc;
}

static int add_row(struct row_call *c, enum oriel_op op)
{
	const int n = (int)c->row.count;
	const enum oriel_type type = c->row.type;
	int rc =
		by_name(c, (struct oriel_row){ .origin = side_of(c, c->origin), .type = type, .op = op, .accumulates = true });

	return rc == ORIEL_ROW_NOT ? oriel_accumulatev(c->win, c->origin, n, type, op, 0, c->target, n) : rc;
}

static int fetch_row(struct row_call *c, enum oriel_op op)
{
	const int n = (int)c->row.count;
	const enum oriel_type type = c->row.type;
	const bool reads = op != ORIEL_NO_OP;
	struct oriel_row row = { .result = side_of(c, c->result), .type = type, .op = op, .accumulates = true };
	int rc;

	if (reads)
		row.origin = side_of(c, c->origin);
	rc = by_name(c, row);
	return rc == ORIEL_ROW_NOT ? oriel_get_accumulatev(c->win, reads ? c->origin : NULL, reads ? n : 0, c->result, n,
	                                                   type, op, 0, c->target, n)
	                           : rc;
}

static void move_row(struct row_call *c)
{
	const enum oriel_op op = c->row.type == ORIEL_DOUBLE_INT ? ORIEL_MINLOC : ORIEL_SUM;

	CHECK_OK(c->m, put_row(c));
	row_model(c, ORIEL_INT8, ORIEL_REPLACE, false);
	check_memory(c);
	CHECK_OK(c->m, get_row(c));
	CHECK_OK(c->m, oriel_win_flush(c->win, 0));
	row_model(c, ORIEL_INT8, ORIEL_NO_OP, true);
	CHECK_OK(c->m, add_row(c, op));
	row_model(c, c->row.type, op, false);
	check_memory(c);
	fill_row(c, first_offset(&c->row));
	CHECK_OK(c->m, fetch_row(c, ORIEL_REPLACE));
	CHECK_OK(c->m, oriel_win_flush(c->win, 0));
	row_model(c, c->row.type, ORIEL_REPLACE, true);
	fill_row(c, first_offset(&c->row));
	CHECK_OK(c->m, fetch_row(c, ORIEL_NO_OP));
	CHECK_OK(c->m, oriel_win_flush(c->win, 0));
	row_model(c, c->row.type, ORIEL_NO_OP, true);
	check_memory(c);
}

/* Moves what is a row but for one block: the second, one in the middle, or the last. */
static void move_almost_row(struct row_call *c)
{
	const size_t places[] = { 1, c->row.count / 2, c->row.count - 1 };

	for (int i = 0; i < 3 && c->row.count > 2 && c->row.count <= (multi_over_card() ? 64 : 1000); i++) {
		c->moved = places[i];
		fill_row(c, first_offset(&c->row));
		move_row(c);
	}
	c->moved = 0;
}

/* The last byte of one block lies beyond the memory. */
static void refuse_row(struct row_call *c)
{
	size_t last = first_offset(&c->row) + (c->row.distance > 0 ? (c->row.count - 1) * (size_t)c->row.distance : 0);

	fill_row(c, first_offset(&c->row) + ROW_MEMORY - last - c->row.block_bytes + 1);
	CHECK_RC(c->m, ORIEL_ERR_RANGE, put_row(c));
	CHECK_RC(c->m, ORIEL_ERR_RANGE, get_row(c));
	CHECK_RC(c->m, ORIEL_ERR_RANGE, add_row(c, ORIEL_REPLACE));
	check_memory(c);
}

static void call_rows(struct row_call *c)
{
	const size_t most = ROW_MEMORY * 2;

	c->from = multi_alloc(most);
	c->found = multi_alloc(most);
	c->expected = multi_alloc(ROW_MEMORY);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !multi_failed(c->m); i++) {
		c->row = rows[i];
		if (c->row.count > 1000 && multi_over_card())
			c->row.count = 1000;
		c->origin = multi_alloc(c->row.count * sizeof(*c->origin));
		c->result = multi_alloc(c->row.count * sizeof(*c->result));
		c->target = multi_alloc(c->row.count * sizeof(*c->target));
		fill_row(c, first_offset(&c->row));
		move_row(c);
		move_almost_row(c);
		if (c->row.type != ORIEL_DOUBLE_INT) /* whose last byte is padding */
			refuse_row(c);
		free(c->origin);
		free(c->result);
		free(c->target);
	}
	free(c->from);
	free(c->found);
	free(c->expected);
}

/* The last rank calls; rank 0, whose memory it is, waits in a barrier, and so polls. */
static void call_rows_in(struct multi *m, struct row_call *call, void *base)
{
	if (m->rank == 0)
		memset(base, 0, ROW_MEMORY);
	CHECK_OK(m, oriel_barrier(m->job));
	CHECK_OK(m, oriel_win_lock_all(call->win, 0));
	if (m->rank == m->size - 1)
		call_rows(call);
	CHECK_OK(m, oriel_win_unlock_all(call->win));
	CHECK_OK(m, oriel_barrier(m->job));
}

static void rows_to_rank_0(struct multi *m, bool named)
{
	struct row_call call = { .m = m, .named = named };
	struct multi_window w;
	oriel_win *dynamic;

	if (oriel_type_bytes(ORIEL_LONG_DOUBLE) != 16)
		return;
	multi_window_open_as(m, &w, ROW_MEMORY, NULL, false);
	CHECK_OK(m, oriel_win_create_dynamic(NULL, m->group, &dynamic));
	CHECK_OK(m, oriel_win_attach(dynamic, w.base, ROW_MEMORY));
	if (m->rank == 0)
		multi_raise(m, ADDRESS, (uintptr_t)w.base);
	multi_sync(m);
	for (int i = 0; i < 2; i++) {
		call.win = i ? dynamic : w.win;
		call.base = i ? (size_t)multi_word(m, ADDRESS) : 0;
		call_rows_in(m, &call, w.base);
	}
	CHECK(m, !named || m->rank != m->size - 1 || multi_failed(m) || call.taken > 0);
	CHECK_OK(m, oriel_win_free(&dynamic));
	multi_window_close(m, &w);
}

static void lists_of_rows(struct multi *m)
{
	rows_to_rank_0(m, false);
}

/* Allocated memory; if it is mapped, each put and get of a row but the first is one call. */
static void named_rows_in_allocated(struct multi *m)
{
	struct row_call call = { .m = m, .named = true };
	struct multi_window w;

	multi_window_open_as(m, &w, ROW_MEMORY, NULL, true);
	call.win = w.win;
	call_rows_in(m, &call, w.base);
	if (m->rank == m->size - 1 && !multi_failed(m))
		CHECK(m, !link_mapped(link_find(w.win, 0)) || call.taken >= 2 * sizeof(rows) / sizeof(rows[0]) - 1);
	multi_window_close(m, &w);
}

static void named_rows(struct multi *m)
{
	if (oriel_type_bytes(ORIEL_LONG_DOUBLE) != 16)
		return;
	named_rows_in_allocated(m);
	rows_to_rank_0(m, true);
}

/* Pieces that lie alike on both sides. */

#define ALIKE_MOST 600

struct alike_call {
	struct multi *m;
	oriel_win *win;
	size_t base; /* displacement of rank 0's memory */
	struct oriel_place list[ALIKE_MOST];
	struct oriel_places places;
	uint8_t *here, *expected;
	bool dense_here, dense_there;
	int taken; /* pieces that went without lists */
};

/* Pieces of up to `longest` bytes, in an order that goes up and, for every third, back. */
static void make_alike(struct alike_call *c, int count, size_t longest, uint64_t *seed)
{
	ptrdiff_t at = -(ptrdiff_t)(ROW_MEMORY / 2);

	c->places = (struct oriel_places){ .list = c->list, .count = count, .from = at, .to = at };
	for (int i = 0; i < count; i++) {
		size_t bytes = 1 + random_below(seed, longest);

		at += 1 + (ptrdiff_t)random_below(seed, 40);
		c->list[i] = (struct oriel_place){ at, bytes, 0 };
		at += (ptrdiff_t)bytes;
		c->places.longest_bytes = bytes > c->places.longest_bytes ? bytes : c->places.longest_bytes;
	}
	c->places.to = at;
	for (int i = 2; i < count; i += 3) {
		struct oriel_place one = c->list[i];

		c->list[i] = c->list[i - 1];
		c->list[i - 1] = one;
	}
	c->places.from = c->list[0].offset;
	for (int i = 0; i < count; i++) {
		c->list[i].before_bytes = c->places.all_bytes;
		c->places.all_bytes += c->list[i].size_bytes;
	}
}

static struct oriel_alike alike_of(struct alike_call *c, bool put)
{
	return (struct oriel_alike){ &c->places,    c->here + ROW_MEMORY / 2, c->base + ROW_MEMORY / 2, put, c->dense_here,
		                         c->dense_there };
}

/*
 * Does what the layer does: what does not go out by itself goes as a list. An accumulate is under
 * way before.
 */
static void do_alike(struct alike_call *c, bool put)
{
	const struct oriel_alike alike = alike_of(c, put);
	const uint16_t none = 0;

	CHECK_OK(c->m, oriel_accumulate(c->win, &none, 1, ORIEL_UINT16, ORIEL_BOR, 0, c->base));
	for (int at = 0, n; at < c->places.count && !multi_failed(c->m); at += n) {
		const struct oriel_place *place = &c->list[at];
		struct oriel_origin_piece origin = { (uint8_t *)alike.here + piece_here(&alike, place), place->size_bytes };
		struct oriel_target_piece target = { alike.disp + (size_t)piece_there(&alike, place), place->size_bytes };

		n = oriel_alike(c->win, &alike, at, 0);
		CHECK(c->m, n >= 0 && n <= c->places.count - at);
		c->taken += n;
		if (n > 0)
			continue;
		n = 1;
		CHECK_OK(c->m,
		         put ? oriel_putv(c->win, &origin, 1, 0, &target, 1) : oriel_getv(c->win, &origin, 1, 0, &target, 1));
	}
	CHECK_OK(c->m, oriel_win_flush(c->win, 0));
}

static void check_alike(struct alike_call *c)
{
	const struct oriel_alike alike = alike_of(c, false);
	uint8_t *seen = multi_alloc(ROW_MEMORY), *here = alike.here, *there = c->expected + ROW_MEMORY / 2;

	for (const struct oriel_place *place = c->list; place < c->list + c->places.count; place++)
		memcpy(there + piece_there(&alike, place), here + piece_here(&alike, place), place->size_bytes);
	CHECK_OK(c->m, oriel_get(c->win, seen, ROW_MEMORY, 0, c->base));
	CHECK_OK(c->m, oriel_win_flush(c->win, 0));
	CHECK(c->m, memcmp(seen, c->expected, ROW_MEMORY) == 0);
	memcpy(seen, c->here, ROW_MEMORY); /* what lies between the pieces stays */
	for (const struct oriel_place *place = c->list; place < c->list + c->places.count; place++)
		memset(here + piece_here(&alike, place), 0x77, place->size_bytes);
	do_alike(c, false);
	CHECK(c->m, memcmp(seen, c->here, ROW_MEMORY) == 0);
	free(seen);
}

/* Pieces of which some lie outside of the memory do not go: the vector call reports them. */
static void refuse_alike(struct alike_call *c)
{
	struct oriel_alike alike = alike_of(c, true);

	alike.disp = c->base - (size_t)alike_from(&alike) - 1;
	CHECK_RC(c->m, 0, oriel_alike(c->win, &alike, 0, 0));
	alike.disp = c->base + ROW_MEMORY - (size_t)alike_from(&alike) - alike_span(&alike) + 1;
	CHECK_RC(c->m, 0, oriel_alike(c->win, &alike, 0, 0));
}

/* Regions of a dynamic window may be mapped, each by itself: lists go there. */
static bool goes_alike(const struct link *link)
{
	return link_mapped(link) || (direct_has_lists(&link->peer->direct) && !link_remote_regions(link));
}

/* The last rank calls; rank 0, whose memory it is, waits in a barrier, and so polls. */
static void alike_in(struct multi *m, oriel_win *win, void *base, size_t disp)
{
	static const size_t longest[] = { 8, 24, 512, 700, 3000 };
	struct alike_call call = { .m = m, .win = win, .base = disp };
	uint64_t seed = multi_seed(m);

	if (m->rank == 0)
		memset(base, 0, ROW_MEMORY);
	CHECK_OK(m, oriel_barrier(m->job));
	CHECK_OK(m, oriel_win_lock_all(win, 0));
	call.here = multi_alloc(ROW_MEMORY);
	call.expected = multi_alloc(ROW_MEMORY);
	for (size_t i = 0; m->rank == m->size - 1 && i < 4 * 5; i++) {
		call.dense_here = i / 5 == 2;
		call.dense_there = i / 5 == 3;
		make_alike(&call,
		           i < 5               ? 1 + (int)random_below(&seed, 8)
		           : multi_over_card() ? 50
		                               : ALIKE_MOST,
		           longest[i % 5], &seed);
		for (size_t k = 0; k < ROW_MEMORY; k++)
			call.here[k] = (uint8_t)(k * 7 + k / 256 + i);
		do_alike(&call, true);
		check_alike(&call);
		refuse_alike(&call);
	}
	if (m->rank == m->size - 1 && goes_alike(link_find(win, 0)))
		CHECK(m, call.taken > 0);
	free(call.here);
	free(call.expected);
	CHECK_OK(m, oriel_win_unlock_all(win));
	CHECK_OK(m, oriel_barrier(m->job));
}

static void pieces_alike(struct multi *m)
{
	struct multi_window w;
	oriel_win *dynamic;

	for (int allocated = 0; allocated < 2; allocated++) {
		multi_window_open_as(m, &w, ROW_MEMORY, NULL, allocated);
		CHECK_OK(m, oriel_win_create_dynamic(NULL, m->group, &dynamic));
		CHECK_OK(m, oriel_win_attach(dynamic, w.base, ROW_MEMORY));
		multi_sync(m);
		if (m->rank == 0)
			multi_raise(m, ADDRESS, (uintptr_t)w.base);
		multi_sync(m);
		alike_in(m, w.win, w.base, 0);
		alike_in(m, dynamic, w.base, (size_t)multi_word(m, ADDRESS));
		CHECK_OK(m, oriel_win_free(&dynamic));
		multi_window_close(m, &w);
	}
}

/* Lists that find no room at their target. */

enum { CALLED = ADDRESS - 1, ABSENT = ADDRESS - 2, LISTS = 200, LIST_PIECES = 32 };

/* Puts words with gaps that grow. */
static void put_lists(struct multi *m, oriel_win *win)
{
	struct oriel_origin_piece origin[LIST_PIECES];
	struct oriel_target_piece target[LIST_PIECES];
	int64_t words[LIST_PIECES];

	for (int i = 0; i < LIST_PIECES; i++) {
		words[i] = i + 1;
		origin[i] = (struct oriel_origin_piece){ &words[i], sizeof(words[i]) };
		target[i] = (struct oriel_target_piece){ (size_t)(i * (i + 3)) * sizeof(words[i]), sizeof(words[i]) };
	}
	for (uint64_t i = 1; i <= LISTS; i++) {
		CHECK_OK(m, oriel_putv(win, origin, LIST_PIECES, 0, target, LIST_PIECES));
		multi_raise(m, CALLED, i);
	}
}

static void check_lists(struct multi *m, const struct multi_window *w)
{
	for (int i = 0; m->rank == 0 && i < LIST_PIECES; i++)
		CHECK(m, ((const int64_t *)(const void *)w->base)[i * (i + 3)] == i + 1);
}

/* Serves, with all page locks held, until the last rank waits for room. */
static void serve_until_full(struct multi *m)
{
	uint64_t called = 0;

	for (int quiet = 0; quiet < 50; quiet++) {
		CHECK_OK(m, oriel_progress(m->job));
		usleep(1000);
		if (multi_word(m, CALLED) != called)
			quiet = 0;
		called = multi_word(m, CALLED);
	}
	CHECK(m, called < LISTS || !direct_has_lists(&peer_find(m->job, m->size - 1)->direct));
}

static void lists_without_room(struct multi *m)
{
	struct multi_window w;
	int64_t seen;

	multi_window_open_as(m, &w, 4 * LOCKED_PAGE_BYTES, NULL, false);
	multi_warm(m, w.win);
	CHECK_OK(m, oriel_win_lock_all(w.win, 0));
	CHECK_OK(m, oriel_get(w.win, &seen, sizeof(seen), 0, 0));
	CHECK_OK(m, oriel_win_flush(w.win, 0)); /* the lock is held: nothing is deferred */
	multi_sync(m);
	hold_all(m, true);
	multi_sync(m);
	if (m->rank == 0)
		serve_until_full(m);
	else if (m->rank == m->size - 1) { /* by messages, since one is under way before */
		CHECK_OK(m, oriel_accumulate(w.win, &(double){ 0 }, 1, ORIEL_DOUBLE, ORIEL_REPLACE, 0, sizeof(double)));
		put_lists(m, w.win);
		CHECK_OK(m, oriel_win_flush(w.win, 0));
	}
	hold_all(m, false);
	CHECK_OK(m, oriel_win_unlock_all(w.win));
	CHECK_OK(m, oriel_barrier(m->job));
	check_lists(m, &w);
	multi_window_close(m, &w);
}

/*
 * A target that is outside of calls gets lists as messages, since it will poll in its fence. They
 * do not wait for room: no thread of it applies them before.
 */
static void put_to_absent(struct multi *m, oriel_win *win)
{
	struct peer *peer = peer_find(m->job, 0);
	uint64_t before = peer->am_sender ? peer->am_sender->sent : 0;

	while (direct_polls(&peer->direct) && !multi_failed(m))
		usleep(100);
	put_lists(m, win);
	if (direct_has_lists(&peer->direct))
		CHECK(m, peer->am_sender->sent > before && peer->am_sender->sent < before + LISTS);
}

static void lists_before_a_fence(struct multi *m)
{
	static struct service_pause pause;
	struct multi_window w;

	multi_window_open_as(m, &w, 4 * LOCKED_PAGE_BYTES, NULL, false);
	multi_warm(m, w.win);
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == m->size - 1) /* the room is made */
		CHECK_OK(m, oriel_accumulate(w.win, &(float){ 0 }, 1, ORIEL_FLOAT, ORIEL_SUM, 0, sizeof(double)));
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == 0) {
		service_pause_begin(m, &pause);
		multi_raise(m, ABSENT, 1);
		multi_await(m, CALLED, LISTS);
	} else if (m->rank == m->size - 1) {
		multi_await(m, ABSENT, 1);
		put_to_absent(m, w.win);
	}
	CHECK_OK(m, oriel_win_fence(w.win, 0));
	if (m->rank == 0)
		service_pause_end(&pause);
	check_lists(m, &w);
	multi_window_close(m, &w);
}

static const struct multi_case cases[] = {
	{ "A7_D6_random_lists", 0, random_lists },
	{ "A7_D6_rows", 0, lists_of_rows },
	{ "A7_D6_named_rows", 0, named_rows },
	{ "D1_D4_pieces_alike", 0, pieces_alike },
	{ "A7_lists_without_room", 0, lists_without_room },
	{ "D2_lists_before_a_fence", 0, lists_before_a_fence },
	{ "A14_pieces_of_a_page_that_is_held", 0, held_page },
	{ "L3_words_of_pages_that_are_held", 0, words_of_held_pages },
	{ "A9_lists_of_single_words", 0, one_word_by_all },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_pieces",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
