// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault_leave.c - rules E6 and W7 together: whatever a rank is in when others die or leave, it gets
 * the error and its window freed, and can leave
 *
 *   oriel-run -n 4 fault_leave WHAT     WHAT is a name of the table below (fault_leave --list), or random-SEED
 *
 * The last rank is the victim. Survivors that have got the error leave the window at once, and
 * others wait for them: a rank that has gone in good health must be found out like a dead one. In
 * random-SEED all ranks make epochs of random groups until the victim dies somewhere in the middle,
 * and each survivor does what the seed says: leaves with its epochs open, or closes them first. No
 * call may take longer than 5 s once the victim is dead. Each survivor prints "told RANK
 * MILLISECONDS", the time of its longest call.
 */
#include "multi.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "mem/alloc.h"
#include "told.h"

#define RANKS 4
#define VICTIM (RANKS - 1)
#define TOLD_MS ((uint64_t)told_limit_ms())
#define LIMIT_S 150
#define ROUNDS 400

/* Words of the board. */
enum { KILLED_NS, STEP, LEAVING };

struct leaving {
	struct multi m;
	struct multi_window w;
	oriel_win *pair; /* of rank 1 and the victim only */
	uint64_t longest_ms;
	uint64_t random; /* the same on all ranks */
	uint64_t own;    /* this rank's */
};

static void die(struct leaving *l)
{
	multi_raise(&l->m, KILLED_NS, now_ns());
	kill(getpid(), SIGKILL);
}

/* How long a call has taken, from the victim's death on at the earliest. */
static void took(struct leaving *l, uint64_t began_ns, const char *call)
{
	uint64_t killed_ns = multi_word(&l->m, KILLED_NS), now = now_ns(), ms;

	if (killed_ns == 0)
		return;
	ms = (now - (killed_ns > began_ns ? killed_ns : began_ns)) / NS_PER_MS;
	if (ms > l->longest_ms)
		l->longest_ms = ms;
	if (ms >= TOLD_MS)
		multi_fail(&l->m, __FILE__, __LINE__, "%s took %llu ms", call, (unsigned long long)ms);
}

static int complete(struct leaving *l)
{
	uint64_t began_ns = now_ns();
	int rc = oriel_win_complete(l->w.win);

	took(l, began_ns, "oriel_win_complete");
	return rc;
}

static int wait_origins(struct leaving *l)
{
	uint64_t began_ns = now_ns();
	int rc = oriel_win_wait(l->w.win);

	took(l, began_ns, "oriel_win_wait");
	return rc;
}

static int free_window(struct leaving *l, oriel_win **win)
{
	uint64_t began_ns = now_ns();
	int rc = oriel_win_free(win);

	took(l, began_ns, "oriel_win_free");
	CHECK(&l->m, *win == NULL);
	return rc;
}

/*
 * Makes rank 1, of three and the victim, learn of the death through another window and leave this
 * one.
 */
static void learn_elsewhere(struct leaving *l)
{
	oriel_group *victim = multi_group_one(&l->m, VICTIM);

	CHECK_OK(&l->m, oriel_win_post(l->pair, victim, 0)); /* the pair's ranks are the job's in groups */
	CHECK_RC(&l->m, ORIEL_ERR_PEER, oriel_win_wait(l->pair));
	CHECK_RC(&l->m, ORIEL_ERR_PEER, free_window(l, &l->w.win));
	multi_raise(&l->m, STEP, 1);
	multi_group_drop(&l->m, victim);
}

/* Rank 0 has started to rank 1, which goes, and to the victim; complete must end, and end the epoch. */
static void target_has_left(struct leaving *l)
{
	struct multi *m = &l->m;
	oriel_group *targets;
	uint8_t byte = 1;
	int rc;

	if (m->rank == VICTIM)
		die(l);
	if (m->rank == 1)
		learn_elsewhere(l);
	if (m->rank != 0)
		return;
	targets = multi_group_mask(m, 1u << 1 | 1u << VICTIM);
	CHECK_OK(m, oriel_win_start(l->w.win, targets, 0));
	CHECK_OK(m, oriel_put(l->w.win, &byte, 1, 1, 0));
	multi_await(m, STEP, 1);
	CHECK_RC(m, ORIEL_ERR_PEER, rc = complete(l));
	while (rc == ORIEL_ERR_PEER) /* of rank 1, and this one has not heard of the victim's end half a second later */
		rc = complete(l);
	CHECK_RC(m, ORIEL_ERR_SYNC, rc); /* the epoch is over */
	multi_group_drop(m, targets);
}

