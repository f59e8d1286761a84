// SPDX-License-Identifier: BSD-2-Clause
/* See memory_file.h. */
#include "pages/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/util.h"
#include "pages/shortage.h"

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
