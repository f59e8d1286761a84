// SPDX-License-Identifier: BSD-2-Clause
/* oriel_window_calls.c - the making and the end of windows of oriel.h; see oriel_calls.h */
#include <stdlib.h>

#include "check/front/loads.h"
#include "check/front/oriel_calls.h"

#define CALLS(X)                                                                                              \
	X(win_create) X(win_allocate) X(win_allocate_shared) X(win_create_dynamic) X(win_shared_query)            \
		X(win_attach) X(win_detach) X(win_free) X(win_set_name)

#include "check/front/next.h"

static void add_name(struct place here, const struct window *window, const char *name)
{
	trace_name(here, (struct trace_event){ .kind = TRACE_WINDOW_NAME, .object = window->key, .rank = -1 }, name);
}

/* This process has a mapping of the member's part. ORIEL_RANK_NONE is no member. */
static void add_part(struct place here, const struct window *window, int member, const void *base, size_t size_bytes)
{
	if (size_bytes > 0 && base && rank_of(window, member) >= 0)
		trace_add(here, (struct trace_event){ .kind = TRACE_PART,
		                                      .object = window->key,
		                                      .rank = rank_of(window, member),
		                                      .base = (uint64_t)(uintptr_t)base,
		                                      .size_bytes = size_bytes });
}

/* Other members' parts may be used without a query, since all parts lie behind each other. */
static void add_parts(struct place here, oriel_win *win, const struct window *window, int own)
{
	size_t size_bytes, unit_bytes;
	void *base;

	for (int member = 0; member < window->count; member++) {
		if (member != own && next.win_shared_query(win, member, &base, &size_bytes, &unit_bytes) == 0)
			add_part(here, window, member, base, size_bytes);
	}
}

static void add_window(struct place here, oriel_win *win, const oriel_group *group)
{
	struct oriel_win_info info = { .struct_bytes = sizeof(info) };
	int count = oriel_group_size(group), *ranks = count > 0 ? ranks_of(group, count) : NULL;
	struct window *window = NULL;
	uint16_t flags;

	if (ranks && oriel_win_query(win, &info) == 0)
		window = window_add((uint64_t)(uintptr_t)win, info.number, ranks, count);
	if (window)
		window->is_oriel = true;
	free(ranks);
	if (!window) {
		trace_unknown(here);
		return;
	}
	flags = (uint16_t)((info.kind == ORIEL_WIN_SHARED ? WINDOW_SHARED : 0) |
	                   (info.kind == ORIEL_WIN_DYNAMIC ? WINDOW_DYNAMIC : 0) |
	                   (info.kind == ORIEL_WIN_CREATED ? WINDOW_CREATED : 0));
	if (flags & WINDOW_CREATED)
		memory_watch(window->key, (uint64_t)(uintptr_t)info.base, info.size_bytes);
	trace_ranks(here,
	            (struct trace_event){ .kind = TRACE_WINDOW,
	                                  .flags = flags,
	                                  .object = window->key,
	                                  .rank = -1,
	                                  .base = (uint64_t)(uintptr_t)info.base,
	                                  .size_bytes = info.size_bytes,
	                                  .unit_bytes = info.disp_unit_bytes },
	            window->ranks, window->count);
	trace_add(here, (struct trace_event){ .kind = TRACE_NUMBER, .object = window->key, .rank = -1, .id = info.number });
	if (info.name[0])
		add_name(here, window, info.name);
	if (loads_are_on && flags & WINDOW_SHARED)
		add_parts(here, win, window, oriel_group_rank(group));
}

static int leave_making(struct place here, oriel_win *const *win, const oriel_group *group, int rc)
{
	if (rc == 0 && trace_is_on())
		add_window(here, *win, group);
	return rc;
}

int oriel_win_create(void *base, size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                     oriel_group *group, oriel_win **win)
{
	begin_making(HERE("oriel_win_create"));
	return leave_making(HERE("oriel_win_create"), win, group,
	                    next.win_create(base, size_bytes, disp_unit_bytes, hints, group, win));
}

int oriel_win_allocate(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[], oriel_group *group,
                       void **base, oriel_win **win)
{
	begin_making(HERE("oriel_win_allocate"));
	return leave_making(HERE("oriel_win_allocate"), win, group,
	                    next.win_allocate(size_bytes, disp_unit_bytes, hints, group, base, win));
}

int oriel_win_allocate_shared(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                              oriel_group *group, void **base, oriel_win **win)
{
	begin_making(HERE("oriel_win_allocate_shared"));
	return leave_making(HERE("oriel_win_allocate_shared"), win, group,
	                    next.win_allocate_shared(size_bytes, disp_unit_bytes, hints, group, base, win));
}

int oriel_win_create_dynamic(const struct oriel_hint hints[], oriel_group *group, oriel_win **win)
{
	begin_making(HERE("oriel_win_create_dynamic"));
	return leave_making(HERE("oriel_win_create_dynamic"), win, group, next.win_create_dynamic(hints, group, win));
}

int oriel_win_shared_query(oriel_win *win, int rank, void **base, size_t *size_bytes, size_t *disp_unit_bytes)
{
	int rc = next.win_shared_query(win, rank, base, size_bytes, disp_unit_bytes);
	const struct window *window = rc == 0 ? window_of(win) : NULL;

	if (window)
		add_part(HERE("oriel_win_shared_query"), window, rank, *base, *size_bytes);
	return rc;
}

static void add_memory_of(struct place here, const oriel_win *win, enum trace_kind kind, const void *base, size_t bytes)
{
	struct window *window = window_of(win);

	if (window)
		trace_add(here, (struct trace_event){ .kind = (uint16_t)kind,
		                                      .object = window->key,
		                                      .rank = -1,
		                                      .base = (uint64_t)(uintptr_t)base,
		                                      .size_bytes = bytes });
}

int oriel_win_attach(oriel_win *win, void *base, size_t size_bytes)
{
	int rc = next.win_attach(win, base, size_bytes);

	if (rc == 0)
		add_memory_of(HERE("oriel_win_attach"), win, TRACE_ATTACH, base, size_bytes);
	return rc;
}

int oriel_win_detach(oriel_win *win, const void *base)
{
	add_memory_of(HERE("oriel_win_detach"), win, TRACE_DETACH, base, 0);
	return next.win_detach(win, base);
}

int oriel_win_free(oriel_win **win)
{
	oriel_win *freed = win ? *win : NULL;
	struct window *window = window_take((uint64_t)(uintptr_t)freed);
	struct trace_event event = { .rank = -1 };
	struct place here = HERE("oriel_win_free");
	int rc;

	if (window) {
		memory_unwatch(window->key);
		event.object = window->key;
		event.kind = TRACE_WINDOW_FREE;
		trace_add(here, event);
		event.kind = TRACE_ENTER;
		event.size_bytes = (uint64_t)window->count;
		trace_add(here, event);
	}
	window_await(here, window,
	             (struct trace_wait){
					 .kind = AWAIT_COLLECTIVE, .flags = AWAIT_FREE, .number = event.id + 1, .rank = -1 });
	rc = awaited(next.win_free(win));
	if (window && rc == 0) {
		event.kind = TRACE_LEAVE;
		trace_add(here, event);
		window_drop(window);
	} else if (window) {
		window_put_back(window);
	}
	return leave(here, freed, rc);
}

int oriel_win_set_name(oriel_win *win, const char *name)
{
	int rc = next.win_set_name(win, name);
	struct window *window = rc == 0 ? window_of(win) : NULL;

	if (window)
		add_name(HERE("oriel_win_set_name"), window, name);
	return rc;
}
