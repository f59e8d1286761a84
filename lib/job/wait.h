// SPDX-License-Identifier: BSD-2-Clause
/*
 * wait.h - the one way to wait
 *
 * DESIGN NOTES
 *
 * Whoever waits hands wait_until two functions: `step` looks at the condition, and `watch` says for
 * whom it waits. Between steps wait_pause spins, then yields now and then, then naps. Where there
 * are more ranks than processors it yields almost at once and always, since whoever is awaited may
 * need this very processor, and its naps grow with their number: a thousand ranks that each wake
 * every 50 us would leave nothing to those who work. While contacts are made it naps at once
 * (service_queue_in_contact): where all ranks meet all others, yielding to each other took them
 * longer than the connections.
 *
 * About once a millisecond comes a *look*: `watch` calls wait_watch for each rank awaited, which
 * finds the dead, sends pings (a lost host or link would otherwise never be noticed by somebody who
 * polls his own memory), and collects names for the watchdog. Idle work of other layers, registered
 * with wait_add_idle, is done then too. No lock is held in a look but what `watch` takes itself.
 *
 * Whenever a wait gives way it also gives the program a turn (oriel_options.idle): later than all that is
 * about to come, and often enough for a library beside ours whose transfers take many steps.
 */
#ifndef ORIEL_WAIT_H
#define ORIEL_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "oriel.h"

struct oriel_job;
struct peer;

#define WAIT_LOOK 1
#define WAIT_NAMES_BYTES 128
#define LINGER_MS 500
#define IDLE_WORK_MAX 4

struct idle_work {
	void (*list[IDLE_WORK_MAX])(struct oriel_job *job);
	uint32_t count;
};

/* What the program wants called while its threads wait: oriel_options. */
struct caller_turn {
	void (*idle)(void *context); /* NULL: nothing */
	void *context;
};

struct wait {
	struct oriel_job *job;
	const char *call;
	const void *win; /* for messages; may be NULL */
	int limit_ms;    /* 0: none; the job's unless the caller sets another after wait_begin */
	bool relaxed;    /* every turn: peers write by way of lines that a turn looks at, and are not to be disturbed */
	bool naps;       /* it has begun to */
	uint32_t turns;
	uint64_t start_ns;
	uint64_t deadline_ns; /* 0: none */
	uint64_t look_ns;     /* next look */
	uint64_t yield_ns;    /* when naps begin */
	uint64_t nap_ns;      /* how long the next nap is */
	uint64_t served;      /* devices_served, when it was last asked */
	uint64_t awake_ns;    /* no naps before this, because of these */
	uint64_t alone_ns;    /* until then they are no reason: others want the processor */
	uint64_t warn_ns;     /* when the watchdog barks; 0: never (again) */
	uint64_t deaths;      /* job->deaths at the last look */
	uint64_t checked_ns;  /* when the last look was one with `check` */
	uint64_t failed_ns;   /* when wait_lingered was first asked; 0: not yet */
	struct peer *wanting; /* awaited, and not to be connected to for want of something; found by the last look */
	bool check;           /* this look finds out whether the awaited still have what they are awaited for */
	bool warning;         /* this look collects names */
	char names[WAIT_NAMES_BYTES];
};

void wait_begin(struct wait *wait, struct oriel_job *job, const char *call, const void *win);

/* 0: look at the condition again; WAIT_LOOK; or ORIEL_ERR_TIMEOUT with the text set. */
int wait_pause(struct wait *wait);

/*
 * Whether an error of a wait says that what was awaited may still come: the call is to be made
 * again. Besides ORIEL_ERR_TIMEOUT these are shortages (peer_shortage).
 */
static inline bool wait_can_repeat(int rc)
{
	return rc == ORIEL_ERR_TIMEOUT || rc == ORIEL_ERR_LIMIT || rc == ORIEL_ERR_MEMORY;
}

/* What is waited for; both get the argument of wait_until. */
struct waiter {
	/* 1: it is there; 0: not yet; or the error that ends the wait. */
	int (*step)(void *arg);
	/* During a look: wait_watch for every rank awaited. 0, or what ends the wait, as step. */
	int (*watch)(void *arg, struct wait *wait);
};

/* A watch for what no rank does. */
int wait_for_nobody(void *arg, struct wait *wait);

/* A look; what waiter->watch says. */
int wait_look(struct wait *wait, const struct waiter *waiter, void *arg);

/* Wait. 0, or the error of waiter, or ORIEL_ERR_TIMEOUT, or that of a shortage. Inline, so that a step is no call by pointer. */
static inline int wait_until(struct wait *wait, const struct waiter *waiter, void *arg)
{
	int rc = waiter->step(arg);

	while (rc == 0) {
		rc = wait_pause(wait);
		if (rc == WAIT_LOOK)
			rc = wait_look(wait, waiter, arg);
		if (rc == 0)
			rc = waiter->step(arg);
	}
	return rc < 0 ? rc : 0;
}

/* Have something done at every look of every wait of the job; at oriel_init only. */
void wait_add_idle(struct oriel_job *job, void (*work)(struct oriel_job *job));

/*
 * In a step, for something that `peer` does: look at its completion queue too, so that a device
 * that needs this process to place what arrives, as softverbs does for private memory, gets on with
 * it. When oversubscribed, only wait_watch polls: a rank that polls advertises that it makes
 * progress, and writers do without the help of one that does not.
 */
void wait_serve(const struct oriel_job *job, struct peer *peer);

/*
 * What was awaited has come, and the same wait goes on for the next thing: spin and yield anew
 * before napping.
 */
void wait_moved(struct wait *wait);

/* During a look: we wait for this peer. False if it is dead. */
bool wait_watch(struct wait *wait, struct peer *peer);

/*
 * During a look, once the call has failed because of one peer: whether it has gone on for LINGER_MS
 * more for the sake of the others. Then it is time to tell (E6).
 */
bool wait_lingered(struct wait *wait);

/* The look is over: the watchdog barks if it is time. */
void wait_looked(struct wait *wait);

#endif
