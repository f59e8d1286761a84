// SPDX-License-Identifier: BSD-2-Clause
/*
 * By ring or by system call: two ways to reach a polling peer's private memory, and which is faster
 * is the machine's to say.
 *
 * DESIGN NOTES These are the ways of an RDMA WRITE, and where they are chosen:
 *
 *   1. mapped      the poster stores to the peer's memory, where that can be mapped (direct.c)
 *   2. call        one process_vm_writev, where it cannot (direct.c)
 *   3. batch       one process_vm_writev for the writes of a doorbell (batch.c)
 *   4. inline      by ring, up to SHM_INLINE bytes within the request (requester.c)
 *   5. chunks      by ring, more bytes in chunks of the pipe, a part a request (requester.c)
 *   6. coalesced   by ring, several small writes in one request (coalesce.c)
 *   7. synchronous by ring, outside of the send queue, for a caller that waits (move.c)
 *
 * Memory that is mapped is stored to; private memory takes the call, or the ring where that is
 * faster, which is judged here; and what is refused, or out of reach, takes the ring.
 *
 * By ring data is copied twice, but by two processors at once; process_vm_writev
 * copies it once, after a look into the other's page tables. Where caches are close to each other
 * the ring is twice as fast for a megabyte, where they are far it is slower from some kilobytes on.
 * For eight bytes it is a matter of what a system call costs against two turns of a cache line. So a
 * round of operations of one kind and size class begins with some by ring, then some by call, and the
 * better way is taken for the rest of it. Some in a row, because each way leaves the memory in
 * another processor's cache, and pays for what the other one has left. What counts is the best sum
 * of a few in a row: the others were disturbed, or found memory that nobody had touched yet, and a
 * single one may have met the peer just when it looked.
 *
 * The rest is so long that what the worse ways lose in their trials is a small part of it. So where two are nearly alike it
 * is soon asked again which is better; and that changes: in a virtual machine a megabyte by ring has been seen to take 50 us
 * for the first milliseconds in which both processors were busy, as by call, and 20 us from then on.
 *
 * A write by ring that nobody waits for is timed only when nothing was in the ring before it, and
 * until the peer has the data, by the clock that all processors share. What is posted together is
 * timed together, either way (batch.c): of writes behind each other it is the rate that counts.
 *
 * Who waits for a peer that has just stopped looking has lost some microseconds, and soon would again
 * where more processes run than processors: then it is some calls' turn, twice as many each time. And the
 * next answer is waited for twice as long, since it may have been the ring's new pages that took the time: some
 * machines need thirty microseconds for each. So what is lost stays a small part of what the calls took.
 *
 * Nor is a peer that does not look asked each time whether it does: that and a trial that is put off cost instructions.
 *
 * An answer to a large one is waited for as long as the call would take; with less, each moment in which the
 * peer's processor does something else would cost many calls' time.
 *
 * All words are hints: written by whoever sends, read without order. A lost update costs one trial.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/verbs/shm.h"
#include "soft/verbs/way.h"

enum {
	CLASSES = 12,         /* from the smallest size up, doubling */
	SMALLEST_WAITED = 64, /* bytes: the first class of operations that are waited for */
	TRIALS = 16,          /* of each way */
	LOST_PART = 64,       /* trials may lose one part of so many */
	TRIAL_TICKS = 300,    /* a trial costs beside what it takes: clocks, and the change of ways; about */
	REST_MIN = 128,       /* operations after the trials, before all is forgotten */
	REST_MAX = 4096,
	ANSWER_TICKS = 500,     /* what the answer to a write that nobody waits for costs both sides afterwards, about */
	IN_A_ROW = 8,           /* trials, TRIALS a multiple */
	PAUSE_MIN = 4,          /* calls after the first loss, if these are slow, */
	PAUSE_MAX = 64,         /* or fast */
	PAUSE_TICKS = 200000,   /* that they are to take together */
	PAUSE_DOUBLED = 6,      /* times at the most */
	PAUSE_AWAY = 16,        /* before a peer that did not look is asked again; one more is a prime, for peers in turn */
	PATIENCE_TICKS = 40000, /* an answer that takes longer, and longer than a call, is a loss, the first time */
	PATIENCE_DOUBLED = 4,
	MOST_TICKS = 1 << 30,
};

