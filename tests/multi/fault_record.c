// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault_record.c - rule A21: ranks die while others apply what they have sent, while they wait for results,
 * and while they apply what others have sent
 *
 *   oriel-run -n N fault_record SEED    ranks 3 and up die, each at a moment of its own: A21_deaths_seed_SEED
 *
 * All send to the private memory of ranks 0 and 1, and to one victim each. An active message
 * changes COUNT elements by the same: where they differ, one was applied in part; an element has
 * two halves that are alike. The survivors find their memory whole at the end, lose none of their
 * own, and get the errors of dead targets within 5 s. A result is whole if active messages alone
 * change the memory. Ranks 0 and 1 change theirs themselves, too: there each element is whole.
 * Each survivor prints "told RANK". The board is not used by a rank that may die in it.
 */
#include "multi.h"

#include <complex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "told.h"

#define SURVIVORS 3
#define TARGETS 2
#define COUNT 100 /* one active message, not in its slot */
#define TOLD_NS told_limit_ns()
#define LIMIT_S 150

enum { FINISHED, SENT = FINISHED + SURVIVORS, DYING = SENT + SURVIVORS * TARGETS };

struct fault {
	struct multi m;
	oriel_win *win;
	uint8_t *memory;
	uint64_t moment;        /* seed of it */
	uint64_t sent[TARGETS]; /* operations to each that a flush has completed */
	multi_rest ones[COUNT], before[COUNT];
};

/* Returns whether each element is whole. */
static bool has_whole_elements(const multi_rest *list)
{
	for (int i = 0; i < COUNT; i++) {
		if (creall(list[i]) != cimagl(list[i]))
			return false;
	}
	return true;
}

static bool is_whole(const multi_rest *list)
{
	for (int i = 0; i < COUNT; i++) {
		if (creall(list[i]) != creall(list[0]))
			return false;
	}
	return has_whole_elements(list);
}

/* One operation, with a result or without. */
static int send_one(struct fault *f, int target, bool fetches)
{
	int rc;

	if (fetches)
		rc = oriel_get_accumulate(f->win, f->ones, f->before, COUNT, MULTI_REST, ORIEL_SUM, target, 0);
	else
		rc = oriel_accumulate(f->win, f->ones, COUNT, MULTI_REST, ORIEL_SUM, target, 0);
	return rc;
}

static void send_to_living(struct fault *f, int target, uint64_t choice)
{
	for (uint64_t i = 0; i <= choice % 4; i++, f->sent[target]++)
		CHECK_OK(&f->m, send_one(f, target, i == 3));
	CHECK_OK(&f->m, oriel_win_flush(f->win, target));
	if (choice % 4 == 3)
		CHECK(&f->m, has_whole_elements(f->before));
}

/* Checks that a result from a victim is whole, or the victim dead. */
static int send_to_victim(struct fault *f, int victim)
{
	int rc = send_one(f, victim, true);

	if (rc == 0)
		rc = send_one(f, victim, false);
	if (rc == 0)
		rc = oriel_win_flush(f->win, victim);
	CHECK(&f->m, rc == 0 || rc == ORIEL_ERR_PEER);
	CHECK(&f->m, rc || is_whole(f->before));
	return rc;
}

static void *die_at_random(void *arg)
{
	struct fault *f = arg;
	struct timespec t = { 0, (long)(multi_random(&f->moment) % 400000000) };

	nanosleep(&t, NULL); /* any moment is as good as another */
	multi_raise(&f->m, DYING + f->m.rank, 1);
	kill(getpid(), SIGKILL);
	return NULL;
}

/* The victim that this rank sends to. */
static int victim_of(const struct multi *m)
{
	return SURVIVORS + m->rank % (m->size - SURVIVORS);
}

static bool all_are_dying(struct multi *m)
{
	for (int rank = SURVIVORS; rank < m->size; rank++) {
		if (!multi_word(m, DYING + rank))
			return false;
	}
	return true;
}

static void run(struct fault *f, uint64_t seed)
{
	uint64_t state = seed * 1000 + (uint64_t)f->m.rank;
	bool is_victim = f->m.rank >= SURVIVORS, lost = false;
	pthread_t thread;

	f->moment = state + 500;
	if (is_victim)
		pthread_create(&thread, NULL, die_at_random, f);
	while (!multi_failed(&f->m) && (is_victim || !all_are_dying(&f->m))) {
		uint64_t choice = multi_random(&state);

		if (!lost && choice / 8 % 2)
			lost = send_to_victim(f, victim_of(&f->m)) != 0;
		send_to_living(f, (int)(choice / 4 % TARGETS), choice);
	}
}

/*
 * The target has died: the sender gets the error soon, and the other targets have what it has sent.
 */
static void victim_is_told(struct fault *f)
{
	uint64_t begun = now_ns();

	while (send_to_victim(f, victim_of(&f->m)) == 0 && now_ns() - begun <= TOLD_NS)
		;
	CHECK_RC(&f->m, ORIEL_ERR_PEER, oriel_win_flush(f->win, victim_of(&f->m)));
	CHECK(&f->m, now_ns() - begun <= TOLD_NS);
	for (int target = 0; target < TARGETS; target++) {
		send_to_living(f, target, 3);
		multi_raise(&f->m, SENT + f->m.rank * TARGETS + target, f->sent[target]);
	}
}

static void await_survivors(struct multi *m)
{
	multi_raise(m, FINISHED + m->rank, 1);
	for (int rank = 0; rank < SURVIVORS; rank++)
		multi_await(m, FINISHED + rank, 1);
}

/* At a target: nothing in part, and what survivors have sent; of victims some more. */
static void check_memory(struct fault *f)
{
	struct multi *m = &f->m;
	const multi_rest *here = (const multi_rest *)(const void *)f->memory;
	uint64_t sent = 0;

	for (int rank = 0; rank < SURVIVORS; rank++)
		sent += multi_word(m, SENT + rank * TARGETS + m->rank);
	CHECK(m, is_whole(here) && creall(here[0]) >= (double)sent);
}

static int leave(struct fault *f)
{
	struct multi *m = &f->m;
	oriel_job *job = m->job;

	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_unlock_all(f->win));
	await_survivors(m);
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_win_free(&f->win));
	if (m->rank < TARGETS)
		check_memory(f);
	CHECK_OK(m, oriel_group_free(&m->group));
	CHECK_RC(m, ORIEL_ERR_PEER, oriel_finalize(&job));
	if (multi_tell(m) == 0)
		printf("told %d\n", m->rank);
	free(f->memory);
	return multi_failed(m);
}

int main(int argc, char **argv)
{
	static struct fault f;

	if (argc != 2 || !multi_enter(&f.m, argv[1], LIMIT_S))
		return 2;
	f.memory = multi_alloc(sizeof(f.ones));
	memset(f.memory, 0, sizeof(f.ones));
	for (int i = 0; i < COUNT; i++)
		f.ones[i] = 1 + I;
	CHECK_OK(&f.m, oriel_win_create(f.memory, sizeof(f.ones), 1, NULL, f.m.group, &f.win));
	CHECK_OK(&f.m, oriel_win_lock_all(f.win, ORIEL_MODE_NOCHECK));
	multi_sync(&f.m);
	run(&f, strtoull(argv[1], NULL, 10));
	victim_is_told(&f);
	return leave(&f);
}
