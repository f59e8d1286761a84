// SPDX-License-Identifier: BSD-2-Clause
/*
 * win.h - a window as its owner sees it
 *
 * win->lock guards everything that changes after creation. No thread holds it while waiting: a call
 * that closes an epoch sets a bit of `sync`, which keeps other threads from closing it, and polls.
 * Lock order: win->lock, peer->lock or wire->lock, job->lock.
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
#include "win/lock_words.h"
#include "win/operation.h"
#include "win/regions.h"
#include "win/remote_regions.h"
#include "win/shared.h"
#include "win/signals.h"

/*
 * What a window keeps for requests (op/flush_all.h, op/request.c)
 *
 * Flushes of ORIEL_RANK_ALL are numbered from 1, and run one at a time. win->lock guards all of it.
 */

struct link;

/* Operations issued to a member up to some moment, and not known complete (op/flush_all.h). */
struct watermark {
	uint64_t number;    /* last work request; 0: none; WATERMARK_DEFERRED: some are deferred */
	uint64_t am_number; /* last active message, 0: none; with WATERMARK_DEFERRED: watermark_epochs then */
};

#define WATERMARK_DEFERRED UINT64_MAX

struct flush_all_part {
	struct link *link;
	struct watermark upto;
};

struct requests {
	uint64_t closed;              /* epochs of lock_all */
	uint64_t begun;               /* flushes of all */
	uint64_t ended;               /* all that have begun, or all but the last */
	struct flush_all_part *parts; /* of the flush of all in progress */
	uint32_t part_count;          /* those not complete */
	uint32_t part_capacity;
	uint64_t lost_from; /* first and last flush of all that found a member lost; 0: none */
	uint64_t lost_to;
	uint64_t probe_ns; /* oriel_request_test: when peers were last probed */
	int lost_rank;     /* the member that the last one found lost */
};

#define DEFERRED_MAX 65536 /* operations deferred before calls wait for the post */
#define EPOCH_MRS_MAX 1024 /* registrations before an epoch's operations are completed early */
#define WINDOW_LABEL_BYTES 96
#define FENCE_ROUNDS_MAX 24 /* log2 of the largest job */

/* An access or exposure epoch of post, start, complete, wait. */
struct epoch {
	uint32_t count;
	uint32_t capacity;
	bool prepared; /* links are those of the group with this key */
	uint8_t key[GROUP_KEY_BYTES];
	const struct oriel_group *group; /* the group as last passed, if its serial is this; or no_group */
	uint64_t group_serial;
	uint32_t next; /* exposure: origins before this one have completed */
	struct link **links;
};

/* A rank to which the fence's barrier writes. */
struct fence_partner {
	struct link *link;
	struct remote words; /* addr 0 until the link is ready */
	uint64_t *there;     /* those words mapped, once a fence has stored to them */
	bool found;          /* a fence may write them; `there` is final */
};

struct fence {
	struct dissemination barrier;
	uint64_t number;          /* fences with a barrier, this one included */
	uint64_t *words;          /* ours: [set][round], written by the partner of the round */
	struct link *piggybacked; /* the first partner, if its word is ordered behind puts; else NULL */
	struct fence_partner partner[FENCE_ROUNDS_MAX];
};

struct window_memory {
	uint8_t *base;
	size_t size_bytes;
	size_t disp_unit_bytes;
	struct registration registration; /* none if there are no bytes */
	bool read_only;
	bool allocated;        /* the memory is the library's: base, mapped_bytes, fd */
	bool in_place;         /* the memory is the program's, and was moved for others to map (mem.h) */
	bool mappable;         /* ranks that share memory with this one can map it, as far as is known */
	bool pins_atomic_mode; /* atomic_mode_pin was called */
	int fd;
	size_t mapped_bytes;
};

struct links {
	struct link **table; /* open addressing by rank */
	uint32_t count;
	uint32_t capacity; /* a power of 2 */
};

