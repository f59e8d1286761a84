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
 *
 * Most lookups are for what the thread has just looked up. That is kept, and holds until something is removed: a handle that
 * has been freed may be another's.
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

/* What a thread has found last. */
struct table_last {
	uintptr_t key; /* TABLE_EMPTY: nothing */
	void *value;
	size_t removals; /* when it was looked up */
};

/* From all tables, so far: changed by atomic adds, and ordered with the handle's use by the program. */
extern size_t table_removals_so_far __attribute__((visibility("hidden")));

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

	if (!slots || key == TABLE_EMPTY || key == TABLE_REMOVED) /* slots with these have values of what is gone */
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

static inline size_t table_removals(void)
{
	return __atomic_load_n(&table_removals_so_far, __ATOMIC_RELAXED);
}

/* The same where the key is mostly that of the last time, which is kept. */
static inline void *table_find_again(const struct table *table, struct table_last *last, uintptr_t key)
{
	size_t removals = table_removals();
	void *value;

	if (__builtin_expect(last->key == key && last->removals == removals, 1))
		return last->value;
	value = table_find(table, key);
	if (value)
		*last = (struct table_last){ key, value, removals };
	return value;
}

/* 0, or -1: out of memory. The key is not in the table. */
int table_add(struct table *table, uintptr_t key, void *value);

void table_remove(struct table *table, uintptr_t key);

/* For each value; nobody changes the table meanwhile. */
void table_each(const struct table *table, void (*visit)(void *value));

#endif
