// SPDX-License-Identifier: BSD-2-Clause
/*
 * backend.h - what a benchmark needs of an implementation: Oriel, bare verbs, MPI
 *
 * A program is the driver, one tool (put_lat.c, …) and one backend (backends/oriel.c, …), which
 * defines `backend`. The driver reads the options, makes the memory, runs and times turns, checks
 * bytes and reports; the backend connects, and carries out one turn of a pattern. Every rank runs
 * every turn.
 *
 * Rank 0 is the hub, ranks 1 to `neighbours` are its neighbours. Only PATTERN_FENCE has others.
 *
 * A turn, by pattern and synchronisation. "put" is size_bytes from origin to put_disp(), "get" from
 * get_disp() to the origin.
 *
 *              pscw                              fence                       flush (in one long epoch)
 *   PUT_LAT    hub: start, put to each neighbour, hub: put to each, fence,   hub: put, flush, spin until the last
 *              complete, post, wait;             fence; others: fence, put   byte of the answer is `mark`; other: spin
 *              others: post, wait, start, put,   to the hub, fence           for that, put, flush. One neighbour only
 *              complete
 *   GET_LAT    PUT_LAT with get                  PUT_LAT with get            hub: get, flush; other: nothing
 *   PUT_BW     hub: start, operations, complete; hub: operations, fence;     hub: operations, flush; others:
 *   GET_BW     others: post, wait                others: fence               nothing
 *   PUT_BIBW   all: post, start, operations,     all: operations, fence      all: operations, flush
 *              complete, wait (one neighbour)
 *   EPOCH_LATE hub: post, wait; others: start,   -                           -
 *              put to the hub, complete
 *   EXCHANGE   all: post, start, put to each     -                           -
 *              other, complete, wait
 *   FENCE      -                                 hub: put to rank 1 unless   -
 *                                                size_bytes is 0; all: fence
 *
 * "operations": `operations` to each neighbour; number i uses slot i % slots, at slot_at(turn, i)
 * of origin and zone. With flush the long epoch is open during turns; barrier() may close it and
 * open the next.
 *
 * lock_all is flush with lock_all for the long epoch. lock is flush with an epoch of lock and
 * unlock (of options.lock) in place of each flush, around the operations that it completes.
 *
 * In the patterns below the *target* is the last rank. All others are origins and work at the same
 * time; the target does nothing.
 *
 *   LOCK       lock:  lock, put unless size_bytes is 0, unlock
 *   FLUSH      flush: REPEATS times a flush of the target, with nothing outstanding
 *   ACC        flush, lock: accumulate the sum of elements of the type from origin to put_disp()
 *   ACC_BW     ACC, `operations` times, as in PUT_BW
 *   FOP, CAS   flush, lock: REPEATS times fetch_and_op (sum, 64 bits) or compare_and_swap on the word at
 *              word_disp(), with struct perf_words, each followed by its own flush or in its own epoch
 *   SIGNAL     flush: hub: put and signal, await the signal of the other; other: the reverse. One
 *              neighbour only; without a flush
 *
 * In three patterns all ranks make and free another window of size_bytes: WIN_CREATE, of the memory
 * at `window`; WIN_ALLOCATE; WIN_DYNAMIC, with that memory attached and detached.
 */
#ifndef ORIEL_PERF_BACKEND_H
#define ORIEL_PERF_BACKEND_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "bench/relax.h"

#define PERF_SIZES_MAX 64
#define PERF_SIZE_LARGEST ((size_t)1 << 30)

enum perf_pattern {
	PATTERN_PUT_LAT,
	PATTERN_GET_LAT,
	PATTERN_PUT_BW,
	PATTERN_GET_BW,
	PATTERN_PUT_BIBW,
	PATTERN_EPOCH_LATE,
	PATTERN_EXCHANGE,
	PATTERN_FENCE,
	PATTERN_LOCK,
	PATTERN_FLUSH,
	PATTERN_ACC,
	PATTERN_ACC_BW,
	PATTERN_FOP,
	PATTERN_CAS,
	PATTERN_SIGNAL,
	PATTERN_WIN_CREATE,
	PATTERN_WIN_ALLOCATE,
	PATTERN_WIN_DYNAMIC,
};

