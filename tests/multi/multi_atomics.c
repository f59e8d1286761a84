// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_atomics.c - rules A9, A10, A11, A14, A15 and A20 on aligned integers of 8 bytes, which devices have
 * atomics for: by whichever ways the ranks have to each other and to themselves
 *
 * Rank 0 is the target of all, itself among them. Where each two ranks have a node of their own
 * (on_node) it is reached in three ways at once. MULTI_A10_ROUNDS is how often each of them adds in
 * A10 (200 times, and to memory that is not mapped).
 */
#include "job/job.h"
#include "conn/atomics_peer.h"
#include "multi.h"
#include "sync/atomic_mode.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 200
#define WORD sizeof(int64_t)

/* A window whose first words are the target, and behind them a room for what each rank has found. */
struct tally {
	struct multi_window window;
	int64_t *words;
	int64_t *found; /* [rank][rounds], at rank 0 */
	size_t rounds;
};

#define TARGETS 8
#define ROOM_BYTES 8192 /* for a vector */

/* Opens a window; ranks that can map allocated memory do. */
static void open_tally_of(struct multi *m, struct tally *t, size_t rounds, bool allocated)
{
	size_t size_bytes = (TARGETS + (size_t)m->size * rounds) * WORD + ROOM_BYTES;

	multi_window_open_as(m, &t->window, size_bytes, NULL, allocated);
	t->words = (int64_t *)(void *)t->window.base;
	t->found = t->words + TARGETS;
	t->rounds = rounds;
	CHECK_OK(m, oriel_win_fence(t->window.win, 0));
}

static void open_tally(struct multi *m, struct tally *t)
{
	open_tally_of(m, t, ROUNDS, false);
}

static void close_tally(struct multi *m, struct tally *t)
{
	CHECK_OK(m, oriel_win_fence(t->window.win, 0));
	multi_window_close(m, &t->window);
}

/* One operation on a word of rank 0's; what was there before. */
static int64_t fetch(struct multi *m, struct tally *t, int64_t operand, enum oriel_op op, size_t word)
{
	int64_t old = -1;

	CHECK_OK(m, oriel_fetch_and_op(t->window.win, &operand, &old, ORIEL_INT64, op, 0, word * WORD));
	CHECK_OK(m, oriel_win_flush(t->window.win, 0));
	return old;
}

static int64_t swap_if(struct multi *m, struct tally *t, int64_t compare, int64_t value, size_t word)
{
	int64_t old = -1;

	CHECK_OK(m, oriel_compare_and_swap(t->window.win, &value, &compare, &old, ORIEL_INT64, 0, word * WORD));
	CHECK_OK(m, oriel_win_flush(t->window.win, 0));
	return old;
}

/*
 * Sends what this rank has found to rank 0, which checks that all of it is 0 to size * rounds - 1,
 * each once.
 */
static void compare_found(struct multi *m, struct tally *t, const int64_t found[])
{
	size_t all = (size_t)m->size * t->rounds;
	uint8_t *seen = multi_alloc(all);

	CHECK_OK(m, oriel_win_fence(t->window.win, 0));
	CHECK_OK(m, oriel_put(t->window.win, found, t->rounds * WORD, 0, (TARGETS + (size_t)m->rank * t->rounds) * WORD));
	CHECK_OK(m, oriel_win_fence(t->window.win, 0));
	memset(seen, 0, all);
	for (size_t i = 0; i < all && m->rank == 0; i++) {
		if (CHECK(m, t->found[i] >= 0 && t->found[i] < (int64_t)all))
			CHECK(m, seen[t->found[i]]++ == 0);
	}
	free(seen);
}

/* All add one, many times: each value is found by one of them. */
static void three_kinds(struct multi *m)
{
	const char *given = getenv("MULTI_A10_ROUNDS");
	size_t rounds = given ? strtoul(given, NULL, 10) : ROUNDS;
	int64_t *found = multi_alloc(rounds * WORD), one = 1;
	struct tally t;

	open_tally_of(m, &t, rounds, given);
	for (size_t i = 0; i < rounds; i++) {
		CHECK_OK(m, oriel_fetch_and_op(t.window.win, &one, &found[i], ORIEL_INT64, ORIEL_SUM, 0, 2 * WORD));
		if (i % ROUNDS == ROUNDS - 1)
			CHECK_OK(m, oriel_win_flush(t.window.win, 0));
	}
	CHECK_OK(m, oriel_win_flush(t.window.win, 0));
	compare_found(m, &t, found);
	CHECK(m, m->rank || t.words[2] == (int64_t)m->size * (int64_t)rounds);
	close_tally(m, &t);
	free(found);
}

