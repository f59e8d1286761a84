// SPDX-License-Identifier: BSD-2-Clause
/*
 * output.c - the ranks' output; see output.h
 *
 * DESIGN NOTES The launcher's stdout and stderr must stay blocking: the shell and others share
 * them. The launcher writes only if poll reports room, and at most PIPE_BUF bytes at a time, which
 * a pipe then takes without blocking.
 *
 * If both lead to one place (a terminal, 2>&1), they share a sink, so that lines do not mix.
 *
 * A sink that is behind stops the reading of all streams that feed it. A sink that cannot be
 * written is reported once and fails the job, which goes on. If a pipe's reader is gone, the
 * streams are closed, so that the ranks get SIGPIPE. Otherwise further output is dropped.
 *
 * On a terminal an unfinished line is shown after a moment: it may be a prompt.
 */
#include "launcher/output.h"

#include "launcher/lines.h"
#include "launcher/say.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES (64 << 10)
#define SINK_HIGH_BYTES (256 << 10) /* above it streams are not read */
#define SINK_LOW_BYTES (64 << 10)   /* below it they are read again */
#define PROMPT_DELAY_S 0.2
#define FLUSH_MS 1000

static_assert(SINK_HIGH_BYTES + READ_BYTES * (LINES_PREFIX_MAX_BYTES + 1) + LINES_LINE_MAX_BYTES <
                  LINES_QUEUE_MAX_BYTES,
              "one read, all newlines, each with a prefix, fits into a sink's queue");

struct sink {
	struct lines_sink lines;
	struct output *output;
	ev_io writer; /* active while lines are queued */
	bool is_terminal;
	bool is_choked; /* its streams are not read for now */
	bool is_broken; /* it cannot be written */
	bool is_unread; /* it has no reader */
};

struct stream {
	struct lines_source source;
	struct sink *sink;
	ev_io reader; /* reader.fd is -1 before the rank is started and after the end */
	ev_timer prompt;
};

struct output {
	struct ev_loop *loop;
	const struct output_events *events;
	void *events_arg;
	int stream_count; /* two for each rank */
	int open_count;   /* streams being read */
	bool is_ending;   /* no process is left that could write */
	struct sink sinks[2];
	struct sink *out;
	struct sink *err; /* may equal out */
	char bytes[READ_BYTES];
	struct stream streams[];
};

bool output_has_ended(const struct output *output)
{
	return output->open_count == 0;
}

bool output_is_drained(const struct output *output)
{
	return output_has_ended(output) && output->sinks[0].lines.queue.size == 0 && output->sinks[1].lines.queue.size == 0;
}

static void tell_if_drained(const struct output *output)
{
	if (output_is_drained(output))
		output->events->drained(output->events_arg);
}

/* Streams. */

static void close_stream(struct stream *stream)
{
	struct output *output = stream->sink->output;

	if (stream->reader.fd < 0)
		return;
	ev_timer_stop(output->loop, &stream->prompt);
	ev_io_stop(output->loop, &stream->reader);
	ev_clear_pending(output->loop, &stream->reader);
	close(stream->reader.fd);
	ev_io_set(&stream->reader, -1, EV_READ);
	output->open_count--;
}

static void for_streams_of(struct sink *sink, void (*action)(struct stream *stream))
{
	struct output *output = sink->output;

	for (int i = 0; i < output->stream_count; i++)
		if (output->streams[i].sink == sink && output->streams[i].reader.fd >= 0)
			action(&output->streams[i]);
}

static void stop_reading(struct stream *stream)
{
	ev_io_stop(stream->sink->output->loop, &stream->reader);
}

static void start_reading(struct stream *stream)
{
	ev_io_start(stream->sink->output->loop, &stream->reader);
}

/*
 * Reads until the pipe is empty, which counts as its end, or the sink is full; unchoke continues.
 */
static void read_rest(struct stream *stream);

static void unchoke(struct sink *sink)
{
	if (!sink->is_choked)
		return;
	sink->is_choked = false;
	for_streams_of(sink, sink->output->is_ending ? read_rest : start_reading);
}

