// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_am.c - am_send.c, am_recv.c, am_wakeup.c: messages between ranks over the fake
 * device, without windows: a handler of the test's own adds up what it is sent
 */
#include <CUnit/CUnit.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "am/am_recv.h"
#include "am/am_send.h"
#include "job/deferred_error.h"

#include "fake_job.h"
#include "fake_verbs.h"
#include "suites_fake.h"

#define RANKS 3
#define ROUNDS 300
#define LARGE_WORDS (AM_LARGEST_BYTES / sizeof(uint64_t))

/*
 * A rank's sum, behind am->lock. The message's window_check says which rank's: the test has no
 * windows.
 */
static uint64_t sums[RANKS];
static uint64_t deferred_errors[RANKS];

/* Adds data[0] to the sum; the result is data with data[0] replaced by the sum before. */
static int add_up(struct oriel_job *job, const struct am *am, const uint8_t *data, void *result)
{
	const uint8_t *from = am->data_at == AM_INLINE ? am->data : data + am->data_at;
	uint64_t *words = result, operand;

	if (am->op == 99) {
		deferred_errors[job->rank]++;
		return -AM_OUTSIDE;
	}
	memcpy(words, from, am->data_bytes);
	words[0] = sums[job->rank];
	memcpy(&operand, from, sizeof(operand)); /* as messages lie it has no alignment of its own */
	sums[job->rank] += operand;
	return am->wants_result ? (int)am->data_bytes : 0;
}

static const struct am_handler adder = { add_up };

/* Applies a message late now and then, as if another thread held its elements. */
static int add_up_later(struct oriel_job *job, const struct am *am, const uint8_t *data, void *result)
{
	static uint64_t looks[RANKS];

	return looks[job->rank]++ % 8 < 3 ? AM_LATER : add_up(job, am, data, result);
}

static const struct am_handler late_adder = { add_up_later };

static struct peer *neighbour(struct rank *rank, int distance)
{
	struct peer *peer = NULL;

	peer_get(rank->job, (rank->rank + distance) % rank->size, &peer);
	return peer;
}

/* A turn of a wait, as wait_until makes it. */
static void turn(struct rank *rank)
{
	am_poll(rank->job, &rank->job->am);
	sched_yield();
}

static uint64_t post(struct rank *rank, struct peer *peer, const struct am_message *message)
{
	struct am_sent sent = { 0 };
	int rc;

	while ((rc = am_send(peer, message, &sent)) == 0) {
		wire_poll(&peer->wire);
		turn(rank);
	}
	rank_note(rank, "am_send", rc);
	return sent.number;
}

static void await(struct rank *rank, struct peer *peer, uint64_t number)
{
	while (!am_progress(peer, number) && state_load(&peer->state) == PEER_UP)
		turn(rank);
}

/* Returns the words that ranks send in round i: one, as many as fit a slot, the most. */
static uint32_t words_of(int i)
{
	static const uint32_t words[] = { 1, 8, 9, 100, LARGE_WORDS };

	return words[i % 5];
}

/*
 * Each rank sends to the next one; the sums before come back in order and the rest of the words as
 * they were.
 */
static void send_and_fetch(struct rank *rank, struct peer *peer)
{
	uint64_t data[LARGE_WORDS], results[4][LARGE_WORDS] = { { 0 } }, expected = 0;

	for (int i = 0; i < ROUNDS && rank->errors == 0; i++) {
		uint32_t bytes = words_of(i) * (uint32_t)sizeof(uint64_t);
		uint64_t *result = results[i % 4];
		struct am_message message = { .am = { .data_bytes = (uint16_t)bytes }, .data = data };

		for (uint32_t k = 0; k < words_of(i); k++)
			data[k] = (uint64_t)i * 1000 + k + 1;
		if (i % 3) {
			message.result = result;
			message.result_bytes = bytes;
		}
		await(rank, peer, post(rank, peer, &message) - (i % 2 ? 0 : 1));
		if (i % 2 && i % 3) {
			rank->wrong += result[0] != expected;
			for (uint32_t k = 1; k < words_of(i); k++)
				rank->wrong += result[k] != data[k];
		}
		expected += data[0];
	}
}

