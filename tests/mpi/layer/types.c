// SPDX-License-Identifier: BSD-2-Clause
/*
 * types.c [own] - each predefined datatype, each operation that MPI defines on it, by each call
 *
 * The expected values are computed here, in C. "own" is for runs without the layer, and leaves out
 * what the MPIs themselves get wrong:
 *
 *   REAL*16 and its complex type, which Open MPI does not combine, and MPICH takes for long double
 *   the minimum and maximum of unsigned numbers, which both take for signed ones
 *   the minimum and maximum of MPI_OFFSET, which Open MPI takes for unsigned
 *   operations that the standard does not define on a datatype: both can crash
 */
#include "layer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(list) (int)(sizeof(list) / sizeof(*(list)))
#define COUNT 3
#define SLOT 96 /* COUNT of the largest */

enum op { SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR, REPLACE, OPS };

static MPI_Op op_of(enum op op)
{
	const MPI_Op ops[OPS] = { MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_LAND,   MPI_LOR,
		                      MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE };

	return ops[op];
}

#define BIT(op) (1u << (op))
#define ARITHMETIC (BIT(SUM) | BIT(PROD))
#define ORDER (BIT(MIN) | BIT(MAX))
#define LOGIC (BIT(LAND) | BIT(LOR) | BIT(LXOR))
#define BITS (BIT(BAND) | BIT(BOR) | BIT(BXOR))

/*
 * The i-th number of a seed: signs and high bits differ, and products are exact. And b = b op a, of
 * one element.
 */
#define NUMBER(seed, i) ((seed) % 3 + (i)-2)
#define SET(name, c_type)                             \
	static void set_##name(void *at, int seed, int i) \
	{                                                 \
		*(c_type *)at = (c_type)NUMBER(seed, i);      \
	}
#define ORDERED                         \
	case SUM:                           \
		*b = (__typeof__(*b))(*b + *a); \
		break;                          \
	case PROD:                          \
		*b = (__typeof__(*b))(*b * *a); \
		break;                          \
	case MIN:                           \
		*b = *a < *b ? *a : *b;         \
		break;                          \
	case MAX:                           \
		*b = *a > *b ? *a : *b;         \
		break;
#define LOGICAL          \
	case LAND:           \
		*b = *b && *a;   \
		break;           \
	case LOR:            \
		*b = *b || *a;   \
		break;           \
	case LXOR:           \
		*b = !*b != !*a; \
		break;
#define BITWISE                         \
	case BAND:                          \
		*b = (__typeof__(*b))(*b & *a); \
		break;                          \
	case BOR:                           \
		*b = (__typeof__(*b))(*b | *a); \
		break;                          \
	case BXOR:                          \
		*b = (__typeof__(*b))(*b ^ *a); \
		break;
#define COMBINE(name, c_type, cases)                                   \
	static void combine_##name(enum op op, const void *from, void *to) \
	{                                                                  \
		const c_type *a = from;                                        \
		c_type *b = to;                                                \
                                                                       \
		switch (op) {                                                  \
			cases;                                                     \
		default:                                                       \
			*b = *a;                                                   \
		}                                                              \
	}
#define INTEGER(name, c_type) SET(name, c_type) COMBINE(name, c_type, ORDERED LOGICAL BITWISE)
#define FLOAT(name, c_type) SET(name, c_type) COMBINE(name, c_type, ORDERED)
/* Two of a kind: real and imaginary part. */
#define COMPLEX(name, c_type)                                                                     \
	static void set_##name(void *at, int seed, int i)                                             \
	{                                                                                             \
		((c_type *)at)[0] = (c_type)NUMBER(seed, i);                                              \
		((c_type *)at)[1] = (c_type)NUMBER(seed + 1, i);                                          \
	}                                                                                             \
	static void combine_##name(enum op op, const void *from, void *to)                            \
	{                                                                                             \
		const c_type *a = from;                                                                   \
		c_type *b = to, real = b[0], imaginary = b[1];                                            \
                                                                                                  \
		b[0] = op == SUM ? real + a[0] : op == PROD ? real * a[0] - imaginary * a[1] : a[0];      \
		b[1] = op == SUM ? imaginary + a[1] : op == PROD ? real * a[1] + imaginary * a[0] : a[1]; \
	}
/* A Fortran LOGICAL of so many bytes, and C's bool. */
#define TRUTH(name, c_type)                           \
	static void set_##name(void *at, int seed, int i) \
	{                                                 \
		*(c_type *)at = (c_type)((seed + i) % 2);     \
	}                                                 \
	COMBINE(name, c_type, LOGICAL)

