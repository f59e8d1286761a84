// SPDX-License-Identifier: BSD-2-Clause
/* The file and rights behind an address range. */
#ifndef SOFT_BACKING_H
#define SOFT_BACKING_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns 0 if [addr, addr + length) can be registered with these rights, otherwise an errno value.
 * *fd becomes a reference to a descriptor of the one file behind it, if peers can open it and get
 * rights, otherwise -1. *offset becomes the offset of addr in the file.
 */
int soft_backing_find(const void *addr, size_t length, unsigned int access, int *fd, uint64_t *offset);
void soft_backing_put(int fd);
/* In a forked child: makes the lock anew. */
void soft_backing_forked(void);

#endif
