// SPDX-License-Identifier: BSD-2-Clause
/*
 * pairs.c CASE racy|free... - programs of oriel.h with a race, and nearly the same ones without
 *
 * Each case is for four ranks. Where it has a race, both calls stand in lines with the mark RACE;
 * tests/check/run looks for exactly these. Other calls of oriel.h are legal in both forms.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oriel.h"
#include "check/cases.h"

#define BYTES 256

static oriel_job *job;
static oriel_group *world;
static oriel_win *win;
static uint8_t *base;
static int rank;
static uint8_t buffer[BYTES], other[BYTES];
static bool racy;

static void must(int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, oriel_last_error());
	exit(1);
}

static oriel_group *group_of(int member)
{
	oriel_group *group;

	must(oriel_group_incl(world, 1, &member, &group));
	return group;
}

static oriel_group *group_of_two(int first, int second)
{
	const int members[] = { first, second };
	oriel_group *group;

	must(oriel_group_incl(world, 2, members, &group));
	return group;
}

static void lock_all(void)
{
	must(oriel_win_lock_all(win, 0));
}

static void unlock_all(void)
{
	must(oriel_win_unlock_all(win));
}

static void flush(int target)
{
	must(oriel_win_flush(win, target));
}

static void barrier(void)
{
	must(oriel_barrier(job));
}

static void signal_to(int target)
{
	must(oriel_signal(win, target, 0, 1, ORIEL_SIGNAL_ADD));
}

static void wait_signal(void)
{
	uint64_t value;
	uint32_t which;

	must(oriel_signal_wait(win, 0, 1, &which, &value));
}

/* ---- completion ---- */

static void K9_put_barrier_put(void)
{
	lock_all();
	if (rank == 0) {
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
		if (!racy)
			flush(2);
	}
	barrier();
	if (rank == 1)
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
	unlock_all();
}

static void K9_flush_local_completes_no_put(void)
{
	lock_all();
	if (rank == 0) {
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
		must(racy ? oriel_win_flush_local(win, 2) : oriel_win_flush(win, 2));
	}
	barrier();
	if (rank == 1)
		must(oriel_get(win, buffer, 8, 2, 7)); /* RACE */
	unlock_all();
}

static void K9_request_completes(void)
{
	oriel_request request;

	lock_all();
	if (rank == 0) {
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
		must(racy ? oriel_win_iflush_local(win, 2, &request) : oriel_win_iflush(win, 2, &request));
		must(oriel_request_wait(&request));
	}
	barrier();
	if (rank == 1)
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
	unlock_all();
}

static void K9_buffer_of_a_get(void)
{
	lock_all();
	if (rank == 0) {
		must(oriel_get(win, buffer, 8, 1, 0)); /* RACE */
		if (!racy)
			must(oriel_win_flush_local(win, 1));
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
	}
	unlock_all();
}

static void K9_result_of_a_fetch(void)
{
	uint64_t one = 1, result;

	lock_all();
	if (rank == 0) {
		must(oriel_fetch_and_op(win, &one, &result, ORIEL_UINT64, ORIEL_SUM, 1, 0)); /* RACE */
		if (!racy)
			flush(1);
		must(oriel_put(win, &result, 8, 2, 0)); /* RACE */
	}
	unlock_all();
}

static void K7_puts_of_one_origin(void)
{
	lock_all();
	if (rank == 0) {
		must(oriel_put(win, buffer, 8, 1, 0)); /* RACE */
		if (!racy)
			flush(1);
		must(oriel_put(win, other, 8, 1, 4)); /* RACE */
	}
	unlock_all();
}

/* Both may take effect in the unlock. Earlier unlocks order them, this one does not. */
static void puts_of_a_lock(int target)
{
	if (rank == 0) {
		must(oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, target, 0));
		must(oriel_put(win, buffer, 8, target, 0)); /* RACE */
		if (!racy)
			flush(target);
		must(oriel_put(win, other, 8, target, 4)); /* RACE */
		must(oriel_win_unlock(win, target));
	}
}

static void K7_puts_of_an_exclusive_lock(void)
{
	puts_of_a_lock(1);
}

static void K11_puts_to_itself_of_an_exclusive_lock(void)
{
	puts_of_a_lock(0);
}

