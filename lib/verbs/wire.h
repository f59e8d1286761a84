// SPDX-License-Identifier: BSD-2-Clause
/*
 * wire.h - one queue pair: only wire*.c fill, post and retire work requests
 *
 * DESIGN NOTES
 *
 * Work requests on a queue pair are numbered from 1, in wr_id: one completion retires all before
 * it, and an operation needs no object. One request in every quarter of the queue is signalled, and
 * those that a caller waits for (wire_signal).
 *
 * Requests wait in a *batch* and leave under one doorbell with the next flag or flush, or when the
 * batch is full. Requests that take longer than a doorbell leave at once, signalled. Small puts are
 * copied into the batch; a put that continues the last request, at the target and here, lengthens
 * it. Somewhat larger puts, and gets, of unregistered memory go through a registered *ring*
 * (copy_ring.h).
 *
 * Atomics change 8 aligned bytes at the peer; the old value comes back as a get does. The device
 * keeps to the number of reads and atomics that a peer takes at a time (initiator depth). Later
 * requests may overtake reads and atomics, but not across a *fence* (wire_fence).
 *
 * Locking: wire->lock guards everything but `retired` and `state`. Functions named wire_* take it
 * unless their comment says that the caller holds it. While the send queue is full the lock is
 * released between polls, until the device's retry limit (a few seconds) at the latest.
 *
 * A rank's wire to itself never comes up: direct_access.h serves it.
 */
#ifndef ORIEL_WIRE_H
#define ORIEL_WIRE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/order.h"
#include "base/owned_lock.h"
#include "verbs/copy_ring.h"
#include "verbs/device.h"
#include "verbs/slab.h"

struct device;
struct rdma_cm_id;

/* A connection's queue pair, and the completion queue of its sends */

#define WIRE_INLINE_WANTED 220 /* bytes */

struct wire_pair {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	uint32_t inline_max; /* as the device granted */
};

/*
 * Makes both for a cm_id, which then owns the queue pair. wakeup_take returns `peer` for its
 * wakeups. ERRORS: ORIEL_ERR_DEVICE.
 */
int wire_make_pair(const struct device *device, struct rdma_cm_id *id, uint64_t peer, struct wire_pair *pair);
void wire_drop_pair(const struct device *device, struct rdma_cm_id *id, struct wire_pair *pair);

#define WIRE_BATCH 16         /* requests per doorbell, at most */
#define WIRE_BATCH_BYTES 1024 /* of inline data in the batch */
#define WIRE_BATCH_MAX 4096   /* bytes; larger requests leave at once */
#define WIRE_MERGED_MAX 16384 /* bytes of merged puts; then the request leaves */
#define WIRE_POLL_BATCH 16
#define WIRE_COPY_MAX 8192 /* larger unregistered transfers are registered instead */

enum wire_state {
	WIRE_DOWN,   /* no queue pair yet */
	WIRE_UP,     /* requests may be posted */
	WIRE_BROKEN, /* every request is dropped */
};

struct remote {
	uint64_t addr;
	uint32_t rkey;
};

/* Returns origin memory; lkey 0: it is not registered. */
static inline struct ibv_sge wire_sge(const void *addr, size_t size_bytes, uint32_t lkey)
{
	return (struct ibv_sge){ (uint64_t)(uintptr_t)addr, (uint32_t)size_bytes, lkey };
}

struct wire {
	struct owned_lock lock;
	uint32_t state; /* enum wire_state; written under lock, read by state_load */
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	uint32_t depth;      /* requests the send queue holds */
	uint32_t inline_max; /* bytes of an inline put */
	uint64_t max_message_bytes;
	enum flag_mode flag_mode;
	struct remote anchor; /* valid memory of the peer, for requests without data */
	struct ibv_sge sink;  /* for unwanted old values */
	/* Numbers of the last request that: */
	uint64_t posted;        /* is appended */
	uint64_t signalled;     /* asks for a completion */
	uint64_t read_behind;   /* is a read that has earlier writes placed */
	uint64_t fetching;      /* is a read or atomic */
	uint64_t changing;      /* is an atomic, flags aside */
	uint64_t zero_copy;     /* uses the program's memory */
	uint64_t retired;       /* is known complete; read by counter_load */
	uint32_t batched;       /* requests appended, not yet posted */
	uint32_t batched_bytes; /* of inline_data */
	bool cut;               /* by wire_break */
	uint32_t fence;         /* IBV_SEND_FENCE for the next request */
	struct ibv_send_wr wr[WIRE_BATCH];
	struct ibv_sge sge[WIRE_BATCH];
	uint8_t inline_data[WIRE_BATCH_BYTES];
	struct copy_ring copies;
	const struct device *device; /* set with the queue pair */
	/* Called once, when the queue pair fails, with the lock held. */
	bool memory_failed; /* the reason: a request's memory was refused, here or there */
	void (*broken)(void *arg, const char *text);
	void *broken_arg;
};

void wire_init(struct wire *wire, struct slabs *slabs);
void wire_destroy(struct wire *wire);

