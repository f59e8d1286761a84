// SPDX-License-Identifier: BSD-2-Clause
/* See table.h. */
#include "mpi/job/table.h"

#include <stdlib.h>

#define SLOTS_FIRST 256

size_t table_removal_count;

static uintptr_t key_at(const struct table_slots *slots, size_t i)
{
	return slots->list[i & slots->mask].key;
}

static void set_key(struct table_slots *slots, size_t i, uintptr_t key)
{
	__atomic_store_n(&slots->list[i & slots->mask].key, key, __ATOMIC_RELEASE); /* pairs with table_find */
}

/* Returns how many more slots are used: 0 if a removed one is reused. */
static size_t fill(struct table_slots *slots, uintptr_t key, void *value)
{
	size_t i = table_hash(key), more;

	while (key_at(slots, i) != TABLE_EMPTY && key_at(slots, i) != TABLE_REMOVED)
		i++;
	more = key_at(slots, i) == TABLE_EMPTY;
	slots->list[i & slots->mask].value = value;
	set_key(slots, i, key);
	return more;
}

/* Empties the removed slots at the end of a chain, backwards from i. Returns how many. */
static size_t empty_the_end(struct table_slots *slots, size_t i)
{
	size_t count = 0;

	if (key_at(slots, i + 1) != TABLE_EMPTY)
		return 0;
	for (; key_at(slots, i) == TABLE_REMOVED; i--, count++)
		set_key(slots, i, TABLE_EMPTY);
	return count;
}

/* Copies all but removed slots. Returns how many. */
static size_t copy(struct table_slots *to, const struct table_slots *from)
{
	size_t count = 0;

	for (size_t i = 0; from && i <= from->mask; i++) {
		if (from->list[i].key == TABLE_EMPTY || from->list[i].key == TABLE_REMOVED)
			continue;
		count += fill(to, from->list[i].key, from->list[i].value);
	}
	return count;
}

static int grow(struct table *table)
{
	size_t slots = table->slots ? 2 * (table->slots->mask + 1) : SLOTS_FIRST;
	struct table_slots *larger = calloc(1, sizeof(*larger) + slots * sizeof(*larger->list));

	if (!larger)
		return -1;
	larger->mask = slots - 1;
	table->used = copy(larger, table->slots);
	__atomic_store_n(&table->slots, larger, __ATOMIC_RELEASE); /* pairs with table_find */
	return 0;
}

int table_add(struct table *table, uintptr_t key, void *value)
{
	int rc = 0;

	pthread_mutex_lock(&table->lock);
	if (!table->slots || table->used * 2 > table->slots->mask)
		rc = grow(table);
	if (rc == 0)
		table->used += fill(table->slots, key, value);
	pthread_mutex_unlock(&table->lock);
	return rc;
}

void table_remove(struct table *table, uintptr_t key)
{
	struct table_slots *slots;
	size_t i = table_hash(key);

	pthread_mutex_lock(&table->lock);
	slots = table->slots;
	while (slots && key_at(slots, i) != key && key_at(slots, i) != TABLE_EMPTY)
		i++;
	if (slots && key_at(slots, i) == key) {
		set_key(slots, i, TABLE_REMOVED);
		table->used -= empty_the_end(slots, i);
		/* Read by table_find_again and call_cache_matches. */
		__atomic_add_fetch(&table_removal_count, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&table->lock);
}

void table_each(const struct table *table, void (*visit)(void *value))
{
	for (size_t i = 0; table->slots && i <= table->slots->mask; i++)
		if (key_at(table->slots, i) != TABLE_EMPTY && key_at(table->slots, i) != TABLE_REMOVED)
			visit(table->slots->list[i].value);
}
