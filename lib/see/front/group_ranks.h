/* SPDX-License-Identifier: BSD-2-Clause */
/* group_ranks.h - the ranks of a group, for fronts of oriel.h */
#ifndef ORIEL_SEE_FRONT_GROUP_RANKS_H
#define ORIEL_SEE_FRONT_GROUP_RANKS_H

#include <stdlib.h>

#include "oriel.h"

/*
 * Returns the ranks of a group in its job, or NULL. The world is the group of all ranks; NULL: not
 * known. The caller frees the list.
 */
static inline int *group_ranks(const oriel_group *group, const oriel_group *world, int count)
{
	int *own = malloc(((size_t)count + 1) * sizeof(int)), *ranks = malloc(((size_t)count + 1) * sizeof(int));
	int rc = own && ranks && world ? 0 : -1;

	for (int i = 0; rc == 0 && i < count; i++)
		own[i] = i;
	if (rc == 0)
		rc = oriel_group_translate(group, count, own, world, ranks);
	free(own);
	if (rc == 0)
		return ranks;
	free(ranks);
	return NULL;
}

#endif
