// SPDX-License-Identifier: BSD-2-Clause
/* See lock_access.h. */
#include "win/lock_access.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "job/job.h"

#define READ_BYTES 4096 /* in one request */

/* Adds a segment. If it is not mapped, work requests do everything. */
static int add_part(struct link *link, struct lock *lock, struct remote there, size_t members_offset)
{
	struct remote members = { there.addr + members_offset, there.rkey };
	struct lock_part *part = &lock->part[lock->part_count];

	*part = (struct lock_part){ .there = there };
	if (lock->header)
		part->here = (struct lock_member *)(void *)direct_word(&link->peer->direct, members);
	if (!part->here)
		lock->header = NULL;
	if (lock->part_count > 0) {
		part->read = calloc(1, lock_segment_bytes(lock->part_count));
		if (!part->read)
			return ORIEL_ERR_MEMORY;
	}
	lock->part_count++;
	return 0;
}

int lock_take_control(struct link *link, struct lock *lock)
{
	struct remote words = lock->control;
	int rounds = log2_up((uint64_t)link->peer->job->size);

	words.addr += control_lock_offset(rounds);
	lock->control = words;
	lock->mapper = (uint64_t)getpid() << 32;
	lock->placed_twice = devices_place_twice(&link->peer->job->devices);
	lock->header = (struct lock_header *)(void *)direct_word(&link->peer->direct, words);
	return add_part(link, lock, words, offsetof(struct lock_words, member));
}

/* Returns where the last known segment says that the next one lies. */
static struct lock_more last_more(const struct lock *lock)
{
	const struct lock_part *part = &lock->part[lock->part_count - 1];
	const struct lock_more *here = &lock->image.header.more;

	if (lock->part_count == 1)
		return lock->header ? lock->header->more : *here;
	if (part->here)
		here = &((const struct lock_segment *)(const void *)((const uint8_t *)part->here -
		                                                     offsetof(struct lock_segment, member)))
		            ->more;
	else
		here = &part->read->more;
	return *here;
}

int lock_find_part(struct link *link, struct lock *lock)
{
	struct lock_more more = last_more(lock);
	struct remote there = { more.addr, more.rkey[lock->flags & DIR_SECOND_DEVICE ? 1 : 0] };

	if (more.check == 0 || lock->part_count == LOCK_SEGMENTS_MAX)
		return 0;
	if (more.check != lock_more_check(&more))
		return 1; /* torn, or being written */
	return add_part(link, lock, there, offsetof(struct lock_segment, member)) ? ORIEL_ERR_MEMORY : 1;
}

bool lock_find_word(struct link *link, struct lock *lock)
{
	uint32_t place = link->peer->remote_neighbour;

	lock->place = place;
	for (uint32_t i = 0; i < lock->part_count; i++) {
		size_t before = i == 0 ? offsetof(struct lock_words, member) : offsetof(struct lock_segment, member);

		if (place < lock_segment_members(i)) {
			lock->word_there = lock->part[i].there;
			lock->word_there.addr += before + place * sizeof(struct lock_member);
			lock->word = lock->part[i].here ? lock->part[i].here + place : NULL;
			return true;
		}
		place -= lock_segment_members(i);
	}
	return false;
}

/* Reading. */

static int read_piece(struct link *link, struct lock *lock, void *to, struct remote from, size_t size_bytes)
{
	for (size_t done = 0; done < size_bytes; done += READ_BYTES) {
		struct remote piece = { from.addr + done, from.rkey };
		struct ibv_sge here = wire_sge((uint8_t *)to + done, min_size(size_bytes - done, READ_BYTES), 0);
		int rc = wire_get(&link->peer->wire, here, piece, &lock->number);

		if (rc)
			return rc;
	}
	return 0;
}

int lock_start_reading(struct link *link, struct lock *lock, bool members)
{
	int rc;

	if (lock->header)
		return 0;
	rc =
		read_piece(link, lock, &lock->image, lock->control, members ? sizeof(lock->image) : sizeof(lock->image.header));
	for (uint32_t i = 1; rc == 0 && members && i < lock->part_count; i++)
		rc = read_piece(link, lock, lock->part[i].read, lock->part[i].there, lock_segment_bytes(i));
	link->last_number = lock->number; /* a free of the window waits: the reading goes into the lock's entry */
	return rc ? ORIEL_ERR_PEER : 0;
}

/* Pairs with lock_pass_on: a reader of the ticket sees the earlier holder's stores. */
static void load_header(struct lock *lock)
{
	struct lock_header *to = &lock->image.header;
	const struct lock_header *from = lock->header;

	to->next = flag_load(&from->next);
	to->serving = flag_load(&from->serving);
	to->serving_complement = flag_load(&from->serving_complement);
	to->orphaned = flag_load(&from->orphaned);
	to->repaired = flag_load(&from->repaired);
}

bool lock_reading_done(struct link *link, struct lock *lock)
{
	if (lock->header) {
		load_header(lock);
		return true;
	}
	if (!wire_drive(&link->peer->wire, lock->number))
		return false;
	lock->number = 0;
	return true;
}

/* Writing our own words. */

int lock_keep_order(struct link *link)
{
	struct wire *wire = &link->peer->wire;

	if (wire->flag_mode == FLAG_WRITE)
		return 0;
	return wire_wait(wire, wire_signal(wire)) ? 0 : ORIEL_ERR_PEER;
}

int lock_write_there(struct link *link, const void *words, size_t size_bytes, struct remote to)
{
	return wire_put(&link->peer->wire, wire_sge(words, size_bytes, 0), to, &link->last_number) ? ORIEL_ERR_PEER : 0;
}

int lock_write_state(struct link *link, struct lock *lock, enum lock_state state)
{
	uint64_t word = lock_state_word(lock, state);
	struct remote to = { lock->word_there.addr + offsetof(struct lock_member, state), lock->word_there.rkey };

	if (lock->header) {
		lock_store_state(lock, state);
		return 0;
	}
	return lock_write_there(link, &word, sizeof(word), to);
}

int lock_write_ticket(struct link *link, struct lock *lock, enum lock_state state)
{
	struct remote to = { lock->word_there.addr + offsetof(struct lock_member, ticket), lock->word_there.rkey };
	int rc = 0;

	if (lock->header)
		flag_store(&lock->word->ticket, lock->ticket);
	else
		rc = lock_write_there(link, &lock->ticket, sizeof(lock->ticket), to);
	if (rc == 0 && !lock->header)
		rc = lock_keep_order(link);
	return rc ? rc : lock_write_state(link, lock, state);
}

const struct lock_member *lock_part_members(const struct lock *lock, uint32_t i)
{
	if (lock->header)
		return lock->part[i].here;
	return i == 0 ? lock->image.member : lock->part[i].read->member;
}
