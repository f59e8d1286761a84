// SPDX-License-Identifier: BSD-2-Clause
/* See memory_file.h. */
#include "pages/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/util.h"
#include "pages/shortage.h"

#define SMALL_BYTES ((size_t)1 << 20) /* no process runs where a limit is lower */

/* The system's limits, each read once. */
static struct {
	pthread_once_t most_once, strict_once;
	struct memory_room most;
	bool strict;
} limits = { .most_once = PTHREAD_ONCE_INIT, .strict_once = PTHREAD_ONCE_INIT };

static void read_most(void)
{
	memory_room("", MEMORY_IN_ALL, &limits.most);
}

static void read_strict(void)
{
	limits.strict = memory_is_strict("");
}

static int too_large(const char *name, size_t size_bytes, unsigned long long limit_bytes, const char *limit)
{
	return err_set(ORIEL_ERR_MEMORY,
	               "a memory file (%s) of %zu bytes cannot be made: it is larger than the %llu that are %s. Allocate "
	               "less, or raise that limit",
	               name, size_bytes, limit_bytes, limit);
}

static bool exceeds_most(size_t size_bytes)
{
	if (size_bytes <= SMALL_BYTES)
		return false;
	pthread_once(&limits.most_once, read_most);
	return size_bytes > limits.most.bytes;
}

static int check_limits(const char *name, size_t size_bytes)
{
	struct rlimit file;

	if (exceeds_most(size_bytes))
		return too_large(name, size_bytes, limits.most.bytes, limits.most.limit);
	if (getrlimit(RLIMIT_FSIZE, &file) == 0 && size_bytes > file.rlim_cur)
		return too_large(name, size_bytes, file.rlim_cur, "what the process's files may have (ulimit -f)");
	return 0;
}

static int make_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 && errno == EINVAL ? memfd_create(name, MFD_CLOEXEC) : fd;
}

static int give_size(const char *name, int fd, size_t size_bytes)
{
	if (size_bytes > (size_t)INT64_MAX || ftruncate(fd, (off_t)size_bytes))
		return memory_file_failed(name, size_bytes, "ftruncate", size_bytes > (size_t)INT64_MAX ? EFBIG : errno);
	return memory_files_are_filled() ? memory_fill(name, fd, size_bytes) : 0;
}

bool memory_files_are_filled(void)
{
	pthread_once(&limits.strict_once, read_strict);
	return limits.strict;
}

/* Seals the file against shrinking, if possible. Peers that mind do not map an unsealed file. */
static void seal(int fd)
{
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
}

static int map(const char *name, int fd, size_t size_bytes, void **base)
{
	void *here = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (here == MAP_FAILED)
		return memory_file_failed(name, size_bytes, "mmap", errno);
	memory_node_bind(here, size_bytes);
	*base = here;
	return 0;
}

int map_memory_file(const char *name, size_t size_bytes, void **base, int *fd)
{
	int rc = check_limits(name, size_bytes);

	*base = NULL;
	if (rc)
		return rc;
	*fd = make_file(name);
	if (*fd < 0)
		return memory_file_failed(name, size_bytes, "memfd_create", errno);
	rc = give_size(name, *fd, size_bytes);
	if (rc == 0) {
		seal(*fd);
		rc = map(name, *fd, size_bytes, base);
	}
	if (rc)
		close(*fd);
	return rc;
}

/*
 * Returns where touched bytes begin, at or after `from`, or size. If the system cannot say, all
 * bytes may have been touched.
 */
static off_t next_touched(int fd, off_t from, off_t size)
{
	off_t at = lseek(fd, from, SEEK_DATA);

	if (at < 0)
		return errno == ENXIO ? size : from;
	return at < size ? at : size;
}

static off_t touched_until(int fd, off_t from, off_t size)
{
	off_t end = lseek(fd, from, SEEK_HOLE);

	return end > from && end < size ? end : size;
}

