// SPDX-License-Identifier: BSD-2-Clause
/* Responses. */
#ifndef SOFT_ANSWER_H
#define SOFT_ANSWER_H

#include <stdint.h>

#include "soft/peer/pipe.h"
#include "soft/state/core.h"

/* What a response says about its request. Under core->progress. */
void soft_take_response(struct soft_core *core, struct soft_out *out, const struct shm_resp *resp);

#endif
