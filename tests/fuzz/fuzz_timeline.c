// SPDX-License-Identifier: BSD-2-Clause
/* fuzz_timeline.c - chunks of a timeline that another process has written: chunks.c, timeline.c */
#define INSTALLED_LIBDIR "lib"

#include "base/util.c"
#include "see/board.c"
#include "see/front/part_file.c"
#include "see/report/chunks.c"
#include "see/report/clocks.c"
#include "see/report/gather.c"
#include "see/report/perfetto.c"
#include "see/report/program.c"
#include "see/report/protobuf.c"
#include "see/report/read.c"
#include "see/report/remote.c"
#include "see/report/roots.c"
#include "see/report/timeline.c"

#define CHUNKS 3
#define ENTRIES 20 /* of a chunk, at most */
#define CHUNK_HEAD offsetof(struct part_chunk, entries)

const char program_name[] = "fuzz";

bool source_find(const char *path, uint64_t address, struct source_place *place)
{
	(void)path;
	(void)address;
	memset(place, 0, sizeof(*place));
	return false;
}

const char *place_text(const struct profile_site *site, char text[PLACE_BYTES])
{
	snprintf(text, PLACE_BYTES, "%.40s", site->object);
	return text;
}

/* Returns what is left of the input behind these bytes of it. */
static size_t take(void *to, size_t bytes, const uint8_t **data, size_t size)
{
	size_t taken = size < bytes ? size : bytes;

	memcpy(to, *data, taken);
	*data += taken;
	return size - taken;
}

/* A part has some sites and a window. The input has rank, size, sites and chunks. */
static size_t fill_part(struct part *part, const uint8_t *data, size_t size)
{
	const uint8_t *at = data;
	size_t left = take(&part->header.rank, sizeof(part->header.rank), &at, size);

	left = take(part->sites, 2 * sizeof(part->sites[0]), &at, left);
	part->header.mark = PART_MARK;
	part->header.version = PART_VERSION;
	part->header.pid = 1;
	part->header.site_count = 2;
	part->header.window_count = 1;
	part->header.chunk_count = CHUNKS;
	return size - left;
}

static void fill_chunks(struct read_chunks *chunks, const struct part_header *header, const uint8_t *data, size_t size)
{
	static struct part_chunk list[CHUNKS];

	memset(list, 0, sizeof(list));
	chunks->list = list;
	for (int i = 0; i < CHUNKS && size; i++) {
		struct part_chunk *chunk = &list[chunks->count];

		size = take(chunk, CHUNK_HEAD + ENTRIES * sizeof(struct part_entry), &data, size);
		chunks->count += check_chunk(chunk, header);
	}
	qsort(list, chunks->count, sizeof(*list), compare_chunks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct part part;
	static FILE *out;
	struct read_part from = { .part = &part, .ns_per_tick = 0.4 };
	struct read_parts parts = { .list = &from, .count = 1 };
	struct read_chunks chunks = { 0 };
	struct profile profile = { 0 };
	struct timeline line = { .profile = &profile, .from = &from };
	size_t used;

	if (!out)
		out = fopen("/dev/null", "w");
	memset(&part, 0, sizeof(part));
	used = fill_part(&part, data, size);
	if (!out || !check_part(&part) || part.header.rank < 0)
		return 0;
	gather(&profile, &parts);
	fill_chunks(&chunks, &part.header, data + used, size - used);
	line.death = read_death(&parts, part.header.rank);
	print_part(out, line, &chunks);
	free(profile.ranks);
	free(profile.windows);
	free(profile.sites);
	free(profile.waits);
	return 0;
}
