// SPDX-License-Identifier: BSD-2-Clause
/*
 * waits.c - what calls wait for, as the library reports it (see/tool.h); see call.h
 *
 * A report holds until the next one, or until the end of the wait. The time before the first report
 * counts for it from the wait's first reading of the clock on.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "see/front/call.h"
#include "see/front/clock.h"
#include "see/tool.h"

#define SHORT_NS 2000    /* of a wait that is reported at its end */
#define SEGMENTS 16      /* of a call's waits; further ones count for the last */
#define MOST_MEMBERS 256 /* whose notes are read after a wait */

/* A time in which a call waited for one cause. */
struct waited {
	enum wait_cause cause;
	int32_t processes[BOARD_HOLDERS]; /* that hold the lock; 0: none further */
	uint64_t begun_ns;
	uint64_t ended_ns;
	bool has_ended;  /* no later report goes on with it */
	bool served;     /* WAIT_PROGRESS: the first rank was in no call */
	uint64_t inside; /* WAIT_PROGRESS: of the first rank, as notes_inside, at the begin */
	struct rank_list ranks;
};

struct waiting {
	uint32_t count;
	struct waited list[SEGMENTS];
};

/* Allocated when the thread first waits: other libraries need the thread-local storage. */
static _Thread_local struct waiting *waiting __attribute__((tls_model("initial-exec")));
static pthread_key_t freed_at_end;
static pthread_once_t key_made = PTHREAD_ONCE_INIT;
static _Thread_local struct call_members members __attribute__((tls_model("initial-exec"))) = { .event = EVENT_COUNT };
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

/* A member that has not acknowledged a detach is late for it as for a collective call. */
static const enum wait_cause causes[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = WAIT_UNKNOWN,
	[CAUSE_SETUP] = WAIT_SETUP,
	[CAUSE_POST] = WAIT_LATE_POST,
	[CAUSE_COMPLETE] = WAIT_LATE_COMPLETE,
	[CAUSE_FENCE] = WAIT_LATE_FENCE,
	[CAUSE_COLLECTIVE] = WAIT_LATE_COLLECTIVE,
	[CAUSE_LOCK] = WAIT_LOCK,
	[CAUSE_DATA] = WAIT_DATA,
	[CAUSE_ROOM] = WAIT_ROOM,
	[CAUSE_SIGNAL] = WAIT_SIGNAL,
	[CAUSE_DETACH] = WAIT_LATE_COLLECTIVE,
	[CAUSE_LIBRARY] = WAIT_THREADS,
	[CAUSE_APPLY] = WAIT_PROGRESS,
	[CAUSE_OUTSIDE] = WAIT_UNKNOWN,
};

static bool is_same(const struct waited *a, const struct waited *b)
{
	return a->cause == b->cause && memcmp(a->processes, b->processes, sizeof(a->processes)) == 0;
}

/* Returns the last segment, if it can go on with this cause, or a new one. */
static struct waited *segment(const struct waited *new, const struct rank_list *awaited)
{
	struct waited *last = waiting->count ? &waiting->list[waiting->count - 1] : NULL;

	if (last && (waiting->count == SEGMENTS || (is_same(last, new) && last->ended_ns == new->begun_ns)))
		return last;
	waiting->list[waiting->count] = *new;
	if (new->cause == WAIT_PROGRESS && awaited->count)
		waiting->list[waiting->count].inside = notes_inside(awaited->ranks[0]);
	return &waiting->list[waiting->count++];
}

static void free_list(void *list)
{
	free(list);
	waiting = NULL;
}

static void make_key(void)
{
	pthread_key_create(&freed_at_end, free_list);
}

/* Returns false if there is no memory: the wait is not recorded. */
static bool has_list(void)
{
	if (waiting)
		return true;
	pthread_once(&key_made, make_key);
	waiting = calloc(1, sizeof(*waiting));
	pthread_setspecific(freed_at_end, waiting);
	return waiting;
}

