// SPDX-License-Identifier: BSD-2-Clause
/* See list.h. */
#include "op/list.h"

#include <stdbool.h>
#include <stddef.h>

#include "op/acc_route.h"
#include "op/acc_target.h"
#include "op/am_issue.h"
#include "op/issue.h"
#include "verbs/direct_access.h"
#include "win/link.h"
#include "win/remote_regions.h"
#include "win/win.h"

/* Returns whether operations may go out to the member now. */
static bool may_go(struct oriel_win *win, struct link *link)
{
	return !link->deferred && (!(link->marks & LINK_ACCESS) || link_grant(win, link));
}

static void note_operation(struct oriel_win *win, const struct link *link)
{
	if (!(link->marks & LINK_ACCESS))
		win->sync |= SYNC_FENCE_USED;
}

/* Lists as active messages. */

bool list_takes_messages(struct link *link)
{
	struct direct_access *direct = &link->peer->direct;

	return direct_has_lists(direct) && (link->marks & LINK_AM || direct_polls(direct));
}

static bool is_for_message(const struct link *link, const struct acc *acc)
{
	return acc_route(link, acc->type, acc->remote_addr, acc->count) == ACC_ROUTE_AM &&
	       acc->count * element_types[acc->type].size_bytes <= LIST_PIECE_BYTES;
}

/*
 * Returns false for pairs, which have padding, and for dynamic windows, whose displacements are
 * addresses.
 */
static bool takes_lists(const struct link *link, enum oriel_type type)
{
	return link->route != ROUTE_REGIONS && !element_has_padding(type);
}

/* Returns how many of the first operations went out, or an error. */
static int accs_together(struct oriel_win *win, struct link *link, struct acc accs[], uint32_t count, const char *call)
{
	int sent, rc;

	if (count < 2 || !takes_lists(link, accs->type) || !may_go(win, link))
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!is_for_message(link, &accs[i]))
			return 0;
	}
	note_operation(win, link);
	sent = am_issue_list(win, link, accs, count, call);
	if (sent != 0)
		return sent;
	rc = acc_issue_or_defer(win, link, accs, call);
	return rc ? rc : 1;
}

int list_issue_accs(struct oriel_win *win, struct link *link, struct acc accs[], uint32_t count, const char *call)
{
	int rc = 0;

	for (uint32_t at = 0; rc >= 0 && at < count;) {
		rc = accs_together(win, link, &accs[at], count - at, call);
		at += rc > 0 ? (uint32_t)rc : 0;
		if (rc >= 0 && at < count)
			rc = acc_issue_or_defer(win, link, &accs[at++], call);
	}
	return rc < 0 ? rc : 0;
}

/* Issues puts or gets as operations on bytes. Returns what accs_together does. */
static int bytes_together(struct oriel_win *win, struct link *link, const struct op ops[], uint32_t count,
                          const char *call)
{
	struct acc accs[LIST_MAX];

	for (uint32_t i = 0; i < count; i++) {
		acc_init(&accs[i], ORIEL_UINT8, ops->kind == OP_PUT ? ORIEL_REPLACE : ORIEL_NO_OP, ops[i].size_bytes);
		if (ops->kind == OP_PUT)
			accs[i].origin = ops[i].origin;
		else
			accs[i].result = ops[i].origin;
		accs[i].remote_addr = ops[i].remote_addr;
	}
	return accs_together(win, link, accs, count, call);
}

/* Lists as a system call. */

/*
 * Fills in the piece of a get from a dynamic window. Returns false if its memory is mapped, or in
 * two regions.
 */
static bool region_piece(struct oriel_win *win, struct link *link, const struct op *op, struct softverbs_piece *piece)
{
	const struct remote_region *region = remote_region_unmapped(win, link, op->remote_addr, op->size_bytes);

	if (region)
		piece->rkey = region->rkey;
	return region;
}

static bool piece_of(struct oriel_win *win, struct link *link, const struct op *op, struct softverbs_piece *piece)
{
	*piece = (struct softverbs_piece){ op->origin, op->size_bytes, op->remote_addr, link->rkey };
	return link->route != ROUTE_REGIONS || region_piece(win, link, op, piece);
}

static bool read_list(struct oriel_win *win, struct link *link, const struct op ops[], uint32_t count)
{
	struct softverbs_piece pieces[LIST_MAX];

	for (uint32_t i = 0; i < count; i++) {
		if (!piece_of(win, link, &ops[i], &pieces[i]))
			return false;
	}
	if (!direct_get_list_sync(&link->peer->direct, pieces, count))
		return false;
	note_operation(win, link);
	return true;
}

/* Issues puts or gets by one of the two ways. Returns what accs_together does. */
static int ops_together(struct oriel_win *win, struct link *link, const struct op ops[], uint32_t count,
                        const char *call)
{
	int rc = 0;

	if (count < 2 || !direct_has_lists(&link->peer->direct) ||
	    (link->route != ROUTE_SYNC && link->route != ROUTE_REGIONS))
		return 0;
	if (list_takes_messages(link))
		rc = bytes_together(win, link, ops, count, call);
	if (rc == 0 && ops->kind == OP_GET && may_go(win, link) && read_list(win, link, ops, count))
		rc = (int)count;
	return rc;
}

int list_issue(struct oriel_win *win, struct link *link, const struct op ops[], uint32_t count, const char *call)
{
	int rc = 0;

	for (uint32_t at = 0; rc >= 0 && at < count;) {
		rc = ops_together(win, link, &ops[at], count - at, call);
		at += rc > 0 ? (uint32_t)rc : 0;
		if (rc >= 0 && at < count)
			rc = issue_or_defer(win, link, &ops[at++], call);
	}
	return rc < 0 ? rc : 0;
}
