// SPDX-License-Identifier: BSD-2-Clause
/* run_memory.c - this rank's memory for the regions of the plan */
#include "run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096u

/* Every other file is sealed against shrinking: devices that share memory map only those. */
static uint8_t *map_pages(struct memory *memory, bool file)
{
	int fd = file ? memfd_create("epochs", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
	int flags = file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;

	if (file && (fd < 0 || ftruncate(fd, (off_t)memory->mapped_bytes)))
		return MAP_FAILED;
	if (file && memory->serial % 2 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		return MAP_FAILED;
	memory->mapped = mmap(NULL, memory->mapped_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (fd >= 0)
		close(fd);
	return memory->mapped;
}

bool moves_memory(void)
{
	const char *share = getenv("ORIEL_SHARE");

	return share && strcmp(share, "1") == 0;
}

/* Then such as can be moved: it fills its pages. */
static void *allocate_heap(size_t size_bytes)
{
	void *memory = NULL;

	if (!moves_memory())
		return malloc(size_bytes);
	return posix_memalign(&memory, PAGE_BYTES, size_bytes) ? NULL : memory;
}

static void take_memory(struct run *run, int at)
{
	const struct plan_region *region = &run->plan.region[run->job->rank][at];
	struct memory *memory = &run->memory[at];
	uint8_t *mapped;

	memory->serial = region->serial;
	memory->kind = region->kind;
	memory->mapped_bytes = region->size_bytes + region->shift + PAGE_BYTES;
	if (at < REGION_FIXED)
		mapped = run->job->fixed.bytes[at];
	else if (region->kind == REGION_MALLOC)
		mapped = memory->mapped = allocate_heap(memory->mapped_bytes);
	else
		mapped = map_pages(memory, region->kind == REGION_FILE);
	if (!mapped || mapped == MAP_FAILED)
		stop(run, "no memory for region %d of %zu bytes", at, region->size_bytes);
	memory->base = mapped + (region->kind == REGION_MALLOC && moves_memory() ? 0 : region->shift);
	run->bytes[at] = memory->base;
	model_first_content(region, memory->base);
}

static void give_back(struct run *run, int at)
{
	struct memory *memory = &run->memory[at];

	if (memory->kind == REGION_MALLOC)
		free(memory->mapped);
	else if (memory->kind == REGION_PAGES || memory->kind == REGION_FILE)
		munmap(memory->mapped, memory->mapped_bytes);
	memset(memory, 0, sizeof(*memory));
	run->bytes[at] = NULL;
}

void update_memory(struct run *run)
{
	for (int i = 0; i < PLAN_REGIONS_MAX; i++) {
		const struct plan_region *region = &run->plan.region[run->job->rank][i];

		if (run->memory[i].serial == region->serial)
			continue;
		if (run->memory[i].kind != REGION_NONE)
			give_back(run, i);
		if (region->kind != REGION_NONE && region->kind != REGION_ALLOCATED)
			take_memory(run, i);
	}
}
