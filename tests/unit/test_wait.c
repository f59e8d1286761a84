// SPDX-License-Identifier: BSD-2-Clause
/* test_wait.c - wait.c: spinning, looks, the time limit, pings, the watchdog. */
#include "sync/wait.c"

#include <CUnit/CUnit.h>
#include <limits.h>
#include <unistd.h>

#include "job/peer.h"
#include "suites.h"

static struct boot boot;
static struct oriel_job job;
static struct peer peer;

static int init(void)
{
	memset(&job, 0, sizeof(job));
	memset(&peer, 0, sizeof(peer));
	job.boot = &boot;
	peer.job = &job;
	peer.rank = 17;
	peer.state = PEER_UP;
	wire_init(&peer.wire, NULL);
	return 0;
}

static int cleanup(void)
{
	wire_destroy(&peer.wire);
	return 0;
}

/* Pause until something is said; at most ten seconds. */
static int pause_until(struct wait *wait, int wanted)
{
	uint64_t begin = now_ns();
	int rc;

	do
		rc = wait_pause(wait);
	while (rc != wanted && now_ns() - begin < 10 * NS_PER_SECOND);
	return rc;
}

static void wait_pause__looks_at_once_then_every_millisecond(void)
{
	struct wait wait;
	uint64_t next;

	wait_begin(&wait, &job, "test", NULL);
	CU_ASSERT_EQUAL(pause_until(&wait, WAIT_LOOK), WAIT_LOOK);
	next = wait.look_ns;
	CU_ASSERT(next > wait.start_ns);
	CU_ASSERT_EQUAL(pause_until(&wait, WAIT_LOOK), WAIT_LOOK);
	CU_ASSERT(now_ns() >= next);
	CU_ASSERT(wait.look_ns >= next + NS_PER_MS);
}

static void wait_pause__looks_when_somebody_dies(void)
{
	struct wait wait;

	wait_begin(&wait, &job, "test", NULL);
	pause_until(&wait, WAIT_LOOK);
	wait.look_ns = UINT64_MAX;
	counter_store(&job.deaths.count, job.deaths.count + 1);
	CU_ASSERT_EQUAL(pause_until(&wait, WAIT_LOOK), WAIT_LOOK);
	job.deaths.count = 0;
}

static int never(void *arg)
{
	(void)arg;
	return 0;
}

static int watch_17(void *arg, struct wait *wait)
{
	(void)arg;
	wait_watch(wait, &peer);
	return 0;
}

/* Fails in the last look only. */
static int watch_and_fail(void *arg, struct wait *wait)
{
	(void)arg;
	return wait->expired ? ORIEL_ERR_PEER : 0;
}

static void wait_until__time_limit(void)
{
	static const struct waiter waiter = { never, watch_17 };
	struct wait wait;
	uint64_t begin = now_ns();

	job.limits.timeout_ms = 20;
	wait_begin(&wait, &job, "oriel_test", NULL);
	CU_ASSERT_EQUAL(wait_until(&wait, &waiter, NULL), ORIEL_ERR_TIMEOUT);
	CU_ASSERT(now_ns() - begin >= 20 * NS_PER_MS);
	CU_ASSERT(now_ns() - begin < 5 * NS_PER_SECOND);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "oriel_test: not done"));
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "20 ms"));
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "waiting for rank 17;"));
	job.limits.timeout_ms = 0;
}

/* The error of the check at the time limit ends the wait. */
static void wait_until__an_error_comes_before_the_time_limit(void)
{
	static const struct waiter waiter = { never, watch_and_fail };
	struct wait wait;

	job.limits.timeout_ms = 20;
	wait_begin(&wait, &job, "oriel_test", NULL);
	CU_ASSERT_EQUAL(wait_until(&wait, &waiter, NULL), ORIEL_ERR_PEER);
	job.limits.timeout_ms = 0;
}

static void count(void *times)
{
	++*(int *)times;
}

