// SPDX-License-Identifier: BSD-2-Clause
/*
 * See judge.h. Accesses are looked up by the blocks of memory that they touch. Each is listed in
 * blocks of the smallest size of which it touches few.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "check/judge/judge.h"
#include "oriel.h"

#define LEVELS 6
#define LISTED_MAX 8 /* blocks that list an access, if there are larger ones */
#define PLACES_AT_FIRST 1024

/* The sizes of blocks, as powers of two; the last: all memory of the owner. */
static const unsigned shifts[LEVELS] = { 6, 12, 18, 24, 30, 64 };

/* An access, and the bytes between which its pieces in this block lie. */
struct entry {
	uint64_t first, last;
	struct access *access;
};

struct block {
	uint64_t number;
	struct entry *list;
	uint32_t count, capacity;
	struct block *next;
};

/* The blocks of one size of a rank's memory that list accesses. */
struct table {
	struct block **places;
	uint64_t place_count, count;
};

static struct table (*tables)[LEVELS]; /* by the owner of the memory */
static int owner_count;
static struct access *all;
static uint64_t access_count, looks;

void accesses_make(int ranks)
{
	owner_count = ranks;
	tables = calloc((size_t)ranks, sizeof(*tables));
	if (!tables)
		program_fail("out of memory");
}

/* ---- blocks ---- */

static uint64_t block_of(uint64_t address, unsigned level)
{
	return shifts[level] < 64 ? address >> shifts[level] : 0;
}

static struct block **place_of(const struct table *table, uint64_t number)
{
	uint64_t bits = (number + 1) * 0x9e3779b97f4a7c15ULL;

	return &table->places[(bits ^ bits >> 32) & (table->place_count - 1)];
}

static void grow_table(struct table *table)
{
	struct block **old = table->places;
	uint64_t old_count = table->place_count;

	table->place_count = old_count ? 2 * old_count : PLACES_AT_FIRST;
	table->places = calloc(table->place_count, sizeof(*table->places));
	if (!table->places)
		program_fail("out of memory");
	for (uint64_t i = 0; i < old_count; i++) {
		for (struct block *block = old[i], *next; block; block = next) {
			struct block **place = place_of(table, block->number);

			next = block->next;
			block->next = *place;
			*place = block;
		}
	}
	free(old);
}

static struct block *find_block(const struct table *table, uint64_t number)
{
	struct block *block = table->count ? *place_of(table, number) : NULL;

	while (block && block->number != number)
		block = block->next;
	return block;
}

static struct block *make_block(struct table *table, uint64_t number)
{
	struct block *block = find_block(table, number), **place;

	if (block)
		return block;
	if (table->count >= table->place_count)
		grow_table(table);
	table->count++;
	block = calloc(1, sizeof(*block));
	if (!block)
		program_fail("out of memory");
	block->number = number;
	place = place_of(table, number);
	block->next = *place;
	*place = block;
	return block;
}

static uint64_t last_byte(const struct trace_piece *piece)
{
	return piece->first + piece->bytes - 1;
}

static void add_to_block(struct block *block, struct entry entry)
{
	if (!grow_array(&block->list, &block->capacity, block->count + 1, sizeof(*block->list)))
		program_fail("out of memory");
	block->list[block->count++] = entry;
}

/* Pieces of which each begins in a block that the one before it touches. */
struct run {
	uint64_t first, last; /* bytes */
};

/* Takes the run of pieces that begins with piece *at. Returns false after the last one. */
static bool next_run(const struct access *access, unsigned level, uint32_t *at, struct run *run)
{
	const struct trace_piece *pieces = access->pieces;

	if (*at == access->piece_count)
		return false;
	*run = (struct run){ pieces[*at].first, last_byte(&pieces[*at]) };
	while (++*at < access->piece_count && block_of(pieces[*at].first, level) <= block_of(run->last, level)) {
		if (last_byte(&pieces[*at]) > run->last)
			run->last = last_byte(&pieces[*at]);
	}
	return true;
}

