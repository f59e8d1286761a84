// SPDX-License-Identifier: BSD-2-Clause
/* test_text.c - lib/see/report/text.c: at most 60 lines of 120 columns, whatever the profile has */
#include "see/report/advice.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 60
#define COLUMNS 120
#define MANY 200

static struct profile_site sites[MANY];
static struct profile_wait waits[MANY];
static struct read_part list[MANY];
static struct advice_list advice;

/* All places, waits and ranks differ, and no rank has finalized. */
static void make(struct profile *profile, struct read_parts *parts, struct part *part)
{
	part->header.rank = 123456;
	*parts = (struct read_parts){ .list = list, .count = MANY, .size = 1 << 20, .hosts = 99, .clock_error_ns = 1e17 };
	*profile = (struct profile){ .size = 1 << 20,
		                         .seconds = 1e6,
		                         .lost = UINT64_MAX,
		                         .sites = sites,
		                         .site_count = MANY,
		                         .waits = waits,
		                         .wait_count = MANY };
	for (uint32_t i = 0; i < MANY; i++) {
		list[i].part = part;
		sites[i] =
			(struct profile_site){ .window = -1, .object = "", .offset = i, .count = 1000000, .ns = 1000 * i + 1 };
		memset(sites[i].call, 'c', sizeof(sites[i].call) - 10);
		memset(sites[i].place.file, 'f', sizeof(sites[i].place.file) - 1);
		sites[i].place.line = (int)i + 1;
		memset(sites[i].place.function, 'g', sizeof(sites[i].place.function) - 1);
		sites[i].place.line = (int)i + 1;
		waits[i] =
			(struct profile_wait){ .site = i, .cause = WAIT_LATE_COLLECTIVE, .culprit = (int)i, .ns = 1000 * i + 1 };
		waits[i].roots[0] = (struct part_root){ .rank = (int)i + 1, .ns = i + 1 };
	}
	advice.count = ADVICE_MOST;
	for (uint32_t i = 0; i < ADVICE_MOST; i++) {
		for (int k = 0; k < ADVICE_TEXT_BYTES - 1; k++)
			advice.list[i].text[k] = k % 7 ? 'w' : ' ';
		advice.list[i].text[0] = 'w';
	}
}

static char *print(void)
{
	struct part *part = calloc(1, sizeof(*part));
	struct read_parts parts;
	struct profile profile;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!part || !out)
		abort();
	make(&profile, &parts, part);
	text_print(out, &profile, &advice, &parts);
	fclose(out);
	free(part);
	return text;
}

static void print__has_sixty_lines_at_most(void)
{
	char *text = print();
	int lines = 0;

	for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		lines++;
		CU_ASSERT(end - line <= COLUMNS);
		if (end - line > COLUMNS)
			printf("%.*s\n", (int)(end - line), line);
	}
	CU_ASSERT(lines <= LINES);
	if (lines > LINES)
		printf("%d lines\n", lines);
	free(text);
}

static void print__says_how_much_it_leaves_out(void)
{
	char *text = print();

	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n197 more ranks did not finalize\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n... and 188 more: 0.018 s late collective\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n... and 186 more: 0.017 s, waiting 0.000 s\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n... and 10 more, in the JSON\n"));
	free(text);
}

static void print__has_whole_sentences(void)
{
	char *text = print(), *first = strstr(text, "\n> w"), *second = first ? strstr(first + 1, "\n> w") : NULL;

	CU_ASSERT_PTR_NOT_NULL(second);
	CU_ASSERT(first && second && second - first > ADVICE_TEXT_BYTES - 1);
	free(text);
}

void suite_text(void)
{
	CU_pSuite suite = CU_add_suite("text", NULL, NULL);

	CU_ADD_TEST(suite, print__has_sixty_lines_at_most);
	CU_ADD_TEST(suite, print__says_how_much_it_leaves_out);
	CU_ADD_TEST(suite, print__has_whole_sentences);
}
