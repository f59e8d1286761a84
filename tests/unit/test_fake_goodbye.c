// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_goodbye.c - goodbye.c: which ranks wait for which in oriel_finalize, the errors of
 * ranks that need one that has left, and deaths on either side of the word
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_job.h"
#include "fake_verbs.h"
#include "conn/goodbye.h"
#include "job/job.h"
#include "conn/ctrl_msg.h"
#include "job/peer.h"
#include "suites_fake.h"
#include "base/order.h"

#define RING 8

static int steps; /* that ranks have exchanged without the library */

static void begin_run(const char *what)
{
	fake_reset();
	steps = 0;
	ranks_limit(30, "%s", what);
}

static void reach_step(int step)
{
	__atomic_store_n(&steps, step, __ATOMIC_RELEASE);
}

static void await_step(int step)
{
	while (__atomic_load_n(&steps, __ATOMIC_ACQUIRE) < step)
		usleep(500);
}

/* All ranks of a run meet here for the n-th time. */
static void meet(const struct rank *rank, int n)
{
	__atomic_add_fetch(&steps, 1, __ATOMIC_ACQ_REL);
	await_step(n * rank->size);
}

static struct peer *peer_to(const struct rank *rank, int other)
{
	struct peer *peer = NULL;

	CU_ASSERT_EQUAL_FATAL(peer_get(rank->job, other, &peer), 0);
	return peer;
}

static int send_ctrl_msg(struct rank *rank, int to, uint32_t number)
{
	struct ctrl_msg msg = { .id = { 7 }, .round = number };
	struct wait wait;

	wait_begin(&wait, rank->job, "message", NULL);
	return ctrl_msg_send(peer_to(rank, to), &msg, &wait);
}

static void take_ctrl_msg(struct rank *rank, int from, uint32_t number)
{
	static const uint8_t id[16] = { 7 };
	struct ctrl_msg msg;

	while (!ctrl_msg_take(peer_to(rank, from), id, number, &msg))
		usleep(100);
}

static void wait_for_goodbye(struct rank *rank, int from)
{
	while (!peer_said_goodbye(peer_to(rank, from)))
		usleep(100);
}

static void join_and_barrier(struct rank *rank)
{
	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	CU_ASSERT_EQUAL(oriel_barrier(rank->job), 0);
}

static void run(int size, rank_function *function)
{
	struct rank ranks[FAKE_RANKS_MAX];

	ranks_run(size, function, NULL, ranks);
	for (int i = 0; i < size; i++)
		CU_ASSERT_EQUAL(ranks[i].errors, 0);
	CU_ASSERT_TRUE(ranks_clean());
}

/*
 * In a ring that is closed by messages everybody has two neighbours; no more are made for leaving.
 */