struct class
{
	_Atomic uint32_t operations;      /* of this round, as yet */
	_Atomic uint32_t round;           /* so many it will be; 0 while ways are tried */
	_Atomic uint32_t rounds;          /* that have begun: none, the first, or more */
	_Atomic uint32_t pause;           /* so many go by call before the ring is thought of again */
	_Atomic uint32_t losses;          /* since the last answer by ring */
	_Atomic uint32_t row[SOFT_WAYS];  /* so many are in the sum */
	_Atomic uint64_t sum[SOFT_WAYS];  /* ticks for the class's smallest size */
	_Atomic uint64_t best[SOFT_WAYS]; /* lowest sum of IN_A_ROW; 0: not known */
};

static struct class classes[SOFT_WAY_KINDS][CLASSES];

static uint32_t load(_Atomic uint32_t *hint)
{
	return atomic_load_explicit(hint, memory_order_relaxed);
}

static void store(_Atomic uint32_t *hint, uint32_t value)
{
	atomic_store_explicit(hint, value, memory_order_relaxed);
}

static uint32_t smallest_of(enum soft_way_kind kind)
{
	if (kind >= SOFT_WAY_LARGE_WRITE)
		return SOFT_WAY_LARGE;
	return kind == SOFT_WAY_POSTED ? SOFT_WAY_MIN : SMALLEST_WAITED;
}

/* The class of a length, and its smallest one. */
static struct class *class_of(enum soft_way_kind kind, uint64_t length, uint64_t *smallest)
{
	uint32_t n = 0;

	*smallest = smallest_of(kind);
	for (; n + 1 < CLASSES && length >= 2 * *smallest; n++)
		*smallest *= 2;
	return &classes[kind][n];
}

static uint64_t load_ticks(_Atomic uint64_t *hint)
{
	return atomic_load_explicit(hint, memory_order_relaxed);
}

static void store_ticks(_Atomic uint64_t *hint, uint64_t value)
{
	atomic_store_explicit(hint, value, memory_order_relaxed);
}

/* Ways that were never tried are not known. */
static enum soft_way best(struct class *class)
{
	enum soft_way found = SOFT_BY_CALL;
	uint64_t least = load_ticks(&class->best[found]);

	for (uint32_t way = 0; way < SOFT_WAYS; way++) {
		uint64_t ticks = load_ticks(&class->best[way]);

		if (ticks && (!least || ticks <= least)) {
			found = (enum soft_way)way;
			least = ticks;
		}
	}
	return found;
}

/* A new round begins. */
static void forget(struct class *class)
{
	store(&class->rounds, load(&class->rounds) ? 2 : 1);
	store(&class->round, 0);
	for (uint32_t way = 0; way < SOFT_WAYS; way++) {
		store(&class->row[way], 0);
		store_ticks(&class->sum[way], 0);
		store_ticks(&class->best[way], 0);
	}
}

static bool always_by_ring(enum soft_way_kind kind, uint64_t length)
{
	return kind == SOFT_WAY_POSTED && length < SOFT_WAY_MIN;
}

/* So many operations by ring meet pages of it that nobody has touched: those that are waited for, of few chunks. */
static uint32_t untouched(enum soft_way_kind kind, uint64_t length)
{
	if (kind == SOFT_WAY_WRITE || kind == SOFT_WAY_READ)
		return SHM_FEW;
	return length > SHM_CHUNK ? (uint32_t)(SHM_RING * (uint64_t)SHM_CHUNK / length) : SHM_RING;
}

/* How often this way is tried at the beginning of a round. */
static uint32_t trials(struct class *class, enum soft_way_kind kind, enum soft_way way, uint64_t length)
{
	return TRIALS + (way == SOFT_BY_RING && load(&class->rounds) == 1 ? untouched(kind, length) : 0);
}

/* The way that is tried by number n of a round; false: none is. */
static bool tries(struct class *class, enum soft_way_kind kind, uint64_t length, uint32_t n, enum soft_way *way)
{
	static const enum soft_way order[SOFT_WAYS] = { SOFT_BY_RING, SOFT_BY_CALL };

	for (uint32_t i = 0; i < SOFT_WAYS; i++) {
		uint32_t most = trials(class, kind, order[i], length);

		*way = order[i];
		if (n < most)
			return true;
		n -= most;
	}
	return false;
}

/* Operations until ways are tried again. One that was tried in vain is taken for twice as slow as the best. */
static uint32_t rest(struct class *class)
{
	uint64_t least = load_ticks(&class->best[best(class)]), lost = 0;

	if (!least)
		return REST_MAX;
	for (uint32_t way = 0; way < SOFT_WAYS; way++) {
		uint64_t ticks = load_ticks(&class->best[way]);

		lost += TRIAL_TICKS * IN_A_ROW + (ticks ? ticks - least : least);
	}
	lost = lost * TRIALS * LOST_PART / least;
	return (uint32_t)(lost < REST_MIN ? REST_MIN : lost > REST_MAX ? REST_MAX : lost);
}