/* Returns how many blocks of this size the pieces touch. */
static uint64_t blocks_touched(const struct access *access, unsigned level)
{
	uint64_t count = 0;
	struct run run;

	for (uint32_t at = 0; next_run(access, level, &at, &run);)
		count += block_of(run.last, level) - block_of(run.first, level) + 1;
	return count;
}

static unsigned level_of(const struct access *access)
{
	unsigned level = 0;

	while (level < LEVELS - 1 && blocks_touched(access, level) > LISTED_MAX)
		level++;
	return level;
}

/* ---- accesses ---- */

static int compare_pieces(const void *a, const void *b)
{
	const struct trace_piece *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

struct access *access_new(struct access access, const struct trace_piece pieces_of_it[], uint32_t count)
{
	struct access *made = malloc(sizeof(*made) + count * sizeof(*made->pieces));

	if (!made)
		program_fail("out of memory");
	*made = access;
	for (uint32_t i = 0; i < count; i++) {
		if (pieces_of_it[i].bytes)
			made->pieces[made->piece_count++] = pieces_of_it[i];
	}
	if (made->piece_count > 1)
		qsort(made->pieces, made->piece_count, sizeof(*made->pieces), compare_pieces);
	return made;
}

void access_end(struct access *access, struct end end)
{
	if (!access)
		return;
	if (access->end_count++ == 0) {
		access->end = end;
		return;
	}
	if (!grow_array(&access->more_ends, &access->more_capacity, access->end_count - 1, sizeof(end)))
		program_fail("out of memory");
	access->more_ends[access->end_count - 2] = end;
}

typedef bool knows_call(const struct clock *clock, int index, uint64_t time);

static bool has_end(const struct access *access, const struct clock *clock, knows_call *knows)
{
	if (access->end_count == 0)
		return false;
	if (knows(clock, access->end.index, access->end.time))
		return true;
	for (uint32_t i = 0; i + 1 < access->end_count; i++) {
		if (knows(clock, access->more_ends[i].index, access->more_ends[i].time))
			return true;
	}
	return false;
}

static bool is_over(const struct access *access, const struct clock *clock)
{
	return has_end(access, clock, clock_knows);
}

/* Returns the same by what calls say, without what may have been seen in shared memory. */
static bool is_over_by_calls(const struct access *access, const struct clock *clock)
{
	return has_end(access, clock, clock_knows_by_calls);
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

/*
 * Returns whether the one may take the other for a message, or is atomic as the other is. The owner
 * may poll a value of at most 8 bytes (MM4), and others may poll what it stores.
 */
static bool is_message(const struct access *own, const struct access *other)
{
	if (!own->is_own || other->is_own)
		return false;
	if (own->is_indivisible && is_atomic(other))
		return true;
	if (!own->is_flag || !other->is_flag)
		return false;
	return own->how == HOW_LOAD || own->is_indivisible || other->how == HOW_GET || other->how == HOW_READ_ATOMICALLY;
}

static bool overlap(const struct trace_piece *a, const struct trace_piece *b)
{
	return a->first < b->first + b->bytes && b->first < a->first + a->bytes;
}

static bool contains(const struct trace_piece *whole, const struct trace_piece *part)
{
	return whole->first <= part->first && part->first + part->bytes <= whole->first + whole->bytes;
}

/* Returns whether pieces that overlap share a byte that both access. */
static bool is_certain(const struct access *a, const struct access *b, const struct trace_piece *piece_of_a,
                       const struct trace_piece *piece_of_b)
{
	return (!a->is_some || contains(piece_of_b, piece_of_a)) && (!b->is_some || contains(piece_of_a, piece_of_b));
}

static void report(const struct access *earlier, const struct access *later, const struct trace_piece *a,
                   const struct trace_piece *b, bool by_calls)
{
	uint64_t first = a->first > b->first ? a->first : b->first;
	uint64_t end_of_a = a->first + a->bytes, end_of_b = b->first + b->bytes;

	finding_add(earlier, later, first, (end_of_a < end_of_b ? end_of_a : end_of_b) - first, by_calls);
}

/* Returns whether they share a byte. */
static bool meet(const struct access *a, const struct access *b)
{
	uint32_t i = 0, k = 0;

	while (i < a->piece_count && k < b->piece_count) {
		if (overlap(&a->pieces[i], &b->pieces[k]))
			return true;
		if (a->pieces[i].first < b->pieces[k].first)
			i++;
		else
			k++;
	}
	return false;
}

/* A load of the owner may have seen the value: the operation is over for all that know of it. */
static void poll(const struct access *load, struct access *other)
{
	if (load->is_own && load->how == HOW_LOAD && load->is_flag && other->is_flag && !other->is_own &&
	    (other->how == HOW_PUT || other->how == HOW_ACCUMULATE) && !is_over(other, load->start) && meet(load, other))
		access_end(other, load->end);
}

/* Reports the first bytes in common that no rule allows. by_calls: memory may order the two. */
static void compare(const struct access *earlier, const struct access *later, bool by_calls)
{
	uint32_t i = 0, k = 0;

	while (i < earlier->piece_count && k < later->piece_count) {
		const struct trace_piece *a = &earlier->pieces[i], *b = &later->pieces[k];

		if (overlap(a, b) && !is_allowed(earlier, later, a, b) && is_certain(earlier, later, a, b)) {
			report(earlier, later, a, b, by_calls);
			return;
		}
		if (a->first + a->bytes < b->first + b->bytes)
			i++;
		else
			k++;
	}
}

/* Returns whether the owner may have seen the operation, by loads, before its own access. */
static bool is_seen(const struct access *access, const struct access *operation)
{
	return !access->window && !access->is_own && operation->may_be_seen && access->rank == operation->owner &&
	       operation->ns < access->ns;
}

/* Returns how many bytes they share. */
static uint64_t bytes_shared(const struct access *a, const struct access *b)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0, k = 0; i < a->piece_count && k < b->piece_count;) {
		uint64_t first = a->pieces[i].first > b->pieces[k].first ? a->pieces[i].first : b->pieces[k].first;
		uint64_t end_of_a = a->pieces[i].first + a->pieces[i].bytes, end_of_b = b->pieces[k].first + b->pieces[k].bytes;
		uint64_t end = end_of_a < end_of_b ? end_of_a : end_of_b;

		bytes += first < end ? end - first : 0;
		if (end_of_a < end_of_b)
			i++;
		else
			k++;
	}
	return bytes;
}