static void K11_put_to_itself(void)
{
	lock_all();
	if (rank == 1) {
		must(oriel_put(win, buffer, 8, 1, 0)); /* RACE */
		if (!racy)
			flush(1);
	}
	barrier();
	if (rank == 0)
		must(oriel_get(win, buffer, 8, 1, 0)); /* RACE */
	unlock_all();
}

/* Rank 0 stores the flag in rank 1's part, which it has mapped; and asks for the first part. */
static void K12_flag_in_a_mapped_part(void)
{
	volatile uint64_t *flag = (volatile uint64_t *)(base + 64);
	size_t bytes, unit;
	void *there = NULL;

	if (rank == 0 && !racy) {
		must(oriel_win_shared_query(win, ORIEL_RANK_NONE, &there, &bytes, &unit));
		must(oriel_win_shared_query(win, 1, &there, &bytes, &unit));
	}
	lock_all();
	barrier();
	if (rank == 0) {
		must(oriel_put(win, buffer, 16, 2, 0)); /* RACE */
		flush(2);
	}
	if (there) {
		*(volatile uint64_t *)((uint8_t *)there + 64) = 1;
	} else if (rank == 0 && !racy) { /* this device maps no part */
		static uint64_t one = 1;

		must(oriel_put(win, &one, 8, 1, 64));
		flush(1);
	}
	while (rank == 1 && !racy && !*flag)
		sched_yield();
	if (rank == 1)
		must(oriel_put(win, buffer, 16, 2, 0)); /* RACE */
	unlock_all();
}

/* In the racy form a file orders the two, which the checker does not see. */
static void K2_signal_is_missing(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/flushed", getenv("TMPDIR"));
	lock_all();
	if (rank == 0) {
		must(oriel_put(win, buffer, 16, 2, 0)); /* RACE */
		flush(2);
		if (racy)
			must(creat(path, 0600) < 0);
		else
			signal_to(1);
	}
	while (rank == 1 && racy && access(path, F_OK) != 0)
		sched_yield();
	if (rank == 1 && !racy)
		wait_signal();
	if (rank == 1)
		must(oriel_get(win, buffer, 16, 2, 0)); /* RACE */
	unlock_all();
}

/* ---- start, post ---- */

/* Rank 0's complete says nothing of rank 2; rank 2's wait does. */
static void K9_complete_is_no_completion(void)
{
	oriel_group *origin = group_of(0), *target = group_of(2);

	if (rank == 0) {
		must(oriel_win_start(win, target, 0));
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
		must(oriel_win_complete(win));
	}
	if (rank == 2) {
		must(oriel_win_post(win, origin, 0));
		if (!racy)
			must(oriel_win_wait(win));
	}
	barrier();
	if (rank == 1) {
		must(oriel_win_lock(win, ORIEL_LOCK_SHARED, 2, 0));
		must(oriel_get(win, buffer, 8, 2, 0)); /* RACE */
		must(oriel_win_unlock(win, 2));
	}
	if (rank == 2 && racy)
		must(oriel_win_wait(win));
	must(oriel_group_free(&origin));
	must(oriel_group_free(&target));
}

static void K12_two_origins_of_an_epoch(void)
{
	oriel_group *origins = group_of_two(0, 1), *target = group_of(2);

	if (rank == 2) {
		must(oriel_win_post(win, origins, 0));
		must(oriel_win_wait(win));
	}
	if (rank <= 1) {
		must(oriel_win_start(win, target, 0));
		must(oriel_put(win, buffer, 8, 2, racy ? 0 : 8 * (size_t)rank)); /* RACE */
		must(oriel_win_complete(win));
	}
	must(oriel_group_free(&origins));
	must(oriel_group_free(&target));
}

static void K12_epochs_one_after_the_other(void)
{
	oriel_group *first = group_of(0), *second = group_of(1), *target = group_of(2);

	if (rank == 2) {
		must(oriel_win_post(win, racy ? world : first, 0));
		if (!racy) {
			must(oriel_win_wait(win));
			must(oriel_win_post(win, second, 0));
		}
		if (racy) {
			must(oriel_win_start(win, target, 0));
			must(oriel_win_complete(win));
		}
		must(oriel_win_wait(win));
	} else if (rank <= 1 || racy) {
		must(oriel_win_start(win, target, 0));
		if (rank <= 1)
			must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
		must(oriel_win_complete(win));
	}
	must(oriel_group_free(&first));
	must(oriel_group_free(&second));
	must(oriel_group_free(&target));
}

