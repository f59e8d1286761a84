// SPDX-License-Identifier: BSD-2-Clause
/*
 * raw_passive.c - locks, accumulates, atomics and signals on bare verbs
 *
 * The messages are Oriel's. A shared lock takes a write of this rank's word and a read of the
 * header; an exclusive one a write, a fetch-and-add on the tickets, and reads of header and
 * members. The release follows the data in its list. A rank polls the header until the lock is
 * free; turns hold it briefly. An accumulate of doubles is an active message, which the target
 * applies and answers.
 */
#include <stdio.h>
#include <string.h>

#include "backends/raw.h"

enum member_state { MEMBER_ABSENT, MEMBER_ASK, MEMBER_WAIT, MEMBER_INTENT, MEMBER_TICKET };

static const uint64_t absent = MEMBER_ABSENT, ask = MEMBER_ASK, intent = MEMBER_INTENT;

/* Requests. */

static uint64_t lock_there(const struct raw_peer *peer, size_t offset)
{
	return peer->there.shared + offsetof(struct raw_shared, lock) + offset;
}

static uint64_t member_there(const struct raw_peer *peer)
{
	return lock_there(peer, offsetof(struct raw_lock, members) + (size_t)raw.rank * sizeof(struct raw_member));
}

static void append_read(struct raw_list *list, const struct raw_peer *peer, void *here, size_t bytes, uint64_t there)
{
	raw_append(list, IBV_WR_RDMA_READ, here, raw.shared_mr, bytes, there, peer->there.shared_rkey);
}

/* Reads the header, and `next` again, because devices may tear it. */
static void append_header(struct raw_list *list, const struct raw_peer *peer)
{
	struct raw_seen *seen = &raw.shared->seen;

	append_read(list, peer, seen->header, RAW_HEADER_BYTES, lock_there(peer, 0));
	append_read(list, peer, &seen->next_again, sizeof(seen->next_again),
	            lock_there(peer, offsetof(struct raw_lock, next)));
}

static void append_fetch_and_add(struct raw_list *list, const struct ibv_mr *mr, uint64_t *result, uint64_t add,
                                 uint64_t there, uint32_t rkey)
{
	struct ibv_send_wr *wr = &list->wr[list->count];

	raw_append(list, IBV_WR_ATOMIC_FETCH_AND_ADD, result, mr, sizeof(*result), there, rkey);
	wr->wr.atomic.remote_addr = there;
	wr->wr.atomic.compare_add = add;
	wr->wr.atomic.rkey = rkey;
}

static int post_and_drain(struct raw_peer *peer, struct raw_list *list)
{
	return raw_post(peer, list, true) || raw_drain(peer, peer->posted);
}

/* Locks. */

static uint64_t serving(void)
{
	return raw.shared->seen.header[0];
}

static int read_header(struct raw_peer *peer)
{
	struct raw_list list;

	list.count = 0;
	append_header(&list, peer);
	return post_and_drain(peer, &list);
}

/* Locks, and waits until the present writer has left. */
static int lock_shared(struct raw_peer *peer)
{
	struct raw_list list;

	list.count = 0;
	raw_append_word(&list, peer, &ask, member_there(peer));
	append_header(&list, peer);
	if (post_and_drain(peer, &list))
		return 1;
	for (uint64_t next = raw.shared->seen.next_again; serving() < next;) {
		if (read_header(peer))
			return 1;
	}
	return 0;
}

/* Returns true if another rank reads, or asked before it knew of this writer. */
static bool readers_are_in(void)
{
	for (int rank = 0; rank < raw.size; rank++) {
		if (rank != raw.rank && raw.shared->seen.members[rank].state == MEMBER_ASK)
			return true;
	}
	return false;
}

static void append_members(struct raw_list *list, const struct raw_peer *peer)
{
	append_read(list, peer, raw.shared->seen.members, (size_t)raw.size * sizeof(struct raw_member),
	            lock_there(peer, offsetof(struct raw_lock, members)));
}

