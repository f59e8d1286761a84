// SPDX-License-Identifier: BSD-2-Clause
/*
 * output.h - relays the ranks' stdout and stderr to the launcher's own
 *
 * It never blocks. While the launcher's reader is slow, the ranks' pipes are not read.
 */
#ifndef ORIEL_LAUNCHER_OUTPUT_H
#define ORIEL_LAUNCHER_OUTPUT_H

#include <ev.h>
#include <stdbool.h>

struct output;

struct output_events {
	/* All streams have ended and everything is written; may be called again. */
	void (*drained)(void *arg);
	/* stdout or stderr fails with this errno (EPIPE: no reader). Reported, unless it is stderr. */
	void (*failed)(void *arg, int error);
};

/* Returns NULL if memory is short. From here on say() writes through it. */
struct output *output_open(struct ev_loop *loop, int size, bool prefix, const struct output_events *events, void *arg);

/* Relays a rank's non-blocking pipes and closes them at their end. */
void output_add(struct output *output, int rank, int out_fd, int err_fd);

bool output_has_ended(const struct output *output);

/* Returns whether every pipe has ended and everything is written. */
bool output_is_drained(const struct output *output);

/* Reads and closes all pipes, as fast as output can be written. No process is left to write. */
void output_end(struct output *output);

void output_close(struct output *output);

#endif
