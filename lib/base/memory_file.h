// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_file.h - memory that a device which shares memory can map too
 *
 * DESIGN NOTES
 *
 * A memory file costs what malloc costs: no page before it is touched, and what is touched when the
 * machine or a control group is full is nobody's error that could be told. What can be known before is:
 * a request that is larger than the machine, a control group's or the process's limits is refused. These
 * limits are read once in a process, but for RLIMIT_FSIZE, beyond which the system sends a signal.
 * Where the system promises no more memory than it has, all of it is allocated when it is made
 * (memory_fill.h): there a page that is lacking ends who touches it with SIGBUS, and the peers that have
 * mapped it, though malloc would have refused.
 *
 * Memory of a file that shrinks ends them too, so the file is sealed against shrinking, which peers can
 * check. A peer may have it mapped longer than its owner: what is unmapped here gives its pages back,
 * whoever else has the file.
 */
#ifndef ORIEL_MEMORY_FILE_H
#define ORIEL_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Map size_bytes of zeroed memory from a memory file of that name, sealed where the system can; size_bytes is
 * not 0. On failure *base is NULL. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int map_memory_file(const char *name, size_t size_bytes, void **base, int *fd);

/* Undo it. */
void unmap_memory_file(void *base, size_t size_bytes, int fd);

/* All zeroes again, without touching what nobody has touched. */
void zero_memory_file(void *base, size_t size_bytes, int fd);

/* Copy the file, mapped at `base`, to zeroed memory. Untouched pages stay untouched on both sides. */
void copy_memory_file(void *to, const void *base, size_t size_bytes, int fd);

/* Whether a file gets all its pages when it is made: vm.overcommit_memory is 2. */
bool memory_files_are_filled(void);

/* Give the pages back; a peer that still has the file mapped finds zeroes. */
void empty_memory_file(int fd, size_t size_bytes);

#endif
