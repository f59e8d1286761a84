// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_fill.h - all of a memory file's pages at once, where the system promises no more than it has
 *
 * DESIGN NOTES
 *
 * Where vm.overcommit_memory is 2, a lack of memory is an error for who asks, not a signal for who
 * touches. The pages of a memory file are accounted for one by one, so asking means allocating them.
 * That there is room is looked at before, piece by piece: several ranks may be at it at once, and where
 * a control group is full the system ends a process rather than to refuse.
 */
#ifndef ORIEL_MEMORY_FILL_H
#define ORIEL_MEMORY_FILL_H

#include <stddef.h>

/* Allocate all size_bytes of a memory file of that name. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int memory_fill(const char *name, int fd, size_t size_bytes);

/* A system call has failed on such a file: the error, as a code with its text. */
int memory_file_failed(const char *name, size_t size_bytes, const char *what, int error);

#endif
