// SPDX-License-Identifier: BSD-2-Clause
/*
 * raw.c - the turns of backend.h on bare verbs, in the least code: post, poll, spin
 *
 * The messages are Oriel's. A post is an 8-byte write; data and the completed flag leave in one
 * list. Puts that use the program's memory are waited for. Puts that are sent inline are not, nor,
 * with --memory heap, those up to RAW_STAGE_MAX, which are copied.
 */
#include <stdio.h>
#include <string.h>

#include "backends/raw.h"

#define LIST 16 /* work requests posted together, unless -l is given */
#define SIGNAL_EVERY (RAW_DEPTH / 4)

static struct {
	uint64_t signal_every;
	int list;
	bool stage;
	bool poll;
} how;

static uint64_t barriers;

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* Queue. */

static int poll_some(struct raw_peer *peer)
{
	struct ibv_wc wc[16];
	int count = ibv_poll_cq(peer->id->send_cq, 16, wc);

	for (int i = 0; i < count; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			return fprintf(stderr, "raw: %s\n", ibv_wc_status_str(wc[i].status)), 1;
		peer->retired = wc[i].wr_id;
	}
	return count < 0 ? fail("ibv_poll_cq") : 0;
}

int raw_drain(struct raw_peer *peer, uint64_t number)
{
	for (long spins = 0; peer->retired < number; spins++) {
		if (poll_some(peer))
			return 1;
		if (spins >= perf_spins) /* as for words: the device's threads may need this processor */
			perf_spin(spins);
	}
	return 0;
}

/*
 * Handles a failed poll of what `peer` will write. A device that shares memory may need this
 * process to place data in private windows (-w create), which it does while it polls its completion
 * queue.
 */
static int look_on(struct raw_peer *peer, long spins)
{
	if (how.poll && spins < perf_spins)
		return poll_some(peer);
	perf_spin(spins);
	return how.poll ? poll_some(peer) : 0;
}

int raw_await_word(struct raw_peer *peer, const uint64_t *word, uint64_t value)
{
	for (long spins = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; spins++) {
		if (look_on(peer, spins))
			return 1;
	}
	return 0;
}

void raw_append(struct raw_list *list, enum ibv_wr_opcode opcode, const void *here, const struct ibv_mr *mr,
                size_t bytes, uint64_t there, uint32_t rkey)
{
	struct ibv_sge *sge = &list->sge[list->count];
	struct ibv_send_wr *wr = &list->wr[list->count++];

	*sge = (struct ibv_sge){ (uint64_t)(uintptr_t)here, (uint32_t)bytes, mr->lkey };
	wr->next = NULL;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->opcode = opcode;
	wr->send_flags = opcode == IBV_WR_RDMA_WRITE && bytes <= raw.inline_max ? IBV_SEND_INLINE : 0;
	wr->wr.rdma.remote_addr = there;
	wr->wr.rdma.rkey = rkey;
	if (wr != list->wr)
		wr[-1].next = wr;
}

/* Posts the list; `signal` requests a completion of its last request. */
int raw_post(struct raw_peer *peer, struct raw_list *list, bool signal)
{
	struct ibv_send_wr *bad;

	while (peer->posted + (uint64_t)list->count > peer->retired + RAW_DEPTH) {
		if (poll_some(peer))
			return 1;
	}
	for (int i = 0; i < list->count; i++) {
		list->wr[i].wr_id = ++peer->posted;
		if (peer->posted - peer->signalled < how.signal_every && !(signal && i + 1 == list->count))
			continue;
		list->wr[i].send_flags |= IBV_SEND_SIGNALED;
		peer->signalled = peer->posted;
	}
	list->count = 0;
	return ibv_post_send(peer->id->qp, list->wr, &bad) ? fail("ibv_post_send") : 0;
}

/* Words. */

uint64_t raw_word_there(const struct raw_peer *peer, size_t offset)
{
	return peer->there.shared + offsetof(struct raw_shared, of) + (size_t)raw.rank * sizeof(struct raw_words) + offset;
}

