// SPDX-License-Identifier: BSD-2-Clause
/* See flush_all.h. */
#include "op/flush_all.h"

#include "base/err.h"
#include "base/util.h"
#include "op/issue.h"
#include "sync/wait.h"
#include "win/blocked.h"
#include "win/link.h"
#include "win/win.h"

static bool is_local_free(const struct oriel_win *win)
{
	for (uint32_t i = 0; i < win->links.capacity; i++) {
		const struct link *link = win->links.table[i];

		if (link && (link->deferred || link->marks & (LINK_GOT | LINK_WAITING)))
			return false;
	}
	return true;
}

static int out_of_memory(struct oriel_win *win)
{
	win->requests.part_count = 0;
	return err_set(ORIEL_ERR_MEMORY, "%s: out of memory for a request for all of %u ranks", win->label,
	               win->links.count);
}

static int flush_all_begin(struct oriel_win *win)
{
	struct requests *requests = &win->requests;

	for (uint32_t i = 0; i < win->links.capacity; i++) {
		struct flush_all_part part = { .link = win->links.table[i] };

		if (part.link && (part.link->marks & LINK_ACCESS))
			watermark_begin(win, part.link, false, &part.upto);
		if (part.upto.number == 0)
			continue;
		if (!grow_array(&requests->parts, &requests->part_capacity, requests->part_count + 1, sizeof(part)))
			return out_of_memory(win);
		requests->parts[requests->part_count++] = part;
	}
	requests->begun++;
	return 0;
}

int flush_all_of_now(struct oriel_win *win, bool local, uint64_t *number)
{
	const struct requests *requests = &win->requests;
	bool under_way = requests->begun > requests->ended;
	int rc = 0;

	*number = 0;
	if (local && is_local_free(win))
		return 0;
	if (!under_way)
		rc = flush_all_begin(win);
	*number = requests->begun + under_way;
	return rc;
}

/* Notes that flushes of all up to `last` have lost a member; `first` counts if none had before. */
static void note_lost(struct requests *requests, uint64_t first, uint64_t last, int rank)
{
	if (requests->lost_to == 0)
		requests->lost_from = first;
	requests->lost_to = last;
	requests->lost_rank = rank;
}

static bool has_lost(const struct requests *requests, uint64_t number)
{
	return requests->lost_to > 0 && number >= requests->lost_from && number <= requests->lost_to;
}

/*
 * Carries part `i` one step further. Returns 1 when it is done; the last part then takes its place.
 */
static int part_step(struct oriel_win *win, uint32_t i)
{
	struct requests *requests = &win->requests;
	struct flush_all_part *part = &requests->parts[i];
	int rc = watermark_step(win, part->link, false, &part->upto);

	if (rc == ORIEL_ERR_PEER) {
		note_lost(requests, requests->begun, requests->begun, part->link->rank);
		rc = 1;
	}
	if (rc == 1)
		*part = requests->parts[--requests->part_count];
	return rc;
}

/*
 * Carries the current flush of all one step further. Returns 1 when it is complete, 0, or a part's
 * error.
 */
static int parts_step(struct oriel_win *win)
{
	int error = 0;

	for (uint32_t i = 0; i < win->requests.part_count;) {
		int rc = part_step(win, i);

		if (rc <= 0)
			i++;
		if (rc < 0)
			error = rc;
	}
	return error ? error : win->requests.part_count == 0;
}

int flush_all_step(struct oriel_win *win, uint64_t number)
{
	struct requests *requests = &win->requests;

	while (requests->ended < number) { /* at most twice: `number` is the current or the next */
		int rc = requests->begun == requests->ended ? flush_all_begin(win) : 0;

		if (rc == 0)
			rc = parts_step(win);
		if (rc <= 0)
			return rc;
		requests->ended++;
	}
	return has_lost(requests, number) ? win_peer_error(win, requests->lost_rank) : 1;
}

int flush_all_watch(struct oriel_win *win, struct wait *wait)
{
	const struct requests *requests = &win->requests;

	for (uint32_t i = 0; i < requests->part_count; i++) {
		blocked_on_target(win, requests->parts[i].link, wait);
		link_watch(win, requests->parts[i].link, wait);
	}
	if (requests->lost_to != requests->begun || !wait_lingered(wait))
		return 0;
	return win_peer_error(win, requests->lost_rank);
}

void flush_all_close(struct oriel_win *win, int lost)
{
	struct requests *requests = &win->requests;
	uint64_t next = requests->begun + 1;

	requests->closed++;
	if (lost != ORIEL_RANK_NONE)
		note_lost(requests, requests->ended + 1, next, lost);
	requests->part_count = 0;
	requests->begun = requests->ended = next;
}

/* Returns the number of closed epochs in which operations for the member can have been deferred. */
static uint64_t watermark_epochs(const struct oriel_win *win, const struct link *link)
{
	return win->requests.closed + link->completed_sent;
}

/* Returns whether the epoch of the deferred operations is closed, or complete has issued them. */
static bool is_past(const struct oriel_win *win, const struct link *link, uint64_t epochs)
{
	uint64_t now = watermark_epochs(win, link);

	return now != epochs && !(link->marks & LINK_FLAGGED && now == epochs + 1);
}

/*
 * Returns the watermark of a closed epoch: everything is complete at the origin, and what this rank
 * has ever issued covers the rest.
 */
static struct watermark watermark_past(struct link *link, bool local)
{
	if (local)
		return (struct watermark){ 0 };
	if (link->last_number)
		link->last_number = wire_placing(&link->peer->wire, link->last_number);
	return (struct watermark){ link->last_number, link_am_number(link) };
}

void watermark_begin(struct oriel_win *win, struct link *link, bool local, struct watermark *upto)
{
	if (link->deferred) {
		*upto = (struct watermark){ WATERMARK_DEFERRED, watermark_epochs(win, link) };
		return;
	}
	*upto = watermark_now(link, local);
	if (upto->number && watermark_complete(link, upto))
		*upto = (struct watermark){ 0 };
}

/* Turns a deferred watermark into numbers. Returns 1 once *upto has numbers, 0, or an error. */
static int deferred_step(struct oriel_win *win, struct link *link, bool local, struct watermark *upto)
{
	int rc;

	if (is_past(win, link, upto->am_number)) {
		if (link_lost(link))
			return ORIEL_ERR_PEER;
		*upto = watermark_past(link, local);
		return 1;
	}
	rc = issue_granted(win, link);
	if (rc == 1)
		*upto = watermark_now(link, local);
	return rc;
}

int watermark_step(struct oriel_win *win, struct link *link, bool local, struct watermark *upto)
{
	int rc = upto->number == WATERMARK_DEFERRED ? deferred_step(win, link, local, upto) : 1;

	if (rc <= 0)
		return rc;
	if (!watermark_complete(link, upto))
		return link_lost(link) ? link_let_go(link) : 0;
	watermark_forget(link, local);
	return 1;
}
