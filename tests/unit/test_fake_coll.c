// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_coll.c - coll.c and ctrl_msg.c: barriers with a vote, messages out of order, full
 * rings.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conn/coll.c"

#include "fake_job.h"
#include "fake_verbs.h"
#include "suites_fake.h"

#define ROUNDS 200

static void begin(const char *what)
{
	fake_reset();
	ranks_limit(30, "%s", what);
}

static void run(int size, rank_function *function, void *arg)
{
	struct rank ranks[FAKE_RANKS_MAX];

	ranks_run(size, function, arg, ranks);
	ranks_check(ranks, size);
}

static void coll_id__differs_in_every_argument(void)
{
	enum { KEYS = 2, NUMBERS = 3, KINDS = COLL_PLACES };
	static uint8_t ids[KEYS * NUMBERS * KINDS * (1 + NUMBERS * KINDS)][16];
	const uint8_t keys[KEYS][16] = { { 1 }, { 2 } };
	int count = 0, same = 0;

	for (int i = 0; i < KEYS * NUMBERS * KINDS; i++) {
		const uint8_t *hash = ids[count];

		coll_id(ids[count++], keys[i % KEYS], (uint64_t)(i / KEYS % NUMBERS), (enum coll_kind)(1 + i / KEYS / NUMBERS));
		for (int k = 0; k < NUMBERS * KINDS; k++)
			coll_id_within(ids[count++], hash, (uint64_t)(k % NUMBERS), (enum coll_kind)(1 + k / NUMBERS));
	}
	CU_ASSERT_EQUAL(count, (int)(sizeof(ids) / sizeof(ids[0])));
	for (int i = 0; i < count; i++) {
		for (int k = 0; k < i; k++)
			same += memcmp(ids[i], ids[k], 16) == 0;
	}
	CU_ASSERT_EQUAL(same, 0);
}

/* No rank leaves a barrier before the last has come. */
struct meeting {
	int came[ROUNDS];
};

static void barriers(struct rank *rank)
{
	struct meeting *meeting = rank->arg;

	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 50 == rank->rank)
			usleep(2000);
		__atomic_add_fetch(&meeting->came[i], 1, __ATOMIC_RELAXED);
		rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
		if (__atomic_load_n(&meeting->came[i], __ATOMIC_RELAXED) != rank->size)
			rank->wrong++;
	}
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void coll_run__nobody_leaves_before_the_last_has_come(void)
{
	for (int size = 1; size <= 7; size++) {
		struct meeting meeting = { { 0 } };

		begin("barriers");
		fake_config.engine = size & 1;
		run(size, barriers, &meeting);
	}
}

/* A turn of waiting finds what only a poll of the completion queue reveals. */
static void turn_of_waiting(struct rank *rank)
{
	struct coll coll;
	struct run run = { .coll = &coll };
	uint8_t id[16] = { 0 };

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank->job->ranks_per_processor = 1;
	coll_begin(&coll, rank->job->world, id, 0, 0);
	CU_ASSERT_EQUAL_FATAL(partner(&coll, -1, &run.from), 0);
	wire_ping(&run.from->wire);
	rank->wrong += receive_step(&run) != 0;
	rank->wrong += !wire_done(&run.from->wire, run.from->wire.signalled);
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void receive_step__serves_who_is_waited_for(void)
{
	begin("a turn of waiting");
	run(2, turn_of_waiting, NULL);
}

/*
 * Ranks 0 and 2 come last, so ranks 1 and 3 wait for them in the first round. Rank 1 sends to rank
 * 3 in the second.
 */
static void first_barrier(struct rank *rank)
{
	struct oriel_job **waiting = rank->arg, *job;
	const struct peer *peer = NULL;

	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	if (rank->rank == 1)
		__atomic_store_n(waiting, rank->job, __ATOMIC_RELEASE);
	while ((rank->rank == 0 || rank->rank == 2) && !(peer && state_load(&peer->state) == PEER_UP)) {
		usleep(500);
		job = __atomic_load_n(waiting, __ATOMIC_ACQUIRE);
		peer = job ? peer_find(job, 3) : NULL;
	}
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void coll_run__connects_all_partners_at_once(void)
{
	struct oriel_job *waiting = NULL;

	begin("the first barrier");
	run(8, first_barrier, &waiting);
}

static int vote_in(struct rank *rank, uint64_t number, int code, int culprit)
{
	struct coll coll;
	struct wait wait;
	uint8_t id[16];

	coll_id(id, rank->job->world->key, number, COLL_CREATE);
	coll_begin(&coll, rank->job->world, id, code, culprit);
	wait_begin(&wait, rank->job, "vote", NULL);
	return coll_run(&coll, &wait);
}

static void votes(struct rank *rank)
{
	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	for (int bad = 0; bad < rank->size; bad++) {
		int rc = vote_in(rank, 1000u + (unsigned)bad, rank->rank == bad ? ORIEL_ERR_MEMORY : 0, rank->rank);

		rank->wrong += rc != ORIEL_ERR_MEMORY;
		if (rank->rank != bad)
			CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "could not take part"));
	}
	rank->wrong += vote_in(rank, 2000, 0, 0) != 0;
	CU_ASSERT_EQUAL(rank->job->unexpected.count, 0);
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

/* One member's error becomes everybody's. */
static void coll_run__all_end_with_the_same_verdict(void)
{
	for (int size = 1; size <= 7; size++) {
		begin("votes");
		run(size, votes, NULL);
	}
}

/* How many ranks have timed out at least once; the last rank comes only then. */
static int ranks_timed_out;

static void repeat(struct rank *rank)
{
	struct oriel_options options = { .struct_bytes = sizeof(options), .timeout_ms = 30 };
	struct coll coll;
	struct wait wait;
	uint8_t id[16];
	int rc, timeouts = 0;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, &options), 0);
	while (rank->rank == 2 && __atomic_load_n(&ranks_timed_out, __ATOMIC_ACQUIRE) < 2)
		usleep(500);
	coll_id(id, rank->job->world->key, 77, COLL_CREATE);
	coll_begin(&coll, rank->job->world, id, 0, 0);
	do {
		wait_begin(&wait, rank->job, "repeat", NULL);
		rc = coll_run(&coll, &wait);
		if (rc == ORIEL_ERR_TIMEOUT && timeouts++ == 0)
			__atomic_add_fetch(&ranks_timed_out, 1, __ATOMIC_RELEASE);
	} while (rc == ORIEL_ERR_TIMEOUT);
	CU_ASSERT_EQUAL(rc, 0);
	if (rank->rank != 2)
		CU_ASSERT(timeouts > 0);
	while ((rc = oriel_finalize(&rank->job)) == ORIEL_ERR_TIMEOUT)
		;
	CU_ASSERT_EQUAL(rc, 0);
}

