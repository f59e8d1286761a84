/* SPDX-License-Identifier: BSD-2-Clause */
/* timeline.h - the timeline of a job, from the chunks of its parts (front/part.h) */
#ifndef ORIEL_SEE_TIMELINE_H
#define ORIEL_SEE_TIMELINE_H

#include "see/report/profile.h"

/* The chunks of a part, in the order of lanes, and of their use. Each entry can be used. */
struct read_chunks {
	struct part_chunk *list;
	uint32_t count;
	uint32_t capacity;
};

/* chunks.c: reads the chunks of a part. Their owner frees the list. */
void chunks_read(struct read_chunks *chunks, const struct read_part *from);

#define TIME_MAX 1000000000000000000 /* ns: thirty years */

/* Returns the time of CLOCK_MONOTONIC at a reading of the calls' clock; TIME_MAX at most. */
uint64_t chunks_ns(const struct part_chunk *chunk, uint64_t ticks, double ns_per_tick);

/* timeline.c */

/* Returns how many parts have a timeline. */
uint32_t timeline_count(const struct read_parts *parts);

/* Writes all timelines, in Perfetto's format. */
void timeline_print(FILE *out, const struct profile *profile, const struct read_parts *parts);

#endif
