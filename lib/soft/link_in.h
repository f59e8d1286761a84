// SPDX-License-Identifier: BSD-2-Clause
/* Links that come in. */
#ifndef SOFT_LINK_IN_H
#define SOFT_LINK_IN_H

#include "core.h"

/* Callback of a slot's socket: somebody connects. */
void soft_link_accept(void *sock);

#endif
