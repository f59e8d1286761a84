// SPDX-License-Identifier: BSD-2-Clause
/*
 * say.h - what oriel-run itself has to say to its user
 *
 * Each call is one line on stderr, with "oriel-run: " in front. While ranks' output is relayed the
 * line takes its turn among their lines.
 */
#ifndef ORIEL_LAUNCHER_SAY_H
#define ORIEL_LAUNCHER_SAY_H

#include <stdbool.h>
#include <stddef.h>

#define SAY_LINE_MAX_BYTES 1024

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Only with -v. */
void say_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

void say_set_verbose(bool verbose);

/* Where lines go; NULL: straight to stderr. */
void say_set_sink(void (*write_line)(void *arg, const char *line, size_t size), void *arg);

#endif
