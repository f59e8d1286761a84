// SPDX-License-Identifier: BSD-2-Clause
/*
 * See watch.h. A cell has the number of the segment above, and that of the strand, and below for
 * each kind of access the bytes that it has accessed in this segment. A cell is marked whether its
 * bytes are watched or not: what is watched changes between segments only.
 *
 * Other threads may use the cells of a page that is let go, so their memory is never unmapped.
 */
#include "check/compiled/watch.h"
#include "check/short_lock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES (1u << PAGE_SHIFT)
#define CELL_BYTES (PAGE_CELLS * sizeof(uint64_t))
#define RANGES_MAX 4096
#define RANGES_SEARCHED 64 /* where there are more, all bytes of their pages count as watched */
#define SHARED 1024        /* cells of other strands that a strand has accessed */

struct range {
	uint64_t first, end;
	bool stores_only;
};

/* A strand has accessed a cell that another one has marked before. */
struct shared {
	const uint64_t *cell;
	uint64_t marks; /* as in a cell */
};

struct leaf *leaves[LEAVES];
uint32_t near_count[NEAR_COUNT];
uint64_t watch_segment = 1;
void (*watch_changed)(uint64_t page);
static struct shared shared[STRANDS][SHARED];
static struct range ranges[RANGES_MAX];
static uint32_t range_count, last_hit;
static char *arena;                      /* of cells that were never used */
static uint64_t arena_bytes, pages_free; /* pages: for which there are cells */
static uint64_t *free_cells;             /* a list; the first cell of each is the next */
static bool is_on;
static void (*when_full)(void);
static void (*when_freed)(const void *memory);
static bool (*in_call)(void); /* or NULL: not known */

/* ---- pages ---- */

