// SPDX-License-Identifier: BSD-2-Clause
/*
 * sharing.h - which ranks can share memory, and a memory file that they share
 *
 * DESIGN NOTES
 *
 * process.h decides which ranks can share memory. Each member contributes a number computed from
 * its place; the devices do not matter.
 *
 * The file is passed by name: /proc/PID/fd/FD of the rank that has made it, which must keep it open
 * until the others have opened it. The inode number must be right, and the file must not shrink.
 */
#ifndef ORIEL_SHARING_H
#define ORIEL_SHARING_H

#include <stddef.h>
#include <stdint.h>

struct oriel_job;

/*
 * Returns a number that two ranks have in common if and only if they can share memory (up to 1 in
 * 2^63). A place that cannot be read equals no other. Never 0.
 */
uint64_t sharing_place(const struct oriel_job *job);

/* Sets what other ranks need to open a memory file of this process. ERRORS: ORIEL_ERR_MEMORY. */
int sharing_name(int fd, uint64_t name[2]);

/* Maps all size_bytes of such a file. ERRORS: ORIEL_ERR_SHARED, ORIEL_ERR_MEMORY. */
int sharing_map(const uint64_t name[2], size_t size_bytes, void **base, int *fd);

#endif
