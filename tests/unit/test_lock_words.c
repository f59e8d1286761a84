// SPDX-License-Identifier: BSD-2-Clause
/*
 * test_lock_words.c - win/lock_words.c: what a reading of the words brings may be of two times
 *
 * The words are read and written by requests, of which this file is the device: a reading brings
 * what `torn` says.
 */
#define lock_start_reading made_up_start_reading
#define lock_reading_done made_up_reading_done
#define lock_write_there made_up_write_there
#define lock_write_state made_up_write_state
#define lock_write_ticket made_up_write_ticket
#include "win/lock_words.c"

#include <CUnit/CUnit.h>

#include "suites.h"

#define BEFORE UINT64_C(0x2ff) /* a carry comes with the next */
#define AFTER UINT64_C(0x300)
#define TORN_HIGH UINT64_C(0x3ff) /* the two, one byte of each */
#define TORN_LOW UINT64_C(0x200)

static struct lock_words torn; /* what the next reading brings */
static int readings;
static enum lock_state written; /* our own state */

int made_up_start_reading(struct link *link, struct lock *lock, bool members)
{
	(void)link;
	(void)members;
	readings++;
	lock->number = 1;
	return 0;
}

bool made_up_reading_done(struct link *link, struct lock *lock)
{
	(void)link;
	lock->image = torn;
	lock->number = 0;
	return true;
}

int made_up_write_there(struct link *link, const void *words, size_t size_bytes, struct remote to)
{
	(void)link;
	(void)words;
	(void)size_bytes;
	(void)to;
	return 0;
}

int made_up_write_state(struct link *link, struct lock *lock, enum lock_state state)
{
	(void)link;
	(void)lock;
	written = state;
	return 0;
}

int made_up_write_ticket(struct link *link, struct lock *lock, enum lock_state state)
{
	return made_up_write_state(link, lock, state);
}

static struct lock_header header_of(uint64_t serving, uint64_t next)
{
	return (struct lock_header){ .serving = serving, .serving_complement = ~serving, .next = next };
}

/* Makes `size_bytes` of which the first `cut` are of `first` and the rest of `second`. */
static void tear(void *to, const void *first, const void *second, size_t size_bytes, size_t cut)
{
	memcpy(to, first, cut);
	memcpy((uint8_t *)to + cut, (const uint8_t *)second + cut, size_bytes - cut);
}

static struct lock lock_in(enum lock_phase phase, uint64_t ticket)
{
	return (struct lock){ .phase = phase, .ticket = ticket, .part_count = 1, .drain_limit_ns = NS_PER_SECOND };
}

/* One look at the torn header: 1 if the lock is held by it. */
static int looks_at(struct lock *lock, const struct lock_header *header)
{
	static struct oriel_win win;
	static struct link link;

	torn.header = *header;
	lock->read_ns = 0;
	return lock_phase_step(&win, &link, lock);
}

/* A serving of `wrong` lets no rank in; only whole words that say so do. */
static void is_not_let_in(const struct lock_header *header, uint64_t wrong)
{
	const struct lock_header whole = header_of(wrong, wrong + 1), nobody = header_of(wrong, wrong);
	struct lock writer = lock_in(PHASE_QUEUED, wrong), reader = lock_in(PHASE_BEHIND, wrong - 1);
	struct lock asks = lock_in(PHASE_ASKED, 0);
	struct lock_header no_writer = *header;

	no_writer.next = asks.confirm = wrong; /* its second reading of a low next */
	readings = 0;
	CU_ASSERT_EQUAL(looks_at(&writer, header), 0);
	CU_ASSERT_EQUAL(looks_at(&reader, header), 0);
	CU_ASSERT_EQUAL(readings, 2);
	CU_ASSERT_EQUAL(looks_at(&writer, &whole), 1);
	CU_ASSERT_EQUAL(looks_at(&reader, &whole), 1);
	CU_ASSERT_EQUAL(readings, 4);
	CU_ASSERT_EQUAL(looks_at(&asks, &no_writer), 0);
	CU_ASSERT_EQUAL(asks.phase, PHASE_ASKED);
	CU_ASSERT_EQUAL(readings, 5);
	CU_ASSERT_EQUAL(looks_at(&asks, &nobody), 1);
}

/* serving and its complement, cut at each byte, with the older bytes in front or behind. */
static void torn__serving_is_not_believed(void)
{
	const uint64_t old[2] = { BEFORE, ~BEFORE }, new[2] = { AFTER, ~AFTER };
	const uint64_t *const order[2][2] = { { old, new }, { new, old } };
	int seen_torn = 0;

	for (int i = 0; i < 2; i++) {
		for (size_t cut = 1; cut < sizeof(old); cut++) {
			struct lock_header header = header_of(0, AFTER + 1);

			tear(&header, order[i][0], order[i][1], sizeof(old), cut);
			if (memcmp(&header, old, sizeof(old)) == 0 || memcmp(&header, new, sizeof(new)) == 0)
				continue; /* the rest is the same in both */
			seen_torn++;
			is_not_let_in(&header, header.serving);
		}
	}
	CU_ASSERT(seen_torn >= 10);
}

