// SPDX-License-Identifier: BSD-2-Clause
/* plan_print.c - events as text */
#include <stdarg.h>
#include <stdio.h>

#include "oriel.h"
#include "plan.h"

struct text {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int printed;

	va_start(args, format);
	printed = vsnprintf(text->at, text->left, format, args);
	va_end(args);
	if (printed < 0 || (size_t)printed >= text->left)
		printed = (int)text->left - 1;
	text->at += printed;
	text->left -= (size_t)printed;
}

static const char *const names[EVENT_KINDS] = {
	[EVENT_CREATE] = "create",   [EVENT_FREE] = "free",         [EVENT_FENCE] = "fence",
	[EVENT_BARRIER] = "barrier", [EVENT_POST] = "post",         [EVENT_START] = "start",
	[EVENT_OP] = "op",           [EVENT_FLUSH] = "flush",       [EVENT_COMPLETE] = "complete",
	[EVENT_TEST] = "test",       [EVENT_WAIT] = "wait",         [EVENT_STORE] = "store",
	[EVENT_DELAY] = "delay",     [EVENT_REGISTER] = "register", [EVENT_DEREGISTER] = "deregister",
};

static void add_range(struct text *text, const struct range *range)
{
	add(text, " %d.%d[%zu+%zu]", range->rank, range->region, range->offset, range->size_bytes);
}

static void add_ranges(struct text *text, const struct range *ranges, int count)
{
	for (int i = 0; i < count; i++)
		add_range(text, &ranges[i]);
}

static void add_assertions(struct text *text, int assertions)
{
	static const struct {
		int bit;
		const char *name;
	} bits[] = { { ORIEL_MODE_NOCHECK, "nocheck" },
		         { ORIEL_MODE_NOSTORE, "nostore" },
		         { ORIEL_MODE_NOPUT, "noput" },
		         { ORIEL_MODE_NOPRECEDE, "noprecede" },
		         { ORIEL_MODE_NOSUCCEED, "nosucceed" } };

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (assertions & bits[i].bit)
			add(text, " %s", bits[i].name);
	}
}

static void add_window(struct text *text, const struct plan_win *win, const struct event *event)
{
	for (int i = 0; i < win->count; i++) {
		int rank = win->members[i];
		const struct plan_part *part = &win->part[rank];

		add(text, " %d", rank);
		if (event->kind == EVENT_CREATE)
			add(text, ":%d[%zu+%zu]/%zu", part->range.region, part->range.offset, part->range.size_bytes, part->unit);
		add_assertions(text, event->assertions[rank]);
	}
}

static void add_op(struct text *text, const struct plan_op *op)
{
	add(text, " %s%s %zu:", op->get ? "get" : "put", op->vector ? "v" : "", op->size_bytes);
	add_ranges(text, op->get ? op->to : op->from, op->get ? op->target_count : op->origin_count);
	add(text, " ->");
	add_ranges(text, op->get ? op->from : op->to, op->get ? op->origin_count : op->target_count);
}

static void add_group(struct text *text, const struct event *event)
{
	for (int i = 0; i < event->count; i++)
		add(text, "%s%d", i ? "," : " ", event->group[i]);
	add_assertions(text, event->assertions[event->rank]);
}

void event_print(const struct plan *plan, const struct event *event, char *out, size_t out_bytes)
{
	struct text text = { out, out_bytes };

	add(&text, "%4d %s", event->step, names[event->kind]);
	if (event->rank >= 0)
		add(&text, " rank %d", event->rank);
	if (event->kind <= EVENT_WAIT && event->kind != EVENT_BARRIER)
		add(&text, " window %d", event->win);
	if (event->round)
		add(&text, " round %u", event->round);
	if (event->kind == EVENT_CREATE || event->kind == EVENT_FENCE)
		add_window(&text, &plan->win[event->win], event);
	if (event->kind == EVENT_POST || event->kind == EVENT_START)
		add_group(&text, event);
	if (event->op)
		add_op(&text, event->op);
	if (event->kind == EVENT_FLUSH)
		add(&text, "%s target %d", event->local ? " local" : "", event->target);
	if (event->kind == EVENT_STORE)
		add_range(&text, &event->range);
	if (event->kind == EVENT_REGISTER)
		add_range(&text, &plan->mem[event->rank][event->mem].range);
	if (event->kind == EVENT_DELAY)
		add(&text, " %u us", event->delay_us);
}
