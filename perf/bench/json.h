// SPDX-License-Identifier: BSD-2-Clause
/* json.h - the JSON file that a program writes: one object, which ends with a list of rows */
#ifndef ORIEL_PERF_JSON_H
#define ORIEL_PERF_JSON_H

#include <stdio.h>

#include "bench/backend.h"

/*
 * The file, with everything up to its rows written; NULL without --out_json, or (*failed is 1)
 * after telling why it cannot be written. A row is an object; the second and further ones are
 * preceded by a comma.
 */
FILE *json_begin(const char *tool, const char *by, const struct perf_options *options, const struct perf_place *place,
                 int *failed);

/* End and close it. Returns 0, or 1 after telling why it cannot be written. */
int json_end(FILE *f, const struct perf_options *options);

#endif