/* The rank that has left is the only target: no dead rank is in the epoch. */
static void only_target_has_left(struct leaving *l)
{
	struct multi *m = &l->m;
	oriel_group *target;

	if (m->rank == VICTIM)
		die(l);
	if (m->rank == 1)
		learn_elsewhere(l);
	if (m->rank != 0)
		return;
	target = multi_group_one(m, 1);
	CHECK_OK(m, oriel_win_start(l->w.win, target, 0));
	CHECK_RC(m, ORIEL_ERR_PEER, complete(l));
	CHECK_TEXT(m, "rank 1");
	CHECK_OK(m, oriel_win_start(l->w.win, target, 0));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_flush(l->w.win, 1));
	CHECK_RC(m, ORIEL_ERR_PEER, complete(l));
	multi_group_drop(m, target);
}

/* And of an origin that has gone: wait, and a post after that. */
static void origin_has_left(struct leaving *l)
{
	struct multi *m = &l->m;
	oriel_group *origins;

	if (m->rank == VICTIM)
		die(l);
	if (m->rank == 1)
		learn_elsewhere(l);
	if (m->rank != 0)
		return;
	origins = multi_group_one(m, 1);
	for (int i = 0; i < 2; i++) {
		CHECK_OK(m, oriel_win_post(l->w.win, origins, 0));
		CHECK_RC(m, ORIEL_ERR_PEER, wait_origins(l));
		CHECK_TEXT(m, "rank 1");
	}
	multi_group_drop(m, origins);
}

/*
 * Epochs of both kinds are open towards ranks that are well: once a member is dead the window can
 * be freed.
 */
static void epochs_are_open(struct leaving *l)
{
	struct multi *m = &l->m;
	oriel_group *others = multi_group_mask(m, 0xf & ~(1u << m->rank));
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	static uint8_t large[100000];

	CHECK_OK(m, oriel_win_start(l->w.win, others, 0));
	CHECK_OK(m, oriel_put(l->w.win, large, sizeof(large), (m->rank + 1) % RANKS, 0));
	if (m->rank == 0)
		CHECK_OK(m, oriel_win_post(l->w.win, others, 0));
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_win_free(&l->w.win)); /* all are well */
	multi_sync(m);
	if (m->rank == VICTIM)
		die(l);
	while (oriel_barrier(m->job) == 0)
		;
	CHECK_OK(m, oriel_win_query(l->w.win, &info));
	CHECK(m, !info.free_refused);
	CHECK_RC(m, ORIEL_ERR_PEER, free_window(l, &l->w.win));
	multi_group_drop(m, others);
}

/* A fence epoch with operations, of which no fence comes any more. */
static void fence_is_open(struct leaving *l)
{
	struct multi *m = &l->m;
	uint8_t byte = 1;

	CHECK_OK(m, oriel_win_fence(l->w.win, 0));
	CHECK_OK(m, oriel_put(l->w.win, &byte, 1, (m->rank + 1) % RANKS, 0));
	multi_sync(m);
	if (m->rank == VICTIM)
		die(l);
	while (oriel_barrier(m->job) == 0)
		;
	CHECK_RC(m, ORIEL_ERR_PEER, free_window(l, &l->w.win));
}

/* SW6: what the victim has stored in its part of a shared window can still be read. */
static void shared_part_stays(struct leaving *l)
{
	struct multi *m = &l->m;
	size_t size = 0, unit;
	void *part = NULL;
	oriel_win *shared = NULL;
	int rc = oriel_win_allocate_shared(100, 1, NULL, m->group, &part, &shared);

	CHECK(m, rc == 0 || rc == ORIEL_ERR_SHARED); /* they are made to be of two machines */
	if (rc == 0)
		CHECK_OK(m, oriel_win_shared_query(shared, VICTIM, &part, &size, &unit));
	if (m->rank == VICTIM && part)
		memset(part, 0x5a, size);
	multi_sync(m);
	if (m->rank == VICTIM)
		die(l);
	while (oriel_barrier(m->job) == 0)
		;
	CHECK(m, multi_all(part, size, 0x5a));
	if (shared)
		CHECK_RC(m, ORIEL_ERR_PEER, free_window(l, &shared));
	CHECK_RC(m, ORIEL_ERR_PEER, free_window(l, &l->w.win));
}

