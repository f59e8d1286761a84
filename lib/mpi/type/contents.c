// SPDX-License-Identifier: BSD-2-Clause
/* See flatten.h. */
#include "mpi/type/flatten.h"

#include <stdlib.h>
#include <string.h>

/* Arguments as MPI returns them. */
struct told {
	size_t int_count, address_count, large_count, type_count;
	int *ints;
	MPI_Count *larges;
};

bool contents_is_f90(int combiner)
{
	return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
	       combiner == MPI_COMBINER_F90_INTEGER;
}

#if MPI_VERSION >= 4

static int ask_counts(MPI_Datatype type, struct told *told, int *combiner)
{
	MPI_Count ints, addresses, larges, types;

	if (PMPI_Type_get_envelope_c(type, &ints, &addresses, &larges, &types, combiner))
		return -1;
	told->int_count = (size_t)ints;
	told->address_count = (size_t)addresses;
	told->large_count = (size_t)larges;
	told->type_count = (size_t)types;
	return 0;
}

static int ask(MPI_Datatype type, struct told *told, struct contents *contents)
{
	return PMPI_Type_get_contents_c(type, (MPI_Count)told->int_count, (MPI_Count)told->address_count,
	                                (MPI_Count)told->large_count, (MPI_Count)told->type_count, told->ints,
	                                contents->addresses, told->larges, contents->types);
}

#else

static int ask_counts(MPI_Datatype type, struct told *told, int *combiner)
{
	int ints, addresses, types;

	if (PMPI_Type_get_envelope(type, &ints, &addresses, &types, combiner))
		return -1;
	told->int_count = (size_t)ints;
	told->address_count = (size_t)addresses;
	told->type_count = (size_t)types;
	return 0;
}

static int ask(MPI_Datatype type, struct told *told, struct contents *contents)
{
	return PMPI_Type_get_contents(type, (int)told->int_count, (int)told->address_count, (int)told->type_count,
	                              told->ints, contents->addresses, contents->types);
}

#endif

bool contents_predefined(MPI_Datatype type)
{
	struct told told;
	int combiner;

	return ask_counts(type, &told, &combiner) || combiner == MPI_COMBINER_NAMED || contents_is_f90(combiner);
}

/*
 * Returns how many large counts are integers in the other form of the call; the rest are addresses.
 */
static size_t integers_among(int combiner, const struct told *told)
{
	switch (combiner) {
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_HINDEXED_BLOCK:
		return 2;
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_STRUCT:
		return 1 + (size_t)told->larges[0];
	case MPI_COMBINER_RESIZED:
		return 0;
	default:
		return told->large_count;
	}
}

/* Returns how many integers precede the large counts in array types. */
static size_t integers_before(int combiner)
{
	switch (combiner) {
	case MPI_COMBINER_SUBARRAY:
		return 1;
	case MPI_COMBINER_DARRAY:
		return 3;
	default:
		return 0;
	}
}

static void put_ints(MPI_Aint **to, const int *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*(*to)++ = from[i];
}

static void put_larges(MPI_Aint **to, const MPI_Count *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*(*to)++ = (MPI_Aint)from[i];
}

static void arrange(struct contents *contents, const struct told *told)
{
	size_t among = told->large_count ? integers_among(contents->combiner, told) : 0;
	size_t before = told->large_count ? integers_before(contents->combiner) : 0;
	MPI_Aint *integers = contents->integers, *addresses = contents->addresses + told->address_count;

	put_ints(&integers, told->ints, before);
	put_larges(&integers, told->larges, among);
	put_ints(&integers, told->ints + before, told->int_count - before);
	put_larges(&addresses, told->larges + among, told->large_count - among);
}

/* One more, so that only a lack of memory returns NULL. */
static void *room(size_t count, size_t bytes)
{
	return calloc(count + 1, bytes);
}

static int make_room(struct told *told, struct contents *contents)
{
	told->ints = room(told->int_count, sizeof(*told->ints));
	told->larges = room(told->large_count, sizeof(*told->larges));
	contents->integers = room(told->int_count + told->large_count, sizeof(*contents->integers));
	contents->addresses = room(told->address_count + told->large_count, sizeof(*contents->addresses));
	contents->types = room(told->type_count, sizeof(*contents->types));
	return told->ints && told->larges && contents->integers && contents->addresses && contents->types ? 0 : -1;
}

int contents_read(MPI_Datatype type, struct contents *contents)
{
	struct told told = { 0 };
	int rc;

	memset(contents, 0, sizeof(*contents));
	rc = ask_counts(type, &told, &contents->combiner);
	if (rc == 0)
		rc = make_room(&told, contents);
	if (rc == 0 && contents->combiner != MPI_COMBINER_NAMED)
		rc = ask(type, &told, contents);
	if (rc == 0) {
		contents->type_count = contents->combiner == MPI_COMBINER_NAMED ? 0 : told.type_count;
		arrange(contents, &told);
	}
	free(told.ints);
	free(told.larges);
	return rc ? -1 : 0;
}

void contents_free(struct contents *contents)
{
	for (size_t i = 0; i < contents->type_count; i++)
		if (!contents_predefined(contents->types[i]))
			PMPI_Type_free(&contents->types[i]);
	free(contents->types);
	free(contents->addresses);
	free(contents->integers);
}
