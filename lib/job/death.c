// SPDX-License-Identifier: BSD-2-Clause
/* See death.h. */
#include "job/death.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/group.h"
#include "job/job.h"

#define WORD_TURN_MS 5

static struct death *find(const struct oriel_job *job, int rank)
{
	for (uint64_t i = 0; i < job->deaths.count; i++) {
		if (job->deaths.list[i].rank == rank)
			return &job->deaths.list[i];
	}
	return NULL;
}

const struct death *death_find(const struct oriel_job *job, int rank)
{
	return find(job, rank);
}

bool death_add(struct oriel_job *job, int rank, bool no_route, const char *text)
{
	struct deaths *deaths = &job->deaths;
	struct death *death;

	if (death_find(job, rank) ||
	    !grow_array(&deaths->list, &deaths->capacity, (uint32_t)deaths->count + 1, sizeof(*death)))
		return false;
	death = &deaths->list[deaths->count];
	death->rank = rank;
	death->no_route = no_route;
	death->explained = death->awaited = death->kept = false;
	snprintf(death->text, sizeof(death->text), "%s", text);
	return true;
}

void death_announce(struct oriel_job *job)
{
	counter_store(&job->deaths.count, job->deaths.count + 1); /* pairs with the counter_load of waiting loops */
}

void death_explain(struct oriel_job *job, int rank, const char *text)
{
	struct death *death = find(job, rank);

	if (!death || death->no_route)
		return;
	death->explained = true;
	if (!death->kept)
		snprintf(death->text, sizeof(death->text), "%s", text);
}

void death_keep(struct oriel_job *job, int rank, const char *text)
{
	struct death *death = find(job, rank);

	if (!death || death->no_route)
		return;
	death->kept = true;
	snprintf(death->text, sizeof(death->text), "%s", text);
}

void death_add_left(struct oriel_job *job, int rank)
{
	struct deaths *deaths = &job->deaths;

	if (grow_array(&deaths->left, &deaths->left_capacity, deaths->left_count + 1, sizeof(*deaths->left)))
		deaths->left[deaths->left_count++] = rank;
}

static bool find_rank(const int *list, uint32_t count, int rank)
{
	for (uint32_t i = 0; i < count; i++) {
		if (list[i] == rank)
			return true;
	}
	return false;
}

/* Returns whether the launcher may still report how the rank ended; false after a `last` call. */
static bool word_is_due(struct oriel_job *job, int rank, bool last)
{
	struct death *death;
	bool due;

	pthread_mutex_lock(&job->lock);
	death = find(job, rank);
	due = death && !death->explained && !death->awaited && !death->no_route;
	if (due)
		death->awaited = last;
	pthread_mutex_unlock(&job->lock);
	return due;
}

static void await_word(struct oriel_job *job, int rank)
{
	const struct timespec turn = { .tv_nsec = WORD_TURN_MS * 1000000L };

	for (int ms = WORD_TURN_MS; word_is_due(job, rank, ms >= DEATH_WORD_MS); ms += WORD_TURN_MS)
		nanosleep(&turn, NULL);
}

bool rank_is_dead(struct oriel_job *job, int rank, char text[DEATH_TEXT_BYTES])
{
	const struct death *death;
	bool left;

	if (text && job->boot->ops->tells_deaths)
		await_word(job, rank);
	pthread_mutex_lock(&job->lock);
	death = death_find(job, rank);
	left = find_rank(job->deaths.left, job->deaths.left_count, rank);
	if (text && (death || left))
		snprintf(text, DEATH_TEXT_BYTES, "%s", death ? death->text : DEATH_LEFT_TEXT);
	pthread_mutex_unlock(&job->lock);
	return death || left;
}

bool rank_has_no_route(struct oriel_job *job, int rank)
{
	const struct death *death;
	bool no_route;

	pthread_mutex_lock(&job->lock);
	death = death_find(job, rank);
	no_route = death && death->no_route;
	pthread_mutex_unlock(&job->lock);
	return no_route;
}

/* Returns the first member among the deaths from `from` on. The caller holds job->lock. */
static int dead_member_from(const struct oriel_job *job, const struct oriel_group *group, uint64_t from)
{
	for (uint64_t i = from; i < job->deaths.count; i++) {
		if (group_rank_of(group, job->deaths.list[i].rank) != ORIEL_RANK_NONE)
			return job->deaths.list[i].rank;
	}
	return ORIEL_RANK_NONE;
}

int job_dead_member(struct oriel_job *job, const struct oriel_group *group)
{
	int dead;

	pthread_mutex_lock(&job->lock);
	dead = dead_member_from(job, group, 0);
	pthread_mutex_unlock(&job->lock);
	return dead;
}

int job_died_member(struct oriel_job *job, const struct oriel_group *group)
{
	int died = ORIEL_RANK_NONE;

	pthread_mutex_lock(&job->lock);
	for (uint64_t i = 0; i < job->deaths.count && died == ORIEL_RANK_NONE; i++) {
		if (!job->deaths.list[i].no_route && group_rank_of(group, job->deaths.list[i].rank) != ORIEL_RANK_NONE)
			died = job->deaths.list[i].rank;
	}
	pthread_mutex_unlock(&job->lock);
	return died;
}

int job_new_dead_member(struct oriel_job *job, const struct oriel_group *group, uint64_t *seen)
{
	int dead;

	pthread_mutex_lock(&job->lock);
	dead = dead_member_from(job, group, *seen);
	counter_store(seen, job->deaths.count); /* pairs with the counter_load of threads that look for new deaths */
	pthread_mutex_unlock(&job->lock);
	return dead;
}

bool job_reported_death_of_member(struct oriel_job *job, const struct oriel_group *group)
{
	bool reported = job_dead_member(job, group) != ORIEL_RANK_NONE;

	pthread_mutex_lock(&job->lock);
	for (uint32_t i = 0; i < job->deaths.reported_count && !reported; i++)
		reported = group_rank_of(group, job->deaths.reported[i]) != ORIEL_RANK_NONE;
	pthread_mutex_unlock(&job->lock);
	return reported;
}

void deaths_free(struct oriel_job *job)
{
	free(job->deaths.list);
	free(job->deaths.reported);
	free(job->deaths.left);
}

/* Records a rank that another reports lost, unless memory is short. */
static void believe(struct oriel_job *job, int rank)
{
	struct deaths *deaths = &job->deaths;

	pthread_mutex_lock(&job->lock);
	if (!find_rank(deaths->reported, deaths->reported_count, rank) &&
	    grow_array(&deaths->reported, &deaths->reported_capacity, deaths->reported_count + 1,
	               sizeof(*deaths->reported)))
		deaths->reported[deaths->reported_count++] = rank;
	pthread_mutex_unlock(&job->lock);
}

int peer_error(struct oriel_job *job, int rank)
{
	char text[DEATH_TEXT_BYTES];

	believe(job, rank);
	if (!rank_is_dead(job, rank, text))
		return err_set(ORIEL_ERR_PEER,
		               "rank %d is dead or out of reach for another rank, or has left the window or the job", rank);
	if (rank_has_no_route(job, rank))
		return err_set_route("rank %d cannot be reached: %s", rank, text);
	return err_set(ORIEL_ERR_PEER, "rank %d is dead or out of reach: %s", rank, text);
}
