// SPDX-License-Identifier: BSD-2-Clause
/*
 * What softverbs offers beyond verbs: a peer's registered memory, mapped for the program to load
 * and store itself, or read and written at once where it cannot be mapped; and atomics that mix with
 * the processor's. A program that has to run on any device does not link these, but looks for them by
 * name (dlsym); including this is what makes the compiler check that both sides mean the same.
 */
#ifndef SOFT_EXTENSION_H
#define SOFT_EXTENSION_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A peer's region: its bytes [addr, addr + size_bytes), as keys name them, are at `here` in this
 * process.
 */
struct softverbs_lent {
	uint64_t addr;
	size_t size_bytes;
	void *here;
};

typedef int softverbs_lend_fn(struct ibv_qp *qp, uint32_t rkey, unsigned int access, struct softverbs_lent *lent);
typedef void softverbs_give_back_fn(const struct softverbs_lent *lent);

/*
 * Map the region behind a key that grants `access` (IBV_ACCESS_REMOTE_WRITE,
 * IBV_ACCESS_REMOTE_READ) to this queue pair, which is in RTS. 0 and *lent, or an errno value where
 * that cannot be: then verbs is the way. Each success is given back once, with the same addresses.
 */
__attribute__((visibility("default"))) softverbs_lend_fn softverbs_lend;
__attribute__((visibility("default"))) softverbs_give_back_fn softverbs_give_back;

/*
 * RDMA WRITE (`write`) or READ between `here` and a peer's memory that has happened when this returns 0,
 * without a work request: what was posted before has been carried out, and key and queue pair, which is
 * in RTS, are checked as they would be for one. Else an errno value, and verbs is the way: nothing has
 * been moved, or a part of it.
 */
typedef int softverbs_move_fn(struct ibv_qp *qp, uint32_t rkey, uint64_t addr, void *here, size_t size_bytes,
                              bool write);
__attribute__((visibility("default"))) softverbs_move_fn softverbs_move;

/* Bytes: the peer takes part in no smaller ones, which are copied before it has looked. */
enum { SOFTVERBS_SHARE_MIN = 128 << 10 };

/*
 * The same for memory that was lent: `at` here is `offset` bytes into the region of the key. The peer's processor
 * takes part where it has nothing else to do. lkey is that of a region of ours that `here` is in, or 0: where that
 * region can be lent too, the peer is faster. A peer that is stopped in the middle of it is waited for. Else an
 * errno value, and the caller copies all of it himself.
 */
typedef int softverbs_move_lent_fn(struct ibv_qp *qp, uint32_t rkey, uint64_t offset, void *at, void *here,
                                   uint32_t lkey, size_t size_bytes, bool write);
__attribute__((visibility("default"))) softverbs_move_lent_fn softverbs_move_lent;

/* Another number whenever this process has carried out requests of its peers; any thread may ask. */
typedef uint64_t softverbs_served_fn(void);
__attribute__((visibility("default"))) softverbs_served_fn softverbs_served;

/*
 * Are the device's atomics atomic with the processor's own too (IBV_ATOMIC_GLOB)? ibv_query_device says
 * IBV_ATOMIC_HCA, because many programs use no others.
 */
typedef bool softverbs_atomics_mix_fn(void);
__attribute__((visibility("default"))) softverbs_atomics_mix_fn softverbs_atomics_mix;

#endif
