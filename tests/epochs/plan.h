// SPDX-License-Identifier: BSD-2-Clause
/*
 * plan.h - a legal program of several ranks, from a seed
 *
 * DESIGN NOTES
 *
 * The program is one list of events; each rank carries out those that name it, in the order of the
 * list. An event waits at most for events that stand before it (complete for the posts of its
 * targets, wait for the completes of its origins; a collective call is one event of all its ranks),
 * so no order of the real happenings can end in a deadlock.
 *
 * Events of one window's *rounds* (a directed graph of origins and targets, each rank with an
 * access epoch, an exposure epoch, both or none) are dealt out at random among those that are
 * possible: posts come long before starts or after them and their operations; a rank is rounds
 * ahead of another; epochs on several windows are open at once.
 *
 * Which memory an operation may touch: claims.h.
 *
 * The list is made event by event and nothing in it depends on what follows. A plan of N steps is
 * therefore the beginning of every longer one, but for the events that close what is open, which
 * come after the N-th.
 */
#ifndef ORIEL_TESTS_EPOCHS_PLAN_H
#define ORIEL_TESTS_EPOCHS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "claims.h"
#include "elements.h"
#include "random.h"

#define PLAN_RANKS_MAX 64
#define PLAN_WINDOWS_MAX 6
#define PLAN_ROUNDS_MAX 8
#define PLAN_REGIONS_MAX 12 /* of one rank */
#define PLAN_MEMS_MAX 4     /* registered pieces of one rank */
#define PLAN_PIECES_MAX 6
#define PLAN_OPS_MAX 600 /* not complete at their origins */
#define PLAN_SECTION_MAX 4
#define PLAN_SIGNALS 4 /* of each member of a window */
#define PLAN_REQUESTS_MAX 12
#define PLAN_ARENA_MAX 6     /* elements */
#define PLAN_ATOMICS_MAX 400 /* to arenas, in a phase of a window */
#define PLAN_SLOTS_MAX 600   /* for their results, of an element each */
#define PLAN_BLOCK_BYTES 64
#define PLAN_STEPS_MAX 1000000

/* Memory of a rank, of origins and windows alike. The first three are always there. */
enum region_kind {
	REGION_NONE,
	REGION_HEAP,
	REGION_STATIC,
	REGION_STACK,
	REGION_MALLOC,    /* for a window, unaligned */
	REGION_PAGES,     /* for a window: an anonymous mapping */
	REGION_FILE,      /* for a window: a mapped file */
	REGION_ALLOCATED, /* by oriel_win_allocate */
};

enum { REGION_FIXED = 3 }; /* regions 0 to 2 are REGION_HEAP, REGION_STATIC, REGION_STACK */

#define REGION_HEAP_BYTES (160u << 10)
#define REGION_STATIC_BYTES (64u << 10)
#define REGION_STACK_BYTES (110u << 10)

struct plan_region {
	enum region_kind kind;
	uint32_t serial; /* differs from that of the region which had this place before */
	size_t size_bytes;
	size_t shift; /* bytes that its base lies behind an aligned address */
	int windows;  /* open on it */
};

/* A piece of registered memory. */
struct plan_mem {
	bool live;
	struct range range;
};

/* One member's part of a window. */
struct plan_part {
	struct range range; /* size 0: region is -1 */
	size_t unit;
	bool stored;       /* local stores since the last synchronisation */
	bool access;       /* an access epoch of a round is open */
	bool exposed;      /* an exposure epoch of a round is open */
	bool posted_noput; /* and no put will come */
	size_t keep_from;  /* fence epoch: no put goes to the window's bytes keep_from to keep_to */
	size_t keep_to;
	uint64_t signal_set[PLAN_SIGNALS]; /* by a signal that has left its origin */
	uint64_t signal_added[PLAN_SIGNALS];
	uint64_t signal_last[PLAN_SIGNALS]; /* value of the last SET that was issued */
	struct range block;                 /* lock phase: bytes under this member's lock; size 0: none */
	uint64_t block_count;
};

/* Elements of a member that several origins change in a phase: plan_atomic.c. */
struct plan_arena {
	int count; /* elements; 0: none */
	struct range range;
	enum oriel_type type;
	enum oriel_op combine;
	bool total;
	uint64_t seed; /* of the first content; ~seed: of that after the phase */
};

