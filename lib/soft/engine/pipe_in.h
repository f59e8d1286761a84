// SPDX-License-Identifier: BSD-2-Clause
/* Pipes that come in. */
#ifndef SOFT_PIPE_IN_H
#define SOFT_PIPE_IN_H

#include "soft/state/core.h"

/* Callback of a slot's socket: somebody connects. */
void soft_pipe_accept(void *sock);

#endif
