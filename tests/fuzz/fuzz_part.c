// SPDX-License-Identifier: BSD-2-Clause
/* fuzz_part.c - a part of a profile, as another process has written it: read.c and gather.c. */
#define INSTALLED_LIBDIR "lib"

#include "base/util.c"
#include "see/board.c"
#include "see/front/part_file.c"
#include "see/report/gather.c"
#include "see/report/program.c"
#include "see/report/read.c"

const char program_name[] = "fuzz";

bool source_find(const char *path, uint64_t address, struct source_place *place)
{
	(void)address;
	memset(place, 0, sizeof(*place));
	return path[0] == '/';
}

/* The header comes first in the input, then what fits of each table, as most of a part is empty. */
static void fill(struct part *part, const uint8_t *data, size_t size)
{
	char *const tables[] = { (char *)&part->header, (char *)part->windows, (char *)part->objects, (char *)part->sites,
		                     (char *)part->waits };
	static const size_t shares[] = { sizeof(part->header), 256, 600, 1200, 800 };

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		size_t bytes = size < shares[i] ? size : shares[i];

		memcpy(tables[i], data, bytes);
		data += bytes;
		size -= bytes;
	}
	part->header.mark = PART_MARK;
	part->header.version = PART_VERSION;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct part part;
	struct read_part list = { .part = &part, .ns_per_tick = 1 };
	struct read_parts parts = { .list = &list, .count = 1 };
	struct profile profile = { 0 };

	memset(&part, 0, sizeof(part));
	fill(&part, data, size);
	if (check_part(&part))
		gather(&profile, &parts);
	free(profile.windows);
	free(profile.sites);
	free(profile.waits);
	return 0;
}
