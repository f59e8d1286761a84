// SPDX-License-Identifier: BSD-2-Clause
/*
 * memory_node.h - memory that peers map lies on its owner's NUMA node
 *
 * DESIGN NOTES
 *
 * By default Linux places a page on the node of the thread that touches it first. If several
 * processes map the memory, that thread may be a peer's, and the owner then works on remote memory.
 * So the pages get a policy: the node on which the owner runs now, or the owner's own policy
 * (numactl, set_mempolicy). The policy belongs to the file, and holds whichever process touches a
 * page.
 */
#ifndef ORIEL_MEMORY_NODE_H
#define ORIEL_MEMORY_NODE_H

#include <stddef.h>

/*
 * Places the pages that begin in the range, whose file is shared, on the calling thread's node.
 * Existing pages stay where they are. Does nothing on a machine of one node, or if the system does
 * not allow it.
 */
void memory_node_bind(void *base, size_t size_bytes);

#endif
