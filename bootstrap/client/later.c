// SPDX-License-Identifier: BSD-2-Clause
/* later.c - see later.h. */
#include "client/later.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

int later_add(struct later *later, int rank, const char *key)
{
	struct later_get *get;

	if (later->count == LATER_MAX)
		return err_set(ORIEL_ERR_LIMIT, "bootstrap get of %s from rank %d: %d gets are waiting already", key, rank,
		               LATER_MAX);
	get = calloc(1, sizeof(*get));
	if (!get)
		return err_set(ORIEL_ERR_MEMORY, "no memory for a bootstrap get of %s from rank %d", key, rank);
	get->rank = rank;
	memcpy(get->key, key, strlen(key));
	if (!later->end)
		later->end = &later->first;
	*later->end = get;
	later->end = &get->next;
	later->count++;
	return 0;
}

struct later_get *later_take(struct later *later)
{
	struct later_get *get = later->first;

	if (!get)
		return NULL;
	later->first = get->next;
	if (!later->first)
		later->end = &later->first;
	later->count--;
	return get;
}

void later_clear(struct later *later)
{
	for (struct later_get *get = later_take(later); get; get = later_take(later))
		free(get);
}
