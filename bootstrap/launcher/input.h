// SPDX-License-Identifier: BSD-2-Clause
/*
 * input.h - rank 0's standard input
 *
 * Rank 0 inherits stdin as it is, unless it is a terminal: reading would stop rank 0, whose process
 * group is not in the foreground. So the launcher relays the terminal through a pipe.
 */
#ifndef ORIEL_LAUNCHER_INPUT_H
#define ORIEL_LAUNCHER_INPUT_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#define INPUT_BYTES 4096

struct input {
	struct ev_loop *loop;
	int rank_fd;      /* what rank 0 inherits; closed by input_rank_started */
	bool is_relayed;  /* stdin is a terminal */
	ev_io reader;     /* the terminal; active while size is 0 and this is the foreground job */
	ev_io writer;     /* the pipe; active while size is not 0 */
	ev_timer recheck; /* active while another job is in the foreground */
	char bytes[INPUT_BYTES];
	size_t start;
	size_t size; /* bytes not yet written to the pipe */
};

/* Makes input_close safe before input_open. */
void input_init(struct input *input, struct ev_loop *loop);

/* Returns 0, or -1 with a message. */
int input_open(struct input *input);

/* Called once rank 0 has inherited rank_fd. */
void input_rank_started(struct input *input);

void input_close(struct input *input);

#endif
