// SPDX-License-Identifier: BSD-2-Clause
/* See judge.h. Memory is looked up by pages of PAGE_BYTES; large accesses have their own list. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "check/judge/judge.h"
#include "oriel.h"

#define PAGE_BYTES 4096
#define PAGES_MAX 64 /* of an access in pages; others are in the list of large ones */
#define PLACES_AT_FIRST 4096

/* The accesses in a page of a rank's memory, or the rank's large ones. */
struct page {
	int owner;
	uint64_t number; /* LARGE: the large ones */
	struct access **list;
	uint32_t count, capacity;
	struct page *next;
};

#define LARGE UINT64_MAX

static struct page **pages;
static uint64_t place_count, page_count;
static struct access *all;
static uint64_t access_count, looks;

/* ---- pages ---- */

static uint64_t hash(int owner, uint64_t number)
{
	uint64_t bits = (number + 1) * 0x9e3779b97f4a7c15ULL + (uint64_t)(uint32_t)owner * 0xbf58476d1ce4e5b9ULL;

	return (bits ^ bits >> 32) & (place_count - 1);
}

static void grow_pages(void)
{
	struct page **old = pages;
	uint64_t old_count = place_count;

	place_count = old_count ? 2 * old_count : PLACES_AT_FIRST;
	pages = calloc(place_count, sizeof(*pages));
	if (!pages)
		judge_fail("out of memory");
	for (uint64_t i = 0; i < old_count; i++) {
		for (struct page *page = old[i], *next; page; page = next) {
			uint64_t at = hash(page->owner, page->number);

			next = page->next;
			page->next = pages[at];
			pages[at] = page;
		}
	}
	free(old);
}

static struct page *find_page(int owner, uint64_t number)
{
	struct page *page = place_count ? pages[hash(owner, number)] : NULL;

	while (page && (page->owner != owner || page->number != number))
		page = page->next;
	return page;
}

static struct page *make_page(int owner, uint64_t number)
{
	struct page *page = find_page(owner, number);

	if (page)
		return page;
	if (page_count >= place_count)
		grow_pages();
	page_count++;
	page = calloc(1, sizeof(*page));
	if (!page)
		judge_fail("out of memory");
	page->owner = owner;
	page->number = number;
	page->next = pages[hash(owner, number)];
	pages[hash(owner, number)] = page;
	return page;
}

static void add_to_page(struct page *page, struct access *access)
{
	if (page->count && page->list[page->count - 1] == access)
		return; /* several pieces of it are here */
	if (!grow_array(&page->list, &page->capacity, page->count + 1, sizeof(*page->list)))
		judge_fail("out of memory");
	page->list[page->count++] = access;
}

static uint64_t first_page(const struct trace_piece *piece)
{
	return piece->first / PAGE_BYTES;
}

static uint64_t last_page(const struct trace_piece *piece)
{
	return (piece->first + piece->bytes - 1) / PAGE_BYTES;
}

static bool is_large(const struct access *access)
{
	uint64_t pages_of_it = 0;

	for (uint32_t i = 0; i < access->piece_count; i++)
		pages_of_it += last_page(&access->pieces[i]) - first_page(&access->pieces[i]);
	return pages_of_it > PAGES_MAX;
}

/* ---- accesses ---- */

