// SPDX-License-Identifier: BSD-2-Clause
/* See rows.h. */
#include "see/top/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "see/report/program.h"

struct row *rows_add(struct rows *rows)
{
	struct row *row;

	if (rows->count == ROWS_MAX)
		program_fail("there are more than %d waits", ROWS_MAX);
	row = program_append(&rows->list, &rows->count, &rows->capacity, sizeof(*row));
	row->lock_of = -1;
	return row;
}

static int by_process(const struct row *a, const struct row *b)
{
	int order = strcmp(a->job, b->job);

	if (order == 0)
		order = (a->rank > b->rank) - (a->rank < b->rank);
	if (order == 0)
		order = strcmp(a->host, b->host);
	return order ? order : (a->pid > b->pid) - (a->pid < b->pid);
}

static int by_wait(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = by_process(a, b);

	if (order == 0)
		order = (a->waited_ms < b->waited_ms) - (a->waited_ms > b->waited_ms);
	if (order == 0)
		order = strcmp(a->call, b->call);
	return order ? order : strcmp(a->window, b->window);
}

void rows_sort(struct rows *rows)
{
	uint32_t kept = 0;

	if (rows->count == 0)
		return;
	qsort(rows->list, rows->count, sizeof(*rows->list), by_wait);
	for (uint32_t i = 1; i < rows->count; i++) {
		if (by_wait(&rows->list[kept], &rows->list[i]) != 0)
			rows->list[++kept] = rows->list[i];
	}
	rows->count = kept + 1;
}

size_t rows_of_job(const struct rows *rows, size_t first)
{
	size_t count = 0;

	while (first + count < rows->count && strcmp(rows->list[first].job, rows->list[first + count].job) == 0)
		count++;
	return count;
}

const char *row_cause(const struct row *row)
{
	return board_cause_words(row->cause)->column;
}
