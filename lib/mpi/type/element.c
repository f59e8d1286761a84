// SPDX-License-Identifier: BSD-2-Clause
/*
 * element.c - see element.h
 *
 * MPICH's header has MPI_DATATYPE_NULL for Fortran types that it lacks. Fortran types are
 * gfortran's: a LOGICAL is an integer with .TRUE. = 1, REAL*16 is __float128, INTEGER*16 is
 * __int128.
 */
#include "mpi/type/element.h"

#include <assert.h>
#include <stdint.h>

#define REAL(bytes) ((bytes) == 4 ? ORIEL_FLOAT : (bytes) == 8 ? ORIEL_DOUBLE : ORIEL_FLOAT128)
#define INTEGER(bytes)            \
	((bytes) == 1   ? ORIEL_INT8  \
	 : (bytes) == 2 ? ORIEL_INT16 \
	 : (bytes) == 4 ? ORIEL_INT32 \
	 : (bytes) == 8 ? ORIEL_INT64 \
	                : ORIEL_INT128)
#define UNSIGNED(bytes) (INTEGER(bytes) - ORIEL_INT8 + ORIEL_UINT8)

/* The sizes of Fortran's default kinds. */
#define INTEGER_BYTES 4
#define REAL_BYTES 4

static const struct {
	MPI_Datatype type;
	enum oriel_type element;
} named[] = {
	{ MPI_BYTE, ORIEL_UINT8 },
	{ MPI_PACKED, ORIEL_UINT8 },
	{ MPI_CHAR, INTEGER(sizeof(char)) },
	{ MPI_SIGNED_CHAR, ORIEL_INT8 },
	{ MPI_UNSIGNED_CHAR, ORIEL_UINT8 },
	{ MPI_SHORT, INTEGER(sizeof(short)) },
	{ MPI_UNSIGNED_SHORT, UNSIGNED(sizeof(short)) },
	{ MPI_INT, INTEGER(sizeof(int)) },
	{ MPI_UNSIGNED, UNSIGNED(sizeof(int)) },
	{ MPI_LONG, INTEGER(sizeof(long)) },
	{ MPI_UNSIGNED_LONG, UNSIGNED(sizeof(long)) },
	{ MPI_LONG_LONG_INT, INTEGER(sizeof(long long)) },
	{ MPI_UNSIGNED_LONG_LONG, UNSIGNED(sizeof(long long)) },
	{ MPI_WCHAR, INTEGER(sizeof(wchar_t)) },
	{ MPI_INT8_T, ORIEL_INT8 },
	{ MPI_INT16_T, ORIEL_INT16 },
	{ MPI_INT32_T, ORIEL_INT32 },
	{ MPI_INT64_T, ORIEL_INT64 },
	{ MPI_UINT8_T, ORIEL_UINT8 },
	{ MPI_UINT16_T, ORIEL_UINT16 },
	{ MPI_UINT32_T, ORIEL_UINT32 },
	{ MPI_UINT64_T, ORIEL_UINT64 },
	{ MPI_AINT, INTEGER(sizeof(MPI_Aint)) },
	{ MPI_OFFSET, INTEGER(sizeof(MPI_Offset)) },
	{ MPI_COUNT, INTEGER(sizeof(MPI_Count)) },
	{ MPI_C_BOOL, ORIEL_BOOL },
	{ MPI_CXX_BOOL, ORIEL_BOOL },
	{ MPI_FLOAT, ORIEL_FLOAT },
	{ MPI_DOUBLE, ORIEL_DOUBLE },
	{ MPI_LONG_DOUBLE, ORIEL_LONG_DOUBLE },
	{ MPI_C_FLOAT_COMPLEX, ORIEL_FLOAT_COMPLEX },
	{ MPI_C_DOUBLE_COMPLEX, ORIEL_DOUBLE_COMPLEX },
	{ MPI_C_LONG_DOUBLE_COMPLEX, ORIEL_LONG_DOUBLE_COMPLEX },
	{ MPI_CXX_FLOAT_COMPLEX, ORIEL_FLOAT_COMPLEX },
	{ MPI_CXX_DOUBLE_COMPLEX, ORIEL_DOUBLE_COMPLEX },
	{ MPI_CXX_LONG_DOUBLE_COMPLEX, ORIEL_LONG_DOUBLE_COMPLEX },
	{ MPI_FLOAT_INT, ORIEL_FLOAT_INT },
	{ MPI_DOUBLE_INT, ORIEL_DOUBLE_INT },
	{ MPI_LONG_INT, ORIEL_LONG_INT },
	{ MPI_2INT, ORIEL_INT_INT },
	{ MPI_SHORT_INT, ORIEL_SHORT_INT },
	{ MPI_LONG_DOUBLE_INT, ORIEL_LONG_DOUBLE_INT },
	{ MPI_CHARACTER, ORIEL_UINT8 },
	{ MPI_LOGICAL, INTEGER(INTEGER_BYTES) },
	{ MPI_INTEGER, INTEGER(INTEGER_BYTES) },
	{ MPI_INTEGER1, ORIEL_INT8 },
	{ MPI_INTEGER2, ORIEL_INT16 },
	{ MPI_INTEGER4, ORIEL_INT32 },
	{ MPI_INTEGER8, ORIEL_INT64 },
#ifdef MPI_INTEGER16 /* not in Open MPI if its Fortran compiler lacked it */
	{ MPI_INTEGER16, ORIEL_INT128 },
#endif
	{ MPI_REAL, REAL(REAL_BYTES) },
	{ MPI_DOUBLE_PRECISION, REAL(2 * REAL_BYTES) },
	{ MPI_REAL4, ORIEL_FLOAT },
	{ MPI_REAL8, ORIEL_DOUBLE },
	{ MPI_REAL16, ORIEL_FLOAT128 },
	{ MPI_COMPLEX, ORIEL_FLOAT_COMPLEX },
	{ MPI_DOUBLE_COMPLEX, ORIEL_DOUBLE_COMPLEX },
	{ MPI_COMPLEX8, ORIEL_FLOAT_COMPLEX },
	{ MPI_COMPLEX16, ORIEL_DOUBLE_COMPLEX },
	{ MPI_COMPLEX32, ORIEL_FLOAT128_COMPLEX },
	{ MPI_2INTEGER, ORIEL_INT_INT },
	{ MPI_2REAL, ORIEL_FLOAT_FLOAT },
	{ MPI_2DOUBLE_PRECISION, ORIEL_DOUBLE_DOUBLE },
#ifdef OMPI_MAJOR_VERSION
	{ MPI_LOGICAL1, ORIEL_INT8 },
	{ MPI_LOGICAL2, ORIEL_INT16 },
	{ MPI_LOGICAL4, ORIEL_INT32 },
	{ MPI_LOGICAL8, ORIEL_INT64 },
#endif
};

