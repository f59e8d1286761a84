// SPDX-License-Identifier: BSD-2-Clause
/* multi_hints.c - hints (I1, I2, A16, A19), and what layers above need: tags, a pointer, memory. */
#include "multi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct oriel_win_info query(struct multi *m, const oriel_win *win)
{
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };

	CHECK_OK(m, oriel_win_query(win, &info));
	return info;
}

static int open_with(struct multi *m, const char *key, const char *value, oriel_win **win)
{
	static uint8_t memory[8];
	const struct oriel_hint hints[] = { { key, value }, { NULL, NULL } };

	return oriel_win_create(memory, sizeof(memory), 1, hints, m->group, win);
}

/* MM1, I2: what is in force, defaults included. */
static void defaults_are_told(struct multi *m)
{
	struct oriel_win_info info;
	oriel_win *win;
	void *base;

	CHECK_OK(m, open_with(m, "colour", "blue", &win));
	info = query(m, win);
	CHECK(m, info.kind == ORIEL_WIN_CREATED && info.unified == 1);
	CHECK(m, info.alloc_shared_noncontig == 0 && info.accumulate_granularity_bytes == 0 && info.signal_count == 0);
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_OK(m, oriel_win_allocate(8, 1, NULL, m->group, &base, &win));
	info = query(m, win);
	CHECK(m, info.kind == ORIEL_WIN_ALLOCATED && info.unified == 1);
	CHECK_OK(m, oriel_win_free(&win));
}

/*
 * I1: a known key with a value that cannot be used is an error before anything else happens; an
 * unknown key is not.
 */
static void values(struct multi *m)
{
	static const char *const wrong[][2] = {
		{ "no_locks", "True" },
		{ "same_size", "1" },
		{ "same_disp_unit", "" },
		{ "alloc_shared_noncontig", "yes" },
		{ "accumulate_ops", "same" },
		{ "mpi_accumulate_granularity", "-1" },
		{ "mpi_accumulate_granularity", "8 bytes" },
		{ "mpi_accumulate_granularity", "99999999999999999999" },
		{ "refuse", "1" },
		{ "signals", "65537" },
		{ "signals", "" },
		{ "signals", " 1" },
	};
	const char *uneven = m->rank == 0 ? "65536" : "0";
	oriel_win *win = NULL;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK_RC(m, ORIEL_ERR_ARG, open_with(m, wrong[i][0], wrong[i][1], &win));
		CHECK_TEXT(m, wrong[i][0]);
	}
	CHECK(m, win == NULL);
	CHECK_OK(m, open_with(m, "signals", uneven, &win));
	CHECK(m, query(m, win).signal_count == (m->rank == 0 ? 65536 : 0));
	CHECK_OK(m, oriel_win_free(&win));
}

/* A16: lists in any order, with blanks. */
static void ordering_lists(struct multi *m)
{
	static const char *const lists[][2] = {
		{ "none", "none" },
		{ " none\t", "none" },
		{ "waw", "waw" },
		{ "waw , rar", "rar,waw" },
		{ " war,waw,rar , raw ", "rar,raw,war,waw" },
		{ "raw,raw", "raw" },
	};
	static const char *const wrong[] = {
		"", " ", "rar,", ",rar", "rar raw", "none,rar", "rar;raw", "RAR", "rara", "ra"
	};
	oriel_win *win;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		CHECK_OK(m, open_with(m, "accumulate_ordering", lists[i][0], &win));
		CHECK(m, strcmp(query(m, win).accumulate_ordering, lists[i][1]) == 0);
		CHECK_OK(m, oriel_win_free(&win));
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK_RC(m, ORIEL_ERR_ARG, open_with(m, "accumulate_ordering", wrong[i], &win));
		CHECK_TEXT(m, "accumulate_ordering");
	}
}

/*
 * W9: one member cannot have the window. No member gets it, and none waits; the next one is made as
 * if nothing had been.
 */
static void refused_by_one(struct multi *m)
{
	const struct oriel_hint refuse[] = { { "refuse", "true" }, { NULL, NULL } };
	oriel_win *win = NULL;

	CHECK_RC(m, ORIEL_ERR_MEMORY, open_with(m, "refuse", m->rank == m->size - 1 ? "true" : "false", &win));
	CHECK(m, win == NULL);
	CHECK_RC(m, ORIEL_ERR_MEMORY, oriel_win_create_dynamic(m->rank == 0 ? refuse : NULL, m->group, &win));
	CHECK_TEXT(m, m->rank == 0 ? "refuse" : "rank 0");
	CHECK(m, win == NULL);
	CHECK_OK(m, open_with(m, "refuse", "false", &win));
	CHECK_OK(m, oriel_win_free(&win));
}

