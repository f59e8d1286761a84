// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_acc_device.c - accumulate operations on words by the device's atomics: how many
 * requests each operation takes, and that three kinds of origin at once lose nothing
 */
#include <CUnit/CUnit.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_job.h"
#include "fake_scenario.h"
#include "fake_verbs.h"
#include "job/job.h"
#include "suites_fake.h"
#include "verbs/wire.h"

#define RANKS 3
#define ROUNDS 200

static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;
static uint8_t seen[RANKS * ROUNDS]; /* atomic */
static pthread_barrier_t together;   /* of a target and of the rank that is counted; none of the job's own, which posts */

static int join_on(struct rank *rank, const char *node, const char *device)
{
	const struct oriel_options options = { .struct_bytes = sizeof(options), .device = device };
	int rc;

	pthread_mutex_lock(&joining);
	setenv("ORIEL_TEST_NODE", node, 1);
	rc = rank_note(rank, "job_open", rank_join(rank, &options));
	unsetenv("ORIEL_TEST_NODE");
	pthread_mutex_unlock(&joining);
	return rc;
}

struct words {
	oriel_group *world;
	oriel_win *win;
	int64_t *memory;
};

static void open_words(struct rank *rank, struct words *words, const struct oriel_hint hints[])
{
	void *base;

	rank_note(rank, "group", oriel_group_world(rank->job, &words->world));
	CU_ASSERT_EQUAL_FATAL(rank_note(rank, "allocate",
	                                oriel_win_allocate(64 * sizeof(int64_t), sizeof(int64_t), hints, words->world,
	                                                   &base, &words->win)),
	                      0);
	words->memory = base;
	rank_note(rank, "fence", oriel_win_fence(words->win, 0));
}

static void leave(struct rank *rank, struct words *words)
{
	rank_note(rank, "fence", oriel_win_fence(words->win, 0));
	rank_note(rank, "free", oriel_win_free(&words->win));
	rank_note(rank, "group_free", oriel_group_free(&words->world));
	rank_note(rank, "finalize", oriel_finalize(&rank->job));
}

/* The kinds of requests carried out since `count` began. */
struct count {
	uint64_t adds, swaps, reads, writes, posts;
};

static struct count count_now(void)
{
	return (struct count){ fake_requests_of(IBV_WR_ATOMIC_FETCH_AND_ADD), fake_requests_of(IBV_WR_ATOMIC_CMP_AND_SWP),
		                   fake_requests_of(IBV_WR_RDMA_READ), fake_requests_of(IBV_WR_RDMA_WRITE), fake_posts() };
}

static bool costs(const struct count *from, struct count want)
{
	struct count now = count_now();

	return now.adds - from->adds == want.adds && now.swaps - from->swaps == want.swaps &&
	       now.reads - from->reads == want.reads && now.writes - from->writes == want.writes &&
	       now.posts - from->posts == want.posts;
}

#define MANY 40 /* more swaps than are made with the lock held */

/*
 * Where a device does it word by word, it goes on behind those that were done before the lock was
 * given up.
 */
static void change_many(struct rank *rank, struct words *words, int to)
{
	int64_t many[MANY], before[MANY], after[MANY];

	for (int round = 1; round <= 2; round++) {
		for (int i = 0; i < MANY; i++)
			many[i] = (i + 1) * round;
		rank_note(rank, "replace",
		          oriel_get_accumulate(words->win, many, before, MANY, ORIEL_INT64, ORIEL_REPLACE, to, 20));
		rank_note(rank, "flush", oriel_win_flush(words->win, to));
		rank_note(rank, "read", oriel_get_accumulate(words->win, NULL, after, MANY, ORIEL_INT64, ORIEL_NO_OP, to, 20));
		rank_note(rank, "flush", oriel_win_flush(words->win, to));
		for (int i = 0; i < MANY; i++)
			rank->wrong += after[i] != many[i] || before[i] != (i + 1) * (round - 1);
	}
}

#define PIECES 32

/*
 * A list of integers that no device adds is one active message: its requests do not grow with its
 * pieces.
 */
