// SPDX-License-Identifier: BSD-2-Clause
/* test_group.c - group.c: lists of ranks, stored as ranges with a stride where they are ones. */
#include "job/group.c"

#include <CUnit/CUnit.h>
#include <malloc.h>

#include "suites.h"

#define MILLION 1000000

static struct oriel_job *job;

static int init(void)
{
	job = handle_new(HANDLE_JOB, sizeof(*job));
	if (!job || sodium_init() < 0)
		return 1;
	job->rank = 4;
	job->size = 1000;
	return 0;
}

static int cleanup(void)
{
	free(job->group_counts.list);
	handle_release(HANDLE_JOB, job);
	return 0;
}

/* A list without regularity: a permutation of 0 to count - 1 from a small generator. */
static void permute(int list[], int count)
{
	uint32_t state = 12345;

	for (int i = 0; i < count; i++)
		list[i] = i;
	for (int i = count - 1; i > 0; i--) {
		int swap, other;

		state = state * 1664525u + 1013904223u;
		other = (int)(state >> 8) % (i + 1);
		swap = list[i];
		list[i] = list[other];
		list[other] = swap;
	}
}

/* Every look-up of the group gives what the plain list says. */
static void check_against_list(const struct oriel_group *group, const int list[], int count)
{
	int *rank_of = malloc((size_t)job->size * sizeof(int));

	for (int world = 0; world < job->size; world++)
		rank_of[world] = ORIEL_RANK_NONE;
	for (int i = 0; i < count; i++)
		rank_of[list[i]] = i;
	CU_ASSERT_EQUAL(group->size, count);
	for (int i = 0; i < count; i++)
		CU_ASSERT_EQUAL(group_world_rank(group, i), list[i]);
	for (int world = 0; world < job->size; world++)
		CU_ASSERT_EQUAL(group_rank_of(group, world), rank_of[world]);
	CU_ASSERT_EQUAL(group->my_rank, rank_of[job->rank]);
	free(rank_of);
}

static size_t held_bytes(const struct oriel_group *group)
{
	return malloc_usable_size(group->ranges) + malloc_usable_size(group->index);
}

static void group_new__ranges(void)
{
	static const int lists[][6] = {
		{ 0, 1, 2, 3, 4, 5 }, { 10, 20, 30, 40, 50, 60 }, { 9, 7, 5, 3, 1, 0 }, { 5, 4, 3, 2, 1, 0 },
		{ 0, 2, 4, 5, 6, 7 }, { 4, 999, 0, 998, 1, 997 }, { 3, 1, 4, 0, 5, 9 },
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (int count = 0; count <= 6; count++) {
			struct oriel_group *group = group_new(job, count, lists[i]);

			CU_ASSERT_PTR_NOT_NULL_FATAL(group);
			check_against_list(group, lists[i], count);
			group_release(group);
		}
	}
}

static void group_new__irregular_list(void)
{
	int list[1000];

	permute(list, 1000);
	for (int count = 1; count <= 1000; count += 37) {
		struct oriel_group *group = group_new(job, count, list);

		CU_ASSERT_PTR_NOT_NULL_FATAL(group);
		check_against_list(group, list, count);
		group_release(group);
	}
}

/*
 * Two ranges that interleave: 0 2 4 … and 1 3 5 …: the world ranks of one lie between those of the
 * other.
 */
static void group_new__interleaved_ranges(void)
{
	int list[1000];
	struct oriel_group *group;

	for (int i = 0; i < 500; i++) {
		list[i] = 2 * i;
		list[500 + i] = 999 - 2 * i;
	}
	group = group_new(job, 1000, list);
	CU_ASSERT_EQUAL(group->range_count, 2);
	check_against_list(group, list, 1000);
	group_release(group);
}

static void group_new__million_ranks_stay_tiny(void)
{
	int size = job->size, *list = malloc(MILLION / 2 * sizeof(int));
	struct oriel_group *world, *odd;

	job->size = MILLION;
	for (int i = 0; i < MILLION / 2; i++)
		list[i] = 2 * i + 1;
	world = group_new_world(job);
	odd = group_new(job, MILLION / 2, list);
	CU_ASSERT(held_bytes(world) <= 128);
	CU_ASSERT(held_bytes(odd) <= 128);
	CU_ASSERT_EQUAL(group_world_rank(odd, 499999), 999999);
	CU_ASSERT_EQUAL(group_rank_of(odd, 777777), 388888);
	CU_ASSERT_EQUAL(group_rank_of(odd, 777778), ORIEL_RANK_NONE);
	CU_ASSERT_EQUAL(group_rank_of(world, MILLION), ORIEL_RANK_NONE);
	group_release(world);
	group_release(odd);
	free(list);
	job->size = size;
}

static void group_new_world__is_everybody_in_order(void)
{
	int size = job->size, list[1000];

	for (int i = 0; i < 1000; i++)
		list[i] = i;
	for (job->size = 5; job->size <= 1000; job->size *= 2) {
		struct oriel_group *world = group_new_world(job);

		check_against_list(world, list, job->size);
		group_release(world);
	}
	job->size = size;
}

