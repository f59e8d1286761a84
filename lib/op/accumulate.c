// SPDX-License-Identifier: BSD-2-Clause
/* accumulate.c - accumulate, get_accumulate, fetch_and_op, compare_and_swap */
#include <string.h>

#include "base/copy_piece.h"
#include "base/err.h"
#include "base/order.h"
#include "job/job.h"
#include "op/enter.h"
#include "op/gate.h"
#include "op/acc_route.h"
#include "op/acc_device.h"
#include "op/acc_target.h"
#include "op/issue.h"
#include "op/target.h"
#include "win/link.h"
#include "win/win.h"

/* The properties of a call. */
struct call {
	const char *name;
	bool fetches; /* the call returns a result */
	bool single;  /* one element, whose operands are the caller's again on return (A1) */
};

/* Checks that do not depend on the target. */

static int refuse_buffers(const struct oriel_win *win, const struct acc *acc, const struct call *call)
{
	return err_set(ORIEL_ERR_ARG,
	               "%s: %s: origin is %p, result %p, of %zu elements each; none may be NULL, and "
	               "they must not overlap",
	               call->name, win->label, acc->origin, acc->result, acc->count);
}

static inline int check_buffers(const struct oriel_win *win, const struct acc *acc, const struct call *call)
{
	size_t bytes = acc->count * element_types[acc->type].size_bytes;
	bool reads = acc->op != ORIEL_NO_OP;

	if (acc->count == 0)
		return 0;
	if ((reads && !acc->origin) || (call->fetches && !acc->result))
		return refuse_buffers(win, acc, call);
	if (!call->fetches)
		return 0;
	if ((reads && bytes_overlap(acc->origin, acc->result, bytes)) ||
	    (acc->compare && bytes_overlap(acc->compare, acc->result, bytes)))
		return refuse_buffers(win, acc, call);
	return 0;
}

/* Operations on the target. The caller holds win->lock. */

/* Copies the operands of one element. */
static void copy_operands(struct acc *acc)
{
	if (acc->op != ORIEL_NO_OP)
		element_apply(acc->type, ORIEL_REPLACE, acc->operand, acc->origin, NULL, 1);
	if (acc->compare)
		element_apply(acc->type, ORIEL_REPLACE, acc->operand + ACC_COMPARE, acc->compare, NULL, 1);
	acc->copied = true;
}

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

/*
 * Takes the lock of the member's page that holds `addr`, an address of mapped memory here. NULL:
 * not free now.
 */
static inline struct page_lock *trylock_page(const struct oriel_win *win, const struct link *link, uint64_t addr)
{
	struct page_lock_table *page_locks = peer_page_locks(link->peer);
	struct page_lock *page_lock;

	if (!page_locks)
		return NULL;
	page_lock = page_lock_of(page_locks, link_there(link, addr));
	return page_trylock(page_lock, win->job->page_locks.process) ? page_lock : NULL;
}

/*
 * Announces an update of a few words by instructions, in the page of an address here
 * (sync/atomic_mode.h). NULL: the mode does not allow it.
 */
static inline uint8_t *begin_update(const struct oriel_win *win, const struct link *link, uint64_t addr)
{
	return update_begin(link->peer, win->slot, link_there(link, addr));
}

/*
 * Applies the operation at an address of mapped memory here. Returns false if it is not this
 * processor's to apply, or if a page lock is not free.
 */
static inline bool change(struct oriel_win *win, const struct link *link, const struct acc *acc, uint64_t addr,
                          size_t bytes)
{
	void *target = (void *)(uintptr_t)addr;
	struct page_lock *page_lock;

	if (!acc_at_once(link, acc->type, addr) || bytes > page_rest(addr))
		return false;
	if (acc_needs_no_lock(acc, addr) && acc_apply_unlocked(acc, target, begin_update(win, link, addr)))
		return true;
	page_lock = trylock_page(win, link, addr);
	if (!page_lock)
		return false;
	acc_apply_locked(&win->job->page_locks, peer_page_locks(link->peer), acc, target, link_there(link, addr));
	page_unlock(page_lock);
	return true;
}