static bool are_message(const struct access *a, const struct access *b)
{
	return is_message(a, b) || is_message(b, a);
}

static bool races(const struct access *access, const struct access *other)
{
	return (access->window || other->window) && !other->is_past &&
	       !(access->since_ns && other->ns >= access->since_ns) && conflicts(access->how, other->how) &&
	       !is_over(other, access->start) && !is_over(access, other->start) && !are_message(access, other);
}

static const struct judge_window *memory_of(const struct access *access)
{
	return access->shared ? access->shared : access->window;
}

/* Returns whether a member of a shared window has loaded or stored what another one accesses. */
static bool are_of_members(const struct access *a, const struct access *b)
{
	return (a->shared || b->shared) && memory_of(a) == memory_of(b) && a->rank != b->rank;
}

/* Returns whether the one may be a flag for the other: few bytes that are not an atomic's. */
static bool may_be_flag(const struct access *a, const struct access *b)
{
	bool is_seen = (a->how == HOW_LOAD) != (b->how == HOW_LOAD);

	return a->is_own && b->is_own && is_seen && bytes_shared(a, b) <= FLAG_BYTES;
}

/* Returns whether both are atomics: the traces say which of these order members (local_outside). */
static bool are_atomics(const struct access *a, const struct access *b)
{
	return a->is_own && b->is_own && a->is_indivisible && b->is_indivisible;
}

/* Judges by what calls say of the order. */
static void judge_by_calls(const struct access *access, const struct access *other)
{
	if (!conflicts(access->how, other->how) || is_over_by_calls(other, access->start) ||
	    is_over_by_calls(access, other->start) || !meet(access, other) || are_message(access, other))
		return;
	if (are_atomics(access, other)) {
		if (members_sync())
			members_may_signal(access->site, "atomics and MPI_Win_sync");
	} else if (may_be_flag(access, other)) {
		members_may_signal(access->site, "flags of a shared window");
	} else {
		compare(other, access, true);
	}
}

