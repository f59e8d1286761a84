// SPDX-License-Identifier: BSD-2-Clause
/*
 * question.h - a wait asks an awaited rank why it does not do what is awaited
 *
 * DESIGN NOTES
 *
 * The question is an active message (AM_QUESTION), which the service thread answers too. A wait's
 * looks send it and take the answer, before the watchdog reports and before the time limit, and
 * never wait themselves. A rank that has not answered in QUESTION_LIMIT_NS counts as stopped or
 * unreachable.
 *
 * If the answer names the holder of the awaited lock, the same question goes to that rank.
 *
 * An answer may come after its wait has ended. So questions belong to the job: one whose wait has
 * ended is left until its answer comes, and a wait that gets none reports without an answer.
 */
#ifndef ORIEL_QUESTION_H
#define ORIEL_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "see/answer.h"

struct peer;
struct wait;

#define QUESTION_LIMIT_NS (1000 * UINT64_C(1000000)) /* longer with job_timeout_scale */

#define QUESTIONS_MAX 4
#define HOPS_MAX 2 /* the awaited rank, and the holder of its lock */

enum question_state { QUESTION_FREE, QUESTION_TAKEN, QUESTION_LEFT };

/* A question of a job. The thread that has changed `state` to QUESTION_TAKEN owns the rest. */
struct question {
	uint32_t state;    /* enum question_state; state_change, state_store */
	struct peer *peer; /* the rank that is asked */
	uint64_t number;   /* of the message; 0: not sent yet */
	struct rank_answer answer[HOPS_MAX];
};

enum asking_state { ASKING_NOT, ASKING_WAITS, ASKING_ANSWERED, ASKING_SILENT };

/* The part of a wait. What it asks is in wait->asked. */
struct asking {
	uint8_t state;     /* enum asking_state; of the last hop */
	bool planned;      /* when_ns is set */
	uint8_t slot;      /* of the job's questions, + 1: it is this wait's; 0: none */
	uint8_t hop;       /* 1: the holder of the lock is asked */
	uint64_t when_ns;  /* when it asks; 0: never (again) */
	uint64_t begun_ns; /* when it has asked, last */
};

/* In a look, after its watch: asks in time, and takes the answer. Returns whether one may come. */
bool question_turn(struct wait *wait);

/* Returns whether there is an answer, or none in time. */
bool question_is_settled(const struct wait *wait);

/* Writes the answer, or that there is none, as a clause; returns text. Not settled: "". */
const char *question_text(const struct wait *wait, char text[ANSWER_TEXT_BYTES]);

/* Drops this wait's question; a later look may ask again. */
void question_end(struct wait *wait);

#endif
