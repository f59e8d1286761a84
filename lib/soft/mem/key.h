// SPDX-License-Identifier: BSD-2-Clause
/* The table of memory keys: key.c. */
#ifndef SOFT_KEY_H
#define SOFT_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/state/core.h"
#include "soft/state/shm.h"

/* Returns a place in the table, or -1 with errno. */
int soft_key_alloc(struct soft_core *core);
void soft_key_free(struct soft_core *core, uint32_t place);
/* Returns an unpredictable key for a place. */
uint32_t soft_key_make(struct soft_core *core, uint32_t place);
uint32_t soft_key_serial(struct soft_core *core);

static inline uint32_t soft_key_place(const struct shm_segment *seg, uint32_t key)
{
	return ((key >> SHM_KEY_BITS) ^ seg->key_mask) & (SHM_MRS - 1);
}

/* Memory as a request names it. */
struct soft_span {
	uint64_t addr;
	uint64_t length;
	uint32_t key;
};

/*
 * Returns the entry of the span's key if it grants `access` to a protection domain and queue pair,
 * otherwise NULL.
 */
static inline const struct shm_mr *soft_key_find(const struct shm_segment *seg, struct soft_span span, uint32_t pd,
                                                 uint32_t qpn, uint32_t access)
{
	const struct shm_mr *mr = &seg->mr[soft_key_place(seg, span.key)];

	if (span.key == 0 || shm_mr_key(mr) != span.key)
		return NULL;
	if (mr->qpn ? mr->qpn != qpn : mr->pd != pd)
		return NULL;
	if ((mr->access & access) != access)
		return NULL;
	if (span.addr < mr->iova || span.length > mr->length || span.addr - mr->iova > mr->length - span.length)
		return NULL;
	return mr;
}

/* Returns a range's local memory, or NULL for a protection error. */
void *soft_key_local(uint32_t lkey, uint32_t pd, uint64_t addr, uint64_t length, uint32_t access);
/* Withdraws a key and waits until no peer uses it. */
void soft_key_withdraw(struct soft_core *core, struct shm_mr *mr);
/* Returns whether the peer has died. */
bool soft_out_gone(const struct soft_out *out);
/*
 * Waits until this peer does not access this process's memory, or is dead. After
 * soft_heavy_barrier.
 */
void soft_wait_peer(const struct soft_out *out, const struct shm_qp *peer);

#endif
