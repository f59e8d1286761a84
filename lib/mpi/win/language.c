// SPDX-License-Identifier: BSD-2-Clause
/*
 * language.c - errors of Oriel in the words of MPI
 *
 * DESIGN NOTES
 *
 * Oriel's texts name calls and constants as oriel.h does, and count displacements in bytes, since
 * the layer's windows have unit 1. A table (names.h) translates them once an error has happened.
 * Environment variables keep their names.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "mpi/win/error.h"

#include "mpi/job/job.h"
#include "mpi/job/names.h"

#define NAMED(class)  \
	{                 \
		class, #class \
	}

static const struct {
	int class;
	const char *name;
} classes[] = {
	NAMED(MPI_ERR_ARG),        NAMED(MPI_ERR_WIN),      NAMED(MPI_ERR_RANK),       NAMED(MPI_ERR_RMA_RANGE),
	NAMED(MPI_ERR_ACCESS),     NAMED(MPI_ERR_RMA_SYNC), NAMED(MPI_ERR_NO_MEM),     NAMED(MPI_ERR_OP),
	NAMED(MPI_ERR_RMA_ATTACH), NAMED(MPI_ERR_SIZE),     NAMED(MPI_ERR_RMA_FLAVOR), NAMED(MPI_ERR_RMA_SHARED),
	NAMED(MPI_ERR_DISP),       NAMED(MPI_ERR_ASSERT),   NAMED(MPI_ERR_GROUP),      NAMED(MPI_ERR_LOCKTYPE),
	NAMED(MPI_ERR_COUNT),      NAMED(MPI_ERR_TYPE),     NAMED(MPI_ERR_TRUNCATE),   NAMED(MPI_ERR_INFO),
};

const char *language_class(int class)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (classes[i].class == class)
			return classes[i].name;
	return "MPI_ERR_OTHER";
}

/* A text that grows as far as there is room. */
struct writing {
	char *text;
	size_t used;
};

static void add(struct writing *to, const char *text, size_t bytes)
{
	size_t room = LANGUAGE_BYTES - 1 - to->used;

	bytes = bytes < room ? bytes : room;
	memcpy(to->text + to->used, text, bytes);
	to->used += bytes;
	to->text[to->used] = '\0';
}

static void add_text(struct writing *to, const char *text)
{
	add(to, text, strlen(text));
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Adds the word at *from, translated if possible, and moves *from behind it. */
static void add_word(struct writing *to, const char **from)
{
	const char *word = *from, *translated;
	size_t length = 0;

	while (is_of_word(word[length]))
		length++;
	*from += length;
	translated = names_of_mpi(word, length);
	if (translated)
		add_text(to, translated);
	else
		add(to, word, length);
}

/* Adds what a displacement in bytes would have been, if likely. */
static void add_hint(struct writing *to, const char *text, long long disp, long long unit)
{
	unsigned long long first, last, size_bytes;
	char hint[128];

	if (unit < 2 || disp < 0 || disp % unit)
		return;
	if (sscanf(text, " are bytes %llu to %llu, and its window has %llu bytes", &first, &last, &size_bytes) != 3)
		return;
	if ((unsigned long long)disp + (last - first) >= size_bytes)
		return;
	snprintf(hint, sizeof(hint), "; displacements count units of %lld bytes: %lld would be byte %lld", unit,
	         disp / unit, disp);
	add_text(to, hint);
}

/*
 * Adds "at displacement 640 (unit 1 bytes) of rank 1" with the window's unit, and the rest. Returns
 * false if the text does not go on so. A displacement that is no multiple of the unit, after a
 * datatype's offset, stays in bytes.
 */
static bool add_displacement(struct writing *to, const struct window *window, const char *text)
{
	unsigned long long bytes;
	long long unit, disp;
	int rank, used = 0;
	char translated[128];

	if (sscanf(text, "at displacement %llu (unit 1 bytes) of rank %d%n", &bytes, &rank, &used) != 2)
		return false;
	if (!window || rank < 0 || rank >= window->rank_count)
		return false;
	unit = window_unit(window, rank);
	disp = (long long)bytes / unit;
	if (disp * unit != (long long)bytes)
		return false;
	snprintf(translated, sizeof(translated), "at displacement %lld (unit %lld bytes) of rank %d", disp, unit, rank);
	add_text(to, translated);
	add_text(to, text + used);
	add_hint(to, text + used, disp, unit);
	return true;
}

/* Returns the text's length before its constant, " (ORIEL_ERR_SYNC)". */
static size_t without_constant(const char *text)
{
	const char *last = strrchr(text, '(');

	if (last && last > text && strncmp(last, "(ORIEL_ERR_", strlen("(ORIEL_ERR_")) == 0)
		return (size_t)(last - 1 - text);
	return strlen(text);
}

const char *language_of_mpi(const struct window *window, const char *oriel, char text[LANGUAGE_BYTES])
{
	char cut[LANGUAGE_BYTES];
	struct writing to = { text, 0 };
	const char *from = job_without_rank(oriel);

	snprintf(cut, sizeof(cut), "%.*s", (int)without_constant(from), from);
	text[0] = '\0';
	for (from = cut; *from;) {
		if (strncmp(from, "at displacement ", strlen("at displacement ")) == 0 && add_displacement(&to, window, from))
			break;
		if (is_of_word(*from))
			add_word(&to, &from);
		else
			add(&to, from++, 1);
	}
	return text;
}
