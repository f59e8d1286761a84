// SPDX-License-Identifier: BSD-2-Clause
/*
 * rma.c - put, get, their vector forms, and flush
 *
 * An operation goes: epoch and rank checked (op_begin, which waits for the target's description if
 * this is the first to it), range checked, then issued, or held back if the target's post has not
 * been seen. Origin memory: small puts are copied by the wire; memory of windows and
 * oriel_mem_register is used as it is; other memory goes through the wire's ring or, above
 * WIRE_COPY_MAX, is registered until the epoch's operations are complete.
 */
#include "op/rma.h"

#include <stdlib.h>
#include <string.h>

#include "epoch/access.h"
#include "base/err.h"
#include "job/group.h"
#include "job/job.h"
#include "verbs/lend.h"
#include "win/link.h"
#include "job/mem.h"
#include "base/order.h"
#include "base/util.h"
#include "job/wait.h"
#include "win/win.h"

/*
 * Bytes that memcpy is given at a time: of a megabyte it takes another way, which is 15 % slower
 * between two caches.
 */
#define LENT_COPY_BYTES ((size_t)128 << 10)

/* One contiguous transfer. */
struct op {
	void *origin;
	size_t size_bytes;
	uint64_t remote_addr;
	bool get;
};

/* Origin memory. */

static struct ibv_mr *find_epoch_mr(const struct oriel_win *win, const struct op *op)
{
	for (uint32_t i = win->epoch_mrs_reusable; i < win->epoch_mr_count; i++) {
		struct ibv_mr *mr = win->epoch_mrs[i];
		size_t offset = (uintptr_t)op->origin - (uintptr_t)mr->addr;

		if (offset < mr->length && mr->length - offset >= op->size_bytes)
			return mr;
	}
	return NULL;
}

/*
 * Wait until nothing of this window is under way. Bounded by the device's retries: requests
 * complete, or the wire breaks.
 */
static void wait_for_all_links(struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->link_capacity; i++) {
		struct link *link = win->links[i];

		if (link && (link->marks & LINK_TOUCHED))
			wire_wait(&link->peer->wire, link->last_number);
	}
}

void release_epoch_mrs(struct oriel_win *win)
{
	while (win->epoch_mr_count > 0)
		ibv_dereg_mr(win->epoch_mrs[--win->epoch_mr_count]);
	win->epoch_mrs_reusable = 0;
}

/*
 * The key of memory that is registered for this epoch only; 0 where that fails, and the wire copies
 * piece by piece.
 */
static uint32_t epoch_lkey(struct oriel_win *win, const struct op *op)
{
	struct ibv_mr *mr = op->get ? NULL : find_epoch_mr(win, op);

	if (mr)
		return mr->lkey;
	if (win->epoch_mr_count == EPOCH_MRS_MAX) {
		wait_for_all_links(win);
		release_epoch_mrs(win);
	}
	if (!grow_array(&win->epoch_mrs, &win->epoch_mr_capacity, win->epoch_mr_count + 1, sizeof(*win->epoch_mrs)))
		return 0;
	mr = device_register(&win->job->device, op->origin, op->size_bytes, op->get ? IBV_ACCESS_LOCAL_WRITE : 0);
	if (!mr)
		return 0;
	win->epoch_mrs[win->epoch_mr_count++] = mr;
	return mr->lkey;
}

/* The key for an operation's origin memory; 0 where the wire copies. */
static uint32_t origin_lkey(struct oriel_win *win, const struct link *link, const struct op *op)
{
	uint32_t lkey;

	if (link->peer->wire.self || (!op->get && op->size_bytes <= link->peer->wire.inline_max))
		return 0;
	lkey = mem_find(&win->job->mems, op->origin, op->size_bytes, op->get);
	if (lkey || op->size_bytes <= WIRE_COPY_MAX)
		return lkey;
	return epoch_lkey(win, op);
}

/* Issuing. */

