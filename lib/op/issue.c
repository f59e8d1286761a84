// SPDX-License-Identifier: BSD-2-Clause
/*
 * issue.c - operations go out, or are deferred until the target grants access
 *
 * DESIGN NOTES
 *
 * A put by work requests joins the wire's batch (verbs/wire_put.c), which leaves with the next flag
 * or flush, or when it is full; a large put at once. A get is waited for before the flag.
 */
#include "op/issue.h"

#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/job.h"
#include "op/acc_route.h"
#include "op/copy.h"
#include "op/target.h"
#include "sync/wait.h"
#include "win/blocked.h"
#include "win/link.h"
#include "win/origin.h"
#include "win/remote_regions.h"
#include "win/win.h"

static void copy_long(struct oriel_win *win, void *here, size_t size_bytes, struct transfer t)
{
	void *there = (void *)(uintptr_t)t.addr;
	const bool downwards = win->downwards;

	win->downwards = !downwards;
	if (t.kind == OP_PUT)
		copy_pieces(there, here, size_bytes, downwards);
	else
		copy_pieces(here, there, size_bytes, downwards);
}

/* Copies. The flag behind the copy is a store with release semantics, or a work request. */
static inline void copy_mapped(struct oriel_win *win, void *here, size_t size_bytes, struct transfer t)
{
	void *there = (void *)(uintptr_t)t.addr;

	if (size_bytes > COPY_PIECE_BYTES)
		copy_long(win, here, size_bytes, t);
	else if (t.kind == OP_PUT)
		copy_piece(there, here, size_bytes);
	else
		copy_got(here, there, size_bytes);
}

int issue_to(struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t)
{
	switch ((enum link_route)t.route) {
	case ROUTE_MAP:
		copy_mapped(win, here, size_bytes, t);
		return 0;
	case ROUTE_SYNC:
		return transfer_sync(win, link, here, size_bytes, t);
	case ROUTE_RDMA:
	case ROUTE_REGIONS: /* issue_to_regions has chosen another */
	case ROUTE_NONE:    /* op_begin has decided it */
		break;
	}
	return transfer_rdma(win, link, here, size_bytes, t);
}

/* Returns the transfer to or from a member's address in that region. */
static struct transfer region_transfer(const struct link *link, const struct remote_region *region, uint64_t addr,
                                       enum op_kind kind)
{
	enum link_route route = direct_has_copy_sync(&link->peer->direct) ? ROUTE_SYNC : ROUTE_RDMA;

	if (region->here) {
		addr = (uintptr_t)region->here + (addr - region->base);
		route = ROUTE_MAP;
	}
	return (struct transfer){ addr, region->rkey, (uint8_t)route, (uint8_t)kind };
}

/* Issues the part of an operation in one region, from the `done`th byte on. */
static int issue_part(struct oriel_win *win, struct link *link, const struct op *op, size_t done, size_t *bytes)
{
	uint64_t addr = op->remote_addr + done;
	const struct remote_region *region = remote_region_at(link, addr);

	*bytes = min_size((size_t)(region->size_bytes - (addr - region->base)), op->size_bytes - done);
	return issue_to(win, link, (uint8_t *)op->origin + done, *bytes, region_transfer(link, region, addr, op->kind));
}

/*
 * Finds and checks the target's region again: a deferred operation may find it read-only now, which
 * a device answers by breaking the connection.
 */
static int find_again(struct oriel_win *win, struct link *link, uint64_t addr, size_t size_bytes, enum op_kind kind)
{
	int rc = remote_regions_find(win, link, addr, size_bytes);

	return rc ? rc : op_access(win, link, kind, "an operation that goes out");
}

/* Issues an operation on a dynamic window, which may lie in several regions (DW3). */
static int issue_to_regions(struct oriel_win *win, struct link *link, const struct op *op)
{
	int rc = find_again(win, link, op->remote_addr, op->size_bytes, op->kind);

	for (size_t done = 0, bytes; rc == 0 && done < op->size_bytes; done += bytes)
		rc = issue_part(win, link, op, done, &bytes);
	return rc;
}

static int issue_copy(struct oriel_win *win, struct link *link, const struct op *op)
{
	if (link->route == ROUTE_REGIONS)
		return issue_to_regions(win, link, op);
	return issue_to(win, link, op->origin, op->size_bytes, transfer_of(link, op->remote_addr, op->kind));
}

/*
 * Issues an accumulate operation on a dynamic window. This processor can apply it if one mapped
 * region holds all of it; else the target's handler does, with the target's own addresses.
 */
