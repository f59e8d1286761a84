// SPDX-License-Identifier: BSD-2-Clause
/*
 * direct_access.h - loads and stores to a peer's memory instead of work requests
 *
 * DESIGN NOTES
 *
 * This file alone decides whether the processor can access a peer's memory. There are two
 * providers: a rank uses its own memory directly, and softverbs maps a peer's shared memory into
 * this process (struct verbs_direct); a NIC does not. Two things are mapped, at their first use:
 *
 *   a window's memory   direct_map: an address here, which put and get copy to and from
 *   flag words          direct_flag: a store instead of a work request. Only for flags that need
 *                       not stay behind work requests: posts; the barrier of a fence, whose data is
 *                       complete by then; and the completes of a mapped window, whose data are
 *                       stores before it.
 *
 * A store into the memory of a dead process goes unnoticed; the next call that needs the process
 * reports the death. Only the caller checks an access to mapped memory, and it has checked the
 * range. A window is unmapped when it is freed: after that barrier no rank accesses it, whichever
 * deregisters first. Slabs with flag words are unmapped with the peer.
 */
#ifndef ORIEL_DIRECT_ACCESS_H
#define ORIEL_DIRECT_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/wire.h"

#define DIRECT_SLABS_MAX 8 /* slabs of a peer that can be mapped */

/* A registered region of the peer; the answer to the first request is kept. */
struct direct_slab {
	uint32_t rkey;
	uint64_t addr; /* at the peer */
	size_t size_bytes;
	uint8_t *here; /* NULL: it cannot be mapped */
};

struct direct_access {
	struct wire *wire;
	struct verbs_direct functions; /* the device's */
	bool self;                     /* the peer is this process */
	uint32_t slab_count;           /* of slabs; written under wire->lock, read by state_load */
	struct direct_slab slabs[DIRECT_SLABS_MAX];
};

void direct_init(struct direct_access *direct, struct wire *wire, const struct device *device, bool self);

/* Unmaps the slabs. No thread uses the wire any more. */
void direct_close(struct direct_access *direct);

/*
 * Returns whether all of the peer's region [base, base + size_bytes), registered as such, is
 * mapped; *here is its address in this process (NULL for an empty window at NULL). direct_unmap
 * unmaps it.
 */
bool direct_map(struct direct_access *direct, struct remote base, size_t size_bytes, void **here);
void direct_unmap(struct direct_access *direct, void *here, size_t size_bytes);

/* Returns whether direct_put_sync and direct_get_sync may succeed. */
static inline bool direct_has_copy_sync(const struct direct_access *direct)
{
	return direct->functions.move;
}

/*
 * Copies `size_bytes` from `here` to `there`, or back, in the call, behind all that was posted
 * before; `here` is then free. False: use a work request.
 */
bool direct_put_sync(struct direct_access *direct, const void *here, size_t size_bytes, struct remote there);
bool direct_get_sync(struct direct_access *direct, void *here, size_t size_bytes, struct remote there);

/* Returns whether a thread of the peer polls now, as far as is known. */
bool direct_polls(struct direct_access *direct);

/* Returns whether direct_get_list_sync is worth a try. */
static inline bool direct_has_lists(const struct direct_access *direct)
{
	return direct->functions.read_list;
}

/*
 * Gets all pieces at once, behind all that was posted before. Returns false if each has to be a
 * work request.
 */
bool direct_get_list_sync(struct direct_access *direct, const struct softverbs_piece *pieces, size_t count);

/* Whether direct_word is worth a try. */
static inline bool direct_has_stores(const struct direct_access *direct)
{
	return direct->self || direct->functions.lend;
}

/*
 * Returns the address in this process of aligned words in one slab of the peer, or NULL if they are
 * not mapped. The answer of direct_word for a slab never changes, so that all values of a flag take
 * one route and none overtakes another. A caller that reads, or writes a word once, may use
 * direct_words earlier: just after connecting the device may still wait for the peer, and a
 * negative answer is not kept.
 */
uint64_t *direct_words(struct direct_access *direct, struct remote words, size_t size_bytes);
uint64_t *direct_word(struct direct_access *direct, struct remote word);

/*
 * Writes a flag word that need not stay behind work requests: by a store if the word is mapped,
 * else by wire_flag, which uses `before` and `number` and returns the errors.
 */
static inline int direct_flag(struct direct_access *direct, uint64_t before, uint64_t value, struct remote target,
                              uint64_t *number)
{
	uint64_t *word = direct_has_stores(direct) ? direct_word(direct, target) : NULL;

	if (!word)
		return wire_flag(direct->wire, before, value, target, number);
	flag_store(word, value); /* pairs with what the caller names */
	return 0;
}

#endif
