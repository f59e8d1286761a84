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
	[EVENT_CREATE] = "create",
	[EVENT_FREE] = "free",
	[EVENT_REATTACH] = "reattach",
	[EVENT_FENCE] = "fence",
	[EVENT_BARRIER] = "barrier",
	[EVENT_POST] = "post",
	[EVENT_START] = "start",
	[EVENT_OP] = "op",
	[EVENT_ATOMICS] = "atomics",
	[EVENT_FLUSH] = "flush",
	[EVENT_IFLUSH] = "iflush",
	[EVENT_COMPLETE] = "complete",
	[EVENT_TEST] = "test",
	[EVENT_WAIT] = "wait",
	[EVENT_SIGNAL_WAIT] = "signal wait",
	[EVENT_REQUEST_TEST] = "request test",
	[EVENT_REQUEST_WAIT] = "request wait",
	[EVENT_STORE] = "store",
	[EVENT_PHASE] = "phase",
	[EVENT_PHASE_END] = "phase end",
	[EVENT_LOCK] = "lock",
	[EVENT_UNLOCK] = "unlock",
	[EVENT_LOCK_ALL] = "lock_all",
	[EVENT_UNLOCK_ALL] = "unlock_all",
	[EVENT_SECTION] = "section",
	[EVENT_DELAY] = "delay",
	[EVENT_REGISTER] = "register",
	[EVENT_DEREGISTER] = "deregister",
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
		if (event->kind == EVENT_CREATE || event->kind == EVENT_REATTACH)
			add(text, ":%d[%zu+%zu]/%zu", part->range.region, part->range.offset, part->range.size_bytes, part->unit);
		add_assertions(text, event->assertions[rank]);
	}
}

static const char *op_name(const struct plan_op *op)
{
	static const char *const families[] = { "", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap" };

	if (op->family)
		return families[op->family];
	if (op->direct)
		return op->get ? "load" : "store";
	return op->get ? "get" : "put";
}

static void add_op(struct text *text, const struct plan_op *op)
{
	if (op->signal) {
		add(text, " signal %u of %d %s %llu", op->which, op->target, op->set ? "set" : "add",
		    (unsigned long long)op->value);
		return;
	}
	add(text, " %s%s %zu:", op_name(op), op->vector ? "v" : "", op->size_bytes);
	add_ranges(text, op->get ? op->to : op->from, op->get ? op->target_count : op->origin_count);
	add(text, " ->");
	add_ranges(text, op->get ? op->from : op->to, op->get ? op->origin_count : op->target_count);
	if (op->family)
		add(text, " type %d op %d", (int)op->type, (int)op->combine);
	if (op->result.size_bytes > 0)
		add_range(text, &op->result);
}

static void add_atomic(struct text *text, const struct plan_win *win, const struct plan_atomic *atomic)
{
	const struct plan_arena *arena = &win->arena[atomic->target];
	struct plan_op op = { .family = atomic->family };

	add(text, " %s%s type %d op %d elements %d+%d of", op_name(&op), atomic->vector ? "v" : "", (int)arena->type,
	    (int)atomic->combine, atomic->first, atomic->count);
	add_range(text, &arena->range);
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
	if (event->kind <= EVENT_REQUEST_WAIT && event->kind != EVENT_BARRIER)
		add(&text, " window %d", event->win);
	if (event->round)
		add(&text, " round %u", event->round);
	if (event->kind == EVENT_CREATE)
		add(&text, "%s",
		    plan->win[event->win].shared      ? " shared"
		    : plan->win[event->win].allocated ? " allocated"
		    : plan->win[event->win].dynamic   ? " dynamic"
		                                      : "");
	if (event->kind == EVENT_CREATE || event->kind == EVENT_REATTACH || event->kind == EVENT_FENCE)
		add_window(&text, &plan->win[event->win], event);
	if (event->kind == EVENT_POST || event->kind == EVENT_START)
		add_group(&text, event);
	if (event->op)
		add_op(&text, event->op);
	if (event->kind == EVENT_LOCK || event->kind == EVENT_UNLOCK || event->kind == EVENT_SECTION)
		add(&text, "%s target %d", event->exclusive ? " exclusive" : "", event->target);
	if (event->kind == EVENT_LOCK || event->kind == EVENT_LOCK_ALL)
		add_assertions(&text, event->assertions[event->rank]);
	if (event->kind == EVENT_PHASE)
		add(&text, "%s", plan->win[event->win].contended ? " contended" : "");
	for (int i = 0; i < event->section_count; i++)
		add_op(&text, event->section[i]);
	for (int i = 0; i < event->atomic_count; i++)
		add_atomic(&text, &plan->win[event->win], &plan->atomics[event->win].list[event->atomic_first + i]);
	if (event->kind == EVENT_IFLUSH || event->kind == EVENT_REQUEST_TEST || event->kind == EVENT_REQUEST_WAIT)
		add(&text, " request %d", event->request);
	if (event->kind == EVENT_FLUSH || event->kind == EVENT_IFLUSH)
		add(&text, "%s target %d", event->local ? " local" : "", event->target);
	if (event->kind == EVENT_SIGNAL_WAIT)
		add(&text, " %u for %llu, way %d", event->signal, (unsigned long long)event->value, (int)event->way);
	if (event->kind == EVENT_STORE)
		add_range(&text, &event->range);
	if (event->kind == EVENT_REGISTER)
		add_range(&text, &plan->mem[event->rank][event->mem].range);
	if (event->kind == EVENT_DELAY)
		add(&text, " %u us", event->delay_us);
}
