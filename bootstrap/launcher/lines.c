// SPDX-License-Identifier: BSD-2-Clause
/*
 * lines.c - whole lines out of many streams into one; see lines.h
 *
 * DESIGN NOTES An unfinished line is held back until its end comes. It goes out unfinished if it
 * gets too long, if its source ends, or on request. The sink remembers the source of an unfinished
 * line at its end. This source continues without a new prefix; any other begins with a newline, so
 * no line comes from two ranks. An at_once source is the only rank: nothing is inserted for it.
 */
#include "launcher/lines.h"

#include <string.h>

static int queue(struct lines_sink *sink, const void *bytes, size_t size)
{
	return byteq_append(&sink->queue, bytes, size, LINES_QUEUE_MAX_BYTES);
}

static int end_open_line(struct lines_sink *sink)
{
	int rc = sink->open_line ? queue(sink, "\n", 1) : 0;

	sink->open_line = NULL;
	return rc;
}

/* Queues one line, or several if the source has no prefix. */
static int pass_on(struct lines_source *source, const char *bytes, size_t size)
{
	struct lines_sink *sink = source->sink;

	if (size == 0)
		return 0;
	if (sink->open_line != source && !source->at_once) {
		if (end_open_line(sink) != 0 || queue(sink, source->prefix, source->prefix_size) != 0)
			return -1;
	}
	sink->open_line = bytes[size - 1] == '\n' ? NULL : source;
	return queue(sink, bytes, size);
}

static int pass_on_lines(struct lines_source *source, const char *bytes, size_t size)
{
	while (source->prefix_size > 0 && size > 0) {
		const char *end = memchr(bytes, '\n', size);
		size_t line_size = end ? (size_t)(end - bytes) + 1 : size;

		if (pass_on(source, bytes, line_size) != 0)
			return -1;
		bytes += line_size;
		size -= line_size;
	}
	return pass_on(source, bytes, size);
}

int lines_flush(struct lines_source *source)
{
	int rc = 0;

	if (source->held.size > 0)
		rc = pass_on_lines(source, (const char *)byteq_head(&source->held), source->held.size);
	byteq_clear(&source->held);
	return rc;
}

static int hold(struct lines_source *source, const char *bytes, size_t size)
{
	if (byteq_append(&source->held, bytes, size, LINES_LINE_MAX_BYTES) == 0)
		return 0;
	return lines_flush(source) == 0 ? pass_on_lines(source, bytes, size) : -1;
}

int lines_feed(struct lines_source *source, const void *bytes, size_t size)
{
	const char *at = bytes;
	const char *last_end = memrchr(at, '\n', size);
	size_t whole = source->at_once ? size : last_end ? (size_t)(last_end - at) + 1 : 0;

	if (whole > 0 && source->held.size > 0) {
		const char *first_end = memchr(at, '\n', whole);
		size_t rest = first_end ? (size_t)(first_end - at) + 1 : whole;

		if (hold(source, at, rest) != 0 || lines_flush(source) != 0)
			return -1;
		at += rest;
		whole -= rest;
		size -= rest;
	}
	if (pass_on_lines(source, at, whole) != 0)
		return -1;
	return size > whole ? hold(source, at + whole, size - whole) : 0;
}

int lines_put(struct lines_sink *sink, const char *line, size_t size)
{
	return end_open_line(sink) == 0 ? queue(sink, line, size) : -1;
}