static void add_list(struct rank *rank, struct words *words, int to)
{
	int32_t ones[PIECES], results[PIECES];
	struct oriel_origin_piece origin[PIECES], result[PIECES];
	struct oriel_target_piece target[PIECES];
	struct count at;

	for (int i = 0; i < PIECES; i++) {
		ones[i] = i + 1;
		origin[i] = (struct oriel_origin_piece){ &ones[i], sizeof(int32_t) };
		result[i] = (struct oriel_origin_piece){ &results[PIECES - 1 - i], sizeof(int32_t) };
		target[i] = (struct oriel_target_piece){ (size_t)(PIECES - 1 - i), sizeof(int32_t) };
	}
	at = count_now();
	rank_note(rank, "list",
	          oriel_accumulatev(words->win, origin, PIECES, ORIEL_INT32, ORIEL_REPLACE, to, target, PIECES));
	rank_note(rank, "flush", oriel_win_flush(words->win, to));
	rank_note(rank, "list",
	          oriel_get_accumulatev(words->win, NULL, 0, result, PIECES, ORIEL_INT32, ORIEL_NO_OP, to, target, PIECES));
	rank_note(rank, "flush", oriel_win_flush(words->win, to));
	rank->wrong += count_now().writes - at.writes >= PIECES;
	for (int i = 0; i < PIECES; i++)
		rank->wrong += results[i] != PIECES - i;
}

/*
 * The operations of rank 0 on rank `to`; each is its requests and one doorbell, where they are not
 * waited for.
 */
static void operate(struct rank *rank, struct words *words, int to, bool by_words)
{
	int64_t one = 1, five = 5, six = 6, got = 0, many[8], result[8] = { 0 };
	struct count at = count_now();

	rank_note(rank, "fop", oriel_fetch_and_op(words->win, &five, &got, ORIEL_INT64, ORIEL_SUM, to, 0));
	rank_note(rank, "flush", oriel_win_flush(words->win, to));
	rank->wrong += got != 0 || !costs(&at, (struct count){ .adds = 1, .posts = 1 });
	at = count_now();
	rank_note(rank, "fop", oriel_fetch_and_op(words->win, NULL, &got, ORIEL_UINT64, ORIEL_NO_OP, to, 0));
	rank_note(rank, "flush", oriel_win_flush(words->win, to));
	rank->wrong += got != 5 || !costs(&at, (struct count){ .adds = 1, .posts = 1 });
	at = count_now();
	rank_note(rank, "cas", oriel_compare_and_swap(words->win, &six, &five, &got, ORIEL_INT64, to, 0));
	rank_note(rank, "flush", oriel_win_flush(words->win, to));
	rank->wrong += got != 5 || !costs(&at, (struct count){ .swaps = 1, .posts = 1 });
	at = count_now();
	rank_note(rank, "cas", oriel_compare_and_swap(words->win, &one, &five, &got, ORIEL_INT64, to, 0));
	rank_note(rank, "flush", oriel_win_flush(words->win, to));
	rank->wrong += got != 6 || !costs(&at, (struct count){ .swaps = 1, .posts = 1 });
	at = count_now();
	rank_note(rank, "replace", oriel_fetch_and_op(words->win, &one, &got, ORIEL_INT64, ORIEL_REPLACE, to, 0));
	rank_note(rank, "flush", oriel_win_flush(words->win, to));
	rank->wrong += got != 6 || !costs(&at, (struct count){ .swaps = 1, .reads = 1, .posts = 2 });
	for (int i = 0; i < 8; i++)
		many[i] = i + 1;
	at = count_now();
	rank_note(rank, "accumulate", oriel_accumulate(words->win, many, 8, ORIEL_INT64, ORIEL_SUM, to, 8));
	rank_note(rank, "flush", oriel_win_flush(words->win, to));
	if (by_words)
		rank->wrong += !costs(&at, (struct count){ .adds = 8, .posts = 1 });
	else /* an active message */
		rank->wrong += count_now().adds != at.adds;
	rank_note(rank, "max", oriel_get_accumulate(words->win, many, result, 8, ORIEL_INT64, ORIEL_PROD, to, 8));
	rank_note(rank, "flush", oriel_win_flush(words->win, to));
	rank_note(rank, "get", oriel_get_accumulate(words->win, NULL, many, 8, ORIEL_INT64, ORIEL_NO_OP, to, 8));
	rank_note(rank, "flush", oriel_win_flush(words->win, to));
	for (int i = 0; i < 8; i++)
		rank->wrong += result[i] != i + 1 || many[i] != (i + 1) * (i + 1);
	change_many(rank, words, to);
	add_list(rank, words, to);
}

struct scenario {
	enum ibv_atomic_cap atomics;
	int to;
};