/* So many turns behind the first spins; how often others were given way to. */
static int turns_given(uint64_t yield_ns, int turns)
{
	struct wait wait;
	int given = 0;

	job.caller = (struct caller_turn){ .idle = count, .context = &given };
	wait_begin(&wait, &job, "test", NULL);
	while (wait.turns < SPINS)
		wait_pause(&wait);
	given = 0;
	wait.yield_ns = yield_ns;
	for (int i = 0; i < turns; i++)
		wait_pause(&wait);
	job.caller = (struct caller_turn){ .idle = NULL };
	return given;
}

static void wait_pause__gives_way_seldom_where_each_rank_has_a_processor(void)
{
	CU_ASSERT_EQUAL(turns_given(UINT64_MAX, 10 * TURNS_PER_CLOCK), 10);
	CU_ASSERT_EQUAL(turns_given(0, TURNS_PER_CLOCK + 10), 11); /* naps: from the first on in each turn */
	job.ranks_per_processor = 2;
	CU_ASSERT_EQUAL(turns_given(UINT64_MAX, 10), 5); /* in turn with yields */
	job.ranks_per_processor = 1;
}

static uint64_t served_by_device;

static uint64_t served(void)
{
	return served_by_device;
}

/*
 * Makes so many turns, each long after the time for naps, in which the rank serves another or not.
 * Returns how many end with a nap.
 */
static int naps_in(struct wait *wait, int turns, bool serves)
{
	int naps = 0;

	for (int i = 0; i < turns; i++) {
		served_by_device += serves;
		wait->yield_ns = wait->awake_ns = 0;
		wait->alone_ns = 0; /* whatever else wants the processor */
		wait_pause(wait);
		naps += wait->naps;
	}
	return naps;
}

/*
 * A rank that serves others does not leave them to system calls; where ranks exceed processors it
 * does, for those that work.
 */
static void wait_pause__does_not_nap_while_it_serves(void)
{
	struct wait wait;

	job.devices.count = 1;
	job.devices.list[0].direct.served = served;
	wait_begin(&wait, &job, "test", NULL);
	while (wait.turns < SPINS)
		wait_pause(&wait);
	CU_ASSERT_EQUAL(naps_in(&wait, 4 * TURNS_PER_CLOCK, true), 0);
	job.ranks_per_processor = 2;
	CU_ASSERT(naps_in(&wait, 4, true) > 0);
	job.ranks_per_processor = 1;
	wait_moved(&wait);
	CU_ASSERT(naps_in(&wait, SPINS + 4 * TURNS_PER_CLOCK, false) > 0);
	memset(&job.devices, 0, sizeof(job.devices));
}

/* So many are served at time 1; until when there are no naps now. */
static uint64_t awake_until(struct wait *wait, uint64_t operations)
{
	served_by_device += operations;
	stay_awake(wait, 1);
	return wait->awake_ns;
}

/*
 * One operation now and then is not worth a processor, many are no reason to look for longer than
 * others wait.
 */
static void wait_pause__is_awake_for_what_it_serves(void)
{
	struct wait wait;

	job.devices.count = 1;
	job.devices.list[0].direct.served = served;
	wait_begin(&wait, &job, "test", NULL);
	wait.served = served_by_device;
	CU_ASSERT_EQUAL(awake_until(&wait, 0), 1);
	job.am.applied++; /* a message is as good as a request */
	CU_ASSERT_EQUAL(awake_until(&wait, 0), 1 + SERVED_NS);
	CU_ASSERT_EQUAL(awake_until(&wait, 1), 1 + SERVED_NS);
	CU_ASSERT_EQUAL(awake_until(&wait, 1000000), 1 + YIELD_NS);
	CU_ASSERT_EQUAL(awake_until(&wait, 1), 1 + YIELD_NS);
	memset(&job.devices, 0, sizeof(job.devices));
	job.am.applied = 0;
}

