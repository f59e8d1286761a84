// SPDX-License-Identifier: BSD-2-Clause
#include "notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static FILE *file;
static _Thread_local const char *hint = "-";

static void give_up(const char *path)
{
	perror(path);
	exit(1);
}

void notes_open(const char *folder, int rank, const char *first_line)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/notes.%d", folder, rank);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%s\n", first_line) < 0)
		give_up(path);
}

uint64_t notes_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void ranks_text(const struct notes_ranks *ranks, char *text, size_t room)
{
	size_t used = 0;

	snprintf(text, room, ranks->count == NOTES_ALL ? "*" : "-");
	for (int i = 0; i < ranks->count && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, i ? ",%d" : "%d", ranks->rank[i]);
}

void notes_call(const char *kind, const char *name, const char *window, uint64_t begun_ns,
                const struct notes_ranks *ranks)
{
	unsigned long long ended_ns = notes_now_ns();
	char text[NOTES_RANKS * 4];

	ranks_text(ranks, text, sizeof(text));
	fprintf(file, "%s %s %s %llu %llu %s %s\n", kind, name, window, (unsigned long long)begun_ns, ended_ns, text, hint);
}

void notes_hint(const char *text)
{
	hint = text ? text : "-";
}

void notes_close(void)
{
	if (fclose(file))
		give_up("notes");
}
