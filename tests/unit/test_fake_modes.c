// SPDX-License-Identifier: BSD-2-Clause
/* test_fake_modes.c - the same job on devices of every kind, and with more work than their queues hold. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_scenario.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "job/peer.h"
#include "op/flush.h"
#include "op/flush_all.h"
#include "suites_fake.h"

#define FLOOD_RANKS 3
#define FLOOD_PUTS 400
#define FLOOD_GETS 150
#define FLOOD_BYTES (4u << 20)
#define FLOOD_LARGE \
	(FLOOD_BYTES - (100u << 10)) /* from here on one transfer: no ring takes it, and a short way might */

static void run_scenario(int size, const char *what, struct oriel_options *options)
{
	struct rank ranks[FAKE_RANKS_MAX];

	ranks_limit(60, "scenario, %d ranks, %s", size, what);
	ranks_run(size, scenario, options, ranks);
	ranks_check(ranks, size);
}

/* One put or get of the flood: sizes from inline to registered, at a place of its own. */
static size_t flood_size(int i)
{
	static const size_t sizes[] = { 1, 24, 64, 65, 200, 221, 1000, 8192, 8193, 4096 };

	return sizes[i % 10];
}

/* Byte k of the flood from one rank; each transfer i begins at i * 10000. */
static uint8_t flood_byte(int rank, size_t k)
{
	return (uint8_t)(k * 13 + k / 251 + (size_t)rank * 101);
}

static void flood_check(struct rank *rank, const uint8_t *got, int from, int count)
{
	for (int i = 0; i < count && rank->errors == 0; i++) {
		size_t at = (size_t)i * 10000;

		for (size_t k = at; k < at + flood_size(i); k++)
			rank->wrong += got[k] != flood_byte(from, k);
	}
	for (size_t k = FLOOD_LARGE; k < FLOOD_BYTES; k++)
		rank->wrong += got[k] != flood_byte(from, k);
}

static void flood_epoch(struct rank *rank, oriel_win *win, const uint8_t *mine, uint8_t *got)
{
	int right = (rank->rank + 1) % rank->size;

	rank_note(rank, "oriel_win_fence", oriel_win_fence(win, ORIEL_MODE_NOPRECEDE));
	for (int i = 0; i < FLOOD_PUTS; i++)
		rank_note(rank, "oriel_put", oriel_put(win, mine + (size_t)i * 10000, flood_size(i), right, (size_t)i * 10000));
	rank_note(rank, "oriel_put", oriel_put(win, mine + FLOOD_LARGE, FLOOD_BYTES - FLOOD_LARGE, right, FLOOD_LARGE));
	rank_note(rank, "oriel_win_fence", oriel_win_fence(win, 0));
	for (int i = 0; i < FLOOD_GETS; i++)
		rank_note(rank, "oriel_get", oriel_get(win, got + (size_t)i * 10000, flood_size(i), right, (size_t)i * 10000));
	rank_note(rank, "oriel_get", oriel_get(win, got + FLOOD_LARGE, FLOOD_BYTES - FLOOD_LARGE, right, FLOOD_LARGE));
	rank_note(rank, "oriel_win_fence", oriel_win_fence(win, ORIEL_MODE_NOSUCCEED));
}

static void flood(struct rank *rank)
{
	uint8_t *window = calloc(3, FLOOD_BYTES), *mine = window + FLOOD_BYTES, *got = mine + FLOOD_BYTES;
	oriel_group *world;
	oriel_win *win;

	for (size_t k = 0; k < FLOOD_BYTES; k++)
		mine[k] = flood_byte(rank->rank, k);
	if (rank_note(rank, "job_open", rank_join(rank, rank->arg)) == 0) {
		rank_note(rank, "oriel_group_world", oriel_group_world(rank->job, &world));
		if (rank_note(rank, "oriel_win_create", oriel_win_create(window, FLOOD_BYTES, 1, NULL, world, &win)) == 0) {
			flood_epoch(rank, win, mine, got);
			flood_check(rank, window, (rank->rank + rank->size - 1) % rank->size, FLOOD_PUTS);
			flood_check(rank, got, rank->rank, FLOOD_GETS);
			rank_note(rank, "oriel_win_free", oriel_win_free(&win));
		}
		oriel_group_free(&world);
		rank_note(rank, "oriel_finalize", oriel_finalize(&rank->job));
	}
	free(window);
}

