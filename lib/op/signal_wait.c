// SPDX-License-Identifier: BSD-2-Clause
/*
 * signal_wait.c - waiting for own signals, testing and reading them
 *
 * The waiting rank does not know the sender (N7). So its periodic checks ping the peers of the
 * window a few at a time, and a member's death ends the wait, once. Meanwhile the window's deferred
 * operations are issued, since the other side may wait for them.
 */
#include <sched.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/group.h"
#include "job/job.h"
#include "sync/wait.h"
#include "op/enter.h"
#include "op/issue.h"
#include "win/blocked.h"
#include "win/link.h"
#include "win/signals.h"
#include "win/win.h"

#define PROBE_NS (NS_PER_SECOND / 2) /* oriel_signal_test pings peers this often */
#define PEERS_PER_LOOK 16

struct signalling {
	struct oriel_win *win;
	const char *call;
	struct peer *served; /* its wire is polled, for devices that progress only then */
	uint32_t first;
	uint32_t count; /* 0: wait for `target` of signal `first` */
	uint64_t target;
	uint32_t signal;
	uint64_t value;
	uint32_t peer_at; /* the next to ping, see peer_next */
};

static int check_range(const struct oriel_win *win, uint32_t first, uint32_t count, const char *call)
{
	uint32_t has = win->info.signal_count;

	if (count > 0 && first < has && count <= has - first)
		return 0;
	return err_set(ORIEL_ERR_RANGE,
	               "%s: %s: %u from signal %u on, this rank has %u signals; the hint signals sets their number", call,
	               win->label, count, first, has);
}

/* Returns false for a torn reading, too. */
static bool has_reached(const struct signalling *s)
{
	struct signal_reading now;

	return signal_settled(s->win, s->first, &now) && (int64_t)(signal_value(&now) - s->target) >= 0;
}

/* The caller holds win->lock. */
static bool signal_there(struct signalling *s)
{
	if (s->win->deferred.links > 0)
		issue_push(s->win, true);
	if (s->count == 0)
		return has_reached(s);
	return signals_take(s->win, s->first, s->count, &s->signal, &s->value);
}

static int signal_turn(void *arg)
{
	struct signalling *s = arg;
	bool there;

	owned_lock_take(&s->win->lock);
	there = signal_there(s);
	owned_lock_give(&s->win->lock);
	if (!there && s->served)
		wait_serve(s->win->job, s->served);
	return there;
}

static struct peer *any_peer(const struct oriel_win *win)
{
	uint32_t at = 0;

	return peer_next(win->job, &at);
}

static bool is_member(const struct oriel_win *win, const struct peer *peer)
{
	return peer->rank != win->job->rank && group_rank_of(win->group, peer->rank) != ORIEL_RANK_NONE;
}

/* Pings a few peers. The next checks ping the others. */
static void ping_some(struct signalling *s, struct wait *wait)
{
	for (int i = 0; i < PEERS_PER_LOOK; i++) {
		struct peer *peer = peer_next(s->win->job, &s->peer_at);

		if (!peer) {
			s->peer_at = 0;
			return;
		}
		if (state_load(&peer->state) == PEER_UP && is_member(s->win, peer))
			wait_watch(wait, peer);
	}
}

/* Reports a member that has died since the last such report, unless a signal has arrived before. */
static int tell_death(struct signalling *s)
{
	struct oriel_win *win = s->win;
	int dead = ORIEL_RANK_NONE;
	bool there;

	/* The first load pairs with rank_lost. */
	if (counter_load(&win->job->deaths.count) == counter_load(&win->signals.deaths_searched))
		return 0;
	owned_lock_take(&win->lock);
	there = signal_there(s);
	if (!there)
		dead = job_new_dead_member(win->job, win->group, &win->signals.deaths_searched);
	owned_lock_give(&win->lock);
	if (dead == ORIEL_RANK_NONE)
		return there;
	return err_in(win_peer_error(win, group_rank_of(win->group, dead)), s->call);
}

