// SPDX-License-Identifier: BSD-2-Clause
/* Answers when the process has no descriptor left: reserve_fd.c. */
#ifndef SOFT_RESERVE_FD_H
#define SOFT_RESERVE_FD_H

#include <errno.h>
#include <stdbool.h>

#include "soft/base/export.h"

/* Sends the reason, an errno value. */
typedef void softverbs_refuse_fn(int sock, int err);

/* Returns 0 or an errno value. */
int soft_reserve_fd_open(void);
void soft_reserve_fd_close(void);
/* In a child of fork: closes the parent's reserve. */
void soft_reserve_fd_forked(void);

/*
 * Accepts a connection, on the engine thread; does not block. Returns -1 without one, or if it was
 * refused for lack of a descriptor or memory.
 */
SOFT_EXPORT int softverbs_accept(int listener, softverbs_refuse_fn *refuse);

/*
 * Returns whether the error is a shortage, or a limit on file sizes: a later attempt may succeed.
 */
static inline bool soft_is_shortage(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS || err == EFBIG;
}

/* Returns whether the other side is short of descriptors (EREMOTEIO) or memory (EREMCHG). */
static inline bool soft_is_remote_shortage(int err)
{
	return err == EREMOTEIO || err == EREMCHG;
}

#endif
