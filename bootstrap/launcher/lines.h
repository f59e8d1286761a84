// SPDX-License-Identifier: BSD-2-Clause
/*
 * lines.h - whole lines out of many streams into one
 *
 * A source is what one rank writes to its stdout or stderr; a sink is where the launcher's stdout
 * or stderr goes. Bytes of a source reach the sink in whole lines, so that lines of different ranks
 * do not mix.
 */
#ifndef ORIEL_LAUNCHER_LINES_H
#define ORIEL_LAUNCHER_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/byteq.h"

#define LINES_LINE_MAX_BYTES (1 << 20)  /* of an unfinished line that is held back; --help names it */
#define LINES_QUEUE_MAX_BYTES (8 << 20) /* in a sink, waiting to be written */
#define LINES_PREFIX_MAX_BYTES 16

struct lines_source;

struct lines_sink {
	struct byteq queue;
	const struct lines_source *open_line; /* whose unfinished line is the last that was queued; NULL: none's */
};

struct lines_source {
	struct lines_sink *sink;
	bool at_once; /* do not hold back unfinished lines */
	size_t prefix_size;
	char prefix[LINES_PREFIX_MAX_BYTES];
	struct byteq held; /* an unfinished line */
};

/* Add bytes a source has written. -1: no memory, or the sink's queue is full. */
int lines_feed(struct lines_source *source, const void *bytes, size_t size);

/* Pass on what is held back, as it is: the source has ended, or its reader should see it. */
int lines_flush(struct lines_source *source);

/* A whole line of the launcher's own. */
int lines_put(struct lines_sink *sink, const char *line, size_t size);

#endif
