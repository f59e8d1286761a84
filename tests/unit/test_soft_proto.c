// SPDX-License-Identifier: BSD-2-Clause
/* test_soft_proto.c - by ring or by system call: lib/soft/rma/proto.c */
#include <CUnit/CUnit.h>
#include <string.h>

#include "soft/rma/proto.c"
#include "suites.h"

enum { OPERATIONS = 4 * TRIALS };
enum { READ, WRITE };

static struct shm_segment segment, other_segment;
static struct soft_out peer = { .peer = { .seg = &segment } }, other = { .peer = { .seg = &other_segment } };

static void polls(struct shm_segment *seg, bool does)
{
	shm_attention_set(seg, does ? SHM_POLLED : SHM_WAKEUP);
	shm_spin_store(seg, shm_ticks() + (1ull << 50)); /* for as long as the test takes */
}

static void forget_all(void)
{
	memset(table, 0, sizeof(table));
	peer.calls_until = other.calls_until = 0;
	peer.peer.spun = other.peer.spun = 0;
	polls(&segment, true);
	polls(&other_segment, true);
}

static enum soft_proto next(bool write, uint64_t length)
{
	bool timed;

	return soft_sync_proto(&peer, write, length, &timed);
}

/*
 * Requests that take these ticks by the one and the other protocol, and up to `disturbance` more.
 * Returns how many of them went by system call.
 */
static int carry_out(bool write, uint64_t length, uint64_t ring, uint64_t call, int disturbance)
{
	const int first = (int)untouched(length);
	int calls = 0;

	for (int i = -first; i < OPERATIONS; i++) {
		bool timed;
		enum soft_proto proto = soft_sync_proto(&peer, write, length, &timed);

		CU_ASSERT_EQUAL(timed, i < TRIALS);
		if (timed)
			CU_ASSERT_EQUAL(proto == SOFT_PROTO_CALL, i >= 0 && i / IN_A_ROW % 2);
		calls += proto == SOFT_PROTO_CALL;
		soft_sync_took(write, length, proto,
		               (proto == SOFT_PROTO_CALL ? call : ring) + (uint64_t)((i + first) * 7919 % disturbance));
	}
	return calls;
}

static void soft_proto__posted(void)
{
	forget_all();
	CU_ASSERT(soft_posted_write_by_ring(&peer, 0) && soft_posted_write_by_ring(&peer, SOFT_POSTED_RING - 1));
	CU_ASSERT(!soft_posted_write_by_ring(&peer, SOFT_POSTED_RING) && !soft_posted_write_by_ring(&peer, UINT64_MAX));
	polls(&segment, false);
	CU_ASSERT(!soft_posted_write_by_ring(&peer, 8));
}

static void soft_proto__takes_the_faster_one(void)
{
	forget_all();
	CU_ASSERT_EQUAL(carry_out(WRITE, 4096, 5000, 6000, 1), TRIALS / 2);
	CU_ASSERT_EQUAL(carry_out(WRITE, 8192, 6000, 5000, 1), OPERATIONS - TRIALS / 2);
	CU_ASSERT_EQUAL(carry_out(READ, 4096, 9000, 5000, 4000), OPERATIONS - TRIALS / 2);
	CU_ASSERT_EQUAL(next(WRITE, 4097), SOFT_PROTO_RING); /* of the same class */
	CU_ASSERT_EQUAL(next(WRITE, 16383), SOFT_PROTO_CALL);
	CU_ASSERT_EQUAL(next(READ, 4096), SOFT_PROTO_CALL);
}

/* The first requests touch the pages of the ring, one request of eight a page. They decide nothing. */
static void soft_proto__touching_does_not_count(void)
{
	int rings = 0;

	forget_all();
	for (int i = 0; i < SHM_RING + TRIALS; i++) {
		enum soft_proto proto = next(READ, 8);

		rings += proto == SOFT_PROTO_RING;
		if (proto == SOFT_PROTO_CALL)
			soft_sync_took(READ, 8, proto, 4400);
		else
			soft_sync_took(READ, 8, proto, rings <= SHM_RING && rings % 8 == 0 ? 20000 : 2000);
	}
	CU_ASSERT_EQUAL(next(READ, 8), SOFT_PROTO_RING);
}

