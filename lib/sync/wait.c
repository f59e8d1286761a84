// SPDX-License-Identifier: BSD-2-Clause
/* See wait.h. */
#include "sync/wait.h"

#include <assert.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "job/job.h"
#include "base/order.h"
#include "job/service_queue.h"
#include "base/util.h"
#include "see/caller.h"
#include "see/site.h"

#define SPINS 4096      /* turns before the first yield */
#define SPINS_EAGER 512 /* of these, before the first relaxed one */
#define SPINS_OVERSUBSCRIBED 4
#define YIELD_NS (50 * NS_PER_MS) /* then naps, */
#define SERVED_NS NS_PER_MS       /* later by this for each operation served, by YIELD_NS at most, */
#define LOST_NS NS_PER_MS         /* unless other programs take the processor for so long */
#define NAP_FIRST_NS (50 * 1000)
#define NAP_PER_RANK_NS (100 * 1000) /* the longest nap, for each rank of a processor */
#define NAP_MAX_NS (100 * NS_PER_MS)
#define LOOK_NS NS_PER_MS
#define CALLER_NS (100 * NS_PER_MS)
#define REPORT_NS (20 * 1000) /* between reports to a tool at first, */
#define REPORTS_PER_WAIT 16   /* then a part of the wait's age */
#define LOOK_RANKS 8          /* one more LOOK_NS for so many ranks on a processor */
#define PING_NS (NS_PER_SECOND / 4)
#define CHECK_NS (2 * NS_PER_SECOND)        /* twice this and a lookup's time are within the limit of E6 */
#define CHECK_DEATHS_NS (NS_PER_SECOND / 4) /* after a death others may leave */
#define POLL_RANKS 2                        /* more on a processor: only the periodic looks poll */
#define WARNING_BYTES 2048
#define SEARCHED_BYTES (64 << 20) /* largest file that the watchdog searches for a line of source */
#define TURNS_PER_CLOCK 64        /* turns between readings of the clock, */
#define TURNS_PER_YIELD 512       /* and between yields, for which peers served wait */

void wait_begin(struct wait *wait, struct oriel_job *job, const char *call, const char *window)
{
	memset(wait, 0, offsetof(struct wait, why));
	rank_list_clear(&wait->awaited);
	wait->why.cause = CAUSE_UNKNOWN;
	wait->job = job;
	wait->call = call;
	wait->window = window;
	wait->limit_ms = job->limits.timeout_ms;
	wait->relaxed = job->needs_progress && counter_load(&job->private_windows) > 0;
	wait->deaths =
		counter_load(&job->deaths.count); /* pairs with rank_lost; the first look searches the deaths in any case */
}

/* Returns the time between looks. A look costs more than a turn. */
static uint64_t look_every(const struct oriel_job *job)
{
	return LOOK_NS * (1 + job->ranks_per_processor / LOOK_RANKS);
}

/* Starts the clock, which most waits end before. */
static void start_clock(struct wait *wait, uint64_t now)
{
	const struct oriel_job *job = wait->job;

	wait->start_ns = wait->checked_ns = now;
	wait->has_tool = job->tool;
	wait->yield_ns = now + YIELD_NS;
	wait->look_ns = now; /* some rank may be dead already */
	if (job_oversubscribed(job) && wait->deaths == 0)
		wait->look_ns += look_every(job);
	wait->nap_ns = NAP_FIRST_NS;
	wait->deadline_ns = wait->limit_ms ? now + (uint64_t)wait->limit_ms * NS_PER_MS : 0;
	wait->warn_ns = job->limits.watchdog_ms ? now + (uint64_t)job->limits.watchdog_ms * NS_PER_MS : 0;
}

/* Returns the longest nap: it leaves the processor to ranks that work. */
static uint64_t nap_max(const struct oriel_job *job)
{
	uint64_t most = (uint64_t)job->ranks_per_processor * NAP_PER_RANK_NS;

	if (!job_oversubscribed(job))
		return NAP_FIRST_NS;
	return most < NAP_MAX_NS ? most : NAP_MAX_NS;
}

static void nap(struct wait *wait)
{
	struct timespec t = { 0, (long)wait->nap_ns };

	nanosleep(&t, NULL);
	if (wait->nap_ns * 2 <= nap_max(wait->job))
		wait->nap_ns *= 2;
}

