// SPDX-License-Identifier: BSD-2-Clause
/*
 * shm.h - memory that processes share, and the order in which they write it
 *
 * DESIGN NOTES
 *
 * Shared memory is of three kinds, all sealed memfds: a killed process leaves nothing behind, and
 * no process can remove a page that another one has mapped (memory.c).
 *
 *   segment  one per process. Only its owner writes it; peers map it to read. It holds the tables
 *            of queue pairs and memory keys, which a peer that carries out an operation itself
 *            checks as a NIC would.
 *   bell     one page per process. Peers write it: a pipe has work, or a wakeup has been sent.
 *   pipe     one per ordered pair of processes (requester -> responder): a ring of requests and a
 *            ring of responses. Each request gets one response, and at most SHM_RING requests are
 *            unanswered. So the ring of responses is never full, and neither side waits.
 *
 * No process waits for a lock of another one. Each word has one writer at a time, and a wait for
 * another process (shm_busy_*) ends when that process dies. lib/ordering.md explains why the pairs
 * of stores and loads suffice.
 */
#ifndef SOFT_SHM_H
#define SOFT_SHM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum {
	SHM_ABI = 11,
	SHM_QPS_PER_SLOT = 4096, /* a queue pair's number is slot << 12 | index */
	SHM_SLOT_BITS = 12,
	SHM_SLOT_NUMBERS = 1 << 12, /* a queue pair's number has 24 bits */
	SHM_SLOTS = 4,              /* blocks of numbers of one process */
	SHM_QPS = SHM_SLOTS * SHM_QPS_PER_SLOT,
	SHM_MRS_LOG2 = 18, /* a key is index << SHM_KEY_BITS | random bits */
	SHM_MRS = 1 << SHM_MRS_LOG2,
	SHM_KEY_BITS = 32 - SHM_MRS_LOG2,
	SHM_RING = 64,     /* unanswered requests */
	SHM_CHUNK = 16384, /* bytes of data of a request or response */
	SHM_INLINE = 160,  /* bytes of data in the request itself */
	SHM_FEW = 8,       /* unanswered requests with chunks of their own (shm_chunk_of) */
	SHM_CHUNKS = SHM_RING + SHM_FEW,
};

#define SHM_NO_QP UINT32_MAX

#define SHM_MAGIC 0x736f667476657262ULL

/* shm_qp.gate: whether a peer may use the queue pair, and which one */
#define SHM_GATE_QPN 0x00ffffffu /* the connected queue pair */
#define SHM_GATE_WRITE 0x01000000u
#define SHM_GATE_READ 0x02000000u
#define SHM_GATE_ATOMIC 0x04000000u
#define SHM_GATE_RD_RES 0x08000000u /* reads and atomics have responder resources */
#define SHM_GATE_OPEN 0x80000000u   /* in RTR, RTS or SQD */

struct shm_qp {
	/* Written by the owner, under qp->lock. */
	_Atomic uint32_t gate;
	uint32_t pd; /* constant while the gate is open */
	uint8_t pad0[56];
	/* Written by the owner while it accesses its peer's memory; on a cache line of its own. */
	_Atomic uint32_t busy;
	_Atomic uint32_t newest; /* latest serial (shm_mr) of these accesses */
	uint8_t pad1[56];
};

#define SHM_ACCESS_WINDOW 0x80000000u /* a memory window: its key is not an lkey */

struct shm_mr {
	_Atomic uint32_t key; /* 0: free */
	uint32_t pd;
	uint32_t access; /* IBV_ACCESS_*, SHM_ACCESS_WINDOW */
	uint32_t qpn;    /* queue pair of a memory window of type 2, else 0 */
	uint64_t iova;
	uint64_t length;      /* bytes */
	uint64_t addr;        /* owner's address of iova */
	uint64_t file_offset; /* of addr */
	int32_t file_fd;      /* owner's descriptor of the file behind the memory, or -1 */
	uint32_t serial;      /* unique in the segment; peers cache mappings under it */
	uint64_t file_inode;  /* peers map no file with another inode */
};

/* shm_segment.attention: how the owner notices a bell */
enum shm_attention {
	SHM_POLLED, /* a thread calls ibv_poll_cq; the engine polls rarely */
	SHM_WAKEUP, /* peers write to the owner's eventfd */
};