/* ---- fence ---- */

static void K12_fence_between(void)
{
	must(oriel_win_fence(win, 0));
	if (rank == 0)
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
	if (!racy)
		must(oriel_win_fence(win, 0));
	if (rank == 1)
		must(oriel_get(win, buffer, 8, 2, 0)); /* RACE */
	must(oriel_win_fence(win, 0));
}

/* ---- locks ---- */

static void K12_locks(void)
{
	if (rank <= 1) {
		must(oriel_win_lock(win, racy ? ORIEL_LOCK_SHARED : ORIEL_LOCK_EXCLUSIVE, 2, 0));
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
		must(oriel_win_unlock(win, 2));
	}
}

static void K12_lock_of_another_target(void)
{
	int target = rank == 1 && racy ? 3 : 2;

	if (rank <= 1) {
		must(oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, target, 0));
		if (target == 3)
			must(oriel_win_lock(win, ORIEL_LOCK_SHARED, 0, 0));
		must(oriel_put(win, buffer, 8, target == 3 ? 0 : 2, 0)); /* RACE */
		if (target == 3)
			must(oriel_win_unlock(win, 0));
		must(oriel_win_unlock(win, target));
	}
	barrier();
	if (rank == 2 && racy) {
		must(oriel_win_lock(win, ORIEL_LOCK_SHARED, 3, 0));
		must(oriel_put(win, buffer, 8, 3, 0)); /* RACE */
		must(oriel_win_unlock(win, 3));
	}
	if (rank == 3 && racy) {
		must(oriel_win_lock(win, ORIEL_LOCK_SHARED, 3, 0));
		must(oriel_put(win, buffer, 8, 3, 0)); /* RACE */
		must(oriel_win_unlock(win, 3));
	}
}

/* ---- accumulates ---- */

/* So many that judging must not compare each with each, which takes longer than a case may. */
static void K4_many_accumulates(void)
{
	uint64_t one = 1;

	must(oriel_win_fence(win, 0));
	for (int i = 0; rank < 2 && i < 100000; i++)
		must(oriel_accumulate(win, &one, 1, ORIEL_UINT64, ORIEL_SUM, 2, 0)); /* RACE */
	if (rank == 3)
		must(oriel_put(win, buffer, 8, 2, racy ? 0 : 8)); /* RACE */
	must(oriel_win_fence(win, 0));
}

static void K4_many_accumulates_in_locks(void)
{
	uint64_t one = 1;

	lock_all();
	for (int i = 0; rank < 2 && i < 100000; i++)
		must(oriel_accumulate(win, &one, 1, ORIEL_UINT64, ORIEL_SUM, 2, 0)); /* RACE */
	if (rank == 3)
		must(oriel_put(win, buffer, 8, 2, racy ? 0 : 8)); /* RACE */
	unlock_all();
}

static void K7_types_of_accumulates(void)
{
	uint64_t one = 1;

	lock_all();
	if (rank == 0)
		must(oriel_accumulate(win, &one, 1, ORIEL_UINT64, ORIEL_SUM, 2, 0)); /* RACE */
	if (rank == 1)
		must(oriel_accumulate(win, &one, 1, racy ? ORIEL_UINT32 : ORIEL_UINT64, ORIEL_MAX, 2, 0)); /* RACE */
	unlock_all();
}

static void K7_accumulates_that_overlap(void)
{
	uint64_t one = 1;

	lock_all();
	if (rank <= 1)
		must(oriel_accumulate(win, &one, 1, ORIEL_UINT64, ORIEL_SUM, 2, rank == 1 && racy ? 4 : 0)); /* RACE */
	unlock_all();
}

static void K7_accumulate_and_put(void)
{
	uint64_t one = 1;

	lock_all();
	if (rank == 0)
		must(oriel_accumulate(win, &one, 1, ORIEL_UINT64, ORIEL_SUM, 2, 0)); /* RACE */
	if (rank == 1)
		must(oriel_put(win, &one, 8, 2, racy ? 7 : 8)); /* RACE */
	unlock_all();
}

