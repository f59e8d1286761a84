// SPDX-License-Identifier: BSD-2-Clause
/*
 * kvs.c - oriel-run's key-value store; see kvs.h
 *
 * DESIGN NOTES One hash table, keyed by (rank, key), serves all ranks and doubles when full; each
 * rank has a list of its entries. The first put or get of a key makes its entry. While it has no
 * value, it holds the list of waiting gets. A get stays there when the asking rank ends; the
 * rendezvous drops the answer.
 */
#include "launcher/kvs.h"

#include "boot.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KVS_FIRST_BUCKETS 256 /* a power of two, like all later sizes */

struct kvs_waiter {
	struct kvs_waiter *next;
	int asker;
};

struct kvs_entry {
	struct kvs_entry *next_in_bucket;
	struct kvs_entry *next_of_rank;
	struct kvs_waiter *waiters; /* NULL once there is a value */
	uint64_t hash;
	int rank;
	bool has_value;
	uint8_t value_size;
	char key[BOOT_KEY_MAX_BYTES + 1];
	uint8_t value[BOOT_VALUE_MAX_BYTES];
};

struct kvs_rank {
	struct kvs_entry *entries;
	int entry_count;
	int wait_count; /* unanswered gets by this rank */
	bool closed;
};

struct kvs {
	kvs_answer_fn *answer;
	void *answer_arg;
	struct kvs_entry **buckets;
	size_t bucket_count;
	size_t entry_count;
	int size;
	struct kvs_rank ranks[];
};

/* FNV-1a: ranks with the secret do not collide on purpose. */
static uint64_t hash_of(int rank, const char *key)
{
	uint64_t hash = 14695981039346656037u ^ (uint64_t)rank;

	for (hash *= 1099511628211u; *key; key++)
		hash = (hash ^ (uint8_t)*key) * 1099511628211u;
	return hash ^ hash >> 32;
}

static struct kvs_entry **bucket_of(const struct kvs *kvs, uint64_t hash)
{
	return &kvs->buckets[hash & (kvs->bucket_count - 1)];
}

static struct kvs_entry *find_entry(const struct kvs *kvs, int rank, const char *key)
{
	struct kvs_entry *entry = *bucket_of(kvs, hash_of(rank, key));

	while (entry && (entry->rank != rank || strcmp(entry->key, key) != 0))
		entry = entry->next_in_bucket;
	return entry;
}

static void link_to_bucket(struct kvs *kvs, struct kvs_entry *entry)
{
	struct kvs_entry **bucket = bucket_of(kvs, entry->hash);

	entry->next_in_bucket = *bucket;
	*bucket = entry;
}

/* Without memory the table keeps its size: slower, but correct. */
static void double_buckets(struct kvs *kvs)
{
	struct kvs_entry **bigger = calloc(kvs->bucket_count * 2, sizeof(struct kvs_entry *));
	struct kvs_entry *entry;

	if (!bigger)
		return;
	free(kvs->buckets);
	kvs->buckets = bigger;
	kvs->bucket_count *= 2;
	for (int rank = 0; rank < kvs->size; rank++)
		for (entry = kvs->ranks[rank].entries; entry; entry = entry->next_of_rank)
			link_to_bucket(kvs, entry);
}

static struct kvs_entry *add_entry(struct kvs *kvs, int rank, const char *key)
{
	struct kvs_rank *owner = &kvs->ranks[rank];
	struct kvs_entry *entry = owner->entry_count < KVS_KEYS_PER_RANK_MAX ? calloc(1, sizeof(*entry)) : NULL;

	if (!entry)
		return NULL;
	memcpy(entry->key, key, strlen(key) + 1);
	entry->rank = rank;
	entry->hash = hash_of(rank, key);
	entry->next_of_rank = owner->entries;
	owner->entries = entry;
	owner->entry_count++;
	link_to_bucket(kvs, entry);
	if (++kvs->entry_count > kvs->bucket_count)
		double_buckets(kvs);
	return entry;
}

static struct kvs_entry *find_or_add_entry(struct kvs *kvs, int rank, const char *key)
{
	struct kvs_entry *entry = find_entry(kvs, rank, key);

	return entry ? entry : add_entry(kvs, rank, key);
}

