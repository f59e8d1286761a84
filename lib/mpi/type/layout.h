/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout.h - where the bytes of a datatype lie
 *
 * DESIGN NOTES
 *
 * A layout is a tree of runs, loops and lists: a vector is one loop over one run. A loop over a run
 * without gaps is a run, and entries that touch are merged. Offsets are relative to the program's
 * address.
 *
 * A cursor walks through a layout, as often as the count says, and yields its pieces.
 */
#ifndef ORIEL_MPI_LAYOUT_H
#define ORIEL_MPI_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "op/row.h"

#define LAYOUT_DEPTH_MAX 64
#define SHORT_LIST 8 /* entries that are worth a row each */

enum layout_kind { LAYOUT_RUN, LAYOUT_LOOP, LAYOUT_LIST };

struct layout_entry {
	ptrdiff_t offset;
	const struct layout *part;
};

struct layout {
	enum layout_kind kind;
	unsigned int depth;
	size_t size_bytes; /* without gaps */
	size_t count;      /* of a loop or a list */
	ptrdiff_t stride;  /* of a loop */
	const struct layout *part;
	struct layout_entry *entries;
	struct oriel_places *places; /* of a list of runs; else NULL */
	struct layout *next;         /* in the maker's list */
};

/* Makes layouts, and owns them. */
struct layout_maker {
	struct layout *all;
	bool failed; /* no memory, or too deep */
};

const struct layout *layout_run(struct layout_maker *maker, size_t bytes);
const struct layout *layout_loop(struct layout_maker *maker, size_t count, ptrdiff_t stride, const struct layout *part);
/* entries is malloc'ed, or NULL on failure; the maker owns it. */
const struct layout *layout_list(struct layout_maker *maker, size_t count, struct layout_entry *entries);
const struct layout *layout_at(struct layout_maker *maker, ptrdiff_t offset, const struct layout *part);
void layout_free(struct layout_maker *maker);

/* Returns the layout, or the only one of a list, *ahead. */
static inline const struct layout *layout_only(const struct layout *layout, ptrdiff_t *ahead)
{
	const bool has_one = layout->kind == LAYOUT_LIST && layout->count == 1;

	*ahead = has_one ? layout->entries[0].offset : 0;
	return has_one ? layout->entries[0].part : layout;
}

/* Returns the loop over a run that the layout is, *ahead of its address; or NULL. */
static inline const struct layout *layout_is_row(const struct layout *layout, ptrdiff_t *ahead)
{
	layout = layout_only(layout, ahead);
	return layout->kind == LAYOUT_LOOP && layout->part->kind == LAYOUT_RUN ? layout : NULL;
}

struct layout_frame {
	const struct layout *layout;
	ptrdiff_t offset;
	size_t next;
};

struct layout_cursor {
	ptrdiff_t offset;  /* of the rest of the piece */
	size_t left_bytes; /* 0: at the end */
	struct layout whole;
	unsigned int depth;
	struct layout_frame frames[LAYOUT_DEPTH_MAX + 1];
};

/* Begins at the first of `count` layouts, an extent apart. */
void cursor_begin(struct layout_cursor *cursor, const struct layout *layout, size_t count, ptrdiff_t extent);

void cursor_skip(struct layout_cursor *cursor, size_t bytes);

/*
 * Takes up to `most` pieces, of left_bytes together at most; those that touch are one. Returns how
 * many.
 */
size_t cursor_take(struct layout_cursor *cursor, struct oriel_place pieces[], size_t most, size_t left_bytes);

/*
 * Returns the length of a row: pieces of `bytes` from here on, at one distance, *stride. This piece
 * has at least `bytes` left. cursor_skip_row skips as many, or fewer.
 */
size_t cursor_row(const struct layout_cursor *cursor, size_t bytes, ptrdiff_t *stride);
void cursor_skip_row(struct layout_cursor *cursor, size_t bytes, size_t count);

struct layout_turns {
	const struct layout *list;
	ptrdiff_t offset, stride;
	size_t count;
};

/*
 * Returns whether turns of a loop over a short list of runs begin here. cursor_skip_turns skips as
 * many, or fewer.
 */
bool cursor_turns(const struct layout_cursor *cursor, struct layout_turns *turns);
void cursor_skip_turns(struct layout_cursor *cursor, size_t count);

#endif