/* Finds the next touched bytes of the file, from *at to *end; false: there are none. */
static bool find_touched(int fd, size_t size_bytes, size_t *at, size_t *end)
{
	const off_t size = (off_t)size_bytes, from = next_touched(fd, (off_t)*at, size);

	*at = (size_t)from;
	*end = from < size ? (size_t)touched_until(fd, from, size) : size_bytes;
	return from < size;
}

void zero_memory_file(void *base, size_t size_bytes, int fd)
{
	size_t end;

	for (size_t at = 0; find_touched(fd, size_bytes, &at, &end); at = end)
		memset((char *)base + at, 0, end - at);
}

void copy_memory_file(void *to, const void *base, size_t size_bytes, int fd)
{
	size_t end;

	for (size_t at = 0; find_touched(fd, size_bytes, &at, &end); at = end)
		memcpy((char *)to + at, (const char *)base + at, end - at);
}

void empty_memory_file(int fd, size_t size_bytes)
{
	size_t bytes = round_up(size_bytes, (size_t)sysconf(_SC_PAGESIZE)); /* the kernel gives whole pages back */

	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
}

void unmap_memory_file(void *base, size_t size_bytes, int fd)
{
	munmap(base, size_bytes);
	empty_memory_file(fd, size_bytes);
	close(fd);
}

#define PIECE_BYTES ((size_t)4 << 20)  /* by one call; a signal undoes no more */
#define SPARE_BYTES ((size_t)16 << 20) /* left for others */

int memory_file_failed(const char *name, size_t size_bytes, const char *what, int error)
{
	char text[SHORTAGE_TEXT_BYTES];

	snprintf(text, sizeof(text), "%s", strerror(error));
	if (is_shortage(error))
		shortage_text(error, false, text, sizeof(text));
	return err_set(is_shortage(error) ? shortage_code(error) : ORIEL_ERR_MEMORY,
	               "a memory file (%s) of %zu bytes cannot be made: %s: %s", name, size_bytes, what, text);
}

static int no_room(const char *name, size_t size_bytes, size_t done, const struct memory_room *room)
{
	return err_set(
		ORIEL_ERR_MEMORY,
		"a memory file (%s) of %zu bytes cannot be made: %zu bytes are to be allocated yet and %llu can be had "
		"of the %llu that are %s. Allocate less, run fewer ranks on this machine, or raise that limit",
		name, size_bytes, size_bytes - done, (unsigned long long)room->bytes, (unsigned long long)room->limit_bytes,
		room->limit);
}

static int look_for_room(const char *name, size_t size_bytes, size_t done)
{
	size_t wanted = size_bytes - done + SPARE_BYTES;
	struct memory_room room;

	memory_room("", MEMORY_LEFT, &room);
	return room.bytes >= wanted ? 0 : no_room(name, size_bytes, done, &room);
}

/* Allocates the piece at `done`. EOPNOTSUPP: the system allocates at first touch only. */
static int allocate_piece(const char *name, int fd, size_t size_bytes, size_t done)
{
	size_t piece = min_size(size_bytes - done, PIECE_BYTES);
	struct memory_room room;
	int error;

	do
		error = fallocate(fd, 0, (off_t)done, (off_t)piece) ? errno : 0;
	while (error == EINTR);
	if (error == 0 || error == EOPNOTSUPP || error == ENOSYS)
		return 0;
	if (error != ENOMEM && error != ENOSPC)
		return memory_file_failed(name, size_bytes, "fallocate", error);
	memory_room("", MEMORY_LEFT, &room);
	return no_room(name, size_bytes, done, &room);
}

int memory_fill(const char *name, int fd, size_t size_bytes)
{
	int rc = 0;

	for (size_t done = 0; rc == 0 && done < size_bytes; done += PIECE_BYTES) {
		if (size_bytes > PIECE_BYTES)
			rc = look_for_room(name, size_bytes, done);
		if (rc == 0)
			rc = allocate_piece(name, fd, size_bytes, done);
	}
	return rc;
}
