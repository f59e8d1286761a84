// SPDX-License-Identifier: BSD-2-Clause
/* test_picture.c - lib/see/report/picture.c: how large it is with many ranks; tests/see/advice has others */
#include "see/report/picture.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MOST 300000
#define RANKS 1000

static struct profile_site sites[RANKS];
static struct profile_wait waits[PICTURE_BLOCKS * PICTURE_BLOCKS];

/* Returns the picture of a job, and its size. The caller frees it. */
static char *draw(int size, uint32_t wait_count, size_t *bytes)
{
	struct profile profile = { .size = size,
		                       .seconds = 1,
		                       .sites = sites,
		                       .site_count = (uint32_t)size,
		                       .waits = waits,
		                       .wait_count = wait_count };
	struct read_parts parts = { .size = size };
	char *picture = NULL;
	FILE *out = open_memstream(&picture, bytes);

	if (!out)
		return NULL;
	picture_print(out, &profile, &parts);
	fclose(out);
	return picture;
}

static int count(const char *text, const char *what)
{
	int found = 0;

	for (; text && (text = strstr(text, what)) != NULL; text += strlen(what))
		found++;
	return found;
}

/* Ranks of each block wait for ranks of each other one. */
static void make_waits(void)
{
	memset(sites, 0, sizeof(sites));
	for (int rank = 0; rank < RANKS; rank++) {
		sites[rank].rank = rank;
		for (int k = 0; k < PART_SIZES; k++)
			sites[rank].sizes[k] = UINT64_MAX / RANKS;
	}
	for (int i = 0; i < PICTURE_BLOCKS * PICTURE_BLOCKS; i++) {
		uint32_t waiter = (uint32_t)(i % PICTURE_BLOCKS * RANKS / PICTURE_BLOCKS + 1);

		waits[i] = (struct profile_wait){ .site = waiter,
			                              .cause = WAIT_LATE_POST,
			                              .culprit = i / PICTURE_BLOCKS * RANKS / PICTURE_BLOCKS + 1,
			                              .count = 1,
			                              .ns = (uint64_t)i + 1 };
	}
}

static void print__has_a_cell_for_each_block_of_a_thousand_ranks(void)
{
	char *picture;
	size_t bytes;

	make_waits();
	picture = draw(RANKS, PICTURE_BLOCKS * PICTURE_BLOCKS, &bytes);
	CU_ASSERT_PTR_NOT_NULL(picture);
	CU_ASSERT(bytes < BYTES_MOST);
	CU_ASSERT_EQUAL(count(picture, "h6v6h-6z"), PICTURE_BLOCKS * PICTURE_BLOCKS);
	CU_ASSERT_EQUAL(count(picture, "a cell is for several ranks"), 1);
	free(picture);
}

static void print__shows_neither_handover_nor_ranks_that_are_none(void)
{
	char *picture;
	size_t bytes;

	make_waits();
	waits[0].cause = WAIT_HANDOVER;
	waits[1].culprit = -1;
	waits[2].culprit = RANKS;
	sites[waits[3].site].rank = RANKS;
	picture = draw(RANKS, 4, &bytes);
	CU_ASSERT_PTR_NOT_NULL(picture);
	CU_ASSERT_EQUAL(count(picture, "h6v6h-6z"), 0);
	free(picture);
}

static void print__writes_the_seconds_into_cells_of_few_ranks(void)
{
	char *picture;
	size_t bytes;

	make_waits();
	waits[0] = (struct profile_wait){ .site = 2, .cause = WAIT_LOCK, .culprit = 1, .count = 1, .ns = 1500000000 };
	picture = draw(4, 1, &bytes);
	CU_ASSERT_PTR_NOT_NULL(picture);
	CU_ASSERT_EQUAL(count(picture, "M134 238h64v64h-64z"), 1);
	CU_ASSERT_EQUAL(count(picture, ">1.5</text>"), 1);
	free(picture);
}

static void print__draws_a_job_of_no_ranks(void)
{
	size_t bytes;
	char *picture = draw(0, 0, &bytes);

	CU_ASSERT_PTR_NOT_NULL(picture);
	CU_ASSERT_EQUAL(count(picture, "no call moved bytes"), 1);
	CU_ASSERT_EQUAL(count(picture, "no call that waited was recorded"), 1);
	free(picture);
}

void suite_picture(void)
{
	CU_pSuite suite = CU_add_suite("picture", NULL, NULL);

	CU_ADD_TEST(suite, print__has_a_cell_for_each_block_of_a_thousand_ranks);
	CU_ADD_TEST(suite, print__shows_neither_handover_nor_ranks_that_are_none);
	CU_ADD_TEST(suite, print__writes_the_seconds_into_cells_of_few_ranks);
	CU_ADD_TEST(suite, print__draws_a_job_of_no_ranks);
}
