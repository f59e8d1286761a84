// SPDX-License-Identifier: BSD-2-Clause
/*
 * layout.h - memory that peers read and write, byte for byte
 *
 * DESIGN NOTES
 *
 * Every rank keeps, in registered slabs:
 *
 * - one *directory*: a table of entries, one per window slot, that any peer may read. Its root lies
 *   at a fixed address.
 * - one *area* per neighbour, which that neighbour alone writes and reads: a ring of messages, and
 *   the root of the neighbour's flag words, one struct flag_pair per window slot.
 *
 * Tables grow by whole segments, each as large as all before it, and never move; a root lists the
 * segments. A peer reads the root once and computes the place of element i, see table_segment.
 *
 * The handshake (handshake.h) gives each side the places of its area at the other and of the
 * other's directory root. All numbers are in the byte order of the job's machines, which must be
 * one: the handshake's version word refuses another.
 */
#ifndef ORIEL_LAYOUT_H
#define ORIEL_LAYOUT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WINDOW_ID_BYTES 16
#define WINDOWS_MAX 65536

#define TABLE_FIRST_LOG2 6 /* elements in segments 0 and 1: 64 */
#define TABLE_SEGMENTS 11

static_assert((1u << (TABLE_FIRST_LOG2 + TABLE_SEGMENTS - 1)) == WINDOWS_MAX, "the segments hold every window slot");

/* The place of one segment of a table; only its owner writes it. */
struct segment_ref {
	uint64_t addr;
	uint32_t rkey;
	uint32_t check; /* segment_check of the rest: reveals a reading that was too early, or torn */
};

