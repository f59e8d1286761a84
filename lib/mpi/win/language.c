// SPDX-License-Identifier: BSD-2-Clause
/*
 * language.c - errors of Oriel in the words of MPI
 *
 * DESIGN NOTES
 *
 * The program has called MPI_Put with a displacement in its own unit, and knows no oriel_put. Texts
 * of Oriel name calls and constants as oriel.h does, and count displacements in bytes, since the
 * layer's windows have unit 1. They are translated by a table once an error has happened: nothing
 * is kept for that while calls succeed. Environment variables keep their names.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "mpi/win/error.h"

#include "mpi/job/job.h"

static const struct {
	const char *oriel, *mpi;
} words[] = {
	{ "oriel_put", "MPI_Put" },
	{ "oriel_putv", "MPI_Put" },
	{ "oriel_get", "MPI_Get" },
	{ "oriel_getv", "MPI_Get" },
	{ "oriel_accumulate", "MPI_Accumulate" },
	{ "oriel_accumulatev", "MPI_Accumulate" },
	{ "oriel_get_accumulate", "MPI_Get_accumulate" },
	{ "oriel_get_accumulatev", "MPI_Get_accumulate" },
	{ "oriel_fetch_and_op", "MPI_Fetch_and_op" },
	{ "oriel_compare_and_swap", "MPI_Compare_and_swap" },
	{ "oriel_win_create", "MPI_Win_create" },
	{ "oriel_win_allocate", "MPI_Win_allocate" },
	{ "oriel_win_allocate_shared", "MPI_Win_allocate_shared" },
	{ "oriel_win_create_dynamic", "MPI_Win_create_dynamic" },
	{ "oriel_win_attach", "MPI_Win_attach" },
	{ "oriel_win_detach", "MPI_Win_detach" },
	{ "oriel_win_shared_query", "MPI_Win_shared_query" },
	{ "oriel_win_free", "MPI_Win_free" },
	{ "oriel_win_query", "MPI_Win_get_info" },
	{ "oriel_win_set_hints", "MPI_Win_set_info" },
	{ "oriel_win_set_name", "MPI_Win_set_name" },
	{ "oriel_win_fence", "MPI_Win_fence" },
	{ "oriel_win_post", "MPI_Win_post" },
	{ "oriel_win_start", "MPI_Win_start" },
	{ "oriel_win_complete", "MPI_Win_complete" },
	{ "oriel_win_wait", "MPI_Win_wait" },
	{ "oriel_win_test", "MPI_Win_test" },
	{ "oriel_win_lock", "MPI_Win_lock" },
	{ "oriel_win_unlock", "MPI_Win_unlock" },
	{ "oriel_win_lock_all", "MPI_Win_lock_all" },
	{ "oriel_win_unlock_all", "MPI_Win_unlock_all" },
	{ "oriel_win_flush", "MPI_Win_flush" },
	{ "oriel_win_flush_local", "MPI_Win_flush_local" },
	{ "oriel_win_iflush_local", "the request of the operation" },
	{ "oriel_win_sync", "MPI_Win_sync" },
	{ "oriel_request_test", "the request's completion" },
	{ "oriel_alloc", "MPI_Alloc_mem" },
	{ "oriel_free", "MPI_Free_mem" },
	{ "oriel_group_incl", "the group" },
	{ "oriel_group_shared", "MPI_Comm_split_type" },
	{ "ORIEL_LOCK_SHARED", "MPI_LOCK_SHARED" },
	{ "ORIEL_LOCK_EXCLUSIVE", "MPI_LOCK_EXCLUSIVE" },
	{ "ORIEL_MODE_NOCHECK", "MPI_MODE_NOCHECK" },
	{ "ORIEL_RANK_ALL", "all ranks" },
	{ "ORIEL_SUM", "MPI_SUM" },
	{ "ORIEL_PROD", "MPI_PROD" },
	{ "ORIEL_MIN", "MPI_MIN" },
	{ "ORIEL_MAX", "MPI_MAX" },
	{ "ORIEL_LAND", "MPI_LAND" },
	{ "ORIEL_LOR", "MPI_LOR" },
	{ "ORIEL_LXOR", "MPI_LXOR" },
	{ "ORIEL_BAND", "MPI_BAND" },
	{ "ORIEL_BOR", "MPI_BOR" },
	{ "ORIEL_BXOR", "MPI_BXOR" },
	{ "ORIEL_MINLOC", "MPI_MINLOC" },
	{ "ORIEL_MAXLOC", "MPI_MAXLOC" },
	{ "ORIEL_REPLACE", "MPI_REPLACE" },
	{ "ORIEL_NO_OP", "MPI_NO_OP" },
	{ "ORIEL_INT8", "MPI_INT8_T" },
	{ "ORIEL_INT16", "MPI_INT16_T" },
	{ "ORIEL_INT32", "MPI_INT32_T" },
	{ "ORIEL_INT64", "MPI_INT64_T" },
	{ "ORIEL_UINT8", "MPI_UINT8_T" },
	{ "ORIEL_UINT16", "MPI_UINT16_T" },
	{ "ORIEL_UINT32", "MPI_UINT32_T" },
	{ "ORIEL_UINT64", "MPI_UINT64_T" },
	{ "ORIEL_BOOL", "MPI_C_BOOL" },
	{ "ORIEL_FLOAT", "MPI_FLOAT" },
	{ "ORIEL_DOUBLE", "MPI_DOUBLE" },
	{ "ORIEL_LONG_DOUBLE", "MPI_LONG_DOUBLE" },
	{ "ORIEL_FLOAT_COMPLEX", "MPI_C_FLOAT_COMPLEX" },
	{ "ORIEL_DOUBLE_COMPLEX", "MPI_C_DOUBLE_COMPLEX" },
	{ "ORIEL_LONG_DOUBLE_COMPLEX", "MPI_C_LONG_DOUBLE_COMPLEX" },
	{ "ORIEL_FLOAT_INT", "MPI_FLOAT_INT" },
	{ "ORIEL_DOUBLE_INT", "MPI_DOUBLE_INT" },
	{ "ORIEL_LONG_INT", "MPI_LONG_INT" },
	{ "ORIEL_INT_INT", "MPI_2INT" },
	{ "ORIEL_SHORT_INT", "MPI_SHORT_INT" },
	{ "ORIEL_LONG_DOUBLE_INT", "MPI_LONG_DOUBLE_INT" },
};

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

/* Adds the word at *from, translated if it is one of the table, and moves *from behind it. */
static void add_word(struct writing *to, const char **from)
{
	const char *word = *from;
	size_t length = 0;

	while (is_of_word(word[length]))
		length++;
	*from += length;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].oriel) == length && memcmp(words[i].oriel, word, length) == 0) {
			add_text(to, words[i].mpi);
			return;
		}
	add(to, word, length);
}

/* Adds what a displacement that counts bytes would have been, if that is what the program meant. */
static void add_hint(struct writing *to, const char *text, long long disp, long long unit)
{
	unsigned long long first, last, size_bytes;
	char hint[128];

	if (unit < 2 || disp < 0 || disp % unit)
		return;
	if (sscanf(text, " are bytes %llu to %llu of %llu", &first, &last, &size_bytes) != 3)
		return;
	if ((unsigned long long)disp + (last - first) >= size_bytes)
		return;
	snprintf(hint, sizeof(hint), "; displacements count units of %lld bytes: %lld would be byte %lld", unit,
	         disp / unit, disp);
	add_text(to, hint);
}

/*
 * Adds "at displacement 640 (unit 1 bytes) of rank 1", and what follows up to the end, with the
 * window's unit. Returns false if that is not what the text goes on with. Datatypes move pieces
 * away from the displacement: one that is no multiple of the unit stays in bytes.
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

/* Returns how many bytes the text has before its constant, " (ORIEL_ERR_SYNC)". */
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