INTEGER(int8, int8_t)
INTEGER(int16, int16_t)
INTEGER(int32, int32_t)
INTEGER(int64, int64_t)
INTEGER(uint8, uint8_t)
INTEGER(uint16, uint16_t)
INTEGER(uint32, uint32_t)
INTEGER(uint64, uint64_t)
FLOAT(float, float)
FLOAT(double, double)
FLOAT(long_double, long double)
FLOAT(float128, __float128)
COMPLEX(float_complex, float)
COMPLEX(double_complex, double)
COMPLEX(long_double_complex, long double)
COMPLEX(float128_complex, __float128)
TRUTH(c_bool, _Bool)
TRUTH(logical4, int32_t)
#ifdef MPI_LOGICAL8
TRUTH(logical1, int8_t)
TRUTH(logical2, int16_t)
TRUTH(logical8, int64_t)
#endif

#define C_INTEGERS (ARITHMETIC | ORDER | LOGIC | BITS)
#define FORTRAN_INTEGERS (ARITHMETIC | ORDER | BITS)
#define UNSIGNED_INTEGERS (C_INTEGERS | OWN_ORDER_WRONG)
#define FLOATS (ARITHMETIC | ORDER)
#define ROW(type, ops, c)                                         \
	{                                                             \
#type, type, ops, set_##c, combine_##c, sizeof(sized_##c) \
	}
/* What the MPIs themselves get wrong, and types whose elements have bytes without a meaning. */
enum { OWN_WRONG = 1 << 20, OWN_ORDER_WRONG = 1 << 21, LONG_DOUBLE = 1 << 22 };

typedef int8_t sized_int8;
typedef int16_t sized_int16;
typedef int32_t sized_int32;
typedef int64_t sized_int64;
typedef uint8_t sized_uint8;
typedef uint16_t sized_uint16;
typedef uint32_t sized_uint32;
typedef uint64_t sized_uint64;
typedef float sized_float;
typedef double sized_double;
typedef long double sized_long_double;
typedef __float128 sized_float128;
typedef float sized_float_complex[2];
typedef double sized_double_complex[2];
typedef long double sized_long_double_complex[2];
typedef __float128 sized_float128_complex[2];
typedef _Bool sized_c_bool;
typedef int8_t sized_logical1;
typedef int16_t sized_logical2;
typedef int32_t sized_logical4;
typedef int64_t sized_logical8;

