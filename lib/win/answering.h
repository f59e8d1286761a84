// SPDX-License-Identifier: BSD-2-Clause
/* answering.h - answers the questions of ranks that wait for this one (sync/question.h) */
#ifndef ORIEL_ANSWERING_H
#define ORIEL_ANSWERING_H

#include "see/answer.h"
#include "verbs/layout.h"

struct oriel_job;

/*
 * Answers an AM_QUESTION, without what another thread is changing. Returns the answer's size, or a
 * negative enum am_verdict. The caller holds am->lock.
 */
int answer_question(struct oriel_job *job, const struct am *am, struct rank_answer *answer);

#endif
