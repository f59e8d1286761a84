// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_fill.h - allocates all pages of a memory file, if the system promises no more than it has
 *
 * DESIGN NOTES
 *
 * If vm.overcommit_memory is 2, a lack of memory is an error of the call that asks, not a signal at
 * a touch. The system accounts for the pages of a memory file one by one, so asking means
 * allocating. Room is checked before each piece: several ranks may allocate at once, and if a
 * control group is full the system ends a process rather than refuse.
 */
#ifndef ORIEL_MEMORY_FILL_H
#define ORIEL_MEMORY_FILL_H

#include <stddef.h>

/*
 * Allocates all size_bytes of a memory file of that name. ERRORS: ORIEL_ERR_MEMORY,
 * ORIEL_ERR_LIMIT.
 */
int memory_fill(const char *name, int fd, size_t size_bytes);

/* Reports a system call that has failed on such a file: sets the text and returns the code. */
int memory_file_failed(const char *name, size_t size_bytes, const char *what, int error);

#endif
