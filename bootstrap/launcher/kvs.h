// SPDX-License-Identifier: BSD-2-Clause
/*
 * kvs.h - oriel-run's key-value store
 *
 * Each rank has keys of its own. A get for a missing key waits for it. The time of a put or get
 * does not depend on the number of ranks or keys.
 *
 * ASSUMPTIONS: ranks are in range and keys within BOOT_KEY_MAX_BYTES; the answer function does not
 * call back into the store.
 */
#ifndef ORIEL_LAUNCHER_KVS_H
#define ORIEL_LAUNCHER_KVS_H

#include <stddef.h>

#define KVS_KEYS_PER_RANK_MAX 1024   /* distinct keys, put or requested */
#define KVS_WAITS_PER_RANK_MAX 65536 /* unanswered gets of one rank */

struct kvs;

/* Answers asker's get. value NULL: rank will never put the key. */
typedef void kvs_answer_fn(void *arg, int asker, int rank, const char *key, const void *value, size_t size_bytes);

/* Returns NULL if memory is short. */
struct kvs *kvs_create(int size, kvs_answer_fn *answer, void *arg);
void kvs_destroy(struct kvs *kvs);

/* Sets rank's key and answers waiting gets. Returns 0, or -1 at a bound or without memory. */
int kvs_put(struct kvs *kvs, int rank, const char *key, const void *value, size_t size_bytes);

/* Answers asker now, or when the key is put or can no longer be put. Returns like kvs_put. */
int kvs_get(struct kvs *kvs, int asker, int rank, const char *key);

/* Ends rank's puts. Its values stay. */
void kvs_close(struct kvs *kvs, int rank);

/* Drops all keys and waiting gets, and reopens all ranks. */
void kvs_reset(struct kvs *kvs);

#endif
