// SPDX-License-Identifier: BSD-2-Clause
/*
 * datatypes.c - put and get between datatypes of every kind
 *
 * MPI_Pack and MPI_Unpack make the expected bytes from the same datatypes. The test compares each
 * byte, also those in gaps.
 */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 8192
#define ORIGIN 2048 /* where address 0 of a datatype lies: some have negative offsets */

static unsigned char *window_memory;
static MPI_Win win;

static void open_window(void)
{
	MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &win);
}

static void close_window(void)
{
	MPI_Win_free(&win);
}

/* Memory that other processes do not map. */
static void open_created(void)
{
	window_memory = malloc(BYTES);
	MPI_Win_create(window_memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}

static void close_created(void)
{
	MPI_Win_free(&win);
	free(window_memory);
}

static void fill(unsigned char *bytes, int seed)
{
	for (int i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251 + seed);
}

/*
 * Packs `count` elements of one datatype, and unpacks `count_to` of another; all of them if the
 * types are the same.
 */
static void move(const void *from, int count, MPI_Datatype type, void *to, int count_to, MPI_Datatype type_to)
{
	char packed[BYTES];
	int at = 0, size;

	MPI_Pack(from, count, type, packed, sizeof(packed), &at, MPI_COMM_SELF);
	size = at, at = 0;
	MPI_Unpack(packed, size, &at, to, type == type_to ? count : count_to, type_to, MPI_COMM_SELF);
}

static void check_put(int count, MPI_Datatype type, int count_to, MPI_Datatype type_to)
{
	unsigned char from[BYTES], expected[BYTES];

	fill(from, layer_left());
	fill(expected, 100);
	move(from + ORIGIN, count, type, expected + ORIGIN, count_to, type_to);
	fill(from, layer_rank);
	MPI_Win_fence(0, win);
	fill(window_memory, 100);
	MPI_Win_fence(0, win);
	MPI_Put(from + ORIGIN, count, type, layer_right(), ORIGIN, count_to, type_to, win);
	MPI_Win_fence(0, win);
	EXPECT(memcmp(window_memory, expected, BYTES) == 0);
}

static void check_get(int count, MPI_Datatype type, int count_from, MPI_Datatype type_from)
{
	unsigned char from[BYTES], expected[BYTES], to[BYTES];

	fill(from, layer_right());
	fill(expected, 50);
	fill(to, 50);
	move(from + ORIGIN, count_from, type_from, expected + ORIGIN, count, type);
	MPI_Win_fence(0, win);
	fill(window_memory, layer_rank);
	MPI_Win_fence(0, win);
	MPI_Get(to + ORIGIN, count, type, layer_right(), ORIGIN, count_from, type_from, win);
	MPI_Win_fence(0, win);
	EXPECT(memcmp(to, expected, BYTES) == 0);
}

/* On either side, against itself and against plain elements. Frees it. */
static void check(MPI_Datatype type, MPI_Datatype element)
{
	int size, element_size;

	MPI_Type_commit(&type);
	MPI_Type_size(type, &size);
	MPI_Type_size(element, &element_size);
	for (int count = 0; count <= 3; count++) {
		check_put(count, type, count, type);
		check_put(count, type, count * size / element_size, element);
		check_put(count * size / element_size, element, count, type);
		check_get(count, type, count, type);
		check_get(count * size / element_size, element, count, type);
	}
	MPI_Type_free(&type);
}

static void D1_contiguous(void)
{
	MPI_Datatype type;

	MPI_Type_contiguous(5, MPI_INT, &type);
	check(type, MPI_INT);
}

static void D1_vectors(void)
{
	MPI_Datatype type;

	MPI_Type_vector(4, 2, 5, MPI_SHORT, &type);
	check(type, MPI_SHORT);
	MPI_Type_create_hvector(3, 3, 11, MPI_CHAR, &type);
	check(type, MPI_CHAR);
	MPI_Type_vector(3, 1, -2, MPI_DOUBLE, &type);
	check(type, MPI_DOUBLE);
}

/* More pieces than go into one call of the library, and just as many. */
static void D1_many_pieces(void)
{
	static const int counts[] = { 255, 256, 257, 512, 513 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		MPI_Datatype type;

		MPI_Type_vector(counts[i], 1, 3, MPI_CHAR, &type);
		check(type, MPI_CHAR);
	}
}

static void D1_indexed(void)
{
	const int lengths[] = { 2, 0, 3, 1 }, offsets[] = { 7, 1, 0, 20 };
	const MPI_Aint bytes[] = { 70, 12, 0, 33 };
	MPI_Datatype type;

	MPI_Type_indexed(4, lengths, offsets, MPI_INT, &type);
	check(type, MPI_INT);
	MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, &type);
	check(type, MPI_INT);
	MPI_Type_create_indexed_block(4, 2, (const int[]){ 6, -4, 0, 12 }, MPI_INT, &type);
	check(type, MPI_INT);
	MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &type);
	check(type, MPI_INT);
}