struct shm_segment {
	uint64_t magic;
	uint32_t abi;
	uint32_t key_mask;      /* index of a key ^ key_mask = place in mr[] */
	uint32_t no_membarrier; /* peers fence (shm_busy_enter, shm_bell_ring) */
	_Atomic uint32_t slots; /* entries of slot[] */
	uint32_t slot[SHM_SLOTS];
	uint8_t pad0[24];
	_Atomic uint32_t attention; /* enum shm_attention */
	uint8_t pad1[60];
	_Atomic uint64_t spin_ticks; /* time of a recent empty poll: soft_say_spinning */
	uint8_t pad2[56];
	uint8_t pad3[4096 - 192];
	struct shm_qp qp[SHM_QPS];
	struct shm_mr mr[SHM_MRS];
};

struct shm_bell {
	_Atomic uint64_t rung; /* unique; peers write it */
	uint8_t pad0[56];
	_Atomic uint32_t wakeup_pending; /* an eventfd write is in flight */
	uint8_t pad1[60];
};

enum shm_req_flags {
	SHM_REQ_FIRST = 1 << 0, /* first part of a message */
	SHM_REQ_LAST = 1 << 1,
	SHM_REQ_RESYNC = 1 << 2, /* restart after a refusal */
	SHM_REQ_SOLICITED = 1 << 3,
	SHM_REQ_IMM = 1 << 4,
	SHM_REQ_INV = 1 << 5,
	SHM_REQ_FETCH = 1 << 6,       /* the responder reads the data from the requester's memory */
	SHM_REQ_COALESCED = 1 << 7,   /* small writes, each a struct shm_piece */
	SHM_REQ_SYNCHRONOUS = 1 << 8, /* not in the send queue (move.c) */
	SHM_REQ_DATAGRAM = 1 << 9,
};

/* The GIDs of a datagram. */
struct shm_address {
	uint8_t sgid[16], dgid[16];
};

/* From a datagram's global and local headers. */
struct shm_header {
	uint32_t version_tclass_flow; /* network order; 0: no global header */
	uint8_t hop_limit;
	uint8_t sl;
	uint8_t pad[2];
};

/* A waiting responder finds the request in one cache line, and small data in the next. */
struct shm_req {
	uint32_t opcode; /* enum ibv_wr_opcode */
	uint32_t flags;  /* enum shm_req_flags */
	uint32_t dst_qpn;
	uint32_t src_qpn;
	uint32_t imm;    /* or key to invalidate */
	uint32_t rkey;   /* datagram: Q_Key */
	uint32_t nsge;   /* ranges in the chunk (SHM_REQ_FETCH), or pieces (SHM_REQ_COALESCED) */
	uint32_t length; /* bytes in this part */
	union {
		uint64_t raddr;
		struct shm_header header; /* SHM_REQ_DATAGRAM */
	};
	uint32_t wqe;      /* for the response */
	uint32_t qp_index; /* requester's; SHM_NO_QP: no response is awaited */
	uint32_t epoch;    /* for the response */
	uint32_t chunk;    /* of its data and its response's */
	uint8_t pad[4];
	_Atomic uint32_t turn;    /* low half of the request's number, from 1; written last */
	uint8_t data[SHM_INLINE]; /* the data if length <= SHM_INLINE, else in the chunk */
	/* Unused by coalesced writes. */
	union {
		struct {
			uint64_t compare_add;
			uint64_t swap;
			uint64_t total;  /* bytes of the message */
			uint64_t offset; /* of this part */
		};
		struct shm_address address; /* SHM_REQ_DATAGRAM */
	};
};

/* A write in a coalesced request; its data follow, in words of 8 bytes. */
struct shm_piece {
	uint64_t raddr;
	uint32_t rkey;
	uint32_t length; /* bytes */
};

enum shm_status {
	SHM_ACK,
	SHM_RNR,       /* no receive posted */
	SHM_DROPPED,   /* after a refused request, and not the retry */
	SHM_NOT_READY, /* a NIC would not answer */
	SHM_NAK_INV_REQ,
	SHM_NAK_ACCESS,
	SHM_NAK_OP,
	SHM_NO_FETCH, /* the responder cannot read the requester's memory */
};

struct shm_resp {
	uint32_t status; /* enum shm_status */
	uint32_t qp_index;
	uint32_t wqe;
	uint32_t rnr_timer;
	uint32_t length; /* bytes of data, or pieces carried out (SHM_REQ_COALESCED) */
	uint32_t flags;  /* of the request */
	uint64_t value;  /* an atomic's old value, or shm_ticks of a write's placement */
	uint64_t offset; /* of this part */
	uint32_t epoch;
	uint32_t chunk; /* as of its request */
	uint8_t pad[8];
	_Atomic uint32_t turn; /* as of its request; written last */
	uint32_t reserved;
};