static void run_flood(const char *what)
{
	struct rank ranks[FAKE_RANKS_MAX];

	ranks_limit(120, "flood, %s", what);
	ranks_run(FLOOD_RANKS, flood, NULL, ranks);
	ranks_check(ranks, FLOOD_RANKS);
}

static void scenario__ranks_from_one_to_eight(void)
{
	for (int size = 1; size <= 8; size++) {
		fake_reset();
		run_scenario(size, "plain", NULL);
	}
}

static void scenario__flag_modes(void)
{
	static const char *const modes[] = { "write", "atomic", "wait", "" /* as if not set */ };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		fake_reset();
		fake_config.engine = i & 1;
		setenv("ORIEL_FLAGS", modes[i], 1);
		run_scenario(3, modes[i], NULL);
		run_flood(modes[i]);
	}
	unsetenv("ORIEL_FLAGS");
}

/* A device that the library does not know: flags must wait for the data. */
static void scenario__unknown_device(void)
{
	fake_reset();
	fake_config.vendor_id = 0x1234;
	fake_config.name = "nobody0";
	fake_config.engine = true;
	run_scenario(3, "unknown device", NULL);
}

static void scenario__inline_sizes(void)
{
	static const uint32_t sizes[] = { 0, 63, 64, 128 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fake_reset();
		fake_config.max_inline = sizes[i];
		run_scenario(3, "little inline", NULL);
		run_flood("little inline");
	}
}

static void scenario__small_messages(void)
{
	static const size_t sizes[] = { 7, 64, 1000, 4096 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct oriel_options options = { .struct_bytes = sizeof(options), .max_message_bytes = sizes[i] };

		fake_reset();
		run_scenario(2, "small messages", &options);
	}
}

static void scenario__ports_with_small_messages(void)
{
	fake_reset();
	fake_config.max_message_bytes = 2048;
	run_scenario(3, "a port with small messages", NULL);
	run_flood("a port with small messages");
}

static void scenario__short_send_queues(void)
{
	static const uint32_t depths[] = { 1, 2, 3, 8, 17 };

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		fake_reset();
		fake_config.max_qp_wr = depths[i];
		run_scenario(3, "a short send queue", NULL);
		fake_config.engine = true;
		run_flood("a short send queue");
	}
}

static void scenario__one_read_in_flight(void)
{
	fake_reset();
	fake_config.reads_in_flight = 1;
	run_scenario(2, "one read in flight", NULL);
}

static void scenario__late_device(void)
{
	fake_reset();
	fake_config.engine = true;
	fake_config.late_polls = 5;
	run_scenario(5, "a late device", NULL);
	run_flood("a late device");
}

static void scenario__everything_small_and_late(void)
{
	setenv("ORIEL_FLAGS", "wait", 1);
	fake_reset();
	fake_config.engine = true;
	fake_config.late_polls = 2;
	fake_config.max_qp_wr = 3;
	fake_config.max_inline = 0;
	fake_config.max_message_bytes = 3000;
	run_scenario(3, "everything small and late", NULL);
	run_flood("everything small and late");
	unsetenv("ORIEL_FLAGS");
}

/*
 * A copied put of an epoch before has failed (P5): wait tells it, and its own epoch is closed all
 * the same.
 */
