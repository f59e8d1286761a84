// SPDX-License-Identifier: BSD-2-Clause
/* See pages.h. */
#include "check/pages/pages.h"
#include "check/short_lock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REGIONS_MAX 256
#define SINGLE_FAULTS 32   /* of a segment; then each opens twice as many pages as the last */
#define REPEATS_MAX 100000 /* faults of a thread at one address that is open */
#define NOTES_MAX 128      /* of a segment */

enum rights { CLOSED, LOADABLE, OPEN };

struct region {
	const void *win;
	uint64_t first, end; /* of the alias */
	uint8_t *rights;     /* of its pages */
	uint64_t low, high;  /* the pages that are not closed lie between */
	bool is_watched;
};

static struct region regions[REGIONS_MAX];
static uint32_t region_count;
static uint64_t lowest = UINT64_MAX, highest; /* addresses of all aliases lie between */
static struct compiled_run notes[NOTES_MAX], taken[NOTES_MAX];
static uint32_t note_count, faults;
static uint64_t lost;
static bool is_on;
static bool (*is_in_call)(void);

/* ---- regions: the caller has the lock ---- */

static bool may_be_alias(uint64_t address)
{
	return address >= __atomic_load_n(&lowest, __ATOMIC_RELAXED) &&
	       address < __atomic_load_n(&highest, __ATOMIC_RELAXED);
}

/* Returns the region that has some of the bytes, or NULL. */
static struct region *find(uint64_t first, uint64_t bytes)
{
	for (uint32_t i = 0; i < region_count; i++) {
		if (first < regions[i].end && regions[i].first < first + bytes)
			return &regions[i];
	}
	return NULL;
}

static struct region *find_window(const void *win)
{
	for (uint32_t i = 0; i < region_count; i++) {
		if (regions[i].win == win)
			return &regions[i];
	}
	return NULL;
}

static bool protect(const struct region *region, uint64_t page, uint64_t count, enum rights rights)
{
	static const int protections[] = { PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE };
	char *first = (char *)(uintptr_t)(region->first + page * PAGE_BYTES);

	return mprotect(first, count * PAGE_BYTES, protections[rights]) == 0;
}

static uint64_t pages_of(const struct region *region)
{
	return (region->end - region->first) / PAGE_BYTES;
}

/* Opens all pages for good. Returns false if even this is refused. */
static bool let_go(struct region *region)
{
	region->is_watched = false;
	region->low = region->high = 0;
	memset(region->rights, OPEN, pages_of(region));
	return protect(region, 0, pages_of(region), OPEN);
}

/* Closes a run of pages that begins there. Returns the page behind it. */
static uint64_t close_run(struct region *region, uint64_t page)
{
	uint64_t end = page;

	while (end < region->high && region->rights[end] != CLOSED)
		end++;
	if (protect(region, page, end - page, CLOSED))
		memset(region->rights + page, CLOSED, end - page);
	return end;
}

static void close_all(struct region *region)
{
	for (uint64_t page = region->low; page < region->high;)
		page = region->rights[page] == CLOSED ? page + 1 : close_run(region, page);
	region->low = pages_of(region);
	region->high = 0;
}

/* ---- windows ---- */

/* UCX has a function in the place of mremap, which loses the wanted address. */
static bool move_copy(uint64_t first, uint64_t bytes, const void *wanted)
{
	return syscall(SYS_mremap, first, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, wanted) == (long)(uintptr_t)wanted;
}

