// SPDX-License-Identifier: BSD-2-Clause
/* The state of the process; start.c makes it. */
#include "soft/state/core.h"

struct soft_core *soft_core;
