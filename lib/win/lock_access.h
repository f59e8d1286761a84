// SPDX-License-Identifier: BSD-2-Clause
/*
 * lock_access.h - the words of a member's lock as this rank reaches them: found, read and written
 *
 * By loads and stores where they are mapped, else by work requests on the member's connection. What
 * is done with them is told in lock_words.c. The caller of all holds win->lock. An error is
 * ORIEL_ERR_PEER or ORIEL_ERR_MEMORY.
 */
#ifndef ORIEL_LOCK_ACCESS_H
#define ORIEL_LOCK_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/order.h"
#include "verbs/layout.h"
#include "win/link.h"
#include "win/win.h"

#define LOCK_DRAIN_NS (4 * NS_PER_MS) /* that a writer waits for holders while a reader is LOCK_PRESSED */
#define LOCK_PRESSED 0x200u           /* beside WAIT: the reader has other locks, so it may be waited for itself */

enum lock_phase {
	PHASE_NEW,      /* nobody has asked yet where the words lie */
	PHASE_LEARNING, /* that is being asked */
	PHASE_FINDING,  /* the segment with our word is being read for */
	PHASE_IDLE,     /* nothing of ours is there; before here nothing has been written */
	PHASE_ASKED,    /* shared: the first reading is under way */
	PHASE_BEHIND,   /* shared: WAIT for the writer `ticket` */
	PHASE_CARD,     /* exclusive: a connection to the card that draws all tickets is being made */
	PHASE_DRAWING,  /* exclusive: that card's fetch-and-add is under way */
	PHASE_DRAWN,    /* exclusive: fetch-and-add and first reading are under way */
	PHASE_QUEUED,   /* exclusive: TICKET has been written */
	PHASE_HELD,
};

/* A segment of members at the target. */
struct lock_part {
	struct remote there;
	struct lock_member *here;  /* mapped, or NULL */
	struct lock_segment *read; /* what a reading brought; NULL for the first, which comes with the header */
};

/* The lock of one member as this rank sees it; win->lock guards it. */
struct lock {
	enum lock_phase phase;
	uint32_t known; /* what the directory says is here: control, flags; state_load */
	struct remote control;
	uint32_t flags;
	uint32_t atomic_rkey;
	struct peer *card;          /* tickets are drawn by the link's peer, or its atomics peer; NULL: by the processor */
	struct lock_header *header; /* mapped, or NULL: by work requests */
	struct lock_member *word;   /* ours, mapped */
	struct remote word_there;
	uint32_t part_count;
	struct lock_part part[LOCK_SEGMENTS_MAX];
	struct lock_words image; /* the last reading */
	uint64_t fetched;        /* where the ticket lands */
	uint64_t ticket;         /* ours, or the writer's that is waited for */
	uint64_t number;         /* of the last request of a reading under way; 0: none */
	uint64_t confirm;        /* a low next that waits for its second reading; 0: none */
	uint64_t orphaned;       /* at the grant */
	uint64_t serving_seen;
	uint64_t serving_ns;     /* when it was seen to change */
	uint64_t hold_ns;        /* how long one holder took lately */
	uint64_t read_ns;        /* no reading before */
	uint64_t mapper;         /* for lock_state_word */
	int error;               /* why no ticket can be drawn, or 0 */
	uint64_t drain_ns;       /* since when our ticket is served and holders are waited for; 0: not yet */
	uint64_t drain_limit_ns; /* how long, while others are pressed */
	uint64_t given_up_ns;    /* when a call that had asked for it left by a time-out; 0: none has */
	uint32_t gone;           /* words of dead readers, counted before the last reading */
	uint32_t place;          /* of our word among the members */
	bool exclusive;
	bool placed_twice; /* words may be, see lock_words.c */
	bool ticket_shown; /* TICKET has been written */
	bool pressed;      /* there are other locks of the window */
};

/* What this rank knows of the member's lock; NULL: nothing yet. */
static inline struct lock *lock_of(const struct oriel_win *win, const struct link *link)
{
	const struct link_ext *ext = link_ext(link);

	return ext && ext->lock ? win->locks.list[ext->lock - 1] : NULL;
}

/* Finding. */

/* Where the first words lie, of which the directory has told. */
int lock_take_control(struct link *link, struct lock *lock);

/* Whether there is a segment that was not known: 1, and it is now, or is to be read again; or 0. */
int lock_find_part(struct link *link, struct lock *lock);

/* Our own word, once its segment is known. */
bool lock_find_word(struct link *link, struct lock *lock);

/* Reading. */

/* Ask for the header, and the members if this is for a writer; post what is in the batch. */
int lock_start_reading(struct link *link, struct lock *lock, bool members);

/* Whether the reading is here. */
bool lock_reading_done(struct link *link, struct lock *lock);

/* The members of a segment: where they lie, or as they were read. */
const struct lock_member *lock_part_members(const struct lock *lock, uint32_t i);

/* Writing. */

/*
 * Before next or serving is read: one of reader and writer sees the other. Behind INTENT next is
 * changed, which is a fence, or one comes (lock_draw_mapped, draw_by_card); and who leaves reads
 * nothing.
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
 * Our own word, mapped. In the upper half: which process has the memory mapped, and may store until
 * it has ended (lock_repair.c). Pairs with the flag_load of any_other at a writer.
 */
static inline void lock_store_state(struct lock *lock, enum lock_state state)
{
	flag_store(&lock->word->state, lock->mapper | lock_state_word(lock, state));
	if (lock_must_be_seen(state))
		full_fence();
}

/* What is placed before must not be overtaken by what comes next. */
int lock_keep_order(struct link *link);

int lock_write_there(struct link *link, const void *words, size_t size_bytes, struct remote to);

/* Our own word. */
int lock_write_state(struct link *link, struct lock *lock, enum lock_state state);

/* The ticket first, so that no state speaks of an older one. */
int lock_write_ticket(struct link *link, struct lock *lock, enum lock_state state);

#endif