static void group_copy__is_equal_and_borrowed(void)
{
	int list[100];
	struct oriel_group *group, *copy;

	permute(list, 100);
	for (int count = 0; count <= 100; count += 50) {
		group = group_new(job, count, list);
		copy = group_copy(group);
		CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
		CU_ASSERT_TRUE(copy->borrowed);
		CU_ASSERT_EQUAL(memcmp(copy->key, group->key, GROUP_KEY_BYTES), 0);
		group_release(group);
		check_against_list(copy, list, count);
		group_release(copy);
	}
}

/* Members find each other's windows by this key: the way a list came about must not show. */
static void group_key__is_equal_for_equal_lists(void)
{
	int all[1000], evens[500], evens_of_evens[250], of_evens[250];
	struct oriel_group *world = group_new_world(job), *listed, *even, *a, *b;

	for (int i = 0; i < 1000; i++)
		all[i] = i;
	for (int i = 0; i < 500; i++)
		evens[i] = 2 * i;
	for (int i = 0; i < 250; i++) {
		evens_of_evens[i] = 4 * i;
		of_evens[i] = 2 * i;
	}
	CU_ASSERT_EQUAL_FATAL(oriel_group_incl(world, 1000, all, &listed), 0);
	CU_ASSERT_EQUAL(memcmp(world->key, listed->key, GROUP_KEY_BYTES), 0);
	CU_ASSERT_EQUAL_FATAL(oriel_group_incl(world, 500, evens, &even), 0);
	CU_ASSERT_EQUAL_FATAL(oriel_group_incl(world, 250, evens_of_evens, &a), 0);
	CU_ASSERT_EQUAL_FATAL(oriel_group_incl(even, 250, of_evens, &b), 0);
	CU_ASSERT_EQUAL(memcmp(a->key, b->key, GROUP_KEY_BYTES), 0);
	CU_ASSERT_NOT_EQUAL(memcmp(a->key, even->key, GROUP_KEY_BYTES), 0);
	group_release(world);
	group_release(listed);
	group_release(even);
	group_release(a);
	group_release(b);
}

/* Every list of up to four of five ranks has a key of its own: order counts. */
static void group_key__differs_for_different_lists(void)
{
	uint8_t keys[206][GROUP_KEY_BYTES];
	int count = 0;

	for (int code = 0; code < 6 * 6 * 6 * 6; code++) {
		int list[4] = { code % 6, code / 6 % 6, code / 36 % 6, code / 216 }, size = 0, used = 0;
		struct oriel_group *group;

		while (size < 4 && list[size] < 5 && !(used >> list[size] & 1))
			used |= 1 << list[size++];
		for (int i = size; i < 4; i++)
			used |= list[i] == 5 ? 0 : 64;
		if (used & 64)
			continue;
		group = group_new(job, size, list);
		for (int i = 0; i < count; i++)
			CU_ASSERT_NOT_EQUAL(memcmp(keys[i], group->key, GROUP_KEY_BYTES), 0);
		CU_ASSERT_FATAL(count < 206);
		memcpy(keys[count++], group->key, GROUP_KEY_BYTES);
		group_release(group);
	}
	CU_ASSERT_EQUAL(count, 1 + 5 + 20 + 60 + 120);
}

