// SPDX-License-Identifier: BSD-2-Clause
/*
 * layout.h - what lies in memory that peers read and write, byte for byte
 *
 * DESIGN NOTES
 *
 * Every rank keeps, in registered slabs:
 *
 * - one *directory*: a table of entries, one per window slot, that any peer may read. Its root lies
 *   at a fixed address.
 * - one *area* per neighbour, which that neighbour alone writes into and reads from: a ring of
 *   mails, and the root of the neighbour's flag words, one struct flag_pair per window slot.
 *
 * Tables grow by whole segments, each as large as all before it, and never move; a root lists the
 * segments. A peer finds element i by reading the root once and computing segment and offset, see
 * table_segment.
 *
 * The handshake of a connection (handshake.h) tells each side where its area at the other lies,
 * and where the other's directory root lies. All numbers are in the byte order of the job's
 * machines, which must be one: the version word of the handshake refuses another.
 */
#ifndef ORIEL_LAYOUT_H
#define ORIEL_LAYOUT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_ID_BYTES 16
#define WINDOWS_MAX 65536

#define TABLE_FIRST_LOG2 6 /* elements in segments 0 and 1: 64 */
#define TABLE_SEGMENTS 11

static_assert((1u << (TABLE_FIRST_LOG2 + TABLE_SEGMENTS - 1)) == WINDOWS_MAX, "the segments hold every window slot");

/* Where one segment of a table lies; its owner writes it once. */
struct segment_ref {
	uint64_t addr;
	uint32_t rkey;
	uint32_t check; /* segment_check of the rest: tells a reading that was made too early, or torn */
};

static inline uint32_t segment_check(const struct segment_ref *ref)
{
	uint64_t mixed = (ref->addr ^ 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;

	/* One after the other: bytes of address and key that are missing alike must not cancel out. */
	mixed = (mixed ^ mixed >> 32 ^ ref->rkey) * 0x9e3779b97f4a7c15;
	return (uint32_t)(mixed >> 32) | 1;
}

static inline bool segment_ready(const struct segment_ref *ref)
{
	return ref->check == segment_check(ref);
}

struct table_root {
	struct segment_ref segment[TABLE_SEGMENTS];
};

/* Which segment holds element `index`, and where in it. */
static inline uint32_t table_segment(uint32_t index, uint32_t *offset)
{
	uint32_t segment;

	if (index >> TABLE_FIRST_LOG2 == 0) {
		*offset = index;
		return 0;
	}
	segment = 32 - (uint32_t)__builtin_clz(index >> TABLE_FIRST_LOG2);
	*offset = index - (1u << (TABLE_FIRST_LOG2 + segment - 1));
	return segment;
}

static inline uint32_t table_segment_elements(uint32_t segment)
{
	return segment == 0 ? 1u << TABLE_FIRST_LOG2 : 1u << (TABLE_FIRST_LOG2 + segment - 1);
}

/*
 * The two flag words between two neighbours on one window, at one side. `posted` counts the
 * exposure epochs the neighbour has opened for us, `completed` the access epochs to us it has
 * closed; both are written by the neighbour alone and polled by us alone.
 */
struct flag_pair {
	uint64_t posted;
	uint64_t completed;
};

/*
 * One window of a rank as its peers see it. Written by its owner, read by peers; check tells a torn
 * reading.
 */
struct dir_entry {
	uint8_t id[WINDOW_ID_BYTES]; /* all zero: the slot is free */
	uint64_t base;
	uint64_t size_bytes;
	uint64_t control_addr; /* the window's control block */
	uint32_t control_rkey;
	uint32_t rkey;
	uint32_t disp_unit_bytes;
	uint32_t flags; /* DIR_* */
	uint64_t check; /* dir_entry_check of the rest */
};

#define DIR_READ_ONLY 1u /* the owner's memory may not be written */

static_assert(sizeof(struct dir_entry) == 64, "a directory entry is a cache line");

/*
 * A window's control block: registered words of the window itself, which any member may write, named
 * by its directory entry and kept for the slot's next window. Its size follows from the size of the
 * job; area_head says it, so that ranks which differ refuse each other.
 *
 * Fence words lie first: [set][round], each written by the member that is this rank's partner of the
 * round (fence.c).
 */
#define CONTROL_FENCE_SETS 2

/* Which fence word of the block, counted in words. */
static inline size_t control_fence_word(int rounds, uint64_t set, int round)
{
	return (size_t)set * (size_t)rounds + (size_t)round;
}

/* The size of a block in a job whose barriers take so many rounds. */
static inline size_t control_bytes(int rounds)
{
	return CONTROL_FENCE_SETS * (size_t)rounds * sizeof(uint64_t);
}

/* A small message between two ranks, see mail.c. */
struct mail {
	uint8_t id[16]; /* the collective it belongs to */
	uint32_t round;
	int32_t code;    /* 0, or the ORIEL_ERR_* that a member brought in */
	int32_t culprit; /* world rank the code is about */
	uint32_t unused[7];
	uint64_t stamp; /* number of the mail on its connection, from 1; written behind the rest */
};

static_assert(sizeof(struct mail) == 64, "a mail is a cache line");

#define MAIL_RING 16
#define DIR_BATCH 16
#define GOODBYE 1u

/* Counts changes of what this file describes; the handshake's private data have no room for it. */
#define LAYOUT_VERSION 2u

/* The part of an area that its owner writes and the neighbour reads. */
struct area_head {
	struct table_root flags;      /* the segments of the neighbour's flag words at our side */
	uint32_t layout_version;      /* LAYOUT_VERSION of our build */
	uint32_t control_block_bytes; /* control_bytes of our windows */
};

/* What one neighbour may touch of us. */
struct area {
	struct area_head head;
	/* Written by the neighbour. */
	uint64_t up;            /* attempt number: "my side of the connection is established" */
	uint64_t mail_consumed; /* how many of our mails it has taken, in steps of half a ring */
	uint64_t goodbye;       /* GOODBYE: it has left the job and sends nothing more, see goodbye.h */
	struct mail mail[MAIL_RING];
	/* Where our own RDMA READs and atomics to the neighbour land. */
	uint64_t sink;
	uint64_t unused[3];
	union {
		struct dir_entry entries[DIR_BATCH];
		struct table_root root;
		struct area_head head;
	} landing;
};

static_assert(offsetof(struct area, head) == 0, "the area's address is the head's address");

#endif
