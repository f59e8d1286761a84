// SPDX-License-Identifier: BSD-2-Clause
/* See libraries.h. */
#include "mpi/starter/libraries.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The format since 1999; until 2020 ldconfig put an older one before it. */
#define MAGIC "glibc-ld.so.cache1.1"
#define MAGIC_BYTES (sizeof(MAGIC) - 1)

struct header {
	char magic[MAGIC_BYTES];
	uint32_t count;
	uint32_t unused[6];
};

/* name and path are offsets from the header. */
struct entry {
	int32_t flags;
	uint32_t name;
	uint32_t path;
	uint32_t unused;
	uint64_t processor;
};

/* Returns the file's part in the newer format. */
static struct cache behind_older(const char *bytes, size_t size)
{
	const char *header = memmem(bytes, size, MAGIC, MAGIC_BYTES);

	return header ? (struct cache){ header, size - (size_t)(header - bytes) } : (struct cache){ NULL, 0 };
}

static struct cache map(int fd)
{
	struct cache none = { NULL, 0 };
	struct stat status;
	void *bytes;

	if (fstat(fd, &status) || status.st_size <= 0)
		return none;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	return bytes == MAP_FAILED ? none : behind_older(bytes, (size_t)status.st_size);
}

struct cache cache_open(const char *path)
{
	struct cache cache = { NULL, 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return cache;
	cache = map(fd);
	close(fd);
	return cache;
}

/* Returns the text at that offset, or NULL if the file ends first. */
static const char *text_at(const struct cache *cache, uint32_t at)
{
	return at < cache->size && memchr(cache->bytes + at, '\0', cache->size - at) ? cache->bytes + at : NULL;
}

static uint32_t count_entries(const struct cache *cache)
{
	struct header header;

	if (!cache->bytes || cache->size < sizeof(header))
		return 0;
	memcpy(&header, cache->bytes, sizeof(header));
	return header.count;
}

/* Reads entry number `index`; -1: it lies outside the file. */
static int read_entry(const struct cache *cache, size_t index, struct entry *entry)
{
	size_t at = sizeof(struct header) + index * sizeof(*entry);

	if (at > cache->size || cache->size - at < sizeof(*entry))
		return -1;
	memcpy(entry, cache->bytes + at, sizeof(*entry));
	return 0;
}

const char *cache_find(const struct cache *cache, const char *name, size_t *at)
{
	uint32_t count = count_entries(cache);
	struct entry entry;

	while (*at < count && read_entry(cache, (*at)++, &entry) == 0) {
		const char *found = text_at(cache, entry.name);

		if (found && strcmp(found, name) == 0)
			return text_at(cache, entry.path);
	}
	return NULL;
}
