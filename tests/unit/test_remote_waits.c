// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_remote_waits.c - lib/see/report/remote.c: which share of waits for ranks of another machine,
 * whose clock is 50 ms ahead, is lateness, and of which rank; roots.c: at which rank that began; by
 * made parts
 */
#include "see/report/profile.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 4
#define WINDOW_KEY 77
#define US 1000.0
#define BEGUN 1e11
#define AHEAD 50e6 /* ranks 2 and 3 */
#define ERROR_NS 5e3
#define EPOCH 2 /* of a wait for a post or complete */

static struct part *made[PARTS];
static struct read_part list[PARTS];
static struct read_parts parts;
static struct profile profile;

/* Returns what a rank's clock shows so many microseconds after the begin. */
static uint64_t at(int rank, double us)
{
	return (uint64_t)(BEGUN + us * US + (rank < 2 ? 0 : AHEAD));
}

static void open_parts(void)
{
	parts = (struct read_parts){ .list = list, .count = PARTS, .size = PARTS, .hosts = 2, .clock_error_ns = ERROR_NS };
	for (int i = 0; i < PARTS; i++) {
		struct part *part = made[i] = calloc(1, sizeof(*part));

		if (!part)
			abort();
		list[i] = (struct read_part){ .part = part, .ns_per_tick = 1, .shift.ahead_ns = i < 2 ? 0 : AHEAD };
		part->header = (struct part_header){ .rank = i, .size = PARTS, .pid = 1, .site_count = 1, .window_count = 1 };
		part->header.begun_ns = (uint64_t)BEGUN;
		part->header.ended_ns = (uint64_t)BEGUN + 1000000000;
		part->windows[0].key = WINDOW_KEY;
		part->sites[0] =
			(struct part_site){ .object = PART_NONE, .call = "MPI_Win_complete", .sizes = { 1 }, .ticks = 10000000 };
	}
}

/* A rank begins a call. */
static void begin(int rank, enum part_event event, uint64_t number, double us)
{
	made[rank]->remote.begins[made[rank]->remote.begin_count++] = (struct part_begin){ number, at(rank, us), 0, event };
}

/* Returns the number of a post or complete: of the epoch with a rank. */
static uint64_t with(int rank, uint64_t epoch)
{
	return (uint64_t)(rank + 1) << PART_RANK_SHIFT | epoch;
}

static uint64_t with_0(uint64_t epoch)
{
	return with(0, epoch);
}

/* Rank 0 waits, for these ranks, or any: the profile has that as a whole. */
static struct part_remote_wait *wait_for(enum part_event event, enum wait_cause cause, double begun_us, double ended_us)
{
	struct part_remote_wait *wait = &made[0]->remote.waits[made[0]->remote.wait_count++];

	*wait = (struct part_remote_wait){ .begun_ns = at(0, begun_us), .ended_ns = at(0, ended_us), .event = event };
	wait->wait = made[0]->header.wait_count++;
	made[0]->waits[wait->wait] = (struct part_wait){ .cause = cause,
		                                             .rank = -1,
		                                             .count = 1,
		                                             .ns = wait->ended_ns - wait->begun_ns,
		                                             .max_ns = wait->ended_ns - wait->begun_ns };
	return wait;
}

static struct part_remote_wait *wait_for_rank(enum part_event event, enum wait_cause cause, double us, int rank)
{
	struct part_remote_wait *wait = wait_for(event, cause, 0, us);

	wait->rank_count = 1;
	wait->ranks[0] = rank;
	wait->epochs[0] = EPOCH;
	return wait;
}

/* Returns how long the profile says that rank 0 waited for this. */
static double told_us(enum wait_cause cause, int culprit)
{
	double us = 0;

	for (uint32_t i = 0; i < profile.wait_count; i++) {
		if (profile.waits[i].cause == cause && profile.waits[i].culprit == culprit)
			us += (double)profile.waits[i].ns / US;
	}
	return us;
}

