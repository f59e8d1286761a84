// SPDX-License-Identifier: BSD-2-Clause
/* fake_scenario.c - see fake_scenario.h. */
#include "fake_scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_malloc.h"

#define SMALL_BYTES 24
#define COPIED_BYTES 3000 /* through the copy ring */
#define LARGE_BYTES 20000 /* registered for the epoch */
#define PIECE_BYTES 40
#define PIECES 3

/* The layout of each rank's window. */
struct layout {
	uint8_t small[SMALL_BYTES];
	uint8_t copied[COPIED_BYTES];
	uint8_t large[LARGE_BYTES];
	uint8_t pieces[PIECES][2 * PIECE_BYTES];
	uint8_t fenced[SMALL_BYTES];
	uint8_t kept[LARGE_BYTES]; /* read by the others, written by none */
};

struct state {
	struct rank *rank;
	oriel_group *world;
	oriel_group *right;
	oriel_group *left;
	oriel_win *win;
	oriel_mem *mem;
	struct layout window;
	struct layout mine; /* origin memory */
	struct layout got;
};

#define CALL(state, call) ((state)->rank->step = #call, rank_note((state)->rank, #call, call))

/* After ORIEL_ERR_MEMORY nothing has changed: the call can be made again. */
#define AGAIN(state, call) \
	(((state)->rank->step = #call, is_retried((state)->rank, #call, call)) ? CALL(state, call) : (state)->rank->last)

/* Whether the call is to be repeated; otherwise its result is entered. */
static bool is_retried(struct rank *rank, const char *call, int rc)
{
	if (rc == ORIEL_ERR_MEMORY) {
		rank->retried++;
		return true;
	}
	rank->last = rank_note(rank, call, rc);
	return false;
}

/* Byte i of what a rank writes. */
static void fill(void *bytes, size_t size_bytes, int rank, int seed)
{
	for (size_t i = 0; i < size_bytes; i++)
		((uint8_t *)bytes)[i] = (uint8_t)((size_t)rank * 37 + (size_t)seed * 11 + i * 7 + i / 256);
}

static void note_difference(struct rank *rank, const uint8_t *got, const uint8_t *wanted, size_t size_bytes)
{
	size_t at = 0;

	while (got[at] == wanted[at])
		at++;
	snprintf(rank->wrong_text, sizeof(rank->wrong_text), " (after %s: byte %zu of %zu is %u, not %u)",
	         rank->step ? rank->step : "?", at, size_bytes, got[at], wanted[at]);
}

void scenario_compare(struct rank *rank, const void *got, const void *wanted, size_t size_bytes)
{
	if (rank->errors != 0 || memcmp(got, wanted, size_bytes) == 0)
		return;
	if (rank->wrong++ == 0)
		note_difference(rank, got, wanted, size_bytes);
}

static void make_groups(struct state *state)
{
	int rank = state->rank->rank, size = state->rank->size;

	if (CALL(state, oriel_group_world(state->rank->job, &state->world)))
		return;
	CALL(state, oriel_group_incl(state->world, 1, (int[]){ (rank + 1) % size }, &state->right));
	CALL(state, oriel_group_incl(state->world, 1, (int[]){ (rank + size - 1) % size }, &state->left));
}

static void put_to_right(struct state *state, int right)
{
	struct oriel_origin_piece origin[PIECES];
	struct oriel_target_piece target[PIECES];
	struct layout *mine = &state->mine;

	for (int i = 0; i < PIECES; i++) {
		origin[i] = (struct oriel_origin_piece){ mine->pieces[i], PIECE_BYTES };
		target[i].disp = offsetof(struct layout, pieces) + (size_t)i * 2 * PIECE_BYTES;
		target[i].size_bytes = PIECE_BYTES;
	}
	AGAIN(state, oriel_put(state->win, mine->small, SMALL_BYTES, right, offsetof(struct layout, small)));
	AGAIN(state, oriel_put(state->win, mine->copied, COPIED_BYTES, right, offsetof(struct layout, copied)));
	AGAIN(state, oriel_put(state->win, mine->large, LARGE_BYTES, right, offsetof(struct layout, large)));
	AGAIN(state, oriel_putv(state->win, origin, PIECES, right, target, PIECES));
	AGAIN(state, oriel_get(state->win, state->got.kept, LARGE_BYTES, right, offsetof(struct layout, kept)));
	AGAIN(state, oriel_get(state->win, state->got.small, SMALL_BYTES, right, offsetof(struct layout, kept)));
}

static void check_exchange(struct state *state, int left, int right)
{
	struct layout wanted;

	fill(wanted.small, SMALL_BYTES, left, 1);
	fill(wanted.copied, COPIED_BYTES, left, 2);
	fill(wanted.large, LARGE_BYTES, left, 3);
	fill(wanted.kept, LARGE_BYTES, right, 9);
	scenario_compare(state->rank, state->window.small, wanted.small, SMALL_BYTES);
	scenario_compare(state->rank, state->window.copied, wanted.copied, COPIED_BYTES);
	scenario_compare(state->rank, state->window.large, wanted.large, LARGE_BYTES);
	scenario_compare(state->rank, state->got.kept, wanted.kept, LARGE_BYTES);
	scenario_compare(state->rank, state->got.small, wanted.kept, SMALL_BYTES);
	for (int i = 0; i < PIECES; i++) {
		fill(wanted.pieces[i], PIECE_BYTES, left, 4 + i);
		scenario_compare(state->rank, state->window.pieces[i], wanted.pieces[i], PIECE_BYTES);
	}
}

/* Post to the left, access the right: in a ring no rank can wait for itself. */
static void exchange(struct state *state)
{
	int size = state->rank->size, right = (state->rank->rank + 1) % size, left = (state->rank->rank + size - 1) % size;
	int posted, started;

	posted = AGAIN(state, oriel_win_post(state->win, state->left, 0));
	started = AGAIN(state, oriel_win_start(state->win, state->right, 0));
	if (started == 0)
		put_to_right(state, right);
	if (started == 0)
		AGAIN(state, oriel_win_complete(state->win));
	if (posted == 0)
		AGAIN(state, oriel_win_wait(state->win));
	check_exchange(state, left, right);
}

static void fences(struct state *state)
{
	int size = state->rank->size, right = (state->rank->rank + 1) % size, left = (state->rank->rank + size - 1) % size;
	uint8_t wanted[SMALL_BYTES];
	int flushed = 1;

	if (AGAIN(state, oriel_win_fence(state->win, ORIEL_MODE_NOPRECEDE)) == 0) {
		AGAIN(state, oriel_put(state->win, state->mine.fenced, SMALL_BYTES, right, offsetof(struct layout, fenced)));
		flushed = AGAIN(state, oriel_win_flush(state->win, ORIEL_RANK_ALL));
	}
	AGAIN(state, oriel_win_fence(state->win, ORIEL_MODE_NOSUCCEED));
	fill(wanted, SMALL_BYTES, left, 8);
	if (flushed == 0)
		scenario_compare(state->rank, state->window.fenced, wanted, SMALL_BYTES);
}

/* Without groups and window there is nothing to do: as programs do, exit; the launcher tells the others. */
static void give_up(struct state *state)
{
	fake_world_ended(state->rank->world, state->rank->rank, "exited with status 1");
}

static void use_window(struct state *state)
{
	if (CALL(state, oriel_win_create(&state->window, sizeof(state->window), 1, NULL, state->world, &state->win))) {
		give_up(state);
		return;
	}
	exchange(state);
	if (AGAIN(state, oriel_mem_register(state->rank->job, &state->mine, sizeof(state->mine), &state->mem)))
		state->mem = NULL;
	exchange(state);
	fences(state);
	if (state->mem)
		AGAIN(state, oriel_mem_deregister(&state->mem));
	AGAIN(state, oriel_win_free(&state->win));
}

static void fill_in(struct state *state)
{
	int rank = state->rank->rank;

	fill(state->mine.small, SMALL_BYTES, rank, 1);
	fill(state->mine.copied, COPIED_BYTES, rank, 2);
	fill(state->mine.large, LARGE_BYTES, rank, 3);
	for (int i = 0; i < PIECES; i++)
		fill(state->mine.pieces[i], PIECE_BYTES, rank, 4 + i);
	fill(state->mine.fenced, SMALL_BYTES, rank, 8);
	fill(state->window.kept, LARGE_BYTES, rank, 9);
}

static void leave(struct state *state)
{
	if (state->right)
		oriel_group_free(&state->right);
	if (state->left)
		oriel_group_free(&state->left);
	if (state->world)
		oriel_group_free(&state->world);
	CALL(state, oriel_finalize(&state->rank->job));
}

/* Runs the scenario for a rank that has joined. */
static void run(struct rank *rank)
{
	struct state *state = calloc(1, sizeof(*state));

	state->rank = rank;
	make_groups(state);
	fill_in(state);
	if (rank->errors == 0)
		use_window(state);
	else
		give_up(state);
	leave(state);
	free(state);
}

void scenario(struct rank *rank)
{
	rank->step = "job_open";
	if (rank_note(rank, "job_open", rank_join(rank, rank->arg)) == 0)
		run(rank);
}

void scenario_on_nodes(struct rank *rank)
{
	rank->step = "job_open";
	if (rank_join_on(rank, rank->rank < 2 ? "a" : "b") == 0)
		run(rank);
}

/*
 * Passive target, of two ranks. Each checks what it has written by reading it, so no rank needs to
 * know how the other fared.
 */

#define NUMBERS 4

struct passive {
	struct rank *rank;
	oriel_group *world;
	oriel_win *win;
	oriel_win *dynamic;
	struct {
		uint64_t number[2][NUMBERS]; /* of either rank */
		uint8_t part[2][COPIED_BYTES];
	} window;
	uint8_t attached[COPIED_BYTES];
	uint8_t mine[COPIED_BYTES];
	uint8_t got[COPIED_BYTES];
};

static uint8_t *attached_at[2]; /* exchanged without the library; the ranks are threads */
static bool attached_used[2];   /* the other rank is at it */

static void put_and_get(struct passive *state, oriel_win *win, size_t disp)
{
	int other = 1 - state->rank->rank;

	memset(state->got, 0, COPIED_BYTES);
	AGAIN(state, oriel_put(win, state->mine, COPIED_BYTES, other, disp));
	AGAIN(state, oriel_win_flush(win, other));
	AGAIN(state, oriel_get(win, state->got, COPIED_BYTES, other, disp));
	AGAIN(state, oriel_win_flush(win, ORIEL_RANK_ALL));
	scenario_compare(state->rank, state->got, state->mine, COPIED_BYTES);
}

/*
 * Each adds to numbers of its own: 1 to the first, and 2 to all; old values tell whether it has
 * been done once.
 */
static void add(struct passive *state, uint64_t times)
{
	const uint64_t one = 1, twos[NUMBERS] = { 2, 2, 2, 2 }, wanted = 3 * times;
	uint64_t old = 0;
	size_t disp = (size_t)state->rank->rank * sizeof(state->window.number[0]);
	int other = 1 - state->rank->rank;

	AGAIN(state, oriel_fetch_and_op(state->win, &one, &old, ORIEL_UINT64, ORIEL_SUM, other, disp));
	AGAIN(state, oriel_accumulate(state->win, twos, NUMBERS, ORIEL_UINT64, ORIEL_SUM, other, disp));
	AGAIN(state, oriel_win_flush(state->win, other));
	scenario_compare(state->rank, &old, &wanted, sizeof(old));
}

static void lock_epochs(struct passive *state)
{
	static const enum oriel_lock_type types[] = { ORIEL_LOCK_EXCLUSIVE, ORIEL_LOCK_SHARED };
	int other = 1 - state->rank->rank;
	size_t disp = sizeof(state->window.number) + (size_t)state->rank->rank * COPIED_BYTES;

	for (uint64_t i = 0; i < 2; i++) {
		if (AGAIN(state, oriel_win_lock(state->win, types[i], other, 0)))
			continue;
		put_and_get(state, state->win, disp);
		add(state, i);
		AGAIN(state, oriel_win_unlock(state->win, other));
	}
	if (AGAIN(state, oriel_win_lock_all(state->win, 0)))
		return;
	AGAIN(state, oriel_put(state->win, state->mine, SMALL_BYTES, other, disp));
	AGAIN(state, oriel_signal(state->win, other, 1, 1, ORIEL_SIGNAL_ADD));
	AGAIN(state, oriel_win_unlock_all(state->win));
}

static void use_attached(struct passive *state, int owner)
{
	uint8_t *there;

	__atomic_store_n(&attached_used[owner], true, __ATOMIC_SEQ_CST);
	there = __atomic_load_n(&attached_at[owner], __ATOMIC_SEQ_CST);
	if (there && AGAIN(state, oriel_win_lock(state->dynamic, ORIEL_LOCK_SHARED, owner, 0)) == 0) {
		put_and_get(state, state->dynamic, (size_t)(uintptr_t)there);
		AGAIN(state, oriel_win_unlock(state->dynamic, owner));
	}
	__atomic_store_n(&attached_used[owner], false, __ATOMIC_SEQ_CST);
}

/*
 * A rank whose fence has failed may come here while the other is at the memory and knows of
 * nothing. That one is waited for, unless it waits for us.
 */
static bool take_back(int rank)
{
	bool attached = __atomic_exchange_n(&attached_at[rank], NULL, __ATOMIC_SEQ_CST);

	for (int i = 0; i < 10000 && __atomic_load_n(&attached_used[rank], __ATOMIC_SEQ_CST); i++)
		usleep(1000);
	return attached;
}

static void use_dynamic(struct passive *state)
{
	int rank = state->rank->rank;

	if (CALL(state, oriel_win_create_dynamic(NULL, state->world, &state->dynamic))) {
		fake_world_ended(state->rank->world, rank, "exited with status 1");
		return;
	}
	if (AGAIN(state, oriel_win_attach(state->dynamic, state->attached, COPIED_BYTES)) == 0)
		__atomic_store_n(&attached_at[rank], state->attached, __ATOMIC_SEQ_CST);
	AGAIN(state, oriel_win_fence(state->dynamic, 0));
	if (state->rank->last == 0)
		use_attached(state, 1 - rank);
	AGAIN(state, oriel_win_fence(state->dynamic, 0));
	if (take_back(rank))
		AGAIN(state, oriel_win_detach(state->dynamic, state->attached));
	AGAIN(state, oriel_win_free(&state->dynamic));
}

static void use_passive(struct passive *state)
{
	static const struct oriel_hint hints[] = { { "signals", "2" }, { NULL, NULL } };

	if (CALL(state, oriel_group_world(state->rank->job, &state->world)) ||
	    CALL(state, oriel_win_create(&state->window, sizeof(state->window), 1, hints, state->world, &state->win))) {
		fake_world_ended(state->rank->world, state->rank->rank, "exited with status 1");
		return;
	}
	lock_epochs(state);
	use_dynamic(state);
	AGAIN(state, oriel_win_free(&state->win));
}

void scenario_passive(struct rank *rank)
{
	struct passive *state = calloc(1, sizeof(*state));

	state->rank = rank;
	rank->step = "job_open";
	attached_at[rank->rank] = NULL;
	attached_used[rank->rank] = false;
	if (rank_note(rank, "job_open", rank_join(rank, rank->arg)) == 0) {
		fill(state->mine, COPIED_BYTES, rank->rank, 5);
		use_passive(state);
		if (state->world)
			oriel_group_free(&state->world);
		CALL(state, oriel_finalize(&rank->job));
	}
	free(state);
}
