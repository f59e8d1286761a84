/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h - from a handle of the MPI to what the layer knows of it
 *
 * DESIGN NOTES
 *
 * Look-ups take no lock: a slot's value is stored before its key, and a removed slot has a key that
 * no handle has. A full table is replaced by one of twice the size, and stays readable until the
 * process ends. Changes take a lock. MPI forbids to use a handle while it is freed.
 *
 * A thread's last result is kept until something is removed: a freed handle may become another's.
 */
#ifndef ORIEL_MPI_TABLE_H
#define ORIEL_MPI_TABLE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_EMPTY ((uintptr_t)0)
#define TABLE_REMOVED UINTPTR_MAX

struct table_slot {
	uintptr_t key; /* stored with release after value, loaded with acquire before it */
	void *value;
};

struct table_slots {
	size_t mask;
	struct table_slot list[];
};

struct table {
	struct table_slots *slots; /* atomic; NULL: none yet */
	size_t used;               /* with removed ones */
	pthread_mutex_t lock;
};

/* A thread's last result. */
struct table_last {
	uintptr_t key; /* TABLE_EMPTY: nothing */
	void *value;
	size_t removals; /* table_removals() at that time */
};

/* Atomic; the program orders removals with its uses of the handle. */
extern size_t table_removal_count __attribute__((visibility("hidden")));

#define TABLE_INITIAL                      \
	{                                      \
		NULL, 0, PTHREAD_MUTEX_INITIALIZER \
	}

/* A handle is a number or a pointer, never 0 or -1. */
#define TABLE_KEY(handle) ((uintptr_t)(handle))

static inline size_t table_hash(uintptr_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15u) >> 32);
}

/* Returns the value, or NULL. */
static inline void *table_find(const struct table *table, uintptr_t key)
{
	const struct table_slots *slots = __atomic_load_n(&table->slots, __ATOMIC_ACQUIRE); /* pairs with grow */

	if (!slots || key == TABLE_EMPTY || key == TABLE_REMOVED) /* their values are stale */
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
	return __atomic_load_n(&table_removal_count, __ATOMIC_RELAXED);
}

/* Does what table_find does; fast if the key is the last call's. */
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

/* Adds a new key. Returns 0, or -1 if there is no memory. */
int table_add(struct table *table, uintptr_t key, void *value);

void table_remove(struct table *table, uintptr_t key);

/* No thread may change the table meanwhile. */
void table_each(const struct table *table, void (*visit)(void *value));

#endif