static void take_blocked(const struct tool_blocked *blocked)
{
	struct waited new = { .cause = causes[blocked->cause], .begun_ns = blocked->now_ns };
	struct waited *last;

	if (!has_list())
		return;
	last = waiting->count ? &waiting->list[waiting->count - 1] : NULL;
	if (!last || last->ended_ns <= blocked->since_ns)
		new.begun_ns = blocked->since_ns;
	else if (last->has_ended)
		new.begun_ns = last->ended_ns;
	else
		last->ended_ns = blocked->now_ns;
	memcpy(new.processes, blocked->holders, blocked->holder_count * sizeof(new.processes[0]));
	last = segment(&new, blocked->awaited);
	last->ended_ns = blocked->now_ns;
	for (uint32_t i = 0; i < blocked->awaited->count; i++)
		rank_list_add(&last->ranks, blocked->awaited->ranks[i]);
	call_thread.duties |= DUTY_WAITS;
}

static void take_unblocked(uint64_t now_ns)
{
	struct waited *last = waiting && waiting->count ? &waiting->list[waiting->count - 1] : NULL;

	if (last && !last->has_ended)
		last->ended_ns = now_ns;
}

/* The last segment is left to what the call waits for. */
static void take_ended(enum wait_cause cause, uint64_t begun_ns, uint64_t ended_ns)
{
	if (!has_list() || waiting->count >= SEGMENTS - 1)
		return;
	waiting->list[waiting->count++] =
		(struct waited){ .cause = cause, .begun_ns = begun_ns, .ended_ns = ended_ns, .has_ended = true };
	call_thread.duties |= DUTY_WAITS;
}

static void take_registered(uint64_t begun_ns, uint64_t ended_ns)
{
	take_ended(WAIT_REGISTRATION, begun_ns, ended_ns);
}

/* A lock that is free takes less. */
static void take_thread(uint64_t begun_ns, uint64_t ended_ns)
{
	if (ended_ns - begun_ns >= SHORT_NS)
		take_ended(WAIT_THREADS, begun_ns, ended_ns);
}

/* The first turns of such a wait make the connection. It replaces the reports of the later ones. */
static void take_described(int rank, uint64_t begun_ns, uint64_t ended_ns)
{
	if (ended_ns < begun_ns + SHORT_NS || !has_list())
		return;
	while (waiting->count && waiting->list[waiting->count - 1].begun_ns >= begun_ns)
		waiting->count--;
	take_ended(WAIT_SETUP, begun_ns, ended_ns);
	if (waiting->count && waiting->list[waiting->count - 1].begun_ns == begun_ns)
		rank_list_add(&waiting->list[waiting->count - 1].ranks, rank);
}

static void take_job(const char *job, int rank, int size)
{
	struct part *part = part_of_process();

	if (!part)
		return;
	snprintf(part->header.job, sizeof(part->header.job), "%s", job);
	part->header.rank = rank;
	part->header.size = size;
}

void waits_attach(void)
{
	static const struct tool tool = { .version = TOOL_VERSION,
		                              .job_opened = take_job,
		                              .blocked = take_blocked,
		                              .unblocked = take_unblocked,
		                              .registered = take_registered,
		                              .waited_for_thread = take_thread,
		                              .described = take_described,
		                              .takes_board = outside_open,
		                              .rank_died = part_add_death,
		                              .window_numbered = window_take_number };

	if (oriel_tool_attach(&tool))
		fputs("oriel: the profile has no causes of waits: liboriel.so is of another version\n", stderr);
}

void waits_begin(const struct call_members *of_call)
{
	members = *of_call;
	call_thread.duties |= members.event == EVENT_COLLECTIVE ? DUTY_WAITS : 0;
}

/* A share of a call's waits. */
struct share {
	enum wait_cause cause;
	int32_t rank;
	int32_t process;
	uint64_t ns;
};

static struct part_wait *find(struct part *part, uint32_t site, const struct share *share)
{
	uint32_t count = part->header.wait_count;

	for (uint32_t i = 0; i < count; i++) {
		struct part_wait *wait = &part->waits[i];

		if (wait->site == site && wait->cause == share->cause && wait->rank == share->rank &&
		    wait->process == share->process)
			return wait;
	}
	if (count == PART_WAITS)
		return NULL;
	part->waits[count] =
		(struct part_wait){ .site = site, .cause = share->cause, .rank = share->rank, .process = share->process };
	part->header.wait_count = count + 1;
	return &part->waits[count];
}

