// SPDX-License-Identifier: BSD-2-Clause
/*
 * coll.h - barriers of a group, with a vote, over control messages
 *
 * Each message of a dissemination barrier carries the worst error that its sender knows, so all
 * members end with one verdict, and the sender's `agreed` word. A member that knows of a death
 * sends that in its remaining rounds, but waits no more.
 */
#ifndef ORIEL_COLL_H
#define ORIEL_COLL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dissemination.h"

struct oriel_job;
struct oriel_group;
struct wait;

struct coll {
	struct oriel_job *job;
	const struct oriel_group *group; /* borrowed; the calling rank is a member */
	uint8_t id[16];
	struct dissemination barrier;
	bool gathers; /* partners are 2^r places apart for any size */
	int code;     /* the verdict so far */
	int culprit;  /* world rank that the verdict is about */
	/* The caller may set these after coll_begin. */
	uint64_t agreed;     /* if members bring different ones, all end with ORIEL_ERR_ARG */
	uint64_t payload[2]; /* if not {0, 0}: this member's payload for all */
	bool combines;       /* every member ends with the largest payload[0], and the bits of all payload[1] */
	/*
	 * Called in a check of the wait: returns whether a living member (world rank) will never send
	 * its message. NULL: unknown.
	 */
	bool (*has_gone)(void *arg, int world, struct wait *wait);
	void *has_gone_arg;
};

enum coll_kind {
	COLL_BARRIER = 1,
	COLL_CREATE,
	COLL_FREE,
	COLL_FREE_SURVIVORS,
	COLL_FENCE_FAILED,
	COLL_HINTS,
	COLL_GROUP_SHARED,
	COLL_SHARED_SIZES,
	COLL_SHARED_FILE,
	COLL_PLACES,
	COLL_CREATED,
};

/*
 * Computes the id of a call, equal at all members, from a key they share, a number, and the kind.
 */
void coll_id(uint8_t id[16], const uint8_t key[16], uint64_t number, enum coll_kind kind);

/*
 * Derives an id from one of coll_id by flipping bits, which meets no other hash and is cheaper than
 * a new one.
 */
void coll_id_within(uint8_t id[16], const uint8_t hash[16], uint64_t number, enum coll_kind kind);

/* code and culprit are this rank's vote (0: no error). */
void coll_begin(struct coll *coll, const struct oriel_group *group, const uint8_t id[16], int code, int culprit);

/* Returns the verdict, or ORIEL_ERR_TIMEOUT with the collective in progress: call again. */
int coll_run(struct coll *coll, struct wait *wait);

/*
 * Runs a call that cannot be repeated: ORIEL_ERR_TIMEOUT ends it and withdraws this rank's votes. A
 * member that sees that in time fails too, and passes it on.
 */
int coll_run_once(struct coll *coll, struct wait *wait);

struct coll_item {
	uint64_t word[3];
};

/*
 * Gives every member's item to every member, by rank in the group: p - 1 messages of each. items
 * holds this rank's own; NULL only with a vote other than 0. The call cannot be repeated; on an
 * error items is undefined. ERRORS: the verdict; ORIEL_ERR_TIMEOUT.
 */
int coll_gather(struct coll *coll, struct coll_item items[], struct wait *wait);

#endif