/*
 * Returns whether the target's memory is one region, and its device carries out operations on it.
 */
static inline bool goes_by_wire(const struct link *link)
{
	return (link->route == ROUTE_RDMA || link->route == ROUTE_SYNC) && !link->read_only;
}

/*
 * The fast path, for most operations on mapped memory: everything is as it should be, and this
 * processor applies the operation. Returns false if anything is unusual: nothing has happened, and
 * apply_locked finds out. Operations that are deferred for the target, and outstanding active
 * messages to it, go first (A15).
 */
static inline bool apply_at_once(struct oriel_win *win, const struct acc *acc, int rank, size_t disp)
{
	struct link *link = gate_find(win, rank);
	uint64_t offset;
	size_t bytes;

	if (!link || !link_takes_stores(link) || link->marks & LINK_AM)
		return false;
	if (__builtin_mul_overflow(acc->count, element_types[acc->type].size_bytes, &bytes) || bytes == 0 ||
	    !in_range(link, disp, bytes, &offset))
		return false;
	if (!gate_opens(win, link) || !change(win, link, acc, link->base + offset, bytes))
		return false;
	gate_pass(win, link);
	return true;
}

/*
 * The fast path for one word that the target's device changes by a single request. Returns false if
 * anything is unusual. The caller may reuse the operands on return.
 */
static __attribute__((noinline)) bool post_at_once(struct oriel_win *win, struct acc *acc, int rank, size_t disp,
                                                   int *rc)
{
	struct link *link = acc->count == 1 ? gate_link(win, rank) : NULL;
	uint64_t offset;

	if (!link || link->marks & LINK_AM)
		return false;
	if (!goes_by_wire(link) || !in_range(link, disp, element_types[acc->type].size_bytes, &offset) ||
	    acc_route(link, acc->type, link->base + offset, 1) != ACC_ROUTE_DEVICE)
		return false;
	acc->remote_addr = link->base + offset;
	if (!acc_post_word(win, link, acc, rc))
		return false;
	gate_pass(win, link);
	return true;
}

/* Carries out a call whose operation is legal. */
static inline int apply(struct oriel_win *win, struct acc *acc, int rank, size_t disp, const struct call *call)
{
	int rc = win_enter(win, call->name);

	if (rc)
		return rc;
	rc = check_buffers(win, acc, call);
	if (rc == 0 && !apply_at_once(win, acc, rank, disp) && !post_at_once(win, acc, rank, disp, &rc))
		rc = apply_locked(win, acc, rank, disp, call);
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
	acc_fill(&acc, type, op, origin, NULL, count);
	return apply(win, &acc, target_rank, target_disp, &call);
}

int oriel_get_accumulate(oriel_win *win, const void *origin, void *result, size_t count, enum oriel_type type,
                         enum oriel_op op, int target_rank, size_t target_disp)
{
	static const struct call call = { .name = "oriel_get_accumulate", .fetches = true };
	struct acc acc;
	int rc = acc_check(win, type, op, true, call.name);

	if (rc)
		return rc;
	acc_fill(&acc, type, op, origin, result, count);
	return apply(win, &acc, target_rank, target_disp, &call);
}

/*
 * The fast path for single elements calls nothing before it is certain that this processor applies
 * the operation, so no register has to be saved across a call.
 */

/* Returns whether there is a result, which does not overlap the operand. */
static inline bool are_apart(const void *operand, const void *result, enum oriel_type type)
{
	return result && !bytes_overlap(operand, result, element_types[type].size_bytes);
}

/*
 * Returns whether this processor updates an element of mapped memory itself; *element is its
 * address then.
 */
