// SPDX-License-Identifier: BSD-2-Clause
/*
 * accumulates.c - the accumulate family: predefined types and operations, derived datatypes, single elements
 *
 * What it makes is compared with MPI_Reduce_local, of which the standard says that it is the same.
 */
#include "layer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 5
#define BYTES (COUNT * 32)
#define LENGTH(list) (int)(sizeof(list) / sizeof(*(list)))

static MPI_Win win;
static unsigned char *memory;

static void open_window(void)
{
	MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memset(memory, 0, 4096);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(void)
{
	MPI_Win_free(&win);
}

/* Memory that other processes do not map. */
static void open_created(void)
{
	memory = calloc(1, 4096);
	MPI_Win_create(memory, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}

static void close_created(void)
{
	MPI_Win_free(&win);
	free(memory);
}

#define MATCHES(c_type)                            \
	static void set_##c_type(void *at, int number) \
	{                                              \
		((c_type *)at)[0] = (c_type)number;        \
	}
MATCHES(int8_t)
MATCHES(int16_t)
MATCHES(int32_t)
MATCHES(int64_t)
MATCHES(float)
MATCHES(double)
typedef long double long_double;
MATCHES(long_double)
typedef float _Complex float_complex;
typedef double _Complex double_complex;
MATCHES(float_complex)
MATCHES(double_complex)
MATCHES(_Bool)

#define PAIR(name, c_type)                       \
	struct name {                                \
		c_type value;                            \
		int index;                               \
	};                                           \
	static void set_##name(void *at, int number) \
	{                                            \
		struct name *pair = at;                  \
		pair->value = (c_type)(number % 3);      \
		pair->index = number;                    \
	}
PAIR(float_int, float)
PAIR(double_int, double)
PAIR(long_int, long)
PAIR(two_int, int)
PAIR(short_int, short)
PAIR(long_double_int, long double)

/* Fortran's pairs; below zero, where the order of floats is not that of their bits. */
#define FORTRAN_PAIR(name, c_type)               \
	static void set_##name(void *at, int number) \
	{                                            \
		c_type *pair = at;                       \
		pair[0] = (c_type)(number % 3 - 2);      \
		pair[1] = (c_type)number;                \
	}
FORTRAN_PAIR(two_integer, int32_t)
FORTRAN_PAIR(two_real, float)
FORTRAN_PAIR(two_double_precision, double)

static void set_logical(void *at, int number)
{
	*(int32_t *)at = number % 2;
}

enum sort { INTEGERS = 1, LOGICALS = 2, FLOATS = 4, COMPLEXES = 8, PAIRS = 16, FORTRAN_INTEGERS = 32 };

static const struct {
	MPI_Datatype type;
	enum sort sort;
	size_t bytes;
	void (*set)(void *at, int number);
} types[] = {
	{ MPI_SIGNED_CHAR, INTEGERS, 1, set_int8_t },
	{ MPI_UNSIGNED_CHAR, INTEGERS, 1, set_int8_t },
	{ MPI_SHORT, INTEGERS, 2, set_int16_t },
	{ MPI_UNSIGNED_SHORT, INTEGERS, 2, set_int16_t },
	{ MPI_INT, INTEGERS, 4, set_int32_t },
	{ MPI_UNSIGNED, INTEGERS, 4, set_int32_t },
	{ MPI_LONG, INTEGERS, 8, set_int64_t },
	{ MPI_UNSIGNED_LONG, INTEGERS, 8, set_int64_t },
	{ MPI_LONG_LONG, INTEGERS, 8, set_int64_t },
	{ MPI_UNSIGNED_LONG_LONG, INTEGERS, 8, set_int64_t },
	{ MPI_INT8_T, INTEGERS, 1, set_int8_t },
	{ MPI_INT16_T, INTEGERS, 2, set_int16_t },
	{ MPI_INT32_T, INTEGERS, 4, set_int32_t },
	{ MPI_INT64_T, INTEGERS, 8, set_int64_t },
	{ MPI_UINT8_T, INTEGERS, 1, set_int8_t },
	{ MPI_UINT16_T, INTEGERS, 2, set_int16_t },
	{ MPI_UINT32_T, INTEGERS, 4, set_int32_t },
	{ MPI_UINT64_T, INTEGERS, 8, set_int64_t },
	{ MPI_AINT, INTEGERS, 8, set_int64_t },
	{ MPI_OFFSET, INTEGERS, 8, set_int64_t },
	{ MPI_COUNT, INTEGERS, 8, set_int64_t },
	{ MPI_C_BOOL, LOGICALS, 1, set__Bool },
	{ MPI_FLOAT, FLOATS, 4, set_float },
	{ MPI_DOUBLE, FLOATS, 8, set_double },
	{ MPI_LONG_DOUBLE, FLOATS, 16, set_long_double },
	{ MPI_C_FLOAT_COMPLEX, COMPLEXES, 8, set_float_complex },
	{ MPI_C_DOUBLE_COMPLEX, COMPLEXES, 16, set_double_complex },
	{ MPI_FLOAT_INT, PAIRS, sizeof(struct float_int), set_float_int },
	{ MPI_DOUBLE_INT, PAIRS, sizeof(struct double_int), set_double_int },
	{ MPI_LONG_INT, PAIRS, sizeof(struct long_int), set_long_int },
	{ MPI_2INT, PAIRS, sizeof(struct two_int), set_two_int },
	{ MPI_SHORT_INT, PAIRS, sizeof(struct short_int), set_short_int },
	{ MPI_LONG_DOUBLE_INT, PAIRS, sizeof(struct long_double_int), set_long_double_int },
	{ MPI_INTEGER, FORTRAN_INTEGERS, 4, set_int32_t },
	{ MPI_REAL, FLOATS, 4, set_float },
	{ MPI_DOUBLE_PRECISION, FLOATS, 8, set_double },
	{ MPI_COMPLEX, COMPLEXES, 8, set_float_complex },
	{ MPI_DOUBLE_COMPLEX, COMPLEXES, 16, set_double_complex },
	{ MPI_LOGICAL, LOGICALS, 4, set_logical },
	{ MPI_2INTEGER, PAIRS, 8, set_two_integer },
	{ MPI_2REAL, PAIRS, 8, set_two_real },
	{ MPI_2DOUBLE_PRECISION, PAIRS, 16, set_two_double_precision },
};

static const struct {
	MPI_Op op;
	int sorts;
} ops[] = {
	{ MPI_SUM, INTEGERS | FORTRAN_INTEGERS | FLOATS | COMPLEXES },
	{ MPI_PROD, INTEGERS | FORTRAN_INTEGERS | FLOATS | COMPLEXES },
	{ MPI_MIN, INTEGERS | FORTRAN_INTEGERS | FLOATS },
	{ MPI_MAX, INTEGERS | FORTRAN_INTEGERS | FLOATS },
	{ MPI_LAND, INTEGERS | LOGICALS },
	{ MPI_LOR, INTEGERS | LOGICALS },
	{ MPI_LXOR, INTEGERS | LOGICALS },
	{ MPI_BAND, INTEGERS | FORTRAN_INTEGERS },
	{ MPI_BOR, INTEGERS | FORTRAN_INTEGERS },
	{ MPI_BXOR, INTEGERS | FORTRAN_INTEGERS },
	{ MPI_MINLOC, PAIRS },
	{ MPI_MAXLOC, PAIRS },
	{ MPI_REPLACE, INTEGERS | FORTRAN_INTEGERS | LOGICALS | FLOATS | COMPLEXES | PAIRS },
};

/* Gaps, and what a long double does not use, are 0. */
static void fill(int t, void *at, int seed)
{
	memset(at, 0, BYTES);
	for (int i = 0; i < COUNT; i++)
		types[t].set((char *)at + (size_t)i * types[t].bytes, seed + i);
}

static void reduce(int t, int o, const void *from, void *to)
{
	if (ops[o].op == MPI_REPLACE)
		memcpy(to, from, COUNT * types[t].bytes);
	else
		MPI_Reduce_local(from, to, COUNT, types[t].type, ops[o].op);
}

/* Of a long double only the ten bytes that are its own, and of pairs with it the value and the index. */
static int same(int t, const unsigned char *a, const unsigned char *b)
{
	int equal = 1;

	for (size_t i = 0; i < COUNT * types[t].bytes; i++) {
		size_t in = i % types[t].bytes;
		bool loose = (types[t].set == set_long_double || types[t].set == set_long_double_int) && in % 32 >= 10 &&
		             !(types[t].set == set_long_double_int && in >= 16 && in < 20);

		equal &= loose || a[i] == b[i];
	}
	return equal;
}

/* Each rank accumulates on its right neighbour, and gets what was there before. */
static void check(int t, int o)
{
	unsigned char from[BYTES], expected[BYTES], before[BYTES], got[BYTES];

	fill(t, before, 2);
	fill(t, expected, 2);
	fill(t, from, 1 + layer_left());
	reduce(t, o, from, expected);
	MPI_Win_fence(0, win);
	fill(t, memory, 2);
	MPI_Win_fence(0, win);
	fill(t, from, 1 + layer_rank);
	MPI_Accumulate(from, COUNT, types[t].type, layer_right(), 0, COUNT, types[t].type, ops[o].op, win);
	MPI_Win_fence(0, win);
	EXPECT(same(t, memory, expected));
	MPI_Win_fence(0, win);
	fill(t, memory, 2);
	MPI_Win_fence(0, win);
	memset(got, 0, sizeof(got));
	MPI_Get_accumulate(from, COUNT, types[t].type, got, COUNT, types[t].type, layer_right(), 0, COUNT, types[t].type,
	                   ops[o].op, win);
	MPI_Win_fence(0, win);
	EXPECT(same(t, memory, expected));
	EXPECT(same(t, got, before));
}

static void A4_types_and_operations(void)
{
	for (int t = 0; t < LENGTH(types); t++)
		for (int o = 0; o < LENGTH(ops); o++)
			if (ops[o].sorts & types[t].sort)
				check(t, o);
}

static void A6_no_op(void)
{
	int here = 40 + layer_rank, got[2] = { 0 };

	MPI_Win_fence(0, win);
	memcpy(memory, &here, sizeof(here));
	MPI_Win_fence(0, win);
	MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &got[0], 1, MPI_INT, layer_right(), 0, 1, MPI_INT, MPI_NO_OP, win);
	MPI_Fetch_and_op(NULL, &got[1], MPI_INT, layer_right(), 0, MPI_NO_OP, win);
	MPI_Win_fence(0, win);
	EXPECT(got[0] == 40 + layer_right() && got[1] == 40 + layer_right());
}

/* Everybody counts on rank 0; each ticket is given once. */
static void A9_tickets(void)
{
	int *tickets = calloc((size_t)layer_size * 10, sizeof(*tickets)), one = 1, zero = 0, ticket, sum = 0;

	memcpy(memory, &zero, sizeof(zero));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < 10; i++) {
		MPI_Fetch_and_op(&one, &ticket, MPI_INT, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
		EXPECT(ticket >= 0 && ticket < layer_size * 10);
		tickets[ticket]++;
	}
	MPI_Win_unlock_all(win);
	MPI_Allreduce(MPI_IN_PLACE, tickets, layer_size * 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < layer_size * 10; i++)
		sum += tickets[i] == 1;
	EXPECT(sum == layer_size * 10);
	free(tickets);
}

static void A6_compare_and_swap(void)
{
	unsigned char byte = 9, nine = 0, was = 1;
	int64_t here = 5, new = 6 + layer_rank, old = 0;

	MPI_Win_fence(0, win);
	memcpy(memory, &here, sizeof(here));
	memory[100] = 0;
	MPI_Win_fence(0, win);
	MPI_Compare_and_swap(&new, &here, &old, MPI_INT64_T, layer_right(), 0, win);
	MPI_Compare_and_swap(&byte, &nine, &was, MPI_BYTE, layer_right(), 100, win);
	MPI_Win_fence(0, win);
	EXPECT(old == 5 && was == 0 && memory[100] == 9);
	memcpy(&here, memory, sizeof(here));
	EXPECT(here == 6 + layer_left());
}

/* Derived datatypes of one predefined type on all sides. */
static void A8_derived(void)
{
	double from[24], got[24], *here = (double *)(void *)memory;
	MPI_Datatype vector, block;

	MPI_Type_vector(4, 2, 5, MPI_DOUBLE, &vector);
	MPI_Type_commit(&vector);
	MPI_Type_create_indexed_block(4, 2, (const int[]){ 18, 0, 6, 3 }, MPI_DOUBLE, &block);
	MPI_Type_commit(&block);
	for (int i = 0; i < 24; i++)
		from[i] = i + 100 * layer_rank, got[i] = -1;
	MPI_Win_fence(0, win);
	for (int i = 0; i < 24; i++)
		here[i] = 1000;
	MPI_Win_fence(0, win);
	MPI_Get_accumulate(from, 1, vector, got, 8, MPI_DOUBLE, layer_right(), 0, 1, block, MPI_SUM, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < 8; i++)
		EXPECT(got[i] == 1000);
	EXPECT(got[8] == -1 && here[18] == 1000 + 100 * layer_left() && here[1] == 1006 + 100 * layer_left());
	EXPECT(here[2] == 1000 && here[3] == 1015 + 100 * layer_left());
	MPI_Win_fence(0, win);
	MPI_Accumulate(from, 1, vector, layer_right(), 0, 8, MPI_DOUBLE, MPI_REPLACE, win);
	MPI_Win_fence(0, win);
	EXPECT(here[7] == 16 + 100 * layer_left());
	MPI_Type_free(&vector);
	MPI_Type_free(&block);
}

/* A part of no elements is of no type; nor is a datatype of none. */
static void A8_empty_parts(void)
{
	const MPI_Datatype parts[] = { MPI_INT, MPI_DOUBLE };
	int from[2] = { 3, 10 + layer_rank }, got[2], *here = (int *)(void *)memory;
	MPI_Datatype ints, none[3];

	MPI_Type_create_struct(2, (const int[]){ 2, 0 }, (const MPI_Aint[]){ 0, 8 }, parts, &ints);
	MPI_Type_create_struct(2, (const int[]){ 0, 0 }, (const MPI_Aint[]){ 0, 8 }, parts, &none[0]);
	MPI_Type_create_struct(0, NULL, NULL, NULL, &none[1]);
	MPI_Type_contiguous(0, ints, &none[2]);
	MPI_Type_commit(&ints);
	MPI_Win_fence(0, win);
	here[0] = here[1] = 100;
	MPI_Win_fence(0, win);
	MPI_Accumulate(from, 1, ints, layer_right(), 0, 1, ints, MPI_SUM, win);
	for (int i = 0; i < 3; i++) {
		MPI_Type_commit(&none[i]);
		MPI_Accumulate(from, 1, none[i], layer_right(), 0, 2, none[i], MPI_SUM, win);
		MPI_Accumulate(from, 1, none[i], layer_right(), 0, 0, MPI_FLOAT, MPI_PROD, win);
		MPI_Accumulate(from, 0, MPI_DOUBLE, layer_right(), 0, 1, none[i], MPI_PROD, win);
		MPI_Accumulate(from, 1, none[i], layer_right(), 0, 1, none[i], MPI_MAXLOC, win);
		MPI_Get_accumulate(from, 1, none[i], got, 1, none[i], layer_right(), 0, 1, none[i], MPI_SUM, win);
		MPI_Put(from, 1, none[i], layer_right(), 0, 1, none[i], win);
		MPI_Type_free(&none[i]);
	}
	MPI_Type_free(&ints);
	MPI_Win_fence(0, win);
	EXPECT(here[0] == 103 && here[1] == 110 + layer_left());
}

/* Pairs with gaps, every other one. */
static void A8_derived_pairs(void)
{
	struct short_int from[4], *here = (struct short_int *)(void *)memory;
	MPI_Datatype vector;

	MPI_Type_vector(2, 1, 2, MPI_SHORT_INT, &vector);
	MPI_Type_commit(&vector);
	MPI_Win_fence(0, win);
	for (int i = 0; i < 4; i++) {
		from[i] = (struct short_int){ (short)(10 * i), layer_rank };
		here[i] = (struct short_int){ 5, 77 };
	}
	MPI_Win_fence(0, win);
	MPI_Accumulate(from, 1, vector, layer_right(), 0, 1, vector, MPI_MAXLOC, win);
	MPI_Win_fence(0, win);
	EXPECT(here[0].value == 5 && here[0].index == 77 && here[1].value == 5);
	EXPECT(here[2].value == 20 && here[2].index == layer_left() && here[3].value == 5);
	MPI_Type_free(&vector);
}

/* The first and the last of three doubles each, many times: a row for each of the two. */
static void A8_derived_structs(void)
{
	enum { STRUCTS = 40, DOUBLES = 3 * STRUCTS };
	double from[DOUBLES], got[DOUBLES], *here = (double *)(void *)memory;
	const MPI_Aint places[] = { 0, 2 * sizeof(double) };
	MPI_Datatype type;
	int wrong = 0;

	MPI_Type_create_hindexed_block(2, 1, places, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	MPI_Win_fence(0, win);
	for (int i = 0; i < DOUBLES; i++) {
		from[i] = i + 1000 * layer_rank;
		got[i] = -1;
		here[i] = 7;
	}
	MPI_Win_fence(0, win);
	MPI_Accumulate(from, STRUCTS, type, layer_right(), 0, STRUCTS, type, MPI_SUM, win);
	MPI_Get_accumulate(from, STRUCTS, type, got, STRUCTS, type, layer_right(), 0, STRUCTS, type, MPI_SUM, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < DOUBLES; i++) {
		wrong += here[i] != (i % 3 == 1 ? 7 : 7 + 2 * (i + 1000 * layer_left()));
		wrong += got[i] != (i % 3 == 1 ? -1 : 7 + i + 1000 * layer_rank);
	}
	EXPECT(wrong == 0);
	MPI_Type_free(&type);
}

static const struct layer_case cases[] = {
	{ "A1_open", open_window },
	{ "A4_types_and_operations", A4_types_and_operations },
	{ "A6_no_op", A6_no_op },
	{ "A9_tickets", A9_tickets },
	{ "A6_compare_and_swap", A6_compare_and_swap },
	{ "A8_derived", A8_derived },
	{ "A8_empty_parts", A8_empty_parts },
	{ "A8_derived_pairs", A8_derived_pairs },
	{ "A8_derived_structs", A8_derived_structs },
	{ "A1_close", close_window },
	{ "A1_open_created", open_created },
	{ "A8_created_derived", A8_derived },
	{ "A8_created_derived_structs", A8_derived_structs },
	{ "A1_close_created", close_created },
};

LAYER_MAIN(cases)
