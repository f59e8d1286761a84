/*
 * wait.h - the one way to wait
 *
 * A waiting loop looks at its condition and calls wait_pause when it is not met. wait_pause spins, then yields, then
 * sleeps for short whiles, sooner where there are more ranks than processors. About once a millisecond it
 * answers WAIT_LOOK: then the loop calls wait_watch for each rank it waits for, which finds the dead, sends pings
 * (a lost host or link would otherwise never be noticed by somebody who polls his own memory), and collects names for the watchdog.
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

struct wait {
	struct oriel_job *job;
	const char *call;
	const void *win;          /* for messages; may be NULL */
	int limit_ms;             /* 0: none; the job's unless the caller sets another after wait_begin */
	uint32_t turns;
	uint64_t start_ns;
	uint64_t deadline_ns;     /* 0: none */
	uint64_t look_ns;         /* next look */
	uint64_t warn_ns;         /* when the watchdog barks; 0: never (again) */
	uint64_t deaths;          /* job->deaths at the last look */
	uint64_t failed_ns;       /* when wait_lingered was first asked; 0: not yet */
	bool warning;             /* this look collects names */
	char names[WAIT_NAMES_BYTES];
};

void wait_begin(struct wait *wait, struct oriel_job *job, const char *call, const void *win);

/* 0: look at the condition again; WAIT_LOOK; or ORIEL_ERR_TIMEOUT with the text set. */
int wait_pause(struct wait *wait);

/* During a look: we wait for this peer. False if it is dead. */
bool wait_watch(struct wait *wait, struct peer *peer);

/*
 * During a look, once the call has failed because of one peer: whether it has gone on for LINGER_MS more for the sake of
 * the others. Then it is time to tell (E6).
 */
bool wait_lingered(struct wait *wait);

/* The look is over. */
void wait_looked(struct wait *wait);

#endif