static void count_requests(struct rank *rank)
{
	const struct scenario *scenario = rank->arg;
	int64_t first = 0, got;
	struct words words;

	if (join_on(rank, rank->rank ? "b" : "a", "card"))
		return;
	open_words(rank, &words, NULL);
	if (rank->rank == 0) {
		/* what first contact takes does not count */
		rank_note(rank, "first", oriel_fetch_and_op(words.win, &first, &got, ORIEL_INT64, ORIEL_SUM, scenario->to, 63));
		rank_note(rank, "flush", oriel_win_flush(words.win, scenario->to));
		rank_begin_counting(rank);
		operate(rank, &words, scenario->to, scenario->atomics == IBV_ATOMIC_HCA);
		rank_end_counting();
	} else {
		rank_rest();
	}
	leave(rank, &words);
}

static void acc_device__requests_of_each_operation(void)
{
	static const struct scenario scenarios[] = { { IBV_ATOMIC_HCA, 1 }, { IBV_ATOMIC_GLOB, 1 } };

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		struct rank ranks[2];

		ranks_limit(60, "requests of accumulate operations, case %zu", i);
		fake_config.name = "softcard0"; /* no read behind what is placed */
		fake_config.atomics = scenarios[i].atomics;
		ranks_run(2, count_requests, (void *)(uintptr_t)&scenarios[i], ranks);
		ranks_check(ranks, 2);
		fake_reset();
	}
}

/* Runs over cards that keep the order of writes, and are atomic with themselves. */
static void run_two_over_cards(void (*run)(struct rank *rank), const char *what)
{
	struct rank ranks[2];

	ranks_limit(60, "%s", what);
	fake_config.name = "softcard0";
	fake_config.atomics = IBV_ATOMIC_HCA;
	ranks_run(2, run, NULL, ranks);
	ranks_check(ranks, 2);
	fake_reset();
}

#define PSCW_ROUNDS \
	100 /* the target may answer, or tell that it rests, between any two requests: one has to be without */

/* Epochs of start and complete, with an accumulate or without. */
static const struct pscw_epoch {
	const char *what;
	enum oriel_type type;
	size_t count;
	struct count cost; /* at the most; writes with those that wake the target */
} pscw_epochs[] = {
	{ "nothing", ORIEL_INT64, 0, { .writes = 1, .posts = 1 } },
	{ "an integer", ORIEL_INT64, 1, { .adds = 1, .writes = 1, .posts = 1 } },
	{ "64 integers", ORIEL_INT64, 64, { .adds = 64, .writes = 1, .posts = 64 / WIRE_BATCH + 1 } },
	{ "a double", ORIEL_DOUBLE, 1, { .writes = 2 + 1, .posts = 2 } },
	{ "64 doubles", ORIEL_DOUBLE, 64, { .writes = 3 + 1, .posts = 2 } },
};
#define PSCW_EPOCHS (sizeof(pscw_epochs) / sizeof(pscw_epochs[0]))

/*
 * One of rank 0's, whose target has posted. Whether it took no more than the accumulate, and
 * complete's word behind it.
 */
static bool accumulate_once(struct rank *rank, struct words *words, const struct pscw_epoch *epoch)
{
	static const uint64_t operands[64];
	struct count at = count_now(), now;
	uint64_t waking = fake_requests_of(IBV_WR_RDMA_WRITE_WITH_IMM);

	if (epoch->count > 0)
		rank_note(rank, "accumulate",
		          oriel_accumulate(words->win, operands, epoch->count, epoch->type, ORIEL_SUM, 1, 0));
	rank_note(rank, "complete", oriel_win_complete(words->win));
	now = count_now();
	now.writes += fake_requests_of(IBV_WR_RDMA_WRITE_WITH_IMM) - waking;
	return now.adds - at.adds <= epoch->cost.adds && now.swaps == at.swaps && now.reads == at.reads &&
	       now.writes - at.writes <= epoch->cost.writes && now.posts - at.posts <= epoch->cost.posts;
}

static void accumulate_rounds(struct rank *rank, struct words *words, oriel_group *group,
                              const struct pscw_epoch *epoch)
{
	int good = 0;

	for (int i = 0; i < PSCW_ROUNDS; i++) {
		if (rank->rank == 0) {
			rank_note(rank, "start", oriel_win_start(words->win, group, 0));
			rank_note(rank, "flush", oriel_win_flush(words->win, 1)); /* the post has come */
		} else {
			rank_note(rank, "post", oriel_win_post(words->win, group, 0));
		}
		pthread_barrier_wait(&together);
		if (rank->rank == 0)
			good += accumulate_once(rank, words, epoch);
		pthread_barrier_wait(&together);
		if (rank->rank != 0)
			rank_note(rank, "wait", oriel_win_wait(words->win));
	}
	if (rank->rank != 0 || good > 0)
		return;
	rank->wrong++;
	printf("%s between start and complete: not one of the rounds was as it should be\n", epoch->what);
}