/* W7: writes of the victim's might still come: what it could reach serves no other window. */
static void allocated_memory_goes(struct leaving *l)
{
	struct multi *m = &l->m;
	oriel_win *win;
	void *base;

	CHECK_OK(m, oriel_win_allocate(CACHED_WITH_PAGES_BYTES_MAX, 1, NULL, m->group, &base, &win));
	multi_warm(m, win);
	multi_sync(m);
	if (m->rank == VICTIM)
		die(l);
	CHECK_RC(m, ORIEL_ERR_PEER, free_window(l, &win));
	CHECK(m, msync(base, 1, MS_ASYNC) != 0); /* not mapped any more */
}

/*
 * The victim closes all its descriptors: no process ends by that, and all get the error, the victim
 * too.
 */
static void close_all(struct leaving *l)
{
	struct multi *m = &l->m;
	int rc;

	if (m->rank == VICTIM) {
		fflush(NULL);
		multi_raise(m, KILLED_NS, now_ns());
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	}
	do
		rc = oriel_barrier(m->job);
	while (rc == 0);
	CHECK(m, rc == ORIEL_ERR_PEER);
}

/*
 * All is freed, and the others are in oriel_finalize, or about to be, when the victim dies: it has
 * not come there.
 */
static void others_finalize(struct leaving *l)
{
	struct multi *m = &l->m;

	CHECK_OK(m, free_window(l, &l->w.win));
	if (l->pair)
		CHECK_OK(m, free_window(l, &l->pair));
	multi_raise(m, LEAVING + m->rank, 1);
	if (m->rank != VICTIM)
		return;
	for (int rank = 0; rank < VICTIM; rank++)
		multi_await(m, LEAVING + rank, 1);
	die(l);
}

/*
 * Rank 1 has left in good health, as far as it can without the others. A rank that waits for it
 * gets its error, then the victim's.
 */
static void one_has_left(struct leaving *l)
{
	struct multi *m = &l->m;
	uint64_t began_ns;

	CHECK_OK(m, free_window(l, &l->w.win));
	if (l->pair)
		CHECK_OK(m, free_window(l, &l->pair));
	if (m->rank == 1)
		return;
	multi_raise(m, KILLED_NS, now_ns());
	began_ns = now_ns();
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_barrier(m->job));
	CHECK_TEXT(m, "rank 1");
	took(l, began_ns, "oriel_barrier");
	multi_raise(m, LEAVING + m->rank, 1);
	if (m->rank != VICTIM)
		return;
	multi_await(m, LEAVING, 1);
	multi_await(m, LEAVING + 2, 1);
	die(l);
}

/* Random jobs. */

static unsigned row(uint64_t *random)
{
	return (unsigned)multi_random(random) & 0xf;
}

/* Closes a rank's epochs after an error, as far as they can be closed. */
static void close_epochs(struct leaving *l)
{
	int rc = complete(l);

	CHECK(&l->m, rc == 0 || rc == ORIEL_ERR_PEER || rc == ORIEL_ERR_SYNC);
	rc = wait_origins(l);
	CHECK(&l->m, rc == 0 || rc == ORIEL_ERR_PEER || rc == ORIEL_ERR_SYNC);
}

static void maybe_die(struct leaving *l, int round, int step, uint64_t fate)
{
	if (l->m.rank == VICTIM && (uint64_t)round == fate / 6 && (uint64_t)step == fate % 6)
		die(l);
}

/* Post, start, put, complete, wait with the round's groups; the first error. */
static int epoch(struct leaving *l, const unsigned to[RANKS], int round, uint64_t fate, bool *started)
{
	struct multi *m = &l->m;
	unsigned from = 0;
	oriel_group *in, *out;
	int rc;

	for (int rank = 0; rank < RANKS; rank++)
		from |= (to[rank] >> m->rank & 1) << rank;
	in = multi_group_mask(m, from);
	out = multi_group_mask(m, to[m->rank]);
	maybe_die(l, round, 0, fate);
	rc = oriel_win_post(l->w.win, in, 0);
	maybe_die(l, round, 1, fate);
	if (rc == 0)
		rc = oriel_win_start(l->w.win, out, 0);
	*started = rc == 0;
	maybe_die(l, round, 2, fate);
	for (int rank = 0; rc == 0 && rank < RANKS; rank++) {
		if (to[m->rank] & 1u << rank)
			rc = oriel_put(l->w.win, l->w.base, 1 + multi_random(&l->own) % 2000, rank, 4000);
	}
	maybe_die(l, round, 3, fate);
	if (rc == 0)
		rc = complete(l);
	maybe_die(l, round, 4, fate);
	if (rc == 0)
		rc = wait_origins(l);
	maybe_die(l, round, 5, fate);
	multi_group_drop(m, in);
	multi_group_drop(m, out);
	return rc;
}

