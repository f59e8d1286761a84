/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * judge.h - finds races in the traces of a job
 *
 * DESIGN NOTES
 *
 * read.c maps the traces and checks what they say. replay.c takes their events in the order of
 * time, and keeps a clock for each strand, which is a thread of a rank: a vector with the latest
 * time of every strand that this one knows of. A call that lets others go on leaves its clock in a
 * slot (clock.c); a call that waits joins the clocks of what it has waited for.
 *
 * access.c keeps the accesses of each rank's memory, by address. An access has the clock with which
 * it begins, and ends, each a strand and its time. It is over for an access whose clock knows one
 * of them. Two accesses race if they conflict, share a byte, and neither is over when the other
 * begins. Accesses by messages and collective calls have no window: one of the two must have one.
 *
 * Where a trace does not say what orders accesses, all is taken as ordered that can be: nothing is
 * reported that may be none. tests/models/check_model.py has the rules, and what each is for.
 */
#ifndef ORIEL_JUDGE_H
#define ORIEL_JUDGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "check/trace.h"
#include "see/report/program.h"
#include "see/source.h"

/* read.c: the traces of a job */

struct read_trace {
	struct trace *trace; /* a copy of all but the packed blocks */
	const unsigned char *packed;
	uint64_t packed_bytes;
	char *path;
	uint64_t at;                   /* room of the next event */
	const union trace_room *rooms; /* from room `first` on; at is below end, or all has been read */
	uint64_t first, end;
	uint64_t packed_at;      /* the block behind these */
	union trace_room *block; /* unpacked */
	uint32_t *sites;         /* indices in job_traces.sites, by the trace's */
};

/* A place that calls, of any rank. */
struct judge_site {
	char call[36];
	const char *object; /* path; "": not known */
	uint64_t offset;
	struct source_place place;
	bool is_found; /* place has been looked for */
};

struct job_traces {
	struct read_trace *list; /* by rank */
	int size;
	int *heap; /* ranks with events that are left; the earliest is the first */
	int heap_count;
	uint64_t end_ns; /* what is later is not judged */
	bool is_cut;     /* there, since a trace has no more room */
	bool is_running; /* the job goes on, or is being ended */
	struct judge_site *sites;
	uint32_t site_count, site_capacity;
	char job[PART_JOB_BYTES];
};

/*
 * Reads the traces of a job as soon as its processes have ended, or what they have recorded until
 * now, if `now`. An empty name: the newest job.
 */
void traces_read(struct job_traces *traces, const char *job, bool now);

/* If another process has claimed the job, ends when that has printed. */
void traces_claim(const struct job_traces *traces);

/* Returns the index in job_traces.sites of a site of a running process's trace. */
uint32_t traces_site(struct job_traces *traces, const struct trace *trace, uint32_t site);

/* An event of a rank. Its site is an index in job_traces.sites. */
struct judge_event {
	struct trace_event event;
	const struct trace_piece *pieces; /* in the rooms that follow it, or `few` */
	struct trace_piece few[3];
	int rank;
};

/*
 * Copies the next event of all. Returns false if there is none, and is not called again then. The
 * event's pieces stay until the next call.
 */
bool traces_next(struct job_traces *traces, struct judge_event *next);

/* Calls a function for each event of all, a rank after the other, before the first is taken. */
void traces_scan(struct job_traces *traces, void (*call)(const struct trace_event *event, int rank));

void traces_remove(const struct job_traces *traces);

/* clock.c: clocks, and slots in which they are left */

struct clock {
	uint32_t users;
	uint64_t times[]; /* by strand */
};

/* Makes a clock for each strand. are_shared: there are shared windows. */
void clocks_make(const struct job_traces *traces, bool are_shared);

/* The clock and the times of the rank are those of this strand of it, until the next call. */
void clock_act(int rank, uint32_t strand);

/* Returns whether the rank has several strands. */
bool clock_is_split(int rank);

/* Returns a clock that knows what all strands of the rank know. The caller drops it. */
struct clock *clock_of_all(int rank);

/* All strands of the rank learn what the present one knows. */
void clock_spread(int rank);

/* Returns the rank's clock as it is now. It does not change, and is kept until clock_drop. */
struct clock *clock_keep(int rank);

void clock_drop(struct clock *clock);

/* Takes all that the other clock knows, which may be NULL. */
void clock_join(int rank, const struct clock *other);

/* Takes what the rank may have learnt in shared memory: no call has said so. */
void clock_join_hidden(int rank, const struct clock *other);

/* Returns the clock, joined with another one, which may be NULL. Takes `clock` from the caller. */
struct clock *clock_joined(struct clock *clock, const struct clock *other);