/* Takes over an established queue pair. sink: 8 registered bytes. */
void wire_attach(struct wire *wire, const struct device *device, const struct wire_pair *pair, struct remote anchor,
                 struct ibv_sge sink);

/* Stops posting; requests in flight count as lost. The caller holds no lock. */
void wire_break(struct wire *wire);

/*
 * The requests. Each returns 0, ORIEL_ERR_PEER once the wire is broken, or ORIEL_ERR_MEMORY if the
 * ring cannot be made. The length is not 0. With an lkey the device uses the origin memory until
 * the request completes. Without one there are at most WIRE_COPY_MAX bytes, and a put's origin is
 * free on return. *number becomes the request's.
 */
int wire_put(struct wire *wire, struct ibv_sge origin, struct remote target, uint64_t *number);
int wire_get(struct wire *wire, struct ibv_sge origin, struct remote target, uint64_t *number);

/* Fast path of wire_put, for at most inline_max bytes. */
int wire_put_inline(struct wire *wire, struct ibv_sge origin, struct remote target, uint64_t *number);

/* An atomic on 8 aligned bytes. */
struct atomic {
	enum ibv_wr_opcode opcode;
	uint64_t compare_add;
	uint64_t swap;
	struct remote target;
};

static inline struct atomic atomic_add(uint64_t add, struct remote target)
{
	return (struct atomic){ IBV_WR_ATOMIC_FETCH_AND_ADD, add, 0, target };
}

static inline struct atomic atomic_swap(uint64_t compare, uint64_t swap, struct remote target)
{
	return (struct atomic){ IBV_WR_ATOMIC_CMP_AND_SWP, compare, swap, target };
}

/*
 * Posts an atomic. *old becomes the old value, like a get without a key; NULL: not wanted. Return
 * value and *number are as above.
 */
int wire_atomic(struct wire *wire, const struct atomic *atomic, uint64_t *old, uint64_t *number);

/*
 * Orders everything posted from now on, by any thread, behind earlier reads and atomics, if any is
 * outstanding.
 */
void wire_fence(struct wire *wire);

/* Fences if atomics are outstanding, flags aside. */
void wire_fence_changes(struct wire *wire);

/* Puts bytes, in as many messages as it takes; `origin` is free on return. */
int wire_write(struct wire *wire, const void *origin, size_t size_bytes, struct remote target);

/*
 * Write a flag word behind everything posted before, atomics too, and ring the doorbell. `before`
 * is its old value (for FLAG_ATOMIC). In mode FLAG_WAIT the caller has waited for the data.
 */
int wire_flag(struct wire *wire, uint64_t before, uint64_t value, struct remote target, uint64_t *number);
int wire_flag_signalled(struct wire *wire, uint64_t before, uint64_t value, struct remote target, uint64_t *number);

/*
 * Write a word of our own protocols by a plain write and ring the doorbell. In modes other than
 * FLAG_WRITE the caller has waited for what must be placed before. `wake` also wakes the peer's
 * service thread (wakeup.h); wire_wake does only that.
 */
int wire_word(struct wire *wire, uint64_t value, struct remote target, bool wake, uint64_t *number);
int wire_wake(struct wire *wire, uint64_t *number);

/*
 * Put few enough bytes to be copied, or add to a word, without waiting, and ring the doorbell. They
 * are placed behind everything posted before, with `gets` also behind the answers of gets.
 */
int wire_put_behind(struct wire *wire, struct ibv_sge origin, struct remote target, bool gets, uint64_t *number);
int wire_add_behind(struct wire *wire, uint64_t add, struct remote target, bool gets, uint64_t *number);

/* Posts requests up to the present one, signals the last, and returns its number. */
uint64_t wire_signal(struct wire *wire);

/*
 * Returns the request whose completion says that those up to `number` are placed: itself, or a read
 * behind it (device.h), which is posted if necessary.
 */
uint64_t wire_placing_behind(struct wire *wire, uint64_t number);

static inline uint64_t wire_placing(struct wire *wire, uint64_t number)
{
	return wire->device && wire->device->read_behind ? wire_placing_behind(wire, number) : number;
}

uint64_t wire_last_zero_copy(struct wire *wire);

/* Posts the batch. */
void wire_ring(struct wire *wire);

/* Polls. Returns whether all requests up to *number, the last, are complete. */
bool wire_is_idle(struct wire *wire, uint64_t *number);

/* Polls the completion queue. */
void wire_poll(struct wire *wire);

/* Posts request `number`, signalled, and polls. True: it is complete. */
bool wire_drive(struct wire *wire, uint64_t number);

/*
 * Waits until request `number` is complete. False once the wire is broken, at the latest by the
 * device's retries.
 */
bool wire_wait(struct wire *wire, uint64_t number);

/* Returns whether wire_poll has seen request `number` complete. */
static inline bool wire_done(const struct wire *wire, uint64_t number)
{
	return counter_load(&wire->retired) >= number; /* pairs with the counter_store of retire */
}

/* Keeps a signalled request outstanding, so that an unreachable peer breaks the wire. */
void wire_ping(struct wire *wire);

#endif
