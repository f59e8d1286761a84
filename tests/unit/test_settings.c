// SPDX-License-Identifier: BSD-2-Clause
/* test_settings.c - settings.c: variables of the environment, read strictly. */
#include "base/settings.h"

#include <CUnit/CUnit.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "oriel.h"
#include "suites.h"

#define NAME "ORIEL_TEST_SETTING"

static int seconds(const char *text)
{
	int ms = -1, rc;

	setenv(NAME, text, 1);
	rc = setting_seconds(NAME, &ms);
	CU_ASSERT_EQUAL(rc == 0, ms != -1 || !*text);
	return rc ? rc : ms;
}

static void refused(const char *text, const char *legal)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), NAME));
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), text));
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), legal));
}

static void setting_seconds__legal(void)
{
	static const struct {
		const char *text;
		int ms;
	} cases[] = {
		{ "0", 0 },      { "0.0", 0 },       { "1", 1000 },   { "10", 10000 },           { "0.5", 500 },
		{ "0.0001", 1 }, { "1.2345", 1235 }, { "007", 7000 }, { "2000000", 2000000000 }, { "0.999000", 999 }
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(seconds(cases[i].text), cases[i].ms);
	CU_ASSERT_EQUAL(seconds(""), -1); /* as if it were not set */
	unsetenv(NAME);
}

static void setting_seconds__refused(void)
{
	static const char *const texts[] = { "10s",  "abc", "nan", "inf",     "-1",
		                                 "+1",   " 1",  "1 ",  "1.",      ".5",
		                                 "0x10", "1e3", "1,5", "2000001", "99999999999999999999999999",
		                                 "1.2.3" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CU_ASSERT_EQUAL(seconds(texts[i]), ORIEL_ERR_ARG);
		refused(texts[i], "seconds from 0 to 2000000");
	}
	unsetenv(NAME);
}

static void setting_bytes__strictly(void)
{
	static const char *const texts[] = { "abc", "1k", "-1", "1.5", "0x100", "99999999999999999999999999" };
	size_t bytes = 77;

	CU_ASSERT_EQUAL(setting_bytes(NAME, &bytes), 0);
	CU_ASSERT_EQUAL(bytes, 77);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		setenv(NAME, texts[i], 1);
		CU_ASSERT_EQUAL(setting_bytes(NAME, &bytes), ORIEL_ERR_ARG);
		refused(texts[i], "number of bytes");
		CU_ASSERT_EQUAL(bytes, 77);
	}
	setenv(NAME, "1048576", 1);
	CU_ASSERT_EQUAL(setting_bytes(NAME, &bytes), 0);
	CU_ASSERT_EQUAL(bytes, 1048576);
	setenv(NAME, "0", 1);
	CU_ASSERT_EQUAL(setting_bytes(NAME, &bytes), 0);
	CU_ASSERT_EQUAL(bytes, 0);
	unsetenv(NAME);
}

static void setting_word__one_of_the_list(void)
{
	static const char *const words[] = { "red", "green", NULL };
	int value = 9;

	CU_ASSERT_EQUAL(setting_word(NAME, words, &value), 0);
	CU_ASSERT_EQUAL(value, 9);
	setenv(NAME, "green", 1);
	CU_ASSERT_EQUAL(setting_word(NAME, words, &value), 0);
	CU_ASSERT_EQUAL(value, 1);
	setenv(NAME, "greenish", 1);
	CU_ASSERT_EQUAL(setting_word(NAME, words, &value), ORIEL_ERR_ARG);
	refused("greenish", "one of red, green");
	unsetenv(NAME);
}

void suite_settings(void)
{
	CU_pSuite suite = CU_add_suite("settings", NULL, NULL);

	CU_ADD_TEST(suite, setting_seconds__legal);
	CU_ADD_TEST(suite, setting_seconds__refused);
	CU_ADD_TEST(suite, setting_bytes__strictly);
	CU_ADD_TEST(suite, setting_word__one_of_the_list);
}
