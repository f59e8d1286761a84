// SPDX-License-Identifier: BSD-2-Clause
/* vector.c - the vector forms of put and get */
#include "base/err.h"
#include "base/util.h"
#include "op/copy.h"
#include "op/enter.h"
#include "op/issue.h"
#include "op/pieces.h"
#include "op/target.h"
#include "win/link.h"
#include "win/win.h"

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
	uint64_t addr;

	for (int i = 0; rc == 0 && i < v->target_count; i++) {
		if (v->target[i].size_bytes)
			rc = op_range(win, link, v->target[i].disp, v->target[i].size_bytes, &addr, v->call);
		if (rc == 0 && link_remote_regions(link))
			rc = op_access(win, link, v->kind, v->call);
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
		struct op op = { .kind = v->kind, .origin = (uint8_t *)origin->addr + origin_done, .size_bytes = bytes };

		op.remote_addr = link->base + (uint64_t)target->disp * link->disp_unit_bytes + target_done;
		rc = issue_or_defer(win, link, &op, v->call);
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

/*
 * The short way, for short pieces of mapped memory (pieces.h): they are looked at, and then copied, by no call but
 * memmove's. False: nothing has happened, and the longer way finds out.
 */
static bool copy_at_once(struct oriel_win *win, int rank, const struct vector *v)
{
	const struct oriel_origin_piece *origin = v->origin;
	const struct oriel_target_piece *target = v->target;
	struct link *link = mapped_link(win, rank);
	const bool put = v->kind == OP_PUT;
	const int count = v->origin_count;
	struct pieces_seen seen;
	uint64_t base, unit;

	if (!link || !pieces_see(&seen, link, origin, count, target, v->target_count) || seen.longest > COPY_PIECE_BYTES)
		return false;
	if (!opens_at_once(win, link))
		return false;
	epoch_use(win);
	base = link->base; /* which no copying changes, as the compiler knows */
	unit = link->disp_unit_bytes;
	for (int i = 0; i < count; i++) {
		void *at = (void *)(uintptr_t)(base + target[i].disp * unit);

		if (put)
			copy_piece(at, origin[i].addr, origin[i].size_bytes);
		else
			copy_got(origin[i].addr, at, origin[i].size_bytes);
	}
	return true;
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
	if (!copy_at_once(win, rank, v)) {
		rc = vector_sums(v, &bytes);
		if (rc == 0)
			rc = vector_locked(win, rank, v, bytes);
	}
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
