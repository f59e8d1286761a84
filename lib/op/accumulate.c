// SPDX-License-Identifier: BSD-2-Clause
/*
 * accumulate.c - accumulate, get_accumulate, fetch_and_op, compare_and_swap
 *
 * DESIGN NOTES
 *
 * Each operation asks the gate (op/gate.h), and takes its route (op/acc_route.h). On the fast path
 * the processor changes mapped memory, or the target's device changes a word. If it cannot now,
 * nothing has happened, and apply_locked reports what is wrong, waits, or defers the operation.
 *
 * A single word has a fast path of its own (word_now), which is inlined so that the compiler keeps
 * its struct acc in registers.
 */
#include "base/copy_blocks.h"
#include "base/err.h"
#include "base/order.h"
#include "job/job.h"
#include "op/acc_device.h"
#include "op/acc_route.h"
#include "op/enter.h"
#include "op/gate.h"
#include "op/issue.h"
#include "op/target.h"
#include "win/link.h"
#include "win/win.h"

int acc_refuse(const struct oriel_win *win, enum oriel_type type, enum oriel_op op, const char *call)
{
	int rc = win_check(win, call);

	if (rc)
		return rc;
	if (element_legal(op, type))
		return err_set(ORIEL_ERR_OP,
		               "%s: %s: ORIEL_NO_OP changes and returns nothing here; oriel_get_accumulate and "
		               "oriel_fetch_and_op read",
		               call, win->label);
	return err_set(ORIEL_ERR_OP, "%s: %s: operation %s (%d) is not defined for elements of type %s (%d)", call,
	               win->label, element_op_name(op), (int)op, element_type_name(type), (int)type);
}

int acc_refuse_swap(const struct oriel_win *win, enum oriel_type type, const char *call)
{
	int rc = win_check(win, call);

	if (rc)
		return rc;
	if (element_comparable(type))
		return err_set(ORIEL_ERR_ARG, "%s: %s: compare is NULL", call, win->label);
	return err_set(ORIEL_ERR_OP, "%s: %s: elements of type %s (%d) cannot be compared; integers and ORIEL_BOOL can",
	               call, win->label, element_type_name(type), (int)type);
}

int acc_target(struct oriel_win *win, struct link *link, struct acc *acc, size_t disp, const char *call)
{
	struct op op = { .kind = OP_ACCUMULATE };
	int rc;

	if (__builtin_mul_overflow(acc->count, element_types[acc->type].size_bytes, &op.size_bytes))
		op.size_bytes = SIZE_MAX;
	else
		op.size_bytes = element_span(acc->type, acc->count);
	rc = op_range(win, link, &op, disp, call);
	acc->remote_addr = op.remote_addr;
	return rc || acc->op == ORIEL_NO_OP ? rc : op_access(win, link, OP_PUT, call);
}

int acc_issue_or_defer(struct oriel_win *win, struct link *link, struct acc *acc, const char *call)
{
	struct op op = { .kind = OP_ACCUMULATE, .origin = acc, .size_bytes = 1 };
	bool by_device = acc_route(link, acc->type, acc->remote_addr, acc->count) == ACC_ROUTE_DEVICE;
	int rc = by_device ? acc_connect_device(win, link, call) : 0;

	if (rc)
		return rc;
	return issue_or_defer(win, link, &op, call);
}

struct call {
	const char *name;
	bool fetches; /* there is a result */
	bool single;  /* one element; its operands are the caller's again on return (A1) */
};

/* Returns whether operands and result are there, and do not overlap. */
static inline bool buffers_fit(const struct acc *acc, const struct call *call)
{
	size_t bytes = acc->count * element_types[acc->type].size_bytes;
	bool reads = acc->op != ORIEL_NO_OP;

	if (acc->count == 0)
		return true;
	if (reads && !acc->origin)
		return false;
	if (!call->fetches)
		return true;
	return acc->result && !(reads && bytes_overlap(acc->origin, acc->result, bytes)) &&
	       !(acc->compare && bytes_overlap(acc->compare, acc->result, bytes));
}

static int refuse_buffers(const struct oriel_win *win, const struct acc *acc, const struct call *call)
{
	return err_set(ORIEL_ERR_ARG,
	               "%s: %s: origin is %p, result %p, of %zu elements each; none may be NULL, and "
	               "they must not overlap",
	               call->name, win->label, acc->origin, acc->result, acc->count);
}

/* Operations on the target. The caller holds win->lock. */

static void copy_operands(struct acc *acc)
{
	if (acc->op != ORIEL_NO_OP)
		element_apply(acc->type, ORIEL_REPLACE, acc->operand, acc->origin, NULL, 1);
	if (acc->compare)
		element_apply(acc->type, ORIEL_REPLACE, acc->operand + ACC_COMPARE, acc->compare, NULL, 1);
	acc->copied = true;
}

