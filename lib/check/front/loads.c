// SPDX-License-Identifier: BSD-2-Clause
/* See loads.h. */
#include "check/front/loads.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define WINDOWS_MAX 1024 /* parts, and pieces of memory that are attached */
#define BUFFERS_MAX 1024
#define NEAR_BYTES 65536
#define LOOKED_BACK 8 /* buffers that are compared with a new one */

struct memory {
	uint64_t key; /* of the window */
	uint64_t first, bytes;
	bool stores_only;
	int32_t target;    /* of the operation */
	uint64_t request;  /* that completes it; 0: none */
	bool is_allocated; /* with the window */
	bool is_complete;
	uint64_t moment; /* of that */
};

static const struct compiled *compiled;
bool loads_are_on;
static const bool none;
const bool *loads_have_threads = &none;
static const struct compiled_front *front;
static struct memory windows[WINDOWS_MAX], buffers[BUFFERS_MAX];
static uint32_t window_count, buffer_count, complete_count;
static uint64_t unwatched_bytes, lost_buffers;

/* Returns NULL if the library is not there, or has nothing to look at. */
static const struct compiled *find(const char *symbol)
{
	const struct compiled *found = dlsym(RTLD_DEFAULT, symbol);

	return found && found->version == COMPILED_VERSION && found->objects() > 0 ? found : NULL;
}

void loads_open(uint64_t cell_bytes, const struct compiled_front *to)
{
	const struct compiled *found = find(COMPILED_SYMBOL);

	if (!found)
		found = find(PAGES_SYMBOL);
	if (!found)
		return;
	compiled = found;
	if (found->threads)
		loads_have_threads = found->threads->is_several;
	front = to;
	loads_are_on = true;
	compiled->begin(cell_bytes, to);
}

void loads_close(void)
{
	if (loads_are_on)
		compiled->end();
	loads_are_on = false;
}

void loads_enter(const struct trace_event *event)
{
	if (compiled->threads && event->kind != TRACE_FREED) /* any thread may free */
		compiled->threads->enter();
}

void loads_freed(uint64_t first, uint64_t bytes)
{
	if (loads_are_on && compiled->threads && compiled->threads->was_watched(first, bytes))
		front->order(ORDER_SPREAD, 0);
}

uint16_t loads_strand(bool is_event)
{
	return compiled->threads ? (uint16_t)compiled->threads->strand(is_event) : 0;
}

bool loads_have_stores(void)
{
	return loads_are_on && compiled->threads && compiled->threads->has_stores();
}

uint32_t loads_take(const struct compiled_run **runs)
{
	return compiled->take(runs);
}

/* ---- windows ---- */

static void add_window(uint64_t key, uint64_t first, uint64_t bytes, bool is_allocated)
{
	if (bytes == 0)
		return;
	if (window_count < WINDOWS_MAX && compiled->watch(first, bytes, false))
		windows[window_count++] =
			(struct memory){ .key = key, .first = first, .bytes = bytes, .is_allocated = is_allocated };
	else
		unwatched_bytes += bytes;
}

/* Lets go of the window's memory that begins there, or of all of it. */
static void drop_window(uint64_t key, bool all, uint64_t first)
{
	for (uint32_t i = window_count; i-- > 0;) {
		if (windows[i].key != key || (!all && windows[i].first != first))
			continue;
		compiled->unwatch(windows[i].first, windows[i].bytes, false);
		if (windows[i].is_allocated && compiled->threads) /* the judge has all threads learn of its end */
			compiled->threads->forget(windows[i].first, windows[i].bytes);
		windows[i] = windows[--window_count];
	}
}

static bool is_in_window(const struct memory *buffer)
{
	for (uint32_t i = 0; i < window_count; i++) {
		if (buffer->first >= windows[i].first && buffer->first + buffer->bytes <= windows[i].first + windows[i].bytes)
			return true;
	}
	return false;
}

/* ---- buffers ---- */

static void drop_buffer(uint32_t at)
{
	complete_count -= buffers[at].is_complete;
	compiled->unwatch(buffers[at].first, buffers[at].bytes, buffers[at].stores_only);
	memmove(&buffers[at], &buffers[at + 1], (--buffer_count - at) * sizeof(buffers[0]));
}

static bool is_same(const struct memory *a, const struct memory *b)
{
	return a->key == b->key && a->first == b->first && a->bytes == b->bytes && a->stores_only == b->stores_only &&
	       a->target == b->target && a->request == b->request && a->is_complete == b->is_complete;
}

static bool is_there(const struct memory *buffer)
{
	for (uint32_t i = buffer_count; i-- > 0 && i + LOOKED_BACK >= buffer_count;) {
		if (is_same(&buffers[i], buffer))
			return true;
	}
	return false;
}

static void add_buffer(struct memory buffer)
{
	if (buffer.bytes == 0 || is_in_window(&buffer) || is_there(&buffer))
		return;
	if (buffer_count == BUFFERS_MAX) {
		lost_buffers += !buffers[0].is_complete;
		drop_buffer(0);
	}
	if (compiled->watch(buffer.first, buffer.bytes, buffer.stores_only))
		buffers[buffer_count++] = buffer;
	else
		lost_buffers++;
}

