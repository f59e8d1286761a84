// SPDX-License-Identifier: BSD-2-Clause
/* variables.c - see variables.h. tests/manual compares the names with oriel_environment(7). */
#include "variables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "ORIEL_"
#define LETTERS_MAX 24       /* of a name behind the prefix */
#define LETTERS_LONG 7       /* from here on two letters may differ */
#define NO_MATCH LETTERS_MAX /* more than counts as near */

/* In the order of oriel_environment(7). */
static const char *const known[] = {
	"ORIEL_DEVICE",
	"ORIEL_ADDR",
	"ORIEL_TIMEOUT",
	"ORIEL_WATCHDOG",
	"ORIEL_CONNECT_TIMEOUT",
	"ORIEL_BOOT",
	"ORIEL_VERBOSE",
	"ORIEL_SHARE",
	"ORIEL_UNKIND",
	"ORIEL_FLAGS",
	"ORIEL_ATOMICS",
	"ORIEL_KEEP_REGISTERED",
	"ORIEL_MPI_VERBOSE",
	"ORIEL_PROFILE_OUT",
	"ORIEL_PROFILE_BYTES",
	"ORIEL_PROFILE",
	"ORIEL_SEE",
	"ORIEL_TRACE",
	"ORIEL_TRACE_BYTES",
	"ORIEL_CHECK_REPORT",
	"ORIEL_CHECK_MEMORY",
	"ORIEL_CHECK_DEADLOCK",
	"ORIEL_CHECK_FAIL",
	"ORIEL_CHECK_DOT",
	"ORIEL_CHECK",
	"ORIEL_BOOTSTRAP",
	"ORIEL_RANK",
	"ORIEL_SIZE",
	"ORIEL_LOCAL_SIZE",
	"ORIEL_SECRET_FD",
	"ORIEL_MAX_MESSAGE",
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Returns how many letters must be changed, added, left out, or swapped with the next one, to make
 * one name of the other. rows holds the distances of the prefixes of `a` that end here, one letter
 * and two letters before.
 */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][LETTERS_MAX + 1];

	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *row = rows[i % 3], *before = rows[(i - 1) % 3], *two_before = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = least(before[j - 1] + (a[i - 1] != b[j - 1]), least(before[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_before[j - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

/* Modules and packages of a site set NAME_ROOT to the folder of a package. */
static bool is_foreign(const char *name, size_t length)
{
	static const char tests[] = PREFIX "TEST_", root[] = PREFIX "ROOT";

	return strncmp(name, tests, strlen(tests)) == 0 || (length == strlen(root) && strncmp(name, root, length) == 0);
}

/* Returns the distance if it is near enough to count, otherwise NO_MATCH. */
static size_t near(const char *name, size_t length, const char *to)
{
	const char *letters = to + strlen(PREFIX);
	size_t count = strlen(letters), away;

	away = distance(name + strlen(PREFIX), length - strlen(PREFIX), letters, count);
	return away <= (count < LETTERS_LONG ? 1 : 2) ? away : NO_MATCH;
}

static const char *nearest(const char *name, size_t length)
{
	const char *found = NULL;
	size_t found_away = NO_MATCH;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		size_t away = near(name, length, known[i]);

		if (away < found_away) {
			found = known[i];
			found_away = away;
		}
	}
	return found_away > 0 ? found : NULL; /* 0: it is that one */
}

const char *variables_meant(const char *assignment)
{
	size_t length = strcspn(assignment, "=");

	if (length <= strlen(PREFIX) || length > strlen(PREFIX) + LETTERS_MAX || is_foreign(assignment, length))
		return NULL;
	return strncmp(assignment, PREFIX, strlen(PREFIX)) == 0 ? nearest(assignment, length) : NULL;
}

void variables_check(char *const assignments[], void (*report)(void *arg, const char *text), void *arg)
{
	char text[VARIABLES_TEXT_BYTES];

	for (; *assignments; assignments++) {
		const char *meant = variables_meant(*assignments);

		if (!meant)
			continue;
		snprintf(text, sizeof(text), "%.*s is not known; did you mean %s?", (int)strcspn(*assignments, "="),
		         *assignments, meant);
		report(arg, text);
	}
}