void raw_append_word(struct raw_list *list, const struct raw_peer *peer, const uint64_t *value, uint64_t there)
{
	if (raw.inline_max < sizeof(*value)) {
		uint64_t *out = &peer->out[(peer->posted + (uint64_t)list->count) % RAW_DEPTH];

		*out = *value;
		value = out;
	}
	raw_append(list, IBV_WR_RDMA_WRITE, value, raw.shared_mr, sizeof(*value), there, peer->there.shared_rkey);
}

static inline __attribute__((always_inline)) int write_word(struct raw_peer *peer, const uint64_t *value, uint64_t there, bool signal)
{
	struct raw_list list;

	list.count = 0; /* the rest is a page or two: too much to clear for one word */
	raw_append_word(&list, peer, value, there);
	return raw_post(peer, &list, signal);
}

static uint64_t barrier_word(const struct raw_peer *to, uint64_t number, int round)
{
	return to->there.shared + offsetof(struct raw_shared, barrier) +
	       (number % 2 * RAW_ROUNDS_MAX + (size_t)round) * sizeof(uint64_t);
}

static inline int await_round(uint64_t number, int round, int distance)
{
	struct raw_peer *from = &raw.peers[(raw.rank + raw.size - distance) % raw.size];

	return raw_await_word(from, &raw.shared->barrier[number % 2][round], number);
}

/* Runs the barrier's rounds from `round` on. */
static inline __attribute__((always_inline)) int barrier_rounds(uint64_t number, int round)
{
	for (int distance = 1 << round; distance < raw.size; round++, distance *= 2) {
		struct raw_peer *to = &raw.peers[(raw.rank + distance) % raw.size];

		if (write_word(to, &number, barrier_word(to, number, round), false) || await_round(number, round, distance))
			return 1;
	}
	return 0;
}

static int barrier(void)
{
	return barrier_rounds(++barriers, 0);
}

/* Epochs. */

static int post_to(int rank)
{
	struct raw_peer *peer = &raw.peers[rank];

	peer->posts_sent++;
	return write_word(peer, &peer->posts_sent, raw_word_there(peer, offsetof(struct raw_words, posted)), false);
}

static int await_post(int rank)
{
	return raw_await_word(&raw.peers[rank], &raw.shared->of[rank].posted, ++raw.peers[rank].posts_awaited);
}

static int await_complete(int rank)
{
	return raw_await_word(&raw.peers[rank], &raw.shared->of[rank].completed, ++raw.peers[rank].completes_awaited);
}

static int expose(const struct perf_turn *turn)
{
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		if (post_to(rank))
			return 1;
	}
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		if (await_complete(rank))
			return 1;
	}
	return 0;
}

void raw_append_put(struct raw_list *list, const struct raw_peer *peer, const struct perf_turn *turn, size_t at, int to)
{
	raw_append(list, IBV_WR_RDMA_WRITE, turn->origin + at, raw.origin_mr, turn->size_bytes,
	           peer->there.window + put_disp(turn, to) + at, peer->there.window_rkey);
}

/*
 * Appends a put via bounce buffers, one for each request in the queue; the list must be posted
 * next.
 */
static int append_staged(struct raw_list *list, struct raw_peer *peer, const struct perf_turn *turn, int to)
{
	uint8_t *stage = peer->stage + peer->posted % RAW_DEPTH * ((turn->size_bytes + 63) & ~(size_t)63);

	while (peer->posted + 2 > peer->retired + RAW_DEPTH) {
		if (poll_some(peer))
			return 1;
	}
	memcpy(stage, turn->origin, turn->size_bytes);
	raw_append(list, IBV_WR_RDMA_WRITE, stage, raw.stage_mr, turn->size_bytes, peer->there.window + put_disp(turn, to),
	           peer->there.window_rkey);
	return 0;
}

/* Returns true if a put uses the program's memory until it is acknowledged. */
static bool lends(const struct perf_turn *turn)
{
	return turn->size_bytes > (how.stage ? RAW_STAGE_MAX : raw.inline_max);
}