static void accumulate_in_pscw(struct rank *rank)
{
	int other = 1 - rank->rank;
	oriel_group *group;
	struct words words;

	if (join_on(rank, rank->rank ? "b" : "a", "card"))
		return;
	open_words(rank, &words, NULL);
	rank_note(rank, "incl", oriel_group_incl(words.world, 1, &other, &group));
	for (size_t i = 0; i < PSCW_EPOCHS; i++)
		accumulate_rounds(rank, &words, group, &pscw_epochs[i]);
	rank_note(rank, "group_free", oriel_group_free(&group));
	leave(rank, &words);
}

static void acc_device__requests_in_pscw(void)
{
	pthread_barrier_init(&together, NULL, 2);
	run_two_over_cards(accumulate_in_pscw, "accumulates between start and complete");
	pthread_barrier_destroy(&together);
}

/*
 * Without memory a word's old value has no place to land: the error says so, and the same call
 * works later.
 */
static void shortage_is_told(struct rank *rank)
{
	int64_t one = 1, got = -1;
	struct words words;

	if (join_on(rank, rank->rank ? "b" : "a", "card"))
		return;
	open_words(rank, &words, NULL);
	if (rank->rank == 0) {
		rank_note(rank, "put", oriel_put(words.win, &one, sizeof(one), 1, 0)); /* first contact, inline */
		rank_note(rank, "flush", oriel_win_flush(words.win, 1));
		rank_begin_counting(rank);
		fake_fail_allocation(1);
		rank->wrong += oriel_fetch_and_op(words.win, &one, &got, ORIEL_INT64, ORIEL_SUM, 1, 0) != ORIEL_ERR_MEMORY;
		fake_fail_allocation(1);
		rank->wrong += oriel_compare_and_swap(words.win, &one, &one, &got, ORIEL_INT64, 1, 0) != ORIEL_ERR_MEMORY;
		rank_note(rank, "fop", oriel_fetch_and_op(words.win, &one, &got, ORIEL_INT64, ORIEL_SUM, 1, 0));
		rank_note(rank, "flush", oriel_win_flush(words.win, 1));
		rank->wrong += got != 1;
		rank_end_counting();
	} else {
		rank_rest();
	}
	leave(rank, &words);
}

static void acc_device__shortage_is_told(void)
{
	run_two_over_cards(shortage_is_told, "a word's old value without memory to land in");
}

/*
 * The release of a lock does not overtake atomics of its epoch, even those whose old value is not
 * wanted (L4).
 */
static void release_behind_atomics(struct rank *rank)
{
	int64_t one = 1;
	struct words words;
	uint64_t fences;

	if (join_on(rank, rank->rank ? "b" : "a", "card"))
		return;
	open_words(rank, &words, NULL);
	if (rank->rank == 0) {
		rank_note(rank, "lock", oriel_win_lock(words.win, ORIEL_LOCK_EXCLUSIVE, 1, 0));
		fences = fake_fences();
		rank_note(rank, "accumulate", oriel_accumulate(words.win, &one, 1, ORIEL_INT64, ORIEL_SUM, 1, 0));
		rank_note(rank, "unlock", oriel_win_unlock(words.win, 1));
		rank->wrong += fake_fences() - fences != 1;
	}
	leave(rank, &words);
}

static void acc_device__release_behind_atomics(void)
{
	run_two_over_cards(release_behind_atomics, "a release behind atomics");
}

/* Nor does an active message overtake atomics, which may be of the same bytes (A15). */
static void am_behind_atomics(struct rank *rank)
{
	int64_t one = 1;
	struct words words;
	uint64_t fences;

	if (join_on(rank, rank->rank ? "b" : "a", "card"))
		return;
	open_words(rank, &words, NULL);
	if (rank->rank == 0) {
		rank_note(rank, "lock", oriel_win_lock(words.win, ORIEL_LOCK_EXCLUSIVE, 1, 0));
		rank_note(rank, "accumulate", oriel_accumulate(words.win, &one, 1, ORIEL_INT32, ORIEL_SUM, 1, 0));
		rank_note(rank, "flush", oriel_win_flush(words.win, 1)); /* the ring is there */
		fences = fake_fences();
		rank_note(rank, "accumulate", oriel_accumulate(words.win, &one, 1, ORIEL_INT64, ORIEL_SUM, 1, 0));
		rank_note(rank, "accumulate", oriel_accumulate(words.win, &one, 1, ORIEL_INT32, ORIEL_SUM, 1, 0));
		rank_note(rank, "flush", oriel_win_flush(words.win, 1));
		rank->wrong += fake_fences() - fences != 1;
		rank_note(rank, "unlock", oriel_win_unlock(words.win, 1));
	}
	leave(rank, &words);
}

