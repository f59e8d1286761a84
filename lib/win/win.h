// SPDX-License-Identifier: BSD-2-Clause
/*
 * win.h - a window as its owner sees it
 *
 * win->lock guards everything that changes after creation. It is never held while waiting: a call
 * that closes an epoch sets `closing`, so that no other thread closes it, and looks again and again
 * under the lock. Lock order: win->lock, peer->lock or wire->lock, job->lock.
 */
#ifndef ORIEL_WIN_H
#define ORIEL_WIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/dissemination.h"
#include "base/handle.h"
#include "base/order.h"
#include "base/owned_lock.h"
#include "conn/coll.h"
#include "job/deferred_error.h"
#include "job/group.h"
#include "job/service_queue.h"
#include "mem/mem.h"
#include "oriel.h"
#include "verbs/layout.h"
#include "win/epoch.h"
#include "win/link.h"
#include "win/operation.h"
#include "win/regions.h"
#include "win/remote_regions.h"
#include "win/requests.h"
#include "win/shared.h"
#include "win/signals.h"

#define DEFERRED_MAX 65536 /* operations deferred before put and get wait for the post */
#define EPOCH_MRS_MAX 1024 /* memory registered for one epoch before its operations are completed early */
#define WINDOW_LABEL_BYTES 96
#define FENCE_ROUNDS_MAX 24 /* log2 of the largest job */

/* An access or exposure epoch of post, start, complete, wait. */
struct epoch {
	uint32_t count;
	uint32_t capacity;
	bool prepared; /* links are those of the group with this key */
	uint8_t key[GROUP_KEY_BYTES];
	const struct oriel_group *group; /* that group as the program last named it, if it still has this serial; or none */
	uint64_t group_serial;
	uint32_t next; /* exposure: origins before this one have completed */
	struct link **links;
};

/* One partner of the fence's barrier that we write to. */
struct fence_partner {
	struct link *link;
	struct remote words; /* its fence words; addr 0 until the link is ready */
	uint64_t *there;     /* the same as they are here, once a fence has found that stores reach them */
};

struct fence {
	struct dissemination barrier;
	uint64_t number;          /* fences with a barrier so far, this one included */
	uint64_t *words;          /* ours, registered: [set][round], written by the partner of the round */
	struct link *piggybacked; /* the first partner, if its word is ordered behind puts to it; else NULL */
	struct fence_partner partner[FENCE_ROUNDS_MAX];
};

/* What the window opens to others. */
struct window_memory {
	uint8_t *base;
	size_t size_bytes;
	size_t disp_unit_bytes;
	struct registration registration; /* none for a window of no bytes */
	bool read_only;
	bool allocated;        /* the memory is ours: base, mapped_bytes, fd */
	bool in_place;         /* the memory is the program's, and has been moved for others to map (mem.h) */
	bool mappable;         /* ranks that share memory with this one can map it, as far as we know */
	bool pins_atomic_mode; /* atomic_mode_pin has been called for it */
	int fd;
	size_t mapped_bytes;
};

/* The members the window has had to do with. */
struct links {
	struct link **table; /* open addressing by rank */
	uint32_t count;
	uint32_t capacity; /* a power of 2 */
};

/* Operations of the open epoch that wait for posts. */
struct deferred_ops {
	struct deferred *list;
	uint32_t count; /* entries ever used in this epoch */
	uint32_t capacity;
	uint32_t free;    /* first entry to use again, as index + 1; 0: none */
	uint32_t links;   /* that have some */
	struct acc *accs; /* beside list: what the entries of OP_ACCUMULATE are (op/acc.h) */
	uint32_t acc_capacity;
};

/* Lock epochs. */
struct locks {
	uint32_t open; /* links with LINK_LOCK, but for those of lock_all */
	bool nocheck;  /* lock_all was given ORIEL_MODE_NOCHECK */
	bool handed;   /* the task is the service thread's: requests have been given up */
	struct task task;
	struct lock **list; /* the entries of lock_words.c, by link->ext->lock - 1 */
	uint32_t count;
	uint32_t capacity;
};

/*
 * Memory that operations under way name, registered with the device of their target: for them
 * alone, or by a registration that is kept and may hold more (mr_cache.h).
 */
struct epoch_mr {
	const struct device *device;
	const uint8_t *base;
	size_t size_bytes;
	uint32_t lkey;
	bool write;             /* by the device too */
	struct ibv_mr *mr;      /* for them alone, or NULL */
	struct cached_mr *kept; /* or NULL */
};

struct epoch_mrs {
	struct epoch_mr *list;
	uint32_t count;
	uint32_t capacity;
	uint32_t reusable; /* from here on; before it the program may have mapped other memory since a flush */
};

struct oriel_win {
	struct handle handle;
	struct oriel_job *job;
	struct oriel_group *group;
	uint8_t id[WINDOW_ID_BYTES];
	uint32_t slot;
	uint32_t flags_segment; /* of each peer's flag words at our side, and where the slot's are in it (peer_flags) */
	uint32_t flags_bytes;
	struct piece control; /* the slot's control block */
	struct window_memory memory;
	struct shared_memory shared; /* that memory is a part of */
	struct oriel_win_info info;
	enum places places;      /* of the group */
	enum in_place_wish wish; /* for memory of the program */
	const char *refused;     /* why this member cannot have the window; NULL: it can */
	void *user;              /* oriel_win_set_user's */
	uint64_t rehints;        /* calls of oriel_win_set_hints so far */
	uint32_t lookups;        /* descriptions being read; atomic, by the service thread downwards */