static void oriel_group_world__arguments(void)
{
	oriel_group *group = NULL;

	CU_ASSERT_EQUAL(oriel_group_world(NULL, &group), ORIEL_ERR_HANDLE);
	CU_ASSERT_EQUAL(oriel_group_world(job, NULL), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL_FATAL(oriel_group_world(job, &group), 0);
	CU_ASSERT_EQUAL(oriel_group_size(group), 1000);
	CU_ASSERT_EQUAL(oriel_group_rank(group), 4);
	CU_ASSERT_EQUAL(oriel_group_free(&group), 0);
	CU_ASSERT_PTR_NULL(group);
	CU_ASSERT_EQUAL(oriel_group_free(&group), ORIEL_ERR_HANDLE);
	CU_ASSERT_EQUAL(oriel_group_free(NULL), ORIEL_ERR_HANDLE);
}

static void oriel_group_incl__order_counts(void)
{
	static const int list[] = { 30, 4, 2, 900 };
	oriel_group *world, *group;

	oriel_group_world(job, &world);
	CU_ASSERT_EQUAL_FATAL(oriel_group_incl(world, 4, list, &group), 0);
	check_against_list(group, list, 4);
	CU_ASSERT_EQUAL(oriel_group_rank(group), 1);
	oriel_group_free(&group);
	CU_ASSERT_EQUAL_FATAL(oriel_group_incl(world, 0, NULL, &group), 0);
	CU_ASSERT_EQUAL(oriel_group_size(group), 0);
	CU_ASSERT_EQUAL(oriel_group_rank(group), ORIEL_RANK_NONE);
	oriel_group_free(&group);
	oriel_group_free(&world);
}

static void oriel_group_incl__refuses(void)
{
	static const int twice[] = { 1, 2, 1 }, high[] = { 0, 1000 }, negative[] = { 0, -1 };
	int many[1001] = { 0 };
	oriel_group *world, *freed, *group = (oriel_group *)&many;

	oriel_group_world(job, &world);
	oriel_group_world(job, &freed);
	oriel_group_free(&(oriel_group *){ freed });
	CU_ASSERT_EQUAL(oriel_group_incl(world, 3, twice, &group), ORIEL_ERR_RANK);
	CU_ASSERT_EQUAL(oriel_group_incl(world, 2, high, &group), ORIEL_ERR_RANK);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "1000"));
	CU_ASSERT_EQUAL(oriel_group_incl(world, 2, negative, &group), ORIEL_ERR_RANK);
	CU_ASSERT_EQUAL(oriel_group_incl(world, 1001, many, &group), ORIEL_ERR_RANK);
	CU_ASSERT_EQUAL(oriel_group_incl(world, -1, many, &group), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(oriel_group_incl(world, 1, NULL, &group), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(oriel_group_incl(world, 1, many, NULL), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(oriel_group_incl(NULL, 1, many, &group), ORIEL_ERR_HANDLE);
	CU_ASSERT_EQUAL(oriel_group_incl(freed, 1, many, &group), ORIEL_ERR_HANDLE);
	CU_ASSERT_PTR_EQUAL(group, &many);
	oriel_group_free(&world);
}

static void oriel_group_free__not_a_windows_copy(void)
{
	struct oriel_group *world = group_new_world(job), *copy = group_copy(world), *handle = copy;

	CU_ASSERT_EQUAL(oriel_group_free(&handle), ORIEL_ERR_HANDLE);
	CU_ASSERT_PTR_EQUAL(handle, copy);
	CU_ASSERT_EQUAL(oriel_group_size(copy), 1000);
	group_release(copy);
	group_release(world);
}

static void oriel_group_translate__both_ways(void)
{
	static const int from_list[] = { 10, 20, 30, 40 }, to_list[] = { 40, 99, 20 };
	int ranks[] = { 3, 0, 1, 2 };
	struct oriel_group *from = group_new(job, 4, from_list), *to = group_new(job, 3, to_list);

	CU_ASSERT_EQUAL(oriel_group_translate(from, 4, ranks, to, ranks), 0);
	CU_ASSERT_EQUAL(ranks[0], 0);
	CU_ASSERT_EQUAL(ranks[1], ORIEL_RANK_NONE);
	CU_ASSERT_EQUAL(ranks[2], 2);
	CU_ASSERT_EQUAL(ranks[3], ORIEL_RANK_NONE);
	CU_ASSERT_EQUAL(oriel_group_translate(from, 0, NULL, to, NULL), 0);
	group_release(from);
	group_release(to);
}

static void oriel_group_translate__refuses(void)
{
	struct oriel_job *other = handle_new(HANDLE_JOB, sizeof(*other));
	struct oriel_group *a = group_new_world(job), *b;
	int ranks[2] = { 0, 1000 }, out[2] = { 7, 7 };

	other->size = 2;
	b = group_new_world(other);
	CU_ASSERT_EQUAL(oriel_group_translate(a, 2, ranks, a, out), ORIEL_ERR_RANK);
	CU_ASSERT_EQUAL(oriel_group_translate(a, 1, ranks, b, out), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(oriel_group_translate(a, -1, ranks, a, out), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(oriel_group_translate(a, 1, NULL, a, out), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(oriel_group_translate(a, 1, ranks, a, NULL), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(oriel_group_translate(NULL, 1, ranks, a, out), ORIEL_ERR_HANDLE);
	CU_ASSERT_EQUAL(oriel_group_translate(a, 1, ranks, NULL, out), ORIEL_ERR_HANDLE);
	CU_ASSERT_EQUAL(out[0], 7);
	group_release(a);
	group_release(b);
	free(other->group_counts.list);
	handle_release(HANDLE_JOB, other);
}

void suite_group(void)
{
	CU_pSuite suite = CU_add_suite("group", init, cleanup);

	CU_ADD_TEST(suite, group_new__ranges);
	CU_ADD_TEST(suite, group_new__irregular_list);
	CU_ADD_TEST(suite, group_new__interleaved_ranges);
	CU_ADD_TEST(suite, group_new__million_ranks_stay_tiny);
	CU_ADD_TEST(suite, group_new_world__is_everybody_in_order);
	CU_ADD_TEST(suite, group_copy__is_equal_and_borrowed);
	CU_ADD_TEST(suite, group_key__is_equal_for_equal_lists);
	CU_ADD_TEST(suite, group_key__differs_for_different_lists);
	CU_ADD_TEST(suite, oriel_group_world__arguments);
	CU_ADD_TEST(suite, oriel_group_incl__order_counts);
	CU_ADD_TEST(suite, oriel_group_incl__refuses);
	CU_ADD_TEST(suite, oriel_group_free__not_a_windows_copy);
	CU_ADD_TEST(suite, oriel_group_translate__both_ways);
	CU_ADD_TEST(suite, oriel_group_translate__refuses);
}
