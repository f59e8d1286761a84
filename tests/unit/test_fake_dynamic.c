// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_dynamic.c - what attaching and detaching sends, and operations to a region that is gone
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "fake_job.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "suites_fake.h"
#include "win/win.h"

#define RANKS 3 /* rank 0 is counted; rank 2 never uses the window */
#define REGIONS 40
#define MANY 300 /* their number takes a second byte */
#define REGION_BYTES 64
#define ROUNDS 30

static uint8_t memory[RANKS][MANY][REGION_BYTES];

struct opened {
	oriel_group *world;
	oriel_win *win;
};

static bool enter(struct rank *rank, struct opened *opened)
{
	if (rank_note(rank, "job_open", rank_join(rank, NULL)))
		return false;
	rank_note(rank, "group", oriel_group_world(rank->job, &opened->world));
	return rank_note(rank, "create", oriel_win_create_dynamic(NULL, opened->world, &opened->win)) == 0;
}

static void leave(struct rank *rank, struct opened *opened)
{
	rank_note(rank, "free", oriel_win_free(&opened->win));
	rank_note(rank, "group_free", oriel_group_free(&opened->world));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

static size_t disp(int rank, int region)
{
	return (size_t)(uintptr_t)memory[rank][region];
}

static void attach(struct rank *rank, struct opened *opened, int from, int to)
{
	for (int i = from; i < to; i++)
		rank_note(rank, "attach", oriel_win_attach(opened->win, memory[rank->rank][i], REGION_BYTES));
}

static void detach(struct rank *rank, struct opened *opened, int from, int to)
{
	for (int i = from; i < to; i++)
		rank_note(rank, "detach", oriel_win_detach(opened->win, memory[rank->rank][i]));
}

static void reach(struct rank *rank, struct opened *opened, int to, int region, int rc)
{
	static const uint64_t word = 1;
	uint64_t got;

	rank_note(rank, "lock", oriel_win_lock(opened->win, ORIEL_LOCK_SHARED, to, ORIEL_MODE_NOCHECK));
	rank->wrong += oriel_put(opened->win, &word, sizeof(word), to, disp(to, region)) != rc;
	rank->wrong += oriel_get(opened->win, &got, sizeof(got), to, disp(to, region)) != rc;
	rank->wrong +=
		oriel_fetch_and_op(opened->win, &word, &got, ORIEL_UINT64, ORIEL_SUM, to, disp(to, region) + 8) != rc;
	rank_note(rank, "unlock", oriel_win_unlock(opened->win, to));
}

/* Requests from rank 0 to another; service threads' too. */
static uint64_t posted_to(struct rank *rank, int to)
{
	struct peer *peer = peer_find(rank->job, to);

	return peer ? __atomic_load_n(&peer->wire.posted, __ATOMIC_RELAXED) : 0;
}

/* Threads of the library may have something left to tell of what went before: one of the rounds counts. */
static void one_was_good(struct rank *rank, const char *what, int good)
{
	if (good > 0)
		return;
	rank->wrong++;
	printf("%s: not one of the rounds was as it should be\n", what);
}

/*
 * Attaching sends nothing; detaching notifies the ranks that have used the window, and sends
 * nothing if none has.
 */
static bool attach_and_detach(struct rank *rank, struct opened *opened, bool used)
{
	uint64_t all = fake_requests(), apart = posted_to(rank, 2), told;
	bool quiet;

	attach(rank, opened, 1, REGIONS);
	quiet = fake_requests() == all;
	told = posted_to(rank, 1);
	detach(rank, opened, 1, REGIONS);
	if (!used)
		return quiet && fake_requests() == all;
	return quiet && posted_to(rank, 2) == apart && posted_to(rank, 1) - told <= 2 * REGIONS;
}

/* DW7: with rank->arg rank 1 has used a region of rank 0 before, which stays. */
static void count_regions(struct rank *rank)
{
	struct opened opened;
	int good = 0;

	if (!enter(rank, &opened))
		return;
	if (rank->rank == 0)
		attach(rank, &opened, 0, 1);
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	if (rank->rank == 1 && rank->arg)
		reach(rank, &opened, 0, 0, 0);
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	if (rank->rank == 0) {
		rank_begin_counting(rank);
		for (int i = 0; i < ROUNDS; i++)
			good += attach_and_detach(rank, &opened, rank->arg);
		one_was_good(rank, rank->arg ? "regions of a window in use" : "regions", good);
		rank_end_counting();
	} else {
		rank_rest();
	}
	leave(rank, &opened);
}

static void dynamic__DW7_attaching_sends_nothing(void)
{
	struct rank ranks[RANKS];

	for (int used = 0; used < 2; used++) {
		ranks_limit(60, "regions that come and go, case %d", used);
		ranks_run(RANKS, count_regions, used ? &used : NULL, ranks);
		ranks_check(ranks, RANKS);
		fake_reset();
	}
}

/* The three operations: each looks whether there is one again, by reading root and entries. */
static bool is_told_by_reading(struct rank *rank, struct opened *opened)
{
	uint64_t all = fake_requests(), reads = fake_requests_of(IBV_WR_RDMA_READ);

	reach(rank, opened, 1, 0, ORIEL_ERR_RANGE);
	all = fake_requests() - all;
	reads = fake_requests_of(IBV_WR_RDMA_READ) - reads;
	return all == reads && reads <= 6;
}

/* DW5: region 0 is gone, and rank 0 has been there; region 1 stays. */
static void reach_what_is_gone(struct rank *rank)
{
	struct opened opened;
	int good = 0;

	if (!enter(rank, &opened))
		return;
	if (rank->rank == 1)
		attach(rank, &opened, 0, 2);
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	for (int i = 0; i < 2 && rank->rank == 0; i++)
		reach(rank, &opened, 1, i, 0);
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	if (rank->rank == 1)
		detach(rank, &opened, 0, 1);
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	if (rank->rank == 0) {
		rank_begin_counting(rank);
		for (int i = 0; i < ROUNDS; i++)
			good += is_told_by_reading(rank, &opened);
		one_was_good(rank, "a region that is gone", good);
		reach(rank, &opened, 1, 1, 0); /* the connection is whole */
		rank_end_counting();
	} else {
		rank_rest();
	}
	leave(rank, &opened);
}

static void dynamic__DW5_nothing_is_sent_to_what_is_gone(void)
{
	struct rank ranks[RANKS];

	memset(memory, 0, sizeof(memory));
	ranks_limit(60, "a region that is gone");
	ranks_run(RANKS, reach_what_is_gone, NULL, ranks);
	ranks_check(ranks, RANKS);
	CU_ASSERT_EQUAL(memory[1][0][8], 1); /* what was added before it went */
	CU_ASSERT_EQUAL(memory[1][1][8], 2);
	fake_reset();
}

/* Rank 0's way to post, and what rank 1 attaches while rank 0 reads the root of its table. */
static struct {
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	struct opened *theirs;
	struct region_root *root;
	int attached; /* regions so far */
	int bytes;    /* of the root that were read before */
} torn;

static void attach_next(struct rank *rank)
{
	rank_note(rank, "attach next", oriel_win_attach(torn.theirs->win, memory[1][torn.attached++], REGION_BYTES));
}

static bool reads_root(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_RDMA_READ && wr->wr.rdma.remote_addr == (uintptr_t)torn.root;
}

/* Each byte of the root is read before or behind what happened meanwhile. */
static void tear(const struct region_root *before, uint8_t *read)
{
	static uint64_t random = 1;
	const uint8_t *old = (const uint8_t *)before;

	for (size_t i = 0; i < sizeof(*before); i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		if (random >> 63 == 0 || read[i] == old[i])
			continue;
		read[i] = old[i];
		torn.bytes++;
	}
}

static int post_torn(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct region_root before = *torn.root;
	uint8_t *read = reads_root(wr) ? (uint8_t *)(uintptr_t)wr->sg_list[0].addr : NULL;
	struct rank nobody = { 0 };
	int rc;

	if (read)
		attach_next(&nobody);
	rc = torn.post_send(qp, wr, bad);
	if (read)
		tear(&before, read);
	return rc;
}

/* Each region is used when it has been attached; the next one comes while the table is read. */
static void reach_each(struct rank *rank, struct opened *opened)
{
	struct ibv_context *context = rank->job->devices.list[0].verbs;

	torn.post_send = context->ops.post_send;
	context->ops.post_send = post_torn;
	for (int i = 0; i < MANY - 1; i++) {
		reach(rank, opened, 1, i, 0);
		if (torn.attached == i + 1)
			attach_next(rank);
	}
	context->ops.post_send = torn.post_send;
}

static void reach_while_others_come(struct rank *rank)
{
	struct opened opened;

	if (!enter(rank, &opened))
		return;
	if (rank->rank == 1) {
		torn.theirs = &opened;
		torn.root = opened.win->regions.table->root[0].addr;
		attach_next(rank);
	}
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	if (rank->rank == 0)
		reach_each(rank, &opened);
	rank_note(rank, "barrier", oriel_barrier(rank->job));
	leave(rank, &opened);
}

static void dynamic__DW2_a_torn_root_hides_nothing(void)
{
	struct rank ranks[2];

	ranks_limit(60, "regions that come while the table is read");
	ranks_run(2, reach_while_others_come, NULL, ranks);
	ranks_check(ranks, 2);
	CU_ASSERT(torn.bytes > 0);
	fake_reset();
}

/* A window that a region is detached from, and whether its lock was free whenever memory was deregistered. */
static struct {
	struct verbs_functions functions;
	struct oriel_win *win; /* NULL: not now */
	int free, taken;
} watched;

/* No other thread is in the job's calls: the thread inside is this one. */
static int watch_deregister(struct ibv_mr *mr)
{
	if (watched.win && !watched.win->lock.busy && !watched.win->lock.by_mutex)
		watched.free++;
	else if (watched.win)
		watched.taken++;
	return ibv_dereg_mr(mr);
}

static void detach_watched(struct rank *rank)
{
	struct opened opened;
	struct device *device;

	if (!enter(rank, &opened))
		return;
	attach(rank, &opened, 0, 1);
	device = &rank->job->devices.list[0];
	watched.functions = *device->functions;
	watched.functions.dereg_mr = watch_deregister;
	device->functions = &watched.functions;
	watched.win = opened.win;
	detach(rank, &opened, 0, 1);
	watched.win = NULL;
	leave(rank, &opened);
}

/* Others' operations on the window go on while a region is deregistered, and moved back. */
static void dynamic__lock_is_free_while_a_region_is_released(void)
{
	struct rank ranks[1];

	ranks_limit(60, "a region that is released");
	ranks_run(1, detach_watched, NULL, ranks);
	ranks_check(ranks, 1);
	CU_ASSERT_EQUAL(watched.free, 1);
	CU_ASSERT_EQUAL(watched.taken, 0);
	fake_reset();
}

static int init(void)
{
	fake_reset();
	return 0;
}

void suite_dynamic(void)
{
	CU_pSuite suite = CU_add_suite("dynamic", init, NULL);

	CU_ADD_TEST(suite, dynamic__DW7_attaching_sends_nothing);
	CU_ADD_TEST(suite, dynamic__DW5_nothing_is_sent_to_what_is_gone);
	CU_ADD_TEST(suite, dynamic__DW2_a_torn_root_hides_nothing);
	CU_ADD_TEST(suite, dynamic__lock_is_free_while_a_region_is_released);
}