/* Sends the value, or 'never' if there is none. */
static void answer(const struct kvs *kvs, int asker, const struct kvs_entry *entry)
{
	kvs->answer(kvs->answer_arg, asker, entry->rank, entry->key, entry->has_value ? entry->value : NULL,
	            entry->value_size);
}

static void answer_waiters(struct kvs *kvs, struct kvs_entry *entry)
{
	while (entry->waiters) {
		struct kvs_waiter *waiter = entry->waiters;

		entry->waiters = waiter->next;
		kvs->ranks[waiter->asker].wait_count--;
		answer(kvs, waiter->asker, entry);
		free(waiter);
	}
}

static int add_waiter(struct kvs *kvs, struct kvs_entry *entry, int asker)
{
	struct kvs_rank *rank = &kvs->ranks[asker];
	struct kvs_waiter *waiter = rank->wait_count < KVS_WAITS_PER_RANK_MAX ? malloc(sizeof(*waiter)) : NULL;

	if (!waiter)
		return -1;
	rank->wait_count++;
	waiter->asker = asker;
	waiter->next = entry->waiters;
	entry->waiters = waiter;
	return 0;
}

int kvs_put(struct kvs *kvs, int rank, const char *key, const void *value, size_t size_bytes)
{
	struct kvs_entry *entry = size_bytes <= BOOT_VALUE_MAX_BYTES ? find_or_add_entry(kvs, rank, key) : NULL;

	if (!entry)
		return -1;
	if (size_bytes > 0)
		memcpy(entry->value, value, size_bytes);
	entry->value_size = (uint8_t)size_bytes;
	entry->has_value = true;
	answer_waiters(kvs, entry);
	return 0;
}

int kvs_get(struct kvs *kvs, int asker, int rank, const char *key)
{
	struct kvs_entry *entry = find_entry(kvs, rank, key);

	if (!entry && kvs->ranks[rank].closed) {
		kvs->answer(kvs->answer_arg, asker, rank, key, NULL, 0);
		return 0;
	}
	if (!entry)
		entry = add_entry(kvs, rank, key);
	if (!entry)
		return -1;
	if (!entry->has_value && !kvs->ranks[rank].closed)
		return add_waiter(kvs, entry, asker);
	answer(kvs, asker, entry);
	return 0;
}

void kvs_close(struct kvs *kvs, int rank)
{
	struct kvs_entry *entry;

	kvs->ranks[rank].closed = true;
	for (entry = kvs->ranks[rank].entries; entry; entry = entry->next_of_rank)
		answer_waiters(kvs, entry);
}

static void free_entry(struct kvs_entry *entry)
{
	while (entry->waiters) {
		struct kvs_waiter *waiter = entry->waiters;

		entry->waiters = waiter->next;
		free(waiter);
	}
	free(entry);
}

static void reset_rank(struct kvs_rank *rank)
{
	while (rank->entries) {
		struct kvs_entry *entry = rank->entries;

		rank->entries = entry->next_of_rank;
		free_entry(entry);
	}
	memset(rank, 0, sizeof(*rank));
}

void kvs_reset(struct kvs *kvs)
{
	for (int rank = 0; rank < kvs->size; rank++)
		reset_rank(&kvs->ranks[rank]);
	memset(kvs->buckets, 0, kvs->bucket_count * sizeof(struct kvs_entry *));
	kvs->entry_count = 0;
}

struct kvs *kvs_create(int size, kvs_answer_fn *answer_fn, void *arg)
{
	struct kvs *kvs = calloc(1, sizeof(*kvs) + (size_t)size * sizeof(kvs->ranks[0]));

	if (!kvs)
		return NULL;
	kvs->buckets = calloc(KVS_FIRST_BUCKETS, sizeof(struct kvs_entry *));
	if (!kvs->buckets) {
		free(kvs);
		return NULL;
	}
	kvs->bucket_count = KVS_FIRST_BUCKETS;
	kvs->size = size;
	kvs->answer = answer_fn;
	kvs->answer_arg = arg;
	return kvs;
}

void kvs_destroy(struct kvs *kvs)
{
	if (!kvs)
		return;
	kvs_reset(kvs);
	free(kvs->buckets);
	free(kvs);
}
