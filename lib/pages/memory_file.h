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
 * memory than it has, all pages are allocated when the file is made (memory_fill.c): otherwise a
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
#include <stdint.h>

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

/*
 * memory_room.c: how much memory this process can have
 *
 * If promised shared memory is missing at its first touch, or a control group is full, a signal
 * ends the process. So the library asks before, and the answer names the limit. The room that is
 * left holds for a moment: others may take it meanwhile.
 */

/* Which part of a limit counts: what is left of it now, or all of it. */
enum memory_part { MEMORY_LEFT, MEMORY_IN_ALL };

struct memory_room {
	uint64_t bytes;       /* that can be had; UINT64_MAX: unknown */
	uint64_t limit_bytes; /* the limit that leaves these */
	char limit[192];
};

/*
 * Sets *room to the smallest room of the machine and of each control group around the process. root
 * stands before the paths of /proc and /sys, "" for the true ones.
 */
void memory_room(const char *root, enum memory_part part, struct memory_room *room);

/* Returns whether the system promises no more memory than it has (vm.overcommit_memory is 2). */
bool memory_is_strict(const char *root);

/*
 * memory_fill.c: allocates all pages of a memory file, if the system promises no more than it has
 *
 * DESIGN NOTES
 *
 * If vm.overcommit_memory is 2, a lack of memory is an error of the call that asks, not a signal at
 * a touch. The system accounts for the pages of a memory file one by one, so asking means
 * allocating. Room is checked before each piece: several ranks may allocate at once, and if a
 * control group is full the system ends a process rather than refuse.
 */

/*
 * Allocates all size_bytes of a memory file of that name. ERRORS: ORIEL_ERR_MEMORY,
 * ORIEL_ERR_LIMIT.
 */
int memory_fill(const char *name, int fd, size_t size_bytes);

/* Reports a system call that has failed on such a file: sets the text and returns the code. */
int memory_file_failed(const char *name, size_t size_bytes, const char *what, int error);

/*
 * memory_node.c: memory that peers map lies on its owner's NUMA node
 *
 * DESIGN NOTES
 *
 * By default Linux places a page on the node of the thread that touches it first. If several
 * processes map the memory, that thread may be a peer's, and the owner then works on remote memory.
 * So the pages get a policy: the node on which the owner runs now, or the owner's own policy
 * (numactl, set_mempolicy). The policy belongs to the file, and holds whichever process touches a
 * page.
 */

/*
 * Places the pages that begin in the range, whose file is shared, on the calling thread's node.
 * Existing pages stay where they are. Does nothing on a machine of one node, or if the system does
 * not allow it.
 */
void memory_node_bind(void *base, size_t size_bytes);

#endif
