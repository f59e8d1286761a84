// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_file.h - memory that a device which shares memory can map too
 *
 * DESIGN NOTES
 *
 * Memory of a file that shrinks, or that the machine cannot provide when it is touched, ends the
 * process that touches it with SIGBUS; and the peers that have mapped it. So the file is sealed
 * against shrinking, which peers can check, and all of it is allocated when it is made. That there
 * is room is looked at before, piece by piece: several ranks may be at it at once, and where a
 * control group is full the system ends a process rather than to refuse.
 */
#ifndef ORIEL_MEMORY_FILE_H
#define ORIEL_MEMORY_FILE_H

#include <stddef.h>

/*
 * Map size_bytes of zeroed memory from a memory file of that name, sealed where the system can.
 * Unmap with munmap and close(*fd); on failure *base is NULL. ERRORS: ORIEL_ERR_MEMORY,
 * ORIEL_ERR_LIMIT.
 */
int map_memory_file(const char *name, size_t size_bytes, void **base, int *fd);

#endif