static int issue_message(struct link *link, const struct op *op, uint32_t lkey, size_t done, size_t size_bytes)
{
	struct remote target = { op->remote_addr + done, link->rkey };
	uint8_t *origin = (uint8_t *)op->origin + done;
	bool copied = true;
	int rc;

	if (op->get)
		rc = wire_get(&link->peer->wire, origin, lkey, size_bytes, target, &link->last_number);
	else
		rc = wire_put(&link->peer->wire, origin, lkey, size_bytes, target, &copied, &link->last_number);
	if (!copied)
		link->marks |= LINK_WAITING;
	return rc;
}

/*
 * Lent memory: the processor does it, at once; the flag behind it is a store with release
 * semantics, or a work request.
 */
static void copy_lent(const struct op *op)
{
	uint8_t *target = (uint8_t *)(uintptr_t)op->remote_addr;
	uint8_t *to = op->get ? op->origin : target;
	const uint8_t *from = op->get ? target : op->origin;

	if (op->size_bytes == sizeof(uint64_t)) {
		memcpy(to, from, sizeof(uint64_t)); /* one store, as a device places a word */
		return;
	}
	for (size_t done = 0; done < op->size_bytes; done += LENT_COPY_BYTES)
		memcpy(to + done, from + done, min_size(op->size_bytes - done, LENT_COPY_BYTES));
}

/* Send an operation in messages no larger than the port's largest (D5), or than the wire copies. */
static int issue_messages(struct oriel_win *win, struct link *link, const struct op *op)
{
	uint32_t lkey = origin_lkey(win, link, op);
	size_t largest = (size_t)link->peer->wire.max_message_bytes;
	int rc = 0;

	if (lkey == 0 && !link->peer->wire.self)
		largest = min_size(largest, WIRE_COPY_MAX);
	link->marks |= op->get ? LINK_TOUCHED | LINK_GOT : LINK_TOUCHED;
	for (size_t done = 0; rc == 0 && done < op->size_bytes; done += min_size(largest, op->size_bytes - done))
		rc = issue_message(link, op, lkey, done, min_size(largest, op->size_bytes - done));
	return rc == ORIEL_ERR_PEER ? win_peer_error(win, link->rank) : rc;
}

static int issue(struct oriel_win *win, struct link *link, const struct op *op)
{
	if (!(link->marks & LINK_ACCESS))
		win->fence.used = true;
	if (!link->lent)
		return issue_messages(win, link, op);
	copy_lent(op);
	return 0;
}

/* Holding back. */

/* Index + 1 of a free entry, or 0 when the bound or memory is reached. */
static uint32_t held_entry(struct oriel_win *win)
{
	uint32_t entry = win->held_free;

	if (entry) {
		win->held_free = win->held[entry - 1].next;
		return entry;
	}
	if (win->held_count == HELD_MAX ||
	    !grow_array(&win->held, &win->held_capacity, win->held_count + 1, sizeof(*win->held)))
		return 0;
	return ++win->held_count;
}

static bool hold(struct oriel_win *win, struct link *link, const struct op *op)
{
	uint32_t entry = held_entry(win);

	if (!entry)
		return false;
	win->held[entry - 1] = (struct held){ op->origin, op->size_bytes, op->remote_addr, link->held, op->get };
	link->held = entry;
	return true;
}

int rma_issue_held(struct oriel_win *win, struct link *link)
{
	int rc = 0;

	while (rc == 0 && link->held) {
		struct held *held = &win->held[link->held - 1];
		struct op op = { held->origin, held->size_bytes, held->remote_addr, held->get };
		uint32_t entry = link->held;

		rc = issue(win, link, &op);
		if (rc == ORIEL_ERR_MEMORY)
			return rc;
		link->held = held->next;
		held->next = win->held_free;
		win->held_free = entry;
	}
	return rc;
}

/* One turn of a wait for something of one peer; the lock is given up meanwhile. */
static int wait_turn(struct oriel_win *win, struct link *link, struct wait *wait)
{
	int rc;

	owned_lock_give(&win->lock);
	rc = wait_for(wait, link->peer);
	if (rc == WAIT_LOOK) {
		rc = wait_watch(wait, link->peer) ? 0 : win_peer_error(win, link->rank);
		wait_looked(wait);
	}
	owned_lock_take(&win->lock);
	return rc;
}

