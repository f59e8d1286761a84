// SPDX-License-Identifier: BSD-2-Clause
/* See operation.h. */
#include "mpi/win/operation.h"

#include <stdio.h>

#include "mpi/win/error.h"

int operation_member(const struct window *window, int rank, const char *call)
{
	char why[96];

	if (rank >= 0 && rank < window->rank_count)
		return MPI_SUCCESS;
	snprintf(why, sizeof(why), "target rank %d, its group has ranks 0 to %d", rank, window->rank_count - 1);
	return error_on_window(window, MPI_ERR_RANK, call, why);
}

static const char *call_of(const struct operation *operation)
{
	static const char *const calls[] = { [OPERATION_PUT] = "MPI_Put",
		                                 [OPERATION_GET] = "MPI_Get",
		                                 [OPERATION_ACCUMULATE] = "MPI_Accumulate",
		                                 [OPERATION_GET_ACCUMULATE] = "MPI_Get_accumulate" };

	return calls[operation->kind];
}

static int refuse(const struct operation *operation, int class, const char *why)
{
	return error_on_window(operation->window, class, call_of(operation), why);
}

static bool know(struct side *side)
{
	side->known = datatype_of(side->type);
	return side->known && side->count >= 0;
}

static int not_known(const struct operation *operation, const struct side *side)
{
	if (side->count < 0)
		return refuse(operation, MPI_ERR_COUNT, "a count is negative");
	return refuse(operation, MPI_ERR_TYPE,
	              "a datatype is null, not committed or nested too deep, or there is no memory for it");
}

/* Bytes without the gaps of pairs, which element_bytes_of counts. */
static size_t bytes_of(const struct side *side)
{
	return (size_t)side->count * side->known->bytes->size_bytes;
}

static size_t element_bytes_of(const struct side *side)
{
	return (size_t)side->count * side->known->elements->size_bytes;
}

static int truncated(const struct operation *operation)
{
	return refuse(operation, MPI_ERR_TRUNCATE, "the data has no room on the other side");
}

/* The other side must have room for the source's bytes. */
static int copy(const struct operation *operation)
{
	const bool get = operation->kind == OPERATION_GET;
	const struct side *origin = &operation->origin, *target = &operation->target;
	size_t bytes = bytes_of(get ? target : origin), offset = operation_offset(operation);
	oriel_win *win = operation->window->win;
	int rc;

	if (bytes > bytes_of(get ? origin : target))
		return truncated(operation);
	if (!origin->known->dense || !target->known->dense)
		rc = transfer(operation, bytes, offset, ORIEL_REPLACE);
	else if (get)
		rc = oriel_get(win, origin->addr, bytes, operation->rank, offset);
	else
		rc = oriel_put(win, origin->addr, bytes, operation->rank, offset);
	return error_of_call(operation->window, rc);
}

/* Returns whether the side is one piece. A pair with a gap is one element. */
static bool whole(const struct side *side)
{
	const struct datatype *known = side->known;

	return known->dense ||
	       (known->elements->kind == LAYOUT_RUN && known->extent_bytes == (ptrdiff_t)known->elements->size_bytes);
}

static bool wholly(const struct operation *operation, enum oriel_op op)
{
	return whole(&operation->target) && (op == ORIEL_NO_OP || whole(&operation->origin)) &&
	       (operation->kind == OPERATION_ACCUMULATE || whole(&operation->result));
}

/* Returns the origin's bytes, or the target's if only fetched. */
static size_t combined_bytes(const struct operation *operation, enum oriel_op op)
{
	return element_bytes_of(op == ORIEL_NO_OP ? &operation->target : &operation->origin);
}

/* Oriel checks target and epoch. */
static int combine_nothing(const struct operation *operation)
{
	return error_of_call(operation->window,
	                     oriel_accumulate(operation->window->win, NULL, 0, ORIEL_UINT8, ORIEL_REPLACE, operation->rank,
	                                      operation_offset(operation)));
}

static int combine(const struct operation *operation)
{
	const enum oriel_op op = element_op(operation->op);
	const enum oriel_type element = operation->target.known->element;
	const size_t bytes = combined_bytes(operation, op), offset = operation_offset(operation);
	oriel_win *win = operation->window->win;
	size_t count;
	int rc;

	if (bytes == 0)
		return combine_nothing(operation);
	if (bytes > element_bytes_of(&operation->target))
		return truncated(operation);
	if (operation->kind == OPERATION_GET_ACCUMULATE && bytes > element_bytes_of(&operation->result))
		return truncated(operation);
	count = bytes / oriel_type_bytes(element);
	if (!wholly(operation, op))
		rc = transfer(operation, bytes, offset, op);
	else if (operation->kind == OPERATION_ACCUMULATE)
		rc = oriel_accumulate(win, operation->origin.addr, count, element, op, operation->rank, offset);
	else
		rc = oriel_get_accumulate(win, operation->origin.addr, operation->result.addr, count, element, op,
		                          operation->rank, offset);
	return error_of_call(operation->window, rc);
}

/* Returns whether all sides have one element type of Oriel's. */
static bool same_element(const struct operation *operation, enum oriel_op op)
{
	enum oriel_type element = operation->target.known->element;

	if (op != ORIEL_NO_OP && operation->origin.known->element != element)
		return false;
	if (operation->kind == OPERATION_GET_ACCUMULATE && operation->result.known->element != element)
		return false;
	return element != ELEMENT_NONE;
}

int operation_barred(const struct window *window, const struct datatype *datatype, enum oriel_op op, const char *call)
{
	if (!(datatype->barred & ELEMENT_OP(op)))
		return MPI_SUCCESS;
	return error_on_window(window, MPI_ERR_OP, call, "MPI defines no such operation on the datatype");
}

/* Checks both sides: one type of Oriel's may be two of MPI's. */
static int barred(const struct operation *operation, enum oriel_op op)
{
	int rc = operation_barred(operation->window, operation->target.known, op, call_of(operation));

	if (rc == MPI_SUCCESS && op != ORIEL_NO_OP)
		rc = operation_barred(operation->window, operation->origin.known, op, call_of(operation));
	return rc;
}

/* Checks the operation and the elements. An empty accumulate may have any. */
static int refuse_elements(const struct operation *operation)
{
	enum oriel_op op = element_op(operation->op);

	if (!op)
		return refuse(operation, MPI_ERR_OP, "the operation is none of MPI's own");
	if (combined_bytes(operation, op) > 0 && !same_element(operation, op))
		return refuse(operation, MPI_ERR_TYPE,
		              "the datatypes of an accumulate are not all made of one and the same predefined type");
	return barred(operation, op);
}

static struct side *wrong_side(struct operation *operation)
{
	if (!know(&operation->target))
		return &operation->target;
	if (operation->kind == OPERATION_GET_ACCUMULATE && !know(&operation->result))
		return &operation->result;
	if (!(operation->kind == OPERATION_GET_ACCUMULATE && operation->op == MPI_NO_OP) && !know(&operation->origin))
		return &operation->origin;
	return NULL;
}

/* Validates arguments for MPI_PROC_NULL too, as Open MPI and MPICH do. */
int operation_do(struct operation *operation)
{
	const bool copies = operation->kind <= OPERATION_GET;
	struct side *wrong = wrong_side(operation);
	int rc;

	if (wrong)
		return not_known(operation, wrong);
	rc = copies ? MPI_SUCCESS : refuse_elements(operation);
	if (rc || operation->rank == MPI_PROC_NULL)
		return rc;
	rc = operation_member(operation->window, operation->rank, call_of(operation));
	if (rc)
		return rc;
	return copies ? copy(operation) : combine(operation);
}