static void fail_sink(struct sink *sink, int error)
{
	struct output *output = sink->output;

	sink->is_broken = true;
	sink->is_unread = error == EPIPE;
	ev_io_stop(output->loop, &sink->writer);
	byteq_clear(&sink->lines.queue);
	if (sink->is_unread)
		for_streams_of(sink, close_stream);
	unchoke(sink);
	if (sink != output->err)
		say("cannot write to standard output: %s; what the ranks still say is lost", strerror(error));
	output->events->failed(output->events_arg, error);
}

/* Starts writing the queued lines, and stops reading if there are many. */
static void kick(struct sink *sink)
{
	if (sink->lines.queue.size > 0)
		ev_io_start(sink->output->loop, &sink->writer);
	if (!sink->is_choked && sink->lines.queue.size > SINK_HIGH_BYTES) {
		sink->is_choked = true;
		for_streams_of(sink, stop_reading);
	}
}

static void check_fed(struct sink *sink, int rc)
{
	if (sink->is_broken)
		byteq_clear(&sink->lines.queue);
	else if (rc)
		fail_sink(sink, ENOMEM);
	else
		kick(sink);
}

static void end_stream(struct stream *stream)
{
	struct sink *sink = stream->sink;

	close_stream(stream);
	check_fed(sink, lines_flush(&stream->source));
	tell_if_drained(sink->output);
}

static void set_prompt_timer(struct stream *stream)
{
	struct ev_loop *loop = stream->sink->output->loop;

	ev_timer_stop(loop, &stream->prompt);
	if (!stream->sink->is_terminal || stream->source.held.size == 0)
		return;
	ev_timer_set(&stream->prompt, PROMPT_DELAY_S, 0.);
	ev_timer_start(loop, &stream->prompt);
}

static void on_prompt(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct stream *stream = timer->data;

	(void)loop;
	(void)revents;
	check_fed(stream->sink, lines_flush(&stream->source));
}

/* Returns the number of bytes, 0 at the end, or -1 with errno. */
static ssize_t read_stream(struct stream *stream)
{
	struct output *output = stream->sink->output;
	ssize_t got;

	do
		got = read(stream->reader.fd, output->bytes, sizeof(output->bytes));
	while (got < 0 && errno == EINTR);
	if (got > 0)
		check_fed(stream->sink, lines_feed(&stream->source, output->bytes, (size_t)got));
	return got;
}

static void on_stream(struct ev_loop *loop, ev_io *reader, int revents)
{
	struct stream *stream = reader->data;
	ssize_t got = read_stream(stream);

	(void)loop;
	(void)revents;
	if (got == 0 || (got < 0 && errno != EAGAIN))
		end_stream(stream);
	else if (reader->fd >= 0)
		set_prompt_timer(stream);
	else
		tell_if_drained(stream->sink->output);
}

static void read_rest(struct stream *stream)
{
	while (stream->reader.fd >= 0 && !stream->sink->is_choked)
		if (read_stream(stream) <= 0)
			end_stream(stream);
}

/* Sinks. */

/* Returns at most PIPE_BUF, up to the last newline in there, if any. */
static size_t next_write_size(const struct byteq *queue)
{
	size_t size = queue->size < PIPE_BUF ? queue->size : PIPE_BUF;
	const uint8_t *head = byteq_head(queue);
	const uint8_t *last_end = memrchr(head, '\n', size);

	return last_end ? (size_t)(last_end - head) + 1 : size;
}

static void on_sink(struct ev_loop *loop, ev_io *writer, int revents)
{
	struct sink *sink = writer->data;
	struct byteq *queue = &sink->lines.queue;
	ssize_t written = write(writer->fd, byteq_head(queue), next_write_size(queue));

	(void)revents;
	if (written < 0 && errno != EAGAIN && errno != EINTR)
		fail_sink(sink, errno);
	if (written > 0)
		byteq_drop(queue, (size_t)written);
	if (queue->size == 0)
		ev_io_stop(loop, writer);
	if (queue->size < SINK_LOW_BYTES)
		unchoke(sink);
	tell_if_drained(sink->output);
}