enum { REPEATS = 16 }; /* repetitions of short operations, in a turn or a sample */

enum perf_sync { SYNC_PSCW, SYNC_FENCE, SYNC_FLUSH, SYNC_LOCK, SYNC_LOCK_ALL };
enum perf_lock { LOCK_SHARED, LOCK_EXCLUSIVE };
/*
 * WINDOW_SHARE: WINDOW_CREATE with the hint that the library may move the memory, for others to
 * map.
 */
enum perf_window { WINDOW_CREATE, WINDOW_ALLOCATE, WINDOW_ALLOC_MEM, WINDOW_DYNAMIC, WINDOW_SHARE };
enum perf_memory { MEMORY_HEAP, MEMORY_HUGE, MEMORY_REGISTERED, MEMORY_ALLOC_MEM };
enum perf_shape { SHAPE_OSU, SHAPE_ISOLATED };
enum perf_type { TYPE_DOUBLE, TYPE_CHAR, TYPE_LONG };

struct perf_options {
	/* The measurement. */
	size_t sizes[PERF_SIZES_MAX];
	int size_count;
	long iterations;   /* operations of one size */
	double duration_s; /* 0: use iterations */
	double margin_s;   /* uncounted part of the duration at its start and end */
	long depth;        /* bandwidth: operations to each neighbour in a batch; 0: the tool's */
	int neighbours;
	enum perf_sync sync;
	enum perf_lock lock;
	enum perf_window window;
	enum perf_memory memory;
	size_t align_bytes; /* offset of buffers in a page */
	enum perf_shape shape;
	bool post_late;
	bool outside;        /* FOP, CAS: the target makes no calls meanwhile */
	enum perf_type type; /* ACC */
	bool check;
	bool count; /* count a turn's instructions too */
	/* For backends. -1 or NULL: not given. */
	const char *device;
	int port;         /* TCP port number of the first rank's listener */
	int signal_every; /* -Q */
	int inline_bytes; /* -I */
	int post_list;    /* -l */
	/* The report. */
	bool gbits;
	bool histogram;
	bool unsorted;
	bool no_clock_warning;
	const char *json_file;
};

static inline size_t type_bytes(enum perf_type type)
{
	return type == TYPE_CHAR ? 1 : 8;
}

/* Returns true if the windows' memory is the program's own, from the driver. */
static inline bool windows_are_programs(const struct perf_options *options)
{
	return options->window == WINDOW_CREATE || options->window == WINDOW_SHARE || options->window == WINDOW_DYNAMIC;
}

/* Filled in by the driver, then by open(). Sizes are equal on all ranks. */
struct perf_place {
	size_t origin_bytes;
	size_t window_bytes;
	/*
	 * Page-aligned, made by the driver. open() registers it for MEMORY_REGISTERED, sets it for
	 * MEMORY_ALLOC_MEM.
	 */
	uint8_t *origin;
	uint8_t *window; /* made by the driver if windows_are_programs(); else set by open() */
	int rank;
	int size;
	char device[64]; /* for the report; "" if unknown */
};

struct perf_turn {
	int rank; /* of this process */
	int neighbours;
	enum perf_lock lock;
	enum perf_type type; /* ACC */
	size_t size_bytes;
	uint8_t *origin;       /* first byte to put from or get to */
	const uint8_t *window; /* first byte of the local window that is used */
	size_t offset_bytes;   /* offset of that byte in every rank's window */
	size_t zone_bytes;     /* size of a zone; each other rank puts to its own */
	long operations;       /* bandwidth: in this batch, to each neighbour */
	long slots;
	size_t stride_bytes;
	uint8_t mark; /* PUT_LAT with flush: this turn's last byte; changes with each turn */
};

/* The hub's partners are its neighbours; a neighbour's is the hub. */
static inline int first_partner(const struct perf_turn *turn)
{
	return turn->rank == 0 ? 1 : 0;
}

