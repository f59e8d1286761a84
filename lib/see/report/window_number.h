/* SPDX-License-Identifier: BSD-2-Clause */
/* window_number.h - how reports name a window that has no name */
#ifndef ORIEL_SEE_WINDOW_NUMBER_H
#define ORIEL_SEE_WINDOW_NUMBER_H

#include <inttypes.h>
#include <stdio.h>

#define WINDOW_NUMBER_BYTES 24

/*
 * Writes a window's number, as messages have it. 0 is the number of windows that are left to the
 * MPI: "-". Returns text.
 */
static inline const char *window_number(uint64_t number, char text[WINDOW_NUMBER_BYTES])
{
	snprintf(text, WINDOW_NUMBER_BYTES, number ? "%" PRIu64 : "-", number);
	return text;
}

#endif
