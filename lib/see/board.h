// SPDX-License-Identifier: BSD-2-Clause
/*
 * board.h - where a process publishes its long waits, for oriel-top
 *
 * DESIGN NOTES
 *
 * The board is a page in a memory file. Processes of the same user read it via /proc/PID/fd, also
 * while this process is stopped; the kernel refuses others. Nothing is left when the process ends.
 * Without a memory file a job has no board.
 *
 * A waiting thread has a slot; if none is left, its wait is not shown. Only looks write
 * (sync/wait.c). The serial of a slot is odd while it is written. A reader reads the page twice and
 * takes slots with equal bytes and an even serial. It waits for no writer, which may be stopped.
 *
 * A reader trusts nothing on the page: board_read checks all of it.
 */
#ifndef ORIEL_BOARD_H
#define ORIEL_BOARD_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_BYTES 4096
#define BOARD_FILE "oriel-board"
#define BOARD_MARK 0x6472616f626c726fULL /* "orlboard" */
#define BOARD_VERSION 4
#define BOARD_SLOTS 15
#define BOARD_RANKS 16
#define BOARD_HOLDERS 4
#define BOARD_RANK_MAX (1 << 24)

enum board_cause {
	CAUSE_UNKNOWN,
	CAUSE_SETUP, /* a connection, or the description of a window */
	CAUSE_POST,
	CAUSE_COMPLETE,
	CAUSE_FENCE,
	CAUSE_COLLECTIVE,
	CAUSE_LOCK,
	CAUSE_DATA,    /* operations are under way */
	CAUSE_ROOM,    /* the target's ring is full */
	CAUSE_SIGNAL,  /* any rank may send it */
	CAUSE_DETACH,  /* the member has not acknowledged a detach */
	CAUSE_LIBRARY, /* another thread of this process, or a page lock */
	CAUSE_APPLY,   /* the target has not applied operations */
	CAUSE_OUTSIDE, /* shown by a tool: a call of the MPI */
	CAUSE_COUNT
};

/* A cause in words: for oriel-top's column, and for the watchdog's line. */
struct board_cause_words {
	const char *column;
	const char *line;
};

/* Returns the words; those of CAUSE_UNKNOWN are empty. */
const struct board_cause_words *board_cause_words(enum board_cause cause);

enum board_epoch {
	EPOCH_ACCESS = 1,
	EPOCH_EXPOSURE = 2,
	EPOCH_FENCE = 4,
	EPOCH_LOCK = 8,
	EPOCH_LOCK_ALL = 16,
	EPOCH_ANY = 31
};

/* A wait. Ranks are those of the job. */
struct board_wait {
	uint64_t since_ns; /* CLOCK_MONOTONIC; 0: the slot is empty */
	uint64_t caller;   /* see/caller.h; 0: not known */
	uint32_t cause;    /* enum board_cause */
	uint32_t epochs;   /* of the window, enum board_epoch */
	uint32_t rank_count;
	uint32_t more_ranks; /* 1: there are others */
	uint32_t holder_count;
	int32_t ranks[BOARD_RANKS];
	int32_t holders[BOARD_HOLDERS]; /* CAUSE_LOCK: processes that hold the lock */
	char call[32];
	char window[96]; /* its label; "": none */
};

struct board_slot {
	uint64_t serial;
	struct board_wait wait;
};

struct board_header {
	uint64_t mark;
	uint32_t version;
	int32_t rank;
	int32_t size;
	int32_t pid; /* as the process itself sees it */
	char job[64];
};

struct board_page {
	union {
		struct board_header header;
		char room[136];
	};
	struct board_slot slot[BOARD_SLOTS];
};

static_assert(sizeof(struct board_page) <= BOARD_BYTES, "a board is one page");

struct board {
	struct board_page *page; /* NULL: there is none */
	int fd;
	uint32_t taken[BOARD_SLOTS]; /* 1: a thread of this process has the slot */
};

/* Opens the board of a rank. `job` is the same for all ranks of its job. */
void board_open(struct board *board, const char *job, int rank, int size);

void board_close(struct board *board);

/* Shows a wait. *slot is 0 at first, then the thread's slot + 1. Writes only what has changed. */
void board_show(struct board *board, uint8_t *slot, const struct board_wait *wait);

/* Empties the slot and gives it back. */
void board_clear(struct board *board, uint8_t *slot);

/* Copies this process's longest wait. Returns false if none is shown. */
bool board_longest(const struct board *board, struct board_wait *wait);

/* Ends a text, and replaces what is not printable ASCII. */
void board_make_printable(char *text, size_t size_bytes);

/* Returns whether all are ranks of a job of that size. */
bool board_are_ranks(const int32_t *ranks, uint32_t count, int32_t size);

/* Makes the texts of another process's wait printable. Returns whether the wait is sound. */
bool board_check_wait(struct board_wait *wait, int32_t size);

/* A reader's copy of the sound parts of a page. */
struct board_copy {
	struct board_header header;
	uint32_t wait_count;
	struct board_wait wait[BOARD_SLOTS];
};

/* Copies what is sound of a page read twice. Returns false if it is no board. */
bool board_read(struct board_copy *copy, const void *first, const void *second, size_t size_bytes);

#endif
