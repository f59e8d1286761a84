// SPDX-License-Identifier: BSD-2-Clause
/* See pack.h. */
#include "check/pack.h"

#include <string.h>

#define WORDS (sizeof(union trace_room) / sizeof(uint64_t))
#define PLACES 256    /* whose last event is known */
#define MOST_BACK 255 /* rooms */

static uint64_t word_of(const union trace_room *room, size_t index)
{
	uint64_t word;

	memcpy(&word, (const char *)room + index * sizeof(word), sizeof(word));
	return word;
}

static bool is_small(uint64_t difference)
{
	return (uint64_t)(int64_t)(int32_t)difference == difference;
}

/* Packs a room against an earlier one, which is `back` rooms before it. Returns what is behind. */
static unsigned char *pack_room(unsigned char *at, const union trace_room *room, const union trace_room *earlier,
                                uint8_t back)
{
	unsigned char *head = at;

	at += 3;
	head[0] = back;
	head[1] = head[2] = 0;
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t word = word_of(room, i), difference = word - word_of(earlier, i);
		size_t bytes = is_small(difference) ? sizeof(uint32_t) : sizeof(uint64_t);

		if (difference == 0)
			continue;
		head[1] |= (unsigned char)(1u << i);
		head[2] |= (unsigned char)((bytes == sizeof(uint64_t)) << i);
		memcpy(at, &difference, bytes);
		at += bytes;
	}
	return at;
}

size_t pack(unsigned char packed[PACK_MOST], const union trace_room rooms[], uint32_t count)
{
	static const union trace_room none;
	uint32_t last[PLACES] = { 0 }, behind; /* the room of the place's last event, + 1 */
	unsigned char *at = packed;

	for (uint32_t i = 0; i < count; i += behind) {
		uint32_t *place = &last[rooms[i].event.site % PLACES];
		uint32_t back = *place ? i + 1 - *place : 0;

		if (back > MOST_BACK)
			back = 0;
		*place = i + 1;
		behind = 1 + rooms[i].event.count;
		for (uint32_t k = i; k < i + behind; k++)
			at = pack_room(at, &rooms[k], back ? &rooms[k - back] : &none, (uint8_t)back);
	}
	return (size_t)(at - packed);
}

/* Returns what is behind the packed room, or NULL: it goes beyond the end. */
static const unsigned char *unpack_room(const unsigned char *at, const unsigned char *end, union trace_room *room)
{
	unsigned char differ = at[1], large = at[2];

	at += 3;
	for (size_t i = 0; i < WORDS; i++) {
		bool is_large = large >> i & 1;
		uint64_t difference = 0, word = word_of(room, i);
		int32_t small = 0;

		if (!(differ >> i & 1))
			continue;
		if ((size_t)(end - at) < (is_large ? sizeof(difference) : sizeof(small)))
			return NULL;
		if (is_large)
			memcpy(&difference, at, sizeof(difference));
		else
			memcpy(&small, at, sizeof(small));
		at += is_large ? sizeof(difference) : sizeof(small);
		word += is_large ? difference : (uint64_t)(int64_t)small;
		memcpy((char *)room + i * sizeof(word), &word, sizeof(word));
	}
	return at;
}

bool unpack(union trace_room rooms[], uint32_t count, const unsigned char packed[], size_t bytes)
{
	const unsigned char *at = packed, *end = packed + bytes;

	for (uint32_t i = 0; i < count; i++) {
		if (end - at < 3 || at[0] > i)
			return false;
		if (at[0])
			rooms[i] = rooms[i - at[0]];
		else
			memset(&rooms[i], 0, sizeof(rooms[i]));
		at = unpack_room(at, end, &rooms[i]);
		if (!at)
			return false;
	}
	return at == end;
}
