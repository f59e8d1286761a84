// SPDX-License-Identifier: BSD-2-Clause
/*
 * death.h - the ranks known dead
 *
 * One list for the job, for ranks that are no peers too. deaths.count counts them; a waiting loop
 * looks at that counter only and searches the list when it has changed. Who finds a death calls
 * rank_died (peer.h), which enters it here.
 */
#ifndef ORIEL_DEATH_H
#define ORIEL_DEATH_H

#include <stdbool.h>
#include <stdint.h>

struct oriel_job;
struct oriel_group;

#define DEATH_TEXT_BYTES 192

#define DEATH_LEFT_TEXT "it has left the job (oriel_finalize)"

/* One dead rank. */
struct death {
	int rank;
	char text[DEATH_TEXT_BYTES];
};

struct deaths {
	uint64_t count; /* of list; written under job->lock, read by counter_load */
	struct death *list;
	uint32_t capacity;
	int *reported; /* ranks that are lost by what another rank says; the program has had an error about them */
	uint32_t reported_count;
	uint32_t reported_capacity;
	int *left; /* ranks that have left the job in order and cannot be reached any more: no deaths */
	uint32_t left_count;
	uint32_t left_capacity;
};

/*
 * Write a death down; false if it was known already. It counts once death_announce is called, after
 * the peer has been marked. The caller holds job->lock for both.
 */
bool death_add(struct oriel_job *job, int rank, const char *text);
void death_announce(struct oriel_job *job);

/*
 * Note that a rank has left the job in order: a call that needs it gets ORIEL_ERR_PEER, and that
 * says why. For want of memory not. The caller holds job->lock.
 */
void death_add_left(struct oriel_job *job, int rank);

/* The death of a rank, or NULL. The caller holds job->lock. */
const struct death *death_find(const struct oriel_job *job, int rank);

/* Whether that rank is in the list of deaths, or has left; text (may be NULL) becomes the story. */
bool rank_is_dead(struct oriel_job *job, int rank, char text[DEATH_TEXT_BYTES]);

/* Any member of the group that is dead, as world rank; or ORIEL_RANK_NONE. */
int job_dead_member(struct oriel_job *job, const struct oriel_group *group);

/*
 * The first member of the group among the deaths after the first *seen of the job's, as world rank, or
 * ORIEL_RANK_NONE. All of them count as seen afterwards; *seen is read by counter_load.
 */
int job_new_dead_member(struct oriel_job *job, const struct oriel_group *group, uint64_t *seen);

/* Whether the program has been told of a member's death, found by this rank or another. */
bool job_reported_death_of_member(struct oriel_job *job, const struct oriel_group *group);

/* Release the lists. */
void deaths_free(struct oriel_job *job);

/* ORIEL_ERR_PEER with the story of a rank. */
int peer_error(struct oriel_job *job, int rank);

#endif
