// SPDX-License-Identifier: BSD-2-Clause
/* json.h - a program's JSON file: one object, which ends with a list of rows */
#ifndef ORIEL_PERF_JSON_H
#define ORIEL_PERF_JSON_H

#include <stdio.h>

#include "bench/backend.h"

/*
 * Returns the file, written up to its rows, or NULL: without --out_json, or after printing why it
 * cannot be written (*failed is 1). A row is an object; a comma precedes all but the first.
 */
FILE *json_begin(const char *tool, const char *by, const struct perf_options *options, const struct perf_place *place,
                 int *failed);

/* Ends and closes the file. Returns 0, or 1 after printing why it cannot be written. */
int json_end(FILE *f, const struct perf_options *options);

#endif