/* Others that want the processor get it between naps: yielded to, they would keep it. */
static void wait_pause__naps_while_it_serves_where_others_take_the_processor(void)
{
	struct wait wait;
	uint64_t now = NS_PER_SECOND;

	job.devices.count = 1;
	job.devices.list[0].direct.served = served;
	wait_begin(&wait, &job, "test", NULL);
	wait.served = served_by_device;
	gave_way(&wait, now, now + LOST_NS - 1);
	served_by_device++;
	stay_awake(&wait, now);
	CU_ASSERT_EQUAL(wait.awake_ns, now + SERVED_NS);
	gave_way(&wait, now, now + LOST_NS);
	CU_ASSERT_EQUAL(wait.awake_ns, 0);
	served_by_device++;
	stay_awake(&wait, now + YIELD_NS);
	CU_ASSERT_EQUAL(wait.awake_ns, 0);
	served_by_device++;
	stay_awake(&wait, now + LOST_NS + YIELD_NS);
	CU_ASSERT(wait.awake_ns > now + LOST_NS + YIELD_NS);
	memset(&job.devices, 0, sizeof(job.devices));
}

static void wait_pause__gives_way_early_where_ranks_exceed_processors(void)
{
	struct wait wait;

	job.ranks_per_processor = 2;
	wait_begin(&wait, &job, "test", NULL);
	for (int i = 0; i < SPINS_OVERSUBSCRIBED && wait.start_ns == 0; i++)
		wait_pause(&wait);
	CU_ASSERT_NOT_EQUAL(wait.start_ns, 0);
	job.ranks_per_processor = 1;
}

static void wait_pause__looks_late_where_ranks_exceed_processors(void)
{
	struct wait wait;

	job.ranks_per_processor = 2;
	wait_begin(&wait, &job, "test", NULL);
	CU_ASSERT_EQUAL(pause_until(&wait, WAIT_LOOK), WAIT_LOOK);
	CU_ASSERT(now_ns() >= wait.start_ns + LOOK_NS);
	wait_moved(&wait);
	CU_ASSERT(wait.yield_ns > wait.start_ns + YIELD_NS);
	job.deaths.count = 1; /* known before the wait begins: the dead may be whom it waits for */
	wait_begin(&wait, &job, "test", NULL);
	CU_ASSERT_EQUAL(pause_until(&wait, WAIT_LOOK), WAIT_LOOK);
	CU_ASSERT(wait.look_ns == wait.start_ns + LOOK_NS);
	job.deaths.count = 0;
	job.ranks_per_processor = 1;
}

static void wait_pause__naps_grow_with_oversubscription(void)
{
	static const uint32_t ranks[] = { 1, 8, 1000000 };
	static const uint64_t longest[] = { NAP_FIRST_NS, 8 * NAP_PER_RANK_NS, NAP_MAX_NS };

	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		struct wait wait;

		job.ranks_per_processor = ranks[i];
		wait_begin(&wait, &job, "test", NULL);
		while (wait.start_ns == 0)
			wait_pause(&wait);
		CU_ASSERT_EQUAL(wait.nap_ns, NAP_FIRST_NS);
		for (int naps = 0; naps < 12; naps++)
			give_way(&wait, wait.yield_ns);
		CU_ASSERT(wait.nap_ns <= longest[i] && wait.nap_ns * 2 > longest[i]);
		wait_moved(&wait);
		CU_ASSERT_EQUAL(wait.nap_ns, NAP_FIRST_NS);
	}
	job.ranks_per_processor = 1;
}

static void wait_watch__pings_now_and_then(void)
{
	struct wait wait;
	uint64_t pinged;

	peer.ping_ns = 0;
	wait_begin(&wait, &job, "test", NULL);
	CU_ASSERT_TRUE(wait_watch(&wait, &peer));
	pinged = peer.ping_ns;
	CU_ASSERT_NOT_EQUAL(pinged, 0);
	wait_begin(&wait, &job, "another wait", NULL);
	CU_ASSERT_TRUE(wait_watch(&wait, &peer));
	CU_ASSERT_EQUAL(peer.ping_ns, pinged);
	peer.ping_ns -= PING_NS;
	CU_ASSERT_TRUE(wait_watch(&wait, &peer));
	CU_ASSERT(peer.ping_ns >= pinged);
}