static void K7_atomic_read_and_put(void)
{
	uint64_t one = 1, result;

	lock_all();
	if (rank == 0)
		must(oriel_fetch_and_op(win, &one, &result, ORIEL_UINT64, ORIEL_NO_OP, 2, 0)); /* RACE */
	if (rank == 1 && racy)
		must(oriel_put(win, &one, 8, 2, 0)); /* RACE */
	if (rank == 1 && !racy)
		must(oriel_get(win, &one, 8, 2, 0));
	unlock_all();
}

/* A lock of the program's own. */
static void K14_compare_and_swap_lock(void)
{
	uint64_t zero = 0, one = 1, result = 1;

	lock_all();
	while (rank <= 1 && result != 0) {
		must(oriel_compare_and_swap(win, &one, &zero, &result, ORIEL_UINT64, 2, 0));
		flush(2);
	}
	if (rank <= 1) {
		must(oriel_put(win, buffer, 16, 3, 64)); /* RACE */
		if (!racy)
			flush(3);
		must(oriel_accumulate(win, &zero, 1, ORIEL_UINT64, ORIEL_REPLACE, 2, 0));
		flush(2);
	}
	unlock_all();
}

/* ---- signals ---- */

static void K12_signal_behind_put(void)
{
	lock_all();
	if (rank == 0 && racy)
		signal_to(2);
	if (rank == 0)
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
	if (rank == 0 && !racy)
		signal_to(2);
	if (rank == 2) {
		wait_signal();
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
	}
	unlock_all();
}

/* ---- bytes ---- */

static void K8_neighbours(void)
{
	lock_all();
	if (rank <= 1)
		must(oriel_put(win, buffer, 8, 2, rank == 0 ? 1 : racy ? 8 : 9)); /* RACE */
	unlock_all();
}

static void K8_columns(void)
{
	struct oriel_target_piece pieces[4];
	struct oriel_origin_piece origin = { buffer, 16 };
	size_t shift = rank == 1 ? racy ? 3 : 4 : 0;

	for (size_t i = 0; i < 4; i++)
		pieces[i] = (struct oriel_target_piece){ i * 16 + shift, 4 };
	lock_all();
	if (rank <= 1)
		must(oriel_putv(win, &origin, 1, 2, pieces, 4)); /* RACE */
	unlock_all();
}

static void K7_two_gets(void)
{
	lock_all();
	if (rank <= 1)
		must(racy && rank == 1 ? oriel_put(win, buffer, 8, 2, 0) : oriel_get(win, buffer, 8, 2, 0)); /* RACE */
	unlock_all();
}

/* ---- windows ---- */

static void K8_windows_that_overlap(void)
{
	oriel_win *second;

	must(oriel_win_create(base, BYTES, 1, NULL, world, &second));
	must(oriel_win_set_name(second, "halo"));
	must(oriel_win_lock_all(second, 0));
	lock_all();
	if (rank == 0) {
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
		must(oriel_win_flush(racy ? second : win, 2));
	}
	barrier();
	if (rank == 1)
		must(oriel_get(second, buffer, 8, 2, 0)); /* RACE */
	unlock_all();
	must(oriel_win_unlock_all(second));
	must(oriel_win_free(&second));
}

static void K12_order_over_three_ranks(void)
{
	lock_all();
	if (rank == 0) {
		must(oriel_put(win, buffer, 8, 3, 0)); /* RACE */
		if (!racy)
			flush(3);
		signal_to(1);
	}
	if (rank == 1) {
		wait_signal();
		signal_to(2);
	}
	if (rank == 2) {
		wait_signal();
		must(oriel_put(win, buffer, 8, 3, 0)); /* RACE */
	}
	unlock_all();
}

static void K35_much_between(void)
{
	lock_all();
	if (rank == 0 && racy)
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
	for (int i = 0; rank == 3 && i < 100000; i++) {
		must(oriel_put(win, buffer, 8, 2, 64 + 8 * ((size_t)i % 16)));
		if (i % 16 == 15)
			flush(2);
	}
	barrier();
	if (rank == 1)
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
	unlock_all();
}

/* Rank 3 dies where nothing is under way. */
static void K37_killed(void)
{
	lock_all();
	if (rank <= 1)
		must(oriel_put(win, buffer, 8, 2, 0)); /* RACE */
	unlock_all();
	barrier();
	if (rank == 3)
		abort();
	barrier();
}

