// SPDX-License-Identifier: BSD-2-Clause
/* Requests of peers. See responder.c. */
#ifndef SOFT_RESPONDER_H
#define SOFT_RESPONDER_H

#include <stdint.h>

#include "soft/peer/pipe.h"
#include "soft/state/core.h"

/* Carries out the request at a place of the ring, and answers. Under core->progress. */
void soft_respond(struct soft_core *core, struct soft_in *in, uint32_t at);

#endif