static void suffer_late(oriel_job *job, oriel_win *win, oriel_group *other, uint8_t *registered)
{
	char byte = 1;

	(void)job;
	(void)registered;
	CU_ASSERT_EQUAL(oriel_win_post(win, other, 0), 0);
	CU_ASSERT_EQUAL(oriel_win_start(win, other, 0), 0);
	CU_ASSERT_EQUAL(oriel_win_flush(win, ORIEL_RANK_ALL), 0); /* the other's post is here */
	fake_config.engine_rests = true;
	CU_ASSERT_EQUAL(oriel_put(win, &byte, 1, 1, 0), 0);
	CU_ASSERT_EQUAL(oriel_win_complete(win), 0); /* copied: does not wait for the network */
	fake_fail_request(fake_requests() + 1);
	fake_config.engine_rests = false;
	CU_ASSERT_EQUAL(oriel_win_wait(win), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(oriel_win_wait(win), ORIEL_ERR_SYNC);
	CU_ASSERT_EQUAL(oriel_win_complete(win), ORIEL_ERR_SYNC);
	CU_ASSERT_EQUAL(oriel_win_free(&win), ORIEL_ERR_PEER);
}

static void be_lost(oriel_win *win, oriel_group *other)
{
	CU_ASSERT_EQUAL(oriel_win_post(win, other, 0), 0);
	CU_ASSERT_EQUAL(oriel_win_wait(win), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(oriel_win_free(&win), ORIEL_ERR_PEER);
}

/* All of an epoch was complete when its flag was lost: no later call reports it. */
static void lose_flag(oriel_job *job, oriel_win *win, oriel_group *other, uint8_t *registered)
{
	oriel_group *nobody;

	CU_ASSERT_EQUAL(oriel_group_incl(other, 0, NULL, &nobody), 0);
	CU_ASSERT_EQUAL(oriel_win_post(win, other, 0), 0);
	CU_ASSERT_EQUAL(oriel_win_start(win, other, 0), 0);
	CU_ASSERT_EQUAL(oriel_win_flush(win, ORIEL_RANK_ALL), 0); /* the other's post is here */
	fake_fail_request(fake_requests() + 2);                   /* the get, the flag */
	CU_ASSERT_EQUAL(oriel_get(win, registered, 1, 1, 0), 0);
	CU_ASSERT_EQUAL(oriel_win_complete(win), 0);
	CU_ASSERT_EQUAL(oriel_barrier(job), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(oriel_win_start(win, nobody, 0), 0);
	CU_ASSERT_EQUAL(oriel_win_complete(win), 0);
	CU_ASSERT_EQUAL(oriel_win_wait(win), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(oriel_win_free(&win), ORIEL_ERR_PEER);
	oriel_group_free(&nobody);
}

/* The function of rank 0 in a window of two ranks, of which the other is lost with it. */
typedef void losing_function(oriel_job *job, oriel_win *win, oriel_group *other, uint8_t *registered);

static void lose_each_other(struct rank *rank)
{
	static uint8_t memory[2][64];
	losing_function *const *lose = rank->arg;
	oriel_group *world, *other;
	oriel_win *win;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	oriel_group_world(rank->job, &world);
	oriel_group_incl(world, 1, (int[]){ 1 - rank->rank }, &other);
	CU_ASSERT_EQUAL(oriel_win_create(memory[rank->rank], 64, 1, NULL, world, &win), 0);
	if (rank->rank == 0)
		(*lose)(rank->job, win, other, memory[0]);
	else
		be_lost(win, other);
	oriel_group_free(&other);
	oriel_group_free(&world);
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), ORIEL_ERR_PEER);
}

static void win_tell_sticky__closes_the_epoch_all_the_same(void)
{
	losing_function *lose = suffer_late;
	struct rank ranks[2];

	fake_reset();
	fake_config.engine = true;
	ranks_limit(30, "a copied put that fails after complete");
	ranks_run(2, lose_each_other, &lose, ranks);
	CU_ASSERT_TRUE(ranks_clean());
}

static void win_find_sticky__tells_nothing_that_was_complete(void)
{
	losing_function *lose = lose_flag;
	struct rank ranks[2];

	fake_reset();
	ranks_limit(30, "a flag that is lost behind a get that was complete");
	ranks_run(2, lose_each_other, &lose, ranks);
	CU_ASSERT_TRUE(ranks_clean());
}

static void put_into_read_only(struct rank *rank, oriel_win *win, uint8_t *page)
{
	uint8_t byte = 9, got = 0;
	int other = 1 - rank->rank;

	oriel_win_fence(win, 0);
	if (rank->rank == 0) {
		CU_ASSERT_EQUAL(oriel_put(win, &byte, 1, other, 0), ORIEL_ERR_ACCESS);
		CU_ASSERT_EQUAL(oriel_get(win, &got, 1, other, 5), 0);
	} else { /* read-only memory can be the origin of a put, and no other way round */
		CU_ASSERT_EQUAL(oriel_put(win, page, 4096, other, 0), 0);
	}
	oriel_win_fence(win, 0);
	CU_ASSERT_EQUAL(got, rank->rank == 0 ? 77 : 0);
}

/* D7: rank 1's window is a page that may only be read. */
static void read_only_window(struct rank *rank)
{
	static uint8_t memory[4096];
	uint8_t *page = rank->arg;
	oriel_group *world;
	oriel_win *win;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	oriel_group_world(rank->job, &world);
	CU_ASSERT_EQUAL(oriel_win_create(rank->rank ? page : memory, 4096, 1, NULL, world, &win), 0);
	put_into_read_only(rank, win, page);
	CU_ASSERT_EQUAL(oriel_win_free(&win), 0);
	if (rank->rank == 0)
		CU_ASSERT_EQUAL(memory[5], 77);
	oriel_group_free(&world);
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), 0);
}