/* Returns the entry that the share has been added to, or NULL. */
static struct part_wait *add(struct part *part, uint32_t site, struct share share)
{
	struct part_wait *wait = find(part, site, &share);

	if (!wait) {
		part->header.lost++;
		return NULL;
	}
	wait->count++;
	wait->ns += share.ns;
	if (share.ns > wait->max_ns)
		wait->max_ns = share.ns;
	return wait;
}

/* Adds a time in which a rank was late. */
static void add_lateness(struct part *part, uint32_t site, enum wait_cause cause, int rank, uint64_t begun_ns,
                         uint64_t ended_ns)
{
	struct part_wait *wait = add(part, site, (struct share){ cause, rank, 0, ended_ns - begun_ns });

	if (wait)
		roots_add(wait, rank, begun_ns, ended_ns);
	notes_add_lateness(part, wait ? (uint32_t)(wait - part->waits) : PART_NONE, rank, begun_ns, ended_ns);
}

/* ---- which rank was late ---- */

struct latest {
	int rank; /* -1: not known */
	uint64_t begun_ns;
};

static const struct latest not_known = { -1, 0 };

/*
 * Looks whether the rank began the call later than those before it. Returns false if its notes
 * cannot be read, since it runs on another machine or is not recorded: it may be the latest.
 */
static bool look_at(struct latest *latest, const struct call_members *of, int rank, uint64_t key, uint64_t ended_ns)
{
	uint64_t begun_ns = notes_find(rank, of->event, key, of->number, ended_ns);

	if (begun_ns > latest->begun_ns)
		*latest = (struct latest){ rank, begun_ns };
	return notes_know(rank);
}

static uint64_t key_of(const struct part *part, uint32_t window)
{
	return window == PART_NONE ? 0 : part->windows[window].key;
}

/* In a fence or collective call all members count: the partner of a round is not the late rank. */
static struct latest find_latest_member(const struct part *part, uint64_t ended_ns)
{
	uint64_t key = key_of(part, members.window);
	struct latest latest = not_known;

	if (members.event == EVENT_COLLECTIVE)
		notes_search();
	for (int i = 0; members.count <= MOST_MEMBERS && i < members.count; i++) {
		int rank = members.ranks ? members.ranks[i] : i;

		if (rank != part->header.rank && !look_at(&latest, &members, rank, key, ended_ns))
			return not_known;
	}
	return latest;
}

/* Returns when a rank began the post, or complete, that a wait is for; 0: not known. */
static uint64_t find_awaited(uint32_t window, enum part_event event, int rank)
{
	return notes_find_epoch(rank, event, window, epochs_awaited(window, event, rank));
}

/* The thread may have waited for something else until the call began. */
static struct latest find_latest_awaited(uint32_t window, const struct waited *waited, enum part_event event)
{
	struct latest latest = not_known;

	for (uint32_t i = 0; i < waited->ranks.count; i++) {
		int rank = waited->ranks.ranks[i];
		uint64_t begun_ns = find_awaited(window, event, rank);

		if (!notes_know(rank))
			return not_known;
		if (begun_ns > waited->ended_ns)
			begun_ns = waited->ended_ns;
		if (begun_ns > latest.begun_ns)
			latest = (struct latest){ rank, begun_ns };
	}
	return waited->ranks.more ? not_known : latest;
}

/* The signal that ends the wait is the last that any member has begun to send to this one. */
static struct latest find_sender(const struct part *part, uint32_t window, uint64_t ended_ns)
{
	const struct call_members signal = { .event = EVENT_SIGNAL, .number = (uint64_t)part->header.rank + 1 };
	struct latest latest = not_known;
	int count;
	const int *ranks = window_ranks(window, &count);

	for (int i = 0; count <= MOST_MEMBERS && i < count; i++) {
		if (ranks[i] != part->header.rank && !look_at(&latest, &signal, ranks[i], key_of(part, window), ended_ns))
			return not_known;
	}
	return latest;
}

/* Returns the holder that unlocks last; begun_ns 0: one that has not. */
static struct latest find_holder(const struct part *part, uint32_t window, const struct waited *waited)
{
	struct latest latest = not_known;

