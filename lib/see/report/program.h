/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program.h - what oriel-see, oriel-check and oriel-top have in common
 *
 * Each defines program_name, which stands in front of its messages.
 */
#ifndef ORIEL_SEE_PROGRAM_H
#define ORIEL_SEE_PROGRAM_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

extern const char program_name[];

/* Prints a line, and ends the program. */
void program_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Grows a list by one entry of zeroes, and returns that. Ends the program if there is no memory. */
void *program_append(void *list, uint32_t *count, uint32_t *capacity, size_t size_bytes);

/*
 * Finds a file of lib/see beside the folder of this program, or where it is installed. Ends
 * this program with a message if it is not there.
 */
void program_file(const char *library, char path[PATH_MAX]);

/* Preloads a library, if it is there, beside what program_start puts before it. */
void program_preload(const char *front);

/*
 * Executes another program with a front preloaded, which is such a library. The variable names
 * this program, which the front runs at the end. Ends this program with a message if it cannot.
 */
void program_start(const char *front, const char *variable, char **program) __attribute__((noreturn));

#endif
