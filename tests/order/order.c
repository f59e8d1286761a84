// SPDX-License-Identifier: BSD-2-Clause
/*
 * order.c - the words of lib/soft/state/shm.h and lib/base/order.h between threads, for
 * ThreadSanitizer
 *
 * Each case is a small protocol of the library's own helpers, included here as they are: plain
 * memory that one thread writes and another reads, with nothing between them but the helper's word.
 * Weakening the order of a helper makes that a race, which ThreadSanitizer reports however the
 * threads happen to run; tests/order/run does so with one after the other and wants to see it. Not
 * so fences, which ThreadSanitizer does not follow: what rests on them (shm_busy_enter,
 * shm_mr_withdraw) is here with its fences on, and is correct, but is not seen to need them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "soft/base/base.h"
#include "soft/peer/pipe.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	ROUNDS = 1000,
	THREADS_MAX = 3,
	WORDS = 2, /* of data */
};

typedef void *thread_fn(void *arg);

static void failed(const char *what)
{
	fprintf(stderr, "order: %s\n", what);
	exit(1);
}

static void check(bool right, const char *what)
{
	if (!right)
		failed(what);
}

/* Run some threads with one argument, to their ends. */
static void together(thread_fn *const fn[], void *arg)
{
	pthread_t threads[THREADS_MAX];
	int n = 0;

	for (; n < THREADS_MAX && fn[n]; n++)
		if (pthread_create(&threads[n], NULL, fn[n], arg) != 0)
			failed("no thread");
	while (n > 0)
		pthread_join(threads[--n], NULL);
}

/* Data, of words: ThreadSanitizer remembers only the last accesses to each. */
struct data {
	uint64_t word[WORDS];
};

static void fill(struct data *data, uint64_t n)
{
	for (uint64_t i = 0; i < WORDS; i++)
		data->word[i] = n + i;
}

static bool holds(const struct data *data, uint64_t n)
{
	for (uint64_t i = 0; i < WORDS; i++)
		if (data->word[i] != n + i)
			return false;
	return true;
}

/* ---- the rings of a pipe: who posts, who takes answers (both of the requester), and the responder ---- */

struct rings {
	struct shm_req req[SHM_RING];
	struct shm_resp resp[SHM_RING];
	uint64_t req_chunk[SHM_CHUNKS], resp_chunk[SHM_CHUNKS]; /* the first word of each */
	struct soft_out out;
};

/* All of it; nothing is ordered by this. */
static bool is_answered(const struct soft_out *out)
{
	return atomic_load_explicit(&out->resp_tail, memory_order_relaxed) == out->req_head;
}

static void *posts(void *arg)
{
	struct rings *rings = arg;

	while (rings->out.req_head < ROUNDS) {
		struct shm_req *req = &rings->req[rings->out.req_head % SHM_RING];

		if (!soft_out_has_room(&rings->out)) {
			sched_yield();
			continue;
		}
		/*
		 * At first: as many are under way as few chunks serve, and are answered between that look
		 * and the chunk's choice.
		 */
		while (rings->out.req_head < ROUNDS / 2 && rings->out.req_head % SHM_FEW == 0 && !is_answered(&rings->out))
			sched_yield();
		req->raddr = rings->out.req_head;
		req->chunk = soft_out_chunk(&rings->out);
		rings->req_chunk[req->chunk] = req->raddr;
		shm_req_publish(req, ++rings->out.req_head);
	}
	return NULL;
}

static void *responds(void *arg)
{
	struct rings *rings = arg;

	for (uint64_t n = 0; n < ROUNDS; n++) {
		struct shm_req *req = &rings->req[n % SHM_RING];
		struct shm_resp *resp = &rings->resp[n % SHM_RING];

		while (!shm_req_is_there(req, n + 1))
			sched_yield();
		check(req->raddr == n && rings->req_chunk[req->chunk] == n, "a request");
		resp->value = n;
		resp->chunk = req->chunk;
		rings->resp_chunk[resp->chunk] = n;
		shm_resp_publish(resp, n + 1);
	}
	return NULL;
}

static void *takes_answers(void *arg)
{
	struct rings *rings = arg;

	for (uint64_t n = 0; n < ROUNDS; n++) {
		struct shm_resp *resp = &rings->resp[n % SHM_RING];

		while (!shm_resp_is_there(resp, n + 1))
			sched_yield();
		check(resp->value == n && rings->resp_chunk[resp->chunk] == n, "a response");
		soft_out_took(&rings->out, n + 1);
	}
	return NULL;
}

static void pipe_carries(void)
{
	static struct rings rings;

	together((thread_fn *const[]){ posts, responds, takes_answers }, &rings);
}

/* ---- the bell, and a queue pair's number behind it ---- */

struct ring {
	struct shm_bell bell;
	struct shm_segment *seg; /* of the thread that rings */
	struct data data[ROUNDS];
};

