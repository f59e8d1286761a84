// SPDX-License-Identifier: BSD-2-Clause
/*
 * death.h - the ranks known dead, peers or not
 *
 * A waiting loop reads the counter deaths.count, and searches the list only when it has changed. A
 * thread that finds a death calls rank_died (peer.h), which enters it here.
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
	bool no_route;  /* it lives, but this rank cannot reach it */
	bool explained; /* the launcher's text has come */
	bool kept;      /* the text says more than that */
	bool awaited;   /* this rank has waited for the launcher's text */
	char text[DEATH_TEXT_BYTES];
};

struct deaths {
	uint64_t count; /* written under job->lock, read by counter_load */
	struct death *list;
	uint32_t capacity;
	int *reported; /* ranks that another rank reports lost */
	uint32_t reported_count;
	uint32_t reported_capacity;
	uint64_t losses; /* grows when a peer becomes PEER_DEAD; accessed as count */
	int *left; /* ranks that have left the job in order and are unreachable */
	uint32_t left_count;
	uint32_t left_capacity;
};

/*
 * Enters a death, or that there is no route; returns false if known. It counts after
 * death_announce, once the peer is marked. The caller holds job->lock for both.
 */
bool death_add(struct oriel_job *job, int rank, bool no_route, const char *text);
void death_announce(struct oriel_job *job);

/*
 * Enter the launcher's text about a rank known dead, and one that the launcher's does not replace.
 * The caller holds job->lock.
 */
void death_explain(struct oriel_job *job, int rank, const char *text);
void death_keep(struct oriel_job *job, int rank, const char *text);

/*
 * Records a rank that has left the job in order, unless memory is short. The caller holds
 * job->lock.
 */
void death_add_left(struct oriel_job *job, int rank);

/* NULL: it is not dead. The caller holds job->lock. */
const struct death *death_find(const struct oriel_job *job, int rank);

/*
 * Returns whether the rank is dead, or has left; text (may be NULL) becomes the reason. The first
 * time it waits up to DEATH_WORD_MS for the launcher's, which comes later than a broken connection.
 */
bool rank_is_dead(struct oriel_job *job, int rank, char text[DEATH_TEXT_BYTES]);

/* Returns whether the rank lives, as far as known, and cannot be reached. */
bool rank_has_no_route(struct oriel_job *job, int rank);

/* Returns the world rank of a member that is dead or has no route, or ORIEL_RANK_NONE. */
int job_dead_member(struct oriel_job *job, const struct oriel_group *group);

/* Returns the world rank of a member that has died, or ORIEL_RANK_NONE. */
int job_died_member(struct oriel_job *job, const struct oriel_group *group);

/*
 * Returns the world rank of the first member among the deaths after *seen, or ORIEL_RANK_NONE.
 * *seen, read by counter_load, then covers all deaths.
 */
int job_new_dead_member(struct oriel_job *job, const struct oriel_group *group, uint64_t *seen);

/* Returns whether a call of any rank has reported a member's death. */
bool job_reported_death_of_member(struct oriel_job *job, const struct oriel_group *group);

void deaths_free(struct oriel_job *job);

/* Sets the error text about a rank, and returns ORIEL_ERR_PEER or ORIEL_ERR_ROUTE. */
int peer_error(struct oriel_job *job, int rank);

#endif
