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
	LINK_NEW,   /* nothing known */
	LINK_ASKED, /* the service thread has been asked */
	LINK_READY, /* description complete */
	LINK_GONE,  /* the member has no such window: it was not made there, or has been freed. It ends here */
};

/*
 * Marks of the present access epoch (or fence epoch); guarded by win->lock. In an access epoch a
 * link goes from ACCESS to GRANTED to FLAGGED to CLOSED, each with those before it; the others are
 * facts beside that.
 */
#define LINK_ACCESS 0x0001u    /* named by the access epoch */
#define LINK_GRANTED 0x0002u   /* its post has been seen; the flag word may have moved on since (P12) */
#define LINK_TOUCHED 0x0004u   /* operations have been issued */
#define LINK_GOT 0x0008u       /* gets among them */
#define LINK_WAITING 0x0010u   /* some of them use origin memory until their completion */
#define LINK_FLAGGED 0x0020u   /* completed has been sent */
#define LINK_CLOSED 0x0040u    /* nothing left to do in this epoch */
#define LINK_COPIED 0x0080u    /* copied puts of closed epochs may still fail (P5); up to last_number */
#define LINK_LOCK 0x0100u      /* named by a lock epoch: ACCESS too, GRANTED once the lock is held */
#define LINK_LOCKING 0x0200u   /* a thread is inside lock or unlock, or has left it by a time-out */
#define LINK_EXCLUSIVE 0x0400u /* the lock is */
#define LINK_NOCHECK 0x0800u   /* nothing is to be acquired or given back */
#define LINK_FLUSHED 0x1000u   /* a flush or the lock was the last call: the next put may be alone until another */
#define LINK_AM 0x2000u        /* active messages not known applied: no accumulate operation may pass them */

/* What outlives an epoch. */
#define LINK_LASTING (LINK_COPIED | LINK_AM)

/* Who changes aligned integers of 8 bytes of the member's: layout.h. */
enum link_words { WORDS_BY_PROCESSOR, WORDS_BY_DEVICE, WORDS_BY_BOTH };

/*
 * By which route bytes are put to the member's memory, and got from it: link_map decides it, once.
 */
enum link_route {
	ROUTE_NONE,    /* not decided */
	ROUTE_REGIONS, /* a dynamic window's memory: each region has its own (remote_regions.h) */
	ROUTE_RDMA,    /* work requests */
	ROUTE_SYNC,    /* the device copies synchronously (direct_access.h), or work requests where it cannot */
	ROUTE_MAP,     /* the memory is mapped here: loads and stores */
};

/* Rarely used fields of a link, allocated when one is needed. */
struct link_ext {
	struct link_signals signals;
	struct remote_regions *remote_regions; /* of a dynamic window; else NULL */
	uint64_t there;                        /* of the member's memory, there */
	uint64_t am_number;  /* last active message to the member (am_send.h) not known applied; 0: none */
	uint64_t am_request; /* its last work request, where only active messages are in flight with it; else 0 */
	uint32_t words_rkey; /* of the device that changes words, where it is one */
	uint32_t lock;       /* the entry of its lock (lock_words.c), as index + 1; 0: none */
};

#define LINK_PAGE_SHIFT_MASK 31u /* the bits of page_shift */
#define LINK_WORDS_MASK 3u       /* of words */

