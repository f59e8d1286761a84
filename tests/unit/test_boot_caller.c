// SPDX-License-Identifier: BSD-2-Clause
/* test_boot_caller.c - bootstrap/client/caller.c, with a program that is played by the test */
#include "client/clients.h"
#include "boot_events.h"
#include "oriel.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 4
#define ME 1

/* The behaviour of the program's functions, and the arguments of their calls. */
struct program {
	int fails_at; /* which exchange, counted from 1, fails; 0: none */
	int exchanges;
	bool forgets; /* exchange fills nothing in */
	int puts;
	char put_bytes[BOOT_VALUE_MAX_BYTES];
	size_t put_size;
	int get_gives; /* 0: a value, 1: not yet, -1: never */
	size_t get_size;
	int gets;
	int aborted;
};

static struct program program;

/* Ranks 0 to 2 share a machine, and rank 3 never has a value. */
static int exchange(void *context, const void *mine, size_t size_bytes, void *all)
{
	struct program *p = context;

	p->exchanges++;
	for (int rank = 0; rank < RANKS && !p->forgets; rank++) {
		if (rank < 3)
			memcpy((char *)all + (size_t)rank * size_bytes, mine, size_bytes);
	}
	return p->fails_at == p->exchanges ? 77 : 0;
}

static int put(void *context, const void *value, size_t size_bytes)
{
	struct program *p = context;

	p->puts++;
	memcpy(p->put_bytes, value, size_bytes);
	p->put_size = size_bytes;
	return p->fails_at == 1 ? 77 : 0;
}

static int get(void *context, int rank, void *value, size_t *size_bytes)
{
	struct program *p = context;

	CU_ASSERT_EQUAL(*size_bytes, BOOT_VALUE_MAX_BYTES);
	p->gets++;
	snprintf(value, 16, "value %d", rank);
	*size_bytes = p->get_size;
	return p->get_gives;
}

static int note_abort(void *context, int status, const char *reason)
{
	CU_ASSERT_STRING_EQUAL(reason, "enough");
	((struct program *)context)->aborted = status;
	return 0;
}

static struct oriel_bootstrap by_exchange(void)
{
	program = (struct program){ .get_size = 7 };
	boot_events_clear_environment();
	boot_events_log[0] = '\0';
	return (struct oriel_bootstrap){
		.struct_bytes = sizeof(struct oriel_bootstrap),
		.rank = ME,
		.size = RANKS,
		.context = &program,
		.exchange = exchange,
		.abort = note_abort,
	};
}

static struct oriel_bootstrap by_store(void)
{
	struct oriel_bootstrap given = by_exchange();

	given.exchange = NULL;
	given.put = put;
	given.get = get;
	return given;
}

static struct boot *open_given(const struct oriel_bootstrap *given)
{
	struct boot *boot = NULL;

	CU_ASSERT_EQUAL_FATAL(boot_open(given, &boot_events, boot_events_log, &boot), 0);
	return boot;
}

static bool is_readable(const struct boot *boot, int timeout_ms)
{
	struct pollfd fd = { .fd = boot->ops->fd(boot), .events = POLLIN };

	return poll(&fd, 1, timeout_ms) == 1;
}

static void expect_refused(const struct oriel_bootstrap *given, int code, const char *reason)
{
	struct boot *boot = NULL;

	CU_ASSERT_EQUAL(boot_open(given, &boot_events, boot_events_log, &boot), code);
	CU_ASSERT_PTR_NULL(boot);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), reason));
}

static void open__fills_in(void)
{
	struct oriel_bootstrap given = by_exchange();
	struct boot *boot = open_given(&given);

	CU_ASSERT_STRING_EQUAL(boot->ops->name, "caller");
	CU_ASSERT_EQUAL(boot->rank, ME);
	CU_ASSERT_EQUAL(boot->size, RANKS);
	CU_ASSERT_EQUAL(boot->local_size, 3);
	boot->ops->close(boot);
	given.local_size = 2;
	boot = open_given(&given);
	CU_ASSERT_EQUAL(boot->local_size, 2);
	boot->ops->close(boot);
	given = by_store();
	boot = open_given(&given);
	CU_ASSERT_EQUAL(boot->local_size, 1);
	boot->ops->close(boot);
}

static void open__refuses_wrong_numbers(void)
{
	struct oriel_bootstrap given = by_exchange();

	given.size = 0;
	expect_refused(&given, ORIEL_ERR_ARG, "size is 0");
	given = by_exchange();
	given.rank = RANKS;
	expect_refused(&given, ORIEL_ERR_ARG, "rank is 4; it must be from 0 to 3");
	given.rank = -1;
	expect_refused(&given, ORIEL_ERR_ARG, "rank is -1");
	given = by_exchange();
	given.local_size = RANKS + 1;
	expect_refused(&given, ORIEL_ERR_ARG, "local_size is 5");
	given = by_exchange();
	given.struct_bytes = 0;
	expect_refused(&given, ORIEL_ERR_ARG, "sizeof(struct oriel_bootstrap)");
	CU_ASSERT_EQUAL(program.exchanges, 0);
}

static void open__refuses_half_a_way_and_both(void)
{
	struct oriel_bootstrap given = by_exchange();

	given.put = put;
	expect_refused(&given, ORIEL_ERR_ARG, "and not both");
	given.exchange = NULL;
	expect_refused(&given, ORIEL_ERR_ARG, "and not both");
	given.put = NULL;
	expect_refused(&given, ORIEL_ERR_ARG, "and not both");
}

