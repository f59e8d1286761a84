// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls of softverbs beyond verbs. A program that runs on any device does not link them, but looks
 * them up by name (dlsym).
 */
#ifndef SOFT_EXTENSION_H
#define SOFT_EXTENSION_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A mapped region of a peer: the bytes [addr, addr + size_bytes), as keys name them, are at `here`
 * in this process.
 */
struct softverbs_mapping {
	uint64_t addr;
	size_t size_bytes;
	void *here;
};

typedef int softverbs_map_fn(struct ibv_qp *qp, uint32_t rkey, unsigned int access, struct softverbs_mapping *mapping);
typedef void softverbs_unmap_fn(const struct softverbs_mapping *mapping);

/*
 * Maps the region of a key that grants `access` (IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ)
 * to this queue pair, which is in RTS. Returns 0 and *mapping, or an errno value: then the caller
 * uses verbs. The caller unmaps each mapping once.
 */
__attribute__((visibility("default"))) softverbs_map_fn softverbs_map;
__attribute__((visibility("default"))) softverbs_unmap_fn softverbs_unmap;

/*
 * Carries out an RDMA WRITE (`write`) or READ between `here` and a peer's memory before it returns
 * 0, without a work request. Earlier work requests are carried out first. Key and queue pair, which
 * is in RTS, are checked as for a work request. Returns an errno value if verbs must be used
 * instead; some of the bytes may have been copied then.
 */
typedef int softverbs_move_fn(struct ibv_qp *qp, uint32_t rkey, uint64_t addr, void *here, size_t size_bytes,
                              bool write);
__attribute__((visibility("default"))) softverbs_move_fn softverbs_move;

/* Bytes of this process, and where they lie at the peer. */
struct softverbs_piece {
	void *here;
	size_t size_bytes;
	uint64_t addr;
	uint32_t rkey;
};

/*
 * Carries out RDMA READs of all pieces, as softverbs_move does one, with a system call for many of
 * them. Returns an errno value also if a piece lies in memory that can be mapped.
 */
typedef int softverbs_read_list_fn(struct ibv_qp *qp, const struct softverbs_piece *pieces, size_t count);
__attribute__((visibility("default"))) softverbs_read_list_fn softverbs_read_list;

/* Carries out RDMA WRITEs likewise, in order. Returns the bytes written; the rest needs verbs. */
typedef uint64_t softverbs_write_list_fn(struct ibv_qp *qp, const struct softverbs_piece *pieces, size_t count);
__attribute__((visibility("default"))) softverbs_write_list_fn softverbs_write_list;

/* Reads memory that the peer has named, without a key. Returns 0 or an errno value. */
typedef int softverbs_pull_fn(struct ibv_qp *qp, uint64_t addr, void *here, size_t size_bytes);
__attribute__((visibility("default"))) softverbs_pull_fn softverbs_pull;

/*
 * Returns whether a thread of the peer polls its completion queues, or did a moment ago: then it
 * takes requests faster than a system call. A hint.
 */
typedef bool softverbs_polls_fn(struct ibv_qp *qp);
__attribute__((visibility("default"))) softverbs_polls_fn softverbs_polls;

/*
 * Returns a number that changes whenever this process has carried out requests of its peers. Any
 * thread may call it.
 */
typedef uint64_t softverbs_served_fn(void);
__attribute__((visibility("default"))) softverbs_served_fn softverbs_served;

/*
 * Returns true if the device's atomics are atomic with the processor's too (IBV_ATOMIC_GLOB).
 * ibv_query_device reports IBV_ATOMIC_HCA, because many programs accept nothing else.
 */
typedef bool softverbs_atomics_mix_fn(void);
__attribute__((visibility("default"))) softverbs_atomics_mix_fn softverbs_atomics_mix;

/*
 * Returns the resource that was missing when this process opened the device, as the subject of a
 * text, or NULL.
 */
typedef const char *softverbs_failed_step_fn(void);
__attribute__((visibility("default"))) softverbs_failed_step_fn softverbs_failed_step;

#define SOFTVERBS_THREAD "its thread" /* one of them */

#endif
