// SPDX-License-Identifier: BSD-2-Clause
/*
 * transfer.c - put and get, and their vector forms
 *
 * DESIGN NOTES
 *
 * lib/README.md follows a put; a get goes the same way.
 *
 * A word to or from mapped memory has a fast path of its own, which calls no function, so that the
 * compiler saves no registers.
 */
#include <sys/uio.h>

#include "base/err.h"
#include "base/util.h"
#include "op/copy.h"
#include "op/enter.h"
#include "op/gate.h"
#include "op/issue.h"
#include "op/list.h"
#include "op/pieces.h"
#include "op/row.h"
#include "op/target.h"
#include "win/link.h"
#include "win/win.h"

static const char *call_of(enum op_kind kind)
{
	return kind == OP_PUT ? "oriel_put" : "oriel_get";
}

static inline bool is_allowed(const struct link *link, enum op_kind kind)
{
	return kind == OP_GET || !link->read_only;
}

/*
 * Returns the target's link if the bytes may go out now, by *t; the gate has been passed. NULL:
 * nothing has happened. The caller holds win->lock. An operation without bytes opens no fence
 * epoch.
 */
static inline struct link *pass(struct oriel_win *win, const struct op *op, int rank, size_t disp, struct transfer *t)
{
	struct link *link = gate_find(win, rank);
	uint64_t offset;

	if (!link || link->route < ROUTE_RDMA || !is_allowed(link, op->kind) || op->size_bytes == 0 ||
	    !in_range(link, disp, op->size_bytes, &offset) || !gate_opens(win, link))
		return NULL;
	gate_pass(win, link);
	*t = transfer_of(link, link->base + offset, op->kind);
	return link;
}

/* Checks, then issues or defers. The caller holds win->lock. */
static int transfer_checked(struct oriel_win *win, struct op *op, int rank, size_t disp)
{
	const char *call = call_of(op->kind);
	struct link *link;
	int rc;

	if (!op->origin && op->size_bytes > 0)
		return err_set(ORIEL_ERR_ARG, "%s: %s: origin is NULL, size_bytes %zu", call, win->label, op->size_bytes);
	rc = op_begin(win, rank, op->size_bytes == 0, &link, call);
	if (rc || op->size_bytes == 0)
		return rc;
	rc = op_range(win, link, op, disp, call);
	if (rc == 0)
		rc = op_access(win, link, op->kind, call);
	return rc ? rc : issue_or_defer(win, link, op, call);
}

/*
 * The general path. It asks the gate, too: another thread may have had the lock, and in lock_all
 * the member's lock may be free to take.
 */
static int transfer_any(struct oriel_win *win, struct iovec here, int rank, size_t disp, enum op_kind kind)
{
	struct op op = { .kind = kind, .origin = here.iov_base, .size_bytes = here.iov_len };
	const char *call = call_of(kind);
	struct transfer t;
	struct link *link;
	int rc = win_enter(win, call);

	if (rc)
		return rc;
	link = op.origin ? pass(win, &op, rank, disp, &t) : NULL;
	rc = link ? issue_to(win, link, op.origin, op.size_bytes, t) : transfer_checked(win, &op, rank, disp);
	win_leave(win);
	return rc ? err_in(rc, call) : 0;
}

/* Copies a word by one store, as a device places it. */
static inline void copy_word(void *here, uint64_t there, enum op_kind kind)
{
	void *at = (void *)(uintptr_t)there;

	if (kind == OP_PUT)
		copy_piece(at, here, sizeof(uint64_t));
	else
		copy_piece(here, at, sizeof(uint64_t));
}