struct deferred_ops {
	struct deferred *list;
	uint32_t count; /* entries ever used in this epoch */
	uint32_t capacity;
	uint32_t free;    /* first free entry, as index + 1; 0: none */
	uint32_t links;   /* links that have some */
	uint32_t signals; /* entries for signals */
	uint64_t drawn;   /* random numbers so far */
	struct acc *accs; /* parallel to list, for OP_ACCUMULATE (op/acc.h) */
	uint32_t acc_capacity;
};

struct locks {
	uint32_t open; /* links with LINK_LOCK, except those of lock_all */
	bool nocheck;  /* of lock_all: ORIEL_MODE_NOCHECK */
	bool handed;   /* the service thread has the task (lock_given_up.c) */
	struct task task;
	struct lock **list; /* by link->ext->lock - 1 */
	uint32_t count;
	uint32_t capacity;
};

/*
 * Memory of outstanding operations, registered with their target's device: for them alone, or by
 * the registration cache, where it may be larger (mr_cache.h).
 */
struct epoch_mr {
	const struct device *device;
	const uint8_t *base;
	size_t size_bytes;
	uint32_t lkey;
	bool write;
	struct ibv_mr *mr;      /* for them alone, or NULL */
	struct cached_mr *kept; /* or NULL */
};

struct epoch_mrs {
	struct epoch_mr *list;
	uint32_t count;
	uint32_t capacity;
	uint32_t reusable; /* first entry to reuse; memory of earlier ones may have been remapped since a flush */
};

struct oriel_win {
	struct handle handle;
	struct oriel_job *job;
	struct oriel_group *group;
	uint8_t id[WINDOW_ID_BYTES];
	uint32_t slot;
	uint32_t flags_segment; /* where each peer's flag words for the slot lie here (peer_flags) */
	uint32_t flags_bytes;
	struct piece control;
	struct window_memory memory;
	struct shared_memory shared; /* contains `memory`, if the window is shared */
	struct oriel_win_info info;
	enum places places;
	enum in_place_wish wish;
	const char *refused; /* why this member cannot have the window, or NULL */
	void *user;
	uint64_t rehints; /* calls of oriel_win_set_hints */
	uint32_t lookups; /* in progress; atomic, decremented by the service thread */

	struct owned_lock lock; /* guards the rest */
	struct links links;
	struct regions regions;
	struct regions_watch regions_watch;
	uint64_t epoch_serial; /* changes whenever what may be issued changes (op/gate.h); never 0 */
	unsigned sync;         /* SYNC_*: open epochs and calls in progress */
	bool downwards;        /* direction of the next large copy (op/copy.h) */
	struct epoch access;
	struct epoch exposure;
	struct fence fence;
	struct deferred_ops deferred;
	struct locks locks;
	struct epoch_mrs epoch_mrs;
	uint8_t *room;           /* for copies of private memory (op/acc_route.c), or NULL */
	struct mem_seen origins; /* the registered memory that the last put or get used, or none */
	struct signals signals;
	struct requests requests;
	struct deferred_errors deferred_errors; /* not under the lock */
	const uint64_t *losses;
	uint64_t losses_seen; /* losses when news were last taken; UINT64_MAX: check again; counter_load */
	uint64_t probe_ns;    /* oriel_win_test: when peers were last probed */
	uint64_t gone_ns;     /* when the free found a member gone; 0: not */
	struct coll free_coll;
	char label[WINDOW_LABEL_BYTES]; /* "window 3 (field)" */
};

int win_refuse(const struct oriel_win *win, const char *call);

static inline int win_check(const struct oriel_win *win, const char *call)
{
	return handle_valid(HANDLE_WIN, win) ? 0 : win_refuse(win, call);
}

void win_make_label(struct oriel_win *win);

int win_world_rank(const struct oriel_win *win, int rank);