static bool is_near(const struct memory *buffer, const struct trace_piece *piece)
{
	return piece->first < buffer->first + buffer->bytes + NEAR_BYTES &&
	       buffer->first < piece->first + piece->bytes + NEAR_BYTES;
}

static void widen(struct memory *buffer, const struct trace_piece *piece)
{
	uint64_t first = piece->first < buffer->first ? piece->first : buffer->first;
	uint64_t end = piece->first + piece->bytes, end_of_buffer = buffer->first + buffer->bytes;

	buffer->first = first;
	buffer->bytes = (end > end_of_buffer ? end : end_of_buffer) - first;
}

/*
 * Between pieces that are near each other more is watched: the judge knows which bytes are the
 * operation's own. Others may be as far from each other as a variable and the stack.
 */
static void add_pieces(struct memory buffer, const struct trace_piece pieces[], uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (pieces[i].bytes == 0)
			continue;
		if (buffer.bytes > 0 && is_near(&buffer, &pieces[i])) {
			widen(&buffer, &pieces[i]);
			continue;
		}
		add_buffer(buffer);
		buffer.first = pieces[i].first;
		buffer.bytes = pieces[i].bytes;
	}
	add_buffer(buffer);
}

static void add_operation(const struct trace_event *event, const struct trace_piece pieces[])
{
	struct memory buffer = { .key = event->object, .target = event->rank, .stores_only = true };
	struct trace_piece read = { event->plain.read, event->plain.bytes };
	struct trace_piece written = { event->plain.written, event->plain.bytes };

	if (event->flags & OPERATION_PLAIN) {
		add_pieces(buffer, &read, event->plain.sides & PLAIN_READ ? 1 : 0);
		buffer.stores_only = false;
		add_pieces(buffer, &written, event->plain.sides & PLAIN_WRITTEN ? 1 : 0);
		return;
	}
	buffer.request = event->of.request;
	pieces += event->of.target_pieces;
	add_pieces(buffer, pieces, event->of.read_pieces);
	buffer.stores_only = false;
	add_pieces(buffer, pieces + event->of.read_pieces, event->of.written_pieces);
}

/* The event completes operations at their origin: of the window, of a target, or of a request. */
static void complete(const struct trace_event *event)
{
	bool by_request = event->kind == TRACE_REQUEST_DONE;

	for (uint32_t i = buffer_count; i-- > 0;) {
		if (buffers[i].is_complete || buffers[i].key != event->object ||
		    (by_request && buffers[i].request != event->id) ||
		    (!by_request && event->rank >= 0 && buffers[i].target != event->rank))
			continue;
		buffers[i].is_complete = true;
		buffers[i].moment = compiled->threads->moment();
		complete_count++;
	}
}

/* Lets go of buffers whose completion all threads know of. */
static void drop_known(void)
{
	for (uint32_t i = buffer_count; complete_count > 0 && i-- > 0;) {
		if (buffers[i].is_complete && compiled->threads->all_know(buffers[i].moment))
			drop_buffer(i);
	}
}

/* ---- events ---- */

bool loads_order(enum compiled_order order, uint64_t number)
{
	bool is_more = compiled->threads && compiled->threads->order(order, number);

	if (is_more)
		drop_known();
	return is_more;
}

static bool completes(const struct trace_event *event)
{
	return event->kind == TRACE_FLUSH || event->kind == TRACE_REQUEST_DONE || event->kind == TRACE_UNLOCK_END ||
	       event->kind == TRACE_COMPLETE_END || event->kind == TRACE_WINDOW_FREE ||
	       (event->kind == TRACE_FENCE_END && !(event->flags & FENCE_NOPRECEDE));
}

void loads_note(const struct trace_event *event, const struct trace_piece pieces[])
{
	if (event->kind == TRACE_OPERATION && compiled->threads)
		add_operation(event, pieces);
	if (completes(event)) {
		complete(event);
		drop_known();
	}
	if (event->kind == TRACE_WINDOW || event->kind == TRACE_ATTACH || event->kind == TRACE_PART)
		add_window(event->object, event->base, event->size_bytes,
		           event->kind != TRACE_ATTACH && !(event->flags & (WINDOW_CREATED | WINDOW_DYNAMIC)));
	if (event->kind == TRACE_WINDOW_FREE || event->kind == TRACE_DETACH)
		drop_window(event->object, event->kind == TRACE_WINDOW_FREE, event->base);
}

void loads_count(struct trace *trace)
{
	if (!loads_are_on)
		return;
	trace->compiled_objects = compiled->objects();
	trace->unwatched_bytes = unwatched_bytes;
	trace->lost_loads = compiled->lost() + lost_buffers;
	if (compiled->threads)
		snprintf(trace->merged, sizeof(trace->merged), "%s", compiled->threads->merged());
}
