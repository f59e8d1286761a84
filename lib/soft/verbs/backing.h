// SPDX-License-Identifier: BSD-2-Clause
/* What lies under an address range. */
#ifndef SOFT_BACKING_H
#define SOFT_BACKING_H

#include <stddef.h>
#include <stdint.h>

/*
 * 0 if [addr, addr + length) can be registered with these rights, else an errno value. *fd is a
 * reference to a descriptor of the one file behind it that peers can open, or -1, always if peers
 * get no rights; *offset is where addr is in it.
 */
int soft_backing_find(const void *addr, size_t length, unsigned int access, int *fd, uint64_t *offset);
void soft_backing_put(int fd);
/* In a child: nobody holds the lock. */
void soft_backing_forked(void);

#endif
