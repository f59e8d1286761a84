// SPDX-License-Identifier: BSD-2-Clause
/* test_libraries.c - lib/mpi/starter/libraries.c and what it stands on. */
#include "mpi/starter/libraries.h"

#include <CUnit/CUnit.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"

static const char program[] = "/proc/self/exe";

/*
 * How many there are; all are among those that the dynamic linker has loaded, and have been found
 * as files.
 */
static size_t check_all(struct libraries *libraries)
{
	const char *name;
	size_t count = 0;

	while ((name = libraries_next(libraries)) != NULL) {
		void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);

		CU_ASSERT_PTR_NOT_NULL(handle);
		if (handle)
			dlclose(handle);
		count++;
	}
	for (size_t i = 0; i < libraries->count; i++)
		CU_ASSERT_PTR_NOT_NULL(libraries->list[i].image.bytes);
	return count;
}

static bool has(const struct libraries *libraries, const char *name)
{
	for (size_t i = 1; i < libraries->count; i++) {
		if (strcmp(libraries->list[i].name, name) == 0)
			return true;
	}
	return false;
}

static void libraries__are_those_that_the_dynamic_linker_has_loaded(void)
{
	struct libraries libraries;

	CU_ASSERT_EQUAL_FATAL(libraries_open(&libraries, program), 0);
	CU_ASSERT(check_all(&libraries) >= 5);
	CU_ASSERT_TRUE(has(&libraries, "libibverbs.so.1"));
	CU_ASSERT_TRUE(has(&libraries, "libc.so.6"));
	CU_ASSERT_FALSE(has(&libraries, "libev.so.4")); /* by dlopen */
	libraries_close(&libraries);
}

/* Names are known before files are read: the program's own come first. */
static void libraries__read_no_file_before_it_is_needed(void)
{
	struct libraries libraries;

	CU_ASSERT_EQUAL_FATAL(libraries_open(&libraries, program), 0);
	CU_ASSERT_PTR_NOT_NULL(libraries_next(&libraries));
	CU_ASSERT_EQUAL(libraries.opened, 1);
	libraries_close(&libraries);
}

static void libraries__of_no_program_are_none(void)
{
	struct libraries libraries;

	unsetenv("LD_PRELOAD"); /* what a tool such as valgrind preloads would count */
	CU_ASSERT_EQUAL_FATAL(libraries_open(&libraries, "/no/such/program"), 0);
	CU_ASSERT_PTR_NULL(libraries_next(&libraries));
	libraries_close(&libraries);
}

void suite_libraries(void)
{
	CU_pSuite suite = CU_add_suite("libraries", NULL, NULL);

	CU_ADD_TEST(suite, libraries__are_those_that_the_dynamic_linker_has_loaded);
	CU_ADD_TEST(suite, libraries__read_no_file_before_it_is_needed);
	CU_ADD_TEST(suite, libraries__of_no_program_are_none);
}
