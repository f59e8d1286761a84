// SPDX-License-Identifier: BSD-2-Clause
/*
 * byteq.h - bytes that wait to be written
 *
 * A queue in one block of memory that grows when needed, up to a bound given with each append, and
 * is given back when the queue is empty. All zero is an empty queue.
 */
#ifndef ORIEL_WIRE_BYTEQ_H
#define ORIEL_WIRE_BYTEQ_H

#include <stddef.h>
#include <stdint.h>

struct byteq {
	uint8_t *block;  /* NULL while nothing was ever queued or all was taken */
	size_t capacity; /* bytes of block */
	size_t start;    /* where the first waiting byte is */
	size_t size;     /* bytes that wait */
};

/*
 * Add bytes at the end. Returns 0, or -1, unchanged, if more than max_bytes would wait or memory is
 * short.
 */
int byteq_append(struct byteq *queue, const void *bytes, size_t size, size_t max_bytes);

/* The first waiting byte; queue->size of them follow one another. */
const uint8_t *byteq_head(const struct byteq *queue);

/* Forget the first size bytes, which wait. */
void byteq_drop(struct byteq *queue, size_t size);

/* Forget everything. */
void byteq_clear(struct byteq *queue);

#endif