static void write_own_line(void *arg, const char *line, size_t size)
{
	struct output *output = arg;

	check_fed(output->err, lines_put(&output->err->lines, line, size));
}

/* Opening and closing. */

static bool lead_to_the_same(int fd1, int fd2)
{
	struct stat st1;
	struct stat st2;

	return fstat(fd1, &st1) == 0 && fstat(fd2, &st2) == 0 && st1.st_dev == st2.st_dev && st1.st_ino == st2.st_ino;
}

static void init_sink(struct output *output, struct sink *sink, int fd)
{
	sink->output = output;
	sink->is_terminal = isatty(fd);
	ev_io_init(&sink->writer, on_sink, fd, EV_WRITE);
	sink->writer.data = sink;
}

static void init_stream(struct stream *stream, struct sink *sink, int rank, int size, bool prefix)
{
	stream->sink = sink;
	stream->source.sink = &sink->lines;
	stream->source.at_once = size == 1 && !prefix;
	if (prefix)
		stream->source.prefix_size =
			(size_t)snprintf(stream->source.prefix, sizeof(stream->source.prefix), "[%d] ", rank);
	ev_io_init(&stream->reader, on_stream, -1, EV_READ);
	ev_timer_init(&stream->prompt, on_prompt, 0., 0.);
	stream->reader.data = stream;
	stream->prompt.data = stream;
}

struct output *output_open(struct ev_loop *loop, int size, bool prefix, const struct output_events *events, void *arg)
{
	struct output *output = calloc(1, sizeof(*output) + 2 * (size_t)size * sizeof(output->streams[0]));

	if (!output)
		return NULL;
	output->loop = loop;
	output->events = events;
	output->events_arg = arg;
	output->stream_count = 2 * size;
	init_sink(output, &output->sinks[0], STDOUT_FILENO);
	init_sink(output, &output->sinks[1], STDERR_FILENO);
	output->out = &output->sinks[0];
	output->err = &output->sinks[lead_to_the_same(STDOUT_FILENO, STDERR_FILENO) ? 0 : 1];
	for (int rank = 0; rank < size; rank++) {
		init_stream(&output->streams[2 * rank], output->out, rank, size, prefix);
		init_stream(&output->streams[2 * rank + 1], output->err, rank, size, prefix);
	}
	say_set_sink(write_own_line, output);
	return output;
}

static void add_stream(struct stream *stream, int fd)
{
	if (stream->sink->is_unread) {
		close(fd);
		return;
	}
	stream->sink->output->open_count++;
	ev_io_set(&stream->reader, fd, EV_READ);
	if (!stream->sink->is_choked)
		start_reading(stream);
}

void output_add(struct output *output, int rank, int out_fd, int err_fd)
{
	add_stream(&output->streams[2 * rank], out_fd);
	add_stream(&output->streams[2 * rank + 1], err_fd);
}

void output_end(struct output *output)
{
	output->is_ending = true;
	for_streams_of(output->out, read_rest);
	if (output->err != output->out)
		for_streams_of(output->err, read_rest);
}

/* Writes what waits, if it can be written soon: the texts of a job that could not begin. */
static void flush_sink(struct sink *sink)
{
	struct byteq *queue = &sink->lines.queue;
	struct pollfd ready = { .fd = sink->writer.fd, .events = POLLOUT };

	while (queue->size > 0 && poll(&ready, 1, FLUSH_MS) == 1) {
		ssize_t written = write(sink->writer.fd, byteq_head(queue), next_write_size(queue));

		if (written <= 0)
			return;
		byteq_drop(queue, (size_t)written);
	}
}

void output_close(struct output *output)
{
	if (!output)
		return;
	say_set_sink(NULL, NULL);
	flush_sink(output->err);
	for (int i = 0; i < output->stream_count; i++) {
		close_stream(&output->streams[i]);
		byteq_clear(&output->streams[i].source.held);
	}
	for (int i = 0; i < 2; i++) {
		ev_io_stop(output->loop, &output->sinks[i].writer);
		byteq_clear(&output->sinks[i].lines.queue);
	}
	free(output);
}
