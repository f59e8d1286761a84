/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pack.h - rooms of a trace in fewer bytes
 *
 * DESIGN NOTES
 *
 * Events of one place differ in few of their words, and often by little. So an event is packed as
 * what differs from the last one of its place: how many rooms lie between the two, which words
 * differ, and these. A word that differs by less than 2^31 has four bytes. The pieces behind an
 * event are packed in the same way, against what lies behind the other one.
 *
 * A block is packed by itself.
 */
#ifndef ORIEL_CHECK_PACK_H
#define ORIEL_CHECK_PACK_H

#include <stdbool.h>

#include "check/trace.h"

/* In front of each block in the file. */
struct pack_head {
	uint32_t rooms;
	uint32_t bytes; /* that follow */
};

#define PACK_ROOM_MOST (3 + sizeof(union trace_room))
#define PACK_MOST (TRACE_LATEST * PACK_ROOM_MOST)

/* Packs whole events, in at most TRACE_LATEST rooms. Returns how many bytes it has written. */
size_t pack(unsigned char packed[PACK_MOST], const union trace_room rooms[], uint32_t count);

/* Returns false if these bytes are not those of so many rooms. */
bool unpack(union trace_room rooms[], uint32_t count, const unsigned char packed[], size_t bytes);

#endif