static int lock_exclusive(struct raw_peer *peer)
{
	struct raw_seen *seen = &raw.shared->seen;
	struct raw_list list;

	list.count = 0;
	raw_append_word(&list, peer, &intent, member_there(peer));
	append_fetch_and_add(&list, raw.shared_mr, &seen->ticket, 1, lock_there(peer, offsetof(struct raw_lock, next)),
	                     peer->there.shared_rkey);
	append_header(&list, peer);
	append_members(&list, peer);
	if (post_and_drain(peer, &list))
		return 1;
	while (serving() != seen->ticket || readers_are_in()) {
		append_header(&list, peer);
		append_members(&list, peer);
		if (post_and_drain(peer, &list))
			return 1;
	}
	return 0;
}

/* Sends data and release in one list. */
static int put_and_unlock(const struct perf_turn *turn, struct raw_peer *peer, int to)
{
	uint64_t next = raw.shared->seen.ticket + 1;
	struct raw_list list;

	list.count = 0;
	if (turn->size_bytes > 0)
		raw_append_put(&list, peer, turn, 0, to);
	if (turn->lock == LOCK_EXCLUSIVE)
		raw_append_word(&list, peer, &next, lock_there(peer, 0));
	raw_append_word(&list, peer, &absent, member_there(peer));
	return post_and_drain(peer, &list);
}

static int lock_alone(const struct perf_turn *turn)
{
	int to = target_rank(turn);
	struct raw_peer *peer = &raw.peers[to];

	if (raw.size > RAW_LOCKERS_MAX)
		return fprintf(stderr, "raw: locks are for at most %d ranks\n", RAW_LOCKERS_MAX), 1;
	if (is_target(turn))
		return 0;
	return (turn->lock == LOCK_SHARED ? lock_shared(peer) : lock_exclusive(peer)) || put_and_unlock(turn, peer, to);
}

/* Sends nothing: no outstanding request needs a completion. */
static int flush_alone(const struct perf_turn *turn)
{
	struct raw_peer *peer = &raw.peers[target_rank(turn)];

	for (int i = 0; !is_target(turn) && i < REPEATS; i++) {
		if (raw_drain(peer, peer->signalled))
			return 1;
	}
	return 0;
}

/* Accumulates. */

/* Sends operands, message and stamp in one list. */
static int send_record(const struct perf_turn *turn, struct raw_peer *peer, int to)
{
	struct raw_record *record = &raw.shared->of[to].record_out;
	uint64_t number = ++peer->records_sent;
	size_t inside = turn->size_bytes <= sizeof(record->data) ? turn->size_bytes : 0;
	struct raw_list list;

	list.count = 0;
	record->size_bytes = turn->size_bytes;
	record->disp_bytes = put_disp(turn, to);
	memcpy(record->data, turn->origin, inside);
	if (inside == 0)
		raw_append(&list, IBV_WR_RDMA_WRITE, turn->origin, raw.origin_mr, turn->size_bytes,
		           raw_word_there(peer, offsetof(struct raw_words, operands)), peer->there.shared_rkey);
	raw_append(&list, IBV_WR_RDMA_WRITE, record, raw.shared_mr, offsetof(struct raw_record, data) + inside,
	           raw_word_there(peer, offsetof(struct raw_words, record)), peer->there.shared_rkey);
	raw_append_word(&list, peer, &number, raw_word_there(peer, offsetof(struct raw_words, record.stamp)));
	return raw_post(peer, &list, false);
}

static int accumulate(const struct perf_turn *turn, int to)
{
	struct raw_peer *peer = &raw.peers[to];

	if (turn->size_bytes > RAW_RECORD_MAX)
		return fprintf(stderr, "raw: an accumulate is of at most %d bytes\n", RAW_RECORD_MAX), 1;
	return send_record(turn, peer, to) || raw_await_word(peer, &raw.shared->of[to].answer[0], peer->records_sent);
}

static void add(double *to, const double *operands, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] += operands[i];
}