/* W9, SW1: the same of windows whose memory is the library's. */
static void provided_refused_by_one(struct multi *m)
{
	const struct oriel_hint refuse[] = { { "refuse", "true" }, { NULL, NULL } };
	oriel_win *win = NULL;
	void *base;
	int rc;

	for (int odd = 0; odd < m->size; odd++) {
		const struct oriel_hint *mine = m->rank == odd ? refuse : NULL;

		CHECK_RC(m, ORIEL_ERR_MEMORY, oriel_win_allocate(8, 1, mine, m->group, &base, &win));
		CHECK_TEXT(m, m->rank == odd ? "refuse" : "could not take part");
		CHECK_RC(m, ORIEL_ERR_MEMORY, oriel_win_allocate_shared(8, 1, mine, m->group, &base, &win));
		CHECK_TEXT(m, m->rank == odd ? "refuse" : "could not take part");
		CHECK(m, win == NULL);
	}
	rc = oriel_win_allocate_shared(8, 1, NULL, m->group, &base, &win);
	CHECK(m, rc == 0 || rc == ORIEL_ERR_SHARED); /* on several nodes */
	if (rc == 0)
		CHECK_OK(m, oriel_win_free(&win));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MALLOC_FAILS false /* their malloc ends the process */
#else
#define MALLOC_FAILS true
#endif

/* All that malloc has, in a list, and nothing more from the system. */
static void **use_up_memory(struct rlimit *before)
{
	const struct rlimit none = { 0, before->rlim_max };
	void **used = NULL, **more;

	setrlimit(RLIMIT_AS, &none);
	for (size_t bytes = (size_t)1 << 20; bytes >= sizeof(void *); bytes /= 2) {
		while ((more = malloc(bytes))) {
			*more = used;
			used = more;
		}
	}
	return used;
}

static void give_memory(void **used, const struct rlimit *before)
{
	setrlimit(RLIMIT_AS, before);
	while (used) {
		void **next = *used;

		free(used);
		used = next;
	}
}

enum { GROUPS = 20 }; /* more than a job has room for from the start */

/* Groups that have made no window yet. */
static void make_groups(struct multi *m, int turn, oriel_group *groups[GROUPS])
{
	for (int i = 0; i < GROUPS; i++)
		CHECK_OK(m, oriel_group_tagged(m->group, (uint64_t)(1 + turn * GROUPS + i), &groups[i]));
}

/*
 * W9: one member has no memory for as much as the window's handle. It tells the others, in
 * whichever group.
 */
static void no_memory_for_one(struct multi *m)
{
	struct rlimit before;
	oriel_group *groups[GROUPS];
	oriel_win *win = NULL;
	void *base, **used = NULL;
	int rc[3 + GROUPS];

	if (!MALLOC_FAILS) {
		multi_skip(m, "no memory can be lacking here");
		return;
	}
	CHECK(m, getrlimit(RLIMIT_AS, &before) == 0);
	for (int odd = 0; odd < m->size; odd++) {
		make_groups(m, odd, groups);
		multi_sync(m);
		if (m->rank == odd)
			used = use_up_memory(&before);
		rc[0] = open_with(m, "refuse", "false", &win);
		rc[1] = oriel_win_allocate_shared(8, 1, NULL, m->group, &base, &win);
		rc[2] = oriel_win_create_dynamic(NULL, m->group, &win);
		for (int i = 0; i < GROUPS; i++)
			rc[3 + i] = oriel_win_create_dynamic(NULL, groups[i], &win);
		if (m->rank == odd)
			give_memory(used, &before);
		CHECK_TEXT(m, m->rank == odd ? "out of memory for the window" : "could not take part");
		for (int i = 0; i < 3 + GROUPS; i++)
			CHECK_RC(m, ORIEL_ERR_MEMORY, rc[i]);
		for (int i = 0; i < GROUPS; i++)
			CHECK_OK(m, oriel_group_free(&groups[i]));
	}
	CHECK(m, win == NULL);
	CHECK_OK(m, open_with(m, "refuse", "false", &win));
	CHECK_OK(m, oriel_win_free(&win));
}

/* A19: the members agree, or none gets the window. */
static void granularity_agrees(struct multi *m)
{
	oriel_win *win;

	CHECK_OK(m, open_with(m, "mpi_accumulate_granularity", "64", &win));
	CHECK(m, query(m, win).accumulate_granularity_bytes == 64);
	CHECK_OK(m, oriel_win_free(&win));
	for (int odd = 0; odd < m->size; odd++) {
		const char *mine = m->rank == odd ? "8" : "64";

		CHECK_RC(m, ORIEL_ERR_ARG, open_with(m, "mpi_accumulate_granularity", mine, &win));
		CHECK_TEXT(m, "mpi_accumulate_granularity");
		CHECK_RC(m, ORIEL_ERR_ARG, open_with(m, "alloc_shared_noncontig", m->rank == odd ? "true" : "false", &win));
		CHECK_TEXT(m, "alloc_shared_noncontig");
	}
}

/* I2: what can be changed is, on all or on none; the rest is ignored. */
static void set_hints(struct multi *m)
{
	const struct oriel_hint change[] = { { "accumulate_ordering", "none" },
		                                 { "accumulate_ops", "same_op" },
		                                 { "no_locks", "true" },
		                                 { "signals", "7" },
		                                 { "colour", "blue" },
		                                 { NULL, NULL } };
	const struct oriel_hint wrong[] = { { "accumulate_ordering", "raw" }, { "accumulate_ops", "any" }, { NULL, NULL } };
	struct oriel_win_info info;
	oriel_win *win;

	CHECK_OK(m, open_with(m, "signals", "3", &win));
	CHECK_OK(m, oriel_win_set_hints(win, NULL));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_set_hints(win, m->rank == 1 ? wrong : change));
	info = query(m, win);
	CHECK(m, strcmp(info.accumulate_ordering, "rar,raw,war,waw") == 0);
	CHECK(m, strcmp(info.accumulate_ops, "same_op_no_op") == 0);
	CHECK_OK(m, oriel_win_set_hints(win, m->rank == 1 ? NULL : change));
	info = query(m, win);
	CHECK(m, strcmp(info.accumulate_ordering, m->rank == 1 ? "rar,raw,war,waw" : "none") == 0);
	CHECK(m, strcmp(info.accumulate_ops, m->rank == 1 ? "same_op_no_op" : "same_op") == 0);
	CHECK(m, info.no_locks == 0 && info.signal_count == 3);
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_set_hints(win, NULL));
}

