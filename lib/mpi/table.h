/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h - from a handle of the MPI to what the layer knows of it
 *
 * DESIGN NOTES
 *
 * Every operation looks up a window and two datatypes. Lookups take no lock: slots are filled in the order value, key, and a
 * removed one keeps a key that nobody has. A table that is too full is replaced by a larger one; the old one stays
 * readable, for whoever is in it, until the process ends (each is half of the next: no more than the last one's size is
 * lost). Changes are made under a lock. That a handle is not looked up while it is freed is what MPI asks of programs.
 */
#ifndef ORIEL_MPI_TABLE_H
#define ORIEL_MPI_TABLE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_EMPTY ((uintptr_t)0)
#define TABLE_REMOVED UINTPTR_MAX

struct table_slot {
	uintptr_t key; /* stored with release behind value, loaded with acquire before it */
	void *value;
};

struct table_slots {
	size_t mask;
	struct table_slot list[];
};

struct table {
	struct table_slots *slots; /* stored with release when filled, loaded with acquire; NULL: nothing yet */
	size_t used;               /* removed ones too */
	pthread_mutex_t lock;
};

#define TABLE_INITIAL                      \
	{                                      \
		NULL, 0, PTHREAD_MUTEX_INITIALIZER \
	}

/* A handle is a number in one MPI and a pointer in the other. No handle is 0 or -1 in either. */
#define TABLE_KEY(handle) ((uintptr_t)(handle))

static inline size_t table_hash(uintptr_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15u) >> 32);
}

/* NULL: not in the table. */
static inline void *table_find(const struct table *table, uintptr_t key)
{
	const struct table_slots *slots = __atomic_load_n(&table->slots, __ATOMIC_ACQUIRE); /* pairs with grow */

	if (!slots)
		return NULL;
	for (size_t i = table_hash(key);; i++) {
		const struct table_slot *slot = &slots->list[i & slots->mask];
		uintptr_t there = __atomic_load_n(&slot->key, __ATOMIC_ACQUIRE); /* pairs with fill */

		if (there == key)
			return slot->value;
		if (there == TABLE_EMPTY)
			return NULL;
	}
}

/* 0, or -1: out of memory. The key is not in the table. */
int table_add(struct table *table, uintptr_t key, void *value);

void table_remove(struct table *table, uintptr_t key);

/* For each value; nobody changes the table meanwhile. */
void table_each(const struct table *table, void (*visit)(void *value));

#endif
