// SPDX-License-Identifier: BSD-2-Clause
/* test_answer.c - see/answer.c: answers in words, and what is no answer. */
#include "see/answer.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"

#define SIZE 8

static char text[ANSWER_TEXT_BYTES];

static const struct rank_answer plain = { .version = ANSWER_VERSION,
	                                      .facts = ANSWER_WINDOW | ANSWER_COUNTS,
	                                      .other = -1 };
static const struct board_wait wait = {
	.cause = CAUSE_COMPLETE, .rank_count = 2, .ranks = { 5, 6 }, .call = "oriel_win_wait", .window = "window 3 (halo)"
};

static void check(const struct rank_answer *answer, enum board_cause cause, uint64_t count, const char *wanted)
{
	struct asked asked = { 1, cause, count };

	CU_ASSERT_STRING_EQUAL(answer_text(answer, &asked, text), wanted);
}

static void answer__says_how_often_a_rank_has_posted(void)
{
	struct rank_answer answer = plain;

	check(&answer, CAUSE_POST, 1,
	      "rank 1 has never called post for this rank, which has called start once; it waits in no call of Oriel");
	answer.for_other = 4;
	answer.other = 2;
	check(&answer, CAUSE_POST, 2,
	      "rank 1 has called post 4 times for rank 2, never for this rank, which has called start twice; "
	      "it waits in no call of Oriel");
	answer.for_asker = 3;
	check(&answer, CAUSE_COMPLETE, 4,
	      "rank 1 has called complete 4 times for rank 2, 3 times for this rank, which has called post 4 times; "
	      "it waits in no call of Oriel");
}

static void answer__says_how_often_a_rank_has_called_fence(void)
{
	struct rank_answer answer = plain;

	check(&answer, CAUSE_FENCE, 1, "rank 1 has never called fence, this rank once; it waits in no call of Oriel");
	answer.for_asker = 2;
	check(&answer, CAUSE_FENCE, 3, "rank 1 has called fence twice, this rank 3 times; it waits in no call of Oriel");
}

static void answer__names_holders(void)
{
	struct rank_answer answer = plain;

	check(&answer, CAUSE_LOCK, 0, "rank 1 waits in no call of Oriel");
	answer.holder_count = 1;
	answer.holders[0] = 7;
	check(&answer, CAUSE_LOCK, 0, "rank 7 holds it");
	answer.holder_count = 2;
	check(&answer, CAUSE_LOCK, 0, "ranks 7, 0 hold it");
	answer.holders[0] = 1; /* the rank that answers */
	check(&answer, CAUSE_LOCK, 0, "ranks 1, 0 hold it; rank 1 waits in no call of Oriel");
}

static void check_holder(const struct rank_answer *answer, const struct rank_answer *holder, const char *wanted)
{
	struct asked asked = { 1, CAUSE_LOCK, 0 };

	answer_text(answer, &asked, text);
	answer_add_holder(answer, holder, text);
	CU_ASSERT_STRING_EQUAL(text, wanted);
}

static void answer__says_what_a_holder_waits_for(void)
{
	struct rank_answer answer = plain, holder = plain;

	answer.holder_count = 1;
	answer.holders[0] = 7;
	check_holder(&answer, &holder, "rank 7 holds it; it waits in no call of Oriel");
	check_holder(&answer, NULL, "rank 7 holds it; it does not answer: it is stopped or unreachable");
	holder.wait = wait;
	holder.waited_ms = 20000;
	answer.holder_count = 2;
	check_holder(&answer, &holder,
	             "ranks 7, 0 hold it; rank 7 has waited in oriel_win_wait on window 3 (halo) for 20 s, for ranks 5, 6 "
	             "(no complete yet)");
}

static void answer__says_what_the_rank_waits_for(void)
{
	struct rank_answer answer = plain;

	answer.wait = wait;
	answer.waited_ms = 28999;
	check(&answer, CAUSE_COLLECTIVE, 0,
	      "rank 1 has waited in oriel_win_wait on window 3 (halo) for 28 s, for ranks 5, 6 (no complete yet)");
	answer.waited_ms = 9999;
	answer.wait.window[0] = '\0';
	answer.wait.rank_count = 0;
	check(&answer, CAUSE_COLLECTIVE, 0, "rank 1 has waited in oriel_win_wait for 9999 ms (no complete yet)");
}

static void answer__says_that_a_window_is_missing(void)
{
	struct rank_answer answer = { .version = ANSWER_VERSION, .other = -1 };

	check(&answer, CAUSE_POST, 1, "rank 1 does not have this window; it waits in no call of Oriel");
	answer.facts = ANSWER_WINDOW; /* another thread was changing the counts */
	check(&answer, CAUSE_POST, 1, "rank 1 waits in no call of Oriel");
}

static void answer__stays_in_bounds(void)
{
	struct rank_answer answer = plain;
	struct asked asked = { 1 << 24, CAUSE_POST, UINT64_MAX };

	answer.wait = wait;
	answer.wait.rank_count = BOARD_RANKS;
	answer.waited_ms = answer.for_asker = answer.for_other = UINT64_MAX;
	answer.other = 1 << 24;
	memset(answer.wait.window, 'w', sizeof(answer.wait.window) - 1);
	for (int i = 0; i < BOARD_RANKS; i++)
		answer.wait.ranks[i] = 1 << 24;
	CU_ASSERT(strlen(answer_text(&answer, &asked, text)) < ANSWER_TEXT_BYTES);
}

static void answer__no_garbage_is_sound(void)
{
	struct rank_answer answer = plain;

	CU_ASSERT_TRUE(answer_is_sound(&answer, SIZE));
	srand(3);
	for (int i = 0; i < 20000; i++) {
		struct asked asked = { 1, (enum board_cause)(rand() % CAUSE_COUNT), 1 };

		answer = plain;
		answer.wait = wait;
		for (int k = rand() % 4; k >= 0; k--)
			((uint8_t *)&answer)[(size_t)rand() % sizeof(answer)] = (uint8_t)rand();
		if (!answer_is_sound(&answer, SIZE))
			continue;
		CU_ASSERT(strlen(answer_text(&answer, &asked, text)) < ANSWER_TEXT_BYTES);
		for (const char *at = text; *at; at++)
			CU_ASSERT(*at >= ' ' && *at <= '~');
		CU_ASSERT(answer.other < SIZE && answer.holder_count <= BOARD_HOLDERS);
	}
	answer = plain;
	answer.version++;
	CU_ASSERT_FALSE(answer_is_sound(&answer, SIZE));
	answer = plain;
	answer.holder_count = 1;
	answer.holders[0] = SIZE;
	CU_ASSERT_FALSE(answer_is_sound(&answer, SIZE));
	answer = plain;
	answer.other = SIZE;
	CU_ASSERT_FALSE(answer_is_sound(&answer, SIZE));
}

void suite_answer(void)
{
	CU_pSuite suite = CU_add_suite("answer", NULL, NULL);

	CU_ADD_TEST(suite, answer__says_how_often_a_rank_has_posted);
	CU_ADD_TEST(suite, answer__says_how_often_a_rank_has_called_fence);
	CU_ADD_TEST(suite, answer__names_holders);
	CU_ADD_TEST(suite, answer__says_what_a_holder_waits_for);
	CU_ADD_TEST(suite, answer__says_what_the_rank_waits_for);
	CU_ADD_TEST(suite, answer__says_that_a_window_is_missing);
	CU_ADD_TEST(suite, answer__stays_in_bounds);
	CU_ADD_TEST(suite, answer__no_garbage_is_sound);
}
