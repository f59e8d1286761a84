// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault_wire.c - ranks whose wire loses packets, is silent for a while, or is cut: rules E6, L21,
 * L22 and P5
 *
 *   oriel-run -n N --addr A,B fault_wire WHERE FILE    on the wire of tests/vm/wire; fault_wire --list
 *
 * Ranks with even numbers are at one end of the wire, the others at the other. The program prints
 * "ready" at the point of the disturbance. Its caller then disturbs the wire and creates FILE,
 * which has the time of the cut (milliseconds since start-up).
 *
 * lossy       epochs of both kinds. Each buffer is overwritten as soon as complete has returned: a
 *             retransmission must take its data from elsewhere, or complete must have waited for it
 * outage      epochs of both kinds before, during and after
 * cut_*       every rank waits, each mode in another call, and must get ORIEL_ERR_PEER within 5 s
 *             (told.h): "told RANK MILLISECONDS". A lock held at the other end is granted instead,
 *             as an orphan
 */
#include "multi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job/job.h"
#include "base/order.h"
#include "base/util.h"
#include "told.h"

#define TOLD_MS ((uint64_t)told_limit_ms()) /* tests/multi/faults retries failures of this name */
#define LIMIT_S 60
#define LARGE 20000
#define PART (LARGE + 1000)

struct fault {
	struct multi m;
	struct multi_window w;
	const char *name;
	const char *file;
	int next; /* the next rank, and the previous one: both at the other end */
	int before;
	oriel_group *to;
	oriel_group *from;
	uint64_t waits_ms; /* since when this rank waits in the call that fails; 0: before the cut */
};

enum { LAST, CAME_MS, LOCKED, KNOWN_MS };

static void say_ready(struct fault *fault)
{
	multi_sync(&fault->m);
	if (fault->m.rank == 0) {
		printf("ready\n");
		fflush(stdout);
	}
}

static bool is_disturbed(const struct fault *fault)
{
	return access(fault->file, F_OK) == 0;
}

static uint64_t boot_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Epochs. */

/* Small and large puts around the ring; the buffers are overwritten immediately. */
static void access_epoch(struct fault *fault, uint64_t round)
{
	struct multi *m = &fault->m;
	uint8_t *large = multi_alloc(LARGE), small[100];

	multi_fill(large, LARGE, round);
	multi_fill(small, sizeof(small), round + 7);
	memset(fault->w.base, 0, PART);
	CHECK_OK(m, oriel_win_post(fault->w.win, fault->from, 0));
	CHECK_OK(m, oriel_win_start(fault->w.win, fault->to, 0));
	CHECK_OK(m, oriel_put(fault->w.win, large, LARGE, fault->next, 0));
	CHECK_OK(m, oriel_put(fault->w.win, small, sizeof(small), fault->next, LARGE));
	CHECK_OK(m, oriel_win_complete(fault->w.win));
	memset(large, 0xee, LARGE);
	memset(small, 0xee, sizeof(small));
	CHECK_OK(m, oriel_win_wait(fault->w.win));
	CHECK(m, multi_holds(fault->w.base, LARGE, round));
	CHECK(m, multi_holds(fault->w.base + LARGE, sizeof(small), round + 7));
	free(large);
}

static void fence_epoch(struct fault *fault, uint64_t round)
{
	struct multi *m = &fault->m;
	uint8_t data[3000], back[3000];
	size_t half = round % 2 * 3000;

	multi_fill(data, sizeof(data), round);
	CHECK_OK(m, oriel_win_fence(fault->w.win, 0));
	CHECK_OK(m, oriel_put(fault->w.win, data, sizeof(data), fault->next, half));
	CHECK_OK(m, oriel_win_fence(fault->w.win, 0));
	CHECK(m, multi_holds(fault->w.base + half, sizeof(data), round));
	CHECK_OK(m, oriel_get(fault->w.win, back, sizeof(back), fault->before, half));
	CHECK_OK(m, oriel_win_fence(fault->w.win, 0));
	CHECK(m, multi_holds(back, sizeof(back), round));
}

static void lossy(struct fault *fault)
{
	for (uint64_t round = 1; round <= 12 && !multi_failed(&fault->m); round++) {
		access_epoch(fault, round);
		fence_epoch(fault, round);
	}
}

/*
 * Runs rounds until the outage is over, and some more. All ranks must run the same number, so rank
 * 0 publishes the last one.
 */