/* One more, by other calls in turn; what was there before. */
static int64_t add_one(struct multi *m, struct tally *t, int i)
{
	int64_t one = 1, old = -1, seen;

	if (i % 3 == 0)
		return fetch(m, t, 1, ORIEL_SUM, 1);
	if (i % 3 == 1) {
		CHECK_OK(m, oriel_get_accumulate(t->window.win, &one, &old, 1, ORIEL_INT64, ORIEL_SUM, 0, WORD));
		CHECK_OK(m, oriel_win_flush(t->window.win, 0));
		return old;
	}
	seen = fetch(m, t, 0, ORIEL_NO_OP, 1);
	while ((old = swap_if(m, t, seen, seen + 1, 1)) != seen && !multi_failed(m))
		seen = old;
	return old;
}

static void mixed_calls(struct multi *m)
{
	int64_t found[ROUNDS];
	struct tally t;

	open_tally(m, &t);
	for (int i = 0; i < ROUNDS; i++)
		found[i] = add_one(m, &t, i + m->rank);
	compare_found(m, &t, found);
	close_tally(m, &t);
}

/* Values are handed from rank to rank by replace: each goes in once and comes out once, or is left. */
static void replaced(struct multi *m)
{
	int64_t in = 0, out = 0, sum;
	struct tally t;

	open_tally(m, &t);
	for (int i = 1; i <= ROUNDS / 5; i++) {
		int64_t value = (int64_t)i * m->size + m->rank;

		in += value;
		out += fetch(m, &t, value, ORIEL_REPLACE, 3);
	}
	fetch(m, &t, in - out, ORIEL_SUM, 4);
	CHECK_OK(m, oriel_win_fence(t.window.win, 0));
	sum = m->rank == 0 ? fetch(m, &t, 0, ORIEL_NO_OP, 4) - fetch(m, &t, 0, ORIEL_NO_OP, 3) : 0;
	CHECK(m, sum == 0);
	close_tally(m, &t);
}

/* Rank 0 stores to the words beside, while the others change the one between: none of its stores is lost. */
static void neighbours(struct multi *m)
{
	static int64_t numbers[ROUNDS + 1], old[ROUNDS + 1]; /* in use until the fence */
	volatile int64_t *words;
	struct tally t;

	open_tally(m, &t);
	words = t.words;
	for (int64_t i = 1; i <= ROUNDS; i++) {
		if (m->rank == 0) {
			words[0] = words[2] = i;
			CHECK(m, words[0] == i && words[2] == i);
		} else {
			numbers[i] = i;
			CHECK_OK(m, oriel_fetch_and_op(t.window.win, &numbers[i], &old[i], ORIEL_INT64,
			                               i % 2 ? ORIEL_SUM : ORIEL_BXOR, 0, WORD));
		}
	}
	CHECK_OK(m, oriel_win_fence(t.window.win, 0));
	CHECK(m, m->rank || (words[0] == ROUNDS && words[2] == ROUNDS));
	close_tally(m, &t);
}

