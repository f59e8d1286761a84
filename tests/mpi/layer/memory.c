// SPDX-License-Identifier: BSD-2-Clause
/* memory.c - what memory of MPI_Alloc_mem, and of windows, costs the program: rule W11 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "layer.h"

#define KIB ((size_t)1024)
#define MIB ((size_t)1 << 20)

static const size_t sizes[] = { 8, 4000, 64 * KIB, MIB, 40 * MIB };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

static void *allocated(size_t bytes)
{
	void *memory = NULL;

	MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory);
	return memory;
}

/* Whole pages in the memory that are there. */
static size_t pages_there(const void *memory, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0, pages;
	uintptr_t first = ((uintptr_t)memory + page - 1) / page * page, end = ((uintptr_t)memory + bytes) / page * page;
	unsigned char *there;

	if (end <= first)
		return 0;
	pages = (end - first) / page;
	there = malloc(pages);
	EXPECT(mincore((void *)first, end - first, there) == 0);
	for (size_t i = 0; i < pages; i++)
		count += there[i] & 1;
	free(there);
	return count;
}

static void W11_no_page_before_it_is_touched(void)
{
	char *memory = allocated(100 * MIB), *own;
	MPI_Win of_memory, allocated_window;

	EXPECT(pages_there(memory, 100 * MIB) == 0);
	MPI_Win_create(memory, (MPI_Aint)(100 * MIB), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &of_memory);
	MPI_Win_allocate((MPI_Aint)(100 * MIB), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &allocated_window);
	EXPECT(pages_there(own, 100 * MIB) <= 1); /* Open MPI's own has written something there */
	memory[0] = 1;
	memory[50 * MIB] = 1;
	EXPECT(pages_there(memory, 100 * MIB) <= 2);
	MPI_Win_free(&allocated_window);
	MPI_Win_free(&of_memory);
	MPI_Free_mem(memory);
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

#define PAGE ((size_t)4096)

static void use_once(size_t bytes, size_t stride)
{
	char *memory = allocated(bytes);

	for (size_t i = 0; i < bytes; i += stride)
		memory[i] = (char)i;
	MPI_Free_mem(memory);
}

/* What comes again and again is there: no page is touched for the first time. One rank looks, since
 * all keep alike. */
static void W11_loops_find_their_pages(void)
{
	if (layer_rank != 0)
		return;
	for (size_t i = 0; i < SIZES && sizes[i] <= 32 * MIB; i++) { /* of what is larger nothing is kept */
		const int rounds = 20;
		long before;

		for (int warm = 0; warm < 2; warm++)
			use_once(sizes[i], PAGE);
		before = faults();
		for (int round = 0; round < rounds; round++)
			use_once(sizes[i], PAGE);
		EXPECT(faults() - before < rounds);
	}
}

/* Pages that this process has, of whatever. */
static size_t resident_bytes(void)
{
	unsigned long size, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	EXPECT(file && fscanf(file, "%lu %lu", &size, &resident) == 2);
	fclose(file);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* What has been freed once is given back, and of what comes again not more is kept than is said.
 * One rank looks, and touches one page of EVERY, since a page's first touch takes long. */
static void W11_what_is_kept_is_bounded(void)
{
	enum { EVERY = 4 };
	size_t before = resident_bytes();

	if (layer_rank != 0)
		return;
	for (size_t bytes = 33 * MIB; bytes < 60 * MIB; bytes += 9 * MIB)
		use_once(bytes, EVERY * PAGE);
	EXPECT(resident_bytes() < before + 8 * MIB / EVERY);
	for (int round = 0; round < 3; round++)
		for (size_t bytes = 33 * MIB; bytes < 90 * MIB; bytes += 9 * MIB)
			use_once(bytes, EVERY * PAGE);
	EXPECT(resident_bytes() < before + 80 * MIB / EVERY);
}

/* Much small memory: each has its own, also for peers, and freed memory serves again. */
static void W11_small_memory(void)
{
	enum { COUNT = 3000 };
	static int *memory[COUNT];
	MPI_Win win;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < COUNT; i++) {
			memory[i] = allocated(sizeof(int) * (size_t)(1 + i % 3));
			*memory[i] = i;
		}
		MPI_Win_create(memory[COUNT / 2], sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		MPI_Win_fence(0, win);
		MPI_Put(&layer_rank, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, win);
		MPI_Win_fence(0, win);
		EXPECT(*memory[COUNT / 2] == layer_left());
		MPI_Win_free(&win);
		for (int i = 0; i < COUNT; i++) {
			EXPECT(*memory[i] == i || i == COUNT / 2);
			MPI_Free_mem(memory[i]);
		}
	}
}

/* Memory that comes again, in window after window: what was put by one is not seen to be put by another. */
static void W11_W7_used_again(void)
{
	for (int round = 0; round < 20; round++) {
		size_t bytes = sizes[(size_t)round % SIZES];
		int *memory = allocated(bytes), value = 1000 * round + layer_rank;
		MPI_Win win;

		memory[0] = memory[1] = -1;
		MPI_Win_create(memory, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		MPI_Win_fence(0, win);
		MPI_Put(&value, 1, MPI_INT, layer_right(), 0, 1, MPI_INT, win);
		MPI_Win_fence(0, win);
		EXPECT(memory[0] == 1000 * round + layer_left() && memory[1] == -1);
		MPI_Win_free(&win);
		MPI_Free_mem(memory);
	}
}

/* More than any machine has. */
static void W11_too_much_is_an_error(void)
{
	void *memory = NULL;
	int rc, class = MPI_SUCCESS;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	rc = MPI_Alloc_mem((MPI_Aint)1 << 46, MPI_INFO_NULL, &memory);
	MPI_Error_class(rc, &class);
	EXPECT(class == MPI_ERR_NO_MEM ||
	       (uintptr_t)memory < 4096); /* MPICH gives the size of its header for the address */
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	memory = allocated(MIB);
	EXPECT(memory);
	MPI_Free_mem(memory);
}

static const struct layer_case cases[] = {
	{ "W11_no_page_before_it_is_touched", W11_no_page_before_it_is_touched },
	{ "W11_loops_find_their_pages", W11_loops_find_their_pages },
	{ "W11_what_is_kept_is_bounded", W11_what_is_kept_is_bounded },
	{ "W11_small_memory", W11_small_memory },
	{ "W11_W7_used_again", W11_W7_used_again },
	{ "W11_too_much_is_an_error", W11_too_much_is_an_error },
};
LAYER_MAIN(cases)
