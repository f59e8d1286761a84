/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view.h - what the replay knows of windows, their operations and epochs
 *
 * DESIGN NOTES
 *
 * replay.c takes the events in the order of time, and hands each on: operations and what completes
 * them to operation.c, flushes by request and signals to promise.c, what opens and closes epochs to
 * epoch.c, messages and collective calls to message.c, and their buffers to buffers.c. elements.c
 * has what accumulates and fetches of the same elements order.
 */
#ifndef ORIEL_JUDGE_VIEW_H
#define ORIEL_JUDGE_VIEW_H

#include "check/judge/judge.h"

#define EVERY ((uint64_t)-1) /* in names of slots: all targets */

/* An operation waits for one of these before it takes effect at its target. */
enum gate { GATE_NONE, GATE_POST, GATE_FENCE, GATE_LOCKS };

struct operation {
	uint64_t serial;
	uint64_t request; /* 0: none */
	int target;
	enum gate gate;
	uint64_t number;        /* of the post or fence */
	struct clock *issued;   /* NULL: the access at the target has been judged */
	struct access *at;      /* the target */
	struct access *read;    /* of the origin; NULL: nothing */
	struct access *written; /* of the origin */
	bool is_fetch;
	bool is_exclusive; /* under an exclusive lock */
	uint16_t strand;
	int index; /* of its clock, whose time was `time` then; 0 where the rank has one strand */
	uint64_t time;
	bool is_waited;      /* over for the target, which has returned from wait */
	bool is_closed;      /* complete has returned: the target waits */
	bool is_complete;    /* over on both sides, for a strand */
	bool is_over;        /* for its own strand, or all: nothing more will end it */
	uint64_t is_local;   /* over at the origin, for these strands, as bits */
	uint64_t is_ended;   /* over at the target, for what these know */
	uint64_t is_settled; /* by these */
};

/* A rank that an open epoch names, and which start or post of this pair it was. */
struct partner {
	int rank;
	uint64_t number;
	uint32_t site; /* of the call that names it */
	uint16_t flags;
};

struct partners {
	struct partner *list;
	uint32_t count, capacity;
	struct partner replaced; /* of the group before this one, which was open; flags 1: there is one */
};

/* A call of a rank, and the rank that it names. */
struct call {
	int rank;
	uint32_t site;
};

/* A rank's part of a window, and its epochs. */
struct view {
	uint64_t key;
	int rank;
	struct judge_window *window;
	uint64_t base, size_bytes, unit_bytes;
	bool is_open;
	bool is_dynamic;
	bool is_locked_all;
	bool holds_effects_back;          /* the last fence had NOPRECEDE */
	uint64_t fences;                  /* from which this rank has returned */
	struct fence fence, fence_before; /* that it has begun last */
	uint32_t made_at, closed_at;      /* TRACE_NONE: not yet; the call that has closed the last epoch */
	bool is_fenced;                   /* a fence has begun an epoch */
	struct call latest;               /* that was recorded */
	struct partners started, posted;
	struct partners starts, posts; /* how often each rank was named */
	struct partners locks;         /* held; number 1: exclusive */
	struct partner locked_all;
	struct partners requests; /* of operations, that are not done; number: the request's */
	struct operation **pending;
	uint32_t count, capacity;
	struct view *next_of_table, *next_of_rank;
};

/* A flush by request, or signals that have not been taken. */
struct promise {
	uint64_t name; /* of the request, or the signal */
	uint64_t key;
	int origin;
	int target; /* -1: all */
	bool is_local;
	uint64_t serial;      /* of the last operation that it covers */
	struct access **list; /* signals: accesses that it covers */
	uint32_t count, capacity;
};

struct promises {
	struct promise *list;
	uint32_t count, capacity;
};

/* Memory of a shared window, at its addresses for a rank. */
struct mapping {
	struct view *view; /* the owner's */
	uint64_t first, end;
};

struct rank_state {
	uint32_t begun_at;        /* MPI_Init or its like */
	uint32_t inside;          /* the call of another thread, of THREAD_INSIDE */
	struct view *views;       /* of windows that are open */
	struct mapping *mappings; /* of shared windows */
	uint32_t mapping_count, mapping_capacity;
	struct clock *meeting;             /* when the latest collective creation began, and those before */
	struct clock *receiving;           /* the same of receives */
	uint64_t *left;                    /* by strand: events that have not been taken */
	struct promises requests, signals; /* signals: sent to this rank */
};