static void acc_device__ams_behind_atomics(void)
{
	run_two_over_cards(am_behind_atomics, "an active message behind atomics");
}

/* On one's own memory: through the device where that is the only one, else by the processor. */
static void own_words(struct rank *rank)
{
	const enum ibv_atomic_cap *atomics = rank->arg;
	uint64_t want = *atomics == IBV_ATOMIC_HCA;
	int64_t five = 5, got = 7;
	struct words words;
	struct count at;

	if (join_on(rank, "a", "card"))
		return;
	open_words(rank, &words, NULL);
	rank_note(rank, "fop", oriel_fetch_and_op(words.win, &five, &got, ORIEL_INT64, ORIEL_SUM, 0, 0));
	rank->wrong += got != 0;
	at = count_now();
	rank_note(rank, "fop", oriel_fetch_and_op(words.win, &five, &got, ORIEL_INT64, ORIEL_SUM, 0, 0));
	rank->wrong += got != 5 || !costs(&at, (struct count){ .adds = want, .posts = want });
	leave(rank, &words);
}

static void acc_device__on_oneself(void)
{
	static const enum ibv_atomic_cap levels[] = { IBV_ATOMIC_NONE, IBV_ATOMIC_HCA, IBV_ATOMIC_GLOB };
	struct rank rank;

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		ranks_limit(60, "accumulate operations on oneself, case %zu", i);
		fake_config.atomics = levels[i];
		ranks_run(1, own_words, (void *)(uintptr_t)&levels[i], &rank);
		ranks_check(&rank, 1);
		fake_reset();
	}
}

/* Rank 0 itself, rank 1 which maps its memory, and rank 2 behind the card, all at once (A10). */
static void three_kinds(struct rank *rank)
{
	int64_t one = 1, got, old[ROUNDS];
	struct words words;

	if (join_on(rank, rank->rank == 2 ? "b" : "a", "card+soft"))
		return;
	open_words(rank, &words, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		rank_note(rank, "fop", oriel_fetch_and_op(words.win, &one, &old[i], ORIEL_INT64, ORIEL_SUM, 0, 3));
		rank_note(rank, "max", oriel_fetch_and_op(words.win, &one, &got, ORIEL_INT64, ORIEL_MIN, 0, 4));
	}
	rank_note(rank, "flush", oriel_win_flush(words.win, 0));
	for (int i = 0; i < ROUNDS; i++)
		__atomic_add_fetch(&seen[(uint64_t)old[i] % sizeof(seen)], 1, __ATOMIC_RELAXED);
	leave(rank, &words);
}

static void acc_device__three_kinds_of_origin(void)
{
	static const enum ibv_atomic_cap levels[] = { IBV_ATOMIC_HCA, IBV_ATOMIC_GLOB };

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		struct rank ranks[RANKS];

		memset(seen, 0, sizeof(seen));
		ranks_limit(60, "three kinds of origin, case %zu", i);
		fake_config.engine = true;
		fake_config.atomics = levels[i];
		ranks_run(RANKS, three_kinds, NULL, ranks);
		for (int r = 0; r < RANKS; r++) {
			CU_ASSERT_EQUAL(ranks[r].errors, 0);
			CU_ASSERT_EQUAL(ranks[r].wrong, 0);
		}
		for (size_t k = 0; k < sizeof(seen); k++)
			CU_ASSERT_EQUAL(seen[k], 1);
		CU_ASSERT_TRUE(ranks_clean());
		fake_reset();
	}
}

static int init(void)
{
	fake_reset();
	return 0;
}

void suite_acc_device(void)
{
	CU_pSuite suite = CU_add_suite("acc_device", init, NULL);

	CU_ADD_TEST(suite, acc_device__requests_of_each_operation);
	CU_ADD_TEST(suite, acc_device__requests_in_pscw);
	CU_ADD_TEST(suite, acc_device__shortage_is_told);
	CU_ADD_TEST(suite, acc_device__release_behind_atomics);
	CU_ADD_TEST(suite, acc_device__ams_behind_atomics);
	CU_ADD_TEST(suite, acc_device__on_oneself);
	CU_ADD_TEST(suite, acc_device__three_kinds_of_origin);
}
