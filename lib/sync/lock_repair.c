// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_repair.c - releases what a dead neighbour held or had requested
 *
 * DESIGN NOTES
 *
 * The target's service thread does it, alone, with plain stores: the connection to the dead rank is
 * broken, so its words have no other writer. A rank that has mapped the words may store until its
 * process, which its member word names, has ended. That is waited for.
 *
 *   ABSENT, WAIT for a writer that is served or to come   it held nothing
 *   ASK, WAIT for a writer that is past   a shared holder: an orphan, and its word becomes GONE.
 *               A writer whose copy of the members shows that reads the count again
 *   TICKET(t)   t == serving: an orphan, and serving becomes t + 1. Otherwise that happens at t's
 *               turn, without a report: the rank only waited. serving > t: it was releasing the
 *               lock
 *   INTENT      It may have drawn a ticket. The owner of every ticket is at INTENT or TICKET from
 *               before it draws until it has advanced serving. So: read next and serving, scan
 *               the members, read serving again. If that is unchanged and below next, and no
 *               living member is at INTENT or at TICKET(serving), the ticket is a dead rank's, and
 *               passed on. serving == next: it has drawn none. A living INTENT delays the repair
 *               until its owner has gone on, which depends on no other rank
 *
 * If a device may place words twice, a ticket is passed on only when the member served before is
 * out (lock_words.c).
 *
 * The first check marks the word of a dead member (LOCK_EXAMINED). At INTENT, `ticket` then keeps
 * the value of serving: if serving has advanced since, the dead rank was not the holder. Of several
 * dead ranks at INTENT, one that may have been the holder makes an orphan.
 * tests/models/lock_model.py checks all of it.
 */
#include "sync/lock_repair.h"

#include <stdlib.h>

#include "base/order.h"
#include "base/process.h"
#include "base/util.h"
#include "job/job.h"
#include "job/lock_table.h"
#include "job/peer.h"

#define AGAIN_NS (2 * NS_PER_MS)       /* first pause between checks, */
#define AGAIN_MOST_NS (32 * NS_PER_MS) /* doubled each time */
#define PING_SLOTS_MAX 16              /* contended windows checked at a time */

static enum lock_state state_of(const struct lock_member *member)
{
	return flag_load(&member->state) & 0xff; /* pairs with lock_store_state (win/lock_access.h) */
}

static bool is_examined(const struct lock_member *member)
{
	return flag_load(&member->state) & LOCK_EXAMINED;
}

/* All stores below pair with load_header (win/lock_access.c) and any_other (win/lock_words.c). */

static void pass_on(struct lock_header *header)
{
	uint64_t next = header->serving + 1;

	flag_store(&header->serving_complement, ~next);
	flag_store(&header->serving, next);
}

static void count_orphan(struct lock_header *header)
{
	flag_store(&header->orphaned, header->orphaned + 1);
}

static bool forget(struct lock_member *member)
{
	flag_store(&member->state, LOCK_ABSENT);
	return true;
}

static bool repair_reader(struct lock_header *header, struct lock_member *member, bool held)
{
	if (!held)
		return forget(member);
	count_orphan(header);
	flag_store(&member->state, LOCK_GONE);
	return true;
}

struct repair {
	struct lock_words *words;
	uint32_t neighbours;
	bool placed_twice; /* devices_place_twice */
};

/* Returns whether a member served before this one may place `serving` once more. */
static bool comes_once_more(const struct repair *repair, const struct lock_member *member, uint64_t serving)
{
	for (uint32_t i = 0; repair->placed_twice && i < repair->neighbours; i++) {
		const struct lock_member *other = lock_table_member(repair->words, i);

		if (other != member && lock_may_still_write(flag_load(&other->state), flag_load(&other->ticket), serving))
			return true;
	}
	return false;
}

