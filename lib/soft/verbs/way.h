// SPDX-License-Identifier: BSD-2-Clause
/* How a polling peer's private memory is reached. See way.c. */
#ifndef SOFT_WAY_H
#define SOFT_WAY_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SOFT_WAY_MIN = 512,        /* bytes; writes of fewer that nobody waits for always go by ring */
	SOFT_WAY_LARGE = 128 << 10, /* reads of fewer that nobody waits for always by call */
};

enum soft_way {
	SOFT_BY_RING,
	SOFT_BY_CALL, /* process_vm_writev and its like */
	SOFT_WAYS,
};

enum soft_way_kind {
	SOFT_WAY_POSTED, /* writes that the caller does not wait for */
	SOFT_WAY_WRITE,  /* writes and reads that it does wait for (move.c) */
	SOFT_WAY_READ,
	SOFT_WAY_LARGE_WRITE, /* of SOFT_WAY_LARGE and more, waited for or not */
	SOFT_WAY_LARGE_READ,
	SOFT_WAY_KINDS,
};

/* Of a write or a read of private memory. */
static inline enum soft_way_kind soft_way_kind_of(bool write, bool waits, uint64_t length)
{
	if (length >= SOFT_WAY_LARGE)
		return write ? SOFT_WAY_LARGE_WRITE : SOFT_WAY_LARGE_READ;
	if (!waits)
		return SOFT_WAY_POSTED;
	return write ? SOFT_WAY_WRITE : SOFT_WAY_READ;
}

/* For the next operation of this length; the best one, or one that is tried: then it is to be timed (a clock costs). */
enum soft_way soft_way_next(enum soft_way_kind kind, uint64_t length, bool *tried);
/* The ring was to be tried, but the peer does not look: it will be some operations later. */
void soft_way_put_off(enum soft_way_kind kind, uint64_t length);
/* The best one, as far as is known. */
enum soft_way soft_way_best(enum soft_way_kind kind, uint64_t length);
/* How long operations of this length, that went this way together, took in all, in ticks. */
void soft_way_took(enum soft_way_kind kind, enum soft_way way, uint64_t length, uint64_t ticks, uint32_t operations);
/* So long an answer by ring is waited for. */
uint64_t soft_way_patience_ticks(enum soft_way_kind kind, uint64_t length);
/* By ring, and the peer has not answered while it was waited for: it does not look any more. */
void soft_way_lost(enum soft_way_kind kind, uint64_t length);

#endif