static inline bool element_at_once(const struct link *link, enum oriel_type type, size_t disp, void **element)
{
	uint64_t offset;

	if (link->marks & LINK_AM || !in_range(link, disp, element_types[type].size_bytes, &offset))
		return false;
	*element = (void *)(uintptr_t)(link->base + offset);
	return acc_at_once(link, type, link->base + offset);
}

/*
 * Finds the target of a single element, whose type is known, and *element if its memory is mapped.
 * BY_WIRE: it is not mapped, and only the range and active messages are still to be checked. The
 * caller holds win->lock, and nothing is deferred for any member.
 */
static inline __attribute__((always_inline)) enum outcome find_element(struct oriel_win *win, enum oriel_type type,
                                                                       int rank, size_t disp, struct link **link,
                                                                       void **element)
{
	*link = gate_link(win, rank);
	if (!*link)
		return NOT_PLAIN;
	if (!link_takes_stores(*link))
		return BY_WIRE;
	if (!element_at_once(*link, type, disp, element))
		return NOT_PLAIN;
	gate_pass(win, *link);
	return DONE;
}

/*
 * Finds an integer of 8 bytes, as find_element does, and announces an update of it by an
 * instruction until update_end.
 */
static inline __attribute__((always_inline)) enum outcome find_word(struct oriel_win *win, enum oriel_type type,
                                                                    int rank, size_t disp, struct link **link,
                                                                    void **element, uint8_t **in_progress)
{
	enum outcome outcome = find_element(win, type, rank, disp, link, element);

	if (outcome != DONE)
		return outcome;
	*in_progress = begin_update(win, *link, (uintptr_t)*element);
	return *in_progress ? DONE : NOT_PLAIN;
}

/*
 * Finds a word that the target's device changes by a single request on the wire of puts. Returns
 * false if another way is needed.
 */
static inline bool find_remote_word(const struct link *link, enum oriel_type type, size_t disp, struct remote *word)
{
	uint64_t offset;

	if (link->marks & LINK_AM || !goes_by_wire(link) || !in_range(link, disp, sizeof(uint64_t), &offset) ||
	    !acc_words_by_device(link, 1) || acc_class(type, link->base + offset) != ACC_WORD)
		return false;
	word->addr = link->base + offset;
	return acc_words_by_wire(link, &word->rkey);
}

/* Notes that the word's request has been posted. Called with win->lock held; releases it. */
static inline int word_posted(struct oriel_win *win, struct link *link, int rc, const char *call)
{
	link->marks |= LINK_TOUCHED | LINK_GOT;
	gate_pass(win, link);
	win_leave_at_once(win);
	return rc ? issue_refused(win, link, rc, call) : 0;
}

static inline __attribute__((always_inline)) enum outcome fetch_at_once(struct oriel_win *win, const void *origin,
                                                                        void *result, enum oriel_type type,
                                                                        enum oriel_op op, int rank, size_t disp,
                                                                        struct link **link)
{
	bool plain = element_legal(op, type) && !element_types[type].number && (origin || op == ORIEL_NO_OP) &&
	             are_apart(origin, result, type);
	enum outcome outcome;
	uint8_t *in_progress;
	void *element;

	if (!plain || !win_enter_at_once(win))
		return NOT_PLAIN;
	outcome = find_word(win, type, rank, disp, link, &element, &in_progress);
	if (outcome == BY_WIRE)
		return BY_WIRE;
	if (outcome == DONE) {
		element_apply_atomic(type, op, element, origin, result, 1);
		update_end(in_progress);
	}
	win_leave_at_once(win);
	return outcome;
}

/* One element whose page lock is held by a thread that has entered the window. */
struct held_element {
	void *element;
	struct page_lock *page_lock;
	bool plain; /* by plain code */
};

/*
 * Enters the window and takes the page lock of a small element. Returns false if anything is
 * unusual, or the lock is not free: the window has been left.
 */
static inline bool hold_element(struct oriel_win *win, enum oriel_type type, int rank, size_t disp,
                                struct held_element *held)
{
	struct link *link;

