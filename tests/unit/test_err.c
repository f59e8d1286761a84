// SPDX-License-Identifier: BSD-2-Clause
/* test_err.c - err.c: codes as text, and the thread's last error. */
#include "base/err.c"

#include <CUnit/CUnit.h>
#include <pthread.h>
#include <sys/wait.h>

#include "suites.h"

static void err_set__keeps_text_and_returns_code(void)
{
	CU_ASSERT_EQUAL(err_set(ORIEL_ERR_RANK, "rank %d of %d", 7, 4), ORIEL_ERR_RANK);
	CU_ASSERT_STRING_EQUAL(err_text(), "rank 7 of 4");
}

static void err_set__cuts_what_is_too_long(void)
{
	char text[2 * ERR_TEXT_BYTES];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	err_set(ORIEL_ERR_ARG, "%s", text);
	CU_ASSERT_EQUAL(strlen(err_text()), ERR_TEXT_BYTES - 1);
}

static void err_in__names_the_call_once(void)
{
	err_set(ORIEL_ERR_PEER, "rank 3 is dead");
	CU_ASSERT_EQUAL(err_in(ORIEL_ERR_PEER, "oriel_put"), ORIEL_ERR_PEER);
	CU_ASSERT_STRING_EQUAL(err_text(), "oriel_put: rank 3 is dead");
	err_in(ORIEL_ERR_PEER, "oriel_put");
	CU_ASSERT_STRING_EQUAL(err_text(), "oriel_put: rank 3 is dead");
}

/* I5: a rank that cannot be reached has a code of its own at the border, and the next error has not. */
static void err_in__tells_no_route_from_a_death(void)
{
	CU_ASSERT_EQUAL(err_set_route("rank %d cannot be reached", 3), ORIEL_ERR_PEER);
	CU_ASSERT_EQUAL(err_in(ORIEL_ERR_PEER, "oriel_put"), ORIEL_ERR_ROUTE);
	CU_ASSERT_EQUAL(err_in(ORIEL_ERR_ROUTE, "oriel_put"), ORIEL_ERR_ROUTE);
	CU_ASSERT_STRING_EQUAL(err_text(), "oriel_put: rank 3 cannot be reached");
	err_set(ORIEL_ERR_PEER, "rank 3 is dead");
	CU_ASSERT_EQUAL(err_in(ORIEL_ERR_PEER, "oriel_put"), ORIEL_ERR_PEER);
}

/* "oriel_put" begins "oriel_putv", yet they are two calls. */
static void err_in__tells_a_call_from_one_whose_name_it_begins(void)
{
	err_set(ORIEL_ERR_ARG, "oriel_putv: lists differ");
	err_in(ORIEL_ERR_ARG, "oriel_put");
	CU_ASSERT_STRING_EQUAL(err_text(), "oriel_put: oriel_putv: lists differ");
}

