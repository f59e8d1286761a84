// SPDX-License-Identifier: BSD-2-Clause
/*
 * raw.h - bare verbs: connections and queues for raw.c
 *
 * The bound for Oriel: one RC queue pair for each pair of ranks, by rdma_cm's synchronous calls; no
 * thread, no checks, and errors only name the call. wr_id numbers a queue pair's work requests.
 */
#ifndef ORIEL_PERF_RAW_H
#define ORIEL_PERF_RAW_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "bench/backend.h"

#define RAW_DEPTH 256 /* of the send queue, as in Oriel */
#define RAW_INLINE 220
#define RAW_LIST_MAX 64
#define RAW_ROUNDS_MAX 10
#define RAW_LOCKERS_MAX 64
#define RAW_STAGE_MAX 8192  /* larger puts from the program's memory are waited for */
#define RAW_RECORD_MAX 8192 /* bytes added by one accumulate */

/* Active message of an accumulate, as in Oriel: larger operands follow separately. */
struct raw_record {
	uint64_t size_bytes;
	uint64_t disp_bytes;
	uint64_t unused[4];
	double data[8];
	uint64_t unused2;
	uint64_t stamp; /* number of the message, written last */
};

/*
 * Words of a rank that one peer writes, in a cache line, and outgoing words of a device without
 * inline data.
 */
struct raw_words {
	uint64_t posted;
	uint64_t completed;
	uint64_t agreed;
	uint64_t unused[5];
	uint64_t out[RAW_DEPTH];
	/* One message at a time and the answer, as large as Oriel's; then the outgoing ones. */
	struct raw_record record;
	double operands[RAW_RECORD_MAX / sizeof(double)];
	uint64_t answer[5];
	struct raw_record record_out;
	uint64_t answer_out[5];
};

/* A rank's lock: tickets for writers, and the state of every other rank. */
struct raw_lock {
	_Alignas(64) uint64_t serving[2]; /* and its complement */
	uint64_t next;                    /* by fetch-and-add */
	_Alignas(64) struct raw_member {
		uint64_t state;
		uint64_t ticket;
	} members[RAW_LOCKERS_MAX];
};

enum { RAW_HEADER_BYTES = 40 }; /* bytes read of a lock, two words more than are used here */

/* Values read from another rank's lock. */
struct raw_seen {
	uint64_t header[RAW_HEADER_BYTES / sizeof(uint64_t)];
	uint64_t next_again;
	uint64_t ticket;
	struct raw_member members[RAW_LOCKERS_MAX];
};

/* Words that barrier partners and lockers write, and results of reads. */
struct raw_shared {
	uint64_t barrier[2][RAW_ROUNDS_MAX];
	struct raw_lock lock;
	struct raw_seen seen;
	uint64_t signals[2];   /* of the other rank: a value and a count */
	struct raw_words of[]; /* of each rank */
};

/* Connection data of a rank. */
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
	uint8_t *stage;     /* RAW_DEPTH bounce buffers of RAW_STAGE_MAX bytes */
	uint64_t *out;      /* its raw_words.out in this process */
	uint64_t posted;    /* number of the last request */
	uint64_t signalled; /* number of the last request with a completion */
	uint64_t retired;   /* number of the last request known complete */
	uint64_t posts_sent, posts_awaited, completes_sent, completes_awaited, records_sent, records_taken;
};

struct raw {
	int rank, size;
	struct raw_peer *peers; /* by rank; the own entry is unused */
	struct raw_shared *shared;
	uint8_t *stages;
	struct ibv_mr *window_mr, *origin_mr, *shared_mr, *stage_mr;
	uint32_t inline_max;
};

extern struct raw raw;

/* A list of requests that is being built. */
struct raw_list {
	struct ibv_send_wr wr[RAW_LIST_MAX];
	struct ibv_sge sge[RAW_LIST_MAX];
	int count;
};

/* Appends a request, with local memory of `mr` and remote memory of rkey (raw.c). */
void raw_append(struct raw_list *list, enum ibv_wr_opcode opcode, const void *here, const struct ibv_mr *mr,
                size_t bytes, uint64_t there, uint32_t rkey);
/* Returns the address at the peer of a word that this rank writes. */
uint64_t raw_word_there(const struct raw_peer *peer, size_t offset);
/* Appends a write of a word in the peer's raw_shared. */
void raw_append_word(struct raw_list *list, const struct raw_peer *peer, const uint64_t *value, uint64_t there);
/* Appends a put to rank `to`, which uses its memory until it is acknowledged. */
void raw_append_put(struct raw_list *list, const struct raw_peer *peer, const struct perf_turn *turn, size_t at,
                    int to);
/* Posts the list; `signal` requests a completion of its last request. */
int raw_post(struct raw_peer *peer, struct raw_list *list, bool signal);
/* Waits until request `number` is complete. */
int raw_drain(struct raw_peer *peer, uint64_t number);
/* Waits until `peer` has written the word. */
int raw_await_word(struct raw_peer *peer, const uint64_t *word, uint64_t value);

/* Returns the turn of a passive-target or signal pattern, else NULL (raw_passive.c). */
perf_turn_fn raw_passive_turn(enum perf_pattern pattern);

/* Joins and connects to all ranks. Returns 0, or 1 after printing the error. */
int raw_connect(const struct perf_options *options, struct perf_place *place);

#endif
