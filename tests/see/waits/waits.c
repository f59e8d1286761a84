// SPDX-License-Identifier: BSD-2-Clause
/*
 * waits.c - makes waits of a known cause, and writes notes from which the true waits are computed
 *
 *   see-waits PROPERTY FOLDER ROUNDS DELAY_US DISTRIBUTION SEED
 *
 * A property is a function that carries out one round. Its causes are those of the profile. The ranks
 * meet between rounds, outside of the library. DISTRIBUTION says how late a rank is in a round:
 *
 *   same    DELAY_US
 *   linear  from little at rank 0 to twice DELAY_US at the last rank
 *   peak    DELAY_US at one rank, another one in each round, and an eighth of it elsewhere
 *   random  up to twice DELAY_US, by SEED
 *
 * All ranks run on one machine, whose CLOCK_MONOTONIC they share.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "form.h"
#include "meet.h"

enum { WINDOW_BYTES = 8 << 20, LARGE_BYTES = 4 << 20, BURST = 2000, TOUCHED = 8 };

static struct form_world world;
static struct form_win *win;
static void *large; /* the origin of puts */
static uint64_t delay_ns, seed;
static const char *distribution;
static int round_number;

/* ---- delays ---- */

static uint64_t mixed(uint64_t x)
{
	x ^= x >> 30, x *= 0xbf58476d1ce4e5b9;
	x ^= x >> 27, x *= 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t random_delay_ns(void)
{
	uint64_t place = mixed(mixed(seed + (uint64_t)world.rank) + (uint64_t)round_number);

	return place % 1000 * delay_ns / 500;
}

static uint64_t delay_of_rank_ns(void)
{
	if (strcmp(distribution, "linear") == 0)
		return 2 * delay_ns * (uint64_t)(world.rank + 1) / (uint64_t)world.ranks;
	if (strcmp(distribution, "peak") == 0)
		return round_number % world.ranks == world.rank ? delay_ns : delay_ns / 8;
	if (strcmp(distribution, "random") == 0)
		return random_delay_ns();
	return delay_ns;
}

static void compute_ns(uint64_t ns)
{
	struct timespec nap = { .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };

	nanosleep(&nap, NULL);
}

/* What makes this rank late. */
static void compute(void)
{
	compute_ns(delay_of_rank_ns());
}

/* ---- sets of ranks ---- */

static struct notes_ranks only(int rank)
{
	return (struct notes_ranks){ .count = 1, .rank = { rank } };
}

static struct notes_ranks all_but(int rank)
{
	struct notes_ranks ranks = { 0 };

	for (int i = 0; i < world.ranks; i++) {
		if (i != rank)
			ranks.rank[ranks.count++] = i;
	}
	return ranks;
}

/* Ranks in pairs, origin and target; of an odd number the last has none. */
static bool is_origin(void)
{
	return world.rank % 2 == 0 && world.rank + 1 < world.ranks;
}

static bool is_target(void)
{
	return world.rank % 2 == 1;
}

static int partner(void)
{
	return world.rank ^ 1;
}

/* ---- epochs ---- */

static void access_epoch(const struct notes_ranks *targets, bool is_late)
{
	form_start(win, targets);
	for (int i = 0; i < targets->count; i++)
		form_put(win, large, 8, targets->rank[i]);
	if (is_late)
		compute();
	form_complete(win);
}

static void exposure_epoch(const struct notes_ranks *origins)
{
	form_post(win, origins);
	form_wait(win);
}

static void pairs(bool late_post, bool late_complete)
{
	struct notes_ranks other = only(partner());

	if (is_target()) {
		if (late_post)
			compute();
		exposure_epoch(&other);
	}
	if (is_origin())
		access_epoch(&other, late_complete);
}

static void late_post(void)
{
	pairs(true, false);
}

static void late_complete(void)
{
	pairs(false, true);
}

static void late_post_and_complete(void)
{
	pairs(true, true);
}

static void late_posts_of_many(void)
{
	struct notes_ranks first = only(0), others = all_but(0);

	if (world.rank == 0) {
		access_epoch(&others, false);
	} else {
		compute();
		exposure_epoch(&first);
	}
}

static void late_completes_of_many(void)
{
	struct notes_ranks first = only(0), others = all_but(0);

	if (world.rank == 0)
		exposure_epoch(&others);
	else
		access_epoch(&first, true);
}

/* Epochs follow each other at once: a complete may return after the next post. */
static void epochs_in_turn(void)
{
	struct notes_ranks first = only(0), last = only(world.ranks - 1), others = all_but(0);

	for (int i = 0; i < 4; i++) {
		bool for_all = i % 2 == 0;

		if (world.rank == 0)
			exposure_epoch(for_all ? &others : &last);
		else if (for_all || world.rank == world.ranks - 1)
			access_epoch(&first, true);
	}
}

/* Each rank waits for the one before it, and is late itself. */
static void row(void)
{
	struct notes_ranks before = only(world.rank - 1), behind = only(world.rank + 1);

	if (world.rank > 0)
		form_post(win, &before);
	meet();
	if (world.rank > 0)
		form_wait(win);
	compute();
	if (world.rank + 1 < world.ranks)
		access_epoch(&behind, false);
}

static struct notes_ranks neighbours(void)
{
	struct notes_ranks ranks = { 0 };

	if (world.rank > 0)
		ranks.rank[ranks.count++] = world.rank - 1;
	if (world.rank + 1 < world.ranks)
		ranks.rank[ranks.count++] = world.rank + 1;
	return ranks;
}

static void halo(void)
{
	struct notes_ranks both = neighbours();

	compute();
	form_post(win, &both);
	access_epoch(&both, false);
	form_wait(win);
}

static void late_fence(void)
{
	compute();
	form_fence(win);
}

static void late_collective(void)
{
	struct form_win *other;

	compute();
	form_barrier();
	compute();
	other = form_allocate("other", 4096);
	compute();
	form_free(other);
}

/* ---- locks ---- */

static void hold(bool exclusive)
{
	form_lock(win, exclusive, 0);
	compute();
	form_unlock(win, 0);
}

static void lock_exclusive(void)
{
	hold(true);
}

static void lock_shared(void)
{
	hold(world.rank % 2 == 1);
}

static void lock_all(void)
{
	if (world.rank % 2 == 1) {
		hold(true);
		return;
	}
	form_lock_all(win);
	form_put(win, large, 8, 0);
	form_flush(win, 0);
	compute();
	form_unlock_all(win);
}

static void lock_and_fence(void)
{
	hold(true);
	form_fence(win);
}

/* ---- operations ---- */

static void data(void)
{
	struct notes_ranks other = only(partner());

	if (is_target())
		exposure_epoch(&other);
	if (!is_origin())
		return;
	form_start(win, &other);
	form_put(win, large, LARGE_BYTES, partner());
	notes_hint("data");
	form_complete(win);
	notes_hint(NULL);
}

static void accumulate_to_partner(int count, const char *hint)
{
	if (!is_origin()) {
		compute();
		return;
	}
	form_lock(win, false, partner());
	notes_hint(hint);
	for (int i = 0; i < count; i++)
		form_accumulate(win, partner());
	notes_hint("progress");
	form_flush(win, partner());
	form_unlock(win, partner());
	notes_hint(NULL);
}

static void progress(void)
{
	accumulate_to_partner(1, "progress");
}

static void room(void)
{
	accumulate_to_partner(BURST, "room");
}

/* The first operation to a rank that no collective call has talked to, if there are 8. */
static void setup(void)
{
	int target = (world.rank + (world.ranks > 4 ? 3 : 1)) % world.ranks;
	struct form_win *other = form_allocate("other", 4096);

	meet();
	form_lock_all(other);
	notes_hint("setup");
	form_put(other, large, 8, target);
	form_flush(other, target);
	notes_hint(NULL);
	form_unlock_all(other);
	meet();
	form_free(other);
}

/* A put of memory that has never been one's origin. */
static void registration(void)
{
	void *fresh;

	if (!is_origin())
		return;
	fresh = mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (fresh == MAP_FAILED)
		abort();
	form_lock(win, false, partner());
	notes_hint("registration");
	form_put(win, fresh, LARGE_BYTES, partner());
	notes_hint(NULL);
	form_unlock(win, partner());
	munmap(fresh, LARGE_BYTES);
}

static void late_signal(void)
{
	static uint64_t signals;

	if (is_target())
		form_signal_until(win, ++signals, partner());
	if (is_origin()) {
		compute();
		form_lock(win, false, partner());
		form_signal(win, partner());
		form_unlock(win, partner());
	}
}

/* ---- threads of a rank ---- */

static void *put_much(void *unused)
{
	notes_hint("other_thread");
	for (int i = 0; i < 8; i++) {
		form_put(win, large, LARGE_BYTES, partner());
		form_flush(win, partner());
	}
	return unused;
}

static void threads(void)
{
	pthread_t other;

	if (!is_origin())
		return;
	form_lock(win, false, partner());
	if (pthread_create(&other, NULL, put_much, NULL))
		abort();
	notes_hint("threads");
	for (int i = 0; i < 8; i++) {
		compute_ns(50000);
		form_flush(win, partner());
	}
	pthread_join(other, NULL);
	notes_hint(NULL);
	form_unlock(win, partner());
}

/* ---- balanced programs ---- */

static void balanced_pscw(void)
{
	for (int i = 0; i < 20; i++)
		pairs(false, false);
}

static void balanced_fence(void)
{
	for (int i = 0; i < 20; i++)
		form_fence(win);
}

static void balanced_lock(void)
{
	for (int i = 0; i < 20; i++) {
		form_lock(win, true, world.rank);
		form_put(win, large, 8, world.rank);
		form_unlock(win, world.rank);
	}
}

/* ---- running one ---- */

static const struct property {
	const char *name;
	const char *causes; /* with commas; "balanced": none */
	void (*round)(void);
	bool reversed; /* the order of ranks in the window */
} properties[] = {
	{ "late_post", "late_post", late_post, false },
	{ "late_posts_of_many", "late_post", late_posts_of_many, false },
	{ "late_post_reversed", "late_post", late_post, true },
	{ "late_complete", "late_complete", late_complete, false },
	{ "late_completes_of_many", "late_complete", late_completes_of_many, false },
	{ "late_post_and_complete", "late_post,late_complete", late_post_and_complete, false },
	{ "epochs_in_turn", "late_complete", epochs_in_turn, false },
	{ "row", "late_complete", row, false },
	{ "halo", "late_post", halo, false },
	{ "late_fence", "late_fence", late_fence, false },
	{ "late_fence_reversed", "late_fence", late_fence, true },
	{ "late_collective", "late_collective", late_collective, false },
	{ "lock_exclusive", "lock", lock_exclusive, false },
	{ "lock_reversed", "lock", lock_exclusive, true },
	{ "lock_shared", "lock", lock_shared, false },
	{ "lock_all", "lock", lock_all, false },
	{ "lock_and_fence", "lock,late_fence", lock_and_fence, false },
	{ "data", "data", data, false },
	{ "progress", "progress", progress, false },
	{ "room", "room", room, false },
	{ "setup", "setup", setup, false },
	{ "registration", "registration", registration, false },
	{ "signal", "signal", late_signal, false },
	{ "threads", "threads", threads, false },
	{ "handover", "handover", balanced_pscw, false },
	{ "balanced_pscw", "balanced", balanced_pscw, false },
	{ "balanced_fence", "balanced", balanced_fence, false },
	{ "balanced_lock", "balanced", balanced_lock, false },
};

static const struct property *property_named(const char *name)
{
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		if (strcmp(properties[i].name, name) == 0)
			return &properties[i];
	}
	fprintf(stderr, "see-waits: there is no property %s\n", name);
	exit(2);
}

