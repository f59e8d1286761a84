// SPDX-License-Identifier: BSD-2-Clause
/* See acc_device.h. */
#include "op/acc_device.h"

#include <string.h>

#include "base/err.h"
#include "job/job.h"
#include "conn/atomics_peer.h"
#include "sync/wait.h"
#include "op/acc.h"
#include "op/issue.h"
#include "win/link.h"
#include "win/win.h"

#define SWAPS_AT_ONCE 16 /* tries before other threads get win->lock */

/* The wire and key by which words are changed. */
struct path {
	struct wire *wire;
	uint32_t rkey;
	bool apart; /* later calls do not wait for this wire */
};

/* link->words is WORDS_BY_DEVICE. */
static uint32_t words_rkey(const struct link *link)
{
	return link_ext(link) ? link->ext->words_rkey : link->rkey;
}

static int find_path(const struct link *link, struct path *path)
{
	struct peer *via = link->peer;
	int rc = 1;

	*path = (struct path){ &link->peer->wire, link->rkey, false };
	if (link->words != WORDS_BY_DEVICE)
		return 1;
	rc = peer_atomic_via(link->peer, &via);
	*path = (struct path){ &via->wire, words_rkey(link), via != link->peer };
	return rc;
}

/* Waiting for an atomics peer. */

struct connecting {
	struct link *link;
	int code;
};

static int connect_step(void *arg)
{
	struct peer *via;

	return peer_atomic_via(((struct connecting *)arg)->link->peer, &via);
}

static int connect_watch(void *arg, struct wait *wait)
{
	struct peer *via;

	wait_blocked(wait, CAUSE_SETUP);
	if (peer_atomic_via(((struct connecting *)arg)->link->peer, &via) == 0)
		wait_watch(wait, via);
	return 0;
}

int acc_connect_device(struct oriel_win *win, struct link *link, const char *call)
{
	static const struct waiter waiter = { connect_step, connect_watch };
	struct connecting connecting = { .link = link };
	struct path path;
	struct wait wait;
	int rc = find_path(link, &path);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	wait_begin(&wait, win->job, call, win->label);
	owned_lock_give(&win->lock);
	rc = wait_until(&wait, &waiter, &connecting);
	owned_lock_take(&win->lock);
	return rc;
}

/* The operations. Their errors are the wire's. */

static int post_word(const struct path *path, const struct acc *acc, struct remote word, uint64_t *number)
{
	const struct atomic atomic = acc_atomic(acc, word);

	return wire_atomic(path->wire, &atomic, acc->result, number);
}

static int await(const struct path *path, int rc, uint64_t number)
{
	if (rc)
		return rc;
	return wire_wait(path->wire, number) ? 0 : ORIEL_ERR_PEER;
}

/*
 * Reads the word, then compares and swaps it. Returns 0 when that succeeds, ISSUE_LATER when *tries
 * are used up, or an error.
 */
static int change_word(const struct path *path, const struct acc *acc, struct remote word, int *tries)
{
	uint64_t seen, found = 0, wanted, number;
	struct atomic atomic;
	int rc;

	if (*tries == 0)
		return ISSUE_LATER;
	rc = wire_get(path->wire, wire_sge(&found, sizeof(found), 0), word, &number);
	rc = await(path, rc, number);
	do {
		if (rc || (*tries)-- == 0)
			return rc ? rc : ISSUE_LATER;
		seen = wanted = found;
		element_apply(acc->type, acc->op, &wanted, acc_origin(acc), NULL, 1);
		atomic = atomic_swap(seen, wanted, word);
		rc = wire_atomic(path->wire, &atomic, &found, &number);
		rc = await(path, rc, number);
	} while (rc || found != seen);
	if (acc->result)
		memcpy(acc->result, &seen, sizeof(seen));
	return 0;
}

/* Carries out the operation; *acc becomes the rest. */
static int do_words(const struct path *path, struct acc *acc, uint64_t addr, uint64_t *number)
{
	int rc = 0, tries = SWAPS_AT_ONCE;

	while (rc == 0 && acc->count > 0) {
		struct remote word = { addr, path->rkey };

		rc = acc_is_one_request(acc) ? post_word(path, acc, word, number) : change_word(path, acc, word, &tries);
		if (rc == 0)
			addr += acc_advance(acc, 1);
	}
	return rc;
}

static int do_by_path(struct oriel_win *win, struct link *link, struct acc *acc, const struct path *path)
{
	uint64_t there = link_ext(link) ? link->ext->there : link->base;
	uint64_t addr = acc->remote_addr - link->base + there, number = 0;
	int rc = do_words(path, acc, addr, &number);

	if ((path->apart || link_mapped(link)) && number > 0)
		rc = await(path, rc, number);
	if (number > 0 && !path->apart) {
		link->last_number = number;
		link->marks |= acc->result ? LINK_TOUCHED | LINK_GOT : LINK_TOUCHED;
	}
	return rc == ORIEL_ERR_PEER ? win_peer_error(win, link->rank) : rc;
}

int acc_by_device(struct oriel_win *win, struct link *link, struct acc *acc)
{
	struct path path;
	int rc = find_path(link, &path);

	if (rc == 1)
		return do_by_path(win, link, acc, &path);
	return rc == 0 || rc == ORIEL_ERR_PEER ? win_peer_error(win, link->rank) : rc;
}

bool acc_wire_reaches_device(const struct link *link, uint32_t *rkey)
{
	if (link->words != WORDS_BY_DEVICE || link->peer->device != job_ticket_device(link->peer->job))
		return false;
	*rkey = words_rkey(link);
	return true;
}

bool acc_post_word(struct oriel_win *win, struct link *link, struct acc *acc, int *rc)
{
	struct path path;

	if (!acc_is_one_request(acc) || find_path(link, &path) != 1)
		return false;
	*rc = do_by_path(win, link, acc, &path);
	return true;
}
