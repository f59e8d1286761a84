// SPDX-License-Identifier: BSD-2-Clause
/* See answering.h. */
#include "win/answering.h"

#include "base/order.h"
#include "base/util.h"
#include "job/job.h"
#include "job/lock_table.h"
#include "win/blocked.h"
#include "win/win.h"

/* A question, checked. */
struct question_asked {
	struct oriel_job *job;
	struct oriel_win *win; /* NULL: none, or not here */
	int asker;             /* its rank in the job */
	enum board_cause cause;
};

static struct oriel_win *find_window(const struct oriel_job *job, uint64_t check)
{
	for (uint32_t i = 0; check && i < job->am.window_capacity; i++) {
		struct oriel_win *win = job->am.windows[i];

		if (win && window_check(win->id) == check)
			return win;
	}
	return NULL;
}

static void add_wait(const struct oriel_job *job, struct rank_answer *answer)
{
	uint64_t now = now_ns();

	if (!board_longest(&job->board, &answer->wait))
		return;
	answer->waited_ms = now > answer->wait.since_ns ? (now - answer->wait.since_ns) / NS_PER_MS : 0;
}

/* Counts posts, or completes, for one member. The caller holds win->lock. */
static void count_link(const struct question_asked *asked, const struct link *link, struct rank_answer *answer)
{
	uint64_t count = asked->cause == CAUSE_POST ? link->posted_sent : link->completed_sent;
	int rank = win_world_rank(asked->win, link->rank);

	if (rank == asked->asker) {
		answer->for_asker = count;
	} else if (count > answer->for_other) {
		answer->for_other = count;
		answer->other = rank;
	}
}

/* The caller holds win->lock. */
static void count(const struct question_asked *asked, struct rank_answer *answer)
{
	const struct links *links = &asked->win->links;

	answer->facts |= ANSWER_COUNTS;
	if (asked->cause == CAUSE_FENCE)
		answer->for_asker = asked->win->fence.number;
	for (uint32_t i = 0; asked->cause != CAUSE_FENCE && i < links->capacity; i++) {
		if (links->table[i])
			count_link(asked, links->table[i], answer);
	}
}

static void add_counts(const struct question_asked *asked, struct rank_answer *answer)
{
	if (!owned_lock_try(&asked->win->lock))
		return;
	count(asked, answer);
	owned_lock_give(&asked->win->lock);
}

/* Returns whether the peer holds this rank's lock. The caller holds job->lock. */
static bool holds(struct lock_words *words, const struct peer *peer)
{
	const struct lock_member *member = lock_table_member(words, peer->neighbour);

	return member && blocked_is_holder(flag_load(&member->state), flag_load(&member->ticket),
	                                   flag_load(&words->header.serving)); /* pair as in note_holders */
}

static void add_holders(const struct question_asked *asked, struct rank_answer *answer)
{
	struct lock_words *words;
	uint32_t at = 0;
	bool is_holder;

	for (struct peer *peer = peer_next(asked->job, &at); peer; peer = peer_next(asked->job, &at)) {
		pthread_mutex_lock(&asked->job->lock);
		words = lock_table_words(asked->job, asked->win->slot);
		is_holder = !peer->is_atomics_peer && peer->rank != asked->asker && holds(words, peer);
		pthread_mutex_unlock(&asked->job->lock);
		if (is_holder && answer->holder_count < BOARD_HOLDERS)
			answer->holders[answer->holder_count++] = peer->rank;
	}
}

static void add_window(const struct question_asked *asked, struct rank_answer *answer)
{
	answer->facts |= ANSWER_WINDOW;
	if (asked->cause == CAUSE_LOCK)
		add_holders(asked, answer);
	else if (asked->cause == CAUSE_POST || asked->cause == CAUSE_COMPLETE || asked->cause == CAUSE_FENCE)
		add_counts(asked, answer);
}

int answer_question(struct oriel_job *job, const struct am *am, struct rank_answer *answer)
{
	struct question_asked asked = { job, find_window(job, am->window_check), (int)am->disp_bytes,
		                            (enum board_cause)am->count };

	if (am->wants_result != 1 || am->data_bytes != 0 || am->disp_bytes >= (uint64_t)job->size ||
	    am->count >= CAUSE_COUNT)
		return -AM_UNKNOWN;
	*answer = (struct rank_answer){ .version = ANSWER_VERSION, .other = -1 };
	add_wait(job, answer);
	if (asked.win)
		add_window(&asked, answer);
	return sizeof(*answer);
}