	struct owned_lock lock; /* guards the rest */
	struct links links;
	struct regions regions; /* of a dynamic window */
	struct regions_watch regions_watch;
	uint64_t epoch_serial; /* moves with each change of what may be issued (op/gate.h); never 0 */
	unsigned sync;         /* SYNC_*: which epochs are open, and which call is inside */
	bool downwards;        /* which way the next copy of many bytes goes (op/copy.h) */
	struct epoch access;
	struct epoch exposure;
	struct fence fence;
	struct deferred_ops deferred;
	struct locks locks;
	struct epoch_mrs epoch_mrs;
	struct mem_seen origins; /* the registered memory, or none, that was last put from or got to */
	struct signals signals;
	struct requests requests;
	struct deferred_errors deferred_errors; /* of operations whose calls had returned; not under the lock */
	const uint64_t *losses;                 /* the job's */
	uint64_t losses_seen; /* of them when news were last taken; UINT64_MAX: look for some; counter_load */
	uint64_t probe_ns;    /* oriel_win_test: when awaited peers were last probed */
	uint64_t gone_ns;     /* when the free found a member gone; 0: it has not */
	struct coll free_coll;
	char label[WINDOW_LABEL_BYTES]; /* "window 3 (field)", for messages */
};

/* The error for a handle that is not a window's. */
int win_refuse(const struct oriel_win *win, const char *call);

static inline int win_check(const struct oriel_win *win, const char *call)
{
	return handle_valid(HANDLE_WIN, win) ? 0 : win_refuse(win, call);
}

/* Makes the label, of the number that the members have agreed on and the name. */
void win_make_label(struct oriel_win *win);

/* The world rank of a member. */
int win_world_rank(const struct oriel_win *win, int rank);

/* Our flag words for a link, which the member writes. */
static inline struct flag_pair *link_flags(const struct oriel_win *win, const struct link *link)
{
	return (struct flag_pair *)(void *)((uint8_t *)link->peer->flags[win->flags_segment] + win->flags_bytes);
}

/*
 * Operations may go out to no member any more, or not to this one, until the gate has been passed
 * again (op/gate.h). The caller holds win->lock.
 */
static inline void gate_close_all(struct oriel_win *win)
{
	win->epoch_serial++;
}

static inline void gate_close(struct link *link)
{
	link->open_in = 0;
}

/*
 * Whether the target's post of the open access epoch is there. Pairs with link_send_posted at the
 * target.
 */
static inline bool link_post_is_there(const struct oriel_win *win, const struct link *link)
{
	return flag_load(&link_flags(win, link)->posted) == link->posted_expected;
}

/* The same, or has been: it may have moved on since (P12). */
static inline bool link_post_seen(const struct oriel_win *win, struct link *link)
{
	if (link_state(link) != LINK_READY)
		return false; /* with NOCHECK too: where the flags are is not known yet */
	if (link->marks & LINK_GRANTED)
		return true;
	if (!link_post_is_there(win, link))
		return false;
	link->marks |= LINK_GRANTED;
	return true;
}

/*
 * Whether the epoch was last opened for this very group, which has members and is alive: a freed
 * one has another serial. Its links are there. Serials begin with 1, so before the first such epoch
 * it is for no group, and not for NULL.
 */
static inline bool epoch_is_for(const struct epoch *epoch, const struct oriel_group *group)
{
	return group == epoch->group && group->handle.serial == epoch->group_serial;
}

/* Under which id members send that they have left a fence in error. */
void fence_failed_id(const struct oriel_win *win, uint8_t id[16]);

/* ORIEL_ERR_PEER for a member, naming window, rank and why. */
int win_peer_error(const struct oriel_win *win, int rank);

/*
 * Place of a member in the window's table of links: its link is there, or nothing. Not with an
 * empty table.
 */
static inline uint32_t link_slot(const struct oriel_win *win, int rank)
{
	uint32_t slot = (uint32_t)rank & (win->links.capacity - 1);

	while (win->links.table[slot] && win->links.table[slot]->rank != rank)
		slot = (slot + 1) & (win->links.capacity - 1);
	return slot;
}

/* The link, or NULL. The caller holds win->lock. */
static inline struct link *link_find(const struct oriel_win *win, int rank)
{
	return win->links.capacity ? win->links.table[link_slot(win, rank)] : NULL;
}

/*
 * The same where the first place that is looked at tells, as it mostly does; false: link_find
 * tells.
 */
static inline bool link_find_first(const struct oriel_win *win, int rank, struct link **link)
{
	*link = win->links.capacity ? win->links.table[(uint32_t)rank & (win->links.capacity - 1)] : NULL;
	return !*link || (*link)->rank == rank;
}

/* Whether a call is legal now, by the table in epoch.h; ends empty epochs that it passes over. */
static inline bool epoch_allows(struct oriel_win *win, enum sync_call call)
{
	win->sync &= ~legality[call].ends;
	return !(win->sync & legality[call].forbids) && (!legality[call].needs || win->sync & legality[call].needs);
}

/* Whether start or post for somebody is legal now. */
static inline bool epoch_allows_for_somebody(const struct oriel_win *win, enum sync_call call)
{
	return !(win->sync & ~legality[call].ends & (legality[call].forbids | legality[CALL_FOR_SOMEBODY].forbids));
}

/* Such an epoch is open now; any fence epoch has ended. */
static inline void epoch_begun(struct oriel_win *win, enum sync_call call, enum sync_bit open)
{
	win->sync = (win->sync | open) & ~(legality[call].ends | SYNC_FENCE);
}

/* The same for the public call `name`. ERRORS: ORIEL_ERR_SYNC. */
static inline int epoch_check(struct oriel_win *win, enum sync_call call, const char *name)
{
	return epoch_allows(win, call) ? 0 : epoch_refuse(win, call, name);
}

#endif
