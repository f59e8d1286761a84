// SPDX-License-Identifier: BSD-2-Clause
/* rank_list.h - a few ranks, each once, for messages: "rank 3", "ranks 1, 4 and others" */
#ifndef ORIEL_RANK_LIST_H
#define ORIEL_RANK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RANK_LIST_MAX 16
#define RANK_LIST_TEXT_BYTES 256

struct rank_list {
	uint32_t count;
	bool more;
	int ranks[RANK_LIST_MAX];
};

static inline void rank_list_clear(struct rank_list *list)
{
	list->count = 0;
	list->more = false;
}

static inline void rank_list_add(struct rank_list *list, int rank)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->ranks[i] == rank)
			return;
	if (list->count < RANK_LIST_MAX)
		list->ranks[list->count++] = rank;
	else
		list->more = true;
}

/* Writes the list as text; returns text. An empty list is "no rank". */
static inline const char *rank_list_text(const struct rank_list *list, char text[RANK_LIST_TEXT_BYTES])
{
	size_t used;

	if (list->count == 0)
		return "no rank";
	used = (size_t)snprintf(text, RANK_LIST_TEXT_BYTES, list->count > 1 ? "ranks %d" : "rank %d", list->ranks[0]);
	for (uint32_t i = 1; i < list->count; i++)
		used += (size_t)snprintf(text + used, RANK_LIST_TEXT_BYTES - used, ", %d", list->ranks[i]);
	if (list->more)
		snprintf(text + used, RANK_LIST_TEXT_BYTES - used, " and others");
	return text;
}

#endif
