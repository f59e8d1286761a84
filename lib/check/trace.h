/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.h - the file in which a process records what the checker judges
 *
 * DESIGN NOTES
 *
 * A trace is a file in the user's folder of parts (see/front/part.h), mapped shared: what is
 * recorded survives the death of the process. It has a header, tables, and events in the order of
 * time. `oriel-check` reads the traces of a job after its end, merges them by time, and judges
 * them (judge/judge.h).
 *
 * An event of 64 bytes is a call, or the begin or end of one. Calls that let other ranks go on are
 * recorded before they are made; calls that wait are recorded when they have returned. So each
 * event comes later than all that it is ordered behind. Times are of CLOCK_MONOTONIC, which all
 * processes of a machine share.
 *
 * The pieces of memory of an operation follow its event, four in the room of an event; a plain
 * operation has its one piece on each side in the event. All ranks here are those of the job.
 *
 * The latest rooms are in the header, whose pages are mapped: no event pays for a new page. When
 * they are full, they are packed (pack.h) and written to the end of the file. If that fails, the
 * process records nothing further, and the judge ends at the time of its last event: beyond, it may
 * not know what orders accesses.
 */
#ifndef ORIEL_CHECK_TRACE_H
#define ORIEL_CHECK_TRACE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "check/waits.h"
#include "see/front/part.h"

#define TRACE_MARK 0x6563617274726f6cULL /* "lortrace" */
#define TRACE_VERSION 8
#define TRACE_PREFIX "trace."

#define TRACE_SITES 4096
#define TRACE_NONE UINT32_MAX
#define TRACE_PIECES_MAX 4096 /* of an operation; more are not judged */
#define TRACE_LATEST 4096     /* rooms in the header; an event and its pieces are at most so many */
#define TRACE_STRANDS 64      /* of a process; threads beyond share them */
#define TRACE_ALL UINT64_MAX  /* strands */

enum trace_kind {
	TRACE_PIECES, /* the room holds pieces of the operation before it */
	TRACE_OPERATION,
	TRACE_FLUSH,        /* of rank, or -1: all */
	TRACE_REQUEST,      /* a flush by request begins; `id` names it */
	TRACE_REQUEST_DONE, /* all that have this id */
	TRACE_LOCK,         /* granted */
	TRACE_UNLOCK,       /* begins */
	TRACE_LOCK_ALL,     /* has returned */
	TRACE_UNLOCK_ALL,   /* begins */
	TRACE_UNLOCK_END,   /* of rank, or -1: all */
	TRACE_POST,         /* for one origin */
	TRACE_START,        /* for one target */
	TRACE_COMPLETE,     /* begins */
	TRACE_COMPLETE_END,
	TRACE_WAIT_END, /* or test has succeeded */
	TRACE_FENCE,    /* begins */
	TRACE_FENCE_END,
	TRACE_SIGNAL,
	TRACE_SIGNAL_TAKEN,
	TRACE_ENTER, /* a collective call begins, of this number (id) and root + 1 (unit_bytes) */
	TRACE_LEAVE,
	TRACE_WINDOW,       /* made, of `id` ranks, which follow as pieces: first is a rank */
	TRACE_NUMBER,       /* Oriel's of the window is `id`; windows that are left to the MPI have 0 */
	TRACE_WINDOW_NAME,  /* follows as pieces */
	TRACE_WINDOW_FREE,  /* begins */
	TRACE_MEET,         /* a window's creation, or a call that ends with TRACE_MET, begins */
	TRACE_MET,          /* a collective call of the ranks that follow has returned */
	TRACE_SEND,         /* a message of tag `id` may leave for rank; object: the communicator; base: its buffers */
	TRACE_SEND_MET,     /* a synchronous send is complete */
	TRACE_RECEIVE,      /* begins, from rank or -1: any, with tag `id`; object 0: it is a probe */
	TRACE_RECEIVED,     /* from rank, with tag `id`; `base` receives before it may be pending; see below */
	TRACE_PROBED,       /* a message of rank and tag `id` is there */
	TRACE_BUFFERS,      /* of a message or collective call, until BUFFERS_DONE of of.request; 0: over at once */
	TRACE_BUFFERS_DONE, /* id: those of this number */
	TRACE_FREED,        /* memory at `base`, of the window of `object`, or 0: any; after `unit_bytes` ns */
	TRACE_INIT,         /* MPI begins */
	TRACE_THREAD,       /* a thread calls, and the level of threads does not allow it; flags */
	TRACE_LOCAL,        /* the process has loaded or stored since its event before, by compiled_kind (flags) */
	TRACE_ATTACH,       /* memory is attached to a dynamic window */
	TRACE_DETACH,       /* begins */
	TRACE_PART,         /* the process has a mapping of rank's part of a window */
	TRACE_RELEASE,      /* a strand is about to let others go on, by a thing of number `id` */
	TRACE_ACQUIRE,      /* it goes on, by such a thing */
	TRACE_JOIN,         /* it learns of the strand `id`, or of TRACE_ALL */
	TRACE_SPREAD,       /* all strands learn of it */
	TRACE_MERGE,        /* from here on all threads are strand 0 */
	TRACE_OUTSIDE,      /* processes may order each other by what calls do not show (ORDER_OUTSIDE) */
	TRACE_REFUSED,      /* the call has failed, or ends the job; rank: the target, or -1 */
	TRACE_UNKNOWN,      /* what follows cannot be judged */
	TRACE_KINDS
};

enum trace_access { ACCESS_PUT, ACCESS_GET, ACCESS_ACCUMULATE, ACCESS_FETCH };

