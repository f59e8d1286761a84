// SPDX-License-Identifier: BSD-2-Clause
/* test_mem.c - mem.c: looking up registered memory. Regions are entered without a device. */
#include "mem/mem.c"

#include <CUnit/CUnit.h>

#include "suites.h"

#define REGIONS_MAX 64

static struct mem_table table;
static struct mem_seen seen;
static struct ibv_mr mrs[REGIONS_MAX];

static void begin(void)
{
	mem_table_init(&table, NULL);
	seen = (struct mem_seen){ 0 };
}

static void end(void)
{
	mem_table_close(&table);
}

static void enter(uintptr_t base, size_t size_bytes, bool read_only)
{
	struct ibv_mr *mr = &mrs[table.count];
	struct mem_region region = {
		.base = base, .size_bytes = size_bytes, .registration = { .mr = { mr } }, .read_only = read_only
	};

	mr->lkey = table.count + 1;
	CU_ASSERT_EQUAL_FATAL(insert(&table, &region), 0);
}

static uint32_t find(uintptr_t base, size_t size_bytes, bool write)
{
	return mem_find(&table, &(struct mem_use){ base, size_bytes, 0, write }, &seen);
}

static void insert__keeps_the_order(void)
{
	static const uintptr_t bases[] = { 500, 100, 900, 100, 300 };

	begin();
	for (size_t i = 0; i < 5; i++)
		enter(bases[i], 10, false);
	for (uint32_t i = 1; i < table.count; i++)
		CU_ASSERT(table.regions[i - 1].base <= table.regions[i].base);
	end();
}

static void mem_find__edges(void)
{
	begin();
	CU_ASSERT_EQUAL(find(1000, 1, false), 0);
	enter(1000, 100, false);
	CU_ASSERT_EQUAL(find(1000, 100, false), 1);
	CU_ASSERT_EQUAL(find(1099, 1, true), 1);
	CU_ASSERT_EQUAL(find(999, 1, false), 0);
	CU_ASSERT_EQUAL(find(1000, 101, false), 0);
	CU_ASSERT_EQUAL(find(1100, 1, false), 0);
	CU_ASSERT_EQUAL(find(1001, 100, false), 0);
	CU_ASSERT_EQUAL(find(1050, SIZE_MAX, false), 0);
	end();
}

/* A small region that begins later must not hide the large one around it. */
static void mem_find__through_overlapping_regions(void)
{
	begin();
	enter(1000, 10000, false);
	for (uintptr_t i = 0; i < 20; i++)
		enter(2000 + i * 16, 8, false);
	CU_ASSERT_EQUAL(find(2000, 8, false), 2);
	CU_ASSERT_EQUAL(find(2000, 9, false), 1);
	CU_ASSERT_EQUAL(find(2310, 1000, false), 1);
	CU_ASSERT_EQUAL(find(10999, 1, false), 1);
	CU_ASSERT_EQUAL(find(10999, 2, false), 0);
	end();
}

static void mem_find__writes_need_a_writable_region(void)
{
	begin();
	enter(1000, 100, true);
	CU_ASSERT_EQUAL(find(1000, 100, false), 1);
	CU_ASSERT_EQUAL(find(1000, 100, true), 0);
	enter(900, 400, false);
	CU_ASSERT_EQUAL(find(1000, 100, true), 2);
	end();
}

static void mem_find__at_the_end_of_the_address_space(void)
{
	begin();
	enter(UINTPTR_MAX - 99, 100, false);
	CU_ASSERT_EQUAL(find(UINTPTR_MAX - 99, 100, false), 1);
	CU_ASSERT_EQUAL(find(UINTPTR_MAX, 1, false), 1);
	CU_ASSERT_EQUAL(find(UINTPTR_MAX, 2, false), 0);
	end();
}

static bool holds(const struct mem_region *region, uintptr_t base, size_t size_bytes)
{
	return base >= region->base && base + size_bytes <= region->base + region->size_bytes;
}

static bool is_held(uintptr_t base, size_t size_bytes, bool write)
{
	for (uint32_t r = 0; r < table.count; r++) {
		if (holds(&table.regions[r], base, size_bytes) && !(write && table.regions[r].read_only))
			return true;
	}
	return false;
}

/* Whether the region with that key is one that holds the range. */
static bool fits(uint32_t lkey, uintptr_t base, size_t size_bytes)
{
	for (uint32_t r = 0; r < table.count; r++) {
		if (table.regions[r].registration.mr[0]->lkey == lkey)
			return holds(&table.regions[r], base, size_bytes);
	}
	return false;
}

static uint32_t next_random(uint32_t *state)
{
	return *state = *state * 1664525u + 1013904223u;
}

/* Some region is forgotten and comes back. */
static void forget_one(uint32_t which)
{
	struct mem_region region = table.regions[which % table.count];

	mem_forget(&table, &region.registration);
	CU_ASSERT_EQUAL(mem_find(&table, &(struct mem_use){ region.base, region.size_bytes, 0, false }, &seen) != 0,
	                is_held(region.base, region.size_bytes, false));
	CU_ASSERT_EQUAL_FATAL(insert(&table, &region), 0);
}

/*
 * Against a search through all of them; every second look is near the last one, and what was seen
 * may be gone.
 */
