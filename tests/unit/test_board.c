// SPDX-License-Identifier: BSD-2-Clause
/* test_board.c - see/board.c and oriel-top's lines: what is shown is read, and nothing else is taken. */
#include "see/board.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "see/report/program.h"
#include "see/top/lines.h"
#include "suites.h"

const char program_name[] = "unit";

static struct board board;
static struct board_copy copy;
static const struct board_wait shown = { .since_ns = 5,
	                                     .cause = CAUSE_POST,
	                                     .epochs = EPOCH_ACCESS,
	                                     .rank_count = 1,
	                                     .ranks = { 3 },
	                                     .caller = 4096,
	                                     .call = "oriel_win_complete",
	                                     .window = "window 1 (halo)" };

static int init(void)
{
	board_open(&board, "job", 1, 4);
	return board.page ? 0 : -1;
}

static int cleanup(void)
{
	board_close(&board);
	return 0;
}

static bool read_now(void)
{
	return board_read(&copy, board.page, board.page, BOARD_BYTES);
}

static void board__shows_a_wait_until_it_ends(void)
{
	uint8_t slot = 0;

	board_show(&board, &slot, &shown);
	CU_ASSERT_TRUE_FATAL(read_now());
	CU_ASSERT_EQUAL(copy.header.rank, 1);
	CU_ASSERT_EQUAL(copy.wait_count, 1);
	CU_ASSERT_EQUAL(copy.wait[0].ranks[0], 3);
	CU_ASSERT_EQUAL(copy.wait[0].caller, 4096);
	CU_ASSERT_STRING_EQUAL(copy.wait[0].call, "oriel_win_complete");
	board_clear(&board, &slot);
	CU_ASSERT_EQUAL(slot, 0);
	CU_ASSERT_TRUE(read_now());
	CU_ASSERT_EQUAL(copy.wait_count, 0);
}

/* A reader between two looks of a waiting thread finds the wait: only a change writes. */
static void board__is_written_only_if_the_wait_changes(void)
{
	struct board_wait changed = shown;
	struct board_page before;
	uint8_t slot = 0;

	board_show(&board, &slot, &shown);
	before = *board.page;
	board_show(&board, &slot, &shown);
	CU_ASSERT_TRUE(board_read(&copy, &before, board.page, BOARD_BYTES));
	CU_ASSERT_EQUAL(copy.wait_count, 1);
	changed.rank_count++;
	board_show(&board, &slot, &changed);
	CU_ASSERT_TRUE(board_read(&copy, &before, board.page, BOARD_BYTES));
	CU_ASSERT_EQUAL(copy.wait_count, 0);
	CU_ASSERT_TRUE(read_now());
	CU_ASSERT_EQUAL(copy.wait[0].rank_count, changed.rank_count);
	board_clear(&board, &slot);
}

static void board__more_threads_than_slots(void)
{
	uint8_t slots[BOARD_SLOTS + 2] = { 0 };

	for (int i = 0; i < BOARD_SLOTS + 2; i++)
		board_show(&board, &slots[i], &shown);
	CU_ASSERT_TRUE(read_now());
	CU_ASSERT_EQUAL(copy.wait_count, BOARD_SLOTS);
	CU_ASSERT_EQUAL(slots[BOARD_SLOTS], 0);
	for (int i = 0; i < BOARD_SLOTS; i++)
		board_clear(&board, &slots[i]);
}

static void board__finds_its_longest_wait(void)
{
	struct board_wait later = shown, found;
	uint8_t first = 0, second = 0;

	later.since_ns++;
	CU_ASSERT_FALSE(board_longest(&board, &found));
	board_show(&board, &first, &later);
	board_show(&board, &second, &shown);
	CU_ASSERT_TRUE(board_longest(&board, &found));
	CU_ASSERT_EQUAL(found.since_ns, shown.since_ns);
	board_clear(&board, &second);
	CU_ASSERT_TRUE(board_longest(&board, &found));
	CU_ASSERT_EQUAL(found.since_ns, later.since_ns);
	board_clear(&board, &first);
}

static void board__none_is_no_error(void)
{
	struct board none = { 0 };
	struct board_wait found;
	uint8_t slot = 0;

	board_show(&none, &slot, &shown);
	CU_ASSERT_EQUAL(slot, 0);
	CU_ASSERT_FALSE(board_longest(&none, &found));
	board_close(&none);
}

/* A slot that is being written, or has changed between the two readings, is not taken. */
static void board_read__takes_no_torn_slot(void)
{
	static char changed[BOARD_BYTES];
	uint8_t slot = 0;

	board_show(&board, &slot, &shown);
	memcpy(changed, board.page, sizeof(changed));
	((struct board_page *)(void *)changed)->slot[0].wait.window[0] = '!';
	CU_ASSERT_TRUE(board_read(&copy, board.page, changed, BOARD_BYTES));
	CU_ASSERT_EQUAL(copy.wait_count, 0);
	board.page->slot[0].serial++;
	CU_ASSERT_TRUE(read_now());
	CU_ASSERT_EQUAL(copy.wait_count, 0);
	board.page->slot[0].serial++;
	board_clear(&board, &slot);
}