static void *rings_bell(void *arg)
{
	struct ring *ring = arg;

	for (uint32_t slot = 0; slot < SHM_SLOTS; slot++) {
		ring->seg->slot[slot] = slot + 100;
		shm_slots_store(ring->seg, slot + 1);
	}
	for (uint64_t n = 1; n <= ROUNDS; n++) {
		fill(&ring->data[n - 1], n);
		shm_bell_ring(&ring->bell, n, true);
		if (n % 16 == 0)
			sched_yield();
	}
	return NULL;
}

/* All that comes before a ring is there. */
static void *hears_bell(void *arg)
{
	struct ring *ring = arg;
	uint64_t heard = 0, last;

	while (heard < ROUNDS) {
		last = shm_bell_last(&ring->bell);
		for (; heard < last; heard++)
			check(holds(&ring->data[heard], heard + 1), "what was rung for");
		sched_yield();
	}
	return NULL;
}

/* Looked up meanwhile: its own place, or none yet. */
static void *finds_number(void *arg)
{
	struct ring *ring = arg;

	for (uint32_t slot = 0; slot < SHM_SLOTS; slot++)
		while (shm_qpn_index(ring->seg, (slot + 100) << SHM_SLOT_BITS) != (int)(slot * SHM_QPS_PER_SLOT))
			sched_yield();
	return NULL;
}

static void bell_rings(void)
{
	static struct ring ring;

	ring.seg = calloc(1, sizeof(*ring.seg));
	check(ring.seg, "memory");
	together((thread_fn *const[]){ rings_bell, hears_bell, finds_number }, &ring);
	free(ring.seg);
}

/* ---- a key that is given and withdrawn, and the gate of a queue pair ---- */

struct region {
	struct shm_mr mr;
	struct shm_qp owner, user;
	struct data memory;    /* of the region; by its owner while there is no key, else by the user */
	_Atomic uint32_t used; /* the key that has been; by its user */
	_Atomic bool over;
};

/* The key is withdrawn, and the threads that were busy with it are done; and so is the gate. */
static void take_back(struct region *region)
{
	shm_mr_withdraw(&region->mr);
	shm_gate_store(&region->owner, 0);
	atomic_thread_fence(memory_order_seq_cst); /* as soft_heavy_barrier where there is no membarrier */
	while (shm_busy_load(&region->user))
		sched_yield();
}

static void *owns(void *arg)
{
	struct region *region = arg;

	for (uint32_t n = 1; n <= ROUNDS; n++) {
		region->owner.pd = n;
		region->mr.addr = n;
		region->mr.serial = n;
		fill(&region->memory, n);
		shm_gate_store(&region->owner, SHM_GATE_OPEN);
		shm_mr_publish(&region->mr, n);
		while (atomic_load_explicit(&region->used, memory_order_relaxed) != n)
			sched_yield();
		take_back(region);
	}
	atomic_store(&region->over, true);
	return NULL;
}

static void use(struct region *region)
{
	uint32_t key = shm_mr_key(&region->mr);

	if (key == 0)
		return;
	check(region->mr.addr == key && region->mr.serial == key, "a key's fields");
	fill(&region->memory, key);
	atomic_store_explicit(&region->used, key, memory_order_relaxed);
}

static void *uses(void *arg)
{
	struct region *region = arg;

	while (!atomic_load_explicit(&region->over, memory_order_relaxed)) {
		shm_busy_enter(&region->user, true);
		if (shm_gate_load(&region->owner)) {
			check(region->owner.pd > 0, "what is behind a gate");
			use(region);
		}
		shm_busy_leave(&region->user);
		sched_yield();
	}
	return NULL;
}

static void key_grants(void)
{
	static struct region region;

	together((thread_fn *const[]){ owns, uses, NULL }, &region);
}

/* A key alone: nothing but itself orders its fields. */
static void *gives_keys(void *arg)
{
	struct shm_mr *mr = arg;

	for (uint32_t n = 1; n <= ROUNDS; n++) {
		mr[n].addr = n;
		shm_mr_publish(&mr[n], n);
	}
	return NULL;
}

static void *finds_keys(void *arg)
{
	struct shm_mr *mr = arg;

	for (uint32_t n = 1; n <= ROUNDS; n++) {
		while (shm_mr_key(&mr[n]) != n)
			sched_yield();
		check(mr[n].addr == n, "a key's address");
	}
	return NULL;
}

static void keys_are_published(void)
{
	static struct shm_mr mr[ROUNDS + 1];

	together((thread_fn *const[]){ gives_keys, finds_keys, NULL }, mr);
}

/* Work under older keys is over when a later serial is published. */
struct serials {
	struct shm_qp qp;
	struct data memory[ROUNDS + 1];
};

static void *tells_serials(void *arg)
{
	struct serials *serials = arg;

	for (uint32_t n = 1; n <= ROUNDS; n++) {
		fill(&serials->memory[n - 1], n);
		shm_newest_store(&serials->qp, n);
	}
	return NULL;
}

static void *reads_serials(void *arg)
{
	struct serials *serials = arg;

	for (uint32_t done = 0; done < ROUNDS; sched_yield())
		for (uint32_t newest = shm_newest_load(&serials->qp); done < newest; done++)
			check(holds(&serials->memory[done], done + 1), "what was done under an older key");
	return NULL;
}

