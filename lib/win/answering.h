// SPDX-License-Identifier: BSD-2-Clause
/* answering.h - answers the questions of ranks that wait for this one (sync/question.h) */
#ifndef ORIEL_ANSWERING_H
#define ORIEL_ANSWERING_H

#include "see/answer.h"
#include "verbs/layout.h"

struct oriel_job;

/*
 * Answers an AM_QUESTION. Returns the size of the answer, or a negative enum am_verdict. Waits for
 * nothing: what another thread is changing is left out. The caller holds am->lock.
 */
int answer_question(struct oriel_job *job, const struct am *am, struct rank_answer *answer);

#endif
