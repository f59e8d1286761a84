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
#define RAW_LOCKERS_MAX 64
#define RAW_STAGE_MAX 8192  /* larger puts from the program's memory are waited for instead of copied */
#define RAW_RECORD_MAX 8192 /* bytes that one accumulate adds */

/* What the target is to add, as Oriel's records: operands that do not fit lie apart. */
struct raw_record {
	uint64_t size_bytes;
	uint64_t disp_bytes;
	uint64_t unused[4];
	double data[8];
	uint64_t unused2;
	uint64_t stamp; /* number of the record, behind the rest */
};

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
	/* One record at a time, and the answer to ours, as many bytes as Oriel's; then the same on their way. */
	struct raw_record record;
	double operands[RAW_RECORD_MAX / sizeof(double)];
	uint64_t answer[5];
	struct raw_record record_out;
	uint64_t answer_out[5];
};

/* A rank's lock: tickets for writers, and what each other rank asks for or has. */
struct raw_lock {
	_Alignas(64) uint64_t serving[2]; /* and its complement */
	uint64_t next;                    /* by fetch-and-add */
	_Alignas(64) struct raw_member {
		uint64_t state;
		uint64_t ticket;
	} members[RAW_LOCKERS_MAX];
};

enum { RAW_HEADER_BYTES = 40 }; /* of a lock: what is read of it, two words more than are used here */

/* What came back from another rank's lock. */
struct raw_seen {
	uint64_t header[RAW_HEADER_BYTES / sizeof(uint64_t)];
	uint64_t next_again;
	uint64_t ticket;
	struct raw_member members[RAW_LOCKERS_MAX];
};

/* Words of a rank that its barrier partners and lockers write, and what it reads itself. */
struct raw_shared {
	uint64_t barrier[2][RAW_ROUNDS_MAX];
	struct raw_lock lock;
	struct raw_seen seen;
	uint64_t signals[2];   /* of the other rank: a value and how many there were */
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
	uint64_t posts_sent, posts_awaited, completes_sent, completes_awaited, records_sent, records_taken;
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

/* A list of requests being made. */
struct raw_list {
	struct ibv_send_wr wr[RAW_LIST_MAX];
	struct ibv_sge sge[RAW_LIST_MAX];
	int count;
};

/* raw.c: add a request, here with memory of `mr`, there with rkey. */
void raw_append(struct raw_list *list, enum ibv_wr_opcode opcode, const void *here, const struct ibv_mr *mr,
                size_t bytes, uint64_t there, uint32_t rkey);
/* Where the other rank has a word that this one writes. */
uint64_t raw_word_there(const struct raw_peer *peer, size_t offset);
/* A word of the other rank's raw_shared. */
void raw_append_word(struct raw_list *list, const struct raw_peer *peer, const uint64_t *value, uint64_t there);
/* What a turn puts, to rank `to`; its memory is needed until it is acknowledged. */
void raw_append_put(struct raw_list *list, const struct raw_peer *peer, const struct perf_turn *turn, size_t at,
                    int to);
/* Post the list; `signal`: with a completion of its last request. */
int raw_post(struct raw_peer *peer, struct raw_list *list, bool signal);
/* Until request `number` is complete. */
int raw_drain(struct raw_peer *peer, uint64_t number);
/* Until `peer` has written the word. */
int raw_await_word(struct raw_peer *peer, const uint64_t *word, uint64_t value);

/* raw_passive.c: turns where a rank reaches another's memory without its help, and signals; NULL for all others. */
perf_turn_fn raw_passive_turn(enum perf_pattern pattern);

/* Join and connect with every other rank. Returns 0, or 1 after telling what failed. */
int raw_connect(const struct perf_options *options, struct perf_place *place);

#endif
