// SPDX-License-Identifier: BSD-2-Clause
/*
 * rdma.c - put and get by the device
 *
 * The bytes of a small put go into the work request. Else the device uses the origin memory, if
 * there is a key for it (win/origin.c), or the wire copies it through its ring. Only the use of
 * origin memory makes complete wait for the request (LINK_WAITING).
 */
#include "op/rdma.h"

#include "base/util.h"
#include "win/origin.h"
#include "win/win.h"

static inline int put_or_get(struct link *link, struct ibv_sge here, struct transfer t)
{
	struct wire *wire = &link->peer->wire;
	struct remote there = { t.addr, t.rkey };

	link->marks |= t.kind == OP_PUT ? LINK_TOUCHED : LINK_TOUCHED | LINK_GOT;
	if (here.lkey)
		link->marks |= LINK_WAITING;
	if (t.kind == OP_PUT)
		return wire_put(wire, here, there, &link->last_number);
	return wire_get(wire, here, there, &link->last_number);
}

/* Puts or gets in as many messages as necessary (D5). */
static __attribute__((noinline)) int split(struct oriel_win *win, struct link *link, void *here, size_t size_bytes,
                                           struct transfer t)
{
	uint32_t lkey = origin_lkey(win, link, here, size_bytes, t.kind == OP_GET);
	size_t largest_bytes = (size_t)link->peer->wire.max_message_bytes, bytes;
	int rc = 0;

	if (!lkey)
		largest_bytes = min_size(largest_bytes, WIRE_COPY_MAX);
	for (; rc == 0 && size_bytes > 0; size_bytes -= bytes) {
		bytes = min_size(largest_bytes, size_bytes);
		rc = put_or_get(link, wire_sge(here, bytes, lkey), t);
		here = (uint8_t *)here + bytes;
		t.addr += bytes;
	}
	return rc;
}

int transfer_rdma(struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t)
{
	struct wire *wire = &link->peer->wire;
	struct ibv_sge origin = wire_sge(here, size_bytes, 0);
	int rc;

	if (t.kind == OP_PUT && size_bytes <= wire->inline_max) {
		link->marks |= LINK_TOUCHED;
		rc = wire_put_inline(wire, origin, (struct remote){ t.addr, t.rkey }, &link->last_number);
	} else if (size_bytes > wire->max_message_bytes || !origin_seen_lkey(win, link, &origin, t.kind == OP_GET)) {
		rc = split(win, link, here, size_bytes, t);
	} else {
		rc = put_or_get(link, origin, t);
	}
	return rc == ORIEL_ERR_PEER ? win_peer_error(win, link->rank) : rc;
}

/*
 * Has the device copy at once, behind what was posted before: gets; and in lock epochs large puts,
 * and the first small put after a flush, since another flush may follow. Other small puts travel
 * together. Returns false if the operation has to be posted.
 */
static bool copy_sync(struct link *link, void *here, size_t size_bytes, struct transfer t)
{
	struct direct_access *direct = &link->peer->direct;
	struct remote there = { t.addr, t.rkey };

	if (t.kind == OP_GET)
		return direct_get_sync(direct, here, size_bytes, there);
	if (!(link->marks & LINK_LOCK) || (size_bytes <= WIRE_BATCH_MAX && !(link->marks & LINK_FLUSHED)))
		return false;
	link->marks &= (uint16_t)~LINK_FLUSHED;
	return direct_put_sync(direct, here, size_bytes, there);
}

int transfer_sync(struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t)
{
	return copy_sync(link, here, size_bytes, t) ? 0 : transfer_rdma(win, link, here, size_bytes, t);
}
