// SPDX-License-Identifier: BSD-2-Clause
/*
 * input.c - rank 0's standard input; see input.h
 *
 * DESIGN NOTES Reading a terminal while another job is in its foreground would stop the launcher,
 * so it reads only while its own process group is the foreground one. No event reports that change,
 * so the launcher checks every half second while input waits.
 */
#include "launcher/input.h"

#include "launcher/say.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define RECHECK_S 0.5

static void end_input(struct input *input)
{
	ev_io_stop(input->loop, &input->reader);
	ev_io_stop(input->loop, &input->writer);
	ev_timer_stop(input->loop, &input->recheck);
	if (input->writer.fd >= 0)
		close(input->writer.fd);
	ev_io_set(&input->writer, -1, EV_WRITE);
}

static bool is_foreground(void)
{
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void on_recheck(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct input *input = timer->data;

	(void)revents;
	ev_io_start(loop, &input->reader);
}

static void wait_for_foreground(struct input *input)
{
	ev_io_stop(input->loop, &input->reader);
	ev_timer_set(&input->recheck, RECHECK_S, 0.);
	ev_timer_start(input->loop, &input->recheck);
}

static void on_terminal(struct ev_loop *loop, ev_io *reader, int revents)
{
	struct input *input = reader->data;
	ssize_t got;

	(void)revents;
	if (!is_foreground()) {
		wait_for_foreground(input);
		return;
	}
	got = read(reader->fd, input->bytes, sizeof(input->bytes));
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		end_input(input);
		return;
	}
	input->start = 0;
	input->size = (size_t)got;
	ev_io_stop(loop, reader);
	ev_io_start(loop, &input->writer);
}

static void on_pipe(struct ev_loop *loop, ev_io *writer, int revents)
{
	struct input *input = writer->data;
	ssize_t written = write(writer->fd, input->bytes + input->start, input->size);

	(void)revents;
	if (written < 0 && errno != EINTR && errno != EAGAIN) {
		end_input(input);
		return;
	}
	if (written > 0) {
		input->start += (size_t)written;
		input->size -= (size_t)written;
	}
	if (input->size == 0) {
		ev_io_stop(loop, writer);
		ev_io_start(loop, &input->reader);
	}
}

static int open_relay(struct input *input)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) {
		say("no pipe for rank 0's standard input: %s", strerror(errno));
		return -1;
	}
	input->rank_fd = ends[0];
	ev_io_set(&input->writer, ends[1], EV_WRITE);
	return 0;
}

static int duplicate_stdin(struct input *input)
{
	input->rank_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (input->rank_fd >= 0)
		return 0;
	say("cannot pass standard input on: %s", strerror(errno));
	return -1;
}

void input_init(struct input *input, struct ev_loop *loop)
{
	memset(input, 0, sizeof(*input));
	input->loop = loop;
	input->rank_fd = -1;
	input->is_relayed = isatty(STDIN_FILENO);
	ev_io_init(&input->reader, on_terminal, STDIN_FILENO, EV_READ);
	ev_io_init(&input->writer, on_pipe, -1, EV_WRITE);
	ev_timer_init(&input->recheck, on_recheck, 0., 0.);
	input->reader.data = input;
	input->writer.data = input;
	input->recheck.data = input;
}

int input_open(struct input *input)
{
	return input->is_relayed ? open_relay(input) : duplicate_stdin(input);
}

void input_rank_started(struct input *input)
{
	if (input->rank_fd < 0)
		return;
	close(input->rank_fd);
	input->rank_fd = -1;
	if (input->is_relayed)
		ev_io_start(input->loop, &input->reader);
}

void input_close(struct input *input)
{
	if (input->rank_fd >= 0)
		close(input->rank_fd);
	input->rank_fd = -1;
	end_input(input);
}
