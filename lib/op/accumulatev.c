// SPDX-License-Identifier: BSD-2-Clause
/* accumulatev.c - the vector forms of accumulate and get_accumulate */
#include "base/err.h"
#include "base/util.h"
#include "op/enter.h"
#include "op/gate.h"
#include "op/acc_route.h"
#include "op/list.h"
#include "op/pieces.h"
#include "op/row.h"
#include "op/target.h"
#include "win/link.h"
#include "win/win.h"

struct acc_vector {
	enum oriel_type type;
	enum oriel_op op;
	struct walk origin; /* empty for ORIEL_NO_OP */
	struct walk result; /* empty if not wanted */
	bool fetches;
	const struct oriel_target_piece *target;
	int target_count;
	const char *call;
};

static int check_piece(const struct acc_vector *v, const char *list, int at, size_t size_bytes, size_t *sum_bytes)
{
	if (size_bytes % element_types[v->type].size_bytes)
		return err_set(ORIEL_ERR_ARG, "%s: %s piece %d has %zu bytes, which are no whole elements of %u", v->call, list,
		               at, size_bytes, element_types[v->type].size_bytes);
	if (__builtin_add_overflow(*sum_bytes, size_bytes, sum_bytes))
		return err_set(ORIEL_ERR_ARG, "%s: the sizes of the %s pieces overflow at piece %d", v->call, list, at);
	return 0;
}

static int refuse_list(const struct acc_vector *v, const char *name, const void *list, int count)
{
	return err_set(ORIEL_ERR_ARG, "%s: the %s list is %p, of %d pieces", v->call, name, list, count);
}

static int sum_here(const struct acc_vector *v, const char *name, const struct walk *walk, size_t *bytes)
{
	int rc = 0;

	if (walk->count < 0 || (walk->count && !walk->list))
		return refuse_list(v, name, walk->list, walk->count);
	for (int i = 0; rc == 0 && i < walk->count; i++) {
		if (!walk->list[i].addr && walk->list[i].size_bytes)
			return err_set(ORIEL_ERR_ARG, "%s: %s piece %d is NULL, %zu bytes", v->call, name, i,
			               walk->list[i].size_bytes);
		rc = check_piece(v, name, i, walk->list[i].size_bytes, bytes);
	}
	return rc;
}

static int sum_target(const struct acc_vector *v, size_t *bytes)
{
	int rc = 0;

	if (v->target_count < 0 || (v->target_count && !v->target))
		return refuse_list(v, "target", v->target, v->target_count);
	for (int i = 0; rc == 0 && i < v->target_count; i++)
		rc = check_piece(v, "target", i, v->target[i].size_bytes, bytes);
	return rc;
}

/* Checks that all lists hold the same number of bytes. */
static int check_sums(const struct acc_vector *v, size_t *bytes)
{
	size_t origin = 0, result = 0;
	bool reads = v->op != ORIEL_NO_OP;
	int rc = sum_target(v, bytes);

	if (rc == 0 && reads)
		rc = sum_here(v, "origin", &v->origin, &origin);
	if (rc == 0 && v->fetches)
		rc = sum_here(v, "result", &v->result, &result);
	if (rc || ((!reads || origin == *bytes) && (!v->fetches || result == *bytes)))
		return rc;
	return err_set(ORIEL_ERR_ARG, "%s: the origin pieces hold %zu bytes, the result pieces %zu, the target pieces %zu",
	               v->call, origin, result, *bytes);
}

/* Returns an operation on a target piece, without addresses. */
static struct acc acc_of(const struct acc_vector *v, const struct oriel_target_piece *piece)
{
	struct acc acc;

	acc_init(&acc, v->type, v->op, piece->size_bytes / element_types[v->type].size_bytes);
	return acc;
}

static int check_targets(struct oriel_win *win, struct link *link, const struct acc_vector *v)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < v->target_count; i++) {
		struct acc acc = acc_of(v, &v->target[i]);

		if (acc.count)
			rc = acc_target(win, link, &acc, v->target[i].disp, v->call);
	}
	return rc;
}

static bool vector_row(const struct acc_vector *v, struct acc *acc)
{
	const bool reads = v->op != ORIEL_NO_OP;
	const struct row_lists lists = { reads ? v->origin.list : NULL, v->fetches ? v->result.list : NULL, v->target,
		                             v->target_count, v->call };

	return v->target_count > 1 && v->target && (!reads || (v->origin.count == v->target_count && v->origin.list)) &&
	       (!v->fetches || (v->result.count == v->target_count && v->result.list)) &&
	       row_find(&lists, v->type, v->op, acc);
}

