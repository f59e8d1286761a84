// SPDX-License-Identifier: BSD-2-Clause
/* See view.h. */
#include "check/judge/view.h"

#define ELEMENT_BYTES 8   /* of memory, for which accumulates share a slot */
#define ELEMENTS_MAX 4096 /* of an operation with slots for each */
#define SLOTS_MAX 1000000 /* when there are more, each operation counts as large */

/* Returns how many elements an access has, or ELEMENTS_MAX + 1. */
static uint64_t elements_of(const struct access *access)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < access->piece_count; i++)
		count += access->pieces[i].bytes / ELEMENT_BYTES + 2;
	return count <= ELEMENTS_MAX ? count : ELEMENTS_MAX + 1;
}

typedef void slot_call(struct slot_name name, int rank);

static void for_elements(const struct access *access, slot_call *call)
{
	for (uint32_t i = 0; i < access->piece_count; i++) {
		const struct trace_piece *piece = &access->pieces[i];
		uint64_t last = (piece->first + piece->bytes - 1) / ELEMENT_BYTES;

		for (uint64_t element = piece->first / ELEMENT_BYTES; element <= last; element++)
			call((struct slot_name){ .kind = SLOT_ELEMENT, .object = (uint64_t)access->owner, .a = element },
			     access->rank);
	}
}

static struct slot_name elements(int owner, bool large_only)
{
	return (struct slot_name){ .kind = SLOT_ELEMENTS, .object = (uint64_t)owner, .a = large_only };
}

void release_elements(const struct access *access)
{
	slot_release(elements(access->owner, false), access->rank);
	if (elements_of(access) > ELEMENTS_MAX || slots_count() > SLOTS_MAX)
		slot_release(elements(access->owner, true), access->rank);
	else
		for_elements(access, slot_release);
}

void acquire_elements(const struct access *access)
{
	if (elements_of(access) > ELEMENTS_MAX) {
		slot_acquire(elements(access->owner, false), access->rank);
		return;
	}
	slot_acquire(elements(access->owner, true), access->rank);
	for_elements(access, slot_acquire);
}

void release_polled(struct access *access)
{
	uint64_t bytes = access->piece_count == 1 ? access->pieces[0].bytes : 0;

	access->may_be_seen = bytes > 0 && bytes <= 8;
	if (access->may_be_seen)
		slot_release((struct slot_name){ .kind = SLOT_POLLED, .object = (uint64_t)access->owner }, access->rank);
}