/* Returns the joined clock with the times of this rank as `clock` has them. */
struct clock *clock_joined_of_others(struct clock *clock, const struct clock *other, int rank);

/* Returns a clock that knows of everything. clock_lower takes away what the other does not know. */
struct clock *clock_of_all_times(void);
void clock_lower(struct clock *clock, const struct clock *other);

/* Returns the rank's own time, which is at clock_index; clock_step after one step of it. */
uint64_t clock_step(int rank);
uint64_t clock_time(int rank);
int clock_index(int rank);

/*
 * The rank's own accesses end by another time of it, which has an index of its own. A rank that
 * gets memory of this one may learn of this time alone, by a word that was stored there.
 */
int clock_index_of_own(int rank);
uint64_t clock_step_own(int rank);
void clock_join_own(int rank, int other);

/* Returns whether the clock knows of this time. */
static inline bool clock_knows(const struct clock *clock, int index, uint64_t time)
{
	return clock->times[index] >= time;
}

/*
 * Returns the same by what calls say. Members of a shared window may know more of each other, for
 * which a clock has two times of each strand.
 */
bool clock_knows_by_calls(const struct clock *clock, int index, uint64_t time);

/* Returns whether two clocks know the same. */
bool clock_is_same(const struct clock *a, const struct clock *b);

/* Slots are named by their use, and by what stands beside it. */
enum slot_kind {
	SLOT_POST,       /* window, poster, origin, number */
	SLOT_COMPLETE,   /* window, origin, target, number */
	SLOT_FENCE,      /* window, number */
	SLOT_FENCE_OF,   /* window, number, rank */
	SLOT_EXCLUSIVE,  /* window, target or -1: unlocks of exclusive locks */
	SLOT_SHARED,     /* window, target or -1: of all */
	SLOT_SIGNAL,     /* window, target, signal */
	SLOT_ELEMENT,    /* rank, address / 8: accumulates */
	SLOT_ELEMENTS,   /* rank: accumulates of any size; 1: of large ones only */
	SLOT_POLLED,     /* rank: what its loads may have seen */
	SLOT_MEMBERS,    /* window, of shared memory */
	SLOT_COLLECTIVE, /* object, number */
	SLOT_MEMBER,     /* object, number, member */
	SLOT_MESSAGE,    /* communicator, sender and receiver, tag, number */
	SLOT_STREAM,     /* communicator, sender and receiver, tag */
	SLOT_THING       /* rank, number: what orders its strands */
};

struct slot_name {
	uint64_t object;
	uint64_t a, b, c;
	enum slot_kind kind;
};

/* The rank leaves its clock there, beside those of others. */
void slot_release(struct slot_name name, int rank);

/* Returns the joined clocks that have been left there, or NULL. */
const struct clock *slot_find(struct slot_name name);

/* Returns how many slots there are. */
uint64_t slots_count(void);

/* Forgets the slot. */
void slot_remove(struct slot_name name);

/* A member has taken what it needs. Forgets the slot after the last one, and returns true then. */
bool slot_leave(struct slot_name name, uint64_t members);

static inline void slot_acquire(struct slot_name name, int rank)
{
	clock_join(rank, slot_find(name));
}

/* access.c: accesses of memory, by address */

#define FLAG_BYTES 8 /* a larger value is not seen at once */

enum access_how { HOW_LOAD, HOW_STORE, HOW_GET, HOW_PUT, HOW_ACCUMULATE, HOW_READ_ATOMICALLY };

struct fence {
	uint64_t number;
	int rank; /* that has called it */
	uint32_t site;
	uint16_t flags;
};

struct judge_window {
	uint64_t key;
	uint64_t number; /* Oriel's; 0: the window is left to the MPI */
	char name[PART_NAME_BYTES];
	bool is_shared, is_of_mpi;
	uint32_t unchecked_locks; /* that are held, with NOCHECK */
	struct fence fence;       /* the latest, by the first rank that has called it */
};

struct end {
	int index; /* of the time in clocks */
	uint64_t time;
	uint32_t site; /* of the call */
	uint64_t ns;   /* when it ended it */
};

