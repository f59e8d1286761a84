// SPDX-License-Identifier: BSD-2-Clause
/* options.h - the command line, with perftest's letters */
#ifndef ORIEL_PERF_OPTIONS_H
#define ORIEL_PERF_OPTIONS_H

#include "bench/backend.h"
#include "bench/tool.h"

#define OPTIONS_HELP (-1)

/*
 * Reads argv into *options, with the tool's defaults. Returns 0, OPTIONS_HELP after printing help
 * or version, or 2 after printing which option is wrong or unsupported by this backend.
 */
int perf_options_parse(struct perf_options *options, const struct tool *which, const struct perf_backend *by, int argc,
                       char *argv[]);

const char *sync_name(enum perf_sync sync);
const char *lock_name(enum perf_lock lock);
const char *type_name(enum perf_type type);
const char *window_name(enum perf_window window);
const char *memory_name(enum perf_memory memory);

size_t perf_options_largest(const struct perf_options *options);

#endif
