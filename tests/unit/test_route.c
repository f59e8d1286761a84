// SPDX-License-Identifier: BSD-2-Clause
/* test_route.c - which device two ranks talk by: lib/conn/endpoint.c, lib/base/process.c */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn/conn.h"
#include "suites.h"

static const struct endpoint both_devices = {
	.card = "10.0.0.1 1",
	.soft = "10.0.0.1 2",
	.place = { { 1 }, 11, 12, 13, 1000, "" },
};

/* Returns the route, which must be equal from both sides; checks the reason if there is none. */
static enum route choose(const struct endpoint *a, const struct endpoint *b, const char *reason)
{
	char why[ROUTE_WHY_BYTES] = "", back[ROUTE_WHY_BYTES] = "";
	enum route route = route_choose(a, b, why);

	CU_ASSERT_EQUAL(route_choose(b, a, back), route);
	CU_ASSERT_TRUE(!reason || (strstr(why, reason) && strstr(why, "ORIEL_DEVICE") && strstr(back, "ORIEL_DEVICE")));
	CU_ASSERT_TRUE(strlen(why) < ROUTE_WHY_BYTES - 1);
	return route;
}

static struct endpoint without_card(void)
{
	struct endpoint endpoint = both_devices;

	endpoint.card[0] = '\0';
	return endpoint;
}

static struct endpoint without_soft(void)
{
	struct endpoint endpoint = both_devices;

	endpoint.soft[0] = '\0';
	return endpoint;
}

static void route_choose__memory_first(void)
{
	struct endpoint no_card = without_card();

	CU_ASSERT_EQUAL(choose(&both_devices, &both_devices, NULL), ROUTE_SOFT);
	CU_ASSERT_EQUAL(choose(&both_devices, &no_card, NULL), ROUTE_SOFT);
	CU_ASSERT_EQUAL(choose(&no_card, &no_card, NULL), ROUTE_SOFT);
}

/* A14: both are named, each from its own side. */
static void route_choose__alike_in_atomics_only(void)
{
	static const char *const text[] = { "not set", "\"cpu\"", "\"device\"" };

	for (int i = 0; i < 9; i++) {
		struct endpoint a = both_devices, b = both_devices;
		char why[ROUTE_WHY_BYTES] = "", expected[64];

		a.atomics = (uint8_t)(i / 3);
		b.atomics = (uint8_t)(i % 3);
		CU_ASSERT_EQUAL(route_choose(&a, &b, why), a.atomics == b.atomics ? ROUTE_SOFT : ROUTE_NONE);
		snprintf(expected, sizeof(expected), "ORIEL_ATOMICS is %s, that of this rank %s;", text[i % 3], text[i / 3]);
		CU_ASSERT_TRUE(a.atomics == b.atomics || strstr(why, expected));
	}
}

/* Of two ranks, one is unkind: each is named from its own side. */
static void route_choose__alike_in_unkindness_only(void)
{
	struct endpoint a = both_devices, b = both_devices;
	char why[ROUTE_WHY_BYTES] = "";

	a.unkind = 1;
	CU_ASSERT_EQUAL(route_choose(&a, &b, why), ROUTE_NONE);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "is set for this rank and not for it;"));
	CU_ASSERT_EQUAL(route_choose(&b, &a, why), ROUTE_NONE);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "is set for it and not for this rank;"));
	b.unkind = 1;
	CU_ASSERT_EQUAL(route_choose(&a, &b, why), ROUTE_SOFT);
}

static void route_choose__the_card_where_memory_is_not_wanted(void)
{
	struct endpoint no_soft = without_soft();

	CU_ASSERT_EQUAL(choose(&both_devices, &no_soft, NULL), ROUTE_CARD);
	CU_ASSERT_EQUAL(choose(&no_soft, &no_soft, NULL), ROUTE_CARD);
}

static void route_choose__nothing_in_common(void)
{
	struct endpoint no_soft = without_soft(), no_card = without_card(), elsewhere = no_card, nothing = no_soft;

	elsewhere.place.boot_id[3] = 7;
	nothing.card[0] = '\0';
	CU_ASSERT_EQUAL(choose(&no_soft, &no_card, "alike"), ROUTE_NONE);
	CU_ASSERT_EQUAL(choose(&no_card, &no_soft, "alike"), ROUTE_NONE);
	CU_ASSERT_EQUAL(choose(&both_devices, &nothing, "it may not"), ROUTE_NONE);
	CU_ASSERT_EQUAL(choose(&both_devices, &elsewhere, "another machine"), ROUTE_NONE);
	CU_ASSERT_EQUAL(choose(&elsewhere, &no_card, "both had no RDMA device"), ROUTE_NONE);
}

static void route_choose__every_part_of_the_place(void)
{
	struct endpoint other[7];

	for (int i = 0; i < 7; i++)
		other[i] = both_devices;
	other[0].place.boot_id[15] = 1;
	other[1].place.net_namespace++;
	other[2].place.pid_namespace++;
	other[3].place.user_namespace++;
	other[4].place.user++;
	strcpy(other[5].place.node, "b");
	for (int i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(choose(&both_devices, &other[i], NULL), ROUTE_CARD);
	CU_ASSERT_EQUAL(choose(&both_devices, &other[6], NULL), ROUTE_SOFT);
}

/* A place that could not be read equals none, not even itself. */
static void place_apart__unknown_places(void)
{
	struct place place[4];

	for (int i = 0; i < 4; i++)
		place[i] = both_devices.place;
	place[0].boot_id[0] = 0;
	place[1].net_namespace = 0;
	place[2].pid_namespace = 0;
	place[3].user_namespace = 0;
	for (int i = 0; i < 4; i++)
		CU_ASSERT_PTR_NOT_NULL(place_apart(&place[i], &place[i]));
}

static void place_here__is_like_itself(void)
{
	struct place here = place_here(), there;

	CU_ASSERT_PTR_NULL(place_apart(&here, &here));
	setenv("ORIEL_TEST_NODE", "elsewhere", 1);
	there = place_here();
	unsetenv("ORIEL_TEST_NODE");
	CU_ASSERT_STRING_EQUAL(place_apart(&here, &there), "it is on another machine");
}

void suite_route(void)
{
	CU_pSuite suite = CU_add_suite("route", NULL, NULL);

	CU_ADD_TEST(suite, route_choose__memory_first);
	CU_ADD_TEST(suite, route_choose__alike_in_atomics_only);
	CU_ADD_TEST(suite, route_choose__alike_in_unkindness_only);
	CU_ADD_TEST(suite, route_choose__the_card_where_memory_is_not_wanted);
	CU_ADD_TEST(suite, route_choose__nothing_in_common);
	CU_ADD_TEST(suite, route_choose__every_part_of_the_place);
	CU_ADD_TEST(suite, place_apart__unknown_places);
	CU_ADD_TEST(suite, place_here__is_like_itself);
}