/*
 * Epochs until the first error, which ranks meet in different rounds. One that has started closes its
 * epochs or leaves them open; one that could not start leaves: others wait for epochs that it will
 * never make, and only its leaving tells them.
 */
static void run_random(struct leaving *l)
{
	struct multi *m = &l->m;
	uint64_t fate = multi_random(&l->random) % (ROUNDS / 2 * 6);
	bool started = false;
	int rc = 0;

	for (int round = 0; rc == 0 && round < ROUNDS; round++) {
		unsigned to[RANKS];

		for (int rank = 0; rank < RANKS; rank++)
			to[rank] = row(&l->random);
		rc = epoch(l, to, round, fate, &started);
	}
	CHECK(m, m->rank != VICTIM);
	CHECK_RC(m, ORIEL_ERR_PEER, rc);
	if (started && multi_random(&l->own) % 2)
		close_epochs(l);
}

struct what {
	const char *name;
	void (*run)(struct leaving *l);
};

static const struct what whats[] = {
	{ "target_has_left", target_has_left },
	{ "only_target_has_left", only_target_has_left },
	{ "origin_has_left", origin_has_left },
	{ "epochs_are_open", epochs_are_open },
	{ "fence_is_open", fence_is_open },
	{ "close_all", close_all },
	{ "others_finalize", others_finalize },
	{ "one_has_left", one_has_left },
	{ "SW6_shared_part_stays", shared_part_stays },
	{ "W7_allocated_memory_goes", allocated_memory_goes },
};

#define WHATS (sizeof(whats) / sizeof(whats[0]))

/* Every way out there is, in any order, has been taken or is open. */
static int leave(struct leaving *l)
{
	struct multi *m = &l->m;
	oriel_job *job = m->job;
	uint64_t began_ns;

	if (l->w.win)
		CHECK_RC(m, ORIEL_ERR_PEER, free_window(l, &l->w.win));
	if (l->pair)
		CHECK_RC(m, ORIEL_ERR_PEER, free_window(l, &l->pair));
	CHECK_OK(m, oriel_group_free(&m->group));
	began_ns = now_ns();
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_finalize(&job));
	took(l, began_ns, "oriel_finalize");
	if (multi_tell(m) == 0)
		printf("told %d %llu\n", m->rank, (unsigned long long)l->longest_ms);
	return multi_failed(m);
}

static int run(const char *name, void (*what)(struct leaving *l), uint64_t seed)
{
	static struct leaving l;
	struct multi *m = &l.m;
	oriel_group *two;

	if (!multi_enter(m, name, LIMIT_S))
		return 1;
	if (m->size != RANKS) {
		fprintf(stderr, "fault_leave: run me with %d ranks\n", RANKS);
		return 2;
	}
	l.random = seed;
	l.own = seed * RANKS + (uint64_t)m->rank + 1000000;
	two = multi_group_mask(m, 1u << 1 | 1u << VICTIM);
	multi_window_open(m, &l.w, 200000);
	if (m->rank == 1 || m->rank == VICTIM)
		CHECK_OK(m, oriel_win_create(NULL, 0, 1, NULL, two, &l.pair));
	multi_group_drop(m, two);
	multi_warm(m, l.w.win);
	multi_sync(m);
	if (multi_failed(m))
		return multi_tell(m);
	what(&l);
	return leave(&l);
}

int main(int argc, char **argv)
{
	const char *name = argc == 2 ? argv[1] : "";

	if (strncmp(name, "random-", 7) == 0)
		return run(name, run_random, strtoull(name + 7, NULL, 0));
	for (size_t i = 0; i < WHATS; i++) {
		if (strcmp(name, "--list") == 0)
			printf("%s\n", whats[i].name);
		else if (strcmp(name, whats[i].name) == 0)
			return run(name, whats[i].run, 0);
	}
	return strcmp(name, "--list") == 0 ? 0 : 2;
}