static const struct row {
	const char *name;
	MPI_Datatype type;
	unsigned int ops;
	void (*set)(void *at, int seed, int i);
	void (*combine)(enum op op, const void *from, void *to);
	size_t bytes;
} rows[] = {
	ROW(MPI_SIGNED_CHAR, C_INTEGERS, int8),
	ROW(MPI_UNSIGNED_CHAR, UNSIGNED_INTEGERS, uint8),
	ROW(MPI_SHORT, C_INTEGERS, int16),
	ROW(MPI_UNSIGNED_SHORT, UNSIGNED_INTEGERS, uint16),
	ROW(MPI_INT, C_INTEGERS, int32),
	ROW(MPI_UNSIGNED, UNSIGNED_INTEGERS, uint32),
	ROW(MPI_LONG, C_INTEGERS, int64),
	ROW(MPI_UNSIGNED_LONG, UNSIGNED_INTEGERS, uint64),
	ROW(MPI_LONG_LONG_INT, C_INTEGERS, int64),
	ROW(MPI_UNSIGNED_LONG_LONG, UNSIGNED_INTEGERS, uint64),
	ROW(MPI_INT8_T, C_INTEGERS, int8),
	ROW(MPI_INT16_T, C_INTEGERS, int16),
	ROW(MPI_INT32_T, C_INTEGERS, int32),
	ROW(MPI_INT64_T, C_INTEGERS, int64),
	ROW(MPI_UINT8_T, UNSIGNED_INTEGERS, uint8),
	ROW(MPI_UINT16_T, UNSIGNED_INTEGERS, uint16),
	ROW(MPI_UINT32_T, UNSIGNED_INTEGERS, uint32),
	ROW(MPI_UINT64_T, UNSIGNED_INTEGERS, uint64),
	ROW(MPI_AINT, C_INTEGERS, int64),
	ROW(MPI_OFFSET, C_INTEGERS | OWN_ORDER_WRONG, int64),
	ROW(MPI_COUNT, C_INTEGERS, int64),
	ROW(MPI_INTEGER, FORTRAN_INTEGERS, int32),
	ROW(MPI_INTEGER1, FORTRAN_INTEGERS, int8),
	ROW(MPI_INTEGER2, FORTRAN_INTEGERS, int16),
	ROW(MPI_INTEGER4, FORTRAN_INTEGERS, int32),
	ROW(MPI_INTEGER8, FORTRAN_INTEGERS, int64),
	ROW(MPI_FLOAT, FLOATS, float),
	ROW(MPI_DOUBLE, FLOATS, double),
	ROW(MPI_LONG_DOUBLE, FLOATS | LONG_DOUBLE, long_double),
	ROW(MPI_REAL, FLOATS, float),
	ROW(MPI_DOUBLE_PRECISION, FLOATS, double),
	ROW(MPI_REAL4, FLOATS, float),
	ROW(MPI_REAL8, FLOATS, double),
	ROW(MPI_REAL16, FLOATS | OWN_WRONG, float128),
	ROW(MPI_C_COMPLEX, ARITHMETIC, float_complex),
	ROW(MPI_C_FLOAT_COMPLEX, ARITHMETIC, float_complex),
	ROW(MPI_C_DOUBLE_COMPLEX, ARITHMETIC, double_complex),
	ROW(MPI_C_LONG_DOUBLE_COMPLEX, ARITHMETIC | LONG_DOUBLE, long_double_complex),
	ROW(MPI_CXX_FLOAT_COMPLEX, ARITHMETIC, float_complex),
	ROW(MPI_CXX_DOUBLE_COMPLEX, ARITHMETIC, double_complex),
	ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, ARITHMETIC | LONG_DOUBLE, long_double_complex),
	ROW(MPI_COMPLEX, ARITHMETIC, float_complex),
	ROW(MPI_DOUBLE_COMPLEX, ARITHMETIC, double_complex),
	ROW(MPI_COMPLEX8, ARITHMETIC, float_complex),
	ROW(MPI_COMPLEX16, ARITHMETIC, double_complex),
	ROW(MPI_COMPLEX32, ARITHMETIC | OWN_WRONG, float128_complex),
	ROW(MPI_C_BOOL, LOGIC, c_bool),
	ROW(MPI_CXX_BOOL, LOGIC, c_bool),
	ROW(MPI_LOGICAL, LOGIC, logical4),
#ifdef MPI_LOGICAL8
	ROW(MPI_LOGICAL1, LOGIC, logical1),
	ROW(MPI_LOGICAL2, LOGIC, logical2),
	ROW(MPI_LOGICAL4, LOGIC, logical4),
	ROW(MPI_LOGICAL8, LOGIC, logical8),
#endif
	ROW(MPI_BYTE, BITS, uint8),
	ROW(MPI_CHAR, 0, int8),
	ROW(MPI_CHARACTER, 0, uint8),
	ROW(MPI_WCHAR, 0, int32),
	ROW(MPI_PACKED, 0, uint8),
};

static bool own;

static bool looked_at(const struct row *row, enum op op)
{
	if (own && ((row->ops & OWN_WRONG) || ((row->ops & OWN_ORDER_WRONG) && (BIT(op) & ORDER))))
		return false;
	return op == REPLACE || (row->ops & BIT(op)) != 0;
}

/* Of a long double ten bytes are its own. */
static bool same(const struct row *row, const unsigned char *a, const unsigned char *b, size_t count)
{
	bool equal = true;

	for (size_t i = 0; i < count * row->bytes; i++)
		equal &= a[i] == b[i] || ((row->ops & LONG_DOUBLE) && i % 16 >= 10);
	return equal;
}

static void fill(const struct row *row, unsigned char *at, int seed)
{
	memset(at, 0, SLOT);
	for (int i = 0; i < COUNT; i++)
		row->set(at + (size_t)i * row->bytes, seed, i);
}

static void expect(bool held, const struct row *row, enum op op, const char *call)
{
	char what[128];

	snprintf(what, sizeof(what), "%s of %s, operation %d", call, row->name, (int)op);
	layer_expect(held, what, __FILE__, __LINE__);
}

/* A slot for each row, operation and call; at the target, and what each rank sends and gets. */
enum call { ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, CALLS };
static const char *const call_names[CALLS] = { "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op" };
#define SLOTS (LENGTH(rows) * OPS * CALLS)

struct slot {
	_Alignas(16) unsigned char bytes[SLOT];
};

static MPI_Win win;
static struct slot *memory;
static struct slot from[SLOTS], got[SLOTS];

