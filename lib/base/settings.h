// SPDX-License-Identifier: BSD-2-Clause
/*
 * settings.h - reads settings from the environment, strictly
 *
 * A variable that is unset or empty leaves *value as it was. One that cannot be read is an error
 * that names variable, value, and what is legal. ERRORS of all: ORIEL_ERR_ARG.
 */
#ifndef ORIEL_SETTINGS_H
#define ORIEL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads seconds ("10", "0.5") as milliseconds; 0: no limit. */
int setting_seconds(const char *variable, int *value_ms);

/* 0: no limit. */
int setting_bytes(const char *variable, size_t *value_bytes);

int setting_seed(const char *variable, uint64_t *value);

/* Sets the index of the value in words, which end with NULL. */
int setting_word(const char *variable, const char *const words[], int *value);

/*
 * Messages of the library on standard error (ORIEL_VERBOSE)
 *
 * Otherwise the library is silent, except for the watchdog. Each oriel_init reads the process's
 * setting.
 */

/* Reads ORIEL_VERBOSE. ERRORS: ORIEL_ERR_ARG. */
int tell_open(void);

/* Returns whether routes of single operations are wanted (ORIEL_VERBOSE=2). */
bool tell_has_routes(void);

/* Prints one line, with "oriel: rank 3: " in front, if wanted. */
void tell(int rank, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints such a line in any case. */
void tell_always(int rank, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints one line that concerns no job, with "oriel: process 4711: " in front. */
void tell_of_process(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
