// SPDX-License-Identifier: BSD-2-Clause
/* See strand.h. */
#include "check/compiled/strand.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#include "check/compiled/watch.h"

#define THINGS 4096
#define THREADS 1024 /* whose end others may wait for; of earlier ones it is not known */
#define ADDRESS_SHIFT 2
#define MOMENT_SHIFT 56 /* strand */

struct clock {
	uint64_t times[STRANDS];
};

/* A thread that has not been joined. */
struct thread {
	uint64_t id;
	uint64_t serial; /* 0: none */
	uint32_t strand;
};

_Thread_local uint32_t strand_own = STRAND_NONE;
uint32_t strand_mask = UINT32_MAX;
bool strand_is_several;

static struct clock clocks[STRANDS], things[THINGS];
static const struct compiled_front *front;
static const char *merged_by;
static bool is_outside;
static uint64_t live = 1; /* strands whose threads have not ended, as bits */

/* Under `changing`, of which no call is taken. */
static bool is_changing;
static struct thread threads[THREADS];
static uint64_t serials;
static uint32_t used = 1, shared; /* strands; what is shared next */
static uint32_t free_strands[STRANDS], free_first, free_count;

static void lock(void)
{
	while (__atomic_exchange_n(&is_changing, true, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void unlock(void)
{
	__atomic_store_n(&is_changing, false, __ATOMIC_RELEASE);
}

/* ---- clocks ---- */

/* Times grow only: what is known stays known. */
static bool is_known(const struct clock *clock, const struct clock *other)
{
	for (uint32_t i = 0; i < STRANDS; i++) {
		if (__atomic_load_n(&other->times[i], __ATOMIC_RELAXED) > __atomic_load_n(&clock->times[i], __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

/* Returns whether this adds to the clock. The caller holds the lock of the trace. */
static bool join(struct clock *clock, const struct clock *other)
{
	if (is_known(clock, other))
		return false;
	for (uint32_t i = 0; i < STRANDS; i++) {
		if (other->times[i] > clock->times[i])
			__atomic_store_n(&clock->times[i], other->times[i], __ATOMIC_RELAXED);
	}
	return true;
}

static bool join_all(struct clock *clock)
{
	bool is_more = false;

	for (uint32_t i = 0; i < STRANDS; i++)
		is_more |= join(clock, &clocks[i]);
	return is_more;
}

void strand_count(uint32_t strand)
{
	__atomic_store_n(&clocks[strand].times[strand], clocks[strand].times[strand] + 1, __ATOMIC_RELAXED);
}

uint32_t strand_event(bool is_event)
{
	uint32_t strand = strand_now();

	if (strand == STRAND_NONE)
		strand = 0;
	if (is_event)
		strand_count(strand);
	return strand;
}

static bool merge(void)
{
	if (!strand_mask)
		return false;
	__atomic_store_n(&strand_mask, 0, __ATOMIC_RELAXED);
	join_all(&clocks[0]);
	return true;
}

/* All strands learn what one knows. */
static bool spread(const struct clock *own)
{
	bool is_more = false;

	for (uint32_t i = 0; i < STRANDS; i++)
		is_more |= join(&clocks[i], own);
	return is_more;
}

bool strand_order(enum compiled_order order, uint64_t number)
{
	struct clock *own = &clocks[strand_event(false)];

	if (order == ORDER_OUTSIDE)
		return true;
	if (order == ORDER_MERGE)
		return merge();
	if (order == ORDER_SPREAD)
		return spread(own);
	if (order == ORDER_RELEASE)
		return join(&things[number], own);
	if (order == ORDER_ACQUIRE)
		return join(own, &things[number]);
	return number < STRANDS ? join(own, &clocks[number]) : join_all(own);
}

uint64_t strand_moment(void)
{
	uint32_t strand = strand_event(false);

	return (uint64_t)strand << MOMENT_SHIFT | clocks[strand].times[strand];
}

bool strand_all_know(uint64_t moment)
{
	uint64_t now = strand_mask ? __atomic_load_n(&live, __ATOMIC_RELAXED) : 0;

	for (uint32_t i = 0; i < STRANDS; i++) {
		if (now >> i & 1 && clocks[i].times[moment >> MOMENT_SHIFT] < (moment & ((1ULL << MOMENT_SHIFT) - 1)))
			return false;
	}
	return true;
}

/* ---- this thread ---- */

static uint64_t number_of(const volatile void *thing)
{
	return ((uint64_t)(uintptr_t)thing >> ADDRESS_SHIFT) * 0x9e3779b97f4a7c15ULL >> 52;
}

static void add(enum compiled_order order, uint64_t number)
{
	const struct compiled_front *to = __atomic_load_n(&front, __ATOMIC_ACQUIRE);

	if (to)
		to->order(order, number);
}

const char *strand_merged(void)
{
	const char *by = __atomic_load_n(&merged_by, __ATOMIC_ACQUIRE);

	return by ? by : "";
}

void strand_merge(const char *call)
{
	const char *none = NULL;

	__atomic_compare_exchange_n(&merged_by, &none, call, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	add(ORDER_MERGE, 0);
}

void strand_outside(void)
{
	if (!__atomic_load_n(&is_outside, __ATOMIC_RELAXED) && !__atomic_exchange_n(&is_outside, true, __ATOMIC_ACQ_REL))
		add(ORDER_OUTSIDE, 0);
}

void strand_outside_by(uint64_t block)
{
	add(ORDER_OUTSIDE, block);
}

/* A trace begins without knowledge. */
static void forget(void)
{
	for (uint32_t i = 0; i < STRANDS; i++)
		clocks[i] = (struct clock){ { 0 } };
	for (uint32_t i = 0; i < THINGS; i++)
		things[i] = (struct clock){ { 0 } };
}

void strand_open(const struct compiled_front *to)
{
	if (to)
		forget();
	if (to && strand_own == STRAND_NONE)
		strand_own = 0;
	__atomic_store_n(&front, to, __ATOMIC_RELEASE);
	if (to && strand_merged()[0]) /* before this trace */
		add(ORDER_MERGE, 0);
	if (to && __atomic_load_n(&is_outside, __ATOMIC_ACQUIRE))
		add(ORDER_OUTSIDE, 0);
}

void strand_split(void)
{
	const char *unknown;

	if (__atomic_load_n(&strand_is_several, __ATOMIC_RELAXED))
		return;
	unknown = object_unknown();
	if (unknown)
		strand_merge(unknown);
	__atomic_store_n(&strand_is_several, true, __ATOMIC_RELEASE);
}

void strand_need(void)
{
	if (strand_own == STRAND_NONE && __atomic_load_n(&strand_mask, __ATOMIC_RELAXED))
		strand_merge("a thread that was not seen to begin");
}

/* Returns whether no thread needs what this thread orders. */
static bool is_idle(void)
{
	return !__atomic_load_n(&strand_is_several, __ATOMIC_ACQUIRE) || !__atomic_load_n(&front, __ATOMIC_RELAXED) ||
	       !__atomic_load_n(&strand_mask, __ATOMIC_RELAXED);
}

void strand_release(const volatile void *thing)
{
	uint64_t number = number_of(thing);

	if (is_idle())
		return;
	strand_need();
	if (__atomic_load_n(&run_is_pending[strand_now()], __ATOMIC_ACQUIRE) ||
	    !is_known(&things[number], &clocks[strand_now()]))
		add(ORDER_RELEASE, number);
}

void strand_acquire(const volatile void *thing)
{
	uint64_t number = number_of(thing);

	if (is_idle())
		return;
	strand_need();
	if (!is_known(&clocks[strand_now()], &things[number]))
		add(ORDER_ACQUIRE, number);
}

void strand_fence(void)
{
	if (is_idle())
		return;
	strand_release(&strand_mask);
	add(ORDER_JOIN, UINT64_MAX);
}

/* ---- begin and end of threads ---- */

/* Returns a strand that no thread has, or one that threads share. The caller holds `changing`. */
static uint32_t take_strand(void)
{
	if (used < STRAND_NONE)
		return used++;
	if (free_count > 0) {
		free_count--;
		return free_strands[free_first++ % STRANDS];
	}
	return shared++ % STRAND_NONE;
}

/* Learns of these strands, which are bits. */
static void learn_of(uint64_t strands)
{
	for (uint32_t i = 0; i < STRANDS && !is_idle(); i++) {
		if (strands >> i & 1)
			add(ORDER_JOIN, i);
	}
}

uint32_t strand_make(const void *thing)
{
	uint32_t strand;

	strand_split();
	strand_release(thing);
	lock();
	strand = take_strand();
	__atomic_or_fetch(&live, 1ULL << strand, __ATOMIC_RELAXED);
	unlock();
	return strand;
}

void strand_begin(const void *thing, uint32_t strand)
{
	uint64_t ended;

	strand_own = strand;
	lock();
	serials++;
	threads[serials % THREADS] = (struct thread){ (uint64_t)pthread_self(), serials, strand };
	ended = ((1ULL << used) - 1) & ~__atomic_load_n(&live, __ATOMIC_RELAXED);
	unlock();
	strand_acquire(thing);
	learn_of(ended); /* whose stack it may have */
}

/* Threads that share the strand count as ended, too: some of their races are missed. */
void strand_end(void)
{
	if (strand_own != 0)
		__atomic_and_fetch(&live, ~(1ULL << strand_own), __ATOMIC_RELAXED);
}

static void free_strand(uint32_t strand)
{
	lock();
	if (free_count < STRANDS)
		free_strands[(free_first + free_count++) % STRANDS] = strand;
	unlock();
}

/*
 * An earlier thread that was not joined may have had the same number: all with it are taken.
 * Returns the strands as bits.
 */
static uint64_t take_threads(uint64_t id, bool *is_found)
{
	uint64_t strands = 0;

	lock();
	for (uint32_t i = 0; i < THREADS; i++) {
		if (!threads[i].serial || threads[i].id != id)
			continue;
		*is_found = true;
		strands |= 1ULL << threads[i].strand;
		threads[i].serial = 0;
	}
	unlock();
	return strands;
}

void strand_join(uint64_t thread)
{
	bool is_found = false;
	uint64_t strands = take_threads(thread, &is_found);

	if (!is_idle()) {
		strand_need();
		if (!is_found)
			add(ORDER_JOIN, UINT64_MAX);
		learn_of(strands);
	}
	for (uint32_t i = 1; i < STRAND_NONE; i++) {
		if (strands >> i & 1)
			free_strand(i);
	}
}

__attribute__((constructor)) static void start(void)
{
	strand_own = 0;
}
