// SPDX-License-Identifier: BSD-2-Clause
/* executor_apply.c - the target's side: the applier of record_in.h; see executor.h. With records->lock. */
#include "base/order.h"
#include "job/job.h"
#include "job/record_in.h"
#include "op/family.h"
#include "op/record.h"
#include "win/win.h"

/* The window that a record is for, if it is there; or NULL. */
static struct oriel_win *find_window(const struct oriel_job *job, const struct record *record)
{
	const struct records *records = &job->records;
	struct oriel_win *win =
		record->window_slot < records->window_capacity ? records->windows[record->window_slot] : NULL;

	return win && window_check(win->id) == record->window_check ? win : NULL;
}

/* The two ways: 0, or what struct record_applier says. */

/* A window of one piece. */
static int apply_to_memory(struct oriel_win *win, const struct acc *acc, uint64_t disp_bytes)
{
	size_t bytes = element_span(acc->type, acc->count);

	if (win->memory.size_bytes < bytes || disp_bytes > win->memory.size_bytes - bytes)
		return -RECORD_OUTSIDE;
	if (win->memory.read_only && acc->op != ORIEL_NO_OP)
		return -RECORD_READ_ONLY;
	return acc_apply_here(win->job, acc, win->memory.base + disp_bytes) ? 0 : RECORD_LATER;
}

/* In a dynamic window the displacement is the address. */
static int apply_to_region(struct oriel_win *win, const struct acc *acc, uint64_t addr)
{
	bool applied;

	if (!regions_use(win, addr, element_span(acc->type, acc->count), acc->op != ORIEL_NO_OP))
		return -RECORD_OUTSIDE;
	applied = acc_apply_here(win->job, acc, (void *)(uintptr_t)addr);
	regions_unuse(win);
	return applied ? 0 : RECORD_LATER;
}

/* As whoever maps our signals adds (signal_send.c): by the processor. Pairs with the flag_load in signal_reading. */
static int apply_to_signal(const struct oriel_job *job, const struct record *record)
{
	const struct oriel_win *win = find_window(job, record);
	uint32_t signal;
	uint64_t value;

	if (!win || !record_decode_add(record, &signal, &value) || signal >= win->info.signal_count)
		return -RECORD_UNKNOWN;
	word_add(&win->signals.table[signal].added, value);
	return 0;
}

static int apply_to_elements(struct oriel_job *job, const struct record *record, const uint8_t *data, void *result)
{
	struct oriel_win *win;
	struct acc acc;
	int rc;

	if (!record_decode(record, data, result, &acc))
		return -RECORD_UNKNOWN;
	win = find_window(job, record);
	if (!win)
		return -RECORD_UNKNOWN;
	rc = win->regions.table ? apply_to_region(win, &acc, record->disp_bytes)
	                        : apply_to_memory(win, &acc, record->disp_bytes);
	return rc == 0 && acc.result ? (int)element_span(acc.type, acc.count) : rc;
}

static int apply(struct oriel_job *job, const struct record *record, const uint8_t *data, void *result)
{
	if (record->call == RECORD_ADD)
		return apply_to_signal(job, record);
	return apply_to_elements(job, record, data, result);
}

const struct record_applier record_applier = { apply };