static inline __attribute__((always_inline)) int transfer(struct oriel_win *win, struct iovec here, int rank,
                                                          size_t disp, enum op_kind kind)
{
	struct link *link;
	uint64_t offset;
	int rc;

	if (!here.iov_base || !win_enter_at_once(win))
		return transfer_any(win, here, rank, disp, kind);
	link = gate_link(win, rank);
	if (!link || !is_allowed(link, kind) || !in_range(link, disp, here.iov_len, &offset)) {
		win_leave_at_once(win);
		return transfer_any(win, here, rank, disp, kind);
	}
	if (here.iov_len == sizeof(uint64_t) && link_mapped(link)) {
		gate_pass(win, link);
		copy_word(here.iov_base, link->base + offset, kind);
		win_leave_at_once(win);
		return 0;
	}
	if (here.iov_len == 0 || link->route < ROUTE_RDMA) {
		win_leave_at_once(win);
		return transfer_any(win, here, rank, disp, kind);
	}
	gate_pass(win, link);
	rc = issue_to(win, link, here.iov_base, here.iov_len, transfer_of(link, link->base + offset, kind));
	win_leave_at_once(win);
	return rc ? err_in(rc, call_of(kind)) : 0;
}

int oriel_put(oriel_win *win, const void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	/* Only a get writes through this pointer. */
	return transfer(win, (struct iovec){ (void *)(uintptr_t)origin, size_bytes }, target_rank, target_disp, OP_PUT);
}

int oriel_get(oriel_win *win, void *origin, size_t size_bytes, int target_rank, size_t target_disp)
{
	return transfer(win, (struct iovec){ origin, size_bytes }, target_rank, target_disp, OP_GET);
}

/* The vector forms. */

struct vector {
	const struct oriel_origin_piece *origin;
	const struct oriel_target_piece *target;
	int origin_count;
	int target_count;
	enum op_kind kind;
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

static int vector_ranges(struct oriel_win *win, struct link *link, const struct vector *v)
{
	int rc = op_access(win, link, v->kind, v->call);

	for (int i = 0; rc == 0 && i < v->target_count; i++) {
		struct op op = { .kind = v->kind, .size_bytes = v->target[i].size_bytes };

		if (op.size_bytes)
			rc = op_range(win, link, &op, v->target[i].disp, v->call);
		if (rc == 0 && link_remote_regions(link))
			rc = op_access(win, link, v->kind, v->call);
	}
	return rc;
}

/* Operations that have not been issued yet. */
struct stretches {
	struct op ops[MOVE_MAX];
	uint32_t count;
};

static int issue_stretches(struct oriel_win *win, struct link *link, struct stretches *stretches, const char *call)
{
	int rc = list_issue(win, link, stretches->ops, stretches->count, call);

	stretches->count = 0;
	return rc;
}

/* Issues the next piece: every stretch that is contiguous on both sides is one operation. */
static int issue_piece(struct oriel_win *win, struct link *link, struct list *list, struct walk *here,
                       struct stretches *stretches)
{
	const struct oriel_target_piece *target = &list->target[list->at++];
	struct op op = { .kind = list->op == ORIEL_NO_OP ? OP_GET : OP_PUT };
	int rc = 0;

	for (size_t done = 0; rc == 0 && done < target->size_bytes; done += op.size_bytes) {
		op.size_bytes = walk_together(here, target->size_bytes - done);
		op.origin = walk_step(here, op.size_bytes);
		op.remote_addr = link->base + (uint64_t)target->disp * link->disp_unit_bytes + done;
		stretches->ops[stretches->count++] = op;
		if (stretches->count == MOVE_MAX)
			rc = issue_stretches(win, link, stretches, list->call);
	}
	return rc;
}

static struct list list_of(const struct vector *v)
{
	const struct walk here = { v->origin, v->origin_count, 0, 0 }, none = { NULL, 0, 0, 0 };
	const bool put = v->kind == OP_PUT;

