// SPDX-License-Identifier: BSD-2-Clause
/*
 * coll.h - barriers of a group, with a vote, over control messages
 *
 * A dissemination barrier: in round r a rank writes to the member 2^r places after it and waits for
 * the one 2^r places before it, for log2 p rounds; whoever has done all rounds has heard, through
 * others, from everybody. Each message carries the worst error its sender knows of, so all members
 * end with the same verdict; and the word that its sender has brought along, so that members who do
 * not agree are found. A member that finds another one dead goes on sending in its remaining
 * rounds, with that verdict, but waits no more: nobody who depends on it is left without an answer.
 */
#ifndef ORIEL_COLL_H
#define ORIEL_COLL_H

#include <stdint.h>

#include "base/dissemination.h"

struct oriel_job;
struct oriel_group;
struct wait;

struct coll {
	struct oriel_job *job;
	const struct oriel_group *group; /* borrowed until the end; the calling rank is a member */
	uint8_t id[16];
	struct dissemination barrier;
	int code;    /* the verdict so far */
	int culprit; /* world rank it is about */
	/* After coll_begin the caller may set these. */
	uint64_t agreed;     /* where members bring different ones, all end with ORIEL_ERR_ARG */
	uint64_t payload[2]; /* not 0, 0: what this member gives to all; at the end every member has it */
	/*
	 * During a look, for a living member (world rank) whose message does not come: whether it never
	 * will. NULL: nobody knows.
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
};

/*
 * The 16 bytes that all members compute for the same call: from a key they share, a number, and the
 * kind.
 */
void coll_id(uint8_t id[16], const uint8_t key[16], uint64_t number, enum coll_kind kind);

/*
 * The same from an id that coll_id has made. It is a hash: what is another in a few bits only is met by no other id,
 * and a hash is dear beside a barrier.
 */
void coll_id_within(uint8_t id[16], const uint8_t hash[16], uint64_t number, enum coll_kind kind);

/* Begin; code and culprit are this rank's vote (0: all is well). */
void coll_begin(struct coll *coll, struct oriel_job *job, const struct oriel_group *group, const uint8_t id[16],
                int code, int culprit);

/*
 * Go through the rounds. Returns the verdict, or ORIEL_ERR_TIMEOUT with the collective still under
 * way: call again.
 */
int coll_run(struct coll *coll, struct wait *wait);

/*
 * The same for a call that cannot be repeated: after ORIEL_ERR_TIMEOUT it is over, and this rank
 * takes back the votes it has given. Who sees that in time fails too and passes it on; a member that
 * has gone through all rounds at that moment does not, and finds out later.
 */
int coll_run_once(struct coll *coll, struct wait *wait);

/* What every member brings to a gathering. */
struct coll_item {
	uint64_t word[3];
};

/*
 * Every member learns every member's item, by its rank in the group: p - 1 messages of each. items
 * holds this rank's own at first; NULL only with a vote other than 0. For a call that cannot be
 * repeated. On an error items says nothing. ERRORS: the verdict; ORIEL_ERR_TIMEOUT.
 */
int coll_gather(struct coll *coll, struct coll_item items[], struct wait *wait);

#endif