static void D1_structs(void)
{
	const int lengths[] = { 1, 2, 3 };
	const MPI_Aint offsets[] = { 0, 12, 29 };
	const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_CHAR };
	MPI_Datatype type, resized;

	MPI_Type_create_struct(3, lengths, offsets, types, &type);
	check(type, MPI_BYTE);
	MPI_Type_create_struct(3, lengths, offsets, types, &type);
	MPI_Type_create_resized(type, -3, 50, &resized);
	MPI_Type_free(&type);
	check(resized, MPI_BYTE);
}

/* Structures with gaps, more and fewer than are moved as one row for each of their entries. */
static void D1_many_structs(void)
{
	static const int counts[] = { 15, 16, 17, 40 };
	const int lengths[] = { 1, 2, 3 };
	const MPI_Aint offsets[] = { 0, 12, 29 };
	const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_CHAR };
	MPI_Datatype type, resized;

	MPI_Type_create_struct(3, lengths, offsets, types, &type);
	MPI_Type_create_resized(type, -3, 50, &resized);
	MPI_Type_commit(&resized);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		check_put(counts[i], resized, counts[i], resized);
		check_put(counts[i], resized, counts[i] + 1, resized);
		check_get(counts[i], resized, counts[i], resized);
	}
	MPI_Type_free(&type);
	MPI_Type_free(&resized);
}

static void D1_subarrays(void)
{
	const int sizes[] = { 4, 5, 6 }, parts[] = { 2, 3, 2 }, starts[] = { 1, 0, 3 };
	MPI_Datatype type;

	MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_SHORT, &type);
	check(type, MPI_SHORT);
	MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_SHORT, &type);
	check(type, MPI_SHORT);
}

static void D1_darrays(void)
{
	const int sizes[] = { 7, 6, 5 }, grid[] = { 2, 3, 1 };
	const int kinds[] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
	const int arguments[] = { MPI_DISTRIBUTE_DFLT_DARG, 2, MPI_DISTRIBUTE_DFLT_DARG };
	MPI_Datatype type;

	for (int rank = 0; rank < 6; rank++) {
		MPI_Type_create_darray(6, rank, 3, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_SHORT, &type);
		check(type, MPI_SHORT);
		MPI_Type_create_darray(6, rank, 3, sizes, kinds, arguments, grid, MPI_ORDER_FORTRAN, MPI_SHORT, &type);
		check(type, MPI_SHORT);
	}
}

static void D1_nested(void)
{
	MPI_Datatype inner, middle, type;

	MPI_Type_vector(2, 1, 3, MPI_SHORT, &inner);
	MPI_Type_create_hvector(3, 2, 37, inner, &middle);
	MPI_Type_create_indexed_block(2, 1, (const int[]){ 1, 3 }, middle, &type);
	MPI_Type_free(&inner);
	MPI_Type_free(&middle);
	check(type, MPI_SHORT);
	MPI_Type_dup(MPI_INT, &type);
	check(type, MPI_INT);
}