/* E5: the same collective goes on where it was. */
static void coll_run__goes_on_after_a_timeout(void)
{
	begin("a collective that times out");
	run(3, repeat, NULL);
}

static void post_ctrl_msgs(struct rank *rank, struct peer *peer, int count)
{
	struct wait wait;

	wait_begin(&wait, rank->job, "messages", NULL);
	for (int i = 0; i < count; i++) {
		struct ctrl_msg msg = { .id = { 9 }, .round = (uint32_t)i, .code = i };

		CU_ASSERT_EQUAL(ctrl_msg_send(peer, &msg, &wait), 0);
	}
}

static void take_ctrl_msgs(struct peer *peer, int count)
{
	static const uint8_t id[16] = { 9 }, other[16] = { 8 };
	struct ctrl_msg msg;

	for (int i = count - 1; i >= 0; i--) { /* the last first */
		while (!ctrl_msg_take(peer, id, (uint32_t)i, &msg))
			usleep(10);
		CU_ASSERT_EQUAL(msg.code, i);
		CU_ASSERT_FALSE(ctrl_msg_take(peer, id, (uint32_t)i, &msg));
		CU_ASSERT_FALSE(ctrl_msg_take(peer, other, (uint32_t)i, &msg));
	}
}

/* Far more messages than the ring holds, asked for in the wrong order. */
static void many_ctrl_msgs(struct rank *rank)
{
	struct peer *peer;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	CU_ASSERT_EQUAL_FATAL(peer_get(rank->job, 1 - rank->rank, &peer), 0);
	if (rank->rank == 0)
		post_ctrl_msgs(rank, peer, 10 * CTRL_MSG_RING + 3);
	else
		take_ctrl_msgs(peer, 10 * CTRL_MSG_RING + 3);
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	CU_ASSERT_EQUAL(rank->job->unexpected.count, 0);
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void ctrl_msg_send__waits_for_room_in_the_ring(void)
{
	for (int late = 0; late < 2; late++) {
		begin("many messages");
		fake_config.engine = late;
		fake_config.late_polls = (uint32_t)late * 3;
		run(2, many_ctrl_msgs, NULL);
	}
}

/* One rank is gone: the errors of the ranks that wait for it, directly or not, name it. */
static void barrier_without_the_last(struct rank *rank)
{
	char name[32];
	int rc;

	snprintf(name, sizeof(name), "rank %d is dead", rank->size - 1);
	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	if (rank->rank == rank->size - 1) {
		/* As if killed: the launcher reports it while the others wait. */
		fake_world_ended(rank->world, rank->rank, "killed by signal 9");
		while (!__atomic_load_n(&rank->arg, __ATOMIC_ACQUIRE))
			usleep(1000);
		oriel_finalize(&rank->job);
		return;
	}
	rc = oriel_barrier(rank->job);
	CU_ASSERT_EQUAL(rc, ORIEL_ERR_PEER);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), name)); /* only the ranks that heard the launcher first know why */
	__atomic_store_n(&rank[rank->size - 1 - rank->rank].arg, rank, __ATOMIC_RELEASE);
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), ORIEL_ERR_PEER);
}

static void coll_run__a_dead_member_ends_it_for_all(void)
{
	for (int size = 2; size <= 6; size++) {
		struct rank ranks[FAKE_RANKS_MAX];

		begin("a dead member");
		ranks_run(size, barrier_without_the_last, NULL, ranks);
		CU_ASSERT_TRUE(ranks_clean());
	}
}

void suite_coll(void)
{
	CU_pSuite suite = CU_add_suite("coll", NULL, NULL);

	CU_ADD_TEST(suite, coll_id__differs_in_every_argument);
	CU_ADD_TEST(suite, coll_run__nobody_leaves_before_the_last_has_come);
	CU_ADD_TEST(suite, coll_run__all_end_with_the_same_verdict);
	CU_ADD_TEST(suite, receive_step__serves_who_is_waited_for);
	CU_ADD_TEST(suite, coll_run__connects_all_partners_at_once);
	CU_ADD_TEST(suite, coll_run__goes_on_after_a_timeout);
	CU_ADD_TEST(suite, ctrl_msg_send__waits_for_room_in_the_ring);
	CU_ADD_TEST(suite, coll_run__a_dead_member_ends_it_for_all);
}
