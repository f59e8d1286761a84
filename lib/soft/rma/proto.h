// SPDX-License-Identifier: BSD-2-Clause
/* The protocol for a peer's private memory: proto.c. */
#ifndef SOFT_PROTO_H
#define SOFT_PROTO_H

#include <stdbool.h>
#include <stdint.h>

struct soft_out;

enum {
	SOFT_POSTED_RING = 512, /* bytes: shorter posted writes go by ring */
};

enum soft_proto {
	SOFT_PROTO_UNKNOWN, /* not measured yet */
	SOFT_PROTO_CALL,    /* process_vm_writev, process_vm_readv */
	SOFT_PROTO_RING,
	SOFT_PROTOS,
};

enum soft_proto_kind {
	SOFT_POSTED_WRITE,
	SOFT_POSTED_READ,
	SOFT_SYNC_WRITE, /* the caller waits for it (move.c) */
	SOFT_SYNC_READ,
	SOFT_PROTO_KINDS,
};

static inline enum soft_proto_kind soft_proto_kind_of(bool write, bool waits)
{
	if (waits)
		return write ? SOFT_SYNC_WRITE : SOFT_SYNC_READ;
	return write ? SOFT_POSTED_WRITE : SOFT_POSTED_READ;
}

/*
 * Returns the protocol for the next request of this kind and length, SOFT_PROTO_CALL or
 * SOFT_PROTO_RING. *timed says whether the caller must report its time.
 */
enum soft_proto soft_proto_of(struct soft_out *out, enum soft_proto_kind kind, uint64_t length, bool *timed);
/* Returns whether these requests go by ring, as far as is known. */
bool soft_proto_is_ring(enum soft_proto_kind kind, uint64_t length);
/* Reports the ticks that so many requests took together. */
void soft_proto_took(enum soft_proto_kind kind, uint64_t length, enum soft_proto proto, uint64_t ticks,
                     uint32_t requests);
/* Reports that the peer has not answered a synchronous request for so many ticks. */
void soft_proto_late(struct soft_out *out, uint64_t ticks);

#endif
