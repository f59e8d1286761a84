// SPDX-License-Identifier: BSD-2-Clause
/*
 * link.h - what a window knows about one other member
 *
 * A link is made at the window's first use of a member. The service thread reads the description
 * (where memory and flag words lie) from the member's directory, and sets LINK_READY or LINK_GONE.
 * The epoch counters count for this pair on this window. Epochs with NOCHECK on both sides send no
 * post and do not count.
 */
#ifndef ORIEL_LINK_H
#define ORIEL_LINK_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/order.h"
#include "job/peer.h"
#include "am/am_send.h"
#include "sync/page_lock.h"
#include "win/signals.h"

struct remote_regions;
struct oriel_win;
struct wait;
struct waiter;

enum link_state {
	LINK_NEW,
	LINK_ASKED,
	LINK_READY,
	LINK_GONE, /* final: the member did not make the window, or has freed it */
};

/*
 * Marks of the present access or fence epoch; guarded by win->lock. In an access epoch a link goes
 * from ACCESS to GRANTED to FLAGGED to CLOSED, and keeps the earlier marks.
 */
#define LINK_ACCESS 0x0001u  /* a target of the access epoch */
#define LINK_GRANTED 0x0002u /* its post has been seen; the flag word may have moved on since (P12) */
#define LINK_TOUCHED 0x0004u /* operations have been issued */
#define LINK_GOT 0x0008u     /* gets among them */
#define LINK_WAITING 0x0010u /* some of them use origin memory */
#define LINK_FLAGGED 0x0020u /* completed has been sent */
#define LINK_CLOSED 0x0040u  /* nothing left to do in this epoch */
#define LINK_COPIED 0x0080u  /* copied puts of closed epochs may still fail (P5); up to last_number */
#define LINK_LOCK 0x0100u    /* named by a lock epoch: ACCESS too, GRANTED once the lock is held */
#define LINK_LOCKING 0x0200u /* a thread is inside lock or unlock, or has timed out there */
#define LINK_EXCLUSIVE 0x0400u
#define LINK_NOCHECK 0x0800u /* nothing to acquire or release */
#define LINK_FLUSHED 0x1000u /* the last call was a flush or the lock: the next put may be alone */
#define LINK_AM 0x2000u      /* active messages not known applied: no accumulate operation may pass them */

#define LINK_LASTING (LINK_COPIED | LINK_AM)
#define LINK_IN_FLIGHT (LINK_TOUCHED | LINK_GOT | LINK_WAITING)

/* How the member's aligned 8-byte integers are updated (layout.h). */
enum link_words { WORDS_BY_PROCESSOR, WORDS_BY_DEVICE, WORDS_BY_BOTH };

/* The route of puts and gets; link_map decides it once. */
enum link_route {
	ROUTE_NONE,
	ROUTE_REGIONS, /* a dynamic window: each region has its own route */
	ROUTE_RDMA,
	ROUTE_SYNC, /* the device copies synchronously (direct_access.h) where it can */
	ROUTE_MAP,  /* mapped here: loads and stores */
};

/* Rarely used fields, allocated when one is needed. */
struct link_ext {
	struct link_signals signals;
	struct remote_regions *remote_regions; /* of a dynamic window; else NULL */
	uint64_t there;                        /* address of the memory at the member */
	uint64_t am_number;                    /* last active message not known applied; 0: none */
	uint64_t am_request;                   /* last work request, if only active messages are in flight; else 0 */
	uint32_t words_rkey;                   /* of the device that changes words */
	uint32_t lock;                         /* index + 1 in win->locks.list; 0: none */
};

#define LINK_PAGE_SHIFT_MASK 31u
#define LINK_WORDS_MASK 3u