/* Members of less than 8 bytes that different threads write are not bits of one byte. */
struct link {
	struct peer *peer;
	uint64_t base; /* of the member's memory, there; here if it is mapped */
	uint64_t size_bytes;
	uint64_t posted_expected; /* as origin: value of the posted word that the open, or last, access epoch waits for */
	uint64_t completed_sent;  /* as origin: value last written to its completed word */
	uint64_t posted_sent;     /* as target: value last written to its posted word */
	uint64_t completed_expected;   /* as target: value of the completed word that the open, or last, epoch waits for */
	uint64_t last_number;          /* last work request of this window on the peer's wire */
	uint64_t open_in;              /* the win->epoch_serial in which operations may go out to it (op/gate.h); or 0 */
	struct flag_pair *flags_there; /* link_flags_there() */
	struct link_ext *ext;          /* link_ext() */
	int rank;                      /* in the window's group */
	uint32_t disp_unit_bytes;
	uint32_t rkey;
	uint32_t deferred; /* first deferred operation, as index + 1; 0: none */
	uint16_t slot;     /* of the window at the member */
	uint16_t marks;
	uint8_t state;          /* enum link_state; by the service thread; link_state() */
	uint8_t route : 3;      /* enum link_route; guarded by win->lock, as the next */
	uint8_t page_shift : 5; /* pages from an address here to the same at the member, modulo PAGE_LOCKS */
	uint8_t : 0;            /* what other threads write is another word of memory */
	bool read_only : 1;     /* the member's memory may not be written; by the service thread, as the next */
	uint8_t words : 2;      /* enum link_words */
	uint8_t : 0;
	bool checking : 1;    /* its window is being looked for again; guarded by peer->lock */
	bool post_queued : 1; /* a post flag to send once the link is ready; guarded by peer->lock */
};

static_assert(sizeof(struct link) <= 112, "one more window costs little for each neighbour (W8)");
static_assert(PAGE_LOCKS - 1 <= LINK_PAGE_SHIFT_MASK, "a number of pages fits link->page_shift");
static_assert(WINDOWS_MAX <= UINT16_MAX + 1, "a slot fits link->slot");

/*
 * The link's rarely used fields, or NULL. Pairs with link_make_ext; the service thread fills it
 * before the link is ready.
 */
static inline struct link_ext *link_ext(const struct link *link)
{
	return __atomic_load_n(&link->ext, __ATOMIC_ACQUIRE);
}

/*
 * See to it that the link has its extension: the service thread until the link is ready, then who
 * holds win->lock. False when memory is out.
 */
bool link_make_ext(struct link *link);

/* For oriel_usage: so many links and bytes more, or less. */
void link_count_bytes(struct oriel_job *job, int links, ptrdiff_t bytes);

static inline bool link_mapped(const struct link *link)
{
	return link->route == ROUTE_MAP;
}

/* Whether this processor may store to it. */
static inline bool link_takes_stores(const struct link *link)
{
	return link_mapped(link) && !link->read_only;
}

/* What the member has of a dynamic window, once the link is ready; else NULL. */
static inline struct remote_regions *link_remote_regions(const struct link *link)
{
	const struct link_ext *ext = link_ext(link);

	return ext ? ext->remote_regions : NULL;
}

/* How many signals the member has; the link is ready. */
static inline uint32_t link_signal_count(const struct link *link)
{
	const struct link_ext *ext = link_ext(link);

	return ext ? ext->signals.count : 0;
}

/*
 * The last active message sent to the member and not known applied; 0: none. The caller holds
 * win->lock.
 */
static inline uint64_t link_am_number(const struct link *link)
{
	return link->marks & LINK_AM ? link->ext->am_number : 0;
}

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

/*
 * An address here of mapped memory, as it lies at the member as far as its page locks care
 * (page_lock.h).
 */
static inline uint64_t link_there(const struct link *link, uint64_t addr)
{
	return addr + link->page_shift * LOCKED_PAGE_BYTES;
}

/*
 * Whether active messages are all that is in flight to the member: once they are applied, so is
 * everything. Holds win->lock.
 */
static inline bool link_has_only_ams(const struct link *link)
{
	return (link->marks & LINK_AM) && link->ext->am_request == link->last_number;
}

/*
 * All active messages of this window that have been sent to the member are applied. The caller
 * holds win->lock.
 */
static inline void link_forget_ams(struct link *link)
{
	if (link_has_only_ams(link))
		link->last_number = 0; /* their requests cannot fail any more, and use no memory of the program's */
	link->ext->am_number = 0;
	link->marks &= (uint16_t)~LINK_AM;
}

/*
 * One turn of a wait for the active messages of this window that have been sent to the member:
 * whether they are applied and their results here. The caller holds win->lock.
 */
