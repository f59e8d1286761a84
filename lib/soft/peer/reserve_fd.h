// SPDX-License-Identifier: BSD-2-Clause
/* Connections are answered even by a process that has no descriptor left. See reserve_fd.c. */
#ifndef SOFT_RESERVE_FD_H
#define SOFT_RESERVE_FD_H

#include <errno.h>
#include <stdbool.h>

#include "soft/base/export.h"

/* Say on this socket why its connection is refused: err is an errno value. */
typedef void softverbs_refuse_fn(int sock, int err);

/* Open the reserve. 0 or an errno value. */
int soft_reserve_fd_open(void);
void soft_reserve_fd_close(void);
/* In a child: the parent's is of no use. */
void soft_reserve_fd_forked(void);

/*
 * Accept a connection, which does not block; -1 where there is none, or where it was refused for
 * want of a descriptor or memory. On the engine thread.
 */
SOFT_EXPORT int softverbs_accept(int listener, softverbs_refuse_fn *refuse);

/*
 * Is this error a want of descriptors or memory, which others may have given back by the next
 * attempt, or a limit on the size of files, which may have been raised?
 */
static inline bool soft_is_shortage(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS || err == EFBIG;
}

/* Is it the other side that is short: of descriptors (EREMOTEIO), or of memory (EREMCHG)? */
static inline bool soft_is_remote_shortage(int err)
{
	return err == EREMOTEIO || err == EREMCHG;
}

#endif