static void leave_ring(struct rank *rank)
{
	int right = (rank->rank + 1) % rank->size, left = (rank->rank + rank->size - 1) % rank->size;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	CU_ASSERT_EQUAL(send_ctrl_msg(rank, right, 0), 0);
	take_ctrl_msg(rank, left, 0);
	meet(rank, 1);
	CU_ASSERT_EQUAL(fake_queue_pairs(), 2 * rank->size);
	CU_ASSERT_EQUAL(rank->job->peers.count, 2);
	meet(rank, 2);
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void goodbye__is_said_to_neighbours_only(void)
{
	begin_run("a ring leaves");
	run(RING, leave_ring);
	CU_ASSERT(fake_requests() < RING * 2 * 16); /* message, "up", goodbye, and a few pings if it takes long */
}

static void leave_alone(struct rank *rank)
{
	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	if (rank->rank == 1)
		await_step(1);
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
	reach_step(1); /* rank 0 has not waited for rank 1 */
}

static void goodbye__strangers_do_not_wait_for_each_other(void)
{
	begin_run("strangers leave");
	run(2, leave_alone);
}

/*
 * Rank 1 computes for long; the messages of before have come, and there is room for more than a
 * ring of them after.
 */
static void tell_of_leaving(struct rank *rank)
{
	join_and_barrier(rank);
	if (rank->rank == 0) {
		CU_ASSERT_EQUAL(send_ctrl_msg(rank, 1, 0), 0);
	} else {
		wait_for_goodbye(rank, 0);
		take_ctrl_msg(rank, 0, 0);
		for (uint32_t i = 0; i < 5 * CTRL_MSG_RING; i++)
			CU_ASSERT_EQUAL(send_ctrl_msg(rank, 0, i), 0);
	}
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void goodbye__ctrl_msgs_come_before_it_and_are_taken_after_it(void)
{
	begin_run("messages around a goodbye");
	run(2, tell_of_leaving);
}

/*
 * Rank 0 leaves one barrier early. Of many ranks, one that has got the error may have left too
 * before another polls.
 */
static void miss_one(struct rank *rank)
{
	join_and_barrier(rank);
	if (rank->rank != 0) {
		CU_ASSERT_EQUAL(oriel_barrier(rank->job), ORIEL_ERR_PEER);
		CU_ASSERT(oriel_size(rank->job) > 2 || strstr(oriel_last_error(), "rank 0"));
		CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "left"));
	}
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

/* E6: a rank that waits for one that has left gets an error; no rank has died. */
static void goodbye__who_waits_for_the_leaving_is_told(void)
{
	for (int size = 2; size <= 7; size++) {
		begin_run("a barrier that one does not come to");
		run(size, miss_one);
	}
}

/* Ranks 0 and 1 are connected, 2 is not; 0 is in oriel_finalize when 2 asks it for a connection. */
static void ask_the_leaving(struct rank *rank)
{
	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	if (rank->rank == 0) {
		CU_ASSERT_EQUAL(send_ctrl_msg(rank, 1, 0), 0);
	} else if (rank->rank == 1) {
		take_ctrl_msg(rank, 0, 0);
		wait_for_goodbye(rank, 0);
		reach_step(1);
		await_step(2);
	} else {
		await_step(1);
		CU_ASSERT_EQUAL(send_ctrl_msg(rank, 0, 0), ORIEL_ERR_PEER);
		CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "it has left the job"));
		CU_ASSERT_EQUAL(send_ctrl_msg(rank, 0, 1), ORIEL_ERR_PEER);
		reach_step(2);
	}
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void goodbye__a_request_is_rejected_after_it(void)
{
	begin_run("a request after a goodbye");
	run(3, ask_the_leaving);
}

/* Begin to connect; the request is on its way when this returns, and the fake network holds it. */
static void request_and_hold(struct rank *rank, int to)
{
	service_queue_request(peer_to(rank, to));
	while (fake_held_requests() == 0)
		usleep(500);
}

/* Rank 0 asks for a connection that no rank needs, and leaves while the request is in flight. */
static void leave_halfway(struct rank *rank)
{
	int limit_ms = *(const int *)rank->arg;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	rank->job->limits.connect_timeout_ms = limit_ms;
	meet(rank, 1);
	if (rank->rank == 0) {
		request_and_hold(rank, 1);
		rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
		reach_step(10);
	} else {
		await_step(10);
		rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
	}
}

/* Whichever time is up first: the attempt's, or that of the whole undertaking. */
static void goodbye__a_request_that_is_not_answered_is_forgotten(void)
{
	int limits_ms[] = { 100, 10000 };
	struct rank ranks[2];

	for (int i = 0; i < 2; i++) {
		begin_run("leaving with a request under way");
		fake_config.hold_requests = true;
		ranks_run(2, leave_halfway, &limits_ms[i], ranks);
		CU_ASSERT(ranks[0].errors == 0 && ranks[1].errors == 0);
		CU_ASSERT_TRUE(ranks_clean());
	}
}

/* The request arrives while rank 0 is in oriel_finalize: the two connect, and part. */
static void connect_in_finalize(struct rank *rank)
{
	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	meet(rank, 1);
	if (rank->rank == 0) {
		request_and_hold(rank, 1);
		reach_step(10);
	} else {
		await_step(10);
		while (!goodbye_has_begun(&rank[-1].job->goodbye))
			usleep(100);
		fake_release_requests();
		wait_for_goodbye(rank, 0);
	}
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

static void goodbye__a_connection_that_comes_up_late_is_parted_from(void)
{
	begin_run("a connection that comes up in oriel_finalize");
	fake_config.hold_requests = true;
	run(2, connect_in_finalize);
}

/* Rank 1 goes while rank 0 waits for it; with or without having said goodbye. */
static void go_without_a_word(struct rank *rank)
{
	bool word = *(const bool *)rank->arg;
	int wanted = word ? 0 : ORIEL_ERR_PEER;

	join_and_barrier(rank);
	if (rank->rank == 1) {
		struct peer *mine = peer_to(rank, 0);

		wait_for_goodbye(rank, 0);
		if (word)
			goodbye_say(mine);
		rdma_disconnect(mine->id);
		await_step(1);
		oriel_finalize(&rank->job);
		return;
	}
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), wanted);
	reach_step(1);
}

