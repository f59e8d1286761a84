// SPDX-License-Identifier: BSD-2-Clause
/* later.c - see later.h. */
#include "client/later.h"

#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static void append(struct later *later, struct later_get *get)
{
	get->next = NULL;
	if (!later->end)
		later->end = &later->first;
	*later->end = get;
	later->end = &get->next;
	later->count++;
}

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
	append(later, get);
	return 0;
}

struct later_get *later_take(struct later *later)
{
	return later_take_due(later, UINT64_MAX);
}

struct later_get *later_take_due(struct later *later, uint64_t now_ns)
{
	struct later_get **at = &later->first, *get;

	while (*at && (*at)->due_ns > now_ns)
		at = &(*at)->next;
	get = *at;
	if (!get)
		return NULL;
	*at = get->next;
	if (later->end == &get->next)
		later->end = at;
	later->count--;
	return get;
}

void later_again(struct later *later, struct later_get *get, uint64_t now_ns)
{
	get->pause_ms = get->pause_ms ? min_u32(2 * get->pause_ms, LATER_PAUSE_MAX_MS) : LATER_PAUSE_FIRST_MS;
	get->due_ns = now_ns + get->pause_ms * NS_PER_MS;
	append(later, get);
}

uint64_t later_due_ns(const struct later *later)
{
	uint64_t due_ns = UINT64_MAX;

	for (const struct later_get *get = later->first; get; get = get->next)
		due_ns = get->due_ns < due_ns ? get->due_ns : due_ns;
	return due_ns;
}

void later_clear(struct later *later)
{
	for (struct later_get *get = later_take(later); get; get = later_take(later))
		free(get);
}