/* One word for each rank: its operations of every kind come one after the other, none of them flushed. */
static void in_order(struct multi *m)
{
	size_t word = ((size_t)m->rank % TARGETS) * WORD;
	int64_t want = 0;
	struct tally t;

	open_tally(m, &t);
	for (int64_t i = 1; i <= ROUNDS / 5 && m->rank < TARGETS; i++) {
		static const int64_t two = 2;
		int64_t old[3] = { -1, -1, -1 }, now = (i + 2) * 2;

		CHECK_OK(m, oriel_fetch_and_op(t.window.win, &i, &old[0], ORIEL_INT64, ORIEL_REPLACE, 0, word));
		CHECK_OK(m, oriel_accumulate(t.window.win, &two, 1, ORIEL_INT64, ORIEL_SUM, 0, word));
		CHECK_OK(m, oriel_accumulate(t.window.win, &two, 1, ORIEL_INT64, ORIEL_PROD, 0, word));
		CHECK_OK(m, oriel_fetch_and_op(t.window.win, NULL, &old[1], ORIEL_INT64, ORIEL_NO_OP, 0, word));
		CHECK_OK(m, oriel_compare_and_swap(t.window.win, &two, &now, &old[2], ORIEL_INT64, 0, word));
		CHECK_OK(m, oriel_win_flush(t.window.win, 0));
		CHECK(m, old[0] == want);
		CHECK(m, old[1] == now && old[2] == now);
		want = 2;
	}
	close_tally(m, &t);
}

/*
 * One to all targets by one call: so many in a row that processors change them by plain code
 * (sync/atomic_mode.h).
 */
static void add_to_all(struct multi *m, oriel_win *win)
{
	static const int64_t ones[TARGETS] = { 1, 1, 1, 1, 1, 1, 1, 1 };

	CHECK_OK(m, oriel_accumulate(win, ones, TARGETS, ORIEL_INT64, ORIEL_SUM, 0, 0));
	CHECK_OK(m, oriel_win_flush(win, 0));
}

/* Single ones, by this or that window, and from some moment on vectors among them. */
static void add_single_and_all(struct multi *m, oriel_win *singles, oriel_win *vectors, int from)
{
	int64_t one = 1, old;

	for (int i = 0; i < ROUNDS; i++) {
		CHECK_OK(m, oriel_fetch_and_op(singles, &one, &old, ORIEL_INT64, ORIEL_SUM, 0, (size_t)i % TARGETS * WORD));
		CHECK_OK(m, oriel_win_flush(singles, 0));
		if (i >= from && i % 4 == 0)
			add_to_all(m, vectors);
	}
}

/*
 * How often all ranks together have added to the targets by add_single_and_all, each from a moment
 * of its own on.
 */
static int64_t all_added(const struct multi *m)
{
	int64_t sum = 0;

	for (int rank = 0; rank < m->size; rank++) {
		for (int i = 0; i < ROUNDS; i++)
			sum += 1 + (i >= rank * 4 && i % 4 == 0 ? TARGETS : 0);
	}
	return sum;
}

static bool targets_have(const int64_t *words, int64_t sum)
{
	for (int i = 0; i < TARGETS; i++)
		sum -= words[i];
	return sum == 0;
}

/* Each time they begin with instructions: rank 0 has pinned its words since. */
static void words_in_vectors(struct multi *m)
{
	int times = multi_over_card() ? 1 : 20;

	for (int i = 0; i < times; i++) {
		struct tally t;

		CHECK_OK(m, atomic_mode_pin(m->job, "words_in_vectors"));
		atomic_mode_unpin(m->job);
		multi_sync(m);
		open_tally_of(m, &t, 1, true);
		add_single_and_all(m, t.window.win, t.window.win, m->rank * 4);
		CHECK_OK(m, oriel_win_fence(t.window.win, 0));
		CHECK(m, m->rank || targets_have(t.words, all_added(m)));
		close_tally(m, &t);
	}
}

/* Vectors by one window, before and while there is another on the same memory, by which single ones go. */
static void words_in_two_windows(struct multi *m)
{
	oriel_win *other;
	struct tally t;

	open_tally_of(m, &t, 1, true);
	add_to_all(m, t.window.win);
	CHECK_OK(m, oriel_win_create(t.window.base, TARGETS * WORD, 1, NULL, m->group, &other));
	CHECK_OK(m, oriel_win_fence(other, 0));
	add_single_and_all(m, other, t.window.win, m->rank * 4);
	CHECK_OK(m, oriel_win_fence(other, 0));
	CHECK_OK(m, oriel_win_free(&other));
	add_to_all(m, t.window.win);
	CHECK_OK(m, oriel_win_fence(t.window.win, 0));
	CHECK(m, m->rank || targets_have(t.words, all_added(m) + 2 * TARGETS * m->size));
	close_tally(m, &t);
}

