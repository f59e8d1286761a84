// SPDX-License-Identifier: BSD-2-Clause
/* Outgoing pipes. */
#ifndef SOFT_PIPE_OUT_H
#define SOFT_PIPE_OUT_H

#include "soft/peer/pipe.h"
#include "soft/state/core.h"

enum {
	SOFT_ANSWER_MS = 200, /* limit of a connecting thread's wait; an engine needs microseconds */
};

/*
 * Takes a reference to the pipe to the process that owns a queue pair number. Makes the pipe if
 * there is none, and waits patience_ms for the answer; the pipe may still be unanswered. *out
 * becomes NULL if there is no such process. Returns 0 or an errno value: a shortage of this process
 * (EMFILE, ENFILE, ENOMEM) or of that one (EREMOTEIO, EREMCHG).
 */
int soft_out_get(struct soft_core *core, uint32_t qpn, int patience_ms, struct soft_out **out);
void soft_out_put(struct soft_out *out);
/* In a forked child: makes the lock anew. */
void soft_out_forked(void);

#endif