static bool repair_ticket(const struct repair *repair, struct lock_member *member)
{
	struct lock_header *header = &repair->words->header;
	uint64_t ticket = flag_load(&member->ticket), serving = flag_load(&header->serving);

	if (serving < ticket) {
		flag_store(&member->state, LOCK_EXAMINED | LOCK_TICKET);
		return false;
	}
	if (serving == ticket) {
		if (comes_once_more(repair, member, serving))
			return false;
		if (!is_examined(member))
			count_orphan(header);
		pass_on(header);
	}
	return forget(member);
}

/* Returns whether a living member may own the ticket `serving`. */
static bool is_claimed(const struct repair *repair, uint64_t serving)
{
	for (uint32_t i = 0; i < repair->neighbours; i++) {
		const struct lock_member *member = lock_table_member(repair->words, i);
		enum lock_state state = state_of(member);

		if (is_examined(member) && state == LOCK_INTENT)
			continue;
		if (state == LOCK_INTENT || (state == LOCK_TICKET && flag_load(&member->ticket) == serving))
			return true;
	}
	return false;
}

/* Returns whether a dead rank at INTENT may have been the holder. */
static bool is_orphans(const struct repair *repair, uint64_t serving)
{
	for (uint32_t i = 0; i < repair->neighbours; i++) {
		const struct lock_member *member = lock_table_member(repair->words, i);

		if (is_examined(member) && state_of(member) == LOCK_INTENT && flag_load(&member->ticket) == serving)
			return true;
	}
	return false;
}

static bool repair_intent(const struct repair *repair, struct lock_member *member)
{
	struct lock_header *header = &repair->words->header;
	uint64_t next, serving;

	if (!is_examined(member)) {
		flag_store(&member->ticket, flag_load(&header->serving));
		flag_store(&member->state, LOCK_EXAMINED | LOCK_INTENT);
	}
	next = flag_load(&header->next);
	serving = flag_load(&header->serving);
	if (is_claimed(repair, serving) || flag_load(&header->serving) != serving)
		return false;
	if (serving < next) {
		if (comes_once_more(repair, member, serving))
			return false;
		if (is_orphans(repair, serving))
			count_orphan(header);
		pass_on(header);
	}
	return forget(member);
}

/* Returns whether the peer can store no more. */
static bool has_stored_its_last(const struct peer *peer, const struct lock_member *member)
{
	pid_t mapper = (pid_t)(flag_load(&member->state) >> 32); /* pairs with lock_store_state (win/lock_access.h) */

	return mapper == 0 || process_ended(mapper, peer->up_ns);
}

/* Repairs a dead rank's word in one window. Returns whether it is done. */
static bool repair_member(const struct repair *repair, struct lock_member *member)
{
	struct lock_header *header = &repair->words->header;

	switch (state_of(member)) {
	case LOCK_ABSENT:
		return forget(member);
	case LOCK_ASK:
		return repair_reader(header, member, true);
	case LOCK_WAIT:
		return repair_reader(header, member, flag_load(&header->serving) > flag_load(&member->ticket));
	case LOCK_TICKET:
		return repair_ticket(repair, member);
	case LOCK_INTENT:
		return repair_intent(repair, member);
	case LOCK_GONE:
		return true;
	}
	return forget(member);
}

/*
 * Repairs a dead rank's words in all windows. Returns whether all are done. The caller holds
 * job->lock.
 */
static bool repair_peer(struct oriel_job *job, const struct peer *peer)
{
	bool all = true;

	for (uint32_t slot = 0; slot < job->directory.slot_count; slot++) {
		struct repair repair = { lock_table_words(job, slot), job->peers.count, devices_place_twice(&job->devices) };
		struct lock_member *member = lock_table_member(repair.words, peer->neighbour);

		if (flag_load(&member->state) != LOCK_ABSENT)
			all &= has_stored_its_last(peer, member) && repair_member(&repair, member);
	}
	return all;
}

/*
 * Repairs the words of all dead peers. Returns whether some are left. The caller holds job->lock.
 */