static inline uint32_t segment_check(const struct segment_ref *ref)
{
	uint64_t mixed = (ref->addr ^ 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;

	/* One after the other: bytes missing from address and key alike must not cancel out. */
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

/* Returns the segment that holds element `index`; *offset becomes its place there. */
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
 * The flag words between two neighbours on one window, at one side. `posted` counts the exposure
 * epochs that the neighbour has opened for us, `completed` the access epochs to us that it has
 * closed. Dynamic windows have two more: `notified` is the neighbour's last detach, `acked` one
 * more than the last of our detaches that it has acknowledged, or 0 if it does not use our regions
 * (regions.h). Only the neighbour writes them, and only we poll them.
 */
struct flag_pair {
	uint64_t posted;
	uint64_t completed;
	uint64_t notified;
	uint64_t acked;
};

/*
 * One window of a rank as its peers see it. Its owner writes, peers read; check reveals a torn
 * reading.
 */
struct dir_entry {
	uint8_t id[WINDOW_ID_BYTES]; /* all zero: the slot is free */
	uint64_t base;
	uint64_t size_bytes;
	uint64_t control_addr;
	uint32_t control_rkey;
	uint32_t rkey;
	uint32_t disp_unit_bytes;
	uint32_t flags;        /* DIR_* */
	uint64_t signals_addr; /* the window's signals, if it has any */
	uint32_t signals_rkey;
	uint32_t signal_count;
	uint32_t control_atomic_rkey; /* DIR_NEXT_BY_DEVICE: of the control block, for requests to that device */
	uint32_t words_rkey;          /* DIR_WORDS_BY_DEVICE: of the memory, likewise */
	uint64_t unused[5];
	uint64_t check; /* dir_entry_check of the rest */
};

#define DIR_READ_ONLY 1u      /* the owner's memory must not be written */
#define DIR_SECOND_DEVICE 2u  /* the entry for peers of the owner's second device */
#define DIR_NEXT_BY_DEVICE 4u /* all ranks draw tickets of its lock through a device */
#define DIR_DYNAMIC 128u      /* base is the root of a table of regions, rkey its key */

/*
 * Accumulate operations on aligned integers of 8 bytes are done by a device of the owner's alone,
 * for all ranks; or by processors, and this table's device too, whose atomics are atomic with
 * theirs. With neither bit only by processors.
 */
#define DIR_WORDS_BY_DEVICE 0x100u
#define DIR_WORDS_BY_BOTH 0x200u

#define DIR_ADDED_APART 0x1000u /* this device adds to signals in words of its own, behind the table */

static_assert(sizeof(struct dir_entry) == 128, "a directory entry is two cache lines");

/*
 * The regions attached to a dynamic window: a table like the directory, one for each window. The
 * owner writes, peers read.
 */
struct region_root {
	struct table_root segments;
	uint64_t used; /* region_used of a number: later entries have never been used */
};

struct region_entry {
	uint64_t base;
	uint64_t size_bytes; /* 0: the entry is free, and all zero */
	uint64_t serial;     /* unique among the window's regions */
	uint32_t rkey;
	uint32_t flags; /* DIR_READ_ONLY */
	uint64_t check; /* region_check of the rest: reveals a torn reading */
};

#define WINDOW_REGIONS_MAX WINDOWS_MAX /* the tables have the same segments */

/* Returns the number with a check of it, which reveals a torn reading; 0 for 0. */
static inline uint64_t region_used(uint32_t used)
{
	return (used * 0x9e3779b97f4a7c15 & ~(uint64_t)UINT32_MAX) | used;
}

/* Returns how many entries to look at; if the word is torn, all that are possible. */
static inline uint32_t region_used_of(uint64_t word)
{
	uint32_t used = (uint32_t)word;

	return used <= WINDOW_REGIONS_MAX && word == region_used(used) ? used : WINDOW_REGIONS_MAX;
}

static inline uint64_t region_check(const struct region_entry *entry)
{
	const uint64_t word[] = { entry->base, entry->size_bytes, entry->serial,
		                      (uint64_t)entry->flags << 32 | entry->rkey };
	uint64_t hash = 0x9e3779b97f4a7c15;

	for (int i = 0; i < 4; i++) {
		hash = (hash ^ word[i]) * 0xff51afd7ed558ccd;
		hash ^= hash >> 32;
	}
	return hash | 1;
}

/*
 * A window's control block: registered words of the window, which any member may write. Its
 * directory entry names it, and the slot's next window reuses it. Its size follows from the size of
 * the job; area_head has it, so that ranks which differ refuse each other.
 *
 * Fence words lie first: [set][round], each written by the member that is this rank's partner of
 * the round (fence.c).
 */
#define CONTROL_FENCE_SETS 2

/* Returns the index of a fence word in the block. */
static inline size_t control_fence_word(int rounds, uint64_t set, int round)
{
	return (size_t)set * (size_t)rounds + (size_t)round;
}

/*
 * The window's lock lies behind the fence words: see win/lock_words.c. Each word has one writer at
 * any time, or changes by fetch-and-adds only.
 */
struct lock_member {
	uint64_t state;  /* enum lock_state in the lowest byte; above 32 bits the writer's process, if it maps memory */
	uint64_t ticket; /* placed before the state that refers to it */
};

enum lock_state {
	LOCK_ABSENT,
	LOCK_ASK,    /* asks for the lock shared, or holds it */
	LOCK_WAIT,   /* shared, behind the writer `ticket` */
	LOCK_INTENT, /* is fetching a ticket; or holds the lock that it got with it at once */
	LOCK_TICKET, /* has `ticket`; waits for its turn, or holds the lock */
	LOCK_GONE,   /* died holding the lock shared, and has been counted; set by the target */
};

#define LOCK_EXAMINED 0x100u /* beside a dead member's state: it has been examined, and writes no more */
#define LOCK_LEAVES 0x400u   /* beside INTENT: gives the lock back; for words placed twice (lock_words.c) */

/*
 * Returns whether a member with this word was in before the writer with ticket `mine`, which is
 * served, and may be about to place its last words once more (lock_words.c).
 */
static inline bool lock_may_still_write(uint64_t state, uint64_t ticket, uint64_t mine)
{
	enum lock_state low = (enum lock_state)(state & 0xff);

	return (low == LOCK_INTENT && (state & LOCK_LEAVES)) || (low == LOCK_TICKET && ticket < mine);
}

/* The place of further members; written once. */
struct lock_more {
	uint64_t addr;
	uint32_t rkey[2]; /* by the owner's device */
	uint32_t check;   /* lock_more_check of the rest; 0: there are none */
	uint32_t unused;
};

static inline uint32_t lock_more_check(const struct lock_more *more)
{
	struct segment_ref first = { more->addr, more->rkey[0], 0 }, second = { more->addr, more->rkey[1], 0 };

	return segment_check(&first) ^ segment_check(&second) << 1;
}

struct lock_header {
	uint64_t serving;            /* the ticket now served; written by its owner, one at a time */
	uint64_t serving_complement; /* a reading in which the two do not fit is torn */
	uint64_t next;               /* the next ticket; changed by fetch-and-add only */
	uint64_t orphaned;           /* deaths of holders; written by the owner's service thread only */
	uint64_t repaired;           /* orphaned as the last exclusive holder saw it; written by exclusive holders */
	struct lock_more more;
};

static_assert(sizeof(struct lock_header) == 64, "a lock's header is a cache line");

#define LOCK_FIRST_MEMBERS 8u
#define LOCK_SEGMENTS_MAX 18u /* the last ones hold more members than there are peers */

/* Members beyond the first, by neighbour index: as many as all before. */
struct lock_segment {
	struct lock_more more;
	uint64_t unused;
	struct lock_member member[];
};

struct lock_words {
	struct lock_header header;
	struct lock_member member[LOCK_FIRST_MEMBERS];
};

/* Returns how many members a segment holds; segment 0 is the one behind the header. */
static inline uint32_t lock_segment_members(uint32_t segment)
{
	return segment == 0 ? LOCK_FIRST_MEMBERS : LOCK_FIRST_MEMBERS << (segment - 1);
}

static inline size_t lock_segment_bytes(uint32_t segment)
{
	return sizeof(struct lock_segment) + lock_segment_members(segment) * sizeof(struct lock_member);
}

static inline size_t control_lock_offset(int rounds)
{
	return (CONTROL_FENCE_SETS * (size_t)rounds * sizeof(uint64_t) + 63) / 64 * 64;
}

/* Returns the size of a block in a job whose barriers take so many rounds. */
static inline size_t control_bytes(int rounds)
{
	return control_lock_offset(rounds) + sizeof(struct lock_words);
}

/*
 * One of a window's signals. Its value is the last SET and everything ADDed.
 *
 * A SET writes the first three words, as one request or as stores. The check reveals a reading that
 * was too early, or torn; the stamp, unique among the window's SETs, reveals a repeated value. Only
 * ADDs change the other words: processors, and devices that are atomic with them, add to `added`; a
 * device that is atomic only among its own requests has a word of its own behind the table.
 */
struct signal {
	uint64_t value;
	uint64_t stamp;
	uint64_t check; /* signal_check of the two */
	uint64_t added;
};

#define SIGNAL_SET_BYTES offsetof(struct signal, added)

/*
 * A device that places words twice (places_twice) does not place the last one twice, by which a SET
 * counts.
 */
static_assert(SIGNAL_SET_BYTES == 24, "the kernel's memcpy stores the middle word of 24 bytes twice, of 16 both");

static_assert(sizeof(struct signal) == 32, "a signal does not straddle cache lines");

/* Bits of a stamp that identify the member; the others count its SETs. */
#define STAMP_RANK_BITS 24

/* Returns 0 for zeros, the initial state. */
static inline uint64_t signal_check(uint64_t value, uint64_t stamp)
{
	uint64_t mixed = value * 0x9e3779b97f4a7c15;

	mixed = (mixed ^ mixed >> 32 ^ stamp) * 0xff51afd7ed558ccd;
	return mixed ^ mixed >> 29;
}

/*
 * Returns the size of a table of `count` signals, and behind it a word of each for either device.
 */
static inline size_t signals_bytes(uint32_t count)
{
	return count * (sizeof(struct signal) + 2 * sizeof(uint64_t));
}

/* Returns the offset of a device's word in that, in bytes. */
static inline size_t signal_apart_offset(uint32_t count, uint32_t signal, bool second_device)
{
	return count * sizeof(struct signal) + ((second_device ? count : 0) + (size_t)signal) * sizeof(uint64_t);
}

/* A control message between two ranks, see ctrl_msg.c. */
struct ctrl_msg {
	uint8_t id[16]; /* the collective it belongs to */
	uint32_t round;
	int32_t code;    /* 0, or the ORIEL_ERR_* of a member */
	int32_t culprit; /* world rank that the code is about */
	uint32_t unused;
	union {
		struct {
			uint64_t agreed;     /* must be equal on all members */
			uint64_t payload[2]; /* one member's value for all; 0, 0: its sender does not know it yet */
		};
		uint64_t item[3]; /* in a gathering: one member's value */
	};
	uint64_t stamp; /* number of the message on its connection, from 1; written after the rest */
};

static_assert(sizeof(struct ctrl_msg) == 64, "a control message is a cache line");

#define CTRL_MSG_RING 16
#define DIR_BATCH 8
#define GOODBYE 1u

/* Counts changes of this file's layout; the handshake's private data have no room for it. */
#define LAYOUT_VERSION 5u

/*
 * Active messages: operations that their target applies, see am_recv.h. The target has one ring for
 * each neighbour that has ever sent one, and that neighbour writes it: AM_SLOTS slots, then
 * AM_DATA_BYTES for operands that do not fit a slot. Results come back into the sender's memory:
 * AM_SLOTS times AM_INLINE_BYTES, then AM_DATA_BYTES.
 */
#define AM_SLOTS 64
#define AM_INLINE_BYTES 64
#define AM_DATA_BYTES (32u << 10)
#define AM_ALIGN 16                          /* in AM_DATA_BYTES */
#define AM_LARGEST_BYTES (AM_DATA_BYTES / 4) /* operands, or results, of one active message */

enum am_call {
	AM_ACCUMULATE = 1, /* operands: as many elements as there are; none for ORIEL_NO_OP */
	AM_SWAP,           /* compare_and_swap: one element, and one to compare with */
	AM_ADD,            /* to a signal, whose number is in disp_bytes: one operand of 8 bytes */
	AM_LIST,           /* as AM_ACCUMULATE, `count` pieces: a table of struct am_piece, then operands */
	AM_QUESTION,       /* why the sender waits for this rank: sync/question.h; no operands */
};

struct am {
	uint64_t window_check; /* window_check of the window's id */
	uint64_t disp_bytes;   /* in the window's memory */
	uint32_t window_slot;  /* at the target */
	uint32_t count;        /* elements */
	uint32_t data_bytes;   /* operands */
	uint32_t data_at;      /* offset of operands and results in AM_DATA_BYTES; AM_INLINE: here */
	uint8_t call;          /* enum am_call */
	uint8_t type;          /* enum oriel_type */
	uint8_t op;            /* enum oriel_op */
	uint8_t wants_result;
	uint32_t unused[2];
	uint8_t data[AM_INLINE_BYTES];
	uint64_t unused2;
	uint64_t stamp; /* number of the active message on its connection, from 1; written after the rest */
};

#define AM_INLINE UINT32_MAX

static_assert(sizeof(struct am) == 128, "an active message is two cache lines");

#define AM_RING_BYTES (AM_SLOTS * sizeof(struct am) + AM_DATA_BYTES)
#define AM_RESULTS_BYTES (AM_SLOTS * AM_INLINE_BYTES + AM_DATA_BYTES)

static inline uint64_t window_check(const uint8_t id[WINDOW_ID_BYTES])
{
	uint64_t halves[2];

	memcpy(halves, id, sizeof(halves));
	return halves[0] ^ halves[1];
}

/* The target's acknowledgement of active messages, in one write. */
struct am_ack {
	uint64_t applied;    /* active messages up to this one are applied, with results written, or refused */
	uint64_t refused[2]; /* a bit in each for each of the last AM_SLOTS, by slot: enum am_verdict */
	uint64_t rested;     /* wakeups seen: another one may be sent */
	uint64_t check;      /* am_ack_check of the rest: reveals a torn reading */
};

/* The outcome of an active message. */
enum am_verdict {
	AM_APPLIED,
	AM_OUTSIDE,   /* not all of it lies in the window's memory */
	AM_READ_ONLY, /* the memory must not be written */
	AM_UNKNOWN,   /* no such window, or no such operation */
};

static_assert(AM_SLOTS == 64, "a bit for each");

static inline enum am_verdict am_verdict(const uint64_t refused[2], uint64_t number)
{
	uint64_t slot = (number - 1) % AM_SLOTS;

	return (enum am_verdict)((refused[0] >> slot & 1) | (refused[1] >> slot & 1) << 1);
}

static inline void am_judge(uint64_t refused[2], uint64_t number, enum am_verdict verdict)
{
	uint64_t bit = UINT64_C(1) << (number - 1) % AM_SLOTS;

	for (unsigned i = 0; i < 2; i++)
		refused[i] = (unsigned)verdict >> i & 1 ? refused[i] | bit : refused[i] & ~bit;
}

static inline uint64_t am_ack_check(const struct am_ack *ack)
{
	uint64_t mixed = (ack->applied ^ 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;

	mixed = (mixed ^ mixed >> 32 ^ ack->refused[0]) * 0x9e3779b97f4a7c15;
	mixed = (mixed ^ mixed >> 29 ^ ack->refused[1]) * 0xff51afd7ed558ccd;
	mixed = (mixed ^ mixed >> 32 ^ ack->rested) * 0xff51afd7ed558ccd;
	return (mixed ^ mixed >> 32) | 1;
}

/* The part of an area that its owner writes and the neighbour reads. */
struct area_head {
	struct table_root flags;       /* segments of the neighbour's flag words at our side */
	struct segment_ref page_locks; /* locks for our integers: sync/page_lock.h */
	uint32_t layout_version;       /* LAYOUT_VERSION of our build */
	uint32_t control_block_bytes;  /* control_bytes of our windows */
	uint32_t neighbour;            /* the reader's index among our neighbours, and a lock's members */
	uint32_t unused;
};

/* The memory of ours that one neighbour may touch. */
struct area {
	struct area_head head;
	/* Written by the neighbour. */
	uint64_t up;                /* attempt number: "my side of the connection is established" */
	uint64_t ctrl_msg_consumed; /* how many of our messages it has consumed, in steps of half a ring */
	uint64_t goodbye;           /* GOODBYE: it has left the job and sends nothing more, see goodbye.h */
	struct ctrl_msg ctrl_msgs[CTRL_MSG_RING];
	struct am_ack am_ack;          /* for the active messages that we send it */
	struct segment_ref am_ring;    /* our ring there; addr 0: it has no memory for one */
	struct segment_ref am_results; /* for results of its own active messages */
	/* Our own RDMA READs and atomics to the neighbour land here. */
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