static void check_copy(void)
{
	CU_ASSERT(copy.wait_count <= BOARD_SLOTS);
	CU_ASSERT(strnlen(copy.header.job, sizeof(copy.header.job)) < sizeof(copy.header.job));
	for (uint32_t i = 0; i < copy.wait_count; i++) {
		const struct board_wait *wait = &copy.wait[i];

		CU_ASSERT(wait->cause < CAUSE_COUNT && wait->rank_count <= BOARD_RANKS && wait->holder_count <= BOARD_HOLDERS);
		CU_ASSERT(strnlen(wait->call, sizeof(wait->call)) < sizeof(wait->call));
		CU_ASSERT(strnlen(wait->window, sizeof(wait->window)) < sizeof(wait->window));
		for (uint32_t k = 0; k < wait->rank_count; k++)
			CU_ASSERT(wait->ranks[k] >= 0 && wait->ranks[k] < copy.header.size);
	}
}

static void board_read__takes_no_garbage(void)
{
	static char page[BOARD_BYTES];
	uint8_t slot = 0;

	board_show(&board, &slot, &shown);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		memcpy(page, board.page, sizeof(page));
		for (int k = rand() % 8; k >= 0; k--)
			page[rand() % 512] = (char)rand();
		if (board_read(&copy, page, page, sizeof(page)))
			check_copy();
	}
	CU_ASSERT_FALSE(board_read(&copy, page, page, sizeof(page) - 1));
	memset(page, 0xff, sizeof(page));
	CU_ASSERT_FALSE(board_read(&copy, page, page, sizeof(page)));
	board_clear(&board, &slot);
}

static const struct row row = { .job = "a \"job\"\\",
	                            .host = "n1",
	                            .rank = 3,
	                            .size = 8,
	                            .pid = 77,
	                            .state = 'S',
	                            .call = "oriel_win_lock",
	                            .site = "halo.c:88",
	                               .window = "window 1 (halo)",
	                            .waited_ms = 41000,
	                            .cause = CAUSE_LOCK,
	                            .epochs = EPOCH_LOCK,
	                            .lock_of = 2,
	                            .rank_count = 2,
	                            .ranks = { 1, 7 } };

static void write_line(char *line, size_t line_bytes)
{
	FILE *out = fmemopen(line, line_bytes, "w");

	lines_write(out, &row);
	fclose(out);
}

static void lines__are_read_as_written(void)
{
	char line[1024];
	struct row read;

	write_line(line, sizeof(line));
	CU_ASSERT_TRUE_FATAL(lines_parse(line, &read));
	CU_ASSERT_STRING_EQUAL(read.job, row.job);
	CU_ASSERT_STRING_EQUAL(read.site, row.site);
	CU_ASSERT_STRING_EQUAL(read.window, row.window);
	CU_ASSERT_EQUAL(read.waited_ms, row.waited_ms);
	CU_ASSERT_EQUAL(read.lock_of, 2);
	CU_ASSERT_EQUAL(read.cause, CAUSE_LOCK);
	CU_ASSERT_EQUAL(read.rank_count, 2);
	CU_ASSERT_EQUAL(read.ranks[1], 7);
}

static void lines__no_garbage_is_taken_for_a_row(void)
{
	char line[1024], broken[1024];
	struct row read;

	write_line(line, sizeof(line));
	for (size_t length = 0; line[length] != '}'; length++) {
		memcpy(broken, line, length);
		broken[length] = '\0';
		CU_ASSERT_FALSE(lines_parse(broken, &read));
	}
	srand(2);
	for (int i = 0; i < 20000; i++) {
		memcpy(broken, line, sizeof(broken));
		broken[(size_t)rand() % strlen(line)] = (char)(rand() % 255 + 1);
		if (lines_parse(broken, &read))
			CU_ASSERT(read.rank < read.size && read.cause < CAUSE_COUNT && read.rank_count <= BOARD_RANKS);
	}
}

void suite_board(void)
{
	CU_pSuite suite = CU_add_suite("board", init, cleanup);

	CU_ADD_TEST(suite, board__shows_a_wait_until_it_ends);
	CU_ADD_TEST(suite, board__is_written_only_if_the_wait_changes);
	CU_ADD_TEST(suite, board__more_threads_than_slots);
	CU_ADD_TEST(suite, board__finds_its_longest_wait);
	CU_ADD_TEST(suite, board__none_is_no_error);
	CU_ADD_TEST(suite, board_read__takes_no_torn_slot);
	CU_ADD_TEST(suite, board_read__takes_no_garbage);
	CU_ADD_TEST(suite, lines__are_read_as_written);
	CU_ADD_TEST(suite, lines__no_garbage_is_taken_for_a_row);
}
