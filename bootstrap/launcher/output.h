// SPDX-License-Identifier: BSD-2-Clause
/*
 * output.h - the ranks' stdout and stderr, read from pipes and written to the launcher's own
 *
 * Never blocks: while the launcher's reader is slow, the ranks' pipes are not read, and the ranks
 * wait as they would without a launcher.
 */
#ifndef ORIEL_LAUNCHER_OUTPUT_H
#define ORIEL_LAUNCHER_OUTPUT_H

#include <ev.h>
#include <stdbool.h>

struct output;

struct output_events {
	/* All streams have ended and everything is written; may be called again. */
	void (*drained)(void *arg);
	/* stdout or stderr cannot be written any more, with this errno; EPIPE: nobody reads it. Told of already. */
	void (*failed)(void *arg, int error);
};

/* NULL if memory is short. From here on say() goes through it. */
struct output *output_open(struct ev_loop *loop, int size, bool prefix, const struct output_events *events, void *arg);

/* Relay a rank's pipes, which do not block; they are closed at their end. */
void output_add(struct output *output, int rank, int out_fd, int err_fd);

/* Every pipe has ended. */
bool output_has_ended(const struct output *output);

/* Every pipe has ended, and everything is written. */
bool output_is_drained(const struct output *output);

/*
 * Nobody who could write is left: take what is in the pipes, as fast as it can be written, and
 * close them.
 */
void output_end(struct output *output);

void output_close(struct output *output);

#endif
