// SPDX-License-Identifier: BSD-2-Clause
/*
 * reach_soft.h - softverbs as a provider of reach: its extension, looked for by name
 *
 * The library links with any libibverbs; only softverbs' has the extension.
 */
#ifndef ORIEL_REACH_SOFT_H
#define ORIEL_REACH_SOFT_H

#include <stdbool.h>

#include "soft/extension.h"

/* Whether the process runs on softverbs. */
bool reach_soft_offered(void);

/* Map the region behind a key, for reading and writing. */
bool reach_soft_map(struct ibv_qp *qp, uint32_t rkey, struct softverbs_lent *lent);

/* Give a mapping back. */
void reach_soft_unmap(const struct softverbs_lent *lent);

#endif
