// SPDX-License-Identifier: BSD-2-Clause
/*
 * By ring or by system call: two ways to write a polling peer's private memory, and which is faster
 * is the machine's to say.
 *
 * DESIGN NOTES By ring data is copied twice, but by two processors at once; process_vm_writev
 * copies it once, after a look into the other's page tables. Where caches are close to each other
 * the ring is twice as fast for a megabyte, where they are far it is slower from some kilobytes on.
 * So a round of writes of one size class begins with some by ring, then some by call, and the
 * better way is taken for the rest of it. Some in a row, because each way leaves the memory in
 * another processor's cache, and pays for what the other one has left. What counts is the best
 * time: the others were disturbed, or found memory that nobody had touched yet. A write by ring is
 * timed only when nothing was in the ring before it, and until the peer has the data, by the clock
 * that all processors share.
 *
 * All words are hints: written by whoever sends, read without order. A lost update costs one trial.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "soft/verbs/shm.h"
#include "soft/verbs/way.h"

enum {
	CLASSES = 12,           /* SOFT_WAY_MIN bytes and up, doubling */
	TRIALS = SHM_RING + 32, /* of each way; the first ones meet pages of the ring that nobody has touched */
	ROUND = 4096,           /* writes, after which all is forgotten */
	ANSWER_TICKS = 500,     /* what the answer to a request by ring costs both sides afterwards, about */
	MOST_TICKS = 1 << 30,
	WAYS = 2,
};

struct class
{
	_Atomic uint32_t writes;
	_Atomic uint64_t best[WAYS]; /* ticks for SOFT_WAY_MIN bytes; 0: not known */
};

static struct class classes[CLASSES];

static struct class *class_of(uint64_t length)
{
	uint32_t n = 0;

	while (n + 1 < CLASSES && length >= 2ull * SOFT_WAY_MIN << n)
		n++;
	return &classes[n];
}

static uint64_t best(struct class *class, enum soft_way way)
{
	return atomic_load_explicit(&class->best[way], memory_order_relaxed);
}

static enum soft_way better(struct class *class)
{
	uint64_t ring = best(class, SOFT_BY_RING), call = best(class, SOFT_BY_CALL);

	return ring && (!call || ring <= call) ? SOFT_BY_RING : SOFT_BY_CALL;
}

enum soft_way soft_way_next(uint64_t length)
{
	struct class *class = class_of(length);
	uint32_t n = atomic_load_explicit(&class->writes, memory_order_relaxed);

	if (length < SOFT_WAY_MIN)
		return SOFT_BY_RING;
	atomic_store_explicit(&class->writes, (n + 1) % ROUND, memory_order_relaxed);
	if (n == 0)
		for (uint32_t way = 0; way < WAYS; way++)
			atomic_store_explicit(&class->best[way], 0, memory_order_relaxed);
	if (n < WAYS * TRIALS)
		return n < TRIALS ? SOFT_BY_RING : SOFT_BY_CALL;
	return better(class);
}

enum soft_way soft_way_better(uint64_t length)
{
	return length < SOFT_WAY_MIN ? SOFT_BY_RING : better(class_of(length));
}

void soft_way_took(enum soft_way way, uint64_t length, uint64_t ticks)
{
	struct class *class = class_of(length);
	uint64_t all = way == SOFT_BY_RING ? ticks + ANSWER_TICKS : ticks;
	uint64_t cost = all * SOFT_WAY_MIN / length + 1, before = best(class, way);

	/* Clocks that differ, or a peer that lies. */
	if (ticks > MOST_TICKS)
		return;
	if (length >= SOFT_WAY_MIN && (!before || cost < before))
		atomic_store_explicit(&class->best[way], cost, memory_order_relaxed);
}