	for (int i = 0; i < BOARD_HOLDERS && waited->processes[i]; i++) {
		int rank = notes_rank(waited->processes[i]);
		uint64_t begun_ns = notes_find(rank, EVENT_UNLOCK, key_of(part, window), 0, waited->ended_ns);

		if (rank >= 0 && begun_ns <= waited->begun_ns)
			return (struct latest){ rank, 0 };
		if (rank >= 0 && begun_ns > latest.begun_ns)
			latest = (struct latest){ rank, begun_ns };
	}
	return latest;
}

/* Returns the rank that the wait was for, and when it began the call that ends the wait. */
static struct latest find_latest(const struct part *part, uint32_t window, const struct waited *waited)
{
	if (waited->cause == WAIT_LATE_POST)
		return find_latest_awaited(window, waited, EVENT_POST);
	if (waited->cause == WAIT_LATE_COMPLETE)
		return find_latest_awaited(window, waited, EVENT_COMPLETE);
	if (waited->cause == WAIT_LOCK)
		return find_holder(part, window, waited);
	if (waited->cause == WAIT_SIGNAL)
		return find_sender(part, window, waited->ended_ns);
	if (waited->cause == WAIT_LATE_FENCE && members.number && members.event == EVENT_FENCE)
		return find_latest_member(part, waited->ended_ns);
	return not_known;
}

/*
 * The time until the rank began its call is its lateness. Returns when that ended. A holder that
 * has not unlocked is late until the end.
 */
static uint64_t divide(struct part *part, uint32_t site, const struct waited *waited, struct latest latest)
{
	bool holds = waited->cause == WAIT_LOCK && latest.begun_ns == 0;
	uint64_t until_ns = holds ? waited->ended_ns : latest.begun_ns;

	if (until_ns <= waited->begun_ns)
		return waited->begun_ns;
	add_lateness(part, site, waited->cause, latest.rank, waited->begun_ns, until_ns);
	return until_ns;
}

/* ---- which calls ended the wait ---- */

/* Returns EVENT_COUNT if no call of another rank ends such a wait. */
static enum part_event event_awaited(enum wait_cause cause)
{
	switch (cause) {
	case WAIT_LATE_POST:
		return EVENT_POST;
	case WAIT_LATE_COMPLETE:
		return EVENT_COMPLETE;
	case WAIT_LATE_FENCE:
		return EVENT_FENCE;
	case WAIT_LOCK:
		return EVENT_UNLOCK;
	case WAIT_SIGNAL:
		return EVENT_SIGNAL;
	default:
		return EVENT_COUNT;
	}
}

/* Returns the window's member that is this rank; if there is none, the number of members. */
static int member_of(uint32_t window, int rank)
{
	int count, member = 0;
	const int *ranks = window_ranks(window, &count);

	while (member < count && ranks[member] != rank)
		member++;
	return member;
}

/*
 * Returns the unlock that let this rank in: the last of that lock, by any member. The holders of
 * the last look may have given it to others since.
 */
static struct latest find_release(const struct part *part, uint32_t window, const struct waited *waited)
{
	uint64_t key = key_of(part, window);
	struct latest latest = not_known;
	int count, target = member_of(window, waited->ranks.ranks[0]);
	const int *ranks = window_ranks(window, &count);

	for (int i = 0; waited->ranks.count == 1 && count <= MOST_MEMBERS && i < count; i++) {
		uint64_t begun_ns = notes_find_unlock(ranks[i], key, target, waited->ended_ns);

		if (!notes_know(ranks[i]))
			return not_known;
		if (ranks[i] != part->header.rank && begun_ns > latest.begun_ns)
			latest = (struct latest){ ranks[i], begun_ns };
	}
	return latest;
}

