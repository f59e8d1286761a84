// SPDX-License-Identifier: BSD-2-Clause
/* am_handler.c - the target's side: the handler of am_recv.h; see am_issue.h. With am->lock. */
#include "base/order.h"
#include "job/job.h"
#include "am/am_recv.h"
#include "op/acc_route.h"
#include "op/am_codec.h"
#include "win/answering.h"
#include "win/win.h"

/* Returns the window of a message, or NULL if this rank does not have it. */
static struct oriel_win *find_window(const struct oriel_job *job, const struct am *am)
{
	const struct am_service *service = &job->am;
	struct oriel_win *win = am->window_slot < service->window_capacity ? service->windows[am->window_slot] : NULL;

	return win && window_check(win->id) == am->window_check ? win : NULL;
}

/*
 * Returns 0 if the displacements lie in the window's memory, and the operation may change it; else
 * a verdict.
 */
static int check_memory(const struct oriel_win *win, struct acc_span span, uint8_t op)
{
	if (win->memory.size_bytes < span.bytes || span.from > win->memory.size_bytes - span.bytes)
		return -AM_OUTSIDE;
	return win->memory.read_only && op != ORIEL_NO_OP ? -AM_READ_ONLY : 0;
}

/* The functions below return 0, or what struct am_handler says. */

static int apply_to_memory(struct oriel_win *win, const struct acc *acc, uint64_t disp_bytes)
{
	int rc = check_memory(win, acc_span(acc), acc->op);

	if (rc)
		return rc;
	return acc_apply_here(win->job, acc, win->memory.base + disp_bytes) ? 0 : AM_LATER;
}

/* Applies the operation to a dynamic window; `addr` is the displacement. */
static int apply_to_region(struct oriel_win *win, const struct acc *acc, uint64_t addr)
{
	struct acc_span span = acc_span(acc);
	bool applied;

	if (!regions_use(win, span.from, span.bytes, acc->op != ORIEL_NO_OP))
		return -AM_OUTSIDE;
	applied = acc_apply_here(win->job, acc, (void *)(uintptr_t)addr);
	regions_unuse(win);
	return applied ? 0 : AM_LATER;
}

/*
 * Adds to a signal as ranks do that map it (signal_send.c). Pairs with the flag_load in
 * signal_reading.
 */
static int apply_to_signal(const struct oriel_job *job, const struct am *am)
{
	const struct oriel_win *win = find_window(job, am);
	uint32_t signal;
	uint64_t value;

	if (!win || !am_decode_add(am, &signal, &value) || signal >= win->info.signal_count)
		return -AM_UNKNOWN;
	word_add(&win->signals.table[signal].added, value);
	return 0;
}

static int apply_to_elements(struct oriel_job *job, const struct am *am, const uint8_t *data, void *result)
{
	struct oriel_win *win;
	struct acc acc;
	int rc;

	if (!am_decode(am, data, result, &acc))
		return -AM_UNKNOWN;
	win = find_window(job, am);
	if (!win)
		return -AM_UNKNOWN;
	rc = win->regions.table ? apply_to_region(win, &acc, am->disp_bytes) : apply_to_memory(win, &acc, am->disp_bytes);
	return rc == 0 && acc.result ? (int)acc_bytes(&acc) : rc;
}

static int apply_list_to_region(struct oriel_win *win, const struct am_list *list, struct acc_span span)
{
	bool applied;

	if (!regions_use(win, span.from, span.bytes, list->op != ORIEL_NO_OP))
		return -AM_OUTSIDE;
	applied = acc_apply_list_here(win->job, list, (uint8_t *)(uintptr_t)list->disp_bytes);
	regions_unuse(win);
	return applied ? 0 : AM_LATER;
}

static int apply_list_to_memory(const struct oriel_win *win, const struct am_list *list, struct acc_span span)
{
	int rc = check_memory(win, span, list->op);

	if (rc)
		return rc;
	return acc_apply_list_here(win->job, list, (uint8_t *)win->memory.base + list->disp_bytes) ? 0 : AM_LATER;
}

static int apply_list(struct oriel_job *job, const struct am *am, const uint8_t *data, void *result)
{
	struct oriel_win *win = find_window(job, am);
	struct acc_span span;
	struct am_list list;
	int rc;

	if (!win || !am_decode_list(am, data, result, &list) ||
	    __builtin_add_overflow(list.disp_bytes, list.from, &span.from))
		return -AM_UNKNOWN;
	span.bytes = list.span_bytes;
	rc = win->regions.table ? apply_list_to_region(win, &list, span) : apply_list_to_memory(win, &list, span);
	return rc == 0 && list.result ? (int)list.bytes : rc;
}

static int apply(struct oriel_job *job, const struct am *am, const uint8_t *data, void *result)
{
	switch (am->call) {
	case AM_ADD:
		return apply_to_signal(job, am);
	case AM_LIST:
		return apply_list(job, am, data, result);
	case AM_QUESTION:
		return answer_question(job, am, result);
	default:
		return apply_to_elements(job, am, data, result);
	}
}

const struct am_handler am_handler = { apply };