static void free_profile(void)
{
	free(profile.ranks);
	free(profile.windows);
	free(profile.sites);
	free(profile.waits);
	profile = (struct profile){ 0 };
}

static void gather_again(void)
{
	free_profile();
	gather(&profile, &parts);
}

static void judge(enum wait_cause cause, int culprit, double late_us, double handover_us)
{
	gather_again();
	CU_ASSERT_DOUBLE_EQUAL(told_us(cause, culprit), late_us, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(told_us(WAIT_HANDOVER, culprit), handover_us, 0.1);
	for (uint32_t i = 0; i < profile.wait_count; i++)
		CU_ASSERT(profile.waits[i].count > 0);
}

static void close_parts(void)
{
	free_profile();
	for (int i = 0; i < PARTS; i++)
		free(made[i]);
}

static void post__splits_lateness_and_handover(void)
{
	open_parts();
	wait_for_rank(EVENT_POST, WAIT_LATE_POST, 1000, 2);
	begin(2, EVENT_POST, with_0(EPOCH - 1), -500);
	begin(2, EVENT_POST, with_0(EPOCH), 700);
	begin(2, EVENT_POST, with(1, EPOCH), 800); /* for another rank */
	begin(2, EVENT_POST, with_0(EPOCH + 1), 1001);
	begin(3, EVENT_POST, with_0(EPOCH), 900); /* of another rank */
	judge(WAIT_LATE_POST, 2, 700, 300);
	CU_ASSERT_EQUAL(told_us(WAIT_LATE_POST, -1), 0);
	CU_ASSERT_EQUAL(profile.waits_ns, 1000000);
	CU_ASSERT_EQUAL(profile.windows[0].waits_ns, 1000000);
	close_parts();
}

static void posts__blame_the_last_of_those_awaited(void)
{
	struct part_remote_wait *wait;

	open_parts();
	wait = wait_for_rank(EVENT_POST, WAIT_LATE_POST, 1000, 2);
	wait->rank_count = 2;
	wait->ranks[1] = 1;
	wait->epochs[1] = EPOCH + 5;
	begin(1, EVENT_POST, with_0(EPOCH + 5), 800);
	begin(2, EVENT_POST, with_0(EPOCH), 300);
	begin(3, EVENT_POST, with_0(EPOCH), 900);
	judge(WAIT_LATE_POST, 1, 800, 200);
	close_parts();
}

/* By clocks it may be the one before, which began within the error, or the next one, too. */
static void complete__is_the_one_of_the_epoch(void)
{
	open_parts();
	wait_for_rank(EVENT_COMPLETE, WAIT_LATE_COMPLETE, 1000, 2);
	begin(2, EVENT_COMPLETE, with_0(EPOCH - 1), 3);
	begin(2, EVENT_COMPLETE, with_0(EPOCH), 700);
	begin(2, EVENT_COMPLETE, with(1, EPOCH), 800); /* for another rank */
	begin(2, EVENT_COMPLETE, with_0(EPOCH + 1), 900);
	judge(WAIT_LATE_COMPLETE, 2, 700, 300);
	close_parts();
}

/* It has fallen out of the list. */
static void complete__that_is_not_known_leaves_the_wait_whole(void)
{
	open_parts();
	wait_for_rank(EVENT_COMPLETE, WAIT_LATE_COMPLETE, 1000, 2);
	begin(2, EVENT_COMPLETE, with_0(EPOCH - 1), 500);
	judge(WAIT_LATE_COMPLETE, -1, 1000, 0);
	close_parts();
}

/* Its group could not be counted. */
static void complete__of_an_epoch_without_a_number_leaves_the_wait_whole(void)
{
	open_parts();
	wait_for_rank(EVENT_COMPLETE, WAIT_LATE_COMPLETE, 1000, 2)->epochs[0] = 0;
	begin(2, EVENT_COMPLETE, with_0(EPOCH), 700);
	judge(WAIT_LATE_COMPLETE, -1, 1000, 0);
	close_parts();
}

static void posts__stay_whole_if_one_is_not_known(void)
{
	struct part_remote_wait *wait;

	open_parts();
	wait = wait_for_rank(EVENT_POST, WAIT_LATE_POST, 1000, 2);
	wait->rank_count = 2;
	wait->ranks[1] = 3;
	wait->epochs[1] = EPOCH;
	begin(2, EVENT_POST, with_0(EPOCH), 300);
	begin(3, EVENT_POST, with_0(EPOCH - 1), 500);
	judge(WAIT_LATE_POST, -1, 1000, 0);
	close_parts();
}

/* A difference below the error means nothing. */
static void waits__below_twice_the_error_stay_whole(void)
{
	open_parts();
	wait_for_rank(EVENT_POST, WAIT_LATE_POST, 9, 2);
	begin(2, EVENT_POST, with_0(EPOCH), 5);
	judge(WAIT_LATE_POST, -1, 9, 0);
	close_parts();
	open_parts();
	wait_for_rank(EVENT_POST, WAIT_LATE_POST, 11, 2);
	begin(2, EVENT_POST, with_0(EPOCH), 5);
	judge(WAIT_LATE_POST, 2, 5, 6);
	close_parts();
}

static void fence__takes_the_last_of_that_number(void)
{
	open_parts();
	wait_for(EVENT_FENCE, WAIT_LATE_FENCE, 0, 1000)->number = 5;
	for (int rank = 0; rank < PARTS; rank++) {
		begin(rank, EVENT_FENCE, 5, 100 * rank);
		begin(rank, EVENT_FENCE, 6, 999);
	}
	judge(WAIT_LATE_FENCE, 3, 300, 700);
	close_parts();
}

static void fence__stays_whole_if_a_member_is_not_known(void)
{
	open_parts();
	wait_for(EVENT_FENCE, WAIT_LATE_FENCE, 0, 1000)->number = 5;
	begin(2, EVENT_FENCE, 5, 400);
	begin(3, EVENT_FENCE, 5, 500);
	judge(WAIT_LATE_FENCE, -1, 1000, 0);
	close_parts();
}

static void lock__takes_the_last_unlock_of_that_member_or_of_all(void)
{
	open_parts();
	wait_for(EVENT_UNLOCK, WAIT_LOCK, 0, 1000)->number = 2;
	begin(2, EVENT_UNLOCK, 2ULL << PART_RANK_SHIFT | 1, 400);
	begin(3, EVENT_UNLOCK, 3ULL << PART_RANK_SHIFT | 1, 600); /* another member's */
	judge(WAIT_LOCK, 2, 400, 600);
	begin(3, EVENT_UNLOCK, 1, 700);
	judge(WAIT_LOCK, 3, 700, 300);
	close_parts();
}

static void signal__takes_the_last_to_this_rank(void)
{
	open_parts();
	wait_for(EVENT_SIGNAL, WAIT_SIGNAL, 0, 1000)->number = 1;
	begin(2, EVENT_SIGNAL, 1, 400);
	begin(3, EVENT_SIGNAL, 2, 600); /* to another rank */
	judge(WAIT_SIGNAL, 2, 400, 600);
	close_parts();
}

/* In a collective call all waits are for the last member, and so is the time between them. */
static void collective__takes_what_is_before_the_last_begin(void)
{
	struct part_remote_wait *wait;

	open_parts();
	wait = wait_for(EVENT_COLLECTIVE, WAIT_SETUP, 0, 400);
	wait->number = WINDOW_KEY;
	wait->window = PART_NONE;
	made[0]->remote.waits[1] = *wait;
	made[0]->remote.waits[1].wait = PART_NONE;
	made[0]->remote.waits[1].begun_ns = at(0, 400);
	made[0]->remote.waits[1].ended_ns = at(0, 500);
	made[0]->remote.wait_count = 2;
	for (int rank = 0; rank < PARTS; rank++) {
		begin(rank, EVENT_COLLECTIVE, WINDOW_KEY, 150 * rank);
		made[rank]->remote.begins[0].window = PART_NONE;
	}
	judge(WAIT_LATE_COLLECTIVE, 3, 450, 0);
	CU_ASSERT_EQUAL(told_us(WAIT_SETUP, -1), 0);
	CU_ASSERT_EQUAL(profile.waits_ns, 450000);
	close_parts();
}

/* ---- roots ---- */

/* A rank notes that it has waited for a late one; `wait` is the index in its list. */
static void note_lateness(int rank, uint32_t wait, int late, double begun_us, double ended_us)
{
	uint64_t number = ++made[rank]->lateness_count;

	made[rank]->latenesses[number] =
		(struct part_lateness){ number, at(rank, begun_us), at(rank, ended_us), late, wait };
}

/* Returns how much of a lateness began at a rank, as the profile says. */
static double root_us(enum wait_cause cause, int culprit, int root)
{
	double us = 0;

	for (uint32_t i = 0; i < profile.wait_count; i++) {
		const struct profile_wait *wait = &profile.waits[i];

		for (int k = 0; k < PART_ROOTS && wait->roots[k].ns; k++) {
			if (wait->cause == cause && wait->culprit == culprit && wait->roots[k].rank == root)
				us += (double)wait->roots[k].ns / US;
		}
	}
	return us;
}

static void roots__of_a_late_rank_elsewhere_are_those_that_it_waited_for(void)
{
	open_parts();
	wait_for_rank(EVENT_POST, WAIT_LATE_POST, 1000, 2);
	begin(2, EVENT_POST, with_0(EPOCH), 700);
	note_lateness(2, PART_NONE, 3, 100, 500);
	note_lateness(3, PART_NONE, 1, 450, 600);
	note_lateness(3, PART_NONE, 0, 800, 900); /* later than the lateness */
	gather_again();
	CU_ASSERT_DOUBLE_EQUAL(root_us(WAIT_LATE_POST, 2, 2), 300, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(root_us(WAIT_LATE_POST, 2, 3), 350, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(root_us(WAIT_LATE_POST, 2, 1), 50, 0.1);
	CU_ASSERT_EQUAL(root_us(WAIT_LATE_POST, 2, 0), 0);
	close_parts();
}

/* Rank 1 has waited for rank 0, in which time that has waited for rank 2. */
static void roots__that_end_at_the_border_go_on_behind_it(void)
{
	open_parts();
	wait_for_rank(EVENT_POST, WAIT_LATE_POST, 1000, 2);
	begin(2, EVENT_POST, with_0(EPOCH), 700);
	made[1]->header.wait_count = 1;
	made[1]->waits[0] = (struct part_wait){ .cause = WAIT_LATE_COMPLETE, .count = 1, .ns = 800000, .max_ns = 800000 };
	made[1]->waits[0].roots[0] = (struct part_root){ .rank = 0, .ns = 800000 };
	made[1]->waits[0].root_count = 1;
	note_lateness(1, 0, 0, 400, 1200);
	gather_again();
	CU_ASSERT_DOUBLE_EQUAL(root_us(WAIT_LATE_COMPLETE, 0, 0), 500, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(root_us(WAIT_LATE_COMPLETE, 0, 2), 300, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(root_us(WAIT_LATE_POST, 2, 2), 700, 0.1);
	close_parts();
}

/* What the job's own roots do not have is not moved. */
static void roots__stay_if_they_are_not_those_of_the_lateness(void)
{
	open_parts();
	wait_for_rank(EVENT_POST, WAIT_LATE_POST, 1000, 2);
	begin(2, EVENT_POST, with_0(EPOCH), 700);
	made[1]->header.wait_count = 1;
	made[1]->waits[0] = (struct part_wait){ .cause = WAIT_LATE_COMPLETE, .count = 1, .ns = 800000, .max_ns = 800000 };
	made[1]->waits[0].roots[0] = (struct part_root){ .rank = 3, .ns = 800000 };
	made[1]->waits[0].root_count = 1;
	note_lateness(1, 0, 0, 400, 1200);
	gather_again();
	CU_ASSERT_DOUBLE_EQUAL(root_us(WAIT_LATE_COMPLETE, 0, 3), 800, 0.1);
	CU_ASSERT_EQUAL(root_us(WAIT_LATE_COMPLETE, 0, 2), 0);
	close_parts();
}

/* Ranks that wait for each other, by wrong notes, end a chain. */
static void roots__of_a_circle_end(void)
{
	open_parts();
	wait_for_rank(EVENT_POST, WAIT_LATE_POST, 1000, 2);
	begin(2, EVENT_POST, with_0(EPOCH), 700);
	note_lateness(2, PART_NONE, 3, 0, 700);
	note_lateness(3, PART_NONE, 2, 0, 700);
	gather_again();
	CU_ASSERT_DOUBLE_EQUAL(root_us(WAIT_LATE_POST, 2, 2) + root_us(WAIT_LATE_POST, 2, 3), 700, 0.1);
	close_parts();
}

static void divide__needs_clocks_that_can_be_compared(void)
{
	open_parts();
	wait_for_rank(EVENT_POST, WAIT_LATE_POST, 1000, 2);
	begin(2, EVENT_POST, with_0(EPOCH), 700);
	parts.unaligned = 1;
	judge(WAIT_LATE_POST, -1, 1000, 0);
	close_parts();
}

static void divide__survives_any_numbers(void)
{
	for (unsigned seed = 1; seed <= 50; seed++) {
		srandom(seed);
		open_parts();
		wait_for(EVENT_FENCE, WAIT_LATE_FENCE, 0, 1000);
		for (int i = 0; i < PARTS; i++) {
			for (size_t k = 0; k < sizeof(made[i]->latenesses); k += 1 + (size_t)random() % 16)
				((unsigned char *)made[i]->latenesses)[k] = (unsigned char)(random() % (seed % 5 + 1));
			for (size_t k = 0; k < sizeof(made[i]->remote); k += 1 + (size_t)random() % 16)
				((unsigned char *)&made[i]->remote)[k] = (unsigned char)(random() % (seed % 5 + 1));
		}
		gather_again();
		CU_ASSERT(profile.waits_ns <= 10000000 * PARTS);
		close_parts();
	}
}

void suite_remote_waits(void)
{
	CU_pSuite suite = CU_add_suite("remote_waits", NULL, NULL);

	CU_ADD_TEST(suite, post__splits_lateness_and_handover);
	CU_ADD_TEST(suite, posts__blame_the_last_of_those_awaited);
	CU_ADD_TEST(suite, posts__stay_whole_if_one_is_not_known);
	CU_ADD_TEST(suite, complete__is_the_one_of_the_epoch);
	CU_ADD_TEST(suite, complete__that_is_not_known_leaves_the_wait_whole);
	CU_ADD_TEST(suite, complete__of_an_epoch_without_a_number_leaves_the_wait_whole);
	CU_ADD_TEST(suite, waits__below_twice_the_error_stay_whole);
	CU_ADD_TEST(suite, fence__takes_the_last_of_that_number);
	CU_ADD_TEST(suite, fence__stays_whole_if_a_member_is_not_known);
	CU_ADD_TEST(suite, lock__takes_the_last_unlock_of_that_member_or_of_all);
	CU_ADD_TEST(suite, signal__takes_the_last_to_this_rank);
	CU_ADD_TEST(suite, collective__takes_what_is_before_the_last_begin);
	CU_ADD_TEST(suite, roots__of_a_late_rank_elsewhere_are_those_that_it_waited_for);
	CU_ADD_TEST(suite, roots__that_end_at_the_border_go_on_behind_it);
	CU_ADD_TEST(suite, roots__stay_if_they_are_not_those_of_the_lateness);
	CU_ADD_TEST(suite, roots__of_a_circle_end);
	CU_ADD_TEST(suite, divide__needs_clocks_that_can_be_compared);
	CU_ADD_TEST(suite, divide__survives_any_numbers);
}
