// SPDX-License-Identifier: BSD-2-Clause
/* solo.h - what the programs that only exist on Oriel share: joining, a window, an epoch with everybody */
#ifndef ORIEL_PERF_SOLO_H
#define ORIEL_PERF_SOLO_H

#include <oriel.h>
#include <stdio.h>

#include "bench/options.h"

struct solo {
	struct perf_options options;
	struct perf_place place;
	oriel_job *job;
	oriel_group *world;
	FILE *json;
	int rows;
};

/* After a failed call. */
int solo_fail(const char *call);

/* Options, job, JSON file. Returns 0, or what main is to return + 1. */
int solo_begin(struct solo *solo, const struct tool *tool, int argc, char *argv[]);
int solo_end(struct solo *solo);

/* Ranks first to last but `without`. */
int solo_group(struct solo *solo, int first, int last, int without, oriel_group **group);

/* An epoch in which rank `hub` reaches every other: connects it with all of them. */
int solo_epoch_with_all(struct solo *solo, oriel_win *win, int hub);

#endif
