// SPDX-License-Identifier: BSD-2-Clause
/*
 * win.h - a window as its owner sees it
 *
 * win->lock guards everything that changes after creation. No thread holds it while waiting: a call
 * that closes an epoch sets a bit of `sync`, so that no other thread closes it, and polls under the
 * lock. Lock order: win->lock, peer->lock or wire->lock, job->lock.
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
#define EPOCH_MRS_MAX 1024 /* registrations of one epoch before its operations are completed early */
#define WINDOW_LABEL_BYTES 96
#define FENCE_ROUNDS_MAX 24 /* log2 of the largest job */

/* An access or exposure epoch of post, start, complete, wait. */
struct epoch {
	uint32_t count;
	uint32_t capacity;
	bool prepared; /* links are those of the group with this key */
	uint8_t key[GROUP_KEY_BYTES];
	const struct oriel_group *group; /* the group as last passed, if its serial is this one; or no_group */
	uint64_t group_serial;
	uint32_t next; /* exposure: origins before this one have completed */
	struct link **links;
};

/* A partner of the fence's barrier to which this rank writes. */
struct fence_partner {
	struct link *link;
	struct remote words; /* its fence words; addr 0 until the link is ready */
	uint64_t *there;     /* those words mapped here, once a fence has reached them by stores */
};

struct fence {
	struct dissemination barrier;
	uint64_t number;          /* fences with a barrier so far, this one included */
	uint64_t *words;          /* ours, registered: [set][round], written by the partner of the round */
	struct link *piggybacked; /* the first partner, if its word is ordered behind puts to it; else NULL */
	struct fence_partner partner[FENCE_ROUNDS_MAX];
};

/* The memory that the window exposes. */
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

/* The members that the window has used. */
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
	uint32_t links;   /* links that have some */
	struct acc *accs; /* beside list: what the entries of OP_ACCUMULATE are (op/acc.h) */
	uint32_t acc_capacity;
};

/* Lock epochs. */
struct locks {
	uint32_t open; /* links with LINK_LOCK, without those of lock_all */
	bool nocheck;  /* lock_all was given ORIEL_MODE_NOCHECK */
	bool handed;   /* the service thread has the task: locks have been abandoned */
	struct task task;
	struct lock **list; /* the entries of lock_words.c, by link->ext->lock - 1 */
	uint32_t count;
	uint32_t capacity;
};

/*
 * Memory of outstanding operations, registered with the device of their target: for them alone, or
 * by a registration of the cache, which may be larger (mr_cache.h).
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
	uint32_t reusable; /* first entry to reuse; before it the program may have remapped memory since a flush */
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
	struct shared_memory shared; /* which that memory is part of */
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
	uint64_t epoch_serial; /* changes whenever what may be issued changes (op/gate.h); never 0 */
	unsigned sync;         /* SYNC_*: the open epochs, and the calls in progress */
	bool downwards;        /* direction of the next large copy (op/copy.h) */
	struct epoch access;
	struct epoch exposure;
	struct fence fence;
	struct deferred_ops deferred;
	struct locks locks;
	struct epoch_mrs epoch_mrs;
	struct mem_seen origins; /* the registered memory, or none, that the last put or get used */
	struct signals signals;
	struct requests requests;
	struct deferred_errors deferred_errors; /* of operations whose calls had returned; not under the lock */
	const uint64_t *losses;                 /* the job's */
	uint64_t losses_seen; /* value of losses when news were last taken; UINT64_MAX: check again; counter_load */
	uint64_t probe_ns;    /* oriel_win_test: when awaited peers were last probed */
	uint64_t gone_ns;     /* when the free found a member gone; 0: it has not */
	struct coll free_coll;
	char label[WINDOW_LABEL_BYTES]; /* "window 3 (field)", for messages */
};

/* Returns the error for a handle that is no window. */
int win_refuse(const struct oriel_win *win, const char *call);

static inline int win_check(const struct oriel_win *win, const char *call)
{
	return handle_valid(HANDLE_WIN, win) ? 0 : win_refuse(win, call);
}

