// SPDX-License-Identifier: BSD-2-Clause
/* memory.h - buffers of the kinds that --memory names, and the bytes in them */
#ifndef ORIEL_PERF_MEMORY_H
#define ORIEL_PERF_MEMORY_H

#include "bench/backend.h"

/* Page-aligned, touched memory that lives until the process ends; NULL after telling why not. */
uint8_t *memory_make(enum perf_memory kind, size_t bytes);

/* Byte `at` of the data that rank `from` sends in a turn; differs from that of the turn before. */
static inline uint8_t data_byte(int from, uint8_t mark, size_t at)
{
	return (uint8_t)(at * 167 + (at >> 8) * 29 + (size_t)mark * 37 + (size_t)from * 101);
}

/* Fill `bytes` bytes; the last becomes `mark` if `marked`. */
void data_fill(uint8_t *data, size_t bytes, int from, uint8_t mark, bool marked);

/* The index of the first byte that is not what data_fill writes, or `bytes`. */
size_t data_check(const uint8_t *data, size_t bytes, int from, uint8_t mark, bool marked);

/* The same for sums: `bytes` bytes of elements, small whole numbers if doubles, and whether `times` of each have been added to 0. */
void sums_fill(enum perf_type type, uint8_t *data, size_t bytes, int from, uint8_t mark);
size_t sums_check(enum perf_type type, const uint8_t *data, size_t bytes, int from, uint8_t mark, long times);

#endif
