// SPDX-License-Identifier: BSD-2-Clause
/* See flatten.h. */
#include "mpi/type/flatten.h"

#include <stdlib.h>
#include <string.h>

ptrdiff_t extent_of(MPI_Datatype type)
{
	MPI_Count low, extent;

	PMPI_Type_get_extent_x(type, &low, &extent);
	return (ptrdiff_t)extent;
}

static size_t size_of(MPI_Datatype type)
{
	MPI_Count size;

	PMPI_Type_size_x(type, &size);
	return (size_t)size;
}

/* The state while one datatype is flattened. */
struct made_of {
	struct flattening *flattening;
	struct layout_maker *maker;
	const struct contents *contents;
	const struct layout *part; /* of the first type, as extent */
	ptrdiff_t extent;
};

static const struct layout *pair_with_gap(struct layout_maker *maker, size_t value_bytes, size_t index_offset)
{
	struct layout_entry *entries = malloc(2 * sizeof(*entries));

	if (entries) {
		entries[0] = (struct layout_entry){ 0, layout_run(maker, value_bytes) };
		entries[1] = (struct layout_entry){ (ptrdiff_t)index_offset, layout_run(maker, sizeof(int)) };
	}
	return layout_list(maker, 2, entries);
}

static const struct layout *flatten_element(struct flattening *flattening, enum oriel_type element, size_t size_bytes)
{
	size_t value_bytes, index_offset;

	if (size_bytes == 0) /* MPI_LB and MPI_UB */
		return layout_run(&flattening->maker, 0);
	if (element == ELEMENT_NONE || (flattening->element != ELEMENT_NONE && flattening->element != element))
		flattening->mixed = true;
	flattening->element = element;
	if (!element_gap(element, &value_bytes, &index_offset))
		return layout_run(&flattening->maker, size_bytes);
	if (flattening->whole_pairs)
		return layout_run(&flattening->maker, oriel_type_bytes(element));
	return pair_with_gap(&flattening->maker, value_bytes, index_offset);
}

static const struct layout *flatten_named(struct flattening *flattening, MPI_Datatype type)
{
	flattening->barred |= element_barred(type);
	return flatten_element(flattening, element_of_named(type), size_of(type));
}

static const struct layout *block(const struct made_of *of, MPI_Aint count)
{
	return layout_loop(of->maker, (size_t)count, of->extent, of->part);
}

static const struct layout *vector(const struct made_of *of, MPI_Aint stride)
{
	const MPI_Aint *integers = of->contents->integers;

	return layout_loop(of->maker, (size_t)integers[0], stride, block(of, integers[1]));
}

static const struct layout *part_of_struct(const struct made_of *of, size_t i)
{
	MPI_Datatype type = of->contents->types[i];
	size_t count = (size_t)of->contents->integers[1 + i];

	if (count == 0)
		return layout_run(of->maker, 0);
	return layout_loop(of->maker, count, extent_of(type), flatten(of->flattening, type));
}

static const struct layout *block_i(const struct made_of *of, size_t i)
{
	const MPI_Aint *integers = of->contents->integers;

	switch (of->contents->combiner) {
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		return block(of, integers[1]);
	case MPI_COMBINER_STRUCT:
		return part_of_struct(of, i);
	default:
		return block(of, integers[1 + i]);
	}
}

static ptrdiff_t offset_i(const struct made_of *of, size_t i)
{
	const MPI_Aint *integers = of->contents->integers;

	switch (of->contents->combiner) {
	case MPI_COMBINER_INDEXED:
		return integers[1 + (size_t)integers[0] + i] * of->extent;
	case MPI_COMBINER_INDEXED_BLOCK:
		return integers[2 + i] * of->extent;
	default:
		return of->contents->addresses[i];
	}
}

static const struct layout *list(const struct made_of *of)
{
	size_t count = (size_t)of->contents->integers[0];
	struct layout_entry *entries = calloc(count + 1, sizeof(*entries));

	for (size_t i = 0; entries && i < count; i++)
		entries[i] = (struct layout_entry){ offset_i(of, i), block_i(of, i) };
	return layout_list(of->maker, count, entries);
}

/* integers: dimensions, sizes, subsizes, starts, order. */
static const struct layout *subarray(const struct made_of *of)
{
	const MPI_Aint *integers = of->contents->integers, dims = integers[0];
	const MPI_Aint *sizes = integers + 1, *subsizes = sizes + dims, *starts = subsizes + dims;
	const struct layout *layout = of->part;
	ptrdiff_t stride = of->extent, offset = 0;

	for (MPI_Aint i = 0; i < dims; i++) {
		MPI_Aint d = integers[1 + 3 * dims] == MPI_ORDER_C ? dims - 1 - i : i;

		layout = layout_loop(of->maker, (size_t)subsizes[d], stride, layout);
		offset += starts[d] * stride;
		stride *= sizes[d];
	}
	return layout_at(of->maker, offset, layout);
}