static void judge(struct access *access, struct access *other)
{
	if (other == access || other->seen == looks || other->is_dead)
		return;
	other->seen = looks;
	if (is_seen(access, other) || is_seen(other, access))
		return;
	if (other->start && races(access, other))
		compare(other, access, false);
	else if (other->start && are_of_members(access, other) && !members_signal())
		judge_by_calls(access, other);
	poll(access, other);
}

/* Returns whether it is over for all that may still race with it. */
static bool is_finished(const struct access *access, const struct clock *clock)
{
	if (access->is_past)
		return members_signal() || is_over_by_calls(access, clock);
	return is_over(access, clock);
}

/*
 * Returns whether an older access can be forgotten for this one, which is behind it: what races
 * with the older one later races with this one, too.
 */
static bool replaces(const struct access *access, const struct access *older)
{
	return (!access->since_ns || access->is_past) && older->is_past == access->is_past && older->rank == access->rank &&
	       older->site == access->site && older->how == access->how && !older->kept && older->type == access->type &&
	       older->piece_count == access->piece_count &&
	       memcmp(older->pieces, access->pieces, access->piece_count * sizeof(*access->pieces)) == 0 &&
	       is_finished(older, access->start);
}

/* Returns whether they are of one line of a rank, and access the same bytes in the same way. */
static bool are_alike(const struct access *a, const struct access *b)
{
	return a->rank == b->rank && a->strand == b->strand && a->site == b->site && a->how == b->how &&
	       a->type == b->type && a->op == b->op && a->is_flag == b->is_flag && a->may_be_seen == b->may_be_seen &&
	       a->is_local == b->is_local && a->piece_count == b->piece_count &&
	       memcmp(a->pieces, b->pieces, a->piece_count * sizeof(*a->pieces)) == 0;
}

/* Returns whether both begin with one clock. Two that are awaited do if their calls had one. */
static bool begin_alike(const struct access *a, const struct access *b)
{
	if (a->start && b->start)
		return clock_is_same(a->start, b->start);
	return !a->start && !b->start && a->issued == b->issued;
}

/*
 * Returns whether an older access need not be compared any more, since this one is: both begin
 * with one clock, and a call that ends this one ends the older one, too. So an epoch with
 * many operations of one line on the same bytes has one of them to look at.
 */
static bool covers(const struct access *access, const struct access *older)
{
	return access != older && access->window && access->window == older->window && access->target == older->target &&
	       !access->has_request && !older->has_request && access->end_count == 0 && older->end_count == 0 &&
	       are_alike(access, older) && begin_alike(access, older);
}

static void judge_or_replace(struct access *access, struct access *other)
{
	judge(access, other);
	if (replaces(access, other))
		other->is_dead = true;
	other->is_covered |= covers(access, other);
}

static bool is_ended_by(const struct access *access, int index)
{
	for (uint32_t i = 0; i + 1 < access->end_count; i++) {
		if (access->more_ends[i].index == index)
			return true;
	}
	return access->end_count > 0 && access->end.index == index;
}

static struct end last_end(const struct access *access)
{
	return access->end_count > 1 ? access->more_ends[access->end_count - 2] : access->end;
}

/* The fetch may have seen the accumulate: that is over for all that know of the fetch's end. */
static void end_fetched(struct access *fetch, struct access *other)
{
	struct end end = last_end(fetch);

	if (other->how == HOW_ACCUMULATE && other->rank != fetch->rank && !other->is_dead &&
	    !is_ended_by(other, end.index) && meet(fetch, other))
		access_end(other, end);
}

typedef void visitor(struct access *access, struct access *other);