struct access {
	int rank;   /* that makes it */
	int owner;  /* of the memory */
	int target; /* of the operation */
	uint16_t strand;
	enum access_how how;
	uint8_t type;
	uint8_t op;
	bool may_be_seen;    /* by loads of the owner, which take it for a message */
	bool is_local;       /* of a buffer at the origin */
	bool is_own;         /* a load or store of the program's code */
	bool is_past;        /* one that only loads and stores of other members may race with */
	bool is_indivisible; /* such an atomic, or of a volatile object */
	bool is_some;        /* such a one of some of its bytes: it races with what has all of them */
	bool is_flag;        /* of at most 8 bytes at once; of an operation: in an epoch of a lock */
	bool is_listed;
	bool is_dead;
	bool is_covered;  /* by a later one like it */
	bool has_request; /* which may end it alone */
	uint32_t kept;    /* by operations and signals that refer to it */
	uint32_t site;
	uint64_t ns;                       /* of the call */
	uint64_t since_ns;                 /* others may know of it from then on (local.h); 0: they do not */
	const struct judge_window *window; /* NULL: it is no operation's */
	const struct judge_window *shared; /* of a load or store in a shared window's memory, or NULL */
	uint64_t base;                     /* of the owner's part of the window */
	struct clock *start;               /* NULL: it has not begun */
	const struct clock *issued;        /* until it begins, of one that is awaited */
	uint64_t seen;                     /* by the look of that number */
	uint32_t piece_count;
	uint32_t end_count, more_capacity;
	struct end end; /* the first */
	struct end *more_ends;
	struct access *next;
	struct trace_piece pieces[]; /* addresses, in their order */
};

/* Sets the number of ranks, each of which owns memory. */
void accesses_make(int ranks);

/* Makes an access of pieces, which are copied. */
struct access *access_new(struct access access, const struct trace_piece pieces[], uint32_t count);

/* The access is over for all that know of that time. */
void access_end(struct access *access, struct end end);

/* An atomic read has ended: accumulates that it may have seen are over, too. */
void access_fetched(struct access *fetch);

/* Judges an access that begins with this clock, and keeps it. */
void access_begin(struct access *access, struct clock *start);

/* Keeps an access that begins later, so that loads and fetches may end it. issued: at its call */
void access_await(struct access *access, const struct clock *issued);

/*
 * Judges an access that no later one can race with, and frees it. One in a shared window is kept
 * for what other members do, unless members_signal.
 */
void access_pass(struct access *access, struct clock *start);

/* Forgets what is over for every access that may come. `oldest`: a clock older than those. */
void accesses_forget(const struct clock *oldest);

/* Returns how many accesses are kept. */
uint64_t accesses_count(void);

/* replay.c */

struct verdict {
	uint64_t operations;
	uint64_t not_judged; /* of these */
	bool is_ended;       /* by a call whose effect is not known: */
	uint32_t unknown;    /* its place */
	bool is_full;        /* more accesses than can be kept */
	const char *signals; /* by which members may order each other (members_may_signal); NULL: none */
	uint32_t signals_at;
};

void replay(struct job_traces *traces, struct verdict *verdict);

/*
 * Members of a shared window may order each other by these, at this place, or TRACE_NONE: what they
 * load and store counts as ordered by time, if no call says more. The first time counts.
 */
void members_may_signal(uint32_t site, const char *by);

/* Returns whether they may. */
bool members_signal(void);

/* Returns whether a rank calls MPI_Win_sync: relaxed atomics may be flags then. */
bool members_sync(void);

/* place.c: places that call, and windows, in words */

#define PLACE_TEXT_BYTES 256

/* Writes "halo.c:56", or what is known of the place; returns text. */
const char *place_text(const struct job_traces *traces, uint32_t index, char text[PLACE_TEXT_BYTES]);

/* Returns whether both are the same call of one line: a compiler may make two of one. */
bool place_is_same(const struct job_traces *traces, uint32_t a, uint32_t b);

/* Returns the name of the function that is called there. */
const char *place_call(const struct job_traces *traces, uint32_t index);

/* Prints " (exchange)", if the function that calls is known. */
void place_print_function(FILE *out, const struct job_traces *traces, uint32_t index);

/* Prints the members of a JSON object. */
void place_print_json(FILE *out, const struct job_traces *traces, uint32_t index);

const char *window_text(const struct judge_window *window, char text[PLACE_TEXT_BYTES]);

/* report.c: what has been found */

/*
 * Adds a race of two accesses in these bytes; another one of the same places is counted. by_calls:
 * members of a shared window may have ordered the two there (members_may_signal).
 */
void finding_add(const struct access *earlier, const struct access *later, uint64_t address, uint64_t bytes,
                 bool by_calls);

/* Drops races that members of a shared window may have ordered there. */
void findings_drop_members(void);

/* Prints all findings, and a line of what was judged. Returns how many there are. */
uint32_t findings_print(FILE *out, struct job_traces *traces, const struct verdict *verdict);

/* Prints a line of JSON for each finding. */
void findings_print_json(FILE *out, struct job_traces *traces);

/* main.c */

/* Opens the file that the variable names, to append. Returns NULL if none is named. */
FILE *open_report(const char *variable);

/* deadlock.c */

/* Prints for what this rank of a running job waits in vain, and which others do. */
void deadlock_report(const char *job, int rank);

#endif