/* Sends put and flag in one list. */
static int put_and_flag(const struct perf_turn *turn, int to)
{
	struct raw_peer *peer = &raw.peers[to];
	struct raw_list list;

	list.count = 0;
	peer->completes_sent++;
	if (await_post(to))
		return 1;
	if (turn->size_bytes > raw.inline_max && !lends(turn)) {
		if (append_staged(&list, peer, turn, to))
			return 1;
	} else if (turn->size_bytes > 0) {
		raw_append_put(&list, peer, turn, 0, to);
	}
	raw_append_word(&list, peer, &peer->completes_sent, raw_word_there(peer, offsetof(struct raw_words, completed)));
	return raw_post(peer, &list, lends(turn));
}

/*
 * Puts to the next rank, with the first round's word behind it. Other ranks get their words once
 * the put is complete.
 */
static int put_and_barrier(const struct perf_turn *turn)
{
	int to = (raw.rank + 1) % raw.size;
	struct raw_peer *peer = &raw.peers[to];
	uint64_t number = ++barriers;
	bool drains = lends(turn) || raw.size > 2;
	struct raw_list list;

	list.count = 0;
	raw_append_put(&list, peer, turn, 0, to);
	raw_append_word(&list, peer, &number, barrier_word(peer, number, 0));
	if (raw_post(peer, &list, drains) || await_round(number, 0, 1) || (drains && raw_drain(peer, peer->posted)))
		return 1;
	return barrier_rounds(number, 1);
}

static int drain_all(const struct perf_turn *turn)
{
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		if (raw_drain(&raw.peers[rank], raw.peers[rank].posted))
			return 1;
	}
	return 0;
}

static int access_put(const struct perf_turn *turn)
{
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		if (put_and_flag(turn, rank))
			return 1;
	}
	return lends(turn) && drain_all(turn);
}

static int flag_all(const struct perf_turn *turn, bool signal)
{
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		struct raw_peer *peer = &raw.peers[rank];

		peer->completes_sent++;
		if (write_word(peer, &peer->completes_sent, raw_word_there(peer, offsetof(struct raw_words, completed)),
		               signal))
			return 1;
	}
	return 0;
}

static int read_from(const struct perf_turn *turn, int from)
{
	struct raw_peer *peer = &raw.peers[from];
	struct raw_list list;

	list.count = 0;
	raw_append(&list, IBV_WR_RDMA_READ, get_origin(turn, from), raw.origin_mr, turn->size_bytes,
	           peer->there.window + get_disp(turn), peer->there.window_rkey);
	return raw_post(peer, &list, true);
}

static int get_all(const struct perf_turn *turn)
{
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		if (read_from(turn, rank))
			return 1;
	}
	return drain_all(turn);
}

static int await_posts(const struct perf_turn *turn)
{
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		if (await_post(rank))
			return 1;
	}
	return 0;
}

static int access_get(const struct perf_turn *turn)
{
	return await_posts(turn) || get_all(turn) || flag_all(turn, false);
}

/* Latencies. */

static int put_lat_pscw(const struct perf_turn *turn)
{
	if (turn->rank == 0)
		return access_put(turn) || expose(turn);
	return expose(turn) || access_put(turn);
}

static int get_lat_pscw(const struct perf_turn *turn)
{
	if (turn->rank == 0)
		return access_get(turn) || expose(turn);
	return expose(turn) || access_get(turn);
}

static int put_one(const struct perf_turn *turn, int to)
{
	struct raw_list list;

	list.count = 0;
	raw_append_put(&list, &raw.peers[to], turn, 0, to);
	return raw_post(&raw.peers[to], &list, true);
}

static int put_all(const struct perf_turn *turn)
{
	for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
		if (put_one(turn, rank))
			return 1;
	}
	return drain_all(turn);
}

static int put_fence(const struct perf_turn *turn)
{
	int next = (raw.rank + 1) % raw.size;

	if (first_partner(turn) == next && last_partner(turn) == next)
		return put_and_barrier(turn);
	return put_all(turn) || barrier();
}

static int put_lat_fence(const struct perf_turn *turn)
{
	if (turn->rank == 0)
		return put_fence(turn) || barrier();
	return barrier() || put_fence(turn);
}

static int get_lat_fence(const struct perf_turn *turn)
{
	if (turn->rank == 0)
		return get_all(turn) || barrier() || barrier();
	return barrier() || get_all(turn) || barrier();
}

