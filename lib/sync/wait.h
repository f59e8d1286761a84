// SPDX-License-Identifier: BSD-2-Clause
/*
 * wait.h - the only way to wait
 *
 * DESIGN NOTES
 *
 * A waiting thread passes wait_until two functions: `step` tests the condition, `watch` names the
 * ranks awaited. Between steps wait_pause spins, then yields at times, then naps. When
 * oversubscribed it yields almost at once and in every turn, since an awaited rank may need this
 * processor, and naps grow with the number of ranks. While connections are made it naps at once
 * (service_queue_in_contact).
 *
 * About once a millisecond comes a *look*: `watch` calls wait_watch for each rank awaited. That
 * finds the dead, sends pings (a thread that polls its own memory would not notice a lost host or
 * link), and collects ranks for the watchdog. Then idle work of other layers is done
 * (wait_add_idle). The time limit ends with a look, so that its error names the ranks awaited. From
 * a millisecond on, looks also publish the wait (see/board.h). Before the watchdog reports, and
 * before the time limit, they ask an awaited rank for its reason (question.h).
 *
 * With a tool attached (see/tool.h), a wait looks from its first reading of the clock on, every
 * REPORT_NS at first. These looks only report the ranks awaited and the cause.
 *
 * A wait that gives way also calls the program's function (oriel_options.idle), for another library
 * whose transfers take many steps.
 */
#ifndef ORIEL_WAIT_H
#define ORIEL_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rank_list.h"
#include "oriel.h"
#include "see/board.h"
#include "see/tool.h"
#include "sync/question.h"

struct oriel_job;
struct peer;

#define WAIT_LOOK 1
#define LINGER_MS 500
#define IDLE_WORK_MAX 4

struct idle_work {
	void (*list[IDLE_WORK_MAX])(struct oriel_job *job);
	uint32_t count;
};

/* The program's functions that waiting threads call (oriel_options). */
struct caller_turn {
	void (*idle)(void *context); /* NULL: nothing */
	void *context;
	const char *(*call_name)(const char *call); /* NULL: their own names */
};

/* The subject of a question to the awaited rank (question.h). */
struct wait_about {
	struct peer *peer;     /* NULL: the first awaited rank */
	uint64_t window_check; /* 0: none */
	uint64_t count;        /* as in struct asked */
};

/* Why a wait lasts, for the board, the watchdog and ORIEL_ERR_TIMEOUT. */
struct wait_why {
	enum board_cause cause;
	struct wait_about about;
	uint32_t epochs; /* of the window, enum board_epoch */
	uint32_t holder_count;
	int32_t holders[BOARD_HOLDERS]; /* processes that hold the lock */
};

struct wait {
	struct oriel_job *job;
	const char *call;
	const char *window; /* label, or NULL */
	int limit_ms;       /* 0: none; the job's, unless changed after wait_begin */
	bool relaxed;       /* relax in every turn: polling must not disturb peers' writes */
	bool naps;
	uint32_t turns;
	uint64_t start_ns;
	uint64_t deadline_ns; /* 0: none */
	uint64_t look_ns;
	uint64_t yield_ns;    /* naps begin */
	uint64_t nap_ns;      /* the next nap */
	uint64_t served;      /* devices_served, when last read */
	uint64_t awake_ns;    /* no naps before; operations were served */
	uint64_t alone_ns;    /* until then they do not count: other programs want the processor */
	uint64_t warn_ns;     /* when the watchdog reports; 0: never (again) */
	uint64_t deaths;      /* job->deaths.count at the last look */
	uint64_t checked_ns;  /* last look with `check` */
	uint64_t report_ns;   /* when the next look reports to the tool */
	uint64_t failed_ns;   /* first wait_lingered; 0: none */
	struct peer *wanting; /* an awaited peer that a shortage keeps from being connected */
	bool check;           /* checks that awaited ranks still have what they are awaited for */
	bool warning;         /* the watchdog reports in this look */
	bool expired;         /* the time limit has passed: this look is the last */
	bool shows;           /* this look publishes the wait */
	bool has_tool;        /* each look reports to a tool (see/tool.h), */
	bool reports;         /* and this one does nothing else */
	bool reported;        /* the tool knows of this wait */
	bool leaves_traces;   /* the end calls wait_clear */
	bool has_caller;      /* `caller` is set */
	uint8_t slot;         /* of the board, + 1; 0: none */
	struct asking asking;
	struct wait_why why; /* of the last look */
	struct rank_list awaited;
	struct asked asked; /* set unless asking.state is ASKING_NOT */
	uint64_t caller;    /* where the program called (see/caller.h); 0: not known */
};

