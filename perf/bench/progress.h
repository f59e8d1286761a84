// SPDX-License-Identifier: BSD-2-Clause
/*
 * progress.h - a progress line for long runs, if there is a terminal
 *
 * It goes to stderr if that is a terminal, else to the parent process's stderr if that is one,
 * because launchers forward whole lines only.
 */
#ifndef ORIEL_PERF_PROGRESS_H
#define ORIEL_PERF_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	uint64_t next; /* ticks after which the line appears; UINT64_MAX without a terminal */
	int fd;
	bool shown;
};

void progress_begin(struct progress *progress, bool wanted);
void progress_show(struct progress *progress, size_t size_bytes, long operations);
void progress_clear(struct progress *progress);

#endif