#if MPI_VERSION >= 4
/* Calls for large counts make datatypes that tell of themselves in another way. */
static void D1_large_counts(void)
{
	const MPI_Count lengths[] = { 2, 0, 3 }, offsets[] = { 7, 1, 0 }, bytes[] = { 70, 12, 0 };
	const MPI_Count sizes[] = { 4, 6, 8 }, parts[] = { 2, 3, 2 }, starts[] = { 1, 0, 3 };
	const int grid[] = { 2, 3, 1 }, arguments[] = { 2, 2, 1 };
	const int kinds[] = { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
	const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_CHAR };
	MPI_Datatype type;

	MPI_Type_contiguous_c(5, MPI_INT, &type);
	check(type, MPI_INT);
	MPI_Type_vector_c(4, 2, 5, MPI_SHORT, &type);
	check(type, MPI_SHORT);
	MPI_Type_create_hvector_c(3, 3, 11, MPI_CHAR, &type);
	check(type, MPI_CHAR);
	MPI_Type_indexed_c(3, lengths, offsets, MPI_INT, &type);
	check(type, MPI_INT);
	MPI_Type_create_hindexed_c(3, lengths, bytes, MPI_INT, &type);
	check(type, MPI_INT);
	MPI_Type_create_indexed_block_c(3, 2, sizes, MPI_INT, &type);
	check(type, MPI_INT);
	MPI_Type_create_hindexed_block_c(3, 2, bytes, MPI_INT, &type);
	check(type, MPI_INT);
	MPI_Type_create_struct_c(3, lengths, bytes, types, &type);
	check(type, MPI_BYTE);
	MPI_Type_create_resized_c(MPI_INT, -4, 12, &type);
	check(type, MPI_INT);
	MPI_Type_create_subarray_c(3, sizes, parts, starts, MPI_ORDER_C, MPI_SHORT, &type);
	check(type, MPI_SHORT);
	MPI_Type_create_darray_c(6, 3, 3, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_SHORT, &type);
	check(type, MPI_SHORT);
}

