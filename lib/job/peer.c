// SPDX-License-Identifier: BSD-2-Clause
/* peer.c - peers, their areas and flag words, and the list of the dead; see peer.h. */
#include "job/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/conn.h"
#include "base/err.h"
#include "job/job.h"
#include "verbs/lend.h"
#include "base/order.h"
#include "job/service.h"
#include "verbs/table.h"
#include "base/util.h"

static uint32_t peer_slot(const struct oriel_job *job, int rank)
{
	uint32_t slot = (uint32_t)rank * 2654435769u & (job->peer_capacity - 1);

	while (job->peers[slot] && job->peers[slot]->rank != rank)
		slot = (slot + 1) & (job->peer_capacity - 1);
	return slot;
}

static struct peer *find_locked(const struct oriel_job *job, int rank)
{
	return job->peer_capacity ? job->peers[peer_slot(job, rank)] : NULL;
}

struct peer *peer_find(struct oriel_job *job, int rank)
{
	struct peer *peer;

	pthread_mutex_lock(&job->lock);
	peer = find_locked(job, rank);
	pthread_mutex_unlock(&job->lock);
	return peer;
}

static bool grow_map(struct oriel_job *job)
{
	struct peer **old = job->peers;
	uint32_t old_capacity = job->peer_capacity;
	struct peer **bigger;

	if ((job->peer_count + 1) * 4 <= old_capacity * 3)
		return true;
	bigger = calloc(old_capacity ? old_capacity * 2 : 16, sizeof(*bigger));
	if (!bigger)
		return false;
	job->peers = bigger;
	job->peer_capacity = old_capacity ? old_capacity * 2 : 16;
	for (uint32_t i = 0; i < old_capacity; i++) {
		if (old[i])
			bigger[peer_slot(job, old[i]->rank)] = old[i];
	}
	free(old);
	return true;
}

/* Flag words for the first slot_count window slots at our side. The caller holds job->lock. */
static int cover_slots(struct peer *peer, uint32_t slot_count)
{
	uint32_t offset, last = slot_count ? table_segment(slot_count - 1, &offset) : 0;

	for (uint32_t segment = 0; segment <= last; segment++) {
		int rc = table_add_segment(&peer->job->slabs, &peer->area->flags, segment, sizeof(struct flag_pair),
		                           &peer->flags[segment]);

		if (rc)
			return rc;
	}
	return 0;
}