static void outage(struct fault *fault)
{
	struct multi *m = &fault->m;
	uint64_t last = 0;

	say_ready(fault);
	for (uint64_t round = 1; (last == 0 || round <= last) && !multi_failed(m); round++) {
		access_epoch(fault, round);
		fence_epoch(fault, round);
		if (m->rank == 0 && last == 0 && is_disturbed(fault))
			multi_raise(m, LAST, round + 5);
		last = multi_word(m, LAST); /* no rank is five rounds ahead */
	}
}

/* Waiting. Each returns the result of a call that waits for the other end. */

static int in_complete(struct fault *fault)
{
	uint8_t byte = 1;

	CHECK_OK(&fault->m, oriel_win_start(fault->w.win, fault->to, 0));
	CHECK_OK(&fault->m, oriel_put(fault->w.win, &byte, 1, fault->next, 0));
	say_ready(fault);
	return oriel_win_complete(fault->w.win);
}

static int in_wait(struct fault *fault)
{
	CHECK_OK(&fault->m, oriel_win_post(fault->w.win, fault->from, 0));
	multi_drain(&fault->m);
	say_ready(fault);
	return oriel_win_wait(fault->w.win);
}

static int in_test(struct fault *fault)
{
	int flag = 0, rc;

	CHECK_OK(&fault->m, oriel_win_post(fault->w.win, fault->from, 0));
	multi_drain(&fault->m);
	say_ready(fault);
	do
		rc = oriel_win_test(fault->w.win, &flag);
	while (rc == 0 && !flag);
	return rc;
}

static int in_flush(struct fault *fault)
{
	uint8_t byte = 1;
	int rc;

	CHECK_OK(&fault->m, oriel_win_start(fault->w.win, fault->to, 0));
	CHECK_OK(&fault->m, oriel_put(fault->w.win, &byte, 1, fault->next, 0));
	say_ready(fault);
	rc = oriel_win_flush(fault->w.win, fault->next);
	CHECK_RC(&fault->m, ORIEL_ERR_PEER, oriel_win_complete(fault->w.win));
	return rc;
}

/* Four spinning ranks would leave two processors, maybe emulated, no time to detect the loss. */
static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void await_cut(const struct fault *fault)
{
	while (!is_disturbed(fault))
		nap();
}

/* The last rank makes the collective call only when the wire is cut; the others wait in it. */
static void come_late(struct fault *fault)
{
	say_ready(fault);
	if (fault->m.rank != fault->m.size - 1)
		return;
	await_cut(fault);
	fault->waits_ms = boot_ms();
	multi_raise(&fault->m, CAME_MS, fault->waits_ms);
}

static int in_fence(struct fault *fault)
{
	come_late(fault);
	return oriel_win_fence(fault->w.win, 0);
}

static int in_free(struct fault *fault)
{
	int rc;

	come_late(fault);
	rc = oriel_win_free(&fault->w.win);
	CHECK(&fault->m, fault->w.win == NULL);
	return rc;
}

static int in_create(struct fault *fault)
{
	oriel_win *win = NULL;
	int rc;

	come_late(fault);
	rc = oriel_win_create(fault->w.base, 8, 1, NULL, fault->m.group, &win);
	CHECK(&fault->m, (win == NULL) == (rc != 0));
	fault->waits_ms = win ? boot_ms() : fault->waits_ms;
	return win ? oriel_win_free(&win) : rc;
}

static int in_barrier(struct fault *fault)
{
	come_late(fault);
	return oriel_barrier(fault->m.job);
}

/*
 * P5: the put is copied, so complete has nothing to wait for. Once the rank knows that the put
 * never arrived, the next call on the window reports it, once, whatever that call does. The rank
 * learns it in the barrier.
 */
static int copied_put(struct fault *fault)
{
	struct multi *m = &fault->m;
	oriel_group *none = multi_group(m, 0, NULL);
	uint8_t byte = 1;
	int rc;

	CHECK_OK(m, oriel_win_post(fault->w.win, fault->from, 0));
	CHECK_OK(m, oriel_win_start(fault->w.win, fault->to, 0));
	CHECK_OK(m, oriel_put(fault->w.win, &byte, 1, fault->next, 0));
	CHECK_OK(m, oriel_win_flush(fault->w.win, fault->next));
	say_ready(fault);
	await_cut(fault);
	CHECK_OK(m, oriel_put(fault->w.win, &byte, 1, fault->next, 1));
	CHECK_OK(m, oriel_win_complete(fault->w.win));
	rc = oriel_barrier(m->job);
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_start(fault->w.win, none, 0));
	CHECK_OK(m, oriel_win_start(fault->w.win, none, 0));
	CHECK_OK(m, oriel_win_complete(fault->w.win));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_wait(fault->w.win));
	multi_group_drop(m, none);
	return rc;
}