/* A dimension of a distributed array: this process has every process_count-th block. */
struct distribution {
	MPI_Aint size, block_size, process_count, process;
};

static struct distribution distribution_of(MPI_Aint size, MPI_Aint kind, MPI_Aint argument, MPI_Aint process_count,
                                           MPI_Aint process)
{
	struct distribution dist = { size, argument, process_count, process };

	if (kind == MPI_DISTRIBUTE_NONE)
		return (struct distribution){ size, size ? size : 1, 1, 0 };
	if (argument == MPI_DISTRIBUTE_DFLT_DARG)
		dist.block_size = kind == MPI_DISTRIBUTE_BLOCK ? (size + process_count - 1) / process_count : 1;
	if (dist.block_size == 0)
		dist.block_size = 1;
	return dist;
}

static const struct layout *distributed(struct layout_maker *maker, const struct distribution *dist, ptrdiff_t stride,
                                        const struct layout *part)
{
	MPI_Aint first = dist->process * dist->block_size, step = dist->process_count * dist->block_size;
	size_t count = first < dist->size ? (size_t)((dist->size - first + step - 1) / step) : 0;
	struct layout_entry *entries = calloc(count + 1, sizeof(*entries));

	for (size_t i = 0; entries && i < count; i++) {
		MPI_Aint at = first + (MPI_Aint)i * step, left = dist->size - at;
		MPI_Aint length = left < dist->block_size ? left : dist->block_size;

		entries[i] = (struct layout_entry){ at * stride, layout_loop(maker, (size_t)length, stride, part) };
	}
	return layout_list(maker, count, entries);
}

/*
 * integers: processes, rank, dimensions, sizes, distributions, arguments, process grid, order. The
 * ranks fill the grid in C order.
 */
static const struct layout *darray(const struct made_of *of)
{
	const MPI_Aint *integers = of->contents->integers, dims = integers[2];
	const MPI_Aint *sizes = integers + 3, *kinds = sizes + dims, *arguments = kinds + dims, *grid = arguments + dims;
	const bool c_order = grid[dims] == MPI_ORDER_C;
	MPI_Aint *processes = calloc((size_t)dims + 1, sizeof(*processes)), rank = integers[1];
	const struct layout *layout = of->part;
	ptrdiff_t stride = of->extent;

	if (!processes)
		of->maker->failed = true;
	for (MPI_Aint d = dims - 1; processes && d >= 0; d--) {
		processes[d] = rank % grid[d];
		rank /= grid[d];
	}
	for (MPI_Aint i = 0; processes && i < dims; i++) {
		MPI_Aint d = c_order ? dims - 1 - i : i;
		struct distribution dist = distribution_of(sizes[d], kinds[d], arguments[d], grid[d], processes[d]);

		layout = distributed(of->maker, &dist, stride, layout);
		stride *= sizes[d];
	}
	free(processes);
	return layout;
}

static const struct layout *flatten_made(const struct made_of *of)
{
	const struct contents *contents = of->contents;

	switch (contents->combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
		return of->part;
	case MPI_COMBINER_CONTIGUOUS:
		return block(of, contents->integers[0]);
	case MPI_COMBINER_VECTOR:
		return vector(of, contents->integers[2] * of->extent);
	case MPI_COMBINER_HVECTOR:
		return vector(of, contents->addresses[0]);
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
	case MPI_COMBINER_STRUCT:
		return list(of);
	case MPI_COMBINER_SUBARRAY:
		return subarray(of);
	case MPI_COMBINER_DARRAY:
		return darray(of);
	default:
		of->maker->failed = true;
		return layout_run(of->maker, 0);
	}
}

/* part_of_struct flattens the parts of a struct one by one. */
static const struct layout *flatten_parts(struct flattening *flattening, const struct contents *contents)
{
	struct made_of of = { flattening, &flattening->maker, contents, NULL, 0 };

	if (contents->combiner != MPI_COMBINER_STRUCT) {
		of.part = flatten(flattening, contents->types[0]);
		of.extent = extent_of(contents->types[0]);
	}
	return flatten_made(&of);
}

const struct layout *flatten(struct flattening *flattening, MPI_Datatype type)
{
	const struct layout *layout = layout_run(&flattening->maker, 0);
	struct contents contents;

	if (contents_read(type, &contents))
		flattening->maker.failed = true;
	else if (contents.combiner == MPI_COMBINER_NAMED)
		layout = flatten_named(flattening, type);
	else if (contents_is_f90(contents.combiner))
		layout = flatten_element(flattening, element_of_f90(contents.combiner, size_of(type)), size_of(type));
	else if (size_of(type) > 0) /* else empty, whatever it contains */
		layout = flatten_parts(flattening, &contents);
	contents_free(&contents);
	return layout;
}

