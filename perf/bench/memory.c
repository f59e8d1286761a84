// SPDX-License-Identifier: BSD-2-Clause
/* memory.c - see memory.h. */
#include "bench/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096u
#define HUGE_BYTES ((size_t)2 << 20)

/* Returns huge pages of the pool, else transparent ones. */
static void *make_huge(size_t bytes)
{
	size_t whole = (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	void *base = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (base != MAP_FAILED)
		return base;
	if (posix_memalign(&base, HUGE_BYTES, whole))
		return NULL;
	if (madvise(base, whole, MADV_HUGEPAGE) == 0) {
		fprintf(stderr,
		        "perf: no huge pages in the pool (sysctl vm.nr_hugepages); transparent ones have been asked for\n");
		return base;
	}
	fprintf(stderr, "perf: no huge pages: %s; sysctl vm.nr_hugepages=%zu makes some\n", strerror(errno),
	        whole / HUGE_BYTES);
	free(base);
	return NULL;
}

uint8_t *memory_make(enum perf_memory kind, size_t bytes)
{
	void *base = NULL;

	if (kind == MEMORY_HUGE) {
		base = make_huge(bytes);
	} else if (posix_memalign(&base, PAGE_BYTES, (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1))) {
		fprintf(stderr, "perf: no memory for a buffer of %zu bytes\n", bytes);
		return NULL;
	}
	if (base)
		memset(base, 0, bytes);
	return base;
}

void data_fill(uint8_t *data, size_t bytes, int from, uint8_t mark, bool marked)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = data_byte(from, mark, i);
	if (marked && bytes > 0)
		data[bytes - 1] = mark;
}

size_t data_check(const uint8_t *data, size_t bytes, int from, uint8_t mark, bool marked)
{
	size_t plain = marked && bytes > 0 ? bytes - 1 : bytes;

	for (size_t i = 0; i < plain; i++) {
		if (data[i] != data_byte(from, mark, i))
			return i;
	}
	return plain < bytes && data[plain] != mark ? plain : bytes;
}

static void doubles_fill(uint8_t *data, size_t bytes, int from, uint8_t mark)
{
	double *to = (double *)(void *)data;

	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] = 1 + data_byte(from, mark, i);
}

static size_t doubles_check(const uint8_t *data, size_t bytes, int from, uint8_t mark, long times)
{
	const double *sums = (const double *)(const void *)data;
	size_t i = 0;

	while (i < bytes / sizeof(*sums) && sums[i] == (double)times * (1 + data_byte(from, mark, i)))
		i++;
	return i < bytes / sizeof(*sums) ? i * sizeof(*sums) : bytes;
}

static size_t chars_check(const uint8_t *data, size_t bytes, int from, uint8_t mark, long times)
{
	size_t i = 0;

	while (i < bytes && data[i] == (uint8_t)((uint8_t)times * data_byte(from, mark, i)))
		i++;
	return i;
}

static size_t longs_check(const uint8_t *data, size_t bytes, int from, uint8_t mark, long times)
{
	const uint64_t *sums = (const uint64_t *)(const void *)data;

	for (size_t i = 0; i < bytes / sizeof(*sums); i++) {
		uint64_t one = 0;

		for (size_t byte = sizeof(one); byte-- > 0;)
			one = one << 8 | data_byte(from, mark, i * sizeof(one) + byte);
		if (sums[i] != one * (uint64_t)times)
			return i * sizeof(one);
	}
	return bytes;
}

void sums_fill(enum perf_type type, uint8_t *data, size_t bytes, int from, uint8_t mark)
{
	if (type == TYPE_DOUBLE)
		doubles_fill(data, bytes, from, mark);
	else
		data_fill(data, bytes, from, mark, false);
}

size_t sums_check(enum perf_type type, const uint8_t *data, size_t bytes, int from, uint8_t mark, long times)
{
	if (type == TYPE_DOUBLE)
		return doubles_check(data, bytes, from, mark, times);
	return (type == TYPE_CHAR ? chars_check : longs_check)(data, bytes, from, mark, times);
}
