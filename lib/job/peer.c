// SPDX-License-Identifier: BSD-2-Clause
/* peer.c - peers, their areas and flag words; see peer.h. */
#include "job/peer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "job/death.h"
#include "job/job.h"
#include "job/lock_table.h"
#include "job/service_queue.h"
#include "pages/shortage.h"
#include "verbs/slab.h"

#define AT_ATOMICS_PEERS 0x80000000u /* peer_next continues here after the table */

static_assert(PEERS_MAX < AT_ATOMICS_PEERS / 4, "no place in the table is that large");

static uint32_t peer_slot(const struct oriel_job *job, int rank)
{
	uint32_t slot = (uint32_t)rank * 2654435769u & (job->peers.capacity - 1);

	while (job->peers.table[slot] && job->peers.table[slot]->rank != rank)
		slot = (slot + 1) & (job->peers.capacity - 1);
	return slot;
}

static struct peer *find_locked(const struct oriel_job *job, int rank)
{
	return job->peers.capacity ? job->peers.table[peer_slot(job, rank)] : NULL;
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
	struct peer **old = job->peers.table;
	uint32_t old_capacity = job->peers.capacity;
	struct peer **bigger;

	if ((job->peers.count + 1) * 4 <= old_capacity * 3)
		return true;
	bigger = calloc(old_capacity ? old_capacity * 2 : 16, sizeof(*bigger));
	if (!bigger)
		return false;
	job->peers.table = bigger;
	job->peers.capacity = old_capacity ? old_capacity * 2 : 16;
	for (uint32_t i = 0; i < old_capacity; i++) {
		if (old[i])
			bigger[peer_slot(job, old[i]->rank)] = old[i];
	}
	free(old);
	return true;
}

/* Makes flag words for so many slots at our side. The caller holds job->lock. */
static int cover_slots(struct peer *peer, uint32_t slot_count)
{
	uint32_t offset, last = slot_count ? table_segment(slot_count - 1, &offset) : 0;

	for (uint32_t segment = 0; segment <= last; segment++) {
		int rc = table_add_segment(&peer->job->slabs, peer->device->index, &peer->area->head.flags.segment[segment],
		                           table_segment_elements(segment) * sizeof(struct flag_pair), &peer->flags[segment]);

		if (rc)
			return rc;
	}
	return 0;
}

