// SPDX-License-Identifier: BSD-2-Clause
/* See own_pages.h. */
#include "pages/own_pages.h"

#include <inttypes.h>
#include <stdio.h>

bool mapping_parse(const char *line, struct mapping *mapping)
{
	struct mapping found = { .name = "" };
	bool is = sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %" SCNu64 " %511[^\n]", &found.start, &found.end,
	                 found.rights, &found.inode, found.name) >= 4;

	if (is)
		*mapping = found;
	return is;
}

bool mapping_is_own(const struct mapping *mapping)
{
	return mapping->rights[3] == 'p' && mapping->inode == 0;
}

static bool next(FILE *maps, struct mapping *mapping)
{
	char line[MAPPING_LINE_BYTES];

	while (fgets(line, sizeof(line), maps)) {
		if (mapping_parse(line, mapping))
			return true;
	}
	return false;
}

/* Sets *around to the mappings that have the pages; false if they do not cover them. */
static bool cover(FILE *maps, const struct page_range *pages, struct page_range *around)
{
	uintptr_t covered = pages->first, end = pages->first + pages->size_bytes;
	struct mapping mapping;

	while (covered < end && next(maps, &mapping)) {
		if (mapping.end <= covered)
			continue;
		if (mapping.start > covered || !mapping_is_own(&mapping))
			return false;
		if (covered == pages->first)
			around->first = mapping.start;
		covered = mapping.end;
	}
	around->size_bytes = covered - around->first;
	return covered >= end;
}

bool mappings_around(const struct page_range *pages, struct page_range *around)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool all;

	if (!maps)
		return false;
	*around = *pages;
	all = cover(maps, pages, around);
	fclose(maps);
	return all;
}

void mappings_visit(const struct page_range *pages, void (*visit)(void *arg, const struct page_range *part), void *arg)
{
	uintptr_t end = pages->first + pages->size_bytes;
	FILE *maps = fopen("/proc/self/maps", "re");
	struct mapping mapping;

	while (maps && next(maps, &mapping) && mapping.start < end) {
		uintptr_t from = mapping.start > pages->first ? mapping.start : pages->first;
		uintptr_t to = mapping.end < end ? mapping.end : end;

		if (from < to && mapping_is_own(&mapping))
			visit(arg, &(struct page_range){ from, to - from });
	}
	if (maps)
		fclose(maps);
}
