// SPDX-License-Identifier: BSD-2-Clause
/*
 * direct_access.h - loads and stores to a peer's memory instead of work requests
 *
 * DESIGN NOTES
 *
 * Whether the processor can do it is decided here and nowhere else. There are two providers: a rank
 * uses its own memory as it is, and softverbs maps a peer's shared memory into this process
 * (struct verbs_direct); a NIC does not. Two things are mapped, both at the first use:
 *
 *   a window's memory   direct_map: an address of ours, which put and get copy to and from
 *   flag words          direct_flag: a store where it would be a work request. Only for flags that need
 *                       not stay behind work requests: posts, the barrier of a fence, whose data is
 *                       complete by then, and the completes of a mapped window, whose data are stores
 *                       before it.
 *
 * A store into the memory of a process that has died is not noticed; who needs it is told by the
 * next call that needs it alive. Nobody checks an access to mapped memory but the caller, who has
 * checked the range in any case. A window is given back when it is freed: after the barrier of that
 * nobody touches it, whoever deregisters first. Slabs with flag words go with the peer.
 */
#ifndef ORIEL_DIRECT_ACCESS_H
#define ORIEL_DIRECT_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/wire.h"

#define DIRECT_SLABS_MAX 8 /* slabs of a peer that are asked for */

/* A registered region of the peer's, asked for once. */
struct direct_slab {
	uint32_t rkey;
	uint64_t addr; /* there */
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

/* Give back the slabs; nobody uses the wire any more. */
void direct_close(struct direct_access *direct);

/*
 * Whether all of the peer's region [base, base + size_bytes), registered as such, can be mapped;
 * *here is where it is in this process (NULL for the empty window of NULL). direct_unmap gives it
 * back.
 */
bool direct_map(struct direct_access *direct, struct remote base, size_t size_bytes, void **here);
void direct_unmap(struct direct_access *direct, void *here, size_t size_bytes);

/* Whether direct_put_sync and direct_get_sync are worth a try. */
static inline bool direct_has_copy_sync(const struct direct_access *direct)
{
	return direct->functions.move;
}

/*
 * Put `size_bytes` of ours at `there`, or get them, at once, behind all that was posted before;
 * `here` is free again. False: it has to be a work request.
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
 * Where aligned words of the peer's in one slab are in this process, or NULL if they are not
 * reached. What direct_word has said of a slab is said of it for ever, so that a flag's values all
 * go one way and none overtakes another. Whoever reads, or writes a word once, may ask earlier, by
 * direct_words: a device that has just connected may still wait for the peer itself, and that no is
 * not kept.
 */
uint64_t *direct_words(struct direct_access *direct, struct remote words, size_t size_bytes);
uint64_t *direct_word(struct direct_access *direct, struct remote word);

/*
 * Write a flag word that need not stay behind work requests: a store where the word is reached,
 * else wire_flag, which `before`, `number` and the errors are for.
 */
static inline int direct_flag(struct direct_access *direct, uint64_t before, uint64_t value, struct remote target,
                              uint64_t *number)
{
	uint64_t *word = direct_has_stores(direct) ? direct_word(direct, target) : NULL;

	if (!word)
		return wire_flag(direct->wire, before, value, target, number);
	flag_store(word, value); /* pairs with whatever the caller says the flag pairs with */
	return 0;
}

#endif