static void one_fetch(struct multi *m, struct tally *t, int i)
{
	fetch(m, t, 1, i % 2 ? ORIEL_SUM : ORIEL_NO_OP, 1);
}

static void one_swap(struct multi *m, struct tally *t, int i)
{
	swap_if(m, t, i, i + 1, 2);
}

#define NUMBERS 2048 /* floats: 8 KiB */

static void one_vector(struct multi *m, struct tally *t, int i)
{
	static const float ones[NUMBERS];

	(void)i;
	CHECK_OK(m, oriel_accumulate(t->window.win, ones, NUMBERS, ORIEL_FLOAT, ORIEL_SUM, 0, TARGETS * WORD));
	CHECK_OK(m, oriel_win_flush(t->window.win, 0));
}

/* Accumulates a vector of words with as many bytes. */
static void one_vector_of_words(struct multi *m, struct tally *t, int i)
{
	static const int64_t ones[NUMBERS / 2];

	(void)i;
	CHECK_OK(m, oriel_accumulate(t->window.win, ones, NUMBERS / 2, ORIEL_INT64, ORIEL_SUM, 0, TARGETS * WORD));
	CHECK_OK(m, oriel_win_flush(t->window.win, 0));
}

/* The fewest requests to rank 0 that an operation and its flush have taken: pings may come between. */
static uint64_t fewest(struct multi *m, struct tally *t, void (*operation)(struct multi *m, struct tally *t, int i))
{
	const struct wire *wire = &peer_find(m->job, 0)->wire;
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = wire->posted;

		operation(m, t, i);
		least = wire->posted - before < least ? wire->posted - before : least;
	}
	return least;
}

/* Words: one request each, and nothing for the target to apply. */
static void words_alone(struct multi *m, struct tally *t)
{
	uint64_t before = multi_applied(m);

	multi_sync(m);
	if (m->rank == 1) {
		CHECK(m, fewest(m, t, one_fetch) <= 1);
		CHECK(m, fewest(m, t, one_swap) <= 1);
	}
	multi_sync(m);
	CHECK(m, m->rank || multi_applied(m) == before);
}

/*
 * Requests of a vector that the target applies: its active message, of which each message of the
 * largest size is one (ORIEL_MAX_MESSAGE), and four beside.
 */
static uint64_t vector_requests_max(struct multi *m)
{
	uint64_t largest = peer_find(m->job, 0)->wire.max_message_bytes;

	return 4 + (sizeof(struct am) + NUMBERS * sizeof(float) - 1) / largest + 1;
}

/* How many requests each operation takes at the most; a vector may be the target's. */
static void few_requests(struct multi *m)
{
	const struct device *device;
	struct tally t;

	open_tally(m, &t);
	if (m->rank == 1)
		one_fetch(m, &t, 0); /* first contact */
	multi_sync(m);
	device = peer_find(m->job, 1 - m->rank)->device;
	if (device->atomics == ATOMICS_NONE)
		multi_skip(m, "device %s has no atomics", device_name(device));
	else if (!device_maps_memory(device) ||
	         job_atomic_device(m->job)) /* others change words of private memory by copies */
		words_alone(m, &t);
	multi_sync(m);
	if (m->rank == 1)
		CHECK(m, fewest(m, &t, one_vector) <= vector_requests_max(m));
	if (m->rank == 1 && !job_atomic_device(m->job)) /* by a card's own atomics it is one for each word */
		CHECK(m, fewest(m, &t, one_vector_of_words) <= vector_requests_max(m));
	close_tally(m, &t);
}

static const struct multi_case cases[] = {
	{ "A10_three_kinds_of_origin", 0, three_kinds },        { "A9_A14_mixed_calls_on_words", 0, mixed_calls },
	{ "A9_replaced_values_are_not_lost", 0, replaced },     { "A11_words_beside", 0, neighbours },
	{ "A15_program_order_of_words", 0, in_order },          { "A20_few_requests", 2, few_requests },
	{ "A9_single_words_and_vectors", 0, words_in_vectors }, { "A13_words_in_two_windows", 0, words_in_two_windows },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_atomics",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
