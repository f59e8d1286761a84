// SPDX-License-Identifier: BSD-2-Clause
/* See site.h. */
#include "see/site.h"

#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "see/board.h"
#include "see/source.h"

#define PATH_BYTES 1024
#define ROOT_BYTES 32

/* The file that is mapped at an address, and the offset in it, by /proc/PID/maps. */
struct mapped {
	uint64_t offset;
	char path[PATH_BYTES];
};

/* Takes a line of maps that has the address. Longer paths than PATH_BYTES are cut. */
static bool take_line(const char *line, uint64_t address, struct mapped *mapped)
{
	uint64_t first, end, offset;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &first, &end, &offset, &path) != 3 ||
	    address < first || address >= end || path == 0 || line[path] != '/')
		return false;
	mapped->offset = address - first + offset;
	snprintf(mapped->path, sizeof(mapped->path), "%.*s", (int)strcspn(line + path, "\n"), line + path);
	return true;
}

static bool find(const char *root, uint64_t address, struct mapped *mapped)
{
	char path[ROOT_BYTES], line[PATH_BYTES];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "%s/maps", root);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = take_line(line, address, mapped);
	if (maps)
		fclose(maps);
	return found;
}

/* Opens a file, but nothing that may block or have effects. */
static int open_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static bool has_at_most(int fd, uint64_t bytes)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= bytes;
}

/* Returns the address that the file itself gives to a place in it. Without headers: the place. */
static uint64_t file_address(int fd, uint64_t offset)
{
	ElfW(Ehdr) header;
	ElfW(Phdr) part;

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return offset;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(part));

		if (pread(fd, &part, sizeof(part), at) != (ssize_t)sizeof(part))
			break;
		if (part.p_type == PT_LOAD && offset - part.p_offset < part.p_filesz)
			return offset - part.p_offset + part.p_vaddr;
	}
	return offset;
}

/* Writes "halo.c:88", or "exchange+0x1f in NAME". Returns false if no name can be read. */
static bool source_text(const char *path, const char *name, uint64_t address, char text[SITE_TEXT_BYTES])
{
	struct source_place place;

	if (!source_find(path, address, &place))
		return false;
	if (place.file[0])
		snprintf(text, SITE_TEXT_BYTES, "%.48s:%d", place.file, place.line);
	else
		snprintf(text, SITE_TEXT_BYTES, "%.30s+0x%" PRIx64 " in %.18s", place.function, place.offset, name);
	return true;
}

/* The file is opened as the process sees it, which may run in a container. */
static void name_place(const char *root, const struct mapped *mapped, uint64_t most_bytes, char text[SITE_TEXT_BYTES])
{
	const char *name = strrchr(mapped->path, '/') + 1;
	char path[ROOT_BYTES + PATH_BYTES];
	uint64_t address = mapped->offset;
	bool is_searched = false;
	int fd;

	snprintf(path, sizeof(path), "%s/root%s", root, mapped->path);
	fd = open_file(path);
	if (fd >= 0) {
		address = file_address(fd, mapped->offset);
		is_searched = has_at_most(fd, most_bytes);
		close(fd);
	}
	if (!is_searched || !source_text(path, name, address, text))
		snprintf(text, SITE_TEXT_BYTES, "%.40s+0x%" PRIx64, name, address);
}

const char *site_text(pid_t pid, uint64_t address, uint64_t most_bytes, char text[SITE_TEXT_BYTES])
{
	struct mapped mapped;
	char root[ROOT_BYTES] = "/proc/self";
	uint64_t call = address - 1; /* the call's last byte: the address may belong to the next line */

	text[0] = '\0';
	if (pid)
		snprintf(root, sizeof(root), "/proc/%d", (int)pid);
	if (address && find(root, call, &mapped))
		name_place(root, &mapped, most_bytes, text);
	board_make_printable(text, SITE_TEXT_BYTES);
	return text;
}
