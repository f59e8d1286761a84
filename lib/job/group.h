// SPDX-License-Identifier: BSD-2-Clause
/*
 * group.h - ordered lists of ranks, stored as ranges with a stride
 *
 * A group is immutable. A window keeps a copy, so that the program may free its handle.
 * ASSUMPTIONS: the functions below trust their arguments; the public ones in group.c check.
 */
#ifndef ORIEL_GROUP_H
#define ORIEL_GROUP_H

#include "base/handle.h"
#include "oriel.h"

#define GROUP_KEY_BYTES 16
/* With more ranges a sorted index is kept. */
#define GROUP_LINEAR_MAX 8

/* A group's places (win/shared.h). */
enum places {
	PLACES_UNKNOWN,
	PLACES_ONE, /* all can share memory */
	PLACES_SEVERAL,
};

struct group_range {
	int first;  /* world rank */
	int stride; /* 0 for a range of one */
	int count;
	int offset; /* group rank of the first member */
};

struct group_index {
	int world;
	int rank;
};

struct oriel_group {
	struct handle handle;
	struct oriel_job *job;
	struct oriel_group *next;  /* the job's groups; guarded by job->lock */
	struct oriel_group **link; /* points to this group in that list */
	bool borrowed;             /* a window's copy: the program must not free it */
	int size;
	int my_rank; /* or ORIEL_RANK_NONE */
	uint32_t range_count;
	struct group_range *ranges; /* in order of offset; NULL for the empty group */
	struct group_index *index;  /* sorted by world rank; NULL with few ranges */
	bool tagged;
	uint64_t tag;                 /* oriel_group_tagged's */
	uint8_t key[GROUP_KEY_BYTES]; /* hash of the ordered list and the tag */
};

/* The job's living groups. Guarded by job->lock. */
struct groups {
	struct oriel_group *alive;
	uint32_t count;
};

int group_world_rank(const struct oriel_group *group, int rank);

/* Returns the group rank, or ORIEL_RANK_NONE. */
int group_rank_of(const struct oriel_group *group, int world);

/* Make a group of the listed world ranks (none twice), or of all ranks; NULL if memory is short. */
struct oriel_group *group_new(struct oriel_job *job, int count, const int worlds[]);
struct oriel_group *group_new_world(struct oriel_job *job);

/* Returns a borrowed copy, or NULL if memory is short. */
struct oriel_group *group_copy(const struct oriel_group *group);

void group_release(struct oriel_group *group);

#endif
