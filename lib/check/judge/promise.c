// SPDX-License-Identifier: BSD-2-Clause
/* See view.h. */
#include "check/judge/view.h"

static void take_flush(struct view *view, const struct trace_event *event)
{
	struct choice choice = all_targets;

	choice.target = event->rank;
	choice.is_local = event->flags & FLUSH_LOCAL;
	choice.by_strand = true;
	complete(view, choice, event->site);
}

static struct promise *add_promise(struct promises *promises, struct promise promise)
{
	struct promise *added = program_append(&promises->list, &promises->count, &promises->capacity, sizeof(promise));

	*added = promise;
	return added;
}

static void take_request(const struct view *view, const struct trace_event *event)
{
	add_promise(&replaying.ranks[view->rank].requests, (struct promise){ .name = event->id,
	                                                                     .key = view->key,
	                                                                     .origin = view->rank,
	                                                                     .target = event->rank,
	                                                                     .is_local = event->flags & FLUSH_LOCAL,
	                                                                     .serial = replaying.serials });
}

static void take_request_done(struct view *view, const struct trace_event *event)
{
	struct promises *requests = &replaying.ranks[view->rank].requests;
	struct choice choice = {
		.target = -1, .serial = UINT64_MAX, .request = event->id, .is_local = true, .by_strand = true
	};
	uint32_t kept = 0;

	complete(view, choice, event->site);
	drop_number(&view->requests, event->id);
	for (uint32_t i = 0; i < requests->count; i++) {
		const struct promise *request = &requests->list[i];

		if (request->name == event->id && request->key == view->key) {
			choice = (struct choice){
				.target = request->target,
				.serial = request->serial,
				.is_local = request->is_local,
				.by_request = true,
				.by_strand = true,
			};
			complete(view, choice, event->site);
		} else {
			requests->list[kept++] = *request;
		}
	}
	requests->count = kept;
}

/* ---- signals ---- */

static struct slot_name signal_slot(const struct view *view, int target, uint64_t signal)
{
	return (struct slot_name){ .kind = SLOT_SIGNAL, .object = view->key, .a = (uint64_t)target, .b = signal };
}

static struct promise *find_signal(struct promises *signals, const struct view *view, uint64_t signal)
{
	for (uint32_t i = 0; i < signals->count; i++) {
		struct promise *promise = &signals->list[i];

		if (promise->name == signal && promise->key == view->key && promise->origin == view->rank)
			return promise;
	}
	return NULL;
}

/* Adds what the origin has issued to the target since its last signal, and is not over. */
static void cover(struct promise *signal, const struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		const struct operation *operation = view->pending[i];

		if (operation->is_over || operation->target != signal->target || operation->serial <= signal->serial)
			continue;
		*(struct access **)program_append(&signal->list, &signal->count, &signal->capacity, sizeof(operation->at)) =
			operation->at;
		operation->at->kept++;
	}
	signal->serial = replaying.serials;
}

static void take_signal(const struct view *view, const struct trace_event *event)
{
	struct promises *signals = &replaying.ranks[event->rank].signals;
	struct promise *signal = find_signal(signals, view, event->id);

	slot_release(signal_slot(view, event->rank, event->id), view->rank);
	if (!signal)
		signal = add_promise(signals,
		                     (struct promise){
								 .name = event->id, .key = view->key, .origin = view->rank, .target = event->rank });
	cover(signal, view);
}

/* Ends what the signals cover, for all that know of this moment. */
static void take_signal_taken(const struct view *view, const struct trace_event *event)
{
	struct promises *signals = &replaying.ranks[view->rank].signals;
	struct end end;

	slot_acquire(signal_slot(view, view->rank, event->id), view->rank);
	end = end_now(view->rank, event->site);
	for (uint32_t i = 0; i < signals->count; i++) {
		struct promise *signal = &signals->list[i];

		if (signal->name != event->id || signal->key != view->key)
			continue;
		for (uint32_t k = 0; k < signal->count; k++) {
			access_end(signal->list[k], end);
			let_go(signal->list[k]);
		}
		signal->count = 0;
	}
}

void take_promise(struct view *view, const struct trace_event *event)
{
	switch (event->kind) {
	case TRACE_FLUSH:
		take_flush(view, event);
		break;
	case TRACE_REQUEST:
		take_request(view, event);
		break;
	case TRACE_REQUEST_DONE:
		take_request_done(view, event);
		break;
	case TRACE_SIGNAL:
		take_signal(view, event);
		break;
	case TRACE_SIGNAL_TAKEN:
		take_signal_taken(view, event);
		break;
	default:
		break;
	}
}