static void scenario__read_only_window(void)
{
	struct rank ranks[2];
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fake_reset();
	page[5] = 77;
	mprotect(page, 4096, PROT_READ);
	fake_config.read_only = page;
	fake_config.read_only_bytes = 4096;
	ranks_limit(30, "a window that may only be read");
	ranks_run(2, read_only_window, page, ranks);
	CU_ASSERT_TRUE(ranks_clean());
	munmap(page, 4096);
}

/* The last request to the other rank, which is its post flag, if this rank does nothing but let it in. */
static uint64_t let_in(struct rank *rank, oriel_win *win, oriel_group *other, const struct wire *wire)
{
	if (rank->rank == 0) {
		CU_ASSERT_EQUAL(oriel_win_start(win, other, 0), 0);
		CU_ASSERT_EQUAL(oriel_win_complete(win), 0);
	} else {
		CU_ASSERT_EQUAL(oriel_win_post(win, other, 0), 0);
		CU_ASSERT_EQUAL(oriel_win_wait(win), 0);
	}
	return wire->posted;
}

static void flag_before_free(struct rank *rank)
{
	static uint8_t memory[2][64];
	oriel_group *world, *other;
	const struct wire *wire;
	uint64_t flag;
	oriel_win *win;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	oriel_group_world(rank->job, &world);
	oriel_group_incl(world, 1, (int[]){ 1 - rank->rank }, &other);
	CU_ASSERT_EQUAL(oriel_win_create(memory[rank->rank], 64, 1, NULL, world, &win), 0);
	wire = &peer_find(rank->job, 1 - rank->rank)->wire;
	flag = let_in(rank, win, other, wire);
	CU_ASSERT_EQUAL(oriel_win_free(&win), 0);
	CU_ASSERT_TRUE(wire_done(wire, flag));
	oriel_group_free(&other);
	oriel_group_free(&world);
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), 0);
}