	if (!element_types[type].small || !win_enter_at_once(win))
		return false;
	held->page_lock = NULL;
	if (find_element(win, type, rank, disp, &link, &held->element) == DONE)
		held->page_lock = trylock_page(win, link, (uintptr_t)held->element);
	if (!held->page_lock) {
		win_leave_at_once(win);
		return false;
	}
	held->plain = element_types[type].number ||
	              atomic_mode(peer_page_locks(link->peer), link_there(link, (uintptr_t)held->element)) == MODE_LOCKED;
	return true;
}

static inline void give_element(struct oriel_win *win, const struct held_element *held)
{
	page_unlock(held->page_lock);
	win_leave_at_once(win);
}

/* Fetches under the page lock. Returns false if it cannot; the general path follows. */
static __attribute__((noinline)) bool fetch_held(struct oriel_win *win, const void *origin, void *result,
                                                 enum oriel_type type, enum oriel_op op, int rank, size_t disp)
{
	bool plain = element_legal(op, type) && (origin || op == ORIEL_NO_OP) && are_apart(origin, result, type);
	struct held_element held;

	if (!plain || !hold_element(win, type, rank, disp, &held))
		return false;
	(held.plain ? element_apply : element_apply_atomic)(type, op, held.element, origin, result, 1);
	give_element(win, &held);
	return true;
}

static __attribute__((noinline)) int fetch_and_op(struct oriel_win *win, const void *origin, void *result,
                                                  enum oriel_type type, enum oriel_op op, int rank, size_t disp)
{
	static const struct call call = { .name = "oriel_fetch_and_op", .fetches = true, .single = true };
	struct acc acc;
	int rc = acc_check(win, type, op, true, call.name);

	if (rc)
		return rc;
	acc_fill(&acc, type, op, origin, result, 1);
	return apply(win, &acc, rank, disp, &call);
}

/*
 * Issues fetch_and_op to memory that is not mapped, in one request if possible. Called with
 * win->lock held; releases it.
 */
static __attribute__((noinline)) int fetch_by_wire(struct oriel_win *win, const void *origin, void *result,
                                                   enum oriel_type type, enum oriel_op op, struct link *link,
                                                   size_t disp)
{
	struct remote word;
	struct atomic atomic;
	uint64_t add = 0;
	int rc;

	if ((op != ORIEL_SUM && op != ORIEL_NO_OP) || !find_remote_word(link, type, disp, &word)) {
		win_leave_at_once(win);
		return fetch_and_op(win, origin, result, type, op, link->rank, disp);
	}
	if (op == ORIEL_SUM)
		memcpy(&add, origin, sizeof(add));
	atomic = atomic_add(add, word);
	rc = wire_atomic(&link->peer->wire, &atomic, result, &link->last_number);
	return word_posted(win, link, rc, "oriel_fetch_and_op");
}

int oriel_fetch_and_op(oriel_win *win, const void *origin, void *result, enum oriel_type type, enum oriel_op op,
                       int target_rank, size_t target_disp)
{
	struct link *link;

	switch (fetch_at_once(win, origin, result, type, op, target_rank, target_disp, &link)) {
	case DONE:
		return 0;
	case BY_WIRE:
		return fetch_by_wire(win, origin, result, type, op, link, target_disp);
	case NOT_PLAIN:
		break;
	}
	if (fetch_held(win, origin, result, type, op, target_rank, target_disp))
		return 0;
	return fetch_and_op(win, origin, result, type, op, target_rank, target_disp);
}

static int check_comparable(const struct oriel_win *win, enum oriel_type type, const char *call)
{
	if (element_known(type) && element_types[type].comparable)
		return 0;
	return err_set(ORIEL_ERR_OP, "%s: %s: elements of type %s (%d) cannot be compared; integers and ORIEL_BOOL can",
	               call, win->label, element_type_name(type), (int)type);
}