struct shm_pipe {
	struct shm_req req[SHM_RING];   /* written by the requester */
	struct shm_resp resp[SHM_RING]; /* written by the responder */
	uint8_t req_chunk[SHM_CHUNKS][SHM_CHUNK];
	uint8_t resp_chunk[SHM_CHUNKS][SHM_CHUNK];
};

/*
 * Returns the chunk of the next request, after `requests` of them, of which `unanswered` are in
 * flight. Few requests in flight reuse SHM_FEW chunks, which stay in both sides' caches. No two
 * requests in flight share a chunk: SHM_FEW, or SHM_RING, in a row have different ones.
 */
static inline uint32_t shm_chunk_of(uint64_t requests, uint64_t unanswered)
{
	return (uint32_t)(unanswered < SHM_FEW ? SHM_RING + requests % SHM_FEW : requests % SHM_RING);
}

/* ---- numbers ---- */

static inline uint32_t shm_qpn(const struct shm_segment *seg, uint32_t index)
{
	return seg->slot[index / SHM_QPS_PER_SLOT] << SHM_SLOT_BITS | index % SHM_QPS_PER_SLOT;
}

/* Owner; pairs with shm_qpn_index: the slot's number is written first. */
static inline void shm_slots_store(struct shm_segment *seg, uint32_t slots)
{
	atomic_store_explicit(&seg->slots, slots, memory_order_release);
}

/* Returns the index of a number, or -1 if it is another owner's. Pairs with shm_slots_store. */
static inline int shm_qpn_index(const struct shm_segment *seg, uint32_t qpn)
{
	uint32_t slots = atomic_load_explicit(&((struct shm_segment *)(uintptr_t)seg)->slots, memory_order_acquire);

	for (uint32_t i = 0; i < slots && i < SHM_SLOTS; i++)
		if (seg->slot[i] == qpn >> SHM_SLOT_BITS)
			return (int)(i * SHM_QPS_PER_SLOT + qpn % SHM_QPS_PER_SLOT);
	return -1;
}

/* ---- gate ---- */

/*
 * Owner; pairs with shm_gate_load: pd is written before the gate opens. The fence pairs with the
 * one in still_wanted (responder.c): a peer that sees what the program stores after the close sees
 * the close.
 */
static inline void shm_gate_store(struct shm_qp *qp, uint32_t gate)
{
	atomic_store_explicit(&qp->gate, gate, memory_order_release);
	atomic_thread_fence(memory_order_release);
}

/* Peer, between shm_busy_enter and shm_busy_leave; pairs with shm_gate_store. */
static inline uint32_t shm_gate_load(const struct shm_qp *qp)
{
	return atomic_load_explicit(&((struct shm_qp *)(uintptr_t)qp)->gate, memory_order_acquire);
}

/*
 * ---- busy: this process accesses its peer's memory. A peer that withdraws a key or closes its
 * gate waits until it is 0 ----
 */

/*
 * Requester, before it reads the gate and the key. The peer calls membarrier before shm_busy_load,
 * so a fence is needed only if one of the two has no membarrier (full_fence).
 */
