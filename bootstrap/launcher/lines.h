// SPDX-License-Identifier: BSD-2-Clause
/*
 * lines.h - whole lines out of many streams into one
 *
 * A source is one rank's stdout or stderr; a sink is the launcher's. It gets whole lines, so lines
 * of different ranks do not mix.
 */
#ifndef ORIEL_LAUNCHER_LINES_H
#define ORIEL_LAUNCHER_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/byteq.h"

#define LINES_LINE_MAX_BYTES (1 << 20)  /* of an unfinished line; --help names it */
#define LINES_QUEUE_MAX_BYTES (8 << 20) /* in a sink */
#define LINES_PREFIX_MAX_BYTES 16

struct lines_source;

struct lines_sink {
	struct byteq queue;
	const struct lines_source *open_line; /* source of the unfinished line at the end, or NULL */
};

struct lines_source {
	struct lines_sink *sink;
	bool at_once; /* do not hold back unfinished lines */
	size_t prefix_size;
	char prefix[LINES_PREFIX_MAX_BYTES];
	struct byteq held; /* an unfinished line */
};

/* Adds bytes of a source. Returns 0, or -1 if memory is short or the sink's queue is full. */
int lines_feed(struct lines_source *source, const void *bytes, size_t size);

/* Passes on the unfinished line, at the end or for a prompt. Returns like lines_feed. */
int lines_flush(struct lines_source *source);

/* Adds a whole line of the launcher's own. Returns like lines_feed. */
int lines_put(struct lines_sink *sink, const char *line, size_t size);

#endif
