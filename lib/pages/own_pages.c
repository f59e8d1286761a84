// SPDX-License-Identifier: BSD-2-Clause
/* See own_pages.h. */
#include "pages/own_pages.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/util.h"

#define FLAGS_LINE "VmFlags:"

/* glibc's header of a piece. */
struct chunk {
	size_t before_bytes; /* if mapped by itself: from the start of the mapping */
	size_t size_and_flags;
};

enum { CHUNK_MAPPED = 2, CHUNK_FLAGS = 7 };

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

struct page_range pages_of(const void *base, size_t size_bytes)
{
	size_t page = page_bytes();
	uintptr_t first = (uintptr_t)base / page * page;

	return (struct page_range){ first, round_up((uintptr_t)base + size_bytes - first, page) };
}

/*
 * Reads the header that may lie before base; false if it is not mapped. The kernel reads, without a
 * fault.
 */
static bool read_header(uintptr_t base, struct chunk *chunk)
{
	struct iovec here = { chunk, sizeof(*chunk) };
	struct iovec there = { (void *)(base - sizeof(*chunk)), sizeof(*chunk) };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof(*chunk);
}

/* Returns whether malloc has given out all bytes of the pages, except its own header. */
static bool fills_as_malloced(uintptr_t base, const struct page_range *pages, uintptr_t mapped_to)
{
	bool aligned = base == pages->first, mapped;
	struct chunk chunk;
	uintptr_t end;
	size_t bytes;

	if (!aligned && base - pages->first != sizeof(chunk))
		return false;
	if (!read_header(base, &chunk))
		return false;
	bytes = chunk.size_and_flags & ~(size_t)CHUNK_FLAGS;
	mapped = chunk.size_and_flags & CHUNK_MAPPED;
	if (bytes % sizeof(chunk) || bytes > UINTPTR_MAX / 2 || (mapped && (chunk.before_bytes + bytes) % page_bytes()))
		return false;
	if (!aligned && (!mapped || chunk.before_bytes))
		return false;
	end = base - sizeof(chunk) + bytes;
	if (!mapped)
		end += sizeof(size_t); /* the next piece's first word belongs to this one */
	return end > base && end >= pages->first + pages->size_bytes && end <= mapped_to;
}

static bool fills_pages(const void *base, size_t size_bytes, const struct page_range *pages, uintptr_t mapped_to)
{
	if ((uintptr_t)base == pages->first && size_bytes == pages->size_bytes)
		return true;
	return fills_as_malloced((uintptr_t)base, pages, mapped_to);
}

static const char *kind_hindrance(const struct mapping *mapping)
{
	if (mapping->rights[3] != 'p')
		return "shared memory already";
	if (mapping->inode != 0)
		return "a mapped file, huge pages, or static memory that begins with values";
	if (strncmp(mapping->name, "[stack", 6) == 0)
		return "on the stack";
	return strncmp(mapping->rights, "rw-", 3) ? "not to be written, or may be executed" : NULL;
}

/* Returns why flags rule the pages out, or NULL. A flag has two letters. */
static const char *flags_hindrance(const char *flags)
{
	static const struct {
		const char *flag, *what;
	} known[] = { { " lo", "locked (mlock)" },
		          { " ht", "huge pages" },
		          { " gd", "on the stack" },
		          { " io", "memory of a device" },
		          { " pf", "memory of a device" },
		          { " dc", "kept from forked children (madvise), as memory is that a network card has pinned" },
		          { " wf", "kept from forked children (madvise)" },
		          { " dd", "kept from core dumps (madvise)" },
		          { " um", "watched by a userfaultfd" },
		          { " uw", "watched by a userfaultfd" } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strstr(flags, known[i].flag))
			return known[i].what;
	}
	return NULL;
}

static const char *mapping_hindrance(const struct mapping *mapping, const char *line)
{
	const char *why = kind_hindrance(mapping);

	return why ? why : flags_hindrance(line + strlen(FLAGS_LINE));
}

/*
 * Goes through the mappings of the pages; *mapped_to becomes the end of the last. Returns NULL or a
 * hindrance.
 */
static const char *look(FILE *maps, const struct page_range *pages, uintptr_t *mapped_to)
{
	uintptr_t covered = pages->first, end = pages->first + pages->size_bytes;
	struct mapping mapping = { .end = 0 };
	const char *why = NULL;
	char line[MAPPING_LINE_BYTES];

	while (!why && covered < end && fgets(line, sizeof(line), maps)) {
		if (mapping_parse(line, &mapping) || mapping.end <= covered || strncmp(line, FLAGS_LINE, strlen(FLAGS_LINE)))
			continue;
		if (mapping.start > covered)
			break;
		why = mapping_hindrance(&mapping, line);
		covered = mapping.end;
	}
	*mapped_to = covered;
	return why || covered >= end ? why : "not mapped, or /proc/self/smaps does not tell it";
}

const char *own_pages_hindrance(const void *base, size_t size_bytes)
{
	struct page_range pages = pages_of(base, size_bytes);
	uintptr_t mapped_to;
	const char *why;
	FILE *maps;

	maps = fopen("/proc/self/smaps", "re");
	if (!maps)
		return "not known what it is, since /proc/self/smaps cannot be read";
	why = look(maps, &pages, &mapped_to);
	fclose(maps);
	if (why || fills_pages(base, size_bytes, &pages, mapped_to))
		return why;
	return "not alone in its first or last page (oriel_windows(7) says which memory is)";
}

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
