// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_access.h - finding, reading and writing the words of a member's lock
 *
 * Mapped words are loaded and stored, others reached by work requests. The caller of each function
 * holds win->lock. Errors are ORIEL_ERR_PEER or ORIEL_ERR_MEMORY.
 */
#ifndef ORIEL_LOCK_ACCESS_H
#define ORIEL_LOCK_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/order.h"
#include "verbs/layout.h"
#include "win/link.h"
#include "win/win.h"

#define LOCK_DRAIN_NS (4 * NS_PER_MS) /* how long a writer waits for holders while a reader is LOCK_PRESSED */
#define LOCK_PRESSED 0x200u           /* beside WAIT: the reader has other locks */

enum lock_phase {
	PHASE_NEW,      /* it is not known where the words lie */
	PHASE_LEARNING, /* a lookup for them is in progress */
	PHASE_FINDING,  /* reading segments up to that of our word */
	PHASE_IDLE,     /* no word of ours is set, nor in earlier phases */
	PHASE_ASKED,    /* shared: the first reading is outstanding */
	PHASE_BEHIND,   /* shared: WAIT for the writer `ticket` */
	PHASE_CARD,     /* exclusive: connecting to the card that draws tickets */
	PHASE_DRAWING,  /* exclusive: its fetch-and-add is outstanding */
	PHASE_DRAWN,    /* exclusive: fetch-and-add and first reading are outstanding */
	PHASE_QUEUED,   /* exclusive: TICKET has been written */
	PHASE_HELD,
};

/* A segment of members at the target. */
struct lock_part {
	struct remote there;
	struct lock_member *here;  /* mapped, or NULL */
	struct lock_segment *read; /* its last reading; NULL for the first segment, which comes with the header */
};

struct lock {
	enum lock_phase phase;
	uint32_t known; /* control and flags are set; state_load */
	struct remote control;
	uint32_t flags;
	uint32_t atomic_rkey;
	struct peer *card; /* whose device draws tickets: link's peer or its atomics peer; NULL: the processor draws */
	struct lock_header *header; /* NULL: work requests are used */
	struct lock_member *word;   /* ours, if mapped */
	struct remote word_there;
	uint32_t part_count;
	struct lock_part part[LOCK_SEGMENTS_MAX];
	struct lock_words image;
	uint64_t fetched;
	uint64_t ticket;   /* ours, or that of the writer before us */
	uint64_t number;   /* of the outstanding reading; 0: none */
	uint64_t confirm;  /* a low `next` to be read again; 0: none */
	uint64_t orphaned; /* at the grant */
	uint64_t serving_seen;
	uint64_t serving_ns; /* when it last changed */
	uint64_t hold_ns;    /* estimate of one hold */
	uint64_t read_ns;    /* earliest time of the next reading */
	uint64_t mapper;     /* the upper half of our word */
	int error;           /* why no ticket can be drawn, or 0 */
	uint64_t drain_ns;   /* since when our served ticket waits for holders; 0: not yet */
	uint64_t drain_limit_ns;
	uint64_t given_up_ns; /* when a call timed out; 0: none did */
	uint32_t gone;        /* words of dead readers in the last reading */
	uint32_t place;       /* index of our word */
	bool exclusive;
	bool placed_twice; /* see lock_words.c */
	bool ticket_shown; /* TICKET has been written */
	bool pressed;      /* this rank has other locks of the window */
};

/* Returns NULL before the first lock. */
static inline struct lock *lock_of(const struct oriel_win *win, const struct link *link)
{
	const struct link_ext *ext = link_ext(link);

	return ext && ext->lock ? win->locks.list[ext->lock - 1] : NULL;
}

/* Notes where the first words lie. */
int lock_take_control(struct link *link, struct lock *lock);

/* Returns 1 if there is a new segment: it is known now, or must be read again; else 0. */
int lock_find_part(struct link *link, struct lock *lock);

/* Finds our own word; false: its segment is not known yet. */
bool lock_find_word(struct link *link, struct lock *lock);

/* Starts to read the header, for a writer the members too; posts the batch. */
int lock_start_reading(struct link *link, struct lock *lock, bool members);

bool lock_reading_done(struct link *link, struct lock *lock);

/* Returns the members of a segment, mapped or as last read. */
const struct lock_member *lock_part_members(const struct lock *lock, uint32_t i);

/*
 * Returns whether the word must be visible before next or serving is read. After INTENT a fence
 * follows: the change of next, or one in draw_by_card. After ABSENT the rank reads nothing.
 */
static inline bool lock_must_be_seen(enum lock_state state)
{
	return state != LOCK_INTENT && state != LOCK_ABSENT;
}

static inline uint64_t lock_state_word(const struct lock *lock, enum lock_state state)
{
	return lock->pressed && state == LOCK_WAIT ? LOCK_PRESSED | LOCK_WAIT : state;
}

/*
 * Stores our word. Its upper half names the process, which may store until it has ended
 * (lock_repair.c). Pairs with the flag_load of any_other at a writer.
 */
static inline void lock_store_state(struct lock *lock, enum lock_state state)
{
	flag_store(&lock->word->state, lock->mapper | lock_state_word(lock, state));
	if (lock_must_be_seen(state))
		full_fence();
}

/* Orders earlier words before later ones. */
int lock_keep_order(struct link *link);

int lock_write_there(struct link *link, const void *words, size_t size_bytes, struct remote to);

int lock_write_state(struct link *link, struct lock *lock, enum lock_state state);

/* Writes ticket, then state, so that no state refers to an older ticket. */
int lock_write_ticket(struct link *link, struct lock *lock, enum lock_state state);

#endif
