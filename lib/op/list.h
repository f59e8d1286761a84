// SPDX-License-Identifier: BSD-2-Clause
/*
 * list.h - operations of one call that go out together
 *
 * DESIGN NOTES
 *
 * A vector call to memory that is not mapped is many small operations:
 *
 *   an active message   holds many (op/am_codec.h): accumulate operations whose route it is, and
 *                       puts and gets, as operations on bytes, if am_issue_pays.
 *   a system call       of softverbs moves many pieces of private memory (soft/extension.h).
 *                       Few puts travel together.
 *
 * An operation that is deferred, or waits for room at the target, goes out by itself. A row (row.h)
 * is one operation.
 */
#ifndef ORIEL_LIST_H
#define ORIEL_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/copy_blocks.h"
#include "base/util.h"
#include "op/acc.h"
#include "oriel.h"
#include "win/operation.h"

struct oriel_alike;
struct oriel_win;
struct link;

#define LIST_PIECE_BYTES 512 /* a larger piece gains little from its neighbours in a message */
#define MOVE_MAX 64          /* pieces of a system call */
#define PUTS_MIN 16

/* A place in a list of pieces of this rank. */
struct walk {
	const struct oriel_origin_piece *list;
	int count; /* 0: the call has no such list */
	int at;
	size_t done; /* of the piece at `at` */
};

/* Returns how many bytes, at most `bytes`, are contiguous here. Passes over empty pieces. */
static inline size_t walk_together(struct walk *walk, size_t bytes)
{
	while (walk->at < walk->count && walk->done == walk->list[walk->at].size_bytes) {
		walk->at++;
		walk->done = 0;
	}
	return walk->at < walk->count ? min_size(bytes, walk->list[walk->at].size_bytes - walk->done) : bytes;
}

/* Returns this address, and moves on; or NULL. */
static inline void *walk_step(struct walk *walk, size_t bytes)
{
	uint8_t *here = walk->at < walk->count ? (uint8_t *)walk->list[walk->at].addr + walk->done : NULL;

	walk->done += here ? bytes : 0;
	return here;
}

static inline void walk_pack(struct walk *walk, uint8_t *to, size_t bytes)
{
	for (size_t some; bytes > 0; bytes -= some) {
		some = walk_together(walk, bytes);
		copy_short(to, walk_step(walk, some), some);
		to += some;
	}
}

static inline void walk_unpack(struct walk *walk, const uint8_t *from, size_t bytes)
{
	for (size_t some; bytes > 0; bytes -= some) {
		some = walk_together(walk, bytes);
		copy_short(walk_step(walk, some), from, some);
		from += some;
	}
}

/* A vector call, and its place. */
struct list {
	enum oriel_type type;
	enum oriel_op op;
	struct walk origin; /* empty for ORIEL_NO_OP */
	struct walk result; /* empty if not wanted */
	const struct oriel_target_piece *target;
	int count;
	int at;
	bool alone; /* no piece is for a message */
	const char *call;
};

/*
 * Returns whether am_issue_pays, or in access epochs a message is under way: a target that applies
 * messages does not say that it polls.
 */
bool list_takes_messages(struct link *link, size_t bytes);

/*
 * Returns whether all pieces may go out, without a check of each: they are pairs (pieces.h), in
 * range of memory that is not mapped. The caller holds win->lock.
 */
bool list_is_checked(struct oriel_win *win, struct link *link, const struct list *list);

/*
 * Sends a message of the next pieces, or waits for room at the target. Returns 1; or 0: the next
 * piece is to be issued by itself. ERRORS: as issue_or_defer. The caller holds win->lock.
 */
int list_send(struct oriel_win *win, struct link *link, struct list *list);

/* Issues or defers the next piece as accumulate operations. ERRORS: as issue_or_defer. */
int list_issue_piece(struct oriel_win *win, struct link *link, struct list *list);

/*
 * Sends messages of pieces from number `at` on, if the target polls, as many as have room. They are
 * in range. Returns how many pieces. ERRORS: as issue_or_defer. The caller holds win->lock.
 */
int list_send_alike(struct oriel_win *win, struct link *link, const struct oriel_alike *alike, int at);

/* Moves a row, which has been placed, by system calls. False: all of it must be issued. */
bool list_move_row(struct oriel_win *win, struct link *link, const struct acc *row);

/* Issues or defers MOVE_MAX puts or gets, that have been checked. ERRORS: as issue_or_defer. */
int list_issue(struct oriel_win *win, struct link *link, const struct op ops[], uint32_t count, const char *call);

#endif