static void open__exchange_that_fails(void)
{
	struct oriel_bootstrap given = by_exchange();
	struct boot *boot;

	program.fails_at = 1;
	expect_refused(&given, ORIEL_ERR_BOOTSTRAP, "rank 1: the program's exchange of 32 bytes gives 77");
	given = by_exchange();
	program.forgets = true;
	expect_refused(&given, ORIEL_ERR_BOOTSTRAP, "does not give back");
	given = by_exchange();
	program.fails_at = 2;
	boot = open_given(&given);
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), ORIEL_ERR_BOOTSTRAP);
	boot->ops->close(boot);
	CU_ASSERT_EQUAL(program.exchanges, 2);
}

static void open__comes_before_any_launcher(void)
{
	struct oriel_bootstrap given = by_exchange();
	struct boot *boot;

	setenv("ORIEL_BOOTSTRAP", "nonsense", 1);
	setenv("PMI_FD", "x", 1);
	setenv("ORIEL_BOOT", "pmi", 1);
	boot = open_given(&given);
	CU_ASSERT_STRING_EQUAL(boot->ops->name, "caller");
	boot->ops->close(boot);
	boot_events_clear_environment();
}

static void exchange__answers_by_dispatch(void)
{
	struct oriel_bootstrap given = by_exchange();
	struct boot *boot = open_given(&given);

	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, "k"), ORIEL_ERR_SYNC);
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), 0);
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), ORIEL_ERR_SYNC);
	CU_ASSERT_FALSE(is_readable(boot, 0));
	CU_ASSERT_EQUAL(boot->ops->get(boot, 2, "k"), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 3, "k"), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 4, "k"), ORIEL_ERR_RANK);
	CU_ASSERT_TRUE(is_readable(boot, 5000));
	boot_events_expect("");
	boot->ops->dispatch(boot);
	boot_events_expect("2.k=AB;3.k=-;");
	CU_ASSERT_FALSE(is_readable(boot, 0));
	boot->ops->close(boot);
	CU_ASSERT_EQUAL(program.exchanges, 2);
}

/* Or the other ranks would wait in it for ever. */
static void exchange__is_made_by_a_rank_that_fails_before_it(void)
{
	struct oriel_bootstrap given = by_exchange();
	struct boot *boot = open_given(&given);

	CU_ASSERT_EQUAL(program.exchanges, 1);
	boot->ops->close(boot);
	CU_ASSERT_EQUAL(program.exchanges, 2);
}

static void store__puts_and_gets(void)
{
	struct oriel_bootstrap given = by_store();
	struct boot *boot = open_given(&given);

	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), 0);
	CU_ASSERT_EQUAL(program.puts, 1);
	CU_ASSERT_EQUAL(program.put_size, 2);
	CU_ASSERT_EQUAL(memcmp(program.put_bytes, "AB", 2), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 3, "k"), 0);
	CU_ASSERT_TRUE(is_readable(boot, 5000));
	boot->ops->dispatch(boot);
	boot_events_expect("3.k=value 3;");
	program.get_gives = -1;
	CU_ASSERT_EQUAL(boot->ops->get(boot, 3, "k"), 0);
	boot->ops->dispatch(boot);
	boot_events_expect("3.k=-;");
	boot->ops->close(boot);
}

static void store__asks_again_for_what_is_not_there_yet(void)
{
	struct oriel_bootstrap given = by_store();
	struct boot *boot = open_given(&given);

	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), 0);
	program.get_gives = 1;
	CU_ASSERT_EQUAL(boot->ops->get(boot, 3, "k"), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 2, "k"), 0);
	for (int i = 1; i <= 3; i++) {
		CU_ASSERT_TRUE(is_readable(boot, 5000));
		boot->ops->dispatch(boot);
		boot_events_expect("");
	}
	program.get_gives = 0;
	while (program.gets < 8 && is_readable(boot, 5000))
		boot->ops->dispatch(boot);
	CU_ASSERT_TRUE(strstr(boot_events_log, "3.k=value 3;") && strstr(boot_events_log, "2.k=value 2;"));
	boot->ops->close(boot);
}

static void store__errors(void)
{
	struct oriel_bootstrap given = by_store();
	struct boot *boot = open_given(&given);

	program.fails_at = 1;
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", "AB", 2), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "the program's put of 2 bytes gives 77"));
	program.get_size = BOOT_VALUE_MAX_BYTES + 1;
	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, "k"), 0);
	boot->ops->dispatch(boot);
	boot_events_expect("0.k=-;");
	boot->ops->close(boot);
}

static void abort__is_passed_on(void)
{
	struct oriel_bootstrap given = by_exchange();
	struct boot *boot = open_given(&given);

	CU_ASSERT_EQUAL(boot->ops->abort(boot, 42, "enough"), 0);
	CU_ASSERT_EQUAL(program.aborted, 42);
	boot->ops->close(boot);
	given.abort = NULL;
	boot = open_given(&given);
	CU_ASSERT_EQUAL(boot->ops->abort(boot, 42, "enough"), 0);
	boot->ops->close(boot);
}

void suite_boot_caller(void)
{
	CU_pSuite suite = CU_add_suite("boot_caller", NULL, NULL);

	CU_ADD_TEST(suite, open__fills_in);
	CU_ADD_TEST(suite, open__refuses_wrong_numbers);
	CU_ADD_TEST(suite, open__refuses_half_a_way_and_both);
	CU_ADD_TEST(suite, open__exchange_that_fails);
	CU_ADD_TEST(suite, open__comes_before_any_launcher);
	CU_ADD_TEST(suite, exchange__answers_by_dispatch);
	CU_ADD_TEST(suite, exchange__is_made_by_a_rank_that_fails_before_it);
	CU_ADD_TEST(suite, store__puts_and_gets);
	CU_ADD_TEST(suite, store__asks_again_for_what_is_not_there_yet);
	CU_ADD_TEST(suite, store__errors);
	CU_ADD_TEST(suite, abort__is_passed_on);
}
