// SPDX-License-Identifier: BSD-2-Clause
/*
 * random.c SEED - a random MPI program, whose every outcome is determined by the seed
 *
 * DESIGN NOTES
 *
 * All ranks draw the program from one generator; what a rank does itself, and with which datatypes,
 * it draws from another that depends on the rank too. Each window's memory has four areas at each
 * member: SLOTS, a part for each origin, which alone puts there; SUMS, where all accumulate by one
 * operation on one type, whose order does not matter; SOURCE, which no rank changes during the
 * epoch, to get from; and WORDS, one for each origin, for fetch_and_op and compare_and_swap, whose
 * results then are determined too. At the end of each epoch every rank prints a sum of all bytes of
 * its window and of what it has got, and makes all of them anew: what goes wrong in an epoch is in
 * its line, and in no other. What this is compared with is the output of other runs: with another
 * MPI, or without oriel-mpi.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT 2048
#define SUMS 4096
#define SOURCE 4096
#define OPERATIONS 6
#define EPOCHS 6
#define WINDOWS 3
#define LARGEST 16 /* bytes of an element */

/* splitmix64 */
struct draw {
	uint64_t state;
};

static struct draw common, mine;

static uint64_t next(struct draw *draw)
{
	uint64_t z = draw->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static int below(struct draw *draw, int limit)
{
	return (int)(next(draw) % (uint64_t)limit);
}

static void add(uint64_t *sum, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*sum = (*sum ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
}

/* One window, and where its parts lie. */
struct memory {
	MPI_Comm comm;
	MPI_Win win;
	int rank, size, unit, kind;
	uint8_t *base;
	size_t bytes;
	MPI_Aint *bases; /* of a dynamic window, by rank */
};

static size_t slots_of(const struct memory *m)
{
	return (size_t)m->size * SLOT;
}

static size_t words_at(const struct memory *m)
{
	return slots_of(m) + SUMS + SOURCE;
}

/*
 * A displacement in the target's units; all offsets that are asked for are multiples of 8, and so
 * is each unit's part of them.
 */
static MPI_Aint disp(const struct memory *m, int target, size_t offset)
{
	return m->bases ? m->bases[target] + (MPI_Aint)offset : (MPI_Aint)(offset / (size_t)m->unit);
}

static MPI_Comm some_comm(void)
{
	MPI_Comm comm;
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	switch (below(&common, 4)) {
	case 0:
		MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
		break;
	case 1:
		MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
		break;
	default:
		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	}
	return comm;
}

static void gather_bases(struct memory *m)
{
	MPI_Aint here;

	MPI_Get_address(m->base, &here);
	m->bases = calloc((size_t)m->size, sizeof(*m->bases));
	MPI_Allgather(&here, 1, MPI_AINT, m->bases, 1, MPI_AINT, m->comm);
}

static void open_memory(struct memory *m)
{
	static const int units[] = { 1, 2, 4, 8 };

	memset(m, 0, sizeof(*m));
	m->comm = some_comm();
	MPI_Comm_rank(m->comm, &m->rank);
	MPI_Comm_size(m->comm, &m->size);
	m->unit = units[below(&common, 4)];
	m->bytes = words_at(m) + (size_t)m->size * 8;
	m->kind = below(&common, 4);
	if (m->kind == 0 || m->kind == 3)
		m->base = aligned_alloc(64, (m->bytes + 63) / 64 * 64);
	if (m->kind == 0)
		MPI_Win_create(m->base, (MPI_Aint)m->bytes, m->unit, MPI_INFO_NULL, m->comm, &m->win);
	else if (m->kind == 1)
		MPI_Win_allocate((MPI_Aint)m->bytes, m->unit, MPI_INFO_NULL, m->comm, &m->base, &m->win);
	else if (m->kind == 2)
		MPI_Win_allocate_shared((MPI_Aint)m->bytes, m->unit, MPI_INFO_NULL, m->comm, &m->base, &m->win);
	else
		MPI_Win_create_dynamic(MPI_INFO_NULL, m->comm, &m->win);
	if (m->kind == 3) {
		MPI_Win_attach(m->win, m->base, (MPI_Aint)m->bytes);
		gather_bases(m);
	}
	memset(m->base, 0, m->bytes);
	MPI_Barrier(m->comm);
}

static void close_memory(struct memory *m)
{
	if (m->kind == 3)
		MPI_Win_detach(m->win, m->base);
	MPI_Win_free(&m->win);
	if (m->kind == 0 || m->kind == 3)
		free(m->base);
	free(m->bases);
	MPI_Comm_free(&m->comm);
}

/* A datatype made of count elements of one predefined type, in a room of so many bytes. */
struct shape {
	MPI_Datatype type;
	int elements;
};

static MPI_Aint true_end(MPI_Datatype type)
{
	MPI_Aint low, extent;

	MPI_Type_get_true_extent(type, &low, &extent);
	return low < 0 ? -1 : low + extent;
}

static MPI_Aint extent_of(MPI_Datatype type)
{
	MPI_Aint low, extent;

	MPI_Type_get_extent(type, &low, &extent);
	return extent;
}

/* Elements of the old one never overlap in the new one. */
static MPI_Datatype derive(struct draw *draw, MPI_Datatype old, int *factor)
{
	const int a = 1 + below(draw, 3), b = 1 + below(draw, 3), gap = below(draw, 3);
	const MPI_Aint step = extent_of(old) * a + LARGEST * gap;
	MPI_Datatype new;

	*factor = a * b;
	switch (below(draw, 9)) {
	case 0:
		MPI_Type_contiguous(a * b, old, &new);
		break;
	case 1:
		MPI_Type_vector(b, a, a + gap, old, &new);
		break;
	case 2:
		MPI_Type_create_hvector(b, a, step, old, &new);
		break;
	case 3:
		MPI_Type_indexed(2, (const int[]){ a, b }, (const int[]){ b + gap, 0 }, old, &new);
		*factor = a + b;
		break;
	case 4:
		MPI_Type_create_hindexed_block(2, a, (const MPI_Aint[]){ step, 0 }, old, &new);
		*factor = 2 * a;
		break;
	case 5:
		MPI_Type_create_struct(2, (const int[]){ a, b }, (const MPI_Aint[]){ 0, step },
		                       (const MPI_Datatype[]){ old, old }, &new);
		*factor = a + b;
		break;
	case 6:
		MPI_Type_create_subarray(2, (const int[]){ b + 1, a + gap }, (const int[]){ b, a }, (const int[]){ 1, gap },
		                         gap % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &new);
		break;
	case 7:
		MPI_Type_create_resized(old, 0, extent_of(old) + LARGEST * gap, &new);
		*factor = 1;
		break;
	default:
		MPI_Type_dup(old, &new);
		*factor = 1;
	}
	return new;
}

/* Elements of one type: extents stay multiples of the element's. */
static struct shape some_shape(struct draw *draw, MPI_Datatype element, MPI_Aint room)
{
	struct shape shape = { .elements = 1 };
	int levels = below(draw, 4);

	MPI_Type_dup(element, &shape.type);
	while (levels-- > 0) {
		int factor;
		MPI_Datatype new = derive(draw, shape.type, &factor);

		if (true_end(new) < 0 || true_end(new) > room) {
			MPI_Type_free(&new);
			break;
		}
		MPI_Type_free(&shape.type);
		shape.type = new;
		shape.elements *= factor;
	}
	MPI_Type_commit(&shape.type);
	return shape;
}

/* What is on the way until the epoch ends. */
struct flight {
	uint8_t out[SLOT], got[SLOT];
	int64_t operand, compare, result;
};

static struct flight flights[OPERATIONS];

/* In epochs of locks operations may have requests, which are waited for before the epoch ends. */
static MPI_Request requests[OPERATIONS];
static int request_count, passive;

static MPI_Request *some_request(void)
{
	return passive && below(&mine, 2) ? &requests[request_count++] : NULL;
}

/*
 * The predefined types, and the operations whose order does not matter, to memory that is zero at
 * first. No type has bytes that belong to no value, which an MPI may copy or leave.
 */
static const struct element {
	MPI_Datatype type;
	size_t bytes;
	enum { SIGNED, UNSIGNED, TRUTH, SINGLE, DOUBLE, PAIR } kind;
} elements[] = {
	{ MPI_INT8_T, 1, SIGNED },
	{ MPI_INT16_T, 2, SIGNED },
	{ MPI_INT32_T, 4, SIGNED },
	{ MPI_INT64_T, 8, SIGNED },
	{ MPI_UINT8_T, 1, UNSIGNED },
	{ MPI_UINT16_T, 2, UNSIGNED },
	{ MPI_UINT32_T, 4, UNSIGNED },
	{ MPI_UINT64_T, 8, UNSIGNED },
	{ MPI_AINT, sizeof(MPI_Aint), SIGNED },
	{ MPI_C_BOOL, 1, TRUTH },
	{ MPI_FLOAT, 4, SINGLE },
	{ MPI_DOUBLE, 8, DOUBLE },
	{ MPI_C_DOUBLE_COMPLEX, 16, DOUBLE },
	{ MPI_2INT, 8, PAIR },
};

#define INTEGERS 8 /* the first ones */
#define ELEMENTS ((int)(sizeof(elements) / sizeof(*elements)))

static MPI_Op some_op(struct draw *draw, const struct element *element)
{
	const MPI_Op of_integers[] = { MPI_SUM, MPI_BOR, MPI_BXOR, MPI_MAX, MPI_MIN, MPI_LOR, MPI_LXOR };

	switch (element->kind) {
	case TRUTH:
		return below(draw, 2) ? MPI_LOR : MPI_LXOR;
	case PAIR:
		return below(draw, 2) ? MPI_MAXLOC : MPI_MINLOC;
	case SINGLE:
	case DOUBLE:
		return element->bytes == LARGEST ? MPI_SUM : (const MPI_Op[]){ MPI_SUM, MPI_MAX, MPI_MIN }[below(draw, 3)];
	case SIGNED:
	case UNSIGNED:
		break;
	}
	return of_integers[below(draw, 7)];
}

/* Small whole numbers, so that sums do not depend on their order. */
static void fill(struct draw *draw, const struct element *element, void *at, size_t bytes)
{
	const size_t step = element->bytes < 8 ? element->bytes : element->kind == PAIR ? sizeof(int) : 8;

	for (size_t i = 0; i < bytes; i += step) {
		int64_t number = below(draw, 100) - (element->kind == UNSIGNED ? 0 : 50);
		double real = (double)number;
		float single = (float)number;
		const void *value = &number; /* of which the first bytes are those of a shorter integer */

		if (element->kind == TRUTH)
			number &= 1;
		else if (element->kind == DOUBLE)
			value = &real;
		else if (element->kind == SINGLE)
			value = &single;
		memcpy((uint8_t *)at + i, value, step);
	}
}

/* As the other side: the same datatype, or as many elements in a row. */
static void other_side(const struct shape *shape, const struct element *element, int *count, MPI_Datatype *type)
{
	int in_a_row = below(&mine, 2);

	*count = in_a_row ? shape->elements : 1;
	*type = in_a_row ? element->type : shape->type;
}

/* One side of an operation. */
struct side {
	int count;
	MPI_Datatype type;
};

static void call_put(const struct memory *m, void *out, struct side from, int target, MPI_Aint at, struct side to)
{
	MPI_Request *request = some_request();

	if (request)
		MPI_Rput(out, from.count, from.type, target, at, to.count, to.type, m->win, request);
	else
		MPI_Put(out, from.count, from.type, target, at, to.count, to.type, m->win);
}

/* An atomic read is as good for memory that no rank changes. */
static void call_get(const struct memory *m, void *got, struct side to, int target, MPI_Aint at, struct side from)
{
	MPI_Request *request = some_request();

	if (request && below(&mine, 2))
		MPI_Rget_accumulate(NULL, 0, MPI_BYTE, got, to.count, to.type, target, at, from.count, from.type, MPI_NO_OP,
		                    m->win, request);
	else if (request)
		MPI_Rget(got, to.count, to.type, target, at, from.count, from.type, m->win, request);
	else if (below(&mine, 4) == 0)
		MPI_Get_accumulate(NULL, 0, MPI_BYTE, got, to.count, to.type, target, at, from.count, from.type, MPI_NO_OP,
		                   m->win);
	else
		MPI_Get(got, to.count, to.type, target, at, from.count, from.type, m->win);
}

static void put(const struct memory *m, struct flight *f, int target, size_t part)
{
	const struct element *element = &elements[below(&mine, ELEMENTS)];
	struct shape shape = some_shape(&mine, element->type, SLOT / OPERATIONS / 8 * 8);
	size_t at = (size_t)m->rank * SLOT + part * (SLOT / OPERATIONS / 8 * 8);
	struct side other, derived = { 1, shape.type };

	fill(&mine, element, f->out, SLOT);
	other_side(&shape, element, &other.count, &other.type);
	if (below(&mine, 2))
		call_put(m, f->out, other, target, disp(m, target, at), derived);
	else
		call_put(m, f->out, derived, target, disp(m, target, at), other);
	MPI_Type_free(&shape.type);
}

static void get(const struct memory *m, struct flight *f, int target)
{
	const struct element *element = &elements[below(&mine, ELEMENTS)];
	struct shape shape = some_shape(&mine, element->type, SLOT);
	size_t at = slots_of(m) + SUMS + 8 * (size_t)below(&mine, (SOURCE - SLOT) / 8);
	struct side other, derived = { 1, shape.type };

	other_side(&shape, element, &other.count, &other.type);
	if (below(&mine, 2))
		call_get(m, f->got, other, target, disp(m, target, at), derived);
	else
		call_get(m, f->got, derived, target, disp(m, target, at), other);
	MPI_Type_free(&shape.type);
}

static void accumulate(const struct memory *m, struct flight *f, int target, const struct element *element, MPI_Op op)
{
	struct shape shape = some_shape(&mine, element->type, SLOT);
	size_t at = slots_of(m) + LARGEST * (size_t)below(&mine, (SUMS - SLOT) / LARGEST);
	MPI_Datatype type;
	int count;

	fill(&mine, element, f->out, SLOT);
	other_side(&shape, element, &count, &type);
	MPI_Accumulate(f->out, count, type, target, disp(m, target, at), 1, shape.type, op, m->win);
	MPI_Type_free(&shape.type);
}

static void single(const struct memory *m, struct flight *f, int target)
{
	MPI_Aint at = disp(m, target, words_at(m) + (size_t)m->rank * 8);

	const struct element *element = &elements[below(&mine, INTEGERS)];

	f->operand = below(&mine, 100); /* in MPICH's MPI_MAX and MPI_MIN a byte without a sign has one */
	f->compare = below(&mine, 2);
	if (below(&mine, 2))
		MPI_Fetch_and_op(&f->operand, &f->result, element->type, target, at, some_op(&mine, element), m->win);
	else
		MPI_Compare_and_swap(&f->operand, &f->compare, &f->result, element->type, target, at, m->win);
}

/* Operations of one epoch on one target; the accumulates of all ranks have one type and one operation. */
static void operate(const struct memory *m, int target, const struct element *element, MPI_Op op)
{
	MPI_Status statuses[OPERATIONS];
	int singles = 0;

	request_count = 0;
	for (size_t i = 0; i < OPERATIONS; i++) {
		int what = below(&mine, 4);

		if (what == 0)
			put(m, &flights[i], target, i);
		else if (what == 1)
			get(m, &flights[i], target);
		else if (what == 2)
			accumulate(m, &flights[i], target, element, op);
		else if (singles++ == 0) /* their order is another question */
			single(m, &flights[i], target);
	}
	MPI_Waitall(request_count, requests, statuses);
}

static MPI_Group group_of(const struct memory *m, int rank)
{
	MPI_Group all, one;

	MPI_Comm_group(m->comm, &all);
	MPI_Group_incl(all, 1, &rank, &one);
	MPI_Group_free(&all);
	return one;
}

static void epoch_pscw(const struct memory *m, int shift, const struct element *element, MPI_Op op)
{
	int target = (m->rank + shift) % m->size, origin = (m->rank + m->size - shift) % m->size;
	MPI_Group to = group_of(m, target), from = group_of(m, origin);

	MPI_Win_post(from, 0, m->win);
	MPI_Win_start(to, 0, m->win);
	operate(m, target, element, op);
	MPI_Win_complete(m->win);
	MPI_Win_wait(m->win);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
}

static void epoch_lock(const struct memory *m, int type, int target, const struct element *element, MPI_Op op)
{
	MPI_Win_lock(type, target, 0, m->win);
	operate(m, target, element, op);
	MPI_Win_unlock(target, m->win);
}

static void epoch(const struct memory *m)
{
	const int how = below(&common, 5), shift = below(&common, m->size);
	const struct element *element = &elements[below(&common, ELEMENTS)];
	const MPI_Op op = some_op(&common, element);
	const int target = below(&mine, m->size);

	passive = how >= 2;
	switch (how) {
	case 0:
		MPI_Win_fence(0, m->win);
		operate(m, target, element, op);
		MPI_Win_fence(MPI_MODE_NOSUCCEED, m->win);
		break;
	case 1:
		epoch_pscw(m, shift, element, op);
		break;
	case 2:
		epoch_lock(m, MPI_LOCK_SHARED, target, element, op);
		break;
	case 3:
		epoch_lock(m, MPI_LOCK_EXCLUSIVE, target, element, op);
		break;
	default:
		MPI_Win_lock_all(0, m->win);
		operate(m, target, element, op);
		MPI_Win_flush(target, m->win);
		MPI_Win_unlock_all(m->win);
	}
}

/*
 * Its own memory, under a lock, between two barriers. A sum of it, and of what has been got; then
 * all of it is as it was.
 */
static uint64_t look(const struct memory *m)
{
	uint64_t sum = 0;

	MPI_Barrier(m->comm);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, m->rank, 0, m->win);
	add(&sum, m->base, m->bytes);
	memset(m->base, 0, m->bytes);
	fill(&mine, &elements[below(&mine, ELEMENTS)], m->base + slots_of(m) + SUMS, SOURCE);
	MPI_Win_unlock(m->rank, m->win);
	MPI_Barrier(m->comm);
	for (int i = 0; i < OPERATIONS; i++) {
		add(&sum, flights[i].got, SLOT);
		add(&sum, &flights[i].result, 8);
	}
	memset(flights, 0, sizeof(flights));
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	struct memory memory;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	common.state = seed;
	mine.state = seed * 1000003 + (uint64_t)rank + 1;
	for (int w = 0; w < WINDOWS; w++) {
		int epochs = 1 + below(&common, EPOCHS);

		open_memory(&memory);
		look(&memory);
		for (int e = 0; e < epochs; e++) {
			epoch(&memory);
			printf("rank %d window %d kind %d epoch %d: %016llx\n", rank, w, memory.kind, e,
			       (unsigned long long)look(&memory));
		}
		close_memory(&memory);
	}
	MPI_Finalize();
	return 0;
}