/* Or it comes once more, in the slot's next window. */
static void free__waits_for_a_flag_that_may_come_twice(void)
{
	struct rank ranks[2];

	fake_reset();
	fake_config.engine = true;
	fake_config.name = "rxe0";
	ranks_limit(30, "a window freed behind a post flag");
	ranks_run(2, flag_before_free, NULL, ranks);
	CU_ASSERT_TRUE(ranks_clean());
}

#define LARGE (2 * WIRE_COPY_MAX) /* registered for the epoch */

/*
 * Completes, as another thread's request may between the first step of a flush and its wait:
 * nothing is left for the member.
 */
static void complete_beside(oriel_win *win)
{
	struct link *link = link_find(win, 1);
	struct watermark upto;

	owned_lock_take(&win->lock);
	upto = watermark_now(link, false);
	while (watermark_step(win, link, false, &upto) == 0)
		;
	owned_lock_give(&win->lock);
}

static void flush_of_what_has_ended(struct rank *rank)
{
	static uint8_t memory[2][LARGE], origin[LARGE];
	oriel_group *world;
	oriel_win *win;

	CU_ASSERT_EQUAL_FATAL(rank_join(rank, NULL), 0);
	oriel_group_world(rank->job, &world);
	CU_ASSERT_EQUAL(oriel_win_create(memory[rank->rank], LARGE, 1, NULL, world, &win), 0);
	if (rank->rank == 0) {
		CU_ASSERT_EQUAL(oriel_win_lock(win, ORIEL_LOCK_SHARED, 1, 0), 0);
		CU_ASSERT_EQUAL(oriel_put(win, origin, LARGE, 1, 0), 0);
		CU_ASSERT_EQUAL(win->epoch_mrs.count, 1);
		complete_beside(win);
		owned_lock_take(&win->lock);
		CU_ASSERT_EQUAL(flush_run(win, link_find(win, 1), NULL, false, "flush_run"), 0);
		owned_lock_give(&win->lock);
		CU_ASSERT_EQUAL(win->epoch_mrs.reusable, win->epoch_mrs.count);
		CU_ASSERT_EQUAL(oriel_win_unlock(win, 1), 0);
	}
	CU_ASSERT_EQUAL(oriel_win_free(&win), 0);
	oriel_group_free(&world);
	CU_ASSERT_EQUAL(oriel_finalize(&rank->job), 0);
}

/*
 * D2: behind a flush the origin is the program's, whichever thread has found its operations
 * complete.
 */
static void flush_run__gives_the_origin_back(void)
{
	struct rank ranks[2];

	fake_reset();
	ranks_limit(30, "a flush of what another thread has completed");
	ranks_run(2, flush_of_what_has_ended, NULL, ranks);
	CU_ASSERT_TRUE(ranks_clean());
}

void suite_modes(void)
{
	CU_pSuite suite = CU_add_suite("modes", NULL, NULL);

	CU_ADD_TEST(suite, scenario__ranks_from_one_to_eight);
	CU_ADD_TEST(suite, scenario__flag_modes);
	CU_ADD_TEST(suite, scenario__unknown_device);
	CU_ADD_TEST(suite, scenario__inline_sizes);
	CU_ADD_TEST(suite, scenario__small_messages);
	CU_ADD_TEST(suite, scenario__ports_with_small_messages);
	CU_ADD_TEST(suite, scenario__short_send_queues);
	CU_ADD_TEST(suite, scenario__one_read_in_flight);
	CU_ADD_TEST(suite, scenario__late_device);
	CU_ADD_TEST(suite, scenario__everything_small_and_late);
	CU_ADD_TEST(suite, scenario__read_only_window);
	CU_ADD_TEST(suite, win_tell_sticky__closes_the_epoch_all_the_same);
	CU_ADD_TEST(suite, win_find_sticky__tells_nothing_that_was_complete);
	CU_ADD_TEST(suite, flush_run__gives_the_origin_back);
	CU_ADD_TEST(suite, free__waits_for_a_flag_that_may_come_twice);
}