static void wait_watch__tells_the_dead(void)
{
	struct wait wait;

	wait_begin(&wait, &job, "test", NULL);
	CU_ASSERT_TRUE(wait_watch(&wait, &peer));
	peer.state = PEER_DEAD;
	CU_ASSERT_FALSE(wait_watch(&wait, &peer));
	peer.state = PEER_UP;
}

/* Reads what the checks of a wait print to stderr. */
static void bark(struct wait *wait, char *text, size_t text_bytes)
{
	int ends[2], kept = dup(STDERR_FILENO);
	ssize_t got;

	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	wait_watch(wait, &peer);
	wait_watch(wait, &peer);
	wait_looked(wait);
	dup2(kept, STDERR_FILENO);
	close(kept);
	got = read(ends[0], text, text_bytes - 1);
	text[got > 0 ? got : 0] = '\0';
	close(ends[0]);
}

static void wait_looked__the_watchdog_barks_once(void)
{
	struct wait wait;
	char text[512];

	job.limits.watchdog_ms = 10;
	wait_begin(&wait, &job, "oriel_win_wait", "window 3");
	while (!wait.warning)
		pause_until(&wait, WAIT_LOOK);
	bark(&wait, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "oriel_win_wait on window 3 for "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "for rank 17; oriel-top prints what each rank waits for\n"));
	CU_ASSERT_EQUAL(pause_until(&wait, WAIT_LOOK), WAIT_LOOK);
	CU_ASSERT_FALSE(wait.warning);
	job.limits.watchdog_ms = 0;
}

static void wait_looked__many_names_stay_in_bounds(void)
{
	struct wait wait;
	char text[512];

	wait_begin(&wait, &job, "test", NULL);
	wait.warning = true;
	for (peer.rank = INT_MAX; peer.rank > INT_MAX - 1000; peer.rank--)
		wait_watch(&wait, &peer);
	peer.rank = 17;
	bark(&wait, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "for ranks 2147483647, 2147483646, "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " and others; oriel-top "));
	CU_ASSERT_PTR_NULL(strstr(text, " on ")); /* no window */
	CU_ASSERT_EQUAL(wait.awaited.count, 0);
}

static void wait_looked__names_a_launcher_that_waits(void)
{
	struct wait wait;
	char text[512];

	wait_begin(&wait, &job, "test", NULL);
	wait.warning = true;
	bark(&wait, text, sizeof(text));
	CU_ASSERT_PTR_NULL(strstr(text, "oriel_init"));
	wait.warning = true;
	boot.gathering = 1;
	bark(&wait, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "before all ranks have come to oriel_init"));
	boot.gathering = 0;
}

static bool naps_at(uint64_t now)
{
	struct wait wait;

	wait_begin(&wait, &job, "test", NULL);
	start_clock(&wait, now);
	give_way(&wait, now);
	return wait.nap_ns > NAP_FIRST_NS;
}

static void wait_pause__naps_while_ranks_that_share_processors_make_contact(void)
{
	const uint64_t now = 1000 * NS_PER_SECOND;

	job.ranks_per_processor = 2;
	CU_ASSERT_FALSE(naps_at(now));
	job.service_queue.busy = &peer;
	service_queue_tell_contacts(&job, now);
	CU_ASSERT(naps_at(now + 100 * NS_PER_SECOND));
	job.service_queue.busy = NULL;
	service_queue_tell_contacts(&job, now);
	CU_ASSERT(naps_at(now)); /* the others are at it still */
	service_queue_tell_contacts(&job, now + 100 * NS_PER_SECOND);
	CU_ASSERT_FALSE(naps_at(now + NS_PER_SECOND));
	job.ranks_per_processor = 1;
	job.service_queue.busy = &peer;
	service_queue_tell_contacts(&job, now);
	CU_ASSERT_FALSE(hinders(&job, now)); /* each thread that works has a processor of its own */
	memset(&job.service_queue, 0, sizeof(job.service_queue));
}

/* ---- a tool ---- */

static struct {
	int blocked;
	int unblocked;
	enum board_cause cause;
	int rank;
	uint64_t since_ns;
} reported;

