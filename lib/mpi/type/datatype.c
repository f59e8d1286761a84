// SPDX-License-Identifier: BSD-2-Clause
/* See datatype.h. */
#include "mpi/type/datatype.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpi/job/job.h"
#include "mpi/type/flatten.h"

struct table datatypes = TABLE_INITIAL;
_Thread_local struct table_last datatype_last;

static int keyval = MPI_KEYVAL_INVALID;
static pthread_once_t keyval_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t learning = PTHREAD_MUTEX_INITIALIZER;

static void release(struct datatype *datatype)
{
	if (datatype)
		layout_free(&datatype->maker);
	free(datatype);
}

static int type_freed(MPI_Datatype handle, int key, void *value, void *extra)
{
	(void)key, (void)extra;
	table_remove(&datatypes, TABLE_KEY(handle));
	release(value);
	return MPI_SUCCESS;
}

static void make_keyval(void)
{
	PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_freed, &keyval, NULL);
}

/* Only integers, logicals and bytes are swapped. */
static enum oriel_type swapped_of(const struct datatype *datatype)
{
	const bool comparable = datatype->single <= ORIEL_BOOL || datatype->single == ORIEL_INT128;

	return comparable && !(datatype->barred & ELEMENT_SWAP) ? datatype->single : ELEMENT_NONE;
}

/* The maker of the first layout makes the second, too. */
static int describe(struct datatype *datatype, MPI_Datatype handle)
{
	struct flattening bytes = { .whole_pairs = false }, elements = { .whole_pairs = true };
	size_t value_bytes, index_offset;

	datatype->bytes = datatype->elements = flatten(&bytes, handle);
	datatype->extent_bytes = extent_of(handle);
	datatype->size_bytes = datatype->bytes->size_bytes;
	datatype->dense = datatype->bytes->kind == LAYOUT_RUN && (ptrdiff_t)datatype->size_bytes == datatype->extent_bytes;
	datatype->element = bytes.mixed || !oriel_type_bytes(bytes.element) ? ELEMENT_NONE : bytes.element;
	datatype->single = contents_predefined(handle) ? datatype->element : ELEMENT_NONE;
	datatype->barred = bytes.barred;
	datatype->swapped = swapped_of(datatype);
	datatype->free_element = datatype->barred ? ELEMENT_NONE : datatype->element;
	datatype->free_single = datatype->barred ? ELEMENT_NONE : datatype->single;
	datatype->element_bytes = oriel_type_bytes(datatype->element);
	if (!bytes.maker.failed && element_gap(datatype->element, &value_bytes, &index_offset)) {
		elements.maker = bytes.maker;
		datatype->elements = flatten(&elements, handle);
		bytes.maker = elements.maker;
	}
	if (datatype->element_bytes)
		datatype->element_count = datatype->elements->size_bytes / datatype->element_bytes;
	datatype->maker = bytes.maker;
	return bytes.maker.failed ? -1 : 0;
}

static int keep(struct datatype *datatype, MPI_Datatype handle)
{
	pthread_once(&keyval_once, make_keyval);
	if (table_add(&datatypes, TABLE_KEY(handle), datatype))
		return -1;
	if (contents_predefined(handle) || PMPI_Type_set_attr(handle, keyval, datatype) == MPI_SUCCESS)
		return 0;
	table_remove(&datatypes, TABLE_KEY(handle));
	return -1;
}

static struct datatype *learn(MPI_Datatype handle)
{
	struct datatype *datatype = calloc(1, sizeof(*datatype));

	if (datatype && describe(datatype, handle) == 0 && keep(datatype, handle) == 0)
		return datatype;
	release(datatype);
	return NULL;
}

/* MPI has no call for this, but both MPIs refuse to pack 0 elements of an uncommitted datatype. */
static bool committed(MPI_Datatype handle)
{
	int position = 0, class = MPI_SUCCESS, rc;
	char nothing = 0;

	if (contents_predefined(handle))
		return true;
	rc = PMPI_Pack(&nothing, 0, handle, &nothing, sizeof(nothing), &position, job.self);
	if (rc)
		PMPI_Error_class(rc, &class);
	return class != MPI_ERR_TYPE;
}

const char *datatype_why_not(MPI_Datatype handle)
{
	if (handle == MPI_DATATYPE_NULL)
		return "null (MPI_DATATYPE_NULL)";
	if (!committed(handle))
		return "not committed; call MPI_Type_commit first";
	return "nested too deep, or there is no memory for it";
}

/* Two threads may learn one datatype. An uncommitted one is not kept: it may be committed later. */
const struct datatype *datatype_learn(MPI_Datatype handle)
{
	struct datatype *known;

	if (handle == MPI_DATATYPE_NULL)
		return NULL;
	pthread_mutex_lock(&learning);
	known = table_find(&datatypes, TABLE_KEY(handle));
	if (!known && committed(handle))
		known = learn(handle);
	pthread_mutex_unlock(&learning);
	return known;
}