/* Makes the label from the window's number and name. */
void win_make_label(struct oriel_win *win);

/* Returns the world rank of a member. */
int win_world_rank(const struct oriel_win *win, int rank);

/* Returns our flag words for a link, which the member writes. */
static inline struct flag_pair *link_flags(const struct oriel_win *win, const struct link *link)
{
	return (struct flag_pair *)(void *)((uint8_t *)link->peer->flags[win->flags_segment] + win->flags_bytes);
}

/*
 * Closes the gate of all members, or of one: no operation is issued until the gate is passed again
 * (op/gate.h). The caller holds win->lock.
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
 * Returns whether the target's post of the open access epoch has come. Pairs with link_send_posted
 * at the target.
 */
static inline bool link_post_is_there(const struct oriel_win *win, const struct link *link)
{
	return flag_load(&link_flags(win, link)->posted) == link->posted_expected;
}

/* Returns whether that post has come, or came earlier: the word may have moved on since (P12). */
static inline bool link_post_seen(const struct oriel_win *win, struct link *link)
{
	if (link_state(link) != LINK_READY)
		return false; /* with NOCHECK too: it is not known yet where the flags are */
	if (link->marks & LINK_GRANTED)
		return true;
	if (!link_post_is_there(win, link))
		return false;
	link->marks |= LINK_GRANTED;
	return true;
}

/*
 * Returns whether the epoch was last opened for this group, which has members and is alive: a freed
 * group's serial differs. Its links exist. Serials begin with 1, so before the first such epoch the
 * result is false.
 */
static inline bool epoch_is_for(const struct epoch *epoch, const struct oriel_group *group)
{
	return group == epoch->group && group->handle.serial == epoch->group_serial;
}

/* Returns the id under which members report that they left a fence with an error. */
void fence_failed_id(const struct oriel_win *win, uint8_t id[16]);

/* Returns ORIEL_ERR_PEER for a member, with window, rank and reason. */
int win_peer_error(const struct oriel_win *win, int rank);

/*
 * Returns a member's place in the table of links: its link, or empty. The table must not be empty.
 */
static inline uint32_t link_slot(const struct oriel_win *win, int rank)
{
	uint32_t slot = (uint32_t)rank & (win->links.capacity - 1);

	while (win->links.table[slot] && win->links.table[slot]->rank != rank)
		slot = (slot + 1) & (win->links.capacity - 1);
	return slot;
}

/* Returns the link, or NULL. The caller holds win->lock. */
static inline struct link *link_find(const struct oriel_win *win, int rank)
{
	return win->links.capacity ? win->links.table[link_slot(win, rank)] : NULL;
}

/* Searches the first place only, which mostly decides; false: call link_find. */
static inline bool link_find_first(const struct oriel_win *win, int rank, struct link **link)
{
	*link = win->links.capacity ? win->links.table[(uint32_t)rank & (win->links.capacity - 1)] : NULL;
	return !*link || (*link)->rank == rank;
}

/* Returns whether a call is legal now, by the table in epoch.h; ends empty epochs first. */
static inline bool epoch_allows(struct oriel_win *win, enum sync_call call)
{
	win->sync &= ~legality[call].ends;
	return !(win->sync & legality[call].forbids) && (!legality[call].needs || win->sync & legality[call].needs);
}

/* Returns whether start or post with members is legal now. */
static inline bool epoch_allows_for_somebody(const struct oriel_win *win, enum sync_call call)
{
	return !(win->sync & ~legality[call].ends & (legality[call].forbids | legality[CALL_FOR_SOMEBODY].forbids));
}

/* Opens such an epoch; ends a fence epoch. */
static inline void epoch_begun(struct oriel_win *win, enum sync_call call, enum sync_bit open)
{
	win->sync = (win->sync | open) & ~(legality[call].ends | SYNC_FENCE);
}

/* Returns epoch_allows as an error of the public call `name`. ERRORS: ORIEL_ERR_SYNC. */
static inline int epoch_check(struct oriel_win *win, enum sync_call call, const char *name)
{
	return epoch_allows(win, call) ? 0 : epoch_refuse(win, call, name);
}

#endif
