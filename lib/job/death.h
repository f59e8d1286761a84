// SPDX-License-Identifier: BSD-2-Clause
/*
 * death.h - the ranks known dead
 *
 * One list for the job, also of ranks that are no peers. A waiting loop reads the counter
 * deaths.count, and searches the list only when it has changed. A thread that finds a death calls
 * rank_died (peer.h), which enters it here.
 */
#ifndef ORIEL_DEATH_H
#define ORIEL_DEATH_H

#include <stdbool.h>
#include <stdint.h>

struct oriel_job;
struct oriel_group;

#define DEATH_TEXT_BYTES 256

#define DEATH_WORD_MS 100

#define DEATH_LEFT_TEXT "it has left the job (oriel_finalize)"

struct death {
	int rank;
	bool no_route;  /* it lives, but this rank cannot reach it: then it never has */
	bool explained; /* the text is the launcher's, which knows how the process has ended */
	bool awaited;   /* the launcher's word has been waited for */
	char text[DEATH_TEXT_BYTES];
};

struct deaths {
	uint64_t count; /* of list; written under job->lock, read by counter_load */
	struct death *list;
	uint32_t capacity;
	int *reported; /* ranks that another rank reports lost; the program has had an error about them */
	uint32_t reported_count;
	uint32_t reported_capacity;
	uint64_t losses; /* grows when a peer becomes PEER_DEAD, for whatever reason; as count */
	int *left; /* ranks that have left the job in order and are unreachable now: no deaths */
	uint32_t left_count;
	uint32_t left_capacity;
};

/*
 * Enters a death, or that there is no route. Returns false if it was known. It counts after
 * death_announce, which follows once the peer is marked. The caller holds job->lock for both.
 */
bool death_add(struct oriel_job *job, int rank, bool no_route, const char *text);
void death_announce(struct oriel_job *job);

/*
 * The launcher says how the process of a rank that is known dead has ended. The caller holds
 * job->lock.
 */
void death_explain(struct oriel_job *job, int rank, const char *text);

/*
 * Records that a rank has left the job in order, as the reason for ORIEL_ERR_PEER, unless memory is
 * short. The caller holds job->lock.
 */
void death_add_left(struct oriel_job *job, int rank);

/* Returns the death of a rank, or NULL. The caller holds job->lock. */
const struct death *death_find(const struct oriel_job *job, int rank);

/*
 * Returns whether that rank is dead, or has left; text (may be NULL) becomes the reason. The first
 * time it waits up to DEATH_WORD_MS for the launcher's: connections tell of a death first.
 */
bool rank_is_dead(struct oriel_job *job, int rank, char text[DEATH_TEXT_BYTES]);

/* Returns whether the rank lives, as far as is known, and cannot be reached. */
bool rank_has_no_route(struct oriel_job *job, int rank);

/*
 * Returns the world rank of a member of the group that is dead or has no route, or ORIEL_RANK_NONE.
 */
int job_dead_member(struct oriel_job *job, const struct oriel_group *group);

/* Returns the world rank of a member that has died, or ORIEL_RANK_NONE. */
int job_died_member(struct oriel_job *job, const struct oriel_group *group);

/*
 * Returns the world rank of the first member of the group among the job's deaths after the first
 * *seen, or ORIEL_RANK_NONE. All deaths count as seen afterwards; *seen is read by counter_load.
 */
int job_new_dead_member(struct oriel_job *job, const struct oriel_group *group, uint64_t *seen);

/* Returns whether a call has reported a member's death, found by this rank or another. */
bool job_reported_death_of_member(struct oriel_job *job, const struct oriel_group *group);

void deaths_free(struct oriel_job *job);

/*
 * Sets the error text about a rank, and returns ORIEL_ERR_PEER (err_set_route if it has no route).
 */
int peer_error(struct oriel_job *job, int rank);

#endif