/* The general path. */
static int apply_locked(struct oriel_win *win, struct acc *acc, int rank, size_t disp, const struct call *call)
{
	struct link *link;
	int rc = op_begin(win, rank, acc->count == 0, &link, call->name);

	if (rc || acc->count == 0)
		return rc;
	rc = acc_target(win, link, acc, disp, call->name);
	if (rc)
		return rc;
	if (call->single)
		copy_operands(acc);
	return acc_issue_or_defer(win, link, acc, call->name);
}

/* Changes elements of one page under the page lock. Returns false if another thread holds it. */
static bool change_locked(struct oriel_win *win, const struct link *link, const struct acc *acc)
{
	struct page_lock_table *table = peer_page_locks(link->peer);
	struct page_locks *ours = &win->job->page_locks;
	uint64_t there = link_there(link, acc->remote_addr);
	struct page_lock *page_lock = page_lock_of(table, there);

	if (!page_trylock(page_lock, ours->process))
		return false;
	acc_apply_locked(ours, table, acc, (void *)(uintptr_t)acc->remote_addr, there);
	page_unlock(page_lock);
	return true;
}

/*
 * Changes elements of mapped memory. Returns false if they lie in several pages, or if the page
 * lock is not free.
 */
static inline bool change(struct oriel_win *win, const struct link *link, const struct acc *acc)
{
	uint64_t addr = acc->remote_addr, there = link_there(link, addr);

	if (acc->count * element_types[acc->type].size_bytes > page_rest(addr))
		return false;
	if (acc_needs_no_lock(acc, there) &&
	    acc_apply_unlocked(acc, (void *)(uintptr_t)addr, update_begin(link->peer, win->slot, there)))
		return true;
	return change_locked(win, link, acc);
}

/* Sets acc->remote_addr. Returns whether there are elements, all in range. */
static inline bool find_elements(const struct link *link, struct acc *acc, size_t disp)
{
	uint64_t offset;
	size_t bytes;

	if (__builtin_mul_overflow(acc->count, element_types[acc->type].size_bytes, &bytes) || bytes == 0 ||
	    !in_range(link, disp, bytes, &offset))
		return false;
	acc->remote_addr = link->base + offset;
	return true;
}

/*
 * The fast path. Returns whether the operation is done or posted, with its error in *rc; false:
 * nothing has happened. It must not overtake deferred operations or active messages (A15).
 */
static inline bool apply_now(struct oriel_win *win, struct acc *acc, int rank, size_t disp, int *rc)
{
	struct link *link = gate_find(win, rank);
	bool done = false;

	if (!link || link->route < ROUTE_RDMA || link->read_only || !find_elements(link, acc, disp) ||
	    !gate_opens(win, link))
		return false;
	switch (acc_route(link, acc->type, acc->remote_addr, acc->count)) {
	case ACC_ROUTE_PAGE_LOCK:
		done = !(link->marks & LINK_AM) && change(win, link, acc);
		break;
	case ACC_ROUTE_DEVICE:
		done = !(link->marks & LINK_AM) && acc->count == 1 && !link_mapped(link) && acc_post_word(win, link, acc, rc);
		break;
	case ACC_ROUTE_AM:
		done = acc_send(win, link, acc, rc);
		break;
	case ACC_ROUTE_SELF:
		break;
	}
	if (done)
		gate_pass(win, link);
	return done;
}

/* Applies what word_now leaves. */
static int apply_held(struct oriel_win *win, struct acc *acc, int rank, size_t disp, const struct call *call)
{
	int rc = 0;

	return apply_now(win, acc, rank, disp, &rc) ? rc : apply_locked(win, acc, rank, disp, call);
}

/* Enters on the general path: the window's lock is another thread's, or something is wrong. */
static int apply_any(struct oriel_win *win, struct acc *acc, int rank, size_t disp, const struct call *call)
{
	int rc = win_enter(win, call->name);

	if (rc)
		return rc;
	rc = buffers_fit(acc, call) ? apply_held(win, acc, rank, disp, call) : refuse_buffers(win, acc, call);
	win_leave(win);
	return rc ? err_in(rc, call->name) : 0;
}

/*
 * Changes a word of mapped memory by an instruction. Returns false if the device changes it, or the
 * mode forbids it.
 */
static inline bool change_word(const struct oriel_win *win, const struct link *link, const struct acc *acc,
                               uint64_t addr)
{
	if (link->words == WORDS_BY_DEVICE)
		return false;
	return acc_apply_unlocked(acc, (void *)(uintptr_t)addr,
	                          update_begin(link->peer, win->slot, link_there(link, addr)));
}