static struct list list_of(const struct acc_vector *v)
{
	return (struct list){ .type = v->type,
		                  .op = v->op,
		                  .origin = v->origin,
		                  .result = v->result,
		                  .target = v->target,
		                  .count = v->target_count,
		                  .call = v->call };
}

static int issue_pieces(struct oriel_win *win, struct link *link, const struct acc_vector *v)
{
	struct list list = list_of(v);
	int rc = 1;

	while (rc >= 0 && list.at < list.count) {
		rc = list_send(win, link, &list);
		if (rc == 0)
			rc = list_issue_piece(win, link, &list);
	}
	return rc < 0 ? rc : 0;
}

static bool are_checked(struct oriel_win *win, struct link *link, const struct acc_vector *v)
{
	const struct list list = list_of(v);

	return v->result.count == (v->fetches ? v->target_count : 0) && list_is_checked(win, link, &list);
}

/* The fast path: numbers and words in mapped memory, in pieces that lie in one page each. */

static bool is_paired(struct pieces_seen *seen, const struct link *link, const struct walk *here,
                      const struct acc_vector *v)
{
	return here->count == v->target_count && pieces_see(seen, link, here->list, v->target, v->target_count);
}

/*
 * Returns whether all lists and the target's are such pairs (pieces.h), which this processor
 * changes.
 */
static bool are_plain(const struct link *link, const struct acc_vector *v)
{
	const size_t size_bytes = element_types[v->type].size_bytes;
	struct pieces_seen seen = { 0 };

	if (v->op != ORIEL_NO_OP && !is_paired(&seen, link, &v->origin, v))
		return false;
	if (v->fetches && !is_paired(&seen, link, &v->result, v))
		return false;
	return (seen.bits & (size_bytes - 1)) == 0 && acc_route(link, v->type, link->base, 1) == ACC_ROUTE_PAGE_LOCK;
}

static bool takes_stores_now(const struct link *link)
{
	return link_takes_stores(link) && !(link->marks & LINK_AM);
}

static struct link *plain_link(struct oriel_win *win, int rank, const struct acc_vector *v)
{
	struct link *link = gate_find(win, rank);

	if (!link || !takes_stores_now(link) || !are_plain(link, v))
		return NULL;
	if (acc_is_word(v->type) && v->target_count < MODE_SWITCH_MIN)
		return NULL; /* one by one, if possible without page lock */
	return gate_opens(win, link) ? link : NULL;
}

/* The page whose lock is held. */
struct page {
	struct page_lock *page_lock; /* NULL: none */
	bool plain;                  /* plain code changes its elements */
};

/*
 * Releases the page lock, and takes that of the member's address `there`. Returns false if it is
 * not free; no lock is held then.
 */
static bool turn_page(struct page *page, struct oriel_win *win, const struct link *link, const struct acc_vector *v,
                      uint64_t there)
{
	struct page_lock_table *table = peer_page_locks(link->peer);
	struct page_lock *page_lock = page_lock_of(table, there);
	struct page_locks *ours = &win->job->page_locks;

	if (page_lock == page->page_lock)
		return true;
	if (page->page_lock)
		page_unlock(page->page_lock);
	page->page_lock = page_trylock(page_lock, ours->process) ? page_lock : NULL;
	if (!page->page_lock)
		return false;
	page->plain = !acc_are_words(v->type, there) ||
	              atomic_mode_try_locked(ours, table, there, there + 1, acc_changes(v->op, (size_t)v->target_count));
	return true;
}

static void leave_page(struct page *page)
{
	if (page->page_lock)
		page_unlock(page->page_lock);
	page->page_lock = NULL;
}

/* Issues a piece in two pages, or whose lock is not free. */
static int issue_alone(struct oriel_win *win, struct link *link, const struct acc_vector *v, int i)
{
	struct acc acc = acc_of(v, &v->target[i]);
	int rc = acc_target(win, link, &acc, v->target[i].disp, v->call);

	acc.origin = v->op == ORIEL_NO_OP ? NULL : v->origin.list[i].addr;
	acc.result = v->fetches ? v->result.list[i].addr : NULL;
	return rc ? rc : acc_issue_or_defer(win, link, &acc, v->call);
}

