/* SPDX-License-Identifier: BSD-2-Clause */
/* spawn.h - running the program that writes a report */
#ifndef ORIEL_SEE_SPAWN_H
#define ORIEL_SEE_SPAWN_H

/* Runs a program, without LD_PRELOAD, until it ends. Returns 0, or why it cannot be run. */
int spawn_and_wait(const char *program, char *const arguments[]);

#endif