/* The operations' own forms. */
static void D1_large_calls(void)
{
	int out[4] = { 1, 2, 3, layer_rank }, back[4] = { 0 }, again[4] = { 0 };
	int *here = (int *)(void *)window_memory;
	MPI_Request request;

	MPI_Win_fence(0, win);
	memset(window_memory, 0, 64);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_lock_all(0, win);
	MPI_Put_c(out, 4, MPI_INT, layer_right(), 0, 4, MPI_INT, win);
	MPI_Win_flush_all(win);
	MPI_Get_c(back, 4, MPI_INT, layer_right(), 0, 4, MPI_INT, win);
	MPI_Accumulate_c(out, 4, MPI_INT, layer_right(), 16, 4, MPI_INT, MPI_SUM, win);
	MPI_Rput_c(out, 4, MPI_INT, layer_right(), 32, 4, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_flush_all(win);
	MPI_Rget_c(again, 4, MPI_INT, layer_right(), 32, 4, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	EXPECT(again[3] == layer_rank);
	MPI_Raccumulate_c(out, 4, MPI_INT, layer_right(), 48, 4, MPI_INT, MPI_REPLACE, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Rget_accumulate_c(out, 4, MPI_INT, again, 4, MPI_INT, layer_right(), 48, 4, MPI_INT, MPI_SUM, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	EXPECT(again[1] == 2);
	MPI_Get_accumulate_c(out, 4, MPI_INT, again, 4, MPI_INT, layer_right(), 48, 4, MPI_INT, MPI_NO_OP, win);
	MPI_Win_unlock_all(win);
	EXPECT(again[1] == 4);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, layer_rank, 0, win);
	EXPECT(back[2] == 3 && here[3] == layer_left() && here[7] == layer_left() && here[8] == 1);
	MPI_Win_unlock(layer_rank, win);
	MPI_Barrier(MPI_COMM_WORLD);
}
#endif

/* Gaps of pairs are not touched. */
static void D1_pairs(void)
{
	MPI_Datatype type;

	MPI_Type_contiguous(3, MPI_SHORT_INT, &type);
	check(type, MPI_SHORT_INT);
	MPI_Type_vector(2, 2, 3, MPI_DOUBLE_INT, &type);
	check(type, MPI_DOUBLE_INT);
}

/* Addresses in the datatype, at the origin. */
static void D1_absolute(void)
{
	int numbers[4] = { 1, 2, 3, 4 };
	const int lengths[] = { 1, 2 };
	MPI_Aint where[2];
	MPI_Datatype type;

	MPI_Get_address(&numbers[3], &where[0]);
	MPI_Get_address(&numbers[0], &where[1]);
	MPI_Type_create_hindexed(2, lengths, where, MPI_INT, &type);
	MPI_Type_commit(&type);
	MPI_Win_fence(0, win);
	MPI_Put(MPI_BOTTOM, 1, type, layer_right(), 0, 3, MPI_INT, win);
	MPI_Win_fence(0, win);
	EXPECT(((int *)(void *)window_memory)[0] == 4 && ((int *)(void *)window_memory)[2] == 2);
	MPI_Type_free(&type);
}

/* Nothing, of nowhere. */
static void D2_nothing(void)
{
	MPI_Win_fence(0, win);
	EXPECT(MPI_Put(NULL, 0, MPI_INT, layer_right(), 0, 0, MPI_INT, win) == MPI_SUCCESS);
	EXPECT(MPI_Get(NULL, 0, MPI_INT, layer_right(), 0, 0, MPI_INT, win) == MPI_SUCCESS);
	EXPECT(MPI_Accumulate(NULL, 0, MPI_INT, layer_right(), 0, 0, MPI_INT, MPI_SUM, win) == MPI_SUCCESS);
	EXPECT(MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, layer_right(), 0, 0, MPI_INT, MPI_SUM, win) ==
	       MPI_SUCCESS);
	EXPECT(MPI_Put(NULL, 0, MPI_INT, layer_right(), BYTES, 0, MPI_INT, win) == MPI_SUCCESS);
	MPI_Win_fence(0, win);
}

/* Handles of freed datatypes come again for others. */
static void D1_freed_and_made_again(void)
{
	for (int i = 1; i < 300; i++) {
		MPI_Datatype type;

		MPI_Type_vector(2, 1, 1 + i % 9, MPI_INT, &type);
		MPI_Type_commit(&type);
		check_put(1, type, 2, MPI_INT);
		MPI_Type_free(&type);
	}
}

static const struct layer_case cases[] = {
	{ "D1_open", open_window },
	{ "D1_contiguous", D1_contiguous },
	{ "D1_vectors", D1_vectors },
	{ "D1_many_pieces", D1_many_pieces },
	{ "D1_indexed", D1_indexed },
	{ "D1_structs", D1_structs },
	{ "D1_many_structs", D1_many_structs },
	{ "D1_subarrays", D1_subarrays },
	{ "D1_darrays", D1_darrays },
	{ "D1_nested", D1_nested },
#if MPI_VERSION >= 4
	{ "D1_large_counts", D1_large_counts },
	{ "D1_large_calls", D1_large_calls },
#endif
	{ "D1_pairs", D1_pairs },
	{ "D1_absolute", D1_absolute },
	{ "D2_nothing", D2_nothing },
	{ "D1_freed_and_made_again", D1_freed_and_made_again },
	{ "D1_close", close_window },
	{ "D1_open_created", open_created },
	{ "D1_created_many_pieces", D1_many_pieces },
	{ "D1_created_indexed", D1_indexed },
	{ "D1_created_structs", D1_structs },
	{ "D1_created_many_structs", D1_many_structs },
	{ "D1_created_subarrays", D1_subarrays },
	{ "D1_close_created", close_created },
};

LAYER_MAIN(cases)