static int issue_accumulate(struct oriel_win *win, struct link *link, struct acc *acc)
{
	struct acc_span span = acc_span(acc);
	size_t bytes = span.bytes;
	struct acc there = *acc;
	const struct remote_region *region;
	int rc = find_again(win, link, span.from, bytes, acc->op == ORIEL_NO_OP ? OP_GET : OP_PUT);

	if (rc)
		return rc;
	region = remote_region_at(link, acc->remote_addr);
	if (region->here && acc->blocks == 0 &&
	    (link->peer->direct.self || region->size_bytes - (acc->remote_addr - region->base) >= bytes)) {
		link->base = (uintptr_t)region->here - region->base; /* from an address there to one here */
		link->page_shift = page_shift((uintptr_t)region->here, region->base) & LINK_PAGE_SHIFT_MASK;
		there.remote_addr += link->base;
		link->route = ROUTE_MAP;
	}
	link->rkey = region->rkey;
	rc = acc_issue(win, link, &there);
	if (rc == ISSUE_LATER) { /* *acc becomes the rest */
		there.remote_addr -= link->base;
		*acc = there;
	}
	link->route = ROUTE_REGIONS;
	link->base = 0;
	return rc;
}

static int issue(struct oriel_win *win, struct link *link, const struct op *op)
{
	if (!(link->marks & LINK_ACCESS))
		win->sync |= SYNC_FENCE_USED;
	switch (op->kind) {
	case OP_ACCUMULATE:
		return link_remote_regions(link) ? issue_accumulate(win, link, op->origin) : acc_issue(win, link, op->origin);
	case OP_SIGNAL_SET:
	case OP_SIGNAL_ADD:
		return signal_issue(win, link, op);
	default:
		return issue_copy(win, link, op);
	}
}

/* Deferring. */

/* Returns the index + 1 of a free entry, or 0 if there is none. */
static uint32_t take_entry(struct oriel_win *win)
{
	uint32_t entry = win->deferred.free;

	if (entry) {
		win->deferred.free = win->deferred.list[entry - 1].next;
		return entry;
	}
	if (win->deferred.count == DEFERRED_MAX ||
	    !grow_array(&win->deferred.list, &win->deferred.capacity, win->deferred.count + 1, sizeof(*win->deferred.list)))
		return 0;
	return ++win->deferred.count;
}

static void give_entry(struct oriel_win *win, uint32_t entry)
{
	win->deferred.list[entry - 1].next = win->deferred.free;
	win->deferred.free = entry;
}

static bool is_signal(const struct op *op)
{
	return op->kind == OP_SIGNAL_SET || op->kind == OP_SIGNAL_ADD;
}

static bool keep_acc(struct oriel_win *win, uint32_t entry, const struct acc *acc)
{
	if (!grow_array(&win->deferred.accs, &win->deferred.acc_capacity, entry, sizeof(*acc)))
		return false;
	win->deferred.accs[entry - 1] = *acc;
	return true;
}

void issue_forget_deferred(struct oriel_win *win)
{
	win->deferred.links = 0;
	win->deferred.signals = 0;
	win->deferred.count = 0;
	win->deferred.free = 0;
}

static void count_out(struct oriel_win *win)
{
	if (--win->deferred.links == 0)
		issue_forget_deferred(win);
}

/* Appends an entry: accumulate operations keep their order (A15). */
static void append(struct oriel_win *win, struct link *link, uint32_t entry)
{
	struct deferred *list = win->deferred.list;

	if (link->deferred) {
		list[list[link->deferred - 1].last - 1].next = entry;
		list[link->deferred - 1].last = entry;
	} else {
		list[entry - 1].last = entry;
		link->deferred = entry;
		win->deferred.links++;
	}
}

/* Makes the entry the first of a link that has some. */
static void prepend(struct oriel_win *win, struct link *link, uint32_t entry)
{
	struct deferred *list = win->deferred.list;

	list[entry - 1].next = link->deferred;
	list[entry - 1].last = list[link->deferred - 1].last;
	link->deferred = entry;
}

static void take_out(struct oriel_win *win, struct link *link)
{
	struct deferred *list = win->deferred.list;
	uint32_t entry = link->deferred, next = list[entry - 1].next;

	if (next)
		list[next - 1].last = list[entry - 1].last;
	link->deferred = next;
	win->deferred.signals -= is_signal(&list[entry - 1].op);
	give_entry(win, entry);
	if (!next)
		count_out(win);
}

void issue_drop_deferred(struct oriel_win *win, struct link *link)
{
	while (link->deferred)
		take_out(win, link);
}

