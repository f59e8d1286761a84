/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * picture.h - a profile as an SVG: which rank waits for which, sizes, the slowest step
 *
 * DESIGN NOTES
 *
 * A picture is rectangles, lines and text, without a script, and at most 300 KB for any job: ranks
 * beyond PICTURE_BLOCKS share the cells of the matrix, and the step shows PICTURE_ROWS of them.
 */
#ifndef ORIEL_SEE_PICTURE_H
#define ORIEL_SEE_PICTURE_H

#include "see/report/profile.h"

#define PICTURE_WIDTH 1000
#define PICTURE_BLOCKS 64
#define PICTURE_ROWS 16

/* Writes the picture. */
void picture_print(FILE *out, const struct profile *profile, const struct read_parts *parts);

/* step.c: draws the step with the longest wait, from y on, if calls were recorded. */
void step_draw(FILE *out, int y, const struct profile *profile, const struct read_parts *parts);

/* svg.c */

struct svg_point {
	int x, y;
};

/* Writes a text, in one line of the picture. The anchor is "start", "middle" or "end". */
void svg_text(FILE *out, struct svg_point at, const char *anchor, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Writes a text as a heading. */
void svg_heading(FILE *out, int x, int y, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Begins a shape of rectangles of one colour, adds one, and ends it. */
void svg_begin_boxes(FILE *out, const char *colour);
void svg_add_box(FILE *out, int x, int y, int width, int height);
void svg_end_boxes(FILE *out);

#endif
