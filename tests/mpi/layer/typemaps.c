// SPDX-License-Identifier: BSD-2-Clause
/*
 * typemaps.c - random datatypes, with steps, bounds and extents of either sign, against their typemaps
 *
 * Each datatype is made together with a list of where its bytes lie, by the definition of its
 * constructor; no call of MPI says it. Extents are asked for, since they are MPI's business.
 * TYPEMAPS_SEED is where they begin; what fails says how to repeat it.
 */
#include "layer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TYPES 400
#define LONGEST 1500 /* bytes of a typemap */
#define BYTES 65536
#define MIDDLE (BYTES / 2) /* where address 0 of a datatype lies */
#define DEEPEST 4

struct typemap {
	MPI_Datatype type;
	MPI_Aint extent;
	int count;
	MPI_Aint at[LONGEST];
};

static uint64_t state; /* the same on all ranks */
static unsigned char *window_memory, *here, *expected;
static MPI_Win win;

/* splitmix64 */
static int below(int limit)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (int)((z ^ (z >> 31)) % (uint64_t)limit);
}

static int between(int low, int high)
{
	return low + below(high - low + 1);
}

/*
 * Appends a part, `times` in a row: the first at `offset`, each next one by the part's extent behind.
 * Bytes beyond LONGEST are only counted: such a map is not used.
 */
static void append(struct typemap *map, const struct typemap *part, int times, MPI_Aint offset)
{
	for (int i = 0; i < times; i++) {
		for (int k = 0; k < part->count; k++, map->count++) {
			if (map->count < LONGEST)
				map->at[map->count] = offset + i * part->extent + part->at[k];
		}
	}
}

static void vector(struct typemap *map, const struct typemap *old, bool bytes)
{
	const int count = below(4), length = below(4), stride = bytes ? between(-60, 60) : between(-5, 5);

	if (bytes)
		MPI_Type_create_hvector(count, length, stride, old->type, &map->type);
	else
		MPI_Type_vector(count, length, stride, old->type, &map->type);
	for (int i = 0; i < count; i++)
		append(map, old, length, i * (bytes ? stride : stride * old->extent));
}

/* Blocks of elements, as long as each other or not, at steps of the extent or of bytes. */
static void indexed(struct typemap *map, const struct typemap *old, bool bytes, bool alike)
{
	const int count = below(4);
	int lengths[3], places[3];
	MPI_Aint addresses[3];

	for (int i = 0; i < count; i++) {
		lengths[i] = alike && i > 0 ? lengths[0] : below(4);
		addresses[i] = places[i] = bytes ? between(-80, 80) : between(-6, 6);
		append(map, old, lengths[i], bytes ? places[i] : places[i] * old->extent);
	}
	if (alike && bytes)
		MPI_Type_create_hindexed_block(count, count ? lengths[0] : 0, addresses, old->type, &map->type);
	else if (alike)
		MPI_Type_create_indexed_block(count, count ? lengths[0] : 0, places, old->type, &map->type);
	else if (bytes)
		MPI_Type_create_hindexed(count, lengths, addresses, old->type, &map->type);
	else
		MPI_Type_indexed(count, lengths, places, old->type, &map->type);
}

static void structure(struct typemap *map, const struct typemap *one, const struct typemap *other)
{
	const struct typemap *olds[] = { one, other, one };
	const int count = below(4);
	MPI_Datatype types[3];
	MPI_Aint addresses[3];
	int lengths[3];

	for (int i = 0; i < count; i++) {
		types[i] = olds[i]->type;
		lengths[i] = below(3);
		addresses[i] = between(-100, 100);
		append(map, olds[i], lengths[i], addresses[i]);
	}
	MPI_Type_create_struct(count, lengths, addresses, types, &map->type);
}

static void subarray(struct typemap *map, const struct typemap *old)
{
	const bool c = below(2);
	int sizes[2], parts[2], starts[2];

	for (int d = 0; d < 2; d++) {
		sizes[d] = between(1, 4);
		parts[d] = between(1, sizes[d]);
		starts[d] = below(sizes[d] - parts[d] + 1);
	}
	MPI_Type_create_subarray(2, sizes, parts, starts, c ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old->type, &map->type);
	/* The slow dimension outside. */
	for (int i = 0; i < parts[!c]; i++) {
		for (int k = 0; k < parts[c]; k++)
			append(map, old, 1, ((starts[!c] + i) * sizes[c] + starts[c] + k) * old->extent);
	}
}

