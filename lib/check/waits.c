// SPDX-License-Identifier: BSD-2-Clause
/* See waits.h. */
#include "check/trace.h"

static uint64_t mix(uint64_t key, uint64_t more)
{
	key = (key ^ more) * 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 29;
}

static uint64_t key_of(enum count_kind kind, uint64_t object, int rank)
{
	uint64_t key = mix(mix(mix(1, (uint64_t)kind), object), (uint64_t)(uint32_t)rank);

	return key ? key : 1;
}

uint64_t signal_object(uint64_t window, uint64_t signal)
{
	return mix(window, signal + 1);
}

uint64_t tag_object(uint64_t comm, uint64_t tag)
{
	return mix(comm, ~tag);
}

/* Returns the place of the key, or of none. A damaged table may have no free place. */
static uint32_t find_place(const struct trace_waits *waits, uint64_t key)
{
	uint32_t at = (uint32_t)(key % WAITS_COUNTS);

	for (uint32_t tried = 0; tried < WAITS_COUNTS; tried++, at = (at + 1) % WAITS_COUNTS) {
		uint64_t found = __atomic_load_n(&waits->counts[at].key, __ATOMIC_ACQUIRE); /* pairs with count_of */

		if (found == 0 || found == key)
			return at;
	}
	return WAITS_COUNTS;
}

struct trace_count waits_find(const struct trace_waits *waits, enum count_kind kind, uint64_t object, int rank)
{
	uint64_t key = key_of(kind, object, rank);
	uint32_t at = find_place(waits, key);

	if (at < WAITS_COUNTS && waits->counts[at].key == key)
		return waits->counts[at];
	return (struct trace_count){ 0 };
}

/* Returns the count to be changed, or one that is thrown away if there is no room. */
static struct trace_count *count_of(struct trace_waits *waits, enum count_kind kind, uint64_t object, int rank)
{
	static struct trace_count none;
	uint64_t key = key_of(kind, object, rank);
	uint32_t at = find_place(waits, key);

	if (at < WAITS_COUNTS && waits->counts[at].key == key)
		return &waits->counts[at];
	if (at == WAITS_COUNTS || waits->used >= WAITS_COUNTS_USED) {
		__atomic_store_n(&waits->is_unproven, 1, __ATOMIC_RELEASE); /* pairs with is_usable */
		return &none;
	}
	waits->used++;
	__atomic_store_n(&waits->counts[at].key, key, __ATOMIC_RELEASE); /* pairs with find_place */
	return &waits->counts[at];
}

/* Returns one for messages with a tag. Without room for it, no tag counts from here on. */
static struct trace_count *count_of_tag(struct trace_waits *waits, enum count_kind kind, uint64_t comm, uint64_t tag,
                                        int rank)
{
	static struct trace_count none;
	uint64_t object = tag_object(comm, tag), key = key_of(kind, object, rank);
	uint32_t at = find_place(waits, key);

	if (at < WAITS_COUNTS && waits->counts[at].key == key)
		return &waits->counts[at];
	if (waits->used < WAITS_TAGS_USED)
		return count_of(waits, kind, object, rank);
	__atomic_store_n(&waits->is_untagged, 1, __ATOMIC_RELEASE); /* pairs with have_tags */
	return &none;
}

static void raise_to(struct trace_waits *waits, enum count_kind kind, uint64_t object, uint64_t value)
{
	struct trace_count *count = count_of(waits, kind, object, -1);

	if (count->value < value)
		count->value = value;
}

static void add_one(struct trace_waits *waits, enum count_kind kind, uint64_t object, int rank)
{
	count_of(waits, kind, object, rank)->value++;
}

/* A call for a group is an event for each of its ranks; the first has the id 0. */
static void count_group(struct trace_waits *waits, enum count_kind kind, enum count_kind epochs,
                        const struct trace_event *event, uint64_t is_nocheck)
{
	struct trace_count *count;

	if (event->rank < 0 || event->id == 0)
		add_one(waits, epochs, event->object, -1);
	if (event->rank < 0)
		return;
	count = count_of(waits, kind, event->object, event->rank);
	count->value++;
	count->epoch = 2 * waits_value(waits, epochs, event->object, -1) + is_nocheck;
}

static void count_lock(struct trace_waits *waits, const struct trace_event *event)
{
	if (!(event->flags & LOCK_NOCHECK))
		count_of(waits, COUNT_LOCK, event->object, event->rank)->value =
			event->flags & LOCK_EXCLUSIVE ? HELD_EXCLUSIVE : HELD_SHARED;
}

void waits_join(struct trace_waits *waits, uint64_t object)
{
	raise_to(waits, COUNT_MEMBER, object, 1);
}

void waits_count(struct trace_waits *waits, const struct trace_event *event)
{
	switch (event->kind) {
	case TRACE_WINDOW:
		waits_join(waits, event->object);
		break;
	case TRACE_POST:
		count_group(waits, COUNT_POSTS, COUNT_POST_EPOCHS, event, 0);
		break;
	case TRACE_START:
		count_group(waits, COUNT_STARTS, COUNT_START_EPOCHS, event, event->flags & START_NOCHECK ? 1 : 0);
		break;
	case TRACE_COMPLETE:
		add_one(waits, COUNT_COMPLETES, event->object, -1);
		break;
	case TRACE_FENCE:
		raise_to(waits, COUNT_FENCES, event->object, event->id);
		break;
	case TRACE_ENTER:
		raise_to(waits, COUNT_COLLECTIVES, event->object, event->id + 1);
		break;
	case TRACE_LOCK:
		count_lock(waits, event);
		break;
	case TRACE_UNLOCK:
		count_of(waits, COUNT_LOCK, event->object, event->rank)->value = 0;
		break;
	case TRACE_SEND:
		add_one(waits, COUNT_SENT, event->object, event->rank);
		count_of_tag(waits, COUNT_SENT, event->object, event->id, event->rank)->value++;
		break;
	case TRACE_RECEIVE:
		if (event->object)
			count_of_tag(waits, COUNT_RECEIVING, event->object, event->id, event->rank)->value++;
		break;
	case TRACE_RECEIVED:
		add_one(waits, COUNT_RECEIVED, event->object, event->rank);
		count_of_tag(waits, COUNT_RECEIVED, event->object, event->id, event->rank)->value++;
		if (event->flags & RECEIVED_BEGUN)
			count_of_tag(waits, COUNT_RECEIVING, event->object, event->size_bytes, (int)event->unit_bytes - 1)->value--;
		break;
	case TRACE_SIGNAL:
		add_one(waits, COUNT_SIGNALS, signal_object(event->object, event->id), event->rank);
		break;
	case TRACE_SIGNAL_TAKEN:
		if (!(event->flags & SIGNAL_UNTIL))
			add_one(waits, COUNT_TAKEN, signal_object(event->object, event->id), -1);
		break;
	default:
		break;
	}
}
