// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_sweep.c - the n-th call to the device, work request, or connection event goes wrong,
 * for every n
 *
 * Whatever goes wrong: no hang, no crash, nothing left, no misuse of the device, and either an
 * error on some rank or the right data on all. The code of an error is one that fits.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_scenario.h"
#include "fake_verbs.h"
#include "suites_fake.h"

#define RANKS 2
#define RANKS_ON_NODES 3 /* two of them share memory, by softverbs, and the third is reached by the card */
#define RUN_SECONDS 30
#define FAULTS_MAX 5000 /* far more than a run has calls */

enum sort { SWEEP_CALLS, SWEEP_REQUESTS, SWEEP_EVENTS, SWEEP_ALLOCATIONS };

static bool code_fits(int code)
{
	return code == 0 || code == ORIEL_ERR_PEER || code == ORIEL_ERR_ROUTE || code == ORIEL_ERR_MEMORY ||
	       code == ORIEL_ERR_DEVICE || code == ORIEL_ERR_SYNC;
}

/* A first error says what is the matter; the ones that follow may be about its consequences. */
static bool told_well(const struct rank *rank)
{
	if (!code_fits(rank->first_error) || rank->first_error == ORIEL_ERR_SYNC)
		return false;
	return rank->first_error == 0 || rank->first_text[0];
}

static bool run_is_right(struct rank ranks[], int size, const char *what, unsigned n)
{
	bool right = true;

	for (int i = 0; i < size; i++) {
		if (told_well(&ranks[i]) && ranks[i].wrong == 0)
			continue;
		printf("%s %u (%s): rank %d: error %d in %s: %s; %d comparisons wrong%s\n", what, n, fake_hit(), i,
		       ranks[i].first_error, ranks[i].first_call ? ranks[i].first_call : "-", ranks[i].first_text,
		       ranks[i].wrong, ranks[i].wrong_text);
		right = false;
	}
	return ranks_clean() && right;
}

static void set_fault(enum sort sort, unsigned n)
{
	fake_reset();
	if (sort == SWEEP_CALLS)
		fake_fail_call(n);
	else if (sort == SWEEP_REQUESTS)
		fake_fail_request(n);
	else if (sort == SWEEP_EVENTS)
		fake_drop_event(n);
	else
		fake_fail_allocation(n);
}

static int errors_of(const struct rank ranks[], int size)
{
	int errors = 0;

	for (int i = 0; i < size; i++)
		errors += ranks[i].errors + ranks[i].retried;
	return errors;
}

/*
 * A run without a fault. A rank that gets no processor may miss the short limit for connecting that
 * faults are swept with.
 */
static int errors_without_fault(struct rank ranks[], int size, rank_function *function, const char *what)
{
	setenv("ORIEL_CONNECT_TIMEOUT", "25", 1);
	fake_reset();
	ranks_limit(RUN_SECONDS, "%s, none", what);
	ranks_run(size, function, NULL, ranks);
	return errors_of(ranks, size);
}

/*
 * Returns the number in a variable, or 1. UNIT_SWEEP_EVERY: of so many faults one is tried, where
 * trying takes long; UNIT_SWEEP_FIRST: that one first.
 */
static unsigned number_in(const char *variable)
{
	const char *text = getenv(variable);
	int number = text ? atoi(text) : 1;

	return number > 0 ? (unsigned)number : 1;
}

static void sweep_ranks(int size, rank_function *function, enum sort sort, const char *what, unsigned at_least)
{
	struct rank ranks[RANKS_ON_NODES];
	const unsigned step = number_in("UNIT_SWEEP_EVERY");
	unsigned n, tried = 0, bad = 0, errors = 0;

	for (n = number_in("UNIT_SWEEP_FIRST"); n < FAULTS_MAX; n += step, tried++) {
		set_fault(sort, n);
		ranks_limit(RUN_SECONDS, "%s %u", what, n);
		ranks_run(size, function, NULL, ranks);
		if (getenv("UNIT_FAKE_VERBOSE"))
			printf("%s %u was %s\n", what, n, fake_hit());
		bad += !run_is_right(ranks, size, what, n);
		errors += errors_of(ranks, size) > 0;
		if (!fake_hit())
			break;
	}
	printf("  sweep: %u times a lost or failing %s, %u of them told to the program\n", tried, what, errors);
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT(n > at_least);
	CU_ASSERT(n < FAULTS_MAX);
	/* The last run had no fault. */
	CU_ASSERT(errors_of(ranks, size) == 0 || errors_without_fault(ranks, size, function, what) == 0);
}

static void sweep(enum sort sort, const char *what, unsigned at_least)
{
	sweep_ranks(RANKS, scenario, sort, what, at_least);
}

static void sweep__every_call_to_the_device(void)
{
	setenv("ORIEL_CONNECT_TIMEOUT", "2", 1);
	sweep(SWEEP_CALLS, "call", 100);
}

static void sweep__every_work_request(void)
{
	setenv("ORIEL_CONNECT_TIMEOUT", "2", 1);
	sweep(SWEEP_REQUESTS, "work request", 30);
}

static void sweep__every_connection_event(void)
{
	setenv("ORIEL_CONNECT_TIMEOUT", "4", 1);
	sweep(SWEEP_EVENTS, "connection event", 5);
}

/* Failures of the card, in a job that has softverbs too. */
static void sweep__every_call_and_event_beside_softverbs(void)
{
	setenv("ORIEL_CONNECT_TIMEOUT", "1", 1);
	sweep_ranks(RANKS_ON_NODES, scenario_on_nodes, SWEEP_CALLS, "call on nodes", 100);
	sweep_ranks(RANKS_ON_NODES, scenario_on_nodes, SWEEP_EVENTS, "event on nodes", 5);
}

static void sweep__every_allocation(void)
{
	setenv("ORIEL_CONNECT_TIMEOUT", "1", 1);
	sweep(SWEEP_ALLOCATIONS, "allocation", 20);
}

static void sweep__every_call_and_request_of_passive_target(void)
{
	setenv("ORIEL_CONNECT_TIMEOUT", "1", 1);
	sweep_ranks(RANKS, scenario_passive, SWEEP_REQUESTS, "passive work request", 30);
	sweep_ranks(RANKS, scenario_passive, SWEEP_CALLS, "passive call", 100);
	sweep_ranks(RANKS, scenario_passive, SWEEP_ALLOCATIONS, "passive allocation", 20);
}

void suite_sweep_mixed(void)
{
	CU_pSuite suite = CU_add_suite("sweep_mixed", NULL, NULL);

	CU_ADD_TEST(suite, sweep__every_call_and_event_beside_softverbs);
}

void suite_sweep(void)
{
	CU_pSuite suite = CU_add_suite("sweep", NULL, NULL);

	CU_ADD_TEST(suite, sweep__every_call_to_the_device);
	CU_ADD_TEST(suite, sweep__every_work_request);
	CU_ADD_TEST(suite, sweep__every_connection_event);
	CU_ADD_TEST(suite, sweep__every_allocation);
	CU_ADD_TEST(suite, sweep__every_call_and_request_of_passive_target);
}