/* All posts, or completes, that came in the time; else the call of the rank that was late. */
static void add_arrows(const struct part *part, uint32_t window, const struct waited *waited, struct latest latest)
{
	enum part_event event = event_awaited(waited->cause);
	bool each = event == EVENT_POST || event == EVENT_COMPLETE;

	if (!trace_is_on())
		return;
	if (event == EVENT_UNLOCK)
		latest = find_release(part, window, waited);
	if (event != EVENT_COUNT && !each && latest.begun_ns > waited->begun_ns)
		arrows_add(event, latest.rank, latest.begun_ns, waited->ended_ns);
	for (uint32_t i = 0; each && i < waited->ranks.count; i++) {
		int rank = waited->ranks.ranks[i];
		uint64_t begun_ns = find_awaited(window, event, rank);

		if (begun_ns > waited->begun_ns && begun_ns <= waited->ended_ns)
			arrows_add(event, rank, begun_ns, waited->ended_ns);
	}
}

/* ---- shares ---- */

/* Returns whether the rank awaited is the one that is late. */
static bool names_the_late_rank(enum wait_cause cause)
{
	return cause != WAIT_LATE_FENCE && cause != WAIT_LATE_COLLECTIVE && cause != WAIT_LOCK && cause != WAIT_SIGNAL;
}

/* Returns the cause of time in which no rank was late. */
static enum wait_cause cause_of_rest(const struct waited *waited)
{
	switch (waited->cause) {
	case WAIT_LATE_POST:
	case WAIT_LATE_COMPLETE:
	case WAIT_LATE_FENCE:
	case WAIT_LATE_COLLECTIVE:
	case WAIT_LOCK:
	case WAIT_SIGNAL:
	case WAIT_UNKNOWN: /* what was awaited had come when the look was made */
		return WAIT_HANDOVER;
	default:
		return waited->cause;
	}
}

/* Returns whether no rank can be late: no rank is awaited, or a lock of this machine is free. */
static bool is_rest(const struct waited *waited)
{
	const struct rank_list *ranks = &waited->ranks;

	if (members.event == EVENT_COLLECTIVE && (waited->cause == WAIT_LATE_COLLECTIVE || waited->cause == WAIT_UNKNOWN))
		return members.latest_rank >= 0; /* take_last_member has counted the lateness */
	return ranks->count == 0 || (waited->cause == WAIT_LOCK && !waited->processes[0] && notes_know(ranks->ranks[0]));
}

/* ---- ranks of other machines ---- */

/* Returns whether the thread is in a collective call whose last member may be elsewhere. */
static bool is_remote_collective(void)
{
	return members.event == EVENT_COLLECTIVE && members.number && members.latest_rank < 0 && !notes_know_all();
}

/* Notes by which call of which rank the wait may have ended. Returns false if that is not known. */
static bool describe(const struct part *part, struct part_remote_wait *remote, const struct waited *waited)
{
	remote->event = event_awaited(waited->cause);
	if (members.event == EVENT_COLLECTIVE)
		*remote = (struct part_remote_wait){ .event = EVENT_COLLECTIVE, .window = PART_NONE, .number = members.number };
	if (remote->event == EVENT_FENCE)
		remote->number = members.event == EVENT_FENCE ? members.number : 0;
	if (remote->event == EVENT_SIGNAL)
		remote->number = (uint64_t)part->header.rank + 1;
	if (remote->event == EVENT_UNLOCK && waited->ranks.count == 1)
		remote->number = (uint64_t)member_of(remote->window, waited->ranks.ranks[0]) + 1;
	return remote->event != EVENT_COUNT &&
	       (remote->number || remote->event == EVENT_POST || remote->event == EVENT_COMPLETE);
}

/* The time from from_ns on counts for a wait, or none. The report may divide it. */
static void note_remote(struct part *part, uint32_t site, const struct part_wait *wait, const struct waited *waited,
                        uint64_t from_ns)
{
	static const struct rank_list any;
	struct part_remote_wait remote = { .window = part->sites[site].window };
	bool by_rank;

	if (notes_know_all() || !describe(part, &remote, waited))
		return;
	remote.site = site;
	by_rank = remote.event == EVENT_POST || remote.event == EVENT_COMPLETE;
	remote.begun_ns = from_ns;
	remote.ended_ns = waited->ended_ns;
	remote.wait = wait ? (uint32_t)(wait - part->waits) : PART_NONE;
	remote_add_wait(part, &remote, by_rank ? &waited->ranks : &any);
}