static void serials_are_told(void)
{
	static struct serials serials;

	together((thread_fn *const[]){ tells_serials, reads_serials, NULL }, &serials);
}

/* ---- between threads of one process ---- */

struct counted {
	struct soft_lock lock;
	uint64_t holder; /* of order.h */
	uint64_t locked, held;
};

static void *counts(void *arg)
{
	static _Atomic uint64_t names;
	struct counted *counted = arg;
	uint64_t name = atomic_fetch_add_explicit(&names, 1, memory_order_relaxed) + 1;

	for (int n = 0; n < ROUNDS; n++) {
		soft_lock(&counted->lock);
		counted->locked++;
		soft_unlock(&counted->lock);
	}
	for (int n = 0; n < ROUNDS; n++) {
		while (!holder_change(&counted->holder, 0, name))
			sched_yield();
		counted->held++;
		flag_store(&counted->holder, 0);
	}
	return NULL;
}

static void locks_exclude(void)
{
	static struct counted counted;

	together((thread_fn *const[]){ counts, counts, counts }, &counted);
	check(counted.locked == 3 * ROUNDS && counted.held == 3 * ROUNDS, "what is counted under a lock");
}

struct answers {
	struct soft_sync_req sync_req[ROUNDS];
	struct data data[ROUNDS];
};

static void *answers(void *arg)
{
	struct answers *all = arg;

	for (uint64_t n = 0; n < ROUNDS; n++) {
		fill(&all->data[n], n);
		soft_sync_store(&all->sync_req[n], SOFT_SYNC_DONE);
	}
	return NULL;
}

static void *asks(void *arg)
{
	struct answers *all = arg;

	for (uint64_t n = 0; n < ROUNDS; n++) {
		while (soft_sync_load(&all->sync_req[n]) != SOFT_SYNC_DONE)
			sched_yield();
		check(holds(&all->data[n], n), "an answer's data");
	}
	return NULL;
}

static void answer_comes_with_its_data(void)
{
	static struct answers all;

	together((thread_fn *const[]){ answers, asks, NULL }, &all);
}

/* ---- order.h ---- */

struct words {
	uint64_t flag, counter, sum, ticket;
	uint32_t state;
	struct data behind_flag, behind_counter, behind_state, behind_sum[2], behind_ticket;
};

static void *writes_words(void *arg)
{
	struct words *words = arg;

	fill(&words->behind_flag, 1);
	flag_store(&words->flag, 1);
	fill(&words->behind_counter, 2);
	counter_store(&words->counter, 1);
	fill(&words->behind_state, 3);
	state_store(&words->state, 1);
	fill(&words->behind_sum[0], 4);
	word_add(&words->sum, 1);
	fill(&words->behind_ticket, 6);
	ticket_draw(&words->ticket);
	return NULL;
}

static void *adds_too(void *arg)
{
	struct words *words = arg;

	fill(&words->behind_sum[1], 5);
	word_add(&words->sum, 1);
	return NULL;
}

/* The last thing that is waited for is the first that was written, or it would stand for the others. */
static void *reads_words(void *arg)
{
	struct words *words = arg;

	while (flag_load(&words->flag) != 1)
		sched_yield();
	check(holds(&words->behind_flag, 1), "what is behind a flag");
	while (counter_load(&words->counter) != 1)
		sched_yield();
	check(holds(&words->behind_counter, 2), "what is behind a counter");
	while (state_load(&words->state) != 1)
		sched_yield();
	check(holds(&words->behind_state, 3), "what is behind a state");
	while (flag_load(&words->sum) != 2)
		sched_yield();
	check(holds(&words->behind_sum[0], 4) && holds(&words->behind_sum[1], 5), "what is behind a sum");
	while (ticket_draw(&words->ticket) == 0)
		__atomic_fetch_sub(&words->ticket, 1, __ATOMIC_RELAXED);
	check(holds(&words->behind_ticket, 6), "what is behind a ticket");
	return NULL;
}

static void words_are_in_order(void)
{
	static struct words words;

	together((thread_fn *const[]){ reads_words, writes_words, adds_too }, &words);
}

/* ---- a queue pair gets its pipe, which a thread without its lock uses ---- */

static struct soft_qp qp;

static void *connects(void *arg)
{
	struct soft_out *out = arg;

	out->req_head = 7;
	soft_qp_set_out(&qp, out);
	return NULL;
}

static void *uses_pipe(void *arg)
{
	const struct soft_out *out;

	(void)arg;
	while (!(out = soft_qp_out(&qp)))
		sched_yield();
	check(out->req_head == 7, "the pipe of a queue pair");
	return NULL;
}

static void pipe_is_seen_whole(void)
{
	static struct soft_out out;

	together((thread_fn *const[]){ uses_pipe, connects, NULL }, &out);
}

int main(void)
{
	pipe_is_seen_whole();
	pipe_carries();
	bell_rings();
	key_grants();
	keys_are_published();
	serials_are_told();
	locks_exclude();
	answer_comes_with_its_data();
	words_are_in_order();
	puts("order: all is in order");
	return 0;
}