/* All files of the replay use this. */
extern struct replaying {
	struct job_traces *traces;
	struct verdict *verdict;
	struct rank_state *ranks;
	uint64_t serials;  /* of operations */
	uint64_t event_ns; /* of the event that is taken */
	uint16_t strand;   /* its thread */
} replaying;

/* The strand that acts for the rank ends accesses, by the call at this place. */
static inline struct end end_now(int rank, uint32_t site)
{
	uint64_t time = clock_step(rank);

	return (struct end){ clock_index(rank), time, site, replaying.event_ns };
}

/* view.c: views of windows, and lists of partners */

/* Returns NULL if the rank has no part of the window. */
struct view *view_of(uint64_t key, int rank);

/* Adds the part of a window that the event makes. Other members may use it from now on. */
void add_view(const struct trace_event *event, int rank);

/* Calls a function for each part, also those of windows that were freed. */
void for_views(void (*call)(const struct view *view));

/* The owner of the part has returned from its creation. The view may be NULL. */
void open_view(struct view *view);

/* The rank has a mapping of the part there. */
void add_mapping(struct view *view, int rank, uint64_t first, uint64_t bytes);

/* Other members may still use the part: the view stays in the table. */
void close_view(struct view *view);

struct partner *find_partner(struct partners *partners, int rank);

/* Adds the rank that the event names. */
void add_partner(struct partners *partners, uint64_t number, const struct trace_event *event);

void drop_partner(struct partners *partners, int rank);

/* Drops the one with the number, if there is one. */
void drop_number(struct partners *partners, uint64_t number);

/* Returns how often the rank has been named, with this time. */
uint64_t count_partner(struct partners *partners, int rank);

/* elements.c */

/* A fetch of the element may learn what the origin knows when it issues an accumulate. */
void release_elements(const struct access *access);
void acquire_elements(const struct access *access);

/* Loads of the target may see a value of at most 8 bytes, and take it for a message. */
void release_polled(struct access *access);

/* operation.c */

void take_operation(struct view *view, const struct trace_event *event, const struct trace_piece pieces[]);

/* Which operations a call completes. */
struct choice {
	int target;       /* -1: all */
	uint64_t serial;  /* of the last one */
	uint64_t request; /* 0: any */
	bool is_local;    /* at the origin only */
	bool in_started;  /* those of an epoch of start only */
	bool by_request;  /* which is done when complete has returned, and says nothing of the target then */
	bool by_strand;   /* other strands of the origin may not know of it */
};

extern const struct choice all_targets;

/* They are over for all that know of this moment of the origin. */
void end_operations(struct view *view, const struct choice *choice, uint32_t site);

/* The call that completes operations has returned. */
void settle_operations(struct view *view, bool has_posts);

/* Ends and settles operations. */
void complete(struct view *view, struct choice choice, uint32_t site);

static inline struct slot_name window_slot(enum slot_kind kind, const struct view *view, uint64_t target)
{
	return (struct slot_name){ .kind = kind, .object = view->key, .a = target };
}

/* An operation or a signal does not refer to the access any more, which may be NULL. */
static inline void let_go(struct access *access)
{
	if (access)
		access->kept--;
}

/* promise.c: flushes, requests, signals */

/* Takes the event if it is one of these. */
void take_promise(struct view *view, const struct trace_event *event);

/* epoch.c: locks, start, post, complete, wait, fences */

/* Takes the event if it is of one of these calls. */
void take_epoch(struct view *view, const struct trace_event *event);

/* buffers.c: accesses by messages and collective calls */

/* Takes the event if it is one of these. */
void take_buffers(const struct trace_event *event, int rank, const struct trace_piece pieces[]);

/* A message that leaves is read from these buffers: of the sender, with this number; 0: none. */
struct access *sent_access(int rank, uint64_t number);

/* The receiver has the message: the access, or NULL, is over for all that know of that. */
void end_sent_access(struct access *access, int receiver, uint32_t site);

/* message.c */

/* Takes the event if it is of one of these calls. */
void take_message(const struct trace_event *event, int rank, const struct trace_piece pieces[]);

#endif
