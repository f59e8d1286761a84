// SPDX-License-Identifier: BSD-2-Clause
/* The protocol for a peer's private memory: proto.c. */
#ifndef SOFT_PROTO_H
#define SOFT_PROTO_H

#include <stdbool.h>
#include <stdint.h>

#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"

enum {
	SOFT_POSTED_RING = 2048, /* bytes: shorter posted writes go by ring */
};

enum soft_proto {
	SOFT_PROTO_UNKNOWN, /* not measured yet */
	SOFT_PROTO_CALL,    /* process_vm_writev, process_vm_readv */
	SOFT_PROTO_RING,
	SOFT_PROTOS,
};

static inline bool soft_posted_write_by_ring(struct soft_out *out, uint64_t length)
{
	return length < SOFT_POSTED_RING && soft_peer_spins(&out->peer);
}

/*
 * Returns the protocol for the next synchronous request of this length, SOFT_PROTO_CALL or
 * SOFT_PROTO_RING. *timed says whether the caller must report its time.
 */
enum soft_proto soft_sync_proto(struct soft_out *out, bool write, uint64_t length, bool *timed);
/* Reports the ticks that it took. */
void soft_sync_took(bool write, uint64_t length, enum soft_proto proto, uint64_t ticks);
/* Reports that the peer has not answered it for so many ticks. */
void soft_sync_late(struct soft_out *out, uint64_t ticks);

#endif
