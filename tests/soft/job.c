// SPDX-License-Identifier: BSD-2-Clause
/*
 * A small job of Oriel: a window, puts and gets, fences, post-start-complete-wait. What it is for
 * is what happens when the device misbehaves. Usage: oriel-run -n 2 job RANK ADVERSARY [EPOCHS]:
 * that rank runs on SOFTVERBS_ADVERSARY=ADVERSARY, and there are so many epochs of post, start,
 * complete and wait. Exit status: 0 all is done and the data is right, 1 a call failed and said
 * why, 2 anything else.
 */
#include <oriel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDS = 4096,
	RIGHT = 0,
	TOLD = 1,
	WRONG = 2,
	LIMIT_MS = 6000,
	EPOCHS = 4,
};

static int told(const char *call, int code)
{
	const char *text = oriel_last_error();

	fprintf(stderr, "%s: %d: %s\n", call, code, text);
	return code < 0 && text && text[0] ? TOLD : WRONG;
}

#define TRY(call)                     \
	do {                              \
		int code = (call);            \
		if (code != 0)                \
			return told(#call, code); \
	} while (0)

static int wrong(const char *what, long value)
{
	fprintf(stderr, "wrong data, and nobody said so: %s is %ld\n", what, value);
	return WRONG;
}

static int fences(oriel_win *win, const long *mine, int rank)
{
	static long from[WORDS];
	long to[WORDS];
	int other = 1 - rank;

	for (long i = 0; i < WORDS; i++)
		to[i] = 1000 * rank + i;
	TRY(oriel_win_fence(win, ORIEL_MODE_NOPRECEDE));
	TRY(oriel_put(win, to, sizeof(to), other, 0));
	TRY(oriel_win_fence(win, 0));
	for (long i = 0; i < WORDS; i++)
		if (mine[i] != 1000 * other + i)
			return wrong("put by fence", mine[i]);
	TRY(oriel_get(win, from, sizeof(from), other, 0));
	TRY(oriel_win_fence(win, ORIEL_MODE_NOSUCCEED));
	return memcmp(from, to, sizeof(to)) == 0 ? RIGHT : wrong("get by fence", from[0]);
}

static int epochs(oriel_win *win, oriel_group *other_group, const long *mine, int rank, long count)
{
	long word;

	for (long i = 0; i < count; i++) {
		word = 7000 + i;
		TRY(oriel_win_post(win, other_group, 0));
		TRY(oriel_win_start(win, other_group, 0));
		TRY(oriel_put(win, &word, sizeof(word), 1 - rank, 0));
		TRY(oriel_win_complete(win));
		TRY(oriel_win_wait(win));
		if (mine[0] != word)
			return wrong("put by epoch", mine[0]);
	}
	return RIGHT;
}

static int all(long count)
{
	static long memory[WORDS];
	struct oriel_options options = { .struct_bytes = sizeof(options), .timeout_ms = LIMIT_MS };
	oriel_group *world, *other_group;
	oriel_job *job;
	oriel_win *win;
	int rank, other, result;

	TRY(oriel_init(&options, &job));
	rank = oriel_rank(job);
	other = 1 - rank;
	TRY(oriel_group_world(job, &world));
	TRY(oriel_group_incl(world, 1, &other, &other_group));
	TRY(oriel_win_create(memory, sizeof(memory), sizeof(long), NULL, world, &win));
	result = fences(win, memory, rank);
	if (result == RIGHT)
		result = epochs(win, other_group, memory, rank, count);
	if (result != RIGHT)
		return result;
	TRY(oriel_barrier(job));
	TRY(oriel_win_free(&win));
	TRY(oriel_group_free(&other_group));
	TRY(oriel_group_free(&world));
	TRY(oriel_finalize(&job));
	return RIGHT;
}

int main(int argc, char **argv)
{
	const char *rank = getenv("ORIEL_RANK");

	if (argc > 2 && rank && strcmp(rank, argv[1]) == 0)
		setenv("SOFTVERBS_ADVERSARY", argv[2], 1);
	return all(argc > 3 ? atol(argv[3]) : EPOCHS);
}