static void goodbye__a_connection_that_ends_behind_the_word_is_no_death(void)
{
	bool words[] = { false, true };
	struct rank ranks[2];

	for (int i = 0; i < 2; i++) {
		begin_run("a connection that ends in oriel_finalize");
		ranks_run(2, go_without_a_word, &words[i], ranks);
		CU_ASSERT_TRUE(ranks_clean());
	}
}

/* The launcher's word that a rank was killed is a death wherever the rank was. */
static void be_killed_leaving(struct rank *rank)
{
	join_and_barrier(rank);
	if (rank->rank == 1) {
		wait_for_goodbye(rank, 0);
		fake_world_ended(rank->world, 1, "was killed by signal 9");
		await_step(1);
		oriel_finalize(&rank->job);
		return;
	}
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), ORIEL_ERR_PEER);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "rank 1 is dead or out of reach: was killed by signal 9"));
	reach_step(1);
}

static void goodbye__a_death_ends_the_waiting(void)
{
	begin_run("a death while others leave");
	run(2, be_killed_leaving);
}

static void barriers_and_leave(struct rank *rank)
{
	unsigned random = (unsigned)rank->rank * 7919u + 17u;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	for (int i = 0; i < 3; i++) {
		usleep((useconds_t)(rand_r(&random) % 300));
		rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	}
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

/* A rank that is through with a barrier leaves at once, while others are still inside. */
static void goodbye__right_after_a_barrier(void)
{
	for (int i = 0; i < 40; i++) {
		begin_run("leaving right after a barrier");
		fake_config.engine = i & 1;
		fake_config.late_polls = i & 2;
		run(2 + i % 7, barriers_and_leave);
	}
}

static void sweep_leaving(struct rank *rank)
{
	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return;
	rank_note(rank, "oriel_barrier", oriel_barrier(rank->job));
	rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
}

/*
 * Whatever request fails, and whatever event of a connection is lost: both ranks leave, with error
 * codes that fit.
 */
static void goodbye__sweep(void)
{
	struct rank ranks[2];
	bool hit = true;

	for (unsigned n = 1; hit; n++) {
		for (int kind = 0; kind < 3; kind++) {
			begin_run("a fault in leaving");
			(kind == 0 ? fake_fail_request : kind == 1 ? fake_fail_call : fake_drop_event)(n);
			ranks_run(2, sweep_leaving, NULL, ranks);
			hit = kind == 0 ? fake_hit() != NULL : hit || fake_hit() != NULL;
			for (int i = 0; i < 2; i++)
				CU_ASSERT(ranks[i].first_error == 0 || ranks[i].first_error == ORIEL_ERR_PEER ||
				          ranks[i].first_error == ORIEL_ERR_DEVICE || ranks[i].first_error == ORIEL_ERR_MEMORY);
			CU_ASSERT_TRUE(ranks_clean());
		}
	}
}

void suite_goodbye(void)
{
	CU_pSuite suite = CU_add_suite("goodbye", NULL, NULL);

	CU_ADD_TEST(suite, goodbye__is_said_to_neighbours_only);
	CU_ADD_TEST(suite, goodbye__strangers_do_not_wait_for_each_other);
	CU_ADD_TEST(suite, goodbye__ctrl_msgs_come_before_it_and_are_taken_after_it);
	CU_ADD_TEST(suite, goodbye__who_waits_for_the_leaving_is_told);
	CU_ADD_TEST(suite, goodbye__a_request_is_rejected_after_it);
	CU_ADD_TEST(suite, goodbye__a_request_that_is_not_answered_is_forgotten);
	CU_ADD_TEST(suite, goodbye__a_connection_that_comes_up_late_is_parted_from);
	CU_ADD_TEST(suite, goodbye__a_connection_that_ends_behind_the_word_is_no_death);
	CU_ADD_TEST(suite, goodbye__a_death_ends_the_waiting);
	CU_ADD_TEST(suite, goodbye__right_after_a_barrier);
	CU_ADD_TEST(suite, goodbye__sweep);
}