struct plan_win {
	bool live;
	bool allocated;
	bool shared;    /* allocated: one memory of all members, where they can share it */
	bool dynamic;   /* its parts are attached, and change */
	bool noncontig; /* shared: each part on a page of its own */
	uint32_t serial;
	int count;
	int members[PLAN_RANKS_MAX];           /* ranks of the job, in the order of the group */
	struct plan_part part[PLAN_RANKS_MAX]; /* by rank of the job */
	bool fence_open;
	bool fence_ops;                          /* there have been operations since the fence */
	uint32_t fences;                         /* so far */
	uint32_t phase;                          /* of locks; 0: none. plan_lock.c */
	struct plan_arena arena[PLAN_RANKS_MAX]; /* of the phase; by rank of the job */
	bool contended;                          /* its locks may have to wait for each other */
	int phase_events;                        /* still to come */
	uint64_t lock_all;                       /* bits of ranks inside it */
	uint64_t lock_shared;                    /* bits of ranks that are locked shared in this phase */
	uint64_t locked[PLAN_RANKS_MAX];         /* by origin, bits of targets */
	int8_t owner[PLAN_RANKS_MAX]; /* by target: 1 + the only rank that locks it, exclusively, in this phase */
};

enum side_state {
	SIDE_NONE,
	SIDE_PENDING,
	SIDE_OPEN,
	SIDE_DONE,
};

/* Everybody's next epochs on a window. */
struct plan_round {
	uint32_t id; /* 0: not in use */
	int win;
	bool nocheck;
	bool barrier; /* with nocheck: between the posts and the starts */
	struct {
		enum side_state access;
		enum side_state exposure;
		uint64_t targets; /* bits of ranks */
		uint64_t origins;
		int ops;   /* to come */
		int burst; /* many of some kilobytes, all of a kind, to this rank; -1: just operations */
		bool burst_gets;
		bool noput;
		bool discard; /* an empty group's epoch that is not closed */
	} rank[PLAN_RANKS_MAX];
};

/* Kinds of accumulates; those that have a result read. */
enum plan_family {
	FAMILY_NONE,
	FAMILY_ACCUMULATE,
	FAMILY_GET_ACCUMULATE,
	FAMILY_FETCH_AND_OP,
	FAMILY_COMPARE_AND_SWAP
};

struct plan_op {
	bool live;
	bool get;
	bool vector;
	bool direct;   /* in a shared window, in a fence epoch or under a lock: by load and store */
	bool fill;     /* put: the origin stores new bytes first, from `seed` */
	bool scribble; /* put: set by the event that completes it; the origin memory is overwritten, from ~seed */
	uint64_t seed;
	int win;
	uint32_t round;
	int origin;
	int target;
	int origin_count;
	int target_count;
	size_t size_bytes;
	enum plan_family family;
	enum oriel_type type;
	enum oriel_op combine;
	bool signal; /* no bytes, but: */
	bool set;    /* otherwise: add */
	uint32_t which;
	uint64_t value;
	struct range result;                /* accumulates; size 0: none */
	bool hit;                           /* compare_and_swap: the model makes it succeed, */
	uint8_t compare[ELEMENT_LARGEST];   /* by what it writes here */
	uint32_t serial;                    /* grows from one to the next */
	size_t wild_disp;                   /* of an operation without bytes: anything */
	struct range from[PLAN_PIECES_MAX]; /* origin memory */
	struct range to[PLAN_PIECES_MAX];   /* target memory */
};

/* An operation on elements of an arena. */
struct plan_atomic {
	int origin;
	int target;
	enum plan_family family;
	enum oriel_op combine;
	bool vector;
	bool looks; /* compare_and_swap: with what is there; otherwise with something */
	int first;  /* element */
	int count;
	int slot; /* for the result of the first */
	uint64_t seed;
};

/* Those of a window's phase. */
struct plan_atomics {
	int count;
	int slots;
	struct plan_atomic list[PLAN_ATOMICS_MAX];
};

/* A flush that is waited for later: by oriel_win_iflush. */
struct plan_request {
	bool live;
	bool local;
	int win;
	uint32_t round; /* of its epoch, or the phase; 0: a fence epoch */
	uint32_t fence; /* then: win->fences */
	int origin;
	int target;    /* a rank, or -1 */
	uint32_t last; /* serial of the last operation that it covers */
};

enum event_kind {
	EVENT_CREATE,   /* all members of win */
	EVENT_FREE,     /* all members; the plan has forgotten the window already, `freed` tells what it was */
	EVENT_REATTACH, /* all members of a dynamic window; `freed` tells what was attached before */
	EVENT_FENCE,    /* all members */
	EVENT_BARRIER,  /* all ranks of the job, those too that take no part */
	EVENT_POST,     /* from here on: one rank */
	EVENT_START,
	EVENT_OP,
	EVENT_ATOMICS,
	EVENT_FLUSH,
	EVENT_IFLUSH,
	EVENT_COMPLETE,
	EVENT_PHASE,     /* all ranks of the job: a phase of locks begins on win */
	EVENT_PHASE_END, /* all ranks of the job */
	EVENT_LOCK,      /* one rank */
	EVENT_UNLOCK,
	EVENT_LOCK_ALL,
	EVENT_UNLOCK_ALL,
	EVENT_SECTION,      /* lock, look at the block, operations, unlock */
	EVENT_TEST,         /* once; may be true or false */
	EVENT_WAIT,         /* by wait, or by test again and again */
	EVENT_SIGNAL_WAIT,  /* until it has reached the value */
	EVENT_REQUEST_TEST, /* once */
	EVENT_REQUEST_WAIT, /* by wait, or by test again and again */
	EVENT_STORE,
	EVENT_DELAY,
	EVENT_REGISTER,
	EVENT_DEREGISTER,
	EVENT_KINDS,
};

