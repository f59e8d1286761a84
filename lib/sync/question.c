// SPDX-License-Identifier: BSD-2-Clause
/* See question.h. */
#include "sync/question.h"

#include <stdio.h>
#include <string.h>

#include "am/am_send.h"
#include "base/order.h"
#include "base/util.h"
#include "job/job.h"
#include "job/peer.h"
#include "sync/wait.h"

static uint64_t limit_ns(const struct oriel_job *job)
{
	return QUESTION_LIMIT_NS * job_timeout_scale(job);
}

/* Returns when to ask for an answer at the time limit. */
static uint64_t before_deadline(const struct wait *wait)
{
	uint64_t half = (uint64_t)wait->limit_ms * NS_PER_MS / 2, limit = limit_ns(wait->job);

	return wait->deadline_ns - (half < limit ? half : limit);
}

/* Sets when the wait asks: before its next report, unless it is too late. */
static void plan(struct wait *wait)
{
	uint64_t when = wait->deadline_ns ? before_deadline(wait) : 0, now = now_ns();

	if (wait->warn_ns && (when == 0 || wait->warn_ns < when))
		when = wait->warn_ns;
	wait->asking.when_ns = when >= now ? when : 0;
	wait->asking.planned = true;
}

/* Returns the peer to ask, or NULL: it must be connected. */
static struct peer *choose(const struct wait *wait)
{
	const struct wait_why *why = &wait->why;
	struct peer *peer = why->about.peer;

	if (why->cause == CAUSE_UNKNOWN || why->cause == CAUSE_SETUP || why->cause == CAUSE_SIGNAL)
		return NULL;
	if (!peer && wait->awaited.count > 0)
		peer = peer_find(wait->job, wait->awaited.ranks[0]);
	return peer && peer_is_up(peer) && peer->rank != wait->job->rank ? peer : NULL;
}

/* Returns whether no answer can come. */
static bool is_over(const struct question *question)
{
	return question->number == 0 || am_is_applied(question->peer, question->number) ||
	       state_load(&question->peer->state) == PEER_DEAD; /* pairs with rank_lost */
}

/* Returns whether the question was in this state, and is this thread's now. */
static bool take(struct question *question, enum question_state from)
{
	if (!state_change(&question->state, from, QUESTION_TAKEN))
		return false;
	full_fence(); /* pairs with the state_store of give: shows what the last owner has written */
	return true;
}

static void give(struct question *question)
{
	state_store(&question->state, is_over(question) ? QUESTION_FREE : QUESTION_LEFT); /* pairs with take */
}

static void ask(struct wait *wait, struct question *question, struct peer *peer, uint8_t hop)
{
	question->peer = peer;
	question->number = 0;
	question->answer[hop].version = 0;
	wait->asking.hop = hop;
	wait->asking.begun_ns = now_ns();
}

/*
 * Makes a question that is over this wait's. A peer that has not answered this question is asked
 * none. Returns whether the wait needs no other question.
 */
static bool try_question(struct wait *wait, struct peer *peer, uint32_t i, enum question_state from)
{
	struct question *question = &wait->job->questions[i];

	if (!take(question, from))
		return false;
	if (is_over(question)) {
		ask(wait, question, peer, 0);
		wait->asking.slot = (uint8_t)(i + 1);
		wait->asking.state = ASKING_WAITS;
		wait->leaves_traces = true;
		return true;
	}
	if (question->peer == peer)
		wait->asking.state = ASKING_SILENT;
	give(question);
	return wait->asking.state == ASKING_SILENT;
}

static bool try_questions(struct wait *wait, struct peer *peer, enum question_state from)
{
	for (uint32_t i = 0; i < QUESTIONS_MAX; i++) {
		if (try_question(wait, peer, i, from))
			return true;
	}
	return false;
}

static void begin(struct wait *wait)
{
	struct peer *peer = choose(wait);

	wait->asking.when_ns = 0;
	if (!peer)
		return;
	wait->asked = (struct asked){ peer->rank, wait->why.cause, wait->why.about.count };
	if (!try_questions(wait, peer, QUESTION_LEFT))
		try_questions(wait, peer, QUESTION_FREE);
}

