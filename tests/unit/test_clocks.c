// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_clocks.c - lib/see/report/clocks.c: parts of two machines whose clocks differ, by made
 * meetings; whether times agree within the error that is reported
 */
#include "see/report/profile.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 4
#define STEP_NS 1e6 /* between meetings */
#define LATE_NS 3e5 /* a rank begins a meeting by so much later, at most */
#define LATENCY_NS 2e4

/* The clock of the second machine. */
static double offset_ns, drift;
static struct part *made[PARTS];
static struct read_part list[PARTS];
static struct read_parts parts;

static double random_up_to(double most)
{
	return (double)random() / (double)RAND_MAX * most;
}

/* Returns what a part's clock shows at a time of the first machine. */
static uint64_t shown(int part, double ns)
{
	return (uint64_t)(part < PARTS / 2 ? ns : ns + offset_ns + drift * ns);
}

static void open_parts(void)
{
	parts = (struct read_parts){ .list = list, .count = PARTS, .size = PARTS };
	for (int i = 0; i < PARTS; i++) {
		made[i] = calloc(1, sizeof(*made[i]));
		list[i] = (struct read_part){ .part = made[i], .ns_per_tick = 1 };
		if (!made[i])
			abort();
		made[i]->header.rank = i;
		snprintf(made[i]->header.host, sizeof(made[i]->header.host), "%s", i < PARTS / 2 ? "one" : "two");
	}
}

static void close_parts(void)
{
	for (int i = 0; i < PARTS; i++)
		free(made[i]);
}

/* All begin a meeting, and return some time after the last of them has begun. */
static void meet(uint32_t number, double at)
{
	double begun[PARTS], latest = 0;

	for (int i = 0; i < PARTS; i++) {
		begun[i] = at + random_up_to(LATE_NS);
		latest = begun[i] > latest ? begun[i] : latest;
	}
	for (int i = 0; i < PARTS; i++) {
		uint32_t index = made[i]->header.meeting_count++;

		made[i]->meetings[index % (2 * PART_MEETINGS)] =
			(struct part_meeting){ 7, number, shown(i, begun[i]), shown(i, latest + random_up_to(LATENCY_NS) + 1) };
	}
}

/* A job of so many meetings, which begins after 100 s. */
static void make_job(int meetings)
{
	for (int i = 0; i < meetings; i++)
		meet((uint32_t)i + 1, 1e11 + i * STEP_NS);
	for (int i = 0; i < PARTS; i++) {
		made[i]->header.begun_ns = shown(i, 1e11);
		made[i]->header.ended_ns = shown(i, 1e11 + meetings * STEP_NS);
	}
}

/* Returns how far a part's times are from the first machine's, at most. */
static double distance(int part, int meetings)
{
	double most = 0;

	for (int i = 0; i <= meetings; i++) {
		double at = 1e11 + i * STEP_NS;
		double apart = fabs((double)clocks_shifted(&list[part].shift, shown(part, at)) - at);

		most = apart > most ? apart : most;
	}
	return most;
}

static void align__is_right_within_its_error(void)
{
	for (unsigned seed = 1; seed <= 200; seed++) {
		int meetings = 2 + (int)seed % 127;

		srandom(seed);
		offset_ns = random_up_to(1e8) - 5e7;
		drift = random_up_to(1e-4) - 5e-5;
		open_parts();
		make_job(meetings);
		clocks_align(&parts);
		CU_ASSERT_EQUAL(parts.hosts, 2);
		CU_ASSERT_EQUAL(parts.unaligned, 0);
		CU_ASSERT(parts.clock_error_ns > 0);
		CU_ASSERT(parts.clock_error_ns < LATE_NS + LATENCY_NS);
		CU_ASSERT(distance(PARTS - 1, meetings) <= parts.clock_error_ns + 1000);
		CU_ASSERT_EQUAL(list[0].shift.ahead_ns, 0);
		CU_ASSERT(fabs((double)made[PARTS - 1]->header.begun_ns - 1e11) <= parts.clock_error_ns + 1000);
		close_parts();
	}
}