/* `window` is a label for messages (win.h), or NULL. */
void wait_begin(struct wait *wait, struct oriel_job *job, const char *call, const char *window);

/* Returns 0: test the condition again; or WAIT_LOOK. */
int wait_pause(struct wait *wait);

/* Returns whether the call may be repeated after this error. */
static inline bool wait_can_repeat(int rc)
{
	return rc == ORIEL_ERR_TIMEOUT || rc == ORIEL_ERR_LIMIT || rc == ORIEL_ERR_MEMORY;
}

/* A condition; both functions get the argument of wait_until. */
struct waiter {
	/* Returns 1: it is true; 0: not yet; or the error that ends the wait. */
	int (*step)(void *arg);
	/*
	 * Calls wait_watch for every rank awaited, during a look. Returns 0, or the error that ends the
	 * wait.
	 */
	int (*watch)(void *arg, struct wait *wait);
};

/* Watches nothing: the condition depends on no rank. */
int wait_for_nobody(void *arg, struct wait *wait);

/* Returns 0, the error of waiter, a shortage's, or ORIEL_ERR_TIMEOUT with text. */
int wait_look(struct wait *wait, const struct waiter *waiter, void *arg);

/* Takes the wait from the board, drops its question, and reports its end to the tool. */
void wait_clear(struct wait *wait);

/* Waits. Returns what wait_look does. Inline, so that no step is called by pointer. */
static inline int wait_until(struct wait *wait, const struct waiter *waiter, void *arg)
{
	int rc = waiter->step(arg);

	while (rc == 0) {
		rc = wait_pause(wait);
		if (rc == WAIT_LOOK)
			rc = wait_look(wait, waiter, arg);
		if (rc == 0)
			rc = waiter->step(arg);
		if (rc && wait->leaves_traces)
			wait_clear(wait);
	}
	return rc < 0 ? rc : 0;
}

/* Registers work for every look of the job; at oriel_init only. */
void wait_add_idle(struct oriel_job *job, void (*work)(struct oriel_job *job));

/*
 * In a step that depends on `peer`, also polls its completion queue, for a device that needs this
 * process to place arriving data, as softverbs does for private memory. When oversubscribed, only
 * wait_watch polls: writers rely on the progress of a rank that polls, and do without that of
 * others.
 */
void wait_serve(const struct oriel_job *job, struct peer *peer);

/* Restarts spinning and yielding: the wait continues for the next condition. */
void wait_moved(struct wait *wait);

/* During a look: registers a peer as awaited. Returns false if it is dead. */
bool wait_watch(struct wait *wait, struct peer *peer);

/* During a look: returns whether it publishes, prints or reports why the wait lasts. */
static inline bool wait_says_why(const struct wait *wait)
{
	return wait->shows || wait->warning || wait->has_tool;
}

/*
 * During a look: notes why the wait lasts, and what to ask the awaited rank about. The first cause
 * counts.
 */
static inline void wait_blocked_about(struct wait *wait, enum board_cause cause, struct wait_about about)
{
	if (wait->why.cause != CAUSE_UNKNOWN)
		return;
	wait->why.cause = cause;
	wait->why.about = about;
}

static inline void wait_blocked(struct wait *wait, enum board_cause cause)
{
	wait_blocked_about(wait, cause, (struct wait_about){ .peer = NULL });
}

/*
 * During a look, once the call has failed because of one peer: returns whether it has continued for
 * LINGER_MS for the others. Then the error is due (E6).
 */
bool wait_lingered(struct wait *wait);

/* Ends a look: the watchdog reports if it is time. */
void wait_looked(struct wait *wait);

#endif
