// SPDX-License-Identifier: BSD-2-Clause
/* See types.h. A datatype keeps its layout as an attribute, which goes with it. */
#include "check/mpi/types.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpi/type/flatten.h"

struct kept {
	struct flattening flattening;
	const struct layout *layout;
	ptrdiff_t extent_bytes;
};

/* A datatype of the MPI's own that this thread has looked up last: it is never freed. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
	MPI_Datatype type;
	const struct kept *kept; /* NULL: there is none */
} latest;

static int keyval = MPI_KEYVAL_INVALID;
static pthread_once_t keyval_once = PTHREAD_ONCE_INIT;

static int type_freed(MPI_Datatype handle, int key, void *value, void *extra)
{
	struct kept *kept = value;

	(void)handle, (void)key, (void)extra;
	layout_free(&kept->flattening.maker);
	free(kept);
	return MPI_SUCCESS;
}

static void make_keyval(void)
{
	PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_freed, &keyval, NULL);
}

static struct kept *learn(MPI_Datatype type)
{
	struct kept *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	kept->layout = flatten(&kept->flattening, type);
	kept->extent_bytes = extent_of(type);
	if (!kept->flattening.maker.failed && PMPI_Type_set_attr(type, keyval, kept) == MPI_SUCCESS)
		return kept;
	layout_free(&kept->flattening.maker);
	free(kept);
	return NULL;
}

static const struct kept *look_up(MPI_Datatype type)
{
	struct kept *kept = NULL;
	int flag = 0;

	if (type == MPI_DATATYPE_NULL)
		return NULL;
	pthread_once(&keyval_once, make_keyval);
	if (PMPI_Type_get_attr(type, keyval, &kept, &flag) == MPI_SUCCESS && flag)
		return kept;
	return learn(type);
}

static const struct kept *kept_of(MPI_Datatype type)
{
	const struct kept *kept;

	if (latest.kept && latest.type == type)
		return latest.kept;
	kept = look_up(type);
	if (kept && contents_predefined(type)) {
		latest.type = type;
		latest.kept = kept;
	}
	return kept;
}

uint8_t type_element(MPI_Datatype type)
{
	const struct kept *kept = kept_of(type);

	return kept && !kept->flattening.mixed ? (uint8_t)kept->flattening.element : 0;
}

ptrdiff_t type_extent(MPI_Datatype type)
{
	const struct kept *kept = kept_of(type);

	return kept ? kept->extent_bytes : 0;
}

void pieces_begin(struct type_pieces *pieces)
{
	pieces->list = pieces->few;
	pieces->count = 0;
	pieces->capacity = sizeof(pieces->few) / sizeof(pieces->few[0]);
	pieces->too_many = false;
}

void pieces_end(struct type_pieces *pieces)
{
	if (pieces->list != pieces->few)
		free(pieces->list);
}

static bool has_room(struct type_pieces *pieces)
{
	struct trace_piece *more;

	if (pieces->count < pieces->capacity)
		return true;
	if (pieces->count >= TRACE_PIECES_MAX)
		return false;
	more = malloc(2 * pieces->capacity * sizeof(*more));
	if (!more)
		return false;
	for (size_t i = 0; i < pieces->count; i++)
		more[i] = pieces->list[i];
	if (pieces->list != pieces->few)
		free(pieces->list);
	pieces->list = more;
	pieces->capacity *= 2;
	return true;
}

static void add(struct type_pieces *pieces, uint64_t first, uint64_t bytes)
{
	if (pieces->too_many || !has_room(pieces))
		pieces->too_many = true;
	else
		pieces->list[pieces->count++] = (struct trace_piece){ first, bytes };
}

uint32_t pieces_add(struct type_pieces *pieces, uint64_t first, MPI_Count count, MPI_Datatype type)
{
	const struct kept *kept = count > 0 ? kept_of(type) : NULL;
	size_t before = pieces->count;
	struct layout_cursor cursor;

	if (count > 0 && !kept)
		pieces->too_many = true;
	if (!kept)
		return 0;
	cursor_begin(&cursor, kept->layout, (size_t)count, kept->extent_bytes);
	while (cursor.left_bytes && !pieces->too_many) {
		add(pieces, first + (uint64_t)cursor.offset, cursor.left_bytes);
		cursor_skip(&cursor, cursor.left_bytes);
	}
	return (uint32_t)(pieces->count - before);
}

void pieces_cut(struct type_pieces *pieces, uint64_t bytes)
{
	size_t kept = 0;

	for (; kept < pieces->count && bytes > 0; kept++) {
		if (pieces->list[kept].bytes > bytes)
			pieces->list[kept].bytes = bytes;
		bytes -= pieces->list[kept].bytes;
	}
	pieces->count = kept;
}