/* I3: the pointer of a layer above. */
static void user_pointer(struct multi *m)
{
	oriel_win *win, *freed;

	CHECK_OK(m, open_with(m, "signals", "0", &win));
	CHECK(m, oriel_win_user(win) == NULL);
	CHECK_OK(m, oriel_win_set_user(win, m));
	CHECK(m, oriel_win_user(win) == m);
	freed = win;
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_set_user(freed, m));
	CHECK(m, oriel_win_user(freed) == NULL && oriel_win_user(NULL) == NULL);
}

/* E1: the name is this rank's, and stands in its messages. */
static void names(struct multi *m)
{
	char longest[65], wanted[128];
	struct oriel_win_info info;
	oriel_win *win;
	uint8_t byte = 0;

	memset(longest, 'x', sizeof(longest));
	longest[64] = '\0';
	CHECK_RC(m, ORIEL_ERR_ARG, open_with(m, "name", longest, &win));
	CHECK_RC(m, ORIEL_ERR_ARG, open_with(m, "name", "two\nlines", &win));
	CHECK_OK(m, open_with(m, "name", m->rank ? "field" : "", &win));
	info = query(m, win);
	CHECK(m, strcmp(info.name, m->rank ? "field" : "") == 0);
	snprintf(wanted, sizeof(wanted),
	         m->rank ? "window %llu (field): " : "window %llu: ", (unsigned long long)info.number);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(win, &byte, 1, 0, 0));
	CHECK_TEXT(m, wanted);
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_set_name(win, longest));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_win_set_name(win, "\033[2J"));
	longest[63] = '\0';
	CHECK_OK(m, oriel_win_set_name(win, longest));
	snprintf(wanted, sizeof(wanted), "window %llu (%s): ", (unsigned long long)info.number, longest);
	CHECK_RC(m, ORIEL_ERR_SYNC, oriel_put(win, &byte, 1, 0, 0));
	CHECK_TEXT(m, wanted);
	CHECK_OK(m, oriel_win_set_name(win, NULL));
	info = query(m, win);
	CHECK(m, info.name[0] == '\0');
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_win_set_name(win, "gone"));
}

/* A window on a group, into which the next rank puts a byte. */
static void use_group(struct multi *m, oriel_group *group, uint8_t value)
{
	uint8_t memory = 0;
	oriel_win *win;

	if (!CHECK_OK(m, oriel_win_create(&memory, 1, 1, NULL, group, &win)))
		return;
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_put(win, &value, 1, (m->rank + 1) % m->size, 0));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, memory == value);
	CHECK_OK(m, oriel_win_free(&win));
}