/* Fields of less than 8 bytes that different threads write do not share a word. */
struct link {
	struct peer *peer;
	uint64_t base; /* address of the memory at the member; here if it is mapped */
	uint64_t size_bytes;
	uint64_t posted_expected;      /* as origin: value of the posted word that the last access epoch waits for */
	uint64_t completed_sent;       /* as origin: last value of its completed word */
	uint64_t posted_sent;          /* as target: last value of its posted word */
	uint64_t completed_expected;   /* as target: value of the completed word that the last exposure epoch waits for */
	uint64_t last_number;          /* last work request on the peer's wire */
	uint64_t open_in;              /* the win->epoch_serial in which operations may be issued (op/gate.h); or 0 */
	struct flag_pair *flags_there; /* link_flags_there() */
	struct link_ext *ext;          /* link_ext() */
	int rank;                      /* in the window's group */
	uint32_t disp_unit_bytes;
	uint32_t rkey;
	uint32_t deferred; /* first deferred operation, as index + 1; 0: none */
	uint16_t slot;     /* of the window at the member */
	uint16_t marks;
	uint8_t state;          /* enum link_state; written by the service thread */
	uint8_t route : 3;      /* enum link_route; guarded by win->lock, as page_shift */
	uint8_t page_shift : 5; /* link_there() */
	uint8_t : 0;            /* other threads write the next word */
	bool read_only : 1;     /* written by the service thread, as words */
	uint8_t words : 2;      /* enum link_words */
	uint8_t : 0;
	bool checking : 1;    /* a check of link_watch is in progress; guarded by peer->lock */
	bool post_queued : 1; /* a post flag awaits LINK_READY; guarded by peer->lock */
};

static_assert(sizeof(struct link) <= 112, "one more window costs little for each neighbour (W8)");
static_assert(PAGE_LOCKS - 1 <= LINK_PAGE_SHIFT_MASK, "a number of pages fits link->page_shift");
static_assert(WINDOWS_MAX <= UINT16_MAX + 1, "a slot fits link->slot");

/* Returns the rarely used fields, or NULL. Pairs with link_make_ext. */
static inline struct link_ext *link_ext(const struct link *link)
{
	return __atomic_load_n(&link->ext, __ATOMIC_ACQUIRE);
}

/*
 * Makes the extension if there is none: on the service thread until the link is ready, then under
 * win->lock. False: out of memory.
 */
bool link_make_ext(struct link *link);

/* Counts for oriel_usage; negative: fewer. */
void link_count_bytes(struct oriel_job *job, int links, ptrdiff_t bytes);

static inline bool link_mapped(const struct link *link)
{
	return link->route == ROUTE_MAP;
}

static inline bool link_takes_stores(const struct link *link)
{
	return link_mapped(link) && !link->read_only;
}

/* Returns the remote regions of a dynamic window, once they are known; else NULL. */
static inline struct remote_regions *link_remote_regions(const struct link *link)
{
	const struct link_ext *ext = link_ext(link);

	return ext ? ext->remote_regions : NULL;
}

/* The link is ready. */
static inline uint32_t link_signal_count(const struct link *link)
{
	const struct link_ext *ext = link_ext(link);

	return ext ? ext->signals.count : 0;
}

/* Returns the last active message not known applied, or 0. Under win->lock. */
static inline uint64_t link_am_number(const struct link *link)
{
	return link->marks & LINK_AM ? link->ext->am_number : 0;
}

/* Pairs with link_ready: the description is visible after LINK_READY. */
static inline enum link_state link_state(const struct link *link)
{
	return (enum link_state)__atomic_load_n(&link->state, __ATOMIC_ACQUIRE);
}

/* Publishes the description, on the service thread. Pairs with link_state. */
static inline void link_ready(struct link *link)
{
	__atomic_store_n(&link->state, LINK_READY, __ATOMIC_RELEASE);
}

/* Notes that the member has no such window, on the service thread. Pairs with link_state. */
static inline void link_gone(struct link *link)
{
	__atomic_store_n(&link->state, LINK_GONE, __ATOMIC_RELEASE);
}

/*
 * Returns the address at the member of mapped memory, modulo the page locks' period (page_lock.h).
 */
static inline uint64_t link_there(const struct link *link, uint64_t addr)
{
	return addr + link->page_shift * LOCKED_PAGE_BYTES;
}

/*
 * Returns whether only active messages are in flight: once applied, all is complete. Under
 * win->lock.
 */
static inline bool link_has_only_ams(const struct link *link)
{
	return (link->marks & LINK_AM) && link->ext->am_request == link->last_number;
}

/* Notes that the active messages are applied. Under win->lock. */
static inline void link_forget_ams(struct link *link)
{
	if (link_has_only_ams(link))
		link->last_number = 0; /* their requests can no longer fail, and use no memory of the program */
	link->ext->am_number = 0;
	link->marks &= (uint16_t)~LINK_AM;
}

/*
 * Returns whether active messages up to a number (0: none) are applied at the target, and their
 * results are here. Makes progress. Under win->lock.
 */
static inline bool link_applied(struct link *link, uint64_t am_number)
{
	if (am_number == 0)
		return true;
	if (!am_progress(link->peer, am_number))
		return false;
	if (link_am_number(link) == am_number)
		link_forget_ams(link);
	return true;
}

