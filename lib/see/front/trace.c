// SPDX-License-Identifier: BSD-2-Clause
/*
 * trace.c - the timeline: an entry for each call; see call.h and part.h
 *
 * A lane writes to one chunk until that is full, and then takes the oldest that no lane writes to.
 * So the last entries stay, however many threads there are.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "see/front/call.h"
#include "see/front/clock.h"

#define FILE_VARIABLE "ORIEL_TRACE" /* the starter's */
#define FORMATS_VARIABLE "ORIEL_PROFILE"
#define BYTES_VARIABLE "ORIEL_TRACE_BYTES"
#define BYTES_USUAL (64 << 20)
#define TOUCHED_CHUNKS 32 /* whose pages are made at once, on first use */

static struct part_header *header;
static struct part_chunk *chunks;
uint32_t trace_chunks;
struct part_chunk *trace_of_lane[PART_LANES];
static uint64_t last_number;
static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;

static uint64_t bytes_wanted(void)
{
	const char *text = getenv(BYTES_VARIABLE);
	uint64_t bytes;
	char *end;

	if (!text || !*text)
		return BYTES_USUAL;
	bytes = strtoull(text, &end, 10);
	if (*end == '\0' && *text != '-')
		return bytes;
	fprintf(stderr, "oriel: " BYTES_VARIABLE " is \"%s\", which is no number of bytes: %d is used\n", text,
	        BYTES_USUAL);
	return BYTES_USUAL;
}

/* The picture shows single calls, too. */
static bool is_wanted(void)
{
	const char *file = getenv(FILE_VARIABLE), *formats = getenv(FORMATS_VARIABLE);

	return (file && *file) || (formats && strstr(formats, "svg"));
}

uint32_t trace_chunks_wanted(void)
{
	uint64_t chunks_in_bytes;

	if (!is_wanted())
		return 0;
	chunks_in_bytes = bytes_wanted() / PART_CHUNK_BYTES;
	if (chunks_in_bytes < PART_CHUNKS_MIN)
		return PART_CHUNKS_MIN;
	return chunks_in_bytes < PART_CHUNKS_MAX ? (uint32_t)chunks_in_bytes : PART_CHUNKS_MAX;
}

void trace_open(struct part *part)
{
	header = &part->header;
	chunks = (struct part_chunk *)(void *)((char *)part + PART_CHUNKS_OFFSET);
	trace_chunks = header->chunk_count;
}

/* Makes pages ahead: one by one they cost more. On older systems the stores make them. */
static void touch(uint32_t index)
{
#ifdef MADV_POPULATE_WRITE
	uint32_t count = trace_chunks - index < TOUCHED_CHUNKS ? trace_chunks - index : TOUCHED_CHUNKS;

	if (last_number < trace_chunks && index % TOUCHED_CHUNKS == 0)
		madvise(&chunks[index], (size_t)count * PART_CHUNK_BYTES, MADV_POPULATE_WRITE);
#else
	(void)index;
#endif
}

static bool is_in_use(const struct part_chunk *chunk)
{
	for (uint32_t lane = 0; lane < PART_LANES; lane++) {
		if (trace_of_lane[lane] == chunk)
			return true;
	}
	return false;
}

/* There are twice as many chunks as lanes: one is free. */
static uint32_t find_oldest(void)
{
	static uint32_t next;
	uint32_t found;

	while (is_in_use(&chunks[next]))
		next = (next + 1) % trace_chunks;
	found = next;
	next = (next + 1) % trace_chunks;
	return found;
}

static uint32_t count_calls(const struct part_chunk *chunk)
{
	uint32_t calls = 0;

	for (uint32_t i = 0; i < chunk->count; i++)
		calls += chunk->entries[i].kind == PART_CALL;
	return calls;
}

/* A reader finds a chunk without entries, or with those of its number (report/chunks.c). */
static void begin_chunk(struct part_chunk *chunk, uint32_t lane)
{
	header->overwritten += count_calls(chunk);
	__atomic_store_n(&chunk->count, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&chunk->number, ++last_number, __ATOMIC_RELEASE);
	chunk->lane = lane;
	clock_read_both(&chunk->ticks, &chunk->ns);
}

struct part_chunk *trace_take_chunk(uint32_t lane)
{
	uint32_t index;

	pthread_mutex_lock(&taking);
	trace_of_lane[lane] = NULL;
	index = find_oldest();
	touch(index);
	begin_chunk(&chunks[index], lane);
	trace_of_lane[lane] = &chunks[index];
	pthread_mutex_unlock(&taking);
	return &chunks[index];
}