enum signal_way {
	SIGNAL_UNTIL,
	SIGNAL_TAKE, /* by waits for a range */
	SIGNAL_TEST, /* by tests of a range */
	SIGNAL_WAYS,
};

struct event {
	enum event_kind kind;
	int step;
	int rank;
	int win;
	uint32_t round;
	int assertions[PLAN_RANKS_MAX]; /* fence: by rank; post, start: of the rank */
	int count;                      /* post, start: the group */
	int group[PLAN_RANKS_MAX];
	struct plan_op *op;
	int section_count;
	struct plan_op *section[PLAN_SECTION_MAX]; /* its operations */
	int atomic_first;                          /* atomics, section: place in plan->atomics */
	int atomic_count;
	bool exclusive;      /* lock, section */
	int target;          /* flush, iflush: a rank, or -1; lock, unlock, section */
	bool local;          /* flush, iflush */
	bool by_test;        /* wait, wait for a request */
	enum signal_way way; /* wait for a signal */
	uint32_t signal;
	uint64_t value;
	int request;        /* which */
	uint32_t last;      /* wait for a request: operations up to this serial are complete; 0: those of the epoch */
	struct range range; /* store */
	uint64_t seed;
	uint32_t delay_us;
	int mem;        /* register, deregister: which */
	int done_count; /* operations that are complete at their origins now */
	struct plan_op *done[PLAN_OPS_MAX];
	struct plan_win freed;
};

struct plan {
	struct rng rng;
	uint64_t seed;
	int ranks; /* of the job */
	int steps;
	int step;
	bool draining; /* the steps are done; what is open is being closed */
	int part_count;
	int parts[PLAN_RANKS_MAX]; /* ranks that take part */
	/* Preferences of this seed. */
	int want_windows;
	int want_rounds;
	uint32_t hold_post; /* of 8: how often a possible call is put off */
	uint32_t hold_start;
	uint32_t hold_wait;
	uint32_t fences;      /* of 8 */
	uint32_t locks;       /* of 8 */
	uint32_t accumulates; /* of 12 */
	uint32_t signals;     /* of 40 */
	uint32_t op_serial;
	uint32_t large; /* weight of large operations */
	uint32_t serial;
	uint32_t round_id;
	struct plan_region region[PLAN_RANKS_MAX][PLAN_REGIONS_MAX];
	struct plan_mem mem[PLAN_RANKS_MAX][PLAN_MEMS_MAX];
	struct plan_win win[PLAN_WINDOWS_MAX];
	struct plan_round round[PLAN_ROUNDS_MAX];
	struct plan_op op[PLAN_OPS_MAX];
	struct plan_request request[PLAN_REQUESTS_MAX];
	struct plan_atomics atomics[PLAN_WINDOWS_MAX];
	struct claims claims;
};

/* steps 0: as many as the seed says. */
void plan_init(struct plan *plan, uint64_t seed, int ranks, int steps);

/* The next event, or false at the end. Pointers in it hold until the next call. */
bool plan_next(struct plan *plan, struct event *event);

/* After the last event: whether all that was opened is closed. */
bool plan_over(const struct plan *plan);

bool plan_takes_part(const struct plan *plan, int rank);

/* Whether the event is one of the rank's. */
bool event_names(const struct plan *plan, const struct event *event, int rank);

/*
 * Fills a block as it is after `count` changes under a lock; returns whether it is so for some
 * count.
 */
void plan_block_fill(uint8_t block[PLAN_BLOCK_BYTES], uint64_t count);
bool plan_block_is_whole(const uint8_t block[PLAN_BLOCK_BYTES]);

/* One line, without its end. */
void event_print(const struct plan *plan, const struct event *event, char *text, size_t text_bytes);

/*
 * Returns how many pieces of a range the owner must not read now, since another rank may be writing
 * them: sorted, in from[], to[], as offsets in the region.
 */
#define UNSTABLE_MAX (CLAIMS_MAX + 2 * PLAN_WINDOWS_MAX)
struct unstable {
	int count;
	size_t from[UNSTABLE_MAX];
	size_t to[UNSTABLE_MAX];
};
void plan_unstable(const struct plan *plan, const struct range *range, struct unstable *unstable);

#endif
