// SPDX-License-Identifier: BSD-2-Clause
/* See direct_access.h. */
#include "verbs/direct_access.h"

#include "base/order.h"

void direct_init(struct direct_access *direct, struct wire *wire, const struct device *device, bool self)
{
	direct->wire = wire;
	direct->functions = device->direct;
	direct->self = self;
	direct->slab_count = 0;
}

/* Maps a region by the device's function. The caller holds wire->lock. */
static bool map_region(const struct direct_access *direct, uint32_t rkey, struct softverbs_mapping *mapping)
{
	const unsigned access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	const struct wire *wire = direct->wire;

	return direct->functions.map && wire->state == WIRE_UP && wire->qp &&
	       direct->functions.map(wire->qp, rkey, access, mapping) == 0;
}

bool direct_map(struct direct_access *direct, struct remote base, size_t size_bytes, void **here)
{
	struct softverbs_mapping mapping;
	bool mapped;

	*here = (void *)(uintptr_t)base.addr;
	if (direct->self)
		return true;
	owned_lock_take(&direct->wire->lock);
	mapped = map_region(direct, base.rkey, &mapping);
	owned_lock_give(&direct->wire->lock);
	if (!mapped)
		return false;
	*here = mapping.here;
	if (mapping.addr == base.addr && mapping.size_bytes == size_bytes)
		return true;
	direct->functions.unmap(&mapping); /* not a whole region: the peer has another layout */
	return false;
}

void direct_unmap(struct direct_access *direct, void *here, size_t size_bytes)
{
	struct softverbs_mapping mapping = { .size_bytes = size_bytes, .here = here };

	if (!direct->self)
		direct->functions.unmap(&mapping);
}

/* Returns whether nothing is left to be posted: the device may copy at once. With wire->lock. */
static bool may_copy(const struct wire *wire)
{
	return wire->state == WIRE_UP && wire->batched == 0 && wire->qp;
}

/* With wire->lock. */
static inline bool move(struct direct_access *direct, void *here, size_t size_bytes, struct remote there, bool write)
{
	struct wire *wire = direct->wire;

	return may_copy(wire) && size_bytes <= wire->max_message_bytes &&
	       direct->functions.move(wire->qp, there.rkey, there.addr, here, size_bytes, write) == 0;
}

bool direct_put_sync(struct direct_access *direct, const void *here, size_t size_bytes, struct remote there)
{
	bool moved;

	owned_lock_take(&direct->wire->lock);
	moved = move(direct, (void *)(uintptr_t)here, size_bytes, there, true);
	owned_lock_give(&direct->wire->lock);
	return moved;
}

bool direct_get_sync(struct direct_access *direct, void *here, size_t size_bytes, struct remote there)
{
	bool moved;

	owned_lock_take(&direct->wire->lock);
	moved = move(direct, here, size_bytes, there, false);
	owned_lock_give(&direct->wire->lock);
	return moved;
}

bool direct_put_alone_sync(struct direct_access *direct, uint64_t epoch, const void *here, size_t size_bytes,
                           struct remote there)
{
	bool first, moved;

	owned_lock_take(&direct->wire->lock);
	first = direct->put_epoch != epoch;
	moved = first && !direct->puts_many && move(direct, (void *)(uintptr_t)here, size_bytes, there, true);
	direct->put_epoch = epoch;
	direct->puts_many = !first;
	owned_lock_give(&direct->wire->lock);
	return moved;
}

bool direct_polls(struct direct_access *direct)
{
	struct wire *wire = direct->wire;
	bool polls;

	if (!direct->functions.polls)
		return false;
	owned_lock_take(&wire->lock);
	polls = wire->state == WIRE_UP && wire->qp && direct->functions.polls(wire->qp);
	owned_lock_give(&wire->lock);
	return polls;
}

bool direct_get_list_sync(struct direct_access *direct, const struct softverbs_piece *pieces, size_t count)
{
	struct wire *wire = direct->wire;
	bool moved;

	owned_lock_take(&wire->lock);
	moved = may_copy(wire) && direct->functions.read_list(wire->qp, pieces, count) == 0;
	owned_lock_give(&wire->lock);
	return moved;
}