static void exchange_by(struct rank *rank, const struct am_handler *handler)
{
	struct peer *peer;

	if (rank_join(rank, NULL))
		return;
	rank->job->am.handler = handler;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	peer = neighbour(rank, 1);
	if (peer && rank->errors == 0) {
		send_and_fetch(rank, peer);
		await(rank, peer, peer->am_sender->sent);
	}
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void exchange(struct rank *rank)
{
	exchange_by(rank, &adder);
}

static void exchange_late(struct rank *rank)
{
	exchange_by(rank, &late_adder);
}

static void run(rank_function *function, const char *what)
{
	struct rank ranks[RANKS];

	memset(sums, 0, sizeof(sums));
	memset(deferred_errors, 0, sizeof(deferred_errors));
	ranks_limit(60, "active messages, %s", what);
	ranks_run(RANKS, function, NULL, ranks);
	ranks_check(ranks, RANKS);
}

static void check_sums(void)
{
	uint64_t expected = 0;

	for (int i = 0; i < ROUNDS; i++)
		expected += (uint64_t)i * 1000 + 1;
	for (int i = 0; i < RANKS; i++)
		CU_ASSERT_EQUAL(sums[i], expected);
}

static void am__are_applied_in_order_and_answered(void)
{
	static const char *const modes[] = { "write", "atomic", "wait" };

	for (int i = 0; i < 6; i++) {
		fake_reset();
		fake_config.engine = i >= 3;
		fake_config.late_polls = i >= 3 ? 2 : 0;
		fake_config.max_inline = i == 4 ? 0 : 220;
		setenv("ORIEL_FLAGS", modes[i % 3], 1);
		run(exchange, modes[i % 3]);
		unsetenv("ORIEL_FLAGS");
		check_sums();
	}
}

/* One that cannot be applied now keeps its place, and those behind it theirs. */
static void am__are_applied_later(void)
{
	fake_reset();
	run(exchange_late, "later");
	check_sums();
}

static uint32_t asleep; /* rank 1 has left the barrier, in which it looks at rings itself */

/* The target's threads call nothing: its service thread applies, and is woken for it. */
static void send_to_sleeper_of(struct rank *rank, const struct am_handler *handler)
{
	struct am_message message = { .am = { .data_bytes = 8 }, .data = &(uint64_t){ 1 } };
	struct peer *peer;

	if (rank_join(rank, NULL))
		return;
	rank->job->am.handler = handler;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	if (rank->rank == 1)
		state_store(&asleep, 1); /* pairs with rank 0's */
	while (rank->rank == 0 && !state_load(&asleep))
		sched_yield();
	peer = neighbour(rank, 1);
	for (int i = 0; i < 50 && rank->rank == 0; i++) {
		uint64_t number = post(rank, peer, &message);

		while (!am_progress(peer, number)) /* only the service threads poll rings */
			sched_yield();
	}
	if (rank->rank == 1) {
		while (__atomic_load_n(&sums[1], __ATOMIC_ACQUIRE) < 50)
			sched_yield();
		rank->wrong += rank->job->am.polled != 0;
	}
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void send_to_sleeper(struct rank *rank)
{
	send_to_sleeper_of(rank, &adder);
}

static void send_to_late_sleeper(struct rank *rank)
{
	send_to_sleeper_of(rank, &late_adder);
}

static void am__wake_a_target_that_calls_nothing(void)
{
	fake_reset();
	asleep = 0;
	run(send_to_sleeper, "asleep");
	CU_ASSERT_EQUAL(sums[1], 50);
	fake_reset();
	asleep = 0;
	run(send_to_late_sleeper, "asleep, later");
	CU_ASSERT_EQUAL(sums[1], 50);
}

static uint32_t held;

/* Applies no message while they are held. */
static int hold_or_add(struct oriel_job *job, const struct am *am, const uint8_t *data, void *result)
{
	return state_load(&held) ? AM_LATER : add_up(job, am, data, result);
}

static const struct am_handler holder = { hold_or_add };

/*
 * Sends until there is no room, and goes on until the target has answered the last wakeup. Returns
 * how many it sent.
 */
static uint64_t fill_ring(struct rank *rank, struct peer *peer, const struct am_message *message)
{
	const struct am_sender *out = peer->am_sender;
	struct am_sent sent = { 0 };
	uint64_t wakes;
	int rc;

	do {
		wakes = out->wakes;
		rc = am_send(peer, message, &sent);
		wire_poll(&peer->wire);
		sched_yield();
	} while (rc == 1 || (rc == 0 && out->wakes == wakes && out->rested < wakes));
	rank->wrong += rc != 0 || out->wakes == wakes;
	return sent.number;
}

/*
 * The target, whose threads call nothing, rests while its ring is full of messages that another
 * thread holds up.
 */
static void fill_ring_of_sleeper(struct rank *rank)
{
	struct am_message message = { .am = { .data_bytes = 8 }, .data = &(uint64_t){ 1 } };
	struct peer *peer;

	if (rank_join(rank, NULL))
		return;
	rank->job->am.handler = &holder;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	if (rank->rank == 1)
		state_store(&asleep, 1); /* pairs with rank 0's */
	while (rank->rank == 0 && !state_load(&asleep))
		sched_yield();
	peer = neighbour(rank, 1);
	if (rank->rank == 0) {
		await(rank, peer, post(rank, peer, &message));
		state_store(&held, 1); /* pairs with the state_load in hold_or_add */
		rank->wrong += fill_ring(rank, peer, &message) != AM_SLOTS + 1;
		state_store(&held, 0);
		await(rank, peer, AM_SLOTS + 1);
	}
	while (rank->rank == 1 && __atomic_load_n(&sums[1], __ATOMIC_ACQUIRE) < AM_SLOTS + 1)
		sched_yield();
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void am__wake_a_target_that_has_no_room(void)
{
	fake_reset();
	asleep = 0;
	run(fill_ring_of_sleeper, "no room");
	CU_ASSERT_EQUAL(sums[1], AM_SLOTS + 1);
}

#define LARGE_MESSAGES 3

static uint32_t seen_applied; /* large messages of which rank 0 has the answer */

/* Waits in each large message until its sender has the answer to the one before, which waits for room. */
static int await_answer(struct oriel_job *job, const struct am *am, const uint8_t *data, void *result)
{
	uint32_t before = (uint32_t)(sums[job->rank] > 0 ? sums[job->rank] - 1 : 0);

	for (int i = 0; i < 100000 && state_load(&seen_applied) < before; i++) /* pairs with send_large */
		sched_yield();
	deferred_errors[job->rank] += state_load(&seen_applied) < before;
	return add_up(job, am, data, result);
}

static const struct am_handler awaiting = { await_answer };

static void send_large(struct rank *rank)
{
	uint64_t data[LARGE_WORDS] = { 1 }, first;
	struct am_message message = { .am = { .data_bytes = sizeof(data) }, .data = data }, small = message;
	struct peer *peer;

	small.am.data_bytes = sizeof(data[0]);
	if (rank_join(rank, NULL))
		return;
	rank->job->am.handler = &awaiting;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	if (rank->rank == 0) {
		peer = neighbour(rank, 1);
		await(rank, peer, post(rank, peer, &small)); /* the ring is made */
		first = post(rank, peer, &message);
		for (int i = 1; i < LARGE_MESSAGES; i++)
			post(rank, peer, &message);
		for (uint32_t i = 0; i < LARGE_MESSAGES; i++) {
			await(rank, peer, first + i);
			state_store(&seen_applied, i + 1); /* pairs with await_answer */
		}
	}
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void am__large_ones_are_answered_one_by_one(void)
{
	fake_reset();
	seen_applied = 0;
	run(send_large, "large");
	CU_ASSERT_EQUAL(sums[1], LARGE_MESSAGES + 1);
	CU_ASSERT_EQUAL(deferred_errors[1], 0);
}

static void send_nonsense(struct rank *rank)
{
	struct am_message good = { .am = { .data_bytes = 8 }, .data = &(uint64_t){ 1 } }, bad = good;
	uint64_t news = 0, before = 7;
	struct deferred_errors noted = { .news = &news };
	struct peer *peer;

	bad.am.op = 99;
	bad.result = &before;
	bad.result_bytes = sizeof(before);
	bad.subject = (struct am_subject){
		.deferred_errors = &noted, .window = "window 1", .call = "a_call", .disp_bytes = 77, .size_bytes = 8
	};
	if (rank_join(rank, NULL))
		return;
	rank->job->am.handler = &adder;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	peer = neighbour(rank, 1);
	post(rank, peer, &good);
	post(rank, peer, &bad);
	await(rank, peer, post(rank, peer, &good));
	rank->wrong += noted.state == 0 || news != UINT64_MAX || before != 7;
	rank->wrong += deferred_error_report(&noted) != ORIEL_ERR_RANGE || deferred_error_report(&noted) != 0;
	rank->wrong += !strstr(oriel_last_error(), "a_call: window ") || !strstr(oriel_last_error(), "77");
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void am__of_nonsense_are_refused_to_their_sender_only(void)
{
	fake_reset();
	run(send_nonsense, "nonsense");
	for (int i = 0; i < RANKS; i++) {
		CU_ASSERT_EQUAL(sums[i], 2);
		CU_ASSERT_EQUAL(deferred_errors[i], 1);
	}
}

/*
 * Returns the fewest requests that a message takes. Pings of ranks that wait may come between, the
 * more on a busy machine.
 */
static uint64_t least_requests(struct rank *rank, struct peer *peer, const struct am_message *message, uint64_t enough)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000 && least > enough; i++) {
		uint64_t before = fake_requests(), taken;

		await(rank, peer, post(rank, peer, message));
		taken = fake_requests() - before;
		least = taken < least ? taken : least;
	}
	return least;
}

/*
 * One small message with the connection and the ring made: operands and slot, the stamp, which
 * wakes; and the answer, which has a small result.
 */
static void count_requests(struct rank *rank)
{
	uint64_t before;
	struct am_message message = { .am = { .data_bytes = 8 }, .data = &(uint64_t){ 1 } }, fetching = message;
	struct peer *peer;

	if (rank_join(rank, NULL))
		return;
	rank->job->am.handler = &adder;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	peer = neighbour(rank, 1);
	if (rank->rank == 0) {
		await(rank, peer, post(rank, peer, &message));
		fetching.result = &before;
		fetching.result_bytes = sizeof(before);
		rank->wrong += least_requests(rank, peer, &message, 4) > 4; /* the last: the target rests */
		rank->wrong += least_requests(rank, peer, &fetching, 4) > 4;
	}
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void am__cost_two_writes_and_an_answer(void)
{
	fake_reset();
	run(count_requests, "counted");
}

#define TOGETHER 5

/* Messages that are answered together: the answer has the last result only. */
static void fetch_together(struct rank *rank, struct peer *peer)
{
	uint64_t sums_before[TOGETHER], last = 0;

	for (int i = 0; i < TOGETHER; i++) {
		struct am_message message = { .am = { .data_bytes = 8 },
			                          .data = &(uint64_t){ 1 },
			                          .result = &sums_before[i],
			                          .result_bytes = sizeof(sums_before[i]) };

		last = post(rank, peer, &message);
	}
	state_store(&held, 0); /* pairs with the state_load in hold_or_add */
	await(rank, peer, last);
	for (uint64_t i = 0; i < TOGETHER; i++)
		rank->wrong += sums_before[i] != i + 1;
}

static void exchange_together(struct rank *rank)
{
	struct am_message first = { .am = { .data_bytes = 8 }, .data = &(uint64_t){ 1 } };
	struct peer *peer;

	if (rank_join(rank, NULL))
		return;
	rank->job->am.handler = &holder;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	peer = neighbour(rank, 1);
	if (rank->rank == 0) {
		await(rank, peer, post(rank, peer, &first)); /* the ring is made */
		state_store(&held, 1);
		fetch_together(rank, peer);
	}
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void am__results_that_are_answered_together_are_all_there(void)
{
	fake_reset();
	run(exchange_together, "together");
	CU_ASSERT_EQUAL(sums[1], TOGETHER + 1);
}

#define PARTS 5
#define PART_BYTES 24

/* The parts of a result, in the reverse order of memory, with a gap behind each. */
static struct am_scatter *parts_of(uint8_t to[PARTS][2 * PART_BYTES])
{
	struct am_scatter *scatter = malloc(sizeof(*scatter) + PARTS * sizeof(scatter->parts[0]));

	CU_ASSERT_FATAL(scatter != NULL);
	scatter->count = PARTS;
	for (int i = 0; i < PARTS; i++)
		scatter->parts[i] = (struct am_part){ to[PARTS - 1 - i], PART_BYTES };
	return scatter;
}

/* A result in parts; that of a message which is refused stays as it was. */
static void fetch_parts(struct rank *rank, struct peer *peer)
{
	uint8_t to[PARTS][2 * PART_BYTES], data[PARTS * PART_BYTES];
	struct am_message message = { .am = { .data_bytes = sizeof(data) }, .data = data, .result_bytes = sizeof(data) };

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	for (int refused = 1; refused >= 0; refused--) {
		memset(to, 0, sizeof(to));
		message.am.op = refused ? 99 : 0;
		message.scatter = parts_of(to);
		await(rank, peer, post(rank, peer, &message));
		/* The first eight bytes of a result are the sum before. */
		for (int i = 0; i < PARTS; i++) {
			for (int k = i == 0 ? 8 : 0; k < 2 * PART_BYTES; k++)
				rank->wrong +=
					to[PARTS - 1 - i][k] != (refused || k >= PART_BYTES ? 0 : (uint8_t)(i * PART_BYTES + k + 1));
		}
	}
}

static void exchange_parts(struct rank *rank)
{
	if (rank_join(rank, NULL))
		return;
	rank->job->am.handler = &adder;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	fetch_parts(rank, neighbour(rank, 1));
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void am__results_come_in_parts(void)
{
	fake_reset();
	run(exchange_parts, "in parts");
}

void suite_am(void)
{
	CU_pSuite s = CU_add_suite("am", NULL, NULL);

	CU_ADD_TEST(s, am__are_applied_in_order_and_answered);
	CU_ADD_TEST(s, am__are_applied_later);
	CU_ADD_TEST(s, am__wake_a_target_that_calls_nothing);
	CU_ADD_TEST(s, am__wake_a_target_that_has_no_room);
	CU_ADD_TEST(s, am__large_ones_are_answered_one_by_one);
	CU_ADD_TEST(s, am__of_nonsense_are_refused_to_their_sender_only);
	CU_ADD_TEST(s, am__cost_two_writes_and_an_answer);
	CU_ADD_TEST(s, am__results_that_are_answered_together_are_all_there);
	CU_ADD_TEST(s, am__results_come_in_parts);
}
