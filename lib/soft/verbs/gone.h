// SPDX-License-Identifier: BSD-2-Clause
/* Peers and paths that are gone. See gone.c. */
#ifndef SOFT_GONE_H
#define SOFT_GONE_H

#include <stdbool.h>
#include <stdint.h>

#include "soft/verbs/core.h"
#include "soft/verbs/export.h"
#include "soft/verbs/pipe.h"
#include "soft/verbs/qp.h"

/* The pipe's process is gone: queue pairs to it fail, soon. Under core->progress. */
void soft_out_died(struct soft_core *core, struct soft_out *out);
/* The time of a queue pair's timer has come. Under core->progress. */
void soft_timer_fired(struct soft_qp *qp);
/*
 * Has the adversary cut the connection of this queue pair of ours? librdmacm's messages get lost
 * then, too.
 */
SOFT_EXPORT bool softverbs_lost(uint32_t qpn);

#endif