int peers_cover_slot(struct oriel_job *job, uint32_t slot)
{
	for (uint32_t i = 0; i < job->peers.capacity; i++) {
		int rc = job->peers.table[i] ? cover_slots(job->peers.table[i], slot + 1) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

bool peer_said_goodbye(const struct peer *peer)
{
	return flag_load(&peer->area->goodbye) == GOODBYE; /* pairs with goodbye_say at the peer */
}

static void wire_broke(void *arg, const char *text)
{
	struct peer *peer = arg;

	peer_lost(peer, text);
	if (!peer->wire.memory_failed)
		return;
	pthread_mutex_lock(&peer->job->lock);
	death_keep(peer->job, peer->rank, text);
	pthread_mutex_unlock(&peer->job->lock);
}

/* Makes flag words for all windows, and places in their locks. The caller holds job->lock. */
static int cover_windows(struct oriel_job *job, struct peer *peer)
{
	int rc = cover_slots(peer, job->directory.slot_count);

	peer->neighbour = peer->area->head.neighbour = job->peers.count;
	return rc ? rc : lock_tables_cover(job, job->peers.count + 1);
}

/* Publishes our page locks, with the key of the peer's device. */
static void show_page_locks(struct peer *peer)
{
	const struct piece *piece = &peer->job->page_locks.piece;
	struct segment_ref page_locks = { .addr = (uint64_t)(uintptr_t)piece->addr,
		                              .rkey = piece->keys[peer->device->index].rkey };

	page_locks.check = segment_check(&page_locks);
	peer->area->head.page_locks = page_locks;
}

static int peer_setup(struct oriel_job *job, struct peer *peer)
{
	int rc = slab_alloc(&job->slabs, sizeof(struct area), &peer->area_piece);

	if (rc)
		return rc;
	peer->area = peer->area_piece.addr;
	peer->area->head.layout_version = LAYOUT_VERSION;
	peer->area->head.control_block_bytes = (uint32_t)control_bytes(log2_up((uint64_t)job->size));
	show_page_locks(peer);
	rc = peer->is_atomics_peer ? 0 : cover_windows(job, peer);
	if (rc)
		return rc;
	wire_init(&peer->wire, &job->slabs);
	direct_init(&peer->direct, &peer->wire, peer->device, peer->rank == job->rank && !peer->is_atomics_peer);
	peer->wire.broken = wire_broke;
	peer->wire.broken_arg = peer;
	pthread_mutex_init(&peer->lock, NULL);
	pthread_mutex_init(&peer->ctrl_msg_lock, NULL);
	if (peer->rank == job->rank && !peer->is_atomics_peer)
		peer->state = PEER_UP; /* needs no connection */
	return 0;
}

static int peer_make(struct oriel_job *job, int rank, struct peer **made)
{
	struct peer *peer;
	int rc;

	if (job->peers.count == PEERS_MAX)
		return err_set(ORIEL_ERR_LIMIT, "more than %u peers", PEERS_MAX);
	peer = grow_map(job) ? calloc(1, sizeof(*peer)) : NULL;
	if (!peer)
		return err_set(ORIEL_ERR_MEMORY, "out of memory for peer %d", rank);
	peer->rank = rank;
	peer->job = job;
	peer->device = &job->devices.list[0]; /* until the route is known */
	rc = peer_setup(job, peer);
	if (rc) {
		free(peer);
		return rc;
	}
	if (death_find(job, rank))
		peer->state = PEER_DEAD;
	job->peers.table[peer_slot(job, rank)] = peer;
	job->peers.count++;
	*made = peer;
	return 0;
}

static struct peer *new_atomics_peer(const struct peer *peer, const struct device *device)
{
	struct peer *atomics_peer = calloc(1, sizeof(*atomics_peer));

	if (!atomics_peer)
		return NULL;
	atomics_peer->rank = peer->rank;
	atomics_peer->job = peer->job;
	atomics_peer->device = device;
	atomics_peer->device_chosen = true;
	atomics_peer->is_atomics_peer = true;
	return atomics_peer;
}

int peer_make_atomics_peer(struct peer *peer, const struct device *device)
{
	struct peers *peers = &peer->job->peers;
	bool room = grow_array(&peers->atomics_peers, &peers->atomics_peer_capacity, peers->atomics_peer_count + 1,
	                       sizeof(*peers->atomics_peers));
	struct peer *atomics_peer = room ? new_atomics_peer(peer, device) : NULL;
	int rc = atomics_peer ? peer_setup(peer->job, atomics_peer)
	                      : err_set(ORIEL_ERR_MEMORY, "out of memory for peer %d", peer->rank);

	if (rc) {
		free(atomics_peer);
		return rc;
	}
	if (peer->state == PEER_DEAD)
		atomics_peer->state = PEER_DEAD;
	peers->atomics_peers[peers->atomics_peer_count++] = atomics_peer;
	__atomic_store_n(&peer->atomics_peer, atomics_peer, __ATOMIC_RELEASE); /* pairs with the load in atomics_peer_get */
	return 0;
}

int peer_connect_limit_ms(const struct peer *peer)
{
	const struct limits *limits = &peer->job->limits;

	return device_maps_memory(peer->device) ? limits->connect_timeout_soft_ms : limits->connect_timeout_ms;
}

void peer_set_device(struct peer *peer, const struct device *device)
{
	peer->device_chosen = true;
	if (peer->device == device)
		return;
	pthread_mutex_lock(&peer->job->lock);
	peer->device = device;
	direct_init(&peer->direct, &peer->wire, device, false);
	table_set_device(&peer->job->slabs, device->index, &peer->area->head.flags, peer->flags);
	show_page_locks(peer);
	pthread_mutex_unlock(&peer->job->lock);
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
	direct_close(&peer->direct);
	wire_destroy(&peer->wire);
	pthread_mutex_destroy(&peer->lock);
	pthread_mutex_destroy(&peer->ctrl_msg_lock);
	free(peer);
}

struct peer *peer_next(struct oriel_job *job, uint32_t *at)
{
	struct peer *peer = NULL;

	pthread_mutex_lock(&job->lock);
	while (!peer && *at < job->peers.capacity)
		peer = job->peers.table[(*at)++];
	if (!peer && *at < AT_ATOMICS_PEERS)
		*at = AT_ATOMICS_PEERS;
	if (!peer && *at - AT_ATOMICS_PEERS < job->peers.atomics_peer_count)
		peer = job->peers.atomics_peers[(*at)++ - AT_ATOMICS_PEERS];
	pthread_mutex_unlock(&job->lock);
	return peer;
}

void peers_drain(struct oriel_job *job)
{
	uint32_t at = 0;

	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at))
		wire_signal(&peer->wire); /* all first: the time limits of unreachable peers overlap */
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
	for (uint32_t i = 0; i < job->peers.capacity; i++) {
		if (job->peers.table[i])
			peer_release(job->peers.table[i]);
	}
	for (uint32_t i = 0; i < job->peers.atomics_peer_count; i++)
		peer_release(job->peers.atomics_peers[i]);
	free(job->peers.atomics_peers);
	free(job->peers.table);
}