/* Too much is held back: wait for this target's post, which lets what is held for it go. */
static int wait_grant(struct oriel_win *win, struct link *link, const char *call)
{
	struct wait wait;
	int rc = 0;

	wait_begin(&wait, win->job, call, win);
	while (rc == 0 && !access_grant(win, link))
		rc = wait_turn(win, link, &wait);
	return rc ? rc : rma_issue_held(win, link);
}

static int issue_or_hold(struct oriel_win *win, struct link *link, const struct op *op, const char *call)
{
	int rc;

	if (op->size_bytes == 0)
		return 0;
	if ((link->marks & LINK_ACCESS) && !access_grant(win, link)) {
		if (hold(win, link, op))
			return 0;
		rc = wait_grant(win, link, call);
		if (rc)
			return rc;
	}
	return issue(win, link, op);
}

/* Checking. The caller holds the lock. */

static int no_epoch(const struct oriel_win *win, int rank, const char *call)
{
	if (win->access.open)
		return err_set(ORIEL_ERR_SYNC, "%s: window %p: the access epoch does not name rank %d", call, (const void *)win,
		               rank);
	return err_set(ORIEL_ERR_SYNC,
	               "%s: window %p: no access epoch is open for rank %d; call oriel_win_start or "
	               "oriel_win_fence first",
	               call, (const void *)win, rank);
}

/* The link to a target that the open epoch names. */
static int op_link(struct oriel_win *win, int rank, struct link **link, const char *call)
{
	if (rank < 0 || rank >= win->group->size)
		return err_set(ORIEL_ERR_RANK, "%s: window %p: target rank %d, its group has ranks 0 to %d", call, (void *)win,
		               rank, win->group->size - 1);
	if (epoch_blocks(&win->access)) {
		*link = win->access.closing ? NULL : link_find(win, rank);
		if (*link && (*link)->marks & LINK_FLAGGED)
			return err_set(ORIEL_ERR_SYNC,
			               "%s: window %p: rank %d has been told by an oriel_win_complete that timed out that the "
			               "access epoch is over",
			               call, (void *)win, rank);
		return *link && ((*link)->marks & LINK_ACCESS) ? 0 : no_epoch(win, rank, call);
	}
	if (!win->fence.open || win->fence.closing || win->fence.under_way || win->freeing)
		return no_epoch(win, rank, call);
	return link_get(win, rank, link);
}

/* The target's description must be known for the range check: wait for it, bounded (D4). */
static int wait_described(struct oriel_win *win, struct link *link, const char *call)
{
	struct wait wait;
	int rc = link_prefetch(win, link);

	wait_begin(&wait, win->job, call, win);
	while (rc == 0 && link_state(link) != LINK_READY)
		rc = wait_turn(win, link, &wait);
	return rc;
}

/* Epoch, rank, and unless there is nothing to move, a described and living target. */
static int op_begin(struct oriel_win *win, int rank, bool empty, struct link **link, const char *call)
{
	int rc = op_link(win, rank, link, call);

	if (rc || empty)
		return rc;
	if (link_state(*link) != LINK_READY) {
		rc = wait_described(win, *link, call);
		if (rc == 0)
			rc = op_link(win, rank, link, call); /* the lock was given up: the epoch may have been closed */
		if (rc)
			return rc;
	}
	if (state_load(&(*link)->peer->state) == PEER_DEAD) /* pairs with rank_died */
		return win_peer_error(win, rank);
	if (!(*link)->lend_asked)
		lend_ask(*link);
	return 0;
}

/* Whether size_bytes at disp lie in the member's memory, without overflow; *offset is how far in. */
static inline bool in_range(const struct link *link, size_t disp, size_t size_bytes, uint64_t *offset)
{
	return size_bytes <= link->size_bytes && !__builtin_mul_overflow(disp, link->disp_unit_bytes, offset) &&
	       *offset <= link->size_bytes - size_bytes;
}

/* The target address of size_bytes at disp. */
static int op_range(const struct oriel_win *win, const struct link *link, size_t disp, size_t size_bytes,
                    uint64_t *addr, const char *call)
{
	uint64_t offset;

	if (!in_range(link, disp, size_bytes, &offset))
		return err_set(
			ORIEL_ERR_RANGE,
			"%s: window %p: %zu bytes at displacement %zu (unit %u bytes) of rank %d, whose window has %llu bytes",
			call, (const void *)win, size_bytes, disp, link->disp_unit_bytes, link->rank,
			(unsigned long long)link->size_bytes);
	*addr = link->base + offset;
	return 0;
}

