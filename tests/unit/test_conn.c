// SPDX-License-Identifier: BSD-2-Clause
/* test_conn.c - conn/conn.c: what becomes of an attempt that is not answered, by the clock alone. */
#include "conn/conn.c"

#include <CUnit/CUnit.h>

#include "suites.h"

static int map_nothing(struct ibv_qp *qp, uint32_t rkey, unsigned int access, struct softverbs_mapping *mapping)
{
	(void)qp, (void)rkey, (void)access, (void)mapping;
	return EOPNOTSUPP;
}

/* A request that has been sent to rank 1 by this device, and is due, its deadline an hour away. */
struct attempt {
	struct oriel_job job;
	struct device device;
	struct peer peer;
	struct conn conn;
};

static void attempt_init(struct attempt *attempt, bool lends)
{
	uint64_t now = now_ns();

	*attempt = (struct attempt){ .device.direct.map = lends ? map_nothing : NULL,
		                         .peer = { .job = &attempt->job, .device = &attempt->device, .rank = 1 },
		                         .conn = { .state = CONN_CONNECT,
		                                   .attempt = 1,
		                                   .step_ns = now + NS_PER_SECOND,
		                                   .deadline_ns = now + 3600 * NS_PER_SECOND } };
	attempt->peer.conn = &attempt->conn;
}

/* A packet may be lost: another attempt may get through. */
static void conn__asks_again_by_a_network(void)
{
	struct attempt attempt;

	attempt_init(&attempt, false);
	CU_ASSERT_TRUE(conn_tick(&attempt.peer, attempt.conn.step_ns - 1));
	CU_ASSERT_EQUAL(attempt.conn.state, CONN_CONNECT);
	CU_ASSERT_TRUE(conn_tick(&attempt.peer, attempt.conn.step_ns));
	CU_ASSERT_EQUAL(attempt.conn.state, CONN_BACKOFF);
}

/* A peer that is stopped, or slow, has the request: more of them would be more work for it. */
static void conn__asks_once_where_nothing_is_lost(void)
{
	struct attempt attempt;

	attempt_init(&attempt, true);
	CU_ASSERT_TRUE(conn_tick(&attempt.peer, attempt.conn.step_ns));
	CU_ASSERT_EQUAL_FATAL(attempt.conn.state, CONN_CONNECT);
	CU_ASSERT_TRUE(conn_tick(&attempt.peer, attempt.conn.deadline_ns - 1));
	CU_ASSERT_EQUAL(attempt.conn.state, CONN_CONNECT);
	CU_ASSERT_EQUAL(attempt.conn.attempt, 1);
}

void suite_conn(void)
{
	CU_pSuite suite = CU_add_suite("conn", NULL, NULL);

	CU_ADD_TEST(suite, conn__asks_again_by_a_network);
	CU_ADD_TEST(suite, conn__asks_once_where_nothing_is_lost);
}