/* Visits the accesses of the block that may share a byte with these. */
static void visit_block(struct access *access, struct block *block, const struct run *run, visitor *visit)
{
	for (uint32_t i = 0; block && i < block->count; i++) {
		const struct entry *entry = &block->list[i];

		if (entry->first > run->last || entry->last < run->first)
			continue;
		visit(access, entry->access);
		if (entry->access->is_dead || entry->access->is_covered)
			block->list[i--] = block->list[--block->count];
	}
}

/* Visits all blocks of the table. */
static void visit_table(struct access *access, const struct table *table, visitor *visit)
{
	uint32_t at = 0;
	struct run whole = { 0 };

	next_run(access, LEVELS - 1, &at, &whole);
	for (uint64_t i = 0; i < table->place_count; i++) {
		for (struct block *block = table->places[i]; block; block = block->next)
			visit_block(access, block, &whole, visit);
	}
}

static void visit_level(struct access *access, unsigned level, visitor *visit)
{
	const struct table *table = &tables[access->owner][level];
	struct run run;

	if (table->count == 0)
		return;
	if (blocks_touched(access, level) > table->place_count) {
		visit_table(access, table, visit);
		return;
	}
	for (uint32_t at = 0; next_run(access, level, &at, &run);) {
		for (uint64_t k = block_of(run.first, level); k <= block_of(run.last, level); k++)
			visit_block(access, find_block(table, k), &run, visit);
	}
}

static void list(struct access *access, unsigned level)
{
	struct table *table = &tables[access->owner][level];
	struct run run;

	for (uint32_t at = 0; next_run(access, level, &at, &run);) {
		for (uint64_t k = block_of(run.first, level); k <= block_of(run.last, level); k++)
			add_to_block(make_block(table, k), (struct entry){ run.first, run.last, access });
	}
}

static void look(struct access *access, visitor *visit)
{
	looks++;
	for (unsigned level = 0; level < LEVELS; level++)
		visit_level(access, level, visit);
}

void access_fetched(struct access *fetch)
{
	look(fetch, end_fetched);
}

static void free_access(struct access *access)
{
	clock_drop(access->start);
	free(access->more_ends);
	free(access);
}

static void keep(struct access *access)
{
	list(access, level_of(access));
	access->is_listed = true;
	access->next = all;
	all = access;
	access_count++;
}

void access_pass(struct access *access, struct clock *start)
{
	access->start = start;
	access->is_past = access->shared;
	look(access, judge_or_replace);
	if (access->shared && !members_signal())
		keep(access);
	else
		free_access(access);
}

/* Two accumulates of one line do not race, so one that is not compared yet may be covered. */
static void cover(struct access *access, struct access *other)
{
	other->is_covered |= is_atomic(access) && covers(access, other);
}

void access_await(struct access *access, const struct clock *issued)
{
	access->issued = issued;
	look(access, cover);
	keep(access);
}

void access_begin(struct access *access, struct clock *start)
{
	access->start = start;
	if (!access->is_covered)
		look(access, judge_or_replace);
	if (!access->is_listed)
		keep(access);
}

/* ---- forgetting ---- */

static void drop_dead(struct block *block)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < block->count; i++) {
		if (!block->list[i].access->is_dead)
			block->list[kept++] = block->list[i];
	}
	block->count = kept;
}

/* Drops what is dead, and blocks that are empty then. */
static void clean_table(struct table *table)
{
	for (uint64_t i = 0; i < table->place_count; i++) {
		struct block **at = &table->places[i], *block;

		while ((block = *at)) {
			drop_dead(block);
			if (block->count > 0) {
				at = &block->next;
				continue;
			}
			*at = block->next;
			table->count--;
			free(block->list);
			free(block);
		}
	}
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
		free_access(access);
		access_count--;
	}
}

void accesses_forget(const struct clock *oldest)
{
	for (struct access *access = all; access; access = access->next)
		access->is_dead |= !access->kept && is_finished(access, oldest);
	for (int owner = 0; owner < owner_count; owner++) {
		for (unsigned level = 0; level < LEVELS; level++)
			clean_table(&tables[owner][level]);
	}
	free_dead();
}

uint64_t accesses_count(void)
{
	return access_count;
}