/* The refused put writes nothing, so it does not race. Later calls are not judged. */
static void K27_refused(void)
{
	if (rank == 1) {
		lock_all();
		must(oriel_put(win, buffer, 8, 2, 0));
	}
	barrier();
	if (rank == 0 && oriel_put(win, buffer, 8, 2, 0) != ORIEL_ERR_SYNC)
		exit(1);
	barrier();
	if (rank == 1)
		unlock_all();
	lock_all();
	if (rank == 0 && oriel_put(win, buffer, 8, 2, BYTES - 4) != ORIEL_ERR_RANGE)
		exit(1);
	if (rank == 0 && oriel_win_lock_all(win, 0) != ORIEL_ERR_SYNC)
		exit(1);
	unlock_all();
}

/* ---- running them ---- */

static const struct check_case cases[] = {
	{ "K9_put_barrier_put", K9_put_barrier_put },
	{ "K9_flush_local_completes_no_put", K9_flush_local_completes_no_put },
	{ "K9_request_completes", K9_request_completes },
	{ "K9_buffer_of_a_get", K9_buffer_of_a_get },
	{ "K9_result_of_a_fetch", K9_result_of_a_fetch },
	{ "K7_puts_of_one_origin", K7_puts_of_one_origin },
	{ "K7_puts_of_an_exclusive_lock", K7_puts_of_an_exclusive_lock },
	{ "K11_puts_to_itself_of_an_exclusive_lock", K11_puts_to_itself_of_an_exclusive_lock },
	{ "K11_put_to_itself", K11_put_to_itself },
	{ "K12_flag_in_a_mapped_part", K12_flag_in_a_mapped_part },
	{ "K2_signal_is_missing", K2_signal_is_missing },
	{ "K9_complete_is_no_completion", K9_complete_is_no_completion },
	{ "K12_two_origins_of_an_epoch", K12_two_origins_of_an_epoch },
	{ "K12_epochs_one_after_the_other", K12_epochs_one_after_the_other },
	{ "K12_fence_between", K12_fence_between },
	{ "K12_locks", K12_locks },
	{ "K12_lock_of_another_target", K12_lock_of_another_target },
	{ "K4_many_accumulates", K4_many_accumulates },
	{ "K4_many_accumulates_in_locks", K4_many_accumulates_in_locks },
	{ "K7_types_of_accumulates", K7_types_of_accumulates },
	{ "K7_accumulates_that_overlap", K7_accumulates_that_overlap },
	{ "K7_accumulate_and_put", K7_accumulate_and_put },
	{ "K7_atomic_read_and_put", K7_atomic_read_and_put },
	{ "K14_compare_and_swap_lock", K14_compare_and_swap_lock },
	{ "K12_signal_behind_put", K12_signal_behind_put },
	{ "K8_neighbours", K8_neighbours },
	{ "K8_columns", K8_columns },
	{ "K7_two_gets", K7_two_gets },
	{ "K8_windows_that_overlap", K8_windows_that_overlap },
	{ "K12_order_over_three_ranks", K12_order_over_three_ranks },
	{ "K35_much_between", K35_much_between },
	{ NULL, NULL },
};

static void run(void (*function)(void))
{
	const struct oriel_hint hints[] = { { "signals", "4" }, { "name", "halo" }, { NULL, NULL } };

	must(oriel_win_allocate(BYTES, 1, hints, world, (void **)&base, &win));
	function();
	must(oriel_barrier(job));
	must(oriel_win_free(&win));
}

/* Returns the case of this name, or NULL. The last two are no pairs. */
static void (*find_case(const char *name))(void)
{
	const struct check_case *found = case_of(cases, name);

	if (found)
		return found->run;
	if (strcmp(name, "K27_refused") == 0)
		return K27_refused;
	return strcmp(name, "K37_killed") == 0 ? K37_killed : NULL;
}

int main(int argc, char **argv)
{
	void (*chosen)(void) = argc >= 3 ? find_case(argv[1]) : NULL;

	for (int i = 2; chosen && i < argc; i++) {
		if (oriel_init(NULL, &job))
			return 2;
		racy = strcmp(argv[i], "racy") == 0;
		rank = oriel_rank(job);
		must(oriel_group_world(job, &world));
		run(chosen);
		must(oriel_group_free(&world));
		must(oriel_finalize(&job));
	}
	return chosen ? 0 : 2;
}
