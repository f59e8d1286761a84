// SPDX-License-Identifier: BSD-2-Clause
/*
 * link.h - what a window knows about one other member
 *
 * A link is made when a window first has to do with a member. Its description (where the member's
 * memory and flag words lie) is read from the member's directory by the service thread, which then
 * makes it LINK_READY, or LINK_GONE. The epoch counters count, for this pair on this window: as
 * origin, the posts we wait for and the completes we have sent; as target, the posts we have sent
 * and the completes we wait for. Epochs opened with NOCHECK on both sides send no post and do not
 * count there.
 */
#ifndef ORIEL_LINK_H
#define ORIEL_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/order.h"
#include "job/peer.h"

struct oriel_win;
struct wait;
struct waiter;

enum link_state {
	LINK_NEW,   /* nothing known */
	LINK_ASKED, /* the service thread has been asked */
	LINK_READY, /* description complete */
	LINK_GONE,  /* the member has no such window: it was not made there, or has been freed. It ends here */
};

/*
 * Marks of the present access epoch (or fence epoch); guarded by win->lock. In an access epoch a link
 * goes from ACCESS to GRANTED to FLAGGED to CLOSED, each with those before it; the others are facts
 * beside that.
 */
#define LINK_ACCESS 0x0001u  /* named by the access epoch */
#define LINK_GRANTED 0x0002u /* its post has been seen; the flag word may have moved on since (P12) */
#define LINK_TOUCHED 0x0004u /* operations have been issued */
#define LINK_GOT 0x0008u     /* gets among them */
#define LINK_WAITING 0x0010u /* some of them use origin memory until their completion */
#define LINK_FLAGGED 0x0020u /* completed has been sent */
#define LINK_CLOSED 0x0040u  /* nothing left to do in this epoch */
#define LINK_COPIED 0x0080u  /* copied puts of closed epochs may still fail (P5); up to last_number */

struct link {
	struct peer *peer;
	uint64_t base; /* of the member's memory, there; here if it is mapped (reach.h) */
	uint64_t size_bytes;
	uint64_t posted_expected; /* as origin: value of the posted word that the open, or last, access epoch waits for */
	uint64_t completed_sent;  /* as origin: value last written to its completed word */
	uint64_t posted_sent;     /* as target: value last written to its posted word */
	uint64_t completed_expected; /* as target: value of the completed word that the open, or last, epoch waits for */
	uint64_t last_number;        /* last work request of this window on the peer's wire */
	int rank;                    /* in the window's group */
	uint32_t disp_unit_bytes;
	uint32_t rkey;
	uint32_t slot;  /* of the window at the member */
	uint32_t held;  /* first held-back operation, as index + 1; 0: none */
	uint8_t state;  /* enum link_state; by the service thread; link_state() */
	bool read_only; /* the member's memory may not be written */
	bool map_asked; /* this and the next are guarded by win->lock: bytes of their own, not bits beside read_only */
	bool mapped;
	bool checking;    /* its window is being looked for again; guarded by peer->lock */
	bool post_queued; /* a post flag to send once the link is ready; guarded by peer->lock */
	uint16_t marks;
};

/* Pairs with the release store of link_ready: the description is visible after LINK_READY. */
static inline enum link_state link_state(const struct link *link)
{
	return (enum link_state)__atomic_load_n(&link->state, __ATOMIC_ACQUIRE);
}

/* Service thread: publish a finished description. Pairs with link_state. */
static inline void link_ready(struct link *link)
{
	__atomic_store_n(&link->state, LINK_READY, __ATOMIC_RELEASE);
}

/* Service thread: the member has no such window. Pairs with link_state. */
static inline void link_gone(struct link *link)
{
	__atomic_store_n(&link->state, LINK_GONE, __ATOMIC_RELEASE);
}

/* Whether the member is dead, or has no such window: nothing will come of it. */
static inline bool link_lost(const struct link *link)
{
	return state_load(&link->peer->state) == PEER_DEAD || link_state(link) == LINK_GONE; /* pairs with rank_died */
}

/* Where the member's flag words for us lie; LINK_READY. */
static inline struct remote link_remote_flags(const struct link *link)
{
	uint32_t offset, segment = table_segment(link->slot, &offset);
	const struct segment_ref *ref = &link->peer->remote_flags.segment[segment];

	return (struct remote){ ref->addr + offset * sizeof(struct flag_pair), ref->rkey };
}

/*
 * The link to member `rank` of the window's group, made if need be. The caller holds win->lock.
 * ERRORS: ORIEL_ERR_MEMORY.
 */
int link_get(struct oriel_win *win, int rank, struct link **link);

/*
 * During a look: we wait for this member. Like wait_watch; and now and then the service thread looks
 * whether it still has the window, since one that has left it in error is waited for in vain. False
 * if it is lost.
 */
bool link_watch(struct oriel_win *win, struct link *link, struct wait *wait);

/* The same for a member there may be no link to. Not with win->lock. */
bool link_watch_member(struct oriel_win *win, int rank, struct wait *wait);

/*
 * The member is lost: what is under way to it ends, and the device lets go of the caller's memory.
 * ORIEL_ERR_PEER once that is so (no text), before that 0. The caller holds win->lock.
 */
int link_let_go(struct link *link);

/* Ask whether the member's memory can be mapped here, once; the link is ready. The caller holds win->lock. */
void link_map(struct link *link);

/* Ask for the description if that has not been done. ERRORS: ORIEL_ERR_MEMORY. */
int link_prefetch(struct oriel_win *win, struct link *link);

/* Whether the target has opened its window to us: its post flag of this epoch has been seen. Holds win->lock. */
bool link_grant(struct oriel_win *win, struct link *link);

/*
 * Send the post flag `posted_sent`, now or as soon as the link is ready. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_MEMORY.
 */
int link_post(struct oriel_win *win, struct link *link);

/* Write posted_sent to the member; the link is ready. */
int link_send_posted(struct link *link);

/* Release all links of a window. */
void links_free(struct oriel_win *win);

/*
 * What can be waited for of one link, without win->lock: its description, its post. ERRORS:
 * ORIEL_ERR_PEER.
 */
struct link_wait {
	struct oriel_win *win;
	struct link *link;
};

extern const struct waiter link_described;
extern const struct waiter link_granted;

#endif