static inline __attribute__((always_inline)) enum outcome swap_at_once(struct oriel_win *win, const void *origin,
                                                                       const void *compare, void *result,
                                                                       enum oriel_type type, int rank, size_t disp,
                                                                       struct link **link)
{
	bool plain =
		acc_is_word(type) && origin && compare && are_apart(origin, result, type) && are_apart(compare, result, type);
	enum outcome outcome;
	uint8_t *in_progress;
	void *element;

	if (!plain || !win_enter_at_once(win))
		return NOT_PLAIN;
	outcome = find_word(win, type, rank, disp, link, &element, &in_progress);
	if (outcome == BY_WIRE)
		return BY_WIRE;
	if (outcome == DONE) {
		element_swap_atomic(element, origin, compare, result);
		update_end(in_progress);
	}
	win_leave_at_once(win);
	return outcome;
}

/* Swaps under the page lock. Returns false if it cannot; the general path follows. */
static __attribute__((noinline)) bool swap_held(struct oriel_win *win, const void *origin, const void *compare,
                                                void *result, enum oriel_type type, int rank, size_t disp)
{
	bool plain = element_known(type) && element_types[type].comparable && origin && compare &&
	             are_apart(origin, result, type) && are_apart(compare, result, type);
	struct held_element held;

	if (!plain || !hold_element(win, type, rank, disp, &held))
		return false;
	if (held.plain)
		element_swap(type, held.element, origin, compare, result);
	else
		element_swap_atomic(held.element, origin, compare, result);
	give_element(win, &held);
	return true;
}

static __attribute__((noinline)) int compare_and_swap(struct oriel_win *win, const void *origin, const void *compare,
                                                      void *result, enum oriel_type type, int rank, size_t disp)
{
	static const struct call call = { .name = "oriel_compare_and_swap", .fetches = true, .single = true };
	struct acc acc;
	int rc = win_check(win, call.name);

	if (rc == 0)
		rc = check_comparable(win, type, call.name);
	if (rc == 0 && !compare)
		rc = err_set(ORIEL_ERR_ARG, "%s: %s: compare is NULL", call.name, win->label);
	if (rc)
		return rc;
	acc_fill(&acc, type, ORIEL_REPLACE, origin, result, 1);
	acc.compare = compare;
	return apply(win, &acc, rank, disp, &call);
}

/*
 * Issues compare_and_swap to memory that is not mapped, in one request if possible. Called with
 * win->lock held; releases it.
 */
static __attribute__((noinline)) int swap_by_wire(struct oriel_win *win, const void *origin, const void *compare,
                                                  void *result, enum oriel_type type, struct link *link, size_t disp)
{
	struct remote word;
	struct atomic atomic;
	uint64_t expected, wanted;
	int rc;

	if (!find_remote_word(link, type, disp, &word)) {
		win_leave_at_once(win);
		return compare_and_swap(win, origin, compare, result, type, link->rank, disp);
	}
	memcpy(&expected, compare, sizeof(expected));
	memcpy(&wanted, origin, sizeof(wanted));
	atomic = atomic_swap(expected, wanted, word);
	rc = wire_atomic(&link->peer->wire, &atomic, result, &link->last_number);
	return word_posted(win, link, rc, "oriel_compare_and_swap");
}

int oriel_compare_and_swap(oriel_win *win, const void *origin, const void *compare, void *result, enum oriel_type type,
                           int target_rank, size_t target_disp)
{
	struct link *link;

	switch (swap_at_once(win, origin, compare, result, type, target_rank, target_disp, &link)) {
	case DONE:
		return 0;
	case BY_WIRE:
		return swap_by_wire(win, origin, compare, result, type, link, target_disp);
	case NOT_PLAIN:
		break;
	}
	if (swap_held(win, origin, compare, result, type, target_rank, target_disp))
		return 0;
	return compare_and_swap(win, origin, compare, result, type, target_rank, target_disp);
}
