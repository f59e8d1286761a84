// SPDX-License-Identifier: BSD-2-Clause
/* solo.h - shared by programs for Oriel only: join, create a window, run an epoch */
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

/* Reports a failed call. */
int solo_fail(const char *call);

/* Reads options, joins the job, opens the JSON file. Returns 0, or main's result + 1. */
int solo_begin(struct solo *solo, const struct tool *tool, int argc, char *argv[]);
int solo_end(struct solo *solo);

/* Makes the group of ranks first to last except `without`. */
int solo_group(struct solo *solo, int first, int last, int without, oriel_group **group);

/* Runs an epoch that connects rank `hub` to all others. */
int solo_epoch_with_all(struct solo *solo, oriel_win *win, int hub);

#endif
