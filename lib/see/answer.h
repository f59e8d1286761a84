// SPDX-License-Identifier: BSD-2-Clause
/*
 * answer.h - what a rank answers to one that waits for it (sync/question.h)
 *
 * Another process has written the answer: answer_is_sound checks all of it.
 */
#ifndef ORIEL_ANSWER_H
#define ORIEL_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "see/board.h"

#define ANSWER_VERSION 2
#define ANSWER_TEXT_BYTES 512

enum answer_fact {
	ANSWER_WINDOW = 1, /* the rank has the window */
	ANSWER_COUNTS = 2, /* for_asker, for_other and other are set */
	ANSWER_ANY = 3
};

/* Ranks are those of the job. */
struct rank_answer {
	uint32_t version;
	uint32_t facts;     /* enum answer_fact */
	uint64_t for_asker; /* how often it has done what the asker awaits; fences: for all */
	uint64_t for_other; /* as much, for the other rank that got most */
	int32_t other;      /* that rank, or -1 */
	uint32_t holder_count;
	int32_t holders[BOARD_HOLDERS]; /* CAUSE_LOCK: ranks that hold the lock */
	uint64_t waited_ms;
	struct board_wait wait; /* its longest wait; call is "": none */
};

/* What was asked. */
struct asked {
	int rank; /* of the job */
	enum board_cause cause;
	uint64_t count; /* how often the asker has done its part, or called fence */
};

/* Makes the answer's texts printable. Returns whether it is one of a job of that size. */
bool answer_is_sound(struct rank_answer *answer, int size);

/* Writes a sound answer as a clause about the rank; returns text. */
const char *answer_text(const struct rank_answer *answer, const struct asked *asked, char text[ANSWER_TEXT_BYTES]);

/*
 * Adds what the first of the named holders has answered about its own wait. NULL: it has not
 * answered.
 */
void answer_add_holder(const struct rank_answer *answer, const struct rank_answer *holder,
                       char text[ANSWER_TEXT_BYTES]);

#endif