static int op_access(const struct oriel_win *win, const struct link *link, bool get, const char *call)
{
	if (get || !link->read_only)
		return 0;
	return err_set(ORIEL_ERR_ACCESS, "%s: window %p: rank %d may only read its own memory, so it cannot be put to",
	               call, (const void *)win, link->rank);
}

static int transfer_locked(struct oriel_win *win, struct op *op, int rank, size_t disp, const char *call)
{
	struct link *link;
	int rc = op_begin(win, rank, op->size_bytes == 0, &link, call);

	if (rc || op->size_bytes == 0)
		return rc;
	rc = op_range(win, link, disp, op->size_bytes, &op->remote_addr, call);
	if (rc == 0)
		rc = op_access(win, link, op->get, call);
	return rc ? rc : issue_or_hold(win, link, op, call);
}

/* Whether operations on a link may go out now, as far as that is plain to see. */
static inline bool is_open(struct oriel_win *win, struct link *link)
{
	if (win->access.open)
		return (link->marks & (LINK_ACCESS | LINK_FLAGGED)) == LINK_ACCESS && !win->access.closing &&
		       ((link->marks & LINK_GRANTED) || access_grant(win, link));
	return win->fence.open && !win->fence.closing && !win->fence.under_way && !win->freeing;
}

/*
 * The short way, for most operations on lent memory: everything is as it should be, and the
 * processor copies. False if anything is not plain; then nothing has happened, and transfer_locked
 * finds out. The caller holds the lock.
 */
static inline bool copy_at_once(struct oriel_win *win, struct op *op, int rank, size_t disp)
{
	struct link *link = win->link_capacity ? win->links[(uint32_t)rank & (win->link_capacity - 1)] : NULL;
	uint64_t offset;

	if (!link || link->rank != rank || !link->lent || !is_open(win, link))
		return false;
	if (state_load(&link->peer->state) == PEER_DEAD) /* pairs with rank_died */
		return false;
	/* No bytes do nothing, and open no fence epoch either. */
	if (op->size_bytes == 0 || !in_range(link, disp, op->size_bytes, &offset))
		return false;
	op->remote_addr = link->base + offset;
	win->fence.used |= !win->access.open;
	copy_lent(op);
	return true;
}

static int transfer(struct oriel_win *win, struct op op, int rank, size_t disp, const char *call)
{
	int rc = win_enter(win, call);

	if (rc)
		return rc;
	if (!op.origin && op.size_bytes > 0)
		rc = err_set(ORIEL_ERR_ARG, "%s: window %p: origin is NULL, size_bytes %zu", call, (void *)win, op.size_bytes);
	else if (!copy_at_once(win, &op, rank, disp))
		rc = transfer_locked(win, &op, rank, disp, call);
	win_leave(win);
	return rc ? err_in(rc, call) : 0;
}

int oriel_put(oriel_win *win, const void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	/* A put never writes through this pointer; a get of the same struct op does. */
	struct op op = { (void *)(uintptr_t)origin, size_bytes, 0, false };

	return transfer(win, op, target_rank, target_disp, "oriel_put");
}

int oriel_get(oriel_win *win, void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	struct op op = { origin, size_bytes, 0, true };

	return transfer(win, op, target_rank, target_disp, "oriel_get");
}

/* Vectors. */

struct vector {
	const struct oriel_origin_piece *origin;
	const struct oriel_target_piece *target;
	int origin_count;
	int target_count;
	bool get;
	const char *call;
};

