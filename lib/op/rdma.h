// SPDX-License-Identifier: BSD-2-Clause
/* rdma.h - put and get by the device */
#ifndef ORIEL_RDMA_H
#define ORIEL_RDMA_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "win/link.h"
#include "win/operation.h"

struct oriel_win;

/* The target's side of a put or get. */
struct transfer {
	uint64_t addr; /* ROUTE_MAP: an address here */
	uint32_t rkey;
	uint8_t route; /* enum link_route, not ROUTE_REGIONS */
	uint8_t kind;  /* OP_PUT or OP_GET */
};

static_assert(sizeof(struct transfer) <= 2 * sizeof(uint64_t), "a transfer travels in two registers");

static inline struct transfer transfer_of(const struct link *link, uint64_t addr, enum op_kind kind)
{
	return (struct transfer){ addr, link->rkey, link->route, (uint8_t)kind };
}

/*
 * Puts or gets by ROUTE_RDMA. The caller holds win->lock, and has checked all. ERRORS:
 * ORIEL_ERR_PEER, ORIEL_ERR_MEMORY.
 */
int transfer_rdma(struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t);

/*
 * Puts or gets by ROUTE_SYNC: at once, or by work requests if the device cannot or it is not worth
 * it. The caller holds win->lock, and has checked all. ERRORS: as transfer_rdma.
 */
int transfer_sync(struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t);

#endif
