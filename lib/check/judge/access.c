// SPDX-License-Identifier: BSD-2-Clause
/*
 * See judge.h. Accesses are looked up by the blocks of memory that they touch. A small access is
 * listed in lines, one of medium size in pages, and a large one in the one list of its owner.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "check/judge/judge.h"
#include "oriel.h"

#define LINE_SHIFT 6   /* blocks of 64 bytes */
#define PAGE_SHIFT 12  /* blocks of 4 KiB */
#define WHOLE_SHIFT 64 /* all memory of the owner */
#define LINES_MAX 8    /* of an access that is listed in lines */
#define PAGES_MAX 64   /* of one that is listed in pages */
#define PLACES_AT_FIRST 4096

/* Accesses that touch a block of a rank's memory, of those that are listed by its size. */
struct block {
	int owner;
	unsigned shift; /* its size, as a power of two */
	uint64_t number;
	struct access **list;
	uint32_t count, capacity;
	struct block *next;
};

static struct block **blocks;
static uint64_t place_count, block_count;
static struct access *all;
static uint64_t access_count, looks;

/* ---- blocks ---- */

static uint64_t hash(int owner, unsigned shift, uint64_t number)
{
	uint64_t bits = (number + 1) * 0x9e3779b97f4a7c15ULL + (uint64_t)(uint32_t)owner * 0xbf58476d1ce4e5b9ULL + shift;

	return (bits ^ bits >> 32) & (place_count - 1);
}

static void grow_blocks(void)
{
	struct block **old = blocks;
	uint64_t old_count = place_count;

	place_count = old_count ? 2 * old_count : PLACES_AT_FIRST;
	blocks = calloc(place_count, sizeof(*blocks));
	if (!blocks)
		program_fail("out of memory");
	for (uint64_t i = 0; i < old_count; i++) {
		for (struct block *block = old[i], *next; block; block = next) {
			uint64_t at = hash(block->owner, block->shift, block->number);

			next = block->next;
			block->next = blocks[at];
			blocks[at] = block;
		}
	}
	free(old);
}

static struct block *find_block(int owner, unsigned shift, uint64_t number)
{
	struct block *block = place_count ? blocks[hash(owner, shift, number)] : NULL;

	while (block && (block->owner != owner || block->shift != shift || block->number != number))
		block = block->next;
	return block;
}

static struct block *make_block(int owner, unsigned shift, uint64_t number)
{
	struct block *block = find_block(owner, shift, number);

	if (block)
		return block;
	if (block_count >= place_count)
		grow_blocks();
	block_count++;
	block = calloc(1, sizeof(*block));
	if (!block)
		program_fail("out of memory");
	*block = (struct block){ .owner = owner, .shift = shift, .number = number };
	block->next = blocks[hash(owner, shift, number)];
	blocks[hash(owner, shift, number)] = block;
	return block;
}

static void add_to_block(struct block *block, struct access *access)
{
	if (block->count && block->list[block->count - 1] == access)
		return; /* several pieces of it are here */
	if (!grow_array(&block->list, &block->capacity, block->count + 1, sizeof(*block->list)))
		program_fail("out of memory");
	block->list[block->count++] = access;
}

static uint64_t first_block(const struct trace_piece *piece, unsigned shift)
{
	return piece->first >> shift;
}

static uint64_t last_block(const struct trace_piece *piece, unsigned shift)
{
	return (piece->first + piece->bytes - 1) >> shift;
}

/* Returns the size of the blocks that an access is listed in. */
static unsigned shift_of(const struct access *access)
{
	uint64_t lines = 0, pages = 0;

	for (uint32_t i = 0; i < access->piece_count; i++) {
		lines += last_block(&access->pieces[i], LINE_SHIFT) - first_block(&access->pieces[i], LINE_SHIFT) + 1;
		pages += last_block(&access->pieces[i], PAGE_SHIFT) - first_block(&access->pieces[i], PAGE_SHIFT) + 1;
	}
	return lines <= LINES_MAX ? LINE_SHIFT : pages <= PAGES_MAX ? PAGE_SHIFT : WHOLE_SHIFT;
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
		program_fail("out of memory");
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
		program_fail("out of memory");
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
	       is_over(older, access->start);
}

static void judge_block(struct access *access, struct block *block)
{
	for (uint32_t i = 0; block && i < block->count; i++) {
		judge(access, block->list[i]);
		if (replaces(access, block->list[i]))
			block->list[i]->is_dead = true;
		if (block->list[i]->is_dead)
			block->list[i--] = block->list[--block->count];
	}
}

/* Looks at the accesses that are listed in blocks of this size. */
static void judge_blocks(struct access *access, unsigned shift)
{
	for (uint32_t i = 0; i < access->piece_count; i++) {
		for (uint64_t k = first_block(&access->pieces[i], shift); k <= last_block(&access->pieces[i], shift); k++)
			judge_block(access, find_block(access->owner, shift, k));
	}
}

/* Looks at every access of the owner's memory that may share a byte. */
static void judge_all(struct access *access)
{
	for (struct access *other = all; other; other = other->next) {
		if (other->owner == access->owner)
			judge(access, other);
	}
}

static void list(struct access *access, unsigned shift)
{
	for (uint32_t i = 0; i < access->piece_count; i++) {
		for (uint64_t k = first_block(&access->pieces[i], shift); k <= last_block(&access->pieces[i], shift); k++)
			add_to_block(make_block(access->owner, shift, k), access);
	}
}

void access_begin(struct access *access, struct clock *start)
{
	unsigned shift = shift_of(access);

	access->start = start;
	looks++;
	if (shift == WHOLE_SHIFT) {
		judge_all(access);
		add_to_block(make_block(access->owner, WHOLE_SHIFT, 0), access);
	} else {
		judge_block(access, find_block(access->owner, WHOLE_SHIFT, 0));
		judge_blocks(access, PAGE_SHIFT);
		judge_blocks(access, LINE_SHIFT);
		list(access, shift);
	}
	access->next = all;
	all = access;
	access_count++;
}

/* ---- forgetting ---- */

static void drop_dead(struct block *block)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < block->count; i++) {
		if (!block->list[i]->is_dead)
			block->list[kept++] = block->list[i];
	}
	block->count = kept;
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
		for (struct block *block = blocks[i]; block; block = block->next)
			drop_dead(block);
	}
	free_dead();
}

uint64_t accesses_count(void)
{
	return access_count;
}