enum oriel_type element_of_named(MPI_Datatype type)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (named[i].type == type)
			return named[i].element;
	return ELEMENT_NONE;
}

MPI_Datatype element_named(enum oriel_type element)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (named[i].element == element)
			return named[i].type;
	return MPI_DATATYPE_NULL;
}

#define LOGICAL (ELEMENT_OP(ORIEL_LAND) | ELEMENT_OP(ORIEL_LOR) | ELEMENT_OP(ORIEL_LXOR))
#define COMBINING (ELEMENT_OP(ORIEL_REPLACE) - 1)
#define COMBINING_BUT_LOGICAL (COMBINING & ~(LOGICAL | ELEMENT_SWAP))
static_assert(ORIEL_NO_OP > ORIEL_REPLACE && ORIEL_MAXLOC < ORIEL_REPLACE, "copies are the last operations");

/* Types that are numbers to Oriel but not to MPI. */
static const struct {
	MPI_Datatype type;
	uint32_t barred;
} no_numbers[] = {
	{ MPI_PACKED, COMBINING },
	{ MPI_WCHAR, COMBINING },
	{ MPI_LOGICAL, COMBINING_BUT_LOGICAL },
#ifdef OMPI_MAJOR_VERSION
	{ MPI_LOGICAL1, COMBINING_BUT_LOGICAL },
	{ MPI_LOGICAL2, COMBINING_BUT_LOGICAL },
	{ MPI_LOGICAL4, COMBINING_BUT_LOGICAL },
	{ MPI_LOGICAL8, COMBINING_BUT_LOGICAL },
#endif
};

uint32_t element_barred(MPI_Datatype named)
{
	for (size_t i = 0; i < sizeof(no_numbers) / sizeof(*no_numbers); i++)
		if (no_numbers[i].type == named)
			return no_numbers[i].barred;
	return 0;
}

enum oriel_type element_of_f90(int combiner, size_t size_bytes)
{
	if (combiner == MPI_COMBINER_F90_INTEGER)
		return INTEGER(size_bytes);
	if (combiner == MPI_COMBINER_F90_REAL)
		return REAL(size_bytes);
	return size_bytes == 8 ? ORIEL_FLOAT_COMPLEX : size_bytes == 16 ? ORIEL_DOUBLE_COMPLEX : ORIEL_FLOAT128_COMPLEX;
}

/* C's pairs, for their indices' offsets. */
struct double_int {
	double value;
	int index;
};
struct long_int {
	long value;
	int index;
};
struct short_int {
	short value;
	int index;
};
struct long_double_int {
	long double value;
	int index;
};

bool element_gap(enum oriel_type element, size_t *value_bytes, size_t *index_offset)
{
	static const struct {
		enum oriel_type element;
		size_t value_bytes, index_offset;
	} pairs[] = {
		{ ORIEL_DOUBLE_INT, sizeof(double), offsetof(struct double_int, index) },
		{ ORIEL_LONG_INT, sizeof(long), offsetof(struct long_int, index) },
		{ ORIEL_SHORT_INT, sizeof(short), offsetof(struct short_int, index) },
		{ ORIEL_LONG_DOUBLE_INT, sizeof(long double), offsetof(struct long_double_int, index) },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i].element == element) {
			*value_bytes = pairs[i].value_bytes;
			*index_offset = pairs[i].index_offset;
			return true;
		}
	return false;
}

static const struct element_op ops[] = {
	{ MPI_SUM, ORIEL_SUM },         { MPI_PROD, ORIEL_PROD },     { MPI_MIN, ORIEL_MIN },
	{ MPI_MAX, ORIEL_MAX },         { MPI_LAND, ORIEL_LAND },     { MPI_LOR, ORIEL_LOR },
	{ MPI_LXOR, ORIEL_LXOR },       { MPI_BAND, ORIEL_BAND },     { MPI_BOR, ORIEL_BOR },
	{ MPI_BXOR, ORIEL_BXOR },       { MPI_MINLOC, ORIEL_MINLOC }, { MPI_MAXLOC, ORIEL_MAXLOC },
	{ MPI_REPLACE, ORIEL_REPLACE }, { MPI_NO_OP, ORIEL_NO_OP },
};

struct element_op element_ops[ELEMENT_OPS];

__attribute__((constructor)) static void fill_ops(void)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		size_t place = element_op_hash(ops[i].op);

		while (element_ops[place].oriel)
			place = (place + 1) % ELEMENT_OPS;
		element_ops[place] = ops[i];
	}
}