static int signal_watch(void *arg, struct wait *wait)
{
	struct signalling *s = arg;

	ping_some(s, wait);
	blocked_by(s->win, wait, CAUSE_SIGNAL, NULL, 0);
	if (!s->served)
		s->served = any_peer(s->win);
	return tell_death(s);
}

/* The caller has made the first turn. */
static int signal_wait(struct signalling *s)
{
	static const struct waiter waiter = { signal_turn, signal_watch };
	struct wait wait;

	wait_begin(&wait, s->win->job, s->call, s->win->label);
	s->served = any_peer(s->win);
	return wait_until(&wait, &waiter, s);
}

/* Makes the first turn under win->lock. Returns 1 if the signal was there. */
static int signal_begin(struct signalling *s)
{
	int rc = win_enter(s->win, s->call);

	if (rc)
		return rc;
	rc = check_range(s->win, s->first, s->count ? s->count : 1, s->call);
	if (rc == 0)
		rc = signal_there(s);
	win_leave(s->win);
	return rc;
}

int oriel_signal_wait(oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value)
{
	struct signalling s = { .win = win, .call = "oriel_signal_wait", .first = first, .count = count };
	int rc;

	if (!signal || !value || count == 0)
		return err_set(ORIEL_ERR_ARG, "oriel_signal_wait: count is %u, signal %p, value %p", count, (void *)signal,
		               (void *)value);
	rc = signal_begin(&s);
	if (rc == 0)
		rc = signal_wait(&s);
	if (rc < 0)
		return rc;
	*signal = s.signal;
	*value = s.value;
	return 0;
}

/* Reports deaths, and pings peers, since a program may do nothing but test. */
static int probe(struct signalling *s)
{
	struct oriel_win *win = s->win;
	uint64_t now = now_ns();
	struct wait wait;

	s->served = any_peer(s->win);
	if (s->served)
		wire_poll(&s->served->wire);
	am_poll(win->job, &win->job->am); /* signals may be among them */
	if (now - counter_load(&win->signals.probe_ns) >= PROBE_NS) {
		counter_store(&win->signals.probe_ns, now); /* pairs with the counter_load above; two threads may ping */
		wait_begin(&wait, win->job, s->call, win->label);
		ping_some(s, &wait);
		wait_looked(&wait);
	}
	return tell_death(s);
}

int oriel_signal_test(oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value, int *flag)
{
	struct signalling s = { .win = win, .call = "oriel_signal_test", .first = first, .count = count };
	int rc;

	if (!signal || !value || !flag || count == 0)
		return err_set(ORIEL_ERR_ARG, "oriel_signal_test: count is %u, signal %p, value %p, flag %p", count,
		               (void *)signal, (void *)value, (void *)flag);
	rc = signal_begin(&s);
	if (rc == 0)
		rc = probe(&s);
	if (rc < 0)
		return rc;
	if (rc > 0) {
		*signal = s.signal;
		*value = s.value;
	}
	*flag = rc;
	return 0;
}

int oriel_signal_until(oriel_win *win, uint32_t signal, uint64_t value)
{
	struct signalling s = { .win = win, .call = "oriel_signal_until", .first = signal, .target = value };
	int rc = signal_begin(&s);

	if (rc == 0)
		rc = signal_wait(&s);
	return rc < 0 ? rc : 0;
}

/* Reads words that do not fit together again, for up to SETTLE_NS. */
int oriel_signal_read(const oriel_win *win, uint32_t signal, uint64_t *value)
{
	struct signal_reading now;
	uint64_t begin;
	int rc = win_check(win, "oriel_signal_read");

	if (rc)
		return rc;
	if (!value)
		return err_set(ORIEL_ERR_ARG, "oriel_signal_read: %s: value is NULL", win->label);
	rc = check_range(win, signal, 1, "oriel_signal_read");
	if (rc)
		return rc;
	begin = 0;
	while (!signal_reading(win, signal, &now)) {
		begin = begin ? begin : now_ns();
		if (now_ns() - begin > SETTLE_NS)
			break;
		sched_yield();
	}
	*value = signal_value(&now);
	return 0;
}
