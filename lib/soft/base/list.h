// SPDX-License-Identifier: BSD-2-Clause
/* Intrusive lists. An item that is in no list points to itself. */
#ifndef SOFT_LIST_H
#define SOFT_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct soft_list {
	struct soft_list *next, *prev;
};

static inline void soft_list_init(struct soft_list *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool soft_list_empty(const struct soft_list *list)
{
	return list->next == list;
}

static inline void soft_list_add_tail(struct soft_list *list, struct soft_list *item)
{
	item->prev = list->prev;
	item->next = list;
	list->prev->next = item;
	list->prev = item;
}

/* The item may be in no list. */
static inline void soft_list_del(struct soft_list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	soft_list_init(item);
}

#define soft_container(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