uint64_t direct_put_list_sync(struct direct_access *direct, const struct softverbs_piece *pieces, size_t count)
{
	struct wire *wire = direct->wire;
	uint64_t written;

	owned_lock_take(&wire->lock);
	written = may_copy(wire) ? direct->functions.write_list(wire->qp, pieces, count) : 0;
	owned_lock_give(&wire->lock);
	return written;
}

bool direct_pull(struct direct_access *direct, uint64_t addr, void *here, size_t size_bytes)
{
	struct wire *wire = direct->wire;
	bool pulled;

	if (!direct->functions.pull)
		return false;
	owned_lock_take(&wire->lock);
	pulled = wire->state == WIRE_UP && wire->qp && direct->functions.pull(wire->qp, addr, here, size_bytes) == 0;
	owned_lock_give(&wire->lock);
	return pulled;
}

static uint64_t *words_in(const struct direct_slab *slab, uint64_t addr, size_t size_bytes)
{
	uint64_t offset = addr - slab->addr;

	if (!slab->here || slab->size_bytes < size_bytes || offset > slab->size_bytes - size_bytes)
		return NULL;
	return (uint64_t *)(void *)(slab->here + offset);
}

static const struct direct_slab *find_slab(const struct direct_access *direct, uint32_t rkey, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (direct->slabs[i].rkey == rkey)
			return &direct->slabs[i];
	}
	return NULL;
}

/* Maps a slab. Keeps a failure only if keeps_no, else returns NULL. The caller holds wire->lock. */
static const struct direct_slab *add_slab(struct direct_access *direct, uint32_t rkey, bool keeps_no)
{
	struct direct_slab *slab = &direct->slabs[direct->slab_count];
	struct softverbs_mapping mapping;
	bool mapped = map_region(direct, rkey, &mapping);

	if (!mapped && !keeps_no)
		return NULL;
	*slab = (struct direct_slab){ .rkey = rkey };
	if (mapped)
		*slab = (struct direct_slab){ rkey, mapping.addr, mapping.size_bytes, mapping.here };
	state_store(&direct->slab_count, direct->slab_count + 1); /* pairs with the state_load in find_words */
	return slab;
}

/* Maps a slab at its first use, unless another thread has. */
static uint64_t *ask_words(struct direct_access *direct, struct remote words, size_t size_bytes, bool keeps_no)
{
	const struct direct_slab *slab;

	owned_lock_take(&direct->wire->lock);
	slab = find_slab(direct, words.rkey, direct->slab_count);
	if (!slab && direct->slab_count < DIRECT_SLABS_MAX && direct->wire->state == WIRE_UP)
		slab = add_slab(direct, words.rkey, keeps_no);
	owned_lock_give(&direct->wire->lock);
	return slab ? words_in(slab, words.addr, size_bytes) : NULL;
}

static uint64_t *find_words(struct direct_access *direct, struct remote words, size_t size_bytes, bool keeps_no)
{
	uint32_t count = state_load(&direct->slab_count); /* pairs with add_slab */
	const struct direct_slab *slab;

	if (direct->self)
		return (uint64_t *)(uintptr_t)words.addr;
	if (!direct->functions.map || state_load(&direct->wire->state) != WIRE_UP)
		return NULL;
	slab = find_slab(direct, words.rkey, count);
	if (slab)
		return words_in(slab, words.addr, size_bytes);
	return count < DIRECT_SLABS_MAX ? ask_words(direct, words, size_bytes, keeps_no) : NULL;
}

uint64_t *direct_words(struct direct_access *direct, struct remote words, size_t size_bytes)
{
	return find_words(direct, words, size_bytes, false);
}

void *direct_place(struct direct_access *direct, struct remote place, size_t size_bytes)
{
	return find_words(direct, place, size_bytes, true);
}

void direct_close(struct direct_access *direct)
{
	for (uint32_t i = 0; i < direct->slab_count; i++) {
		if (direct->slabs[i].here)
			direct_unmap(direct, direct->slabs[i].here, direct->slabs[i].size_bytes);
	}
	direct->slab_count = 0;
}