/*
 * The first operation to each rank, so that its set-up is in no wait that is made later. Of many
 * ranks, which take part in fences alone, to some.
 */
static void touch_others(void)
{
	int count = world.ranks < TOUCHED ? world.ranks : TOUCHED;

	notes_hint("setup");
	form_lock_all(win);
	for (int i = 0; i < count; i++) {
		int target = (world.rank + i) % world.ranks;

		form_put(win, large, 8, target);
		form_flush(win, target);
	}
	form_unlock_all(win);
	notes_hint(NULL);
	meet();
}

static void run(const struct property *property, int rounds, const char *folder)
{
	void *memory = calloc(1, WINDOW_BYTES);
	char first_line[256];

	large = calloc(1, LARGE_BYTES);
	if (!memory || !large)
		abort();
	snprintf(first_line, sizeof(first_line), "rank %d ranks %d property %s causes %s rounds %d delay_ns %llu",
	         world.rank, world.ranks, property->name, property->causes, rounds, (unsigned long long)delay_ns);
	notes_open(folder, world.rank, first_line);
	meet_open(folder, world.ranks);
	win = form_create("halo", memory, WINDOW_BYTES, property->reversed);
	touch_others();
	for (round_number = 0; round_number < rounds; round_number++) {
		property->round();
		meet();
	}
	form_free(win);
	notes_close();
	free(memory);
	free(large);
}

int main(int argc, char **argv)
{
	const struct property *property;

	if (argc != 7)
		return 2;
	property = property_named(argv[1]);
	delay_ns = strtoull(argv[4], NULL, 10) * 1000;
	distribution = argv[5];
	seed = strtoull(argv[6], NULL, 10);
	world = form_open(&argc, &argv);
	if (strstr(property->causes, "signal") && !world.has_signals)
		return 3;
	run(property, atoi(argv[3]), argv[2]);
	form_close();
	return 0;
}
