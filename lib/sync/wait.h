// SPDX-License-Identifier: BSD-2-Clause
/*
 * wait.h - the only way to wait
 *
 * DESIGN NOTES
 *
 * A waiting thread passes wait_until two functions: `step` tests the condition, `watch` names the
 * ranks awaited. Between steps wait_pause spins, then yields at times, then naps. When
 * oversubscribed it yields almost at once and in every turn, since an awaited rank may need this
 * processor, and naps grow with the number of ranks: a thousand that each wake every 50 us would
 * leave no time for work. While connections are made it naps at once (service_queue_in_contact): if
 * all ranks connect to all others, yielding to each other took longer than the connections.
 *
 * About once a millisecond comes a *look*: `watch` calls wait_watch for each rank awaited. That
 * finds the dead, sends pings (a thread that polls its own memory would never notice a lost host or
 * link), and collects ranks for the watchdog. Then idle work of other layers is done
 * (wait_add_idle). A look holds no lock except those that `watch` takes. The time limit ends with
 * a look, too, so that its error names the ranks awaited. From a millisecond on, each look also
 * publishes the wait on the job's board (see/board.h), and the end of the wait clears it.
 * Before the watchdog reports, and before the time limit, the looks ask an awaited rank why it does
 * not do what is awaited (question.h); the report names the answer.
 *
 * A wait that gives way also calls the program's function (oriel_options.idle): too late to delay
 * what is about to arrive, and often enough for a library beside ours whose transfers take many
 * steps.
 */
#ifndef ORIEL_WAIT_H
#define ORIEL_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rank_list.h"
#include "oriel.h"
#include "see/board.h"
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

/* What threads that wait call of the program: oriel_options. */
struct caller_turn {
	void (*idle)(void *context); /* NULL: nothing */
	void *context;
	const char *(*call_name)(const char *call); /* NULL: calls have their own names */
};

/* What the awaited rank can be asked about (question.h). */
struct wait_about {
	struct peer *peer;     /* NULL: the first of the ranks awaited */
	uint64_t window_check; /* window_check of the window's id; 0: none */
	uint64_t count;        /* as in struct asked */
};

/* Why a wait lasts, as its watch has found; for the board, the watchdog and ORIEL_ERR_TIMEOUT. */
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
	const char *window; /* its label, or NULL */
	int limit_ms;       /* 0: none; the job's, unless changed after wait_begin */
	bool relaxed;       /* relax in every turn: polling must not disturb peers that write to the lines polled */
	bool naps;          /* it has begun to nap */
	uint32_t turns;
	uint64_t start_ns;
	uint64_t deadline_ns; /* 0: none */
	uint64_t look_ns;     /* next look */
	uint64_t yield_ns;    /* when naps begin */
	uint64_t nap_ns;      /* how long the next nap is */
	uint64_t served;      /* devices_served, when last read */
	uint64_t awake_ns;    /* no naps before this, because of operations served */
	uint64_t alone_ns;    /* until then they count for nothing: other programs want the processor */
	uint64_t warn_ns;     /* when the watchdog reports; 0: never (again) */
	uint64_t deaths;      /* job->deaths at the last look */
	uint64_t checked_ns;  /* when the last look with `check` was */
	uint64_t failed_ns;   /* when wait_lingered was first called; 0: not yet */
	struct peer *wanting; /* an awaited peer that a shortage keeps from being connected; found by the last look */
	bool check;           /* this look checks that the ranks awaited still have what they are awaited for */
	bool warning;         /* the watchdog reports in this look */
	bool expired;         /* this look is the last: the time limit has passed */
	bool shows;           /* this look publishes the wait */
	bool leaves_traces;   /* wait_clear is to be called at the end */
	uint8_t slot;         /* of the board, + 1; 0: none */
	struct asking asking; /* of an awaited rank */
	struct wait_why why;  /* of the last look; before the first only its cause is set */
	struct rank_list awaited;
	struct asked asked; /* set unless asking.state is ASKING_NOT */
};

/* window is the label that names it in messages (win.h); NULL: the wait is for none. */
void wait_begin(struct wait *wait, struct oriel_job *job, const char *call, const char *window);

/* Returns 0: test the condition again; or WAIT_LOOK. */
int wait_pause(struct wait *wait);

/*
 * Returns whether the call may be repeated after this error of a wait: a timeout, or a shortage
 * (peer_shortage).
 */
static inline bool wait_can_repeat(int rc)
{
	return rc == ORIEL_ERR_TIMEOUT || rc == ORIEL_ERR_LIMIT || rc == ORIEL_ERR_MEMORY;
}

/* A condition; both functions get the argument of wait_until. */
struct waiter {
	/* 1: it is true; 0: not yet; or the error that ends the wait. */
	int (*step)(void *arg);
	/*
	 * During a look: calls wait_watch for every rank awaited. 0, or the error that ends the wait.
	 */
	int (*watch)(void *arg, struct wait *wait);
};

/* A watch for a condition that depends on no rank. */
int wait_for_nobody(void *arg, struct wait *wait);

/* Returns 0, the error of waiter, a shortage's, or ORIEL_ERR_TIMEOUT with the text set. */
int wait_look(struct wait *wait, const struct waiter *waiter, void *arg);

/* Takes a wait that has ended from the board, and drops its question. */
void wait_clear(struct wait *wait);

/*
 * Waits. Returns 0, the error of waiter, ORIEL_ERR_TIMEOUT, or a shortage's. Inline, so that no
 * step is called by pointer.
 */
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

/* Registers work for every look of every wait of the job; at oriel_init only. */
void wait_add_idle(struct oriel_job *job, void (*work)(struct oriel_job *job));

/*
 * In a step that depends on `peer`: polls its completion queue too, for a device that needs this
 * process to place arriving data, as softverbs does for private memory. When oversubscribed, only
 * wait_watch polls: a polling rank advertises that it makes progress, and writers do without the
 * help of one that does not.
 */
void wait_serve(const struct oriel_job *job, struct peer *peer);

/*
 * Restarts spinning and yielding: the condition was met, and the same wait continues for the next.
 */
void wait_moved(struct wait *wait);

/* During a look: registers a peer as awaited. Returns false if it is dead. */
bool wait_watch(struct wait *wait, struct peer *peer);

/* During a look: returns whether this look publishes or prints why the wait lasts. */
static inline bool wait_says_why(const struct wait *wait)
{
	return wait->shows || wait->warning;
}

/*
 * During a look: notes why the wait lasts, and what the awaited rank can be asked about. The first
 * cause of a look counts.
 */
static inline void wait_blocked_about(struct wait *wait, enum board_cause cause, struct wait_about about)
{
	if (wait->why.cause != CAUSE_UNKNOWN)
		return;
	wait->why.cause = cause;
	wait->why.about = about;
}

/* During a look: notes why the wait lasts, for a cause that concerns no window. */
static inline void wait_blocked(struct wait *wait, enum board_cause cause)
{
	wait_blocked_about(wait, cause, (struct wait_about){ .peer = NULL });
}

/*
 * During a look, once the call has failed because of one peer: returns whether it has continued for
 * LINGER_MS for the other peers. Then the error is due (E6).
 */
bool wait_lingered(struct wait *wait);

/* Ends a look: the watchdog reports if it is time. */
void wait_looked(struct wait *wait);

#endif
