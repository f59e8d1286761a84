// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_part.c - parts of a profile, as processes of two machines have written them: read.c,
 * clocks.c, gather.c, remote.c, roots.c
 */
#define INSTALLED_LIBDIR "lib"

#include "base/util.c"
#include "see/board.c"
#include "see/front/part_file.c"
#include "see/report/clocks.c"
#include "see/report/remote.c"
#include "see/report/roots.c"
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

/* Takes what there is of `bytes`. */
static size_t take(void *to, size_t bytes, const uint8_t **data, size_t size)
{
	size_t taken = size < bytes ? size : bytes;

	memcpy(to, *data, taken);
	*data += taken;
	return size - taken;
}

/* The header comes first in the input, then what fits of each table, as most of a part is empty. */
static void fill(struct part *part, const uint8_t *data, size_t size)
{
	size = take(&part[0].header, sizeof(part->header), &data, size);
	size = take(part[0].meetings, 256, &data, size);
	size = take(part[1].meetings, 256, &data, size);
	size = take(part[0].windows, 256, &data, size);
	size = take(part[0].objects, 600, &data, size);
	size = take(part[0].sites, 1200, &data, size);
	size = take(part[0].waits, 800, &data, size);
	size = take(part[0].remote.waits, 160, &data, size);
	size = take(part[1].remote.begins, 96, &data, size);
	size = take(part[0].latenesses, 64, &data, size);
	size = take(part[1].latenesses, 64, &data, size);
	take(&part[0].remote.wait_count, sizeof(part->remote.wait_count), &data, size);
	part[0].header.mark = PART_MARK;
	part[0].header.version = PART_VERSION;
	part[1].header = part[0].header;
	part[1].header.host[0] ^= 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct part part[2];
	struct read_part list[] = { { .part = &part[0], .ns_per_tick = 1 }, { .part = &part[1], .ns_per_tick = 1 } };
	struct read_parts parts = { .list = list, .count = 2, .size = 4 };
	struct profile profile = { 0 };

	memset(part, 0, sizeof(part));
	fill(part, data, size);
	if (check_part(&part[0]) && check_part(&part[1])) {
		clocks_align(&parts);
		gather(&profile, &parts);
	}
	free(profile.ranks);
	free(profile.windows);
	free(profile.sites);
	free(profile.waits);
	return 0;
}
