// SPDX-License-Identifier: BSD-2-Clause
/*
 * The protocol: by ring or by system call.
 *
 * DESIGN NOTES
 *
 * An RDMA WRITE takes one of seven routes:
 *
 *   1. mapped      the poster stores to the peer's memory, if that can be mapped (direct.c)
 *   2. call        one process_vm_writev, if it cannot (direct.c)
 *   3. batch       one process_vm_writev for the writes of a doorbell (batch.c)
 *   4. inline      by ring, up to SHM_INLINE bytes within the request (requester.c)
 *   5. chunks      by ring, more bytes in chunks of the pipe, one part a request (requester.c)
 *   6. coalesced   by ring, several small writes in one request (coalesce.c)
 *   7. synchronous by ring, outside of the send queue, for a caller that waits (move.c)
 *
 * Requests that the peer must refuse, and memory out of reach, take the ring, as do requests behind
 * unanswered ones. For private memory that a system call reaches, the rules below decide. Requests
 * to a peer that does not poll go by system call.
 *
 * The ring copies data twice, with two processors at once; a system call once, after it has walked
 * the peer's page tables.
 *
 *   posted write   By ring if it is short: a flag behind it may share its request.
 *   posted read    By system call, which takes no time of the peer.
 *   synchronous    Measured, since the faster one depends on the machine, and the caller waits for
 *                  all that it costs. The first TRIALS requests of a kind and size alternate
 *                  between the protocols, IN_A_ROW at a time: each leaves the memory in another
 *                  processor's cache. The fastest row of each counts. The first requests by ring
 *                  touch its pages and are slow; no trial by call comes before all are touched.
 *
 * Posted writes cannot be measured so: what the answer costs both sides follows later.
 *
 * A caller that waits for a peer that has just stopped polling loses its whole time limit. After
 * such a loss synchronous requests to this peer go by system call for LATE_PART times as long.
 *
 * All words are hints, stored and loaded without order.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/rma/proto.h"
#include "soft/state/shm.h"

enum {
	SMALLEST_LOG2 = 7, /* shorter requests are the first size class; each further one is twice as long */
	CLASSES = 15,      /* the last one has no upper bound */
	IN_A_ROW = 8,
	TRIALS = 6 * IN_A_ROW,
	LATE_PART = 32,
	TICKS_MAX = 1 << 30, /* more are not trusted */
};

struct entry {
	_Atomic uint32_t proto;             /* enum soft_proto */
	_Atomic uint32_t trials;            /* begun */
	_Atomic uint32_t row[SOFT_PROTOS];  /* trials in the sum */
	_Atomic uint64_t sum[SOFT_PROTOS];  /* scaled ticks of this row */
	_Atomic uint64_t best[SOFT_PROTOS]; /* least sum of a row; 0: no row is complete */
};

static struct entry table[2][CLASSES]; /* reads, writes */

static uint32_t load(_Atomic uint32_t *hint)
{
	return atomic_load_explicit(hint, memory_order_relaxed);
}

static void store(_Atomic uint32_t *hint, uint32_t value)
{
	atomic_store_explicit(hint, value, memory_order_relaxed);
}

static uint64_t load_ticks(_Atomic uint64_t *hint)
{
	return atomic_load_explicit(hint, memory_order_relaxed);
}

static void store_ticks(_Atomic uint64_t *hint, uint64_t value)
{
	atomic_store_explicit(hint, value, memory_order_relaxed);
}

static struct entry *entry_of(bool write, uint64_t length)
{
	uint32_t bits = 64 - (uint32_t)__builtin_clzll(length | ((1 << SMALLEST_LOG2) - 1));
	uint32_t class = bits - SMALLEST_LOG2;

	return &table[write][class < CLASSES ? class : CLASSES - 1];
}

static bool was_late(struct soft_out *out)
{
	uint64_t until = load_ticks(&out->calls_until);

	if (until == 0)
		return false;
	if ((int64_t)(shm_ticks() - until) < 0)
		return true;
	store_ticks(&out->calls_until, 0);
	return false;
}

/* Looks last whether the peer polls: the peer writes that cache line often. */
static bool takes_ring(struct soft_out *out)
{
	return !was_late(out) && soft_peer_spins(&out->peer);
}

/* Returns how many requests by ring may touch pages for the first time. */
static uint32_t untouched(uint64_t length)
{
	return length > SHM_CHUNK ? (uint32_t)((uint64_t)SHM_RING * SHM_CHUNK / length) : SHM_RING;
}

static enum soft_proto trial_of(struct entry *entry, uint64_t length)
{
	uint32_t trials = load(&entry->trials), first = untouched(length);

	return trials >= first && (trials - first) / IN_A_ROW % 2 ? SOFT_PROTO_CALL : SOFT_PROTO_RING;
}

enum soft_proto soft_sync_proto(struct soft_out *out, bool write, uint64_t length, bool *timed)
{
	struct entry *entry = entry_of(write, length);
	enum soft_proto proto = (enum soft_proto)load(&entry->proto);

	*timed = false;
	if (proto == SOFT_PROTO_CALL || !takes_ring(out))
		return SOFT_PROTO_CALL;
	if (proto == SOFT_PROTO_RING)
		return proto;
	*timed = true;
	proto = trial_of(entry, length);
	store(&entry->trials, load(&entry->trials) + 1);
	return proto;
}

static void add(struct entry *entry, enum soft_proto proto, uint64_t ticks)
{
	uint64_t sum = load_ticks(&entry->sum[proto]) + ticks, best = load_ticks(&entry->best[proto]);
	uint32_t row = load(&entry->row[proto]) + 1;

	if (row == IN_A_ROW && (!best || sum < best))
		store_ticks(&entry->best[proto], sum);
	store(&entry->row[proto], row % IN_A_ROW);
	store_ticks(&entry->sum[proto], row % IN_A_ROW ? sum : 0);
}

static void decide(struct entry *entry, uint32_t trials)
{
	uint64_t ring = load_ticks(&entry->best[SOFT_PROTO_RING]), call = load_ticks(&entry->best[SOFT_PROTO_CALL]);

	if (load(&entry->trials) >= trials && ring && call)
		store(&entry->proto, ring <= call ? SOFT_PROTO_RING : SOFT_PROTO_CALL);
}

/* Returns the ticks of one request, scaled by its length. */
static uint64_t scaled(uint64_t length, uint64_t ticks)
{
	return (ticks << 16) / (length >> SMALLEST_LOG2 ? length : 1 << SMALLEST_LOG2) + 1;
}

void soft_sync_took(bool write, uint64_t length, enum soft_proto proto, uint64_t ticks)
{
	struct entry *entry = entry_of(write, length);

	if (load(&entry->proto) != SOFT_PROTO_UNKNOWN || ticks > TICKS_MAX)
		return;
	add(entry, proto, scaled(length, ticks));
	decide(entry, untouched(length) + TRIALS);
}

void soft_sync_late(struct soft_out *out, uint64_t ticks)
{
	store_ticks(&out->calls_until, shm_ticks() + LATE_PART * ticks);
}