/*
 * Posts an operation on a word, with its error in *rc. Returns false if it is not one request on
 * the wire of puts.
 */
static inline bool post_word(struct oriel_win *win, struct link *link, const struct acc *acc, uint64_t addr, int *rc)
{
	struct remote word = { addr, 0 };
	struct atomic atomic;

	if ((link->route != ROUTE_RDMA && link->route != ROUTE_SYNC) || !acc_words_by_device(link, 1) ||
	    !acc_is_one_request(acc) || !acc_wire_reaches_words(link, &word.rkey))
		return false;
	atomic = acc_atomic(acc, word);
	*rc = wire_atomic(&link->peer->wire, &atomic, acc->result, &link->last_number);
	link->marks |= LINK_TOUCHED | LINK_GOT;
	if (*rc == ORIEL_ERR_PEER)
		*rc = win_peer_error(win, link->rank);
	return true;
}

/*
 * The fast path of a word with a result: one instruction, or one request. Returns what apply_now
 * does.
 */
static inline __attribute__((always_inline)) bool word_now(struct oriel_win *win, const struct acc *acc, int rank,
                                                           size_t disp, int *rc)
{
	struct link *link = acc_is_word(acc->type) ? gate_link(win, rank) : NULL;
	uint64_t offset;
	bool done;

	if (!link || link->read_only || link->marks & LINK_AM || !in_range(link, disp, sizeof(uint64_t), &offset) ||
	    (link->base + offset) % sizeof(uint64_t))
		return false;
	done = link_mapped(link) ? change_word(win, link, acc, link->base + offset)
	                         : post_word(win, link, acc, link->base + offset, rc);
	if (done)
		gate_pass(win, link);
	return done;
}

static inline __attribute__((always_inline)) int apply(struct oriel_win *win, struct acc acc, int rank, size_t disp,
                                                       const struct call *call)
{
	struct acc held;
	int rc = 0;

	if (!buffers_fit(&acc, call) || !win_enter_at_once(win)) {
		held = acc;
		return apply_any(win, &held, rank, disp, call);
	}
	if (call->single && word_now(win, &acc, rank, disp, &rc)) {
		win_leave_at_once(win);
		return rc ? err_in(rc, call->name) : 0;
	}
	held = acc;
	rc = apply_held(win, &held, rank, disp, call);
	win_leave(win);
	return rc ? err_in(rc, call->name) : 0;
}

int oriel_accumulate(oriel_win *win, const void *origin, size_t count, enum oriel_type type, enum oriel_op op,
                     int target_rank, size_t target_disp)
{
	static const struct call call = { .name = "oriel_accumulate" };
	struct acc acc;
	int rc = acc_check(win, type, op, false, call.name);

	if (rc)
		return rc;
	acc_init(&acc, type, op, count);
	acc.origin = origin;
	return apply(win, acc, target_rank, target_disp, &call);
}

int oriel_get_accumulate(oriel_win *win, const void *origin, void *result, size_t count, enum oriel_type type,
                         enum oriel_op op, int target_rank, size_t target_disp)
{
	static const struct call call = { .name = "oriel_get_accumulate", .fetches = true };
	struct acc acc;
	int rc = acc_check(win, type, op, true, call.name);

	if (rc)
		return rc;
	acc_init(&acc, type, op, count);
	acc.origin = origin;
	acc.result = result;
	return apply(win, acc, target_rank, target_disp, &call);
}

int oriel_fetch_and_op(oriel_win *win, const void *origin, void *result, enum oriel_type type, enum oriel_op op,
                       int target_rank, size_t target_disp)
{
	static const struct call call = { .name = "oriel_fetch_and_op", .fetches = true, .single = true };
	struct acc acc;
	int rc = acc_check(win, type, op, true, call.name);

	if (rc)
		return rc;
	acc_init(&acc, type, op, 1);
	acc.origin = origin;
	acc.result = result;
	return apply(win, acc, target_rank, target_disp, &call);
}

int oriel_compare_and_swap(oriel_win *win, const void *origin, const void *compare, void *result, enum oriel_type type,
                           int target_rank, size_t target_disp)
{
	static const struct call call = { .name = "oriel_compare_and_swap", .fetches = true, .single = true };
	struct acc acc;

	if (!element_comparable(type) || !compare)
		return acc_refuse_swap(win, type, call.name);
	acc_init(&acc, type, ORIEL_REPLACE, 1);
	acc.origin = origin;
	acc.compare = compare;
	acc.result = result;
	return apply(win, acc, target_rank, target_disp, &call);
}