/* E4: windows on two tagged groups and the plain one, all of the same members, keep apart. */
static void tags_never_match(struct multi *m)
{
	oriel_group *red, *blue, *none = NULL;
	uint8_t memory[2] = { 0 }, value = 5;
	oriel_win *win[2];
	int ranks[MULTI_RANKS_MAX], same[MULTI_RANKS_MAX];

	CHECK_OK(m, oriel_group_tagged(m->group, 7, &red));
	CHECK_OK(m, oriel_group_tagged(red, 8, &blue));
	CHECK(m, oriel_group_size(blue) == m->size && oriel_group_rank(blue) == m->rank);
	for (int i = 0; i < m->size; i++)
		ranks[i] = i;
	CHECK_OK(m, oriel_group_translate(m->group, m->size, ranks, blue, same));
	CHECK(m, memcmp(ranks, same, (size_t)m->size * sizeof(int)) == 0);
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_group_tagged(red, 1, NULL));
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_group_tagged(NULL, 1, &none));
	/* One window more on one of them, then the counts differ between the groups. */
	use_group(m, red, 1);
	CHECK_OK(m, oriel_win_create(&memory[0], 1, 1, NULL, blue, &win[0]));
	CHECK_OK(m, oriel_win_create(&memory[1], 1, 1, NULL, m->group, &win[1]));
	CHECK_OK(m, oriel_win_fence(win[0], 0));
	CHECK_OK(m, oriel_put(win[0], &value, 1, (m->rank + 1) % m->size, 0));
	CHECK_OK(m, oriel_win_fence(win[0], 0));
	CHECK(m, memory[0] == 5 && memory[1] == 0);
	CHECK_OK(m, oriel_win_free(&win[0]));
	CHECK_OK(m, oriel_win_free(&win[1]));
	CHECK_OK(m, oriel_group_free(&red));
	use_group(m, blue, 2);
	CHECK_OK(m, oriel_group_free(&blue));
}

/* W4, D7: memory of the library for windows of the program, and as origin. */
static void memory_of_the_library(struct multi *m)
{
	const size_t bytes = 100000;
	uint8_t *memory = oriel_alloc(m->job, bytes), *origin = oriel_alloc(m->job, bytes);
	oriel_win *win;

	CHECK(m, memory && origin && (uintptr_t)memory % 4096 == 0 && multi_all(memory, bytes, 0));
	multi_fill(origin, bytes, (uint64_t)m->rank);
	CHECK_OK(m, oriel_win_create(memory + 1, bytes - 1, 1, NULL, m->group, &win));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK_OK(m, oriel_put(win, origin, bytes - 1, (m->rank + 1) % m->size, 0));
	CHECK_OK(m, oriel_win_fence(win, 0));
	CHECK(m, multi_holds(memory + 1, bytes - 1, (uint64_t)((m->rank + m->size - 1) % m->size)));
	CHECK_OK(m, oriel_win_free(&win));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_free(m->job, memory + 1));
	CHECK_OK(m, oriel_free(m->job, memory));
	CHECK_RC(m, ORIEL_ERR_ARG, oriel_free(m->job, memory));
	CHECK_OK(m, oriel_free(m->job, NULL));
	CHECK_OK(m, oriel_free(m->job, origin));
	CHECK(m, oriel_alloc(m->job, 0) == NULL && oriel_alloc(m->job, SIZE_MAX) == NULL);
	CHECK(m, oriel_alloc(NULL, 8) == NULL);
	CHECK_RC(m, ORIEL_ERR_HANDLE, oriel_free(NULL, origin));
}

static const struct multi_case cases[] = {
	{ "I2_MM1_defaults_are_told", 2, defaults_are_told },
	{ "I1_values", 2, values },
	{ "W9_refused_by_one", 3, refused_by_one },
	{ "W9_SW1_provided_refused_by_one", 3, provided_refused_by_one },
	{ "W9_no_memory_for_one", 3, no_memory_for_one },
	{ "A16_ordering_lists", 2, ordering_lists },
	{ "A19_granularity_agrees", 4, granularity_agrees },
	{ "I2_set_hints", 3, set_hints },
	{ "I3_user_pointer", 2, user_pointer },
	{ "E1_names", 2, names },
	{ "E4_tags_never_match", 3, tags_never_match },
	{ "W4_D7_memory_of_the_library", 2, memory_of_the_library },
};

int main(int argc, char **argv)
{
	static const struct multi_program program = { .name = "multi_hints",
		                                          .cases = cases,
		                                          .case_count = sizeof(cases) / sizeof(cases[0]) };

	return multi_main(argc, argv, &program);
}