/* Maps the pages a second time. Returns NULL if that is not possible. */
static void *map_again(uint64_t first, uint64_t bytes)
{
	void *wanted = (void *)(uintptr_t)(first - ALIAS_BYTES), *made;

	made = mmap(wanted, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	if (made == wanted && move_copy(first, bytes, wanted))
		return wanted;
	munmap(made, bytes);
	return NULL;
}

static bool add(struct region region)
{
	bool has_room;

	short_lock_enter();
	has_room = region_count < REGIONS_MAX;
	if (has_room) {
		regions[region_count++] = region;
		if (region.first < lowest)
			__atomic_store_n(&lowest, region.first, __ATOMIC_RELAXED);
		if (region.end > highest)
			__atomic_store_n(&highest, region.end, __ATOMIC_RELAXED);
	}
	short_lock_leave();
	return has_room;
}

void *region_add(const void *win, void *base, size_t bytes)
{
	uint64_t first = (uint64_t)(uintptr_t)base, pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	struct region region = { .win = win, .first = first - ALIAS_BYTES };

	if (!is_on || bytes == 0 || first % PAGE_BYTES || first < 2 * ALIAS_BYTES || !faults_begin())
		return base;
	region.end = region.first + pages * PAGE_BYTES;
	region.rights = malloc(pages);
	if (!region.rights)
		return base;
	memset(region.rights, OPEN, pages);
	if (map_again(first, pages * PAGE_BYTES)) {
		if (add(region))
			return (void *)(uintptr_t)region.first;
		munmap((void *)(uintptr_t)region.first, pages * PAGE_BYTES);
	}
	free(region.rights);
	return base;
}

void region_remove(const void *win)
{
	struct region removed = { 0 }, *region;

	short_lock_enter();
	region = find_window(win);
	if (region) {
		removed = *region;
		*region = regions[--region_count];
	}
	short_lock_leave();
	if (removed.win)
		munmap((void *)(uintptr_t)removed.first, removed.end - removed.first);
	free(removed.rights);
}

void region_let_go(const void *base, size_t bytes)
{
	struct region *region;

	short_lock_enter();
	region = find((uint64_t)(uintptr_t)base, bytes);
	if (region && region->is_watched)
		let_go(region);
	short_lock_leave();
}

void *alias_of(void *memory)
{
	void *alias = (char *)memory - ALIAS_BYTES;
	struct region *region;

	if (!may_be_alias((uint64_t)(uintptr_t)alias))
		return memory;
	short_lock_enter();
	region = find((uint64_t)(uintptr_t)alias, 1);
	short_lock_leave();
	return region ? alias : memory;
}

/* Between aliases nothing else is mapped. */
void *behind_alias(const void *memory)
{
	uint64_t address = (uint64_t)(uintptr_t)memory;

	return (void *)(uintptr_t)(may_be_alias(address) ? address + ALIAS_BYTES : address);
}

/* ---- faults: the caller has the lock ---- */

/* Returns whether several threads have called this. */
static bool has_several_threads(void)
{
	static const bool *first; /* which is known by where it has its variable */
	static bool is_several;

	if (!first)
		first = &short_lock_is_own;
	is_several |= first != &short_lock_is_own;
	return is_several;
}

/* The page before may have been open at the fault, and another thread has closed it since. */
static void note(const struct region *region, uint64_t page, const struct fault *fault)
{
	bool is_several = has_several_threads();
	bool follows = page > 0 && (is_several || region->rights[page - 1] != CLOSED);
	struct compiled_run run = { 0 };

	if (!__atomic_load_n(&is_on, __ATOMIC_RELAXED) || !region->is_watched || (is_in_call && is_in_call()) ||
	    !fault_describe(fault, follows, &run))
		return;
	if (note_count < NOTES_MAX)
		notes[note_count++] = run;
	else
		lost++;
}

/* Returns how many pages this fault opens. */
static uint64_t pages_to_open(const struct region *region, uint64_t page)
{
	uint64_t left = pages_of(region) - page, more;

	if (++faults <= SINGLE_FAULTS)
		return 1;
	more = faults - SINGLE_FAULTS;
	return more < 40 && (uint64_t)1 << more < left ? (uint64_t)1 << more : left;
}

static bool open_pages(struct region *region, uint64_t page, bool is_store)
{
	uint64_t count = pages_to_open(region, page);
	enum rights rights = is_store || count > 1 ? OPEN : LOADABLE;

	if (!protect(region, page, count, rights))
		return let_go(region);
	memset(region->rights + page, (int)rights, count);
	if (page < region->low)
		region->low = page;
	if (page + count > region->high)
		region->high = page + count;
	return true;
}

/* Another thread may have opened the page since. That must not go on forever. */
static bool may_be_repeated(uint64_t address)
{
	static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
		uint64_t address;
		uint32_t count;
	} last;

	last.count = last.address == address ? last.count + 1 : 0;
	last.address = address;
	return last.count < REPEATS_MAX;
}

