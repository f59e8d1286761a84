// SPDX-License-Identifier: BSD-2-Clause
/*
 * shortage.h - errors of the system that say that this process has used up something
 *
 * Once something is given back, the call can be repeated.
 */
#ifndef ORIEL_SHORTAGE_H
#define ORIEL_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>

#define SHORTAGE_TEXT_BYTES 256

/* Returns whether an errno value is one of them. */
bool is_shortage(int error);

/* Returns ORIEL_ERR_LIMIT for descriptors, ORIEL_ERR_MEMORY for memory. */
int shortage_code(int error);

/*
 * Writes what is short, the limit that was met, and the way out. pinned: for a device that pins
 * memory, which the locked-memory limit bounds.
 */
void shortage_text(int error, bool pinned, char *text, size_t text_bytes);

/* Writes why pthread_create has returned an error, and the limit. */
void thread_text(int error, char *text, size_t text_bytes);

#endif
