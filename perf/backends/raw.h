// SPDX-License-Identifier: BSD-2-Clause
/*
 * raw.h - bare verbs: connections and queues for raw.c
 *
 * The floor that Oriel is measured against: one RC queue pair per pair of ranks, made with
 * rdma_cm's synchronous calls; no thread, no checks, no errors told but that something failed. Work
 * requests on a queue pair are numbered; wr_id is the number.
 */
#ifndef ORIEL_PERF_RAW_H
#define ORIEL_PERF_RAW_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "bench/backend.h"

#define RAW_DEPTH 256 /* of the send queue, as Oriel's */
#define RAW_INLINE 220
#define RAW_LIST_MAX 64
#define RAW_ROUNDS_MAX 10
#define RAW_STAGE_MAX 8192 /* larger puts from the program's memory are waited for instead of copied */

/*
 * Words of a rank that one peer writes, a cache line, and words to it on their way where nothing is
 * sent inline.
 */
struct raw_words {
	uint64_t posted;
	uint64_t completed;
	uint64_t agreed;
	uint64_t unused[5];
	uint64_t out[RAW_DEPTH];
};

/* Words of a rank that its barrier partners write. */
struct raw_shared {
	uint64_t barrier[2][RAW_ROUNDS_MAX];
	struct raw_words of[]; /* of each rank */
};

/* What a rank tells the other when they connect. */
struct raw_hello {
	uint64_t window;
	uint64_t shared;
	uint32_t window_rkey;
	uint32_t shared_rkey;
	int32_t rank;
};

struct raw_peer {
	struct rdma_cm_id *id;
	struct raw_hello there;
	uint8_t *stage;     /* RAW_DEPTH places of RAW_STAGE_MAX bytes, for puts that are copied */
	uint64_t *out;      /* its raw_words.out here */
	uint64_t posted;    /* number of the last request */
	uint64_t signalled; /* number of the last one with a completion */
	uint64_t retired;   /* number of the last one known complete */
	uint64_t posts_sent, posts_awaited, completes_sent, completes_awaited;
};

struct raw {
	int rank, size;
	struct raw_peer *peers; /* by rank; one's own is not used */
	struct raw_shared *shared;
	uint8_t *stages;
	struct ibv_mr *window_mr, *origin_mr, *shared_mr, *stage_mr;
	uint32_t inline_max;
};

extern struct raw raw;

/* Join and connect with every other rank. Returns 0, or 1 after telling what failed. */
int raw_connect(const struct perf_options *options, struct perf_place *place);

#endif