static bool repair_all(struct oriel_job *job)
{
	struct lock_repairs *repairs = &job->lock_repairs;
	uint32_t left = 0;

	for (uint32_t i = 0; i < repairs->count; i++) {
		if (!repair_peer(job, repairs->list[i]))
			repairs->list[left++] = repairs->list[i];
	}
	repairs->count = left;
	return left > 0;
}

static void repair_task(void *arg);

static void hand_task(struct oriel_job *job)
{
	struct lock_repairs *repairs = &job->lock_repairs;

	repairs->task = (struct task){ .run = repair_task, .arg = job, .when_ns = now_ns() + repairs->pause_ns };
	if (repairs->pause_ns < AGAIN_MOST_NS)
		repairs->pause_ns *= 2;
	service_queue_add(job, &job->lock_repairs.task);
}

static void repair_task(void *arg)
{
	struct oriel_job *job = arg;
	bool left;

	pthread_mutex_lock(&job->lock);
	left = job->lock_repairs.handed = repair_all(job);
	pthread_mutex_unlock(&job->lock);
	if (left)
		hand_task(job);
}

/* Enters the peer, once, if memory suffices. The caller holds job->lock. */
static void enter(struct lock_repairs *repairs, struct peer *peer)
{
	for (uint32_t i = 0; i < repairs->count; i++) {
		if (repairs->list[i] == peer)
			return;
	}
	if (grow_array(&repairs->list, &repairs->capacity, repairs->count + 1, sizeof(*repairs->list)))
		repairs->list[repairs->count++] = peer;
	repairs->pause_ns = AGAIN_NS;
}

void lock_repair_begin(struct peer *peer)
{
	struct oriel_job *job = peer->job;
	struct lock_repairs *repairs = &job->lock_repairs;
	bool handed, left;

	if (peer->is_atomics_peer || peer->rank == job->rank)
		return;
	if (peer->atomics_peer &&
	    state_load(&peer->atomics_peer->state) == PEER_DEAD) /* pairs with rank_lost and peer_left */
		wire_break(&peer->atomics_peer->wire);
	pthread_mutex_lock(&job->lock);
	enter(repairs, peer);
	handed = repairs->handed;
	left = repairs->handed = repair_all(job) || handed;
	pthread_mutex_unlock(&job->lock);
	if (left && !handed)
		hand_task(job);
}

void lock_repairs_free(struct oriel_job *job)
{
	free(job->lock_repairs.list);
}

/* Lists windows whose lock has waiters. The caller holds job->lock. */
static uint32_t contended(struct oriel_job *job, uint32_t slots[PING_SLOTS_MAX])
{
	uint32_t count = 0;

	for (uint32_t slot = 0; slot < job->directory.slot_count && count < PING_SLOTS_MAX; slot++) {
		const struct lock_header *header = &lock_table_words(job, slot)->header;

		if (job->directory.used[slot] && flag_load(&header->next) != flag_load(&header->serving))
			slots[count++] = slot;
	}
	return count;
}

static bool is_concerned(struct oriel_job *job, const struct peer *peer)
{
	uint32_t slots[PING_SLOTS_MAX], count;
	bool concerned = false;

	pthread_mutex_lock(&job->lock);
	count = contended(job, slots);
	for (uint32_t i = 0; i < count && !concerned; i++)
		concerned = state_of(lock_table_member(lock_table_words(job, slots[i]), peer->neighbour)) != LOCK_ABSENT;
	pthread_mutex_unlock(&job->lock);
	return concerned;
}

void lock_repair_ping(struct oriel_job *job)
{
	uint32_t slots[PING_SLOTS_MAX], count, at = 0;

	pthread_mutex_lock(&job->lock);
	count = contended(job, slots);
	pthread_mutex_unlock(&job->lock);
	if (count == 0)
		return;
	for (struct peer *peer = peer_next(job, &at); peer; peer = peer_next(job, &at)) {
		if (!peer->is_atomics_peer && state_load(&peer->state) == PEER_UP && is_concerned(job, peer))
			wire_ping(&peer->wire);
	}
}