/* An operation of a round was begun. */
static void count(struct class *class, uint32_t operations)
{
	uint32_t round = load(&class->round);

	store(&class->operations, round && operations >= round ? 0 : operations);
}

enum soft_way soft_way_next(enum soft_way_kind kind, uint64_t length, bool *tried)
{
	uint64_t smallest;
	struct class *class = class_of(kind, length, &smallest);
	uint32_t n = load(&class->operations), pause = load(&class->pause);
	enum soft_way way = SOFT_BY_CALL;

	*tried = false;
	if (always_by_ring(kind, length))
		return SOFT_BY_RING;
	if (pause) {
		store(&class->pause, pause - 1);
		return SOFT_BY_CALL;
	}
	if (n == 0)
		forget(class);
	if (!load(&class->round)) {
		*tried = tries(class, kind, length, n, &way);
		if (!*tried)
			store(&class->round, n + rest(class));
	}
	count(class, n + 1);
	return *tried ? way : best(class);
}

void soft_way_put_off(enum soft_way_kind kind, uint64_t length)
{
	uint64_t smallest;
	struct class *class = class_of(kind, length, &smallest);
	uint32_t n = load(&class->operations);

	if (n > 1) /* with the first one a round has begun */
		store(&class->operations, n - 1);
	store(&class->pause, PAUSE_AWAY);
}

enum soft_way soft_way_best(enum soft_way_kind kind, uint64_t length)
{
	uint64_t smallest;

	return always_by_ring(kind, length) ? SOFT_BY_RING : best(class_of(kind, length, &smallest));
}

/* One of them took so long. */
static void took(struct class *class, enum soft_way way, uint64_t ticks)
{
	uint64_t sum = load_ticks(&class->sum[way]) + ticks, before = load_ticks(&class->best[way]);
	uint32_t row = load(&class->row[way]) + 1;

	if (row == IN_A_ROW && (!before || sum < before))
		store_ticks(&class->best[way], sum);
	store(&class->row[way], row % IN_A_ROW);
	store_ticks(&class->sum[way], row == IN_A_ROW ? 0 : sum);
}

void soft_way_took(enum soft_way_kind kind, enum soft_way way, uint64_t length, uint64_t ticks, uint32_t operations)
{
	uint64_t smallest;
	struct class *class = class_of(kind, length, &smallest);
	uint64_t each = operations ? ticks / operations : 0;

	/* Clocks that differ, or a peer that lies. */
	if (ticks > MOST_TICKS || always_by_ring(kind, length))
		return;
	if (way == SOFT_BY_RING && kind == SOFT_WAY_POSTED)
		each += ANSWER_TICKS;
	each = each * smallest / (length > smallest ? length : smallest) + 1;
	if (way == SOFT_BY_RING && load(&class->losses))
		store(&class->losses, 0);
	for (uint32_t i = 0; i < operations; i++)
		took(class, way, each);
}

static uint64_t doubled(uint64_t first, uint32_t times, uint32_t most)
{
	return first << (times < most ? times : most);
}

/* What an operation of this length takes by call, about; 0: not known. */
static uint64_t call_ticks(struct class *class, uint64_t smallest, uint64_t length)
{
	return load_ticks(&class->best[SOFT_BY_CALL]) / IN_A_ROW * (length / smallest);
}

uint64_t soft_way_patience_ticks(enum soft_way_kind kind, uint64_t length)
{
	uint64_t smallest, call, patience;
	struct class *class = class_of(kind, length, &smallest);

	call = call_ticks(class, smallest, length);
	patience = doubled(PATIENCE_TICKS, load(&class->losses), PATIENCE_DOUBLED);
	return call > patience ? call : patience;
}

static uint32_t first_pause(uint64_t call)
{
	uint64_t calls = call ? PAUSE_TICKS / call : PAUSE_MAX;

	return (uint32_t)(calls < PAUSE_MIN ? PAUSE_MIN : calls > PAUSE_MAX ? PAUSE_MAX : calls);
}

void soft_way_lost(enum soft_way_kind kind, uint64_t length)
{
	uint64_t smallest;
	struct class *class = class_of(kind, length, &smallest);
	uint32_t losses = load(&class->losses);

	store(&class->pause, (uint32_t)doubled(first_pause(call_ticks(class, smallest, length)), losses, PAUSE_DOUBLED));
	store(&class->losses, losses < PAUSE_DOUBLED ? losses + 1 : losses);
}