/* Returns whether yielding would hinder threads that make connections on a shared processor. */
static bool hinders(const struct oriel_job *job, uint64_t now)
{
	return job_oversubscribed(job) && service_queue_in_contact(&job->service_queue, now);
}

/*
 * A thread that serves others' operations while it waits stays awake: only system calls reach a
 * sleeper, five times slower. SERVED_NS for each operation, YIELD_NS at most.
 */
static void stay_awake(struct wait *wait, uint64_t now)
{
	uint64_t before = wait->served, most = YIELD_NS / SERVED_NS, more, until;

	wait->served = devices_served(&wait->job->devices) + counter_load(&wait->job->am.applied);
	more = wait->served - before;
	until = now + (more < most ? more : most) * SERVED_NS;
	if (now >= wait->alone_ns && until > wait->awake_ns)
		wait->awake_ns = until;
}

/*
 * Where another program keeps the processor for longer than a nap, naps are better: the kernel
 * schedules sleepers first.
 */
static void gave_way(struct wait *wait, uint64_t since, uint64_t now)
{
	if (now - since < LOST_NS)
		return;
	wait->alone_ns = now + YIELD_NS;
	wait->awake_ns = 0;
}

/* Yields. When oversubscribed no thread stays awake, so no time is measured. */
static void yield(struct wait *wait)
{
	uint64_t since = job_oversubscribed(wait->job) ? 0 : now_ns();

	sched_yield();
	if (since)
		gave_way(wait, since, now_ns());
}

/*
 * The program's function may yield, as MPI_Test of Open MPI does. When oversubscribed it has turns
 * of its own, so that a step follows each yield. Returns whether the turn is over.
 */
static bool caller_turn(const struct wait *wait)
{
	const struct caller_turn *caller = &wait->job->caller;
	bool whole = job_oversubscribed(wait->job);

	if (!caller->idle || (whole && wait->turns % 2))
		return false;
	caller->idle(caller->context);
	return whole;
}

static void give_way(struct wait *wait, uint64_t now)
{
	if (caller_turn(wait))
		return;
	if (!job_oversubscribed(wait->job))
		stay_awake(wait, now);
	wait->naps = (now >= wait->yield_ns && now >= wait->awake_ns) || hinders(wait->job, now);
	if (wait->naps)
		nap(wait);
	else if (job_oversubscribed(wait->job) || wait->turns % TURNS_PER_YIELD == 0)
		yield(wait);
}

/* Returns the name that the wait's call is shown by. */
static const char *shown_call(const struct wait *wait)
{
	const struct caller_turn *caller = &wait->job->caller;

	return caller->call_name ? caller->call_name(wait->call) : wait->call;
}

static int timed_out(const struct wait *wait)
{
	char ranks[RANK_LIST_TEXT_BYTES], why[ANSWER_TEXT_BYTES];

	return err_set(ORIEL_ERR_TIMEOUT,
	               "%s: %s%snot done after %d ms (ORIEL_TIMEOUT), waiting for %s%s%s%s; the call can be repeated",
	               wait->call, wait->window ? wait->window : "", wait->window ? ": " : "", wait->limit_ms,
	               rank_list_text(&wait->awaited, ranks), board_cause_words(wait->why.cause)->line,
	               question_is_settled(wait) ? ": " : "", question_text(wait, why));
}

/* Returns the time between checks. A call with a time limit is repeated, and must check too. */
static uint64_t check_every(const struct wait *wait)
{
	uint64_t usual = CHECK_NS * job_timeout_scale(wait->job), half_limit = (uint64_t)wait->limit_ms * NS_PER_MS / 2;

	if (wait->deaths > 0)
		return CHECK_DEATHS_NS;
	return half_limit && half_limit < usual ? half_limit : usual;
}

static void plan_check(struct wait *wait, uint64_t now)
{
	wait->check = now - wait->checked_ns >= check_every(wait);
	if (wait->check)
		wait->checked_ns = now;
}

/* Returns whether a look reports to the tool, and plans the next. */
static bool plan_report(struct wait *wait, uint64_t now)
{
	uint64_t part = (now - wait->start_ns) / REPORTS_PER_WAIT;

	wait->check = false;
	if (!wait->has_tool || now < wait->report_ns)
		return false;
	wait->report_ns = now + (part > REPORT_NS ? part : REPORT_NS);
	return true;
}

