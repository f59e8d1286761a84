// SPDX-License-Identifier: BSD-2-Clause
/* Pipes come in, are made, are answered, and end with their process. */
#ifndef SOFT_PIPES_H
#define SOFT_PIPES_H

#include <stdbool.h>
#include <stdint.h>

#include "soft/base/export.h"
#include "soft/peer/pipe.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"

/* peer_events.c */

/*
 * Attaches an answered pipe to a queue pair, or none: for NULL, or if the peer does not have the
 * number. Returns whether the pipe was taken. Under qp->lock.
 */
bool soft_attach_pipe(struct soft_qp *qp, struct soft_out *out);
/* Queue pairs that awaited the pipe continue. Under core->progress. */
void soft_out_answered(struct soft_core *core, struct soft_out *out);
/* Queue pairs to a dead process fail soon. Under core->progress. */
void soft_out_died(struct soft_core *core, struct soft_out *out);
/* Under core->progress. */
void soft_timer_fired(struct soft_qp *qp);
/* Returns whether the adversary has cut the connection, also for librdmacm's messages. */
SOFT_EXPORT bool softverbs_lost(uint32_t qpn);

/* pipe_in.c */

/* Accepts on a slot's socket. */
void soft_pipe_accept(void *sock);

/* pipe_out.c */

enum {
	SOFT_ANSWER_MS = 200, /* limit of a connecting thread's wait */
};

/*
 * *out becomes a reference to the pipe to the process that owns a number, or NULL if there is none.
 * Makes the pipe if needed, and waits patience_ms for the answer; it may still be unanswered.
 * Returns 0 or an errno value: a shortage of this process (EMFILE, ENFILE, ENOMEM) or of that one
 * (EREMOTEIO, EREMCHG).
 */
int soft_out_get(struct soft_core *core, uint32_t qpn, int patience_ms, struct soft_out **out);
void soft_out_put(struct soft_out *out);
/* In a forked child: makes the lock anew. */
void soft_out_forked(void);

#endif
