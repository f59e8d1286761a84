// SPDX-License-Identifier: BSD-2-Clause
/*
 * rows.h - what oriel-top knows: a row for each wait, and one for each rank that does not wait
 *
 * Rows come from boards (scan.h) or lines of another oriel-top (lines.h), which check texts and
 * ranks.
 */
#ifndef ORIEL_TOP_ROWS_H
#define ORIEL_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "see/board.h"
#include "see/site.h"

#define ROWS_MAX (1 << 20)

struct row {
	char job[64];
	char host[64];
	int rank;
	int size;
	int pid;       /* in /proc of its host */
	char state;    /* of /proc/PID/stat */
	char call[32]; /* "": the rank does not wait; what follows is empty */
	char site[SITE_TEXT_BYTES];
	char window[96];
	uint64_t waited_ms;
	enum board_cause cause;
	uint32_t epochs;
	int lock_of; /* CAUSE_LOCK: the rank whose lock it is, and `ranks` are the holders; else -1 */
	bool more_ranks;
	uint32_t rank_count;
	int ranks[BOARD_RANKS];
};

struct rows {
	struct row *list;
	uint32_t count;
	uint32_t capacity;
};

/* Adds an empty row. Ends the program if memory is short or there are ROWS_MAX. */
struct row *rows_add(struct rows *rows);

/* Orders by job, rank, process, and longest wait; drops what was read twice. */
void rows_sort(struct rows *rows);

/* Returns how many rows from `first` on belong to one job. */
size_t rows_of_job(const struct rows *rows, size_t first);

static inline bool row_waits(const struct row *row)
{
	return row->call[0];
}

static inline bool row_is_stopped(const struct row *row)
{
	return row->state == 'T' || row->state == 't';
}

const char *row_cause(const struct row *row);

#endif