static int look(struct wait *wait, uint64_t now)
{
	wait->reports = plan_report(wait, now);
	wait->expired = wait->deadline_ns && now >= wait->deadline_ns;
	if (!wait->expired && now < wait->look_ns &&
	    wait->deaths == counter_load(&wait->job->deaths.count)) /* pairs with rank_lost */
		return wait->reports ? WAIT_LOOK : 0;
	wait->reports = false;
	wait->deaths = counter_load(&wait->job->deaths.count);
	wait->look_ns = now + look_every(wait->job);
	plan_check(wait, now);
	wait->warning = wait->warn_ns && now >= wait->warn_ns;
	wait->shows = now - wait->start_ns >= LOOK_NS;
	return WAIT_LOOK;
}

/*
 * Returns whether a turn only polls. If each rank has a processor, most do until the naps begin: a
 * system call would delay the ranks served.
 */
static bool only_looks(const struct wait *wait, uint32_t spins)
{
	if (wait->turns % TURNS_PER_CLOCK == 0)
		return false;
	return wait->turns < spins || (!job_oversubscribed(wait->job) && !wait->naps);
}

/*
 * Returns whether the next look is the first that reports. It comes before the thread gives way:
 * afterwards the ranks awaited may have come.
 */
static bool first_report(const struct wait *wait)
{
	return wait->has_tool && wait->report_ns == 0;
}

int wait_pause(struct wait *wait)
{
	uint32_t spins = job_oversubscribed(wait->job) ? SPINS_OVERSUBSCRIBED : SPINS;
	uint64_t now;

	am_poll(wait->job, &wait->job->am);
	wait->turns++;
	if (only_looks(wait, spins)) {
		if (wait->relaxed || wait->turns > SPINS_EAGER)
			cpu_relax();
		return 0;
	}
	now = now_ns();
	if (wait->start_ns == 0)
		start_clock(wait, now);
	if (wait->turns % TURNS_PER_CLOCK == 0)
		am_poll_wakeups(wait->job);
	if (wait->turns >= spins && !first_report(wait))
		give_way(wait, now);
	return look(wait, now);
}

void wait_serve(const struct oriel_job *job, struct peer *peer)
{
	if (job->ranks_per_processor <= POLL_RANKS)
		wire_poll(&peer->wire);
}

void wait_moved(struct wait *wait)
{
	wait->turns = 0;
	wait->naps = false;
	if (wait->start_ns == 0)
		return;
	wait->yield_ns = now_ns() + YIELD_NS;
	wait->nap_ns = NAP_FIRST_NS;
}

/* Returns whether a ping is due. The peer keeps the time. */
static bool ping_due(struct peer *peer)
{
	uint64_t now = now_ns();

	if (now - counter_load(&peer->ping_ns) < PING_NS)
		return false;
	counter_store(&peer->ping_ns, now); /* pairs with the counter_load above; two threads may both ping */
	return true;
}

bool wait_watch(struct wait *wait, struct peer *peer)
{
	rank_list_add(&wait->awaited, peer->rank);
	if (!ping_due(peer))
		wire_poll(&peer->wire);
	else if (state_load(&peer->state) == PEER_NEW)
		service_queue_request(peer); /* connecting finds out whether it can be reached */
	else
		wire_ping(&peer->wire);
	if (counter_load(&peer->shortage_ns) > wait->start_ns) /* pairs with suffer_shortage */
		wait->wanting = peer;
	return state_load(&peer->state) != PEER_DEAD; /* pairs with rank_lost */
}

bool wait_lingered(struct wait *wait)
{
	uint64_t now = now_ns();

	if (wait->failed_ns == 0)
		wait->failed_ns = now;
	return now - wait->failed_ns > LINGER_MS * NS_PER_MS;
}