/* The last class has all that is larger, and is judged by what a byte takes. */
static void soft_proto__sizes(void)
{
	forget_all();
	CU_ASSERT_EQUAL(carry_out(READ, 0, 1000, 2000, 1), TRIALS / 2);
	CU_ASSERT_EQUAL(next(READ, 127), SOFT_PROTO_RING);
	for (int i = 0; i < TRIALS; i++) { /* by call a byte takes longer, by ring each takes longer in all */
		enum soft_proto proto = next(WRITE, UINT64_C(64) << 20);
		uint64_t length = proto == SOFT_PROTO_RING ? UINT64_C(64) << 20 : UINT64_C(2) << 20;

		soft_sync_took(WRITE, length, proto, length / (proto == SOFT_PROTO_RING ? 16 : 8));
	}
	CU_ASSERT_EQUAL(next(WRITE, UINT64_C(2) << 20), SOFT_PROTO_RING);
	carry_out(READ, UINT64_C(64) << 20, 1 << 20, 2 << 20, 1);
	CU_ASSERT_EQUAL(next(READ, UINT64_MAX), SOFT_PROTO_RING);
}

/* A peer that does not poll costs no trial. */
static void soft_proto__begins_when_the_peer_polls(void)
{
	forget_all();
	polls(&segment, false);
	for (int i = 0; i < OPERATIONS; i++)
		CU_ASSERT_EQUAL(next(READ, 64), SOFT_PROTO_CALL);
	polls(&segment, true);
	CU_ASSERT_EQUAL(carry_out(READ, 64, 1000, 2000, 1), TRIALS / 2);
}

/* If one protocol is never reported, because it fails, trials continue. */
static void soft_proto__knows_both(void)
{
	int rings = 0;

	forget_all();
	for (int i = 0; i < OPERATIONS; i++) {
		enum soft_proto proto = next(READ, 64);

		rings += proto == SOFT_PROTO_RING;
		if (proto == SOFT_PROTO_RING)
			soft_sync_took(READ, 64, proto, 1000);
	}
	CU_ASSERT_EQUAL(rings, SHM_RING + (OPERATIONS - SHM_RING) / 2);
	soft_sync_took(READ, 64, SOFT_PROTO_CALL, UINT64_MAX); /* of a clock that has gone back */
	for (int i = 0; i < IN_A_ROW; i++)
		soft_sync_took(READ, 64, SOFT_PROTO_CALL, 1001);
	CU_ASSERT_EQUAL(entry_of(READ, 64)->proto, SOFT_PROTO_RING);
}

static void soft_proto__after_a_late_answer(void)
{
	bool timed;

	forget_all();
	carry_out(WRITE, 64, 1000, 2000, 1);
	soft_sync_late(&peer, UINT64_C(1) << 40);
	CU_ASSERT_EQUAL(next(WRITE, 64), SOFT_PROTO_CALL);
	CU_ASSERT_EQUAL(next(READ, 1 << 20), SOFT_PROTO_CALL);
	CU_ASSERT(soft_posted_write_by_ring(&peer, 64)); /* no thread waits for it */
	CU_ASSERT_EQUAL(soft_sync_proto(&other, WRITE, 64, &timed), SOFT_PROTO_RING);
	soft_sync_late(&peer, 0);
	CU_ASSERT_EQUAL(next(WRITE, 64), SOFT_PROTO_RING);
	CU_ASSERT_EQUAL(peer.calls_until, 0);
}

/* A reading counts as long as it is fresh, whatever the peer has stored since. */
static void soft_proto__reads_rarely_whether_the_peer_polls(void)
{
	forget_all();
	CU_ASSERT(soft_peer_spins(&peer.peer));
	shm_spin_store(&segment, 0);
	CU_ASSERT(soft_peer_spins(&peer.peer));
	polls(&segment, false);
	CU_ASSERT(!soft_peer_spins(&peer.peer));
	polls(&segment, true);
	peer.peer.spun = 0;
	shm_spin_store(&segment, shm_ticks() - SOFT_SPIN_TICKS);
	CU_ASSERT(!soft_peer_spins(&peer.peer));
	shm_spin_store(&segment, shm_ticks() + (1ull << 50));
	CU_ASSERT(soft_peer_spins(&peer.peer));
}

void suite_soft_proto(void)
{
	CU_pSuite suite = CU_add_suite("softverbs: ring or system call", NULL, NULL);

	CU_ADD_TEST(suite, soft_proto__takes_the_faster_one);
	CU_ADD_TEST(suite, soft_proto__posted);
	CU_ADD_TEST(suite, soft_proto__touching_does_not_count);
	CU_ADD_TEST(suite, soft_proto__sizes);
	CU_ADD_TEST(suite, soft_proto__begins_when_the_peer_polls);
	CU_ADD_TEST(suite, soft_proto__knows_both);
	CU_ADD_TEST(suite, soft_proto__after_a_late_answer);
	CU_ADD_TEST(suite, soft_proto__reads_rarely_whether_the_peer_polls);
}
