// SPDX-License-Identifier: BSD-2-Clause
/* memory.h - buffers of the kinds of --memory, and their bytes */
#ifndef ORIEL_PERF_MEMORY_H
#define ORIEL_PERF_MEMORY_H

#include "bench/backend.h"

/*
 * Returns page-aligned, touched memory for the process's lifetime, or NULL after printing the
 * error.
 */
uint8_t *memory_make(enum perf_memory kind, size_t bytes);

/*
 * Returns byte `at` of rank `from`'s data in a turn, which differs from that of the previous turn.
 */
static inline uint8_t data_byte(int from, uint8_t mark, size_t at)
{
	return (uint8_t)(at * 167 + (at >> 8) * 29 + (size_t)mark * 37 + (size_t)from * 101);
}

/* Fills `bytes` bytes; the last becomes `mark` if `marked`. */
void data_fill(uint8_t *data, size_t bytes, int from, uint8_t mark, bool marked);

/* Returns the index of the first byte that differs from data_fill's, or `bytes`. */
size_t data_check(const uint8_t *data, size_t bytes, int from, uint8_t mark, bool marked);

/*
 * data_fill() and data_check() for elements of sums: small integers if doubles, each added `times`
 * times to 0.
 */
void sums_fill(enum perf_type type, uint8_t *data, size_t bytes, int from, uint8_t mark);
size_t sums_check(enum perf_type type, const uint8_t *data, size_t bytes, int from, uint8_t mark, long times);

#endif