static int put_marked(const struct perf_turn *turn)
{
	turn->origin[turn->size_bytes - 1] = turn->mark;
	return put_all(turn);
}

static int put_lat_flush(const struct perf_turn *turn)
{
	if (turn->rank == 0 && put_marked(turn))
		return 1;
	for (long spins = 0; !mark_is_there(turn); spins++) {
		if (look_on(&raw.peers[1 - turn->rank], spins))
			return 1;
	}
	return turn->rank == 1 ? put_marked(turn) : 0;
}

static int get_lat_flush(const struct perf_turn *turn)
{
	return turn->rank == 0 && get_all(turn);
}

/* Bandwidths. */

static void append_get(struct raw_list *list, const struct raw_peer *peer, const struct perf_turn *turn, size_t at)
{
	raw_append(list, IBV_WR_RDMA_READ, turn->origin + at, raw.origin_mr, turn->size_bytes,
	           peer->there.window + get_disp(turn) + at, peer->there.window_rkey);
}

/* Posts operations first .. first + count - 1 to a peer in one list; `signal` as in raw_post. */
static int post_batch(const struct perf_turn *turn, int rank, long first, int count, bool get, bool signal)
{
	struct raw_peer *peer = &raw.peers[rank];
	struct raw_list list;

	list.count = 0;
	for (int i = 0; i < count; i++) {
		if (get)
			append_get(&list, peer, turn, slot_at(turn, first + i));
		else
			raw_append_put(&list, peer, turn, slot_at(turn, first + i), rank);
	}
	return raw_post(peer, &list, signal);
}

/* Posts a batch; `signal` requests completions of its last operations. */
static int operations(const struct perf_turn *turn, bool get, bool signal)
{
	for (long i = 0; i < turn->operations; i += how.list) {
		int count = (int)(turn->operations - i < how.list ? turn->operations - i : how.list);

		for (int rank = first_partner(turn); rank <= last_partner(turn); rank++) {
			if (post_batch(turn, rank, i, count, get, signal && i + count == turn->operations))
				return 1;
		}
	}
	return 0;
}

static int batch(const struct perf_turn *turn, bool get)
{
	return operations(turn, get, true) || drain_all(turn);
}

/* Sends the flags behind the puts, without waiting between. */
static int put_epoch(const struct perf_turn *turn)
{
	bool lent = turn->size_bytes > raw.inline_max;

	return await_posts(turn) || operations(turn, false, false) || flag_all(turn, lent) || (lent && drain_all(turn));
}

static int put_bw_pscw(const struct perf_turn *turn)
{
	return turn->rank == 0 ? put_epoch(turn) : expose(turn);
}

static int get_bw_pscw(const struct perf_turn *turn)
{
	if (turn->rank != 0)
		return expose(turn);
	return await_posts(turn) || batch(turn, true) || flag_all(turn, false);
}

static int put_bw_fence(const struct perf_turn *turn)
{
	return (turn->rank == 0 && batch(turn, false)) || barrier();
}

static int get_bw_fence(const struct perf_turn *turn)
{
	return (turn->rank == 0 && batch(turn, true)) || barrier();
}

static int put_bw_flush(const struct perf_turn *turn)
{
	return turn->rank == 0 && batch(turn, false);
}

static int get_bw_flush(const struct perf_turn *turn)
{
	return turn->rank == 0 && batch(turn, true);
}

static int bibw_pscw(const struct perf_turn *turn)
{
	return post_to(1 - turn->rank) || put_epoch(turn) || await_complete(1 - turn->rank);
}

static int bibw_fence(const struct perf_turn *turn)
{
	return batch(turn, false) || barrier();
}

static int bibw_flush(const struct perf_turn *turn)
{
	return batch(turn, false);
}

/* Single epochs. */

static int epoch_late(const struct perf_turn *turn)
{
	return turn->rank == 0 ? expose(turn) : access_put(turn);
}

