// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_fake_provider.c - who serves the device: the fake takes rdma-core's place, and the softverbs that
 * is built in is the real one, beside it in one process
 */
#include <CUnit/CUnit.h>
#include <errno.h>
#include <string.h>

#include "fake_verbs.h"
#include "oriel.h"
#include "suites_fake.h"
#include "verbs/device.h"
#include "verbs/provider.h"

static void expect(const char *wanted, const struct verbs_functions *functions, const char *device)
{
	struct provider provider = provider_choose(wanted);

	CU_ASSERT_PTR_EQUAL(provider.functions, functions);
	CU_ASSERT_STRING_EQUAL(provider.device, device);
}

static void test_device_of_rdma_core_comes_first(void)
{
	fake_reset();
	expect(NULL, &verbs_system, "");
	expect("", &verbs_system, "");
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
	expect("fake0", &verbs_system, "fake0");
	fake_config.no_device = true;
	expect("fake0", &verbs_system, "fake0");
}

/* Who has no descriptor left has not said that there is no device. */
static void test_shortage_is_no_absence(void)
{
	fake_reset();
	fake_config.shortage = EMFILE;
	expect(NULL, &verbs_system, "");
	fake_reset();
	fake_fail_call(1);
	expect(NULL, &verbs_system, "");
	fake_reset();
}

/* It calls itself, not the functions of the same names that the process has. */
static void test_softverbs_is_there_beside_another_libibverbs(void)
{
	struct device device;

	fake_reset();
	fake_fail_call(1);
	CU_ASSERT_EQUAL_FATAL(device_open(&device, &verbs_softverbs, "", "", 0), 0);
	CU_ASSERT_STRING_EQUAL(device_name(&device), "soft0");
	CU_ASSERT_TRUE(device_lends(&device));
	device_close(&device);
	CU_ASSERT_PTR_NULL(fake_hit());
	fake_reset();
}

void suite_provider(void)
{
	CU_pSuite suite = CU_add_suite("provider", NULL, NULL);

	CU_add_test(suite, "device_of_rdma_core_comes_first", test_device_of_rdma_core_comes_first);
	CU_add_test(suite, "softverbs_serves_where_there_is_none", test_softverbs_serves_where_there_is_none);
	CU_add_test(suite, "name_decides", test_name_decides);
	CU_add_test(suite, "shortage_is_no_absence", test_shortage_is_no_absence);
	CU_add_test(suite, "softverbs_is_there_beside_another_libibverbs",
	            test_softverbs_is_there_beside_another_libibverbs);
}
