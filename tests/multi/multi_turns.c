// SPDX-License-Identifier: BSD-2-Clause
/*
 * multi_turns.c - rule L10: the rank that asks for a lock first gets it first, among as many ranks
 * as the job has
 *
 * The words of the lock at rank 0, of which all want the lock, say which ranks have asked
 * (win/lock_words.c): tickets drawn, and members that wait. Counts in the window say how often it
 * has been held. Nothing depends on time.
 */
#include "multi.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/order.h"
#include "job/job.h"
#include "job/lock_table.h"
#include "win/win.h"

#define ROUNDS 40

enum { ASKED }; /* words of the board, this one and that of each rank behind it */

/* The words of this rank's own lock. */
static struct lock_words *own_words(struct multi *m, const struct multi_window *w)
{
	struct lock_words *words;

	pthread_mutex_lock(&m->job->lock);
	words = lock_table_words(m->job, w->win->slot);
	pthread_mutex_unlock(&m->job->lock);
	return words;
}

/* That of another rank, which has asked for it once at least. */
static const struct lock_member *member_of(struct multi *m, struct lock_words *words, int rank)
{
	uint32_t neighbour = peer_find(m->job, rank)->neighbour;
	const struct lock_member *member;

	pthread_mutex_lock(&m->job->lock);
	member = lock_table_member(words, neighbour);
	pthread_mutex_unlock(&m->job->lock);
	return member;
}

/* The ranks but 0, mixed: those in front ask first. */
static void mix(int order[], int count, uint64_t seed)
{
	for (int i = 0; i < count; i++) {
		int at = (int)(multi_random(&seed) % (unsigned)(i + 1));

		order[i] = order[at];
		order[at] = i + 1;
	}
}

/* Until so many tickets have been drawn that are not served yet; that of the holder is one of them. */
static void await_tickets(const struct lock_words *words, int count)
{
	while (flag_load(&words->header.next) - flag_load(&words->header.serving) < (uint64_t)count)
		sched_yield(); /* pairs with the fetch-and-add of a writer */
}

/* Until so many readers wait for the holder. */
static void await_readers(struct multi *m, struct lock_words *words, int count)
{
	int waiting;

	do {
		sched_yield();
		waiting = 0;
		pthread_mutex_lock(&m->job->lock);
		for (uint32_t i = 0; i < (uint32_t)m->size; i++) {
			const struct lock_member *member = lock_table_member(words, i);

			waiting += member && (flag_load(&member->state) & 0xff) == LOCK_WAIT; /* pairs with lock_write_state */
		}
		pthread_mutex_unlock(&m->job->lock);
	} while (waiting < count);
}

/* Rank 0, which holds its lock: the others ask for it, each when the one before is seen to wait. */
static void let_ask(struct multi *m, const struct multi_window *w, int round, int writers)
{
	struct lock_words *words = own_words(m, w);
	int others = m->size - 1;

	CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
	for (int i = 0; i < others; i++) {
		multi_raise(m, ASKED, (uint64_t)(round * others + i + 1));
		if (i < writers)
			await_tickets(words, i + 2);
		else
			await_readers(m, words, i + 1 - writers);
	}
	CHECK_OK(m, oriel_win_unlock(w->win, 0));
}

/* How many have held the lock before. */
static uint64_t ask(struct multi *m, const struct multi_window *w, enum oriel_lock_type type)
{
	uint64_t one = 1, before = 0;

	CHECK_OK(m, oriel_win_lock(w->win, type, 0, 0));
	CHECK_OK(m, oriel_fetch_and_op(w->win, &one, &before, ORIEL_UINT64, ORIEL_SUM, 0, 0));
	CHECK_OK(m, oriel_win_unlock(w->win, 0));
	return before;
}

/* The first `writers` of those in order ask exclusively, the rest after them shared. */
static void ask_in_turn(struct multi *m, const struct multi_window *w, int round, const int order[], int writers)
{
	int others = m->size - 1, readers = others - writers, place = 0;
	uint64_t before, first = (uint64_t)(round * others);

	while (order[place] != m->rank)
		place++;
	multi_await(m, ASKED, first + (uint64_t)place + 1);
	before = ask(m, w, place < writers ? ORIEL_LOCK_EXCLUSIVE : ORIEL_LOCK_SHARED) - first;
	if (place < writers && before != (uint64_t)(readers + place))
		multi_fail(m, __FILE__, __LINE__, "writer %d of %d has held it after %d others, %d of them readers", place,
		           writers, (int)before, readers);
	else if (place >= writers && before >= (uint64_t)readers)
		multi_fail(m, __FILE__, __LINE__, "one of %d readers has held it after %d others", readers, (int)before);
}

/*
 * Some rounds, each in another order, in which so many of the others ask exclusively, and the rest
 * after them shared.
 */