static void *map(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static struct page *page_of(uint64_t address)
{
	struct leaf **leaf = &leaves[address >> LEAF_SHIFT & (LEAVES - 1)];

	if (!*leaf)
		__atomic_store_n(leaf, map(sizeof(**leaf)), __ATOMIC_RELEASE);
	return *leaf ? &(*leaf)->pages[address >> PAGE_SHIFT & (LEAF_PAGES - 1)] : NULL;
}

static uint64_t *take_cells(void)
{
	uint64_t *cells = free_cells;

	if (cells) {
		memcpy(&free_cells, cells, sizeof(free_cells));
		cells[0] = 0;
	} else if (arena_bytes >= CELL_BYTES) {
		cells = (uint64_t *)(void *)arena;
		arena += CELL_BYTES;
		arena_bytes -= CELL_BYTES;
	}
	pages_free -= cells != NULL;
	return cells;
}

/* The page that has this address got cells, or lost them. */
static void count_near(uint64_t address, uint32_t pages)
{
	uint32_t *near = near_of(address);

	__atomic_store_n(near, *near + pages, __ATOMIC_RELAXED);
	if (watch_changed)
		watch_changed(address);
}

static void let_go(uint64_t address)
{
	struct page *page = page_of(address);
	uint64_t *cells = page->cells;

	if (--page->ranges > 0)
		return;
	__atomic_store_n(&page->cells, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&page->ordered, 0, __ATOMIC_RELAXED);
	count_near(address, -1u);
	memcpy(cells, &free_cells, sizeof(free_cells));
	free_cells = cells;
	pages_free++;
}

/* Lets go of pages from `first` to `end`. */
static void let_go_all(uint64_t first, uint64_t end)
{
	for (uint64_t at = first & ~(uint64_t)(PAGE_BYTES - 1); at < end; at += PAGE_BYTES)
		let_go(at);
}

static bool take_page(uint64_t address)
{
	struct page *page = page_of(address);

	if (!page)
		return false;
	if (!page->cells) {
		__atomic_store_n(&page->cells, take_cells(), __ATOMIC_RELEASE);
		if (page->cells)
			count_near(address, 1);
	}
	page->ranges += page->cells != NULL;
	__atomic_store_n(&page->ordered, 0, __ATOMIC_RELAXED); /* it may be of another window, too */
	return page->cells;
}

/* ---- ranges ---- */

/* Also what finds no room is an operation's. */
static void note_watched(const struct range *range)
{
	for (uint64_t at = range->first & ~(uint64_t)(PAGE_BYTES - 1); at < range->end; at += PAGE_BYTES) {
		struct page *page = page_of(at);

		if (page)
			__atomic_store_n(&page->was_watched, true, __ATOMIC_RELAXED);
	}
}

static bool was_watched(uint64_t first, uint64_t bytes)
{
	for (uint64_t at = first & ~(uint64_t)(PAGE_BYTES - 1); at < first + bytes; at += PAGE_BYTES) {
		const struct leaf *leaf = __atomic_load_n(&leaves[at >> LEAF_SHIFT & (LEAVES - 1)], __ATOMIC_ACQUIRE);

		if (leaf && __atomic_load_n(&leaf->pages[at >> PAGE_SHIFT & (LEAF_PAGES - 1)].was_watched, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void forget(uint64_t first, uint64_t bytes)
{
	for (uint64_t at = first & ~(uint64_t)(PAGE_BYTES - 1); at < first + bytes; at += PAGE_BYTES) {
		struct leaf *leaf = __atomic_load_n(&leaves[at >> LEAF_SHIFT & (LEAVES - 1)], __ATOMIC_ACQUIRE);

		if (leaf)
			__atomic_store_n(&leaf->pages[at >> PAGE_SHIFT & (LEAF_PAGES - 1)].was_watched, false, __ATOMIC_RELAXED);
	}
}

static bool add_range(struct range range)
{
	note_watched(&range);
	if (range_count == RANGES_MAX || (range.end - range.first) / PAGE_BYTES > pages_free)
		return false;
	for (uint64_t at = range.first & ~(uint64_t)(PAGE_BYTES - 1); at < range.end; at += PAGE_BYTES) {
		if (take_page(at))
			continue;
		let_go_all(range.first, at);
		return false;
	}
	ranges[range_count++] = range;
	watch_segment++;
	return true;
}

static bool is_same(const struct range *range, uint64_t first, uint64_t end, bool stores_only)
{
	return range->first == first && range->end == end && range->stores_only == stores_only;
}

static bool watch(uint64_t first, uint64_t bytes, bool stores_only)
{
	bool is_added;

	if (bytes == 0)
		return true;
	short_lock_enter();
	is_added = is_on && add_range((struct range){ first, first + bytes, stores_only });
	short_lock_leave();
	return is_added;
}

static void unwatch(uint64_t first, uint64_t bytes, bool stores_only)
{
	short_lock_enter();
	for (uint32_t i = range_count; i-- > 0;) {
		if (!is_same(&ranges[i], first, first + bytes, stores_only))
			continue;
		ranges[i] = ranges[--range_count];
		let_go_all(first, first + bytes);
		break;
	}
	short_lock_leave();
}

static bool has(const struct range *range, uint64_t first, uint64_t end, enum compiled_kind kind)
{
	return first < range->end && range->first < end &&
	       !(range->stores_only && (kind == KIND_LOAD || kind == KIND_ATOMIC_LOAD));
}

static bool is_watched(uint64_t first, uint64_t end, enum compiled_kind kind)
{
	if (range_count > RANGES_SEARCHED || (last_hit < range_count && has(&ranges[last_hit], first, end, kind)))
		return true;
	for (uint32_t i = 0; i < range_count; i++) {
		if (has(&ranges[i], first, end, kind)) {
			last_hit = i;
			return true;
		}
	}
	return false;
}

/* ---- accesses ---- */

/* Marks a cell of another strand. Returns whether any bit is new. */
static bool mark_shared(const uint64_t *cell, uint64_t bits)
{
	struct shared *of = &shared[strand_now()][(uint64_t)(uintptr_t)cell / sizeof(*cell) % SHARED];

	if (of->cell != cell || of->marks >> TAG_SHIFT != tag_now())
		*of = (struct shared){ cell, tag_now() << TAG_SHIFT };
	if (has_bits(of->marks, bits))
		return false;
	of->marks |= bits;
	return true;
}

/* Marks the bytes of one cell. Returns whether any is new, and watched. */
static bool mark(uint64_t *cells, uint64_t first, uint64_t end, enum compiled_kind kind)
{
	uint64_t *cell = &cells[first >> 3 & (PAGE_CELLS - 1)], now = *cell, bits = bits_of(first, end, kind);

	if (has_bits(now, bits))
		return false;
	if (now >> TAG_SHIFT != tag_now()) {
		if (now >> (TAG_SHIFT + STRAND_SHIFT) == tag_now() >> STRAND_SHIFT)
			return mark_shared(cell, bits) && is_watched(first, end, kind);
		now = tag_now() << TAG_SHIFT;
	}
	__atomic_store_n(cell, now | bits, __ATOMIC_RELAXED);
	return is_watched(first, end, kind);
}

static uint64_t next_cell(uint64_t at, uint64_t end)
{
	return (at | 7) + 1 < end ? (at | 7) + 1 : end;
}

/* Adds an element as a whole. */
static void add_element(const struct compiled_run *element)
{
	uint64_t end = element->first + element->bytes;
	bool is_new = false;

	for (uint64_t at = element->first; at < end; at = next_cell(at, end)) {
		uint64_t *cells = cells_of(at);

		is_new |= cells && mark(cells, at, next_cell(at, end), element->kind);
	}
	if (is_new)
		run_add(*element);
}

/* Adds a stretch of a range, in pieces of which each has 31 bits. */
static void add_stretch(struct compiled_run stretch, uint64_t first, uint64_t end)
{
	for (; first < end; first += stretch.bytes) {
		stretch.first = first;
		stretch.bytes = end - first < 1u << 30 ? (uint32_t)(end - first) : 1u << 30;
		run_add(stretch);
	}
}

/* Adds those stretches of the range that are new. */
static void add_range_of(struct compiled_run range, uint64_t end)
{
	uint64_t begin = range.first;

	for (uint64_t at = range.first, next; at < end; at = next) {
		uint64_t *cells = cells_of(at);

		next = cells ? next_cell(at, end) : (at | (PAGE_BYTES - 1)) + 1;
		if (cells && mark(cells, at, next, range.kind))
			continue;
		add_stretch(range, begin, at);
		begin = next;
	}
	add_stretch(range, begin, end);
}

/* Returns whether accesses of this thread are recorded now. */
static bool is_recorded(void)
{
	return !short_lock_is_own && __atomic_load_n(&is_on, __ATOMIC_RELAXED) && !(in_call && in_call());
}

static void add(const struct compiled_run *access, uint64_t bytes)
{
	struct compiled_run run = *access;
	bool is_many;

	if (!is_recorded())
		return;
	if (strand_is_several)
		strand_need();
	short_lock_enter();
	run.strand = strand_event(false);
	if (bytes)
		add_range_of(run, run.first + bytes);
	else
		add_element(&run);
	is_many = runs_are_many();
	short_lock_leave();
	if (is_many)
		when_full();
}

static const char *const calls[KINDS_COMPILED] = { "load", "store", "atomic load", "atomic store" };

void watch_element(const void *site, uint64_t first, uint32_t bytes, enum compiled_kind kind)
{
	if (watch_has(first, first + bytes, kind))
		return;
	add(&(struct compiled_run){ .site = site, .call = calls[kind], .first = first, .bytes = bytes, .kind = kind }, 0);
}

bool watch_without_calls(const void *site, uint64_t first, uint32_t bytes, enum compiled_kind kind)
{
	struct compiled_run run = { .site = site, .call = calls[kind], .first = first, .bytes = bytes, .kind = kind };
	bool is_many;

	if (!is_recorded())
		return true;
	run.strand = strand_now();
	if (run.strand == STRAND_NONE || !short_lock_enter_if_free())
		return false;
	is_many = runs_are_many();
	if (!is_many)
		add_element(&run);
	short_lock_leave();
	return !is_many;
}

void watch_order(uint64_t address)
{
	struct leaf *leaf = __atomic_load_n(&leaves[address >> LEAF_SHIFT & (LEAVES - 1)], __ATOMIC_ACQUIRE);
	struct page *page = &leaf->pages[address >> PAGE_SHIFT & (LEAF_PAGES - 1)];
	uint16_t bit = (uint16_t)(1u << address % PAGE_BYTES / ORDER_BLOCK_BYTES);

	if (!(__atomic_load_n(&page->ordered, __ATOMIC_RELAXED) & bit) &&
	    !(__atomic_fetch_or(&page->ordered, bit, __ATOMIC_RELAXED) & bit))
		strand_outside_by(address / ORDER_BLOCK_BYTES);
}

/* Returns whether any page of the range has cells. */
static bool may_be_watched(uint64_t first, uint64_t end)
{
	for (uint64_t at = first; at < end; at = (at | (PAGE_BYTES - 1)) + 1) {
		if (cells_of(at))
			return true;
	}
	return false;
}

void watch_range(const void *site, const char *call, const void *memory, size_t bytes, enum compiled_kind kind)
{
	uint64_t first = (uint64_t)(uintptr_t)memory;

	if (bytes && may_be_watched(first, first + bytes))
		add(&(struct compiled_run){ .site = site, .call = call, .first = first, .kind = kind }, bytes);
}

/* ---- the front ---- */

static void begin(uint64_t cell_bytes, const struct compiled_front *front)
{
	objects_find();
	short_lock_enter();
	if (!arena) {
		arena = map(cell_bytes);
		arena_bytes = arena ? cell_bytes : 0;
		pages_free = arena_bytes / CELL_BYTES;
	}
	when_full = front->full;
	__atomic_store_n(&when_freed, front->freed, __ATOMIC_RELEASE);
	in_call = front->is_in_call;
	__atomic_store_n(&is_on, true, __ATOMIC_RELEASE);
	short_lock_leave();
	strand_open(front);
}

static void end(void)
{
	__atomic_store_n(&is_on, false, __ATOMIC_RELAXED);
	strand_open(NULL);
}

void watch_freed(const void *memory)
{
	void (*freed)(const void *memory) = __atomic_load_n(&when_freed, __ATOMIC_ACQUIRE);

	if (freed && memory)
		freed(memory);
}

static void enter_event(void)
{
	if (strand_is_several)
		strand_need();
}

static uint32_t take(const struct compiled_run **runs)
{
	uint32_t count;

	short_lock_enter();
	count = runs_take(runs);
	watch_segment++;
	short_lock_leave();
	return count;
}

static const struct compiled_threads threads = { .is_several = &strand_is_several,
	                                             .enter = enter_event,
	                                             .strand = strand_event,
	                                             .order = strand_order,
	                                             .moment = strand_moment,
	                                             .all_know = strand_all_know,
	                                             .merged = strand_merged,
	                                             .has_stores = runs_have_stores,
	                                             .was_watched = was_watched,
	                                             .forget = forget };

__attribute__((visibility("default"))) extern const struct compiled oriel_compiled;

const struct compiled oriel_compiled = { .version = COMPILED_VERSION,
	                                     .begin = begin,
	                                     .end = end,
	                                     .watch = watch,
	                                     .unwatch = unwatch,
	                                     .take = take,
	                                     .objects = objects_count,
	                                     .lost = runs_lost,
	                                     .threads = &threads };