/*
 * While the target is in a call it applies operations, so that such time is that of the data. Adds
 * it, if the target's notes can be read. If it was in none, its service thread has applied them.
 */
static void take_inside(struct part *part, uint32_t site, struct waited *waited)
{
	int rank = waited->ranks.ranks[0];
	uint64_t ns = waited->ended_ns - waited->begun_ns, now = clock_ticks(), inside_ns;

	if (waited->cause != WAIT_PROGRESS || waited->ranks.count == 0)
		return;
	inside_ns = clock_ns(now) - clock_ns(now - (notes_inside(rank) - waited->inside));
	if (waited->ranks.count > 1 || !notes_know(rank) || inside_ns > ns)
		inside_ns = ns;
	waited->ended_ns -= inside_ns;
	waited->served = inside_ns == 0;
	if (inside_ns)
		add(part, site, (struct share){ WAIT_DATA, waited->ranks.count == 1 ? rank : -1, 0, inside_ns });
}

/*
 * Adds the shares of a segment. Returns the time from which on the next one counts: what a holder
 * left of a wait for a lock was the next holder's.
 */
static uint64_t add_waited(struct part *part, uint32_t site, const struct waited *waited, bool lock_follows)
{
	struct latest latest = find_latest(part, part->sites[site].window, waited);
	bool known = waited->ranks.count == 1 && names_the_late_rank(waited->cause);
	struct share rest = { cause_of_rest(waited), latest.rank, 0, 0 };
	bool is_whole = latest.rank < 0 && !is_rest(waited);
	uint64_t from_ns = waited->begun_ns;
	struct part_wait *wait;

	add_arrows(part, part->sites[site].window, waited, latest);
	if (latest.rank >= 0)
		from_ns = divide(part, site, waited, latest);
	else if (is_whole)
		rest = (struct share){ waited->cause, known ? waited->ranks.ranks[0] : -1, waited->processes[0], 0 };
	if (from_ns >= waited->ended_ns)
		return waited->ended_ns;
	if (lock_follows && waited->cause == WAIT_LOCK && latest.rank >= 0)
		return from_ns;
	rest.ns = waited->ended_ns - from_ns;
	wait = add(part, site, rest);
	if (wait)
		wait->served += waited->served;
	if (wait && (is_whole || is_remote_collective()))
		note_remote(part, site, wait, waited, from_ns);
	return waited->ended_ns;
}

static bool has_waited_for(enum wait_cause cause)
{
	for (uint32_t i = 0; waiting && i < waiting->count; i++) {
		if (waiting->list[i].cause == cause)
			return true;
	}
	return false;
}

/* Returns whether the call ends when its last member has begun it. */
static bool ends_with_members(void)
{
	return members.event == EVENT_COLLECTIVE ||
	       (members.event == EVENT_FENCE && (has_waited_for(WAIT_LATE_FENCE) || has_waited_for(WAIT_SETUP)));
}

/*
 * In such a call all time until the last member has begun it is that member's lateness, also where
 * connections are still being made. Returns when that ended.
 */
static uint64_t take_last_member(struct part *part, uint32_t site)
{
	enum wait_cause cause = members.event == EVENT_FENCE ? WAIT_LATE_FENCE : WAIT_LATE_COLLECTIVE;
	struct latest latest = not_known;

	if (members.number && ends_with_members())
		latest = find_latest_member(part, now_ns());
	members.latest_rank = latest.rank;
	if (latest.rank < 0 || latest.begun_ns <= members.begun_ns)
		return 0;
	add_lateness(part, site, cause, latest.rank, members.begun_ns, latest.begun_ns);
	arrows_add(members.event, latest.rank, latest.begun_ns, now_ns());
	return latest.begun_ns;
}

/* Notes the time between the waits of a collective call, in which a member was late, too. */
static void note_gaps(struct part *part, uint32_t site)
{
	uint64_t from_ns = members.begun_ns;

	for (uint32_t i = 0; is_remote_collective() && i <= (waiting ? waiting->count : 0); i++) {
		bool is_last = !waiting || i == waiting->count;
		struct waited gap = { .cause = WAIT_LATE_COLLECTIVE,
			                  .ended_ns = is_last ? now_ns() : waiting->list[i].begun_ns };

		if (gap.ended_ns > from_ns)
			note_remote(part, site, NULL, &gap, from_ns);
		from_ns = is_last ? from_ns : waiting->list[i].ended_ns;
	}
}

