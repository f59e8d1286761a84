// SPDX-License-Identifier: BSD-2-Clause
/*
 * am_send.h - sending active messages to a peer: the sender's side of a ring
 *
 * DESIGN NOTES
 *
 * A message is an operation that its target carries out. The sender alone writes the ring at the
 * target (layout.h): operands and slot, by stores if it is mapped, then the stamp, which is the
 * message's number, by a write, or a store if no request is in flight. If the device does not place
 * writes in order (flag_mode), the sender waits before the stamp. The target answers with struct
 * am_ack in our area, behind the results, which the thread that sees it copies out.
 *
 * Operands that do not fit the slot need contiguous bytes of ring data; results have the same
 * offset in the memory for results. Room is free when the message is applied and its result copied.
 *
 *   the ring   The target makes it at the first wakeup, and writes its place into our area
 *              (am_ring). Until then am_send returns 0.
 *   a wakeup   goes with a message if the previous one has been answered (am_recv.h), and again
 *              while the sender waits: answer and message may have crossed.
 *
 * A refused message has no effect and no result. The calls that complete messages report its error
 * (deferred_error.h).
 *
 * `lock` guards all of it, and is taken after win->lock and before wire->lock. Nothing is taken
 * from a dead peer: the program may have its memory back by then (am_sender_cut).
 */
#ifndef ORIEL_AM_SEND_H
#define ORIEL_AM_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"
#include "base/owned_lock.h"
#include "verbs/layout.h"
#include "verbs/slab.h"

struct oriel_job;
struct peer;
struct deferred_errors;

/* For the error text of a refusal. */
struct am_subject {
	struct deferred_errors *deferred_errors;
	const char *window; /* its label */
	const char *call;
	uint64_t disp_bytes;
	uint64_t limit_bytes; /* of the target's memory, as far as this rank knows */
	int rank;             /* in the window's group */
	uint32_t size_bytes;  /* of the elements; 0: an addition to signal disp_bytes */
};

/* The destinations of a result, which is contiguous in the answer. */
struct am_scatter {
	uint32_t count;
	struct am_part {
		void *to;
		uint32_t size_bytes;
	} parts[];
};

/* Blocks of one size at one distance; 0 bytes: they are contiguous. */
struct am_blocks {
	ptrdiff_t distance;
	uint32_t size_bytes;
};

/* Copies a result of which not all bytes are to be written. */
typedef void am_copy(uint8_t type, void *to, const void *from, uint32_t size_bytes);

struct am_outstanding {
	am_copy *copy;              /* NULL: memcpy */
	void *result;               /* NULL: none */
	struct am_scatter *scatter; /* instead of `result`; freed with the message */
	struct am_blocks blocks;    /* in which it lies at `result` */
	uint32_t result_bytes;      /* 0: no result */
	uint32_t at;                /* as in struct am */
	uint32_t data_end;          /* data_tail once it is free */
	uint8_t type;
	struct am_subject subject;
};

struct am_sender {
	struct owned_lock lock;
	uint64_t sent;      /* messages */
	uint64_t applied;   /* of them, results copied; read without the lock, by counter_load */
	uint64_t seen;      /* check of the last answer */
	uint64_t wakes;     /* wakeups sent */
	uint64_t rested;    /* of them, answered */
	uint32_t data_head; /* bytes of ring data taken, and (data_tail) freed */
	uint32_t data_tail;
	struct segment_ref ring; /* addr 0: not known yet */
	struct am *ring_here;    /* NULL: not mapped */
	struct piece results;    /* addr NULL before the first message with a result */
	struct am_outstanding places[AM_SLOTS];
};

struct am_message {
	struct am am;     /* data_at and stamp are not set */
	const void *data; /* am.data_bytes of it, AM_LARGEST_BYTES at most */
	void *result;
	struct am_scatter *scatter; /* instead of `result`; from malloc, am_send's once it is sent */
	struct am_blocks blocks;    /* in which the result is to lie */
	uint32_t result_bytes;      /* AM_LARGEST_BYTES at most */
	am_copy *copy;              /* NULL: memcpy */
	bool behind_gets;           /* placed after earlier reads */
	struct am_subject subject;
};

struct am_sent {
	uint64_t number;
	uint64_t request; /* the last one */
};

/*
 * Sends a message to another rank that is up. *data may be reused on return; the result is there
 * when am_progress returns true. Returns 1: sent; 0: no room or no ring yet: poll the wire and call
 * again. ERRORS: ORIEL_ERR_PEER (no text), ORIEL_ERR_MEMORY.
 */
int am_send(struct peer *peer, const struct am_message *message, struct am_sent *sent);

/* Returns whether the peer polls, as far as known, and has a ring; asks for one. */
bool am_is_polled(struct peer *peer);

/* Returns whether the peer has a ring with room; asks for one. */
bool am_has_room(struct peer *peer, size_t bytes);

/* Returns whether the peer takes AM_PULL. */
bool am_is_pulled(const struct peer *peer);

/*
 * Acts as am_send without a wait: returns 0 also while earlier requests are under way, or if the
 * device does not place writes in order.
 */
int am_send_at_once(struct peer *peer, const struct am_message *message, struct am_sent *sent);

/*
 * Makes progress for a thread that waits for message `number`, or for room. Returns am_is_applied.
 */
bool am_progress(struct peer *peer, uint64_t number);

/* Returns whether message `number` is applied, its result copied. */
bool am_is_applied(const struct peer *peer, uint64_t number);

/*
 * Takes the last answer, and returns whether a message of the window for bytes from `from` up to
 * `to` is outstanding.
 */
bool am_covers(struct peer *peer, const char *window, uint64_t from, uint64_t to);

/* The peer is dead: after the return no thread copies a result or records an error. */
void am_sender_cut(struct peer *peer);

/* No thread sends any more. */
void am_senders_close(struct oriel_job *job);

#endif
