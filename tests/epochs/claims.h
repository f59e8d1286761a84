// SPDX-License-Identifier: BSD-2-Clause
/*
 * claims.h - which rank may touch which bytes of which memory
 *
 * DESIGN NOTES
 *
 * The plan is one list of events, but ranks run apart: a later event of the list may happen
 * earlier. A *claim* says that bytes of a rank's memory are being read or written from its event
 * on, until an event of the memory's owner ends it: complete, fence or flush for memory of the
 * origin, wait or fence for the target. A rank may write bytes that no claim is on, and read bytes
 * that no writing claim is on. So the outcome does not depend on when things happen, and the model
 * may carry out every event at once.
 *
 * Ranks that are ahead of the list may reach memory that is exposed, through whatever window. A
 * claim on it therefore outlives its end until no exposure epoch covers the bytes; so do the
 * owner's own stores.
 *
 * Accumulates of one origin to the same elements take effect in program order (A15): they may
 * follow each other without a flush.
 */
#ifndef ORIEL_TESTS_EPOCHS_CLAIMS_H
#define ORIEL_TESTS_EPOCHS_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLAIMS_MAX 3000

/* Bytes of a rank's memory. */
struct range {
	int rank;
	int region;
	size_t offset;
	size_t size_bytes;
};

enum claim_side {
	CLAIM_TARGET, /* window memory that an operation reaches; ends with the exposure epoch */
	CLAIM_ORIGIN, /* origin memory of an operation; ends with the access epoch, or a flush */
	CLAIM_STORE,  /* the owner's own store: over at once but for what is exposed */
};

struct claim {
	struct range range;
	enum claim_side side;
	bool write;
	bool over;      /* its end has come; only an exposure epoch keeps it */
	bool flushed;   /* target: complete there. The same origin may touch the bytes again in this epoch */
	int win;        /* the operation's window */
	uint32_t round; /* the operation's round of post, start, complete, wait; 0: a fence epoch */
	int origin;     /* ranks of the operation */
	int target;
	uint32_t serial;   /* of the operation */
	int type;          /* accumulates: enum oriel_type; others: 0 */
	size_t size_bytes; /* of their elements */
};

struct claims {
	struct claim list[CLAIMS_MAX];
	int count;
};

bool range_overlaps(const struct range *a, const struct range *b);

/* Whether `wanted` (range, write, win, origin) cannot be had. */
bool claims_conflict(const struct claims *claims, const struct claim *wanted);

/* Give false when the list is full. */
bool claims_add(struct claims *claims, const struct claim *claim);

/* Whether an operation's origin memory in the range is in use. */
bool claims_origin_in_use(const struct claims *claims, const struct range *range);

#endif