/*
 * Applies the first pieces, as many as possible now: 64 take 8,210 instructions, one by one 49,807.
 * Returns how many. ERRORS: in *rc.
 */
static int apply_at_once(struct oriel_win *win, int rank, const struct acc_vector *v, int *rc)
{
	struct link *link = plain_link(win, rank, v);
	const int shift = __builtin_ctz(element_types[v->type].size_bytes); /* a power of 2 if it has one store */
	struct page page = { NULL, false };
	struct acc acc;
	int i;

	if (!link)
		return 0;
	gate_pass(win, link);
	acc_init(&acc, v->type, v->op, 0);
	for (i = 0; i < v->target_count; i++) {
		uint64_t addr = link->base + (uint64_t)v->target[i].disp * link->disp_unit_bytes;
		size_t bytes = v->target[i].size_bytes;

		if (bytes > page_rest(addr) || !turn_page(&page, win, link, v, link_there(link, addr))) {
			leave_page(&page);
			*rc = issue_alone(win, link, v, i);
			if (*rc || !takes_stores_now(link) || !gate_is_open(win, link))
				return i + 1;
			continue;
		}
		acc.count = bytes >> shift;
		acc.origin = v->op == ORIEL_NO_OP ? NULL : v->origin.list[i].addr;
		acc.result = v->fetches ? v->result.list[i].addr : NULL;
		if (page.plain)
			acc_apply(&acc, (void *)(uintptr_t)addr);
		else
			acc_apply_atomic(&acc, (void *)(uintptr_t)addr);
	}
	leave_page(&page);
	return i;
}

/* The general path, for the pieces behind the first `done`. */
static int finish(struct oriel_win *win, int rank, struct acc_vector *v, int done)
{
	struct acc row;
	const bool is_row = done == 0 && vector_row(v, &row);
	size_t bytes = is_row ? acc_bytes(&row) : 0;
	struct link *link = gate_find(win, rank);
	int rc;

	if (done == 0 && !is_row && link && are_checked(win, link, v))
		return issue_pieces(win, link, v);
	rc = is_row ? 0 : check_sums(v, &bytes);
	if (rc == 0)
		rc = op_begin(win, rank, bytes == 0, &link, v->call);
	if (rc || bytes == 0)
		return rc;
	if (is_row && row_place(win, link, &row, v->target->disp))
		return acc_issue_or_defer(win, link, &row, v->call);
	v->target += done;
	v->target_count -= done;
	v->origin.at = v->op == ORIEL_NO_OP ? 0 : done;
	v->result.at = v->fetches ? done : 0;
	rc = check_targets(win, link, v);
	return rc ? rc : issue_pieces(win, link, v);
}

static int vector_run(struct oriel_win *win, int rank, struct acc_vector *v)
{
	int rc = win_enter(win, v->call), done;

	if (rc)
		return rc;
	if (v->op == ORIEL_NO_OP)
		v->origin.count = 0;
	done = apply_at_once(win, rank, v, &rc);
	if (rc == 0 && (done == 0 || done < v->target_count))
		rc = finish(win, rank, v, done);
	win_leave(win);
	return rc ? err_in(rc, v->call) : 0;
}

int oriel_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, enum oriel_type type,
                      enum oriel_op op, int target_rank, const struct oriel_target_piece target[], int target_count)
{
	struct acc_vector v = { .type = type,
		                    .op = op,
		                    .origin = { origin, origin_count, 0, 0 },
		                    .target = target,
		                    .target_count = target_count,
		                    .call = "oriel_accumulatev" };
	int rc = acc_check(win, type, op, false, v.call);

	return rc ? rc : vector_run(win, target_rank, &v);
}

int oriel_get_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count,
                          const struct oriel_origin_piece result[], int result_count, enum oriel_type type,
                          enum oriel_op op, int target_rank, const struct oriel_target_piece target[], int target_count)
{
	struct acc_vector v = { .type = type,
		                    .op = op,
		                    .origin = { origin, origin_count, 0, 0 },
		                    .result = { result, result_count, 0, 0 },
		                    .fetches = true,
		                    .target = target,
		                    .target_count = target_count,
		                    .call = "oriel_get_accumulatev" };
	int rc = acc_check(win, type, op, true, v.call);

	return rc ? rc : vector_run(win, target_rank, &v);
}
