// SPDX-License-Identifier: BSD-2-Clause
/* See slab.h. */
#include "verbs/slab.h"

/* A peer that reads the root meanwhile finds a wrong check, and reads again. */
static void publish(struct segment_ref *ref, const void *base, uint32_t rkey)
{
	ref->check = 0;
	ref->addr = (uint64_t)(uintptr_t)base;
	ref->rkey = rkey;
	ref->check = segment_check(ref);
}

int table_add_segment(struct slabs *slabs, uint32_t device, struct table_root *root, uint32_t segment,
                      size_t element_bytes, void **base)
{
	struct piece piece;
	int rc;

	if (*base)
		return 0;
	rc = slab_alloc(slabs, table_segment_elements(segment) * element_bytes, &piece);
	if (rc)
		return rc;
	*base = piece.addr;
	publish(&root->segment[segment], piece.addr, piece.keys[device].rkey);
	return 0;
}

void table_set_device(struct slabs *slabs, uint32_t device, struct table_root *root, void *const base[TABLE_SEGMENTS])
{
	for (uint32_t i = 0; i < TABLE_SEGMENTS; i++) {
		if (base[i])
			publish(&root->segment[i], base[i], slab_rkey(slabs, base[i], device));
	}
}