/* Exchanges puts between all ranks. */
static int exchange(const struct perf_turn *turn)
{
	for (int rank = 0; rank < raw.size; rank++) {
		if (rank != raw.rank && post_to(rank))
			return 1;
	}
	for (int rank = 0; rank < raw.size; rank++) {
		if (rank != raw.rank && put_and_flag(turn, rank))
			return 1;
	}
	for (int rank = 0; rank < raw.size; rank++) {
		if (rank != raw.rank && lends(turn) && raw_drain(&raw.peers[rank], raw.peers[rank].posted))
			return 1;
	}
	for (int rank = 0; rank < raw.size; rank++) {
		if (rank != raw.rank && await_complete(rank))
			return 1;
	}
	return 0;
}

static int fence_alone(const struct perf_turn *turn)
{
	return turn->rank == 0 && turn->size_bytes > 0 ? put_and_barrier(turn) : barrier();
}

static perf_turn_fn turn_of(enum perf_pattern pattern, enum perf_sync sync)
{
	static const perf_turn_fn turns[][3] = {
		[PATTERN_PUT_LAT] = { put_lat_pscw, put_lat_fence, put_lat_flush },
		[PATTERN_GET_LAT] = { get_lat_pscw, get_lat_fence, get_lat_flush },
		[PATTERN_PUT_BW] = { put_bw_pscw, put_bw_fence, put_bw_flush },
		[PATTERN_GET_BW] = { get_bw_pscw, get_bw_fence, get_bw_flush },
		[PATTERN_PUT_BIBW] = { bibw_pscw, bibw_fence, bibw_flush },
		[PATTERN_EPOCH_LATE] = { epoch_late, NULL, NULL },
		[PATTERN_EXCHANGE] = { exchange, NULL, NULL },
		[PATTERN_FENCE] = { NULL, fence_alone, NULL },
		[PATTERN_SIGNAL] = { NULL, NULL, NULL },
	};

	if (raw_passive_turn(pattern))
		return raw_passive_turn(pattern);
	if (sync == SYNC_LOCK)
		return NULL;
	return turns[pattern][sync == SYNC_LOCK_ALL ? SYNC_FLUSH : sync];
}

/* Joining. */

/* Rank 0 writes the number to all before the barrier. */
static int agree(int64_t *value)
{
	uint64_t number = (uint64_t)*value;

	for (int rank = 1; raw.rank == 0 && rank < raw.size; rank++) {
		struct raw_peer *peer = &raw.peers[rank];
		uint64_t there = raw_word_there(peer, offsetof(struct raw_words, agreed));

		if (write_word(peer, &number, there, true) || raw_drain(peer, peer->posted))
			return 1;
	}
	if (barrier())
		return 1;
	if (raw.rank != 0)
		*value = (int64_t)__atomic_load_n(&raw.shared->of[0].agreed, __ATOMIC_ACQUIRE);
	return barrier(); /* then all have read the number */
}

static int open_raw(const struct perf_options *options, struct perf_place *place)
{
	how.signal_every = options->signal_every > 0 ? (uint64_t)options->signal_every : SIGNAL_EVERY;
	how.list = options->post_list > 0 ? options->post_list : LIST;
	if (options->window != WINDOW_CREATE && options->window != WINDOW_ALLOCATE)
		return fprintf(stderr, "raw: -w is create or allocate\n"), 2;
	if (options->memory == MEMORY_ALLOC_MEM)
		return fprintf(stderr, "raw: -m is heap, huge or registered\n"), 2;
	how.poll = options->window == WINDOW_CREATE;
	how.stage = options->memory != MEMORY_REGISTERED;
	if (how.signal_every > RAW_DEPTH / 2)
		return fprintf(stderr, "raw: -Q is at most %d, half of the queue\n", RAW_DEPTH / 2), 2;
	if (how.list > RAW_LIST_MAX)
		return fprintf(stderr, "raw: -l is at most %d\n", RAW_LIST_MAX), 2;
	return raw_connect(options, place) || barrier();
}

static const struct perf_refusal refusals[] = {
	{ "--type", "it adds doubles" },
	{ NULL, NULL },
};

const struct perf_backend backend = {
	.name = "raw",
	.refusals = refusals,
	.open = open_raw,
	.barrier = barrier,
	.agree = agree,
	.turn = turn_of,
	.close = barrier,
};
