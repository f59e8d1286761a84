// SPDX-License-Identifier: BSD-2-Clause
/* Memory files that processes share. See memory.c. */
#ifndef SOFT_MEMORY_H
#define SOFT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum soft_memory_writers {
	SOFT_MEMORY_OWNER_WRITES, /* nobody else can write the file, or map it to write */
	SOFT_MEMORY_PEERS_WRITE,
};

/*
 * A sealed memory file of this size, mapped, whose first `first` bytes are allocated; NULL with
 * errno. *fd is for peers to map.
 */
void *soft_memory_new(const char *name, size_t size, size_t first, enum soft_memory_writers writers, int *fd);
/*
 * Allocate the next element of a table in a file, `index` of elements that are used in order. 0 or
 * an errno value; only the first one in every 4096 bytes has something to do.
 */
int soft_memory_grow(int fd, size_t table, size_t element, size_t index);
/* The number of a file, the same for all who have it open; 0: there is none. */
uint64_t soft_memory_inode(int fd);
/* Is it safe to map this much of a file that another process owns? */
bool soft_memory_safe(int fd, size_t size);

#endif
