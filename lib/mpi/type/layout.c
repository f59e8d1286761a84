// SPDX-License-Identifier: BSD-2-Clause
/* See layout.h. */
#include "mpi/type/layout.h"

#include <stdlib.h>

#define PLACES_MAX 65536

static const struct layout empty = { .kind = LAYOUT_RUN };

static struct layout *new_layout(struct layout_maker *maker, enum layout_kind kind)
{
	struct layout *layout = calloc(1, sizeof(*layout));

	if (!layout) {
		maker->failed = true;
		return NULL;
	}
	layout->kind = kind;
	layout->next = maker->all;
	maker->all = layout;
	return layout;
}

const struct layout *layout_run(struct layout_maker *maker, size_t bytes)
{
	struct layout *run = bytes ? new_layout(maker, LAYOUT_RUN) : NULL;

	if (!run)
		return &empty;
	run->size_bytes = bytes;
	return run;
}

/* Puts the layout above the part; false: too deep. */
static bool set_depth(struct layout_maker *maker, struct layout *layout, const struct layout *part)
{
	if (layout->depth <= part->depth)
		layout->depth = part->depth + 1;
	if (layout->depth >= LAYOUT_DEPTH_MAX)
		maker->failed = true;
	return !maker->failed;
}

const struct layout *layout_loop(struct layout_maker *maker, size_t count, ptrdiff_t stride, const struct layout *part)
{
	struct layout *loop;

	if (count == 0 || part->size_bytes == 0)
		return &empty;
	if (count == 1)
		return part;
	if (part->kind == LAYOUT_RUN && stride == (ptrdiff_t)part->size_bytes)
		return layout_run(maker, count * part->size_bytes);
	loop = new_layout(maker, LAYOUT_LOOP);
	if (!loop || !set_depth(maker, loop, part))
		return &empty;
	loop->count = count;
	loop->stride = stride;
	loop->part = part;
	loop->size_bytes = count * part->size_bytes;
	return loop;
}

static bool touches(const struct layout_entry *left, const struct layout_entry *right)
{
	return left->part->kind == LAYOUT_RUN && right->part->kind == LAYOUT_RUN &&
	       left->offset + (ptrdiff_t)left->part->size_bytes == right->offset;
}

/* Drops empty entries and merges runs that touch. Returns how many are left. */
static size_t simplify(struct layout_maker *maker, size_t count, struct layout_entry *entries)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		struct layout_entry *last = left ? &entries[left - 1] : NULL;

		if (entries[i].part->size_bytes == 0)
			continue;
		if (last && touches(last, &entries[i]))
			last->part = layout_run(maker, last->part->size_bytes + entries[i].part->size_bytes);
		else
			entries[left++] = entries[i];
	}
	return left;
}

static bool is_of_runs(const struct layout *list)
{
	bool runs = list->count <= PLACES_MAX;

	for (size_t i = 0; runs && i < list->count; i++)
		runs = list->entries[i].part->kind == LAYOUT_RUN;
	return runs;
}

static void add_place(struct oriel_places *places, const struct oriel_place *place)
{
	const ptrdiff_t end = place->offset + (ptrdiff_t)place->size_bytes;

	places->all_bytes += place->size_bytes;
	places->from = place->offset < places->from ? place->offset : places->from;
	places->to = end > places->to ? end : places->to;
	places->longest_bytes = place->size_bytes > places->longest_bytes ? place->size_bytes : places->longest_bytes;
}

static struct oriel_places *places_of(struct layout_maker *maker, const struct layout *list)
{
	const ptrdiff_t first = list->entries[0].offset;
	struct oriel_places *places = malloc(sizeof(*places) + list->count * sizeof(places->list[0]));
	struct oriel_place *place = (struct oriel_place *)(places + 1);

	if (!places) {
		maker->failed = true;
		return NULL;
	}
	*places = (struct oriel_places){ .list = place, .count = (int)list->count, .from = first, .to = first };
	for (size_t i = 0; i < list->count; i++, place++) {
		*place = (struct oriel_place){ list->entries[i].offset, list->entries[i].part->size_bytes, places->all_bytes };
		add_place(places, place);
	}
	return places;
}

static const struct layout *list_of(struct layout_maker *maker, size_t count, struct layout_entry *entries)
{
	struct layout *list = new_layout(maker, LAYOUT_LIST);

	if (!list) {
		free(entries);
		return &empty;
	}
	list->entries = entries;
	list->count = count;
	for (size_t i = 0; i < count; i++) {
		list->size_bytes += entries[i].part->size_bytes;
		if (!set_depth(maker, list, entries[i].part))
			return &empty;
	}
	if (is_of_runs(list))
		list->places = places_of(maker, list);
	return list;
}

const struct layout *layout_list(struct layout_maker *maker, size_t count, struct layout_entry *entries)
{
	size_t left = entries ? simplify(maker, count, entries) : 0;
	const struct layout *only = left == 1 && entries[0].offset == 0 ? entries[0].part : &empty;

	if (!entries)
		maker->failed = true;
	if (left > 0 && only == &empty)
		return list_of(maker, left, entries);
	free(entries);
	return only;
}

