// SPDX-License-Identifier: BSD-2-Clause
/*
 * reach.h - memory of a peer as ours: loads and stores instead of work requests
 *
 * DESIGN NOTES
 *
 * Whether the processor can do it is decided here and nowhere else. There are two providers: a rank
 * reaches its own memory as it is, and softverbs maps a peer's shared memory into this process
 * (struct verbs_lender); a NIC does not. Two things are reached, both asked for at the first use:
 *
 *   a window's memory   reach_region: an address of ours, which put and get copy to and from
 *   flag words          reach_flag: a store where it would be a work request. Only for flags that need
 *                       not stay behind work requests: posts, the barrier of a fence, whose data is
 *                       complete by then, and the completes of a mapped window, whose data are stores
 *                       before it.
 *
 * A peer that waits has a processor to spare: of many bytes it copies a part, where the provider can ask it
 * to (reach_copy).
 *
 * A store into the memory of a process that has died is not noticed; who needs it is told by the
 * next call that needs it alive. Nobody checks an access to mapped memory but the caller, who has
 * checked the range in any case. A window is given back when it is freed: after the barrier of that
 * nobody touches it, whoever deregisters first. Slabs with flag words go with the peer.
 */
#ifndef ORIEL_REACH_H
#define ORIEL_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/wire.h"

#define REACH_SLABS_MAX 8 /* slabs of a peer that are asked for */

/* A registered region of the peer's, asked for once. */
struct reach_slab {
	uint32_t rkey;
	uint64_t addr; /* there */
	size_t size_bytes;
	uint8_t *here; /* NULL: it cannot be reached */
};

struct reach {
	struct wire *wire;
	struct verbs_lender lender; /* the device's */
	bool self;                  /* the peer is this process */
	uint32_t slab_count;        /* of slabs; written under wire->lock, read by state_load */
	struct reach_slab slabs[REACH_SLABS_MAX];
};

void reach_init(struct reach *reach, struct wire *wire, const struct device *device, bool self);

/* Give back the slabs; nobody uses the wire any more. */
void reach_close(struct reach *reach);

/*
 * Whether all of the peer's region [base, base + size_bytes), registered as such, can be reached;
 * *here is where it is in this process (NULL for the empty window of NULL). reach_return gives it
 * back.
 */
bool reach_region(struct reach *reach, struct remote base, size_t size_bytes, void **here);
void reach_return(struct reach *reach, void *here, size_t size_bytes);

/* Whether reach_put and reach_get are worth a try. */
static inline bool reach_moves(const struct reach *reach)
{
	return reach->lender.move;
}

/*
 * Put `size_bytes` of ours at `there`, or get them, at once, behind all that was posted before; `here` is
 * free again. False: it has to be a work request.
 */
bool reach_put(struct reach *reach, const void *here, size_t size_bytes, struct remote there);
bool reach_get(struct reach *reach, void *here, size_t size_bytes, struct remote there);

#define REACH_SHARED_MIN ((size_t)SOFTVERBS_SHARE_MIN) /* bytes: from here on a peer that waits helps copying */

/* Whether reach_copy is worth a try. */
static inline bool reach_shares(const struct reach *reach)
{
	return !reach->self && reach->lender.move_lent;
}

/*
 * Where reach_shares is true: copy between `here`, which is registered under lkey or 0, and a region that reach_region
 * has given: `at` is `offset` bytes into it. False: the caller copies.
 */
bool reach_copy(struct reach *reach, uint32_t rkey, uint64_t offset, void *at, void *here, uint32_t lkey,
                size_t size_bytes, bool put);

/* Whether reach_word is worth a try. */
static inline bool reach_stores(const struct reach *reach)
{
	return reach->self || reach->lender.lend;
}

/*
 * Where aligned words of the peer's in one slab are in this process, or NULL if they are not reached. What reach_word
 * has said of a slab is said of it for ever, so that a flag's values all go one way and none overtakes another. Whoever
 * reads, or writes a word once, may ask earlier, by reach_words: a device that has just connected may still wait for
 * the peer itself, and that no is not kept.
 */
uint64_t *reach_words(struct reach *reach, struct remote words, size_t size_bytes);
uint64_t *reach_word(struct reach *reach, struct remote word);

/*
 * Write a flag word that need not stay behind work requests: a store where the word is reached, else
 * wire_flag, which `before`, `number` and the errors are for.
 */
static inline int reach_flag(struct reach *reach, uint64_t before, uint64_t value, struct remote target,
                             uint64_t *number)
{
	uint64_t *word = reach_stores(reach) ? reach_word(reach, target) : NULL;

	if (!word)
		return wire_flag(reach->wire, before, value, target, number);
	flag_store(word, value); /* pairs with whatever the caller says the flag pairs with */
	return 0;
}

#endif
