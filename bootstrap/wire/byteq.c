// SPDX-License-Identifier: BSD-2-Clause
/* byteq.c - a queue of bytes to be written; see byteq.h. */
#include "wire/byteq.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BYTEQ_FIRST_BYTES 1024

const uint8_t *byteq_head(const struct byteq *queue)
{
	return queue->block + queue->start;
}

static void move_to_front(struct byteq *queue)
{
	if (queue->start == 0)
		return;
	memmove(queue->block, queue->block + queue->start, queue->size);
	queue->start = 0;
}

static int grow(struct byteq *queue, size_t needed)
{
	size_t capacity = queue->capacity ? queue->capacity : BYTEQ_FIRST_BYTES;
	uint8_t *block;

	while (capacity < needed)
		capacity *= 2;
	block = realloc(queue->block, capacity);
	if (!block)
		return -1;
	queue->block = block;
	queue->capacity = capacity;
	return 0;
}

/* Moving copies all queued bytes, so it waits until at least as many have been dropped. */
static int make_room(struct byteq *queue, size_t size)
{
	if (queue->capacity - queue->start - queue->size >= size)
		return 0;
	if (queue->start >= queue->size)
		move_to_front(queue);
	if (queue->capacity - queue->start - queue->size >= size)
		return 0;
	return grow(queue, queue->start + queue->size + size);
}

int byteq_append(struct byteq *queue, const void *bytes, size_t size, size_t max_bytes)
{
	if (size > max_bytes || queue->size > max_bytes - size)
		return -1;
	if (size == 0)
		return 0;
	if (make_room(queue, size) != 0)
		return -1;
	memcpy(queue->block + queue->start + queue->size, bytes, size);
	queue->size += size;
	return 0;
}

void byteq_drop(struct byteq *queue, size_t size)
{
	assert(size <= queue->size);
	queue->start += size;
	queue->size -= size;
	if (queue->size == 0)
		byteq_clear(queue);
}

void byteq_clear(struct byteq *queue)
{
	free(queue->block);
	memset(queue, 0, sizeof(*queue));
}