static bool open_for(struct region *region, const struct fault *fault)
{
	uint64_t page = (fault->address - region->first) / PAGE_BYTES;

	if (region->rights[page] >= (fault->is_store ? OPEN : LOADABLE))
		return may_be_repeated(fault->address);
	note(region, page, fault);
	return open_pages(region, page, fault->is_store);
}

/* A signal handler of the program that has interrupted this file opens its page for good. */
static bool open_inside(uint64_t address)
{
	void *page = (void *)(uintptr_t)(address / PAGE_BYTES * PAGE_BYTES);

	return may_be_repeated(address) && mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE) == 0;
}

bool region_open(const struct fault *fault)
{
	struct region *region;
	bool is_opened;

	if (!may_be_alias(fault->address))
		return false;
	if (short_lock_is_own)
		return open_inside(fault->address);
	short_lock_enter();
	region = find(fault->address, 1);
	is_opened = region && open_for(region, fault);
	short_lock_leave();
	return is_opened;
}

/* ---- the front ---- */

static void begin(uint64_t cell_bytes, const struct compiled_front *front)
{
	(void)cell_bytes;
	code_find();
	is_in_call = front->is_in_call;
#ifdef __x86_64__
	__atomic_store_n(&is_on, sysconf(_SC_PAGESIZE) == PAGE_BYTES, __ATOMIC_RELEASE);
#endif
}

/* A child of fork comes here, too, when another thread of its parent may have had the lock. */
static void end(void)
{
	__atomic_store_n(&is_on, false, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < region_count; i++) {
		if (regions[i].is_watched)
			let_go(&regions[i]);
	}
}

static bool watch(uint64_t first, uint64_t bytes, bool stores_only)
{
	struct region *region;
	bool is_closed;

	if (stores_only)
		return false;
	short_lock_enter();
	region = find(first, bytes);
	is_closed = is_on && region && region->first == first && protect(region, 0, pages_of(region), CLOSED);
	if (is_closed) {
		memset(region->rights, CLOSED, pages_of(region));
		region->low = pages_of(region);
		region->is_watched = true;
	}
	short_lock_leave();
	return is_closed;
}

static void unwatch(uint64_t first, uint64_t bytes, bool stores_only)
{
	(void)stores_only;
	region_let_go((void *)(uintptr_t)first, bytes);
}

/* Most calls come without a fault before them. */
static uint32_t take(const struct compiled_run **runs)
{
	uint32_t count;

	*runs = taken;
	if (__atomic_load_n(&faults, __ATOMIC_RELAXED) == 0)
		return 0;
	short_lock_enter();
	count = note_count;
	memcpy(taken, notes, count * sizeof(notes[0]));
	note_count = faults = 0;
	has_several_threads();
	for (uint32_t i = 0; i < region_count; i++) {
		if (regions[i].is_watched)
			close_all(&regions[i]);
	}
	short_lock_leave();
	return count;
}

static uint32_t objects(void)
{
	return OBJECTS_PAGES;
}

static uint64_t lost_notes(void)
{
	return __atomic_load_n(&lost, __ATOMIC_RELAXED);
}

/* All threads are one strand, and buffers of operations are not watched. */
__attribute__((visibility("default"))) extern const struct compiled oriel_pages;

const struct compiled oriel_pages = { .version = COMPILED_VERSION,
	                                  .begin = begin,
	                                  .end = end,
	                                  .watch = watch,
	                                  .unwatch = unwatch,
	                                  .take = take,
	                                  .objects = objects,
	                                  .lost = lost_notes };