/* Returns the time of the cut, from the file. The call may have returned before the file exists. */
static uint64_t cut_ms(const struct fault *fault)
{
	unsigned long long ms = 0;
	FILE *file;

	await_cut(fault);
	file = fopen(fault->file, "r");
	if (file && fscanf(file, "%llu", &ms) != 1)
		ms = 0;
	if (file)
		fclose(file);
	return ms;
}

/* Locks. No rank has died, but those at the other end count as dead. */

static void lock_once(struct fault *fault, int target)
{
	CHECK_OK(&fault->m, oriel_win_lock(fault->w.win, ORIEL_LOCK_EXCLUSIVE, target, 0));
	CHECK_OK(&fault->m, oriel_win_unlock(fault->w.win, target));
}

/* Waits, without calls, until this rank knows of a loss. */
static void await_loss(struct multi *m)
{
	while (counter_load(&m->job->deaths.count) == 0) /* pairs with rank_died */
		nap();
	multi_raise(m, KNOWN_MS, boot_ms());
}

/*
 * Takes the lock of a lost holder, which is granted as an orphan. The limit covers the time in
 * which the owner learns of the loss, for which the device retries. It does not cover the repair
 * that follows, which a processor does, perhaps an emulated one.
 */
static void take_from_lost(struct fault *fault, int target)
{
	struct multi *m = &fault->m;
	uint64_t cut, known;

	CHECK_OK(m, oriel_win_lock(fault->w.win, ORIEL_LOCK_EXCLUSIVE, target, 0));
	CHECK(m, oriel_win_lock_orphaned(fault->w.win, target) == 1);
	cut = cut_ms(fault);
	multi_await(m, KNOWN_MS, 1);
	known = multi_word(m, KNOWN_MS);
	CHECK(m, known > 0 && cut > 0);
	CHECK(m, known < cut + TOLD_MS);
	CHECK_OK(m, oriel_win_unlock(fault->w.win, target));
}

/* A holder that has lost its lock: its write has no effect, and its unlock returns the error. */
static int write_and_unlock(struct fault *fault, int target)
{
	struct multi *m = &fault->m;
	uint8_t byte = 1;
	int rc;

	fault->waits_ms = boot_ms();
	rc = oriel_put(fault->w.win, &byte, 1, target, 0);
	CHECK(m, rc == 0 || rc == ORIEL_ERR_PEER);
	return oriel_win_unlock(fault->w.win, target);
}

/*
 * L21, L22: rank 1 holds the lock of rank 0, and both make no calls. Ranks 2 and 3, at either end,
 * wait for the lock: one gets it, the other one gets an error. Rank 1 unlocks only then.
 */
