// SPDX-License-Identifier: BSD-2-Clause
/* Answers to connections when the process has no descriptor left. See reserve_fd.c. */
#ifndef SOFT_RESERVE_FD_H
#define SOFT_RESERVE_FD_H

#include <errno.h>
#include <stdbool.h>

#include "soft/base/export.h"

/* Sends the reason of a refusal on this socket: err is an errno value. */
typedef void softverbs_refuse_fn(int sock, int err);

/* Opens the reserve. Returns 0 or an errno value. */
int soft_reserve_fd_open(void);
void soft_reserve_fd_close(void);
/* Closes the parent's reserve, in a child of fork. */
void soft_reserve_fd_forked(void);

/*
 * Accepts a connection; does not block. Returns -1 if there is none, or if it was refused without a
 * descriptor or memory. On the engine thread.
 */
SOFT_EXPORT int softverbs_accept(int listener, softverbs_refuse_fn *refuse);

/*
 * Returns whether the error is a shortage of descriptors or memory, or a limit on file sizes: a
 * later attempt may succeed.
 */
static inline bool soft_is_shortage(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS || err == EFBIG;
}

/* Returns whether the other side is short: of descriptors (EREMOTEIO), or of memory (EREMCHG). */
static inline bool soft_is_remote_shortage(int err)
{
	return err == EREMOTEIO || err == EREMCHG;
}

#endif
