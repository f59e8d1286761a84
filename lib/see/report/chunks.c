// SPDX-License-Identifier: BSD-2-Clause
/* See timeline.h. A process that has not ended may write while this one reads. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "see/report/timeline.h"
#include "see/report/program.h"

static bool is_sound_entry(const struct part_entry *entry, const struct part_header *header)
{
	bool is_call = entry->kind == PART_CALL;

	return entry->site < header->site_count && (is_call || entry->kind < EVENT_COUNT) &&
	       entry->rank >= (is_call ? -1 : 0) && entry->rank < 1 << 24 && (is_call || entry->rank != header->rank);
}

/* Makes the times those of the first machine's clock. The other rank's call is of this machine. */
static void shift_times(struct part_chunk *chunk, const struct clock_shift *shift)
{
	chunk->ns = clocks_shifted(shift, chunk->ns);
	for (uint32_t i = 0; i < chunk->count; i++) {
		struct part_entry *entry = &chunk->entries[i];

		if (entry->kind == PART_CALL)
			continue;
		entry->begun = clocks_shifted(shift, entry->begun);
		entry->ended = clocks_shifted(shift, entry->ended);
	}
}

/* Keeps the entries that can be used. Returns whether there are any. */
static bool check_chunk(struct part_chunk *chunk, const struct part_header *header)
{
	uint32_t kept = 0;

	if (chunk->lane >= PART_LANES || chunk->count > PART_CHUNK_ENTRIES)
		return false;
	for (uint32_t i = 0; i < chunk->count; i++) {
		if (is_sound_entry(&chunk->entries[i], header))
			chunk->entries[kept++] = chunk->entries[i];
	}
	chunk->count = kept;
	return kept > 0;
}

/* Copies a chunk. Returns false if it was used anew in the meantime, or never. */
static bool copy_chunk(int fd, uint32_t index, struct part_chunk *chunk)
{
	off_t at = PART_CHUNKS_OFFSET + (off_t)index * PART_CHUNK_BYTES;
	uint64_t number;

	return pread(fd, chunk, sizeof(*chunk), at) == sizeof(*chunk) &&
	       pread(fd, &number, sizeof(number), at) == sizeof(number) && number == chunk->number;
}

uint64_t chunks_ns(const struct part_chunk *chunk, uint64_t ticks, double ns_per_tick)
{
	uint64_t from = chunk->ns < TIME_MAX ? chunk->ns : TIME_MAX;
	double apart = (double)(int64_t)(ticks - chunk->ticks) * ns_per_tick;
	double at = (double)from + apart;

	if (!(at > 0) || at > TIME_MAX)
		return at > 0 ? TIME_MAX : 0;
	return (uint64_t)((int64_t)from + (int64_t)apart);
}

static int compare_chunks(const void *a, const void *b)
{
	const struct part_chunk *left = a, *right = b;

	if (left->lane != right->lane)
		return left->lane < right->lane ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

/* Returns how many chunks there are, which may be less than the part says. */
static uint32_t chunks_in(int fd, const struct part_header *header)
{
	struct stat st;
	uint64_t count;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= PART_CHUNKS_OFFSET)
		return 0;
	count = (uint64_t)(st.st_size - PART_CHUNKS_OFFSET) / PART_CHUNK_BYTES;
	return count < header->chunk_count ? (uint32_t)count : header->chunk_count;
}

void chunks_read(struct read_chunks *chunks, const struct read_part *from)
{
	const struct part_header *header = &from->part->header;
	int fd = part_file_open(from->path, sizeof(struct part));
	uint32_t count = chunks_in(fd, header);

	for (uint32_t i = 0; i < count; i++) {
		struct part_chunk *chunk;

		if (!grow_array(&chunks->list, &chunks->capacity, chunks->count + 1, sizeof(*chunks->list)))
			program_fail("out of memory");
		chunk = &chunks->list[chunks->count];
		if (!copy_chunk(fd, i, chunk))
			continue;
		if (chunk->number == 0) /* so are those behind it */
			break;
		if (!check_chunk(chunk, header))
			continue;
		shift_times(chunk, &from->shift);
		chunks->count++;
	}
	if (fd >= 0)
		close(fd);
	if (chunks->count)
		qsort(chunks->list, chunks->count, sizeof(*chunks->list), compare_chunks);
}