/* Whether index i of a dimension is this process's. */
static bool is_mine(int i, int size, int kind, int argument, int processes, int process)
{
	int length = argument;

	if (kind == MPI_DISTRIBUTE_NONE)
		return true;
	if (argument == MPI_DISTRIBUTE_DFLT_DARG)
		length = kind == MPI_DISTRIBUTE_CYCLIC ? 1 : (size + processes - 1) / processes;
	return i / length % processes == process;
}

static void darray(struct typemap *map, const struct typemap *old)
{
	static const int kinds[] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
	const bool c = below(2);
	int sizes[2], kind[2], arguments[2], grid[2], processes, me;

	for (int d = 0; d < 2; d++) {
		sizes[d] = between(1, 6);
		kind[d] = kinds[below(3)];
		grid[d] = kind[d] == MPI_DISTRIBUTE_NONE ? 1 : between(1, 3);
		arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
		if (kind[d] == MPI_DISTRIBUTE_CYCLIC && below(2))
			arguments[d] = between(1, 3);
	}
	processes = grid[0] * grid[1];
	me = below(processes);
	MPI_Type_create_darray(processes, me, 2, sizes, kind, arguments, grid, c ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
	                       old->type, &map->type);
	for (int i = 0; i < sizes[!c]; i++) {
		for (int k = 0; k < sizes[c]; k++) {
			const int at[2] = { c ? i : k, c ? k : i }, in_grid[2] = { me / grid[1], me % grid[1] };
			bool mine = true;

			for (int d = 0; d < 2; d++)
				mine &= is_mine(at[d], sizes[d], kind[d], arguments[d], grid[d], in_grid[d]);
			if (mine)
				append(map, old, 1, (i * sizes[c] + k) * old->extent);
		}
	}
}

static void resized(struct typemap *map, const struct typemap *old)
{
	MPI_Type_create_resized(old->type, between(-30, 30), between(-60, 60), &map->type);
	append(map, old, 1, 0);
}

static void derive(struct typemap *map, const struct typemap *old, const struct typemap *other)
{
	const int kind = below(12), times = below(5);

	map->count = 0;
	switch (kind) {
	case 0:
		MPI_Type_contiguous(times, old->type, &map->type);
		append(map, old, times, 0);
		break;
	case 1:
	case 2:
		vector(map, old, kind == 1);
		break;
	case 3:
	case 4:
	case 5:
	case 6:
		indexed(map, old, kind & 1, kind < 5);
		break;
	case 7:
		structure(map, old, other);
		break;
	case 8:
		subarray(map, old);
		break;
	case 9:
		darray(map, old);
		break;
	default:
		resized(map, old);
	}
}

static void release(struct typemap *map)
{
	if (map->type != MPI_BYTE)
		MPI_Type_free(&map->type);
}

static bool fits(const struct typemap *map)
{
	bool inside = map->count <= LONGEST;

	for (int i = 0; inside && i < map->count; i++)
		inside = labs(map->at[i]) < MIDDLE / 4 && labs(map->extent) < MIDDLE / 16;
	return inside;
}

static void draw_type(struct typemap *map)
{
	static struct typemap made[DEEPEST + 1];
	const int levels = between(1, DEEPEST);
	int level = 0;

	made[0] = (struct typemap){ .type = MPI_BYTE, .extent = 1, .count = 1 };
	while (level < levels) {
		struct typemap *new = &made[level + 1];
		MPI_Aint low;

		new->type = MPI_DATATYPE_NULL;
		derive(new, &made[level], &made[level / 2]);
		if (new->type == MPI_DATATYPE_NULL) /* Open MPI makes no distributed array of which this process has nothing */
			continue;
		MPI_Type_get_extent(new->type, &low, &new->extent);
		if (fits(new))
			level++;
		else
			release(new);
	}
	*map = made[level];
	for (int i = 0; i < level; i++)
		release(&made[i]);
	MPI_Type_commit(&map->type);
}

/* Several of the datatype, as the count of an operation says. */
static bool repeat(struct typemap *all, const struct typemap *one, int count)
{
	all->count = 0;
	all->extent = 0;
	append(all, one, count, 0);
	return fits(all);
}

/* What comes to one byte twice may come in any order. */
static bool overlaps(const struct typemap *map)
{
	static unsigned char seen[BYTES];
	bool twice = false;

	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < map->count; i++)
		twice |= seen[MIDDLE + map->at[i]]++ > 0;
	return twice;
}

static unsigned char byte_of(int rank, size_t i)
{
	return (unsigned char)(i * 7 + i / 251 + (size_t)rank * 31);
}

static void fill(unsigned char *bytes, int rank)
{
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = byte_of(rank, i);
}

/* All ranks have come so far, and what they have put is seen. */
static void meet(void)
{
	MPI_Win_flush_all(win);
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
}