void wait_looked(struct wait *wait)
{
	char ranks[RANK_LIST_TEXT_BYTES], why[ANSWER_TEXT_BYTES], site[SITE_TEXT_BYTES], line[WARNING_BYTES];

	if (!wait->warning)
		return;
	site_text(0, wait->has_caller ? wait->caller : 0, SEARCHED_BYTES, site);
	snprintf(line, sizeof(line), "oriel: rank %d has been waiting in %s%s%s%s%s for %d s, for %s%s%s%s; %s\n",
	         wait->job->rank, shown_call(wait), wait->window ? " on " : "", wait->window ? wait->window : "",
	         site[0] ? " at " : "", site, wait->job->limits.watchdog_ms / 1000, rank_list_text(&wait->awaited, ranks),
	         board_cause_words(wait->why.cause)->line, question_is_settled(wait) ? ": " : "", question_text(wait, why),
	         state_load(&wait->job->boot->gathering)
	             ? "the launcher gives no addresses before all ranks have come to oriel_init, and they have not"
	             : "oriel-top prints what each rank waits for"); /* pairs with the clients' state_store */
	fputs(line, stderr);                                         /* one write */
	wait->warning = false;
	wait->warn_ns = 0;
	question_end(wait);
	rank_list_clear(&wait->awaited);
}

void wait_add_idle(struct oriel_job *job, void (*work)(struct oriel_job *job))
{
	assert(job->idle.count < IDLE_WORK_MAX);
	job->idle.list[job->idle.count++] = work;
}

int wait_for_nobody(void *arg, struct wait *wait)
{
	(void)arg;
	wait_blocked(wait, CAUSE_LIBRARY);
	return 0;
}

static_assert(RANK_LIST_MAX == BOARD_RANKS, "a board has room for the ranks of a list");

/* The walk up the stack is worth its time in a long wait only. */
static void find_caller(struct wait *wait)
{
	if (wait->has_caller || now_ns() - wait->start_ns < CALLER_NS)
		return;
	wait->caller = caller_address();
	wait->has_caller = true;
}

/* Publishes the wait as the watch has found it. */
static void show(struct wait *wait)
{
	struct board_wait shown = { .since_ns = wait->start_ns,
		                        .caller = wait->has_caller ? wait->caller : 0,
		                        .cause = wait->why.cause,
		                        .epochs = wait->why.epochs,
		                        .rank_count = wait->awaited.count,
		                        .more_ranks = wait->awaited.more,
		                        .holder_count = wait->why.holder_count };

	memcpy(shown.ranks, wait->awaited.ranks, shown.rank_count * sizeof(shown.ranks[0]));
	memcpy(shown.holders, wait->why.holders, shown.holder_count * sizeof(shown.holders[0]));
	snprintf(shown.call, sizeof(shown.call), "%s", shown_call(wait));
	snprintf(shown.window, sizeof(shown.window), "%s", wait->window ? wait->window : "");
	board_show(&wait->job->board, &wait->slot, &shown);
	wait->leaves_traces |= wait->slot > 0;
}

/* Reports what the watch has found. */
static void report(struct wait *wait)
{
	if (!wait->has_tool)
		return;
	wait->job->tool->blocked(&(struct tool_blocked){ .cause = wait->why.cause,
	                                                 .since_ns = wait->start_ns,
	                                                 .now_ns = now_ns(),
	                                                 .awaited = &wait->awaited,
	                                                 .holders = wait->why.holders,
	                                                 .holder_count = wait->why.holder_count });
	wait->reported = wait->leaves_traces = true;
}

void wait_clear(struct wait *wait)
{
	if (wait->reported)
		wait->job->tool->unblocked(now_ns());
	if (wait->slot)
		board_clear(&wait->job->board, &wait->slot);
	question_end(wait);
}

int wait_look(struct wait *wait, const struct waiter *waiter, void *arg)
{
	const struct idle_work *idle = &wait->job->idle;
	bool asking;
	int rc;

	wait->wanting = NULL;
	wait->why = (struct wait_why){ .cause = CAUSE_UNKNOWN };
	rank_list_clear(&wait->awaited);
	rc = waiter->watch(arg, wait);
	report(wait);
	if (wait->reports)
		return rc;
	if (wait->shows) {
		find_caller(wait);
		show(wait);
	}
	if (rc == 0 && wait->wanting)
		rc = err_in(peer_shortage(wait->wanting), wait->call);
	asking = rc == 0 && question_turn(wait);
	if (rc == 0 && wait->expired)
		rc = timed_out(wait);
	if (!asking)
		wait_looked(wait);
	for (uint32_t i = 0; i < idle->count; i++)
		idle->list[i](wait->job);
	return rc;
}