/* The halves of either word, or the words, change places with those of the other time. */
static void torn__halves_of_serving_are_not_believed(void)
{
	const uint64_t old = UINT64_C(0xffffffff), new = UINT64_C(0x100000000);
	const uint64_t low = new & 0xffffffff, high = UINT64_C(0x1ffffffff);
	const uint64_t words[][2] = { { low, ~old },  { low, ~new }, { high, ~old }, { high, ~new }, { old, ~low },
		                          { old, ~high }, { new, ~low }, { new, ~high }, { old, ~new },  { new, ~old } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct lock_header header = header_of(words[i][0], new + 1);

		header.serving_complement = words[i][1];
		is_not_let_in(&header, header.serving);
	}
}

/*
 * A reader asks while a ticket is drawn, with a carry: too low a next is no writer only where it is
 * said twice.
 */
static void torn__low_next_is_read_twice(void)
{
	const struct lock_header low = header_of(TORN_LOW, TORN_LOW), right = header_of(TORN_LOW, AFTER);
	const struct lock_header less = header_of(BEFORE, TORN_LOW + 32), high = header_of(BEFORE, TORN_HIGH);
	struct lock lock = lock_in(PHASE_ASKED, 0), again = lock_in(PHASE_ASKED, 0);
	struct lock behind = lock_in(PHASE_ASKED, 0), beyond = lock_in(PHASE_ASKED, 0);

	readings = 0;
	CU_ASSERT_EQUAL(looks_at(&lock, &low), 0);
	CU_ASSERT_EQUAL(readings, 1);
	CU_ASSERT_EQUAL(looks_at(&lock, &right), 0);
	CU_ASSERT_EQUAL(lock.phase, PHASE_BEHIND);
	CU_ASSERT_EQUAL(written, LOCK_WAIT);
	CU_ASSERT_EQUAL(looks_at(&again, &low), 0);
	CU_ASSERT_EQUAL(looks_at(&again, &low), 1);
	CU_ASSERT_EQUAL(looks_at(&behind, &less), 0); /* below serving */
	CU_ASSERT_EQUAL(behind.phase, PHASE_ASKED);
	CU_ASSERT_EQUAL(looks_at(&beyond, &high), 0); /* a writer too many: it waits for the one that is served */
	CU_ASSERT_EQUAL(beyond.phase, PHASE_BEHIND);
	CU_ASSERT_EQUAL(beyond.ticket, BEFORE);
}

/* Whether a writer whose turn it is passes a member that is seen so. */
static int passes(struct lock_member member)
{
	const struct lock_header header = header_of(AFTER, AFTER + 1);
	struct lock writer = lock_in(PHASE_QUEUED, AFTER);
	int held;

	torn.member[3] = member;
	held = looks_at(&writer, &header);
	torn.member[3] = (struct lock_member){ 0 };
	return held;
}

/* A member goes from ASK to WAIT, the ticket first: only both together let the writer of that ticket pass. */
static void torn__member_is_a_holder(void)
{
	const uint64_t wait = LOCK_PRESSED | LOCK_WAIT, process = UINT64_C(0x123456) << 32;

	CU_ASSERT_EQUAL(passes((struct lock_member){ LOCK_ASK, BEFORE }), 0);
	CU_ASSERT_EQUAL(passes((struct lock_member){ LOCK_ASK, AFTER }), 0);
	CU_ASSERT_EQUAL(passes((struct lock_member){ wait, BEFORE }), 0);
	CU_ASSERT_EQUAL(passes((struct lock_member){ wait, AFTER }), 1);
	CU_ASSERT_EQUAL(passes((struct lock_member){ process | LOCK_ASK, AFTER }),
	                0); /* the upper half, and not the lower */
	CU_ASSERT_EQUAL(passes((struct lock_member){ process | wait, AFTER }), 1);
	CU_ASSERT_EQUAL(passes((struct lock_member){ process | LOCK_ABSENT, BEFORE }), 1);
	CU_ASSERT_EQUAL(passes((struct lock_member){ LOCK_PRESSED | LOCK_ASK, AFTER }), 0);
}

/* The place of further members is written once; the reader reads it again until it is complete. */
static void torn__next_segment_is_read_again(void)
{
	struct lock_more none = { 0 }, whole = { .addr = UINT64_C(0x7f1234567890), .rkey = { 0x1111, 0x2222 } };

	whole.check = lock_more_check(&whole);
	for (int behind = 0; behind < 2; behind++) {
		for (size_t cut = 1; cut < sizeof(whole); cut++) {
			const struct lock_header header = header_of(AFTER, AFTER + 1);
			struct lock writer = lock_in(PHASE_QUEUED, AFTER);
			struct lock_header half = header;

			tear(&half.more, behind ? &none : &whole, behind ? &whole : &none, sizeof(whole), cut);
			if (half.more.check == 0 || memcmp(&half.more, &whole, sizeof(whole)) == 0)
				continue; /* not linked yet, or entirely */
			CU_ASSERT_EQUAL(looks_at(&writer, &half), 0);
			CU_ASSERT_EQUAL(writer.part_count, 1);
			CU_ASSERT_EQUAL(looks_at(&writer, &header), 1);
		}
	}
}

void suite_lock_words(void)
{
	CU_pSuite suite = CU_add_suite("lock_words", NULL, NULL);

	CU_ADD_TEST(suite, torn__serving_is_not_believed);
	CU_ADD_TEST(suite, torn__halves_of_serving_are_not_believed);
	CU_ADD_TEST(suite, torn__low_next_is_read_twice);
	CU_ADD_TEST(suite, torn__member_is_a_holder);
	CU_ADD_TEST(suite, torn__next_segment_is_read_again);
}
