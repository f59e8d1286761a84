// SPDX-License-Identifier: BSD-2-Clause
/*
 * put.c - put and get
 */
#include "base/err.h"
#include "base/order.h"
#include "op/copy.h"
#include "op/enter.h"
#include "op/issue.h"
#include "op/target.h"
#include "win/link.h"
#include "win/origin.h"
#include "win/win.h"

static const char *call_of(enum op_kind kind)
{
	return kind == OP_PUT ? "oriel_put" : "oriel_get";
}

static int transfer_locked(struct oriel_win *win, struct op *op, int rank, size_t disp, const char *call)
{
	struct link *link;
	int rc = op_begin(win, rank, op->size_bytes == 0, &link, call);

	if (rc || op->size_bytes == 0)
		return rc;
	rc = op_range(win, link, disp, op->size_bytes, &op->remote_addr, call);
	if (rc == 0)
		rc = op_access(win, link, op->kind, call);
	return rc ? rc : issue_or_defer(win, link, op, call);
}

/*
 * The short way, for most operations on mapped memory: everything is as it should be, and the
 * processor copies. False if anything is not plain; then nothing has happened, and transfer_locked
 * finds out. The caller holds the lock.
 */
static inline bool copy_at_once(struct oriel_win *win, struct op *op, int rank, size_t disp)
{
	struct link *link = mapped_link(win, rank);
	uint64_t offset;

	/* No bytes do nothing, and open no fence epoch either. */
	if (!link || op->size_bytes == 0 || !in_range(link, disp, op->size_bytes, &offset))
		return false;
	if (!opens_at_once(win, link))
		return false;
	op->remote_addr = link->base + offset;
	epoch_use(win);
	copy_mapped(win, op);
	return true;
}

/* The same where the device moves the bytes at once. */
static bool move_plainly(struct oriel_win *win, struct op *op, int rank, size_t disp)
{
	struct link *link = rank >= 0 ? link_find(win, rank) : NULL;
	uint64_t offset;

	if (!link || link->mapping != MAPPING_SYNC || link->deferred || link_lost(link) || !is_open(win, link))
		return false;
	if (op->size_bytes == 0 || !in_range(link, disp, op->size_bytes, &offset))
		return false;
	op->remote_addr = link->base + offset;
	if (!copy_sync(link, op))
		return false;
	epoch_use(win);
	return true;
}

/* Any put or get. No more arguments than go without the stack, so that the shortest way can end with it, and keeps nothing. */
static __attribute__((noinline)) int transfer(struct oriel_win *win, enum op_kind kind, void *here, size_t size_bytes,
                                              int rank, size_t disp)
{
	struct op op = { .kind = kind, .origin = here, .size_bytes = size_bytes };
	const char *call = call_of(kind);
	int rc = win_enter(win, call);

	if (rc)
		return rc;
	if (!op.origin && op.size_bytes > 0)
		rc = err_set(ORIEL_ERR_ARG, "%s: %s: origin is NULL, size_bytes %zu", call, win->label, op.size_bytes);
	else if (!copy_at_once(win, &op, rank, disp) && !move_plainly(win, &op, rank, disp))
		rc = transfer_locked(win, &op, rank, disp, call);
	win_leave(win);
	return rc ? err_in(rc, call) : 0;
}

/*
 * The target's memory is not mapped, and all else is plain. The caller has entered as the lock's owner, and is through
 * with it. These too are what the shortest way ends with.
 */

/* What the device may move at once, or may be more than a message. */
static __attribute__((noinline)) int issue_any(struct oriel_win *win, enum op_kind kind, void *here, size_t size_bytes,
                                               struct link *link, uint64_t addr)
{
	struct op op = { .kind = kind, .origin = here, .size_bytes = size_bytes, .remote_addr = addr };

	return issue_at(win, link, &op);
}

static inline __attribute__((always_inline)) int go_by_wire(struct oriel_win *win, enum op_kind kind, void *here,
                                                            size_t size_bytes, struct link *link, size_t disp)
{
	uint64_t offset;
	uint32_t lkey;
	int rc;

	if (!(kind == OP_PUT ? goes_by_wire(link) : comes_by_wire(link)) || !in_range(link, disp, size_bytes, &offset)) {
		win_leave_at_once(win);
		return transfer(win, kind, here, size_bytes, link->rank, disp);
	}
	epoch_use(win);
	if (link->mapping != MAPPING_SYNC && size_bytes <= link->peer->wire.max_message_bytes &&
	    origin_seen_lkey(win, link, here, size_bytes, kind == OP_GET, &lkey))
		rc = issue_message(link, kind, here, lkey, size_bytes, link->base + offset);
	else
		rc = issue_any(win, kind, here, size_bytes, link, link->base + offset);
	win_leave_at_once(win);
	return rc ? issue_refused(win, link, rc, call_of(kind)) : 0;
}