	return (struct list){ .type = ORIEL_UINT8,
		                  .op = put ? ORIEL_REPLACE : ORIEL_NO_OP,
		                  .origin = put ? here : none,
		                  .result = put ? none : here,
		                  .target = v->target,
		                  .count = v->target_count,
		                  .call = v->call };
}

static size_t target_bytes(const struct list *list)
{
	size_t bytes = 0;

	for (int i = 0; i < list->count; i++)
		bytes += list->target[i].size_bytes;
	return bytes;
}

static int vector_issue(struct oriel_win *win, struct link *link, struct list *list)
{
	struct walk *here = list->op == ORIEL_NO_OP ? &list->result : &list->origin;
	struct stretches stretches;
	int rc = 1;

	list->alone = link_mapped(link) || !list_takes_messages(link, target_bytes(list));
	stretches.count = 0;
	while (rc >= 0 && list->at < list->count) {
		rc = list_send(win, link, list);
		if (rc == 0)
			rc = issue_piece(win, link, list, here, &stretches);
	}
	return rc < 0 ? rc : issue_stretches(win, link, &stretches, list->call);
}

/* The fast path, for short pieces of mapped memory. False: nothing has happened. */
static bool copy_equal_pieces(struct oriel_win *win, int rank, const struct vector *v)
{
	const struct oriel_origin_piece *origin = v->origin;
	const struct oriel_target_piece *target = v->target;
	struct link *link = gate_find(win, rank);
	const bool put = v->kind == OP_PUT;
	const int count = v->origin_count;
	struct pieces_seen seen;
	uint64_t base, unit;

	if (!link || !link_mapped(link) || !is_allowed(link, v->kind) || count != v->target_count ||
	    !pieces_see(&seen, link, origin, target, count) || seen.longest > COPY_PIECE_BYTES || !gate_opens(win, link))
		return false;
	gate_pass(win, link);
	base = link->base; /* the loop does not change it, and the compiler can tell */
	unit = link->disp_unit_bytes;
	for (int i = 0; i < count; i++) {
		void *at = (void *)(uintptr_t)(base + target[i].disp * unit);

		if (put)
			copy_short(at, origin[i].addr, origin[i].size_bytes);
		else if (origin[i].size_bytes < COPY_GOT_MIN)
			copy_short(origin[i].addr, at, origin[i].size_bytes);
		else
			copy_got(origin[i].addr, at, origin[i].size_bytes);
	}
	return true;
}

/* Returns whether the pieces are a row, as an operation on bytes. */
static bool vector_row(const struct vector *v, struct acc *acc)
{
	const bool put = v->kind == OP_PUT;
	const struct row_lists lists = { put ? v->origin : NULL, put ? NULL : v->origin, v->target, v->target_count,
		                             v->call };

	return v->target_count > 1 && v->origin_count == v->target_count && v->origin && v->target &&
	       row_find(&lists, ORIEL_UINT8, put ? ORIEL_REPLACE : ORIEL_NO_OP, acc);
}

/* The general path. The caller holds win->lock. */
static int vector_any(struct oriel_win *win, int rank, const struct vector *v)
{
	struct acc row;
	const bool is_row = vector_row(v, &row);
	size_t bytes = is_row ? acc_bytes(&row) : 0;
	struct link *link = gate_find(win, rank);
	struct list list = list_of(v);
	int rc;

	if (!is_row && link && list_is_checked(win, link, &list))
		return vector_issue(win, link, &list);
	rc = is_row ? 0 : vector_sums(v, &bytes);
	if (rc == 0)
		rc = op_begin(win, rank, bytes == 0, &link, v->call);
	if (rc || bytes == 0)
		return rc;
	if (is_row && row_place(win, link, &row, v->target->disp)) {
		if (list_takes_messages(link, bytes))
			return acc_issue_or_defer(win, link, &row, v->call);
		if (list_move_row(win, link, &row))
			return 0;
	}
	rc = vector_ranges(win, link, v);
	return rc ? rc : vector_issue(win, link, &list);
}

static int vector_transfer(struct oriel_win *win, int rank, const struct vector *v)
{
	int rc = win_enter(win, v->call);

	if (rc)
		return rc;
	if (!copy_equal_pieces(win, rank, v))
		rc = vector_any(win, rank, v);
	win_leave(win);
	return rc ? err_in(rc, v->call) : 0;
}

int oriel_putv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count)
{
	struct vector v = { origin, target, origin_count, target_count, OP_PUT, "oriel_putv" };

	return vector_transfer(win, target_rank, &v);
}

int oriel_getv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count)
{
	struct vector v = { origin, target, origin_count, target_count, OP_GET, "oriel_getv" };

	return vector_transfer(win, target_rank, &v);
}
