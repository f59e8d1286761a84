// SPDX-License-Identifier: BSD-2-Clause
/*
 * layout.h - memory that peers read and write, byte for byte
 *
 * DESIGN NOTES
 *
 * Every rank keeps, in registered slabs:
 *
 * - one *directory*: a table of entries, one per window slot, which any peer may read;
 * - one *area* per neighbour, which that neighbour alone writes and reads: a ring of messages, and
 *   the root of the neighbour's flag words, one struct flag_pair per window slot.
 *
 * Tables grow by whole segments, each as large as all before it, and never move. A peer reads the
 * root, which lists the segments, once, and computes the place of element i: table_segment.
 *
 * The handshake (handshake.h) gives each side the places of its area at the other and of the
 * other's directory root. Its version word refuses a machine of another byte order.
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

/* A table's segment; only its owner writes it. */
struct segment_ref {
	uint64_t addr;
	uint32_t rkey;
	uint32_t check; /* segment_check of the rest: reveals an early or torn reading */
};

static inline uint32_t segment_check(const struct segment_ref *ref)
{
	uint64_t mixed = (ref->addr ^ 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;

	/* One after the other: bytes missing from both must not cancel out. */
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

/* Returns the element's segment; *offset becomes its place there. */
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
 * The flag words between two neighbours on one window, at one side: the neighbour writes them, and
 * we poll. `posted` counts the exposure epochs that it has opened for us, `completed` its closed
 * access epochs to us. In dynamic windows (regions.h) `notified` is its last detach; `acked` is one
 * more than the last of our detaches that it has acknowledged, or 0 if it does not use our regions.
 */
struct flag_pair {
	uint64_t posted;
	uint64_t completed;
	uint64_t notified;
	uint64_t acked;
};

/* One window of a rank. Its owner writes, peers read. */
struct dir_entry {
	uint8_t id[WINDOW_ID_BYTES]; /* all zero: the slot is free */
	uint64_t base;
	uint64_t size_bytes;
	uint64_t control_addr;
	uint32_t control_rkey;
	uint32_t rkey;
	uint32_t disp_unit_bytes;
	uint32_t flags;        /* DIR_* */
	uint64_t signals_addr; /* if the window has signals */
	uint32_t signals_rkey;
	uint32_t signal_count;
	uint32_t control_atomic_rkey; /* DIR_NEXT_BY_DEVICE: of the control block, for that device */
	uint32_t words_rkey;          /* DIR_WORDS_BY_DEVICE: of the memory, likewise */
	uint64_t unused[5];
	uint64_t check; /* dir_entry_check of the rest: reveals a torn reading */
};

#define DIR_READ_ONLY 1u      /* the memory must not be written */
#define DIR_SECOND_DEVICE 2u  /* for peers of the owner's second device */
#define DIR_NEXT_BY_DEVICE 4u /* all ranks draw tickets of its lock through a device */
#define DIR_DYNAMIC 128u      /* base is the root of a table of regions, rkey its key */

/*
 * Accumulate operations on aligned 8-byte integers are carried out by one device of the owner; or
 * by processors and this table's device, which are atomic with each other. With neither bit, by
 * processors.
 */
#define DIR_WORDS_BY_DEVICE 0x100u
#define DIR_WORDS_BY_BOTH 0x200u

#define DIR_ADDED_APART 0x1000u /* this device adds to words of its own behind the signals */

static_assert(sizeof(struct dir_entry) == 128, "a directory entry is two cache lines");

/* A dynamic window's table of regions. The owner writes, peers read. */
struct region_root {
	struct table_root segments;
	uint64_t used; /* region_used of a number: later entries are unused */
};

struct region_entry {
	uint64_t base;
	uint64_t size_bytes; /* 0: the entry is free, and all zero */
	uint64_t serial;     /* unique in the window */
	uint32_t rkey;
	uint32_t flags; /* DIR_READ_ONLY */
	uint64_t check; /* region_check of the rest */
};

#define WINDOW_REGIONS_MAX WINDOWS_MAX /* the tables have the same segments */

/* Returns the number with a check; 0 for 0. */
static inline uint64_t region_used(uint32_t used)
{
	return (used * 0x9e3779b97f4a7c15 & ~(uint64_t)UINT32_MAX) | used;
}

/* Returns how many entries to read: all if the word is torn. */
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
 * A window's control block: registered words that any member may write. The slot's next window
 * reuses it. Ranks that compute another size for it refuse each other (area_head).
 *
 * Fence words lie first: [set][round], each written by this rank's partner of the round (fence.c).
 */
#define CONTROL_FENCE_SETS 2

static inline size_t control_fence_word(int rounds, uint64_t set, int round)
{
	return (size_t)set * (size_t)rounds + (size_t)round;
}

/*
 * The window's lock (win/lock_words.c) lies behind the fence words. Each word has one writer at any
 * time, or changes by fetch-and-adds only.
 */
struct lock_member {
	uint64_t state;  /* lowest byte: enum lock_state; above 32 bits: the writer's process */
	uint64_t ticket; /* placed before the state */
};

enum lock_state {
	LOCK_ABSENT,
	LOCK_ASK,    /* asks for the lock shared, or holds it */
	LOCK_WAIT,   /* shared, behind the writer `ticket` */
	LOCK_INTENT, /* is fetching a ticket; or holds the lock that it got at once */
	LOCK_TICKET, /* waits for its turn, or holds the lock */
	LOCK_GONE,   /* died holding the lock shared, and is counted; the target writes it */
};

#define LOCK_EXAMINED 0x100u /* beside a dead member's state: it writes no more */
#define LOCK_LEAVES 0x400u   /* beside INTENT: gives the lock back (lock_words.c) */

/*
 * Returns whether a member from before the served writer with ticket `mine` may still place its
 * last words again (lock_words.c).
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
	uint32_t check;   /* lock_more_check of the rest; 0: none */
	uint32_t unused;
};

static inline uint32_t lock_more_check(const struct lock_more *more)
{
	struct segment_ref first = { more->addr, more->rkey[0], 0 }, second = { more->addr, more->rkey[1], 0 };

	return segment_check(&first) ^ segment_check(&second) << 1;
}

struct lock_header {
	uint64_t serving;            /* the served ticket; only its owner writes it */
	uint64_t serving_complement; /* reveals a torn reading */
	uint64_t next;               /* the next ticket; changed by fetch-and-add only */
	uint64_t orphaned;           /* deaths of holders; only the owner's service thread writes it */
	uint64_t repaired;           /* orphaned as the last exclusive holder saw it */
	struct lock_more more;
};

static_assert(sizeof(struct lock_header) == 64, "a lock's header is a cache line");

#define LOCK_FIRST_MEMBERS 8u
#define LOCK_SEGMENTS_MAX 18u /* enough for more members than peers */

/* Further members, by neighbour index: as many as all before. */
struct lock_segment {
	struct lock_more more;
	uint64_t unused;
	struct lock_member member[];
};

struct lock_words {
	struct lock_header header;
	struct lock_member member[LOCK_FIRST_MEMBERS];
};

/* Returns a segment's members; segment 0 is behind the header. */
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

/* Returns the size of a block in a job whose barriers take `rounds`. */
static inline size_t control_bytes(int rounds)
{
	return control_lock_offset(rounds) + sizeof(struct lock_words);
}

/*
 * A window's signal. Its value is the last SET plus all ADDs.
 *
 * A SET writes the first three words, as one request or as stores. The check reveals an early or
 * torn reading; the stamp, unique among the window's SETs, a repeated value. Processors, and
 * devices that are atomic with them, ADD to `added`; other devices to a word of their own behind
 * the table.
 */
struct signal {
	uint64_t value;
	uint64_t stamp;
	uint64_t check; /* signal_check of the two */
	uint64_t added;
};

#define SIGNAL_SET_BYTES offsetof(struct signal, added)

/*
 * A SET counts once its last word is placed, which a device with places_twice does not place twice.
 */
static_assert(SIGNAL_SET_BYTES == 24, "the kernel's memcpy stores the middle word of 24 bytes twice, of 16 both");

static_assert(sizeof(struct signal) == 32, "a signal does not straddle cache lines");

/* A stamp's bits for the member; the others count its SETs. */
#define STAMP_RANK_BITS 24

/* Returns 0 for zeros. */
static inline uint64_t signal_check(uint64_t value, uint64_t stamp)
{
	uint64_t mixed = value * 0x9e3779b97f4a7c15;

	mixed = (mixed ^ mixed >> 32 ^ stamp) * 0xff51afd7ed558ccd;
	return mixed ^ mixed >> 29;
}

/* Returns the size of `count` signals, and behind them a word of each for either device. */
static inline size_t signals_bytes(uint32_t count)
{
	return count * (sizeof(struct signal) + 2 * sizeof(uint64_t));
}

static inline size_t signal_apart_offset(uint32_t count, uint32_t signal, bool second_device)
{
	return count * sizeof(struct signal) + ((second_device ? count : 0) + (size_t)signal) * sizeof(uint64_t);
}

/* A control message between two ranks (ctrl_msg.c). */
struct ctrl_msg {
	uint8_t id[16]; /* its collective */
	uint32_t round;
	int32_t code;    /* 0, or the ORIEL_ERR_* of a member */
	int32_t culprit; /* world rank that the code is about */
	uint32_t unused;
	union {
		struct {
			uint64_t agreed;     /* must be equal on all members */
			uint64_t payload[2]; /* one member's value for all; 0, 0: not yet known here */
		};
		uint64_t item[3]; /* in a gathering: one member's value */
	};
	uint64_t stamp; /* number on its connection, from 1; written after the rest */
};

static_assert(sizeof(struct ctrl_msg) == 64, "a control message is a cache line");

#define CTRL_MSG_RING 16
#define DIR_BATCH 8
#define GOODBYE 1u

/* Counts changes of this layout. */
#define LAYOUT_VERSION 8u

/*
 * Active messages (am_recv.h). Each neighbour that has sent one writes a ring at the target:
 * AM_SLOTS slots, then AM_DATA_BYTES for operands that do not fit a slot. Results come back into
 * the sender's memory: AM_SLOTS times AM_INLINE_BYTES, then AM_DATA_BYTES.
 */
#define AM_SLOTS 64
#define AM_INLINE_BYTES 64
#define AM_DATA_BYTES (32u << 10)
#define AM_ALIGN 16                          /* in AM_DATA_BYTES */
#define AM_LARGEST_BYTES (AM_DATA_BYTES / 4) /* operands, or results, of a message */

enum am_call {
	AM_ACCUMULATE = 1, /* operands: the elements of all blocks; none for ORIEL_NO_OP */
	AM_SWAP,           /* one element, and one to compare with */
	AM_ADD,            /* to the signal disp_bytes: one operand of 8 bytes */
	AM_LIST,           /* as AM_ACCUMULATE, `count` pieces: a table of struct am_piece, then operands */
	AM_QUESTION,       /* sync/question.h; no operands */
	AM_PULL,           /* as AM_ACCUMULATE; the target reads the operands at struct am_pull */
};

struct am_pull {
	uint64_t addr; /* in the sender's memory */
	uint64_t size_bytes;
};

#define AM_PULLED_BYTES (64u << 10)
#define AM_RING_PULLS UINT64_C(1) /* in a ring's address: its owner takes AM_PULL */

struct am {
	uint64_t stamp;        /* number on its connection, from 1; written after the rest */
	uint64_t window_check; /* of the window's id */
	uint64_t disp_bytes;   /* in the window's memory */
	int64_t distance;      /* from each block to the next, in bytes */
	uint16_t window_slot;  /* at the target */
	uint16_t answered;     /* the answers that the sender has taken, modulo 2^16 */
	uint16_t count;        /* elements */
	uint16_t blocks;       /* of AM_ACCUMULATE: how many lie there, of `count` elements each; 0: one */
	uint16_t data_bytes;   /* operands */
	uint16_t data_at;      /* offset of operands and results in AM_DATA_BYTES; AM_INLINE: here */
	uint8_t call;          /* enum am_call */
	uint8_t type;          /* enum oriel_type */
	uint8_t op;            /* enum oriel_op */
	uint8_t wants_result;
	uint8_t data[AM_INLINE_BYTES];
	uint64_t unused[2];
};

#define AM_INLINE UINT16_MAX
#define AM_LINE_BYTES 16 /* of data in the first cache line */

static_assert(sizeof(struct am) == 128, "an active message is two cache lines");
static_assert(offsetof(struct am, data) + AM_LINE_BYTES == 64, "a message of few bytes is one");
static_assert(AM_DATA_BYTES <= AM_INLINE, "a place fits data_at, and lengths are smaller");

#define AM_RING_BYTES (AM_SLOTS * sizeof(struct am) + AM_DATA_BYTES)
#define AM_RESULTS_BYTES (AM_SLOTS * AM_INLINE_BYTES + AM_DATA_BYTES)

static inline uint64_t window_check(const uint8_t id[WINDOW_ID_BYTES])
{
	uint64_t halves[2];

	memcpy(halves, id, sizeof(halves));
	return halves[0] ^ halves[1];
}

/* The target's acknowledgement, in one write. */
struct am_ack {
	uint64_t applied;    /* up to this one refused, or applied with results written */
	uint64_t refused[2]; /* a bit in each, by slot, for each of the last AM_SLOTS: enum am_verdict */
	uint64_t rested;     /* wakeups seen: another one may be sent */
	uint64_t result[2];  /* of message `applied`, if am_ack_has_result */
	uint64_t check;      /* am_ack_check of the rest: reveals a torn reading */
};

static inline bool am_ack_has_result(uint32_t data_at, uint32_t result_bytes)
{
	return data_at == AM_INLINE && result_bytes <= sizeof(((struct am_ack *)0)->result);
}

enum am_verdict {
	AM_APPLIED,
	AM_OUTSIDE, /* not wholly in the window's memory */
	AM_READ_ONLY,
	AM_UNKNOWN, /* no such window or operation */
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

/* Differences in the highest bits of two words must not cancel out. */
static inline uint64_t am_ack_part(uint64_t word, uint64_t factor)
{
	return (word ^ word >> 29) * factor;
}

static inline uint64_t am_ack_check(const struct am_ack *ack)
{
	uint64_t mixed = am_ack_part(ack->applied ^ 0x9e3779b97f4a7c15, 0xff51afd7ed558ccd);

	mixed += am_ack_part(ack->refused[0], 0xa24baed4963ee407) + am_ack_part(ack->refused[1], 0x9fb21c651e98df25);
	mixed += am_ack_part(ack->rested, 0xd6e8feb86659fd93) + am_ack_part(ack->result[0], 0xbf58476d1ce4e5b9);
	mixed += am_ack_part(ack->result[1], 0x94d049bb133111eb);
	mixed = (mixed ^ mixed >> 32) * 0xff51afd7ed558ccd;
	return (mixed ^ mixed >> 32) | 1;
}

/* The part of an area that its owner writes and the neighbour reads. */
struct area_head {
	struct table_root flags;       /* of the neighbour's flag words at our side */
	struct segment_ref page_locks; /* locks for our integers: sync/page_lock.h */
	uint32_t layout_version;       /* LAYOUT_VERSION of our build */
	uint32_t control_block_bytes;
	uint32_t neighbour; /* the reader's index among our neighbours and a lock's members */
	uint32_t unused;
};

/* The memory of ours that one neighbour may touch. */
struct area {
	struct area_head head;
	/* Written by the neighbour. */
	uint64_t up;                /* attempt number: its side of the connection is established */
	uint64_t ctrl_msg_consumed; /* of our messages, in steps of half a ring */
	uint64_t goodbye;           /* GOODBYE: it sends nothing more (goodbye.h) */
	struct ctrl_msg ctrl_msgs[CTRL_MSG_RING];
	_Alignas(64) struct am_ack am_ack; /* for our active messages */
	struct segment_ref am_ring;        /* our ring there; addr 0: it has no memory for one */
	struct segment_ref am_results;     /* for results of its active messages */
	/* Our RDMA READs and atomics land here. */
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