static __attribute__((noinline)) int get_by_wire(struct oriel_win *win, void *here, size_t size_bytes,
                                                 struct link *link, size_t disp)
{
	return go_by_wire(win, OP_GET, here, size_bytes, link, disp);
}

static __attribute__((noinline)) int put_long_by_wire(struct oriel_win *win, const void *here, size_t size_bytes,
                                                      struct link *link, size_t disp)
{
	/* A put never writes through this pointer; a get does. */
	return go_by_wire(win, OP_PUT, (void *)(uintptr_t)here, size_bytes, link, disp);
}

/* The way of most small puts, apart from all others; put_long_by_wire would come to the same. */
static __attribute__((noinline)) int put_by_wire(struct oriel_win *win, const void *origin, size_t size_bytes,
                                                 struct link *link, size_t disp)
{
	uint64_t offset;
	int rc;

	if (!goes_inline(link, size_bytes) || link->mapping != MAPPING_RDMA || link_state(link) != LINK_READY ||
	    !in_range(link, disp, size_bytes, &offset))
		return put_long_by_wire(win, origin, size_bytes, link, disp);
	epoch_use(win);
	rc = issue_inline(link, origin, size_bytes, link->base + offset);
	win_leave_at_once(win);
	return rc ? issue_refused(win, link, rc, "oriel_put") : 0;
}

/*
 * The shortest way, that calls nothing but the copying: what most operations on mapped memory take (the first
 * of an epoch asks for the target's post). The caller's memory is `here`. BY_WIRE: the range is to be checked.
 */
static inline __attribute__((always_inline)) enum outcome go_plainly(struct oriel_win *win, enum op_kind kind,
                                                                     void *here, size_t size_bytes, int rank,
                                                                     size_t disp, struct link **link)
{
	uint64_t offset;
	void *there;

	if (!here || size_bytes == 0 || size_bytes > COPY_PIECE_BYTES || !win_enter_at_once(win))
		return NOT_PLAIN;
	*link = living_link(win, rank);
	if (!*link || !is_open(win, *link)) {
		win_leave_at_once(win);
		return NOT_PLAIN;
	}
	if ((*link)->mapping != MAPPING_WHOLE)
		return BY_WIRE;
	if (!in_range(*link, disp, size_bytes, &offset)) {
		win_leave_at_once(win);
		return NOT_PLAIN;
	}
	there = (void *)(uintptr_t)((*link)->base + offset);
	epoch_use(win);
	if (kind == OP_PUT)
		copy_piece(there, here, size_bytes);
	else
		copy_got(here, there, size_bytes);
	win_leave_at_once(win);
	return DONE;
}

static __attribute__((noinline)) int put(struct oriel_win *win, const void *origin, size_t size_bytes, int rank,
                                         size_t disp)
{
	void *here = (void *)(uintptr_t)origin;
	struct link *link;

	switch (go_plainly(win, OP_PUT, here, size_bytes, rank, disp, &link)) {
	case DONE:
		return 0;
	case BY_WIRE:
		return put_by_wire(win, origin, size_bytes, link, disp);
	case NOT_PLAIN:
		break;
	}
	return transfer(win, OP_PUT, here, size_bytes, rank, disp);
}

static __attribute__((noinline)) int get(struct oriel_win *win, void *origin, size_t size_bytes, int rank, size_t disp)
{
	struct link *link;

	switch (go_plainly(win, OP_GET, origin, size_bytes, rank, disp, &link)) {
	case DONE:
		return 0;
	case BY_WIRE:
		return get_by_wire(win, origin, size_bytes, link, disp);
	case NOT_PLAIN:
		break;
	}
	return transfer(win, OP_GET, origin, size_bytes, rank, disp);
}

/* A word is copied without any call, so that nothing has to be kept for what comes after one. */

int oriel_put(oriel_win *win, const void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	struct link *link;
	enum outcome outcome = NOT_PLAIN;

	if (size_bytes == sizeof(uint64_t))
		outcome = go_plainly(win, OP_PUT, (void *)(uintptr_t)origin, sizeof(uint64_t), target_rank, target_disp, &link);
	if (outcome == DONE)
		return 0;
	if (outcome == BY_WIRE)
		return put_by_wire(win, origin, sizeof(uint64_t), link, target_disp);
	return put(win, origin, size_bytes, target_rank, target_disp);
}

int oriel_get(oriel_win *win, void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	struct link *link;
	enum outcome outcome = NOT_PLAIN;

	if (size_bytes == sizeof(uint64_t))
		outcome = go_plainly(win, OP_GET, origin, sizeof(uint64_t), target_rank, target_disp, &link);
	if (outcome == DONE)
		return 0;
	if (outcome == BY_WIRE)
		return get_by_wire(win, origin, sizeof(uint64_t), link, target_disp);
	return get(win, origin, size_bytes, target_rank, target_disp);
}