static inline int last_partner(const struct perf_turn *turn)
{
	return turn->rank == 0 ? turn->neighbours : 0;
}

/* Returns the offset of the zone of rank `at` that `from` puts to. */
static inline size_t perf_zone(const struct perf_turn *turn, int from, int at)
{
	return (size_t)(from > at ? from - 1 : from) * turn->zone_bytes;
}

/* Returns this rank's displacement for puts to rank `to`. */
static inline size_t put_disp(const struct perf_turn *turn, int to)
{
	return turn->offset_bytes + perf_zone(turn, turn->rank, to);
}

/* Returns the displacement for gets: the first zone. */
static inline size_t get_disp(const struct perf_turn *turn)
{
	return turn->offset_bytes;
}

/* Returns the offset of operation i in the origin buffer and in the zone. */
static inline size_t slot_at(const struct perf_turn *turn, long i)
{
	return (size_t)(i % turn->slots) * turn->stride_bytes;
}

/* Returns the buffer for GET_LAT's data from rank `from`. */
static inline uint8_t *get_origin(const struct perf_turn *turn, int from)
{
	return turn->origin + perf_zone(turn, from, turn->rank);
}

/* Returns the target, where there is one. */
static inline int target_rank(const struct perf_turn *turn)
{
	return turn->neighbours;
}

static inline bool is_target(const struct perf_turn *turn)
{
	return turn->rank == target_rank(turn);
}

/* FOP, CAS: begin of an origin's memory, and displacement of the target's word. */
struct perf_words {
	uint64_t operand; /* 1, or what CAS stores */
	uint64_t compare;
	uint64_t result;
};

static inline struct perf_words *words_of(const struct perf_turn *turn)
{
	return (struct perf_words *)(void *)turn->origin;
}

static inline size_t word_disp(const struct perf_turn *turn)
{
	return turn->offset_bytes;
}

/* CAS: makes the next operation expect the value found or stored. */
static inline void expect_next(struct perf_words *words)
{
	words->compare = words->result == words->compare ? words->operand : words->result;
	words->operand = words->compare + 1;
}

/* Returns 0, or non-zero after printing an error. */
typedef int (*perf_turn_fn)(const struct perf_turn *turn);

/* An option, by letter or long name, that this backend refuses, and the reason. */
struct perf_refusal {
	const char *option;
	const char *why;
};

struct perf_backend {
	const char *name;
	const struct perf_refusal *refusals; /* ends with a NULL option */
	/* Joins, makes the windows, connects. Collective. Returns non-zero after printing an error. */
	int (*open)(const struct perf_options *options, struct perf_place *place);
	/*
	 * Waits for all ranks. Local stores to the window before it precede others' operations after
	 * it.
	 */
	int (*barrier)(void);
	/* barrier(), which also sets *value to rank 0's. */
	int (*agree)(int64_t *value);
	/* Returns a turn's function, or NULL if the backend lacks the pattern. */
	perf_turn_fn (*turn)(enum perf_pattern pattern, enum perf_sync sync);
	int (*close)(void);
};

extern const struct perf_backend backend;

/* Number of polls before a rank yields; few if oversubscribed. */
extern long perf_spins;

#define PERF_YIELDS 20000 /* then it sleeps: the device's threads need the processor */
#define PERF_SLEEP_NS 50000

/* Waits briefly after a failed poll. */
static inline void perf_spin(long spins)
{
	const struct timespec nap = { 0, PERF_SLEEP_NS };

	if (spins >= perf_spins + PERF_YIELDS)
		nanosleep(&nap, NULL);
	else if (spins >= perf_spins)
		sched_yield();
	else
		perf_relax();
}

/* PUT_LAT with flush: returns true once the last byte of the peer's put is there. */
static inline bool mark_is_there(const struct perf_turn *turn)
{
	return __atomic_load_n(&turn->window[turn->size_bytes - 1], __ATOMIC_ACQUIRE) == turn->mark;
}

#endif
