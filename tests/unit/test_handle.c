// SPDX-License-Identifier: BSD-2-Clause
/* test_handle.c - handle.c: handles that can be checked after they were freed (E2). */
#include "base/handle.c"

#include <CUnit/CUnit.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suites.h"

/*
 * All objects of one kind have one size; other suites make groups and jobs, so this one uses
 * windows and memory.
 */
struct thing {
	struct handle handle;
	char rest[3000];
};

static void handle_new__is_zeroed_and_valid(void)
{
	struct thing *thing = handle_new(HANDLE_WIN, sizeof(*thing));

	CU_ASSERT_PTR_NOT_NULL_FATAL(thing);
	CU_ASSERT_TRUE(handle_valid(HANDLE_WIN, thing));
	for (size_t i = 0; i < sizeof(thing->rest); i++)
		CU_ASSERT_EQUAL(thing->rest[i], 0);
	memset(thing->rest, 'x', sizeof(thing->rest));
	handle_release(HANDLE_WIN, thing);
}

static void handle_new__zeroes_memory_it_uses_again(void)
{
	struct thing *first = handle_new(HANDLE_WIN, sizeof(*first)), *second;

	memset(first->rest, 'x', sizeof(first->rest));
	handle_release(HANDLE_WIN, first);
	second = handle_new(HANDLE_WIN, sizeof(*second));
	CU_ASSERT_PTR_EQUAL(second, first);
	for (size_t i = 0; i < sizeof(second->rest); i++)
		CU_ASSERT_EQUAL(second->rest[i], 0);
	handle_release(HANDLE_WIN, second);
}

/* A handle named by pointer and serial is not confused with a later one in the same memory. */
static void handle_new__gives_no_serial_twice(void)
{
	struct thing *first = handle_new(HANDLE_WIN, sizeof(*first)), *second, *third;
	uint64_t serial = first->handle.serial;

	second = handle_new(HANDLE_WIN, sizeof(*second));
	CU_ASSERT_NOT_EQUAL(second->handle.serial, serial);
	handle_release(HANDLE_WIN, first);
	third = handle_new(HANDLE_WIN, sizeof(*third));
	CU_ASSERT_PTR_EQUAL(third, first);
	CU_ASSERT_NOT_EQUAL(third->handle.serial, serial);
	CU_ASSERT_NOT_EQUAL(third->handle.serial, second->handle.serial);
	handle_release(HANDLE_WIN, second);
	handle_release(HANDLE_WIN, third);
}

static void handle_release__leaves_a_pointer_that_can_be_checked(void)
{
	struct thing *things[8];

	for (int i = 0; i < 8; i++)
		things[i] = handle_new(HANDLE_WIN, sizeof(*things[i]));
	for (int i = 0; i < 8; i++)
		handle_release(HANDLE_WIN, things[i]);
	for (int i = 0; i < 8; i++)
		CU_ASSERT_FALSE(handle_valid(HANDLE_WIN, things[i]));
}

/* Status 0: what is inherited is invalid, also if released since it was made, and new ones can be made. */
static int look_in_child(struct thing *const inherited[2], const struct thing *released)
{
	struct thing *own;

	if (handle_valid(HANDLE_WIN, inherited[0]) || handle_valid(HANDLE_WIN, inherited[1]) ||
	    handle_valid(HANDLE_WIN, released))
		return 1;
	own = handle_new(HANDLE_WIN, sizeof(*own));
	if (!own || !handle_valid(HANDLE_WIN, own) || own == inherited[0] || own == inherited[1])
		return 2;
	handle_release(HANDLE_WIN, own);
	return handle_valid(HANDLE_WIN, own) ? 3 : 0;
}

static void handle_valid__refuses_what_a_child_inherits(void)
{
	struct thing *things[3];
	int status;
	pid_t child;

	for (int i = 0; i < 3; i++)
		things[i] = handle_new(HANDLE_WIN, sizeof(*things[i]));
	handle_release(HANDLE_WIN, things[2]);
	child = fork();
	if (child == 0)
		_exit(look_in_child(things, things[2]));
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_TRUE(handle_valid(HANDLE_WIN, things[i]));
		handle_release(HANDLE_WIN, things[i]);
	}
}

static void handle_valid__refuses_other_kinds(void)
{
	struct thing *win = handle_new(HANDLE_WIN, sizeof(*win));

	CU_ASSERT_FALSE(handle_valid(HANDLE_JOB, win));
	CU_ASSERT_FALSE(handle_valid(HANDLE_GROUP, win));
	CU_ASSERT_FALSE(handle_valid(HANDLE_MEM, win));
	handle_release(HANDLE_WIN, win);
}

static void handle_valid__refuses_what_is_no_handle(void)
{
	_Alignas(16) static char bytes[64];
	struct thing *win = handle_new(HANDLE_WIN, sizeof(*win));
	struct handle copy;

	CU_ASSERT_FALSE(handle_valid(HANDLE_WIN, NULL));
	CU_ASSERT_FALSE(handle_valid(HANDLE_WIN, bytes));
	CU_ASSERT_FALSE(handle_valid(HANDLE_WIN, bytes + 1));
	CU_ASSERT_FALSE(handle_valid(HANDLE_WIN, (char *)win + 1));
	memcpy(&copy, win, sizeof(copy));
	CU_ASSERT_FALSE(handle_valid(HANDLE_WIN, &copy));
	handle_release(HANDLE_WIN, win);
}

void suite_handle(void)
{
	CU_pSuite suite = CU_add_suite("handle", NULL, NULL);

	CU_ADD_TEST(suite, handle_new__is_zeroed_and_valid);
	CU_ADD_TEST(suite, handle_new__zeroes_memory_it_uses_again);
	CU_ADD_TEST(suite, handle_new__gives_no_serial_twice);
	CU_ADD_TEST(suite, handle_release__leaves_a_pointer_that_can_be_checked);
	CU_ADD_TEST(suite, handle_valid__refuses_what_a_child_inherits);
	CU_ADD_TEST(suite, handle_valid__refuses_other_kinds);
	CU_ADD_TEST(suite, handle_valid__refuses_what_is_no_handle);
}