/* Bits of trace_event.flags, by kind. */
#define FLUSH_LOCAL 1
#define LOCK_EXCLUSIVE 1
#define LOCK_NOCHECK 2
#define FENCE_NOPRECEDE 1
#define FENCE_NOSUCCEED 2
#define FENCE_NOPUT 4
#define START_NOCHECK 1
#define POST_NOPUT 2
#define OPERATION_OFFSETS 1 /* pieces at the target are bytes behind of.disp */
#define OPERATION_PLAIN 2   /* `plain` in the place of `of`; of buffers, too */
#define OPERATION_REFUSED 4 /* of the judge: it accesses nothing */
#define PLAIN_READ 1        /* the origin's memory at plain.read is read */
#define PLAIN_WRITTEN 2     /* at plain.written it is written */
#define ENTER_BY_MEMBER 1   /* the clock is kept for this member, `base` */
#define LEAVE_ONE 1         /* only member `base` is known to have begun the call */
#define LEAVE_LOWER 2       /* only members before `base` are */
#define LEAVE_NONE 3        /* none is */
#define LEAVE_NEIGHBORS 4   /* those of the events before this one are, */
#define LEAVE_PART 5        /* which say so of member `base` */
#define RECEIVED_BEGUN 1    /* TRACE_RECEIVE has named rank unit_bytes - 1 and tag size_bytes */
#define SIGNAL_UNTIL 1      /* the signal has a value, and is not taken */
#define WINDOW_SHARED 1     /* members may order each other by loads and stores */
#define WINDOW_DYNAMIC 2    /* displacements are addresses */
#define WINDOW_OF_MPI 4
#define WINDOW_CREATED 8 /* of memory of the program */
#define THREAD_INSIDE 1  /* another thread is in this call */
#define THREAD_AT_ONCE 2 /* in the call of the event before */
#define REFUSED_SYNC 1   /* not legal in the window's present epochs */
#define REFUSED_RANGE 2  /* bytes outside of the target's part */
#define REFUSED_ARGUMENT 3
#define REFUSED_TYPES 4 /* two datatypes do not go together, whose names follow as pieces */
#define REFUSED_NAME_BYTES (PART_NAME_BYTES / 2)

struct trace_piece {
	uint64_t first; /* address; at the target: displacement in its units */
	uint64_t bytes;
};

struct trace_event {
	uint64_t ns;
	uint16_t kind; /* enum trace_kind */
	uint16_t flags;
	uint32_t site;   /* TRACE_NONE: not known */
	uint64_t object; /* the window's key, or another name that all members know */
	int32_t rank;    /* the other rank; -1: all, or none */
	uint16_t count;  /* rooms of pieces that follow */
	uint16_t strand; /* the thread's */
	union {
		struct {
			uint64_t id; /* of a request, or the number of a collective call or a signal */
			uint64_t base;
			uint64_t size_bytes;
			uint64_t unit_bytes;
		};
		struct {
			uint64_t request; /* that completes the operation at its origin; 0: none */
			uint8_t access;   /* enum trace_access */
			uint8_t type;     /* enum oriel_type; 0: none */
			uint8_t op;       /* enum oriel_op; 0: compare_and_swap, or none */
			uint8_t padding;
			uint32_t target_pieces;
			uint32_t read_pieces; /* of the origin */
			uint32_t written_pieces;
			uint64_t disp; /* in units of the target */
		} of;
		struct {           /* the members of the same name lie where those of `of` do */
			uint64_t read; /* address */
			uint8_t access, type, op;
			uint8_t sides;  /* PLAIN_ */
			uint32_t bytes; /* of each piece */
			uint64_t written;
			uint64_t disp;
		} plain;
		struct {            /* `rows` rows, `pitch` bytes apart, */
			uint64_t first; /* address */
			uint32_t bytes; /* of `count` elements, `stride` bytes apart */
			uint32_t stride;
			uint32_t count;
			uint32_t rows;
			uint64_t pitch;
		} local;
	};
};

static_assert(sizeof(struct trace_event) == 64, "an event has 64 bytes");
static_assert(offsetof(struct trace_event, plain.access) == offsetof(struct trace_event, of.access) &&
                  offsetof(struct trace_event, plain.disp) == offsetof(struct trace_event, of.disp),
              "members of one name lie in one place");

#define TRACE_ROOM_PIECES (sizeof(struct trace_event) / sizeof(struct trace_piece))

union trace_room {
	struct trace_event event;
	struct trace_piece pieces[TRACE_ROOM_PIECES];
};

/* A place that calls. */
struct trace_site {
	uint64_t offset; /* in the object, behind the call */
	uint32_t object; /* TRACE_NONE: not known */
	char call[36];
};

struct trace {
	uint64_t mark;
	uint32_t version;
	uint32_t state; /* enum part_state */
	int32_t rank;   /* -1: not known yet */
	int32_t size;
	int32_t pid;
	uint32_t site_count;
	uint32_t object_count;
	uint32_t compiled_objects; /* files whose loads and stores are recorded; 0: none */
	uint32_t strand_count;
	uint64_t begun_ns;
	uint64_t room_count;      /* that are in use; stored last */
	uint64_t written;         /* of these, in packed blocks; those behind them are in `latest` */
	uint64_t lost;            /* events that found no room */
	uint64_t unwatched_bytes; /* of windows, of which no load or store is recorded */
	uint64_t lost_loads;      /* runs of these, and buffers, that found no room */
	char job[PART_JOB_BYTES];
	char host[PART_HOST_BYTES];
	char unknown[64]; /* the call after which nothing can be judged; "": none */
	char merged[64];  /* the call or library for which threads are strand 0; "": none */
	struct part_object objects[PART_OBJECTS];
	struct trace_site sites[TRACE_SITES];
	struct trace_waits waits;
	union trace_room latest[TRACE_LATEST];
	unsigned char packed[];
};

#endif