static int slot_of(int r, int op, int call)
{
	return (r * OPS + op) * CALLS + call;
}

static void open_window(void)
{
	MPI_Win_allocate((MPI_Aint)sizeof(*memory) * SLOTS, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
}

static void close_window(void)
{
	MPI_Win_free(&win);
}

static void do_call(const struct row *row, enum op op, enum call call, int slot)
{
	const MPI_Aint at = (MPI_Aint)slot * (MPI_Aint)sizeof(struct slot);
	const int to = layer_right();

	fill(row, from[slot].bytes, 1 + layer_rank);
	memset(&got[slot], 0, sizeof(got[slot]));
	if (call == ACCUMULATE)
		MPI_Accumulate(&from[slot], COUNT, row->type, to, at, COUNT, row->type, op_of(op), win);
	else if (call == GET_ACCUMULATE)
		MPI_Get_accumulate(&from[slot], COUNT, row->type, &got[slot], COUNT, row->type, to, at, COUNT, row->type,
		                   op_of(op), win);
	else
		MPI_Fetch_and_op(&from[slot], &got[slot], row->type, to, at, op_of(op), win);
}

static void check_call(const struct row *row, enum op op, enum call call, int slot)
{
	unsigned char before[SLOT], operand[SLOT], after[SLOT];

	fill(row, before, 5);
	memcpy(after, before, SLOT);
	fill(row, operand, 1 + layer_left());
	for (size_t i = 0; i < (call == FETCH_AND_OP ? 1 : COUNT); i++)
		row->combine(op, operand + i * row->bytes, after + i * row->bytes);
	expect(same(row, memory[slot].bytes, after, COUNT), row, op, call_names[call]);
	if (call != ACCUMULATE)
		expect(same(row, got[slot].bytes, before, call == FETCH_AND_OP ? 1 : COUNT), row, op, call_names[call]);
}

static void each(void (*visit)(const struct row *row, enum op op, enum call call, int slot))
{
	for (int r = 0; r < LENGTH(rows); r++)
		for (int op = 0; op < OPS; op++)
			for (int call = 0; looked_at(&rows[r], (enum op)op) && call < CALLS; call++)
				visit(&rows[r], (enum op)op, (enum call)call, slot_of(r, op, call));
}

static void set_before(const struct row *row, enum op op, enum call call, int slot)
{
	(void)op, (void)call;
	fill(row, memory[slot].bytes, 5);
}

/* One epoch: no two calls meet. */
static void A4_every_type_and_operation(void)
{
	MPI_Win_fence(0, win);
	each(set_before);
	MPI_Win_fence(0, win);
	each(do_call);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	each(check_call);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* There and back. */
static void D1_every_type_moves(void)
{
	unsigned char expected[SLOT];

	MPI_Win_lock_all(0, win);
	for (int r = 0; r < LENGTH(rows); r++) {
		fill(&rows[r], from[r].bytes, 3 + layer_rank);
		MPI_Put(&from[r], COUNT, rows[r].type, layer_right(), (MPI_Aint)sizeof(struct slot) * r, COUNT, rows[r].type,
		        win);
	}
	MPI_Win_flush_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int r = 0; r < LENGTH(rows); r++) {
		memset(&got[r], 0, sizeof(got[r]));
		MPI_Get(&got[r], COUNT, rows[r].type, layer_left(), (MPI_Aint)sizeof(struct slot) * r, COUNT, rows[r].type,
		        win);
	}
	MPI_Win_unlock_all(win);
	for (int r = 0; r < LENGTH(rows); r++) {
		fill(&rows[r], expected, 3 + (layer_rank + 2 * (layer_size - 1)) % layer_size);
		expect(same(&rows[r], got[r].bytes, expected, COUNT), &rows[r], REPLACE, "MPI_Put and MPI_Get");
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static int class_of(int code)
{
	int class = MPI_SUCCESS;

	MPI_Error_class(code, &class);
	return class;
}

/*
 * Both MPIs add bytes and characters up, though the standard does not, and have logical operations
 * on Fortran's integers.
 */
static bool refused(const struct row *row, enum op op)
{
	if (row->type == MPI_BYTE || row->type == MPI_CHAR || row->type == MPI_CHARACTER)
		return false;
	return op != REPLACE && !(row->ops & BIT(op)) && !((row->ops & BITS) && (BIT(op) & LOGIC));
}

/* Nothing changes; and no single call takes what the others refuse. */
static void A5_not_defined(void)
{
	unsigned char zeros[SLOT] = { 0 }, result[SLOT];

	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_lock_all(0, win);
	for (int r = 0; !own && r < LENGTH(rows); r++)
		for (int i = 0; i < OPS; i++) {
			const struct row *row = &rows[r];
			const MPI_Op op = op_of((enum op)i);
			const MPI_Datatype type = row->type;
			const int to = layer_right();

			if (!refused(row, (enum op)i))
				continue;
			expect(class_of(MPI_Accumulate(zeros, 1, type, to, 0, 1, type, op, win)) == MPI_ERR_OP, row, (enum op)i,
			       "refusal by MPI_Accumulate");
			expect(class_of(MPI_Get_accumulate(zeros, 1, type, result, 1, type, to, 0, 1, type, op, win)) == MPI_ERR_OP,
			       row, (enum op)i, "refusal by MPI_Get_accumulate");
			expect(class_of(MPI_Fetch_and_op(zeros, result, type, to, 0, op, win)) == MPI_ERR_OP, row, (enum op)i,
			       "refusal by MPI_Fetch_and_op");
		}
	MPI_Win_unlock_all(win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

static bool swapped(const struct row *row)
{
	return (row->ops & (LOGIC | BITS)) || row->type == MPI_CHAR || row->type == MPI_CHARACTER;
}

/* Integers, logicals and bytes are swapped, and nothing else. */
static void A6_swapped(void)
{
	unsigned char new[SLOT], compare[SLOT];

	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, layer_rank, 0, win);
	memset(memory, 0, (size_t)LENGTH(rows) * sizeof(*memory));
	MPI_Win_unlock(layer_rank, win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	memset(compare, 0, sizeof(compare));
	for (int r = 0; r < LENGTH(rows); r++) {
		fill(&rows[r], new, 1);
		memset(&got[r], 1, sizeof(got[r]));
		if (swapped(&rows[r]))
			MPI_Compare_and_swap(new, compare, &got[r], rows[r].type, layer_right(), (MPI_Aint)sizeof(struct slot) * r,
			                     win);
		else if (!own)
			expect(class_of(MPI_Compare_and_swap(new, compare, &got[r], rows[r].type, layer_right(),
			                                     (MPI_Aint)sizeof(struct slot) * r, win)) == MPI_ERR_TYPE,
			       &rows[r], REPLACE, "refusal by MPI_Compare_and_swap");
		MPI_Win_flush(layer_right(), win);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int r = 0; r < LENGTH(rows); r++) {
		fill(&rows[r], new, 1);
		expect(memcmp(&memory[r], swapped(&rows[r]) ? new : compare, rows[r].bytes) == 0 &&
		           (!swapped(&rows[r]) || memcmp(&got[r], compare, rows[r].bytes) == 0),
		       &rows[r], REPLACE, "MPI_Compare_and_swap");
	}
	MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

/* A type that the MPI does not have: MPICH's MPI_INTEGER16, say. */
static void I5_no_type(void)
{
	int numbers[4] = { 0 }, results[4];

	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_lock_all(0, win);
	if (!own) {
		const MPI_Datatype none = MPI_DATATYPE_NULL;
		const int to = layer_right();

		EXPECT(class_of(MPI_Put(numbers, 1, none, to, 0, 1, none, win)) == MPI_ERR_TYPE);
		EXPECT(class_of(MPI_Get(results, 1, none, to, 0, 1, none, win)) == MPI_ERR_TYPE);
		EXPECT(class_of(MPI_Accumulate(numbers, 1, none, to, 0, 1, none, MPI_SUM, win)) == MPI_ERR_TYPE);
		EXPECT(class_of(MPI_Fetch_and_op(numbers, results, none, to, 0, MPI_SUM, win)) == MPI_ERR_TYPE);
		EXPECT(class_of(MPI_Compare_and_swap(numbers, numbers + 1, results, none, to, 0, win)) == MPI_ERR_TYPE);
	}
	MPI_Win_unlock_all(win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

static const struct layer_case cases[] = {
	{ "A1_open", open_window },
	{ "A4_every_type_and_operation", A4_every_type_and_operation },
	{ "D1_every_type_moves", D1_every_type_moves },
	{ "A5_not_defined", A5_not_defined },
	{ "A6_swapped", A6_swapped },
	{ "I5_no_type", I5_no_type },
	{ "A1_close", close_window },
};

int main(int argc, char **argv)
{
	own = argc > 1 && strcmp(argv[1], "own") == 0;
	return layer_run(&argc, &argv, cases, LENGTH(cases));
}