static inline bool link_applied(struct link *link)
{
	uint64_t am_number = link_am_number(link);

	if (am_number == 0)
		return true;
	if (!am_progress(link->peer, am_number))
		return false;
	link_forget_ams(link);
	return true;
}

/* Whether the member is dead, or has no such window: nothing will come of it. */
static inline bool link_lost(const struct link *link)
{
	return state_load(&link->peer->state) == PEER_DEAD || link_state(link) == LINK_GONE; /* pairs with rank_lost */
}

/* Where the member's flag words for us lie; LINK_READY. */
static inline struct remote link_remote_flags(const struct link *link)
{
	uint32_t offset, segment = table_segment(link->slot, &offset);
	const struct segment_ref *ref = &link->peer->remote_flags.segment[segment];

	return (struct remote){ ref->addr + offset * sizeof(struct flag_pair), ref->rkey };
}

/*
 * The same as they are here, once link_write_flag has reached them by a store; NULL: not yet, or
 * not at all. A store into the memory of a process that has died is not noticed.
 */
static inline struct flag_pair *link_flags_there(const struct link *link)
{
	return __atomic_load_n(&link->flags_there, __ATOMIC_ACQUIRE); /* pairs with remember_flags */
}

/*
 * Write one of these words, `word_bytes` into the pair, where it need not stay behind work
 * requests: by a store if that reaches it, else as wire_flag does, which `before`, `number` and the
 * errors are for. LINK_READY.
 */
int link_write_flag(struct link *link, size_t word_bytes, uint64_t before, uint64_t value, uint64_t *number);

/*
 * The link to member `rank` of the window's group, made if need be. The caller holds win->lock.
 * ERRORS: ORIEL_ERR_MEMORY.
 */
int link_get(struct oriel_win *win, int rank, struct link **link);

/*
 * During a look: we wait for this member. Like wait_watch; and now and then the service thread
 * looks whether it still has the window, since one that has left it in error is waited for in vain.
 * False if it is lost.
 */
bool link_watch(struct oriel_win *win, struct link *link, struct wait *wait);

/* The same for a member there may be no link to. Not with win->lock. */
bool link_watch_member(struct oriel_win *win, int rank, struct wait *wait);

/*
 * The member is lost: what is under way to it ends, and the device lets go of the caller's memory.
 * ORIEL_ERR_PEER once that is so (no text), before that 0. The caller holds win->lock.
 */
int link_let_go(struct link *link);

/*
 * The epoch ends: what was copied may still be under way, and may fail (P5). The caller holds
 * win->lock.
 */
void link_leave_copied(struct oriel_win *win, struct link *link);

/*
 * Ask whether the member's memory can be mapped here, once; the link is ready. The caller holds
 * win->lock.
 */
void link_map(struct link *link);

/* Ask for the description if that has not been done. ERRORS: ORIEL_ERR_MEMORY. */
int link_prefetch(struct oriel_win *win, struct link *link);

/*
 * Whether the target has opened its window to us: its post flag of this epoch has been seen. Holds
 * win->lock.
 */
bool link_grant(struct oriel_win *win, struct link *link);

/*
 * In lock_all: the member becomes a target, whose lock comes with link_grant. The caller holds
 * win->lock.
 */
void link_enter_lock_all(struct oriel_win *win, struct link *link);

/*
 * The same, and its lock is waited for. One that is lost is no error here: the first operation to
 * it tells.
 */
int link_lock_all(struct oriel_win *win, int rank, const char *call);

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
 * What can be waited for of one link, without win->lock: its description. ERRORS: ORIEL_ERR_PEER.
 */
struct link_wait {
	struct oriel_win *win;
	struct link *link;
};

extern const struct waiter link_described;

/*
 * Wait until the target is granted: its post is here, or its lock held. The caller holds win->lock,
 * which is given up meanwhile. ERRORS: ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT, those of a shortage.
 */
int link_await_grant(struct oriel_win *win, struct link *link, const char *call);

#endif