/* Meetings at which now this machine's ranks are last and now the other's say more than one. */
static void align__gets_better_with_meetings(void)
{
	double few, many;

	srandom(1);
	offset_ns = 5e7;
	drift = 0;
	open_parts();
	make_job(1);
	clocks_align(&parts);
	few = parts.clock_error_ns;
	close_parts();
	open_parts();
	make_job(100);
	clocks_align(&parts);
	many = parts.clock_error_ns;
	close_parts();
	CU_ASSERT(many < few / 2);
}

/* Of the ranks of a machine the last that begins counts, and the first that returns. */
static void align__is_not_worse_by_ranks_that_are_longer_in_a_call(void)
{
	srandom(1);
	offset_ns = 5e7;
	drift = 0;
	open_parts();
	make_job(50);
	for (int i = 0; i < PARTS; i += PARTS / 2) {
		for (int k = 0; k < 50; k++) {
			made[i]->meetings[k].begun_ns -= 10000000;
			made[i]->meetings[k].ended_ns += 10000000;
		}
	}
	clocks_align(&parts);
	CU_ASSERT(parts.clock_error_ns < LATE_NS);
	close_parts();
}

static void align__compares_nothing_without_meetings(void)
{
	open_parts();
	make_job(0);
	clocks_align(&parts);
	CU_ASSERT_EQUAL(parts.unaligned, 1);
	CU_ASSERT_EQUAL(list[PARTS - 1].shift.ahead_ns, 0);
	CU_ASSERT_EQUAL(made[PARTS - 1]->header.begun_ns, shown(PARTS - 1, 1e11));
	close_parts();
}

/* Each member counts for itself: the numbers of one that left out a meeting mean others. */
static void align__tells_meetings_that_contradict_each_other(void)
{
	srandom(1);
	open_parts();
	make_job(20);
	for (int i = 10; i < 20; i++) {
		made[PARTS - 1]->meetings[i].begun_ns += 1000000000;
		made[PARTS - 1]->meetings[i].ended_ns += 1000000000;
		made[PARTS - 2]->meetings[i] = made[PARTS - 1]->meetings[i];
	}
	clocks_align(&parts);
	CU_ASSERT_EQUAL(parts.unaligned, 1);
	close_parts();
}

static void align__needs_none_on_one_machine(void)
{
	srandom(1);
	open_parts();
	make_job(20);
	for (int i = 0; i < PARTS; i++)
		snprintf(made[i]->header.host, sizeof(made[i]->header.host), "one");
	clocks_align(&parts);
	CU_ASSERT_EQUAL(parts.hosts, 1);
	CU_ASSERT_EQUAL(parts.unaligned, 0);
	CU_ASSERT_EQUAL(parts.clock_error_ns, 0);
	close_parts();
}

/* Another process has written the parts. */
static void align__survives_any_numbers(void)
{
	for (unsigned seed = 1; seed <= 50; seed++) {
		srandom(seed);
		open_parts();
		for (int i = 0; i < PARTS; i++) {
			made[i]->header.meeting_count = seed % 2 ? UINT32_MAX : 2 * PART_MEETINGS;
			for (size_t k = 0; k < sizeof(made[i]->meetings); k++)
				((unsigned char *)made[i]->meetings)[k] = (unsigned char)(random() % (seed % 5 + 1));
		}
		clocks_align(&parts);
		CU_ASSERT_EQUAL(parts.hosts, 2);
		clocks_shifted(&list[PARTS - 1].shift, UINT64_MAX);
		clocks_shifted(&list[PARTS - 1].shift, 0);
		close_parts();
	}
}

void suite_clocks(void)
{
	CU_pSuite suite = CU_add_suite("clocks", NULL, NULL);

	CU_ADD_TEST(suite, align__is_right_within_its_error);
	CU_ADD_TEST(suite, align__gets_better_with_meetings);
	CU_ADD_TEST(suite, align__is_not_worse_by_ranks_that_are_longer_in_a_call);
	CU_ADD_TEST(suite, align__compares_nothing_without_meetings);
	CU_ADD_TEST(suite, align__tells_meetings_that_contradict_each_other);
	CU_ADD_TEST(suite, align__needs_none_on_one_machine);
	CU_ADD_TEST(suite, align__survives_any_numbers);
}
