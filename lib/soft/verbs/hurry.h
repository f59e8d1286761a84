// SPDX-License-Identifier: BSD-2-Clause
/* Peers that let their requesters wait. See hurry.c. */
#ifndef SOFT_HURRY_H
#define SOFT_HURRY_H

#include "soft/verbs/core.h"

/* Who has polled in vain kicks peers that have long owed an answer. */
void soft_hurry(struct soft_core *core);

#endif
