// SPDX-License-Identifier: BSD-2-Clause
/*
 * sharing.h - which ranks can share memory, and a memory file that they share
 *
 * DESIGN NOTES
 *
 * Ranks can share memory where place.h says so; for a group to find out who can, each member brings
 * one number that follows from its place. It has nothing to do with the devices that they talk by.
 *
 * The file is passed on by name: /proc/PID/fd/FD of the rank that has made it, which must keep it open
 * until the others have opened it. What is found there is taken only if it is the file that was meant,
 * by its inode number, and cannot shrink under those who map it.
 */
#ifndef ORIEL_SHARING_H
#define ORIEL_SHARING_H

#include <stddef.h>
#include <stdint.h>

struct oriel_job;

/*
 * Equal for two ranks if and only if they can share memory (but for one chance in 2^63); never equal to
 * another's where the place cannot be read. Never 0.
 */
uint64_t sharing_place(const struct oriel_job *job);

/* What others need to open a memory file of this process. ERRORS: ORIEL_ERR_MEMORY. */
int sharing_name(int fd, uint64_t name[2]);

/* Map all size_bytes of such a file. ERRORS: ORIEL_ERR_SHARED, ORIEL_ERR_MEMORY. */
int sharing_map(const uint64_t name[2], size_t size_bytes, void **base, int *fd);

#endif