/* Sends the question if there is room. Returns false if it cannot be sent. */
static bool send_question(const struct wait *wait, struct question *question)
{
	struct am_message message;
	struct am_sent sent;
	int rc;

	memset(&message, 0, sizeof(message));
	message.am.call = AM_QUESTION;
	message.am.count = (uint16_t)(wait->asking.hop ? CAUSE_UNKNOWN : wait->asked.cause);
	message.am.window_check = wait->asking.hop ? 0 : wait->why.about.window_check;
	message.am.disp_bytes = (uint64_t)wait->job->rank;
	message.result = &question->answer[wait->asking.hop];
	message.result_bytes = sizeof(question->answer[0]);
	rc = am_send_at_once(question->peer, &message, &sent);
	if (rc == 1)
		question->number = sent.number;
	return rc >= 0;
}

static bool has_answer(const struct wait *wait, struct question *question)
{
	return question->number && am_progress(question->peer, question->number) &&
	       answer_is_sound(&question->answer[wait->asking.hop], wait->job->size);
}

static enum asking_state progress(const struct wait *wait, struct question *question)
{
	if (question->number == 0 && (!peer_is_up(question->peer) || !send_question(wait, question)))
		return ASKING_SILENT;
	if (has_answer(wait, question))
		return ASKING_ANSWERED;
	return now_ns() - wait->asking.begun_ns > limit_ns(wait->job) ? ASKING_SILENT : ASKING_WAITS;
}

/* Asks the holder of the lock awaited. Returns false if there is none that can be asked. */
static bool ask_holder(struct wait *wait, struct question *question)
{
	const struct rank_answer *answer = &question->answer[0];
	struct peer *holder;

	if (wait->asking.hop || wait->asked.cause != CAUSE_LOCK || answer->holder_count == 0 ||
	    answer->holders[0] == wait->asked.rank)
		return false;
	holder = peer_find(wait->job, answer->holders[0]);
	if (!holder || !peer_is_up(holder) || holder->rank == wait->job->rank)
		return false;
	ask(wait, question, holder, 1);
	return true;
}

static struct question *own_question(const struct wait *wait)
{
	return &wait->job->questions[wait->asking.slot - 1];
}

bool question_turn(struct wait *wait)
{
	struct asking *asking = &wait->asking;

	if (!asking->planned)
		plan(wait);
	if (asking->when_ns && now_ns() >= asking->when_ns)
		begin(wait);
	if (asking->state == ASKING_WAITS)
		asking->state = (uint8_t)progress(wait, own_question(wait));
	if (asking->state == ASKING_ANSWERED && ask_holder(wait, own_question(wait)))
		asking->state = ASKING_WAITS;
	return asking->state == ASKING_WAITS;
}

bool question_is_settled(const struct wait *wait)
{
	return wait->asking.state >= ASKING_ANSWERED || wait->asking.hop;
}

const char *question_text(const struct wait *wait, char text[ANSWER_TEXT_BYTES])
{
	const struct question *question;

	if (!question_is_settled(wait))
		return "";
	if (wait->asking.state == ASKING_SILENT && wait->asking.hop == 0) {
		snprintf(text, ANSWER_TEXT_BYTES, "rank %d does not answer: it is stopped or unreachable", wait->asked.rank);
		return text;
	}
	question = own_question(wait);
	answer_text(&question->answer[0], &wait->asked, text);
	if (wait->asking.hop && wait->asking.state != ASKING_WAITS)
		answer_add_holder(&question->answer[0], wait->asking.state == ASKING_ANSWERED ? &question->answer[1] : NULL, text);
	return text;
}

void question_end(struct wait *wait)
{
	if (wait->asking.slot)
		give(own_question(wait));
	wait->asking.slot = wait->asking.hop = 0;
	wait->asking.planned = false;
	wait->asking.state = ASKING_NOT;
}
