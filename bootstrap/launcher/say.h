// SPDX-License-Identifier: BSD-2-Clause
/*
 * say.h - messages of oriel-run to its user
 *
 * Each call prints one line to stderr, after "oriel-run: ", or queues it between the ranks' lines.
 */
#ifndef ORIEL_LAUNCHER_SAY_H
#define ORIEL_LAUNCHER_SAY_H

#include <stdbool.h>
#include <stddef.h>

#define SAY_LINE_MAX_BYTES 1024

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints only with -v. */
void say_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

void say_set_verbose(bool verbose);

/* Sets the function that gets the lines; NULL: stderr. */
void say_set_sink(void (*write_line)(void *arg, const char *line, size_t size), void *arg);

#endif
