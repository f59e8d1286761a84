// SPDX-License-Identifier: BSD-2-Clause
/* job.c - a job's own functions; its life is in init.c. */
#include "job/job.h"

#include <string.h>

#include "base/err.h"
#include "base/util.h"

int job_check(const struct oriel_job *job, const char *call)
{
	if (handle_valid(HANDLE_JOB, job))
		return 0;
	return handle_refuse(job, call, "job");
}

int oriel_rank(const oriel_job *job)
{
	return job_check(job, "oriel_rank") ? ORIEL_ERR_HANDLE : job->rank;
}

int oriel_size(const oriel_job *job)
{
	return job_check(job, "oriel_size") ? ORIEL_ERR_HANDLE : job->size;
}

static struct group_count *find_count(struct oriel_job *job, const uint8_t key[GROUP_KEY_BYTES])
{
	for (uint32_t i = 0; i < job->group_counts.count; i++) {
		if (memcmp(job->group_counts.list[i].key, key, GROUP_KEY_BYTES) == 0)
			return &job->group_counts.list[i];
	}
	return NULL;
}

bool job_reserve_counts(struct oriel_job *job)
{
	struct group_counts *counts = &job->group_counts;

	return grow_array(&counts->list, &counts->capacity, counts->count + job->groups.count, sizeof(*counts->list));
}

/* Adds a count; job_reserve_counts has made room. */
static struct group_count *add_count(struct oriel_job *job, const uint8_t key[GROUP_KEY_BYTES])
{
	struct group_count *count = &job->group_counts.list[job->group_counts.count++];

	*count = (struct group_count){ .count = 0 };
	memcpy(count->key, key, GROUP_KEY_BYTES);
	return count;
}

int job_count_collective(struct oriel_job *job, const struct oriel_group *group, uint64_t *number)
{
	struct group_count *count;

	if (goodbye_has_begun(&job->goodbye))
		return err_set(ORIEL_ERR_SYNC, "this rank has said goodbye to the others: call oriel_finalize again");
	pthread_mutex_lock(&job->lock);
	count = find_count(job, group->key);
	if (!count)
		count = add_count(job, group->key);
	*number = ++count->count;
	pthread_mutex_unlock(&job->lock);
	return 0;
}

enum places job_places(struct oriel_job *job, const struct oriel_group *group)
{
	enum places places;

	pthread_mutex_lock(&job->lock);
	places = find_count(job, group->key)->places;
	pthread_mutex_unlock(&job->lock);
	return places;
}

void job_keep_places(struct oriel_job *job, const struct oriel_group *group, enum places places)
{
	pthread_mutex_lock(&job->lock);
	find_count(job, group->key)->places = places;
	pthread_mutex_unlock(&job->lock);
}

void job_found_in_one_place(struct oriel_job *job)
{
	pthread_mutex_lock(&job->lock);
	if (job->holdings.windows == 0)
		__atomic_store_n(&job->one_place, true, __ATOMIC_RELAXED); /* loaded by job_in_one_place */
	pthread_mutex_unlock(&job->lock);
}