/* Returns whether the member is dead, or has no such window. */
static inline bool link_lost(const struct link *link)
{
	return state_load(&link->peer->state) == PEER_DEAD || link_state(link) == LINK_GONE; /* pairs with rank_lost */
}

/* Returns where the flag words for this rank lie. The link is ready. */
static inline struct remote link_remote_flags(const struct link *link)
{
	uint32_t offset, segment = table_segment(link->slot, &offset);
	const struct segment_ref *ref = &link->peer->remote_flags.segment[segment];

	return (struct remote){ ref->addr + offset * sizeof(struct flag_pair), ref->rkey };
}

/*
 * Returns where those words are mapped, once link_write_flag has stored to them; else NULL. A store
 * to a dead process's memory goes unnoticed.
 */
static inline struct flag_pair *link_flags_there(const struct link *link)
{
	return __atomic_load_n(&link->flags_there, __ATOMIC_ACQUIRE); /* pairs with remember_flags */
}

/* Writes a flag word by direct_flag, and notes where the pair is mapped. */
int link_store_flag(struct link *link, struct remote word, uint64_t before, uint64_t value, uint64_t *number);

/*
 * Writes the flag word at `word_bytes` of the pair, not ordered behind work requests: by a store if
 * it is mapped, else by wire_flag, with its arguments and errors. The link is ready.
 */
static inline int link_write_flag(struct link *link, size_t word_bytes, uint64_t before, uint64_t value,
                                  uint64_t *number)
{
	struct remote word = link_remote_flags(link);

	word.addr += word_bytes;
	if (direct_has_stores(&link->peer->direct))
		return link_store_flag(link, word, before, value, number);
	return wire_flag(&link->peer->wire, before, value, word, number);
}

/* Finds or makes the link to member `rank`. Under win->lock. ERRORS: ORIEL_ERR_MEMORY. */
int link_get(struct oriel_win *win, int rank, struct link **link);

/*
 * Calls wait_watch, and has the service thread check now and then that the member still has the
 * window: one that has freed it never answers. False: the member is lost.
 */
bool link_watch(struct oriel_win *win, struct link *link, struct wait *wait);

/* Calls link_watch for a member that may have no link yet. Not under win->lock. */
bool link_watch_member(struct oriel_win *win, int rank, struct wait *wait);

/*
 * Makes the device release the caller's memory, for a lost member. Returns ORIEL_ERR_PEER (no text)
 * once outstanding operations have ended, before that 0. Under win->lock.
 */
int link_let_go(struct link *link);

/* Marks that copied puts may fail after the epoch (P5). Under win->lock. */
void link_leave_copied(struct oriel_win *win, struct link *link);

/* Tries once to map the memory, and sets the route. Under win->lock; the link is ready. */
void link_map(struct link *link);

/* Requests the description if it is new. Under win->lock. ERRORS: ORIEL_ERR_MEMORY. */
int link_prefetch(struct oriel_win *win, struct link *link);

/* Makes the member a target of lock_all; link_grant takes its lock. Under win->lock. */
void link_enter_lock_all(struct oriel_win *win, struct link *link);

/*
 * Calls link_enter_lock_all and waits for the lock. A lost member is no error: the first operation
 * reports the loss. Under win->lock.
 */
int link_lock_all(struct oriel_win *win, int rank, const char *call);

/* Sends the post flag `posted_sent`. The link is ready. ERRORS: ORIEL_ERR_PEER. */
int link_send_posted(struct link *link);

/* Sends it once the link is ready. Under win->lock. ERRORS: as link_post. */
int link_post_later(struct oriel_win *win, struct link *link);

/*
 * Sends the post flag, now or once the link is ready. Under win->lock. ERRORS: ORIEL_ERR_PEER,
 * ORIEL_ERR_MEMORY.
 */
static inline int link_post(struct oriel_win *win, struct link *link)
{
	return link_state(link) == LINK_READY ? link_send_posted(link) : link_post_later(win, link);
}

void links_free(struct oriel_win *win);

/* Waits for a link's description. Not under win->lock. ERRORS: ORIEL_ERR_PEER. */
struct link_wait {
	struct oriel_win *win;
	struct link *link;
};

extern const struct waiter link_described;

/*
 * Waits until the target has granted access. Under win->lock, which the wait releases. ERRORS:
 * ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT, those of a shortage.
 */
int link_await_grant(struct oriel_win *win, struct link *link, const char *call);

#endif
