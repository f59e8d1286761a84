// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_file.h - memory that a device which shares memory can map, too
 *
 * DESIGN NOTES
 *
 * A memory file has no page before it is touched. If the machine or a control group is full at that
 * touch, no call can report it. So a request larger than a limit of the machine, a control group or
 * the process is refused. These limits are read once per process, except RLIMIT_FSIZE. If the
 * system promises no more memory than it has, all pages are allocated when the file is made
 * (memory_file.c): a missing page would end the process that touches it, and its peers, with
 * SIGBUS.
 *
 * A file that shrinks ends them, too, so it is sealed against shrinking, which peers can check. A
 * peer may have it mapped longer than its owner, so unmapping gives the pages back.
 */
#ifndef ORIEL_MEMORY_FILE_H
#define ORIEL_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Maps size_bytes > 0 of zeroed memory from a memory file of that name, sealed if possible. On
 * failure *base is NULL. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int map_memory_file(const char *name, size_t size_bytes, void **base, int *fd);

void unmap_memory_file(void *base, size_t size_bytes, int fd);

/* Sets all bytes to zero, but leaves untouched pages untouched. */
void zero_memory_file(void *base, size_t size_bytes, int fd);

/* Copies the file, mapped at `base`, to zeroed memory, except untouched pages. */
void copy_memory_file(void *to, const void *base, size_t size_bytes, int fd);

/* Returns whether a file gets all its pages when it is made. */
bool memory_files_are_filled(void);

/* Gives the pages back. A peer that has the file mapped reads zeroes. */
void empty_memory_file(int fd, size_t size_bytes);

/* memory_room.c: how much memory this process can have, until others take it */

/* The rest of a limit, or the whole limit. */
enum memory_part { MEMORY_LEFT, MEMORY_IN_ALL };

struct memory_room {
	uint64_t bytes;       /* UINT64_MAX: unknown */
	uint64_t limit_bytes; /* the limit that leaves these */
	char limit[192];
};

/*
 * Sets *room to the smallest room of the machine and of each control group around the process. root
 * stands before the paths of /proc and /sys; "" for the true ones.
 */
void memory_room(const char *root, enum memory_part part, struct memory_room *room);

/* Returns whether the system promises no more memory than it has: vm.overcommit_memory is 2. */
bool memory_is_strict(const char *root);

/*
 * Allocates all pages of a memory file, if memory_is_strict
 *
 * The system accounts for the pages of a memory file one by one. Room is checked before each piece:
 * if a control group is full the system ends a process rather than refuse.
 */

/* Allocates all of a memory file of that name. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT. */
int memory_fill(const char *name, int fd, size_t size_bytes);

/* Sets the text for a system call that has failed on such a file, and returns the code. */
int memory_file_failed(const char *name, size_t size_bytes, const char *what, int error);

/*
 * memory_node.c: memory that peers map lies on its owner's NUMA node
 *
 * By default Linux places a page on the node of the thread that touches it first, which may be a
 * peer's. So the pages get a policy: the node on which the owner runs now, or the owner's own
 * policy (numactl, set_mempolicy). It belongs to the file, and holds for all processes.
 */

/*
 * Places the pages that begin in the range, whose file is shared, on the calling thread's node.
 * Does nothing if the system forbids it.
 */
void memory_node_bind(void *base, size_t size_bytes);

#endif
