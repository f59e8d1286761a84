// SPDX-License-Identifier: BSD-2-Clause
/* Pipes that go out. */
#ifndef SOFT_PIPE_OUT_H
#define SOFT_PIPE_OUT_H

#include "soft/verbs/core.h"
#include "soft/verbs/pipe.h"

/*
 * A reference to the pipe to the process that owns a queue pair number, made if need be; NULL if
 * there is none.
 */
struct soft_out *soft_out_get(struct soft_core *core, uint32_t qpn);
void soft_out_put(struct soft_out *out);

#endif