static inline void shm_busy_enter(struct shm_qp *own, bool full_fence)
{
	atomic_store_explicit(&own->busy, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (full_fence)
		atomic_thread_fence(memory_order_seq_cst);
}

/* Requester; pairs with shm_busy_load: the copy is over before the peer sees 0. */
static inline void shm_busy_leave(struct shm_qp *own)
{
	atomic_store_explicit(&own->busy, 0, memory_order_release);
}

/* Waiting peer; pairs with shm_busy_leave. */
static inline uint32_t shm_busy_load(const struct shm_qp *qp)
{
	return atomic_load_explicit(&((struct shm_qp *)(uintptr_t)qp)->busy, memory_order_acquire);
}

/*
 * Busy requester that has found a key with a later serial than `newest`; it then reads the key
 * again. The peer withdraws the key and then reads this word: either the peer sees the serial, or
 * the requester sees that the key is gone. Release: accesses under older keys are complete.
 */
static inline void shm_newest_store(struct shm_qp *own, uint32_t serial)
{
	atomic_store_explicit(&own->newest, serial, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
}

/* Requester; or its peer, after shm_mr_withdraw. Pairs with shm_newest_store. */
static inline uint32_t shm_newest_load(const struct shm_qp *qp)
{
	return atomic_load_explicit(&((struct shm_qp *)(uintptr_t)qp)->newest, memory_order_acquire);
}

/* Serials wrap around. */
static inline bool shm_serial_is_later(uint32_t serial, uint32_t than)
{
	return (int32_t)(serial - than) > 0;
}

/* ---- keys ---- */

/* Owner; pairs with shm_mr_key: the other fields are written first. */
static inline void shm_mr_publish(struct shm_mr *mr, uint32_t key)
{
	atomic_store_explicit(&mr->key, key, memory_order_release);
}

/* Owner; pairs with shm_mr_key. The caller then waits for busy peers that have used the key. */
static inline void shm_mr_withdraw(struct shm_mr *mr)
{
	atomic_store_explicit(&mr->key, 0, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
}

/* Peer or owner; pairs with shm_mr_publish. */
static inline uint32_t shm_mr_key(const struct shm_mr *mr)
{
	return atomic_load_explicit(&((struct shm_mr *)(uintptr_t)mr)->key, memory_order_acquire);
}

/* ---- rings ---- */

/* Requester; pairs with shm_req_is_there: the rest is written first. `number` counts from 1. */
static inline void shm_req_publish(struct shm_req *req, uint64_t number)
{
	atomic_store_explicit(&req->turn, (uint32_t)number, memory_order_release);
}

/* Responder; pairs with shm_req_publish. */
static inline bool shm_req_is_there(struct shm_req *req, uint64_t number)
{
	return atomic_load_explicit(&req->turn, memory_order_acquire) == (uint32_t)number;
}

/*
 * Responder; pairs with shm_resp_is_there. Release: the request has been read, and may be reused.
 */
static inline void shm_resp_publish(struct shm_resp *resp, uint64_t number)
{
	atomic_store_explicit(&resp->turn, (uint32_t)number, memory_order_release);
}

/* Requester; pairs with shm_resp_publish. */
static inline bool shm_resp_is_there(struct shm_resp *resp, uint64_t number)
{
	return atomic_load_explicit(&resp->turn, memory_order_acquire) == (uint32_t)number;
}

/* ---- bell and attention ---- */

/*
 * Peer that has published something; `ring` is unique. It then loads attention, while the owner
 * stores SHM_WAKEUP, calls membarrier and reads the bell: either the peer sees SHM_WAKEUP, or the
 * owner sees the ring. A fence is needed only without membarrier (full_fence).
 */
static inline void shm_bell_ring(struct shm_bell *bell, uint64_t ring, bool full_fence)
{
	atomic_store_explicit(&bell->rung, ring, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	if (full_fence)
		atomic_thread_fence(memory_order_seq_cst);
}

/*
 * Owner: returns the last ring. Pairs with shm_bell_ring: everything published before it is
 * visible.
 */
static inline uint64_t shm_bell_last(struct shm_bell *bell)
{
	return atomic_load_explicit(&bell->rung, memory_order_acquire);
}

/*
 * Owner, which reads the bell again after SHM_WAKEUP and a heavy barrier. Pairs with
 * shm_attention_get.
 */
static inline void shm_attention_set(struct shm_segment *seg, enum shm_attention attention)
{
	atomic_exchange_explicit(&seg->attention, (uint32_t)attention, memory_order_seq_cst);
}

/* Owner, or peer after shm_bell_ring. Pairs with shm_attention_set. */
static inline uint32_t shm_attention_get(const struct shm_segment *seg)
{
	return atomic_load_explicit(&((struct shm_segment *)(uintptr_t)seg)->attention, memory_order_relaxed);
}

/* Returns a cheap time for hints, in ticks of about a nanosecond or less. */
static inline uint64_t shm_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
#endif
}

/* Owner's pollers; pairs with shm_spin_load. A hint. */
static inline void shm_spin_store(struct shm_segment *seg, uint64_t ticks)
{
	atomic_store_explicit(&seg->spin_ticks, ticks, memory_order_relaxed);
}

/* Peer; pairs with shm_spin_store. */
static inline uint64_t shm_spin_load(const struct shm_segment *seg)
{
	return atomic_load_explicit(&((struct shm_segment *)(uintptr_t)seg)->spin_ticks, memory_order_relaxed);
}

/* Peer: returns true if the caller must write to the eventfd. Pairs with shm_wakeup_reset. */
static inline bool shm_wakeup_claim(struct shm_bell *bell)
{
	return atomic_exchange_explicit(&bell->wakeup_pending, 1, memory_order_seq_cst) == 0;
}

/*
 * Owner's engine, before it reads the bell, and after the death of a peer that may have claimed
 * without writing. Returns true if a peer had claimed.
 */
static inline bool shm_wakeup_reset(struct shm_bell *bell)
{
	return atomic_exchange_explicit(&bell->wakeup_pending, 0, memory_order_seq_cst) != 0;
}

#endif