static void mem_find__agrees_with_a_plain_search(void)
{
	uint32_t state = 7;
	uintptr_t base = 0;

	begin();
	for (int i = 0; i < REGIONS_MAX; i++) {
		uint32_t bits = next_random(&state);

		enter(1000 + (bits >> 8) % 5000, 1 + (bits >> 20) % (i % 8 ? 64 : 2048), (bits >> 4 & 3) == 0);
	}
	for (int i = 0; i < 20000; i++) {
		uint32_t bits = next_random(&state);
		size_t size_bytes = 1 + (bits >> 21) % 128;
		bool write = bits >> 5 & 1;
		uint32_t lkey;

		base = bits >> 6 & 1 ? base + (bits >> 8) % 9 - 4 : 950 + (bits >> 8) % 7200;
		if (i % 50 == 0)
			forget_one(bits >> 8);
		lkey = find(base, size_bytes, write);
		if ((lkey != 0) != is_held(base, size_bytes, write))
			CU_FAIL("found where there is nothing, or the other way round");
		if (lkey && !fits(lkey, base, size_bytes))
			CU_FAIL("a region that does not hold the range");
	}
	end();
}

static uint32_t late; /* calls of register_late_here */

static struct ibv_mr *register_late_here(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	static struct ibv_mr mr = { .lkey = 77 };

	(void)pd, (void)addr;
	late++;
	CU_ASSERT_EQUAL(length, 100);
	CU_ASSERT_EQUAL(access, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE); /* no atomics here */
	return &mr;
}

static struct ibv_mr *register_never(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	(void)pd, (void)addr, (void)length, (void)access;
	errno = ENOMEM;
	return NULL;
}

/* Two devices; memory at 1000 is registered with the first alone. */
static void begin_with_two(const struct verbs_functions *second, struct devices *devices)
{
	*devices = (struct devices){ .count = 2 };
	devices->list[1].functions = second;
	begin();
	table.devices = devices;
	enter(1000, 100, false);
}

/* Once, at its first use; what frees the memory is given both. */
static void register_late_with(uint32_t device)
{
	static const struct verbs_functions functions = { .reg_mr = register_late_here };
	const uint32_t other = 1 - device;
	struct registration registration = { .mr = { NULL } };
	struct devices devices;

	begin_with_two(&functions, &devices);
	devices.list[device].functions = &functions;
	registration.mr[other] = &mrs[0];
	table.regions[0].registration = registration;
	late = 0;
	CU_ASSERT_EQUAL(mem_find(&table, &(struct mem_use){ 1010, 10, device, true }, &seen), 77);
	CU_ASSERT_EQUAL(mem_find(&table, &(struct mem_use){ 1020, 80, device, true }, &seen), 77);
	seen = (struct mem_seen){ 0 };
	CU_ASSERT_EQUAL(mem_find(&table, &(struct mem_use){ 1000, 1, device, false }, &seen), 77);
	CU_ASSERT_EQUAL(late, 1);
	CU_ASSERT_EQUAL(mem_find(&table, &(struct mem_use){ 1000, 100, other, true }, &seen), 1);
	mem_forget(&table, &registration);
	CU_ASSERT_EQUAL(table.count, 0);
	CU_ASSERT(registration.mr[other] == &mrs[0] && registration.mr[device] && registration.mr[device]->lkey == 77);
	end();
}

static void mem_find__registers_with_the_device_that_lacks_it(void)
{
	register_late_with(1);
	register_late_with(0);
}

/* It is as if it were not registered. */
static void mem_find__of_a_device_that_cannot_register(void)
{
	static const struct verbs_functions functions = { .reg_mr = register_never };
	struct devices devices;

	begin_with_two(&functions, &devices);
	CU_ASSERT_EQUAL(mem_find(&table, &(struct mem_use){ 1010, 10, 1, true }, &seen), 0);
	CU_ASSERT_EQUAL(find(1000, 100, true), 1);
	end();
}

static void oriel_mem_register__arguments(void)
{
	struct oriel_job *job = handle_new(HANDLE_JOB, sizeof(*job));
	struct oriel_mem *mem = NULL;
	char byte;

	CU_ASSERT_EQUAL(oriel_mem_register(NULL, &byte, 1, &mem), ORIEL_ERR_HANDLE);
	CU_ASSERT_EQUAL(oriel_mem_register(job, NULL, 1, &mem), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(oriel_mem_register(job, &byte, 0, &mem), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(oriel_mem_register(job, &byte, 1, NULL), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(oriel_mem_deregister(&mem), ORIEL_ERR_HANDLE);
	CU_ASSERT_EQUAL(oriel_mem_deregister(NULL), ORIEL_ERR_HANDLE);
	handle_release(HANDLE_JOB, job);
}

void suite_mem(void)
{
	CU_pSuite suite = CU_add_suite("mem", NULL, NULL);

	CU_ADD_TEST(suite, insert__keeps_the_order);
	CU_ADD_TEST(suite, mem_find__edges);
	CU_ADD_TEST(suite, mem_find__through_overlapping_regions);
	CU_ADD_TEST(suite, mem_find__writes_need_a_writable_region);
	CU_ADD_TEST(suite, mem_find__at_the_end_of_the_address_space);
	CU_ADD_TEST(suite, mem_find__agrees_with_a_plain_search);
	CU_ADD_TEST(suite, mem_find__registers_with_the_device_that_lacks_it);
	CU_ADD_TEST(suite, mem_find__of_a_device_that_cannot_register);
	CU_ADD_TEST(suite, oriel_mem_register__arguments);
}
