// SPDX-License-Identifier: BSD-2-Clause
/* lend.c - see lend.h. */
#include "verbs/lend.h"

#include <dlfcn.h>
#include <string.h>

#include "base/order.h"

typedef int lend_fn(struct ibv_qp *qp, uint32_t rkey, unsigned int access, struct lent *lent);
typedef void give_back_fn(const struct lent *lent);

/* What only softverbs has is looked for by name: the library links with any libibverbs. */
static bool device_function(const char *name, void *pointer)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	memcpy(pointer, &function, sizeof(function)); /* ISO C has no cast from an object's address to a function's */
	return function;
}

bool lend_offered(void)
{
	lend_fn *lend;

	return device_function("softverbs_lend", &lend);
}

/* The caller holds wire->lock. */
static bool borrow(struct wire *wire, uint32_t rkey, struct lent *lent)
{
	lend_fn *lend;

	return wire->state == WIRE_UP && wire->qp && device_function("softverbs_lend", &lend) &&
	       lend(wire->qp, rkey, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, lent) == 0;
}

static void give_back(const struct lent *lent)
{
	give_back_fn *give;

	if (device_function("softverbs_give_back", &give))
		give(lent);
}

void lend_ask(struct link *link)
{
	struct wire *wire = &link->peer->wire;
	struct lent lent;
	bool lends;

	link->lend_asked = true;
	if (link->read_only)
		return;
	owned_lock_take(&wire->lock);
	lends = borrow(wire, link->rkey, &lent);
	owned_lock_give(&wire->lock);
	if (!lends)
		return;
	if (lent.addr != link->base || lent.size_bytes != link->size_bytes) {
		give_back(&lent); /* a region is a window; the peer is no Oriel of ours */
		return;
	}
	link->base = (uintptr_t)lent.here;
	link->lent = true;
}

void lend_return(struct link *link)
{
	struct lent lent = { .size_bytes = link->size_bytes, .here = (void *)(uintptr_t)link->base };

	if (link->lent)
		give_back(&lent);
	link->lent = false;
}

static uint64_t *word_in(const struct lent_slab *slab, uint64_t addr)
{
	uint64_t offset = addr - slab->lent.addr;

	if (!slab->lent.here || slab->lent.size_bytes < sizeof(uint64_t) ||
	    offset > slab->lent.size_bytes - sizeof(uint64_t))
		return NULL;
	return (uint64_t *)(void *)((uint8_t *)slab->lent.here + offset);
}

static const struct lent_slab *find_slab(const struct wire *wire, uint32_t rkey, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (wire->lent_slabs[i].rkey == rkey)
			return &wire->lent_slabs[i];
	}
	return NULL;
}

/* First use of a slab, unless another thread was faster: ask, and keep the answer, which may be no. */
static uint64_t *ask_word(struct wire *wire, struct remote word)
{
	const struct lent_slab *known;
	uint64_t *found = NULL;

	owned_lock_take(&wire->lock);
	known = find_slab(wire, word.rkey, wire->slab_count);
	if (known) {
		found = word_in(known, word.addr);
	} else if (wire->slab_count < WIRE_SLABS_MAX && wire->state == WIRE_UP) {
		struct lent_slab *slab = &wire->lent_slabs[wire->slab_count];

		slab->rkey = word.rkey;
		if (!borrow(wire, word.rkey, &slab->lent))
			slab->lent.here = NULL;
		found = word_in(slab, word.addr);
		state_store(&wire->slab_count, wire->slab_count + 1); /* pairs with the state_load of lend_word */
	}
	owned_lock_give(&wire->lock);
	return found;
}

/* Where a word of the peer's is in this process, or NULL if it is not lent. */
static uint64_t *lend_word(struct wire *wire, struct remote word)
{
	uint32_t count = state_load(&wire->slab_count); /* pairs with ask_word */
	const struct lent_slab *slab;

	if (state_load(&wire->state) != WIRE_UP || wire->self)
		return NULL;
	slab = find_slab(wire, word.rkey, count);
	if (slab)
		return word_in(slab, word.addr);
	return count < WIRE_SLABS_MAX ? ask_word(wire, word) : NULL;
}

int lend_flag(struct wire *wire, uint64_t before, uint64_t value, struct remote target, uint64_t *number)
{
	uint64_t *word = lend_word(wire, target);

	if (!word)
		return wire_flag(wire, before, value, target, false, number);
	flag_store(word, value); /* pairs with whatever the caller says the flag pairs with */
	return 0;
}

void lend_return_words(struct wire *wire)
{
	for (uint32_t i = 0; i < wire->slab_count; i++) {
		if (wire->lent_slabs[i].lent.here)
			give_back(&wire->lent_slabs[i].lent);
	}
	wire->slab_count = 0;
}
