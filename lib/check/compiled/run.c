// SPDX-License-Identifier: BSD-2-Clause
/*
 * run.c - accesses of one place in even steps; see watch.h
 *
 * A place has a row that grows, and rows before it that are alike. Both are in an entry, until
 * another place needs it.
 */
#include "check/compiled/watch.h"

#define ENTRIES 256
#define RUNS_MAX 1024
#define RUNS_FULL 512
#define ELEMENTS_MAX (1u << 30) /* of a row without gaps */
#define STRIDE_MAX (1u << 30)

struct entry {
	struct compiled_run row, rows; /* count 0: none */
};

static struct entry entries[ENTRIES];
static uint8_t used[ENTRIES];
static uint32_t used_count;
static struct compiled_run runs[RUNS_MAX];
static uint32_t run_count;
static uint64_t lost;
static bool has_stores;
bool run_is_pending[STRANDS];

static void emit(struct compiled_run *run)
{
	if (run->count && run_count < RUNS_MAX)
		runs[run_count++] = *run;
	else
		lost += run->count != 0;
	run->count = 0;
}

static uint64_t row_bytes(const struct compiled_run *row)
{
	return (uint64_t)(row->count - 1) * row->stride + row->bytes;
}

static uint32_t row_pieces(const struct compiled_run *row)
{
	return row->stride == row->bytes ? 1 : row->count;
}

/* Returns whether the row is the next one of these. */
static bool continues(const struct compiled_run *rows, const struct compiled_run *row)
{
	if (!rows->count || rows->site != row->site || rows->strand != row->strand || rows->kind != row->kind ||
	    rows->bytes != row->bytes || rows->stride != row->stride || rows->count != row->count ||
	    (rows->rows + 1) * row_pieces(rows) > RUN_PIECES_MAX)
		return false;
	if (rows->rows == 1)
		return row->first >= rows->first + row_bytes(rows);
	return row->first == rows->first + rows->rows * rows->pitch;
}

/* The row is finished. */
static void close_row(struct entry *entry)
{
	if (!entry->row.count)
		return;
	if (continues(&entry->rows, &entry->row)) {
		if (entry->rows.rows++ == 1)
			entry->rows.pitch = entry->row.first - entry->rows.first;
	} else {
		emit(&entry->rows);
		entry->rows = entry->row;
	}
	entry->row.count = 0;
}

/* Returns whether the element lies one step behind the row. A second one decides the step. */
static bool extends(const struct compiled_run *row, const struct compiled_run *element)
{
	uint64_t last = row->first + (uint64_t)(row->count - 1) * row->stride, step = element->first - last;

	if (!row->count || row->site != element->site || row->strand != element->strand || row->kind != element->kind ||
	    row->bytes != element->bytes || element->first <= last)
		return false;
	if (row->count == 1)
		return step >= row->bytes && step <= STRIDE_MAX;
	return step == row->stride && row->count < (step == row->bytes ? ELEMENTS_MAX : RUN_PIECES_MAX);
}

void run_add(struct compiled_run element)
{
	uint64_t bits = ((uint64_t)(uintptr_t)element.site * STRANDS + element.strand) * 0x9e3779b97f4a7c15ULL;
	uint8_t at = (uint8_t)(bits >> 56);
	struct entry *entry = &entries[at];

	run_is_pending[element.strand] = true;
	if (element.kind == KIND_STORE)
		__atomic_store_n(&has_stores, true, __ATOMIC_RELAXED);
	if (extends(&entry->row, &element)) {
		if (entry->row.count++ == 1)
			entry->row.stride = (uint32_t)(element.first - entry->row.first);
		return;
	}
	if (!entry->row.count && !entry->rows.count)
		used[used_count++] = at;
	close_row(entry);
	element.stride = element.bytes;
	element.count = element.rows = 1;
	element.pitch = 0;
	entry->row = element;
}

bool runs_are_many(void)
{
	return run_count >= RUNS_FULL;
}

uint64_t runs_lost(void)
{
	return __atomic_load_n(&lost, __ATOMIC_RELAXED);
}

bool runs_have_stores(void)
{
	return __atomic_load_n(&has_stores, __ATOMIC_RELAXED);
}

/* A strand that finds that nothing is pending finds its clock counted. */
static void count_pending(void)
{
	for (uint32_t i = 0; i < STRANDS; i++) {
		if (!run_is_pending[i])
			continue;
		strand_count(i);
		__atomic_store_n(&run_is_pending[i], false, __ATOMIC_RELEASE);
	}
}

uint32_t runs_take(const struct compiled_run **list)
{
	uint32_t count;

	for (uint32_t i = 0; i < used_count; i++) {
		close_row(&entries[used[i]]);
		emit(&entries[used[i]].rows);
	}
	used_count = 0;
	__atomic_store_n(&has_stores, false, __ATOMIC_RELAXED);
	count_pending();
	count = run_count;
	run_count = 0;
	*list = runs;
	return count;
}
