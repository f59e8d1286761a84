// SPDX-License-Identifier: BSD-2-Clause
/* death.c - see death.h. */
#include "job/death.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/group.h"
#include "job/job.h"

const struct death *death_find(const struct oriel_job *job, int rank)
{
	for (uint64_t i = 0; i < job->deaths.count; i++) {
		if (job->deaths.list[i].rank == rank)
			return &job->deaths.list[i];
	}
	return NULL;
}

bool death_add(struct oriel_job *job, int rank, const char *text)
{
	struct deaths *deaths = &job->deaths;
	struct death *death;

	if (death_find(job, rank) ||
	    !grow_array(&deaths->list, &deaths->capacity, (uint32_t)deaths->count + 1, sizeof(*death)))
		return false;
	death = &deaths->list[deaths->count];
	death->rank = rank;
	snprintf(death->text, sizeof(death->text), "%s", text);
	return true;
}

void death_announce(struct oriel_job *job)
{
	counter_store(&job->deaths.count, job->deaths.count + 1); /* pairs with the counter_load of waiting loops */
}

bool rank_is_dead(struct oriel_job *job, int rank, char text[DEATH_TEXT_BYTES])
{
	const struct death *death;

	pthread_mutex_lock(&job->lock);
	death = death_find(job, rank);
	if (death && text)
		memcpy(text, death->text, DEATH_TEXT_BYTES);
	pthread_mutex_unlock(&job->lock);
	return death;
}

int job_dead_member(struct oriel_job *job, const struct oriel_group *group)
{
	int dead = ORIEL_RANK_NONE;

	pthread_mutex_lock(&job->lock);
	for (uint64_t i = 0; i < job->deaths.count && dead == ORIEL_RANK_NONE; i++) {
		if (group_rank_of(group, job->deaths.list[i].rank) != ORIEL_RANK_NONE)
			dead = job->deaths.list[i].rank;
	}
	pthread_mutex_unlock(&job->lock);
	return dead;
}

bool job_told_of_member(struct oriel_job *job, const struct oriel_group *group)
{
	bool told = job_dead_member(job, group) != ORIEL_RANK_NONE;

	pthread_mutex_lock(&job->lock);
	for (uint32_t i = 0; i < job->deaths.told_count && !told; i++)
		told = group_rank_of(group, job->deaths.told[i]) != ORIEL_RANK_NONE;
	pthread_mutex_unlock(&job->lock);
	return told;
}

void deaths_free(struct oriel_job *job)
{
	free(job->deaths.list);
	free(job->deaths.told);
}

/* Remember what another rank says; for want of memory not. */
static void believe(struct oriel_job *job, int rank)
{
	struct deaths *deaths = &job->deaths;
	bool known = false;

	pthread_mutex_lock(&job->lock);
	for (uint32_t i = 0; i < deaths->told_count && !known; i++)
		known = deaths->told[i] == rank;
	if (!known && grow_array(&deaths->told, &deaths->told_capacity, deaths->told_count + 1, sizeof(*deaths->told)))
		deaths->told[deaths->told_count++] = rank;
	pthread_mutex_unlock(&job->lock);
}

int peer_error(struct oriel_job *job, int rank)
{
	char text[DEATH_TEXT_BYTES];

	if (!rank_is_dead(job, rank, text)) {
		believe(job, rank);
		return err_set(ORIEL_ERR_PEER, "rank %d is dead or out of reach for another rank, or has left the window",
		               rank);
	}
	return err_set(ORIEL_ERR_PEER, "rank %d is dead or out of reach: %s", rank, text);
}
