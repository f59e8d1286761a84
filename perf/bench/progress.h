// SPDX-License-Identifier: BSD-2-Clause
/*
 * progress.h - a line that tells how far a long run is, where somebody watches
 *
 * It goes to stderr if that is a terminal, or else to the stderr of the parent process if that is
 * one: launchers pass on whole lines only.
 */
#ifndef ORIEL_PERF_PROGRESS_H
#define ORIEL_PERF_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	uint64_t next; /* ticks after which the line is to be shown; UINT64_MAX: nobody watches */
	int fd;
	bool shown;
};

void progress_begin(struct progress *progress, bool wanted);
void progress_show(struct progress *progress, size_t size_bytes, long operations);
void progress_clear(struct progress *progress);

#endif