static int in_lock(struct fault *fault)
{
	struct multi *m = &fault->m;

	lock_once(fault, 0);
	multi_sync(m);
	if (m->rank == 1)
		CHECK_OK(m, oriel_win_lock(fault->w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	say_ready(fault);
	fault->waits_ms = boot_ms();
	if (m->rank == 3)
		return oriel_win_lock(fault->w.win, ORIEL_LOCK_EXCLUSIVE, 0, 0);
	if (m->rank == 2) {
		take_from_lost(fault, 0);
		multi_raise(m, LOCKED, 1);
	}
	if (m->rank == 0)
		await_loss(m);
	multi_await(m, LOCKED, 1);
	if (m->rank == 1)
		return write_and_unlock(fault, 0);
	CHECK(m, m->rank != 0 || fault->w.base[0] == 0);
	fault->waits_ms = boot_ms();
	return oriel_barrier(m->job);
}

/* L21, L22: each rank holds the next one's lock and unlocks after the cut; its own is free then. */
static int in_unlock(struct fault *fault)
{
	struct multi *m = &fault->m;
	int rc;

	lock_once(fault, fault->next);
	multi_sync(m);
	CHECK_OK(m, oriel_win_lock(fault->w.win, ORIEL_LOCK_EXCLUSIVE, fault->next, 0));
	say_ready(fault);
	await_cut(fault);
	rc = write_and_unlock(fault, fault->next);
	await_loss(m);
	take_from_lost(fault, m->rank);
	CHECK(m, fault->w.base[0] == 0);
	return rc;
}

struct mode {
	const char *name;
	void (*live)(struct fault *fault);
	int (*told)(struct fault *fault);
	bool collective;
};

static const struct mode modes[] = {
	{ "lossy", lossy, NULL, false },
	{ "outage", outage, NULL, false },
	{ "cut_complete", NULL, in_complete, false },
	{ "cut_wait", NULL, in_wait, false },
	{ "cut_test", NULL, in_test, false },
	{ "cut_flush", NULL, in_flush, false },
	{ "cut_fence", NULL, in_fence, true },
	{ "cut_free", NULL, in_free, true },
	{ "cut_create", NULL, in_create, true },
	{ "cut_barrier", NULL, in_barrier, true },
	{ "cut_copied_put", NULL, copied_put, false },
	{ "cut_lock", NULL, in_lock, false },
	{ "cut_unlock", NULL, in_unlock, false },
};

#define MODES (sizeof(modes) / sizeof(modes[0]))

static void be_told(struct fault *fault, const struct mode *mode, uint64_t *ms)
{
	struct multi *m = &fault->m;
	int rc = mode->told(fault);
	uint64_t told, cut;

	/*
	 * A member that has got all that it needs from the other end may complete the collective call;
	 * the next one returns the error.
	 */
	if (rc == 0 && mode->collective) {
		fault->waits_ms = boot_ms();
		rc = oriel_barrier(m->job);
	}
	told = boot_ms();
	CHECK_RC(m, ORIEL_ERR_PEER, rc);
	CHECK_TEXT(m, "rank ");
	cut = cut_ms(fault);
	CHECK(m, cut > 0);
	if (cut < fault->waits_ms)
		cut = fault->waits_ms; /* a later wait fails later */
	if (mode->collective && cut < multi_word(m, CAME_MS))
		cut = multi_word(m, CAME_MS); /* so does a wait for that rank */
	*ms = told > cut ? told - cut : 0;
	if (!CHECK(m, *ms < TOLD_MS))
		printf("# %s: rank %d was told after %llu ms\n", mode->name, m->rank, (unsigned long long)*ms);
}

static void leave(struct fault *fault, int expected)
{
	struct multi *m = &fault->m;

	CHECK_OK(m, oriel_group_free(&fault->to));
	CHECK_OK(m, oriel_group_free(&fault->from));
	CHECK_OK(m, oriel_group_free(&m->group));
	if (fault->w.win) {
		CHECK_RC(m, expected, oriel_win_free(&fault->w.win));
		CHECK(m, fault->w.win == NULL);
	}
	CHECK_RC(m, expected, oriel_finalize(&m->job));
}

static int run(const struct mode *mode, const char *file)
{
	static struct fault fault;
	struct multi *m = &fault.m;
	uint64_t ms = 0;

	if (!multi_enter(m, mode->name, LIMIT_S))
		return 1;
	fault.name = mode->name;
	fault.file = file;
	fault.next = (m->rank + 1) % m->size;
	fault.before = (m->rank + m->size - 1) % m->size;
	fault.to = multi_group_one(m, fault.next);
	fault.from = multi_group_one(m, fault.before);
	multi_window_open(m, &fault.w, 2 * PART);
	multi_warm(m, fault.w.win);
	if (mode->live)
		mode->live(&fault);
	else
		be_told(&fault, mode, &ms);
	if (mode->live && multi_failed(m))
		return multi_tell(m); /* immediately, so that the others do not wait for this rank */
	leave(&fault, mode->live ? 0 : ORIEL_ERR_PEER);
	if (multi_tell(m) == 0)
		printf("told %d %llu\n", m->rank, (unsigned long long)ms);
	return multi_failed(m);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < MODES; i++)
			printf("%s\n", modes[i].name);
		return 0;
	}
	for (size_t i = 0; i < MODES && argc == 3; i++) {
		if (strcmp(argv[1], modes[i].name) == 0)
			return run(&modes[i], argv[2]);
	}
	return 2;
}