/* Returns the flag words here that the link's member writes. */
static inline struct flag_pair *link_flags(const struct oriel_win *win, const struct link *link)
{
	return (struct flag_pair *)(void *)((uint8_t *)link->peer->flags[win->flags_segment] + win->flags_bytes);
}

/*
 * Closes the gate of all members, or of one: the next operation passes it again (op/gate.h). Under
 * win->lock.
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
 * Returns whether the post of the open access epoch has come. Pairs with link_send_posted at the
 * target.
 */
static inline bool link_post_is_there(const struct oriel_win *win, const struct link *link)
{
	return flag_load(&link_flags(win, link)->posted) == link->posted_expected;
}

/*
 * Returns whether the target grants access: its post has come, now or earlier (the word may have
 * moved on, P12), or its lock is held. Asks for the lock.
 */
static inline bool link_grant(struct oriel_win *win, struct link *link)
{
	if (link_state(link) != LINK_READY)
		return false; /* with NOCHECK too: it is not known where the flags are */
	if (link->marks & LINK_GRANTED)
		return true;
	if (link->marks & LINK_LOCK)
		return lock_step(win, link) > 0;
	if (!link_post_is_there(win, link))
		return false;
	link->marks |= LINK_GRANTED;
	return true;
}

/*
 * Returns whether the epoch was last opened for this group, which has members and is alive: a freed
 * group's serial differs, and serials begin with 1.
 */
static inline bool epoch_is_for(const struct epoch *epoch, const struct oriel_group *group)
{
	return group == epoch->group && group->handle.serial == epoch->group_serial;
}

/* Returns the id under which members report that they left a fence with an error. */
void fence_failed_id(const struct oriel_win *win, uint8_t id[16]);

/* Returns ORIEL_ERR_PEER, with window, rank and reason. */
int win_peer_error(const struct oriel_win *win, int rank);

/* Returns the member's place in the table, which is not empty: its link, or NULL. */
static inline uint32_t link_slot(const struct oriel_win *win, int rank)
{
	uint32_t slot = (uint32_t)rank & (win->links.capacity - 1);

	while (win->links.table[slot] && win->links.table[slot]->rank != rank)
		slot = (slot + 1) & (win->links.capacity - 1);
	return slot;
}

/* Returns the link, or NULL. Under win->lock. */
static inline struct link *link_find(const struct oriel_win *win, int rank)
{
	return win->links.capacity ? win->links.table[link_slot(win, rank)] : NULL;
}

/* Searches the first place only; false: call link_find. */
static inline bool link_find_first(const struct oriel_win *win, int rank, struct link **link)
{
	*link = win->links.capacity ? win->links.table[(uint32_t)rank & (win->links.capacity - 1)] : NULL;
	return !*link || (*link)->rank == rank;
}

/* Returns whether a call is legal now (epoch.h); ends empty epochs first. */
static inline bool epoch_allows(struct oriel_win *win, enum sync_call call)
{
	win->sync &= ~legality[call].ends;
	return !(win->sync & legality[call].forbids) && (!legality[call].needs || win->sync & legality[call].needs);
}

/* Returns whether that holds for start or post with members. */
static inline bool epoch_allows_for_somebody(const struct oriel_win *win, enum sync_call call)
{
	return !(win->sync & ~legality[call].ends & (legality[call].forbids | legality[CALL_FOR_SOMEBODY].forbids));
}

/* Opens such an epoch; ends a fence epoch. */
static inline void epoch_begun(struct oriel_win *win, enum sync_call call, enum sync_bit open)
{
	win->sync = (win->sync | open) & ~(legality[call].ends | SYNC_FENCE);
}

/* Returns epoch_allows as an error of the call `name`. ERRORS: ORIEL_ERR_SYNC. */
static inline int epoch_check(struct oriel_win *win, enum sync_call call, const char *name)
{
	return epoch_allows(win, call) ? 0 : epoch_refuse(win, call, name);
}

#endif
