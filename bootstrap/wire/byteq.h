// SPDX-License-Identifier: BSD-2-Clause
/*
 * byteq.h - a queue of bytes to be written
 *
 * The queue is one block of memory. It grows up to a bound given with each append, and is freed
 * when empty. All zero is an empty queue.
 */
#ifndef ORIEL_WIRE_BYTEQ_H
#define ORIEL_WIRE_BYTEQ_H

#include <stddef.h>
#include <stdint.h>

struct byteq {
	uint8_t *block; /* NULL while the queue is empty */
	size_t capacity;
	size_t start; /* offset of the first queued byte */
	size_t size;  /* queued bytes */
};

/*
 * Appends bytes. Returns 0, or -1 (unchanged) if more than max_bytes would be queued or memory is
 * short.
 */
int byteq_append(struct byteq *queue, const void *bytes, size_t size, size_t max_bytes);

/* Returns the first queued byte; queue->size of them are contiguous. */
const uint8_t *byteq_head(const struct byteq *queue);

/* Drops the first size bytes; at least as many are queued. */
void byteq_drop(struct byteq *queue, size_t size);

void byteq_clear(struct byteq *queue);

#endif
