// SPDX-License-Identifier: BSD-2-Clause
/* table.c - see table.h. */
#include "verbs/table.h"

#include "verbs/slab.h"

int table_add_segment(struct slabs *slabs, struct table_root *root, uint32_t segment, size_t element_bytes, void **base)
{
	struct segment_ref *ref = &root->segment[segment];
	struct piece piece;
	int rc;

	if (*base)
		return 0;
	rc = slab_alloc(slabs, table_segment_elements(segment) * element_bytes, &piece);
	if (rc)
		return rc;
	*base = piece.addr;
	ref->addr = (uint64_t)(uintptr_t)piece.addr;
	ref->rkey = piece.rkey;
	ref->check =
		segment_check(ref); /* a peer that reads the root meanwhile finds a check that is wrong, and reads again */
	return 0;
}