/* Returns the first unlock of the lock in the time that the segment still has. */
static struct latest find_next_release(const struct part *part, uint32_t window, const struct waited *waited)
{
	uint64_t key = key_of(part, window);
	struct latest first = not_known;
	int count, target = member_of(window, waited->ranks.ranks[0]);
	const int *ranks = window_ranks(window, &count);

	for (int i = 0; count <= MOST_MEMBERS && i < count; i++) {
		uint64_t begun_ns = notes_find_next_unlock(ranks[i], key, target, waited->begun_ns, waited->ended_ns);

		if (begun_ns && ranks[i] != part->header.rank && (first.rank < 0 || begun_ns < first.begun_ns))
			first = (struct latest){ ranks[i], begun_ns };
	}
	return first;
}

/*
 * A card keeps the words of a lock where no look sees the holders. There the time until an unlock
 * is that of the rank that unlocks.
 */
static void take_releases(struct part *part, uint32_t site, struct waited *waited)
{
	struct latest next = not_known;

	if (waited->cause != WAIT_LOCK || waited->processes[0] || waited->ranks.count != 1)
		return;
	do {
		next = find_next_release(part, part->sites[site].window, waited);
		if (next.rank >= 0)
			waited->begun_ns = divide(part, site, waited, next);
	} while (next.rank >= 0 && waited->begun_ns < waited->ended_ns);
}

/* Adds the shares of all segments, from a time on. */
static void take_segments(struct part *part, uint32_t site, uint64_t from_ns)
{
	note_gaps(part, site);
	for (uint32_t i = 0; waiting && i < waiting->count; i++) {
		struct waited *waited = &waiting->list[i], *next = i + 1 < waiting->count ? waited + 1 : NULL;
		bool follows = next && next->cause == WAIT_LOCK && next->begun_ns == waited->ended_ns;

		if (waited->begun_ns < from_ns)
			waited->begun_ns = from_ns;
		if (waited->begun_ns < waited->ended_ns)
			take_inside(part, site, waited);
		if (waited->begun_ns < waited->ended_ns)
			take_releases(part, site, waited);
		if (waited->begun_ns < waited->ended_ns)
			from_ns = add_waited(part, site, waited, follows);
		if (follows)
			next->begun_ns = from_ns;
	}
}

/* Returns the time of CLOCK_MONOTONIC at a reading of the calls' clock. */
static uint64_t ns_at(const struct part *part, uint64_t ticks)
{
	uint64_t now = now_ns(), now_ticks = clock_ticks();
	double rate = (double)(now - part->header.begun_ns) / (double)(now_ticks - part->header.begun_ticks + 1);

	return now - (uint64_t)((double)(now_ticks - ticks) * rate);
}

/* A call waits for a late rank from its begin on. The first report comes some turns later. */
static void begin_with_call(const struct part *part, uint64_t begun)
{
	struct waited *first = waiting && waiting->count ? &waiting->list[0] : NULL;
	uint64_t begun_ns;

	if (!first ||
	    (first->cause != WAIT_LATE_POST && first->cause != WAIT_LATE_COMPLETE && first->cause != WAIT_LATE_FENCE))
		return;
	begun_ns = ns_at(part, begun);
	if (begun_ns < first->begun_ns)
		first->begun_ns = begun_ns;
}

void waits_forget(void)
{
	if (waiting)
		waiting->count = 0;
	call_thread.duties &= ~(uint32_t)DUTY_WAITS;
	members = (struct call_members){ .event = EVENT_COUNT };
}

void waits_take(struct part *part, uint32_t site, uint32_t lane, uint64_t begun)
{
	if (members.begun != begun) /* an earlier call, which has not waited */
		members = (struct call_members){ .event = EVENT_COUNT };
	pthread_mutex_lock(&adding);
	begin_with_call(part, begun);
	take_segments(part, site, take_last_member(part, site));
	arrows_take(site, lane);
	pthread_mutex_unlock(&adding);
	waits_forget();
}
