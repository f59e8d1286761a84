// SPDX-License-Identifier: BSD-2-Clause
/*
 * kvs.h - oriel-run's key-value store
 *
 * Each rank has keys of its own. A get for a key that is not there yet waits for it. Every call
 * takes time that does not depend on the number of ranks or keys.
 *
 * ASSUMPTIONS: ranks are in range and keys within BOOT_KEY_MAX_BYTES; the answer function does not
 * call back into the store.
 */
#ifndef ORIEL_LAUNCHER_KVS_H
#define ORIEL_LAUNCHER_KVS_H

#include <stddef.h>

#define KVS_KEYS_PER_RANK_MAX 1024   /* distinct keys, asked for or put */
#define KVS_WAITS_PER_RANK_MAX 65536 /* gets of one rank that wait at once */

struct kvs;

/* Tells asker what it asked for. value NULL: rank will never put the key. */
typedef void kvs_answer_fn(void *arg, int asker, int rank, const char *key, const void *value, size_t size_bytes);

/* NULL if memory is short. */
struct kvs *kvs_create(int size, kvs_answer_fn *answer, void *arg);
void kvs_destroy(struct kvs *kvs);

/* Set rank's key, once more if it is there already, and answer who waits for it. -1: a bound or memory. */
int kvs_put(struct kvs *kvs, int rank, const char *key, const void *value, size_t size_bytes);

/* Answer asker now, or when the key is put or can no longer be put. -1: a bound or memory. */
int kvs_get(struct kvs *kvs, int asker, int rank, const char *key);

/* The rank puts nothing any more. What it has put stays. */
void kvs_close(struct kvs *kvs, int rank);

/* Forget all keys, all gets that wait, and what was closed. */
void kvs_reset(struct kvs *kvs);

#endif