int peers_cover_slot(struct oriel_job *job, uint32_t slot)
{
	for (uint32_t i = 0; i < job->peer_capacity; i++) {
		int rc = job->peers[i] ? cover_slots(job->peers[i], slot + 1) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

static void wire_broke(void *arg, const char *text)
{
	struct peer *peer = arg;

	rank_died(peer->job, peer->rank, text);
}

/* The rank is its own peer: up from the start, with its own area and directory at the other end. */
static void connect_self(struct peer *peer)
{
	peer->remote_area = (struct remote){ (uint64_t)(uintptr_t)peer->area, 0 };
	peer->remote_directory = (struct remote){ (uint64_t)(uintptr_t)peer->job->directory, 0 };
	peer->state = PEER_UP;
}

static int peer_setup(struct oriel_job *job, struct peer *peer)
{
	int rc = slab_alloc(&job->slabs, sizeof(struct area), &peer->area_piece);

	if (rc)
		return rc;
	peer->area = peer->area_piece.addr;
	rc = cover_slots(peer, job->slot_count);
	if (rc)
		return rc;
	wire_init(&peer->wire, &job->slabs, peer->rank == job->rank);
	peer->wire.broken = wire_broke;
	peer->wire.broken_arg = peer;
	pthread_mutex_init(&peer->lock, NULL);
	pthread_mutex_init(&peer->mail_lock, NULL);
	if (peer->rank == job->rank)
		connect_self(peer);
	return 0;
}

static const struct death *death_of(const struct oriel_job *job, int rank)
{
	for (uint32_t i = 0; i < job->dead_count; i++) {
		if (job->dead[i].rank == rank)
			return &job->dead[i];
	}
	return NULL;
}

static int peer_make(struct oriel_job *job, int rank, struct peer **made)
{
	struct peer *peer;
	int rc;

	if (job->peer_count == PEERS_MAX)
		return err_set(ORIEL_ERR_LIMIT, "more than %u peers", PEERS_MAX);
	peer = grow_map(job) ? calloc(1, sizeof(*peer)) : NULL;
	if (!peer)
		return err_set(ORIEL_ERR_MEMORY, "out of memory for peer %d", rank);
	peer->rank = rank;
	peer->job = job;
	rc = peer_setup(job, peer);
	if (rc) {
		free(peer);
		return rc;
	}
	if (death_of(job, rank))
		peer->state = PEER_DEAD;
	job->peers[peer_slot(job, rank)] = peer;
	job->peer_count++;
	*made = peer;
	return 0;
}

int peer_get(struct oriel_job *job, int rank, struct peer **peer)
{
	int rc = 0;

	pthread_mutex_lock(&job->lock);
	*peer = find_locked(job, rank);
	if (!*peer)
		rc = peer_make(job, rank, peer);
	pthread_mutex_unlock(&job->lock);
	return rc;
}

static void peer_release(struct peer *peer)
{
	conn_release(peer);
	lend_return_words(&peer->wire);
	wire_destroy(&peer->wire);
	pthread_mutex_destroy(&peer->lock);
	pthread_mutex_destroy(&peer->mail_lock);
	free(peer);
}

struct peer *peer_next(struct oriel_job *job, uint32_t *at)
{
	struct peer *peer = NULL;

	pthread_mutex_lock(&job->lock);
	while (!peer && *at < job->peer_capacity)
		peer = job->peers[(*at)++];
	pthread_mutex_unlock(&job->lock);
	return peer;
}

void peers_drain(struct oriel_job *job)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at))
		wire_signal(&peer->wire); /* all before any is waited for: peers out of reach take their time side by side */
	at = 0;
	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at))
		wire_wait(&peer->wire, wire_signal(&peer->wire));
}

void peers_drain_zero_copy(struct oriel_job *job)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at))
		wire_wait(&peer->wire, wire_last_zero_copy(&peer->wire));
}

void peers_close(struct oriel_job *job)
{
	for (uint32_t i = 0; i < job->peer_capacity; i++) {
		if (job->peers[i])
			peer_release(job->peers[i]);
	}
	free(job->peers);
	free(job->dead);
}

/* Enter a death; false if it was known already. The caller holds job->lock. */
static bool add_death(struct oriel_job *job, int rank, const char *text)
{
	struct death *death;

	if (death_of(job, rank) || !grow_array(&job->dead, &job->dead_capacity, job->dead_count + 1, sizeof(*death)))
		return false;
	death = &job->dead[job->dead_count++];
	death->rank = rank;
	snprintf(death->text, sizeof(death->text), "%s", text);
	return true;
}

void peer_set_state(struct peer *peer, enum peer_state state)
{
	pthread_mutex_lock(&peer->job->lock);
	if (peer->state != PEER_DEAD)
		state_store(&peer->state, state); /* pairs with the state_load of threads that wait for the connection */
	pthread_mutex_unlock(&peer->job->lock);
}

void rank_died(struct oriel_job *job, int rank, const char *text)
{
	struct peer *peer;
	bool news;

	pthread_mutex_lock(&job->lock);
	news = add_death(job, rank, text);
	peer = find_locked(job, rank);
	if (peer)
		state_store(&peer->state, PEER_DEAD);
	if (news)
		counter_store(&job->deaths, job->deaths + 1); /* pairs with the counter_load of waiting loops */
	pthread_mutex_unlock(&job->lock);
	if (news && peer)
		service_request(peer);
}

bool rank_is_dead(struct oriel_job *job, int rank, char text[DEATH_TEXT_BYTES])
{
	const struct death *death;

	pthread_mutex_lock(&job->lock);
	death = death_of(job, rank);
	if (death && text)
		memcpy(text, death->text, DEATH_TEXT_BYTES);
	pthread_mutex_unlock(&job->lock);
	return death;
}

int peer_error(struct oriel_job *job, int rank)
{
	char text[DEATH_TEXT_BYTES] = "no reason known";

	rank_is_dead(job, rank, text);
	return err_set(ORIEL_ERR_PEER, "rank %d is dead or out of reach: %s", rank, text);
}
