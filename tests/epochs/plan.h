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
 * Events of one window's *rounds* (a directed graph of who accesses whom, each rank with an access
 * epoch, an exposure epoch, both or none) are dealt out at random among those that are possible:
 * posts come long before starts or after them and their operations; a rank is rounds ahead of
 * another; epochs on several windows are open at once.
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
#include "random.h"

#define PLAN_RANKS_MAX 64
#define PLAN_WINDOWS_MAX 6
#define PLAN_ROUNDS_MAX 8
#define PLAN_REGIONS_MAX 12 /* of one rank */
#define PLAN_MEMS_MAX 4     /* registered pieces of one rank */
#define PLAN_PIECES_MAX 6
#define PLAN_OPS_MAX 600 /* not complete at their origins */
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
};

struct plan_win {
	bool live;
	bool allocated;
	uint32_t serial;
	int count;
	int members[PLAN_RANKS_MAX];           /* ranks of the job, in the order of the group */
	struct plan_part part[PLAN_RANKS_MAX]; /* by rank of the job */
	bool fence_open;
	bool fence_ops; /* there have been operations since the fence */
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

struct plan_op {
	bool live;
	bool get;
	bool vector;
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
	size_t wild_disp;                   /* of an operation without bytes: anything */
	struct range from[PLAN_PIECES_MAX]; /* origin memory */
	struct range to[PLAN_PIECES_MAX];   /* target memory */
};

enum event_kind {
	EVENT_CREATE,  /* all members of win */
	EVENT_FREE,    /* all members; the plan has forgotten the window already, `freed` tells what it was */
	EVENT_FENCE,   /* all members */
	EVENT_BARRIER, /* all ranks of the job, those too that take no part */
	EVENT_POST,    /* from here on: one rank */
	EVENT_START,
	EVENT_OP,
	EVENT_FLUSH,
	EVENT_COMPLETE,
	EVENT_TEST, /* once; may be true or false */
	EVENT_WAIT, /* by wait, or by test again and again */
	EVENT_STORE,
	EVENT_DELAY,
	EVENT_REGISTER,
	EVENT_DEREGISTER,
	EVENT_KINDS,
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
	int target;         /* flush: a rank, or -1 */
	bool local;         /* flush */
	bool by_test;       /* wait */
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
	/* What this seed likes. */
	int want_windows;
	int want_rounds;
	uint32_t hold_post; /* of 8: how often a possible call is put off */
	uint32_t hold_start;
	uint32_t hold_wait;
	uint32_t fences; /* of 8 */
	uint32_t large;  /* weight of large operations */
	uint32_t serial;
	uint32_t round_id;
	struct plan_region region[PLAN_RANKS_MAX][PLAN_REGIONS_MAX];
	struct plan_mem mem[PLAN_RANKS_MAX][PLAN_MEMS_MAX];
	struct plan_win win[PLAN_WINDOWS_MAX];
	struct plan_round round[PLAN_ROUNDS_MAX];
	struct plan_op op[PLAN_OPS_MAX];
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

/* One line, without its end. */
void event_print(const struct plan *plan, const struct event *event, char *text, size_t text_bytes);

/*
 * Bytes of a range that the owner must not look at now, since somebody may be writing them: sorted
 * pieces in from[], to[], as offsets in the region; gives their number.
 */
#define UNSTABLE_MAX (CLAIMS_MAX + 2 * PLAN_WINDOWS_MAX)
struct unstable {
	int count;
	size_t from[UNSTABLE_MAX];
	size_t to[UNSTABLE_MAX];
};
void plan_unstable(const struct plan *plan, const struct range *range, struct unstable *unstable);

#endif
