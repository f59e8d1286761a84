// SPDX-License-Identifier: BSD-2-Clause
/* table.h - our side of a segmented table that peers read or write; layout.h has its layout */
#ifndef ORIEL_TABLE_H
#define ORIEL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "verbs/layout.h"

struct slabs;

/*
 * Makes segment `segment` of a table unless it exists: *base becomes its first element here, and
 * the root gives its place to peers of the device with that index. The caller holds the lock that
 * guards both. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int table_add_segment(struct slabs *slabs, uint32_t device, struct table_root *root, uint32_t segment,
                      size_t element_bytes, void **base);

/*
 * Moves the table to peers of another device; base[] are its segments, NULL if there is none yet.
 */
void table_set_device(struct slabs *slabs, uint32_t device, struct table_root *root, void *const base[TABLE_SEGMENTS]);

#endif
