// SPDX-License-Identifier: BSD-2-Clause
/* test_site.c - see/site.c: a place in the code of a process, in words. */
#include "see/site.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suites.h"

static char text[SITE_TEXT_BYTES];

/* Returns the address to which the call returns. */
static __attribute__((noinline)) uint64_t call(void)
{
	return (uintptr_t)__builtin_return_address(0);
}

/* Checks the text of an address of this file: the line, or a place if nothing here reads lines. */
static void check(const char *found, int line)
{
	char wanted[SITE_TEXT_BYTES];

	snprintf(wanted, sizeof(wanted), "test_site.c:%d", line);
	CU_ASSERT_TRUE(strcmp(found, wanted) == 0 || strstr(found, "+0x"));
}

static void site__is_the_line_of_the_call(void)
{
	uint64_t here = call();
	int line = __LINE__ - 1;

	check(site_text(0, here, UINT64_MAX, text), line);
	check(site_text(getpid(), here, UINT64_MAX, text), line);
}

static void site__of_a_large_file_is_a_place_in_it(void)
{
	uint64_t here = call();

	CU_ASSERT_PTR_NOT_NULL(strstr(site_text(0, here, 1, text), "+0x"));
	CU_ASSERT_PTR_NULL(strchr(text, ':'));
}

static void site__of_what_is_no_code_of_a_file_is_empty(void)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_STRING_EQUAL(site_text(0, 0, UINT64_MAX, text), "");
	CU_ASSERT_STRING_EQUAL(site_text(0, 1, UINT64_MAX, text), "");
	CU_ASSERT_STRING_EQUAL(site_text(0, UINT64_MAX, UINT64_MAX, text), "");
	CU_ASSERT_STRING_EQUAL(site_text(0, (uintptr_t)page + 9, UINT64_MAX, text), "");
	CU_ASSERT_STRING_EQUAL(site_text(-1, (uintptr_t)site_text + 1, UINT64_MAX, text), "");
	munmap(page, 4096);
}

void suite_site(void)
{
	CU_pSuite suite = CU_add_suite("site", NULL, NULL);

	CU_ADD_TEST(suite, site__is_the_line_of_the_call);
	CU_ADD_TEST(suite, site__of_a_large_file_is_a_place_in_it);
	CU_ADD_TEST(suite, site__of_what_is_no_code_of_a_file_is_empty);
}