const struct layout *layout_at(struct layout_maker *maker, ptrdiff_t offset, const struct layout *part)
{
	struct layout_entry *entry = malloc(sizeof(*entry));

	if (entry)
		*entry = (struct layout_entry){ offset, part };
	return layout_list(maker, 1, entry);
}

void layout_free(struct layout_maker *maker)
{
	while (maker->all) {
		struct layout *layout = maker->all;

		maker->all = layout->next;
		free(layout->entries);
		free(layout->places);
		free(layout);
	}
}

static void find_run(struct layout_cursor *cursor)
{
	while (cursor->depth > 0) {
		struct layout_frame *frame = &cursor->frames[cursor->depth - 1];
		const struct layout *layout = frame->layout, *part = layout->part;
		ptrdiff_t offset = frame->offset;

		if (frame->next == layout->count) {
			cursor->depth--;
			continue;
		}
		if (layout->kind == LAYOUT_LOOP) {
			offset += (ptrdiff_t)frame->next * layout->stride;
		} else {
			offset += layout->entries[frame->next].offset;
			part = layout->entries[frame->next].part;
		}
		frame->next++;
		if (part->kind == LAYOUT_RUN) {
			cursor->offset = offset;
			cursor->left_bytes = part->size_bytes;
			return;
		}
		cursor->frames[cursor->depth++] = (struct layout_frame){ part, offset, 0 };
	}
	cursor->left_bytes = 0;
}

void cursor_begin(struct layout_cursor *cursor, const struct layout *layout, size_t count, ptrdiff_t extent)
{
	cursor->whole = (struct layout){
		.kind = LAYOUT_LOOP, .count = layout->size_bytes ? count : 0, .stride = extent, .part = layout
	};
	if (layout->kind == LAYOUT_RUN && extent == (ptrdiff_t)layout->size_bytes) {
		cursor->depth = 0;
		cursor->offset = 0;
		cursor->left_bytes = count * layout->size_bytes;
		return;
	}
	cursor->frames[0] = (struct layout_frame){ &cursor->whole, 0, 0 };
	cursor->depth = 1;
	find_run(cursor);
}

void cursor_skip(struct layout_cursor *cursor, size_t bytes)
{
	cursor->offset += (ptrdiff_t)bytes;
	cursor->left_bytes -= bytes;
	if (cursor->left_bytes == 0)
		find_run(cursor);
}

size_t cursor_take(struct layout_cursor *cursor, struct oriel_place pieces[], size_t most, size_t left_bytes)
{
	size_t count = 0;

	while (count < most && left_bytes > 0 && cursor->left_bytes > 0) {
		size_t bytes = cursor->left_bytes < left_bytes ? cursor->left_bytes : left_bytes;
		struct oriel_place *last = count > 0 ? &pieces[count - 1] : NULL;

		if (last && last->offset + (ptrdiff_t)last->size_bytes == cursor->offset)
			last->size_bytes += bytes;
		else
			pieces[count++] = (struct oriel_place){ .offset = cursor->offset, .size_bytes = bytes };
		left_bytes -= bytes;
		cursor_skip(cursor, bytes);
	}
	return count;
}

/* Returns the loop of which the piece is one whole turn, or NULL. */
static const struct layout_frame *loop_of(const struct layout_cursor *cursor, size_t bytes)
{
	const struct layout_frame *frame = cursor->depth > 0 ? &cursor->frames[cursor->depth - 1] : NULL;

	return frame && frame->layout->kind == LAYOUT_LOOP && frame->layout->part->size_bytes == bytes ? frame : NULL;
}

size_t cursor_row(const struct layout_cursor *cursor, size_t bytes, ptrdiff_t *stride)
{
	const struct layout_frame *loop;

	*stride = (ptrdiff_t)bytes;
	if (cursor->left_bytes > bytes)
		return cursor->left_bytes / bytes;
	loop = loop_of(cursor, bytes);
	if (!loop)
		return 1;
	*stride = loop->layout->stride;
	return 1 + loop->layout->count - loop->next;
}

void cursor_skip_row(struct layout_cursor *cursor, size_t bytes, size_t count)
{
	if (cursor->left_bytes > bytes) {
		cursor_skip(cursor, count * bytes);
		return;
	}
	if (count > 1) /* turns of a loop */
		cursor->frames[cursor->depth - 1].next += count - 1;
	cursor_skip(cursor, bytes);
}

static bool is_short_list_of_runs(const struct layout *layout)
{
	return layout->places && layout->count <= SHORT_LIST;
}

bool cursor_turns(const struct layout_cursor *cursor, struct layout_turns *turns)
{
	const struct layout_frame *list = cursor->depth > 1 ? &cursor->frames[cursor->depth - 1] : NULL, *loop;

	if (!list || list->next != 1 || !is_short_list_of_runs(list->layout) ||
	    cursor->left_bytes != list->layout->entries[0].part->size_bytes)
		return false;
	loop = list - 1;
	*turns =
		(struct layout_turns){ list->layout, list->offset, loop->layout->stride, 1 + loop->layout->count - loop->next };
	return loop->layout->kind == LAYOUT_LOOP;
}

void cursor_skip_turns(struct layout_cursor *cursor, size_t count)
{
	cursor->depth--;
	cursor->frames[cursor->depth - 1].next += count - 1;
	find_run(cursor);
}
