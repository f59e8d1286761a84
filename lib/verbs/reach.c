// SPDX-License-Identifier: BSD-2-Clause
/* reach.c - see reach.h. */
#include "verbs/reach.h"

#include "base/order.h"

void reach_init(struct reach *reach, struct wire *wire, const struct device *device, bool self)
{
	reach->wire = wire;
	reach->lender = device->lender;
	reach->self = self;
	reach->slab_count = 0;
}

/* Ask the provider for a region. The caller holds wire->lock. */
static bool map_region(const struct reach *reach, uint32_t rkey, struct softverbs_lent *lent)
{
	const unsigned access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	const struct wire *wire = reach->wire;

	return reach->lender.lend && wire->state == WIRE_UP && wire->qp &&
	       reach->lender.lend(wire->qp, rkey, access, lent) == 0;
}

bool reach_region(struct reach *reach, struct remote base, size_t size_bytes, void **here)
{
	struct softverbs_lent lent;
	bool mapped;

	*here = (void *)(uintptr_t)base.addr;
	if (reach->self)
		return true;
	owned_lock_take(&reach->wire->lock);
	mapped = map_region(reach, base.rkey, &lent);
	owned_lock_give(&reach->wire->lock);
	if (!mapped)
		return false;
	*here = lent.here;
	if (lent.addr == base.addr && lent.size_bytes == size_bytes)
		return true;
	reach->lender.give_back(&lent); /* a region is a window; the peer is no Oriel of ours */
	return false;
}

void reach_return(struct reach *reach, void *here, size_t size_bytes)
{
	struct softverbs_lent lent = { .size_bytes = size_bytes, .here = here };

	if (!reach->self)
		reach->lender.give_back(&lent);
}

static bool move(struct reach *reach, void *here, size_t size_bytes, struct remote there, bool write)
{
	struct wire *wire = reach->wire;
	bool moved;

	if (!reach_moves(reach))
		return false;
	owned_lock_take(&wire->lock);
	moved = wire->state == WIRE_UP && wire->batched == 0 && wire->qp && size_bytes <= wire->max_message_bytes &&
	        reach->lender.move(wire->qp, there.rkey, there.addr, here, size_bytes, write) == 0;
	owned_lock_give(&wire->lock);
	return moved;
}

bool reach_put(struct reach *reach, const void *here, size_t size_bytes, struct remote there)
{
	return move(reach, (void *)(uintptr_t)here, size_bytes, there, true);
}

bool reach_get(struct reach *reach, void *here, size_t size_bytes, struct remote there)
{
	return move(reach, here, size_bytes, there, false);
}

bool reach_copy(struct reach *reach, uint32_t rkey, uint64_t offset, void *at, void *here, uint32_t lkey,
                size_t size_bytes, bool put)
{
	struct wire *wire = reach->wire;
	bool copied;

	owned_lock_take(&wire->lock);
	copied = wire->state == WIRE_UP && wire->qp &&
	         reach->lender.move_lent(wire->qp, rkey, offset, at, here, lkey, size_bytes, put) == 0;
	owned_lock_give(&wire->lock);
	return copied;
}

static uint64_t *words_in(const struct reach_slab *slab, uint64_t addr, size_t size_bytes)
{
	uint64_t offset = addr - slab->addr;

	if (!slab->here || slab->size_bytes < size_bytes || offset > slab->size_bytes - size_bytes)
		return NULL;
	return (uint64_t *)(void *)(slab->here + offset);
}

static const struct reach_slab *find_slab(const struct reach *reach, uint32_t rkey, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (reach->slabs[i].rkey == rkey)
			return &reach->slabs[i];
	}
	return NULL;
}

/* Ask for a slab and keep the answer; NULL: it is no, and not to be kept. The caller holds wire->lock. */
static const struct reach_slab *add_slab(struct reach *reach, uint32_t rkey, bool keeps_no)
{
	struct reach_slab *slab = &reach->slabs[reach->slab_count];
	struct softverbs_lent lent;
	bool mapped = map_region(reach, rkey, &lent);

	if (!mapped && !keeps_no)
		return NULL;
	*slab = (struct reach_slab){ .rkey = rkey };
	if (mapped)
		*slab = (struct reach_slab){ rkey, lent.addr, lent.size_bytes, lent.here };
	state_store(&reach->slab_count, reach->slab_count + 1); /* pairs with the state_load of reach_word */
	return slab;
}

/* First use of a slab, unless another thread was faster. */
static uint64_t *ask_words(struct reach *reach, struct remote words, size_t size_bytes, bool keeps_no)
{
	const struct reach_slab *slab;

	owned_lock_take(&reach->wire->lock);
	slab = find_slab(reach, words.rkey, reach->slab_count);
	if (!slab && reach->slab_count < REACH_SLABS_MAX && reach->wire->state == WIRE_UP)
		slab = add_slab(reach, words.rkey, keeps_no);
	owned_lock_give(&reach->wire->lock);
	return slab ? words_in(slab, words.addr, size_bytes) : NULL;
}

static uint64_t *find_words(struct reach *reach, struct remote words, size_t size_bytes, bool keeps_no)
{
	uint32_t count = state_load(&reach->slab_count); /* pairs with add_slab */
	const struct reach_slab *slab;

	if (reach->self)
		return (uint64_t *)(uintptr_t)words.addr;
	if (!reach->lender.lend || state_load(&reach->wire->state) != WIRE_UP)
		return NULL;
	slab = find_slab(reach, words.rkey, count);
	if (slab)
		return words_in(slab, words.addr, size_bytes);
	return count < REACH_SLABS_MAX ? ask_words(reach, words, size_bytes, keeps_no) : NULL;
}

uint64_t *reach_words(struct reach *reach, struct remote words, size_t size_bytes)
{
	return find_words(reach, words, size_bytes, false);
}

uint64_t *reach_word(struct reach *reach, struct remote word)
{
	return find_words(reach, word, sizeof(uint64_t), true);
}

void reach_close(struct reach *reach)
{
	for (uint32_t i = 0; i < reach->slab_count; i++) {
		if (reach->slabs[i].here)
			reach_return(reach, reach->slabs[i].here, reach->slabs[i].size_bytes);
	}
	reach->slab_count = 0;
}
