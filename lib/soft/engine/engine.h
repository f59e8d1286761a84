// SPDX-License-Identifier: BSD-2-Clause
/* The engine thread, and what peers have to do to be noticed. See engine.c. */
#ifndef SOFT_ENGINE_H
#define SOFT_ENGINE_H

#include "soft/state/core.h"

/* Turn the loop, which is open, from now on. 0 or an errno value. */
int soft_engine_start(struct soft_core *core);
/* A thread is about to sleep: peers have to wake the engine from now on. */
void soft_attention_wakeup(struct soft_core *core);
/* A thread polls: the engine looks now and then only, and peers need not wake it. */
void soft_attention_polled(struct soft_core *core);

#endif