static void take_blocked(const struct tool_blocked *blocked)
{
	reported.blocked++;
	reported.cause = blocked->cause;
	reported.rank = blocked->awaited->count == 1 ? blocked->awaited->ranks[0] : -1;
	reported.since_ns = blocked->since_ns;
	CU_ASSERT(blocked->now_ns >= blocked->since_ns);
}

static void take_unblocked(uint64_t now)
{
	reported.unblocked++;
	CU_ASSERT(now >= reported.since_ns);
}

static int blocked_watches;

static int watch_17_for_a_post(void *arg, struct wait *wait)
{
	(void)arg;
	blocked_watches++;
	if (wait_says_why(wait))
		wait_blocked(wait, CAUSE_POST);
	wait_watch(wait, &peer);
	return 0;
}

/* A step that becomes true at the third report. */
static int third_report(void *arg)
{
	(void)arg;
	return blocked_watches >= 3;
}

static void wait_until__reports_cause_and_ranks_to_a_tool(void)
{
	static const struct tool attached = { .version = TOOL_VERSION,
		                                  .blocked = take_blocked,
		                                  .unblocked = take_unblocked };
	static const struct waiter waiter = { third_report, watch_17_for_a_post };
	struct wait wait;

	job.tool = &attached;
	memset(&reported, 0, sizeof(reported));
	blocked_watches = 0;
	wait_begin(&wait, &job, "test", NULL);
	CU_ASSERT_EQUAL(wait_until(&wait, &waiter, NULL), 0);
	CU_ASSERT_EQUAL(reported.blocked, 3);
	CU_ASSERT_EQUAL(reported.unblocked, 1);
	CU_ASSERT_EQUAL(reported.cause, CAUSE_POST);
	CU_ASSERT_EQUAL(reported.rank, 17);
	CU_ASSERT_EQUAL(reported.since_ns, wait.start_ns);
	job.tool = NULL;
}

static void oriel_tool_attach__refuses_another_version(void)
{
	static const struct tool other = { .version = TOOL_VERSION + 1 };

	CU_ASSERT_EQUAL(oriel_tool_attach(&other), -1);
	CU_ASSERT_PTR_NULL(see_tool);
}

void suite_wait(void)
{
	CU_pSuite suite = CU_add_suite("wait", init, cleanup);

	CU_ADD_TEST(suite, wait_pause__looks_at_once_then_every_millisecond);
	CU_ADD_TEST(suite, wait_pause__looks_when_somebody_dies);
	CU_ADD_TEST(suite, wait_until__time_limit);
	CU_ADD_TEST(suite, wait_until__an_error_comes_before_the_time_limit);
	CU_ADD_TEST(suite, wait_pause__gives_way_seldom_where_each_rank_has_a_processor);
	CU_ADD_TEST(suite, wait_pause__does_not_nap_while_it_serves);
	CU_ADD_TEST(suite, wait_pause__is_awake_for_what_it_serves);
	CU_ADD_TEST(suite, wait_pause__naps_while_it_serves_where_others_take_the_processor);
	CU_ADD_TEST(suite, wait_pause__gives_way_early_where_ranks_exceed_processors);
	CU_ADD_TEST(suite, wait_pause__looks_late_where_ranks_exceed_processors);
	CU_ADD_TEST(suite, wait_pause__naps_grow_with_oversubscription);
	CU_ADD_TEST(suite, wait_pause__naps_while_ranks_that_share_processors_make_contact);
	CU_ADD_TEST(suite, wait_watch__pings_now_and_then);
	CU_ADD_TEST(suite, wait_watch__tells_the_dead);
	CU_ADD_TEST(suite, wait_looked__the_watchdog_barks_once);
	CU_ADD_TEST(suite, wait_looked__many_names_stay_in_bounds);
	CU_ADD_TEST(suite, wait_looked__names_a_launcher_that_waits);
	CU_ADD_TEST(suite, wait_until__reports_cause_and_ranks_to_a_tool);
	CU_ADD_TEST(suite, oriel_tool_attach__refuses_another_version);
}