static void turns(struct multi *m, int writers)
{
	struct multi_window w;
	int order[MULTI_RANKS_MAX];
	uint64_t seed = multi_seed(m);

	multi_window_open(m, &w, sizeof(uint64_t));
	multi_warm(m, w.win);
	for (int round = 0; round < 5; round++) {
		mix(order, m->size - 1, seed + (uint64_t)round);
		if (m->rank == 0)
			let_ask(m, &w, round, writers);
		else
			ask_in_turn(m, &w, round, order, writers);
		multi_sync(m);
	}
	multi_window_close(m, &w);
}

/* L10: writers, one after the other. */
static void writers_in_the_order_of_asking(struct multi *m)
{
	turns(m, m->size - 1);
}

/* L10: readers wait for the one writer that is in, not for those that asked before them. */
static void readers_wait_for_one_writer(struct multi *m)
{
	turns(m, (m->size - 1) / 2);
}

/*
 * How often each rank has held it, as rank 0 sees it; what a look brings is no newer than what the
 * next one does.
 */
static void look(const struct multi *m, const struct multi_window *w, uint64_t held[])
{
	for (int i = 0; i < m->size; i++)
		held[i] =
			flag_load((const uint64_t *)(const void *)w->base + i); /* pairs with the puts of ask_again_and_again */
}

/* A rank; once it is seen in the queue, how often each had held the lock then. */
struct queued {
	uint64_t turn; /* the hold that it waits for; 0: none */
	uint64_t held[MULTI_RANKS_MAX];
	const struct lock_member *member;
};

static void look_for_asking(struct multi *m, const struct multi_window *w, int rank, struct queued *queued)
{
	uint64_t turn = multi_word(m, ASKED + rank);

	if ((flag_load(&queued->member->state) & 0xff) != LOCK_TICKET) /* pairs with lock_write_state */
		return;
	look(m, w, queued->held);
	if (queued->held[rank] + 1 == turn)
		queued->turn = turn;
}

/* While it waits no other holds the lock twice. */
static void look_for_others(struct multi *m, const struct multi_window *w, int rank, struct queued *queued)
{
	uint64_t held[MULTI_RANKS_MAX], own;

	look(m, w, held);
	own = flag_load((const uint64_t *)(const void *)w->base + rank); /* after the others' */
	for (int i = 0; own < queued->turn && i < m->size; i++) {
		if (i != rank && held[i] > queued->held[i] + 1 && !multi_failed(m))
			multi_fail(m, __FILE__, __LINE__, "rank %d has held it %d times while rank %d waited", i,
			           (int)(held[i] - queued->held[i]), rank);
	}
	if (own >= queued->turn)
		queued->turn = 0;
}

/* Rank 0, until all have held the lock as often as they want. */
static void watch(struct multi *m, const struct multi_window *w)
{
	static struct queued queued[MULTI_RANKS_MAX];
	struct lock_words *words = own_words(m, w);

	memset(queued, 0, sizeof(queued));
	for (int i = 1; i < m->size; i++)
		queued[i].member = member_of(m, words, i);
	for (int done = 0; done < m->size - 1; sched_yield()) {
		done = 0;
		for (int i = 1; i < m->size; i++) {
			if (queued[i].turn == 0)
				look_for_asking(m, w, i, &queued[i]);
			else
				look_for_others(m, w, i, &queued[i]);
			done += flag_load((const uint64_t *)(const void *)w->base + i) == ROUNDS;
		}
	}
}

static void ask_again_and_again(struct multi *m, const struct multi_window *w)
{
	for (uint64_t turn = 1; turn <= ROUNDS; turn++) {
		multi_raise(m, ASKED + m->rank, turn);
		CHECK_OK(m, oriel_win_lock(w->win, ORIEL_LOCK_EXCLUSIVE, 0, 0));
		CHECK_OK(m, oriel_put(w->win, &turn, sizeof(turn), 0, (size_t)m->rank * sizeof(turn)));
		CHECK_OK(m, oriel_win_unlock(w->win, 0));
	}
}

/* L10: all others want it all the time, and rank 0 looks on. It does not see all, but nothing wrongly. */
static void nobody_holds_it_twice_while_another_waits(struct multi *m)
{
	struct multi_window w;

	multi_window_open(m, &w, (size_t)m->size * sizeof(uint64_t));
	CHECK_OK(m, oriel_win_lock(w.win, ORIEL_LOCK_SHARED, 0, 0));
	CHECK_OK(m, oriel_win_unlock(w.win, 0));
	multi_sync(m);
	if (m->rank == 0)
		watch(m, &w);
	else
		ask_again_and_again(m, &w);
	multi_sync(m);
	multi_window_close(m, &w);
}

static const struct multi_case cases[] = {
	{ "L10_writers_in_the_order_of_asking", 0, writers_in_the_order_of_asking },
	{ "L10_readers_wait_for_one_writer", 0, readers_wait_for_one_writer },
	{ "L10_nobody_holds_it_twice_while_another_waits", 0, nobody_holds_it_twice_while_another_waits },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = {
		.name = "multi_turns",
		.cases = cases,
		.case_count = sizeof(cases) / sizeof(cases[0]),
	};

	return multi_main(argc, argv, &program);
}
