// SPDX-License-Identifier: BSD-2-Clause
/* Memory files that processes share: memory.c. */
#ifndef SOFT_MEMORY_H
#define SOFT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum soft_memory_writers {
	SOFT_MEMORY_OWNER_WRITES, /* no other process can write the file */
	SOFT_MEMORY_PEERS_WRITE,
};

/*
 * Returns a mapped and sealed memory file, whose first `first` bytes are allocated, or NULL with
 * errno. *fd becomes its descriptor.
 */
void *soft_memory_new(const char *name, size_t size, size_t first, enum soft_memory_writers writers, int *fd);
/*
 * Allocates element `index` of a table; elements are used in order. Only the first element in every
 * 4096 bytes costs a call. Returns 0 or an errno value.
 */
int soft_memory_grow(int fd, size_t table, size_t element, size_t index);
/* Returns the inode of a file, or 0. */
uint64_t soft_memory_inode(int fd);
/* Returns whether it is safe to map this much of another process's file. */
bool soft_memory_safe(int fd, size_t size);

#endif
