// SPDX-License-Identifier: BSD-2-Clause
/* Pipes that go out. */
#ifndef SOFT_PIPE_OUT_H
#define SOFT_PIPE_OUT_H

#include "soft/verbs/core.h"
#include "soft/verbs/pipe.h"

enum {
	SOFT_ANSWER_MS = 200, /* who connects waits for so long; an engine that runs answers in microseconds */
};

/*
 * A reference to the pipe to the process that owns a queue pair number, made if need be, which may
 * not be answered yet; *out is NULL if there is nobody. 0 or an errno value: a shortage of this
 * process (EMFILE, ENFILE, ENOMEM) or of that one (EREMOTEIO, EREMCHG). A new one's answer is
 * waited for so long.
 */
int soft_out_get(struct soft_core *core, uint32_t qpn, int patience_ms, struct soft_out **out);
void soft_out_put(struct soft_out *out);
/* In a child: nobody holds the lock. */
void soft_out_forked(void);

#endif
