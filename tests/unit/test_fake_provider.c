// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_provider.c - which provider serves the device: the fake takes rdma-core's place, and
 * the built-in softverbs is the real one, beside it in one process
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <string.h>

#include "fake_verbs.h"
#include "oriel.h"
#include "suites_fake.h"
#include "verbs/device.h"
#include "verbs/devices.h"

/* One device, that of functions; "" for any of its name. */
static void expect(const char *wanted, const struct verbs_functions *functions, const char *device)
{
	struct providers providers = providers_choose(wanted);

	CU_ASSERT_EQUAL_FATAL(providers.count, 1);
	CU_ASSERT_PTR_EQUAL(providers.list[0].functions, functions);
	CU_ASSERT_STRING_EQUAL(providers.list[0].device, device);
	CU_ASSERT_TRUE(providers.list[0].needed);
}

/* A card of that name, and softverbs. */
static void expect_both(const char *wanted, const char *device, bool soft_needed)
{
	struct providers providers = providers_choose(wanted);

	CU_ASSERT_EQUAL_FATAL(providers.count, 2);
	CU_ASSERT_PTR_EQUAL(providers.list[0].functions, &verbs_system);
	CU_ASSERT_STRING_EQUAL(providers.list[0].device, device);
	CU_ASSERT_TRUE(providers.list[0].needed);
	CU_ASSERT_PTR_EQUAL(providers.list[1].functions, &verbs_softverbs);
	CU_ASSERT_STRING_EQUAL(providers.list[1].device, "");
	CU_ASSERT_EQUAL(providers.list[1].needed, soft_needed);
}

static void test_both_where_there_is_a_card(void)
{
	fake_reset();
	expect_both(NULL, "", false);
	expect_both("", "", false);
}

static void test_softverbs_serves_where_there_is_none(void)
{
	fake_reset();
	fake_config.no_device = true;
	expect(NULL, &verbs_softverbs, "");
	expect("", &verbs_softverbs, "");
}

static void test_name_decides(void)
{
	fake_reset();
	expect("soft", &verbs_softverbs, "");
	expect("soft0", &verbs_softverbs, "");
	expect("card", &verbs_system, "");
	expect("fake0", &verbs_system, "fake0");
	expect("fake0+1", &verbs_system, "fake0+1");
	expect_both("card+soft", "", true);
	expect_both("fake0+soft", "fake0", true);
	expect_both("fake0+1+soft", "fake0+1", true);
	fake_config.no_device = true;
	expect("fake0", &verbs_system, "fake0");
}

/* A lack of descriptors does not prove that there is no device. */
static void test_shortage_is_no_absence(void)
{
	fake_reset();
	fake_config.shortage = EMFILE;
	expect_both(NULL, "", false);
	fake_reset();
	fake_fail_call(1);
	expect_both(NULL, "", false);
	fake_reset();
}

/* Both are open, and each is what its index says. */
static void test_open_both(void)
{
	struct providers providers = providers_choose("fake0+soft");
	struct devices devices;

	fake_reset();
	CU_ASSERT_EQUAL_FATAL(providers_open(&providers, FAKE_ADDR, 0, &devices), 0);
	CU_ASSERT_EQUAL_FATAL(devices.count, 2);
	CU_ASSERT_EQUAL(devices.list[1].index, 1);
	CU_ASSERT_PTR_EQUAL(devices_find(&devices, false), &devices.list[0]);
	CU_ASSERT_PTR_EQUAL(devices_find(&devices, true), &devices.list[1]);
	devices_close(&devices);
	CU_ASSERT_EQUAL(fake_alive(), 0);
}

/* A needed device that is not there leaves nothing open. */
static void test_open_fails_as_a_whole(void)
{
	struct providers providers = providers_choose("other0+soft");
	struct devices devices;

	fake_reset();
	CU_ASSERT_EQUAL(providers_open(&providers, NULL, 0, &devices), ORIEL_ERR_DEVICE);
	CU_ASSERT_EQUAL(devices.count, 0);
	CU_ASSERT_EQUAL(fake_alive(), 0);
}

static struct rdma_event_channel *no_channel(void)
{
	errno = EPERM;
	return NULL;
}

/* In a container without what softverbs needs the card serves all, unless both were asked for. */
static void test_goes_on_without_softverbs(void)
{
	struct providers providers = { .count = 2 };
	struct verbs_functions refusing = verbs_softverbs;
	struct devices devices;

	fake_reset();
	refusing.create_event_channel = no_channel;
	providers.list[0] = (struct provider){ &verbs_system, "", true };
	providers.list[1] = (struct provider){ &refusing, "", false };
	CU_ASSERT_EQUAL_FATAL(providers_open(&providers, NULL, 0, &devices), 0);
	CU_ASSERT_EQUAL(devices.count, 1);
	CU_ASSERT_PTR_NULL(devices_find(&devices, true));
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "Operation not permitted"));
	devices_close(&devices);
	providers.list[1].needed = true;
	CU_ASSERT_EQUAL(providers_open(&providers, NULL, 0, &devices), ORIEL_ERR_DEVICE);
	CU_ASSERT_EQUAL(fake_alive(), 0);
}

/* It calls itself, not the functions of the same names that the process has. */
static void test_softverbs_is_there_beside_another_libibverbs(void)
{
	struct device device;

	fake_reset();
	fake_fail_call(1);
	CU_ASSERT_EQUAL_FATAL(device_open(&device, &verbs_softverbs, "", "", 0), 0);
	CU_ASSERT_STRING_EQUAL(device_name(&device), "soft0");
	CU_ASSERT_TRUE(device_maps_memory(&device));
	CU_ASSERT_EQUAL(device.atomics_reported, ATOMICS_GLOB);
	device_close(&device);
	CU_ASSERT_PTR_NULL(fake_hit());
	fake_reset();
}

void suite_provider(void)
{
	CU_pSuite suite = CU_add_suite("provider", NULL, NULL);

	CU_add_test(suite, "both_where_there_is_a_card", test_both_where_there_is_a_card);
	CU_add_test(suite, "softverbs_serves_where_there_is_none", test_softverbs_serves_where_there_is_none);
	CU_add_test(suite, "name_decides", test_name_decides);
	CU_add_test(suite, "shortage_is_no_absence", test_shortage_is_no_absence);
	CU_add_test(suite, "open_both", test_open_both);
	CU_add_test(suite, "open_fails_as_a_whole", test_open_fails_as_a_whole);
	CU_add_test(suite, "goes_on_without_softverbs", test_goes_on_without_softverbs);
	CU_add_test(suite, "softverbs_is_there_beside_another_libibverbs",
	            test_softverbs_is_there_beside_another_libibverbs);
}
