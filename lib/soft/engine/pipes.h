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

/* Peers that answer, die or are cut off: peer_events.c. */

/*
 * Attaches an answered pipe to a queue pair; none for NULL, or if the peer does not have the
 * number. Returns whether the pipe was taken. Under qp->lock.
 */
bool soft_attach_pipe(struct soft_qp *qp, struct soft_out *out);
/* After the pipe's answer: queue pairs that awaited it continue. Under core->progress. */
void soft_out_answered(struct soft_core *core, struct soft_out *out);
/* After the death of the pipe's process: queue pairs to it fail soon. Under core->progress. */
void soft_out_died(struct soft_core *core, struct soft_out *out);
/* Handles a queue pair's timer. Under core->progress. */
void soft_timer_fired(struct soft_qp *qp);
/*
 * Returns whether the adversary has cut the connection of this process's queue pair. librdmacm's
 * messages are then lost, too.
 */
SOFT_EXPORT bool softverbs_lost(uint32_t qpn);

/* Incoming pipes: pipe_in.c. */

/* Accepts a process that connects to a slot's socket. */
void soft_pipe_accept(void *sock);

/* Outgoing pipes: pipe_out.c. */

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
