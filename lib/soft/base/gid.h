// SPDX-License-Identifier: BSD-2-Clause
/* The host's addresses. */
#ifndef SOFT_GID_H
#define SOFT_GID_H

#include <infiniband/verbs.h>

__be64 soft_guid(void);
/* Writes the port's addresses, the link-local one first. Returns their number. */
int soft_gids(union ibv_gid *gids, int max);

#endif