static void err_in__cuts_what_is_too_long(void)
{
	char text[ERR_TEXT_BYTES];

	memset(text, 'y', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	err_set(ORIEL_ERR_ARG, "%s", text);
	err_in(ORIEL_ERR_ARG, "oriel_win_fence");
	CU_ASSERT_EQUAL(strncmp(err_text(), "oriel_win_fence: yyy", 20), 0);
	CU_ASSERT(strlen(err_text()) < ERR_TEXT_BYTES);
}

/*
 * Checks that oriel_last_error puts the process, or its rank, before this text, and the constant
 * after it.
 */
static void framed(const char *who, int number, const char *text)
{
	char wanted[ERR_TEXT_BYTES + ERR_FRAME_BYTES];

	snprintf(wanted, sizeof(wanted), "[%s %d] %s", who, number, text);
	CU_ASSERT_STRING_EQUAL(oriel_last_error(), wanted);
}

static void oriel_last_error__begins_with_the_rank_and_ends_with_the_constant(void)
{
	err_set(ORIEL_ERR_BOOTSTRAP, "oriel_init: no launcher");
	framed("pid", getpid(), "oriel_init: no launcher (ORIEL_ERR_BOOTSTRAP)");
	err_rank_enter(3);
	framed("pid", getpid(), "oriel_init: no launcher (ORIEL_ERR_BOOTSTRAP)");
	err_set(ORIEL_ERR_SYNC, "oriel_put: no epoch");
	framed("rank", 3, "oriel_put: no epoch (ORIEL_ERR_SYNC)");
	err_rank_leave();
	framed("rank", 3, "oriel_put: no epoch (ORIEL_ERR_SYNC)");
	err_set(ORIEL_ERR_HANDLE, "oriel_put: freed");
	framed("pid", getpid(), "oriel_put: freed (ORIEL_ERR_HANDLE)");
}

static void oriel_last_error__of_a_process_with_several_ranks(void)
{
	err_rank_enter(3);
	err_rank_enter(3);
	err_set(ORIEL_ERR_SYNC, "x");
	framed("rank", 3, "x (ORIEL_ERR_SYNC)");
	err_rank_enter(4);
	err_set(ORIEL_ERR_SYNC, "x");
	framed("pid", getpid(), "x (ORIEL_ERR_SYNC)");
	for (int i = 0; i < 3; i++)
		err_rank_leave();
}

static void oriel_last_error__a_forked_child_has_no_rank(void)
{
	int status = -1;
	pid_t child;

	err_rank_enter(3);
	child = fork();
	if (child == 0) {
		err_set(ORIEL_ERR_HANDLE, "x");
		_exit(strncmp(oriel_last_error(), "[pid ", 5) == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	err_rank_leave();
}

static void *read_other_thread(void *arg)
{
	char *seen = arg;

	snprintf(seen, ERR_TEXT_BYTES, "%s", oriel_last_error());
	err_set(ORIEL_ERR_ARG, "of the other thread");
	return NULL;
}

static void oriel_last_error__belongs_to_a_thread(void)
{
	char seen[ERR_TEXT_BYTES] = "unset";
	pthread_t thread;

	err_set(ORIEL_ERR_ARG, "of this thread");
	pthread_create(&thread, NULL, read_other_thread, seen);
	pthread_join(thread, NULL);
	CU_ASSERT_STRING_EQUAL(seen, "");
	CU_ASSERT_STRING_EQUAL(err_text(), "of this thread");
}

static void oriel_strerror__knows_every_code(void)
{
	for (int code = ORIEL_ERR_ARG; code >= ORIEL_ERR_ROUTE; code--) {
		CU_ASSERT_STRING_NOT_EQUAL(oriel_strerror(code), "unknown error");
		for (int other = ORIEL_OK; other > code; other--)
			CU_ASSERT(other == -1 || strcmp(oriel_strerror(code), oriel_strerror(other)) != 0);
	}
	CU_ASSERT_STRING_EQUAL(oriel_strerror(0), "success");
	CU_ASSERT_STRING_EQUAL(oriel_strerror(-1), "unknown error");
	CU_ASSERT_STRING_EQUAL(oriel_strerror(1), "unknown error");
	CU_ASSERT_STRING_EQUAL(oriel_strerror(ORIEL_ERR_ROUTE - 1), "unknown error");
}

void suite_err(void)
{
	CU_pSuite suite = CU_add_suite("err", NULL, NULL);

	CU_ADD_TEST(suite, err_set__keeps_text_and_returns_code);
	CU_ADD_TEST(suite, err_set__cuts_what_is_too_long);
	CU_ADD_TEST(suite, err_in__names_the_call_once);
	CU_ADD_TEST(suite, err_in__tells_no_route_from_a_death);
	CU_ADD_TEST(suite, err_in__tells_a_call_from_one_whose_name_it_begins);
	CU_ADD_TEST(suite, err_in__cuts_what_is_too_long);
	CU_ADD_TEST(suite, oriel_last_error__begins_with_the_rank_and_ends_with_the_constant);
	CU_ADD_TEST(suite, oriel_last_error__of_a_process_with_several_ranks);
	CU_ADD_TEST(suite, oriel_last_error__a_forked_child_has_no_rank);
	CU_ADD_TEST(suite, oriel_last_error__belongs_to_a_thread);
	CU_ADD_TEST(suite, oriel_strerror__knows_every_code);
}
