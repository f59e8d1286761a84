// SPDX-License-Identifier: BSD-2-Clause
/*
 * direct_access.h - loads and stores to a peer's memory instead of work requests
 *
 * DESIGN NOTES
 *
 * A rank accesses its own memory directly, and a peer's if softverbs maps it. Mapped are, at their
 * first use:
 *
 *   a window's memory   direct_map: an address here, which put and get copy to and from
 *   flag words          direct_flag: a store, for flags that need not stay behind work requests:
 *                       posts; a fence's barrier, whose data is complete by then; and completes of
 *                       a mapped window, whose data are earlier stores
 *   active messages     direct_words, direct_place: message, answer
 *
 * A store into a dead process's memory goes unnoticed; the next call that needs it reports the
 * death. The caller checks the range. A window is unmapped when it is freed, slabs with the peer.
 */
#ifndef ORIEL_DIRECT_ACCESS_H
#define ORIEL_DIRECT_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "verbs/wire.h"

#define DIRECT_SLABS_MAX 8 /* of a peer */

/* A registered region of the peer; its first answer is kept. */
struct direct_slab {
	uint32_t rkey;
	uint64_t addr; /* at the peer */
	size_t size_bytes;
	uint8_t *here; /* NULL: it cannot be mapped */
};

struct direct_access {
	struct wire *wire;
	struct verbs_direct functions;
	bool self;           /* the peer is this process */
	uint32_t slab_count; /* written under wire->lock, read by state_load */
	struct direct_slab slabs[DIRECT_SLABS_MAX];
	uint64_t put_epoch; /* of the last put; guarded by wire->lock, as puts_many */
	bool puts_many;     /* that epoch had several */
};

void direct_init(struct direct_access *direct, struct wire *wire, const struct device *device, bool self);

/* Unmaps the slabs. No thread uses the wire any more. */
void direct_close(struct direct_access *direct);

/*
 * Maps the peer's registered region [base, base + size_bytes); *here is its address in this process
 * (NULL for an empty window at NULL). Returns whether all of it is mapped.
 */
bool direct_map(struct direct_access *direct, struct remote base, size_t size_bytes, void **here);
void direct_unmap(struct direct_access *direct, void *here, size_t size_bytes);

static inline bool direct_has_copy_sync(const struct direct_access *direct)
{
	return direct->functions.move;
}

/*
 * Copies between `here` and `there` in the call, behind all that was posted before; `here` is then
 * free. False: use a work request. direct_has_copy_sync is true.
 */
bool direct_put_sync(struct direct_access *direct, const void *here, size_t size_bytes, struct remote there);
bool direct_get_sync(struct direct_access *direct, void *here, size_t size_bytes, struct remote there);

/* Does so for the first put of an epoch, if the last one had no second. */
bool direct_put_alone_sync(struct direct_access *direct, uint64_t epoch, const void *here, size_t size_bytes,
                           struct remote there);

/* Returns whether a thread of the peer polls now, as far as known. */
bool direct_polls(struct direct_access *direct);

static inline bool direct_has_lists(const struct direct_access *direct)
{
	return direct->functions.read_list;
}

/* Gets all pieces, behind all that was posted before. False: use a work request for each. */
bool direct_get_list_sync(struct direct_access *direct, const struct softverbs_piece *pieces, size_t count);

static inline bool direct_has_list_puts(const struct direct_access *direct)
{
	return direct->functions.write_list;
}

/* Puts all pieces likewise, in order. Returns the bytes put. */
uint64_t direct_put_list_sync(struct direct_access *direct, const struct softverbs_piece *pieces, size_t count);

/* Reads memory whose address the peer has sent. Returns false if that fails. */
bool direct_pull(struct direct_access *direct, uint64_t addr, void *here, size_t size_bytes);

/* Returns whether direct_word may succeed. */
static inline bool direct_has_stores(const struct direct_access *direct)
{
	return direct->self || direct->functions.map;
}

/*
 * Returns the address in this process of aligned words in one slab of the peer, or NULL.
 * direct_place never changes its answer for a slab, so that no value of a flag takes another route
 * and overtakes. direct_words keeps no negative answer, since the device may still wait for the
 * peer: it is for reads, and for words written once.
 */
uint64_t *direct_words(struct direct_access *direct, struct remote words, size_t size_bytes);
void *direct_place(struct direct_access *direct, struct remote place, size_t size_bytes);

static inline uint64_t *direct_word(struct direct_access *direct, struct remote word)
{
	return direct_place(direct, word, sizeof(uint64_t));
}

/*
 * Writes a flag word that need not stay behind work requests: by a store if the word is mapped,
 * else by wire_flag.
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

/* Writes what a later request makes known: by stores, or by wire_write. */
static inline int direct_write(struct direct_access *direct, const void *from, size_t size_bytes, struct remote target)
{
	void *here = direct_has_stores(direct) ? direct_words(direct, target, size_bytes) : NULL;

	if (!here)
		return wire_write(direct->wire, from, size_bytes, target);
	memcpy(here, from, size_bytes);
	return 0;
}

#endif