/* Arguments as MPI returns them. */
struct args {
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

static int ask_counts(MPI_Datatype type, struct args *args, int *combiner)
{
	MPI_Count ints, addresses, larges, types;

	if (PMPI_Type_get_envelope_c(type, &ints, &addresses, &larges, &types, combiner))
		return -1;
	args->int_count = (size_t)ints;
	args->address_count = (size_t)addresses;
	args->large_count = (size_t)larges;
	args->type_count = (size_t)types;
	return 0;
}

static int ask(MPI_Datatype type, struct args *args, struct contents *contents)
{
	return PMPI_Type_get_contents_c(type, (MPI_Count)args->int_count, (MPI_Count)args->address_count,
	                                (MPI_Count)args->large_count, (MPI_Count)args->type_count, args->ints,
	                                contents->addresses, args->larges, contents->types);
}

#else

static int ask_counts(MPI_Datatype type, struct args *args, int *combiner)
{
	int ints, addresses, types;

	if (PMPI_Type_get_envelope(type, &ints, &addresses, &types, combiner))
		return -1;
	args->int_count = (size_t)ints;
	args->address_count = (size_t)addresses;
	args->type_count = (size_t)types;
	return 0;
}

static int ask(MPI_Datatype type, struct args *args, struct contents *contents)
{
	return PMPI_Type_get_contents(type, (int)args->int_count, (int)args->address_count, (int)args->type_count,
	                              args->ints, contents->addresses, contents->types);
}

#endif

bool contents_predefined(MPI_Datatype type)
{
	struct args args;
	int combiner;

	return ask_counts(type, &args, &combiner) || combiner == MPI_COMBINER_NAMED || contents_is_f90(combiner);
}

const char *contents_name(MPI_Datatype type, enum oriel_type element, char text[MPI_MAX_OBJECT_NAME])
{
	int length;

	if (type == MPI_DATATYPE_NULL)
		return "MPI_DATATYPE_NULL";
	if (!contents_predefined(type))
		type = element_named(element);
	return type == MPI_DATATYPE_NULL || PMPI_Type_get_name(type, text, &length) ? "a mixed one" : text;
}

/*
 * Returns how many large counts are integers in the other form of the call; the rest are addresses.
 */
static size_t integers_among(int combiner, const struct args *args)
{
	switch (combiner) {
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_HINDEXED_BLOCK:
		return 2;
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_STRUCT:
		return 1 + (size_t)args->larges[0];
	case MPI_COMBINER_RESIZED:
		return 0;
	default:
		return args->large_count;
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

static void arrange(struct contents *contents, const struct args *args)
{
	size_t among = args->large_count ? integers_among(contents->combiner, args) : 0;
	size_t before = args->large_count ? integers_before(contents->combiner) : 0;
	MPI_Aint *integers = contents->integers, *addresses = contents->addresses + args->address_count;

	put_ints(&integers, args->ints, before);
	put_larges(&integers, args->larges, among);
	put_ints(&integers, args->ints + before, args->int_count - before);
	put_larges(&addresses, args->larges + among, args->large_count - among);
}

/* One more, so that only a lack of memory returns NULL. */
static void *room(size_t count, size_t bytes)
{
	return calloc(count + 1, bytes);
}

static int make_room(struct args *args, struct contents *contents)
{
	args->ints = room(args->int_count, sizeof(*args->ints));
	args->larges = room(args->large_count, sizeof(*args->larges));
	contents->integers = room(args->int_count + args->large_count, sizeof(*contents->integers));
	contents->addresses = room(args->address_count + args->large_count, sizeof(*contents->addresses));
	contents->types = room(args->type_count, sizeof(*contents->types));
	return args->ints && args->larges && contents->integers && contents->addresses && contents->types ? 0 : -1;
}

int contents_read(MPI_Datatype type, struct contents *contents)
{
	struct args args = { 0 };
	int rc;

	memset(contents, 0, sizeof(*contents));
	rc = ask_counts(type, &args, &contents->combiner);
	if (rc == 0)
		rc = make_room(&args, contents);
	if (rc == 0 && contents->combiner != MPI_COMBINER_NAMED)
		rc = ask(type, &args, contents);
	if (rc == 0) {
		contents->type_count = contents->combiner == MPI_COMBINER_NAMED ? 0 : args.type_count;
		arrange(contents, &args);
	}
	free(args.ints);
	free(args.larges);
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