static int compare_pieces(const void *a, const void *b)
{
	const struct trace_piece *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

struct access *access_new(struct access access, const struct trace_piece pieces_of_it[], uint32_t count)
{
	struct access *made = malloc(sizeof(*made));

	access.pieces = malloc((count + 1) * sizeof(*access.pieces));
	if (!made || !access.pieces)
		judge_fail("out of memory");
	for (uint32_t i = 0; i < count; i++) {
		if (pieces_of_it[i].bytes)
			access.pieces[access.piece_count++] = pieces_of_it[i];
	}
	if (access.piece_count > 1)
		qsort(access.pieces, access.piece_count, sizeof(*access.pieces), compare_pieces);
	*made = access;
	return made;
}

void access_end(struct access *access, struct end end)
{
	if (!access)
		return;
	if (!grow_array(&access->ends, &access->end_capacity, access->end_count + 1, sizeof(*access->ends)))
		judge_fail("out of memory");
	access->ends[access->end_count++] = end;
}

static bool is_over(const struct access *access, const struct clock *clock)
{
	for (uint32_t i = 0; i < access->end_count; i++) {
		if (clock_knows(clock, access->ends[i].rank, access->ends[i].time))
			return true;
	}
	return false;
}

/* ---- conflicts ---- */

static bool conflicts(enum access_how a, enum access_how b)
{
	static const uint8_t with[] = {
		[HOW_LOAD] = 1 << HOW_STORE | 1 << HOW_PUT | 1 << HOW_ACCUMULATE,
		[HOW_STORE] = 0x3f,
		[HOW_GET] = 1 << HOW_STORE | 1 << HOW_PUT | 1 << HOW_ACCUMULATE,
		[HOW_PUT] = 0x3f,
		[HOW_ACCUMULATE] = 0x3f,
		[HOW_READ_ATOMICALLY] = 1 << HOW_STORE | 1 << HOW_PUT | 1 << HOW_ACCUMULATE,
	};

	return with[a] >> b & 1;
}

static bool is_atomic(const struct access *access)
{
	return access->how == HOW_ACCUMULATE || access->how == HOW_READ_ATOMICALLY;
}

/* Returns whether two elements at these addresses are the same one, or share no byte. */
static bool coincide(uint64_t a, uint64_t b, uint64_t bytes)
{
	return bytes == 0 || (a > b ? a - b : b - a) % bytes == 0;
}

/* Accumulates of one type on the same elements do not race. */
static bool is_allowed(const struct access *a, const struct access *b, const struct trace_piece *piece_of_a,
                       const struct trace_piece *piece_of_b)
{
	uint64_t bytes = oriel_type_bytes(a->type);

	if (!is_atomic(a) || !is_atomic(b) || a->type != b->type)
		return false;
	if (bytes && (piece_of_a->bytes % bytes || piece_of_b->bytes % bytes))
		return true; /* elements in several pieces are not followed */
	return coincide(piece_of_a->first, piece_of_b->first, bytes);
}

static bool overlap(const struct trace_piece *a, const struct trace_piece *b)
{
	return a->first < b->first + b->bytes && b->first < a->first + a->bytes;
}

static void report(const struct access *earlier, const struct access *later, const struct trace_piece *a,
                   const struct trace_piece *b)
{
	uint64_t first = a->first > b->first ? a->first : b->first;
	uint64_t end_of_a = a->first + a->bytes, end_of_b = b->first + b->bytes;

	finding_add(earlier, later, first, (end_of_a < end_of_b ? end_of_a : end_of_b) - first);
}

/* Reports the first bytes in common that no rule allows. */
static void compare(const struct access *earlier, const struct access *later)
{
	uint32_t i = 0, k = 0;

	while (i < earlier->piece_count && k < later->piece_count) {
		const struct trace_piece *a = &earlier->pieces[i], *b = &later->pieces[k];

		if (overlap(a, b) && !is_allowed(earlier, later, a, b)) {
			report(earlier, later, a, b);
			return;
		}
		if (a->first + a->bytes < b->first + b->bytes)
			i++;
		else
			k++;
	}
}

static void judge(struct access *access, struct access *other)
{
	if (other == access || other->seen == looks || other->is_dead)
		return;
	other->seen = looks;
	if (!conflicts(access->how, other->how) || is_over(other, access->start) || is_over(access, other->start))
		return;
	compare(other, access);
}

/*
 * Returns whether an older access can be forgotten for this one, which is behind it: what races
 * with the older one later races with this one, too.
 */
static bool replaces(const struct access *access, const struct access *older)
{
	return older->rank == access->rank && older->site == access->site && older->how == access->how && !older->kept &&
	       older->type == access->type && older->piece_count == 1 && access->piece_count == 1 &&
	       older->pieces[0].first == access->pieces[0].first && older->pieces[0].bytes == access->pieces[0].bytes &&
	       first_page(&access->pieces[0]) == last_page(&access->pieces[0]) && is_over(older, access->start);
}

static void judge_page(struct access *access, struct page *page)
{
	for (uint32_t i = 0; page && i < page->count; i++) {
		judge(access, page->list[i]);
		if (!replaces(access, page->list[i]))
			continue;
		page->list[i]->is_dead = true;
		page->list[i--] = page->list[--page->count];
	}
}

/* Looks at every access of the owner's memory that may share a byte. */
static void judge_large(struct access *access)
{
	for (struct access *other = all; other; other = other->next) {
		if (other->owner == access->owner)
			judge(access, other);
	}
}

void access_begin(struct access *access, struct clock *start)
{
	access->start = start;
	access->next = all;
	all = access;
	access_count++;
	looks++;
	if (is_large(access)) {
		judge_large(access);
		add_to_page(make_page(access->owner, LARGE), access);
		return;
	}
	judge_page(access, find_page(access->owner, LARGE));
	for (uint32_t i = 0; i < access->piece_count; i++) {
		for (uint64_t number = first_page(&access->pieces[i]); number <= last_page(&access->pieces[i]); number++) {
			struct page *page = make_page(access->owner, number);

			judge_page(access, page);
			add_to_page(page, access);
		}
	}
}

/* ---- forgetting ---- */

static void drop_dead_of_page(struct page *page)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < page->count; i++) {
		if (!page->list[i]->is_dead)
			page->list[kept++] = page->list[i];
	}
	page->count = kept;
}

static void free_dead(void)
{
	struct access **at = &all, *access;

	while ((access = *at)) {
		if (!access->is_dead) {
			at = &access->next;
			continue;
		}
		*at = access->next;
		clock_drop(access->start);
		free(access->pieces);
		free(access->ends);
		free(access);
		access_count--;
	}
}

void accesses_forget(const struct clock *oldest)
{
	for (struct access *access = all; access; access = access->next)
		access->is_dead |= !access->kept && is_over(access, oldest);
	for (uint64_t i = 0; i < place_count; i++) {
		for (struct page *page = pages[i]; page; page = page->next)
			drop_dead_of_page(page);
	}
	free_dead();
}

uint64_t accesses_count(void)
{
	return access_count;
}