static int vector_sums(const struct vector *v, size_t *bytes)
{
	size_t origin_bytes = 0, target_bytes = 0;

	if (v->origin_count < 0 || v->target_count < 0 || (v->origin_count && !v->origin) ||
	    (v->target_count && !v->target))
		return err_set(ORIEL_ERR_ARG, "%s: origin list %p of %d pieces, target list %p of %d", v->call,
		               (const void *)v->origin, v->origin_count, (const void *)v->target, v->target_count);
	for (int i = 0; i < v->origin_count; i++) {
		if (__builtin_add_overflow(origin_bytes, v->origin[i].size_bytes, &origin_bytes))
			return err_set(ORIEL_ERR_ARG, "%s: the origin pieces' sizes overflow at piece %d", v->call, i);
		if (!v->origin[i].addr && v->origin[i].size_bytes)
			return err_set(ORIEL_ERR_ARG, "%s: origin piece %d is NULL, %zu bytes", v->call, i,
			               v->origin[i].size_bytes);
	}
	for (int i = 0; i < v->target_count; i++) {
		if (__builtin_add_overflow(target_bytes, v->target[i].size_bytes, &target_bytes))
			return err_set(ORIEL_ERR_ARG, "%s: the target pieces' sizes overflow at piece %d", v->call, i);
	}
	if (origin_bytes != target_bytes)
		return err_set(ORIEL_ERR_ARG, "%s: the origin pieces hold %zu bytes, the target pieces %zu", v->call,
		               origin_bytes, target_bytes);
	*bytes = origin_bytes;
	return 0;
}

static int vector_ranges(const struct oriel_win *win, const struct link *link, const struct vector *v)
{
	int rc = op_access(win, link, v->get, v->call);
	uint64_t addr;

	for (int i = 0; rc == 0 && i < v->target_count; i++) {
		if (v->target[i].size_bytes)
			rc = op_range(win, link, v->target[i].disp, v->target[i].size_bytes, &addr, v->call);
	}
	return rc;
}

/* Walk both lists; every stretch that is contiguous on both sides is one operation. */
static int vector_issue(struct oriel_win *win, struct link *link, const struct vector *v)
{
	int at_origin = 0, at_target = 0, rc = 0;
	size_t origin_done = 0, target_done = 0;

	while (rc == 0 && at_origin < v->origin_count && at_target < v->target_count) {
		const struct oriel_origin_piece *origin = &v->origin[at_origin];
		const struct oriel_target_piece *target = &v->target[at_target];
		size_t bytes = min_size(origin->size_bytes - origin_done, target->size_bytes - target_done);
		struct op op = { (uint8_t *)origin->addr + origin_done, bytes,
			             link->base + (uint64_t)target->disp * link->disp_unit_bytes + target_done, v->get };

		rc = issue_or_hold(win, link, &op, v->call);
		origin_done += bytes;
		target_done += bytes;
		if (origin_done == origin->size_bytes) {
			at_origin++;
			origin_done = 0;
		}
		if (target_done == target->size_bytes) {
			at_target++;
			target_done = 0;
		}
	}
	return rc;
}

static int vector_locked(struct oriel_win *win, int rank, const struct vector *v, size_t bytes)
{
	struct link *link;
	int rc = op_begin(win, rank, bytes == 0, &link, v->call);

	if (rc || bytes == 0)
		return rc;
	rc = vector_ranges(win, link, v);
	return rc ? rc : vector_issue(win, link, v);
}

static int vector_transfer(struct oriel_win *win, int rank, const struct vector *v)
{
	size_t bytes = 0;
	int rc = win_enter(win, v->call);

	if (rc)
		return rc;
	rc = vector_sums(v, &bytes);
	if (rc == 0)
		rc = vector_locked(win, rank, v, bytes);
	win_leave(win);
	return rc ? err_in(rc, v->call) : 0;
}

int oriel_putv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count)
{
	struct vector v = { origin, target, origin_count, target_count, false, "oriel_putv" };

	return vector_transfer(win, target_rank, &v);
}

int oriel_getv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count)
{
	struct vector v = { origin, target, origin_count, target_count, true, "oriel_getv" };

	return vector_transfer(win, target_rank, &v);
}

/* Flush. */

