// SPDX-License-Identifier: BSD-2-Clause
/* table.h - our side of a segmented table that peers read or write; its layout is in layout.h */
#ifndef ORIEL_TABLE_H
#define ORIEL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "verbs/layout.h"

struct slabs;

/*
 * Make segment `segment` of a table if it is not there: *base becomes its first element here, and
 * the root tells peers of the device with that index where it lies. The caller holds the lock that
 * guards both. ERRORS: ORIEL_ERR_MEMORY, ORIEL_ERR_LIMIT.
 */
int table_add_segment(struct slabs *slabs, uint32_t device, struct table_root *root, uint32_t segment,
                      size_t element_bytes, void **base);

/* The table is for peers of another device from now on; base[] are its segments, NULL where there is none yet. */
void table_set_device(struct slabs *slabs, uint32_t device, struct table_root *root, void *const base[TABLE_SEGMENTS]);

#endif