/* Applies the next message of a rank. */
static int serve(int from)
{
	struct raw_peer *peer = &raw.peers[from];
	struct raw_words *words = &raw.shared->of[from];
	const struct raw_record *record = &words->record;
	struct raw_list list;

	if (raw_await_word(peer, &record->stamp, ++peer->records_taken))
		return 1;
	add((double *)(void *)((uint8_t *)raw.window_mr->addr + record->disp_bytes),
	    record->size_bytes <= sizeof(record->data) ? record->data : words->operands,
	    record->size_bytes / sizeof(double));
	list.count = 0;
	words->answer_out[0] = peer->records_taken;
	raw_append(&list, IBV_WR_RDMA_WRITE, words->answer_out, raw.shared_mr, sizeof(words->answer_out),
	           raw_word_there(peer, offsetof(struct raw_words, answer)), peer->there.shared_rkey);
	return raw_post(peer, &list, false);
}

static int acc_lat(const struct perf_turn *turn)
{
	if (!is_target(turn))
		return accumulate(turn, target_rank(turn));
	for (int rank = 0; rank < turn->neighbours; rank++) {
		if (serve(rank))
			return 1;
	}
	return 0;
}

/* Atomics. */

static int fetch_and_add(const struct perf_turn *turn)
{
	struct raw_peer *peer = &raw.peers[target_rank(turn)];
	struct perf_words *words = words_of(turn);
	struct raw_list list;

	for (int i = 0; !is_target(turn) && i < REPEATS; i++) {
		list.count = 0;
		append_fetch_and_add(&list, raw.origin_mr, &words->result, words->operand, peer->there.window + word_disp(turn),
		                     peer->there.window_rkey);
		if (post_and_drain(peer, &list))
			return 1;
	}
	return 0;
}

static int swap(const struct perf_turn *turn)
{
	struct raw_peer *peer = &raw.peers[target_rank(turn)];
	struct perf_words *words = words_of(turn);
	struct raw_list list;

	for (int i = 0; !is_target(turn) && i < REPEATS; i++) {
		list.count = 0;
		append_fetch_and_add(&list, raw.origin_mr, &words->result, words->compare, peer->there.window + word_disp(turn),
		                     peer->there.window_rkey);
		list.wr[0].opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		list.wr[0].wr.atomic.swap = words->operand;
		if (post_and_drain(peer, &list))
			return 1;
		expect_next(words);
	}
	return 0;
}

/* Signals. */

/* Writes value and count together behind the data; waits unless the data is inline. */
static int put_and_signal(const struct perf_turn *turn)
{
	int to = 1 - turn->rank;
	struct raw_peer *peer = &raw.peers[to];
	uint64_t slot[2] = { turn->mark, ++peer->completes_sent };
	struct raw_list list;

	list.count = 0;
	raw_append_put(&list, peer, turn, 0, to);
	raw_append(&list, IBV_WR_RDMA_WRITE, slot, raw.shared_mr, sizeof(slot),
	           peer->there.shared + offsetof(struct raw_shared, signals), peer->there.shared_rkey);
	if (turn->size_bytes <= raw.inline_max)
		return raw_post(peer, &list, false);
	return post_and_drain(peer, &list);
}

static int await_signal(const struct perf_turn *turn)
{
	struct raw_peer *peer = &raw.peers[1 - turn->rank];

	return raw_await_word(peer, &raw.shared->signals[1], ++peer->completes_awaited);
}

static int signal_lat(const struct perf_turn *turn)
{
	if (turn->rank == 0)
		return put_and_signal(turn) || await_signal(turn);
	return await_signal(turn) || put_and_signal(turn);
}

perf_turn_fn raw_passive_turn(enum perf_pattern pattern)
{
	switch (pattern) {
	case PATTERN_LOCK:
		return lock_alone;
	case PATTERN_FLUSH:
		return flush_alone;
	case PATTERN_ACC:
		return acc_lat;
	case PATTERN_FOP:
		return fetch_and_add;
	case PATTERN_CAS:
		return swap;
	case PATTERN_SIGNAL:
		return signal_lat;
	default:
		return NULL;
	}
}
