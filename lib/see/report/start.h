/* SPDX-License-Identifier: BSD-2-Clause */
/* start.h - runs a program with the front preloaded */
#ifndef ORIEL_SEE_START_H
#define ORIEL_SEE_START_H

#include <stdbool.h>

/* Executes the program. Ends this one with a message if it cannot. */
void start(const char *formats, char **program) __attribute__((noreturn));

/* Returns whether a format is among those of the starter; without a starter, all are. */
bool start_wants(const char *format);

#endif
