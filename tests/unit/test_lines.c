// SPDX-License-Identifier: BSD-2-Clause
/* test_lines.c - bootstrap/launcher/lines.c */
#include "launcher/lines.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lines_sink sink;
static struct lines_source a;
static struct lines_source b;

static void set_up(const char *prefix_a, const char *prefix_b)
{
	memset(&sink, 0, sizeof(sink));
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	a.sink = &sink;
	b.sink = &sink;
	a.prefix_size = strlen(prefix_a);
	b.prefix_size = strlen(prefix_b);
	memcpy(a.prefix, prefix_a, a.prefix_size);
	memcpy(b.prefix, prefix_b, b.prefix_size);
}

static void tear_down(void)
{
	byteq_clear(&sink.queue);
	byteq_clear(&a.held);
	byteq_clear(&b.held);
}

static void feed(struct lines_source *source, const char *text)
{
	CU_ASSERT_EQUAL(lines_feed(source, text, strlen(text)), 0);
}

static void expect(const char *expected)
{
	size_t size = strlen(expected);

	CU_ASSERT_EQUAL(sink.queue.size, size);
	if (size > 0 && sink.queue.size == size)
		CU_ASSERT_EQUAL(memcmp(byteq_head(&sink.queue), expected, size), 0);
	byteq_drop(&sink.queue, sink.queue.size);
}

static void feed__holds_an_unfinished_line_back(void)
{
	set_up("", "");
	feed(&a, "one");
	expect("");
	feed(&b, "other\n");
	expect("other\n");
	feed(&a, " line\nand the next");
	expect("one line\n");
	feed(&a, "\n");
	expect("and the next\n");
	tear_down();
}

static void feed__passes_several_lines_at_once(void)
{
	set_up("", "");
	feed(&a, "1\n\n3\n4");
	expect("1\n\n3\n");
	tear_down();
}

static void feed__prefixes_every_line(void)
{
	set_up("[0] ", "[1] ");
	feed(&a, "1\n\n3");
	expect("[0] 1\n[0] \n");
	feed(&b, "x\n");
	expect("[1] x\n");
	feed(&a, "3\n4\n");
	expect("[0] 33\n[0] 4\n");
	tear_down();
}

static void feed__does_not_hold_more_than_a_line_may_have(void)
{
	char *text = malloc(LINES_LINE_MAX_BYTES);

	set_up("[0] ", "[1] ");
	memset(text, 'x', LINES_LINE_MAX_BYTES);
	CU_ASSERT_EQUAL(lines_feed(&a, text, LINES_LINE_MAX_BYTES), 0);
	CU_ASSERT_EQUAL(sink.queue.size, 0);
	feed(&a, "y");
	CU_ASSERT_EQUAL(sink.queue.size, 4 + LINES_LINE_MAX_BYTES + 1);
	CU_ASSERT_EQUAL(a.held.size, 0);
	byteq_drop(&sink.queue, sink.queue.size);
	feed(&a, "z\n");
	expect("z\n");
	tear_down();
	free(text);
}

static void feed__at_once_passes_everything(void)
{
	set_up("", "");
	a.at_once = true;
	b.at_once = true;
	feed(&a, "name? ");
	expect("name? ");
	feed(&b, "warning");
	expect("warning");
	feed(&a, "x\ny");
	expect("x\ny");
	tear_down();
}

static void feed__fails_when_the_sink_is_full(void)
{
	char *text = malloc(LINES_QUEUE_MAX_BYTES + 1);

	set_up("", "");
	memset(text, '\n', LINES_QUEUE_MAX_BYTES + 1);
	CU_ASSERT_EQUAL(lines_feed(&a, text, LINES_QUEUE_MAX_BYTES + 1), -1);
	CU_ASSERT_EQUAL(lines_feed(&a, text, LINES_QUEUE_MAX_BYTES), 0);
	CU_ASSERT_EQUAL(lines_feed(&a, text, 1), -1);
	tear_down();
	free(text);
}

static void flush__passes_an_unfinished_line(void)
{
	set_up("[0] ", "[1] ");
	feed(&a, "part");
	CU_ASSERT_EQUAL(lines_flush(&a), 0);
	expect("[0] part");
	CU_ASSERT_EQUAL(lines_flush(&a), 0);
	expect("");
	tear_down();
}

static void flush__is_continued_by_the_same_source(void)
{
	set_up("[0] ", "[1] ");
	feed(&a, "part");
	lines_flush(&a);
	feed(&a, "ner\nx\n");
	expect("[0] partner\n[0] x\n");
	tear_down();
}

static void flush__is_ended_by_another_source(void)
{
	set_up("[0] ", "[1] ");
	feed(&a, "part");
	lines_flush(&a);
	feed(&b, "x\n");
	feed(&a, "ner\n");
	expect("[0] part\n[1] x\n[0] ner\n");
	tear_down();
}

static void put__begins_a_line(void)
{
	set_up("", "");
	feed(&a, "part");
	lines_flush(&a);
	CU_ASSERT_EQUAL(lines_put(&sink, "oriel-run: x\n", 13), 0);
	CU_ASSERT_EQUAL(lines_put(&sink, "oriel-run: y\n", 13), 0);
	expect("part\noriel-run: x\noriel-run: y\n");
	tear_down();
}

void suite_lines(void)
{
	CU_pSuite suite = CU_add_suite("lines", NULL, NULL);

	CU_ADD_TEST(suite, feed__holds_an_unfinished_line_back);
	CU_ADD_TEST(suite, feed__passes_several_lines_at_once);
	CU_ADD_TEST(suite, feed__prefixes_every_line);
	CU_ADD_TEST(suite, feed__does_not_hold_more_than_a_line_may_have);
	CU_ADD_TEST(suite, feed__at_once_passes_everything);
	CU_ADD_TEST(suite, feed__fails_when_the_sink_is_full);
	CU_ADD_TEST(suite, flush__passes_an_unfinished_line);
	CU_ADD_TEST(suite, flush__is_continued_by_the_same_source);
	CU_ADD_TEST(suite, flush__is_ended_by_another_source);
	CU_ADD_TEST(suite, put__begins_a_line);
}