static bool packed_there(const struct typemap *one, const struct typemap *all, int count)
{
	fill(here, layer_rank);
	memset(window_memory, 255, BYTES);
	memset(expected, 255, BYTES);
	meet();
	MPI_Put(here + MIDDLE, count, one->type, layer_right(), 8, all->count, MPI_BYTE, win);
	meet();
	for (int i = 0; i < all->count; i++)
		expected[8 + i] = byte_of(layer_left(), (size_t)(MIDDLE + all->at[i]));
	return memcmp(window_memory, expected, BYTES) == 0;
}

static bool unpacked_there(const struct typemap *one, const struct typemap *all, int count)
{
	fill(here, layer_rank);
	memset(window_memory, 255, BYTES);
	memset(expected, 255, BYTES);
	meet();
	MPI_Put(here, all->count, MPI_BYTE, layer_right(), MIDDLE, count, one->type, win);
	meet();
	for (int i = 0; i < all->count; i++)
		expected[MIDDLE + all->at[i]] = byte_of(layer_left(), (size_t)i);
	return memcmp(window_memory, expected, BYTES) == 0;
}

static bool packed_here(const struct typemap *one, const struct typemap *all, int count)
{
	fill(window_memory, layer_rank);
	memset(here, 255, BYTES);
	memset(expected, 255, BYTES);
	meet();
	MPI_Get(here, all->count, MPI_BYTE, layer_right(), MIDDLE, count, one->type, win);
	meet();
	for (int i = 0; i < all->count; i++)
		expected[i] = byte_of(layer_right(), (size_t)(MIDDLE + all->at[i]));
	return memcmp(here, expected, BYTES) == 0;
}

static bool unpacked_here(const struct typemap *one, const struct typemap *all, int count)
{
	fill(window_memory, layer_rank);
	memset(here, 255, BYTES);
	memset(expected, 255, BYTES);
	meet();
	MPI_Get(here + MIDDLE, count, one->type, layer_right(), 0, all->count, MPI_BYTE, win);
	meet();
	for (int i = 0; i < all->count; i++)
		expected[MIDDLE + all->at[i]] = byte_of(layer_right(), (size_t)i);
	return memcmp(here, expected, BYTES) == 0;
}

/* An atomic exclusive or, byte by byte. */
static bool combined_there(const struct typemap *one, const struct typemap *all, int count)
{
	fill(here, layer_rank);
	memset(window_memory, 255, BYTES);
	memset(expected, 255, BYTES);
	meet();
	MPI_Accumulate(here + MIDDLE, count, one->type, layer_right(), MIDDLE, count, one->type, MPI_BXOR, win);
	meet();
	for (int i = 0; i < all->count; i++)
		expected[MIDDLE + all->at[i]] ^= byte_of(layer_left(), (size_t)(MIDDLE + all->at[i]));
	return memcmp(window_memory, expected, BYTES) == 0;
}

static void open_window(void)
{
	MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &win);
	MPI_Win_lock_all(0, win);
	here = malloc(BYTES);
	expected = malloc(BYTES);
}

static void close_window(void)
{
	free(here);
	free(expected);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
}

static uint64_t first_seed(void)
{
	const char *text = getenv("TYPEMAPS_SEED");

	return text ? strtoull(text, NULL, 10) : 1;
}

static void each_type(bool (*right)(const struct typemap *, const struct typemap *, int), bool receives)
{
	static struct typemap one, all;

	state = first_seed();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	open_window();
	for (int n = 0; n < TYPES; n++) {
		const int count = between(0, 3);
		bool good = true;

		draw_type(&one);
		if (repeat(&all, &one, count) && !(receives && overlaps(&all)))
			good = right(&one, &all, count);
		if (!good)
			fprintf(stderr, "# rank %d: TYPEMAPS_SEED=%llu, datatype %d\n", layer_rank,
			        (unsigned long long)first_seed(), n);
		EXPECT(good);
		release(&one);
	}
	close_window();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void typemap__put_of_one(void)
{
	each_type(packed_there, false);
}

static void typemap__put_to_one(void)
{
	each_type(unpacked_there, true);
}

static void typemap__get_of_one(void)
{
	each_type(packed_here, false);
}

static void typemap__get_to_one(void)
{
	each_type(unpacked_here, true);
}

static void typemap__accumulate(void)
{
	each_type(combined_there, true);
}

static const struct layer_case cases[] = {
	{ "typemap__put_of_one", typemap__put_of_one }, { "typemap__put_to_one", typemap__put_to_one },
	{ "typemap__get_of_one", typemap__get_of_one }, { "typemap__get_to_one", typemap__get_to_one },
	{ "typemap__accumulate", typemap__accumulate },
};

LAYER_MAIN(cases)