/* Returns the next number of this rank's and window's sequence (splitmix64). */
static uint64_t draw(struct oriel_win *win)
{
	uint64_t stream = ((uint64_t)win->job->rank << 32) + (win->info.number << 52);
	uint64_t x = win->job->unkind + 0x9e3779b97f4a7c15u * (stream + ++win->deferred.drawn);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Returns whether a put or get goes out before those that wait (D8). */
static bool comes_first(struct oriel_win *win, const struct op *op)
{
	return (win->sync & SYNC_UNKIND) && op->kind <= OP_GET && draw(win) & 1;
}

static bool defer(struct oriel_win *win, struct link *link, const struct op *op)
{
	uint32_t entry = take_entry(win);

	if (!entry)
		return false;
	if (op->kind == OP_ACCUMULATE && !keep_acc(win, entry, op->origin)) {
		give_entry(win, entry);
		return false;
	}
	win->deferred.list[entry - 1] = (struct deferred){ .op = *op };
	win->deferred.signals += is_signal(op);
	if (link->deferred && comes_first(win, op))
		prepend(win, link, entry);
	else
		append(win, link, entry);
	gate_close(link);
	return true;
}

int issue_deferred(struct oriel_win *win, struct link *link)
{
	int rc = 0;

	while (rc == 0 && link->deferred) {
		struct op *op = &win->deferred.list[link->deferred - 1].op;

		if (op->kind == OP_ACCUMULATE)
			op->origin = &win->deferred.accs[link->deferred - 1];
		rc = issue(win, link, op);
		if (rc == ORIEL_ERR_MEMORY || rc == ISSUE_LATER)
			return rc;
		take_out(win, link);
	}
	return rc;
}

/*
 * Issues deferred operations in a call with another purpose: notes the errors of those that cannot
 * be issued (deferred_error.h).
 */
static int issue_deferred_noting(struct oriel_win *win, struct link *link)
{
	int rc;

	while ((rc = issue_deferred(win, link)) < 0 && rc != ORIEL_ERR_MEMORY && rc != ORIEL_ERR_PEER)
		deferred_error_note(&win->deferred_errors, rc);
	return rc;
}

int issue_granted_any(struct oriel_win *win, struct link *link)
{
	int rc;

	if (link_lost(link)) {
		if (!(link->marks & LINK_ACCESS))
			issue_drop_deferred(win, link);
		return link_let_go(link);
	}
	rc = (link->marks & LINK_ACCESS) && !link_grant(win, link) ? ISSUE_LATER : issue_deferred(win, link);
	if (rc == ISSUE_LATER) {
		wait_serve(win->job, link->peer);
		return 0;
	}
	return rc ? rc : 1;
}

/* Waits for the target's post, since too much is deferred. Gives up win->lock during the wait. */
static int wait_grant(struct oriel_win *win, struct link *link, const char *call)
{
	int rc = link_await_grant(win, link, call);

	return rc ? rc : issue_deferred_noting(win, link);
}

/* An operation without room at the target yet. */
struct room_wait {
	struct oriel_win *win;
	struct link *link;
	const struct op *op;
};

/*
 * Issues what is deferred for the link, then the operation. Returns ISSUE_LATER if not all was
 * issued.
 */
static int issue_in_turn(const struct room_wait *waiting)
{
	int rc = waiting->link->deferred ? issue_deferred_noting(waiting->win, waiting->link) : 0;

	return rc ? rc : issue(waiting->win, waiting->link, waiting->op);
}

static int room_step(void *arg)
{
	const struct room_wait *waiting = arg;
	int rc;

	owned_lock_take(&waiting->win->lock);
	rc = issue_in_turn(waiting);
	owned_lock_give(&waiting->win->lock);
	if (rc == ISSUE_LATER)
		wait_serve(waiting->win->job, waiting->link->peer);
	return rc == ISSUE_LATER ? 0 : rc ? rc : 1;
}

static int room_watch(void *arg, struct wait *wait)
{
	const struct room_wait *waiting = arg;

	blocked_by(waiting->win, wait, CAUSE_ROOM, waiting->link->peer, 0);
	return link_watch(waiting->win, waiting->link, wait) ? 0 : win_peer_error(waiting->win, waiting->link->rank);
}

/* Waits for room at the target. Gives up win->lock during the wait. */
static int wait_room(struct room_wait *waiting, const char *call)
{
	static const struct waiter waiter = { room_step, room_watch };
	struct oriel_win *win = waiting->win;
	struct wait wait;
	int rc;

	wait_begin(&wait, win->job, call, win->label);
	owned_lock_give(&win->lock);
	rc = wait_until(&wait, &waiter, waiting);
	owned_lock_take(&win->lock);
	return rc;
}

/* Unkindness (ORIEL_UNKIND): lib/README.md. */

static void spoil(struct oriel_win *win, uint8_t *at, size_t size_bytes)
{
	for (size_t done = 0, bytes; done < size_bytes; done += bytes) {
		uint64_t number = draw(win);

		bytes = min_size(sizeof(number), size_bytes - done);
		memcpy(at + done, &number, bytes);
	}
}

static void spoil_result(struct oriel_win *win, const struct acc *acc)
{
	const size_t bytes = element_span(acc->type, acc->count);
	uint8_t *result = acc->result;

	if (!result || element_has_padding(acc->type)) /* it would stay spoilt */
		return;
	spoil(win, result, bytes);
	for (uint32_t block = 1; block < acc->blocks; block++)
		spoil(win, result + acc->row.result * (ptrdiff_t)block, bytes);
}

static void put_early(struct oriel_win *win, struct link *link, const struct op *op)
{
	if (draw(win) & 1 || ((link->marks & LINK_ACCESS) && !link_grant(win, link)))
		return;
	if (issue(win, link, op) == 0)
		wire_ring(&link->peer->wire);
}

/* Defers an operation although it may go out. Returns whether it has. */
static bool defer_unkindly(struct oriel_win *win, struct link *link, const struct op *op)
{
	if (!(win->sync & SYNC_UNKIND) || is_signal(op))
		return false;
	if (op->kind == OP_PUT)
		put_early(win, link, op);
	if (!defer(win, link, op))
		return false;
	if (op->kind == OP_GET)
		spoil(win, op->origin, op->size_bytes);
	if (op->kind == OP_ACCUMULATE)
		spoil_result(win, op->origin);
	if (link->marks & LINK_ACCESS)
		return true;
	link->marks |= LINK_TOUCHED;
	win->sync |= SYNC_FENCE_USED;
	return true;
}

int issue_or_defer(struct oriel_win *win, struct link *link, const struct op *op, const char *call)
{
	struct room_wait waiting = { win, link, op };
	int rc;

	if (op->size_bytes == 0 || defer_unkindly(win, link, op))
		return 0;
	if ((link->marks & LINK_ACCESS) && !link_grant(win, link)) {
		if (defer(win, link, op))
			return 0;
		rc = wait_grant(win, link, call);
		if (rc < 0)
			return rc;
	}
	rc = issue_in_turn(&waiting);
	if (rc == ISSUE_LATER)
		rc = wait_room(&waiting, call);
	/*
	 * A part may have been issued, which a repeated call would apply twice: the rest is deferred.
	 */
	if (rc == ORIEL_ERR_TIMEOUT && (link->marks & LINK_ACCESS) && defer(win, link, op))
		return 0;
	return rc;
}

static void push_link(struct oriel_win *win, struct link *link, bool ring)
{
	if (!link || !link->deferred || (link->marks & LINK_LOCKING) || !link_grant(win, link))
		return;
	issue_deferred_noting(win, link); /* complete or unlock reports a death, and tries again for memory */
	if (ring)
		wire_ring(&link->peer->wire); /* the next call may come late */
}

void issue_push(struct oriel_win *win, bool ring)
{
	if ((win->sync & SYNC_UNKIND) && win->deferred.signals == 0)
		return;
	if (win->sync & SYNC_ACCESS) {
		for (uint32_t i = 0; i < win->access.count; i++)
			push_link(win, win->access.links[i], ring);
		return;
	}
	for (uint32_t i = 0; i < win->links.capacity; i++)
		push_link(win, win->links.table[i], ring);
}

/*
 * Put and get by the device.
 *
 * The bytes of a small put go into the work request. Else the device uses the origin memory, if
 * there is a key for it (win/origin.c), or the wire copies it through its ring. Only the use of
 * origin memory makes complete wait for the request (LINK_WAITING).
 */

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

#define ALONE_MIN 2048 /* bytes; a peer that polls takes fewer as fast */

/* Copies a small put that is likely to be the only one before a flush. */
static bool copy_alone(const struct oriel_win *win, struct link *link, const void *here, size_t size_bytes,
                       struct remote there)
{
	struct direct_access *direct = &link->peer->direct;

	if (!(link->marks & LINK_LOCK))
		return size_bytes >= ALONE_MIN && direct_put_alone_sync(direct, win->epoch_serial, here, size_bytes, there);
	if (!(link->marks & LINK_FLUSHED))
		return false;
	link->marks &= (uint16_t)~LINK_FLUSHED;
	return direct_put_sync(direct, here, size_bytes, there);
}

/*
 * Has the device copy at once, behind what was posted before: gets, large puts, and small puts that
 * are alone. Others travel together. Returns false if the operation has to be posted.
 */
static bool copy_sync(const struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t)
{
	struct direct_access *direct = &link->peer->direct;
	struct remote there = { t.addr, t.rkey };

	if (t.kind == OP_GET)
		return direct_get_sync(direct, here, size_bytes, there);
	if (size_bytes <= WIRE_BATCH_MAX)
		return copy_alone(win, link, here, size_bytes, there);
	return direct_put_sync(direct, here, size_bytes, there);
}

int transfer_sync(struct oriel_win *win, struct link *link, void *here, size_t size_bytes, struct transfer t)
{
	return copy_sync(win, link, here, size_bytes, t) ? 0 : transfer_rdma(win, link, here, size_bytes, t);
}
