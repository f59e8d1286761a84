// SPDX-License-Identifier: BSD-2-Clause
/* test_libev.c - libev.c. */
#include "base/libev.c"

#include <CUnit/CUnit.h>

#include "suites.h"

static void libev_open__gives_a_loop(void)
{
	const struct libev *libev = NULL, *again = NULL;
	struct ev_loop *loop;

	CU_ASSERT_EQUAL_FATAL(libev_open(&libev), 0);
	CU_ASSERT_EQUAL(libev_open(&again), 0);
	CU_ASSERT_PTR_EQUAL(libev, again);
	loop = libev->loop_new(EVFLAG_AUTO);
	CU_ASSERT_PTR_NOT_NULL_FATAL(loop);
	CU_ASSERT_EQUAL(libev->run(loop, EVRUN_NOWAIT), 0); /* nothing to wait for */
	libev->loop_destroy(loop);
}

/* A library that looks for a name of libevent, as Open MPI does, does not find libev's. */
static void libev_open__shows_nothing_to_others(void)
{
	const struct libev *libev;

	CU_ASSERT_EQUAL(libev_open(&libev), 0);
	CU_ASSERT_PTR_NULL(dlsym(RTLD_DEFAULT, "event_add"));
	CU_ASSERT_PTR_NULL(dlsym(RTLD_DEFAULT, "ev_run"));
}

static void open_library__a_missing_one_names_the_package(void)
{
	struct libev libev;

	CU_ASSERT_EQUAL(open_library("libno-such.so.4", &libev), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "libno-such.so.4: cannot open shared object file"));
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "the package libev4"));
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "LD_LIBRARY_PATH"));
}

static void open_library__a_wrong_one_names_the_function(void)
{
	struct libev libev;

	CU_ASSERT_EQUAL(open_library("libm.so.6", &libev), ORIEL_ERR_BOOTSTRAP);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "ev_loop_new"));
}

void suite_libev(void)
{
	CU_pSuite suite = CU_add_suite("libev", NULL, NULL);

	CU_ADD_TEST(suite, libev_open__gives_a_loop);
	CU_ADD_TEST(suite, libev_open__shows_nothing_to_others);
	CU_ADD_TEST(suite, open_library__a_missing_one_names_the_package);
	CU_ADD_TEST(suite, open_library__a_wrong_one_names_the_function);
}
