// SPDX-License-Identifier: BSD-2-Clause
/* test_boot_single.c - bootstrap/client/single.c */
#include "client/clients.h"
#include "boot_events.h"
#include "oriel.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <string.h>

static struct boot *open_single(void)
{
	struct boot *boot = NULL;

	boot_events_clear_environment();
	boot_events_log[0] = '\0';
	CU_ASSERT_EQUAL_FATAL(boot_open(NULL, &boot_events, boot_events_log, &boot), 0);
	return boot;
}

static void open__fills_in(void)
{
	struct boot *boot = open_single();

	CU_ASSERT_EQUAL(boot->local_size, 1);
	CU_ASSERT_STRING_EQUAL(boot->addr, "");
	CU_ASSERT_EQUAL(boot->ops->fd(boot), -1);
	boot->ops->close(boot);
}

static void get__is_answered_by_dispatch(void)
{
	struct boot *boot = open_single();

	CU_ASSERT_EQUAL(boot->ops->put(boot, "a", "1", 1), 0);
	CU_ASSERT_EQUAL(boot->ops->put(boot, "b", "2", 1), 0);
	CU_ASSERT_EQUAL(boot->ops->put(boot, "a", "3", 1), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, "b"), 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, "a"), 0);
	boot_events_expect("");
	CU_ASSERT_EQUAL(boot->ops->dispatch(boot), 0);
	boot_events_expect("0.b=2;0.a=3;");
	boot->ops->close(boot);
}

static void get__waits_for_put(void)
{
	struct boot *boot = open_single();

	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, "late"), 0);
	CU_ASSERT_EQUAL(boot->ops->dispatch(boot), 0);
	boot_events_expect("");
	CU_ASSERT_EQUAL(boot->ops->put(boot, "late", NULL, 0), 0);
	CU_ASSERT_EQUAL(boot->ops->dispatch(boot), 0);
	boot_events_expect("0.late=;");
	boot->ops->close(boot);
}

static void get__checks_its_arguments(void)
{
	struct boot *boot = open_single();

	CU_ASSERT_EQUAL(boot->ops->get(boot, 1, "k"), ORIEL_ERR_RANK);
	CU_ASSERT_EQUAL(boot->ops->get(boot, -1, "k"), ORIEL_ERR_RANK);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, ""), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(boot->ops->put(boot, "k", NULL, 1), ORIEL_ERR_ARG);
	boot->ops->close(boot);
}

static void get__keeps_to_its_bound(void)
{
	struct boot *boot = open_single();
	int rc = 0;
	int i;

	for (i = 0; i < 4096; i++)
		rc |= boot->ops->get(boot, 0, "k");
	CU_ASSERT_EQUAL(rc, 0);
	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, "k"), ORIEL_ERR_LIMIT);
	boot->ops->close(boot);
}

static void leave__answers_never(void)
{
	struct boot *boot = open_single();

	CU_ASSERT_EQUAL(boot->ops->get(boot, 0, "k"), 0);
	CU_ASSERT_EQUAL(boot->ops->leave(boot), 0);
	CU_ASSERT_EQUAL(boot->ops->dispatch(boot), 0);
	boot_events_expect("0.k=-;");
	boot->ops->close(boot);
}

static void abort__does_nothing(void)
{
	struct boot *boot = open_single();

	CU_ASSERT_EQUAL(boot->ops->abort(boot, 1, NULL), 0);
	boot->ops->close(boot);
}

void suite_boot_single(void)
{
	CU_pSuite suite = CU_add_suite("boot_single", NULL, NULL);

	CU_ADD_TEST(suite, open__fills_in);
	CU_ADD_TEST(suite, get__is_answered_by_dispatch);
	CU_ADD_TEST(suite, get__waits_for_put);
	CU_ADD_TEST(suite, get__checks_its_arguments);
	CU_ADD_TEST(suite, get__keeps_to_its_bound);
	CU_ADD_TEST(suite, leave__answers_never);
	CU_ADD_TEST(suite, abort__does_nothing);
}