void peer_set_state(struct peer *peer, enum peer_state state)
{
	pthread_mutex_lock(&peer->job->lock);
	if (state == PEER_UP && direct_has_copy_sync(&peer->direct))
		__atomic_store_n(&peer->job->peers.moving, peer, __ATOMIC_RELEASE); /* pairs with oriel_progress */
	if (peer->state != PEER_DEAD)
		state_store(&peer->state, state); /* pairs with the state_load of threads that wait for the connection */
	pthread_mutex_unlock(&peer->job->lock);
}

/* Makes windows that know a dead peer as alive look again. The caller holds job->lock. */
static void note_loss(struct oriel_job *job)
{
	counter_store(&job->deaths.losses, job->deaths.losses + 1); /* pairs with win_has_news */
}

/* Returns the peer, or NULL. The caller holds job->lock. */
static struct peer *mark_dead(const struct oriel_job *job, int rank)
{
	struct peer *first = find_locked(job, rank);

	for (struct peer *peer = first; peer; peer = peer->atomics_peer)
		state_store(&peer->state, PEER_DEAD);
	return first;
}

static void request_all(struct peer *first)
{
	for (struct peer *peer = first; peer; peer = peer->atomics_peer)
		service_queue_request(peer);
}

/* Marks the rank as lost: calls that need it fail. */
static void rank_lost(struct oriel_job *job, int rank, bool unreachable, const char *text)
{
	struct peer *first;
	bool news;

	pthread_mutex_lock(&job->lock);
	news = death_add(job, rank, unreachable, text);
	first = mark_dead(job, rank);
	if (news)
		death_announce(job);
	note_loss(job);
	pthread_mutex_unlock(&job->lock);
	request_all(news ? first : NULL);
}

void rank_died(struct oriel_job *job, int rank, const char *text)
{
	rank_lost(job, rank, false, text);
}

void rank_unreachable(struct oriel_job *job, int rank, const char *text)
{
	rank_lost(job, rank, true, text);
}

void rank_ended(struct oriel_job *job, int rank, const char *text)
{
	rank_died(job, rank, text);
	pthread_mutex_lock(&job->lock);
	death_explain(job, rank, text);
	pthread_mutex_unlock(&job->lock);
	if (job->tool && job->tool->rank_died)
		job->tool->rank_died(rank, text);
}

void peer_left(struct peer *peer)
{
	struct oriel_job *job = peer->job;
	bool news;

	pthread_mutex_lock(&job->lock);
	news = peer->state != PEER_DEAD;
	if (news)
		death_add_left(job, peer->rank);
	for (struct peer *end = peer; end; end = end->atomics_peer) {
		if (end == peer || peer_said_goodbye(end))
			state_store(&end->state, PEER_DEAD); /* pairs with the state_load of threads that wait for it */
	}
	note_loss(job);
	pthread_mutex_unlock(&job->lock);
	for (struct peer *end = peer; news && end; end = end->atomics_peer)
		service_queue_request(end);
}

void peer_lost(struct peer *peer, const char *text)
{
	if (peer_said_goodbye(peer))
		peer_left(peer);
	else
		rank_died(peer->job, peer->rank, text);
}

/* Returns the remedy for the peer's shortage; ENFILE may be either kind (conn.c). */
static const char *remedy_there(int error)
{
	if (error == EMFILE)
		return "it has no descriptors left for that; close some there, or raise its limit (ulimit -n)";
	if (error == ENOMEM)
		return "it has no memory left for that; free some there, or raise the limit that its own error names";
	return "it is short of descriptors (ulimit -n) or memory; give some back there, or raise the limit that its own error names";
}

int peer_shortage(const struct peer *peer)
{
	int error = __atomic_load_n(&peer->shortage, __ATOMIC_RELAXED);
	char text[SHORTAGE_TEXT_BYTES];

	if (error < 0)
		return err_set(shortage_code(-error), "rank %d lives and cannot be connected to: %s, and call again",
		               peer->rank, remedy_there(-error));
	shortage_text(error, !device_maps_memory(peer->device), text, sizeof(text));
	return err_set(shortage_code(error), "rank %d cannot be connected to: %s", peer->rank, text);
}
