// SPDX-License-Identifier: BSD-2-Clause
/*
 * settings.h - reads settings from the environment, strictly
 *
 * A variable that is unset or empty leaves *value as it was. One that cannot be read is an error
 * that names the variable, its value, and what is legal: otherwise only a program that hangs would
 * reveal a misspelt limit. ERRORS of all: ORIEL_ERR_ARG.
 */
#ifndef ORIEL_SETTINGS_H
#define ORIEL_SETTINGS_H

#include <stddef.h>

/* Reads seconds, whole or with a fraction ("10", "0.5"), as milliseconds; 0: no limit. */
int setting_seconds(const char *variable, int *value_ms);

/* Reads a number of bytes; 0: no limit. */
int setting_bytes(const char *variable, size_t *value_bytes);

/* Reads one of some words, as its place among them; the list ends with NULL. */
int setting_word(const char *variable, const char *const words[], int *value);

#endif