/* One step of one link: whether its operations are complete. An error is the peer's. */
static int flush_step(struct oriel_win *win, struct link *link, bool local)
{
	struct wire *wire = &link->peer->wire;
	int rc = 0;

	if (state_load(&link->peer->state) == PEER_DEAD) /* pairs with rank_died */
		return ORIEL_ERR_PEER;
	if (link->marks & LINK_ACCESS) {
		if (link_state(link) != LINK_READY || !access_grant(win, link)) {
			wait_serve(win->job, link->peer);
			return 0;
		}
		rc = rma_issue_held(win, link);
	}
	if (rc)
		return rc;
	if (!(link->marks & LINK_TOUCHED) || (local && !(link->marks & (LINK_GOT | LINK_WAITING)))) {
		wire_ring(wire);
		return 1;
	}
	return wire_drive(wire, link->last_number);
}

struct flushing {
	int rank; /* or ORIEL_RANK_ALL */
	bool local;
	bool watch; /* this turn looks for the dead */
	bool all;   /* every link is done */
	int code;
	int failed; /* rank of the first link that failed */
};

static bool flush_concerns(const struct oriel_win *win, const struct link *link, const struct flushing *f)
{
	if (!link || (f->rank != ORIEL_RANK_ALL && link->rank != f->rank))
		return false;
	return win->access.open ? link->marks & LINK_ACCESS : link->marks & LINK_TOUCHED;
}

static void flush_links(struct oriel_win *win, struct flushing *f, struct wait *wait)
{
	f->all = true;
	for (uint32_t i = 0; i < win->link_capacity; i++) {
		struct link *link = win->links[i];
		int step;

		if (!flush_concerns(win, link, f))
			continue;
		step = flush_step(win, link, f->local);
		if (step == 0) {
			f->all = false;
			if (f->watch)
				wait_watch(wait, link->peer);
			continue;
		}
		if (step < 0 && f->code == 0) {
			f->code = step;
			f->failed = link->rank;
		}
		if (step == ORIEL_ERR_PEER)
			wire_break(&link->peer->wire); /* the device lets go of the caller's memory */
		if (step == ORIEL_ERR_PEER || wire_done(&link->peer->wire, link->last_number))
			link->marks &= (uint8_t) ~(LINK_TOUCHED | LINK_GOT | LINK_WAITING);
	}
	if (f->watch)
		wait_looked(wait);
	f->watch = false;
}

int rma_flush(struct oriel_win *win, int rank, bool local, const char *call)
{
	struct flushing f = { .rank = rank, .local = local };
	struct wait wait;

	wait_begin(&wait, win->job, call, win);
	for (;;) {
		int rc;

		owned_lock_take(&win->lock);
		flush_links(win, &f, &wait);
		if (f.all && !local && rank == ORIEL_RANK_ALL)
			release_epoch_mrs(win);
		if (f.all)
			win->epoch_mrs_reusable =
				win->epoch_mr_count; /* the memory is the caller's again, and may be mapped anew */
		owned_lock_give(&win->lock);
		if (f.all)
			break;
		rc = wait_pause(&wait);
		if (rc < 0)
			return rc;
		f.watch = rc == WAIT_LOOK;
		if (f.watch && f.code && wait_lingered(&wait))
			break;
	}
	return f.code == ORIEL_ERR_PEER ? err_in(win_peer_error(win, f.failed), call) : f.code;
}

/* An access epoch must be open and name the target. */
static int flush_check(struct oriel_win *win, int rank, const char *call)
{
	struct link *link;

	if (rank != ORIEL_RANK_ALL)
		return op_link(win, rank, &link, call);
	if (epoch_blocks(&win->access))
		return win->access.closing ? no_epoch(win, rank, call) : 0;
	if (!win->fence.open || win->fence.closing || win->fence.under_way)
		return err_set(ORIEL_ERR_SYNC, "%s: window %p: no access epoch is open", call, (void *)win);
	return 0;
}

static int flush(struct oriel_win *win, int rank, bool local, const char *call)
{
	int rc = win_enter(win, call);

	if (rc)
		return rc;
	rc = flush_check(win, rank, call);
	win_leave(win);
	return rc ? rc : rma_flush(win, rank, local, call);
}

int oriel_win_flush(oriel_win *win, int target_rank)
{
	return flush(win, target_rank, false, "oriel_win_flush");
}

int oriel_win_flush_local(oriel_win *win, int target_rank)
{
	return flush(win, target_rank, true, "oriel_win_flush_local");
}
