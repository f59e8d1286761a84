// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_lock_repair.c - sync/lock_repair.c: which of the dead are orphans, where only one order of
 * looks shows it.
 */
#include "sync/lock_repair.c"

#include <CUnit/CUnit.h>

#include "suites.h"

#define MEMBERS 3
#define SERVED 40

static void words_init(struct lock_words *words, uint64_t next)
{
	*words =
		(struct lock_words){ .header = { .serving = SERVED, .serving_complement = ~(uint64_t)SERVED, .next = next } };
}

/*
 * The ticket may be of either of two that died at INTENT: the one that is looked at, or a later one
 * that held it.
 */
static void repair__tells_of_the_holder_among_dead_intents(void)
{
	struct lock_words words;
	const struct repair repair = { &words, MEMBERS, false };

	words_init(&words, SERVED + 2);
	words.member[0] = (struct lock_member){ LOCK_EXAMINED | LOCK_INTENT, SERVED - 8 };
	words.member[1] = (struct lock_member){ LOCK_INTENT, 0 };
	words.member[2] = (struct lock_member){ LOCK_INTENT, 0 }; /* lives, and draws */
	CU_ASSERT_FALSE(repair_member(&repair, &words.member[1]));
	words.member[2] = (struct lock_member){ LOCK_TICKET, SERVED + 1 };
	CU_ASSERT_TRUE(repair_member(&repair, &words.member[0]));
	CU_ASSERT_EQUAL(words.header.serving, SERVED + 1);
	CU_ASSERT_EQUAL(words.header.orphaned, 1);
	CU_ASSERT_FALSE(repair_member(&repair, &words.member[1]));
	CU_ASSERT_EQUAL(words.header.orphaned, 1);
}

/* Writers must see that the count has grown since they have read it. */
static void repair__leaves_a_mark_of_dead_readers(void)
{
	struct lock_words words;
	const struct repair repair = { &words, MEMBERS, false };

	words_init(&words, SERVED);
	words.member[0] = (struct lock_member){ LOCK_ASK, 0 };
	words.member[1] = (struct lock_member){ LOCK_WAIT, SERVED };
	CU_ASSERT_TRUE(repair_member(&repair, &words.member[0]));
	CU_ASSERT_TRUE(repair_member(&repair, &words.member[1]));
	CU_ASSERT_TRUE(repair_member(&repair, &words.member[0]));
	CU_ASSERT_EQUAL(words.member[0].state, LOCK_GONE);
	CU_ASSERT_EQUAL(words.member[1].state, LOCK_ABSENT);
	CU_ASSERT_EQUAL(words.header.orphaned, 1);
}

/*
 * The member served before may place the dead one's ticket once more: until it is out the ticket
 * stays, and no death is reported.
 */
static void repair__waits_for_a_word_that_may_come_twice(void)
{
	static const struct lock_member before[] = { { LOCK_TICKET, SERVED - 1 }, { LOCK_LEAVES | LOCK_INTENT, 0 } };
	static const struct lock_member dead[] = { { LOCK_TICKET, SERVED }, { LOCK_INTENT, 0 } };
	struct lock_words words;
	const struct repair repair = { &words, MEMBERS, true };

	for (int i = 0; i < 4; i++) {
		words_init(&words, SERVED + 1);
		words.member[0] = dead[i / 2];
		words.member[1] = before[i % 2];
		CU_ASSERT_FALSE(repair_member(&repair, &words.member[0]));
		CU_ASSERT_EQUAL(words.header.serving, SERVED);
		CU_ASSERT_EQUAL(words.header.orphaned, 0);
		words.member[1] = (struct lock_member){ LOCK_ABSENT, 0 };
		CU_ASSERT_TRUE(repair_member(&repair, &words.member[0]));
		CU_ASSERT_EQUAL(words.header.serving, SERVED + 1);
		CU_ASSERT_EQUAL(words.header.orphaned, 1);
	}
}

void suite_lock_repair(void)
{
	CU_pSuite suite = CU_add_suite("lock_repair", NULL, NULL);

	CU_ADD_TEST(suite, repair__tells_of_the_holder_among_dead_intents);
	CU_ADD_TEST(suite, repair__leaves_a_mark_of_dead_readers);
	CU_ADD_TEST(suite, repair__waits_for_a_word_that_may_come_twice);
}
