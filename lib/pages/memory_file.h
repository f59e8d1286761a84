// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_file.h - memory that a device which shares memory can map too
 *
 * DESIGN NOTES
 *
 * A memory file costs what malloc costs: it has no page before it is touched. If the machine or a
 * control group is full at that touch, no call can report it. So a request larger than a limit of
 * the machine, a control group or the process is refused. These limits are read once per process,
 * except RLIMIT_FSIZE, beyond which the system sends a signal. If the system promises no more
 * memory than it has, all pages are allocated when the file is made (memory_fill.h): otherwise a
 * missing page would end the process that touches it, and the peers that have mapped it, with
 * SIGBUS, though malloc would have refused.
 *
 * Memory of a file that shrinks ends them too, so the file is sealed against shrinking, which peers
 * can check. A peer may have it mapped longer than its owner, so unmapping gives the pages back.
 */
#ifndef ORIEL_MEMORY_FILE_H
#define ORIEL_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Maps size_bytes (not 0) of zeroed memory from a memory file of that name, sealed if the system
 * can. On failure *base is NULL. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int map_memory_file(const char *name, size_t size_bytes, void **base, int *fd);

void unmap_memory_file(void *base, size_t size_bytes, int fd);

/* Sets all bytes to zero without touching untouched pages. */
void zero_memory_file(void *base, size_t size_bytes, int fd);

/*
 * Copies the file, mapped at `base`, to zeroed memory. Untouched pages stay untouched on both
 * sides.
 */
void copy_memory_file(void *to, const void *base, size_t size_bytes, int fd);

/* Returns whether a file gets all its pages when it is made: vm.overcommit_memory is 2. */
bool memory_files_are_filled(void);

/* Gives the pages back; a peer that still has the file mapped reads zeroes. */
void empty_memory_file(int fd, size_t size_bytes);

#endif
